/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The beat of a rival: what a round shows is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_beat.h"

#define MS    1000000ull
#define BASE  (25 * MS)
#define ROUND (27 * MS)
#define CREST (2 * MS)
#define MTU   9000u
#define RATE  25e6 /* bytes per second */

struct rounds {
	struct sdr_beat b;
	struct sdr_beat_at at;
};

static void rounds_new(struct rounds *t)
{
	*t = (struct rounds){ .at = { .now = MS, .base = BASE, .mtu = MTU, .win = 600e3 } };
	sdr_beat_init(&t->b);
}

static void step(struct rounds *t, uint64_t queue, double lost)
{
	t->at.now += ROUND;
	t->at.queue = queue;
	t->at.lost = lost * MTU;
	sdr_beat_round(&t->b, &t->at);
}

/* The queue grows for all rounds but the last of so many, and falls to what is left in that one. */
static void cycle_to(struct rounds *t, uint32_t rounds, uint64_t left, double lost)
{
	uint32_t i;

	for (i = 1; i < rounds; i++)
		step(t, left + i * (CREST - left) / (rounds - 1), i == rounds - 1 ? lost : 0);
	step(t, left, 0);
}

static void cycle(struct rounds *t, uint32_t rounds, double lost)
{
	cycle_to(t, rounds, 0, lost);
}

/* Nobody is seen for so many rounds. */
static void gap(struct rounds *t, uint32_t rounds)
{
	while (rounds--)
		step(t, 0, 0);
}

/* Worth to listen after so many of them. */
static bool worth(uint32_t cycles, uint32_t rounds, double lost)
{
	struct rounds t;

	rounds_new(&t);
	while (cycles--)
		cycle(&t, rounds, lost);
	return sdr_beat_worth(&t.b, t.at.now);
}

static void beat__three_falls_in_a_row(void **state)
{
	(void)state;
	assert_false(worth(2, 7, 3));
	assert_true(worth(3, 7, 3));
	assert_true(worth(3, 8, 3));
	/* without losses it is no crest */
	assert_true(worth(3, 7, 1));
	assert_false(worth(10, 7, 0.4));
	assert_false(worth(10, 7, 0));
}

/* What a crowd's queue sways about its target is less. */
static void beat__falls_are_longer_than_our_target(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	t.at.target = CREST * 3;
	for (i = 0; i < 10; i++)
		cycle(&t, 7, 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	t.at.target = CREST * 2;
	for (i = 0; i < 3; i++)
		cycle(&t, 7, 3);
	assert_true(sdr_beat_worth(&t.b, t.at.now));
}

static void beat__others_have_another(void **state)
{
	(void)state;
	assert_false(worth(10, 4, 3));
	assert_false(worth(10, 5, 3));
	assert_false(worth(10, 10, 3));
	assert_false(worth(10, 18, 3));
	assert_false(worth(10, 30, 3));
}

static void beat__one_that_was_not_seen(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	cycle(&t, 7, 3);
	gap(&t, 7);
	cycle(&t, 7, 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	cycle(&t, 7, 3);
	assert_true(sdr_beat_worth(&t.b, t.at.now));
	/* it is forgotten when two were not */
	gap(&t, 7);
	gap(&t, 7);
	gap(&t, 7);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
}

/* Of a few packets in a round trip not every crest loses one: the fall keeps the time. */
static void beat__without_losses_of_ours(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	cycle(&t, 7, 3);
	for (i = 0; i < 4; i++)
		cycle(&t, 7, 0);
	cycle(&t, 7, 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	for (i = 0; i < 4; i++)
		cycle(&t, 7, 0);
	cycle(&t, 7, 3);
	assert_true(sdr_beat_worth(&t.b, t.at.now));
	/* nor is it one that leaves a part of the queue, as a crowd's does */
	rounds_new(&t);
	for (i = 0; i < 12; i++)
		cycle_to(&t, 7, CREST / 4, i % 4 ? 0 : 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	/* what falls at other times has another beat, however often one of them is at ours */
	rounds_new(&t);
	for (i = 0; i < 40; i++)
		cycle(&t, 4, i % 4 ? 0 : 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
}

/* Falls that we made ourselves. */
static void beat__own_falls(void **state)
{
	struct rounds t;
	uint32_t i, n;

	(void)state;
	rounds_new(&t);
	for (n = 0; n < 10; n++) { /* cut a round trip before */
		for (i = 1; i < 6; i++)
			step(&t, i * CREST / 6, 0);
		t.at.win = 480e3;
		step(&t, CREST, 3);
		step(&t, 0, 0);
		t.at.win = 600e3;
	}
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	rounds_new(&t);
	for (n = 0; n < 10; n++) {
		step(&t, CREST, 3);
		step(&t, CREST, 3);
		t.at.drains++;
		for (i = 0; i < 5; i++)
			step(&t, 0, 0);
	}
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	/* messages of six round trips, one after the other, on a path that loses some packets */
	rounds_new(&t);
	for (n = 0; n < 10; n++) {
		t.at.app_limited = false;
		for (i = 1; i < 6; i++)
			step(&t, CREST, i == 5);
		t.at.app_limited = true;
		step(&t, CREST, 1);
		step(&t, 0, 0);
	}
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	/* what was cut for the crest's losses has not shown yet */
	rounds_new(&t);
	for (n = 0; n < 3; n++) {
		for (i = 1; i < 7; i++)
			step(&t, i * CREST / 6, i == 6 ? 3 : 0);
		t.at.win = 480e3;
		step(&t, 0, 0);
		t.at.win = 600e3;
	}
	assert_true(sdr_beat_worth(&t.b, t.at.now));
}

static void beat__listening(void **state)
{
	struct rounds t;
	enum sdr_beat_says says;
	uint32_t n = 0;

	(void)state;
	rounds_new(&t);
	cycle(&t, 7, 3);
	cycle(&t, 7, 3);
	cycle(&t, 7, 3);
	sdr_beat_listen(&t.b, RATE, false);
	cycle(&t, 7, 3);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_WAIT);
	cycle(&t, 7, 3);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_HEARD);
	/* again: one will do */
	sdr_beat_listen(&t.b, RATE, true);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_WAIT);
	cycle(&t, 7, 3);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_HEARD);
	/* who keeps still loses little: then falls are enough, but not those of another beat */
	sdr_beat_listen(&t.b, RATE, false);
	cycle(&t, 7, 0);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_WAIT);
	cycle(&t, 7, 0);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_HEARD);
	sdr_beat_listen(&t.b, RATE, true);
	cycle(&t, 4, 0);
	cycle(&t, 5, 0);
	assert_int_equal(sdr_beat_listens(&t.b, t.at.now), SDR_BEAT_WAIT);
	/* nothing: not for ever, and not at once again */
	sdr_beat_listen(&t.b, RATE, false);
	do {
		step(&t, CREST, 3);
		says = sdr_beat_listens(&t.b, t.at.now);
		n++;
	} while (says == SDR_BEAT_WAIT && n < 100);
	assert_int_equal(says, SDR_BEAT_SILENT);
	assert_in_range(n, 24, 36);
	cycle(&t, 7, 3);
	cycle(&t, 7, 3);
	cycle(&t, 7, 3);
	assert_false(sdr_beat_worth(&t.b, t.at.now));
	for (n = 0; n < 4; n++)
		cycle(&t, 7, 3);
	assert_true(sdr_beat_worth(&t.b, t.at.now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beat__three_falls_in_a_row),
		cmocka_unit_test(beat__falls_are_longer_than_our_target),
		cmocka_unit_test(beat__others_have_another),
		cmocka_unit_test(beat__one_that_was_not_seen),
		cmocka_unit_test(beat__without_losses_of_ours),
		cmocka_unit_test(beat__own_falls),
		cmocka_unit_test(beat__listening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
