/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Flights that leave behind a pause, over a line that the test is; what the next may begin with.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_burst.h"

#define MS   1000000ull
#define S    (1000 * MS)
#define MTU  8192u
#define BASE (25 * MS)
#define RATE 125e6			 /* of the line, bytes per second */
#define FULL (RATE * (double)BASE / 1e9) /* what the path holds */

static const struct sdr_burst_at at = { .mtu = MTU, .base = BASE, .target = 2 * MS };

/*
 * So many packets leave at that rate, pass at the other one, and every so manieth of them is lost
 * (0: none); all are acknowledged.  Returns the losses that are ours.
 */
static double flight_at(struct sdr_burst *b, uint64_t now, uint32_t pkts, double rate,
			double passes, uint32_t lost, const struct sdr_burst_at *a)
{
	uint64_t tx = now, rx = now + BASE;
	uint32_t i;

	for (i = 1; i <= pkts; i++) {
		bool gone = lost && i % lost == 0;

		tx = now + (uint64_t)(i * MTU / rate * 1e9);
		if (!gone)
			rx = fmax(tx + BASE, rx + MTU / passes * 1e9);
		if (sdr_burst_acked(b, rx, gone ? 0 : tx, gone ? 0 : MTU, gone ? MTU : 0, BASE))
			break;
	}
	return sdr_burst_judge(b, a);
}

static double flight(struct sdr_burst *b, uint64_t now, uint32_t pkts, double rate, double passes,
		     uint32_t lost)
{
	return flight_at(b, now, pkts, rate, passes, lost, &at);
}

static double round_of(struct sdr_burst *b, double queue, bool lossy)
{
	const struct sdr_burst_round r = { MTU, queue * (double)MS, 2.0 * (double)MS, lossy };

	return sdr_burst_round(b, &r);
}

/* One alone leaves with all that it knows, whatever the weather takes. */
static void burst__one_alone_is_not_held(void **state)
{
	static const uint32_t lost[] = { 0, 100, 12, 4 };
	struct sdr_burst b;
	uint64_t now = S;

	(void)state;
	sdr_burst_init(&b, now);
	for (uint32_t i = 0; i < 400; i++, now += S / 4) {
		assert_true(sdr_burst_begin(&b, now, FULL, FULL) >= FULL);
		assert_true(flight(&b, now, 128, RATE, RATE, lost[i % 4]) == 0);
		assert_false(sdr_burst_holds(&b));
		assert_true(round_of(&b, 0, false) < 0);
	}
}

/* n that know the whole path each, at the same time: next time they have a share each. */
static void burst__many_share_the_next_time(void **state)
{
	static const double many[] = { 2, 4, 7 };
	struct sdr_burst b;
	double win;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		sdr_burst_init(&b, S);
		sdr_burst_begin(&b, S, FULL, FULL);
		flight(&b, S, 128, RATE, RATE / many[i], 8);
		assert_true(sdr_burst_holds(&b));
		win = sdr_burst_begin(&b, 2 * S, FULL, FULL);
		assert_true(win > 0.8 * FULL / many[i] && win < 1.05 * FULL / many[i]);
	}
	/* a hundred: no more than an eighth at a time, and never less than some packets */
	sdr_burst_init(&b, S);
	for (uint32_t i = 0; i < 10; i++) {
		win = sdr_burst_begin(&b, S, FULL, FULL);
		assert_true(i != 1 || (win > 0.12 * FULL && win < 0.13 * FULL));
		flight(&b, S, 128, win / (double)BASE * 1e9, RATE / 1000, 8);
	}
	assert_true(win >= 8.0 * MTU && win < 10.0 * MTU);
}

/*
 * Who has never had more than a share, and takes that for the whole path, forgets it with the next
 * flight; who knows that it does not know (0) keeps it, and minds losses however much was its own.
 */
static void burst__what_passes_is_not_known(void **state)
{
	const double share = FULL / 16;
	struct sdr_burst_at a = at;
	struct sdr_burst b;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		a.full = i ? 0 : share;
		sdr_burst_init(&b, S);
		sdr_burst_begin(&b, S, FULL, a.full);
		flight_at(&b, S, 128, RATE, RATE / 4, 4, &a);
		assert_int_equal(sdr_burst_holds(&b), i);
		assert_int_equal(sdr_burst_begin(&b, 2 * S, FULL, a.full) < FULL, i);
		assert_int_equal(sdr_burst_holds(&b), i);
	}
	/* alone from now on: it gets back the window that it had, and no more, however often */
	for (uint32_t i = 0; i < 2000; i++) {
		double win = sdr_burst_begin(&b, (3 + i) * S, FULL, 0);

		assert_true(win <= FULL && (i < 10 || win == FULL));
		flight_at(&b, (3 + i) * S, 128, RATE, RATE, 0, &a);
		assert_true(i < 10 || !sdr_burst_holds(&b));
	}
}

/* A host that was late for once, or somebody's queue: only who is one of many minds. */
static void burst__a_queue_without_losses(void **state)
{
	struct sdr_burst b;
	double win;

	(void)state;
	sdr_burst_init(&b, S);
	sdr_burst_begin(&b, S, FULL, FULL);
	assert_true(flight(&b, S, 128, RATE, RATE / 2, 0) == 0);
	assert_false(sdr_burst_holds(&b));
	assert_true(sdr_burst_begin(&b, S, FULL, FULL) >= FULL);
	/* it is one */
	flight(&b, S, 128, RATE, RATE / 2, 8);
	assert_true(sdr_burst_holds(&b));
	win = sdr_burst_begin(&b, S, FULL, FULL);
	assert_true(flight(&b, S, 128, win / (double)BASE * 1e9, RATE / 5, 0) == 0);
	assert_true(sdr_burst_begin(&b, S, FULL, FULL) < 0.8 * win);
}

/* Losses beside a queue are ours, but for what is known to be ours, or the weather's. */
static void burst__losses_beside_a_queue_are_ours(void **state)
{
	struct sdr_burst b;
	struct sdr_burst_at foul = at;
	double ours;

	(void)state;
	sdr_burst_init(&b, S);
	sdr_burst_begin(&b, S, FULL, FULL);
	ours = flight(&b, S, 128, RATE, RATE / 2, 4);
	assert_true(ours == 32.0 * MTU);
	sdr_burst_begin(&b, 2 * S, FULL, FULL);
	b.said = 12.0 * MTU;
	assert_true(flight(&b, 2 * S, 128, RATE, RATE / 2, 4) == 20.0 * MTU);
	/* as much as the weather takes anyway */
	foul.share = 0.25;
	sdr_burst_init(&b, S);
	sdr_burst_begin(&b, S, FULL, FULL);
	for (uint32_t i = 0; i < 128; i++)
		sdr_burst_acked(&b, S + BASE + i * MS / 10, i % 4 ? S + i * MS / 20 : 0,
				i % 4 ? MTU : 0, i % 4 ? 0 : MTU, BASE);
	assert_true(sdr_burst_judge(&b, &foul) == 0);
}

/* A packet for a flight that met nobody, and more and more; a minute does it by itself. */
static void burst__is_lifted_alone_and_with_time(void **state)
{
	struct sdr_burst b;
	double win, was = 24.0 * MTU;
	uint32_t n;

	(void)state;
	sdr_burst_init(&b, S);
	sdr_burst_share(&b, was);
	for (n = 0; sdr_burst_holds(&b); n++) {
		win = sdr_burst_begin(&b, S, FULL, FULL);
		assert_true(win >= was);
		was = win;
		flight(&b, S, 24, RATE, RATE, 0);
		assert_true(n < 20);
	}
	assert_true(n > 5 && was <= FULL);
	/* who meets others is not alone */
	sdr_burst_init(&b, S);
	sdr_burst_share(&b, 24.0 * MTU);
	for (n = 0; n < 20; n++) {
		win = sdr_burst_begin(&b, S, FULL, FULL);
		flight(&b, S, 24, RATE, RATE, 0);
		round_of(&b, 0, false);
		round_of(&b, 4, false);
	}
	assert_true(win > 40.0 * MTU && win < 48.0 * MTU);
	/* the window that it is given is the other bound */
	assert_true(sdr_burst_begin(&b, S, 16.0 * MTU, FULL) == 16.0 * MTU);
	win = sdr_burst_begin(&b, S + 60 * S, FULL, FULL);
	assert_true(win > 8 * 40.0 * MTU && win < 8 * 50.0 * MTU);
}

/* Slowly as long as others may come, fast when they have gone, and as any other after a while. */
static void burst__grows_within_a_message(void **state)
{
	struct sdr_burst b;
	double first, last = 0;
	uint32_t i;

	(void)state;
	sdr_burst_init(&b, S);
	sdr_burst_share(&b, 24.0 * MTU);
	sdr_burst_begin(&b, S, FULL, FULL);
	first = round_of(&b, 0, false);
	assert_true(first > 0 && first < 0.02);
	for (i = 0; i < 8; i++, last = first) {
		first = round_of(&b, 0, false);
		assert_true(first >= last && first <= 0.25);
	}
	assert_true(first == 0.25 && b.win > 24.0 * MTU);
	/* losses, and a queue: the law of the others */
	assert_true(round_of(&b, 0, true) < 0);
	assert_true(round_of(&b, 4, false) < 0);
	assert_true(round_of(&b, 0, false) >= 0.2);
	for (i = 0; i < 16; i++)
		first = round_of(&b, 0, false);
	assert_true(first < 0);
	/* what the first round tells of may be of the message before */
	sdr_burst_begin(&b, S, FULL, FULL);
	round_of(&b, 4, false);
	assert_false(b.met);
}

/* Too little, or of another flight: nothing is said. */
static void burst__few_packets_say_nothing(void **state)
{
	struct sdr_burst b;

	(void)state;
	sdr_burst_init(&b, S);
	sdr_burst_begin(&b, S, FULL, FULL);
	flight(&b, S, 8, RATE, RATE / 8, 0);
	assert_false(sdr_burst_holds(&b));
	sdr_burst_begin(&b, S, FULL, FULL);
	for (uint32_t i = 0; i < 100; i++)
		assert_false(sdr_burst_acked(&b, S + BASE + i * MS, S - MS, MTU, 0, BASE));
	assert_true(sdr_burst_judge(&b, &at) == 0);
	assert_false(sdr_burst_holds(&b));
	/* one that left a round trip later ends it; without one there is nothing to judge */
	sdr_burst_begin(&b, S, FULL, FULL);
	assert_true(sdr_burst_acked(&b, S + 2 * BASE + 2, S + BASE + 1, MTU, 0, BASE));
	sdr_burst_judge(&b, &at);
	assert_false(sdr_burst_acked(&b, S + 2 * BASE + 3, S + BASE + 2, MTU, 0, BASE));
}

/* The line is full of it alone: it left a little too fast, and the weather took a lot for once. */
static void burst__its_own_queue(void **state)
{
	struct sdr_burst_at full = at;
	struct sdr_burst b;

	(void)state;
	full.target = MS;
	for (uint32_t known = 0; known < 2; known++) {
		full.full = known ? FULL : 0;
		sdr_burst_init(&b, S);
		sdr_burst_begin(&b, S, 1.3 * FULL, FULL);
		assert_true((flight_at(&b, S, 128, 1.3 * RATE, RATE, 20, &full) > 0) == !known);
		assert_true(sdr_burst_holds(&b) == !known);
	}
	/* two of them share it */
	sdr_burst_begin(&b, S, 1.3 * FULL, FULL);
	assert_true(flight_at(&b, S, 128, 1.3 * RATE, RATE / 2, 20, &full) > 0);
	assert_true(sdr_burst_holds(&b));
}

/* Eight packets leave at a time: the last of them waits for the others, and for nobody else. */
static void burst__packets_that_leave_together(void **state)
{
	struct sdr_burst_at eight = at;
	struct sdr_burst b;
	double win;

	(void)state;
	eight.target = MS / 4;
	for (uint32_t told = 0; told < 2; told++) {
		eight.together = told ? (uint64_t)(8 * MTU / RATE * 1e9) : 0;
		sdr_burst_init(&b, S);
		sdr_burst_share(&b, FULL / 2);
		win = sdr_burst_begin(&b, S, FULL, FULL);
		for (uint32_t i = 0; i < 32; i++) {
			uint64_t tx = S + i / 8 * MS * 13 / 10;

			sdr_burst_acked(&b, tx + BASE + (uint64_t)((i % 8 + 1) * MTU / RATE * 1e9),
					tx, MTU, 0, BASE);
		}
		sdr_burst_judge(&b, &eight);
		assert_true((sdr_burst_begin(&b, S, FULL, FULL) < win) == !told);
	}
}

/* One of seven, by what it lost. */
static void held(struct sdr_burst *b, const struct sdr_burst_at *a)
{
	sdr_burst_init(b, S);
	sdr_burst_begin(b, S, FULL, FULL);
	flight_at(b, S, 128, RATE, RATE / 7, 8, a);
	assert_true(sdr_burst_holds(b));
}

/* Those who share the path begin with the same, whatever each has learnt of it. */
static void burst__what_others_begin_with(void **state)
{
	struct sdr_burst_at a = at;
	struct sdr_burst b;
	double win = FULL, least;

	(void)state;
	a.mean = FULL / 4;
	a.sharers = 16;
	a.full = FULL;
	held(&b, &a);
	/* to what the path has for each; a queue without a loss changes nothing */
	for (uint32_t i = 1; i < 8; i++) {
		win = sdr_burst_begin(&b, S + i * S / 4, FULL, FULL);
		assert_true(win < a.mean && win > FULL / 16 * 0.85);
		a.mean = win;
		flight_at(&b, S + i * S / 4, (uint32_t)(win / MTU), RATE, RATE / 32, 0, &a);
	}
	assert_true(win < FULL / 16);
	/* losses do */
	win = sdr_burst_begin(&b, 3 * S, FULL, FULL);
	flight_at(&b, 3 * S, 24, RATE, RATE / 64, 4, &a);
	least = sdr_burst_begin(&b, 4 * S, FULL, FULL);
	assert_true(least < win);
	/* others saw it, and nobody knows what the path carries */
	a.full = 0;
	a.mean = FULL / 8;
	flight_at(&b, 4 * S, 24, RATE, RATE, 0, &a);
	win = sdr_burst_begin(&b, 5 * S, FULL, 0);
	assert_true(win >= a.mean && win <= 2 * a.mean);
}

/* They say what they like: no window is larger than the path, nor tiny, but of who is held. */
static void burst__others_lie(void **state)
{
	static const double means[] = { 1, FULL, 100 * FULL };
	struct sdr_burst_at a = at;
	struct sdr_burst b;
	double win;

	(void)state;
	a.full = FULL;
	for (uint32_t i = 0; i < 3; i++) {
		for (a.sharers = 0; a.sharers < 1u << 30; a.sharers = a.sharers * 8 + 2) {
			a.mean = 0;
			held(&b, &a);
			a.mean = means[i];
			sdr_burst_begin(&b, 2 * S, FULL, FULL);
			flight_at(&b, 2 * S, 24, RATE, RATE, 0, &a);
			win = sdr_burst_begin(&b, 3 * S, FULL, FULL);
			assert_true(win >= 8 * MTU && win <= FULL);
			sdr_burst_init(&b, S);
			sdr_burst_begin(&b, S, FULL, FULL);
			flight_at(&b, S, 128, RATE, RATE, 0, &a);
			assert_true(sdr_burst_begin(&b, 2 * S, FULL, FULL) >= FULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(burst__one_alone_is_not_held),
		cmocka_unit_test(burst__many_share_the_next_time),
		cmocka_unit_test(burst__what_passes_is_not_known),
		cmocka_unit_test(burst__a_queue_without_losses),
		cmocka_unit_test(burst__losses_beside_a_queue_are_ours),
		cmocka_unit_test(burst__is_lifted_alone_and_with_time),
		cmocka_unit_test(burst__grows_within_a_message),
		cmocka_unit_test(burst__few_packets_say_nothing),
		cmocka_unit_test(burst__its_own_queue),
		cmocka_unit_test(burst__packets_that_leave_together),
		cmocka_unit_test(burst__what_others_begin_with),
		cmocka_unit_test(burst__others_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
