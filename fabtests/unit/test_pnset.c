/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The set of received packet numbers against a plain array of flags, across the wrap of the number
 * space, and its limits one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rel/conn/sdr_pnset.h"

#define MODEL 20000u /* numbers of one run */

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static uint32_t rng(uint32_t n)
{
	rng_state = rng_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((rng_state >> 33) % n);
}

static void pnset_sane(const struct sdr_pnset *s)
{
	uint32_t i;

	assert_true(s->n <= SDR_PNSET_RANGES);
	for (i = 0; i < s->n; i++) {
		assert_true((int32_t)(s->r[i].hi - s->r[i].lo) >= 0);
		assert_true((int32_t)(s->r[i].lo - s->floor) >= 0);
		if (i)
			assert_true((int32_t)(s->r[i - 1].lo - s->r[i].hi) > 1);
	}
}

static bool pnset_has(const struct sdr_pnset *s, uint32_t pn)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (pn - s->r[i].lo <= s->r[i].hi - s->r[i].lo)
			return true;
	return false;
}

/* Numbers arrive with loss, reordering and duplicates; `first` is where the space begins. */
static void pnset_model_run(uint32_t first, uint32_t loss_pct, uint32_t window)
{
	static uint8_t got[MODEL + 4096];
	struct sdr_frame_ack f;
	struct sdr_pnset s;
	uint32_t i, k, off, floor, fresh = 0;

	memset(got, 0, sizeof(got));
	sdr_pnset_init(&s, first);
	for (i = 0; i < MODEL; i++) {
		if (rng(100) < loss_pct)
			continue;
		off = i + rng(window);
		if (rng(20) == 0 && off > 50)
			off -= rng(50);
		floor = s.floor - first;
		if (off < floor || got[off]) {
			assert_false(sdr_pnset_add(&s, first + off));
		} else {
			assert_true(sdr_pnset_add(&s, first + off));
			got[off] = 1;
			fresh++;
		}
		pnset_sane(&s);
		if (i % 97)
			continue;
		floor = s.floor - first;
		for (k = floor; k < i + window; k++)
			assert_int_equal(pnset_has(&s, first + k), got[k]);
		sdr_pnset_ack(&s, &f);
		assert_int_equal(f.n, s.n < SDR_ACK_RANGES ? s.n : SDR_ACK_RANGES);
		assert_memory_equal(&f.r[0].hi, &s.r[0].hi, 4);
		for (k = 0; k < f.n; k++) {
			assert_int_equal(f.r[k].lo, s.r[k].lo);
			assert_int_equal(f.r[k].hi, s.r[k].hi);
		}
	}
	assert_true(fresh > MODEL / 4);
}

static void pnset__as_the_model(void **state)
{
	static const uint32_t first[] = { 0, 1, 0xffffffffu - MODEL / 2, 0x7fffffffu - MODEL / 2,
					  0xffffffffu };
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		pnset_model_run(first[i], 0, 1);
		pnset_model_run(first[i], 1, 8);
		pnset_model_run(first[i], 20, 40);
		pnset_model_run(first[i], 50, 3);
	}
}

static void pnset__in_order_is_one_range(void **state)
{
	struct sdr_frame_ack f;
	struct sdr_pnset s;
	uint32_t i;

	(void)state;
	sdr_pnset_init(&s, 0xfffffff0u);
	sdr_pnset_ack(&s, &f);
	assert_int_equal(f.n, 0);
	for (i = 0; i < 100; i++)
		assert_true(sdr_pnset_add(&s, 0xfffffff0u + i));
	for (i = 0; i < 100; i++)
		assert_false(sdr_pnset_add(&s, 0xfffffff0u + i));
	assert_false(sdr_pnset_add(&s, 0xffffffefu));
	sdr_pnset_ack(&s, &f);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.r[0].lo, 0xfffffff0u);
	assert_int_equal(f.r[0].hi, 0xfffffff0u + 99);
}

static void pnset__joins_neighbours(void **state)
{
	struct sdr_pnset s;

	(void)state;
	sdr_pnset_init(&s, 10);
	assert_true(sdr_pnset_add(&s, 12));
	assert_true(sdr_pnset_add(&s, 16));
	assert_true(sdr_pnset_add(&s, 14));
	assert_int_equal(s.n, 3);
	assert_true(sdr_pnset_add(&s, 13));
	assert_int_equal(s.n, 2);
	assert_true(sdr_pnset_add(&s, 15));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.r[0].lo, 12);
	assert_int_equal(s.r[0].hi, 16);
	assert_true(sdr_pnset_add(&s, 10));
	assert_true(sdr_pnset_add(&s, 11));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.r[0].lo, 10);
}

static void pnset__forgets_the_lowest_when_full(void **state)
{
	struct sdr_pnset s;
	uint32_t i;

	(void)state;
	sdr_pnset_init(&s, 0);
	for (i = 0; i < SDR_PNSET_RANGES; i++)
		assert_true(sdr_pnset_add(&s, 10 + 2 * i));
	assert_int_equal(s.n, SDR_PNSET_RANGES);
	assert_int_equal(s.floor, 0);
	assert_true(sdr_pnset_add(&s, 1000));
	assert_int_equal(s.n, SDR_PNSET_RANGES);
	assert_int_equal(s.floor, 11);
	assert_false(sdr_pnset_add(&s, 3));
	assert_false(sdr_pnset_add(&s, 10));
	assert_int_equal(s.r[SDR_PNSET_RANGES - 1].lo, 12);
	/* lower than every range of a full set: taken, not remembered, never taken again */
	sdr_pnset_init(&s, 0);
	for (i = 0; i < SDR_PNSET_RANGES; i++)
		assert_true(sdr_pnset_add(&s, 10 + 2 * i));
	assert_true(sdr_pnset_add(&s, 5));
	assert_false(sdr_pnset_add(&s, 5));
	assert_false(sdr_pnset_add(&s, 4));
	assert_int_equal(s.n, SDR_PNSET_RANGES);
	pnset_sane(&s);
	/* joining still works when full */
	assert_true(sdr_pnset_add(&s, 11));
	assert_int_equal(s.n, SDR_PNSET_RANGES - 1);
}

static void pnset__far_ahead_and_far_behind(void **state)
{
	struct sdr_pnset s;
	uint32_t i;

	(void)state;
	sdr_pnset_init(&s, 5);
	/* one more than it may be above the number before the first */
	assert_true(sdr_pnset_far(&s, 5 + SDR_PNSET_AHEAD));
	assert_false(sdr_pnset_add(&s, 5 + SDR_PNSET_AHEAD));
	assert_true(sdr_pnset_newest(&s, 4 + SDR_PNSET_AHEAD));
	assert_false(sdr_pnset_newest(&s, 5 + SDR_PNSET_AHEAD));
	assert_true(sdr_pnset_newest(&s, 5));
	assert_true(sdr_pnset_add(&s, 5));
	assert_false(sdr_pnset_newest(&s, 5));
	assert_false(sdr_pnset_newest(&s, 4));
	assert_false(sdr_pnset_far(&s, 4));
	assert_false(sdr_pnset_add(&s, 5 + SDR_PNSET_AHEAD + 1));
	assert_true(sdr_pnset_add(&s, 5 + SDR_PNSET_AHEAD));
	assert_int_equal(s.n, 2);
	/* the first falls off the end, 2^30 numbers later, one after the other */
	for (i = 0; s.r[0].hi - 5 < 1u << 30; i++)
		assert_true(sdr_pnset_add(&s, s.r[0].hi + 1));
	assert_int_equal(s.n, 2);
	assert_true(sdr_pnset_add(&s, s.r[0].hi + 1));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.floor, 6);
	/* far beyond one round of the number space */
	for (i = 0; i < 40000; i++)
		assert_true(sdr_pnset_add(&s, s.r[0].hi + SDR_PNSET_AHEAD));
	pnset_sane(&s);
	assert_false(sdr_pnset_add(&s, s.r[0].hi - (1u << 31)));
	assert_true(s.r[0].hi - s.floor <= 1u << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pnset__as_the_model),
		cmocka_unit_test(pnset__in_order_is_one_range),
		cmocka_unit_test(pnset__joins_neighbours),
		cmocka_unit_test(pnset__forgets_the_lowest_when_full),
		cmocka_unit_test(pnset__far_ahead_and_far_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
