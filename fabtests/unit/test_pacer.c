/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leaky bucket: average rate, burst bound over every interval, idle and late callers, change of
 * rate.
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

/*
 * Sends while allowed, sleeps until next plus up to `late`; returns the bytes of `dur` ns, checks
 * the envelope.
 */
static uint64_t pacer_greedy(uint64_t rate, uint64_t dur, uint64_t late, uint64_t *batch)
{
	double bound, level = 0, burst = 0;
	uint64_t now = 777, end = now + dur, total = 0, last = now, wakes = 0, next;
	struct sdr_pacer p;

	sdr_pacer_init(&p, now);
	sdr_pacer_rate_set(&p, rate, now);
	bound = (double)p.quantum + (double)rate * SDR_PACER_CATCHUP_NS / 1e9 + PKT;
	while (now < end) {
		/*
		 * a virtual queue drained at the rate: its highest level is the burst over any
		 * interval
		 */
		level -= (double)rate * (double)(now - last) / 1e9;
		if (level < 0)
			level = 0;
		last = now;
		while (sdr_pacer_allow(&p, now) > 0) {
			sdr_pacer_sent(&p, PKT);
			total += PKT;
			level += PKT;
		}
		if (level > burst)
			burst = level;
		wakes++;
		next = sdr_pacer_next(&p, now);
		assert_true(next > now);
		now = next + (late ? rng(late) : 0);
	}
	assert_true(burst <= bound);
	*batch = total / wakes;
	return total;
}

static void pacer__meets_the_rate_and_the_burst(void **state)
{
	static const uint64_t rate[] = { 125000, 12500000, 125000000, 1250000000, 12500000000ull };
	uint64_t total, ideal, batch;
	uint32_t i, late;

	(void)state;
	for (i = 0; i < sizeof(rate) / sizeof(rate[0]); i++) {
		for (late = 0; late <= 1000000; late += 500000) {
			total = pacer_greedy(rate[i], S, late, &batch);
			ideal = rate[i];
			assert_true(total <=
				    ideal + rate[i] / 250 + SDR_PACER_QUANTUM_MIN + 2 * PKT);
			assert_true(total + total / 200 + 2 * SDR_PACER_QUANTUM_MIN >= ideal);
			assert_true(batch + PKT >= SDR_PACER_QUANTUM_MIN);
		}
	}
	/* a caller that sleeps 10 ms each time does not get everything back */
	total = pacer_greedy(125000000, S, 20000000, &batch);
	assert_true(total < 125000000 / 2);
}

static void pacer__idle_earns_one_quantum(void **state)
{
	struct sdr_pacer p;
	uint64_t n = 0;

	(void)state;
	sdr_pacer_init(&p, 0);
	sdr_pacer_rate_set(&p, 1250000000, 0);
	assert_true(p.quantum == 62500);
	assert_true(sdr_pacer_allow(&p, 0) == 62500);
	sdr_pacer_sent(&p, 1000); /* not used up: the pacer does not wait */
	assert_true(sdr_pacer_allow(&p, 0) == 61500);
	assert_true(sdr_pacer_allow(&p, 100 * S) == 62500);
	while (sdr_pacer_allow(&p, 100 * S)) {
		sdr_pacer_sent(&p, PKT);
		n += PKT;
	}
	assert_true(n < 62500 + PKT);
	assert_true(sdr_pacer_next(&p, 100 * S) > 100 * S);
}

static void pacer__waits_for_a_quantum(void **state)
{
	struct sdr_pacer p;
	uint64_t next;

	(void)state;
	sdr_pacer_init(&p, 0);
	sdr_pacer_rate_set(&p, 1250000000, 0);
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

static void pacer__late_caller_catches_up(void **state)
{
	struct sdr_pacer p;

	(void)state;
	sdr_pacer_init(&p, 0);
	sdr_pacer_rate_set(&p, 1000000000, 0);
	sdr_pacer_sent(&p, 50000);
	assert_true(sdr_pacer_allow(&p, 1000000) == 1000000);
	sdr_pacer_sent(&p, 1000000);
	assert_true(sdr_pacer_allow(&p, 1000000 + S) == 2000000 + 50000);
	/* time that runs backwards earns nothing */
	assert_true(sdr_pacer_allow(&p, 5) == 2000000 + 50000);
}

static void pacer__change_of_rate(void **state)
{
	struct sdr_pacer p;

	(void)state;
	sdr_pacer_init(&p, 0);
	assert_true(sdr_pacer_allow(&p, 0) == UINT64_MAX);
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
	assert_true(p.quantum == SDR_PACER_QUANTUM_MIN);
	sdr_pacer_rate_set(&p, 1000000000000ull, 10012);
	assert_true(p.quantum == SDR_PACER_QUANTUM_MAX);
	sdr_pacer_rate_set(&p, 0, 10013);
	assert_true(sdr_pacer_allow(&p, 10013) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pacer__meets_the_rate_and_the_burst),
		cmocka_unit_test(pacer__idle_earns_one_quantum),
		cmocka_unit_test(pacer__waits_for_a_quantum),
		cmocka_unit_test(pacer__late_caller_catches_up),
		cmocka_unit_test(pacer__change_of_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
