/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Counting of the drop-rate probe: what came, what did not and in which runs, and whether the
 * interval holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tools/probe/probe_count.h"
#include "test_draw.h"

#define ROOM 1000u

static uint64_t map[PROBE_MAP_WORDS(1u << 20)];

static void fresh(struct probe_count *c, uint64_t room)
{
	memset(map, 0, sizeof(map));
	probe_count_init(c, map, room);
}

static void all_but(struct probe_count *c, uint64_t n, const uint64_t *lost, unsigned int nlost)
{
	unsigned int k;
	uint64_t i;

	for (i = 0; i < n; i++) {
		for (k = 0; k < nlost && lost[k] != i; k++)
			;
		if (k == nlost)
			assert_true(probe_count_take(c, i));
	}
}

static void probe__everything_came(void **state)
{
	struct probe_count c;
	struct probe_tally t;
	struct probe_loss l;

	(void)state;
	fresh(&c, 100000);
	all_but(&c, 100000, NULL, 0);
	probe_count_close(&c, 100000, &t);
	assert_int_equal(t.received, 100000);
	assert_int_equal(t.bursts + t.longest + t.reordered + t.duplicates, 0);
	assert_true(probe_tally_ok(&t));
	probe_tally_loss(&t, &l);
	assert_true(l.loss == 0 && l.low == 0 && l.burst == 0);
	/* 1 - 0.025^(1 / n): not nothing */
	assert_true(fabs(l.high - 3.6888114e-5) < 1e-11);
}

static void probe__order_and_duplicates(void **state)
{
	static const uint64_t came[] = { 0, 2, 1, 5, 5, 3, 1, 6 };
	struct probe_count c;
	struct probe_tally t;
	unsigned int i;

	(void)state;
	fresh(&c, ROOM);
	for (i = 0; i < sizeof(came) / sizeof(came[0]); i++)
		assert_true(probe_count_take(&c, came[i]));
	probe_count_close(&c, 8, &t);
	/* 1 and 3 late; 5 and 1 twice; 4 and 7 never */
	assert_int_equal(t.received, 6);
	assert_int_equal(t.reordered, 2);
	assert_int_equal(t.duplicates, 2);
	assert_int_equal(t.bursts, 2);
	assert_int_equal(t.longest, 1);
	assert_int_equal(t.hist[0], 2);
	assert_true(probe_tally_ok(&t));
}

static void probe__numbers_that_do_not_exist(void **state)
{
	struct probe_count c;
	struct probe_tally t;

	(void)state;
	fresh(&c, 70);
	assert_false(probe_count_take(&c, 70));
	assert_false(probe_count_take(&c, UINT64_MAX));
	assert_true(probe_count_take(&c, 69));
	assert_int_equal(map[2], 0);
	/* the sender says that it sent 10 only: 69 is invented */
	probe_count_close(&c, 10, &t);
	assert_int_equal(t.sent, 10);
	assert_int_equal(t.received, 0);
	assert_int_equal(t.longest, 10);
	/* and it cannot have sent more than there is room for */
	probe_count_close(&c, UINT64_MAX, &t);
	assert_int_equal(t.sent, 70);
	assert_int_equal(t.received, 1);
}

/* Runs at the edges of words, over several words, at the beginning and at the end. */
static void probe__bursts_across_words(void **state)
{
	static const struct {
		uint64_t from, to; /* lost: from <= n < to */
	} run[] = { { 0, 1 },	  { 62, 66 },	{ 127, 128 }, { 191, 192 },
		    { 200, 400 }, { 448, 512 }, { 990, 1000 } };
	struct probe_count c;
	struct probe_tally t;
	uint64_t i, lost = 0;
	unsigned int k;

	(void)state;
	fresh(&c, ROOM);
	for (i = 0; i < ROOM; i++) {
		for (k = 0;
		     k < sizeof(run) / sizeof(run[0]) && !(i >= run[k].from && i < run[k].to); k++)
			;
		if (k == sizeof(run) / sizeof(run[0]))
			probe_count_take(&c, i);
		else
			lost++;
	}
	probe_count_close(&c, ROOM, &t);
	assert_int_equal(t.sent - t.received, lost);
	assert_int_equal(t.bursts, 7);
	assert_int_equal(t.longest, 200);
	assert_int_equal(t.hist[0], 3); /* 1 */
	assert_int_equal(t.hist[2], 1); /* 4 */
	assert_int_equal(t.hist[3], 1); /* 10 */
	assert_int_equal(t.hist[6], 1); /* 64 */
	assert_int_equal(t.hist[7], 1); /* 200 */
	assert_true(probe_tally_ok(&t));
}

/* The fast scan against one bit after the other. */
static void probe__scan_is_right(void **state)
{
	uint64_t run, bursts, longest, received, sent, i;
	struct probe_count c;
	struct probe_tally t;
	unsigned int k;
	double p;

	(void)state;
	seed = 11;
	for (k = 0; k < 400; k++) {
		sent = 1 + (uint64_t)(draw() * (ROOM - 1));
		p = draw();
		fresh(&c, ROOM);
		run = bursts = longest = received = 0;
		for (i = 0; i < sent; i++) {
			if (draw() < p) {
				bursts += !run++;
				longest = run > longest ? run : longest;
			} else {
				probe_count_take(&c, i);
				received++;
				run = 0;
			}
		}
		probe_count_close(&c, sent, &t);
		assert_int_equal(t.received, received);
		assert_int_equal(t.bursts, bursts);
		assert_int_equal(t.longest, longest);
		assert_true(probe_tally_ok(&t));
	}
}

static void probe__tallies_that_cannot_be(void **state)
{
	static const struct probe_tally good = { .sent = 100,
						 .received = 96,
						 .reordered = 3,
						 .bursts = 2,
						 .longest = 3,
						 .hist = { 1, 1 } };
	struct probe_tally t;

	(void)state;
	assert_true(probe_tally_ok(&good));
	t = good;
	t.received = 101;
	assert_false(probe_tally_ok(&t));
	t = good;
	t.bursts = 5;
	t.hist[0] = 4;
	assert_false(probe_tally_ok(&t));
	t = good;
	t.hist[5] = 1;
	assert_false(probe_tally_ok(&t));
	t = good;
	t.hist[0] = UINT64_MAX; /* the sum would be right */
	t.hist[1] = 3;
	assert_false(probe_tally_ok(&t));
	t = good;
	t.bursts = t.longest = t.hist[0] = t.hist[1] = 0;
	assert_false(probe_tally_ok(&t));
}

/*
 * Independent losses, 10 of 1000, as any table of Clopper and Pearson's interval has it; and all of
 * them.
 */
static void probe__interval(void **state)
{
	static const uint64_t lost[] = { 50, 150, 250, 350, 450, 550, 650, 750, 850, 950 };
	struct probe_count c;
	struct probe_tally t;
	struct probe_loss l;

	(void)state;
	fresh(&c, ROOM);
	all_but(&c, ROOM, lost, 10);
	probe_count_close(&c, ROOM, &t);
	probe_tally_loss(&t, &l);
	assert_true(l.loss == 0.01 && l.burst == 1);
	assert_true(fabs(l.low - 0.00480551) < 1e-8 && fabs(l.high - 0.01831324) < 1e-8);
	fresh(&c, ROOM);
	probe_count_close(&c, ROOM, &t);
	assert_true(probe_tally_ok(&t));
	probe_tally_loss(&t, &l);
	/* all in one run: for the interval that is one event */
	assert_true(l.loss == 1 && l.high == 1 && l.burst == ROOM && l.low > 0 && l.low < 0.5);
}

/*
 * How often the interval has the true loss in it: n packets, runs of mean `burst`; burst 0:
 * independent.
 */
static double coverage(double p, double burst, uint64_t n)
{
	double stop = burst > 0 ? 1 / burst : 1 - p, start = p * stop / (1 - p);
	struct probe_count c;
	struct probe_tally t;
	struct probe_loss l;
	unsigned int k, hit = 0;
	uint64_t i;
	bool lost;

	for (k = 0; k < 1000; k++) {
		fresh(&c, n);
		lost = draw() < p;
		for (i = 0; i < n; i++) {
			if (!lost)
				probe_count_take(&c, i);
			lost = lost ? draw() >= stop : draw() < start;
		}
		probe_count_close(&c, n, &t);
		probe_tally_loss(&t, &l);
		hit += l.low <= p && p <= l.high;
	}
	return hit / 1000.0;
}

static void probe__interval_covers(void **state)
{
	(void)state;
	seed = 5;
	/* independent: near 95 %; four standard deviations of 1000 trials are 2.8 % */
	assert_true(coverage(0.01, 0, 5000) > 0.92 && coverage(0.2, 0, 5000) > 0.92);
	assert_true(coverage(0.01, 0, 5000) < 0.99);
	/* bursts: the plain interval would be right in less than two thirds of all cases here */
	assert_true(coverage(0.02, 8, 20000) > 0.91);
	/* most often nothing, or one burst, is seen */
	assert_true(coverage(1e-4, 0, 5000) > 0.92);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe__everything_came),
		cmocka_unit_test(probe__order_and_duplicates),
		cmocka_unit_test(probe__numbers_that_do_not_exist),
		cmocka_unit_test(probe__bursts_across_words),
		cmocka_unit_test(probe__scan_is_right),
		cmocka_unit_test(probe__tallies_that_cannot_be),
		cmocka_unit_test(probe__interval),
		cmocka_unit_test(probe__interval_covers),
	};

	return cmocka_run_group_tests_name("probe_count", tests, NULL, NULL);
}
