/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A copy past the caches is a copy: every length, wherever both lie, and nothing beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/sdr_rand.h"
#include "base/sdr_stream.h"

#define ROOM 512u
#define OFFS 67u  /* of either, beyond a line */
#define LONG 200u /* three lines and more */

static uint8_t from[ROOM], to[ROOM], want[ROOM];

static void one(size_t at, size_t source, size_t len)
{
	memset(to, 0xa5, ROOM);
	memset(want, 0xa5, ROOM);
	memcpy(want + at, from + source, len);
	sdr_stream_copy(to + at, from + source, len);
	assert_memory_equal(to, want, ROOM);
}

static void stream__copies_and_nothing_else(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (size_t i = 0; i < ROOM; i++)
		from[i] = (uint8_t)sdr_rand64(&rng);
	for (size_t at = 0; at < OFFS; at++)
		for (size_t len = 0; len <= LONG; len++)
			one(at, (at * 7 + len) % OFFS, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream__copies_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
