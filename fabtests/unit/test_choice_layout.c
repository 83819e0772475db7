/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the parity of a transfer lies: segments as long as they may be and about the same, and
 * parity over what was asked for, in whole segments.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "model/sdr_choice_layout.h"

#define UNIT 4096u
#define MAX  (64ull << 20)

/* A segment and its parity fit, and a longer one of its kind would not. */
static void seg__is_the_longest_that_fits_with_its_parity(void **state)
{
	(void)state;
	for (uint64_t max = UNIT; max <= 512 * UNIT; max += 7 * UNIT) {
		for (uint32_t k = 1; k <= 64; k++) {
			for (uint32_t m = 1; m <= 80; m++) {
				uint64_t seg = sdr_choice_seg(max, UNIT, k, m);
				uint64_t step = seg >= k * UNIT ? k * UNIT : UNIT;
				uint64_t next = seg + step;

				assert_int_equal(seg % UNIT, 0);
				assert_in_range(seg, UNIT, max);
				if (seg == UNIT)
					continue; /* never less, whatever its parity */
				assert_true(seg <= k * UNIT || seg % (k * UNIT) == 0);
				assert_true(seg * m <= max * k);
				/* the quotient is cut to whole bytes before it is multiplied */
				assert_true(next > max || next * m > (max - m) * k);
			}
		}
	}
}

static void seg__limits(void **state)
{
	(void)state;
	assert_int_equal(sdr_choice_seg(MAX, UNIT, 128, 8), MAX);
	assert_int_equal(sdr_choice_seg(MAX, UNIT, 100, 8), MAX / UNIT / 100 * 100 * UNIT);
	assert_int_equal(sdr_choice_seg(MAX, UNIT, 2, 8), MAX / 4);
	assert_int_equal(sdr_choice_seg(UNIT - 1, UNIT, 2, 8), UNIT);
	assert_int_equal(sdr_choice_seg(0, UNIT, 2, 8), UNIT);
}

/* Segments are even within a unit each; parity covers what was asked for, or the last segment. */
static void layout__covers_what_was_asked_for(void **state)
{
	uint64_t several = 0, one = 0, less = 0;

	(void)state;
	for (uint64_t len = 1; len < 90 * UNIT; len += 1733) {
		for (uint64_t cover = 1; cover <= len; cover += 2999) {
			for (uint64_t seg = UNIT; seg <= 40 * UNIT; seg += 3 * UNIT) {
				struct sdr_choice_layout o;
				uint64_t n, last;

				sdr_choice_layout(&o, len, cover, seg, UNIT);
				n = (len + o.seg - 1) / o.seg;
				last = (n - 1) * o.seg;
				assert_true(o.seg <= seg && o.seg % UNIT == 0);
				assert_true(n <= (len + seg - 1) / seg);
				assert_true(o.seg == seg || (o.seg - UNIT) * n < len);
				assert_true(o.from < len && o.from % UNIT == 0);
				assert_true(o.from % o.seg == 0 || o.from > last);
				if (cover > o.seg) {
					assert_true(len - o.from >= cover);
					assert_true(len - o.from < cover + o.seg + UNIT);
					several++;
				} else if (len - o.from >= cover) {
					assert_true(len - o.from < cover + UNIT);
					one++;
				} else {
					assert_int_equal(o.from, last);
					less++;
				}
			}
		}
	}
	assert_true(several > 1000 && one > 1000 && less > 1000);
}

/* What the model asks for: messages up to 2^63 bytes. */
static void layout__of_the_longest_message(void **state)
{
	struct sdr_choice_layout o;

	(void)state;
	sdr_choice_layout(&o, 1ull << 63, 1ull << 63, MAX, UNIT);
	assert_true(o.seg == MAX && o.from == 0);
	sdr_choice_layout(&o, 1ull << 63, 1, MAX, UNIT);
	assert_true(o.seg == MAX && o.from == (1ull << 63) - UNIT);
	sdr_choice_layout(&o, (1ull << 63) + UNIT, UNIT, MAX, UNIT);
	assert_true(o.seg == MAX && o.from == 1ull << 63);
	sdr_choice_layout(&o, (1ull << 63) - 1, 3 * MAX, MAX, UNIT);
	assert_true(o.seg == MAX && o.from == (1ull << 63) - 4 * MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seg__is_the_longest_that_fits_with_its_parity),
		cmocka_unit_test(seg__limits),
		cmocka_unit_test(layout__covers_what_was_asked_for),
		cmocka_unit_test(layout__of_the_longest_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
