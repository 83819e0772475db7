/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * base/sdr_ring.h: positions stay what they are while it grows and wraps at 2^32, the limit holds,
 * and elements that others point to are moved.
 */
#include "base/sdr_list.h"
#include "base/sdr_rand.h"
#include "base/sdr_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct sdr_ring_kind number_kind = { sizeof(uint64_t), 4, 64, NULL };

/* Each element holds its position. */
static void number_push(struct sdr_ring *r)
{
	uint32_t pos = r->tail;

	assert_int_equal(sdr_ring_room(r, &number_kind), 0);
	*sdr_ring_spare(r, uint64_t) = pos;
	assert_int_equal(sdr_ring_push(r), pos);
}

static void assert_numbers(const struct sdr_ring *r)
{
	for (uint32_t pos = r->head; pos != r->tail; pos++) {
		assert_true(sdr_ring_has(r, pos));
		assert_true(*sdr_ring_at(r, uint64_t, pos) == pos);
	}
	assert_false(sdr_ring_has(r, r->tail));
	assert_false(sdr_ring_has(r, r->head - 1));
	assert_true(r->cap == 0 || !(r->cap & (r->cap - 1)));
}

static void ring__keeps_positions_while_it_grows_and_wraps(void **state)
{
	static const uint32_t starts[] = { 0, 3, UINT32_MAX - 1, UINT32_MAX - 40, 0x7ffffff0 };
	uint64_t rng = 3;

	(void)state;
	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct sdr_ring r = { .head = starts[i], .tail = starts[i] };

		for (int step = 0; step < 2000; step++) {
			if (sdr_ring_len(&r) < 64 && sdr_rand64(&rng) % 8 < 5)
				number_push(&r);
			else if (!sdr_ring_empty(&r))
				sdr_ring_pop(&r);
			assert_numbers(&r);
		}
		assert_int_equal(r.cap, 64);
		sdr_ring_destroy(&r);
		assert_true(sdr_ring_empty(&r));
	}
}

static void ring__is_bounded_and_unchanged_at_the_limit(void **state)
{
	struct sdr_ring r = { 0 };

	(void)state;
	for (int i = 0; i < 64; i++)
		number_push(&r);
	assert_int_equal(sdr_ring_room(&r, &number_kind), -ENOMEM);
	assert_int_equal(sdr_ring_len(&r), 64);
	assert_numbers(&r);
	sdr_ring_pop(&r);
	number_push(&r);
	assert_int_equal(r.cap, 64);
	assert_numbers(&r);
	sdr_ring_destroy(&r);
}

struct node {
	struct sdr_list head;
};

static void node_move(void *to, void *from)
{
	struct node *a = to, *b = from;

	sdr_list_init(&a->head);
	sdr_list_move(&b->head, &a->head);
}

static void ring__moves_what_others_point_to(void **state)
{
	static const struct sdr_ring_kind kind = { sizeof(struct node), 2, 16, node_move };
	struct sdr_ring r = { 0 };
	struct sdr_list item[16];

	(void)state;
	for (int i = 0; i < 16; i++) {
		assert_int_equal(sdr_ring_room(&r, &kind), 0);
		sdr_list_init(&sdr_ring_spare(&r, struct node)->head);
		sdr_list_add_tail(&item[i], &sdr_ring_spare(&r, struct node)->head);
		sdr_ring_push(&r);
	}
	for (uint32_t i = 0; i < 16; i++) {
		struct sdr_list *head = &sdr_ring_at(&r, struct node, i)->head;

		assert_ptr_equal(head->next, &item[i]);
		assert_ptr_equal(item[i].next, head);
		assert_ptr_equal(item[i].prev, head);
	}
	sdr_ring_destroy(&r);
}

/* As an index: numbers come in any order within a window that moves on. */
static void reach__makes_any_number_a_position(void **state)
{
	uint8_t model[4096] = { 0 };
	struct sdr_ring r = { 0 };
	uint64_t rng = 4;
	uint32_t base = 0;

	(void)state;
	for (int step = 0; step < 20000 && base + 64 < sizeof(model); step++) {
		uint32_t pos = base + (uint32_t)(sdr_rand64(&rng) % 60);

		assert_int_equal(sdr_ring_reach(&r, &number_kind, pos), 0);
		assert_true(sdr_ring_has(&r, pos));
		model[pos] = 1;
		*sdr_ring_at(&r, uint64_t, pos) = pos + 1;
		for (uint32_t i = r.head; i != r.tail; i++)
			assert_true(*sdr_ring_at(&r, uint64_t, i) == (model[i] ? i + 1 : 0));
		for (base += sdr_rand64(&rng) % 3; !sdr_ring_empty(&r) && r.head < base;)
			sdr_ring_pop(&r);
	}
	assert_int_equal(r.cap, 64);
	sdr_ring_destroy(&r);
}

static void reach__is_bounded_at_both_ends(void **state)
{
	struct sdr_ring r = { 0 };

	(void)state;
	assert_int_equal(sdr_ring_reach(&r, &number_kind, UINT32_MAX), 0);
	*sdr_ring_at(&r, uint64_t, UINT32_MAX) = 9;
	assert_int_equal(sdr_ring_reach(&r, &number_kind, 62), 0); /* across the wrap */
	assert_int_equal(sdr_ring_reach(&r, &number_kind, 63), -ENOMEM);
	assert_int_equal(sdr_ring_reach(&r, &number_kind, UINT32_MAX - 1), -ENOMEM);
	assert_int_equal(sdr_ring_len(&r), 64);
	assert_int_equal(*sdr_ring_at(&r, uint64_t, UINT32_MAX), 9);
	assert_int_equal(*sdr_ring_at(&r, uint64_t, 62), 0);
	sdr_ring_destroy(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring__keeps_positions_while_it_grows_and_wraps),
		cmocka_unit_test(ring__is_bounded_and_unchanged_at_the_limit),
		cmocka_unit_test(ring__moves_what_others_point_to),
		cmocka_unit_test(reach__makes_any_number_a_position),
		cmocka_unit_test(reach__is_bounded_at_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
