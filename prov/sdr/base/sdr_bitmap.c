/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Ranges of bits, see sdr_bitmap.h. */
#include "sdr_bitmap.h"

uint32_t sdr_bitmap_set_range(uint64_t *b, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	while (lo < hi) {
		uint32_t w = lo / 64, in = lo & 63, k = 64 - in < hi - lo ? 64 - in : hi - lo;
		uint64_t m = sdr_bitmap_mask(in, in + k);

		n += (uint32_t)__builtin_popcountll(m & ~b[w]);
		b[w] |= m;
		lo += k;
	}
	return n;
}

uint32_t sdr_bitmap_clear_range(uint64_t *b, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	while (lo < hi) {
		uint32_t w = lo / 64, in = lo & 63, k = 64 - in < hi - lo ? 64 - in : hi - lo;
		uint64_t m = sdr_bitmap_mask(in, in + k);

		n += (uint32_t)__builtin_popcountll(m & b[w]);
		b[w] &= ~m;
		lo += k;
	}
	return n;
}
