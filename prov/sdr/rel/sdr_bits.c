/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Ranges in bitmaps of 64-bit words: bit i is bit i & 63 of word i / 64. */
#include "sdr_rel_priv.h"

uint32_t sdr_bits_set_range(uint64_t *b, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	while (lo < hi) {
		uint32_t w = lo / 64, in = lo & 63, k = 64 - in < hi - lo ? 64 - in : hi - lo;
		uint64_t m = (k == 64 ? ~0ull : (1ull << k) - 1) << in;

		n += (uint32_t)__builtin_popcountll(m & ~b[w]);
		b[w] |= m;
		lo += k;
	}
	return n;
}

uint32_t sdr_bits_clear_range(uint64_t *b, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	while (lo < hi) {
		uint32_t w = lo / 64, in = lo & 63, k = 64 - in < hi - lo ? 64 - in : hi - lo;
		uint64_t m = (k == 64 ? ~0ull : (1ull << k) - 1) << in;

		n += (uint32_t)__builtin_popcountll(m & b[w]);
		b[w] &= ~m;
		lo += k;
	}
	return n;
}

static uint32_t bits_find(const uint64_t *b, uint32_t from, uint32_t n, uint64_t flip)
{
	while (from < n) {
		uint64_t w = (b[from / 64] ^ flip) >> (from & 63);

		if (w) {
			from += (uint32_t)__builtin_ctzll(w);
			return from < n ? from : n;
		}
		from = (from | 63) + 1;
	}
	return n;
}

uint32_t sdr_bits_next(const uint64_t *b, uint32_t from, uint32_t n)
{
	return bits_find(b, from, n, 0);
}

uint32_t sdr_bits_next_zero(const uint64_t *b, uint32_t from, uint32_t n)
{
	return bits_find(b, from, n, ~0ull);
}
