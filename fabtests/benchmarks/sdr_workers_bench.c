/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many packets per second the SDK and its engine receive, and send, by workers.
 *
 *   sdr_workers_bench [-r ROUNDS] [-m MTU] [-w WORKERS,...] [-o recv|send] [-l BYTES] [-p PLAYS]
 *                     [-t SECONDS] [--min RATIO]
 *
 * The engine is "mem": rings in this process with no kernel in between, so that a few cores can
 * show as many workers.  Four messages of BYTES, in packets of 64 bytes and of 4 KiB.
 *
 * recv   The whole receive path: frame and ICRC checked, placed, packet and chunk bit set, counted,
 *        and seen by the receiver.  The messages (1 MiB) are sent and stay in the receiver's rings;
 *        then these are played, over and over (PLAYS; as often as makes a million packets), and
 *        the clock runs until the receiver has counted all packets, which it looks for once in a
 *        while as an application would that sleeps.  A packet that comes again is placed and
 *        counted as the first was, and finds its bit set.  So the rings are as large as those of a
 *        device, whose packets meet the processor in its caches, and waking workers does not count.
 *        What does not fit there is limited by memory: "-l 8388608 -p 1".
 * send   The whole send path: packets framed, ICRC made, copied into rings.  The clock runs from
 *        the first message (8 MiB) until the last is sent; all stay in the rings meanwhile, and are
 *        received after that.  The receiver has twice as many ports as the sender has workers, four
 *        at least and sixteen at most, so that these do not wait for each other there.
 *
 * Workers of a row have a processor each where there are enough: a kernel that wakes two of them on
 * one, since whoever plays the rings is on the other, leaves them there for some milliseconds.
 *
 * "1+1" (recv) is two processes with one worker each, which share nothing but the machine and begin
 * together: the sum of both.  Two workers of one receiver cannot be expected to do more than that;
 * where processors are threads of one core, or memory is what limits, it is less than 2.
 *
 * Bytes are compared outside of the time.  Without workers the caller's own thread does it all;
 * with them it sends as well, and does not receive.  All rows of a packet size take turns, round by
 * round; the first round warms the memory up and does not count.  Printed are the best and the
 * median, the median of the ratios to none, and to one, in the same round, and what part of the
 * packets workers did.  Of as many workers as there are processors or more one does not send
 * (uc/README.md).
 *
 * Stops beginning rounds after SECONDS (50).  Exit status 1 when --min RATIO is given and receiving
 * with two workers is less than so much of it with one, for one of the sizes.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc_open.h"
#include "uc/soft/sdr_soft.h"

#define MSGS	   4u
#define LEN_RECV   (1u << 20) /* bytes of a message */
#define LEN_SEND   (8u << 20)
#define LEN_LEAST  (256u << 10)
#define LEN_MOST   (64u << 20)
#define PACKETS	   (1u << 20) /* of a round, where nothing else was asked for */
#define PLAYS_MOST 1000u      /* each takes a second of the stamps' time */
#define ROWS	   8u
#define ROUNDS_MAX 99
#define PAIR	   255u /* a row's workers: two processes of one each */
#define NAP_NS	   200000
#define SETTLE_NS  20000000
#define RING_OVER  128u /* bytes that a packet takes in a ring besides its payload, at most */

struct side {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
	struct sdr_uc *uc;
};

static uint8_t *src, *dst; /* of a message; of MSGS */
static uint32_t second;	   /* of a pair: 1 */
static uint32_t *gate;	   /* of a pair: who is there; NULL: nobody waits for anybody */

/* What a round is about. */
struct round {
	uint8_t workers;
	bool sending;
	uint32_t mtu, len; /* bytes; len of a message */
	uint32_t plays;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "sdr_workers_bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Where the clock starts, of both at once. */
static void gate_pass(void)
{
	uint64_t from = now_ns();

	if (!gate)
		return;
	__atomic_add_fetch(gate, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) < 2) {
		if (now_ns() - from > 20000000000u)
			die("the other process", ETIMEDOUT);
		sched_yield();
	}
}

static void progress(struct side *s)
{
	int ret = sdr_context_progress(s->ctx);

	if (ret < 0)
		die("progress", ret);
}

static void side_open(struct side *s, uint8_t workers, uint32_t ring)
{
	struct sdr_uc_open_attr a = { .workers = workers, .rcvbuf = ring };
	const uint64_t rand[2] = { 0x1234567 + workers, 0x89abcdef };
	int ret = sdr_uc_open("mem", &a, &s->uc);

	if (ret)
		die("mem", ret);
	s->ctx = sdr_context_create_on(s->uc, NULL, rand);
	if (!s->ctx)
		die("context", errno);
}

/* Until answers of ports have come, and whatever else is on its way. */
static void settle(struct side s[2])
{
	for (uint64_t t = now_ns() + SETTLE_NS; now_ns() < t;) {
		progress(&s[0]);
		progress(&s[1]);
	}
}

static void sides_open(struct side s[2], uint8_t from, uint8_t to, const struct round *o)
{
	const uint32_t all = MSGS * (o->len / o->mtu) * (o->mtu + RING_OVER), ports = to ? to : 1;
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .mtu = o->mtu,
				    .max_msg = o->len,
				    .flags = SDR_QP_NUMBERED,
				    .id_bits = 4,
				    .off_bits = 28 };
	uint8_t info[2][SDR_QP_INFO_SIZE];
	int i, ret;

	for (i = 0; i < 2; i++) {
		side_open(&s[i], i ? to : from, i ? 2 * (all / ports) : 0);
		s[i].qp = sdr_qp_create(s[i].ctx, &attr);
		if (!s[i].qp)
			die("queue pair", errno);
		sdr_qp_info_get(s[i].qp, info[i]);
	}
	for (i = 0; i < 2; i++) {
		ret = sdr_qp_connect(s[i].qp, info[!i]);
		if (ret)
			die("connect", ret);
	}
	sdr_qp_limit_set(s[0].qp, 2 * MSGS);
	settle(s);
}

static void sides_close(struct side s[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		sdr_qp_destroy(s[i].qp);
		sdr_context_destroy(s[i].ctx);
	}
}

/* The row-th processor that this process may use; -1: there are not so many. */
static int processor(uint32_t row)
{
	cpu_set_t set;
	int i;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && !row--)
			return i;
	return -1;
}

/* Each worker of this process gets one of its own. */
static void workers_pin(uint32_t n)
{
	DIR *dir = processor(second + n - 1) < 0 ? NULL : opendir("/proc/self/task");
	uint32_t row = second;
	struct dirent *d;
	cpu_set_t set;

	while (dir && (d = readdir(dir))) {
		char path[sizeof("/proc/self/task//comm") + sizeof(d->d_name)], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strcmp(name, "sdr-worker\n") &&
		    processor(row) >= 0) {
			CPU_ZERO(&set);
			CPU_SET(processor(row++), &set);
			sched_setaffinity(atoi(d->d_name), sizeof(set), &set);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
}

/* So many times each. */
static bool all_in(struct sdr_rcv_handle *r[MSGS], uint32_t plays)
{
	uint32_t i;

	for (i = 0; i < MSGS; i++) {
		const struct sdr_rcv_state *st = sdr_recv_state(r[i]);

		if ((uint64_t)st->got + st->dups < (uint64_t)plays * st->npkts)
			return false;
	}
	return true;
}

static void post(struct side s[2], uint32_t no, uint32_t len, struct sdr_rcv_handle **r)
{
	struct sdr_rcv_wr rw = { .addr = dst + (size_t)(no % MSGS) * len, .length = len };
	int ret = sdr_recv_post_at(s[1].qp, no, &rw, NULL, r);

	if (ret)
		die("post", ret);
}

static void send_one(struct side *s, uint32_t no, uint32_t len)
{
	struct sdr_continue_wr part = { .addr = src, .length = len };
	struct sdr_start_wr sw = { .length = len };
	struct sdr_snd_handle *h;
	int ret = sdr_send_stream_start_at(s->qp, no, &sw, &h);

	if (ret)
		die("start", ret);
	while ((ret = sdr_send_stream_continue(h, &part)) == -EAGAIN)
		progress(s);
	if (!ret)
		ret = sdr_send_stream_end(h);
	if (ret)
		die("send", ret);
	while (!(ret = sdr_send_poll(h)))
		progress(s);
	if (ret < 0)
		die("send", ret);
}

static void receive(struct side *s, struct sdr_rcv_handle *r[MSGS], const struct round *o)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t from = now_ns();

	while (!all_in(r, o->plays)) {
		progress(s);
		if (o->workers || o->sending)
			nanosleep(&nap, NULL);
		if (now_ns() - from > 20000000000u)
			die("packets are missing", ETIMEDOUT);
	}
}

/*
 * A first message, which nothing is measured with: with it the sender's workers ask, and those of
 * the receiver answer.
 */
static void meet(struct side s[2], uint32_t len)
{
	struct sdr_rcv_handle *r;

	post(s, MSGS, len, &r);
	send_one(&s[0], MSGS, len);
	settle(s);
}

/* Packets that the workers of a side have sent, or placed. */
static uint64_t by_workers(const struct side *s, bool sent)
{
	struct sdr_soft_worker_stats w[SDR_WORKERS_MAX];
	uint32_t i, k = sdr_soft_worker_stats_get(s->uc, w, SDR_WORKERS_MAX);
	uint64_t n = 0;

	for (i = 0; i < k; i++)
		n += sent ? w[i].pkts_tx : w[i].pkts_rx;
	return n;
}

/* Packets per second, of receiving or of sending; *part: of them, what workers did. */
static double round_of(const struct round *o, double *part)
{
	const uint8_t w = o->workers, ports = w < 2 ? 4 : w < 8 ? 2 * w : 16;
	const uint64_t once = (uint64_t)MSGS * (o->len / o->mtu), all = once * o->plays;
	struct sdr_stats st = { .size = sizeof(st) };
	struct sdr_rcv_handle *r[MSGS];
	struct side s[2];
	uint64_t from, ns, before;
	uint32_t i;

	sides_open(s, o->sending ? w : 0, o->sending ? ports : w, o);
	meet(s, o->len);
	if (!o->sending && w)
		workers_pin(w);
	before = by_workers(&s[!o->sending], o->sending);
	sdr_soft_mem_hold(s[1].uc);
	memset(dst, 0, (size_t)MSGS * o->len);
	for (i = 0; i < MSGS; i++)
		post(s, i, o->len, &r[i]);
	from = now_ns();
	for (i = 0; i < MSGS; i++)
		send_one(&s[0], i, o->len);
	ns = now_ns() - from;
	gate_pass();
	from = now_ns();
	sdr_soft_mem_play(s[1].uc, o->plays);
	receive(&s[1], r, o);
	if (!o->sending)
		ns = now_ns() - from;
	for (i = 0; i < MSGS; i++)
		if (memcmp(dst + (size_t)i * o->len, src, o->len) != 0)
			die("bytes", EBADMSG);
	sdr_context_stats(s[1].ctx, &st);
	if (st.pkts_rx != all + o->len / o->mtu || st.pkts_dup != all - once)
		die("packets", EBADMSG);
	*part = (double)(by_workers(&s[!o->sending], o->sending) - before) / (double)all;
	sides_close(s);
	return (double)all * 1e9 / (double)ns;
}

/* Receiving, of two processes with a worker each: the sum. */
static double pair_of(struct round o, double *part)
{
	double mine, theirs = 0;
	int fd[2], status;
	pid_t pid;

	gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (gate == MAP_FAILED || pipe(fd))
		die("a pair of processes", errno);
	pid = fork();
	if (pid < 0)
		die("fork", errno);
	second = !pid;
	o.workers = 1;
	mine = round_of(&o, part);
	if (!pid)
		_exit(write(fd[1], &mine, sizeof(mine)) != sizeof(mine));
	close(fd[1]);
	if (read(fd[0], &theirs, sizeof(theirs)) != sizeof(theirs) ||
	    waitpid(pid, &status, 0) != pid || status)
		die("the other process", ECHILD);
	close(fd[0]);
	munmap(gate, sizeof(*gate));
	gate = NULL;
	return mine + theirs;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What was asked for, and what came of it: packets per second, a row for each number of workers. */
struct table {
	struct round of; /* but for the workers */
	uint8_t workers[ROWS];
	uint32_t rows;
	int rounds;
	double v[ROWS][ROUNDS_MAX];
	double part[ROWS]; /* that workers did, mean of the rounds */
};

static double median(double *a, int n)
{
	qsort(a, (size_t)n, sizeof(a[0]), by_value);
	return a[n / 2];
}

/* Median of row i to the row of so many workers, round by round; 0: there is none. */
static double ratio(const struct table *t, uint32_t i, uint8_t workers)
{
	double a[ROUNDS_MAX];
	uint32_t k;
	int r;

	for (k = 0; k < t->rows && t->workers[k] != workers; k++)
		;
	if (k == t->rows)
		return 0;
	for (r = 0; r < t->rounds; r++)
		a[r] = t->v[i][r] / t->v[k][r];
	return median(a, t->rounds);
}

static double row_of(const struct table *t, uint32_t i, double *part)
{
	struct round o = t->of;

	o.workers = t->workers[i];
	return o.workers == PAIR ? pair_of(o, part) : round_of(&o, part);
}

/* The rounds that there is time for, one at least. */
static void measure(struct table *t, int rounds, uint64_t until)
{
	double part;
	uint32_t i;
	int r;

	for (i = 0; i < t->rows; i++) {
		row_of(t, i, &part);
		t->part[i] = 0;
	}
	for (r = 0; r < rounds && (!r || now_ns() < until); r++)
		for (i = 0; i < t->rows; i++) {
			t->v[i][r] = row_of(t, i, &part);
			t->part[i] += part;
		}
	t->rounds = r;
}

static void print(const struct table *t)
{
	uint32_t i;

	for (i = 0; i < t->rows; i++) {
		double none = ratio(t, i, 0), one = ratio(t, i, 1), a[ROUNDS_MAX], mid;
		char who[8] = "1+1";

		if (t->workers[i] != PAIR)
			snprintf(who, sizeof(who), "%u", t->workers[i]);
		memcpy(a, t->v[i], sizeof(a));
		mid = median(a, t->rounds);
		printf("%-5s %8u %8s %12.2f %12.2f %12.2f %8.2f %8.2f %7.0f%%\n",
		       t->of.sending ? "send" : "recv", t->of.mtu, who, a[t->rounds - 1] / 1e6,
		       mid / 1e6, mid * t->of.mtu / 1e9, none, one, 100 * t->part[i] / t->rounds);
	}
	fflush(stdout);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: sdr_workers_bench [-r ROUNDS] [-m MTU] [-w WORKERS,...] "
		"[-o recv|send]\n                         [-l BYTES] [-p PLAYS] [-t SECONDS] [--min RATIO]\n");
	exit(2);
}

/* No pair sends. */
static void rows_of_senders(struct table *t)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->rows; i++)
		if (t->workers[i] != PAIR)
			t->workers[n++] = t->workers[i];
	t->rows = n;
}

/* "0,1,1+1,2"; NULL: powers of two up to what there are processors for, and a pair. */
static void rows_set(struct table *t, const char *list)
{
	static const uint8_t some[] = { 0, 1, PAIR, 2, 4, 8, 16 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), w;
	char *end;
	size_t i;

	t->rows = 0;
	for (i = 0; !list && i < sizeof(some) && (i < 4 || some[i] <= cpus); i++)
		t->workers[t->rows++] = some[i];
	while (list) {
		w = strtol(list, &end, 10);
		if (!strncmp(list, "1+1", 3))
			w = PAIR, end = (char *)(uintptr_t)list + 3;
		if (end == list || w < 0 || (w > SDR_WORKERS_MAX && w != PAIR) || t->rows == ROWS ||
		    (*end && *end != ','))
			usage();
		t->workers[t->rows++] = (uint8_t)w;
		list = *end ? end + 1 : NULL;
	}
}

/* Bytes that a message has, and how often its packets come. */
static void round_set(struct round *o, bool sending, uint32_t mtu, uint32_t len, uint32_t plays)
{
	o->sending = sending;
	o->mtu = mtu;
	o->len = len ? len : sending ? LEN_SEND : LEN_RECV;
	o->plays = plays ? plays : PACKETS / (MSGS * (o->len / mtu));
	if (!o->plays || sending)
		o->plays = 1;
}

static void memory_get(uint32_t len)
{
	uint32_t i;

	/* Rings are memory that was used before, so that no page is new in a round that counts. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	src = malloc(len);
	dst = malloc((size_t)MSGS * len);
	if (!src || !dst)
		die("memory", ENOMEM);
	for (i = 0; i < len; i++)
		src[i] = (uint8_t)(i * 2654435761u >> 13);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "min", required_argument, NULL, 'x' },
					       { NULL, 0, NULL, 0 } };
	uint32_t mtus[] = { 64, 4096 }, i, k, n = 2, done = 0, all, len = 0, plays = 0;
	const char *list = NULL, *only = NULL;
	static struct table t;
	int rounds = 9, c;
	double min = 0, seconds = 50;
	bool low = false;
	uint64_t from = now_ns();

	while ((c = getopt_long(argc, argv, "r:m:w:o:l:p:t:", longs, NULL)) != -1) {
		if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 'm')
			mtus[0] = (uint32_t)atoi(optarg), n = 1;
		else if (c == 'w')
			list = optarg;
		else if (c == 'o')
			only = optarg;
		else if (c == 'l' && (len = (uint32_t)strtoul(optarg, NULL, 0)) >= LEN_LEAST &&
			 len <= LEN_MOST)
			;
		else if (c == 'p' && (plays = (uint32_t)strtoul(optarg, NULL, 0)) > 0 &&
			 plays <= PLAYS_MOST)
			;
		else if (c == 't')
			seconds = atof(optarg);
		else if (c == 'x')
			min = atof(optarg);
		else
			usage();
	}
	if (optind != argc || rounds < 1 || rounds > ROUNDS_MAX || mtus[0] < 64 ||
	    (len ? len : LEN_RECV) % mtus[0] || (n > 1 && len % mtus[1]) ||
	    (only && strcmp(only, "recv") != 0 && strcmp(only, "send") != 0))
		usage();
	rows_set(&t, list);
	memory_get(len ? len : LEN_SEND);
	printf("%-5s %8s %8s %12s %12s %12s %8s %8s %8s\n", "what", "packet", "workers",
	       "best Mpps", "median Mpps", "median GB/s", ": none", ": one", "theirs");
	all = n * (only ? 1 : 2);
	for (k = 0; k < 2; k++) {
		if (only && (k == 1) != !strcmp(only, "send"))
			continue;
		if (k)
			rows_of_senders(&t);
		for (i = 0; i < n; i++) {
			round_set(&t.of, k, mtus[i], len, plays);
			measure(&t, rounds, from + (uint64_t)(seconds * 1e9 * ++done / all));
			print(&t);
			for (c = 0; !k && c < (int)t.rows; c++)
				low |= t.workers[c] == 2 && ratio(&t, (uint32_t)c, 1) < min;
		}
	}
	free(src);
	free(dst);
	return low;
}
