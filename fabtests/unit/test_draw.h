/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random numbers for the tests of loss and choice: a test sets the seed, and is the same every
 * time.
 */
#ifndef TEST_DRAW_H
#define TEST_DRAW_H

#include <math.h>
#include <stdint.h>

#include "base/sdr_rand.h"

static uint64_t seed;

static inline double draw(void)
{
	return ((double)(sdr_rand64(&seed) >> 11) + 0.5) * 0x1p-53;
}

/* How often a thing of probability p does not happen before it does. */
static inline uint64_t misses(double p)
{
	double n = floor(log(draw()) / log1p(-p));

	return n < 1e15 ? (uint64_t)n : 1000000000000000ull;
}

#endif /* TEST_DRAW_H */
