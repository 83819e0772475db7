/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Many bits at a time, see sdr_bitmap.h. */
#include "sdr_bitmap.h"

uint32_t sdr_bitmap_set_range(uint64_t *b, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	SDR_ASSERT(lo <= hi);
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

	SDR_ASSERT(lo <= hi);
	while (lo < hi) {
		uint32_t w = lo / 64, in = lo & 63, k = 64 - in < hi - lo ? 64 - in : hi - lo;
		uint64_t m = sdr_bitmap_mask(in, in + k);

		n += (uint32_t)__builtin_popcountll(m & b[w]);
		b[w] &= ~m;
		lo += k;
	}
	return n;
}

uint32_t sdr_bitmap_top(const uint64_t *b, uint32_t nbits)
{
	uint32_t w = sdr_bitmap_words(nbits), in = nbits & 63;
	uint64_t v;

	for (uint64_t m = in ? sdr_bitmap_mask(0, in) : ~0ull; w--; m = ~0ull)
		if ((v = sdr_bitmap_word(b, w) & m))
			return w * 64 + 64 - (uint32_t)__builtin_clzll(v);
	return 0;
}

uint32_t sdr_bitmap_count(const uint64_t *b, uint32_t nbits)
{
	uint32_t n = 0, w;

	for (w = 0; w < nbits / 64; w++)
		n += (uint32_t)__builtin_popcountll(sdr_bitmap_word(b, w));
	if (nbits & 63)
		n += (uint32_t)__builtin_popcountll(sdr_bitmap_word(b, w) &
						    sdr_bitmap_mask(0, nbits & 63));
	return n;
}
