/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leaky bucket: average rate, burst bound over every interval and at one moment, wake-ups by the
 * span, idle and late callers, changes of rate, span and packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "rel/path/sdr_pacer.h"

#define PKT 4132u /* bytes of a packet on the wire */
#define S   1000000000ull

static uint64_t rng_state = 42;

static uint64_t rng(uint64_t n)
{
	rng_state = rng_state * 6364136223846793005ull + 1442695040888963407ull;
	return (rng_state >> 33) % n;
}

/* What a run sent, and how. */
struct run {
	uint64_t total; /* bytes */
	uint64_t wakes;
	double burst;	 /* highest level of a queue that drains at the rate */
	uint64_t batch;	 /* largest: bytes that left at one moment */
	uint64_t bounds; /* of the two, as the pacer promises them */
	uint64_t batch_max;
};

/* Sends while allowed, sleeps until next plus `late` plus up to `jitter`. */
static struct run pacer_greedy(uint64_t rate, uint64_t span, uint64_t dur, uint64_t late,
			       uint64_t jitter)
{
	uint64_t now = 777, end = now + dur, last = now, next, batch, owed;
	struct run r = { 0 };
	struct sdr_pacer p;
	double level = 0;

	sdr_pacer_init(&p, PKT, now);
	sdr_pacer_span_set(&p, span);
	sdr_pacer_rate_set(&p, rate, now);
	owed = SDR_PACER_OWED_SPANS * p.span;
	if (owed < SDR_PACER_OWED_MIN_NS)
		owed = SDR_PACER_OWED_MIN_NS;
	r.bounds = p.quantum + rate * owed / S + 2 * PKT;
	r.batch_max = sdr_pacer_burst(&p) + PKT;
	while (now < end) {
		level -= (double)rate * (double)(now - last) / 1e9;
		if (level < 0)
			level = 0;
		last = now;
		for (batch = 0; sdr_pacer_allow(&p, now) > 0; batch += PKT)
			sdr_pacer_sent(&p, PKT);
		r.total += batch;
		level += (double)batch;
		if (level > r.burst)
			r.burst = level;
		if (batch > r.batch)
			r.batch = batch;
		r.wakes++;
		next = sdr_pacer_next(&p, now);
		assert_true(next > now);
		now = next + late + (jitter ? rng(jitter) : 0);
	}
	return r;
}

static const uint64_t rates[] = { 125000, 12500000, 125000000, 1250000000, 12500000000ull };
static const uint64_t spans[] = { 0, 20000, 100000, 250000, 500000, S };

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void pacer__meets_the_rate_and_the_burst(void **state)
{
	static const uint64_t late[] = { 0, 40000, 66000 };
	uint32_t i, j, k;
	struct run r;

	(void)state;
	for (i = 0; i < N(rates); i++) {
		for (j = 0; j < N(spans); j++) {
			for (k = 0; k < N(late); k++) {
				r = pacer_greedy(rates[i], spans[j], S, late[k], late[k] / 2);
				assert_true(r.burst <= (double)r.bounds);
				assert_true(r.batch <= r.batch_max);
				assert_true(r.total <= rates[i] + r.bounds);
				assert_true(r.total + r.total / 200 + r.bounds >= rates[i]);
			}
		}
	}
}

/* A caller that sleeps 10 ms each time does not get everything back, and never at once. */
static void pacer__late_is_bounded(void **state)
{
	struct run r = pacer_greedy(125000000, 250000, S, 0, 20000000);

	(void)state;
	assert_true(r.total < 125000000 / 2);
	assert_true(r.batch <= 2 * 31250 + PKT);
	/* ... on a near path it is less */
	r = pacer_greedy(125000000, 20000, S, 0, 20000000);
	assert_true(r.batch <= PKT + 12500 + PKT);
}

/* How often a sender is woken for what a second carries. */
static void pacer__wakes_by_the_span(void **state)
{
	uint32_t j;
	struct run r;

	(void)state;
	for (j = 0; j < N(spans); j++) {
		uint64_t ns = spans[j] < 20000 ? 20000 : spans[j] > 750000 ? 750000 : spans[j];
		uint64_t q = 125000000 / 1000 * ns / 1000000;

		if (q < PKT)
			q = PKT; /* a packet, no more */
		r = pacer_greedy(125000000, spans[j], S, 0, 0);
		assert_true(r.wakes <= 125000000 / q + 2);
		assert_true(r.batch <= q + PKT - 1);
		if (q == PKT)
			assert_true(r.batch == PKT);
	}
	/* no batch is larger than a quarter of a megabyte and a packet, however fast the path */
	r = pacer_greedy(100 * S, S, S / 100, 0, 0);
	assert_true(r.batch <= SDR_PACER_QUANTUM_MAX + PKT);
}

static void pacer_open(struct sdr_pacer *p, uint64_t rate, uint64_t span)
{
	sdr_pacer_init(p, PKT, 0);
	sdr_pacer_span_set(p, span);
	sdr_pacer_rate_set(p, rate, 0);
}

static void pacer__idle_earns_one_quantum(void **state)
{
	struct sdr_pacer p;
	uint64_t n = 0;

	(void)state;
	pacer_open(&p, 1250000000, 50000);
	assert_true(p.quantum == 62500);
	assert_true(sdr_pacer_allow(&p, 0) == 62500);
	sdr_pacer_sent(&p, 1000); /* not used up: the pacer does not wait */
	assert_true(sdr_pacer_allow(&p, 0) == 61500);
	assert_true(sdr_pacer_next(&p, 0) == 0);
	assert_true(sdr_pacer_allow(&p, 100 * S) == 62500);
	while (sdr_pacer_allow(&p, 100 * S)) {
		sdr_pacer_sent(&p, PKT);
		n += PKT;
	}
	assert_true(n < 62500 + PKT);
	assert_true(sdr_pacer_next(&p, 100 * S) > 100 * S);
}

/* Who used up the credit with its last packet and asked for no more is not late. */
static void pacer__only_who_was_told_to_wait_is_late(void **state)
{
	struct sdr_pacer p;

	(void)state;
	pacer_open(&p, 1000000000, 50000);
	sdr_pacer_sent(&p, 50000);
	assert_true(sdr_pacer_allow(&p, 10 * S) == 50000);
	sdr_pacer_sent(&p, 50000);
	assert_true(sdr_pacer_allow(&p, 10 * S) == 0);
	assert_true(sdr_pacer_allow(&p, 11 * S) == 50000 + 100000);
	/* what is still owed after that is forgotten when nothing is sent for long */
	sdr_pacer_sent(&p, 150000);
	assert_true(sdr_pacer_allow(&p, 20 * S) == 50000);
}

static void pacer__waits_for_a_quantum(void **state)
{
	struct sdr_pacer p;
	uint64_t next;

	(void)state;
	pacer_open(&p, 1250000000, 50000);
	sdr_pacer_sent(&p, 62500);
	next = sdr_pacer_next(&p, 0);
	assert_true(next >= 50000 && next <= 50001);
	assert_true(sdr_pacer_allow(&p, 49999) == 0);
	assert_true(sdr_pacer_allow(&p, next) >= 62500);
	assert_true(sdr_pacer_next(&p, next) <= next);
	/* a packet larger than the credit is paid back */
	sdr_pacer_sent(&p, 125000);
	next = sdr_pacer_next(&p, 50000);
	assert_true(next >= 150000 && next <= 150002);
}

/* So long from now on, whatever was allowed or owed. */
static void pacer__pauses(void **state)
{
	struct sdr_pacer p;
	uint64_t next;

	(void)state;
	pacer_open(&p, 1250000000, 50000);
	sdr_pacer_pause(&p, 20000000, S);
	assert_true(sdr_pacer_allow(&p, S) == 0);
	next = sdr_pacer_next(&p, S);
	assert_true(next >= S + 20000000 && next <= S + 20000001);
	assert_true(sdr_pacer_allow(&p, S + 19999999) == 0);
	assert_true(sdr_pacer_allow(&p, next) >= 62500 && sdr_pacer_allow(&p, next) <= 2 * 62501);
	/* without a rate there is nothing to hold back */
	sdr_pacer_init(&p, PKT, 0);
	sdr_pacer_pause(&p, 20000000, S);
	assert_true(sdr_pacer_allow(&p, S) == UINT64_MAX);
}

/* What was missed comes back with the next quanta, each at most twice as large. */
static void pacer__late_caller_catches_up(void **state)
{
	struct sdr_pacer p;
	uint64_t now = 1000000, n, sum = 0;
	unsigned int i;

	(void)state;
	pacer_open(&p, 1000000000, 200000);
	sdr_pacer_sent(&p, 200000);
	assert_true(sdr_pacer_allow(&p, 0) == 0);
	for (i = 0; i < 5; i++) {
		n = sdr_pacer_allow(&p, now);
		/* 1 ms: a quantum and the 800 us that it was late */
		assert_true(n >= (i < 4 ? 400000 : 200000) && n < (i < 4 ? 400010 : 200010));
		sdr_pacer_sent(&p, n);
		sum += n;
		assert_true(sdr_pacer_allow(&p, now) == 0);
		now = sdr_pacer_next(&p, now);
	}
	assert_true(sum >= 1800000 && sum < 1800010);
	/* time that runs backwards earns nothing */
	assert_true(sdr_pacer_allow(&p, 5) == 0);
}

/* Where two packets together are too many the rate is met all the same, by shorter waits. */
static void pacer__spaced_catches_up_one_by_one(void **state)
{
	const uint64_t slot = PKT * 1000000000ull / 12500000; /* of a packet, at the rate */
	uint64_t now = 0, at, bytes, total = 0;
	struct sdr_pacer p;
	uint32_t i;

	(void)state;
	pacer_open(&p, 12500000, 20000);
	sdr_pacer_spaced_set(&p, true);
	for (i = 0; i < 4000; i++) {
		bytes = sdr_pacer_allow(&p, now);
		if (bytes) {
			assert_true(bytes <= PKT);
			sdr_pacer_sent(&p, PKT);
			total += PKT;
			continue;
		}
		at = sdr_pacer_next(&p, now);
		assert_true(at > now && at <= now + slot + 1);
		/* a thread that wakes 50 us late, each other time */
		now = at + (i & 2 ? 50000 : 0);
	}
	assert_true((double)total > 0.98 * (double)now / 1e9 * 12500000);
	assert_true((double)total < 1.02 * (double)now / 1e9 * 12500000 + 2 * PKT);
}

static void pacer__change_of_rate(void **state)
{
	struct sdr_pacer p;

	(void)state;
	sdr_pacer_init(&p, PKT, 0);
	sdr_pacer_span_set(&p, 50000);
	assert_true(sdr_pacer_allow(&p, 0) == UINT64_MAX);
	assert_true(sdr_pacer_burst(&p) == UINT64_MAX);
	sdr_pacer_sent(&p, 1u << 30);
	assert_true(sdr_pacer_allow(&p, 0) == UINT64_MAX);
	assert_true(sdr_pacer_next(&p, 9) <= 9);
	sdr_pacer_rate_set(&p, 1000000000, 10);
	assert_true(sdr_pacer_allow(&p, 10) == 50000);
	sdr_pacer_sent(&p, 50000);
	/* what was earned at the old rate stays, the rest comes at the new one */
	sdr_pacer_rate_set(&p, 2000000000, 10010);
	assert_true(p.quantum == 100000);
	assert_true(sdr_pacer_allow(&p, 50000) == 0);
	assert_true(sdr_pacer_next(&p, 10010) >= 10010 + 45000);
	assert_true(sdr_pacer_next(&p, 10010) <= 10010 + 45002);
	sdr_pacer_rate_set(&p, 1000, 10011);
	assert_true(p.quantum == PKT);
	sdr_pacer_rate_set(&p, 1000000000000ull, 10012);
	assert_true(p.quantum == SDR_PACER_QUANTUM_MAX);
	sdr_pacer_rate_set(&p, 0, 10013);
	assert_true(sdr_pacer_allow(&p, 10013) == UINT64_MAX);
}

static void pacer__change_of_span_and_packet(void **state)
{
	struct sdr_pacer p;

	(void)state;
	pacer_open(&p, 400000000, 500000);
	assert_true(sdr_pacer_allow(&p, 0) == 200000);
	/* the path turned out to be near: what had been earned for a long one is not sent */
	sdr_pacer_span_set(&p, 0);
	assert_true(p.quantum == 8000 && sdr_pacer_allow(&p, 0) <= 8000 + 40000);
	sdr_pacer_sent(&p, 48000);
	assert_true(sdr_pacer_next(&p, 0) <= 20001);
	sdr_pacer_pkt_set(&p, 65536);
	assert_true(p.quantum == 65536);
	sdr_pacer_rate_set(&p, 200000000, 0);
	sdr_pacer_span_set(&p, 2 * S);
	assert_true(p.span == SDR_PACER_SPAN_MAX_NS && p.quantum == 150000);
	assert_true(sdr_pacer_allow(&p, 700000) == 0);
	assert_true(sdr_pacer_allow(&p, 750001) >= 150000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pacer__meets_the_rate_and_the_burst),
		cmocka_unit_test(pacer__late_is_bounded),
		cmocka_unit_test(pacer__wakes_by_the_span),
		cmocka_unit_test(pacer__idle_earns_one_quantum),
		cmocka_unit_test(pacer__only_who_was_told_to_wait_is_late),
		cmocka_unit_test(pacer__waits_for_a_quantum),
		cmocka_unit_test(pacer__pauses),
		cmocka_unit_test(pacer__late_caller_catches_up),
		cmocka_unit_test(pacer__spaced_catches_up_one_by_one),
		cmocka_unit_test(pacer__change_of_rate),
		cmocka_unit_test(pacer__change_of_span_and_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
