/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * base/sdr_bitmap.h beside an array of bytes: all ranges whose ends lie around the edges of words,
 * and random bits.
 */
#include "base/sdr_bitmap.h"
#include "base/sdr_rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BITS  (3u * 64)
#define WORDS (BITS / 64)
#define FENCE 0xa5c35a3c0ff0a55aull

static const uint32_t edges[] = { 0, 1, 2, 62, 63, 64, 65, 66, 126, 127, 128, 129, 190, 191, 192 };

#define EDGES (sizeof(edges) / sizeof(edges[0]))

struct bits {
	uint64_t low, w[WORDS], high; /* fences on either side */
	uint8_t model[BITS];
};

/* Fill 0: none, 1: all, 2: random. */
static void bits_init(struct bits *b, int fill, uint64_t *rng)
{
	memset(b, 0, sizeof(*b));
	b->low = b->high = FENCE;
	for (uint32_t i = 0; i < BITS; i++) {
		b->model[i] = fill == 2 ? sdr_rand64(rng) & 1 : (uint8_t)fill;
		if (b->model[i])
			sdr_bitmap_set(b->w, i);
	}
}

static void assert_bits(const struct bits *b)
{
	assert_true(b->low == FENCE && b->high == FENCE);
	for (uint32_t i = 0; i < BITS; i++)
		assert_int_equal(sdr_bitmap_test(b->w, i), b->model[i]);
}

static void bits__words_hold_that_many(void **state)
{
	static const uint32_t n[][2] = {
		{ 0, 0 },  { 1, 1 },   { 63, 1 },  { 64, 1 },
		{ 65, 2 }, { 128, 2 }, { 129, 3 }, { UINT32_MAX, 1u << 26 }
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		assert_int_equal(sdr_bitmap_words(n[i][0]), n[i][1]);
}

static void bits__bit_i_is_bit_i_of_the_bytes(void **state)
{
	uint64_t w[WORDS];

	(void)state;
	for (uint32_t i = 0; i < BITS; i++) {
		memset(w, 0, sizeof(w));
		sdr_bitmap_set(w, i);
		for (uint32_t j = 0; j < sizeof(w); j++)
			assert_int_equal(((uint8_t *)w)[j], j == i / 8 ? 1 << i % 8 : 0);
		sdr_bitmap_clear(w, i);
		assert_false(sdr_bitmap_test(w, i));
	}
}

static void range__sets_and_clears_what_it_says(void **state)
{
	uint64_t rng = 1;
	struct bits b;

	(void)state;
	for (uint32_t c = 0; c < EDGES * EDGES * 6; c++) {
		uint32_t lo = edges[c % EDGES], hi = edges[c / EDGES % EDGES], n = 0;
		bool set = c / (EDGES * EDGES) % 2;

		if (lo > hi)
			continue;
		bits_init(&b, (int)(c / (EDGES * EDGES) / 2), &rng);
		for (uint32_t i = lo; i < hi; i++) {
			n += b.model[i] != set;
			b.model[i] = set;
		}
		assert_int_equal(set ? sdr_bitmap_set_range(b.w, lo, hi)
				     : sdr_bitmap_clear_range(b.w, lo, hi),
				 n);
		assert_bits(&b);
	}
}

static void mask__has_the_bits_between(void **state)
{
	(void)state;
	for (uint32_t lo = 0; lo < 64; lo++) {
		for (uint32_t hi = lo + 1; hi <= 64; hi++) {
			uint64_t m = 0;

			for (uint32_t i = lo; i < hi; i++)
				m |= 1ull << i;
			assert_true(sdr_bitmap_mask(lo, hi) == m);
		}
	}
}

static uint32_t model_next(const struct bits *b, uint32_t from, uint32_t nbits, bool v)
{
	while (from < nbits && b->model[from] != v)
		from++;
	return from < nbits ? from : nbits;
}

static void assert_searches(const struct bits *b)
{
	for (unsigned int e = 0; e < EDGES; e++) {
		uint32_t nbits = edges[e], top = 0, count = 0;

		for (uint32_t from = 0; from <= BITS; from++) {
			assert_int_equal(sdr_bitmap_next_one(b->w, from, nbits),
					 model_next(b, from, nbits, true));
			assert_int_equal(sdr_bitmap_next_zero(b->w, from, nbits),
					 model_next(b, from, nbits, false));
		}
		for (uint32_t i = 0; i < nbits; i++) {
			top = b->model[i] ? i + 1 : top;
			count += b->model[i];
		}
		assert_int_equal(sdr_bitmap_top(b->w, nbits), top);
		assert_int_equal(sdr_bitmap_count(b->w, nbits), count);
	}
}

static void search__finds_what_a_walk_finds(void **state)
{
	uint64_t rng = 2;
	struct bits b;

	(void)state;
	for (int fill = 0; fill < 3; fill++) {
		bits_init(&b, fill, &rng);
		assert_searches(&b);
	}
	for (unsigned int e = 0; e < EDGES && edges[e] < BITS; e++) { /* one that differs */
		bits_init(&b, 0, &rng);
		/* cppcheck-suppress arrayIndexOutOfBounds ; edges[e] < BITS, as the loop says */
		b.model[edges[e]] = 1;
		sdr_bitmap_set(b.w, edges[e]);
		assert_searches(&b);
		bits_init(&b, 1, &rng);
		/* cppcheck-suppress arrayIndexOutOfBounds ; as above */
		b.model[edges[e]] = 0;
		sdr_bitmap_clear(b.w, edges[e]);
		assert_searches(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits__words_hold_that_many),
		cmocka_unit_test(bits__bit_i_is_bit_i_of_the_bytes),
		cmocka_unit_test(range__sets_and_clears_what_it_says),
		cmocka_unit_test(mask__has_the_bits_between),
		cmocka_unit_test(search__finds_what_a_walk_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
