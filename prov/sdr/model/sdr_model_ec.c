/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of erasure coding, ec_mds and ec_xor:
 *
 *	base + RTT			    if every submessage can be decoded
 *	base + (2 + beta) RTT + max of D    else, by selective repeat of the D units of those
 *	                                    that cannot
 *
 * base is the injection of data and parity.  A last submessage of k' < k chunks has ceil(k' m / k)
 * of parity.  D is random through the number of failures: the others are binomial, the last has one
 * of its own; so there are two combs of D (see sdr_model_mix.c), and mean and distribution are
 * exact.
 *
 * SDR_MODEL_F_ROWS     a submessage is as many codewords as a chunk has packets, of one packet a
 * chunk; it fails if
 *			one of them does.
 * SDR_MODEL_F_PACKETS  the repeat is one of packets; the code stays one of chunks.
 * SDR_MODEL_F_MISSING  the repeat is of the lost data of the codewords that failed (of packets,
 * with either of the
 *			flags above).  One failed codeword: the exact
 *			distribution of its losses.  Several: a normal one with their mean and
 *			variance, on at most
 *			GRID values.  Means are within 1 % of all patterns of loss
 *			(test_model_ec), 2 % with rows.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_model_ec.h"

#define GRID	  2048u
#define GRID_WIDE 7.0 /* standard deviations that a normal distribution has */

struct law_ec {
	struct sdr_model_law law;
	struct sdr_model_units unit;
	double n; /* whole submessages */
	/* of a submessage, or of one of its rows; last.k: 0 if it is whole too */
	struct sdr_model_code full, last;
	double fail, lnok, last_fail, last_lnok;
	double lnone;	    /* log P(nothing failed) */
	double base_s, t_s; /* t_s: of what is repeated */
	struct sdr_model_count count;
	struct sdr_model_mix mix;
	double grid[GRID];
};

static double law_ec_late(const struct law_ec *l)
{
	return l->base_s + (2 + l->law.point.beta) * l->law.point.rtt_s;
}

static double law_ec_mean(const void *self)
{
	const struct law_ec *l = self;
	const struct sdr_model_point *p = &l->law.point;

	return l->base_s + p->rtt_s - expm1(l->lnone) * (1 + p->beta) * p->rtt_s +
	       sdr_model_mix_mean(&l->mix) * l->t_s;
}

static double law_ec_cdf(const void *self, double t_s)
{
	const struct law_ec *l = self;

	t_s += sdr_model_slack(t_s);
	if (t_s < l->base_s + l->law.point.rtt_s)
		return 0;
	return fmin(exp(l->lnone) + sdr_model_mix_cdf(&l->mix, (t_s - law_ec_late(l)) / l->t_s), 1);
}

static double law_ec_quantile(const void *self, double q)
{
	const struct law_ec *l = self;
	double none = exp(l->lnone);

	q *= SDR_MODEL_EQUAL;
	if (none >= q)
		return l->base_s + l->law.point.rtt_s;
	return law_ec_late(l) + sdr_model_mix_quantile(&l->mix, q - none) * l->t_s;
}

static void law_ec_derived(const void *self, struct sdr_model_derived *out)
{
	const struct law_ec *l = self;
	double parity = l->n * l->full.m + l->last.m;

	out->t_inj_s = l->unit.t_s;
	out->chunks = l->unit.count;
	out->p_chunk = l->unit.p;
	out->base_s = l->base_s;
	out->parity_chunks = parity < 0x1p64 ? (uint64_t)parity : UINT64_MAX;
	out->p_ec = l->fail < 0.5 ? 1 - l->fail : exp(l->lnok);
	out->p_fallback = -expm1(l->lnone);
	out->e_failures = l->n * l->fail + l->last_fail;
	out->k = l->full.k;
	out->m = l->full.m;
}

static void law_ec_destroy(void *self)
{
	struct law_ec *l = self;

	sdr_model_count_fini(&l->count);
	free(l);
}

/* ---- D is whole submessages ------------------------------------------------------------------ */

static int law_ec_whole(struct law_ec *l, uint32_t per_chunk)
{
	double step = (double)l->full.k * per_chunk, late = (double)l->last.k * per_chunk,
	       ok = exp(l->last_lnok);
	struct sdr_model_count *c = &l->count;
	int ret = sdr_model_count_init(c, l->n, l->fail, l->lnok);
	uint32_t skip;

	if (ret)
		return ret;
	skip = c->first < 1;
	sdr_model_mix_add(&l->mix, (c->first + skip * c->step) * step, c->step * step, ok,
			  c->n - skip, c->w + skip);
	if (l->last.k)
		sdr_model_mix_add(&l->mix, c->first * step + late, c->step * step, l->last_fail,
				  c->n, c->w);
	return 0;
}

/* ---- D is what was lost ---------------------------------------------------------------------- */

/* Units lost of one that failed. */
struct ec_lost {
	double mean, var;
};

/* each: of one lost symbol */
static struct ec_lost ec_lost(const struct sdr_model_code *c, struct ec_lost each)
{
	double one = 0, two = 0;
	uint32_t x;

	for (x = 1; x <= c->k; x++) {
		one += x * c->lost[x];
		two += (double)x * x * c->lost[x];
	}
	return (struct ec_lost){ one * each.mean,
				 one * each.var + (two - one * one) * each.mean * each.mean };
}

/* Packets lost of a chunk that is lost; just one when that is the unit. */
static struct ec_lost ec_lost_symbol(const struct law_ec *l, uint32_t per_chunk)
{
	double p = l->law.point.p_packet, n = per_chunk, mean;

	if (per_chunk == 1 || !(l->unit.p > 0))
		return (struct ec_lost){ 1, 0 };
	mean = n * p / l->unit.p;
	return (struct ec_lost){ mean, fmax(mean * (1 - p + n * p) - mean * mean, 0) };
}

/* Of n codewords that fail alone, given that one of them does. */
static struct ec_lost ec_lost_any(const struct sdr_model_code *c, struct ec_lost each, double n,
				  double fail)
{
	double mean, var;

	if (n == 1 || !(fail > 0))
		return each;
	mean = n * c->fail / fail;
	var = fmax(mean * (1 - c->fail + n * c->fail) - mean * mean, 0);
	return (struct ec_lost){ mean * each.mean, mean * each.var + var * each.mean * each.mean };
}

static void ec_grid_put(struct law_ec *l, double first, double step, double weight,
			struct ec_lost d)
{
	double sd = fmax(sqrt(d.var), step / 2), sum = 0, x;
	int64_t at = (int64_t)floor((d.mean - GRID_WIDE * sd - first) / step);
	int64_t end = (int64_t)ceil((d.mean + GRID_WIDE * sd - first) / step), i;

	at = at < 0 ? 0 : at;
	end = end >= (int64_t)GRID ? (int64_t)GRID - 1 : end;
	for (i = at; i <= end; i++) {
		x = (first + (double)i * step - d.mean) / sd;
		sum += exp(-x * x / 2);
	}
	for (i = at; i <= end && sum > 0; i++) {
		x = (first + (double)i * step - d.mean) / sd;
		l->grid[i] += weight * exp(-x * x / 2) / sum;
	}
}

static struct ec_lost ec_lost_of(double n, struct ec_lost each, uint32_t last, struct ec_lost also)
{
	return (struct ec_lost){ n * each.mean + last * also.mean, n * each.var + last * also.var };
}

static int law_ec_missing(struct law_ec *l, uint32_t rows, uint32_t per_chunk)
{
	bool row = l->law.point.flags & SDR_MODEL_F_ROWS, exact = row || per_chunk == 1;
	struct ec_lost symbol = ec_lost_symbol(l, row ? 1 : per_chunk),
		       each = ec_lost(&l->full, symbol), also, d;
	struct sdr_model_count *c = &l->count;
	double ok = exp(l->last_lnok), w, f, lo, hi, part = 0;
	uint32_t i, by, last;
	int ret = sdr_model_count_init(c, l->n * rows, l->full.fail, l->full.lnok);

	if (ret)
		return ret;
	also = ec_lost_any(&l->last, ec_lost(&l->last, symbol), rows, l->last_fail);
	by = c->sd > 6 * c->step ? (uint32_t)(c->sd / c->step / 1.5) : 1;
	d = ec_lost_of(c->first + (c->n - 1) * c->step, each, 1, also);
	hi = ceil(d.mean + GRID_WIDE * sqrt(d.var));
	d = ec_lost_of(c->first, each, 0, also);
	lo = fmax(floor(d.mean - GRID_WIDE * sqrt(d.var)), 1);
	w = fmax(ceil((hi - lo) / (GRID - 1)), 1);
	for (i = 0; i < c->n; i += by)
		part += c->w[i];
	for (i = 0; i < c->n; i += by) {
		f = c->first + i * c->step;
		for (last = 0; last < (l->last.k > 0 ? 2u : 1u); last++) {
			if (f + last < 1)
				continue;
			if (exact && f == 1 && !last)
				sdr_model_mix_add(&l->mix, 1, 1, c->w[i] / part * ok, l->full.k,
						  l->full.lost + 1);
			else if (exact && f == 0 && rows == 1)
				sdr_model_mix_add(&l->mix, 1, 1, c->w[i] / part * l->last_fail,
						  l->last.k, l->last.lost + 1);
			else
				ec_grid_put(l, lo, w, c->w[i] / part * (last ? l->last_fail : ok),
					    ec_lost_of(f, each, last, also));
		}
	}
	sdr_model_mix_add(&l->mix, lo, w, 1, GRID, l->grid);
	return 0;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static int law_ec_fallback(struct law_ec *l)
{
	const struct sdr_model_point *p = &l->law.point;
	bool row = p->flags & SDR_MODEL_F_ROWS, missing = p->flags & SDR_MODEL_F_MISSING;
	bool packets = p->flags & SDR_MODEL_F_PACKETS || (row && missing);
	uint32_t per_chunk = packets ? l->unit.packets : 1;
	struct sdr_model_units u = l->unit;

	if (packets)
		sdr_model_units(p, p->mtu_bytes, &u);
	l->t_s = u.t_s;
	sdr_model_sr_init_lnq(&l->mix.sr, u.lnq, u.rho,
			      ((double)l->unit.count + l->full.k) * per_chunk);
	if (!(l->lnone < 0))
		return 0;
	return missing ? law_ec_missing(l, row ? l->unit.packets : 1, per_chunk)
		       : law_ec_whole(l, per_chunk);
}

int sdr_model_law_ec(const struct sdr_model_point *p, struct sdr_model_law **law)
{
	static const struct sdr_model_law_ops ops = {
		.destroy = law_ec_destroy,
		.mean = law_ec_mean,
		.cdf = law_ec_cdf,
		.quantile = law_ec_quantile,
		.derived = law_ec_derived,
	};
	struct law_ec *l = calloc(1, sizeof(*l));
	bool xor = p->scheme == SDR_MODEL_EC_XOR, row = p->flags & SDR_MODEL_F_ROWS;
	uint32_t rows, k;
	double lnq;
	int ret;

	if (!l)
		return -ENOMEM;
	l->law.ops = &ops;
	l->law.point = *p;
	sdr_model_units(p, p->chunk_bytes, &l->unit);
	rows = row ? l->unit.packets : 1;
	lnq = row ? log1p(-p->p_packet) : l->unit.lnq;
	l->n = (double)(l->unit.count / p->k);
	sdr_model_code_init(&l->full, lnq, p->k, p->m, xor);
	l->fail = -expm1(rows * l->full.lnok);
	l->lnok = rows * l->full.lnok;
	k = (uint32_t)(l->unit.count % p->k);
	if (k) {
		sdr_model_code_init(&l->last, lnq, k, (k * p->m + p->k - 1) / p->k, xor);
		l->last_fail = -expm1(rows * l->last.lnok);
		l->last_lnok = rows * l->last.lnok;
	}
	l->lnone = l->n > 0 ? l->n * l->lnok + l->last_lnok : l->last_lnok;
	l->base_s = ((double)l->unit.count + l->n * p->m + l->last.m) * l->unit.t_s;
	ret = law_ec_fallback(l);
	if (ret) {
		law_ec_destroy(l);
		return ret;
	}
	*law = &l->law;
	return 0;
}
