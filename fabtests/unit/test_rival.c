/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Flows that do not yield: what a round shows is the test's, and the test plays the path and the
 * others on it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_rival.h"

#define MS     1000000ull
#define S      1000000000ull
#define BASE   (25 * MS)
#define TARGET (600 * 1000ull)
#define LONG   (5 * MS) /* a queue that nobody yields to */
#define MTU    8192u
#define PATH   125e6 /* bytes per second */

struct rounds {
	struct sdr_rival r;
	struct sdr_rival_at at;
	double win;
};

static bool step(struct rounds *t)
{
	t->at.now += t->at.base + t->at.queue;
	return sdr_rival_round(&t->r, &t->at, &t->win);
}

static void rounds_new(struct rounds *t)
{
	uint32_t i;

	sdr_rival_init(&t->r, 0, 0);
	sdr_rival_passes(&t->r, PATH);
	t->at = (struct sdr_rival_at){ .base = BASE,
				       .queue = TARGET,
				       .target = TARGET,
				       .few = 2 * TARGET,
				       .mtu = MTU,
				       .bw = (uint64_t)PATH,
				       .bytes = PATH * (double)BASE / 1e9 };
	t->win = PATH * (double)BASE / 1e9;
	for (i = 0; i < 8; i++) /* at first nobody is suspected */
		step(t);
}

static double trip(const struct rounds *t)
{
	return (double)(t->at.base + t->at.queue) / 1e9;
}

/* Steps while it stays in this state; how long, ns. */
static uint64_t stays(struct rounds *t, enum sdr_rival_state in, uint64_t at_most)
{
	uint64_t from = t->at.now;

	while (t->r.state == in && t->at.now < from + at_most)
		step(t);
	return t->at.now - from;
}

static void rounds_window(struct rounds *t)
{
	rounds_new(t);
	t->at.queue = LONG;
	stays(t, SDR_RIVAL_NONE, 5 * S);
	assert_int_equal(t->r.state, SDR_RIVAL_WINDOW);
	while (t->r.claim.open && t->r.state == SDR_RIVAL_WINDOW)
		step(t);
}

static void rounds_hold(struct rounds *t)
{
	rounds_window(t);
	t->at.lost = t->at.bytes / 50;
	stays(t, SDR_RIVAL_WINDOW, 5 * S);
	assert_int_equal(t->r.state, SDR_RIVAL_HOLD);
	t->at.lost = 0;
}

/* With a rate of that share of the path, until a push begins. */
static void rounds_push(struct rounds *t, double share)
{
	rounds_new(t);
	t->at.bw = (uint64_t)(share * PATH);
	t->at.bytes = share * PATH * trip(t);
	t->win = (double)t->at.bw * trip(t);
	t->at.drains = 1; /* that left a queue */
	stays(t, SDR_RIVAL_NONE, 5 * S);
	assert_int_equal(t->r.state, SDR_RIVAL_PUSH);
}

/* ---- nobody ---------------------------------------------------------------------------------- */

static void rival__nobody_is_there(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	for (i = 0; i < 4000; i++) {
		/* our own queue, up and down, and now and then somebody's who yields */
		t.at.queue = i % 80 < 40 ? 2 * TARGET : TARGET / 10;
		t.win = 3e6;
		t.at.random = i;
		assert_false(step(&t));
		assert_true(t.win >= 3e6 && t.win <= 3e6);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		assert_true(sdr_rival_gain(&t.r) <= 1);
	}
}

static void rival__who_sends_little_is_no_judge(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.app_limited = true;
	t.at.queue = LONG;
	t.at.bw = (uint64_t)(PATH / 100);
	stays(&t, SDR_RIVAL_NONE, 30 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* ---- press ----------------------------------------------------------------------------------- */

static void rival__a_queue_that_stays(void **state)
{
	double before;
	struct rounds t;
	uint64_t from, ns = 0;

	(void)state;
	rounds_new(&t);
	before = t.win;
	from = t.at.now;
	t.at.queue = LONG;
	while (!step(&t)) {
		t.win *= 0.99; /* we yield */
		ns = t.at.now - from;
		assert_true(ns < 5 * S);
	}
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	assert_in_range(ns, 650 * MS, 900 * MS);
	/* it opens from what it had */
	assert_true(t.win < before && t.win > 0.5 * before);
	/* a near path: hosts that are late make such a queue, too */
	rounds_new(&t);
	t.at.base = 1 * MS;
	t.at.queue = LONG;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 5 * S), 1400 * MS, 1700 * MS);
}

static void rival__a_queue_that_goes(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	/* for half a second, and gone: nobody */
	rounds_new(&t);
	for (i = 0; i < 400; i++) {
		t.at.queue = i % 24 < 17 ? LONG : 0;
		assert_false(step(&t));
	}
	/* long for those who have little, and short beside the round trip: no queue of rivals */
	rounds_new(&t);
	t.at.queue = 2 * MS;
	stays(&t, SDR_RIVAL_NONE, 10 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* A sawtooth that is short for a moment is a rival's, one that is short half of the time is not. */
static void rival__a_queue_with_dips(void **state)
{
	struct rounds t;
	uint32_t i, every;

	(void)state;
	for (every = 2; every <= 8; every += 6) {
		rounds_new(&t);
		for (i = 0; i < 200 && t.r.state == SDR_RIVAL_NONE; i++) {
			t.at.queue = i % every ? LONG : 2 * TARGET;
			step(&t);
		}
		assert_int_equal(t.r.state, every == 2 ? SDR_RIVAL_NONE : SDR_RIVAL_WINDOW);
	}
}

/* Who has next to nothing has a long target, and would wait for long: no reason to ask. */
static void rival__a_long_queue_answers_by_itself(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.target = 2 * LONG;
	t.at.queue = LONG;
	t.at.bw = (uint64_t)(0.01 * PATH);
	t.win = 0.01 * PATH * trip(&t);
	t.r.push.at = t.at.now;
	stays(&t, SDR_RIVAL_NONE, 5 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
}

/* What was there before the application paused, or while it sent little, says nothing of now. */
static void rival__a_pause_of_ours(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.queue = LONG;
	stays(&t, SDR_RIVAL_NONE, 500 * MS);
	t.at.app_limited = true;
	stays(&t, SDR_RIVAL_NONE, 1 * S);
	t.at.app_limited = false;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 5 * S), 650 * MS, 1250 * MS);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	/* nor is there a push with nothing to send */
	rounds_push(&t, 0.1);
	step(&t);
	t.at.app_limited = true;
	step(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* Who went a moment ago, and is back, is recognised. */
static void rival__they_come_back(void **state)
{
	struct rounds t;

	(void)state;
	rounds_window(&t);
	t.at.queue = 0;
	stays(&t, SDR_RIVAL_WINDOW, 1 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	t.at.queue = LONG;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 5 * S), 10 * BASE, 14 * BASE);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	/* after a while they are strangers again */
	t.at.queue = 0;
	stays(&t, SDR_RIVAL_WINDOW, 1 * S);
	stays(&t, SDR_RIVAL_NONE, 11 * S);
	t.at.queue = LONG;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 5 * S), 650 * MS, 900 * MS);
}

/* ---- pushes ---------------------------------------------------------------------------------- */

static enum sdr_rival_state with_share(double share, uint64_t base, bool lossy)
{
	struct rounds t;
	uint32_t i;

	rounds_new(&t);
	sdr_standing_init(&t.r.standing);
	t.at.base = base;
	t.at.bw = (uint64_t)(share * PATH);
	t.win = share * PATH * trip(&t);
	t.at.drains = 1;
	for (i = 0; i < 400 && t.r.state == SDR_RIVAL_NONE; i++) {
		t.at.lost = lossy && i % 40 == 0 ? t.at.bytes / 100 : 0;
		step(&t);
	}
	return t.r.state;
}

static void rival__asks_only_with_little(void **state)
{
	(void)state;
	assert_int_equal(with_share(0.25, BASE, false), SDR_RIVAL_NONE);
	assert_int_equal(with_share(0.15, BASE, false), SDR_RIVAL_PUSH);
	/* behind a short queue with less */
	assert_int_equal(with_share(0.13, BASE, true), SDR_RIVAL_NONE);
	assert_int_equal(with_share(0.11, BASE, true), SDR_RIVAL_PUSH);
	/* not among hosts */
	assert_int_equal(with_share(0.01, 1900 * 1000, false), SDR_RIVAL_NONE);
	assert_int_equal(with_share(0.01, 2000 * 1000, false), SDR_RIVAL_PUSH);
}

/*
 * The path is empty whenever we drain it, and losses keep us from more: where there is hardly a
 * queue between them, somebody sends at a rate.
 */
static enum sdr_rival_state with_queue(double share, double queue, bool lossy)
{
	struct rounds t;
	uint32_t i;

	rounds_new(&t);
	t.at.bw = (uint64_t)(share * PATH);
	t.at.bytes = share * PATH * trip(&t);
	t.win = share * PATH * trip(&t);
	t.at.drains = 1;
	for (i = 0; i < 400 && t.r.state == SDR_RIVAL_NONE; i++) {
		t.at.queue = i % 4 ? (uint64_t)(queue * TARGET) : 0;
		t.at.lost = lossy && i % 40 == 0 ? t.at.bytes / 100 : 0;
		step(&t);
	}
	return t.r.state;
}

static void rival__asks_where_room_is_left(void **state)
{
	(void)state;
	assert_int_equal(with_queue(0.14, 0.5, true), SDR_RIVAL_PUSH);
	/* a crowd of flows like us fills it, or has no more than that */
	assert_int_equal(with_queue(0.14, 1.4, true), SDR_RIVAL_NONE);
	assert_int_equal(with_queue(0.16, 0.5, true), SDR_RIVAL_NONE);
	/* and what is never lost is nobody's */
	assert_int_equal(with_queue(0.14, 0.5, false), SDR_RIVAL_NONE);
}

/* Who has more of a window than it uses may send as much as it likes. */
static void rival__asks_only_for_what_it_would_use(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.bw = (uint64_t)(0.1 * PATH);
	t.win = 5 * 0.1 * PATH * trip(&t);
	t.at.drains = 1;
	stays(&t, SDR_RIVAL_NONE, 10 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	t.win /= 2;
	stays(&t, SDR_RIVAL_NONE, 10 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
}

/* Who has little for long, and sees a drain leave a queue, as all who share the path do then. */
static uint64_t asks_after(uint64_t random)
{
	struct rounds t;

	rounds_new(&t);
	t.at.bw = (uint64_t)(0.1 * PATH);
	t.at.bytes = 0.1 * PATH * trip(&t);
	t.win = 0.1 * PATH * trip(&t);
	t.at.random = random;
	assert_true(stays(&t, SDR_RIVAL_NONE, 5 * S) >= 5 * S);
	t.at.drains = 1;
	return stays(&t, SDR_RIVAL_NONE, 5 * S);
}

static void rival__not_all_ask_at_once(void **state)
{
	uint64_t first = UINT64_MAX, last = 0, after, i;

	(void)state;
	for (i = 0; i < 16; i++) {
		after = asks_after(i * 30 * MS);
		first = after < first ? after : first;
		last = after > last ? after : last;
	}
	assert_in_range(last, first + 250 * MS, 600 * MS);
}

/* A quarter of the path more, for twelve rounds. */
static void rival__they_yield_to_a_push(void **state)
{
	struct rounds t;
	uint64_t gap;
	uint32_t i;

	(void)state;
	rounds_push(&t, 0.1);
	gap = t.r.push.gap;
	for (i = 1; i <= 12; i++) {
		t.at.queue = i < 5 ? (2 + i) * TARGET : TARGET;
		t.at.bw = (uint64_t)(0.1 * PATH + (i < 3 ? 0 : 0.25 * PATH));
		assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
		step(&t);
		if (i < 12)
			assert_true(fabs(t.win / trip(&t) - 0.35 * PATH) < 0.01 * PATH);
	}
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	assert_true(t.r.push.gap == 2 * gap);
	assert_true(t.win < 0.11 * PATH * (double)BASE / 1e9);
	/* and the next is not before half of the pause */
	t.at.bw = (uint64_t)(0.1 * PATH);
	t.at.random = 0;
	assert_true(stays(&t, SDR_RIVAL_NONE, 60 * S) >= gap / 2 - BASE);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
}

static void rival__pauses_grow_up_to_ten_minutes(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_push(&t, 0.1);
	for (i = 0; i < 12; i++) {
		t.at.bw = (uint64_t)(0.35 * PATH);
		stays(&t, SDR_RIVAL_PUSH, 1 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		assert_true(t.r.push.gap < 1200 * S);
		assert_true(t.r.push.at <= t.at.now + 1800 * S);
		t.at.bw = (uint64_t)(0.1 * PATH);
		t.at.random = UINT64_MAX;
		stays(&t, SDR_RIVAL_NONE, 2000 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
	}
}

/* Two pushes meet such a queue and such losses: then the window opens. */
static void rounds_again(struct rounds *t, uint64_t queue, double lost)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(t->r.state, SDR_RIVAL_PUSH);
		t->at.bw = (uint64_t)(0.35 * PATH);
		t->at.queue = queue;
		t->at.lost = lost * t->at.bytes;
		stays(t, SDR_RIVAL_PUSH, 1 * S);
		if (i)
			break;
		assert_int_equal(t->r.state, SDR_RIVAL_NONE);
		t->at.bw = (uint64_t)(0.1 * PATH);
		t->at.queue = TARGET;
		t->at.lost = 0;
		stays(t, SDR_RIVAL_NONE, 2 * S);
	}
	assert_int_equal(t->r.state, SDR_RIVAL_WINDOW);
}

static void rival__nobody_yields_to_a_push(void **state)
{
	struct rounds t;

	(void)state;
	rounds_push(&t, 0.1);
	rounds_again(&t, LONG, 0);
	assert_true(fabs(t.win / trip(&t) - 0.5 * PATH) < 0.001 * PATH);
	/* where the queue is short it drops */
	rounds_push(&t, 0.1);
	rounds_again(&t, TARGET, 0.03);
}

/* Who pushed at the same time does not do so again and again. */
static void rival__one_push_of_others_is_no_rival(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_push(&t, 0.1);
	for (i = 0; i < 6; i++) {
		t.at.bw = (uint64_t)(0.35 * PATH);
		t.at.queue = i % 2 ? TARGET : LONG;
		stays(&t, SDR_RIVAL_PUSH, 1 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		assert_true(t.win < 0.11 * PATH * (double)BASE / 1e9);
		t.at.bw = (uint64_t)(0.1 * PATH);
		t.at.queue = TARGET;
		/* soon where somebody did not yield, after a long pause where all did */
		if (i % 2)
			assert_true(stays(&t, SDR_RIVAL_NONE, 200 * S) > 3 * S);
		else
			assert_true(stays(&t, SDR_RIVAL_NONE, 200 * S) < 2 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
	}
}

/* The path carries no more than we have: it is not as wide as it was. */
static void rival__a_push_that_gains_nothing(void **state)
{
	struct rounds t;

	(void)state;
	rounds_push(&t, 0.1);
	t.at.bw = (uint64_t)(0.12 * PATH);
	t.at.queue = LONG;
	stays(&t, SDR_RIVAL_PUSH, 1 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	assert_true(t.r.most < 0.13 * PATH && t.r.most > 0.09 * PATH);
	assert_true(t.win < 0.13 * PATH * (double)BASE / 1e9);
}

/* Two that push at once would take each other for rivals. */
static void rival__pushes_collide(void **state)
{
	struct rounds t;
	uint64_t gap;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		rounds_push(&t, 0.1);
		gap = t.r.push.gap;
		step(&t);
		step(&t);
		assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
		if (i)
			t.at.lost = 0.4 * t.at.bytes;
		else
			t.at.queue = 2 * BASE;
		step(&t);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		assert_true(t.r.push.gap == 2 * gap);
		assert_true(t.win < 0.11 * PATH * (double)BASE / 1e9);
	}
	/* what one push can do is no collision */
	rounds_push(&t, 0.1);
	t.at.queue = 3 * BASE / 4;
	step(&t);
	step(&t);
	step(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
}

/*
 * A push that gains its rate; in the rounds from the first up to the last nobody is met, in the
 * others such a queue and such losses.  Whether another is to follow soon.
 */
static bool push_is_sure(uint32_t first, uint32_t last, uint64_t queue, double lost)
{
	struct rounds t;
	uint32_t i;
	bool calm;

	rounds_push(&t, 0.1);
	t.at.bw = (uint64_t)(0.35 * PATH);
	for (i = 1; i <= 12 && t.r.state == SDR_RIVAL_PUSH; i++) {
		calm = i >= first && i <= last;
		t.at.queue = calm ? TARGET : queue;
		t.at.lost = calm || i < 3 ? 0 : lost * t.at.bytes; /* ours show in the third */
		step(&t);
	}
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	return t.r.push.sure;
}

/* What is lost before a push shows is another's, which would be taken for a rival: not now. */
static void rival__another_pushes(void **state)
{
	struct rounds t;
	uint64_t gap;
	uint32_t i;

	(void)state;
	for (i = 1; i < 4; i++) {
		rounds_push(&t, 0.1);
		gap = t.r.push.gap;
		while (t.r.push.rounds + 1 < i)
			step(&t);
		t.at.lost = 0.1 * t.at.bytes;
		step(&t);
		assert_int_equal(t.r.state, i < 3 ? SDR_RIVAL_NONE : SDR_RIVAL_PUSH);
		assert_true(t.r.push.gap == gap && !t.r.push.sure);
		if (i == 3)
			break;
		assert_true(t.win < 0.11 * PATH * (double)BASE / 1e9);
		t.at.lost = 0;
		assert_true(stays(&t, SDR_RIVAL_NONE, 2 * S) < 1 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
	}
}

/* The second push is not put off by what the first has gained, which is forgotten slowly. */
static void rival__soon_for_the_second_time(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_push(&t, 0.1);
	t.at.bw = (uint64_t)(0.35 * PATH);
	t.at.queue = LONG;
	stays(&t, SDR_RIVAL_PUSH, 1 * S);
	assert_true(t.r.push.sure);
	t.at.random = 700 * MS; /* of half a second at most it is less */
	t.at.queue = TARGET;
	for (i = 0; i < 4; i++) { /* no reason now */
		t.at.bw = (uint64_t)(0.3 * PATH);
		step(&t);
	}
	t.at.bw = (uint64_t)(0.02 * PATH);
	assert_true(stays(&t, SDR_RIVAL_NONE, 3 * S) < 400 * MS);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
}

/* The queue was gone for a while, though it is long again: somebody did yield. */
static void rival__somebody_yields_for_a_while(void **state)
{
	uint32_t calm;

	(void)state;
	for (calm = 0; calm < 4; calm++)
		assert_true(push_is_sure(6, 5 + calm, LONG, 0) == (calm < 2));
}

/* BBR goes on for ten rounds, and then takes what is left: that is no yielding. */
static void rival__somebody_forgets_a_larger_rate(void **state)
{
	uint32_t from;

	(void)state;
	for (from = 8; from < 11; from++)
		assert_true(push_is_sure(from, 12, TARGET, 0.2) == (from > 8));
}

/* Losses beside a long queue do not make it a short one. */
static void rival__losses_of_a_long_queue(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.bw = (uint64_t)(0.15 * PATH);
	t.win = 0.15 * PATH * trip(&t);
	t.at.drains = 1;
	t.at.queue = BASE / 2;
	t.at.lost = t.at.bytes / 100;
	step(&t);
	t.at.lost = 0;
	t.at.queue = TARGET;
	stays(&t, SDR_RIVAL_NONE, 4 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
}

/* ---- a window that opens --------------------------------------------------------------------- */

/* From nearly nothing to half of the path, whatever is lost. */
static void rival__opens_to_half(void **state)
{
	double from, half;
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	t.win = MTU / 64.0;
	t.at.queue = LONG;
	while (!step(&t))
		assert_true(t.at.now < 5 * S);
	half = 0.5 * PATH * trip(&t);
	assert_true(t.win > 0.25 * half && t.win < 0.5 * half);
	t.at.lost = 0.2 * t.at.bytes;
	for (i = 0; i < 6; i++) {
		from = t.win;
		assert_true(step(&t));
		assert_true(t.win >= from && t.win <= 1.501 * from && t.win < 1.001 * half);
	}
	assert_true(t.win > 0.999 * half);
	assert_false(t.r.claim.open);
	/* it keeps the rate where the queue grows */
	t.at.lost = 0;
	t.at.queue = 3 * LONG;
	for (i = 0; i < 10; i++)
		step(&t);
	assert_true(fabs(t.win / trip(&t) - 0.5 * PATH) < 0.001 * PATH);
}

static void rounds_narrow(struct rounds *t)
{
	rounds_new(t);
	t->r.most = PATH / 4; /* of what it carries */
	t->r.rate = PATH / 100;
	t->win = MTU;
	t->at.bw = (uint64_t)(PATH / 100);
	t->at.queue = 2 * BASE;
	while (!step(t))
		assert_true(t->at.now < 5 * S);
}

/* Rounds in which the others' window stays; so long until ours is open. */
static void opens_beside(struct rounds *t, double others, uint32_t lossy, uint32_t shorter)
{
	double win = t->win, was;
	uint32_t i;

	for (i = 0; i < 40 && t->r.claim.open; i++) {
		was = win;
		win = t->win;
		t->at.queue = (uint64_t)((others + was) / PATH * 1e9) - BASE;
		if (i + 1 == shorter)
			t->at.queue -= BASE / 4;
		t->at.bytes = was;
		t->at.lost = i + 1 == lossy ? MTU : 0;
		t->at.bw = (uint64_t)(was / trip(t));
		step(t);
	}
	assert_false(t->r.claim.open);
}

static void rival__measures_what_the_path_carries(void **state)
{
	double others = PATH * 3 * (double)BASE / 1e9;
	struct rounds t;

	(void)state;
	rounds_narrow(&t);
	opens_beside(&t, others, 0, 0);
	assert_true(t.r.most > 0.7 * PATH && t.r.most < 1.01 * PATH);
	assert_true(t.win / trip(&t) > 0.3 * PATH && t.win / trip(&t) < 0.51 * PATH);
	/* with losses it is full: what was known counts */
	rounds_narrow(&t);
	opens_beside(&t, others, 1, 0);
	assert_true(t.r.most < 0.26 * PATH);
	/* who has just yielded says nothing of it: it begins again */
	rounds_narrow(&t);
	opens_beside(&t, others, 0, 3);
	assert_true(t.r.most > 0.3 * PATH && t.r.most < 1.01 * PATH);
	/* where a queue cannot grow it says nothing either */
	rounds_narrow(&t);
	t.at.bw = (uint64_t)(PATH / 8);
	stays(&t, SDR_RIVAL_WINDOW, 2 * S);
	assert_true(t.r.most < 0.26 * PATH);
}

/* While we push others yield: that makes no path wider. */
static void rival__measures_nothing_as_it_pushes(void **state)
{
	struct rounds t;

	(void)state;
	rounds_push(&t, 0.02);
	t.r.most = 0.6 * PATH;
	t.at.queue = 2 * TARGET;
	t.at.bw = (uint64_t)(0.17 * PATH);
	stays(&t, SDR_RIVAL_PUSH, 1 * S);
	assert_true(t.r.most < 0.61 * PATH);
}

/* Beyond half as long as that makes no queue, but not for who does not use it. */
static void rival__opens_further_where_there_is_room(void **state)
{
	struct rounds t;
	uint32_t used;
	double rate, over;

	(void)state;
	for (used = 0; used < 2; used++) {
		rounds_narrow(&t);
		while (t.r.claim.open && t.at.now < 20 * S) {
			/* others leave up to 0.7 of it */
			rate = t.win / trip(&t);
			over = fmax(0, rate / PATH - 0.7) * trip(&t) * 1e9;
			t.at.queue = 2 * BASE + (uint64_t)over;
			t.at.bw = (uint64_t)(used ? rate : 0.05 * PATH);
			t.at.bytes = t.win;
			step(&t);
		}
		assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
		assert_true(t.win / trip(&t) > (used ? 0.6 : 0.12) * PATH);
		assert_true(t.win / trip(&t) < (used ? 1.0 : 0.2) * PATH);
	}
}

/* Most of a round is lost: it was no good, and next time it takes longer. */
static void rival__opens_in_vain(void **state)
{
	double before;
	struct rounds t;

	(void)state;
	rounds_window(&t);
	before = t.win;
	t.at.lost = 0.5 * t.at.bytes;
	assert_false(step(&t));
	assert_true(t.win < 0.51 * before);
	t.at.lost = 0;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 9 * S), 1400 * MS, 1700 * MS);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
}

/* A round trip that was never seen to be so short has no queue by definition, and says nothing. */
static void rival__a_path_that_proves_shorter(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_window(&t);
	stays(&t, SDR_RIVAL_WINDOW, 1 * S);
	for (i = 1; i < 10; i++) {
		t.at.base = BASE - i * MS;
		t.at.queue = 0;
		assert_true(step(&t));
	}
	assert_false(step(&t));
	/* nor does it end what a queue is suspected for */
	rounds_new(&t);
	t.at.few = 3 * MS;
	t.at.queue = LONG;
	stays(&t, SDR_RIVAL_NONE, 400 * MS);
	t.at.base = BASE - 2 * MS;
	t.at.queue = 0;
	step(&t);
	t.at.queue = LONG;
	assert_in_range(stays(&t, SDR_RIVAL_NONE, 5 * S), 300 * MS, 700 * MS);
}

/* What START measured had a queue of others in it; after one drain it may be flows like us. */
static void rival__asks_what_a_shorter_path_carries(void **state)
{
	struct rounds t;
	uint32_t i, wants = 0;

	(void)state;
	rounds_new(&t);
	t.at.base = BASE * 88 / 100;
	t.at.drains = 1;
	for (i = 0; i < 8; i++) {
		step(&t);
		assert_false(sdr_rival_wants_train(&t.r));
	}
	t.at.drains = 2;
	t.at.train_Bps = (uint64_t)PATH;
	for (i = 0; i < 100; i++) {
		step(&t);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		if (sdr_rival_wants_train(&t.r)) {
			wants++;
			t.at.trains++;
		}
	}
	assert_int_equal(wants, 3);
}

/* Behind a queue that is long and stays, who has little; behind a short one nobody. */
static void rival__starves(void **state)
{
	struct rounds t;

	(void)state;
	rounds_push(&t, 0.04);
	assert_true(sdr_rival_starves(&t.r, t.at.now));
	t.r.rate = 0.06 * PATH;
	assert_false(sdr_rival_starves(&t.r, t.at.now));
	t.r.rate = 0.04 * PATH;
	t.r.lost_at = t.at.now;
	t.r.lost_trip = BASE + 2 * LONG;
	assert_true(sdr_rival_starves(&t.r, t.at.now));
	t.r.lost_trip = BASE + TARGET;
	assert_false(sdr_rival_starves(&t.r, t.at.now));
	t.r.lost_at = 0;
	t.r.standing.stays = false;
	assert_false(sdr_rival_starves(&t.r, t.at.now));
}

/* ---- a window beside windows ----------------------------------------------------------------- */

static void rival__window_of_cubic(void **state)
{
	double before, k;
	struct rounds t;
	uint64_t cut;

	(void)state;
	rounds_window(&t);
	stays(&t, SDR_RIVAL_WINDOW, 1 * S);
	before = t.win;
	t.at.lost = 0.01 * t.at.bytes;
	step(&t);
	t.at.lost = 0;
	assert_true(fabs(t.win / before - 0.7) < 1e-6);
	/* back where it was after the cube root of what went */
	cut = t.at.now;
	k = cbrt(before / MTU * 0.3 / 0.4);
	while (t.at.now < cut + (uint64_t)(k * 0.5e9))
		step(&t);
	assert_true(t.win > 0.9 * before && t.win < 0.98 * before);
	while (t.at.now < cut + (uint64_t)(k * 1e9))
		step(&t);
	assert_true(fabs(t.win / before - 1) < 0.01);
	while (t.at.now < cut + (uint64_t)(k * 2e9))
		step(&t);
	assert_true(t.win > 1.2 * before);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
}

/* A loss that a cut could not yet prevent is not cut for; a small one is not either. */
static void rival__window_cuts_once(void **state)
{
	double before;
	struct rounds t;

	(void)state;
	rounds_window(&t);
	stays(&t, SDR_RIVAL_WINDOW, 1 * S);
	before = t.win;
	t.at.lost = 0.004 * t.at.bytes;
	step(&t);
	assert_true(t.win >= before);
	before = t.win;
	t.at.lost = 0.01 * t.at.bytes;
	step(&t);
	step(&t);
	step(&t);
	assert_true(t.win >= 0.7 * before && t.win < 0.75 * before);
}

static void rival__window_ends_with_the_queue(void **state)
{
	struct rounds t;

	(void)state;
	rounds_window(&t);
	t.at.queue = TARGET;
	stays(&t, SDR_RIVAL_WINDOW, 2 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	t.at.queue = TARGET / 3;
	assert_false(step(&t));
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* ... but as it opens only if that lasts: BBR looks at the path for eight round trips. */
static void rival__an_opening_window_waits(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.queue = LONG;
	stays(&t, SDR_RIVAL_NONE, 5 * S);
	assert_true(t.r.claim.open);
	t.at.queue = 0;
	assert_in_range(stays(&t, SDR_RIVAL_WINDOW, 2 * S), 10 * BASE, 14 * BASE);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* The path proves shorter: nobody who drains let us wait for that. */
static void rival__a_queue_that_was_never_gone(void **state)
{
	struct rounds t;
	uint32_t drains;

	(void)state;
	for (drains = 0; drains < 4; drains++) {
		rounds_new(&t);
		t.at.few = BASE / 5; /* so long is that of a crowd */
		t.at.bw = (uint64_t)(0.5 * PATH);
		t.at.drains = drains;
		stays(&t, SDR_RIVAL_NONE, 2 * S);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		t.at.base = BASE * 90 / 100;
		step(&t);
		assert_int_equal(t.r.state, drains < 2 ? SDR_RIVAL_NONE : SDR_RIVAL_WINDOW);
	}
}

/* One that no crowd would keep, and that was there when we began, is a reason to ask. */
static void rival__asks_where_a_queue_was_odd(void **state)
{
	struct rounds t;

	(void)state;
	rounds_new(&t);
	t.at.bw = (uint64_t)(0.5 * PATH);
	t.win = 0.5 * PATH * trip(&t);
	t.at.base = BASE / 2;
	step(&t);
	assert_true(t.r.push.suspect);
	assert_true(stays(&t, SDR_RIVAL_NONE, 5 * S) < 300 * MS);
	assert_int_equal(t.r.state, SDR_RIVAL_PUSH);
	/* they yield */
	t.at.bw = (uint64_t)(0.75 * PATH);
	stays(&t, SDR_RIVAL_PUSH, 1 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	assert_false(t.r.push.suspect);
	t.at.bw = (uint64_t)(0.5 * PATH);
	stays(&t, SDR_RIVAL_NONE, 20 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* A round in which nothing came for long saw no queue, one of a packet a second did. */
static void rival__a_queue_is_seen_by_what_arrives(void **state)
{
	struct rounds t;
	uint64_t from;

	(void)state;
	rounds_new(&t);
	t.at.queue = LONG;
	step(&t);
	t.at.now += 2 * S;
	assert_false(step(&t));
	stays(&t, SDR_RIVAL_NONE, 5 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	rounds_new(&t);
	t.at.queue = LONG;
	t.win = MTU / 20.0;
	step(&t);
	from = t.at.now;
	while (t.at.now < from + 1600 * MS && t.r.state == SDR_RIVAL_NONE) {
		t.at.now += 500 * MS;
		step(&t);
	}
	assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
}

/* ---- a rate that is held --------------------------------------------------------------------- */

static void rival__two_cuts_in_a_row(void **state)
{
	double before, win, gains = 0;
	struct rounds t;
	uint32_t i, cuts = 0, high = 0;

	(void)state;
	rounds_window(&t);
	before = win = t.win;
	t.at.lost = t.at.bytes / 50;
	while (step(&t) && t.r.state == SDR_RIVAL_WINDOW && t.at.now < 10 * S) {
		cuts += t.win < 0.8 * win;
		win = t.win;
	}
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	assert_int_equal(cuts, 1);
	assert_true(t.win > 0.95 * before); /* what it had before them */
	/* whatever is lost, and however much passes, half of the path at most */
	t.at.bw = (uint64_t)PATH;
	t.at.lost = 0.1 * t.at.bytes;
	for (i = 0; i < 80; i++) {
		assert_true(step(&t));
		assert_true(t.win / trip(&t) <= 0.5001 * PATH);
		assert_true(i < 10 || t.win / trip(&t) > 0.49 * PATH);
		gains += sdr_rival_gain(&t.r);
		high += sdr_rival_gain(&t.r) > 1;
	}
	assert_int_equal(high, 10);
	assert_true(gains > 82 && gains < 83);
	/* less passes: the largest of the last ten rounds */
	t.at.bw = (uint64_t)(0.3 * PATH);
	for (i = 0; i < 9; i++)
		step(&t);
	assert_true(t.win / trip(&t) > 0.49 * PATH);
	step(&t);
	assert_true(t.win / trip(&t) < 0.31 * PATH);
}

/* Losses far apart are the law of windows at work. */
static void rival__cuts_that_help(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_window(&t);
	for (i = 0; i < 10; i++) {
		t.at.lost = 0;
		stays(&t, SDR_RIVAL_WINDOW, 50 * BASE);
		t.at.lost = t.at.bytes / 50;
		step(&t);
		assert_int_equal(t.r.state, SDR_RIVAL_WINDOW);
	}
}

/* What passed was half of what was known of the path: with what trains tell it opens again. */
static void rival__hold_opens_again(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_hold(&t);
	t.r.most = PATH / 3;
	t.r.hold.most = t.r.rate = PATH / 6;
	for (i = 0; i < 20; i++) {
		t.at.bw = (uint64_t)fmin(t.win / trip(&t), PATH / 6);
		step(&t);
	}
	assert_true(t.win / trip(&t) < 0.17 * PATH);
	t.at.train_Bps = (uint64_t)(0.9 * PATH);
	t.at.trains++;
	for (i = 0; i < 5; i++)
		step(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	assert_true(t.win / trip(&t) > 0.44 * PATH && t.win / trip(&t) < 0.46 * PATH);
	/* once: what passes of it is what it has then */
	for (i = 0; i < 10; i++)
		step(&t);
	assert_true(t.win / trip(&t) < 0.17 * PATH);
}

static void rival__hold_ends(void **state)
{
	struct rounds t;
	uint64_t gap;
	uint32_t i;

	(void)state;
	/* with the queue, but not at once */
	rounds_hold(&t);
	t.at.queue = 0;
	for (i = 0; i < 40; i++)
		assert_true(step(&t));
	assert_false(step(&t));
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	/* with too many losses, but they have some rounds to see that there is less for them */
	rounds_hold(&t);
	t.at.lost = 0.3 * t.at.bytes;
	for (i = 0; i < 80; i++)
		assert_true(step(&t));
	step(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	rounds_hold(&t);
	t.at.lost = 0.14 * t.at.bytes;
	stays(&t, SDR_RIVAL_HOLD, 3 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	t.at.lost = 0.3 * t.at.bytes;
	assert_true(stays(&t, SDR_RIVAL_HOLD, 3 * S) <= 5 * (BASE + LONG));
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	/* and by itself, later every time */
	rounds_hold(&t);
	gap = t.r.push.gap;
	assert_in_range(stays(&t, SDR_RIVAL_HOLD, 100 * S), 2 * gap - BASE - LONG,
			2 * gap + BASE + LONG);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	assert_true(t.r.push.gap == 2 * gap);
}

/* Behind a short queue a push may have been wrong, but a beat tells: that is listened for. */
static void rival__hold_behind_a_short_queue(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_window(&t);
	t.at.drains = 1;
	t.at.lost = t.at.bytes / 50;
	stays(&t, SDR_RIVAL_WINDOW, 5 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	/* more than what passes, without a beat of our own, up to half of the path */
	t.at.bw = (uint64_t)(0.36 * PATH);
	for (i = 0; i < 100; i++) {
		assert_true(step(&t));
		assert_true(sdr_rival_gain(&t.r) <= 1);
		assert_true(t.win / trip(&t) <= 0.501 * PATH && t.win / trip(&t) > 0.44 * PATH);
	}
	assert_true(stays(&t, SDR_RIVAL_HOLD, 10 * S) < 2 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_LISTEN);
	stays(&t, SDR_RIVAL_LISTEN, 3 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* A cycle of BBR behind a short queue: a crest with losses, and a fall. */
static void beats(struct rounds *t)
{
	uint32_t i;

	for (i = 0; i < 7; i++) {
		t->at.queue = i < 6 ? i * t->at.target / 5 : 0;
		t->at.lost = i == 5 ? 3 * MTU : 0;
		step(t);
	}
}

/* One that is heard is held against: at half of the path, steadily. */
static void rival__a_beat(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	t.at.target = t.at.few = 2 * MS;
	t.at.drains = 3;
	t.at.bw = (uint64_t)(0.15 * PATH);
	t.at.bytes = (double)t.at.bw * trip(&t);
	t.win = t.at.bytes;
	for (i = 0; i < 20 && t.r.state == SDR_RIVAL_NONE; i++)
		beats(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_LISTEN);
	/* what it has, and no less for the losses */
	beats(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_LISTEN);
	assert_true(t.win >= 0.1 * PATH * trip(&t) && t.win <= 0.3 * PATH * trip(&t));
	beats(&t);
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	assert_true(t.win <= 0.51 * PATH * trip(&t) && t.win >= 0.45 * PATH * trip(&t));
	t.at.bw = (uint64_t)(0.45 * PATH);
	t.at.queue = t.at.target;
	t.at.bytes = (double)t.at.bw * trip(&t);
	t.at.lost = t.at.bytes / 20;
	for (i = 0; i < 100; i++) {
		step(&t);
		assert_true(sdr_rival_gain(&t.r) == 1);
	}
	assert_int_equal(t.r.state, SDR_RIVAL_HOLD);
	/* and asks again, with less */
	assert_true(stays(&t, SDR_RIVAL_HOLD, 3 * S) < 2 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_LISTEN);
	step(&t);
	assert_true(t.win < 0.4 * PATH * trip(&t));
	/* nobody any more */
	assert_true(stays(&t, SDR_RIVAL_LISTEN, 3 * S) < 1 * S);
	assert_int_equal(t.r.state, SDR_RIVAL_NONE);
}

/* Messages of six round trips, one after the other: the queue falls with each; that is no beat. */
static void rival__messages_have_no_beat(void **state)
{
	struct rounds t;
	uint32_t i, k;

	(void)state;
	rounds_new(&t);
	t.at.target = t.at.few = 2 * MS;
	t.at.drains = 3;
	for (k = 0; k < 200; k++)
		for (i = 0; i < 7; i++) {
			t.at.app_limited = i == 6;
			t.at.queue = i < 5 ? t.at.target : 0;
			t.at.lost = i == 3 ? 3 * MTU : 0;
			step(&t);
			/* it was not always so */
			assert_true(k < 8 || !sdr_rival_wants_train(&t.r));
			assert_int_equal(t.r.state, SDR_RIVAL_NONE);
		}
}

/* Who has a good part of the path is not starved. */
static void rival__a_beat_of_no_harm(void **state)
{
	struct rounds t;
	uint32_t i;

	(void)state;
	rounds_new(&t);
	t.at.target = t.at.few = 2 * MS;
	t.at.drains = 3;
	t.at.bw = (uint64_t)(0.45 * PATH);
	for (i = 0; i < 20; i++) {
		beats(&t);
		assert_int_equal(t.r.state, SDR_RIVAL_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rival__nobody_is_there),
		cmocka_unit_test(rival__who_sends_little_is_no_judge),
		cmocka_unit_test(rival__a_queue_that_stays),
		cmocka_unit_test(rival__a_queue_that_goes),
		cmocka_unit_test(rival__a_queue_with_dips),
		cmocka_unit_test(rival__a_long_queue_answers_by_itself),
		cmocka_unit_test(rival__a_pause_of_ours),
		cmocka_unit_test(rival__they_come_back),
		cmocka_unit_test(rival__asks_only_with_little),
		cmocka_unit_test(rival__asks_where_room_is_left),
		cmocka_unit_test(rival__asks_only_for_what_it_would_use),
		cmocka_unit_test(rival__not_all_ask_at_once),
		cmocka_unit_test(rival__they_yield_to_a_push),
		cmocka_unit_test(rival__pauses_grow_up_to_ten_minutes),
		cmocka_unit_test(rival__nobody_yields_to_a_push),
		cmocka_unit_test(rival__one_push_of_others_is_no_rival),
		cmocka_unit_test(rival__a_queue_that_was_never_gone),
		cmocka_unit_test(rival__asks_where_a_queue_was_odd),
		cmocka_unit_test(rival__a_queue_is_seen_by_what_arrives),
		cmocka_unit_test(rival__a_push_that_gains_nothing),
		cmocka_unit_test(rival__pushes_collide),
		cmocka_unit_test(rival__another_pushes),
		cmocka_unit_test(rival__soon_for_the_second_time),
		cmocka_unit_test(rival__somebody_yields_for_a_while),
		cmocka_unit_test(rival__somebody_forgets_a_larger_rate),
		cmocka_unit_test(rival__losses_of_a_long_queue),
		cmocka_unit_test(rival__opens_to_half),
		cmocka_unit_test(rival__measures_what_the_path_carries),
		cmocka_unit_test(rival__measures_nothing_as_it_pushes),
		cmocka_unit_test(rival__opens_further_where_there_is_room),
		cmocka_unit_test(rival__opens_in_vain),
		cmocka_unit_test(rival__a_path_that_proves_shorter),
		cmocka_unit_test(rival__asks_what_a_shorter_path_carries),
		cmocka_unit_test(rival__starves),
		cmocka_unit_test(rival__window_of_cubic),
		cmocka_unit_test(rival__window_cuts_once),
		cmocka_unit_test(rival__window_ends_with_the_queue),
		cmocka_unit_test(rival__an_opening_window_waits),
		cmocka_unit_test(rival__two_cuts_in_a_row),
		cmocka_unit_test(rival__cuts_that_help),
		cmocka_unit_test(rival__hold_opens_again),
		cmocka_unit_test(rival__hold_ends),
		cmocka_unit_test(rival__hold_behind_a_short_queue),
		cmocka_unit_test(rival__a_beat),
		cmocka_unit_test(rival__a_beat_of_no_harm),
		cmocka_unit_test(rival__messages_have_no_beat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
