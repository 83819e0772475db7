/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bitmaps in 64-bit words: bit i is bit i & 63 of word i / 64.  On a little-endian machine that is
 * also bit i & 7 of byte i / 8, which is how the public calls hand them out.  What reads may do so
 * while receive workers set bits: loads acquire, so that who finds a bit set finds what it stands
 * for.  What writes is for one thread: the worker has its own atomic access.  No state, no
 * allocation.
 */
#ifndef SDR_BITMAP_H
#define SDR_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "sdr_assert.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bitmaps are handed out as bytes: little-endian machines only"
#endif

static inline uint32_t sdr_bitmap_words(uint32_t nbits)
{
	return nbits / 64 + (nbits % 64 != 0);
}

static inline uint64_t sdr_bitmap_word(const uint64_t *b, uint32_t w)
{
	return __atomic_load_n(&b[w], __ATOMIC_ACQUIRE);
}

static inline bool sdr_bitmap_test(const uint64_t *b, uint32_t i)
{
	return sdr_bitmap_word(b, i / 64) >> (i & 63) & 1;
}

static inline void sdr_bitmap_set(uint64_t *b, uint32_t i)
{
	b[i / 64] |= 1ull << (i & 63);
}

static inline void sdr_bitmap_clear(uint64_t *b, uint32_t i)
{
	b[i / 64] &= ~(1ull << (i & 63));
}

/* Bits [lo, hi) of one word, 0 <= lo < hi <= 64. */
static inline uint64_t sdr_bitmap_mask(uint32_t lo, uint32_t hi)
{
	SDR_ASSERT(lo < hi && hi <= 64);
	return ~0ull >> (64 - (hi - lo)) << lo;
}

/* First bit at or behind `from` that is set in b ^ flip, flip 0 or ~0; nbits when there is none. */
static inline uint32_t sdr_bitmap_next(const uint64_t *b, uint32_t from, uint32_t nbits,
				       uint64_t flip)
{
	uint32_t w = from / 64, words = sdr_bitmap_words(nbits), at;
	uint64_t v;

	if (from >= nbits)
		return nbits;
	v = (sdr_bitmap_word(b, w) ^ flip) & ~0ull << (from & 63);
	while (!v) {
		if (++w == words)
			return nbits;
		v = sdr_bitmap_word(b, w) ^ flip;
	}
	at = w * 64 + (uint32_t)__builtin_ctzll(v);
	return at < nbits ? at : nbits;
}

/* First clear bit at or behind `from`, or nbits. */
static inline uint32_t sdr_bitmap_next_zero(const uint64_t *b, uint32_t from, uint32_t nbits)
{
	return sdr_bitmap_next(b, from, nbits, ~0ull);
}

/* First set bit at or behind `from`, or nbits. */
static inline uint32_t sdr_bitmap_next_one(const uint64_t *b, uint32_t from, uint32_t nbits)
{
	return sdr_bitmap_next(b, from, nbits, 0);
}

/* One more than the last set bit of the first nbits; 0 when none is set. */
uint32_t sdr_bitmap_top(const uint64_t *b, uint32_t nbits);
/* How many of the first nbits are set. */
uint32_t sdr_bitmap_count(const uint64_t *b, uint32_t nbits);
/* Sets or clears bits [lo, hi); returns how many of them that has changed. */
uint32_t sdr_bitmap_set_range(uint64_t *b, uint32_t lo, uint32_t hi);
uint32_t sdr_bitmap_clear_range(uint64_t *b, uint32_t lo, uint32_t hi);

#endif /* SDR_BITMAP_H */
