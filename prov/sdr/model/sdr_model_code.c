/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One codeword of k data and m parity symbols, lost independently: when it cannot be decoded, and
 * how many of its data symbols are lost then.
 *
 *   MDS  more than m of the k + m are lost
 *   XOR  two or more are lost in one of m groups: data symbol j is in group j mod m, with that
 *	  group's parity. With m above k some groups are parity alone and never fail.
 *
 * Failures are sums over the upper tail, successes over the lower one; neither is 1 minus the other
 * where it is small.  Of XOR, the data lost given failure is a difference: as exact as the loss is
 * large, 1e-16 of it at worst.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_model_ec.h"

struct code_loss {
	double p, lnp, lnq;
};

/* P(x of n are lost) */
static double code_pmf(const struct code_loss *l, uint32_t n, uint32_t x)
{
	double v = 1;
	uint32_t i;

	for (i = 0; i < (x < n - x ? x : n - x); i++)
		v *= (double)(n - i) / (i + 1);
	if (x)
		v *= l->p < 0.5 ? pow(l->p, x) : exp(x * l->lnp);
	return x < n ? v * exp((n - x) * l->lnq) : v;
}

/* P(from..to of n are lost), smallest term first or last: what matters is that none is negative. */
static double code_sum(const struct code_loss *l, uint32_t n, uint32_t from, uint32_t to)
{
	double sum = 0;

	for (; from <= to; from++)
		sum += code_pmf(l, n, from);
	return fmin(sum, 1);
}

/* log P(m or fewer of n are lost); *fail: the rest. */
static double code_tail(const struct code_loss *l, uint32_t n, uint32_t m, double *fail)
{
	*fail = code_sum(l, n, m + 1, n);
	return *fail < 0.5 ? log1p(-*fail) : log(code_sum(l, n, 0, m));
}

static void code_mds(struct sdr_model_code *c, const struct code_loss *l)
{
	uint32_t x;

	c->lnok = code_tail(l, c->k + c->m, c->m, &c->fail);
	for (x = 1; x <= c->k; x++)
		c->lost[x] =
			code_pmf(l, c->k, x) * code_sum(l, c->m, x > c->m ? 0 : c->m + 1 - x, c->m);
}

static void code_xor(struct sdr_model_code *c, const struct code_loss *l)
{
	double ok[SDR_MODEL_SYMS_MAX + 1] = { 1 }, none, one, fail;
	uint32_t i, n, x;

	for (i = 0; i < c->m; i++) {
		n = c->k / c->m + (i < c->k % c->m) + 1;
		c->lnok += n > 1 ? code_tail(l, n, 1, &fail) : 0;
		/* data lost in this group while it can be decoded: none or one */
		none = exp(n * l->lnq) + l->p * exp((n - 1) * l->lnq);
		one = n > 1 ? (n - 1) * l->p * exp((n - 1) * l->lnq) : 0;
		for (x = i + 1; x; x--)
			ok[x] = ok[x] * none + ok[x - 1] * one;
		ok[0] *= none;
	}
	c->fail = -expm1(c->lnok);
	for (x = 1; x <= c->k; x++)
		c->lost[x] = fmax(code_pmf(l, c->k, x) - ok[x], 0);
}

void sdr_model_code_init(struct sdr_model_code *c, double lnq, uint32_t k, uint32_t m, bool xor)
{
	struct code_loss l = { .p = -expm1(lnq), .lnq = lnq };
	double sum = 0;
	uint32_t x;

	SDR_ASSERT(lnq <= 0 && k <= SDR_MODEL_SYMS_MAX && m <= SDR_MODEL_SYMS_MAX - k);
	memset(c, 0, sizeof(*c));
	c->k = k;
	c->m = m;
	l.lnp = log1p(-exp(lnq));
	if (!(l.p > 0))
		return;
	if (xor)
		code_xor(c, &l);
	else
		code_mds(c, &l);
	for (x = 1; x <= k; x++)
		sum += c->lost[x];
	for (x = 1; x <= k && sum > 0; x++)
		c->lost[x] /= sum;
}
