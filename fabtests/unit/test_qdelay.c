/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How long packets queue: the smallest round trip of a round above the smallest remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_qdelay.h"
#include "test_draw.h"

#define US	1000ull
#define MS	1000000ull
#define TARGET	(100 * MS)
#define STRETCH SDR_QDELAY_STRETCH_NS

static void qdelay__without_samples(void **state)
{
	struct sdr_qdelay q;

	(void)state;
	sdr_qdelay_init(&q, 7 * MS);
	assert_true(q.base == 0 && q.queue == 0);
	assert_true(sdr_qdelay_now(&q) == 0);
	assert_false(sdr_qdelay_round(&q, TARGET, 0, false));
	sdr_qdelay_sample(&q, 8 * MS, 25 * MS);
	sdr_qdelay_sample(&q, 9 * MS, 28 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false));
	sdr_qdelay_sample(&q, 10 * MS, 29 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false));
	/* a round that nothing is known of does not say that the queue has gone */
	assert_false(sdr_qdelay_round(&q, TARGET, 0, false));
	assert_true(q.queue == 4 * MS && sdr_qdelay_now(&q) == 4 * MS);
}

static void qdelay__is_the_smallest_of_a_round(void **state)
{
	struct sdr_qdelay q;

	(void)state;
	sdr_qdelay_init(&q, 0);
	sdr_qdelay_sample(&q, 1 * MS, 25 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false) && q.queue == 0);
	sdr_qdelay_sample(&q, 30 * MS, 31 * MS);
	assert_true(q.queue == 0 && sdr_qdelay_now(&q) == 6 * MS);
	sdr_qdelay_sample(&q, 31 * MS, 27 * MS);
	sdr_qdelay_sample(&q, 32 * MS, 40 * MS);
	assert_true(sdr_qdelay_now(&q) == 2 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false) && q.queue == 2 * MS);
	/* of that round only */
	sdr_qdelay_sample(&q, 60 * MS, 33 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false) && q.queue == 8 * MS);
	/* a new smallest is no queue */
	sdr_qdelay_sample(&q, 90 * MS, 24 * MS);
	assert_true(q.base == 24 * MS);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false) && q.queue == 0);
}

/* As the caller says, between the smallest and a mean that what is late hardly moves. */
static void qdelay__is_a_mean_where_packets_are_few(void **state)
{
	static const uint64_t rtt[] = { 250, 350, 350, 20000 };
	static const double even[] = { 0, 0.5, 1 };
	static const uint64_t least[] = { 50, 115, 180 }, most[] = { 50, 130, 210 };
	struct sdr_qdelay q;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		sdr_qdelay_init(&q, 0);
		sdr_qdelay_sample(&q, 1, 200 * US);
		assert_true(sdr_qdelay_round(&q, TARGET, even[i], false) && q.queue == 0);
		for (k = 0; k < 4; k++)
			sdr_qdelay_sample(&q, 2 + k, rtt[k] * US);
		assert_true(q.last == 20000 * US);
		assert_true(sdr_qdelay_round(&q, TARGET, even[i], false));
		assert_in_range(q.queue, least[i] * US, most[i] * US);
	}
}

/* Full packets take longer than those before them, however long they queue. */
static void qdelay__the_time_of_a_full_packet(void **state)
{
	struct sdr_qdelay q;
	uint64_t t;

	(void)state;
	sdr_qdelay_init(&q, 0);
	sdr_qdelay_sample(&q, 1, 300 * US);
	assert_true(sdr_qdelay_slot(&q) == 0);
	sdr_qdelay_full(&q, 300 * US);
	sdr_qdelay_least(&q, 200 * US);
	assert_true(q.base == 200 * US && sdr_qdelay_slot(&q) == 100 * US);
	sdr_qdelay_full(&q, 500 * US);
	sdr_qdelay_full(&q, 272 * US);
	assert_true(sdr_qdelay_slot(&q) == 72 * US);
	/* it is forgotten as the base is */
	for (t = STRETCH; t < 4 * STRETCH; t += STRETCH) {
		sdr_qdelay_sample(&q, t, 400 * US);
		sdr_qdelay_full(&q, 600 * US);
	}
	assert_true(q.base == 400 * US && sdr_qdelay_slot(&q) == 200 * US);
}

static void qdelay__forgets_after_one_to_two_stretches(void **state)
{
	uint64_t t, grew[2] = { 0, 0 };
	struct sdr_qdelay q;
	uint32_t i;

	(void)state;
	/* the shortest round trip was seen at the begin of a stretch, and at its end */
	for (i = 0; i < 2; i++) {
		sdr_qdelay_init(&q, 0);
		for (t = 0; t < STRETCH; t += 100 * MS)
			sdr_qdelay_sample(&q, t,
					  t == (i ? STRETCH - 100 * MS : 0) ? 25 * MS : 30 * MS);
		assert_true(q.base == 25 * MS);
		for (; t < 4 * STRETCH; t += 100 * MS) {
			sdr_qdelay_sample(&q, t, 30 * MS);
			if (!grew[i] && q.base == 30 * MS)
				grew[i] = t;
			assert_true(q.base == (grew[i] ? 30 : 25) * MS);
		}
		assert_true(grew[i] == 2 * STRETCH);
	}
}

static void qdelay__a_shorter_path_counts_at_once(void **state)
{
	struct sdr_qdelay q;

	(void)state;
	sdr_qdelay_init(&q, 0);
	sdr_qdelay_sample(&q, 0, 25 * MS);
	sdr_qdelay_sample(&q, STRETCH + 1, 20 * MS);
	assert_true(q.base == 20 * MS);
	/* and is what is remembered then */
	sdr_qdelay_sample(&q, 2 * STRETCH + 1, 25 * MS);
	assert_true(q.base == 20 * MS);
	sdr_qdelay_sample(&q, 3 * STRETCH + 1, 25 * MS);
	assert_true(q.base == 25 * MS);
}

static void qdelay__another_path(void **state)
{
	struct sdr_qdelay q;

	(void)state;
	sdr_qdelay_init(&q, 0);
	sdr_qdelay_sample(&q, 1 * MS, 25 * MS);
	sdr_qdelay_sample(&q, STRETCH, 26 * MS);
	sdr_qdelay_forget(&q, STRETCH + 1, 80 * MS);
	assert_true(q.base == 80 * MS && q.samples == 1);
	assert_true(sdr_qdelay_round(&q, TARGET, 0, false) && q.queue == 0);
	/* the stretch begins with it */
	sdr_qdelay_sample(&q, 2 * STRETCH, 90 * MS);
	assert_true(q.base == 80 * MS && sdr_qdelay_now(&q) == 10 * MS);
}

/* A round of n: each is base, but for some that are later by so much. */
static void noisy(struct sdr_qdelay *q, uint64_t *now, uint32_t n, uint64_t rtt, double share,
		  uint64_t later)
{
	for (uint32_t i = 0; i < n; i++) {
		*now += MS / 10;
		sdr_qdelay_sample(q, *now, rtt + (draw() < share ? later : 0));
	}
	assert_true(sdr_qdelay_round(q, MS, 0, false));
}

static void qdelay__chance_is_no_queue(void **state)
{
	struct sdr_qdelay q;
	uint32_t seen = 0;
	uint64_t now = 0;

	(void)state;
	seed = 1;
	sdr_qdelay_init(&q, now);
	for (uint32_t i = 0; i < 100; i++)
		noisy(&q, &now, 64, 20 * MS, 0.75, 8 * MS);
	assert_true(q.base == 20 * MS && q.noise > 0.5 * MS && q.noise < 6.0 * MS);
	/* rounds of three: most of them meet no packet that was on time */
	for (uint32_t i = 0; i < 2000; i++) {
		noisy(&q, &now, 3, 20 * MS, 0.75, 8 * MS);
		seen += (double)q.queue > q.noise;
	}
	assert_in_range(seen, 0, 20);
	/* a queue is seen nevertheless, once there are samples enough */
	for (uint32_t i = 0; i < 10; i++)
		noisy(&q, &now, 64, 30 * MS, 0.75, 8 * MS);
	assert_true(q.queue == 10 * MS);
}

static void qdelay__a_queue_that_moves_slowly_is_no_noise(void **state)
{
	struct sdr_qdelay q;
	uint64_t now = 0;
	uint32_t i;

	(void)state;
	sdr_qdelay_init(&q, now);
	for (i = 0; i < 400; i++) { /* it grows to 10 ms, a fortieth at a time */
		sdr_qdelay_sample(&q, now += MS, 20 * MS + i * MS / 40);
		if (i % 8 == 7)
			assert_true(sdr_qdelay_round(&q, MS, 0, false));
	}
	assert_true(q.noise < 0.026 * MS && q.queue > 9.7 * MS);
}

/* n samples of a flight that leaves faster than the path takes it, and noise: how it ended, ns. */
static struct sdr_qdelay flight_of(uint32_t n, double noise)
{
	struct sdr_qdelay q;
	uint64_t now = 0;

	seed = 1;
	sdr_qdelay_init(&q, now);
	sdr_qdelay_least(&q, 20 * MS);
	for (uint32_t i = 0; i < n; i++)
		sdr_qdelay_sample(&q, now += MS,
				  20 * MS + i * 2 * MS / n + (uint64_t)(noise * draw()));
	sdr_qdelay_round(&q, MS, 0, false);
	return q;
}

/* The smallest of a round is its head's; its end is told by itself, where samples are enough. */
static void qdelay__how_a_flight_ends(void **state)
{
	struct sdr_qdelay q = flight_of(40, 0);

	(void)state;
	assert_int_equal(q.queue, 0);
	assert_in_range(q.ended, 3 * MS / 2, 2 * MS);
	/* the next one begins anew */
	for (uint32_t i = 0; i < 40; i++)
		sdr_qdelay_sample(&q, 100 * MS + i, 20 * MS + MS / 10);
	sdr_qdelay_round(&q, MS, 0, false);
	assert_int_equal(q.ended, MS / 10);
	q = flight_of(8, 0);
	assert_int_equal(q.ended, q.queue);
	q = flight_of(40, 8.0 * MS);
	assert_int_equal(q.ended, q.queue);
}

/* Each packet and each answer by chance up to a millisecond later, rounds of n: mean queue, ns. */
static double overtaken(uint32_t n, uint64_t queue, bool chance)
{
	uint64_t now = 0, sum = 0, rtt;
	struct sdr_qdelay q;

	seed = 1;
	sdr_qdelay_init(&q, now);
	for (uint32_t i = 0; i < 3000; i++) {
		for (uint32_t k = 0; k < n; k++) {
			rtt = MS / 5 + (uint64_t)((draw() + draw()) * MS);
			sdr_qdelay_sample(&q, now += MS / 10, rtt + (i < 1000 ? 0 : queue));
		}
		sdr_qdelay_round(&q, MS / 10, 0, chance);
		sum += i < 2000 ? 0 : q.queue;
	}
	return (double)sum / 1000;
}

/* Where packets overtake, the smallest of a few is above the smallest of all without a queue. */
static void qdelay__where_packets_overtake(void **state)
{
	(void)state;
	assert_true(overtaken(4, 0, false) > 0.15 * MS);
	assert_true(overtaken(4, 0, true) < 0.04 * MS);
	/* a queue is still seen: that of few samples up to the noise */
	assert_true(overtaken(4, MS, true) > 0.4 * MS);
	assert_true(overtaken(16, MS, true) > 0.8 * MS && overtaken(16, MS, true) < 1.1 * MS);
	assert_true(overtaken(16, MS / 2, true) > 0.3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qdelay__without_samples),
		cmocka_unit_test(qdelay__is_the_smallest_of_a_round),
		cmocka_unit_test(qdelay__is_a_mean_where_packets_are_few),
		cmocka_unit_test(qdelay__the_time_of_a_full_packet),
		cmocka_unit_test(qdelay__forgets_after_one_to_two_stretches),
		cmocka_unit_test(qdelay__a_shorter_path_counts_at_once),
		cmocka_unit_test(qdelay__another_path),
		cmocka_unit_test(qdelay__chance_is_no_queue),
		cmocka_unit_test(qdelay__where_packets_overtake),
		cmocka_unit_test(qdelay__how_a_flight_ends),
		cmocka_unit_test(qdelay__a_queue_that_moves_slowly_is_no_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
