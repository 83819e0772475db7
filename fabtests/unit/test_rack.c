/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* RACK: order, the reordering window and what it forgets, the timer.  Time is a number here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_rack.h"

#define MS    1000000ull
#define S     (1000 * MS)
#define NEVER UINT64_MAX
#define RTT   (20 * MS)

static void start(struct sdr_rack *r, struct sdr_rtt *rtt)
{
	*r = (struct sdr_rack){ .timer = NEVER };
	sdr_rtt_init(rtt, RTT);
	sdr_rtt_sample(rtt, 1 * S, RTT, 0, false);
}

/* In order: what was sent before something delivered is lost at once, the rest is not. */
static void rack__without_reordering_the_order_decides(void **state)
{
	struct sdr_rack r;
	struct sdr_rtt rtt;

	(void)state;
	start(&r, &rtt);
	assert_int_equal(sdr_rack_window(&r, &rtt), 0);
	assert_false(sdr_rack_is_lost(&r, &rtt, 7, 1 * S, 100 * S));
	sdr_rack_delivered(&r, 10, 1 * S, 1 * S + RTT, 0);
	assert_true(sdr_rack_is_lost(&r, &rtt, 9, 1 * S, 1 * S));
	assert_false(sdr_rack_is_lost(&r, &rtt, 10, 1 * S, 100 * S));
	assert_false(sdr_rack_is_lost(&r, &rtt, 11, 1 * S, 100 * S));
	assert_true(r.timer == NEVER);
}

/* An old acknowledgement does not take back what a newer one showed; the count wraps. */
static void rack__knows_the_newest_across_the_wrap(void **state)
{
	struct sdr_rack r;
	struct sdr_rtt rtt;

	(void)state;
	start(&r, &rtt);
	r.seq = UINT32_MAX - 1;
	sdr_rack_delivered(&r, UINT32_MAX - 5, 9 * S, 9 * S + RTT, 0);
	assert_true(r.seq == UINT32_MAX - 1 && r.ns == 0);
	sdr_rack_delivered(&r, 2, 2 * S, 2 * S + RTT, 0);
	assert_true(r.seq == 2 && r.ns == 2 * S);
	assert_true(sdr_rack_is_lost(&r, &rtt, UINT32_MAX, 2 * S, 2 * S));
	assert_false(sdr_rack_is_lost(&r, &rtt, 3, 2 * S, 2 * S));
}

/* With a window: lost when the one delivered was sent later by more than it, or after a timer. */
static void rack__reordering_buys_a_quarter_of_the_minimum(void **state)
{
	struct sdr_rack r;
	struct sdr_rtt rtt;
	uint64_t wnd = RTT / 4;

	(void)state;
	start(&r, &rtt);
	sdr_rack_reordered(&r, 1 * S);
	sdr_rack_reordered(&r, 1 * S); /* evidence that there is some, not that there is more */
	assert_int_equal(sdr_rack_window(&r, &rtt), wnd);
	sdr_rack_delivered(&r, 10, 2 * S, 2 * S + RTT, 0);
	assert_true(sdr_rack_is_lost(&r, &rtt, 5, 2 * S - wnd - 1, 2 * S));
	assert_true(r.timer == NEVER);
	/* sent within the window: waits until a round trip and the window are over ... */
	assert_false(sdr_rack_is_lost(&r, &rtt, 6, 2 * S - wnd, 2 * S));
	assert_true(r.timer == 2 * S - wnd + RTT + wnd);
	/* ... and the timer is that of the first to be decided */
	assert_false(sdr_rack_is_lost(&r, &rtt, 7, 2 * S - 1, 2 * S));
	assert_true(r.timer == 2 * S + RTT);
	assert_false(sdr_rack_is_lost(&r, &rtt, 6, 2 * S - wnd, r.timer - 1));
	assert_true(sdr_rack_is_lost(&r, &rtt, 6, 2 * S - wnd, r.timer));
	assert_false(sdr_rack_is_lost(&r, &rtt, 7, 2 * S - 1, r.timer));
}

static void rack__grows_a_step_a_round_trip_up_to_one(void **state)
{
	struct sdr_rack r;
	struct sdr_rtt rtt;
	uint64_t now = 2 * S;
	uint32_t i;

	(void)state;
	start(&r, &rtt);
	sdr_rack_spurious(&r, &rtt, now);
	sdr_rack_spurious(&r, &rtt, now + RTT - 1); /* of the same event */
	assert_int_equal(sdr_rack_window(&r, &rtt), RTT / 4);
	sdr_rack_spurious(&r, &rtt, now + RTT);
	assert_int_equal(sdr_rack_window(&r, &rtt), RTT / 2);
	for (i = 2; i < 8; i++)
		sdr_rack_spurious(&r, &rtt, now + i * RTT);
	assert_int_equal(sdr_rack_window(&r, &rtt), rtt.srtt);
	/* where the RTT is far above its minimum, two of the minimum come step by step, ... */
	rtt.srtt = 100 * RTT;
	assert_int_equal(sdr_rack_window(&r, &rtt), 2 * RTT);
	now += 100 * RTT;
	for (uint32_t k = 1; k <= 10; k++) {
		sdr_rack_spurious(&r, &rtt, now + k * 100 * RTT);
		/* ... then twice as many at a time, and still no more than the RTT */
		assert_int_equal(sdr_rack_window(&r, &rtt),
				 k <= 5 ? (uint64_t)(2 * RTT) << k : rtt.srtt);
	}
}

static void rack__forgets_after_64_round_trips_and_a_second(void **state)
{
	struct sdr_rack r;
	struct sdr_rtt rtt;

	(void)state;
	start(&r, &rtt);
	sdr_rack_spurious(&r, &rtt, 2 * S);
	sdr_rack_spurious(&r, &rtt, 2 * S + RTT);
	sdr_rack_age(&r, &rtt, 2 * S + RTT + 64 * RTT + 1 * S);
	assert_int_equal(sdr_rack_window(&r, &rtt), RTT / 2);
	/* seen again: the time starts anew */
	sdr_rack_reordered(&r, 4 * S);
	sdr_rack_age(&r, &rtt, 4 * S + 64 * RTT + 1 * S);
	assert_int_equal(sdr_rack_window(&r, &rtt), RTT / 2);
	sdr_rack_age(&r, &rtt, 4 * S + 64 * RTT + 1 * S + 1);
	assert_int_equal(sdr_rack_window(&r, &rtt), 0);
}

/* How much longer than the newest those took that it overtook, and the mean of all. */
static void rack__knows_by_how_much_they_overtake(void **state)
{
	struct sdr_rtt rtt;
	struct sdr_rack r;
	uint64_t at;

	(void)state;
	start(&r, &rtt);
	assert_true(sdr_rack_apart(&r, &rtt) == 0 && r.noise == 0);
	sdr_rack_reordered(&r, 2 * S);
	/* nothing was measured, but that round trips differ by half of one */
	rtt.rttvar = RTT / 2;
	assert_int_equal(sdr_rack_apart(&r, &rtt), RTT / 4);
	rtt.rttvar = 0;
	for (uint32_t i = 1; i < 200; i++) {
		at = 2 * S + i * MS;
		sdr_rack_delivered(&r, 2 * i, at, at + RTT + MS, 1 * MS);
		/* a quarter of a millisecond later, whatever else it waited for */
		sdr_rack_overtaken(&r, at - MS, at + RTT + MS, 7 * MS / 4);
		if (i > 2) /* of which it takes some */
			assert_in_range(sdr_rack_apart(&r, &rtt), MS / 4 + 1, MS / 2);
	}
	assert_true(r.noise > 0.2 * MS && r.noise < 0.3 * MS);
	/* never more than the window itself; a peer that lies about its wait makes it shorter */
	sdr_rack_overtaken(&r, 2 * S, 30 * S, 0);
	r.share = 1;
	r.extent = 0.9 * RTT;
	assert_int_equal(sdr_rack_apart(&r, &rtt), RTT / 4);
	for (uint32_t i = 0; i < 200; i++)
		sdr_rack_overtaken(&r, 2 * S, 30 * S, UINT64_MAX);
	assert_true(sdr_rack_apart(&r, &rtt) < MS / 10);
	/* and it is forgotten with the window */
	sdr_rack_age(&r, &rtt, 100 * S);
	assert_true(sdr_rack_apart(&r, &rtt) == 0 && r.noise == 0);
}

/* n packets, of which one in so many comes so much later. */
static void overtaken(struct sdr_rack *r, uint32_t n, uint32_t one_in, uint64_t later)
{
	for (uint32_t i = 1; i <= n; i++) {
		uint64_t at = 2 * S + i * MS / 100;

		sdr_rack_delivered(r, 2 * i, at, at + RTT, 0);
		if (i % one_in == 0)
			sdr_rack_overtaken(r, at, at + RTT + later, 0);
	}
}

/* To wait each time for what happens once in a hundred costs more than a round trip then. */
static void rack__waits_for_what_is_worth_it(void **state)
{
	struct sdr_rtt rtt;
	struct sdr_rack r;

	(void)state;
	start(&r, &rtt);
	rtt.rttvar = 0;
	sdr_rack_reordered(&r, 2 * S);
	overtaken(&r, 4000, 100, RTT / 8);
	assert_int_equal(sdr_rack_apart(&r, &rtt), 0);
	assert_true(r.noise < 0.004 * RTT);
	overtaken(&r, 4000, 2, RTT / 8);
	assert_true(sdr_rack_apart(&r, &rtt) > RTT / 8);
	/* what is sent apart cannot be overtaken, and says nothing of how often that happens */
	for (uint32_t i = 0; i < 1000; i++)
		sdr_rack_delivered(&r, 10000 + i, 3 * S + i * RTT, 3 * S + (i + 1) * RTT, 0);
	assert_true(sdr_rack_apart(&r, &rtt) > RTT / 8);
}

/* Messages of a packet or two show no order; round trips that differ do, where there is none. */
static void rack__waits_as_long_as_round_trips_differ(void **state)
{
	struct sdr_rtt rtt;
	struct sdr_rack r;

	(void)state;
	start(&r, &rtt);
	rtt.rttvar = RTT / 100;
	assert_int_equal(sdr_rack_apart(&r, &rtt), 0);
	sdr_rack_reordered(&r, 2 * S);
	assert_int_equal(sdr_rack_apart(&r, &rtt), RTT / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rack__without_reordering_the_order_decides),
		cmocka_unit_test(rack__knows_the_newest_across_the_wrap),
		cmocka_unit_test(rack__reordering_buys_a_quarter_of_the_minimum),
		cmocka_unit_test(rack__grows_a_step_a_round_trip_up_to_one),
		cmocka_unit_test(rack__knows_by_how_much_they_overtake),
		cmocka_unit_test(rack__waits_for_what_is_worth_it),
		cmocka_unit_test(rack__waits_as_long_as_round_trips_differ),
		cmocka_unit_test(rack__forgets_after_64_round_trips_and_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
