/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A bell whose ringers are slow: they have taken `asleep` away and have not written yet.  However
 * that falls between what the sleeper does, its descriptor is silent in the end.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <cmocka.h>

#include "uc/sdr_uc_bell.h"

static struct sdr_uc_bell bell;

static int bell_open(void **state)
{
	(void)state;
	memset(&bell, 0, sizeof(bell));
	bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return bell.fd < 0;
}

static int bell_close(void **state)
{
	(void)state;
	return close(bell.fd);
}

/* The first half of a ring; the second is sdr_uc_bell_strike. */
static void taken(void)
{
	assert_true(__atomic_exchange_n(&bell.asleep, false, __ATOMIC_SEQ_CST));
}

static bool readable(void)
{
	struct pollfd p = { .fd = bell.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* The sleeper looks, and lies down again. */
static void round_of_sleeper(void)
{
	sdr_uc_bell_wake(&bell);
	sdr_uc_bell_hear(&bell);
	sdr_uc_bell_arm(&bell);
}

static void bell__silent_after_a_ring(void **state)
{
	(void)state;
	sdr_uc_bell_ring(&bell);
	assert_false(readable()); /* nobody sleeps */
	sdr_uc_bell_arm(&bell);
	sdr_uc_bell_ring(&bell);
	sdr_uc_bell_ring(&bell);
	assert_true(readable());
	round_of_sleeper();
	assert_false(readable());
}

static void bell__slow_ring(void **state)
{
	(void)state;
	sdr_uc_bell_arm(&bell);
	taken();
	round_of_sleeper();
	sdr_uc_bell_strike(bell.fd);
	assert_true(readable());
	round_of_sleeper();
	assert_false(readable());
}

/* The second is taken before the first is written, and written after that was read. */
static void bell__two_slow_rings(void **state)
{
	(void)state;
	sdr_uc_bell_arm(&bell);
	taken();
	round_of_sleeper();
	taken();
	sdr_uc_bell_strike(bell.fd);
	round_of_sleeper();
	assert_false(readable());
	sdr_uc_bell_strike(bell.fd);
	assert_true(readable());
	round_of_sleeper();
	assert_false(readable());
	/* and no more is waited for than there is */
	sdr_uc_bell_ring(&bell);
	round_of_sleeper();
	assert_false(readable());
}

/* A ring is read before it is known of, together with one that was waited for. */
static void bell__read_ahead(void **state)
{
	(void)state;
	sdr_uc_bell_arm(&bell);
	taken();
	sdr_uc_bell_wake(&bell);
	sdr_uc_bell_arm(&bell);
	sdr_uc_bell_strike(bell.fd);
	sdr_uc_bell_ring(&bell);
	sdr_uc_bell_hear(&bell);
	assert_false(readable());
	round_of_sleeper();
	taken();
	round_of_sleeper();
	sdr_uc_bell_strike(bell.fd);
	round_of_sleeper();
	assert_false(readable());
}

/* Nobody has taken it away for this one. */
static void bell__again(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		sdr_uc_bell_arm(&bell);
		taken();
		sdr_uc_bell_again(&bell);
		round_of_sleeper();
		assert_false(readable());
		sdr_uc_bell_strike(bell.fd);
		assert_true(readable());
		round_of_sleeper();
		assert_false(readable());
	}
	sdr_uc_bell_again(&bell);
	assert_true(readable());
	round_of_sleeper();
	assert_false(readable());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bell__silent_after_a_ring, bell_open, bell_close),
		cmocka_unit_test_setup_teardown(bell__slow_ring, bell_open, bell_close),
		cmocka_unit_test_setup_teardown(bell__two_slow_rings, bell_open, bell_close),
		cmocka_unit_test_setup_teardown(bell__read_ahead, bell_open, bell_close),
		cmocka_unit_test_setup_teardown(bell__again, bell_open, bell_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
