/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* RTT estimate: smoothing, delay, windowed minimum, RTO bounds.  Time is a number here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/sdr_rel_cfg.h"
#include "rel/path/sdr_rtt.h"

#define MS 1000000ull
#define S  (1000 * MS)

static void rtt__before_the_first_sample(void **state)
{
	struct sdr_rtt r;

	(void)state;
	sdr_rtt_init(&r, 0);
	assert_true(r.srtt == SDR_RTT_INIT_NS);
	sdr_rtt_init(&r, 20 * MS);
	assert_true(r.srtt == 20 * MS && r.rttvar == 10 * MS);
	assert_true(r.min_rtt == UINT64_MAX);
	assert_true(sdr_rtt_min(&r) == 20 * MS);
	assert_true(sdr_rtt_rto(&r) == 20 * MS + 40 * MS + SDR_ACK_DELAY_MAX_NS);
}

static void rtt__first_sample_replaces_the_guess(void **state)
{
	struct sdr_rtt r;

	(void)state;
	sdr_rtt_init(&r, 50 * MS);
	sdr_rtt_sample(&r, 5 * S, 8 * MS, 0, false);
	assert_true(r.srtt == 8 * MS && r.rttvar == 4 * MS && r.latest == 8 * MS);
	assert_true(sdr_rtt_min(&r) == 8 * MS);
	sdr_rtt_sample(&r, 5 * S, 16 * MS, 0, false);
	assert_true(r.srtt == 9 * MS && r.rttvar == 5 * MS);
	assert_true(sdr_rtt_min(&r) == 8 * MS);
}

static void rtt__settles(void **state)
{
	struct sdr_rtt r;
	uint64_t t;

	(void)state;
	sdr_rtt_init(&r, 50 * MS);
	for (t = 1; t < 200; t++)
		sdr_rtt_sample(&r, t * MS, 25 * MS, 0, false);
	assert_true(r.srtt >= 25 * MS - 8 && r.srtt <= 25 * MS);
	assert_true(r.rttvar < 100000);
	/* srtt / 8 of slack is left however steady the path is */
	assert_true(sdr_rtt_rto(&r) >= r.srtt + r.srtt / 8 + SDR_ACK_DELAY_MAX_NS);
	assert_true(sdr_rtt_rto(&r) <= 25 * MS + 25 * MS / 8 + SDR_ACK_DELAY_MAX_NS);
}

/* Who waits longer than allowed, as late threads do, is waited for, as long as it does. */
static void rtt__timeouts_wait_as_the_peer_does(void **state)
{
	struct sdr_rtt r;

	(void)state;
	sdr_rtt_init(&r, 25 * MS);
	for (uint64_t t = 1; t < 200; t++)
		sdr_rtt_sample(&r, t * MS, 25 * MS + t % 8 * MS, t % 8 * MS, false);
	assert_true(r.srtt >= 25 * MS - 8 && r.srtt <= 25 * MS && r.rttvar < 100000);
	assert_true(sdr_rtt_rto(&r) >= 25 * MS + 25 * MS / 8 + 5 * MS);
	assert_true(sdr_rtt_rto(&r) <= 25 * MS + 25 * MS / 8 + 7 * MS);
	/* a wait that would make the round trip shorter than the shortest is a lie, and none */
	sdr_rtt_sample(&r, 200 * MS, 25 * MS, 20 * MS, false);
	assert_true(sdr_rtt_rto(&r) <= 25 * MS + 25 * MS / 8 + 7 * MS);
	/* and that of an answer that may have been repeated is not the peer's */
	sdr_rtt_sample(&r, 200 * MS, 525 * MS, 500 * MS, true);
	assert_int_equal(r.latest, 25 * MS);
	assert_true(sdr_rtt_rto(&r) <= 25 * MS + 25 * MS / 8 + 7 * MS);
	for (uint64_t t = 200; t < 400; t++)
		sdr_rtt_sample(&r, t * MS, 25 * MS, 0, false);
	assert_true(sdr_rtt_rto(&r) <= 25 * MS + 25 * MS / 8 + SDR_ACK_DELAY_MAX_NS);
}

static void rtt__delay_is_subtracted_down_to_the_minimum(void **state)
{
	struct sdr_rtt r;

	(void)state;
	sdr_rtt_init(&r, 50 * MS);
	sdr_rtt_sample(&r, 1 * S, 10 * MS, 3 * MS, false); /* the first: nothing to compare with */
	assert_true(r.latest == 10 * MS);
	sdr_rtt_sample(&r, 1 * S, 13 * MS, 3 * MS, false);
	assert_true(r.latest == 10 * MS && r.srtt == 10 * MS);
	sdr_rtt_sample(&r, 1 * S, 12 * MS, 3 * MS,
		       false); /* would be below the minimum: taken as it is */
	assert_true(r.latest == 12 * MS);
	sdr_rtt_sample(&r, 1 * S, 12 * MS, UINT64_MAX, false); /* a lie */
	assert_true(r.latest == 12 * MS);
	assert_true(r.min_rtt == 10 * MS);
}

static void rtt__minimum_is_forgotten(void **state)
{
	struct sdr_rtt r;
	uint64_t t, changed = 0;

	(void)state;
	sdr_rtt_init(&r, 50 * MS);
	for (t = 100 * S; t < 104 * S; t += 10 * MS)
		sdr_rtt_sample(&r, t, 10 * MS, 0, false);
	for (; t < 140 * S; t += 10 * MS) {
		sdr_rtt_sample(&r, t, 30 * MS, 0, false);
		if (!changed && r.min_rtt == 30 * MS)
			changed = t;
		assert_true(changed || r.min_rtt == 10 * MS);
	}
	/* remembered for half a window at least, gone after two */
	assert_true(changed >= 104 * S + SDR_RTT_MIN_WINDOW_NS / 2);
	assert_true(changed <= 104 * S + 2 * SDR_RTT_MIN_WINDOW_NS);
	/* a shorter path is believed at once, a long silence forgets all */
	sdr_rtt_sample(&r, t, 5 * MS, 0, false);
	assert_true(r.min_rtt == 5 * MS);
	sdr_rtt_sample(&r, t + 1000 * S, 40 * MS, 0, false);
	assert_true(r.min_rtt == 40 * MS);
}

static void rtt__rto_bounds(void **state)
{
	struct sdr_rtt r;
	uint64_t t;

	(void)state;
	sdr_rtt_init(&r, 50 * MS);
	for (t = 0; t < 100; t++)
		sdr_rtt_sample(&r, t, 20000, 0, false);
	assert_true(sdr_rtt_rto(&r) >= SDR_RTO_MIN_NS);
	assert_true(sdr_rtt_rto(&r) <= 3 * MS);
	sdr_rtt_init(&r, 300 * MS);
	sdr_rtt_sample(&r, 1, 400 * MS, 0, false);
	assert_true(sdr_rtt_rto(&r) == SDR_RTO_MAX_NS);
	/* a path slower than the cap is waited for */
	sdr_rtt_sample(&r, 1, 3 * S, 0, false);
	for (t = 0; t < 100; t++)
		sdr_rtt_sample(&r, t, 3 * S, 0, false);
	assert_true(sdr_rtt_rto(&r) > 3 * S);
	/* absurd samples overflow nothing */
	for (t = 0; t < 100; t++)
		sdr_rtt_sample(&r, t, UINT64_MAX, t & 1 ? UINT64_MAX : 0, false);
	assert_true(r.srtt > 3 * S && r.srtt <= 1ull << 40);
	sdr_rtt_sample(&r, 1, 0, 0, false);
	assert_true(sdr_rtt_min(&r) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rtt__before_the_first_sample),
		cmocka_unit_test(rtt__first_sample_replaces_the_guess),
		cmocka_unit_test(rtt__settles),
		cmocka_unit_test(rtt__timeouts_wait_as_the_peer_does),
		cmocka_unit_test(rtt__delay_is_subtracted_down_to_the_minimum),
		cmocka_unit_test(rtt__minimum_is_forgotten),
		cmocka_unit_test(rtt__rto_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
