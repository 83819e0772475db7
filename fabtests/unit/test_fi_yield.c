/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a reader that spins gives the processor away (sdr_yield.h): which yields make it nap, for how
 * long it does, and that it misses nothing meanwhile, at queues and at counters.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/sdr_list.h"
#include "fi/sdr_cntr.h"
#include "fi/sdr_cq.h"
#include "test_fi_util.h"

#define MSGS 60u

/* Reads until it is time; at most `most` of them. */
static uint32_t reads_for_nothing(struct sdr_yield *y, uint32_t most)
{
	uint32_t n = 1;

	while (!sdr_yield_read(y, false))
		assert_true(++n <= most);
	return n;
}

static uint32_t naps_taken(struct sdr_yield *y)
{
	uint32_t n = 0;

	while (sdr_yield_naps(y))
		n++;
	return n;
}

/* Long yields are followed by naps, more and more of them, up to a bound; a short one ends that. */
static void yield__naps_behind_long_ones(void **state)
{
	struct sdr_yield y = { 0 };
	uint32_t most = SDR_YIELD_NAPS;

	(void)state;
	assert_false(sdr_yield_naps(&y));
	for (int i = 0; i < 12; i++) {
		sdr_yield_took(&y, SDR_YIELD_DEAR_NS);
		assert_int_equal(naps_taken(&y), most);
		most = 2 * most < SDR_YIELD_NAPS_MAX ? 2 * most : SDR_YIELD_NAPS_MAX;
	}
	assert_int_equal(most, SDR_YIELD_NAPS_MAX);
	sdr_yield_took(&y, SDR_YIELD_DEAR_NS - 1);
	assert_int_equal(naps_taken(&y), 0);
	sdr_yield_took(&y, SDR_YIELD_DEAR_NS);
	assert_int_equal(naps_taken(&y), SDR_YIELD_NAPS);
}

/* Reads that find something begin the count again, and so does what ends a nap before its time. */
static void yield__reads_before_it(void **state)
{
	struct sdr_yield y = { 0 };

	(void)state;
	assert_int_equal(reads_for_nothing(&y, SDR_YIELD_POLLS), SDR_YIELD_POLLS);
	sdr_yield_took(&y, 0);
	for (int i = 0; i < 4; i++) {
		for (uint32_t n = 1; n < SDR_YIELD_POLLS; n++)
			assert_false(sdr_yield_read(&y, false));
		assert_false(sdr_yield_read(&y, true));
	}
	sdr_yield_napped(&y, true);
	assert_int_equal(reads_for_nothing(&y, SDR_YIELD_POLLS), SDR_YIELD_POLLS);
	sdr_yield_napped(&y, false);
	assert_int_equal(reads_for_nothing(&y, SDR_YIELD_POLLS), SDR_YIELD_POLLS_AGAIN);
}

static struct sdr_yield *yield_of(struct fid_cq *cq)
{
	return &sdr_container(cq, struct sdr_cq, fid)->yield;
}

/* As behind a long yield, for ever. */
static void nap_always(struct sdr_yield *y)
{
	y->naps = SDR_YIELD_NAPS_MAX;
}

/* A reader that naps is not kept: each comes back, and in between it has slept. */
static void naps__are_short(void **state)
{
	const struct test_opts manual = { .progress = FI_PROGRESS_MANUAL };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint64_t end;
	uint32_t n = 0;

	(void)state;
	test_pair_open(&p, &manual);
	end = sdr_mono_ns() + 100000000u;
	while (sdr_mono_ns() < end) {
		nap_always(yield_of(p.s[0].cq));
		assert_int_equal(fi_cq_read(p.s[0].cq, &e, 1), -FI_EAGAIN);
		n++;
	}
	assert_in_range(n, 2,
			SDR_YIELD_POLLS + 100000000u / SDR_YIELD_NAP_NS * SDR_YIELD_POLLS_AGAIN);
	test_pair_close(&p);
}

struct sender {
	struct test_pair *p;
	uint8_t buf[MSGS][64];
	bool stuck; /* it gave up */
};

/* Each message some time after the one before: whoever waits for it has gone to sleep. */
static void *sender_run(void *arg)
{
	struct sender *s = arg;
	struct fi_cq_tagged_entry e;
	uint64_t end = test_now_s() + TEST_GUARD_S;

	for (uint32_t i = 0; i < MSGS && !s->stuck; i++) {
		usleep(1000);
		test_fill(s->buf[i], sizeof(s->buf[i]), i);
		while (!s->stuck && fi_tsend(s->p->s[1].ep, s->buf[i], sizeof(s->buf[i]), NULL,
					     s->p->s[1].peer, i, NULL) == -FI_EAGAIN)
			s->stuck = test_now_s() > end;
		do {
			nap_always(yield_of(s->p->s[1].cq));
			s->stuck |= test_now_s() > end;
		} while (!s->stuck && fi_cq_read(s->p->s[1].cq, &e, 1) == -FI_EAGAIN);
	}
	return NULL;
}

/* Both sides nap all the time: everything comes, once, in order, and is reported. */
static void miss_nothing(enum fi_progress progress, bool counter)
{
	const struct test_opts opts = { .progress = progress, .cntrs = true };
	struct sender s = { 0 };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint8_t buf[MSGS][64];
	pthread_t thread;
	uint64_t end = test_now_s() + TEST_GUARD_S;

	test_pair_open(&p, &opts);
	s.p = &p;
	for (uint32_t i = 0; i < MSGS; i++)
		assert_ok(fi_trecv(p.s[0].ep, buf[i], sizeof(buf[i]), NULL, FI_ADDR_UNSPEC, i, 0,
				   NULL));
	assert_int_equal(pthread_create(&thread, NULL, sender_run, &s), 0);
	for (uint32_t i = 0; i < MSGS; i++) {
		struct sdr_cntr *cntr = sdr_container(p.s[0].recv, struct sdr_cntr, fid);

		while (counter && fi_cntr_read(p.s[0].recv) <= i) {
			nap_always(&cntr->yield);
			assert_true(test_now_s() < end);
		}
		do {
			nap_always(yield_of(p.s[0].cq));
			assert_true(test_now_s() < end);
		} while (fi_cq_read(p.s[0].cq, &e, 1) == -FI_EAGAIN);
		assert_int_equal(e.tag, i);
		assert_true(test_same(buf[i], sizeof(buf[i]), i));
	}
	pthread_join(thread, NULL);
	assert_false(s.stuck);
	test_pair_close(&p);
}

static void naps__miss_nothing(void **state)
{
	(void)state;
	miss_nothing(FI_PROGRESS_MANUAL, false);
	miss_nothing(FI_PROGRESS_AUTO, false);
	miss_nothing(FI_PROGRESS_MANUAL, true);
	miss_nothing(FI_PROGRESS_AUTO, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yield__naps_behind_long_ones),
		cmocka_unit_test(yield__reads_before_it),
		cmocka_unit_test(naps__are_short),
		cmocka_unit_test(naps__miss_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
