/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What trains of packets say about the bottleneck they came through: a queue with a rate, a
 * receiver that reads now and then and reports by bytes or after a delay, a sender that reads now
 * and then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/sdr_rand.h"
#include "rel/path/sdr_train.h"

#define PKT  8192u /* bytes */
#define MAX  4096u /* packets of a flight */
#define US   1000ull
#define MS   1000000ull
#define S    1000000000ull
#define KIB  1024u
#define GBIT 125000000.0 /* bytes per second */

struct sim {
	double rate;	 /* bytes per second, of the bottleneck */
	uint64_t rtt;	 /* ns */
	uint64_t rx_nap; /* the receiver reads after up to so much, ns */
	uint64_t tx_nap; /* and the sender its reports */
	uint32_t report; /* bytes that a report waits for */
	uint64_t delay;	 /* and no longer than that, ns */
	double cross;	 /* share of the bottleneck that others fill */
	double loss;
	uint64_t behind; /* ns of others' queue that is always there */
	double stall;	 /* share of naps that last two milliseconds, of both */
	uint64_t jitter; /* ns: packets take up to so much longer, by chance */
	uint64_t noise;	 /* ns: that is known of it */
	/* state */
	struct sdr_train t;
	double most; /* the highest estimate so far */
	uint64_t now, free_at, read_at;
	uint64_t rng;
};

static void sim_init(struct sim *s, double rate, uint64_t rtt, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->rate = rate;
	s->rtt = rtt;
	s->report = 32 * KIB;
	s->delay = 1 * MS;
	s->now = 1 * S;
	s->rng = seed;
	sdr_train_init(&s->t);
}

static uint64_t nap(struct sim *s, uint64_t max)
{
	if (s->stall > 0 && sdr_rand_unit(&s->rng) < s->stall)
		max = 2 * MS;
	return (uint64_t)(sdr_rand_unit(&s->rng) * (double)max);
}

/* A report of bytes reaches the sender at that time. */
static void report(struct sim *s, uint64_t at, uint64_t tx, uint64_t delay, uint64_t bytes)
{
	struct sdr_train_ack a = { .tx_ns = tx,
				   .delay_ns = delay / 1000 * 1000,
				   .bytes = bytes,
				   .min_rtt = s->rtt,
				   .noise_ns = s->noise };

	/* Those that came while it slept are read in one go. */
	if (at > s->read_at)
		s->read_at = at + nap(s, s->tx_nap);
	a.now = s->read_at;
	sdr_train_acked(&s->t, &a);
	if (s->most < (double)s->t.rate_Bps)
		s->most = (double)s->t.rate_Bps;
}

/* By the time of arrival. */
static void in_order(uint64_t *in, uint64_t *tx, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint64_t at = in[i], left = tx[i];
		uint32_t k = i;

		for (; k && in[k - 1] > at; k--) {
			in[k] = in[k - 1];
			tx[k] = tx[k - 1];
		}
		in[k] = at;
		tx[k] = left;
	}
}

/*
 * n packets, in quanta, paced at so many bytes per second (0: all at once), and then a pause until
 * all is over.
 */
static void flight(struct sim *s, uint32_t n, double pace, uint32_t quantum)
{
	static uint64_t tx[MAX], in[MAX];
	uint64_t polled = 0, first = 0, last = 0, newest = 0, bytes = 0;
	uint32_t i, k = 0;
	double cross;

	assert_true(n <= MAX);
	for (i = 0; i < n; i++) {
		tx[i] = s->now;
		if (pace > 0)
			tx[i] += (uint64_t)((double)(i * PKT / quantum * quantum) / pace * 1e9);
		if (s->free_at < tx[i] + s->rtt / 2 + s->behind)
			s->free_at = tx[i] + s->rtt / 2 + s->behind;
		/* what others put before it */
		cross = s->cross / (1 - s->cross) * 2 * sdr_rand_unit(&s->rng);
		s->free_at += (uint64_t)(PKT * (1 + cross) / s->rate * 1e9);
		in[i] = s->free_at + (uint64_t)(sdr_rand_unit(&s->rng) * (double)s->jitter);
	}
	in_order(in, tx, n);
	for (i = 0; i < n;) {
		/* wakes up at the next packet or for the report that is due, some time later */
		uint64_t at = in[i] > polled ? in[i] : polled;

		if (bytes && first + s->delay < at) {
			polled = first + s->delay + nap(s, s->rx_nap);
			report(s, polled + s->rtt / 2, newest, polled - last, bytes);
			bytes = 0;
			continue;
		}
		polled = at + nap(s, s->rx_nap);
		for (; i < n && in[i] <= polled; i++) {
			if (sdr_rand_unit(&s->rng) < s->loss)
				continue;
			if (!bytes)
				first = polled;
			bytes += PKT;
			newest = tx[i];
			last = polled;
			k++;
		}
		if (bytes >= s->report || (bytes && i == n)) {
			report(s, polled + s->rtt / 2, newest, 0, bytes);
			bytes = 0;
		}
	}
	assert_true(k);
	s->now = s->read_at + 2 * s->rtt;
	s->free_at = 0;
}

/* How far off the estimate is: 0.1 = 10 % too high. */
static double off(const struct sim *s, double truth)
{
	assert_true(s->t.rate_Bps);
	return (double)s->t.rate_Bps / truth - 1;
}

static void assert_near(const struct sim *s, double truth, double tol)
{
	double o = off(s, truth);

	if (!(o >= -tol && o <= tol))
		fail_msg("%.0f Mbit/s instead of %.0f, said to be off by %.2f",
			 (double)s->t.rate_Bps * 8e-6, truth * 8e-6, s->t.err);
}

/* ---- clean ----------------------------------------------------------------------------------- */

static void train__one_flight_tells_the_rate(void **state)
{
	static const struct {
		double rate;
		uint64_t rtt;
		uint32_t kib;
	} rows[] = {
		{ 0.01 * GBIT, 40 * MS, 256 },	{ 0.1 * GBIT, 25 * MS, 256 },
		{ 1 * GBIT, 25 * MS, 256 },	{ 1 * GBIT, 25 * MS, 1024 },
		{ 1 * GBIT, 250 * MS, 1024 },	{ 10 * GBIT, 25 * MS, 4096 },
		{ 100 * GBIT, 25 * MS, 16384 }, { 400 * GBIT, 25 * MS, 32768 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (uint32_t seed = 0; seed < 20; seed++) {
			struct sim s;

			sim_init(&s, rows[i].rate, rows[i].rtt, seed);
			flight(&s, rows[i].kib * KIB / PKT, seed & 1 ? 2 * rows[i].rate : 0,
			       16 * KIB);
			assert_near(&s, rows[i].rate, 0.1);
			assert_true(s.t.err <= 0.25);
		}
	}
}

/* ---- noise ----------------------------------------------------------------------------------- */

/* Both hosts sleep up to a millisecond: what one flight says may be nothing, some say the rate. */
static void train__batches_of_a_millisecond(void **state)
{
	uint32_t silent = 0, wrong = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.rx_nap = s.tx_nap = 1 * MS;
		flight(&s, 128, 2 * GBIT, 64 * KIB);
		silent += !s.t.rate_Bps;
		if (s.t.rate_Bps)
			wrong += off(&s, s.rate) > 0.5 || off(&s, s.rate) < -0.33;
		for (uint32_t k = 0; k < 9; k++)
			flight(&s, 128, 2 * GBIT, 64 * KIB);
		assert_near(&s, s.rate, 0.2);
	}
	print_message("of 200 first flights %u said nothing, %u were far off\n", silent, wrong);
	assert_in_range(silent, 0, 100);
	assert_in_range(wrong, 0, 4);
}

/*
 * Hosts that are late now and then, above all when they are woken: what came meanwhile seems to
 * have come faster.  At no time is that taken for the rate.
 */
static void train__a_late_host_is_no_fast_path(void **state)
{
	uint32_t silent = 0, high = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 400; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.rx_nap = s.tx_nap = 100 * US;
		s.stall = 0.1;
		flight(&s, 128, 2 * GBIT, 64 * KIB);
		silent += !s.t.rate_Bps;
		high += s.most > 1.3 * s.rate;
	}
	print_message("of 400 first flights %u said nothing, %u too much meanwhile\n", silent,
		      high);
	assert_in_range(silent, 0, 40);
	assert_in_range(high, 0, 20);
}

/* The usual: a tenth of that; 256 KiB take two milliseconds. */
static void train__a_short_flight_on_a_kernel(void **state)
{
	uint32_t silent = 0, wrong = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.rx_nap = s.tx_nap = 100 * US;
		flight(&s, 32, 2 * GBIT, 16 * KIB);
		silent += !s.t.rate_Bps;
		if (s.t.rate_Bps)
			wrong += off(&s, s.rate) > 0.3 || off(&s, s.rate) < -0.25;
		for (uint32_t k = 0; k < 9; k++)
			flight(&s, 32, 2 * GBIT, 16 * KIB);
		assert_near(&s, s.rate, 0.15);
	}
	print_message("of 200 first flights %u said nothing, %u were far off\n", silent, wrong);
	assert_in_range(silent, 0, 40);
	assert_in_range(wrong, 0, 10);
}

/* ---- what is no bottleneck ------------------------------------------------------------------- */

/* Packets that leave more slowly than the path takes them say nothing about it. */
static void train__a_slow_sender_says_nothing(void **state)
{
	static const uint64_t naps[] = { 0, 100 * US, 1 * MS };
	static const double paces[] = { 0.1, 0.5, 0.9 };
	uint32_t wrong = 0, all = 0;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			for (uint32_t seed = 0; seed < 100; seed++) {
				struct sim s;

				sim_init(&s, 1 * GBIT, 25 * MS, seed);
				s.rx_nap = s.tx_nap = naps[i];
				flight(&s, 512, paces[k] * GBIT, 16 * KIB);
				wrong += s.t.rate_Bps && off(&s, s.rate) < -0.25;
				all++;
			}
		}
	}
	print_message("%u of %u runs were taken for the bottleneck\n", wrong, all);
	assert_int_equal(wrong, 0);
}

/* Nor do they when others keep a queue. */
static void train__a_queue_of_others_is_not_ours(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 50; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.behind = 10 * MS;
		s.rx_nap = s.tx_nap = 50 * US;
		flight(&s, 512, 0.2 * GBIT, 16 * KIB);
		if (s.t.rate_Bps)
			assert_near(&s, s.rate, 0.3);
	}
}

/* ---- others, losses, changes ----------------------------------------------------------------- */

/* What it passes of ours: with others in between, less. */
static void train__among_others_it_is_a_share(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 50; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.cross = 0.5;
		s.rx_nap = s.tx_nap = 50 * US;
		for (uint32_t k = 0; k < 4; k++)
			flight(&s, 128, 2 * GBIT, 16 * KIB);
		assert_near(&s, s.rate / 2, 0.2);
	}
}

/* A flight is paced slowly through others' queue; in the middle of it 128 KiB leave at once. */
static uint64_t own_train(uint64_t seed, double cross)
{
	struct sim s;

	sim_init(&s, 1 * GBIT, 25 * MS, seed);
	s.report = 8 * KIB;
	s.behind = 10 * MS;
	s.cross = cross;
	s.rx_nap = s.tx_nap = 50 * US;
	flight(&s, 64, 0.1 * GBIT, PKT);
	assert_int_equal(s.t.owns, 0);
	/* that flight() waits before it is no matter: a real pause is shorter */
	sdr_train_own(&s.t, s.now, s.now);
	s.cross = 0;
	flight(&s, 16, 0, PKT);
	s.cross = cross;
	flight(&s, 64, 0.1 * GBIT, PKT);
	return s.t.owns == 1 ? s.t.own_Bps : 0;
}

/* ... tells what the bottleneck passes, not what it passes of ours. */
static void train__one_that_was_asked_for(void **state)
{
	uint32_t told = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 50; seed++) {
		double rate = (double)own_train(seed, 0.8);

		if (!(rate > 0))
			continue;
		told++;
		assert_true(rate > 0.6 * GBIT && rate < 1.05 * GBIT);
	}
	assert_true(told > 40);
}

/* Without being told of it, it is no result of its own; and an old one does not count again. */
static void train__asked_for_once(void **state)
{
	struct sim s;

	(void)state;
	sim_init(&s, 1 * GBIT, 25 * MS, 3);
	s.report = 8 * KIB;
	flight(&s, 16, 0, PKT);
	flight(&s, 16, 0, PKT);
	assert_int_equal(s.t.owns, 0);
	sdr_train_own(&s.t, s.now, s.now);
	flight(&s, 16, 0, PKT);
	flight(&s, 16, 0, PKT);
	flight(&s, 16, 0, PKT);
	assert_int_equal(s.t.owns, 1);
}

static void train__losses_cost_their_share(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 50; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed);
		s.loss = 0.05;
		for (uint32_t k = 0; k < 4; k++)
			flight(&s, 128, 2 * GBIT, 16 * KIB);
		assert_near(&s, s.rate * 0.95, 0.1);
	}
}

static void train__follows_a_change(void **state)
{
	static const double to[] = { 0.5, 2 };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, i);
		s.rx_nap = s.tx_nap = 50 * US;
		for (uint32_t k = 0; k < 20; k++)
			flight(&s, 128, 0, 16 * KIB);
		assert_near(&s, s.rate, 0.1);
		s.rate *= to[i];
		for (uint32_t k = 0; k < SDR_TRAIN_KEPT / 2 + 2; k++)
			flight(&s, 128, 0, 16 * KIB);
		assert_near(&s, s.rate, 0.1);
	}
}

/* More was delivered: what said less is of another time. */
static void train__gives_way_to_a_higher_rate(void **state)
{
	struct sim s;

	(void)state;
	sim_init(&s, 1 * GBIT, 25 * MS, 1);
	for (uint32_t k = 0; k < 20; k++)
		flight(&s, 128, 0, 16 * KIB);
	sdr_train_least(&s.t, (uint64_t)(1.05 * GBIT));
	assert_near(&s, s.rate, 0.1);
	sdr_train_least(&s.t, (uint64_t)(2 * GBIT));
	assert_true(!s.t.rate_Bps);
}

/* Clocks that stand still, delays longer than all time, reports out of order: no nonsense. */
static void train__takes_anything(void **state)
{
	struct sdr_train t;
	uint64_t rng = 7, now = 0;

	(void)state;
	sdr_train_init(&t);
	for (uint32_t i = 0; i < 200000; i++) {
		struct sdr_train_ack a = { .bytes = sdr_rand64(&rng) % (1u << 20) };

		now += sdr_rand64(&rng) % 3 ? sdr_rand64(&rng) % 1000 : 0;
		a.now = now;
		a.tx_ns = now ? sdr_rand64(&rng) % now : 0;
		if (sdr_rand64(&rng) % 4)
			a.tx_ns = now > 5000 ? now - sdr_rand64(&rng) % 5000 : 0;
		a.delay_ns = sdr_rand64(&rng) % 8 ? sdr_rand64(&rng) % 2000 : UINT64_MAX / 2;
		a.min_rtt = sdr_rand64(&rng) % 8 ? sdr_rand64(&rng) % 1000 : UINT64_MAX;
		sdr_train_acked(&t, &a);
		assert_true(t.err >= 0 && t.err <= 0.25);
		assert_true(!t.rate_Bps == !(t.err > 0));
		if (sdr_rand64(&rng) % 64 == 0 && a.tx_ns)
			sdr_train_own(&t, a.tx_ns, a.tx_ns + sdr_rand64(&rng) % 5000);
		if (sdr_rand64(&rng) % 16 == 0)
			sdr_train_least(&t, sdr_rand64(&rng));
	}
}

/*
 * Where packets overtake each other one that is late looks like a queue, unless it is known how far
 * they do: paced by less than half of what the path passes, they show little of it by chance.
 */
static void train__chance_is_no_queue(void **state)
{
	uint32_t wrong[2] = { 0, 0 };

	(void)state;
	for (uint32_t seed = 0; seed < 400; seed++) {
		struct sim s;

		sim_init(&s, 1 * GBIT, 25 * MS, seed / 2);
		s.jitter = MS / 2;
		s.noise = seed & 1 ? MS / 4 : 0;
		s.report = 16 * KIB;
		for (uint32_t k = 0; k < 10; k++)
			flight(&s, 128, 0.4 * GBIT, 32 * KIB);
		wrong[seed & 1] += s.t.rate_Bps && off(&s, s.rate) < -0.25;
	}
	print_message("of 200 paths with jitter %u were taken for slow, %u unknown\n", wrong[1],
		      wrong[0]);
	assert_in_range(wrong[1], 0, 5);
	assert_true(wrong[0] > 20 + wrong[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(train__one_flight_tells_the_rate),
		cmocka_unit_test(train__batches_of_a_millisecond),
		cmocka_unit_test(train__a_late_host_is_no_fast_path),
		cmocka_unit_test(train__a_short_flight_on_a_kernel),
		cmocka_unit_test(train__a_slow_sender_says_nothing),
		cmocka_unit_test(train__chance_is_no_queue),
		cmocka_unit_test(train__a_queue_of_others_is_not_ours),
		cmocka_unit_test(train__among_others_it_is_a_share),
		cmocka_unit_test(train__one_that_was_asked_for),
		cmocka_unit_test(train__asked_for_once),
		cmocka_unit_test(train__losses_cost_their_share),
		cmocka_unit_test(train__follows_a_change),
		cmocka_unit_test(train__gives_way_to_a_higher_rate),
		cmocka_unit_test(train__takes_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
