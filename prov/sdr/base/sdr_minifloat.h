/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Floating point numbers of 16 and 8 bits, which C has no types for: to doubles and back, see
 * sdr_minifloat.c.
 */
#ifndef SDR_MINIFLOAT_H
#define SDR_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_minifloat {
	uint8_t bits;	  /* 8 or 16, of which */
	uint8_t exponent; /* bits: biased by 2^(exponent - 1) - 1 */
	uint8_t fraction; /* bits */
	bool finite; /* no infinities: all ones is the only NaN, the rest of that row numbers */
};

extern const struct sdr_minifloat sdr_float16;	      /* IEEE 754 binary16 */
extern const struct sdr_minifloat sdr_bfloat16;	      /* the upper half of a binary32 */
extern const struct sdr_minifloat sdr_e4m3, sdr_e5m2; /* OCP 8-bit floating point, 1.0 */

/* Exact. */
double sdr_minifloat_get(const struct sdr_minifloat *f, uint16_t code);
/*
 * The nearest one, of two the even one.  Beyond the largest: infinity, or NaN where there is none.
 */
uint16_t sdr_minifloat_put(const struct sdr_minifloat *f, double x);

#endif /* SDR_MINIFLOAT_H */
