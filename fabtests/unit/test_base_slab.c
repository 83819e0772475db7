/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* base/sdr_slab.h: objects are zeroed, apart, aligned, and as many as the limit says. */
#include "base/sdr_slab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static bool all(const uint8_t *p, size_t n, uint8_t v)
{
	while (n && *p == v)
		p++, n--;
	return !n;
}

static void slab__objects_are_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = { 1, 8, 15, 16, 17, 40, 200 };
	uint8_t *obj[300];

	(void)state;
	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct sdr_slab p;

		sdr_slab_init(&p, sizes[s], 1000);
		for (int twice = 0; twice < 2; twice++) {
			for (unsigned int i = 0; i < 300; i++) {
				obj[i] = sdr_slab_alloc(&p);
				assert_non_null(obj[i]);
				assert_int_equal((uintptr_t)obj[i] % 16, 0);
				assert_true(all(obj[i], sizes[s], 0));
				memset(obj[i], (int)i | 1, sizes[s]);
			}
			assert_int_equal(p.used, 300);
			for (unsigned int i = 0; i < 300; i++) {
				assert_true(all(obj[i], sizes[s], (uint8_t)(i | 1)));
				sdr_slab_free(&p, obj[i]);
			}
			assert_int_equal(p.used, 0);
		}
		sdr_slab_destroy(&p);
	}
}

static void slab__gives_the_limit_and_no_more(void **state)
{
	static const uint32_t limits[] = { 1, 7, 8, 9, 100, 129 };
	void *obj[129];

	(void)state;
	for (unsigned int l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
		struct sdr_slab p;

		sdr_slab_init(&p, 24, limits[l]);
		for (uint32_t i = 0; i < limits[l]; i++) {
			obj[i] = sdr_slab_alloc(&p);
			assert_non_null(obj[i]);
		}
		assert_null(sdr_slab_alloc(&p));
		assert_int_equal(p.total, limits[l]);
		sdr_slab_free(&p, obj[0]);
		sdr_slab_free(&p, NULL);
		assert_ptr_equal(sdr_slab_alloc(&p), obj[0]); /* last in, first out */
		assert_null(sdr_slab_alloc(&p));
		for (uint32_t i = 0; i < limits[l]; i++)
			sdr_slab_free(&p, obj[i]);
		sdr_slab_destroy(&p);
	}
}

static void slab__sound_means_none_is_missing(void **state)
{
	struct sdr_slab p;
	void *obj;

	(void)state;
	sdr_slab_init(&p, 64, 100);
	assert_true(sdr_slab_sound(&p));
	obj = sdr_slab_alloc(&p);
	assert_true(sdr_slab_sound(&p));
	p.used++;
	assert_false(sdr_slab_sound(&p));
	p.used--;
	sdr_slab_free(&p, obj);
	assert_true(sdr_slab_sound(&p));
	sdr_slab_destroy(&p);
}

/* Once warm it allocates nothing. */
static void slab__grows_to_what_was_used_at_once(void **state)
{
	struct sdr_slab p;
	void *obj[100];
	uint32_t total;

	(void)state;
	sdr_slab_init(&p, 64, 1u << 20);
	for (int i = 0; i < 100; i++)
		obj[i] = sdr_slab_alloc(&p);
	total = p.total;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 100; i++)
			sdr_slab_free(&p, obj[(i * 37) % 100]);
		for (int i = 0; i < 100; i++)
			obj[i] = sdr_slab_alloc(&p);
	}
	assert_int_equal(p.total, total);
	for (int i = 0; i < 100; i++)
		sdr_slab_free(&p, obj[i]);
	sdr_slab_destroy(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slab__objects_are_zeroed_aligned_and_apart),
		cmocka_unit_test(slab__gives_the_limit_and_no_more),
		cmocka_unit_test(slab__sound_means_none_is_missing),
		cmocka_unit_test(slab__grows_to_what_was_used_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
