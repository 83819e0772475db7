/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How fast a flight left and arrived: alone, beside others, behind them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_spread.h"

#define MS   1000000ull
#define S    1000000000ull
#define RTT  (25 * MS)
#define PKT  8192ull
#define LINE 125000000ull /* bytes per second */

static bool about(double x, double y)
{
	return fabs(x - y) < 0.02 * y;
}

/* n packets that left at 4 times the line's rate, and of which the line passes every share-th. */
static void flight(struct sdr_spread *s, uint32_t n, uint32_t share)
{
	uint64_t slot = PKT * S / LINE;

	for (uint32_t i = 1; i <= n; i++)
		sdr_spread_acked(s, s->rx + i * share * slot, s->tx + i * slot / 4, PKT);
}

static void spread__says_nothing_of_nothing(void **state)
{
	struct sdr_spread s;

	(void)state;
	sdr_spread_begin(&s, RTT, 0);
	assert_true(sdr_spread_arrived(&s) <= 0 && isinf(sdr_spread_left(&s)));
	/* all at one moment: no rate */
	sdr_spread_acked(&s, RTT, 0, 16 * PKT);
	assert_true(sdr_spread_arrived(&s) <= 0 && isinf(sdr_spread_left(&s)));
}

static void spread__what_passes_beside_others(void **state)
{
	struct sdr_spread s;

	(void)state;
	for (uint32_t n = 1; n <= 4; n++) {
		sdr_spread_begin(&s, RTT, 0);
		flight(&s, 96, n);
		assert_true(about(sdr_spread_arrived(&s), (double)LINE / n));
		assert_true(about(sdr_spread_left(&s), 4.0 * (double)LINE));
	}
}

/* What waited in front of it passed instead of it. */
static void spread__what_passes_behind_others(void **state)
{
	uint64_t queue = 96 * PKT * S / LINE;
	struct sdr_spread s;

	(void)state;
	sdr_spread_begin(&s, RTT, 0);
	sdr_spread_acked(&s, RTT + queue, 0, PKT);
	sdr_spread_acked(&s, RTT + 2 * queue, queue / 4, 95 * PKT);
	assert_true(about(sdr_spread_arrived(&s), (double)LINE / 2));
	/* what was late on its way, or sent again, moves neither back */
	sdr_spread_acked(&s, RTT + queue, queue / 8, 0);
	assert_true(about(sdr_spread_arrived(&s), (double)LINE / 2));
	assert_int_equal(s.rx_last, RTT + 2 * queue);
	assert_int_equal(s.tx_last, queue / 4);
}

static void spread__begins_anew(void **state)
{
	struct sdr_spread s;

	(void)state;
	sdr_spread_begin(&s, RTT, 0);
	flight(&s, 96, 4);
	sdr_spread_begin(&s, 2 * RTT, RTT);
	assert_true(sdr_spread_arrived(&s) <= 0);
	flight(&s, 10, 1);
	assert_true(about(sdr_spread_arrived(&s), (double)LINE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread__says_nothing_of_nothing),
		cmocka_unit_test(spread__what_passes_beside_others),
		cmocka_unit_test(spread__what_passes_behind_others),
		cmocka_unit_test(spread__begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
