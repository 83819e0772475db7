/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a path carries that others have filled: rounds and trains are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_carries.h"

#define MS    1000000ull
#define BASE  (25 * MS)
#define ROUND (27 * MS)
#define MTU   9000u

struct rounds {
	struct sdr_carries c;
	struct sdr_rival_at at;
	double most;
	uint32_t asked;
};

static void rounds_new(struct rounds *t, double most)
{
	*t = (struct rounds){ .at = { .now = MS, .base = BASE, .target = MS, .mtu = MTU },
			      .most = most };
	sdr_carries_init(&t->c);
}

static void step(struct rounds *t, bool curious)
{
	t->at.now += ROUND;
	sdr_carries_round(&t->c, &t->at, curious, &t->most);
	t->asked += t->c.wants;
}

static void told(struct rounds *t, uint64_t rate)
{
	t->at.train_Bps = rate;
	t->at.trains++;
	step(t, true);
}

static void carries__what_a_train_has_shown(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t, 15e6);
	step(&t, true);
	assert_true(t.most == 15e6);
	told(&t, 120000000);
	assert_true(t.most == 120e6);
	/* one that met others' packets changes nothing */
	told(&t, 60000000);
	assert_true(t.most == 120e6);
}

/* Measured too high: three trains say so. */
static void carries__three_trains_are_right(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t, 200e6);
	told(&t, 100000000);
	told(&t, 110000000);
	assert_true(t.most == 200e6);
	told(&t, 80000000);
	assert_true(t.most > 136e6 && t.most < 139e6);
	/* old ones say nothing */
	t.at.now += 11000 * MS;
	t.most = 200e6;
	step(&t, true);
	assert_true(t.most == 200e6);
}

/* A peer that moves: the connection counts its trains anew. */
static void carries__another_path(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t, 15e6);
	for (int i = 0; i < 3; i++)
		told(&t, 120000000);
	t.at.trains = 0;
	t.at.train_Bps = 0;
	t.most = 200e6;
	step(&t, true);
	assert_true(t.most == 200e6); /* what the old one has shown bounds nothing */
	assert_true(t.c.wants);
	told(&t, 300000000);
	assert_true(t.most == 300e6);
}

static void carries__asks_apart_and_not_for_ever(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t, 15e6);
	for (i = 0; i < 6 * (1 + 2 + 4 + 8); i++)
		step(&t, true);
	assert_int_equal(t.asked, 4); /* twice as far from one to the next, each time */
	told(&t, 100000000);
	for (t.asked = 0, i = 0; i < 6 * (1 + 2 + 4 + 8); i++)
		step(&t, true);
	assert_int_equal(t.asked, 4); /* which begins anew when one has told something */
	for (i = 0; i < 2; i++)
		told(&t, 100000000);
	t.asked = 0;
	for (i = 0; i < 120; i++)
		step(&t, true);
	assert_int_equal(t.asked, 0);
	t.at.now += 10000 * MS;
	step(&t, true);
	assert_int_equal(t.asked, 1);
}

static void carries__asks_for_a_reason(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t, 15e6);
	for (i = 0; i < 20; i++)
		step(&t, false);
	t.at.lost = MTU; /* behind a queue that is full it shows nothing */
	for (i = 0; i < 20; i++)
		step(&t, true);
	t.at.lost = 0;
	t.at.app_limited = true;
	for (i = 0; i < 20; i++)
		step(&t, true);
	t.at.app_limited = false;
	t.at.base = MS;
	for (i = 0; i < 20; i++)
		step(&t, true);
	assert_int_equal(t.asked, 0);
	t.at.base = BASE;
	step(&t, true);
	assert_int_equal(t.asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carries__what_a_train_has_shown),
		cmocka_unit_test(carries__three_trains_are_right),
		cmocka_unit_test(carries__another_path),
		cmocka_unit_test(carries__asks_apart_and_not_for_ever),
		cmocka_unit_test(carries__asks_for_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
