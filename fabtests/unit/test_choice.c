/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Choice of parity: its promises, and its prediction against transfers drawn at random
 * (repeatably).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "rel/path/sdr_loss_est.h"
#include "test_choice_util.h"

#define MS 1000000ull
/* 4 KiB and headers at 400 Gbit/s */
#define FAST (400.0 / 8 / 4176)

/* A path known by so many packets; by 1e12 so well that the bound is the rate. */
static struct sdr_choice_loss path_of(double p, double burst, double pkts)
{
	struct sdr_choice_loss known;
	struct sdr_loss_est l;

	sdr_loss_est_init(&l, 0);
	l.sent = pkts;
	l.lost = p * pkts;
	l.bursts = l.lost / burst;
	sdr_loss_est_known(&l, &known);
	return known;
}

static struct sdr_choice_loss path(double p, double burst)
{
	return path_of(p, burst, 1e12);
}

static struct sdr_choice_in wish(const struct sdr_choice_loss *l, uint64_t npkts)
{
	struct sdr_choice_in in = {
		.far_only = true,
		.objective = SDR_OBJECTIVE_P99,
		.max_overhead = 0.25,
		.npkts = npkts,
		.seg_pkts = 16384,
		.rtt_ns = 25 * MS,
		.pkts_ns = FAST,
		.loss = l,
	};

	return in;
}

/*
 * A transfer of `segs` segments of L codewords each, sent one behind the other, its parity behind
 * the data.
 */
static bool transfer_fails(double p, double burst, uint32_t segs, uint32_t words, uint32_t symbols,
			   uint32_t m)
{
	static uint8_t lost[1024];
	double stop = 1 / burst, start = p * stop / (1 - p);
	uint64_t at, end = (uint64_t)words * symbols, run;
	uint32_t s;

	if (burst == 1) {
		stop = 1 - p;
		start = p;
	}
	for (s = 0; s < segs; s++) {
		memset(lost, 0, words);
		run = draw() < p ? 1 + misses(stop) : 0;
		for (at = 0; at < end;) {
			for (; run && at < end; run--, at++)
				if (++lost[at % words] > m)
					return true;
			at += 1 + misses(start);
			run = 1 + misses(stop);
		}
	}
	return false;
}

/*
 * So little overhead is allowed that failures can be counted; the prediction is from above, and not
 * far.
 */
static void choice__prediction_comes_true(void **state)
{
	static const struct {
		double p, burst, far;
	} way[] = {
		{ 1e-3, 1, 12 }, { 1e-2, 1, 12 }, { 3e-2, 1, 12 }, { 1e-2, 8, 12 }, { 1e-2, 64, 40 }
	};
	unsigned i, n, runs = 1000, fails, counted = 0;
	uint32_t m;

	seed = 2;
	for (i = 0; i < sizeof(way) / sizeof(*way); i++) {
		struct sdr_choice_loss l = path(way[i].p, way[i].burst);
		struct sdr_choice_in in = wish(&l, 32768);
		struct sdr_choice c;

		sdr_choose(*state, &in, &c);
		assert_int_equal(c.why, SDR_CHOICE_PARITY);
		assert_true(c.k == 128 && c.cover == 32768 && c.fail <= 1.05e-3);
		for (n = fails = 0; n < runs; n++)
			fails += transfer_fails(way[i].p, way[i].burst, 2, 128, c.k + c.m, c.m);
		/* one in a thousand was promised */
		assert_in_range(fails, 0, 4);
		for (m = c.m - 1u; m; m--) {
			in.max_overhead = m / 128.0;
			sdr_choose(*state, &in, &c);
			if (c.why == SDR_CHOICE_HOPELESS)
				break;
			assert_int_equal(c.why, SDR_CHOICE_OVERHEAD);
			assert_int_equal(c.m, m);
			if (c.fail < 0.02)
				continue;
			for (n = fails = 0; n < runs; n++)
				fails += transfer_fails(way[i].p, way[i].burst, 2, 128, c.k + c.m,
							c.m);
			assert_true(fails <= c.fail * runs + 4 * sqrt(c.fail * runs));
			assert_true(fails >= c.fail * runs / way[i].far - 4);
			counted++;
		}
	}
	assert_true(counted >= 4);
}

static double sent(const struct sdr_choice *c)
{
	return c->m ? ceil((double)c->cover / c->k) * c->m : 0;
}

static void choice__holds_its_bounds(void **state)
{
	unsigned n, seen[5] = { 0 };

	seed = 3;
	for (n = 0; n < 30000; n++) {
		double p = pow(10, -8 * draw()), burst = draw() < 0.5 ? 1 : 1 + 99 * draw();
		struct sdr_choice_loss l;
		struct sdr_choice_in in = wish(&l, 1 + (uint64_t)pow(2, 28 * draw()));
		struct sdr_choice c;
		double cap;

		l = path_of(p, burst, pow(10, 12 - 12 * draw()));
		in.far_only = n & 1;
		in.objective = n % 3;
		in.max_overhead = draw() < 0.1 ? 0 : draw() < 0.5 ? draw() : 16 * draw();
		in.seg_pkts = draw() < 0.5 ? 0 : 1 + (uint64_t)(70000 * draw());
		in.rtt_ns = draw() < 0.05 ? 0 : (uint64_t)(pow(10, 4 + 5 * draw()));
		in.pkts_ns = draw() < 0.2 ? 0 : pow(10, -6 + 5 * draw());
		memset(&c, 0xff, sizeof(c));
		sdr_choose(*state, &in, &c);
		assert_in_range(c.why, SDR_CHOICE_PARITY, SDR_CHOICE_HOPELESS);
		seen[c.why]++;
		assert_true(c.fail >= 0 && c.fail <= 1);
		assert_true((c.m > 0) == (c.k > 0) && (c.m > 0) == (c.cover > 0));
		assert_true(c.cover <= in.npkts && c.k <= SDR_CHOICE_K &&
			    c.k + c.m <= (int)SDR_CHOICE_SYMS);
		cap = ceil(in.max_overhead * (double)(in.npkts + 1));
		cap = fmax(floor(in.max_overhead * (double)in.npkts), fmin(cap, 2));
		assert_true(sent(&c) <= cap);
		if (c.why == SDR_CHOICE_PARITY)
			assert_true(c.m > 0);
		else if (c.why != SDR_CHOICE_OVERHEAD)
			assert_true(c.m == 0);
		if (c.why == SDR_CHOICE_NEAR)
			assert_true(in.far_only && in.rtt_ns < SDR_CHOICE_RTT_MIN);
		if (c.m && in.pkts_ns == 0)
			assert_true(c.cover == in.npkts);
	}
	for (n = 0; n < 5; n++)
		assert_true(seen[n] > 100);
}

/* A row of parity is worth it where it takes less time than the failures that it saves. */
static void choice__as_sure_as_is_worth_it(void **state)
{
	static const double loss[] = { 1e-3, 1e-2, 3e-2 };
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct sdr_choice_loss l = path(loss[i], 1);
		struct sdr_choice_in in = wish(&l, 2048);
		struct sdr_choice fast, slow;

		sdr_choose(*state, &in, &fast);
		assert_true(fast.why == SDR_CHOICE_PARITY && fast.fail <= 2.1e-4);
		in.pkts_ns = FAST / 400;
		sdr_choose(*state, &in, &slow);
		assert_true(slow.why == SDR_CHOICE_PARITY && slow.fail <= 1.1e-3);
		in.npkts = slow.cover;
		in.pkts_ns = FAST; /* as many packets, which take no time */
		sdr_choose(*state, &in, &fast);
		assert_true(slow.fail > fast.fail && slow.m + (i > 0) <= fast.m);
		in.objective = SDR_OBJECTIVE_P999;
		in.pkts_ns = FAST / 400;
		sdr_choose(*state, &in, &fast);
		assert_true(fast.fail < slow.fail && fast.fail <= 1.1e-4);
	}
}

static void choice__more_needs_more(void **state)
{
	static const uint64_t npkts[] = { 128, 256, 4096, 32768, 262144 };
	unsigned i, obj;
	double p;

	/* unlimited rate: the cover is the transfer, and k is 128 throughout */
	for (i = 0; i < 5; i++) {
		unsigned last = 0;

		for (p = 1e-4; p < 0.1; p *= 1.3) {
			struct sdr_choice_loss l = path(p, 1);
			struct sdr_choice_in in = wish(&l, npkts[i]);
			struct sdr_choice a, b, c;

			in.pkts_ns = 0;
			in.max_overhead = 1;
			sdr_choose(*state, &in, &a);
			assert_true(a.k == 128 && a.m >= last);
			last = a.m;
			in.npkts *= 8;
			sdr_choose(*state, &in, &b);
			assert_true(b.m >= a.m);
			in.npkts /= 8;
			in.objective = SDR_OBJECTIVE_P999;
			sdr_choose(*state, &in, &c);
			assert_true(c.m >= a.m && c.m <= a.m + 6);
		}
	}
	/* the prediction keeps the objective with room, whatever it is */
	for (obj = SDR_OBJECTIVE_P99; obj <= SDR_OBJECTIVE_P999; obj++) {
		for (p = 1e-5; p < 0.02; p *= 2) {
			struct sdr_choice_loss l = path(p, 1);
			struct sdr_choice_in in = wish(&l, 2097152);
			struct sdr_choice c;

			in.objective = (uint8_t)obj;
			sdr_choose(*state, &in, &c);
			assert_int_equal(c.why, SDR_CHOICE_PARITY);
			assert_true(c.fail < (obj == SDR_OBJECTIVE_P99 ? 1e-2 : 1e-3) / 2);
			/* two round trips and a bit, more with more loss; not all of it */
			assert_true((double)c.cover >= 2.2 * FAST * 25e6 &&
				    (double)c.cover <= 6 * FAST * 25e6 + 1);
		}
	}
}

/* For the mean: no other m is faster, by exact sums. */
static void choice__mean(void **state)
{
	static const double loss[] = { 1e-4, 1e-3, 1e-2, 3e-2 };
	unsigned i;

	for (i = 0; i < 4; i++) {
		struct sdr_choice_loss l = path(loss[i], 1);
		struct sdr_choice_in in = wish(&l, 262144);
		double cost, best = 1e300, mine = 0, words = 2048;
		struct sdr_choice c;
		uint32_t m;

		in.objective = SDR_OBJECTIVE_MEAN;
		sdr_choose(*state, &in, &c);
		assert_int_equal(c.why, SDR_CHOICE_PARITY);
		assert_true(c.k == 128 && c.cover == 262144);
		for (m = 1; m < 60; m++) {
			double t = (double)binomial_tail(128 + m, m, loss[i]);

			cost = m * words / FAST + -expm1(words * log1p(-t)) * 25e6;
			best = cost < best ? cost : best;
			if (m == c.m)
				mine = cost;
		}
		/* rounding of loss and failure costs a row of them now and then */
		assert_true(mine <= best + 1.01 * words / FAST);
	}
	/* where parity takes longer than a repair there is none */
	{
		struct sdr_choice_loss l = path(1e-2, 1);
		struct sdr_choice_in in = wish(&l, 100000);
		struct sdr_choice c;

		in.objective = SDR_OBJECTIVE_MEAN;
		in.rtt_ns = 2 * MS;
		in.pkts_ns = 1e-6;
		sdr_choose(*state, &in, &c);
		assert_int_equal(c.why, SDR_CHOICE_CLEAN);
	}
}

static void choice__none_where_none_is_needed(void **state)
{
	struct sdr_choice_loss l;
	struct sdr_choice_in in = wish(&l, 16384);
	struct sdr_choice c;
	struct sdr_loss_est seen;

	/* a fresh path is not trusted */
	sdr_loss_est_init(&seen, 0);
	sdr_loss_est_known(&seen, &l);
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_PARITY);
	/* a few hundred thousand clean packets are */
	sdr_loss_est_arrived(&seen, 0, 300000);
	sdr_loss_est_known(&seen, &l);
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_CLEAN);
	assert_true(c.m == 0 && c.fail < 0.01);
	in.npkts = 1u << 28;
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_PARITY);
	sdr_loss_est_arrived(&seen, 0, 10000000);
	sdr_loss_est_known(&seen, &l);
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_CLEAN);
	/* once it is known to lose, rare loss is worth a row */
	l = path(1e-5, 1);
	in.npkts = 256;
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_PARITY);
	assert_int_equal(c.m, 1);
	/* near peers */
	in.rtt_ns = SDR_CHOICE_RTT_MIN - 1;
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_NEAR);
	in.far_only = false;
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_PARITY);
}

static void choice__small_and_capped(void **state)
{
	struct sdr_choice_loss l = path(2e-2, 1);
	struct sdr_choice_in in = wish(&l, 1);
	struct sdr_choice c;

	/* one packet may be repeated once, whatever max_overhead says but 0 */
	sdr_choose(*state, &in, &c);
	assert_true(c.k == 1 && c.m == 1 && c.cover == 1);
	assert_true(c.fail >= 4e-4 && c.fail < 1e-3);
	in.npkts = 2;
	sdr_choose(*state, &in, &c);
	assert_true(c.k == 2 && c.m == 1 && c.cover == 2);
	/* few packets: a fraction of one is one more */
	in.npkts = 4;
	sdr_choose(*state, &in, &c);
	assert_true(c.k == 4 && c.m == 2 && c.fail < 1e-3);
	in.npkts = 2;
	in.max_overhead = 0;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_OVERHEAD && c.m == 0);
	in.max_overhead = NAN;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_OVERHEAD && c.m == 0);
	/* overhead that helps a little is used, overhead that cannot help is not */
	in.npkts = 32768;
	in.max_overhead = 9.0 / 128;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_OVERHEAD && c.m == 9 && c.fail < 0.5);
	in.max_overhead = 2.0 / 128;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_HOPELESS && c.m == 0 && c.fail > 0.5);
	in.max_overhead = 0.001;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_OVERHEAD && c.m == 0);
	/* a third lost: codewords of 128 have no room below SDR_CHOICE_SYMS, shorter ones have */
	l = path(0.33, 1.5);
	in.max_overhead = 4;
	sdr_choose(*state, &in, &c);
	assert_true(c.why == SDR_CHOICE_PARITY && c.k < 128 && c.fail < 1e-3);
	l = path(0.99, 100);
	in.max_overhead = 16;
	sdr_choose(*state, &in, &c);
	assert_int_equal(c.why, SDR_CHOICE_HOPELESS);
	in.pkts_ns = INFINITY;
	in.npkts = UINT64_MAX;
	sdr_choose(*state, &in, &c);
	assert_true(c.m == 0 && c.fail <= 1);
}

static void choice__bursts_and_interleaving(void **state)
{
	struct sdr_choice_loss alone = path(1e-2, 1), burst = path(1e-2, 64);
	struct sdr_choice_in in = wish(&burst, 32768);
	struct sdr_choice one, far, near;

	in.max_overhead = 1;
	in.seg_pkts = 0;
	sdr_choose(*state, &in, &far);
	in.seg_pkts = 4096;
	sdr_choose(*state, &in, &near);
	in.loss = &alone;
	sdr_choose(*state, &in, &one);
	/* codewords side by side take the burst in turns: 256 nearly as if it were none, 32 not */
	assert_true(one.why == SDR_CHOICE_PARITY && far.why == SDR_CHOICE_PARITY);
	assert_in_range(far.m, one.m, one.m + 3);
	assert_true(near.m > far.m + 5);
}

static void repair__arrives(void **state)
{
	static const double loss[] = { 1e-5, 1e-3, 1e-2, 0.1, 0.3 };
	uint32_t i, d, x, last;

	for (i = 0; i < 5; i++) {
		struct sdr_choice_loss l = path(loss[i], 1 / (1 - loss[i]));

		for (last = 0, d = 1; d <= 100; d++) {
			x = sdr_choice_repair(*state, &l, d, 1e-3);
			assert_true(x >= d && x <= 255 && x >= last);
			last = x;
			if (x == 255)
				continue;
			assert_true(binomial_tail(x, x - d, loss[i]) <= 1e-3L);
			/* rounded by an octave of eps and an eighth of the others */
			assert_true(x <= d + 1 ||
				    binomial_tail(x - (x - d + 3) / 4 - 1,
						  x - d - (x - d + 3) / 4 - 1, loss[i]) > 1e-4L);
		}
	}
}

static void repair__bounds(void **state)
{
	struct sdr_choice_loss l = path(1e-2, 64), alone = path(1e-2, 1), lost = path(0.99, 100);
	uint32_t d, x;

	for (d = 1; d < 200; d++) {
		x = sdr_choice_repair(*state, &alone, d, 1e-3);
		/* bursts cost a margin, but no more than once the deficit and a bit */
		assert_in_range(sdr_choice_repair(*state, &l, d, 1e-3), x, x + d + 3);
		assert_in_range(sdr_choice_repair(*state, &lost, d, 1e-3), d, 255);
	}
	assert_true(sdr_choice_repair(*state, &l, 1, 1e-3) > 1);
	assert_int_equal(sdr_choice_repair(*state, &l, 0, 1e-3), 0);
	assert_int_equal(sdr_choice_repair(*state, &l, 255, 1e-3), 255);
	assert_int_equal(sdr_choice_repair(*state, &l, 100000, 1e-3), 100000);
	assert_in_range(sdr_choice_repair(*state, &l, 1, 0), 2, 255);
	assert_in_range(sdr_choice_repair(*state, &l, 1, NAN), 2, 255);
	assert_int_equal(sdr_choice_repair(*state, &alone, 1, 1), 1);
}

static double since(const struct timespec *a)
{
	struct timespec b;

	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a->tv_sec) * 1e9 + (double)(b.tv_nsec - a->tv_nsec);
}

/* What it costs is printed, not checked: the machine may be busy. */
static void choice__cost(void **state)
{
	struct sdr_choice_loss l = path(1e-3, 1);
	struct sdr_choice_in in = wish(&l, 32768);
	unsigned i, n = 100000, m = 0;
	struct sdr_choice c;
	struct timespec a;
	double fill, hit;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < 200; i++)
		m += sdr_choice_rows(*state, 1e-5 * pow(1.05, i), 0.1, 100 + i % 28)[20];
	fill = since(&a) / 200;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < n; i++)
		m += sdr_choice_rows(*state, 1e-3, 0.1, 128)[i % SDR_ROWS_EPS];
	hit = since(&a) / n;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < n; i++) {
		sdr_choose(*state, &in, &c);
		m += c.m;
	}
	assert_true(m > 0);
	print_message("a column %.1f us, a look-up %.0f ns, a choice %.0f ns\n", fill / 1e3, hit,
		      since(&a) / n);
}

static void choice__texts(void **state)
{
	int i, j;

	(void)state;
	for (i = SDR_CHOICE_PARITY; i <= SDR_CHOICE_HOPELESS + 1; i++)
		for (j = SDR_CHOICE_PARITY; j < i; j++)
			assert_string_not_equal(sdr_choice_text((enum sdr_choice_why)i),
						sdr_choice_text((enum sdr_choice_why)j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice__prediction_comes_true),
		cmocka_unit_test(choice__holds_its_bounds),
		cmocka_unit_test(choice__as_sure_as_is_worth_it),
		cmocka_unit_test(choice__more_needs_more),
		cmocka_unit_test(choice__mean),
		cmocka_unit_test(choice__none_where_none_is_needed),
		cmocka_unit_test(choice__small_and_capped),
		cmocka_unit_test(choice__bursts_and_interleaving),
		cmocka_unit_test(repair__arrives),
		cmocka_unit_test(repair__bounds),
		cmocka_unit_test(choice__cost),
		cmocka_unit_test(choice__texts),
	};

	return cmocka_run_group_tests(tests, create, destroy);
}
