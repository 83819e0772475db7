/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Who has had its path to itself for long, and what ends that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "rel/path/sdr_calm.h"

static const struct sdr_calm_round alone, met = { .met = true }, lost = { .lost = true },
					  limited = { .limited = true };

/* How many rounds alone until it is calm. */
static uint32_t waits(struct sdr_calm *c)
{
	uint32_t n;

	for (n = 0; !sdr_calm_is(c); n++) {
		assert_true(n < 2 * SDR_CALM_MOST);
		assert_false(sdr_calm_round(c, &alone));
	}
	return n;
}

static void calm__takes_a_while(void **state)
{
	struct sdr_calm c;

	(void)state;
	sdr_calm_init(&c);
	assert_false(sdr_calm_is(&c));
	assert_int_equal(waits(&c), SDR_CALM_ROUNDS);
	for (uint32_t i = 0; i < 1000; i++)
		assert_false(sdr_calm_round(&c, &alone));
	assert_true(sdr_calm_is(&c));
	/* a round with nothing to send says nothing, either way */
	assert_false(sdr_calm_round(&c, &limited));
	assert_true(sdr_calm_is(&c));
	sdr_calm_init(&c);
	for (uint32_t i = 0; i < 1000; i++)
		sdr_calm_round(&c, &limited);
	assert_int_equal(waits(&c), SDR_CALM_ROUNDS);
}

static void calm__ends_with_others(void **state)
{
	const struct sdr_calm_round idle = { .met = true, .limited = true };
	struct sdr_calm c;

	(void)state;
	sdr_calm_init(&c);
	for (uint32_t i = 0; i < 3; i++) {
		waits(&c);
		assert_false(sdr_calm_round(&c, i ? &met : &idle));
		assert_false(sdr_calm_is(&c));
		assert_int_equal(waits(&c), SDR_CALM_ROUNDS);
	}
}

/* What is lost while it is calm is its own, and the next time takes longer. */
static void calm__ends_with_losses(void **state)
{
	uint32_t after = SDR_CALM_ROUNDS;
	struct sdr_calm c;

	(void)state;
	sdr_calm_init(&c);
	assert_false(sdr_calm_round(&c, &lost));
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(waits(&c), after);
		assert_true(sdr_calm_round(&c, &lost));
		assert_false(sdr_calm_is(&c));
		/* those that are not of a calm flow say nothing of its bursts */
		assert_false(sdr_calm_round(&c, &lost));
		after = after < SDR_CALM_MOST ? 2 * after : after;
	}
	assert_int_equal(after, SDR_CALM_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calm__takes_a_while),
		cmocka_unit_test(calm__ends_with_others),
		cmocka_unit_test(calm__ends_with_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
