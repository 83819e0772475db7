/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* base/sdr_timerq.h beside a walk over all timers: arming, moving either way, disarming, firing. */
#include "base/sdr_timerq.h"
#include "base/sdr_rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define TIMERS 100u

static struct sdr_timer timer[TIMERS];
static uint64_t when[TIMERS]; /* UINT64_MAX: not armed */

static uint64_t model_next(void)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < TIMERS; i++)
		least = when[i] < least ? when[i] : least;
	return least;
}

static void assert_heap(const struct sdr_timerq *q)
{
	uint32_t armed = 0;

	for (uint32_t i = 0; i < TIMERS; i++) {
		assert_int_equal(timer[i].pos != 0, when[i] != UINT64_MAX);
		if (!timer[i].pos)
			continue;
		armed++;
		assert_ptr_equal(q->heap[timer[i].pos - 1], &timer[i]);
		assert_true(timer[i].when == when[i]);
	}
	assert_int_equal(q->n, armed);
	for (uint32_t i = 1; i < q->n; i++)
		assert_true(q->heap[(i - 1) / 2]->when <= q->heap[i]->when);
	assert_true(sdr_timerq_next(q) == model_next());
}

static void timerq__is_a_heap_whatever_is_set(void **state)
{
	struct sdr_timerq q = { 0 };
	uint64_t rng = 7;

	(void)state;
	assert_int_equal(sdr_timerq_reserve(&q, TIMERS), 0);
	for (uint32_t i = 0; i < TIMERS; i++)
		when[i] = UINT64_MAX;
	for (int step = 0; step < 5000; step++) {
		uint32_t i = (uint32_t)(sdr_rand64(&rng) % TIMERS);

		when[i] = sdr_rand64(&rng) % 4 ? sdr_rand64(&rng) % 1000 : UINT64_MAX;
		sdr_timerq_set(&q, &timer[i], when[i]);
		assert_heap(&q);
	}
	sdr_timerq_destroy(&q);
}

static void timerq__sound_means_a_heap(void **state)
{
	struct sdr_timer t[3] = { { 0 } };
	struct sdr_timerq q = { 0 };

	(void)state;
	assert_int_equal(sdr_timerq_reserve(&q, 3), 0);
	assert_true(sdr_timerq_sound(&q));
	for (uint64_t i = 0; i < 3; i++)
		sdr_timerq_set(&q, &t[i], i);
	assert_true(sdr_timerq_sound(&q));
	t[1].pos++;
	assert_false(sdr_timerq_sound(&q));
	t[1].pos--;
	t[0].when = 9; /* behind the queue's back */
	assert_false(sdr_timerq_sound(&q));
	sdr_timerq_destroy(&q);
}

static void timerq__fires_in_order_and_not_before_time(void **state)
{
	struct sdr_timerq q = { 0 };
	uint64_t rng = 8, last = 0;
	struct sdr_timer *t;

	(void)state;
	assert_int_equal(sdr_timerq_reserve(&q, TIMERS), 0);
	for (uint32_t i = 0; i < TIMERS; i++) {
		timer[i] = (struct sdr_timer){ 0 };
		when[i] = sdr_rand64(&rng) % 50;
		sdr_timerq_set(&q, &timer[i], when[i]);
	}
	for (uint64_t now = 0; now < 50; now++) {
		while ((t = sdr_timerq_due(&q, now))) {
			assert_int_equal(t->pos, 0);
			assert_true(t->when >= last && t->when <= now);
			last = t->when;
			when[t - timer] = UINT64_MAX;
			assert_heap(&q);
		}
		assert_true(model_next() > now);
	}
	assert_int_equal(q.n, 0);
	assert_true(sdr_timerq_next(&q) == UINT64_MAX);
	sdr_timerq_destroy(&q);
}

static void timerq__disarming_what_is_not_armed_is_harmless(void **state)
{
	struct sdr_timerq q = { 0 };
	struct sdr_timer t = { 0 };

	(void)state;
	assert_int_equal(sdr_timerq_reserve(&q, 1), 0);
	sdr_timerq_set(&q, &t, UINT64_MAX);
	assert_int_equal(q.n, 0);
	sdr_timerq_set(&q, &t, 5);
	sdr_timerq_set(&q, &t, 5);
	assert_int_equal(q.n, 1);
	assert_null(sdr_timerq_due(&q, 4));
	assert_ptr_equal(sdr_timerq_due(&q, 5), &t);
	sdr_timerq_destroy(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timerq__is_a_heap_whatever_is_set),
		cmocka_unit_test(timerq__sound_means_a_heap),
		cmocka_unit_test(timerq__fires_in_order_and_not_before_time),
		cmocka_unit_test(timerq__disarming_what_is_not_armed_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
