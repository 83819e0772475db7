/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers for parity: aligned, never more than the limit, kept for reuse and given back when
 * another size needs the room.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rel/bulk/sdr_scratch.h"

#define MIB (1u << 20)

static void scratch__buffers_are_aligned_and_their_own(void **state)
{
	struct sdr_scratch s;
	uint8_t *p[200];

	(void)state;
	sdr_scratch_init(&s, 64 * MIB, false);
	for (uint32_t i = 0; i < 200; i++) {
		p[i] = sdr_scratch_get(&s, 1 + i * 777);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 64, 0);
		memset(p[i], (int)i, 1 + i * 777);
	}
	for (uint32_t i = 0; i < 200; i++)
		for (uint32_t k = 0; k < 1 + i * 777; k++)
			assert_int_equal(p[i][k], i & 255);
	for (uint32_t i = 0; i < 200; i++)
		sdr_scratch_put(&s, p[i], 1 + i * 777);
	assert_int_equal(s.used, 0);
	sdr_scratch_destroy(&s);
	assert_int_equal(s.held, 0);
}

/* A buffer costs at most a quarter more than was asked for, from the least size on. */
static void scratch__sizes_waste_little(void **state)
{
	struct sdr_scratch s;

	(void)state;
	sdr_scratch_init(&s, UINT64_MAX, true);
	for (uint64_t n = 1; n < 1ull << 36; n += n / 3 + 1) {
		uint8_t *p = sdr_scratch_get(&s, n);

		assert_non_null(p);
		assert_true(s.used >= n && (s.used <= n + n / 4 + 1 || s.used == SDR_SCRATCH_MIN));
		sdr_scratch_put(&s, p, n);
		assert_int_equal(s.used, 0);
	}
}

static void scratch__the_limit_holds(void **state)
{
	struct sdr_scratch s;
	uint8_t *p[301];
	uint32_t n = 0;

	(void)state;
	for (int bare = 0; bare < 2; bare++) {
		sdr_scratch_init(&s, MIB, bare);
		for (n = 0; n < 300 && (p[n] = sdr_scratch_get(&s, 5000)); n++)
			assert_true(s.used <= MIB && s.held <= MIB);
		assert_int_equal(n, MIB / 5120);
		assert_null(sdr_scratch_get(&s, 5120));
		/* a smaller one still fits: 4096 are left */
		assert_non_null(p[n] = sdr_scratch_get(&s, 1));
		sdr_scratch_put(&s, p[n], 1);
		sdr_scratch_put(&s, p[--n], 5000);
		assert_non_null(p[n] = sdr_scratch_get(&s, 5000));
		for (uint32_t i = 0; i <= n; i++)
			sdr_scratch_put(&s, p[i], 5000);
		assert_int_equal(s.used, 0);
		sdr_scratch_put(&s, NULL, 5000);
		assert_int_equal(s.used, 0);
		sdr_scratch_destroy(&s);
	}
	sdr_scratch_init(&s, 4095, false);
	assert_null(sdr_scratch_get(&s, 1));
	sdr_scratch_destroy(&s);
	sdr_scratch_init(&s, UINT64_MAX, true);
	assert_null(sdr_scratch_get(&s, UINT64_MAX));
	assert_int_equal(s.used, 0);
}

static void scratch__idle_buffers_make_room_for_others(void **state)
{
	struct sdr_scratch s;
	uint8_t *p, *q;

	(void)state;
	sdr_scratch_init(&s, MIB, false);
	p = sdr_scratch_get(&s, 600000);
	sdr_scratch_put(&s, p, 600000);
	assert_true(s.held >= 600000 && !s.used);
	q = sdr_scratch_get(&s, 600000);
	assert_ptr_equal(p, q); /* used again */
	assert_null(sdr_scratch_get(&s, 600000));
	sdr_scratch_put(&s, q, 600000);
	p = sdr_scratch_get(&s, MIB);
	assert_non_null(p);
	assert_int_equal(s.held, MIB);
	memset(p, 1, MIB);
	assert_null(sdr_scratch_get(&s, 1));
	sdr_scratch_put(&s, p, MIB);
	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t n = 1 + (i * 2654435761u >> 8) % (MIB - 4096);

		p = sdr_scratch_get(&s, n);
		assert_true(s.held <= MIB);
		if (!p)
			continue; /* its class is larger than the limit */
		memset(p, 2, n);
		sdr_scratch_put(&s, p, n);
	}
	assert_int_equal(s.used, 0);
	sdr_scratch_destroy(&s);
	assert_int_equal(s.held, 0);
}

/* Of what nobody has, no more than `keep` stays, and that is used again. */
static void scratch__keeps_so_much(void **state)
{
	struct sdr_scratch s;
	uint8_t *p[8], *q;

	(void)state;
	sdr_scratch_init(&s, UINT64_MAX, false);
	s.keep = 3 * MIB;
	for (int i = 0; i < 8; i++) {
		p[i] = sdr_scratch_get(&s, MIB);
		assert_non_null(p[i]);
	}
	assert_int_equal(s.held, 8 * MIB);
	for (int i = 0; i < 8; i++) {
		sdr_scratch_put(&s, p[i], MIB);
		assert_int_equal(s.held - s.used, (i < 3 ? i + 1 : 3) * MIB);
		assert_int_equal(sdr_scratch_idle(&s), s.held - s.used);
	}
	q = sdr_scratch_get(&s, MIB);
	assert_true(q == p[0] || q == p[1] || q == p[2]);
	assert_int_equal(s.held, 3 * MIB);
	sdr_scratch_put(&s, q, MIB);
	q = sdr_scratch_get(&s, 4 * MIB); /* more than is kept */
	assert_non_null(q);
	sdr_scratch_put(&s, q, 4 * MIB);
	assert_int_equal(s.held, 3 * MIB);
	sdr_scratch_destroy(&s);
	assert_int_equal(s.held, 0);
}

/* What is longer than the limit is given when nothing else is out, and not kept. */
static void scratch__alone(void **state)
{
	struct sdr_scratch s;
	uint8_t *p, *q;

	(void)state;
	sdr_scratch_init(&s, MIB, false);
	assert_null(sdr_scratch_get(&s, 3 * MIB));
	s.alone = true;
	for (int i = 0; i < 3; i++) {
		p = sdr_scratch_get(&s, 5000);
		assert_non_null(p);
		assert_null(sdr_scratch_get(&s, 3 * MIB));
		sdr_scratch_put(&s, p, 5000);
		q = sdr_scratch_get(&s, 3 * MIB);
		assert_non_null(q);
		memset(q, 1, 3 * MIB);
		assert_null(sdr_scratch_get(&s, 1));
		assert_null(sdr_scratch_get(&s, 3 * MIB));
		sdr_scratch_put(&s, q, 3 * MIB);
		assert_true(!s.used && !s.held);
	}
	sdr_scratch_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scratch__buffers_are_aligned_and_their_own),
		cmocka_unit_test(scratch__sizes_waste_little),
		cmocka_unit_test(scratch__the_limit_holds),
		cmocka_unit_test(scratch__idle_buffers_make_room_for_others),
		cmocka_unit_test(scratch__keeps_so_much),
		cmocka_unit_test(scratch__alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
