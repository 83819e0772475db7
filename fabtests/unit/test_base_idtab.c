/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* base/sdr_idtab.h: numbers that are out of date, or never were, find nothing. */
#include "base/sdr_idtab.h"
#include "base/sdr_rand.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void idtab__finds_by_number(void **state)
{
	struct sdr_idtab t = { 0 };
	uint32_t id[300];
	char obj[300];

	(void)state;
	assert_null(sdr_idtab_get(&t, 0));
	for (unsigned int i = 0; i < 300; i++)
		assert_int_equal(sdr_idtab_add(&t, &obj[i], &id[i]), 0);
	for (unsigned int i = 0; i < 300; i++) {
		assert_ptr_equal(sdr_idtab_get(&t, id[i]), &obj[i]);
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(id[i], id[j]);
	}
	sdr_idtab_destroy(&t);
	assert_null(sdr_idtab_get(&t, id[0]));
}

/* The slot is used again at once, the number after 4096 uses. */
static void idtab__a_number_comes_again_after_4096_uses(void **state)
{
	struct sdr_idtab t = { 0 };
	uint32_t first, id;
	char obj;

	(void)state;
	assert_int_equal(sdr_idtab_add(&t, &obj, &first), 0);
	sdr_idtab_del(&t, first);
	for (int use = 1; use < 4096; use++) {
		assert_int_equal(sdr_idtab_add(&t, &obj, &id), 0);
		assert_int_equal(id & (SDR_IDTAB_MAX - 1), first & (SDR_IDTAB_MAX - 1));
		assert_int_not_equal(id, first);
		assert_null(sdr_idtab_get(&t, first));
		sdr_idtab_del(&t, first); /* out of date: nothing happens */
		assert_ptr_equal(sdr_idtab_get(&t, id), &obj);
		sdr_idtab_del(&t, id);
		assert_null(sdr_idtab_get(&t, id));
	}
	assert_int_equal(sdr_idtab_add(&t, &obj, &id), 0);
	assert_int_equal(id, first);
	sdr_idtab_destroy(&t);
}

static void idtab__made_up_numbers_find_nothing(void **state)
{
	struct sdr_idtab t = { 0 };
	uint64_t rng = 6;
	uint32_t id;
	char obj;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(sdr_idtab_add(&t, &obj, &id), 0);
	for (int i = 0; i < 100000; i++) {
		id = (uint32_t)sdr_rand64(&rng);
		if (id >= 10) /* the ten are of use 0 */
			assert_null(sdr_idtab_get(&t, id));
	}
	sdr_idtab_destroy(&t);
}

static void idtab__holds_so_many_and_no_more(void **state)
{
	struct sdr_idtab t = { 0 };
	uint32_t id, one = 0;
	char obj;

	(void)state;
	for (uint32_t i = 0; i < SDR_IDTAB_MAX; i++) {
		assert_int_equal(sdr_idtab_add(&t, &obj, &id), 0);
		one = i == 77 ? id : one;
	}
	assert_int_equal(sdr_idtab_add(&t, &obj, &id), -ENOMEM);
	sdr_idtab_del(&t, one);
	assert_int_equal(sdr_idtab_add(&t, &obj, &id), 0);
	assert_int_equal(sdr_idtab_add(&t, &obj, &id), -ENOMEM);
	sdr_idtab_destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idtab__finds_by_number),
		cmocka_unit_test(idtab__a_number_comes_again_after_4096_uses),
		cmocka_unit_test(idtab__made_up_numbers_find_nothing),
		cmocka_unit_test(idtab__holds_so_many_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
