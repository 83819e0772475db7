/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Selective repeat of D units, where D is random: the time at which the last of them arrives.
 *
 * D lies on combs: evenly spaced values with a weight each, thousands at times.
 *
 *   distribution  for a given time, log P(max <= at | D) is linear in D between the ends of the
 *		   levels' ramps, so along a comb the probability is a geometric sequence: one
 *		   multiplication a tooth.  It falls with D; the walk ends when nothing is left.
 *   mean	   E[max | D] is smooth in D.  A comb that is spread wide (WIDE teeth a standard
 *		   deviation) is sampled at SPARSE points a standard deviation, which for bell
 *		   curves is right to 1e-8 and better. One that is narrow beside its distance
 *		   from 0 (FLAT standard deviations) is sampled thrice.
 *
 * Positions in time are units of the injection of one unit, from the start of the repeat.
 */
#include <float.h>
#include <math.h>
#include "base/sdr_assert.h"
#include "sdr_model_ec.h"

#define WIDE	6.0
#define SPARSE	1.5
#define FLAT	300.0
#define NOTHING 1e-18 /* weights and probabilities below do not matter */

void sdr_model_mix_add(struct sdr_model_mix *x, double first, double step, double scale, uint32_t n,
		       const double *w)
{
	struct sdr_model_comb *c = &x->comb[x->combs];
	double one = 0, two = 0;
	uint32_t i;

	SDR_ASSERT(x->combs < sizeof(x->comb) / sizeof(x->comb[0]));
	*c = (struct sdr_model_comb){
		.first = first, .step = step, .scale = scale, .n = n, .w = w, .by = 1
	};
	for (i = 0; i < n; i++) {
		c->sum += w[i];
		one += w[i] * i;
		two += w[i] * i * i;
	}
	if (!(scale * c->sum > 0))
		return;
	c->mean = one / c->sum;
	c->sd = sqrt(fmax(two / c->sum - c->mean * c->mean, 0));
	if (c->sd >= WIDE)
		c->by = (uint32_t)(c->sd / SPARSE);
	for (i = 0; i < n; i += c->by)
		c->part += w[i];
	x->combs++;
	x->d_max = fmax(x->d_max, first + (n - 1) * step);
}

/* ---- the mean -------------------------------------------------------------------------------- */

static double mix_mean_at(const struct sdr_model_sr *sr, const struct sdr_model_comb *c, double i)
{
	return sdr_model_sr_mean(sr, c->first + i * c->step);
}

/* Of a comb that is narrow for its distance from 0: the parabola through three teeth. */
static double mix_mean_three(const struct sdr_model_sr *sr, const struct sdr_model_comb *c)
{
	double mid = fmin(fmax(rint(c->mean), 1), c->n - 2.0), h = fmax(ceil(1.7 * c->sd), 1), at,
	       square, a, b, z;

	h = fmin(h, fmin(mid, c->n - 1 - mid));
	at = (c->mean - mid) / h;
	square = at * at + c->sd * c->sd / h / h;
	a = mix_mean_at(sr, c, mid - h);
	z = mix_mean_at(sr, c, mid);
	b = mix_mean_at(sr, c, mid + h);
	return z + at * (b - a) / 2 + square * ((a - z) + (b - z)) / 2;
}

static double mix_comb_mean(const struct sdr_model_sr *sr, const struct sdr_model_comb *c)
{
	double d = c->first + c->mean * c->step, mean = 0;
	uint32_t i;

	if (c->n > 3 && d > FLAT * fmax(c->sd, 1) * c->step)
		return c->scale * c->sum * (d + mix_mean_three(sr, c));
	for (i = 0; i < c->n; i += c->by)
		if (c->w[i] > NOTHING * c->sum)
			mean += c->w[i] * mix_mean_at(sr, c, i);
	return c->scale * c->sum * (d + mean / c->part);
}

double sdr_model_mix_mean(const struct sdr_model_mix *x)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < x->combs; i++)
		sum += mix_comb_mean(&x->sr, &x->comb[i]);
	return sum;
}

/* ---- the distribution ------------------------------------------------------------------------ */

static double mix_comb_far(const struct sdr_model_sr *sr, const struct sdr_model_comb *c, double at)
{
	double sum = 0, d, p;
	uint32_t i;

	for (i = 0; i < c->n; i += c->by) {
		d = c->first + i * c->step;
		if (c->w[i] < NOTHING * c->sum)
			continue;
		p = exp(sdr_model_sr_logcdf(sr, d, at - d, 0));
		sum += c->w[i] * p;
		if (p < NOTHING)
			break;
	}
	return c->scale * c->sum * sum / c->part;
}

/* ceil(c rho - at), within rounding */
static double mix_offset(const struct sdr_model_sr *sr, uint32_t c, double at)
{
	double x = c * sr->rho - at, r = rint(x);

	return fabs(x - r) <= 8 * DBL_EPSILON * at ? r : ceil(x);
}

/* w[0] v + w[1] v f + w[2] v f^2 ..., by fours: the products need not wait for each other */
static double mix_geometric(const double *w, uint32_t n, double v, double f)
{
	double a = v, b = v * f, c = b * f, d = c * f, f4 = f * f * (f * f), sa = 0, sb = 0, sc = 0,
	       sd = 0;
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		sa += w[i] * a;
		sb += w[i + 1] * b;
		sc += w[i + 2] * c;
		sd += w[i + 3] * d;
		a *= f4;
		b *= f4;
		c *= f4;
		d *= f4;
	}
	if (i < n)
		sa += w[i] * a;
	if (i + 1 < n)
		sb += w[i + 1] * b;
	if (i + 2 < n)
		sc += w[i + 2] * c;
	return sa + sb + (sc + sd);
}

static double mix_comb_cdf(const struct sdr_model_sr *sr, const struct sdr_model_comb *c, double at)
{
	double sum = 0, a = 0, b, d, end, v, f, last = floor(at), next;
	uint32_t level, i = 0, n;

	/* the first level that no chunk can have passed by now */
	level = (uint32_t)fmin(fmax(floor(at / sr->rho) - 1, 1), sr->levels + 1.0);
	while (level <= sr->levels && mix_offset(sr, level, at) < 0)
		level++;
	b = level <= sr->levels ? sr->lam[level - 1] : 0;
	while (i < c->n && c->first + i * c->step <= last) {
		d = c->first + i * c->step;
		/* which levels end before the last of D units? */
		for (end = last; level > 1; level--) {
			next = mix_offset(sr, level - 1, at);
			if (d + next <= 0) {
				end = fmin(end, -next);
				break;
			}
			a += sr->d[level - 2] * next;
			b += sr->d[level - 2];
		}
		v = exp(a + b * d);
		f = exp(b * c->step);
		n = c->n;
		if (c->first + (n - 1) * c->step > end)
			n = (uint32_t)floor((end - c->first) / c->step) + 1;
		sum += mix_geometric(c->w + i, n - i, v, f);
		if (!(exp(a + b * (c->first + n * c->step)) > NOTHING))
			break;
		i = n;
	}
	return c->scale * sum;
}

double sdr_model_mix_cdf(const struct sdr_model_mix *x, double at)
{
	double sum = 0;
	uint32_t i;

	if (at < 1)
		return 0;
	for (i = 0; i < x->combs; i++)
		sum += x->sr.far ? mix_comb_far(&x->sr, &x->comb[i], at)
				 : mix_comb_cdf(&x->sr, &x->comb[i], at);
	return sum;
}

/* The jump in (lo, hi], at most one unit wide, if there is just one. */
static bool mix_jump(const struct sdr_model_sr *sr, double lo, double hi, double *jump)
{
	double near = 8 * DBL_EPSILON * hi, first = INFINITY, last = 0, at;
	uint32_t c;

	for (c = 0; c <= sr->levels && c * sr->rho < hi + 1; c++) {
		at = c * sr->rho + floor(hi + near - c * sr->rho);
		if (at <= lo)
			continue;
		first = fmin(first, at);
		last = fmax(last, at);
	}
	*jump = first;
	return last > 0 && last - first <= near;
}

double sdr_model_mix_quantile(const struct sdr_model_mix *x, double q)
{
	double lo = 0, hi, mid;

	if (!x->combs)
		return 0;
	hi = x->d_max + sdr_model_sr_quantile(&x->sr, x->d_max, log1p(-DBL_EPSILON));
	if (isinf(hi))
		return hi;
	for (mid = hi / 2; lo < mid && mid < hi && hi - lo > DBL_EPSILON * hi;
	     mid = lo + (hi - lo) / 2) {
		if (sdr_model_mix_cdf(x, mid) >= q)
			hi = mid;
		else
			lo = mid;
		if (!x->sr.far && hi - lo <= 1 && mix_jump(&x->sr, lo, hi, &mid))
			return mid;
	}
	return hi;
}
