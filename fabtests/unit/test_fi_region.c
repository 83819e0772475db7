/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The keys that the provider gives to memory regions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fi/sdr_domain.h"
#include "fi/sdr_region.h"

/*
 * SipHash-2-4, the vector of its authors (key 00 01 .. 0f, input 00 01 .. 07: 62 24 93 9a 79 f5 f5
 * 93): telling a key from others means breaking that.
 */
static void key__is_a_keyed_hash_of_its_number(void **state)
{
	static const uint64_t n = 0x0706050403020100ull;
	uint8_t secret[SDR_REGION_SECRET], bit;

	(void)state;
	for (unsigned int i = 0; i < SDR_REGION_SECRET; i++)
		secret[i] = (uint8_t)i;
	assert_true(sdr_region_key(secret, n) == (0x93f5f57900000000ull | (uint32_t)n));
	/* All of the secret counts. */
	for (unsigned int i = 0; i < 8 * SDR_REGION_SECRET; i++) {
		bit = (uint8_t)(1 << i % 8);
		secret[i / 8] ^= bit;
		assert_true(sdr_region_key(secret, n) >> 32 != 0x93f5f579);
		secret[i / 8] ^= bit;
	}
}

/* A key comes again after 2^32 registrations at the earliest, and then with another high half. */
static void key__is_used_once(void **state)
{
	uint8_t secret[SDR_REGION_SECRET] = { 1 };

	(void)state;
	for (uint64_t n = 1; n < 1000; n++) {
		assert_int_equal((uint32_t)sdr_region_key(secret, n), n);
		assert_true(sdr_region_key(secret, n) != sdr_region_key(secret, n + (1ull << 32)));
	}
}

/* What a domain gives out is that hash, under a secret of its own. */
static void key__of_a_domain(void **state)
{
	static const uint8_t none[SDR_REGION_SECRET];
	static struct sdr_domain dom[2];
	struct fid_mr *mr[10];
	char buf[8];

	(void)state;
	for (int i = 0; i < 2; i++) {
		dom[i].fid.fid.fclass = FI_CLASS_DOMAIN;
		dom[i].mr_prov_key = true;
		pthread_mutex_init(&dom[i].eps_lock, NULL);
		assert_int_equal(sdr_regions_init(&dom[i].regions), 0);
		assert_memory_not_equal(dom[i].regions.secret, none, SDR_REGION_SECRET);
		for (uint64_t k = 0; k < 10; k++) {
			assert_int_equal(sdr_mr_ops.reg(&dom[i].fid.fid, buf, sizeof(buf),
							FI_REMOTE_READ, 0, 3, 0, &mr[k], NULL),
					 0);
			assert_true(fi_mr_key(mr[k]) ==
				    sdr_region_key(dom[i].regions.secret, k + 1));
		}
		for (int k = 0; k < 10; k++)
			assert_int_equal(fi_close(&mr[k]->fid), 0);
	}
	assert_memory_not_equal(dom[0].regions.secret, dom[1].regions.secret, SDR_REGION_SECRET);
	for (int i = 0; i < 2; i++) {
		sdr_regions_fini(&dom[i].regions);
		pthread_mutex_destroy(&dom[i].eps_lock);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key__is_a_keyed_hash_of_its_number),
		cmocka_unit_test(key__is_used_once),
		cmocka_unit_test(key__of_a_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
