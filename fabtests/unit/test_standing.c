/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A queue that our drains do not remove: what a round shows is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_standing.h"

#define MS   1000000ull
#define BASE (25 * MS)
#define FEW  (3 * MS)

struct rounds {
	struct sdr_standing s;
	struct sdr_standing_at at;
};

static void rounds_new(struct rounds *t)
{
	sdr_standing_init(&t->s);
	t->at = (struct sdr_standing_at){ .now = 1, .base = BASE, .few = FEW };
}

static enum sdr_standing_says step(struct rounds *t)
{
	enum sdr_standing_says says;

	t->at.now += t->at.base + t->at.queue;
	says = sdr_standing_base(&t->s, &t->at);
	sdr_standing_drained(&t->s, &t->at);
	return says;
}

/* So many rounds that say nothing. */
static void quiet(struct rounds *t, uint32_t n)
{
	while (n--)
		assert_int_equal(step(t), SDR_STANDING_NOTHING);
}

/* What it says when the base changes by so much after so many rounds and drains. */
static enum sdr_standing_says falls(uint32_t rounds, uint32_t drains, int64_t by)
{
	struct rounds t;

	rounds_new(&t);
	t.at.drains = drains;
	quiet(&t, rounds);
	t.at.base = (uint64_t)((int64_t)BASE - by);
	return step(&t);
}

static void standing__a_path_that_proves_shorter(void **state)
{
	(void)state;
	/* after two drains everybody knows how long it is, ... */
	assert_int_equal(falls(60, 2, 2 * MS), SDR_STANDING_SURE);
	/* ... but for a little ... */
	assert_int_equal(falls(60, 2, (int64_t)BASE / 30), SDR_STANDING_NOTHING);
	/* ... and before that it may have been a queue of flows like us, unless it is too long */
	assert_int_equal(falls(60, 1, 2 * MS), SDR_STANDING_NOTHING);
	assert_int_equal(falls(60, 1, 3 * MS), SDR_STANDING_SURE);
}

/* A queue that came and went within a few round trips was nobody's who stays. */
static void standing__it_must_have_stood(void **state)
{
	uint32_t rounds;

	(void)state;
	for (rounds = 1; rounds < 60; rounds++)
		assert_int_equal(falls(rounds, 2, 5 * MS),
				 rounds < 36 ? SDR_STANDING_NOTHING : SDR_STANDING_SURE);
}

/* ... but more than what a crowd of flows like us keeps is odd, though it did not stand. */
static void standing__more_than_a_crowd_keeps_is_odd(void **state)
{
	struct rounds t;

	(void)state;
	assert_int_equal(falls(1, 0, 8 * MS), SDR_STANDING_NOTHING);
	assert_int_equal(falls(1, 0, 10 * MS), SDR_STANDING_ODD);
	/* once */
	rounds_new(&t);
	quiet(&t, 2);
	t.at.base = BASE - 10 * MS;
	assert_int_equal(step(&t), SDR_STANDING_ODD);
	quiet(&t, 100);
}

static void standing__is_said_once(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.drains = 2;
	quiet(&t, 60);
	t.at.base = BASE - 2 * MS;
	assert_int_equal(step(&t), SDR_STANDING_SURE);
	quiet(&t, 100);
}

static void standing__a_longer_path_says_nothing(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.drains = 2;
	quiet(&t, 60);
	t.at.base = 2 * BASE;
	quiet(&t, 60);
}

/* Whether it stays after a drain with such queues in the rounds that follow, and such a base. */
static bool stays(uint64_t first, uint64_t second, uint64_t base)
{
	struct rounds t;

	rounds_new(&t);
	t.at.queue = 2 * MS;
	quiet(&t, 10);
	assert_false(t.s.stays);
	t.at.drains++;
	t.at.queue = first;
	t.at.base = base;
	step(&t);
	t.at.queue = second;
	step(&t);
	t.at.queue = 2 * MS;
	quiet(&t, 10);
	return t.s.stays;
}

static void standing__a_drain_that_empties_nothing(void **state)
{
	(void)state;
	assert_true(stays(2 * MS, 1 * MS, BASE));
	assert_false(stays(2 * MS, MS / 2, BASE));
	assert_false(stays(0, 2 * MS, BASE));
	/* nobody knows whether the path is empty now */
	assert_true(stays(0, 0, BASE - 1 * MS));
	assert_false(stays(0, 0, BASE - MS / 4));
}

/* Whether it stays after a drain that met no queue so many rounds before, and one ever since. */
static bool stays_behind(uint32_t rounds)
{
	struct rounds t;

	rounds_new(&t);
	t.at.queue = 2 * MS;
	quiet(&t, 10);
	t.at.queue = 0;
	quiet(&t, 1);
	t.at.queue = 2 * MS;
	quiet(&t, rounds);
	t.at.drains++;
	quiet(&t, 10);
	return t.s.stays;
}

/* The others have drained just before, so the path was empty; they are back when it shows. */
static void standing__a_drain_behind_the_others(void **state)
{
	(void)state;
	assert_false(stays_behind(0));
	assert_false(stays_behind(3));
	assert_true(stays_behind(9));
}

static void standing__the_last_drain_counts(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.queue = 2 * MS;
	t.at.drains = 1;
	quiet(&t, 10);
	assert_true(t.s.stays);
	t.at.drains = 2;
	t.at.queue = 0;
	quiet(&t, 10);
	assert_false(t.s.stays);
	/* a queue without a drain says nothing */
	t.at.queue = 20 * MS;
	quiet(&t, 10);
	assert_false(t.s.stays);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standing__a_path_that_proves_shorter),
		cmocka_unit_test(standing__it_must_have_stood),
		cmocka_unit_test(standing__more_than_a_crowd_keeps_is_odd),
		cmocka_unit_test(standing__is_said_once),
		cmocka_unit_test(standing__a_longer_path_says_nothing),
		cmocka_unit_test(standing__a_drain_that_empties_nothing),
		cmocka_unit_test(standing__a_drain_behind_the_others),
		cmocka_unit_test(standing__the_last_drain_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
