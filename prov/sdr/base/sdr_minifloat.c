/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Floating point numbers of 16 and 8 bits (IEEE 754-2019, 3.4; "OCP 8-bit Floating Point
 * Specification", 1.0, 5).
 *
 * Who computes with them does so in doubles and rounds once: a product of two is exact there, and a
 * sum that is not has enough bits (53, of 11 at most) that rounding it again makes no difference.
 * The numbers of a format are consecutive codes in their order, so a value is its fraction, with
 * the bit that is not stored, counted up from the row of its exponent; a carry of the rounding goes
 * over into the next row by itself.  Bits alone are used: no library, no rounding mode.
 */
#include <string.h>

#include "sdr_minifloat.h"

#define DOUBLE_FRACTION 52
#define DOUBLE_BIAS	1023
#define DOUBLE_SPECIAL	0x7ff

const struct sdr_minifloat sdr_float16 = { 16, 5, 10, false };
const struct sdr_minifloat sdr_bfloat16 = { 16, 8, 7, false };
const struct sdr_minifloat sdr_e4m3 = { 8, 4, 3, true };
const struct sdr_minifloat sdr_e5m2 = { 8, 5, 2, false };

/* Of the smallest that is stored with all of its fraction. */
static int mini_emin(const struct sdr_minifloat *f)
{
	return 2 - (1 << (f->exponent - 1));
}

/* The first code that is no number. */
static uint16_t mini_beyond(const struct sdr_minifloat *f)
{
	uint16_t row = (uint16_t)(((1u << f->exponent) - 1) << f->fraction);

	return f->finite ? (uint16_t)(row | ((1u << f->fraction) - 1)) : row;
}

static uint16_t mini_nan(const struct sdr_minifloat *f)
{
	return f->finite ? mini_beyond(f) : (uint16_t)(mini_beyond(f) | 1u << (f->fraction - 1));
}

static double from_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

double sdr_minifloat_get(const struct sdr_minifloat *f, uint16_t code)
{
	uint16_t sign = (uint16_t)(code >> (f->bits - 1) & 1);
	uint16_t mag = (uint16_t)(code & ((1u << (f->bits - 1)) - 1));
	uint16_t row = (uint16_t)(mag >> f->fraction);
	uint64_t frac = mag & ((1u << f->fraction) - 1);
	int e = mini_emin(f) + (row ? row - 1 : 0) - f->fraction;
	double x;

	if (mag >= mini_beyond(f)) {
		frac = f->finite ? 1 : frac;
		return from_bits((uint64_t)sign << 63 |
				 (uint64_t)DOUBLE_SPECIAL << DOUBLE_FRACTION |
				 frac << (DOUBLE_FRACTION - f->fraction));
	}
	x = (double)(frac | (uint64_t)(row != 0) << f->fraction) *
	    from_bits((uint64_t)(e + DOUBLE_BIAS) << DOUBLE_FRACTION);
	return sign ? -x : x;
}

uint16_t sdr_minifloat_put(const struct sdr_minifloat *f, double x)
{
	uint64_t bits, frac, rest, half;
	uint16_t sign, mag, special = f->finite ? mini_nan(f) : mini_beyond(f);
	int e, row, shift;

	memcpy(&bits, &x, sizeof(bits));
	sign = (uint16_t)(bits >> 63 << (f->bits - 1));
	e = (int)(bits >> DOUBLE_FRACTION & DOUBLE_SPECIAL);
	frac = bits & ((1ull << DOUBLE_FRACTION) - 1);
	if (e == DOUBLE_SPECIAL)
		return sign | (frac ? mini_nan(f) : special);
	if (!e) /* 0, or far below the smallest */
		return sign;
	frac |= 1ull << DOUBLE_FRACTION;
	row = e - DOUBLE_BIAS - mini_emin(f);
	shift = DOUBLE_FRACTION - f->fraction;
	if (row < 0) {
		shift -= row;
		row = 0;
	}
	if (row >> f->exponent)
		return sign | special;
	if (shift > DOUBLE_FRACTION + 1) /* below half of the smallest */
		return sign;
	half = 1ull << (shift - 1);
	rest = frac & (2 * half - 1);
	frac >>= shift;
	frac += rest > half || (rest == half && (frac & 1));
	mag = (uint16_t)(((uint64_t)row << f->fraction) + frac);
	return sign | (mag < mini_beyond(f) ? mag : special);
}
