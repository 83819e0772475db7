/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Small floating point numbers: every code of each format there and back, its numbers in their
 * order, what lies between two goes to the nearer one, and known values of the formats.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/sdr_minifloat.h"

static const struct {
	const struct sdr_minifloat *f;
	uint16_t beyond; /* the first code that is no number */
	bool inf;
	uint16_t nan, one;
	double max, min; /* largest and smallest above 0 */
} formats[] = {
	{ &sdr_float16, 0x7c00, true, 0x7e00, 0x3c00, 65504, 0x1p-24 },
	{ &sdr_bfloat16, 0x7f80, true, 0x7fc0, 0x3f80, 0x1.fep127, 0x1p-133 },
	{ &sdr_e4m3, 0x7f, false, 0x7f, 0x38, 448, 0x1p-9 },
	{ &sdr_e5m2, 0x7c, true, 0x7e, 0x3c, 57344, 0x1p-16 },
};
#define FORMATS (sizeof(formats) / sizeof(*formats))

static void mini__there_and_back(void **state)
{
	(void)state;
	for (size_t k = 0; k < FORMATS; k++) {
		const struct sdr_minifloat *f = formats[k].f;
		uint16_t sign = (uint16_t)(1u << (f->bits - 1));
		double before = -1;

		for (uint32_t c = 0; c < sign; c++) {
			double x = sdr_minifloat_get(f, (uint16_t)c);
			double y = sdr_minifloat_get(f, (uint16_t)(c | sign));

			if (c < formats[k].beyond) {
				assert_true(x > before && x == -y && signbit(y));
				before = x;
			} else {
				assert_true(c == formats[k].beyond && formats[k].inf ? isinf(x)
										     : isnan(x));
				assert_true(isnan(x) ? isnan(y) : y == -x);
			}
			if (isnan(x)) {
				assert_int_equal(sdr_minifloat_put(f, x) & (sign - 1),
						 formats[k].nan);
				continue;
			}
			assert_int_equal(sdr_minifloat_put(f, x), c);
			assert_int_equal(sdr_minifloat_put(f, y), c | sign);
		}
	}
}

static void mini__knows_the_formats(void **state)
{
	(void)state;
	for (size_t k = 0; k < FORMATS; k++) {
		const struct sdr_minifloat *f = formats[k].f;

		assert_true(sdr_minifloat_get(f, formats[k].one) == 1);
		assert_true(sdr_minifloat_get(f, 1) == formats[k].min);
		assert_true(sdr_minifloat_get(f, (uint16_t)(formats[k].beyond - 1)) ==
			    formats[k].max);
	}
	assert_true(sdr_minifloat_get(&sdr_float16, 0x4248) == 3.140625);
	assert_true(sdr_minifloat_get(&sdr_bfloat16, 0x4049) == 3.140625);
	assert_true(sdr_minifloat_get(&sdr_e4m3, 0x45) == 3.25);
	assert_true(sdr_minifloat_get(&sdr_e5m2, 0xc2) == -3);
}

static void mini__takes_the_nearest(void **state)
{
	(void)state;
	for (size_t k = 0; k < FORMATS; k++) {
		const struct sdr_minifloat *f = formats[k].f;

		for (uint32_t c = 0; c + 1 < formats[k].beyond; c++) {
			double x = sdr_minifloat_get(f, (uint16_t)c);
			double y = sdr_minifloat_get(f, (uint16_t)(c + 1)), m = (x + y) / 2;

			assert_int_equal(sdr_minifloat_put(f, m), c & 1 ? c + 1 : c);
			assert_int_equal(sdr_minifloat_put(f, nextafter(m, x)), c);
			assert_int_equal(sdr_minifloat_put(f, nextafter(m, y)), c + 1);
			assert_int_equal(sdr_minifloat_put(f, -nextafter(m, y)),
					 (c + 1) | 1u << (f->bits - 1));
		}
	}
}

static void mini__ends_where_it_ends(void **state)
{
	(void)state;
	for (size_t k = 0; k < FORMATS; k++) {
		const struct sdr_minifloat *f = formats[k].f;
		uint16_t last = (uint16_t)(formats[k].beyond - 1), out = formats[k].beyond;
		double step = formats[k].max - sdr_minifloat_get(f, (uint16_t)(last - 1));
		double edge = formats[k].max + step / 2;

		assert_int_equal(sdr_minifloat_put(f, nextafter(edge, 0)), last);
		assert_int_equal(sdr_minifloat_put(f, edge), formats[k].inf ? out : last);
		assert_int_equal(sdr_minifloat_put(f, nextafter(edge, INFINITY)), out);
		assert_int_equal(sdr_minifloat_put(f, INFINITY), out);
		assert_int_equal(sdr_minifloat_put(f, -1e300), out | 1u << (f->bits - 1));
		assert_int_equal(sdr_minifloat_put(f, formats[k].min / 2), 0);
		assert_int_equal(sdr_minifloat_put(f, nextafter(formats[k].min / 2, 1)), 1);
		assert_int_equal(sdr_minifloat_put(f, -formats[k].min / 4), 1u << (f->bits - 1));
		assert_int_equal(sdr_minifloat_put(f, 0x1p-1074), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mini__there_and_back),
		cmocka_unit_test(mini__knows_the_formats),
		cmocka_unit_test(mini__takes_the_nearest),
		cmocka_unit_test(mini__ends_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
