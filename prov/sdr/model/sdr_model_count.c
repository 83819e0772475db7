/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many of n codewords fail: the binomial weights, from the most likely count outwards until
 * they no longer matter, scaled to a sum of 1, so no factorial is needed.
 *
 * Up to SDR_MODEL_COUNTS of them are all there.  For more (n above some 10^6 only) every step-th
 * represents its neighbours: a bell curve sampled hundreds of times within a standard deviation, so
 * sums over it are exact, and a count is off by less than 1e-6 of n.  Ratios of distant weights are
 * those of Stirling's series then.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_model_ec.h"

#define CUT   3e-20 /* of the largest */
#define WIDTH 9.6   /* where a bell curve is below that, standard deviations */

struct count_law {
	double n, fail, ok, odds;
};

/* (1 + d) log(1 + d) - d */
static double count_dev(double d)
{
	if (fabs(d) < 1e-3)
		return d * d * (1 / 2.0 - d * (1 / 6.0 - d * (1 / 12.0 - d / 20)));
	return (1 + d) * log1p(d) - d;
}

/* log of the weight at x, but for a constant; only where x and n - x are large */
static double count_log(const struct count_law *l, double x)
{
	double y = l->n - x, a = l->n * l->fail, b = l->n * l->ok;

	return -a * count_dev((x - a) / a) - b * count_dev((y - b) / b) - log(x / l->n) / 2 -
	       log(y / l->n) / 2 - 1 / (12 * x) - 1 / (12 * y);
}

/* weight(x + by) / weight(x), by = step or -step */
static double count_ratio(const struct count_law *l, double x, double by)
{
	if (x + by < 0 || x + by > l->n)
		return 0;
	if (by == 1)
		return (l->n - x) / (x + 1) * l->odds;
	if (by == -1)
		return x / (l->n - x + 1) / l->odds;
	return exp(count_log(l, x + by) - count_log(l, x));
}

/* Fills w[] with what follows mode in direction by; returns how many. */
static uint32_t count_side(const struct count_law *l, double mode, double by, double *w,
			   uint32_t room)
{
	double v = 1, x;
	uint32_t n = 0;

	for (x = mode; n < room; x += by) {
		v *= count_ratio(l, x, by);
		if (!(v > CUT))
			break;
		w[n++] = v;
	}
	return n;
}

int sdr_model_count_init(struct sdr_model_count *c, double n, double fail, double lnok)
{
	struct count_law l = { .n = n, .fail = fail, .ok = exp(lnok) };
	double mode, sum = 0, *w, t;
	uint32_t room, down, up, i;

	SDR_ASSERT(n >= 0 && lnok <= 0);
	l.odds = fail / l.ok;
	memset(c, 0, sizeof(*c));
	c->sd = sqrt(n * fail * l.ok);
	c->step = fmax(ceil(2 * WIDTH * c->sd / (SDR_MODEL_COUNTS - 512)), 1);
	mode = fmin(floor((n + 1) * fail), n);
	if (!(l.odds > 0) || isinf(l.odds))
		mode = l.odds > 0 ? n : 0;
	room = (uint32_t)fmin(n, WIDTH * c->sd / c->step + 128) + 1;
	w = malloc((2 * (size_t)room + 1) * sizeof(*w));
	if (!w)
		return -ENOMEM;
	down = isfinite(l.odds) && l.odds > 0 ? count_side(&l, mode, -c->step, w, room) : 0;
	for (i = 0; i < down / 2; i++) {
		t = w[i];
		w[i] = w[down - 1 - i];
		w[down - 1 - i] = t;
	}
	w[down] = 1;
	up = isfinite(l.odds) && l.odds > 0 ? count_side(&l, mode, c->step, w + down + 1, room) : 0;
	c->n = down + 1 + up;
	c->first = mode - down * c->step;
	c->w = w;
	for (i = 0; i < c->n; i++)
		sum += w[i];
	SDR_ASSERT(sum >= 1 && c->first >= 0); /* the mode weighs 1 */
	for (i = 0; i < c->n; i++)
		w[i] /= sum;
	return 0;
}

void sdr_model_count_fini(struct sdr_model_count *c)
{
	free(c->w);
	c->w = NULL;
}
