/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who drives endpoints: blocking reads, descriptors, condition variables, the progress thread; and
 * closing.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_fi_util.h"

#define STREAM (32u << 20)  /* bytes */
#define BIG    (300 * 1024) /* bytes: goes as bulk data */

#define SOON	  2000	     /* ns: an alarm that is set to ring within them */
#define READS_MAX (1u << 17) /* for nothing; beside who computes it takes many until a yield */

/* Alarms that were set, and those to ring at once. */
static unsigned int alarms, alarms_soon;

/* In place of the C library's, for the provider too (-export-dynamic). */
__attribute__((visibility("default"))) int
timerfd_settime(int fd, int flags, const struct itimerspec *it, struct itimerspec *old)
{
	const struct timespec *t = &it->it_value;

	__atomic_fetch_add(&alarms, 1, __ATOMIC_RELAXED);
	if (!t->tv_sec && t->tv_nsec && t->tv_nsec <= SOON)
		__atomic_fetch_add(&alarms_soon, 1, __ATOMIC_RELAXED);
	return (int)syscall(SYS_timerfd_settime, fd, flags, it, old);
}

/* Reads of a socket for all there is, and those that found nothing. */
static unsigned int reads, reads_empty;

__attribute__((visibility("default"))) int recvmmsg(int fd, struct mmsghdr *v, unsigned int n,
						    int flags, struct timespec *t)
{
	int ret = (int)syscall(SYS_recvmmsg, fd, v, n, flags, t);

	__atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
	if (ret < 0)
		__atomic_fetch_add(&reads_empty, 1, __ATOMIC_RELAXED);
	return ret;
}

/* Times that this thread gave its processor away. */
static _Thread_local unsigned int yields;

__attribute__((visibility("default"))) int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}

struct late {
	struct test_pair *p;
	int stop;
};

/* Sends after a while, then drives its side until told to stop. */
static void *late_sender(void *arg)
{
	struct timespec ts = { .tv_nsec = 30000000 };
	struct fi_cq_tagged_entry e;
	struct late *l = arg;

	nanosleep(&ts, NULL);
	fi_inject(l->p->s[0].ep, "wake up", 8, l->p->s[0].peer);
	ts.tv_nsec = 1000000;
	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		fi_cq_read(l->p->s[0].cq, &e, 0);
		nanosleep(&ts, NULL);
	}
	return NULL;
}

static void late_join(pthread_t t, struct late *l)
{
	__atomic_store_n(&l->stop, 1, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
}

static void wait__sread(void **state)
{
	struct test_opts o = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	struct late l = { .p = &p };
	pthread_t t;
	char rx[8];

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(pthread_create(&t, NULL, late_sender, &l), 0);
	assert_int_equal(fi_cq_sread(p.s[1].cq, &e, 1, NULL, TEST_GUARD_S * 1000), 1);
	late_join(t, &l);
	assert_int_equal(fi_cq_sread(p.s[1].cq, &e, 1, NULL, 5), -FI_EAGAIN);
	test_pair_close(&p);
}

static void wait_descriptor(enum fi_progress progress, bool trywait)
{
	struct test_opts o = { .wait_obj = FI_WAIT_FD, .progress = progress };
	struct fi_cq_tagged_entry e;
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fids[1];
	struct test_pair p;
	struct late l = { .p = &p };
	pthread_t t;
	char rx[8];
	int round;

	test_pair_open(&p, &o);
	fids[0] = &p.s[1].cq->fid;
	assert_ok(fi_control(&p.s[1].cq->fid, FI_GETWAIT, &pfd.fd));
	for (round = 0; round < 3; round++) {
		l.stop = 0;
		assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
		assert_int_equal(pthread_create(&t, NULL, late_sender, &l), 0);
		while (fi_cq_read(p.s[1].cq, &e, 1) == -FI_EAGAIN) {
			if (!trywait || fi_trywait(p.fabric, fids, 1) == 0)
				assert_int_equal(poll(&pfd, 1, TEST_GUARD_S * 1000), 1);
		}
		late_join(t, &l);
	}
	test_pair_close(&p);
}

static void wait__descriptor(void **state)
{
	(void)state;
	wait_descriptor(FI_PROGRESS_AUTO, true);
}

static void wait__descriptor_manual(void **state)
{
	(void)state;
	wait_descriptor(FI_PROGRESS_MANUAL, true);
}

static void wait__descriptor_without_trywait(void **state)
{
	(void)state;
	wait_descriptor(FI_PROGRESS_AUTO, false);
}

static void wait__mutex_cond(void **state)
{
	struct test_opts o = { .wait_obj = FI_WAIT_MUTEX_COND, .progress = FI_PROGRESS_MANUAL };
	struct fi_cq_tagged_entry e;
	struct fi_mutex_cond mc;
	struct test_pair p;
	struct late l = { .p = &p };
	struct timespec until;
	pthread_t t;
	char rx[8];

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_control(&p.s[1].cq->fid, FI_GETWAIT, &mc));
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(pthread_create(&t, NULL, late_sender, &l), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TEST_GUARD_S;
	pthread_mutex_lock(mc.mutex);
	while (fi_cq_read(p.s[1].cq, &e, 1) == -FI_EAGAIN)
		assert_int_equal(pthread_cond_timedwait(mc.cond, mc.mutex, &until), 0);
	pthread_mutex_unlock(mc.mutex);
	late_join(t, &l);
	test_pair_close(&p);
}

static void wait__progress_thread(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_AUTO, .wait_obj = FI_WAIT_FD };
	uint8_t *tx = malloc(BIG), *rx = calloc(1, BIG);
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct timespec ts = { .tv_nsec = 300000000 };
	struct fi_cq_tagged_entry e;
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	test_fill(tx, BIG, 9);
	assert_ok(fi_recv(p.s[1].ep, rx, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, tx, BIG, NULL, p.s[0].peer, NULL));
	/*
	 * the application does not call the provider: the thread does it all, and the first read
	 * finds the entry
	 */
	do {
		assert_true(test_now_s() < end);
		nanosleep(&ts, NULL);
	} while (fi_cq_read(p.s[1].cq, &e, 1) == -FI_EAGAIN);
	assert_true(test_same(rx, BIG, 9));
	test_pair_close(&p);
	free(tx);
	free(rx);
}

/* What the network writes while it is looked at, which is meant and no race. */
__attribute__((no_sanitize("thread"))) static uint8_t look(const volatile uint8_t *p)
{
	return *p;
}

/*
 * An application that polls and then does something else, again and again: the thread stays away
 * while it polls and takes over each time.  That the message is there is seen in memory, without a
 * call that would drive.
 */
static void wait__progress_thread_takes_over_each_time(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_AUTO, .wait_obj = FI_WAIT_FD };
	uint8_t *tx = malloc(BIG), *rx = calloc(1, BIG);
	struct timespec ts = { .tv_nsec = 1000000 };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint64_t end;

	(void)state;
	test_pair_open(&p, &o);
	for (uint8_t i = 1; i < 8; i++) {
		uint8_t *last = rx + BIG - 1;
		int n;

		/* it polls for longer than the thread waits, or hardly */
		for (n = 0; n < (i % 2 ? 20000 : 20); n++) {
			assert_int_equal(fi_cq_read(p.s[0].cq, &e, 1), -FI_EAGAIN);
			assert_int_equal(fi_cq_read(p.s[1].cq, &e, 1), -FI_EAGAIN);
		}
		test_fill(tx, BIG, i);
		*last = (uint8_t)~tx[BIG - 1];
		assert_ok(fi_recv(p.s[1].ep, rx, BIG, NULL, FI_ADDR_UNSPEC, NULL));
		assert_ok(fi_send(p.s[0].ep, tx, BIG, NULL, p.s[0].peer, NULL));
		end = test_now_s() + TEST_GUARD_S;
		while (look(last) != tx[BIG - 1]) {
			assert_true(test_now_s() < end);
			nanosleep(&ts, NULL);
		}
		test_wait_ok(&p, 0, &e);
		test_wait_ok(&p, 1, &e);
		assert_true(test_same(rx, BIG, i));
	}
	test_pair_close(&p);
	free(tx);
	free(rx);
}

struct stream {
	struct test_pair *p;
	const uint8_t *buf;
	long wakes; /* of the sender */
};

/* Sends and sleeps until it has left and was acknowledged. */
static void *stream_sender(void *arg)
{
	struct stream *s = arg;
	struct fi_cq_tagged_entry e;
	struct rusage r0, r1;

	getrusage(RUSAGE_THREAD, &r0);
	assert_ok(fi_send(s->p->s[0].ep, s->buf, STREAM, NULL, s->p->s[0].peer, NULL));
	assert_int_equal(fi_cq_sread(s->p->s[0].cq, &e, 1, NULL, TEST_GUARD_S * 1000), 1);
	getrusage(RUSAGE_THREAD, &r1);
	s->wakes = r1.ru_nvcsw - r0.ru_nvcsw;
	return NULL;
}

/*
 * 32 MiB in 4096 packets over a path of 20 ms: the receiver does not wake for each of them, nor for
 * each batch of its sender, which leaves every 400 us.  On a busy machine the sender wakes
 * more often than alone, 1640 times instead of 700; for each packet it would be 4096 and more.
 */
static void wait__a_stream_over_a_long_path_wakes_seldom(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_MANUAL, .wait_obj = FI_WAIT_UNSPEC };
	uint8_t *tx = malloc(STREAM), *rx = calloc(1, STREAM);
	struct fi_cq_tagged_entry e;
	struct rusage r0, r1;
	struct test_pair p;
	struct stream s = { .p = &p, .buf = tx };
	pthread_t t;
	char hi[8];

	(void)state;
	setenv("FI_SDR_FAULT", "delay=10ms", 1);
	setenv("FI_SDR_CC", "fixed", 1);
	setenv("FI_SDR_RATE", "800mbit", 1);
	test_pair_open(&p, &o);
	unsetenv("FI_SDR_FAULT");
	unsetenv("FI_SDR_CC");
	unsetenv("FI_SDR_RATE");
	/* both know how far away the other is */
	for (int i = 0; i < 8; i++) {
		int k = i % 2;

		assert_ok(fi_recv(p.s[!k].ep, hi, 8, NULL, FI_ADDR_UNSPEC, NULL));
		assert_ok(fi_send(p.s[k].ep, "hi", 3, NULL, p.s[k].peer, NULL));
		test_wait_ok(&p, k, &e);
		test_wait_ok(&p, !k, &e);
	}
	test_fill(tx, STREAM, 3);
	assert_ok(fi_recv(p.s[1].ep, rx, STREAM, NULL, FI_ADDR_UNSPEC, NULL));
	reads = reads_empty = 0;
	getrusage(RUSAGE_THREAD, &r0);
	assert_int_equal(pthread_create(&t, NULL, stream_sender, &s), 0);
	assert_int_equal(fi_cq_sread(p.s[1].cq, &e, 1, NULL, TEST_GUARD_S * 1000), 1);
	getrusage(RUSAGE_THREAD, &r1);
	assert_true(test_same(rx, STREAM, 3));
	/* what the last acknowledgement needs of this side */
	while (fi_cq_sread(p.s[1].cq, &e, 1, NULL, 100) != -FI_EAGAIN)
		;
	pthread_join(t, NULL);
	if (r1.ru_nvcsw - r0.ru_nvcsw > 900)
		fail_msg("the receiver woke %ld times", r1.ru_nvcsw - r0.ru_nvcsw);
	if (s.wakes > 2500)
		fail_msg("the sender woke %ld times", s.wakes);
	if (reads > 5000)
		fail_msg("%u reads, %u of them found nothing", reads, reads_empty);
	test_pair_close(&p);
	free(tx);
	free(rx);
}

/*
 * Two sides that block, on one host: the pace asks for pauses that are shorter than falling asleep
 * takes.  No alarm is set for those, which would ring at once.
 */
static void wait__no_sleep_for_next_to_nothing(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_MANUAL, .wait_obj = FI_WAIT_UNSPEC };
	uint8_t *tx = malloc(STREAM), *rx = calloc(1, STREAM);
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	struct stream s = { .p = &p, .buf = tx };
	unsigned int set, soon;
	pthread_t t;

	(void)state;
	test_pair_open(&p, &o);
	__atomic_store_n(&alarms, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&alarms_soon, 0, __ATOMIC_RELAXED);
	test_fill(tx, STREAM, 3);
	for (int i = 0; i < 4; i++) {
		assert_ok(fi_recv(p.s[1].ep, rx, STREAM, NULL, FI_ADDR_UNSPEC, NULL));
		assert_int_equal(pthread_create(&t, NULL, stream_sender, &s), 0);
		assert_int_equal(fi_cq_sread(p.s[1].cq, &e, 1, NULL, TEST_GUARD_S * 1000), 1);
		while (fi_cq_sread(p.s[1].cq, &e, 1, NULL, 20) != -FI_EAGAIN)
			;
		pthread_join(t, NULL);
	}
	assert_true(test_same(rx, STREAM, 3));
	set = __atomic_load_n(&alarms, __ATOMIC_RELAXED);
	soon = __atomic_load_n(&alarms_soon, __ATOMIC_RELAXED);
	assert_true(set > 0);
	if (soon > 8 + set / 10)
		fail_msg("%u of %u alarms were to ring at once", soon, set);
	test_pair_close(&p);
	free(tx);
	free(rx);
}

static void *cntr_waiter(void *arg)
{
	return (void *)(intptr_t)fi_cntr_wait(arg, 1, TEST_GUARD_S * 1000);
}

/*
 * A counter that is bound when the endpoint is enabled already.  Only the thread that has been
 * sleeping on it since before that drives the endpoint.
 */
static void wait__counter_bound_to_an_enabled_endpoint(void **state)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct test_opts o = { .progress = FI_PROGRESS_MANUAL };
	struct timespec ts = { .tv_nsec = 20000000 };
	struct late l = { .stop = 0 };
	struct fid_cntr *cntr, *other;
	struct test_pair p;
	pthread_t waiter, sender;
	void *ret;
	char rx[8];

	(void)state;
	test_pair_open(&p, &o);
	l.p = &p;
	assert_ok(fi_cntr_open(p.domain, &attr, &cntr, NULL));
	assert_ok(fi_cntr_open(p.domain, &attr, &other, NULL));
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(pthread_create(&waiter, NULL, cntr_waiter, cntr), 0);
	nanosleep(&ts, NULL);
	assert_ok(fi_ep_bind(p.s[1].ep, &cntr->fid, FI_RECV));
	assert_int_equal(fi_ep_bind(p.s[1].ep, &other->fid, FI_RECV), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(p.s[1].ep, &other->fid, FI_COMPLETION), -FI_EBADFLAGS);
	assert_int_equal(fi_close(&cntr->fid), -FI_EBUSY);
	assert_int_equal(pthread_create(&sender, NULL, late_sender, &l), 0);
	assert_int_equal(pthread_join(waiter, &ret), 0);
	late_join(sender, &l);
	assert_int_equal((intptr_t)ret, 0);
	assert_string_equal(rx, "wake up");
	assert_int_equal(fi_cntr_read(cntr), 1);
	assert_int_equal(fi_cntr_read(other), 0);
	test_side_close(&p.s[1]);
	assert_ok(fi_close(&cntr->fid));
	assert_ok(fi_close(&other->fid));
	test_pair_close(&p);
}

/* Who reads a counter in a loop for nothing gives the processor away now and then. */
static void wait__counter_read_in_a_loop(void **state)
{
	struct test_opts o = { .cntrs = true };
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	for (uint32_t which = 0; which < 3; which++) {
		yields = 0;
		for (uint32_t i = 0; i < READS_MAX && !yields; i++)
			if (which == 2)
				fi_cq_read(p.s[0].cq, NULL, 0);
			else if (which)
				fi_cntr_readerr(p.s[0].send);
			else
				fi_cntr_read(p.s[0].send);
		assert_int_equal(yields, 1);
	}
	test_pair_close(&p);
}

/* ---- closing --------------------------------------------------------------------------------- */

static void close__delivers_what_was_injected(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_MANUAL };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char rx[8];
	int i;

	(void)state;
	test_pair_open(&p, &o);
	for (i = 0; i < 10; i++)
		assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	for (i = 0; i < 10; i++)
		assert_ok(fi_inject(p.s[0].ep, "promise", 8, p.s[0].peer));
	/*
	 * the handshake needs both sides; then this one closes without knowing that all
	 * arrived
	 */
	for (i = 0; i < 200; i++) {
		fi_cq_read(p.s[1].cq, &e, 0);
		if (i < 20)
			fi_cq_read(p.s[0].cq, &e, 0);
	}
	test_side_close(&p.s[0]);
	for (i = 0; i < 10; i++) {
		test_wait_ok(&p, 1, &e);
		assert_string_equal(rx, "promise");
	}
	test_pair_close(&p);
}

static void close__in_a_child(void **state)
{
	struct test_opts o = { .progress = FI_PROGRESS_AUTO };
	struct test_pair p;
	int status = 0;
	pid_t pid;

	(void)state;
	test_pair_open(&p, &o);
	usleep(100000); /* the threads sleep by then: sanitizers' own locks do not know forks */
	pid = fork();
	if (pid == 0) {
		alarm(TEST_GUARD_S);
		/* runs the library's destructors: must not wait for a thread that is not here */
		exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	test_pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait__sread),
		cmocka_unit_test(wait__descriptor),
		cmocka_unit_test(wait__descriptor_manual),
		cmocka_unit_test(wait__descriptor_without_trywait),
		cmocka_unit_test(wait__mutex_cond),
		cmocka_unit_test(wait__progress_thread),
		cmocka_unit_test(wait__progress_thread_takes_over_each_time),
		cmocka_unit_test(wait__a_stream_over_a_long_path_wakes_seldom),
		cmocka_unit_test(wait__no_sleep_for_next_to_nothing),
		cmocka_unit_test(wait__counter_bound_to_an_enabled_endpoint),
		cmocka_unit_test(wait__counter_read_in_a_loop),
		cmocka_unit_test(close__delivers_what_was_injected),
		cmocka_unit_test(close__in_a_child),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
