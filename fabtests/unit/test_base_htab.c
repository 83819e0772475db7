/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* base/sdr_htab.h beside a plain array, through every growth. */
#include "base/sdr_htab.h"
#include "base/sdr_list.h"
#include "base/sdr_rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#define ITEMS 500u

struct item {
	struct sdr_hnode node;
	uint64_t key;
	bool in;
};

static struct item *find(const struct sdr_htab *t, uint64_t hash, uint64_t key)
{
	for (struct sdr_hnode *n = sdr_htab_first(t, hash); n; n = n->next) {
		struct item *it = sdr_container(n, struct item, node);

		if (n->hash == hash && it->key == key)
			return it;
	}
	return NULL;
}

/* spread: how many bits of the hash differ; few make long chains of equal hashes */
static void run(uint64_t spread)
{
	static struct item it[ITEMS];
	struct sdr_htab t = { 0 };
	uint64_t rng = 5;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ITEMS; i++)
		it[i] = (struct item){ .key = i };
	for (uint32_t step = 0; step < 4 * ITEMS; step++) {
		uint32_t i = (uint32_t)(sdr_rand64(&rng) % ITEMS);
		uint64_t hash = sdr_mix64(i) & spread;

		assert_ptr_equal(find(&t, hash, i), it[i].in ? &it[i] : NULL);
		if (it[i].in)
			sdr_htab_del(&t, &it[i].node);
		else
			assert_int_equal(sdr_htab_add(&t, &it[i].node, hash), 0);
		it[i].in = !it[i].in;
		n += it[i].in ? 1u : -1u;
		assert_int_equal(t.n, n);
		assert_true(t.n <= t.mask + 1); /* load 1 at most */
	}
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_ptr_equal(find(&t, sdr_mix64(i) & spread, i), it[i].in ? &it[i] : NULL);
	sdr_htab_destroy(&t);
	assert_null(sdr_htab_first(&t, 0));
}

static void htab__finds_what_is_in_it_and_nothing_else(void **state)
{
	(void)state;
	run(~0ull);
}

static void htab__equal_hashes_are_told_apart_by_the_owner(void **state)
{
	(void)state;
	run(7);
	run(0);
}

static void htab__an_empty_one_has_nothing(void **state)
{
	struct sdr_htab t = { 0 };

	(void)state;
	assert_null(sdr_htab_first(&t, 1));
	sdr_htab_destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(htab__finds_what_is_in_it_and_nothing_else),
		cmocka_unit_test(htab__equal_hashes_are_told_apart_by_the_owner),
		cmocka_unit_test(htab__an_empty_one_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
