/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A thread sleeps on an endpoint, and another one gives that endpoint work.
 *
 * Every way to sleep, with either kind of progress, through four stories: the first message to a
 * peer; messages over an open connection that loses half of all packets; a peer that never
 * answered; a peer that stopped.  The sleeper has no time limit of its own, so it returns because
 * it was told or not at all: then the guard of nap_join says so. A second side in a domain of its
 * own answers from a thread of the test's.  Before each post the sleeper is given the time to fall
 * asleep; if it is late, the story is easier, never wrong.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test_fi_util.h"

#define LOSSY	"drop=0.5,seed=5"
#define LOST	10	     /* messages over such a path */
#define BIG	(300 * 1024) /* bytes: goes as bulk data */
#define TIMEOUT "100"	     /* ms: FI_SDR_TIMEOUT where a peer is dead */

/* ---- two sides ------------------------------------------------------------------------------- */

struct bed {
	struct fi_info *info[2];
	struct fid_fabric *fabric;
	struct fid_domain *domain[2];
	struct fid_av *av[2];
	struct fid_ep *ep[2];
	struct fid_cq *tx[2], *rx[2];
	struct fid_cntr *cntr; /* sends of side 0 */
	fi_addr_t peer[2];
	pthread_t driver;
	atomic_int stop; /* the driver of side 1 */
	atomic_int came; /* messages that it has seen */
	bool driven;
	char buf[2][64];
};

/* Side 1: whatever comes in is sent back when it begins with an 'e'. */
static void *bed_drive(void *arg)
{
	struct timespec ts = { .tv_nsec = 200000 };
	struct fi_cq_tagged_entry e;
	struct bed *b = arg;

	while (!atomic_load(&b->stop)) {
		while (fi_cq_read(b->rx[1], &e, 1) == 1) {
			atomic_fetch_add(&b->came, 1);
			if (b->buf[1][0] == 'e')
				fi_inject(b->ep[1], b->buf[1], 8, b->peer[1]);
			fi_recv(b->ep[1], b->buf[1], sizeof(b->buf[1]), NULL, FI_ADDR_UNSPEC, NULL);
		}
		nanosleep(&ts, NULL);
	}
	return NULL;
}

static void bed_side(struct bed *b, int k, enum fi_progress progress, enum fi_wait_obj obj)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = obj };
	struct fi_cntr_attr cntr = { .wait_obj = obj };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_info *h = test_hints(FI_EP_RDM, 0);

	h->domain_attr->data_progress = progress;
	b->info[k] = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(b->info[k]);
	fi_freeinfo(h);
	if (!b->fabric)
		assert_ok(fi_fabric(b->info[k]->fabric_attr, &b->fabric, NULL));
	assert_ok(fi_domain(b->fabric, b->info[k], &b->domain[k], NULL));
	assert_ok(fi_av_open(b->domain[k], &av, &b->av[k], NULL));
	assert_ok(fi_cq_open(b->domain[k], &cq, &b->tx[k], NULL));
	assert_ok(fi_cq_open(b->domain[k], &cq, &b->rx[k], NULL));
	assert_ok(fi_endpoint(b->domain[k], b->info[k], &b->ep[k], NULL));
	assert_ok(fi_ep_bind(b->ep[k], &b->av[k]->fid, 0));
	assert_ok(fi_ep_bind(b->ep[k], &b->tx[k]->fid, FI_TRANSMIT));
	assert_ok(fi_ep_bind(b->ep[k], &b->rx[k]->fid, FI_RECV));
	if (!k) {
		assert_ok(fi_cntr_open(b->domain[k], &cntr, &b->cntr, NULL));
		assert_ok(fi_ep_bind(b->ep[k], &b->cntr->fid, FI_SEND));
	}
	assert_ok(fi_enable(b->ep[k]));
}

static void bed_resume(struct bed *b)
{
	atomic_store(&b->stop, 0);
	assert_int_equal(pthread_create(&b->driver, NULL, bed_drive, b), 0);
	b->driven = true;
}

static void bed_open(struct bed *b, enum fi_progress progress, enum fi_wait_obj obj)
{
	struct sockaddr_storage name;
	size_t len;
	int k;

	memset(b, 0, sizeof(*b));
	bed_side(b, 0, progress, obj);
	/* or its domain's thread answers for side 1 after a part of it */
	unsetenv("FI_SDR_TIMEOUT");
	bed_side(b, 1, FI_PROGRESS_MANUAL, FI_WAIT_UNSPEC);
	for (k = 0; k < 2; k++) {
		len = sizeof(name);
		assert_ok(fi_getname(&b->ep[!k]->fid, &name, &len));
		assert_int_equal(fi_av_insert(b->av[k], &name, 1, &b->peer[k], 0, NULL), 1);
	}
	assert_ok(fi_recv(b->ep[1], b->buf[1], sizeof(b->buf[1]), NULL, FI_ADDR_UNSPEC, NULL));
	bed_resume(b);
}

/* From now on side 1 is silent; closing takes a while if it stays so. */
static void bed_silence(struct bed *b)
{
	atomic_store(&b->stop, 1);
	if (b->driven)
		pthread_join(b->driver, NULL);
	b->driven = false;
}

static void bed_close(struct bed *b)
{
	int k;

	if (b->ep[0])
		assert_ok(fi_close(&b->ep[0]->fid));
	bed_silence(b);
	assert_ok(fi_close(&b->ep[1]->fid));
	assert_ok(fi_close(&b->cntr->fid));
	for (k = 0; k < 2; k++) {
		assert_ok(fi_close(&b->tx[k]->fid));
		assert_ok(fi_close(&b->rx[k]->fid));
		assert_ok(fi_close(&b->av[k]->fid));
		assert_ok(fi_close(&b->domain[k]->fid));
		fi_freeinfo(b->info[k]);
	}
	assert_ok(fi_close(&b->fabric->fid));
}

static void bed_post(struct bed *b, const char *text)
{
	memcpy(b->buf[0], text, 8);
	assert_ok(fi_send(b->ep[0], b->buf[0], 8, NULL, b->peer[0], NULL));
}

/* ---- ways to sleep --------------------------------------------------------------------------- */

enum how { SREAD, SREAD_FD, SREAD_YIELD, CNTR, CNTR_FD, FD, FD_BARE, COND, COND_CNTR, HOWS };

static const struct {
	const char *name;
	enum fi_wait_obj obj;
} hows[HOWS] = {
	[SREAD] = { "sread", FI_WAIT_UNSPEC },
	[SREAD_FD] = { "sread_fd", FI_WAIT_FD },
	[SREAD_YIELD] = { "sread_yield", FI_WAIT_YIELD },
	[CNTR] = { "counter", FI_WAIT_UNSPEC },
	[CNTR_FD] = { "counter_descriptor", FI_WAIT_FD },
	[FD] = { "descriptor", FI_WAIT_FD },
	/* with automatic progress that is allowed */
	[FD_BARE] = { "descriptor_without_trywait", FI_WAIT_FD },
	[COND] = { "condition", FI_WAIT_MUTEX_COND },
	[COND_CNTR] = { "counter_condition", FI_WAIT_MUTEX_COND },
};

struct nap {
	struct bed *b;
	enum how how;
	struct fid_cq *cq;
	uint64_t threshold; /* of the counter */
	int timeout;	    /* ms, of blocking reads */
	pthread_t thread;
	atomic_int tid;
	ssize_t ret; /* as of a read: 1, or an error; -err when an entry says so */
};

static ssize_t nap_entry(struct nap *n, ssize_t ret)
{
	struct fi_cq_err_entry err = { 0 };

	if (ret == -FI_EAVAIL && fi_cq_readerr(n->cq, &err, 0) == 1)
		return -err.err;
	return ret;
}

/* A counter's state: 1 reached, or an error, or -FI_EAGAIN. */
static ssize_t nap_count(struct nap *n)
{
	if (fi_cntr_read(n->b->cntr) >= n->threshold)
		return 1;
	return fi_cntr_readerr(n->b->cntr) ? -FI_EAVAIL : -FI_EAGAIN;
}

static void nap_fd(struct nap *n)
{
	struct fid *fid = n->how == CNTR_FD ? &n->b->cntr->fid : &n->cq->fid;
	struct pollfd pfd = { .events = POLLIN };
	struct fi_cq_tagged_entry e;

	if (fi_control(fid, FI_GETWAIT, &pfd.fd))
		return;
	for (;;) {
		n->ret = n->how == CNTR_FD ? nap_count(n) : fi_cq_read(n->cq, &e, 1);
		if (n->ret != -FI_EAGAIN)
			break;
		if (n->how == FD_BARE || fi_trywait(n->b->fabric, &fid, 1) == 0)
			poll(&pfd, 1, -1);
	}
}

static void nap_cond(struct nap *n)
{
	struct fid *fid = n->how == COND ? &n->cq->fid : &n->b->cntr->fid;
	struct fi_cq_tagged_entry e;
	struct fi_mutex_cond mc;

	if (fi_control(fid, FI_GETWAIT, &mc))
		return;
	pthread_mutex_lock(mc.mutex);
	for (;;) {
		n->ret = n->how == COND ? fi_cq_read(n->cq, &e, 1) : nap_count(n);
		if (n->ret != -FI_EAGAIN)
			break;
		pthread_cond_wait(mc.cond, mc.mutex);
	}
	pthread_mutex_unlock(mc.mutex);
}

static void *nap_main(void *arg)
{
	struct fi_cq_tagged_entry e;
	struct nap *n = arg;
	int ret;

	n->ret = -FI_EOTHER;
	atomic_store(&n->tid, (int)syscall(SYS_gettid));
	switch (n->how) {
	case CNTR:
		ret = fi_cntr_wait(n->b->cntr, n->threshold, n->timeout);
		n->ret = ret ? ret : 1;
		break;
	case FD:
	case FD_BARE:
	case CNTR_FD:
		nap_fd(n);
		break;
	case COND:
	case COND_CNTR:
		nap_cond(n);
		break;
	default:
		n->ret = fi_cq_sread(n->cq, &e, 1, NULL, n->timeout);
		break;
	}
	n->ret = nap_entry(n, n->ret);
	return NULL;
}

/* What the scheduler says of a thread. */
struct task {
	char state;
	unsigned long switches; /* it went to sleep so often */
	unsigned long run_ns;
};

static bool task_look(int tid, struct task *t)
{
	char path[64], line[128];
	FILE *f;

	memset(t, 0, sizeof(*t));
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &t->state);
		sscanf(line, "voluntary_ctxt_switches: %lu", &t->switches);
	}
	fclose(f);
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lu", &t->run_ns) != 1)
			t->run_ns = 0;
		fclose(f);
	}
	return true;
}

/* Gives a thread the time to fall asleep, but not for ever. */
static void task_asleep(atomic_int *tid)
{
	struct timespec ts = { .tv_nsec = 1000000 };
	unsigned long last = 0;
	struct task t;
	int same = 0, i;

	for (i = 0; i < 1000 && same < 4; i++) {
		nanosleep(&ts, NULL);
		if (!atomic_load(tid))
			continue;
		if (!task_look(atomic_load(tid), &t))
			break; /* it had nothing to wait for */
		same = t.state == 'S' && t.switches == last ? same + 1 : 0;
		last = t.switches;
	}
}

static void nap_start(struct nap *n, struct bed *b, enum how how)
{
	memset(n, 0, sizeof(*n));
	n->b = b;
	n->how = how;
	n->cq = b->tx[0];
	n->threshold = fi_cntr_read(b->cntr) + 1;
	n->timeout = -1;
	assert_int_equal(pthread_create(&n->thread, NULL, nap_main, n), 0);
	task_asleep(&n->tid);
}

static ssize_t nap_join(struct nap *n)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += TEST_GUARD_S;
	if (pthread_timedjoin_np(n->thread, NULL, &ts)) {
		/* it uses what is on our stack, and cannot be ended */
		fprintf(stderr, "[  FAILED  ] the sleeper was not woken (%s)\n", hows[n->how].name);
		_exit(1);
	}
	return n->ret;
}

/* ---- stories --------------------------------------------------------------------------------- */

struct tale {
	enum how how;
	enum fi_progress progress;
};

static void first_message(void **state)
{
	const struct tale *t = *state;
	struct nap n;
	struct bed b;

	bed_open(&b, t->progress, hows[t->how].obj);
	nap_start(&n, &b, t->how);
	bed_post(&b, "message");
	assert_int_equal(nap_join(&n), 1);
	bed_close(&b);
}

/* Who promises more and posts no more: whoever sleeps lets it leave. */
static void more(void **state)
{
	const struct tale *t = *state;
	struct iovec iov = { .iov_len = 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct nap n;
	struct bed b;

	bed_open(&b, t->progress, hows[t->how].obj);
	nap_start(&n, &b, t->how);
	bed_post(&b, "message");
	assert_int_equal(nap_join(&n), 1);
	iov.iov_base = b.buf[0];
	msg.addr = b.peer[0];
	nap_start(&n, &b, t->how);
	assert_ok(fi_sendmsg(b.ep[0], &msg, FI_MORE | FI_COMPLETION));
	assert_int_equal(nap_join(&n), 1);
	bed_close(&b);
}

static void loss(void **state)
{
	const struct tale *t = *state;
	struct nap n;
	struct bed b;
	int i;

	setenv("FI_SDR_FAULT", LOSSY, 1);
	bed_open(&b, t->progress, hows[t->how].obj);
	unsetenv("FI_SDR_FAULT");
	for (i = 0; i < LOST; i++) {
		nap_start(&n, &b, t->how);
		bed_post(&b, "message");
		assert_int_equal(nap_join(&n), 1);
	}
	bed_close(&b);
}

static void expect_timeout(struct nap *n)
{
	ssize_t ret = nap_join(n);

	if (n->how == CNTR || n->how == CNTR_FD || n->how == COND_CNTR)
		assert_int_equal(ret == -FI_EAVAIL || ret == -FI_ETIMEDOUT, 1);
	else
		assert_int_equal(ret, -FI_ETIMEDOUT);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * The peer has never been there: the error comes after `timeout` ms.  What the process has computed
 * meanwhile, in ns.
 */
static uint64_t nobody_answers(const struct tale *t, const char *timeout)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	struct nap n;
	struct bed b;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t cpu;

	/* a port that takes everything and says nothing */
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	setenv("FI_SDR_TIMEOUT", timeout, 1);
	bed_open(&b, t->progress, hows[t->how].obj);
	unsetenv("FI_SDR_TIMEOUT");
	bed_silence(&b);
	assert_int_equal(fi_av_insert(b.av[0], &sin, 1, &b.peer[0], 0, NULL), 1);
	nap_start(&n, &b, t->how);
	cpu = cpu_ns();
	bed_post(&b, "nobody ");
	expect_timeout(&n);
	cpu = cpu_ns() - cpu;
	bed_close(&b);
	close(fd);
	return cpu;
}

static void dead_peer(void **state)
{
	nobody_answers(*state, TIMEOUT);
}

/* Who waits does not spin: ten repetitions of a HELLO are a few ms of work. */
static void quiet(void **state)
{
	uint64_t cpu = nobody_answers(*state, "500");

	if (cpu > 100000000)
		fail_msg("%d ms of computation in half a second of waiting", (int)(cpu / 1000000));
}

static void silent_peer(void **state)
{
	const struct tale *t = *state;
	struct nap n;
	struct bed b;

	setenv("FI_SDR_TIMEOUT", TIMEOUT, 1);
	bed_open(&b, t->progress, hows[t->how].obj);
	unsetenv("FI_SDR_TIMEOUT");
	bed_post(&b, "message");
	nap_start(&n, &b,
		  t->how == CNTR_FD || t->how == CNTR || t->how == COND_CNTR ? CNTR : SREAD);
	assert_int_equal(nap_join(&n), 1);
	bed_silence(&b);
	nap_start(&n, &b, t->how);
	bed_post(&b, "nobody ");
	expect_timeout(&n);
	bed_resume(&b);
	bed_close(&b);
}

/*
 * A message that came before its receive waits for a grant: the receive, posted beside a sleeper,
 * has to send one.
 */
static void late_receive(void **state)
{
	const struct tale *t = *state;
	uint8_t *tx = malloc(BIG), *rx = calloc(1, BIG);
	struct nap n = { .how = t->how, .timeout = -1 };
	struct fi_cq_tagged_entry e;
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct bed b;

	bed_open(&b, t->progress, hows[t->how].obj);
	test_fill(tx, BIG, 3);
	assert_ok(fi_send(b.ep[1], tx, BIG, NULL, b.peer[1], NULL));
	/* an echo behind it: the message has been announced by then */
	bed_post(&b, "echo it");
	while (fi_cntr_read(b.cntr) < 1 || atomic_load(&b.came) < 1)
		assert_true(test_now_s() < end);
	while (fi_cq_read(b.tx[0], &e, 1) != 1)
		assert_true(test_now_s() < end);
	n.b = &b;
	n.cq = b.rx[0];
	assert_int_equal(pthread_create(&n.thread, NULL, nap_main, &n), 0);
	task_asleep(&n.tid);
	assert_ok(fi_recv(b.ep[0], rx, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(nap_join(&n), 1);
	assert_true(test_same(rx, BIG, 3));
	bed_close(&b);
	free(tx);
	free(rx);
}

/* ---- several sleepers on one endpoint -------------------------------------------------------- */

static void several__queues_and_counter(void **state)
{
	const struct tale *t = *state;
	struct nap tx, rx, cntr;
	struct bed b;
	char echo[64];
	int i;

	setenv("FI_SDR_FAULT", LOSSY, 1);
	bed_open(&b, t->progress, FI_WAIT_UNSPEC);
	unsetenv("FI_SDR_FAULT");
	for (i = 0; i < LOST; i++) {
		assert_ok(fi_recv(b.ep[0], echo, sizeof(echo), NULL, FI_ADDR_UNSPEC, NULL));
		nap_start(&tx, &b, SREAD);
		nap_start(&cntr, &b, CNTR);
		memset(&rx, 0, sizeof(rx));
		rx = (struct nap){ .b = &b, .how = SREAD, .cq = b.rx[0], .timeout = -1 };
		assert_int_equal(pthread_create(&rx.thread, NULL, nap_main, &rx), 0);
		task_asleep(&rx.tid);
		bed_post(&b, "echo it");
		assert_int_equal(nap_join(&tx), 1);
		assert_int_equal(nap_join(&rx), 1);
		assert_int_equal(nap_join(&cntr), 1);
	}
	bed_close(&b);
}

static void *impatient(void *arg)
{
	struct fi_cq_tagged_entry e;
	struct bed *b = arg;

	while (!atomic_load(&b->stop))
		fi_cq_sread(b->rx[0], &e, 1, NULL, 1);
	return NULL;
}

/* What one sleeper has promised to wake for is the other's when it goes. */
static void several__one_leaves(void **state)
{
	const struct tale *t = *state;
	struct nap n;
	struct bed b;
	pthread_t other;
	int i;

	setenv("FI_SDR_FAULT", LOSSY, 1);
	bed_open(&b, t->progress, FI_WAIT_UNSPEC);
	unsetenv("FI_SDR_FAULT");
	for (i = 0; i < LOST; i++) {
		nap_start(&n, &b, SREAD);
		atomic_store(&b.stop, 0);
		assert_int_equal(pthread_create(&other, NULL, impatient, &b), 0);
		bed_post(&b, "message");
		usleep((useconds_t)(200 * i));
		atomic_store(&b.stop, 1); /* the driver, too */
		pthread_join(other, NULL);
		bed_silence(&b);
		bed_resume(&b);
		assert_int_equal(nap_join(&n), 1);
	}
	bed_close(&b);
}

/* Different thresholds of one counter: no waiter takes another's wake-up. */
static void several__on_one_counter(void **state)
{
	const struct tale *t = *state;
	struct nap n[4];
	struct bed b;
	int i, k;

	bed_open(&b, t->progress, FI_WAIT_UNSPEC);
	for (k = 0; k < 4; k++)
		nap_start(&n[k], &b, CNTR);
	assert_ok(fi_cntr_add(b.cntr, 1));
	for (k = 0; k < 4; k++)
		assert_int_equal(nap_join(&n[k]), 1);
	for (i = 0; i < 20; i++) {
		uint64_t at = fi_cntr_read(b.cntr);

		for (k = 0; k < 4; k++) {
			memset(&n[k], 0, sizeof(n[k]));
			n[k] = (struct nap){ .b = &b,
					     .how = CNTR,
					     .threshold = at + 1 + (uint64_t)k,
					     .timeout = -1 };
			assert_int_equal(pthread_create(&n[k].thread, NULL, nap_main, &n[k]), 0);
		}
		for (k = 0; k < 4; k++)
			task_asleep(&n[k].tid);
		for (k = 0; k < 4; k++) {
			bed_post(&b, "message");
			assert_int_equal(nap_join(&n[k]), 1);
		}
	}
	for (k = 0; k < 4; k++)
		nap_start(&n[k], &b, CNTR);
	assert_ok(fi_cntr_set(b.cntr, 1000000));
	for (k = 0; k < 4; k++)
		assert_int_equal(nap_join(&n[k]), 1);
	bed_close(&b);
}

/* One thread sleeps on a descriptor, another one uses the same queue and does not. */
static void several__on_one_descriptor(void **state)
{
	const struct tale *t = *state;
	struct fi_cq_tagged_entry e;
	struct fid *fid;
	struct nap n;
	struct bed b;
	int i;

	setenv("FI_SDR_FAULT", LOSSY, 1);
	bed_open(&b, t->progress, FI_WAIT_FD);
	unsetenv("FI_SDR_FAULT");
	fid = &b.tx[0]->fid;
	for (i = 0; i < LOST; i++) {
		nap_start(&n, &b, FD);
		if (i & 1)
			fi_trywait(b.fabric, &fid, 1);
		assert_int_equal(fi_cq_read(b.tx[0], &e, 1), -FI_EAGAIN);
		bed_post(&b, "message");
		assert_int_equal(nap_join(&n), 1);
	}
	bed_close(&b);
}

static void several__signal(void **state)
{
	const struct tale *t = *state;
	struct nap n[4];
	struct bed b;
	int k;

	bed_open(&b, t->progress, FI_WAIT_UNSPEC);
	for (k = 0; k < 4; k++)
		nap_start(&n[k], &b, SREAD);
	assert_int_equal(fi_close(&b.tx[0]->fid), -FI_EBUSY);
	assert_ok(fi_cq_signal(b.tx[0]));
	for (k = 0; k < 4; k++)
		assert_int_equal(nap_join(&n[k]), -FI_EAGAIN);
	/* and one without a waiter is for the next read */
	assert_ok(fi_cq_signal(b.tx[0]));
	nap_start(&n[0], &b, SREAD);
	assert_int_equal(nap_join(&n[0]), -FI_EAGAIN);
	bed_close(&b);
}

/* ---- an endpoint that goes ------------------------------------------------------------------- */

static void goes__while_one_sleeps(void **state)
{
	const struct tale *t = *state;
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fid;
	struct nap n;
	struct bed b;

	/* a blocking read stays until it is signalled; a descriptor is readable */
	bed_open(&b, t->progress, FI_WAIT_FD);
	nap_start(&n, &b, SREAD_FD);
	fid = &b.rx[0]->fid;
	assert_ok(fi_control(fid, FI_GETWAIT, &pfd.fd));
	assert_ok(fi_trywait(b.fabric, &fid, 1));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_ok(fi_close(&b.ep[0]->fid));
	b.ep[0] = NULL;
	assert_int_equal(poll(&pfd, 1, TEST_GUARD_S * 1000), 1);
	assert_ok(fi_cq_signal(b.tx[0]));
	assert_int_equal(nap_join(&n), -FI_EAGAIN);
	bed_close(&b);
}

/* ---- the progress thread --------------------------------------------------------------------- */

static int thread_look(void)
{
	char path[300], line[32];
	struct dirent *d;
	DIR *dir = opendir("/proc/self/task");
	int found = 0;
	FILE *f;

	while (dir && (d = readdir(dir)) && !found) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f) && !strcmp(line, "sdr-progress\n"))
			found = atoi(d->d_name);
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * The domain's thread, which may not have set its name yet; there is one domain with automatic
 * progress.
 */
static int thread_find(void)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	int tid;

	while (!(tid = thread_look()) && test_now_s() < end)
		usleep(1000);
	return tid;
}

/*
 * The application does not call the provider after the post: the thread, which slept, does it all.
 */
static void thread__hears_of_posts(void **state)
{
	struct timespec ts = { .tv_nsec = 1000000 };
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct bed b;
	atomic_int tid;
	int i;

	(void)state;
	setenv("FI_SDR_FAULT", LOSSY, 1);
	bed_open(&b, FI_PROGRESS_AUTO, FI_WAIT_UNSPEC);
	unsetenv("FI_SDR_FAULT");
	atomic_init(&tid, thread_find());
	assert_true(atomic_load(&tid) > 0);
	for (i = 0; i < LOST; i++) {
		task_asleep(&tid);
		assert_ok(fi_inject(b.ep[0], "message", 8, b.peer[0]));
		while (atomic_load(&b.came) <= i) {
			assert_true(test_now_s() < end);
			nanosleep(&ts, NULL);
		}
	}
	bed_close(&b);
}

/*
 * A blocking read that has gone leaves the endpoint to the thread, which had left it to the read
 * when the first message came.
 */
static void thread__takes_over_from_a_sleeper(void **state)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_tagged_entry e;
	struct nap n = { .how = SREAD, .timeout = 200 };
	atomic_int tid;
	struct bed b;
	char rx[2][8];
	int i;

	(void)state;
	bed_open(&b, FI_PROGRESS_AUTO, FI_WAIT_UNSPEC);
	atomic_init(&tid, thread_find());
	n.b = &b;
	n.cq = b.tx[0];
	for (i = 0; i < 2; i++)
		assert_ok(fi_recv(b.ep[0], rx[i], 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(pthread_create(&n.thread, NULL, nap_main, &n), 0);
	task_asleep(&n.tid);
	bed_silence(&b);
	for (i = 0; i < 2; i++) {
		assert_ok(fi_send(b.ep[1], "to you", 7, NULL, b.peer[1], NULL));
		while (fi_cq_read(b.tx[1], &e, 1) != 1)
			assert_true(test_now_s() < end);
		if (!i)
			assert_int_equal(nap_join(&n), -FI_EAGAIN);
		task_asleep(&tid);
	}
	bed_resume(&b);
	bed_close(&b);
}

/*
 * The application said that it would sleep on its descriptor, and computes instead: what comes
 * meanwhile is answered all the same, with manual progress after a while.
 */
static void thread__serves_who_only_said_it_would_sleep(void **state)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_tagged_entry e;
	struct fid *fid;
	struct bed b;
	char rx[8];
	int i, k, ret;

	(void)state;
	for (k = 0; k < 2; k++) {
		bed_open(&b, k ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO, FI_WAIT_FD);
		bed_silence(&b);
		fid = &b.rx[0]->fid;
		for (i = 0; i < (k ? 1 : 10); i++) {
			assert_ok(fi_recv(b.ep[0], rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
			while ((ret = fi_trywait(b.fabric, &fid, 1)) == -FI_EAGAIN)
				assert_true(test_now_s() < end);
			assert_ok(ret);
			assert_ok(fi_send(b.ep[1], "to you", 7, NULL, b.peer[1], NULL));
			while (fi_cq_read(b.tx[1], &e, 1) != 1)
				assert_true(test_now_s() < end);
			assert_int_equal(fi_cq_read(b.rx[0], &e, 1), 1);
			assert_string_equal(rx, "to you");
		}
		bed_resume(&b);
		bed_close(&b);
	}
}

#define WRITES 1500

struct poster {
	struct fid_ep *ep;
	struct fid_cq *cq;
	atomic_int stop;
};

/* Posts without pause, and never reads anything: peeks, which leave nothing behind. */
static void *post_only(void *arg)
{
	struct timespec ts = { .tv_nsec = 100000 };
	struct poster *p = arg;
	struct fi_msg msg = { .addr = FI_ADDR_UNSPEC };

	while (!atomic_load(&p->stop)) {
		fi_recvmsg(p->ep, &msg, FI_PEEK);
		nanosleep(&ts, NULL);
	}
	return NULL;
}

/*
 * Each write is an exchange with a target that only posts; the guard is some ten times what they
 * take.
 */
static void thread__serves_an_endpoint_that_only_posts(void **state)
{
	struct fi_cntr_attr ca = { .wait_obj = FI_WAIT_UNSPEC };
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_cq_tagged_entry e;
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct fid_domain *dom;
	struct fid_av *tav;
	struct fid_cntr *cntr;
	struct fid_mr *mr;
	struct poster p = { 0 };
	fi_addr_t target;
	pthread_t t;
	struct bed b;
	char mem[8] = { 0 };
	uint64_t at;
	int i;

	(void)state;
	bed_open(&b, FI_PROGRESS_AUTO, FI_WAIT_UNSPEC);
	bed_silence(&b);
	assert_ok(fi_domain(b.fabric, b.info[0], &dom, NULL));
	assert_ok(fi_av_open(dom, &av, &tav, NULL));
	assert_ok(fi_cntr_open(dom, &ca, &cntr, NULL));
	assert_ok(fi_endpoint(dom, b.info[0], &p.ep, NULL));
	assert_ok(fi_ep_bind(p.ep, &tav->fid, 0));
	assert_ok(fi_ep_bind(p.ep, &cntr->fid, FI_SEND | FI_RECV));
	assert_ok(fi_enable(p.ep));
	assert_ok(fi_getname(&p.ep->fid, &name, &len));
	assert_int_equal(fi_av_insert(b.av[1], &name, 1, &target, 0, NULL), 1);
	assert_ok(fi_mr_reg(dom, mem, sizeof(mem), FI_REMOTE_WRITE, 0, 77, 0, &mr, NULL));
	at = b.info[0]->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)mem : 0;
	assert_int_equal(pthread_create(&t, NULL, post_only, &p), 0);
	for (i = 0; i < WRITES; i++) {
		assert_ok(fi_write(b.ep[1], "payload", 8, NULL, target, at, fi_mr_key(mr), NULL));
		while (fi_cq_read(b.tx[1], &e, 1) != 1) {
			if (test_now_s() > end)
				fail_msg("%d of %d writes in %d s", i, WRITES, TEST_GUARD_S);
		}
	}
	atomic_store(&p.stop, 1);
	pthread_join(t, NULL);
	bed_resume(&b);
	assert_ok(fi_close(&mr->fid));
	assert_ok(fi_close(&p.ep->fid));
	assert_ok(fi_close(&cntr->fid));
	assert_ok(fi_close(&tav->fid));
	assert_ok(fi_close(&dom->fid));
	bed_close(&b);
}

/* ---- many endpoints -------------------------------------------------------------------------- */

#define MANY	   100	     /* endpoints of a domain */
#define IDLE_TIMES 3	     /* a second, an idle thread may wake */
#define IDLE_NS	   100000000 /* and run */

/*
 * In some second before the guard ends, the thread sleeps all the time but for what is said above.
 */
static void expect_idle(int tid, const char *who)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct timespec ts = { .tv_sec = 1 };
	struct task was, is;

	assert_true(tid > 0);
	do {
		assert_true(task_look(tid, &was));
		nanosleep(&ts, NULL);
		assert_true(task_look(tid, &is));
		if (is.switches - was.switches <= IDLE_TIMES && is.run_ns - was.run_ns < IDLE_NS)
			return;
	} while (test_now_s() < end);
	fail_msg("%s woke %lu times in a second and ran for %lu us", who,
		 is.switches - was.switches, (is.run_ns - was.run_ns) / 1000);
}

static void many__idle(void **state)
{
	const struct tale *t = *state;
	struct fid_ep *ep[MANY];
	struct nap n;
	struct bed b;
	char rx[8];
	int i;

	bed_open(&b, t->progress, FI_WAIT_UNSPEC);
	for (i = 0; i < MANY; i++) {
		assert_ok(fi_endpoint(b.domain[0], b.info[0], &ep[i], NULL));
		assert_ok(fi_ep_bind(ep[i], &b.av[0]->fid, 0));
		assert_ok(fi_ep_bind(ep[i], &b.tx[0]->fid, FI_TRANSMIT));
		assert_ok(fi_ep_bind(ep[i], &b.rx[0]->fid, FI_RECV));
		assert_ok(fi_enable(ep[i]));
	}
	if (t->progress == FI_PROGRESS_AUTO)
		expect_idle(thread_find(), "the progress thread");
	nap_start(&n, &b, SREAD);
	expect_idle(atomic_load(&n.tid), "a blocking read");
	if (t->progress == FI_PROGRESS_AUTO)
		expect_idle(thread_find(), "the progress thread beside a blocking read");
	/* and they are there: the last one as well as the first */
	assert_ok(fi_send(ep[MANY - 1], "message", 8, NULL, b.peer[0], NULL));
	assert_int_equal(nap_join(&n), 1);
	assert_ok(fi_recv(ep[MANY - 1], rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	nap_start(&n, &b, SREAD);
	bed_post(&b, "message");
	assert_int_equal(nap_join(&n), 1);
	for (i = 0; i < MANY; i++)
		assert_ok(fi_close(&ep[i]->fid));
	bed_close(&b);
}

/* ---- an application that posts while it holds the mutex -------------------------------------- */

#define HELD 2000 /* messages */

struct holder {
	struct bed *b;
	int kind; /* 0: posts; 1: reads and sleeps */
	uint64_t done;
	pthread_t t;
};

static void *holder_main(void *arg)
{
	struct holder *h = arg;
	struct bed *b = h->b;
	struct fi_cq_tagged_entry e;
	struct fi_mutex_cond mc;
	int i;

	if (fi_control(&b->tx[0]->fid, FI_GETWAIT, &mc))
		return NULL;
	for (i = 0; i < HELD; i++) {
		pthread_mutex_lock(mc.mutex);
		if (!h->kind) {
			while (fi_send(b->ep[0], b->buf[0], 8, NULL, b->peer[0], NULL) ==
			       -FI_EAGAIN) {
				/* the queue is full: let the readers */
				pthread_mutex_unlock(mc.mutex);
				sched_yield();
				pthread_mutex_lock(mc.mutex);
			}
			h->done++;
		} else {
			while (fi_cq_read(b->tx[0], &e, 1) == -FI_EAGAIN)
				pthread_cond_wait(mc.cond, mc.mutex);
			h->done++;
		}
		pthread_mutex_unlock(mc.mutex);
	}
	return NULL;
}

/* Drives the endpoint by another queue and without the mutex. */
static void *drive_otherwise(void *arg)
{
	struct fi_cq_tagged_entry e;
	struct poster *p = arg;

	while (!atomic_load(&p->stop))
		fi_cq_read(p->cq, &e, 1);
	return NULL;
}

static void condition__posts_while_it_holds_the_mutex(void **state)
{
	const struct tale *t = *state;
	struct poster other = { 0 };
	pthread_t driver;
	struct holder h[4];
	struct timespec ts;
	struct bed b;
	int i;

	bed_open(&b, t->progress, FI_WAIT_MUTEX_COND);
	other.cq = b.rx[0];
	assert_int_equal(pthread_create(&driver, NULL, drive_otherwise, &other), 0);
	for (i = 0; i < 4; i++) {
		h[i] = (struct holder){ .b = &b, .kind = i & 1 };
		assert_int_equal(pthread_create(&h[i].t, NULL, holder_main, &h[i]), 0);
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 2 * TEST_GUARD_S;
	for (i = 0; i < 4; i++) {
		if (pthread_timedjoin_np(h[i].t, NULL, &ts)) {
			fprintf(stderr,
				"[  FAILED  ] dead-lock or a lost wake-up after %d posts, %d reads\n",
				(int)(h[0].done + h[2].done), (int)(h[1].done + h[3].done));
			_exit(1);
		}
		assert_int_equal(h[i].done, HELD);
	}
	atomic_store(&other.stop, 1);
	pthread_join(driver, NULL);
	bed_close(&b);
}

/* A thread that holds the mutex while a completion comes finds it when it sleeps at last. */
static void condition__completion_while_the_mutex_is_held(void **state)
{
	const struct tale *t = *state;
	struct fi_cq_tagged_entry e;
	struct fi_mutex_cond mc;
	struct timespec ts;
	struct bed b;
	int i;

	bed_open(&b, t->progress, FI_WAIT_MUTEX_COND);
	assert_ok(fi_control(&b.tx[0]->fid, FI_GETWAIT, &mc));
	for (i = 0; i < 10; i++) {
		pthread_mutex_lock(mc.mutex);
		assert_int_equal(fi_cq_read(b.tx[0], &e, 1), -FI_EAGAIN);
		bed_post(&b, "message");
		while (fi_cntr_read(b.cntr) <= (uint64_t)i)
			; /* drives: the entry is there now, and the mutex is ours */
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_sec += TEST_GUARD_S;
		assert_int_equal(pthread_cond_timedwait(mc.cond, mc.mutex, &ts), 0);
		assert_int_equal(fi_cq_read(b.tx[0], &e, 1), 1);
		pthread_mutex_unlock(mc.mutex);
	}
	bed_close(&b);
}

/* ---- all of it ------------------------------------------------------------------------------- */

#define TESTS_MAX 128

static struct CMUnitTest tests[TESTS_MAX];
/* ---- memory that both sides see -------------------------------------------------------------- */

/* One message, side 1 driven by the caller. */
static void bed_tell(struct bed *b, int from, void *rx, const void *tx, size_t len)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_tagged_entry e;
	bool sent = false, came = false;

	assert_ok(fi_recv(b->ep[!from], rx, len, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(b->ep[from], tx, len, NULL, b->peer[from], NULL));
	while (!sent || !came) {
		sent = sent || fi_cq_read(b->tx[from], &e, 1) == 1;
		came = came || fi_cq_read(b->rx[!from], &e, 1) == 1;
		assert_true(test_now_s() < end);
	}
}

/* After these both go through memory, where the kernel lets them. */
static void bed_meet(struct bed *b)
{
	uint8_t *rx = malloc(2 * BIG), *tx = calloc(1, 2 * BIG);
	struct fi_cq_tagged_entry e;

	bed_silence(b);
	/* what the driver has posted takes the first one */
	assert_ok(fi_send(b->ep[0], "first", 6, NULL, b->peer[0], NULL));
	while (fi_cq_read(b->rx[1], &e, 1) != 1)
		;
	while (fi_cq_read(b->tx[0], &e, 1) != 1)
		fi_cq_read(b->rx[1], &e, 1);
	for (int i = 0; i < 8; i++)
		bed_tell(b, i & 1, rx, tx, 2 * BIG);
	free(rx);
	free(tx);
}

/*
 * Another thread's read polls what a thread sleeps on, and goes.  What comes afterwards has to wake
 * the sleeper: no timer will.
 */
static void read__does_not_take_the_notice_away(void **state)
{
	const struct tale *t = *state;
	struct fi_cq_tagged_entry e;
	struct nap n;
	struct bed b;
	char rx[8];

	bed_open(&b, t->progress, hows[t->how].obj);
	bed_meet(&b);
	for (int i = 0; i < 5; i++) {
		uint64_t end = test_now_s() + TEST_GUARD_S;

		assert_ok(fi_recv(b.ep[0], rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
		memset(&n, 0, sizeof(n));
		n.b = &b;
		n.how = t->how;
		n.cq = b.rx[0];
		n.timeout = -1;
		assert_int_equal(pthread_create(&n.thread, NULL, nap_main, &n), 0);
		task_asleep(&n.tid);
		assert_int_equal(fi_cq_read(b.tx[0], &e, 1), -FI_EAGAIN);
		assert_ok(fi_send(b.ep[1], "to you", 7, NULL, b.peer[1], NULL));
		while (fi_cq_read(b.tx[1], &e, 1) != 1)
			assert_true(test_now_s() < end);
		assert_int_equal(nap_join(&n), 1);
	}
	bed_resume(&b);
	bed_close(&b);
}

/* The same of the progress thread. */
static void thread__is_told_though_others_read(void **state)
{
	struct timespec ts = { .tv_nsec = 20000000 };
	struct fi_cq_tagged_entry e;
	struct bed b;
	char rx[8];

	(void)state;
	bed_open(&b, FI_PROGRESS_AUTO, FI_WAIT_UNSPEC);
	bed_meet(&b);
	for (int i = 0; i < 10; i++) {
		uint64_t end = test_now_s() + TEST_GUARD_S;

		assert_ok(fi_recv(b.ep[0], rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
		nanosleep(&ts, NULL); /* it has taken over */
		for (int k = 0; k < i; k++)
			assert_int_equal(fi_cq_read(b.tx[0], &e, 1), -FI_EAGAIN);
		assert_ok(fi_send(b.ep[1], "to you", 7, NULL, b.peer[1], NULL));
		while (fi_cq_read(b.tx[1], &e, 1) != 1)
			assert_true(test_now_s() < end);
		assert_int_equal(fi_cq_read(b.rx[0], &e, 1), 1);
	}
	bed_resume(&b);
	bed_close(&b);
}

static struct tale tales[TESTS_MAX];
static char names[TESTS_MAX][64];
static unsigned int ntests;

static void add(const char *name, const char *way, CMUnitTestFunction fn, enum how how,
		enum fi_progress progress)
{
	snprintf(names[ntests], sizeof(names[0]), "%s%s%s_%s", name, way ? "__" : "",
		 way ? way : "", progress == FI_PROGRESS_AUTO ? "auto" : "manual");
	tales[ntests] = (struct tale){ how, progress };
	tests[ntests].name = names[ntests];
	tests[ntests].test_func = fn;
	tests[ntests].initial_state = &tales[ntests];
	ntests++;
}

int main(int argc, char **argv)
{
	static const enum fi_progress both[] = { FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL };
	int how, i;

	for (i = 0; i < 2; i++) {
		for (how = 0; how < HOWS; how++) {
			if (how == FD_BARE && both[i] == FI_PROGRESS_MANUAL)
				continue;
			add("first_message", hows[how].name, first_message, (enum how)how, both[i]);
			add("more", hows[how].name, more, (enum how)how, both[i]);
			add("loss", hows[how].name, loss, (enum how)how, both[i]);
			if (how == SREAD || how == FD || how == COND)
				add("late_receive", hows[how].name, late_receive, (enum how)how,
				    both[i]);
			if (how == SREAD || how == FD || how == FD_BARE || how == COND)
				add("quiet", hows[how].name, quiet, (enum how)how, both[i]);
			add("dead_peer", hows[how].name, dead_peer, (enum how)how, both[i]);
			if (how == SREAD || how == FD) /* closing takes a second then */
				add("silent_peer", hows[how].name, silent_peer, (enum how)how,
				    both[i]);
		}
		for (how = 0; how < HOWS; how++)
			if (how == SREAD || how == FD || how == COND)
				add("read__does_not_take_the_notice_away", hows[how].name,
				    read__does_not_take_the_notice_away, (enum how)how, both[i]);
		add("several__queues_and_counter", NULL, several__queues_and_counter, SREAD,
		    both[i]);
		add("several__one_leaves", NULL, several__one_leaves, SREAD, both[i]);
		add("several__on_one_counter", NULL, several__on_one_counter, SREAD, both[i]);
		add("several__on_one_descriptor", NULL, several__on_one_descriptor, SREAD, both[i]);
		add("several__signal", NULL, several__signal, SREAD, both[i]);
		add("goes__while_one_sleeps", NULL, goes__while_one_sleeps, SREAD, both[i]);
		add("many__idle", NULL, many__idle, SREAD, both[i]);
		add("condition__posts_while_it_holds_the_mutex", NULL,
		    condition__posts_while_it_holds_the_mutex, COND, both[i]);
		add("condition__completion_while_the_mutex_is_held", NULL,
		    condition__completion_while_the_mutex_is_held, COND, both[i]);
	}
	add("thread__hears_of_posts", NULL, thread__hears_of_posts, SREAD, FI_PROGRESS_AUTO);
	add("thread__is_told_though_others_read", NULL, thread__is_told_though_others_read, SREAD,
	    FI_PROGRESS_AUTO);
	add("thread__takes_over_from_a_sleeper", NULL, thread__takes_over_from_a_sleeper, SREAD,
	    FI_PROGRESS_AUTO);
	add("thread__serves_who_only_said_it_would_sleep", NULL,
	    thread__serves_who_only_said_it_would_sleep, FD, FI_PROGRESS_AUTO);
	add("thread__serves_an_endpoint_that_only_posts", NULL,
	    thread__serves_an_endpoint_that_only_posts, SREAD, FI_PROGRESS_AUTO);
	test_env();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("tests", tests, ntests, NULL, NULL);
}
