/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Threads that make parity, and decode: the pool by itself (sdr_work.h), then transfers through
 * the public API with none, one and four of them: bytes, buffers that disappear the moment they are
 * reported, children.  Meant for ThreadSanitizer and AddressSanitizer as much as for its own
 * assertions.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fi/sdr_ep.h"
#include "fi/sdr_work.h"
#include "test_fi_util.h"

#define PIECES 512u

struct task {
	struct sdr_job job;
	atomic_uint begun, gate, inside;
	unsigned int pieces, together; /* together: threads that must meet in the first pieces */
	bool gated;		       /* a piece ends when the gate is open */
	pthread_t owner;
	uint32_t *done; /* by piece: times done; plain memory */
	atomic_uint by_others;
};

#define until(cond)                                                \
	do {                                                       \
		uint64_t end_ = test_now_s() + TEST_GUARD_S;       \
		while (!(cond)) {                                  \
			if (test_now_s() > end_)                   \
				fail_msg("never came: %s", #cond); \
			usleep(50);                                \
		}                                                  \
	} while (0)

static void task_run(struct sdr_job *job)
{
	struct task *t = sdr_container(job, struct task, job);
	uint64_t end = test_now_s() + TEST_GUARD_S;
	unsigned int i;

	atomic_fetch_add(&t->inside, 1);
	while ((i = atomic_fetch_add(&t->begun, 1)) < t->pieces) {
		t->done[i]++;
		if (!pthread_equal(pthread_self(), t->owner))
			atomic_fetch_add(&t->by_others, 1);
		while (i < t->together && atomic_load(&t->inside) < t->together &&
		       test_now_s() < end)
			usleep(50);
		while (t->gated && !atomic_load(&t->gate) && test_now_s() < end)
			usleep(50);
	}
	if (!t->together)
		atomic_fetch_sub(&t->inside, 1);
}

static struct task *task_new(unsigned int pieces)
{
	struct task *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->job.run = task_run;
	t->pieces = pieces;
	t->owner = pthread_self();
	t->done = calloc(pieces, sizeof(*t->done));
	assert_non_null(t->done);
	return t;
}

static void task_free(struct task *t)
{
	free(t->done);
	free(t);
}

/* ---- the pool -------------------------------------------------------------------------------- */

/* The owner does nothing: others do every piece, once, and three of them at the same time. */
static void pool__others_do_it(void **state)
{
	struct task *t = task_new(PIECES);
	struct sdr_work w;
	unsigned int i;

	(void)state;
	sdr_work_init(&w);
	t->together = 3;
	assert_int_equal(sdr_work_give(&w, &t->job, 3), 0);
	until(atomic_load(&t->by_others) == PIECES);
	assert_true(sdr_work_take(&w, &t->job));
	assert_int_equal(atomic_load(&t->inside), 3);
	for (i = 0; i < PIECES; i++)
		assert_int_equal(t->done[i], 1);
	sdr_work_fini(&w);
	task_free(t);
}

static void *gate_opener(void *arg)
{
	struct task *t = ((void **)arg)[0];
	struct sdr_work *w = ((void **)arg)[1];
	bool *slept = ((void **)arg)[2];
	uint64_t end = test_now_s() + TEST_GUARD_S;
	bool sleeps = false;

	/* only when the owner has gone to sleep over it */
	while (!sleeps && test_now_s() < end) {
		pthread_mutex_lock(&w->lock);
		sleeps = w->takers == 1;
		pthread_mutex_unlock(&w->lock);
		usleep(50);
	}
	*slept = sleeps;
	atomic_store(&t->gate, 1);
	return NULL;
}

static void pool__take_waits(void **state)
{
	struct task *t = task_new(1);
	struct sdr_work w;
	bool slept = false;
	void *arg[3] = { t, &w, &slept };
	pthread_t opener;

	(void)state;
	sdr_work_init(&w);
	t->gated = true;
	assert_int_equal(sdr_work_give(&w, &t->job, 1), 0);
	until(atomic_load(&t->by_others) == 1);
	assert_int_equal(pthread_create(&opener, NULL, gate_opener, arg), 0);
	assert_true(sdr_work_take(&w, &t->job));
	assert_int_equal(atomic_load(&t->gate), 1);
	assert_int_equal(atomic_load(&t->job.inside), 0);
	pthread_join(opener, NULL);
	assert_true(slept);
	sdr_work_fini(&w);
	task_free(t);
}

/* Behind one that does not end: taken back without ever having been looked at. */
static void pool__taken_before_its_turn(void **state)
{
	struct task *t = task_new(1), *u = task_new(1);
	struct sdr_work w;

	(void)state;
	sdr_work_init(&w);
	t->gated = true;
	assert_int_equal(sdr_work_give(&w, &t->job, 1), 0);
	until(atomic_load(&t->by_others) == 1);
	assert_int_equal(sdr_work_give(&w, &u->job, 1), 0);
	assert_true(sdr_work_take(&w, &u->job));
	assert_int_equal(atomic_load(&u->begun), 0);
	memset(u->done, 0xee, sizeof(*u->done));
	task_free(u);
	atomic_store(&t->gate, 1);
	assert_true(sdr_work_take(&w, &t->job));
	sdr_work_fini(&w);
	task_free(t);
}

struct owner {
	struct sdr_work *w;
	unsigned int id, others, failed;
};

/*
 * Jobs that are finished by both, and such as are abandoned in the middle; their memory goes at
 * once.
 */
static void *owner_main(void *arg)
{
	struct owner *o = arg;
	unsigned int i, k;

	for (i = 0; i < 300; i++) {
		unsigned int pieces = 1 + (i * 7 + o->id) % 40;
		struct task *t = task_new(pieces);
		bool drop = i % 3 == 0;

		if (sdr_work_give(o->w, &t->job, 1 + o->id)) {
			o->failed++;
			task_free(t);
			continue;
		}
		if (drop)
			atomic_store(&t->begun, pieces);
		else
			task_run(&t->job);
		o->failed += !sdr_work_take(o->w, &t->job);
		for (k = 0; k < pieces; k++)
			o->failed += drop ? t->done[k] > 1 : t->done[k] != 1;
		o->others += atomic_load(&t->by_others);
		task_free(t);
	}
	return NULL;
}

static void pool__many_owners(void **state)
{
	struct owner o[4];
	struct sdr_work w;
	pthread_t t[4];
	unsigned int i;

	(void)state;
	sdr_work_init(&w);
	for (i = 0; i < 4; i++) {
		o[i] = (struct owner){ .w = &w, .id = i };
		assert_int_equal(pthread_create(&t[i], NULL, owner_main, &o[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(o[i].failed, 0);
	}
	assert_int_equal(w.on, 4); /* the largest number wanted */
	sdr_work_fini(&w);
}

/*
 * A thread of the parent holds a piece, the lock even: the child neither waits nor starts threads.
 */
static void pool__child(void **state)
{
	struct task *t = task_new(1), *u = task_new(1);
	struct sdr_work w;
	int status = 0;
	pid_t pid;

	(void)state;
	sdr_work_init(&w);
	t->gated = true;
	assert_int_equal(sdr_work_give(&w, &t->job, 2), 0);
	until(atomic_load(&t->by_others) == 1);
	pthread_mutex_lock(&w.lock);
	pid = fork();
	if (pid == 0) {
		bool ok;

		alarm(TEST_GUARD_S);
		ok = sdr_work_give(&w, &u->job, 1) == -ECHILD;
		ok &= !sdr_work_take(&w, &t->job);
		sdr_work_fini(&w);
		sdr_work_stop_all();
		_exit(ok ? 7 : 8);
	}
	pthread_mutex_unlock(&w.lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 7 << 8); /* exited with 7 */
	atomic_store(&t->gate, 1);
	assert_true(sdr_work_take(&w, &t->job));
	sdr_work_fini(&w);
	task_free(t);
	task_free(u);
}

/* Threads of this process that are workers; *unmasked: those that take signals. */
static unsigned int workers(unsigned int *unmasked)
{
	DIR *d = opendir("/proc/self/task");
	unsigned int n = 0;
	struct dirent *e;

	assert_non_null(d);
	*unmasked = 0;
	while ((e = readdir(d))) {
		char path[300], line[128];
		unsigned long long mask = 0;
		bool is = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			is |= strcmp(line, "Name:\tsdr-work\n") == 0;
			if (strncmp(line, "SigBlk:", 7) == 0)
				mask = strtoull(line + 7, NULL, 16);
		}
		if (f)
			fclose(f);
		n += is;
		/* TERM, INT, ALRM, USR1; the C library keeps a few real-time signals for itself */
		*unmasked += is && (mask & 0x6202) != 0x6202;
	}
	closedir(d);
	return n;
}

/*
 * They come with the first job, and the end of a process ends those of a pool that was not closed.
 */
static void pool__names_and_signals(void **state)
{
	struct task *t = task_new(1);
	struct sdr_work w;
	unsigned int open;

	(void)state;
	sdr_work_init(&w);
	until(workers(&open) == 0);
	assert_int_equal(sdr_work_give(&w, &t->job, 2), 0);
	until(workers(&open) == 2);
	assert_int_equal(open, 0);
	assert_true(sdr_work_take(&w, &t->job));
	sdr_work_stop_all();
	assert_int_equal(w.on, 0);
	assert_int_equal(sdr_work_give(&w, &t->job, 2), -ECANCELED);
	sdr_work_fini(&w);
	until(workers(&open) == 0);
	task_free(t);
}

/* ---- transfers ------------------------------------------------------------------------------- */

#define LEN ((size_t)6 << 20) /* 48 submessages of 32 * 4 KiB */

static void ec_env(const char *threads, const char *fault)
{
	setenv("FI_SDR_RELIABILITY", "ec", 1);
	setenv("FI_SDR_CHUNK_SIZE", "4k", 1);
	setenv("FI_SDR_MTU", "4096", 1);
	setenv("FI_SDR_EC_THREADS", threads, 1);
	if (fault)
		setenv("FI_SDR_FAULT", fault, 1);
	else
		unsetenv("FI_SDR_FAULT");
}

static uint8_t *bytes_new(size_t len)
{
	uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static void bytes_fill(uint8_t *p, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v = (seed + i) * 0x9e3779b97f4a7c15ull;

		v ^= v >> 29;
		memcpy(p + i, &v, 8);
	}
}

/* A transfer from s[0] to s[1]: what the cases below have in common. */
struct frame {
	struct test_pair p;
	uint8_t *tx, *rx;
	size_t len;
};

static const struct test_opts manual = { .progress = FI_PROGRESS_MANUAL };

/* By the environment as it is now. */
static void frame_open(struct frame *f, size_t len, const struct test_opts *o)
{
	f->len = len;
	f->tx = bytes_new(len);
	f->rx = bytes_new(len);
	test_pair_open(&f->p, o);
}

static struct sdr_ep *ep_of(struct frame *f, int side)
{
	return sdr_container(f->p.s[side].ep, struct sdr_ep, fid);
}

static void frame_close(struct frame *f)
{
	test_pair_close(&f->p);
	munmap(f->tx, f->len);
	munmap(f->rx, f->len);
}

static void frame_post(struct frame *f, size_t len, uint64_t seed)
{
	bytes_fill(f->tx, len, seed);
	assert_ok(fi_recv(f->p.s[1].ep, f->rx, f->len, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(f->p.s[0].ep, f->tx, len, NULL, f->p.s[0].peer, NULL));
}

static void frame_wait(struct frame *f)
{
	struct fi_cq_tagged_entry e;

	test_wait_ok(&f->p, 1, &e);
	test_wait_ok(&f->p, 0, &e);
}

static void frame_poll(struct frame *f)
{
	struct fi_cq_tagged_entry e;

	fi_cq_read(f->p.s[0].cq, &e, 0);
	fi_cq_read(f->p.s[1].cq, &e, 0);
}

/* A thread of either side has begun; then a little more. */
static void frame_begin(struct frame *f, int polls)
{
	unsigned int open;

	until((frame_poll(f), workers(&open) > 0));
	while (polls-- > 0)
		frame_poll(f);
}

/* Messages, one after the other, are what was sent; then so many threads are there, none after. */
static void frame_bytes(struct frame *f, int n, unsigned int threads)
{
	unsigned int open;
	int i;

	for (i = 0; i < n; i++) {
		memset(f->rx, 0, f->len);
		frame_post(f, f->len, (uint64_t)i * f->len);
		frame_wait(f);
		assert_int_equal(memcmp(f->tx, f->rx, f->len), 0);
	}
	until(workers(&open) == threads);
	frame_close(f);
	until(workers(&open) == 0);
}

/*
 * A process opens a frame (len bytes, by the environment as it is now), begins a transfer, has a
 * child once its threads are at it, and is gone, like one that becomes a daemon: the child ends the
 * transfer.  A parent that stayed and did not drive would be answered for by its own thread, from
 * the same socket.
 */
static void frame_in_child(size_t len)
{
	struct frame f;
	int status = 0;
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	pid = fork();
	if (pid == 0) {
		alarm(2 * TEST_GUARD_S);
		frame_open(&f, len, &manual);
		frame_post(&f, len, 5);
		frame_begin(&f, 0);
		if (fork() != 0)
			_exit(0);
		alarm(2 * TEST_GUARD_S);
		frame_wait(&f);
		/*
		 * not exit: LeakSanitizer would wait for a lock that a starting thread of the
		 * parent may have held
		 */
		_exit(memcmp(f.tx, f.rx, f.len) ? 8 : 7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 7 << 8); /* exited with 7 */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

/* Parity repairs what is lost: were it wrong, the bytes would be. */
static void ec__bytes(const char *threads, unsigned int expect)
{
	struct frame f;

	ec_env(threads, "drop=0.01,seed=4");
	frame_open(&f, LEN, &manual);
	frame_bytes(&f, 8, expect);
}

static void ec__no_thread(void **state)
{
	(void)state;
	ec__bytes("0", 0);
}

static void ec__one_thread(void **state)
{
	(void)state;
	ec__bytes("1", 1);
}

static void ec__four_threads(void **state)
{
	(void)state;
	ec__bytes("4", 4);
}

/* Messages that are not worth it: threads are not even started. */
static void ec__small(void **state)
{
	const size_t len = ((size_t)1 << 20) - 8;
	unsigned int open;
	struct frame f;

	(void)state;
	ec_env("2", NULL);
	frame_open(&f, LEN, &manual);
	frame_post(&f, len, 1);
	frame_wait(&f);
	assert_int_equal(memcmp(f.tx, f.rx, len), 0);
	assert_int_equal(workers(&open), 0);
	frame_close(&f);
}

struct reader {
	struct fid_cq *cq;
	uint8_t *tx;
	size_t len;
	int reported;
};

/* The moment a send is reported its buffer is gone: a thread that still reads it dies. */
static void *reader_main(void *arg)
{
	struct reader *r = arg;
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	while ((ret = fi_cq_read(r->cq, &e, 1)) == -FI_EAGAIN && test_now_s() < end)
		;
	if (mprotect(r->tx, r->len, PROT_NONE))
		return NULL;
	if (ret == -FI_EAVAIL)
		ret = fi_cq_readerr(r->cq, &err, 0);
	r->reported = ret == 1;
	return NULL;
}

static void ec__closed_in_the_middle(void **state)
{
	const size_t len = (size_t)24 << 20;
	int i;

	(void)state;
	for (i = 0; i < 12; i++) {
		struct frame f;
		struct reader r = { .len = len };
		pthread_t t;

		ec_env(i & 1 ? "1" : "4", NULL);
		frame_open(&f, len, &manual);
		r.tx = f.tx;
		r.cq = f.p.s[0].cq;
		frame_post(&f, len, (uint64_t)i);
		/* data are leaving: a worker encodes */
		frame_begin(&f, 3 * i);
		assert_int_equal(pthread_create(&t, NULL, reader_main, &r), 0);
		test_side_close(&f.p.s[0]);
		pthread_join(t, NULL);
		assert_int_equal(r.reported, 1);
		frame_close(&f);
	}
}

/*
 * A child goes on with a transfer whose parity the threads of the parent had begun, as their copy
 * in it never ends: it makes it again.
 */
static void ec__child_goes_on(void **state)
{
	/* so long that they are not done before the child is there */
	const size_t len = (size_t)48 << 20;

	(void)state;
	ec_env("8", "drop=0.03,seed=4");
	setenv("FI_SDR_CC", "fixed", 1);
	setenv("FI_SDR_RATE", "1gbit", 1);
	frame_in_child(len);
	unsetenv("FI_SDR_CC");
	unsetenv("FI_SDR_RATE");
}

/* The progress thread of a parent may run an endpoint at any time: not while it has a child. */
static void fork__finds_nothing_locked(void **state)
{
	const struct test_opts automatic = { .progress = FI_PROGRESS_AUTO };
	int i, k, status = 0;
	struct frame f;
	pid_t pid;

	(void)state;
	ec_env("1", "drop=0.01,seed=4");
	frame_open(&f, LEN, &automatic);
	for (i = 0; i < 4; i++) {
		frame_post(&f, LEN, 6);
		for (k = 0; k < 16; k++) {
			usleep(500);
			pid = fork();
			if (pid == 0)
				_exit(pthread_mutex_trylock(&ep_of(&f, 0)->lock) |
				      pthread_mutex_trylock(&ep_of(&f, 1)->lock));
			assert_int_equal(waitpid(pid, &status, 0), pid);
			assert_int_equal(status, 0);
		}
		frame_wait(&f);
	}
	frame_close(&f);
}

/* ---- decoding -------------------------------------------------------------------------------- */

#define FEW ((size_t)6 << 20) /* three submessages of 32 * 64 KiB: their sender needs no thread */

/* So much is lost that each message is worth a thread of the receiver's. */
static void decode_env(const char *threads)
{
	ec_env(threads, "drop=0.08,seed=7,delay=1ms"); /* nearby nothing is lent */
	setenv("FI_SDR_CHUNK_SIZE", "64k", 1);
	setenv("FI_SDR_EC_M", "16", 1);
}

static void decode_env_end(void)
{
	unsetenv("FI_SDR_EC_M");
}

static void decode__bytes(const char *threads, unsigned int each, enum fi_progress progress)
{
	struct frame f;

	decode_env(threads);
	frame_open(&f, FEW, &(struct test_opts){ .progress = progress });
	frame_bytes(&f, 4, each);
	decode_env_end();
}

static void decode__no_thread(void **state)
{
	(void)state;
	decode__bytes("0", 0, FI_PROGRESS_MANUAL);
}

static void decode__one_thread(void **state)
{
	(void)state;
	decode__bytes("1", 1, FI_PROGRESS_MANUAL);
}

static void decode__four_threads(void **state)
{
	(void)state;
	decode__bytes("4", 4, FI_PROGRESS_AUTO);
}

/* Who sleeps until it is complete is woken when the thread is done. */
static void decode__sleeper_is_woken(void **state)
{
	const int ms = 1000 * TEST_GUARD_S;
	struct fi_cq_tagged_entry e;
	struct frame f;
	int i;

	(void)state;
	decode_env("1");
	frame_open(&f, FEW,
		   &(struct test_opts){ .progress = FI_PROGRESS_AUTO, .wait_obj = FI_WAIT_UNSPEC });
	for (i = 0; i < 4; i++) {
		frame_post(&f, FEW, (uint64_t)i * FEW + 1);
		assert_int_equal(fi_cq_sread(f.p.s[1].cq, &e, 1, NULL, ms), 1);
		assert_int_equal(fi_cq_sread(f.p.s[0].cq, &e, 1, NULL, ms), 1);
		assert_int_equal(memcmp(f.tx, f.rx, FEW), 0);
	}
	frame_close(&f);
	decode_env_end();
}

/* When its endpoint is closed the buffer is gone: a thread that still reads or writes it dies. */
static void decode__closed_in_the_middle(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 12; i++) {
		struct frame f;

		decode_env("1");
		frame_open(&f, FEW, &manual);
		frame_post(&f, FEW, 9);
		frame_begin(&f, 3 * i);
		test_side_close(&f.p.s[1]);
		assert_int_equal(mprotect(f.rx, FEW, PROT_NONE), 0);
		frame_close(&f);
	}
	decode_env_end();
}

/* A child goes on with what threads of the parent were decoding: it does it itself. */
static void decode__child_goes_on(void **state)
{
	(void)state;
	decode_env("1");
	frame_in_child(FEW);
	decode_env_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool__others_do_it),
		cmocka_unit_test(pool__take_waits),
		cmocka_unit_test(pool__taken_before_its_turn),
		cmocka_unit_test(pool__many_owners),
		cmocka_unit_test(pool__child),
		cmocka_unit_test(pool__names_and_signals),
		cmocka_unit_test(ec__no_thread),
		cmocka_unit_test(ec__one_thread),
		cmocka_unit_test(ec__four_threads),
		cmocka_unit_test(ec__small),
		cmocka_unit_test(ec__closed_in_the_middle),
		cmocka_unit_test(ec__child_goes_on),
		cmocka_unit_test(fork__finds_nothing_locked),
		cmocka_unit_test(decode__no_thread),
		cmocka_unit_test(decode__one_thread),
		cmocka_unit_test(decode__four_threads),
		cmocka_unit_test(decode__sleeper_is_woken),
		cmocka_unit_test(decode__closed_in_the_middle),
		cmocka_unit_test(decode__child_goes_on),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
