/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* base/sdr_list.h: order, and that every node stays a list of its own when it is in none. */
#include "base/sdr_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
	int n;
	struct sdr_list link;
};

/* The numbers in order as decimal digits, from both ends. */
static void assert_items(const struct sdr_list *head, uint64_t want)
{
	uint64_t forth = 0, back = 0, scale = 1;
	struct sdr_list *e;

	sdr_list_each(e, head)
		forth = forth * 10 + (uint64_t)sdr_container(e, struct item, link)->n;
	for (e = head->prev; e != head; e = e->prev, scale *= 10)
		back += (uint64_t)sdr_container(e, struct item, link)->n * scale;
	assert_int_equal(forth, want);
	assert_int_equal(back, want);
	assert_int_equal(sdr_list_empty(head), want == 0);
}

static void items_init(struct item *it, int n)
{
	for (int i = 0; i < n; i++) {
		it[i].n = i + 1;
		sdr_list_init(&it[i].link);
	}
}

static void list__keeps_the_order_of_both_ends(void **state)
{
	struct sdr_list l;
	struct item it[5];

	(void)state;
	sdr_list_init(&l);
	items_init(it, 5);
	assert_items(&l, 0);
	sdr_list_add_tail(&it[0].link, &l);
	sdr_list_add_tail(&it[1].link, &l);
	assert_items(&l, 12);
	sdr_list_add_head(&it[2].link, &l);
	assert_items(&l, 312);
	sdr_list_add_before(&it[3].link, &it[0].link);
	sdr_list_add_before(&it[4].link, &it[1].link);
	assert_items(&l, 34152);
}

static void list__removing_twice_is_harmless(void **state)
{
	struct sdr_list l;
	struct item it[3];

	(void)state;
	sdr_list_init(&l);
	items_init(it, 3);
	for (int i = 0; i < 3; i++)
		sdr_list_add_tail(&it[i].link, &l);
	for (int twice = 0; twice < 2; twice++) {
		sdr_list_del(&it[1].link);
		assert_items(&l, 13);
		assert_true(sdr_list_empty(&it[1].link));
	}
	assert_ptr_equal(sdr_list_pop(&l), &it[0].link);
	assert_true(sdr_list_empty(&it[0].link));
	assert_ptr_equal(sdr_list_pop(&l), &it[2].link);
	assert_null(sdr_list_pop(&l));
}

static void list__each_safe_survives_removal(void **state)
{
	struct sdr_list l, *e, *tmp;
	struct item it[6];

	(void)state;
	sdr_list_init(&l);
	items_init(it, 6);
	for (int i = 0; i < 6; i++)
		sdr_list_add_tail(&it[i].link, &l);
	sdr_list_each_safe(e, tmp, &l) {
		if (sdr_container(e, struct item, link)->n % 2)
			sdr_list_del(e);
	}
	assert_items(&l, 246);
}

static void list__move_appends_all_and_empties(void **state)
{
	struct sdr_list a, b;
	struct item it[4];

	(void)state;
	sdr_list_init(&a);
	sdr_list_init(&b);
	items_init(it, 4);
	sdr_list_move(&b, &a);
	assert_items(&a, 0);
	sdr_list_add_tail(&it[0].link, &b);
	sdr_list_add_tail(&it[1].link, &b);
	sdr_list_move(&b, &a); /* to an empty one */
	assert_items(&a, 12);
	assert_items(&b, 0);
	sdr_list_add_tail(&it[2].link, &b);
	sdr_list_move(&b, &a);
	assert_items(&a, 123);
	assert_items(&b, 0);
	sdr_list_add_tail(&it[3].link, &b); /* the emptied one is usable */
	assert_items(&b, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list__keeps_the_order_of_both_ends),
		cmocka_unit_test(list__removing_twice_is_harmless),
		cmocka_unit_test(list__each_safe_survives_removal),
		cmocka_unit_test(list__move_appends_all_and_empties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
