/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random numbers of the model: a counter, hashed (splitmix64).  A stream belongs to (seed, purpose,
 * index of the sample), so that a sample is the same in whatever thread and order it is drawn
 * before.  Streams start at hashed places of a circle of 2^64: that two of them meet is no concern
 * for less than about 2^50 numbers in all.
 */
#ifndef SDR_MODEL_RANDOM_H
#define SDR_MODEL_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "base/sdr_rand.h"

enum sdr_model_random_purpose {
	SDR_MODEL_RANDOM_TRANSFER = 1,
	SDR_MODEL_RANDOM_COLL = 2,
};

struct sdr_model_random {
	uint64_t at;
};

static inline void sdr_model_random_init(struct sdr_model_random *r, uint64_t seed,
					 enum sdr_model_random_purpose purpose, uint64_t index)
{
	uint64_t z = sdr_mix64(seed + (uint64_t)purpose * SDR_RAND_STEP);

	r->at = sdr_mix64(z ^ sdr_mix64(index + SDR_RAND_STEP));
}

/* In (0, 1), and neither end. */
static inline double sdr_model_random_unit(struct sdr_model_random *r)
{
	return ((double)(sdr_rand64(&r->at) >> 12) + 0.5) * 0x1p-52;
}

/* Exponential with mean 1, > 0. */
static inline double sdr_model_random_exp(struct sdr_model_random *r)
{
	return -log(sdr_model_random_unit(r));
}

/*
 * How often a thing does not happen before it does; rate: -log of the probability that it does not,
 * >= 0. Infinite when it never does.
 */
static inline double sdr_model_random_misses(struct sdr_model_random *r, double rate)
{
	return rate > 0 ? floor(sdr_model_random_exp(r) / rate) : HUGE_VAL;
}

#endif /* SDR_MODEL_RANDOM_H */
