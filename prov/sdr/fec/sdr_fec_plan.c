/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The matrix that gives the missing symbols of an erasure pattern from those that are there.
 *
 * Nothing is inverted by elimination: with a Cauchy matrix the answer is a formula.  Let P be the
 * rows that are used, M the missing positions, s_j = x_0 + y_j the scale of a column, and (all sums
 * in GF(2^8))
 *
 *   A(y) = product over p in P of (x_p + y)          B(z) = product over m in M of (z + y_m)
 *
 * leaving out the factor that is 0.  The function of y with poles at the x_p that is 1 at y_i and 0
 * at the other missing positions is known from its zeros; its values at the present positions and
 * its residues at the poles are what a missing symbol i takes of them:
 *
 *   of data j:    A(y_i) / B(y_i) / s_i  *  B(y_j) / A(y_j) * s_j  /  (y_i + y_j)
 *   of parity p:  A(y_i) / B(y_i) / s_i  *  B(x_p) / A(x_p)        /  (y_i + x_p)
 *
 * In logarithms that is one addition and one look-up an entry, n * (k' + n) of them, after as many
 * for A and B.
 *
 * The pattern is kept beside the matrix; setting it again is a comparison.  One thread at a time.
 */
#include "base/sdr_assert.h"
#include "sdr_fec_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sdr_fec_plan_create(const struct sdr_fec *f, struct sdr_fec_plan **out)
{
	size_t n = f->k < f->rows ? f->k : f->rows;
	struct sdr_fec_plan *p = malloc(sizeof(*p) + n * (f->k + n));

	if (!p)
		return -ENOMEM;
	p->k = p->n = 0;
	*out = p;
	return 0;
}

void sdr_fec_plan_destroy(struct sdr_fec_plan *p)
{
	free(p);
}

void sdr_fec_plan_forget(struct sdr_fec_plan *p)
{
	p->k = p->n = 0;
}

/* Sum of the logarithms of z + v[i], modulo the order; the term that is 0 is left out. */
static uint32_t log_product(uint8_t z, const uint8_t *v, uint32_t n)
{
	uint32_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum += sdr_fec_gf.log[z ^ v[i]]; /* log[0] is 0 */
	return sum % SDR_FEC_ORDER;
}

static bool plan_is(const struct sdr_fec_plan *p, uint32_t k, uint32_t n, const uint8_t *missing,
		    const uint8_t *rows)
{
	return p->k == k && p->n == n && !memcmp(p->missing, missing, n) &&
	       !memcmp(p->rows, rows, n);
}

/* One parity symbol, the XOR of the data: so is the missing symbol. */
static bool plan_ones(const struct sdr_fec_plan *p)
{
	return p->n == 1 && p->rows[0] == 0;
}

void sdr_fec_plan_set(struct sdr_fec_plan *p, uint32_t k, uint32_t n, const uint8_t *missing,
		      const uint8_t *rows)
{
	const struct sdr_fec_gf *gf = &sdr_fec_gf;
	uint8_t x[SDR_FEC_SYMS_MAX], out[SDR_FEC_SYMS_MAX];
	uint32_t i, j, a, b, s;

	SDR_ASSERT(n <= k && k < SDR_FEC_SYMS_MAX && (!n || missing[n - 1] < k));
	if (plan_is(p, k, n, missing, rows))
		return;
	p->k = k;
	p->n = n;
	memcpy(p->missing, missing, n);
	memcpy(p->rows, rows, n);
	if (plan_ones(p))
		return;
	for (i = 0; i < n; i++)
		x[i] = (uint8_t)(SDR_FEC_ORDER - rows[i]);
	for (i = 0; i < n; i++) { /* the part of the missing symbol */
		a = log_product(missing[i], x, n);
		b = log_product(missing[i], missing, n);
		s = gf->log[SDR_FEC_ORDER ^ missing[i]];
		out[i] = (uint8_t)((a + 2 * SDR_FEC_ORDER - b - s) % SDR_FEC_ORDER);
	}
	for (j = 0; j < k + n; j++) { /* the part of the column, and what joins them */
		uint8_t z = (uint8_t)(j < k ? j : x[j - k]);

		a = log_product(z, x, n);
		b = log_product(z, missing, n);
		s = j < k ? gf->log[SDR_FEC_ORDER ^ z] : 0;
		b = (b + s + SDR_FEC_ORDER - a) % SDR_FEC_ORDER;
		for (i = 0; i < n; i++)
			p->coef[i * (k + n) + j] =
				gf->exp[out[i] + b + SDR_FEC_ORDER - gf->log[z ^ missing[i]]];
	}
}

void sdr_fec_plan_run(const struct sdr_fec_plan *p, const uint8_t *const *src,
		      const uint8_t *const *par, size_t len, uint8_t *const *out)
{
	const uint8_t *in[SDR_FEC_SYMS_MAX];
	uint32_t i;

	SDR_ASSERT(p->k); /* a pattern is set */
	memcpy(in, src, p->k * sizeof(in[0]));
	memcpy(in + p->k, par, p->n * sizeof(in[0]));
	for (i = 0; i < p->n; i++)
		in[p->missing[i]] = NULL; /* its column means nothing */
	sdr_fec_mul(p->coef, p->k + p->n, plan_ones(p), p->k + p->n, in, p->n, out, len);
}
