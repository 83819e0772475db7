/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The part of its queue that a flow keeps in a shallow buffer: losses and times are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_shallow.h"

#define MS 1000000ull

static void all_without_losses(void **state)
{
	struct sdr_shallow s;
	uint64_t i;

	(void)state;
	sdr_shallow_init(&s, 5);
	for (i = 0; i < 1000; i++)
		sdr_shallow_acked(&s, 5 + i * MS, 0);
	assert_int_equal(sdr_shallow_keeps(&s, 400000, 72000), 400000);
}

static void losses_take_and_time_gives_back(void **state)
{
	struct sdr_shallow s;
	uint64_t less;

	(void)state;
	sdr_shallow_init(&s, 0);
	sdr_shallow_acked(&s, MS, 4);
	less = sdr_shallow_keeps(&s, 400000, 0);
	assert_in_range(less, 320000, 335000); /* exp(-0.2) */
	sdr_shallow_acked(&s, 101 * MS, 0);
	assert_in_range(sdr_shallow_keeps(&s, 400000, 0), 355000, 370000);
	sdr_shallow_acked(&s, 301 * MS, 0);
	assert_int_equal(sdr_shallow_keeps(&s, 400000, 0), 400000);
	/* time with nothing to give back is not saved up */
	sdr_shallow_acked(&s, 10000 * MS, 0);
	sdr_shallow_acked(&s, 10000 * MS, 4);
	assert_int_equal(sdr_shallow_keeps(&s, 400000, 0), less);
}

static void never_all(void **state)
{
	struct sdr_shallow s;

	(void)state;
	sdr_shallow_init(&s, 0);
	sdr_shallow_acked(&s, MS, 1e6);
	assert_int_equal(sdr_shallow_keeps(&s, 100000, 0), (uint64_t)(100000 * SDR_SHALLOW_LEAST));
	/* the own packet's time is no queue */
	assert_int_equal(sdr_shallow_keeps(&s, 60000, 72000), 60000);
	assert_int_equal(sdr_shallow_keeps(&s, 172000, 72000),
			 72000 + (uint64_t)(100000 * SDR_SHALLOW_LEAST));
}

/* What is kept at least is the caller's to say, at any time. */
static void at_least_what_is_said(void **state)
{
	struct sdr_shallow s;

	(void)state;
	sdr_shallow_init(&s, 0);
	sdr_shallow_least(&s, 0.05);
	sdr_shallow_acked(&s, MS, 1e6);
	assert_int_equal(sdr_shallow_keeps(&s, 100000, 0), 5000);
	sdr_shallow_least(&s, 0.5);
	assert_int_equal(sdr_shallow_keeps(&s, 100000, 0), 50000);
	/* and from there time gives back */
	sdr_shallow_acked(&s, 101 * MS, 0);
	assert_in_range(sdr_shallow_keeps(&s, 100000, 0), 54000, 56000);
	sdr_shallow_least(&s, 1);
	sdr_shallow_acked(&s, 102 * MS, 100);
	assert_int_equal(sdr_shallow_keeps(&s, 100000, 0), 100000);
}

/* Twenty a second, so many at a time as come: as many are taken as given back. */
static void settles(void **state)
{
	struct sdr_shallow s;
	uint32_t i;
	double low = 1, high = 0;

	(void)state;
	sdr_shallow_init(&s, 0);
	sdr_shallow_acked(&s, 0, 8);
	for (i = 1; i <= 200; i++) {
		sdr_shallow_acked(&s, i * 50 * MS, 1);
		if (i < 100)
			continue;
		low = s.keeps < low ? s.keeps : low;
		high = s.keeps > high ? s.keeps : high;
	}
	assert_true(low > 0.6 && high < 0.75 && high - low < 0.01);
}

static void a_clock_that_stands_gives_nothing(void **state)
{
	struct sdr_shallow s;

	(void)state;
	sdr_shallow_init(&s, 100 * MS);
	sdr_shallow_acked(&s, 100 * MS, 2);
	sdr_shallow_acked(&s, 50 * MS, 0);
	assert_in_range(sdr_shallow_keeps(&s, 100000, 0), 90000, 91000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_without_losses),
		cmocka_unit_test(losses_take_and_time_gives_back),
		cmocka_unit_test(never_all),
		cmocka_unit_test(at_least_what_is_said),
		cmocka_unit_test(settles),
		cmocka_unit_test(a_clock_that_stands_gives_nothing),
	};

	return cmocka_run_group_tests_name("shallow", tests, NULL, NULL);
}
