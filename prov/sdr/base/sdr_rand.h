/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random numbers that can be repeated (splitmix64), and hashes that cannot be guessed (SipHash-2-4
 * of libsodium).
 *
 * splitmix64 is a counter, hashed: a stream is its 64-bit state, and the same state gives the same
 * stream on every machine, which simulations and their golden tests rely on.  It is for
 * simulation, fault injection, models, test patterns and the spreading of numbers that no
 * peer chooses; one number gives away the next.  What a peer must not guess or aim at (keys,
 * cookies, buckets) is a keyed hash under a secret.  Where the secret comes from is for the caller
 * to say: no entropy is drawn here.  No state, any thread.
 */
#ifndef SDR_RAND_H
#define SDR_RAND_H

#include <stddef.h>
#include <stdint.h>

#define SDR_RAND_STEP	0x9e3779b97f4a7c15ull /* what a stream advances by, odd: period 2^64 */
#define SDR_SIPHASH_KEY 16u		      /* bytes */

/* The hash of splitmix64: a bijection. */
static inline uint64_t sdr_mix64(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The next number of the stream; any state starts one. */
static inline uint64_t sdr_rand64(uint64_t *state)
{
	return sdr_mix64(*state += SDR_RAND_STEP);
}

/* In [0, 1), of 53 bits. */
static inline double sdr_rand_unit(uint64_t *state)
{
	return (double)(sdr_rand64(state) >> 11) * 0x1p-53;
}

uint64_t sdr_siphash(const void *p, size_t len, const uint8_t key[SDR_SIPHASH_KEY]);
/* The same under a key of 64 bits: for hash tables and short-lived cookies. */
uint64_t sdr_hash64(const void *p, size_t len, uint64_t key);

#endif /* SDR_RAND_H */
