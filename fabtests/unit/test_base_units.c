/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Ranges of bytes as bits of units: against a loop over bytes, for drawn ranges and units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/sdr_rand.h"
#include "base/sdr_units.h"

#define WORDS 8u

static void units__drawn(void **state)
{
	static uint8_t in[70000];
	uint64_t rng = 1;

	(void)state;
	for (int k = 0; k < 3000; k++) {
		uint64_t bits[WORDS] = { 0 }, pkts[64] = { 0 }, got = 0, front = 0;
		uint32_t mtu = 1 + (uint32_t)(sdr_rand64(&rng) % 64), npkts;
		struct sdr_units u = { .len = 1 + sdr_rand64(&rng) % 60000, .bits = bits };
		uint64_t words = sdr_rand64(&rng) % (WORDS + 1);

		if (u.len > 4096ull * mtu)
			u.len = 4096ull * mtu;
		npkts = (uint32_t)((u.len + mtu - 1) / mtu);
		u.unit = 1 + sdr_rand64(&rng) % (k % 3 ? 200 : 70000);
		u.first = sdr_rand64(&rng) % 4 * 64;
		u.words = words;
		memset(in, 0, sizeof(in));
		for (uint32_t i = 0; i < npkts; i++) {
			uint64_t end = (i + 1ull) * mtu < u.len ? (i + 1ull) * mtu : u.len;

			if (sdr_rand64(&rng) % 100 < (uint64_t)(k % 5) * 25) {
				pkts[i / 64] |= 1ull << i % 64;
				memset(in + (uint64_t)i * mtu, 1, end - (uint64_t)i * mtu);
			}
		}
		sdr_units_packets(&u, pkts, npkts, mtu, 0, u.len);
		sdr_units_end(&u);
		for (uint64_t i = 0; i < u.len; i++) {
			got += in[i];
			front += in[i] && front == i;
		}
		assert_int_equal(u.got, got);
		assert_int_equal(u.front, front);
		for (uint64_t b = u.first; b < u.first + WORDS * 64; b++) {
			uint64_t lo = b * u.unit, hi = lo + u.unit < u.len ? lo + u.unit : u.len;
			uint64_t i = b - u.first, want = lo < u.len && i < words * 64;

			for (uint64_t j = lo; j < hi && want; j++)
				want = in[j];
			assert_int_equal(bits[i / 64] >> i % 64 & 1, want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units__drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
