/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sampling of transfers, and what samples come to.  A sample is a stream of random numbers of its
 * own (see sdr_model_random.h) and one draw of the transfer (sdr_model_draw.c): nothing goes from
 * one sample to the next.
 */
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "sdr_model_draw.h"

int sdr_model_sample(const struct sdr_model_point *p, uint64_t seed, uint64_t first, size_t n,
		     double *t_s, struct sdr_model_error *err)
{
	struct sdr_model_random rnd;
	struct sdr_model_draw d;
	int ret;

	ret = sdr_model_point_check(p, err);
	if (!ret)
		ret = sdr_model_draw_init(&d, p, false);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++) {
		sdr_model_random_init(&rnd, seed, SDR_MODEL_RANDOM_TRANSFER, first + i);
		t_s[i] = sdr_model_draw(&d, &rnd);
	}
	return 0;
}

static int sample_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The share is a product of two roundings: what misses an integer by less than 1e-9 is meant to be
 * it.
 */
static double sample_quantile(const double *t_s, size_t n, double q)
{
	double rank = ceil(q * (double)n - 1e-9);

	return t_s[rank > 1 ? (size_t)rank - 1 : 0];
}

void sdr_model_summary(double *t_s, size_t n, struct sdr_model_times *times)
{
	double sum = 0;

	SDR_ASSERT(n > 0);
	qsort(t_s, n, sizeof(*t_s), sample_compare);
	/* about the median: a mean of equal times is that time */
	times->p50_s = sample_quantile(t_s, n, 0.5);
	for (size_t i = 0; i < n; i++)
		sum += t_s[i] - times->p50_s;
	times->mean_s = times->p50_s + sum / (double)n;
	times->p99_s = sample_quantile(t_s, n, 0.99);
	times->p999_s = sample_quantile(t_s, n, 0.999);
}
