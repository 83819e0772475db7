/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whose losses they are: rounds of packets, acknowledged sixteen at a time, with losses that the
 * test puts into them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_blame.h"
#include "test_draw.h"

#define MS     1000000ull
#define MTU    8192u
#define ACK    16u  /* packets */
#define ROUND  400u /* packets */
#define TARGET (1 * MS)

static const struct sdr_blame_at empty = {
	.mtu = MTU, .win = 100.0 * MTU, .queue = 0, .target = TARGET, .foul = true
};
static const struct sdr_blame_at little = {
	.mtu = MTU, .win = 3.0 * MTU, .queue = 0, .target = TARGET, .foul = true
};
static const struct sdr_blame_at full = { .mtu = MTU, .queue = 5 * TARGET / 2, .target = TARGET };

/* A round of pkts; every acknowledgement of the first `events` tells of so many losses. */
static void acks(struct sdr_blame *b, uint32_t pkts, uint32_t events, uint32_t lost, uint64_t queue)
{
	uint32_t i, n;

	for (i = 0; i < pkts; i += ACK) {
		n = events ? lost : 0;
		events -= events ? 1 : 0;
		sdr_blame_acked(b, (uint64_t)(ACK - n) * MTU, (uint64_t)n * MTU, queue);
	}
}

static enum sdr_blame_verdict round_of(struct sdr_blame *b, uint32_t pkts, uint32_t events,
				       uint32_t lost)
{
	acks(b, pkts, events, lost, 0);
	return sdr_blame_round(b, &empty);
}

static uint32_t rain_on(struct sdr_blame *b, uint32_t pkts, double p, uint64_t queue)
{
	uint32_t i, k, n, all = 0;

	for (i = 0; i < pkts; i += ACK) {
		for (k = n = 0; k < ACK; k++)
			n += draw() < p;
		sdr_blame_acked(b, (uint64_t)(ACK - n) * MTU, (uint64_t)n * MTU, queue);
		all += n;
	}
	return all;
}

static uint32_t rain(struct sdr_blame *b, uint32_t pkts, double p)
{
	return rain_on(b, pkts, p, 0);
}

static void blame__weather_becomes_the_expectation(void **state)
{
	static const double p[] = { 1e-3, 3e-3, 1e-2, 3e-2, 5e-2 };
	uint32_t i, k, said[SDR_BLAME_FOUL + 1];
	enum sdr_blame_verdict v;
	struct sdr_blame b;

	(void)state;
	seed = 1;
	for (i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		sdr_blame_init(&b);
		for (k = 0; k <= SDR_BLAME_FOUL; k++)
			said[k] = 0;
		for (k = 0; k < 1000; k++) {
			rain(&b, b.testing ? ROUND * 4 / 5 : ROUND, p[i]);
			v = sdr_blame_round(&b, &empty);
			said[v]++;
			/* after a test or two it is known */
			assert_true(k < 10 || v == SDR_BLAME_NONE);
			assert_true(b.ours <= 0);
		}
		assert_int_equal(
			said[SDR_BLAME_OURS] + said[SDR_BLAME_STORM] + said[SDR_BLAME_FULL], 0);
		assert_in_range(said[SDR_BLAME_SUSPECT], 0, 2);
		assert_int_equal(said[SDR_BLAME_WEATHER], said[SDR_BLAME_SUSPECT]);
		/* little is learnt without a test */
		assert_true(p[i] > 3e-3 || !said[SDR_BLAME_SUSPECT]);
		assert_true(p[i] < 3e-2 || said[SDR_BLAME_SUSPECT]);
		assert_true(b.share > 0.7 * p[i] && b.share < 1.3 * p[i]);
		assert_true(b.rate > 0.6 * (1 - pow(1 - p[i], ACK)) / ACK && b.rate < 1.3 * p[i]);
		/* all that is lost from now on is expected, but for chance */
		assert_true(sdr_blame_beyond(&b, 1e9, p[i] * 1e9) < 0.3 * p[i] * 1e9);
	}
}

static void blame__a_burst_alone_is_nothing(void **state)
{
	struct sdr_blame b;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		assert_int_equal(round_of(&b, ROUND, i % 8 == 0, 8), SDR_BLAME_NONE);
		assert_true(!b.testing && b.ours <= 0);
	}
	/* not even where it is most of a small round */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, 48, 1, 8), SDR_BLAME_NONE);
	/* as many losses, spread: a question */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 8, 1), SDR_BLAME_SUSPECT);
}

static void blame__too_few_packets_say_nothing(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, 16, 1, 3), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, 16, 1, 3), SDR_BLAME_NONE);
	assert_true(b.bytes >= 32 * MTU && b.events >= 2);
	/* they add up, until they are enough */
	assert_int_equal(round_of(&b, 16, 0, 0), SDR_BLAME_NONE);
	assert_true(b.bytes <= 0 && b.lost <= 0 && b.events <= 0);
}

static void blame__what_vanishes_was_ours(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	assert_true(b.testing && b.ours <= 0);
	/* this round was sent before the cut: no verdict, but it is remembered */
	assert_int_equal(round_of(&b, ROUND, 15, 1), SDR_BLAME_NONE);
	assert_true(b.testing && b.ours <= 0);
	assert_int_equal(round_of(&b, ROUND * 4 / 5, 1, 1), SDR_BLAME_OURS);
	assert_true(b.ours >= 36.0 * MTU - 1 && b.ours <= 36.0 * MTU + 1);
	assert_true(!b.testing && b.share <= 0 && b.rate <= 0);
	/* said once */
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
}

static void blame__what_stays_is_weather(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND * 4 / 5, 16, 1), SDR_BLAME_WEATHER);
	assert_true(b.ours <= 0 && !b.testing);
	assert_true(b.share > 0.0499 && b.share < 0.0501);
	assert_true(b.rate > 0.0499 && b.rate < 0.0501);
	/* and expected from now on, a little more as well; a lot more is not */
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 24, 1), SDR_BLAME_NONE);
	assert_false(b.testing);
	assert_true(sdr_blame_beyond(&b, 100.0 * MTU, 5.0 * MTU) < 0.1 * MTU);
	assert_true(sdr_blame_beyond(&b, 100.0 * MTU, 8.0 * MTU) > 2.8 * MTU);
}

/* Ours come on top of the weather, and only they are put on us. */
static void blame__ours_is_what_is_beyond_the_weather(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	b.rate = b.share = 0.01;
	acks(&b, ROUND, 24, 1, 800000); /* 20 more than the weather's 4 */
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_SUSPECT);
	acks(&b, ROUND, 24, 1, 800000);
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_NONE);
	acks(&b, ROUND, 4, 1, 0);
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_OURS);
	assert_true(b.ours >= 39.9 * MTU && b.ours <= 40.1 * MTU);
	assert_true(b.share > 0.0099 && b.share < 0.0101);
}

/* Where the packets around the losses met a queue, fewer make suspicious. */
static void blame__dry_losses_need_more(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	acks(&b, ROUND, 4, 1, TARGET / 2);
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_NONE);
	sdr_blame_init(&b);
	acks(&b, ROUND, 4, 1, TARGET * 3 / 4);
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_SUSPECT);
}

static void blame__beside_a_long_queue(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	acks(&b, ROUND, 20, 1, 3 * TARGET);
	assert_int_equal(sdr_blame_round(&b, &full), SDR_BLAME_FULL);
	assert_true(b.ours >= 20.0 * MTU - 1 && b.ours <= 20.0 * MTU + 1);
	assert_false(b.testing);
	/* what is lost beside it says nothing of the weather */
	acks(&b, ROUND, 2, 1, 3 * TARGET);
	assert_int_equal(sdr_blame_round(&b, &full), SDR_BLAME_NONE);
	assert_true(b.share <= 0 && b.rate <= 0);
	assert_true(b.ours >= 2.0 * MTU - 1 && b.ours <= 2.0 * MTU + 1);
}

/* A few losses that no test can tell: the queue around them does. */
static void blame__beside_the_longest_queues_of_late(void **state)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };
	struct sdr_blame b;
	uint32_t i, k;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		for (k = 0; k < ROUND / ACK; k++)
			acks(&b, ACK, 0, 0, (uint64_t)((0.8 + 0.4 * draw()) * (double)TARGET));
		assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	}
	assert_true(b.high > 0.9 * (double)TARGET && b.high < 1.2 * (double)TARGET);
	/* where the queue is as always, or hardly longer than that, it is weather */
	for (i = 0; i < 2; i++) {
		acks(&b, ACK, 1, 1, TARGET * (i ? 105 : 90) / 100);
		acks(&b, ROUND - ACK, 0, 0, TARGET);
		assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
		assert_true(b.ours <= 0);
	}
	/* and where it is longer than that, it is not */
	acks(&b, 2 * ACK, 2, 1, 2 * TARGET);
	acks(&b, ROUND - 2 * ACK, 0, 0, TARGET);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	assert_true(b.ours >= 2.0 * MTU - 1 && b.ours <= 2.0 * MTU + 1);
	acks(&b, ROUND, 0, 0, 2 * TARGET);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
	/* nor where it is not known */
	acks(&b, ROUND, 2, 1, 0);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
	/* a queue that is always that long says nothing */
	for (i = 0; i < 5000; i++) {
		acks(&b, ROUND, 0, 0, 2 * TARGET);
		sdr_blame_round(&b, &some);
	}
	acks(&b, ROUND, 2, 1, 2 * TARGET);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
}

/* A loss of a round that meets that queue.  Returns the packets that are ours, by now. */
static double drop_at(struct sdr_blame *b, uint64_t queue)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };

	acks(b, ACK, 1, 1, queue);
	acks(b, ROUND - ACK, 0, 0, TARGET);
	assert_int_equal(sdr_blame_round(b, &some), SDR_BLAME_NONE);
	return b->ours / MTU;
}

/* A few of a full queue's drops meet one that is not full any more. */
static void blame__where_nearly_all_is_ours(void **state)
{
	struct sdr_blame b;
	double n = 0;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		acks(&b, ROUND / 16 * 2, 0, 0, TARGET * 2);
		acks(&b, ROUND / 16 * 14, 0, 0, TARGET);
		sdr_blame_round(&b, &empty);
	}
	assert_true(b.high > 1.5 * (double)TARGET);
	assert_true(drop_at(&b, TARGET * 3 / 2) <= 0);
	/* and when it is clear what losses come from, that one does as well */
	for (i = 0; i < 10; i++)
		n += drop_at(&b, TARGET * 3);
	assert_true(n > 10.99 - 10.0 / 64 && n < 11.01);
	assert_true(drop_at(&b, TARGET * 3 / 2) > 0.98);
	/* not beside a queue as there always is one: that is weather, and there is more of it */
	for (i = 0; i < 5; i++)
		assert_true(drop_at(&b, TARGET) <= 0);
	assert_true(drop_at(&b, TARGET * 3 / 2) <= 0);
	assert_true(drop_at(&b, TARGET * 3) < 1.01);
}

static void blame__more_than_any_weather(void **state)
{
	struct sdr_blame b;

	(void)state;
	/* one in eight, wherever */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 25, 2), SDR_BLAME_STORM);
	assert_true(b.ours >= 50.0 * MTU - 1 && b.ours <= 50.0 * MTU + 1);
	assert_true(!b.testing && b.bytes <= 0);
	/* less than that is a question only */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 23, 2), SDR_BLAME_SUSPECT);
	/* and a storm is the answer, with all that waited for one */
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 25, 2), SDR_BLAME_STORM);
	assert_true(b.ours >= 116.0 * MTU - 1 && b.ours <= 116.0 * MTU + 1);
	assert_true(!b.testing && b.held <= 0);
	/* a few losses of a few packets are none */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, 48, 3, 3), SDR_BLAME_NONE);
}

/* Hosts that are late are told of all that a switch has dropped at once. */
static void blame__a_switch_has_no_bursts_of_weather(void **state)
{
	struct sdr_blame_at rack = empty;
	struct sdr_blame b;

	(void)state;
	rack.foul = false;
	sdr_blame_init(&b);
	sdr_blame_acked(&b, 8 * MTU, 92 * MTU, 0);
	assert_int_equal(sdr_blame_round(&b, &rack), SDR_BLAME_STORM);
	/* that is many */
	sdr_blame_acked(&b, 40 * MTU, 7 * MTU, 0);
	assert_int_equal(sdr_blame_round(&b, &rack), SDR_BLAME_NONE);
	/* on a long way it may be a burst */
	sdr_blame_init(&b);
	sdr_blame_acked(&b, 8 * MTU, 92 * MTU, 0);
	assert_int_equal(sdr_blame_round(&b, &empty), SDR_BLAME_NONE);
}

/* Where all of a crowd believe that, they drop most of what they send, and believe it. */
static void blame__no_weather_takes_most(void **state)
{
	uint32_t i, storms = 0;
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 500; i++)
		storms += round_of(&b, ROUND, ROUND / ACK, 10) == SDR_BLAME_STORM;
	assert_int_equal(storms, 500);
	assert_false(b.foul);
	/* however much is expected */
	b.share = 0.7;
	assert_int_equal(round_of(&b, ROUND, ROUND / ACK, 10), SDR_BLAME_STORM);
}

static void blame__storms_that_cuts_do_not_end_are_weather(void **state)
{
	enum sdr_blame_verdict v;
	struct sdr_blame b;
	uint32_t i, cuts = 0;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		v = round_of(&b, ROUND, 20, 4);
		cuts += v == SDR_BLAME_STORM;
		if (v == SDR_BLAME_FOUL)
			break;
		/* a round that loses a little less changes nothing, nor is it a test of its own */
		v = round_of(&b, ROUND, 23, 2);
		assert_true(v == SDR_BLAME_SUSPECT);
	}
	assert_int_equal(cuts, SDR_BLAME_STORMS - 1);
	assert_in_range(i, 15, 17); /* 32 rounds: others may have been in turmoil */
	assert_true(b.ours <= 0 && b.share > 0.19 && b.share < 0.21);
	/* what is as far beyond that is a storm */
	assert_int_equal(round_of(&b, ROUND, 20, 6), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 20, 7), SDR_BLAME_STORM);
	/* and the question is asked again, since that belief is a dangerous one */
	sdr_blame_init(&b);
	b.foul = 1024;
	b.rate = b.share = 0.2;
	for (i = 0; b.foul; i++)
		assert_int_equal(round_of(&b, ROUND, 20, 4),
				 i < 1023 ? SDR_BLAME_NONE : SDR_BLAME_STORM);
	assert_int_equal(i, 1024);
	/* whatever storms come meanwhile */
	sdr_blame_init(&b);
	b.foul = 1024;
	b.rate = b.share = 0.2;
	for (i = 0; b.foul && i < 2000; i++)
		round_of(&b, ROUND, 20, i % 100 ? 4 : 9);
	assert_int_equal(i, 1024);
}

static void blame__a_crowd_of_small_windows_believes_nothing(void **state)
{
	struct sdr_blame_at lan = empty;
	struct sdr_blame b;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		acks(&b, ROUND, 20, 4, 0);
		assert_int_equal(sdr_blame_round(&b, &little), SDR_BLAME_STORM);
	}
	assert_true(b.share <= 0);
	/* nor does anybody where a path loses nothing by itself */
	lan.foul = false;
	sdr_blame_init(&b);
	for (i = 0; i < 100; i++) {
		acks(&b, ROUND, 20, 4, 0);
		assert_int_equal(sdr_blame_round(&b, &lan), SDR_BLAME_STORM);
	}
	assert_true(b.share <= 0);
}

static void blame__storms_that_cuts_end_are_ours(void **state)
{
	struct sdr_blame b;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	/* the losses of a queue shrink with what is sent: each cut is the first again */
	for (i = 0; i < 20; i++) {
		assert_int_equal(round_of(&b, ROUND, 25, 10), SDR_BLAME_STORM);
		assert_int_equal(round_of(&b, ROUND, 25, 4), SDR_BLAME_STORM);
		assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	}
	assert_true(b.share <= 0 && b.storms == 0);
}

/* The cut answers what has been told of; of what left before it the next round tells. */
static void blame__behind_a_storm_is_of_it(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 25, 4), SDR_BLAME_STORM);
	/* too little to be decided */
	assert_int_equal(round_of(&b, 32, 1, 1), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
	assert_int_equal(round_of(&b, 80, 1, 2), SDR_BLAME_NONE);
	assert_true(b.ours >= 3.0 * MTU - 1 && b.ours <= 3.0 * MTU + 1);
	assert_true(b.rate <= 0 && b.share <= 0);
	/* once */
	assert_int_equal(round_of(&b, 80, 1, 2), SDR_BLAME_NONE);
	assert_true(b.ours <= 0 && b.rate > 0);
	/* what the weather takes is not */
	sdr_blame_init(&b);
	b.rate = b.share = 0.1;
	assert_int_equal(round_of(&b, ROUND, 25, 6), SDR_BLAME_STORM);
	assert_int_equal(round_of(&b, 160, 10, 2), SDR_BLAME_NONE);
	assert_true(b.ours >= 4.0 * MTU - 1 && b.ours <= 4.0 * MTU + 1);
	/* a message that is over by then says nothing of it */
	assert_int_equal(round_of(&b, ROUND, 25, 6), SDR_BLAME_STORM);
	sdr_blame_rests(&b, MTU);
	assert_int_equal(round_of(&b, 80, 1, 2), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
}

/* Few losses after a storm are like it, until the weather has some beside no queue. */
static void blame__a_storm_begins_a_habit(void **state)
{
	struct sdr_blame b;
	double ours;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 25, 4), SDR_BLAME_STORM);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	b.high = 2.0 * (double)TARGET;
	b.samples = 1e5;
	ours = drop_at(&b, TARGET * 3 / 2);
	assert_true(ours > 0.98 && ours < 1.01);
	drop_at(&b, TARGET);
	drop_at(&b, TARGET);
	drop_at(&b, TARGET);
	assert_true(drop_at(&b, TARGET * 3 / 2) <= 0);
}

/* What weather may have taken beside a long queue stays open, too, until it is clear. */
static void blame__open_is_all_that_is_not_told(void **state)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };
	struct sdr_blame b;
	double ours = 0;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	b.high = 2.0 * (double)TARGET;
	b.samples = 1e5;
	/* one in three met a queue longer than that, the others one like it */
	acks(&b, ROUND / 16 * 4, 1, 1, TARGET * 5 / 2);
	acks(&b, 2 * ROUND, 0, 0, TARGET * 3 / 2);
	acks(&b, ROUND / 16 * 8, 2, 1, TARGET * 3 / 2);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	ours = b.ours;
	assert_true(ours >= 0 && ours < 0.9 * MTU);
	for (i = 0; i < 12; i++)
		ours += drop_at(&b, TARGET * 3) * MTU;
	assert_true(ours > 14.6 * MTU && ours < 15.1 * MTU);
}

/* Chance makes storms of few packets where much is lost: none once that is known. */
static void blame__foul_weather_makes_no_storms(void **state)
{
	enum sdr_blame_verdict v;
	uint32_t i, storms = 0;
	struct sdr_blame b;

	(void)state;
	seed = 3;
	sdr_blame_init(&b);
	b.rate = b.share = 0.2;
	for (i = 0; i < 5000; i++) {
		rain(&b, 16, 0.2);
		v = sdr_blame_round(&b, &empty);
		storms += v == SDR_BLAME_STORM || v == SDR_BLAME_FOUL;
	}
	assert_in_range(storms, 0, 5);
}

static void blame__late_is_not_lost(void **state)
{
	struct sdr_blame_at at = empty;
	struct sdr_blame b;

	(void)state;
	at.win = 100.0 * MTU;
	sdr_blame_init(&b);
	/* taken back before anybody has asked */
	acks(&b, ROUND, 25, 4, 0);
	assert_true(sdr_blame_late(&b, 100.0 * MTU) <= 0);
	assert_int_equal(sdr_blame_round(&b, &at), SDR_BLAME_NONE);
	assert_true(b.share <= 0 && b.rate <= 0 && b.ours <= 0);
	/* and after cuts: the window before the first one, when half has come */
	acks(&b, ROUND, 25, 4, 0);
	assert_int_equal(sdr_blame_round(&b, &at), SDR_BLAME_STORM);
	at.win = 60.0 * MTU;
	acks(&b, ROUND, 25, 4, 0);
	assert_int_equal(sdr_blame_round(&b, &at), SDR_BLAME_STORM);
	assert_true(sdr_blame_late(&b, 99.0 * MTU) <= 0);
	assert_true(sdr_blame_late(&b, 1.0 * MTU) > 99.9 * MTU);
	/* once */
	assert_true(sdr_blame_late(&b, 100.0 * MTU) <= 0);
	/* what is lost long after a cut begins anew */
	at.win = 80.0 * MTU;
	sdr_blame_cut(&b, at.win, 10.0 * MTU);
	for (uint32_t i = 0; i < 20; i++)
		sdr_blame_round(&b, &at);
	sdr_blame_cut(&b, 50.0 * MTU, 10.0 * MTU);
	assert_true(sdr_blame_late(&b, 6.0 * MTU) < 51.0 * MTU);
}

static void blame__reset_ends_a_test(void **state)
{
	struct sdr_blame b;

	(void)state;
	sdr_blame_init(&b);
	b.share = b.rate = 0.001;
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	acks(&b, 32, 2, 1, 0);
	sdr_blame_reset(&b);
	assert_true(!b.testing && b.held <= 0 && b.bytes <= 0 && b.events <= 0);
	/* what the weather is stays known */
	assert_true(b.share > 0 && b.rate > 0);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	assert_true(b.ours <= 0);
}

/* A message is over before its question is answered: the next one does, unless there is weather. */
static void blame__a_test_waits_for_the_next_message(void **state)
{
	struct sdr_blame b;
	uint32_t i;

	(void)state;
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	acks(&b, ROUND / 4, 3, 1, 0); /* its end, which left before the cut */
	sdr_blame_rests(&b, MTU);
	assert_true(b.testing && b.bytes <= 0);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_OURS);
	assert_true(b.ours >= 23.0 * MTU - 1 && b.ours <= 23.0 * MTU + 1);
	/* not for ever */
	for (i = 0; i < 8; i++)
		assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	for (i = 0; b.testing; i++)
		sdr_blame_rests(&b, MTU);
	assert_in_range(i, 4, 16);
	/* and what rests without a test says nothing */
	sdr_blame_init(&b);
	acks(&b, ROUND, 20, 1, 0);
	sdr_blame_rests(&b, MTU);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	sdr_blame_init(&b);
	b.share = b.rate = 0.001;
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	sdr_blame_rests(&b, MTU);
	assert_false(b.testing);
}

/* Weather asks when it is worse by chance; that it is less so after the cut answers nothing. */
static void blame__what_was_asked_by_chance(void **state)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };
	enum sdr_blame_verdict v;
	uint32_t i, k, ours = 0, weather = 0;
	struct sdr_blame b;

	(void)state;
	for (i = 0; i < 400; i++) {
		sdr_blame_init(&b);
		v = SDR_BLAME_NONE;
		for (k = 0; k < 60 && v != SDR_BLAME_OURS && v != SDR_BLAME_WEATHER; k++) {
			rain_on(&b, b.testing ? 320 : 400, 0.01, TARGET);
			v = sdr_blame_round(&b, &some);
		}
		ours += v == SDR_BLAME_OURS;
		weather += v == SDR_BLAME_WEATHER;
	}
	assert_true(ours + weather > 200);
	if (ours > (ours + weather) / 12)
		fail_msg("%u ours, %u weather", ours, weather);
}

/* Where losses go on far below the window that they were put on, they were not of that. */
static void blame__what_was_answered_by_chance(void **state)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };
	uint32_t i, k, undone = 0;
	struct sdr_blame b;

	(void)state;
	for (i = 0; i < 200; i++) {
		enum sdr_blame_verdict v = SDR_BLAME_OURS;

		sdr_blame_init(&b);
		assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
		assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
		assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_OURS);
		/* one in a hundred, or next to nothing, as where it has helped */
		for (k = 0; k < 5 && v != SDR_BLAME_NOT_OURS; k++) {
			rain_on(&b, 300, i % 2 ? 1e-2 : 1e-3, TARGET);
			v = sdr_blame_round(&b, &some);
		}
		if (v != SDR_BLAME_NOT_OURS)
			continue;
		undone += i % 2;
		assert_true(i % 2 && b.rate > 0.004 && b.share > 0.004);
	}
	assert_true(undone > 90);
	/* what was only overtaken is no loss there, either */
	sdr_blame_init(&b);
	assert_int_equal(round_of(&b, ROUND, 20, 1), SDR_BLAME_SUSPECT);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_NONE);
	assert_int_equal(round_of(&b, ROUND, 0, 0), SDR_BLAME_OURS);
	acks(&b, ROUND, 12, 1, TARGET);
	sdr_blame_late(&b, 12.0 * MTU);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	acks(&b, ROUND, 0, 0, TARGET);
	assert_int_equal(sdr_blame_round(&b, &some), SDR_BLAME_NONE);
	assert_true(b.rate <= 0 && b.share <= 0);
}

/* Weather beside queues that are now long, now short: next to nothing of it is ours. */
static void blame__weather_beside_any_queue(void **state)
{
	static const struct sdr_blame_at some = { .mtu = MTU, .queue = TARGET, .target = TARGET };
	double ours = 0, lost = 0;
	struct sdr_blame b;
	uint32_t i, k, n;

	(void)state;
	sdr_blame_init(&b);
	b.share = b.rate = 0.01;
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < ROUND / ACK; k++) {
			n = draw() < 0.01 * ACK ? 1 : 0;
			sdr_blame_acked(&b, (uint64_t)(ACK - n) * MTU, (uint64_t)n * MTU,
					(uint64_t)((0.5 + draw()) * (double)TARGET));
			lost += n;
		}
		sdr_blame_round(&b, &some);
		ours += b.ours / MTU;
	}
	assert_true(lost > 1000);
	if (ours > 0.1 * lost)
		fail_msg("%.3f of %.0f", ours / lost, lost);
}

static void blame__never_more_than_was_lost(void **state)
{
	struct sdr_blame_at at = { .mtu = MTU, .target = TARGET };
	uint32_t i, said[SDR_BLAME_FOUL + 1] = { 0 };
	enum sdr_blame_verdict v;
	double ours = 0, lost = 0;
	struct sdr_blame b;

	(void)state;
	seed = 2;
	sdr_blame_init(&b);
	for (i = 0; i < 20000; i++) {
		if (i % 50 == 0) /* another path, as new as it is */
			b.rate = b.share = 0;
		lost += rain(&b, 16 + (uint32_t)(draw() * 500), pow(draw(), 4) / 5);
		at.queue = (uint64_t)(draw() * 3 * (double)TARGET);
		v = sdr_blame_round(&b, &at);
		said[v]++;
		ours += b.ours / MTU;
		assert_true(b.ours >= 0 && ours <= lost + 1e-3);
		if (v == SDR_BLAME_SUSPECT || v == SDR_BLAME_WEATHER)
			assert_true(b.ours <= 0);
		if (draw() < 0.01)
			sdr_blame_reset(&b);
	}
	for (i = 0; i <= SDR_BLAME_STORM; i++)
		assert_true(said[i] > 100);
	assert_true(ours > 0.05 * lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blame__weather_becomes_the_expectation),
		cmocka_unit_test(blame__a_burst_alone_is_nothing),
		cmocka_unit_test(blame__too_few_packets_say_nothing),
		cmocka_unit_test(blame__what_vanishes_was_ours),
		cmocka_unit_test(blame__what_stays_is_weather),
		cmocka_unit_test(blame__ours_is_what_is_beyond_the_weather),
		cmocka_unit_test(blame__dry_losses_need_more),
		cmocka_unit_test(blame__beside_a_long_queue),
		cmocka_unit_test(blame__beside_the_longest_queues_of_late),
		cmocka_unit_test(blame__where_nearly_all_is_ours),
		cmocka_unit_test(blame__more_than_any_weather),
		cmocka_unit_test(blame__a_switch_has_no_bursts_of_weather),
		cmocka_unit_test(blame__no_weather_takes_most),
		cmocka_unit_test(blame__storms_that_cuts_do_not_end_are_weather),
		cmocka_unit_test(blame__a_crowd_of_small_windows_believes_nothing),
		cmocka_unit_test(blame__storms_that_cuts_end_are_ours),
		cmocka_unit_test(blame__behind_a_storm_is_of_it),
		cmocka_unit_test(blame__a_storm_begins_a_habit),
		cmocka_unit_test(blame__open_is_all_that_is_not_told),
		cmocka_unit_test(blame__foul_weather_makes_no_storms),
		cmocka_unit_test(blame__late_is_not_lost),
		cmocka_unit_test(blame__reset_ends_a_test),
		cmocka_unit_test(blame__a_test_waits_for_the_next_message),
		cmocka_unit_test(blame__what_was_asked_by_chance),
		cmocka_unit_test(blame__what_was_answered_by_chance),
		cmocka_unit_test(blame__weather_beside_any_queue),
		cmocka_unit_test(blame__never_more_than_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
