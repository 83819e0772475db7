/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Parity that a codeword needs: the table against sums made another way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test_choice_util.h"

static void rows__binomial(void **state)
{
	static const uint32_t ks[] = { 1, 2, 3, 8, 15, 16, 32, 64, 96, 128, 160 };
	uint32_t ki, pi, i, m;

	for (ki = 0; ki < sizeof(ks) / sizeof(*ks); ki++) {
		for (pi = 3; pi < 27; pi++) {
			double p = ldexp(1, -(int)pi);
			const uint8_t *rows = sdr_choice_rows(*state, p, p, ks[ki]);

			for (i = 0; i < SDR_ROWS_EPS; i++) {
				long double eps = ldexpl(1, -(int)i);

				m = rows[i];
				if (m == SDR_ROWS_NONE) {
					assert_true(binomial_tail(255, 255 - ks[ki], p) > eps);
					continue;
				}
				/* enough, and one less is not, but for rounding */
				assert_true(binomial_tail(ks[ki] + m, m, p) <= eps * (1 + 1e-9L));
				if (m)
					assert_true(binomial_tail(ks[ki] + m - 1, m - 1, p) >
						    eps * (1 - 1e-3L));
			}
		}
	}
}

/* All patterns of n packets of the chain. */
static double chain_tail(uint32_t n, uint32_t m, double p, double c)
{
	double e = p * (1 - c) / (1 - p), sum = 0, q;
	uint32_t pattern, j;

	for (pattern = 0; pattern < 1u << n; pattern++) {
		if ((uint32_t)__builtin_popcount(pattern) <= m)
			continue;
		q = pattern & 1 ? p : 1 - p;
		for (j = 1; j < n; j++) {
			double lose = pattern >> (j - 1) & 1 ? c : e;

			q *= pattern >> j & 1 ? lose : 1 - lose;
		}
		sum += q;
	}
	return sum;
}

static void rows__chain(void **state)
{
	static const double again[] = { 0.125, 0.5, 0.75, 0.9375 };
	uint32_t k, pi, ci, i, m;

	for (ci = 0; ci < 4; ci++) {
		for (pi = 3; pi < 15; pi += 2) {
			for (k = 1; k <= 5; k += 2) {
				double p = ldexp(1, -(int)pi);
				const uint8_t *rows = sdr_choice_rows(*state, p, again[ci], k);

				for (i = 0; i < SDR_ROWS_EPS; i++) {
					double eps = ldexp(1, -(int)i);

					m = rows[i];
					if (k + m > 12)
						break;
					assert_true(chain_tail(k + m, m, p, again[ci]) <=
						    eps * (1 + 1e-9));
					if (m)
						assert_true(
							chain_tail(k + m - 1, m - 1, p, again[ci]) >
							eps * (1 - 1e-9));
				}
				assert_true(i > 2);
			}
		}
	}
}

static void rows__are_rounded_to_the_safe_side(void **state)
{
	uint32_t n, k, i;

	seed = 1;
	for (n = 0; n < 3000; n++) {
		double p = pow(10, -7 * draw()), c = draw() < 0.3 ? 0 : pow(draw(), 3);
		uint8_t a[SDR_ROWS_EPS], *b;

		k = 1 + (uint32_t)(draw() * 199);
		memcpy(a, sdr_choice_rows(*state, p, c, k), sizeof(a));
		for (i = 1; i < SDR_ROWS_EPS; i++)
			assert_true(a[i] >= a[i - 1]);
		if (c <= p) {
			i = (uint32_t)(draw() * SDR_ROWS_EPS);
			if (a[i] != SDR_ROWS_NONE)
				assert_true(binomial_tail(k + a[i], a[i], p) <=
					    ldexpl(1, -(int)i) * (1 + 1e-9L));
		}
		/* more loss, longer bursts, longer codewords never need less */
		b = (uint8_t *)sdr_choice_rows(*state, fmin(p * (1 + draw()), 1), c, k);
		for (i = 0; i < SDR_ROWS_EPS; i++)
			assert_true(b[i] >= a[i]);
		b = (uint8_t *)sdr_choice_rows(*state, p, c, k + (uint32_t)(draw() * 50));
		for (i = 0; i < SDR_ROWS_EPS; i++)
			assert_true(b[i] >= a[i]);
	}
	/* the ends of the scales */
	assert_int_equal(sdr_choice_rows(*state, 0, 0, 128)[30], 1);
	assert_int_equal(sdr_choice_rows(*state, 1, 1, 1)[44], SDR_ROWS_NONE);
	assert_int_equal(sdr_choice_rows(*state, NAN, NAN, 0)[0], 0);
	assert_int_equal(sdr_choice_rows(*state, 1e300, -1, 254)[10], SDR_ROWS_NONE);
	assert_int_equal(sdr_choice_rows_eps(1), 0);
	assert_int_equal(sdr_choice_rows_eps(5), 0);
	assert_int_equal(sdr_choice_rows_eps(0.25), 2);
	assert_int_equal(sdr_choice_rows_eps(0.24), 3);
	assert_int_equal(sdr_choice_rows_eps(0), SDR_ROWS_EPS - 1);
	assert_int_equal(sdr_choice_rows_eps(NAN), SDR_ROWS_EPS - 1);
	assert_int_equal(sdr_choice_rows_eps(1e-300), SDR_ROWS_EPS - 1);
}

/*
 * The figures that this was designed with: 128 MiB in codewords of 64 packets, failing once in
 * 10^4.
 */
static void rows__adaptive_m(void **state)
{
	static const struct {
		double p;
		uint8_t m;
	} known[] = { { 1e-6, 1 }, { 1e-5, 2 }, { 1e-4, 2 }, { 1e-3, 4 }, { 1e-2, 8 } };
	uint32_t i, m;

	for (i = 0; i < 5; i++) {
		m = sdr_choice_rows(*state, known[i].p, 0, 64)[sdr_choice_rows_eps(1e-4 / 512)];
		assert_in_range(m, known[i].m, known[i].m + 1u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows__binomial),
		cmocka_unit_test(rows__chain),
		cmocka_unit_test(rows__are_rounded_to_the_safe_side),
		cmocka_unit_test(rows__adaptive_m),
	};

	return cmocka_run_group_tests(tests, create, destroy);
}
