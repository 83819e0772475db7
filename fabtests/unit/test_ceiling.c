/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ceiling shared by several senders, in virtual time: its rate holds and is reached, turns go
 * round, late senders and datagrams that ask for nothing are accounted for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sdr_rand.h"
#include "rel/path/sdr_ceiling.h"

#define MS    1000000ull
#define S     (1000 * MS)
#define PKT   4174u /* wire bytes */
#define START (100 * S)
#define MOST  8u

struct sender {
	struct sdr_ceiling c;
	uint64_t wake;	/* ns: looks again */
	uint64_t sent;	/* bytes */
	uint64_t late;	/* ns: of each wake-up, at most */
	uint64_t rest;	/* ns between two packets: 0 greedy */
	uint64_t ctl;	/* bytes of a datagram that it sends unasked with each wake-up */
	uint64_t waits; /* ns: longest from asking to sending */
	uint64_t asked;
};

static uint64_t rng;

static uint64_t late_of(const struct sender *s)
{
	return s->late ? sdr_rand64(&rng) % s->late : 0;
}

/* One wake-up of a sender. */
static void sender_run(struct sender *s, uint64_t now)
{
	uint64_t n = sdr_ceiling_allow(&s->c, now);

	if (s->ctl) {
		sdr_ceiling_sent(&s->c, s->ctl, now);
		s->sent += s->ctl;
	}
	if (!n) {
		if (!s->asked)
			s->asked = now;
		s->wake = sdr_ceiling_next(&s->c) + late_of(s);
		return;
	}
	if (s->asked && now - s->asked > s->waits)
		s->waits = now - s->asked;
	s->asked = 0;
	do {
		sdr_ceiling_sent(&s->c, PKT, now);
		s->sent += PKT;
		n = n > PKT ? n - PKT : 0;
	} while (n && !s->rest);
	s->wake = now + s->rest;
}

static uint64_t sum_of(const struct sender *v, uint32_t n)
{
	uint64_t sum = 0;

	while (n--)
		sum += v[n].sent;
	return sum;
}

/* n senders for so long; demands the rate in all intervals from there on of at least 100 ms. */
static void senders_run(struct sender *v, uint32_t n, uint64_t bps, uint64_t ns, double least)
{
	uint64_t now = START, end = START + ns, mark = START + 100 * MS, at_mark = 0;
	double took;

	for (uint32_t i = 0; i < n; i++)
		v[i].wake = START;
	for (;;) {
		uint32_t k = 0;

		for (uint32_t i = 1; i < n; i++)
			if (v[i].wake < v[k].wake)
				k = i;
		if (v[k].wake > end)
			break;
		if (v[k].wake > now)
			now = v[k].wake;
		if (now >= mark) {
			took = (double)(now - mark + 100 * MS) * (double)bps / 8 / (double)S;
			assert_true((double)(sum_of(v, n) - at_mark) <=
				    took * 1.02 + (double)((n + 2) * (v[0].c.quantum + PKT)));
			at_mark = sum_of(v, n);
			mark = now + 100 * MS;
		}
		sender_run(&v[k], now);
	}
	took = (double)sum_of(v, n) * 8 * (double)S / (double)ns;
	assert_true(took <= (double)bps * 1.02);
	assert_true(took >= (double)bps * least);
}

static void senders_init(struct sender *v, uint32_t n, struct sdr_ceiling_word *w, uint64_t bps)
{
	*w = (struct sdr_ceiling_word){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		v[i] = (struct sender){ 0 };
		sdr_ceiling_init(&v[i].c, w, bps);
	}
}

static void ceiling__one_sender_reaches_it(void **state)
{
	static const uint64_t rates[] = { 10000000, 1000000000, 10000000000, 400000000000 };
	struct sdr_ceiling_word w;
	struct sender v[1];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		senders_init(v, 1, &w, rates[i]);
		senders_run(v, 1, rates[i], 2 * S, 0.98);
	}
}

static void ceiling__turns_go_round(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[MOST];

	(void)state;
	for (uint32_t n = 2; n <= MOST; n++) {
		senders_init(v, n, &w, 1000000000);
		senders_run(v, n, 1000000000, S, 0.98);
		for (uint32_t i = 0; i < n; i++) {
			assert_in_range(v[i].sent, S / 8 / n * 98 / 100, S / 8 / n * 102 / 100);
			/* a round of the others' quanta */
			assert_true(v[i].waits <= (n + 1) * SDR_CEILING_QUANTUM_NS * 5 / 4);
		}
	}
}

/* A sleeper comes late; all three still fill the line, and share it. */
static void ceiling__late_senders(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[3];

	(void)state;
	senders_init(v, 3, &w, 1000000000);
	for (uint32_t i = 0; i < 3; i++)
		v[i].late = 1500000;
	senders_run(v, 3, 1000000000, S, 0.95);
	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(v[i].sent, S / 8 / 3 * 85 / 100, S / 8 / 3 * 115 / 100);

	senders_init(v, 1, &w, 1000000000);
	v[0].late = 1000000;
	senders_run(v, 1, 1000000000, S, 0.95);
}

/* Who wants little gets it at once, or nearly, whatever the others want. */
static void ceiling__a_modest_sender(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[4];

	(void)state;
	senders_init(v, 4, &w, 1000000000);
	v[0].rest = 10 * MS; /* 3.3 Mbit/s */
	senders_run(v, 4, 1000000000, S, 0.98);
	assert_true(v[0].sent >= 95 * PKT);
	assert_true(v[0].waits <= 5 * SDR_CEILING_QUANTUM_NS);
}

/* What is sent unasked is never held back, and the others make room for it. */
static void ceiling__unasked_datagrams_count(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[2];
	uint64_t now = START;

	(void)state;
	senders_init(v, 2, &w, 100000000);
	v[0].ctl = 500;
	senders_run(v, 2, 100000000, S, 0.98);

	/* of one that sends nothing else */
	senders_init(v, 2, &w, 100000000);
	for (uint32_t i = 0; i < 1000; i++, now += MS) {
		sdr_ceiling_sent(&v[0].c, 6250, now);
		while (sdr_ceiling_allow(&v[1].c, now)) {
			sdr_ceiling_sent(&v[1].c, PKT, now);
			v[1].sent += PKT;
		}
	}
	assert_in_range(v[1].sent, 5900000, 6600000); /* the other half of 12.5 MB */
}

/* After a pause no more than a quantum leaves at once. */
static void ceiling__idle_time_saves_nothing(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[1];
	uint64_t sent = 0;

	(void)state;
	senders_init(v, 1, &w, 1000000000);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t now = START + i * S;

		for (sent = 0; sdr_ceiling_allow(&v[0].c, now); sent += PKT)
			sdr_ceiling_sent(&v[0].c, PKT, now);
		assert_true(sent <= 2 * v[0].c.quantum + 2 * PKT);
		assert_true(sent >= v[0].c.quantum - PKT);
	}
}

/* A word that nobody has made (a damaged file) stops nobody. */
static void ceiling__a_word_from_nowhere(void **state)
{
	struct sdr_ceiling_word w;
	struct sender v[1];

	(void)state;
	senders_init(v, 1, &w, 1000000000);
	w.given = UINT64_MAX - 5;
	assert_true(sdr_ceiling_allow(&v[0].c, START) > 0);
	assert_true(w.given < START + S);
}

static void ceiling__none(void **state)
{
	struct sdr_ceiling c = { 0 };

	(void)state;
	assert_int_equal(sdr_ceiling_allow(&c, 5), UINT64_MAX);
	sdr_ceiling_sent(&c, 1u << 30, 5);
	assert_int_equal(sdr_ceiling_allow(&c, 5), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ceiling__one_sender_reaches_it),
		cmocka_unit_test(ceiling__turns_go_round),
		cmocka_unit_test(ceiling__late_senders),
		cmocka_unit_test(ceiling__a_modest_sender),
		cmocka_unit_test(ceiling__unasked_datagrams_count),
		cmocka_unit_test(ceiling__idle_time_saves_nothing),
		cmocka_unit_test(ceiling__a_word_from_nowhere),
		cmocka_unit_test(ceiling__none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
