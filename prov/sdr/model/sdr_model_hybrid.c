/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of the hybrid scheme as rel/ runs it.  A transfer is over when each of its parts is:
 *
 *   head      what has no parity: selective repeat of single packets, reported one RTT after they
 *             left (sdr_model_sr)
 *   segments  with parity, one behind the other.  Of the last one as many rows of parity are waited
 *	       for as its worst codeword needs; if all of them are not enough it is evaluated an RTT
 *	       after the last packet, and each further round takes an RTT and what it sends.
 *	       Earlier segments likewise from where they end: the earlier, the more rounds they
 *	       have before the sender waits for them.
 *   lone      a packet with a record: once or twice, then by the probe's timeout, doubling
 *
 * The parts are independent, so P(T <= t) is a product, in logarithms; each factor is a staircase
 * in t.  Losses of the head delay what is behind it by their expected number, the only mean among
 * the distributions.  When segments with parity are through is in sdr_model_hybrid_part.c.
 *
 * Bursts: within a codeword exactly (the chain); between codewords, which take turns, losses count
 * as independent, though a burst hits neighbours: from above.  The head has as many bursts as they
 * are long fewer, each repaired at once. Not in here: losses of what carries no data (records, END,
 * reports), reordering, headers.
 *
 * Mean: the integral of P(T > t) between the steps; exact where they can be listed one by one, else
 * by halving intervals until Simpson's rule agrees.  Quantiles by bisection.  No state but the law;
 * no threads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_model_hybrid.h"

#define HYBRID_STEPS 4096u /* of the staircase that are listed one by one */
#define HYBRID_SLACK 1e-9  /* of a step: rounding does not decide on which side of it a time is */
#define HYBRID_DEPTH 14u   /* of halving */
#define HYBRID_EXACT 1e-9  /* of the lossless time, of the mean */

struct hybrid_law {
	struct sdr_model_law law;
	struct sdr_model_hybrid_plan plan;
	struct sdr_model_sr sr;
	double fail, e_failures, p_word;
	double repairs; /* packets */
	struct sdr_model_hybrid_part full, last;
};

/* ---- distribution ---------------------------------------------------------------------------- */

static double lone_rto(const struct hybrid_law *l, uint32_t i)
{
	double rto = ldexp(l->plan.rto_s, (int)i);

	return l->plan.rto_s > SDR_MODEL_HYBRID_BACK ? l->plan.rto_s
						     : fmin(rto, SDR_MODEL_HYBRID_BACK);
}

/* Probability that a lone packet and its copy are lost. */
static double lone_lost(const struct hybrid_law *l)
{
	double p = l->plan.loss.upper;

	return l->plan.sends > 1 ? p * fmax(p, 1 - 1 / l->plan.loss.burst) : p;
}

static double lone_logcdf(const struct hybrid_law *l, double t)
{
	double at = l->plan.first_s, q = lone_lost(l), none = q;
	uint32_t i;

	for (i = 0; i < 1000 && at + lone_rto(l, i) <= t && none > 0; i++, none *= q)
		at += lone_rto(l, i);
	return log1p(-none);
}

/* The last segment. */
static double last_logcdf(const struct hybrid_law *l, double t)
{
	const struct sdr_model_hybrid_part *p = &l->last;
	double all = p->s.end_s + l->law.point.rtt_s, n;

	if (t < all - HYBRID_SLACK * l->plan.t_s) {
		n = floor((t - l->plan.first_s) / (p->s.codewords * l->plan.t_s) + HYBRID_SLACK);
		return p->rows[n < p->s.m ? (uint32_t)fmax(n, 0) : p->s.m - 1];
	}
	n = floor((t - all) / p->round_s + HYBRID_SLACK);
	return n < p->nrounds ? p->rounds[(uint32_t)fmax(n, 0)] : 0;
}

/* Those before it.  Segment s from the end (0, 1 ...) has s every_s / round_s more rounds. */
static double full_logcdf(const struct hybrid_law *l, double t)
{
	const struct sdr_model_hybrid_part *p = &l->full;
	double x = (t - l->law.point.rtt_s - p->s.end_s) / p->round_s + HYBRID_SLACK, before = 0,
	       upto, sum = 0;
	uint32_t g;

	for (g = 0; g < p->nrounds && before < p->s.segs; g++) {
		upto = ceil((g + 1 - x) * p->round_s / p->s.every_s);
		upto = fmin(fmax(upto, 0), p->s.segs);
		sum += (upto - before) * p->rounds[g];
		before = upto;
	}
	return sum;
}

static double hybrid_logcdf(const struct hybrid_law *l, double t)
{
	double sum = 0;

	if (t < l->plan.first_s - HYBRID_SLACK * l->plan.t_s)
		return -INFINITY;
	if (l->plan.lone)
		return lone_logcdf(l, t);
	if (l->plan.units > 0)
		sum += sdr_model_sr_logcdf(
			&l->sr, l->plan.units,
			fmax((t - l->law.point.rtt_s) / l->plan.unit_s - l->plan.units, 0), 0);
	if (l->full.s.segs > 0)
		sum += full_logcdf(l, t);
	if (l->last.s.segs > 0)
		sum += last_logcdf(l, t);
	return sum;
}

static double hybrid_cdf(const void *self, double t)
{
	return exp(hybrid_logcdf(self, t));
}

/* A time by which it is over but for nothing. */
static double hybrid_bound(const struct hybrid_law *l)
{
	double step = l->law.point.rtt_s, at;
	int i;

	for (i = 0; i < 1000; i++, step *= 1.25) {
		at = l->plan.first_s + step;
		if (hybrid_logcdf(l, at) >= -SDR_MODEL_HYBRID_LEFT)
			break;
	}
	return at;
}

static double hybrid_quantile(const void *self, double q)
{
	const struct hybrid_law *l = self;
	double lo = l->plan.first_s, hi, mid, want;
	int i;

	if (!(q >= 0 && q < 1))
		return NAN;
	want = log(q);
	if (hybrid_logcdf(l, lo) >= want)
		return lo;
	if (!l->plan.lone && !(l->last.s.segs > 0))
		return (l->plan.units + sdr_model_sr_quantile(&l->sr, l->plan.units, want)) *
			       l->plan.unit_s +
		       l->law.point.rtt_s;
	for (hi = lo + l->law.point.rtt_s, i = 0; i < 1000 && hybrid_logcdf(l, hi) < want; i++)
		hi = lo + (hi - lo) * 1.5;
	for (i = 0; i < 200; i++) {
		mid = lo + (hi - lo) / 2;
		if (!(mid > lo && mid < hi))
			break;
		if (hybrid_logcdf(l, mid) >= want)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* ---- mean ------------------------------------------------------------------------------------ */

struct hybrid_steps {
	double at[HYBRID_STEPS + 16];
	uint32_t n;
	bool all; /* P(T > t) is constant between them */
	double end;
};

static void steps_add(const struct hybrid_law *l, struct hybrid_steps *s, double t)
{
	if (!(t > l->plan.first_s && t < s->end))
		return;
	if (s->n == HYBRID_STEPS)
		s->all = false;
	else
		s->at[s->n++] = t;
}

/*
 * Steps of n things, every one d later than the one before: each, or where the stretch begins and
 * ends.
 */
static void steps_run(const struct hybrid_law *l, struct hybrid_steps *s, double first, double d,
		      double n, double room)
{
	if (n > room) {
		s->all = false;
		steps_add(l, s, first);
		steps_add(l, s, first + (n - 1) * d);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		steps_add(l, s, first + i * d);
}

static int steps_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void steps_of(const struct hybrid_law *l, struct hybrid_steps *s)
{
	double rtt = l->law.point.rtt_s, room = HYBRID_STEPS / 2.0 / SDR_MODEL_HYBRID_ROUNDS;
	const struct sdr_model_hybrid_part *p = &l->full;
	uint32_t g;

	for (g = 0; g < p->nrounds && p->s.segs > 0; g++)
		steps_run(l, s, p->s.end_s + rtt + g * p->round_s - (p->s.segs - 1) * p->s.every_s,
			  p->s.every_s, p->s.segs, room);
	p = &l->last;
	for (g = 1; g <= p->s.m; g++)
		steps_add(l, s, l->plan.first_s + g * p->s.codewords * l->plan.t_s);
	for (g = 0; g < p->nrounds; g++)
		steps_add(l, s, p->s.end_s + rtt + g * p->round_s);
	for (g = 1; g <= l->sr.levels && l->plan.units > 0; g++) {
		double last = g * l->sr.rho * l->plan.unit_s + rtt + l->plan.units * l->plan.unit_s;

		if (last > l->plan.first_s)
			steps_run(l, s, last - (l->plan.units - 1) * l->plan.unit_s, l->plan.unit_s,
				  l->plan.units, 1024.0 / l->sr.levels);
	}
	qsort(s->at, s->n, sizeof(s->at[0]), steps_order);
}

/* By Simpson's rule, halved until both halves agree with the whole. */
static double mean_over(const struct hybrid_law *l, double a, double fa, double b, double fb,
			double fm, uint32_t depth)
{
	double m = (a + b) / 2, fl = -expm1(hybrid_logcdf(l, (a + m) / 2)),
	       fr = -expm1(hybrid_logcdf(l, (m + b) / 2));
	double whole = (b - a) / 6 * (fa + 4 * fm + fb);
	double halves = (b - a) / 12 * (fa + 4 * fl + 2 * fm + 4 * fr + fb);

	if (!depth || fabs(whole - halves) <= HYBRID_EXACT * l->plan.first_s)
		return halves;
	return mean_over(l, a, fa, m, fm, fl, depth - 1) +
	       mean_over(l, m, fm, b, fb, fr, depth - 1);
}

static double lone_mean(const struct hybrid_law *l)
{
	double q = lone_lost(l), none = q, sum = l->plan.first_s;
	uint32_t i;

	for (i = 0; i < 1000 && none > 0; i++, none *= q)
		sum += none * lone_rto(l, i);
	return sum;
}

static double hybrid_mean(const void *self)
{
	const struct hybrid_law *l = self;
	struct hybrid_steps s = { .n = 0, .all = !l->sr.far, .end = hybrid_bound(l) };
	double sum = l->plan.first_s, a = l->plan.first_s, b, width;
	uint32_t i;

	if (l->plan.lone)
		return lone_mean(l);
	if (!(l->last.s.segs > 0))
		return l->plan.first_s + sdr_model_sr_mean(&l->sr, l->plan.units) * l->plan.unit_s;
	steps_of(l, &s);
	for (i = 0; i <= s.n; i++, a = b) {
		b = i < s.n ? s.at[i] : s.end;
		width = b - a;
		if (!(width > 0))
			continue;
		if (s.all) {
			sum -= width * expm1(hybrid_logcdf(l, a + width / 2));
			continue;
		}
		/* beside the steps at the ends, not on them */
		sum += mean_over(l, a + width / 1e6, -expm1(hybrid_logcdf(l, a + width / 1e6)),
				 b - width / 1e6, -expm1(hybrid_logcdf(l, b - width / 1e6)),
				 -expm1(hybrid_logcdf(l, a + width / 2)), HYBRID_DEPTH) /
		       (1 - 2e-6);
	}
	return sum;
}

/* ---- the law --------------------------------------------------------------------------------- */

static void hybrid_derived(const void *self, struct sdr_model_derived *out)
{
	const struct hybrid_law *l = self;
	const struct sdr_model_hybrid_plan *h = &l->plan;

	out->t_inj_s = h->t_s;
	out->chunks = (uint64_t)h->pkts;
	out->p_chunk = h->loss.upper;
	out->base_s = (h->pkts + h->parity) * h->t_s;
	out->parity_chunks = (uint64_t)h->parity;
	out->p_ec = 1 - l->p_word;
	out->p_fallback = l->fail;
	out->e_failures = l->e_failures;
	out->k = h->choice.m ? h->choice.k : 0;
	out->m = h->choice.m;
	out->cover = h->lone ? h->choice.m : (h->pkts - h->head) / h->pkts;
}

double sdr_model_hybrid_repairs(const struct sdr_model_law *law)
{
	return ((const struct hybrid_law *)law)->repairs;
}

static void hybrid_destroy(void *self)
{
	free(self);
}

static const struct sdr_model_law_ops hybrid_ops = {
	.destroy = hybrid_destroy,
	.mean = hybrid_mean,
	.cdf = hybrid_cdf,
	.quantile = hybrid_quantile,
	.derived = hybrid_derived,
};

static void hybrid_lone(struct hybrid_law *l)
{
	l->p_word = l->fail = l->e_failures = lone_lost(l);
	l->repairs = l->plan.sends * l->fail / (1 - l->fail);
}

static void hybrid_part(struct hybrid_law *l, struct sdr_choice_table *t,
			struct sdr_model_hybrid_part *p)
{
	sdr_model_hybrid_part_init(p, &l->plan, t, l->law.point.rtt_s);
	l->repairs += p->s.segs * p->sent;
	l->p_word = fmax(l->p_word, p->fail);
	l->e_failures += p->s.segs * p->failures;
}

static void hybrid_parts(struct hybrid_law *l, struct sdr_choice_table *t)
{
	const struct sdr_model_hybrid_plan *h = &l->plan;
	double log_all;

	if (h->head > 0)
		sdr_model_sr_init(&l->sr, h->loss.upper,
				  (sdr_model_rto(&l->law.point) + h->unit_s) / h->unit_s, h->units);
	l->repairs = h->head * h->loss.upper / (1 - h->loss.upper);
	if (!h->choice.m)
		return;
	l->full.s = h->full;
	l->last.s = h->last;
	hybrid_part(l, t, &l->full);
	hybrid_part(l, t, &l->last);
	log_all = l->last.rounds[0] + (h->full.segs > 0 ? h->full.segs * l->full.rounds[0] : 0);
	l->fail = -expm1(log_all);
}

int sdr_model_law_hybrid(const struct sdr_model_point *p, struct sdr_model_law **law)
{
	struct sdr_choice_table *t = sdr_choice_table_create();
	struct hybrid_law *l = calloc(1, sizeof(*l));
	int ret = -ENOMEM;

	if (!t || !l)
		goto out;
	l->law.ops = &hybrid_ops;
	l->law.point = *p;
	sdr_model_hybrid_plan(&l->plan, p, t);
	if (l->plan.lone)
		hybrid_lone(l);
	else
		hybrid_parts(l, t);
	*law = &l->law;
	l = NULL;
	ret = 0;
out:
	free(l);
	sdr_choice_table_destroy(t);
	return ret;
}
