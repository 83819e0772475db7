/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a segment with parity is through: rows of parity that its worst codeword needs, and rounds
 * of repairs when all of them are not enough.  Codewords of k and of k - 1 packets are counted
 * separately.
 *
 * Rounds follow the deficit of a codeword, which is what the sender gives sdr_choice_repair:
 * its distribution after the planned parity is that of the chain of losses, and each round thins it
 * out.  A round takes an RTT and, as a mean, what it sends when it is needed at all.  After four
 * rounds the sender turns to data packets (SDR_GROUP_ROUNDS_MAX): so much later that it makes no
 * difference here.  Pure; no allocation.
 */
#include <math.h>
#include <string.h>
#include "sdr_model_hybrid.h"

/*
 * left[d]: probability that a codeword lacks d packets; one round of repairs makes the next of it.
 * Returns the packets that the round sends, on average.
 */
static double part_round(struct sdr_choice_table *t, const struct sdr_model_hybrid_plan *h,
			 double again, double *left)
{
	double next[SDR_MODEL_SYMS_MAX + 1] = { 0 }, lost[SDR_MODEL_SYMS_MAX + 1], sent = 0;
	uint32_t d, want, i;

	for (d = 1; d < SDR_MODEL_SYMS_MAX; d++) {
		if (!(left[d] > SDR_MODEL_HYBRID_LEFT))
			continue;
		want = sdr_choice_repair(t, &h->loss, d, SDR_CHOICE_REPAIR_EPS);
		sent += left[d] * want;
		sdr_model_chain(h->loss.upper, again, want, want, NULL, lost);
		/* what arrives is no longer lacking */
		for (i = want - d + 1; i <= want; i++)
			next[i - (want - d)] += left[d] * lost[i];
	}
	memcpy(left, next, sizeof(next));
	return sent;
}

/* Codewords of k packets, n of them: adds the logarithms of their success. */
static double part_codewords(struct sdr_choice_table *t, const struct sdr_model_hybrid_plan *h,
			     struct sdr_model_hybrid_part *p, uint32_t k, double n, double *fail)
{
	double tail[SDR_MODEL_SYMS_MAX + 1], lost[SDR_MODEL_SYMS_MAX + 1],
		left[SDR_MODEL_SYMS_MAX + 1] = { 0 };
	double sent = 0, none, round;
	uint32_t m = p->s.m, j, g;

	if (!(n > 0) || !k)
		return 0;
	sdr_model_chain(h->loss.upper, p->s.again, k + m, k, tail, lost);
	for (j = 0; j <= m; j++)
		p->rows[j] += n * log1p(-tail[j]);
	*fail = tail[m];
	for (j = 1; j <= k; j++)
		left[j] = lost[m + j];
	for (none = tail[m], g = 0; g < SDR_MODEL_HYBRID_ROUNDS; g++) {
		p->rounds[g] += n * log1p(-fmin(none, 1));
		if (none * n > SDR_MODEL_HYBRID_LEFT && g + 2 > p->nrounds)
			p->nrounds =
				g + 2 < SDR_MODEL_HYBRID_ROUNDS ? g + 2 : SDR_MODEL_HYBRID_ROUNDS;
		if (!(none * n > SDR_MODEL_HYBRID_LEFT))
			continue;
		round = part_round(t, h, fmax(p->s.codewords > 1 ? 0 : p->s.again, h->loss.upper),
				   left);
		sent = g ? sent : round;
		for (none = 0, j = 1; j <= k; j++)
			none += left[j];
	}
	return n * sent;
}

void sdr_model_hybrid_part_init(struct sdr_model_hybrid_part *p,
				const struct sdr_model_hybrid_plan *h, struct sdr_choice_table *t,
				double rtt_s)
{
	double fail[2] = { 0, 0 }, any;

	if (!(p->s.segs > 0))
		return;
	p->nrounds = 1;
	p->sent = part_codewords(t, h, p, p->s.k, p->s.big, &fail[0]);
	p->sent += part_codewords(t, h, p, p->s.k - 1, p->s.codewords - p->s.big, &fail[1]);
	any = -expm1(p->rounds[0]);
	p->round_s = rtt_s + (any > 0 ? p->sent / any * h->t_s : 0);
	p->fail = fail[0];
	p->failures = fail[0] * p->s.big + fail[1] * (p->s.codewords - p->s.big);
}
