/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * base/sdr_rand.h beside the numbers that the authors of splitmix64 and SipHash published: streams
 * and keys must stay what they are.
 */
#include "base/sdr_rand.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void rand__splitmix64_is_the_published_one(void **state)
{
	static const uint64_t want[] = {
		6457827717110365317u, 3203168211198807973u,  9817491932198370423u,
		4593380528125082431u, 16408922859458223821u,
	};
	uint64_t s = 1234567, zero = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_true(sdr_rand64(&s) == want[i]);
	assert_true(sdr_rand64(&zero) == 0xe220a8397b1dcdafull);
	assert_true(sdr_rand64(&zero) == 0x6e789e6aa1b965f4ull);
	assert_true(zero == 2 * SDR_RAND_STEP);
}

static void rand__a_unit_is_the_upper_53_bits(void **state)
{
	uint64_t a = 42, b = 42;
	double sum = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		double u = sdr_rand_unit(&a);

		assert_true(u >= 0 && u < 1);
		assert_true(u * 0x1p53 == (double)(sdr_rand64(&b) >> 11));
		sum += u;
	}
	assert_true(sum > 4900 && sum < 5100);
}

static void siphash__is_the_published_one(void **state)
{
	static const struct {
		uint8_t len;
		uint64_t want;
	} vec[] = {
		{ 0, 0x726fdb47dd0e0e31ull },  { 1, 0x74f839c593dc67fdull },
		{ 2, 0x0d6c8009d9a94f5aull },  { 8, 0x93f5f5799a932462ull },
		{ 15, 0xa129ca6149be45e5ull },
	};
	uint8_t key[SDR_SIPHASH_KEY], in[16];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = in[i] = i;
	for (unsigned int i = 0; i < sizeof(vec) / sizeof(vec[0]); i++)
		assert_true(sdr_siphash(in, vec[i].len, key) == vec[i].want);
}

static void hash64__is_siphash_under_the_key_and_its_complement(void **state)
{
	static const uint8_t key[SDR_SIPHASH_KEY] = {
		8, 7, 6, 5, 4, 3, 2, 1, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe
	};
	static const char in[] = "sdr";

	(void)state;
	assert_true(sdr_hash64(in, 3, 0x0102030405060708ull) == sdr_siphash(in, 3, key));
	for (unsigned int bit = 0; bit < 64; bit++)
		assert_true(sdr_hash64(in, 3, 0x0102030405060708ull ^ 1ull << bit) !=
			    sdr_siphash(in, 3, key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rand__splitmix64_is_the_published_one),
		cmocka_unit_test(rand__a_unit_is_the_upper_53_bits),
		cmocka_unit_test(siphash__is_the_published_one),
		cmocka_unit_test(hash64__is_siphash_under_the_key_and_its_complement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
