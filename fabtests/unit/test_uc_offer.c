/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a worker that waits offers its processor: always while that costs little, and ever more
 * rarely beside who computes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "uc/sdr_uc_offer.h"

#define LONG_NS	 SDR_UC_OFFER_DEAR_NS
#define SHORT_NS (SDR_UC_OFFER_DEAR_NS - 1)

/* Offers of a series of n that are made, each of which takes so long. */
static uint32_t made(struct sdr_uc_offer *o, uint32_t n, uint64_t ns)
{
	uint32_t k = 0;

	while (n--) {
		if (!sdr_uc_offer_due(o))
			continue;
		sdr_uc_offer_took(o, ns);
		k++;
	}
	return k;
}

static void offer__cheap(void **state)
{
	struct sdr_uc_offer o = { 0 };

	(void)state;
	assert_int_equal(made(&o, 1000, SHORT_NS), 1000);
}

static void offer__dear(void **state)
{
	struct sdr_uc_offer o = { 0 };

	(void)state;
	assert_int_equal(made(&o, 1, LONG_NS), 1);
	assert_int_equal(made(&o, 2, LONG_NS), 0);
	assert_int_equal(made(&o, 1, LONG_NS), 1);
	assert_int_equal(made(&o, 4, LONG_NS), 0);
	/* in the long run one of so many */
	(void)made(&o, 1000, LONG_NS);
	assert_int_equal(made(&o, 100 * ((1u << SDR_UC_OFFER_SHIFT_MAX) + 1), LONG_NS), 100);
}

/* He has gone: the first offer that shows it is the end of it. */
static void offer__cheap_again(void **state)
{
	struct sdr_uc_offer o = { 0 };

	(void)state;
	(void)made(&o, 10000, LONG_NS);
	assert_int_equal(made(&o, (1u << SDR_UC_OFFER_SHIFT_MAX) + 1, SHORT_NS) > 0, true);
	assert_int_equal(made(&o, 1000, SHORT_NS), 1000);
	assert_int_equal(made(&o, 1, LONG_NS), 1);
	assert_int_equal(made(&o, 3, SHORT_NS), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offer__cheap),
		cmocka_unit_test(offer__dear),
		cmocka_unit_test(offer__cheap_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
