/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loss estimate: what is known after so many packets, changes of the path, bursts, time.  Random
 * but repeatable.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rel/path/sdr_loss_est.h"
#include "test_draw.h"

#define S 1000000000ull

/* n packets, runs of mean `burst` lost, loss p; burst 0: independent losses. */
static void feed(struct sdr_loss_est *l, uint64_t now, double p, double burst, uint64_t n)
{
	double stop = burst > 0 ? 1 / burst : 1 - p, start = p * stop / (1 - p);
	uint64_t run;

	for (;;) {
		run = misses(start);
		run = run < n ? run : n;
		sdr_loss_est_arrived(l, now, run);
		n -= run;
		if (!n)
			return;
		run = 1 + misses(stop);
		run = run < n ? run : n;
		sdr_loss_est_lost(l, now, run);
		n -= run;
		/* at least one arrives between bursts, as the chain has it */
		if (!n--)
			return;
		sdr_loss_est_arrived(l, now, 1);
	}
}

static void sane(const struct sdr_loss_est *l)
{
	double mean = sdr_loss_est_mean(l), upper = sdr_loss_est_upper(l),
	       any = sdr_loss_est_any(l, 1000);

	assert_true(mean > 0 && mean <= 1);
	assert_true(upper >= mean && upper <= 1);
	assert_true(sdr_loss_est_burst(l) >= 1 && isfinite(sdr_loss_est_burst(l)));
	assert_true(any > 0 && any <= 1);
	assert_true(sdr_loss_est_any(l, 0) == 0);
	assert_true(sdr_loss_est_any(l, 2000) >= any);
}

static void loss__knowing_nothing_is_not_no_loss(void **state)
{
	struct sdr_loss_est l;

	(void)state;
	sdr_loss_est_init(&l, 7);
	sane(&l);
	assert_true(sdr_loss_est_mean(&l) == 0.5 / SDR_LOSS_PRIOR_PKTS);
	/* 95 % of Gamma(1/2, 1) lie below 1.9207 */
	assert_true(fabs(sdr_loss_est_upper(&l) * SDR_LOSS_PRIOR_PKTS / 1.9207 - 1) < 0.05);
	assert_true(sdr_loss_est_burst(&l) == 1);
	assert_false(sdr_loss_est_seen(&l));
	assert_true(sdr_loss_est_any(&l, 256) > 0.01);
}

/* What others have seen is where it begins, and what it sees itself comes on top. */
static void loss__begins_with_what_others_saw(void **state)
{
	struct sdr_loss_est l;

	(void)state;
	sdr_loss_est_init(&l, 7);
	sdr_loss_est_begin(&l, 8, 10000, 100, 50);
	sane(&l);
	assert_true(fabs(sdr_loss_est_mean(&l) / 0.01 - 1) < 0.15);
	assert_true(fabs(sdr_loss_est_burst(&l) / 2 - 1) < 0.15);
	assert_true(sdr_loss_est_seen(&l));
	sdr_loss_est_arrived(&l, 9, 90000);
	sdr_loss_est_lost(&l, 9, 1);
	sane(&l);
	assert_true(sdr_loss_est_mean(&l) < 0.005);
	/* too late: it has its own */
	sdr_loss_est_init(&l, 7);
	sdr_loss_est_arrived(&l, 8, 1);
	sdr_loss_est_begin(&l, 8, 10000, 100, 50);
	assert_false(sdr_loss_est_seen(&l));
	/* a path that lost nothing is not one of which nothing is known */
	sdr_loss_est_init(&l, 7);
	sdr_loss_est_begin(&l, 8, 10000, 0, 0);
	sane(&l);
	assert_true(sdr_loss_est_mean(&l) < 1e-4);
	sdr_loss_est_lost(&l, 9, 1);
	sane(&l);
}

static void loss__none_in_ten_thousand_is_not_zero(void **state)
{
	double before = 1, n;
	struct sdr_loss_est l;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 10000);
	assert_true(sdr_loss_est_upper(&l) > 1e-4 && sdr_loss_est_upper(&l) < 3e-4);
	assert_true(sdr_loss_est_any(&l, 10000) > 0.01);
	/* but evidence counts, and a path that never lost is believed in the end */
	for (n = 1e5; n < 1e9; n *= 10) {
		sdr_loss_est_arrived(&l, 0, (uint64_t)n);
		sane(&l);
		assert_true(sdr_loss_est_upper(&l) < before / 5);
		assert_true(sdr_loss_est_any(&l, 1e4) < 0.01);
		before = sdr_loss_est_upper(&l);
	}
	assert_true(sdr_loss_est_any(&l, 3e5) < 1e-4);
	assert_false(sdr_loss_est_seen(&l));
}

static void loss__rate_is_learnt(void **state)
{
	static const double rate[] = { 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 0.5 };
	struct sdr_loss_est l;
	double p, sd;
	unsigned i;

	(void)state;
	seed = 1;
	for (i = 0; i < sizeof(rate) / sizeof(*rate); i++) {
		p = rate[i];
		sdr_loss_est_init(&l, 0);
		feed(&l, 0, p, 0, 1000000);
		sane(&l);
		assert_true(sdr_loss_est_seen(&l));
		/* a hundred bursts are known to 10 %; the prior is 6 % of the shortest memory */
		sd = sqrt(1 / fmin(p * 1e6, SDR_LOSS_EVENTS));
		assert_true(fabs(sdr_loss_est_mean(&l) / p - 1) < 4 * sd + 0.07);
		assert_true(sdr_loss_est_upper(&l) < p * (1 + 6 * sd));
		assert_true(fabs(sdr_loss_est_burst(&l) * (1 - p) - 1) < 0.15);
	}
}

static void loss__upper_bound_holds(void **state)
{
	static const double burst[] = { 0, 8 };
	unsigned i, run, held;
	struct sdr_loss_est l;

	(void)state;
	seed = 2;
	for (i = 0; i < 2; i++) {
		for (held = 0, run = 0; run < 400; run++) {
			sdr_loss_est_init(&l, 0);
			feed(&l, 0, burst[i] > 0 ? 8e-3 : 1e-3, burst[i], 20000);
			held += sdr_loss_est_upper(&l) >= (burst[i] > 0 ? 8e-3 : 1e-3);
		}
		/*
		 * 95 % of 400 are 380; the prior, a twentieth of the evidence here, pulls down a
		 * little
		 */
		assert_in_range(held, 335, 399);
	}
}

static void loss__prediction_comes_true(void **state)
{
	double sum = 0;
	unsigned run, lost = 0;
	struct sdr_loss_est l, next;

	(void)state;
	seed = 3;
	/* paths of all kinds, rates from 1e-5 to 1e-2: how many lose one of the next 500? */
	for (run = 0; run < 4000; run++) {
		double p = pow(10, -5 + 3 * draw());

		sdr_loss_est_init(&l, 0);
		feed(&l, 0, p, 0, 5000);
		sum += sdr_loss_est_any(&l, 500);
		next = l;
		feed(&next, 0, p, 0, 500);
		lost += next.reported_lost > l.reported_lost;
	}
	assert_true(lost > 0.8 * sum && lost < 1.25 * sum);
}

static void loss__bursts(void **state)
{
	static const double burst[] = { 8, 64 };
	struct sdr_loss_est l;
	unsigned i;

	(void)state;
	seed = 4;
	for (i = 0; i < 2; i++) {
		sdr_loss_est_init(&l, 0);
		feed(&l, 0, 1e-2, burst[i], 1000000);
		sane(&l);
		assert_true(fabs(sdr_loss_est_burst(&l) / burst[i] - 1) < 0.25);
		assert_true(fabs(sdr_loss_est_mean(&l) / 1e-2 - 1) < 0.4);
		/* they come as bursts: fewer transfers are hit */
		assert_true(fabs(sdr_loss_est_any(&l, 500) / -expm1(-500 * 1e-2 / burst[i]) - 1) <
			    0.3);
	}
	/* reported in pieces it is the same burst; three bursts say nothing about length yet */
	sdr_loss_est_init(&l, 0);
	for (i = 0; i < 4; i++) {
		assert_true(sdr_loss_est_burst(&l) == 1);
		sdr_loss_est_arrived(&l, 0, 1000);
		sdr_loss_est_lost(&l, 0, 6);
		sdr_loss_est_lost(&l, 0, 0);
		sdr_loss_est_lost(&l, 0, 4);
		sdr_loss_est_arrived(&l, 0, 0);
	}
	assert_true(sdr_loss_est_burst(&l) == 10);
}

static void loss__new_loss_shows_soon(void **state)
{
	static const double before[] = { 0, 0, 1e-5, 1e-4 }, after[] = { 1e-3, 1e-2, 1e-2, 3e-2 };
	unsigned i, run, good;
	struct sdr_loss_est l;

	(void)state;
	seed = 5;
	for (i = 0; i < 4; i++) {
		for (good = 0, run = 0; run < 100; run++) {
			sdr_loss_est_init(&l, 0);
			if (before[i] > 0)
				feed(&l, 0, before[i], 0, 3000000);
			else
				sdr_loss_est_arrived(&l, 0, 300000000);
			assert_true(sdr_loss_est_upper(&l) < 10 * before[i] + 1e-6);
			feed(&l, 0, after[i], 0, 6000);
			good += sdr_loss_est_mean(&l) > after[i] / 3 &&
				sdr_loss_est_mean(&l) < after[i] * 3;
		}
		assert_in_range(good, 90, 100);
	}
}

static void loss__gone_loss_is_forgotten(void **state)
{
	static const double before[] = { 1e-3, 1e-2, 0.1 };
	struct sdr_loss_est l;
	unsigned i;

	(void)state;
	seed = 6;
	for (i = 0; i < 3; i++) {
		sdr_loss_est_init(&l, 0);
		feed(&l, 0, before[i], 0, 1000000);
		assert_true(sdr_loss_est_upper(&l) > 0.9 * before[i]);
		feed(&l, 0, 1e-9, 0, 100000);
		assert_true(sdr_loss_est_upper(&l) < 3e-5);
		feed(&l, 0, 1e-9, 0, 1000000);
		assert_true(sdr_loss_est_any(&l, 30000) < 0.01);
		/* less is not none */
		sdr_loss_est_init(&l, 0);
		feed(&l, 0, before[i], 0, 1000000);
		feed(&l, 0, before[i] / 10, 0, 500000);
		assert_true(fabs(sdr_loss_est_mean(&l) / before[i] * 10 - 1) < 0.6);
	}
}

static void loss__steady_loss_is_steady(void **state)
{
	unsigned i, odd = 0;
	struct sdr_loss_est l;

	(void)state;
	seed = 7;
	sdr_loss_est_init(&l, 0);
	feed(&l, 0, 1e-3, 0, 300000);
	for (i = 0; i < 20000; i++) {
		feed(&l, 0, 1e-3, 0, 500);
		odd += sdr_loss_est_mean(&l) < 0.7e-3 || sdr_loss_est_upper(&l) > 1.6e-3;
	}
	/*
	 * ten thousand bursts, each checked for a change: a wrong "yes" is rare and
	 * repaired
	 */
	assert_in_range(odd, 0, 200);
}

static void loss__time_fades(void **state)
{
	struct sdr_loss_est l, old;
	double mean;

	(void)state;
	seed = 8;
	sdr_loss_est_init(&l, 0);
	feed(&l, 0, 1e-4, 0, 3000000);
	old = l;
	mean = sdr_loss_est_mean(&l);
	/* the rate stays, the weight goes: half in SDR_LOSS_SLOW_NS */
	sdr_loss_est_arrived(&l, SDR_LOSS_SLOW_NS, 1);
	assert_true(fabs(l.sent / old.sent - 0.5) < 0.01 &&
		    fabs(l.bursts / old.bursts - 0.5) < 0.01);
	assert_true(fabs(sdr_loss_est_mean(&l) / mean - 1) < 0.05);
	/* old knowledge is worth SDR_LOSS_SLOW_PKTS at last, and is checked again */
	sdr_loss_est_arrived(&l, SDR_LOSS_SLOW_NS + 3600 * S, 1);
	assert_true(fabs(l.sent - SDR_LOSS_SLOW_PKTS) < 2);
	assert_true(fabs(sdr_loss_est_mean(&l) / mean - 1) < 0.2);
	assert_true(sdr_loss_est_upper(&l) > sdr_loss_est_upper(&old));
	/* a clock that stops or goes back changes nothing */
	sdr_loss_est_arrived(&l, 1, 1);
	sane(&l);
	assert_true(fabs(l.sent - SDR_LOSS_SLOW_PKTS) < 3);
}

static void loss__recounted(void **state)
{
	struct sdr_loss_est l;
	unsigned i;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 1000000);
	/* segments that a decoder repaired: 16 of 16384 */
	for (i = 0; i < 4; i++) {
		sdr_loss_est_arrived(&l, 0, 16384);
		sdr_loss_est_recount(&l, 0, 16);
		sdr_loss_est_recount(&l, 0, 0);
		sane(&l);
	}
	assert_true(fabs(sdr_loss_est_mean(&l) / (16.0 / 16384) - 1) < 0.3);
	/* and then only one */
	for (i = 0; i < 40; i++) {
		sdr_loss_est_arrived(&l, 0, 16384);
		sdr_loss_est_recount(&l, 0, 1);
		sane(&l);
	}
	assert_true(sdr_loss_est_mean(&l) > 0.5 / 16384 && sdr_loss_est_mean(&l) < 3.0 / 16384);
}

static void loss__outage(void **state)
{
	struct sdr_loss_est l;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 1000000);
	/* a second without the link: one event, and no reason to double everything that follows */
	sdr_loss_est_lost(&l, S, 10000000);
	sdr_loss_est_arrived(&l, S, 1);
	sane(&l);
	assert_true(sdr_loss_est_mean(&l) < 1e-3);
	assert_true(sdr_loss_est_any(&l, 1000) < 0.01);
}

static void loss__absurd_numbers(void **state)
{
	struct sdr_loss_est l;
	unsigned i;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_recount(&l, 0, UINT64_MAX);
	sane(&l);
	for (i = 0; i < 100; i++) {
		sdr_loss_est_lost(&l, UINT64_MAX - i, UINT64_MAX);
		sane(&l);
		sdr_loss_est_forgive(&l, i % 2 ? UINT64_MAX : i, UINT64_MAX);
		sane(&l);
		sdr_loss_est_recount(&l, UINT64_MAX - i, UINT64_MAX);
		sane(&l);
		sdr_loss_est_arrived(&l, i, 1);
		sane(&l);
	}
	assert_true(sdr_loss_est_mean(&l) > 0.5);
	sdr_loss_est_arrived(&l, 0, UINT64_MAX);
	sdr_loss_est_recount(&l, 0, UINT64_MAX);
	sane(&l);
	/* nearly all is lost */
	seed = 9;
	sdr_loss_est_init(&l, 0);
	feed(&l, 0, 0.98, 0, 100000);
	sane(&l);
	assert_true(sdr_loss_est_mean(&l) > 0.85);
	assert_true(sdr_loss_est_burst(&l) > 35);
}

/* What happened at home leaves no trace, whatever the path does beside it. */
static void loss__forgiven(void **state)
{
	struct sdr_loss_est l, clean;
	uint64_t now = 0;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 100000);
	clean = l;
	sdr_loss_est_forgive(&l, 0, 500);
	assert_int_equal(sdr_loss_est_lost(&l, 0, 300), 300);
	sdr_loss_est_arrived(&l, 0, 1);
	assert_int_equal(sdr_loss_est_lost(&l, 0, 200), 200);
	assert_false(sdr_loss_est_seen(&l));
	assert_true(fabs(sdr_loss_est_upper(&l) / sdr_loss_est_upper(&clean) - 1) < 1e-3);
	assert_int_equal(sdr_loss_est_lost(&l, 0, 2), 0);
	assert_true(sdr_loss_est_seen(&l));
	/* A part of a run, and of what a decoder repaired. */
	sdr_loss_est_forgive(&l, 0, 3);
	assert_int_equal(sdr_loss_est_lost(&l, 0, 10), 3);
	sdr_loss_est_forgive(&l, 0, 3);
	sdr_loss_est_arrived(&l, 0, 1000);
	assert_int_equal(sdr_loss_est_recount(&l, 0, 2), 2);
	assert_int_equal(sdr_loss_est_recount(&l, 0, 2), 1);
	sane(&l);
	/* Real losses, 1 in 1000, between overruns that lose ten times as many. */
	seed = 11;
	sdr_loss_est_init(&l, 0);
	for (uint32_t i = 0; i < 100; i++) {
		feed(&l, now, 1e-3, 0, 10000);
		sdr_loss_est_forgive(&l, now, 100);
		assert_int_equal(sdr_loss_est_lost(&l, now, 100), 100);
		now += S / 100;
	}
	sane(&l);
	assert_true(fabs(sdr_loss_est_mean(&l) / 1e-3 - 1) < 0.3);
}

/* Nobody forgives more than a little, or for long. */
static void loss__forgiven_within_bounds(void **state)
{
	struct sdr_loss_est l;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 100000);
	for (uint32_t i = 0; i < 10; i++)
		sdr_loss_est_forgive(&l, 0, i % 2 ? 5000 : UINT64_MAX);
	assert_int_equal(sdr_loss_est_lost(&l, 0, 1000000), SDR_LOSS_FORGIVE_MAX);
	/* Not used: it is forgotten, also if more comes all the time. */
	sdr_loss_est_forgive(&l, S, 1000);
	assert_int_equal(sdr_loss_est_lost(&l, 10 * S, 10), 0);
	sdr_loss_est_forgive(&l, 20 * S, 1000);
	assert_int_equal(sdr_loss_est_lost(&l, 20 * S + SDR_LOSS_FORGIVE_NS + 1, 1000), 500);
	for (uint32_t i = 0; i < 1000; i++)
		sdr_loss_est_forgive(&l, 30 * S + i * SDR_LOSS_FORGIVE_NS / 2, 1);
	assert_true(l.home.n < 10);
	sane(&l);
}

/* Of what is not judged nothing is believed but what arrived. */
static void loss__in_doubt_until_judged(void **state)
{
	struct sdr_loss_est l, calm;
	struct sdr_choice_loss a, b;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 50000);
	calm = l;
	sdr_loss_est_doubt(&l);
	for (uint32_t i = 0; i < 40; i++) {
		sdr_loss_est_lost(&l, 0, 1);
		sdr_loss_est_arrived(&l, 0, 9);
		sdr_loss_est_arrived(&calm, 0, 10);
		sdr_loss_est_doubt(&l); /* again: nothing */
	}
	sdr_loss_est_known(&l, &a);
	sdr_loss_est_known(&calm, &b);
	assert_true(fabs(a.upper - b.upper) < 1e-12 && fabs(a.events - b.events) < 1e-9);
	assert_true(fabs(a.pkts - b.pkts) < 1e-3 && fabs(a.lossy - b.lossy) < 1e-9);
	assert_false(sdr_loss_est_seen(&l));
	sane(&l);
	sdr_loss_est_judged(&l);
	assert_true(sdr_loss_est_seen(&l));
	assert_true(sdr_loss_est_mean(&l) > 100 * sdr_loss_est_mean(&calm));
}

/* What was ours leaves no trace, not even that the memory was cut. */
static void loss__excused(void **state)
{
	struct sdr_loss_est l, calm;
	double lost;

	(void)state;
	sdr_loss_est_init(&l, 0);
	sdr_loss_est_arrived(&l, 0, 50000);
	calm = l;
	sdr_loss_est_arrived(&calm, 0, 400);
	sdr_loss_est_doubt(&l);
	for (uint32_t i = 0; i < 40; i++) {
		sdr_loss_est_lost(&l, 0, 1);
		sdr_loss_est_arrived(&l, 0, 9);
	}
	assert_true(l.sent < 10000); /* they came too close together */
	sdr_loss_est_excuse(&l, 0, 40);
	assert_false(sdr_loss_est_seen(&l));
	assert_true(fabs(sdr_loss_est_mean(&l) - sdr_loss_est_mean(&calm)) < 1e-9);
	/* some of them */
	sdr_loss_est_doubt(&l);
	for (uint32_t i = 0; i < 40; i++) {
		sdr_loss_est_lost(&l, 0, 1);
		sdr_loss_est_arrived(&l, 0, 9);
	}
	sdr_loss_est_excuse(&l, 0, 36);
	sane(&l);
	assert_true(l.lost > 3.5 && l.lost < 4.5 && sdr_loss_est_seen(&l));
	/* and of those that nobody doubted */
	sdr_loss_est_excuse(&l, 0, 2);
	assert_true(l.lost > 1.5 && l.lost < 2.5);
	/* more than were reported: of those to come, for a while */
	sdr_loss_est_excuse(&l, 0, 12);
	assert_true(l.lost <= 0);
	assert_int_equal(sdr_loss_est_recount(&l, 0, 10), 0); /* not at home */
	assert_true(l.lost <= 0);
	lost = l.lost + 1;
	sdr_loss_est_lost(&l, 0, 1);
	assert_true(l.lost >= lost);
	sane(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss__knowing_nothing_is_not_no_loss),
		cmocka_unit_test(loss__begins_with_what_others_saw),
		cmocka_unit_test(loss__none_in_ten_thousand_is_not_zero),
		cmocka_unit_test(loss__rate_is_learnt),
		cmocka_unit_test(loss__upper_bound_holds),
		cmocka_unit_test(loss__prediction_comes_true),
		cmocka_unit_test(loss__bursts),
		cmocka_unit_test(loss__new_loss_shows_soon),
		cmocka_unit_test(loss__gone_loss_is_forgotten),
		cmocka_unit_test(loss__steady_loss_is_steady),
		cmocka_unit_test(loss__time_fades),
		cmocka_unit_test(loss__recounted),
		cmocka_unit_test(loss__outage),
		cmocka_unit_test(loss__absurd_numbers),
		cmocka_unit_test(loss__forgiven),
		cmocka_unit_test(loss__forgiven_within_bounds),
		cmocka_unit_test(loss__in_doubt_until_judged),
		cmocka_unit_test(loss__excused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
