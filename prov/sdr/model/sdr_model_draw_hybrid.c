/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One transfer of the hybrid scheme at random, by the mechanism that sdr_model_hybrid.c has the law
 * of: the head by selective repeat; codewords packet by packet, each a chain of losses; of the last
 * segment the rows of parity that its worst codeword needs; further rounds of an RTT and of what
 * they send, until no codeword lacks anything.
 *
 * Clean codewords are skipped: what is left of an exponential waiting time inside a codeword says
 * where its first loss is.  Time: the losses among the packets that have parity; of segments before
 * the last, where these are many, only the codewords that fail are drawn, with what they lack.  As
 * in the law: codewords lose independently, the head's repairs delay what is behind them by their
 * mean, and no more than SDR_MODEL_HYBRID_ROUNDS are followed.  Unlike there, a round takes what it
 * sends and not the mean of it.
 *
 * No allocation but in init, for the table that says how much repairs send.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "sdr_model_draw.h"

/* ---- a lone packet --------------------------------------------------------------------------- */

static double hybrid_lone(const struct sdr_model_draw_hybrid *d, struct sdr_model_random *rnd)
{
	double t = d->plan.first_s, rto = d->plan.rto_s, p = d->plan.loss.upper,
	       again = fmax(p, 1 - 1 / d->plan.loss.burst);
	uint32_t i;

	for (i = 0; i < 1000; i++) {
		if (sdr_model_random_unit(rnd) >= p)
			return t;
		if (d->plan.sends > 1 && sdr_model_random_unit(rnd) >= again)
			return t;
		t += rto;
		rto = rto < SDR_MODEL_HYBRID_BACK ? fmin(2 * rto, SDR_MODEL_HYBRID_BACK) : rto;
	}
	return t;
}

/* ---- codewords ------------------------------------------------------------------------------- */

/* What a segment needs. */
struct hybrid_need {
	uint32_t rows; /* of parity */
	uint32_t rounds;
	double sent[SDR_MODEL_HYBRID_ROUNDS]; /* packets, by each round */
};

static void chain_init(struct sdr_model_draw_chain *c, double p, double again)
{
	c->again = fmax(again, p);
	c->first = -log1p(-p);
	c->start = -log1p(-p * (1 - c->again) / (1 - p));
}

/* Where the next loss is after one at `at`. */
static double chain_next(const struct sdr_model_draw_chain *c, double at,
			 struct sdr_model_random *rnd)
{
	if (sdr_model_random_unit(rnd) < c->again)
		return at + 1;
	return at + 2 + sdr_model_random_misses(rnd, c->start);
}

/* Where the first loss is when x was waited for it. */
static double chain_first(const struct sdr_model_draw_chain *c, double x)
{
	if (x < c->first)
		return 0;
	return 1 + (c->start > 0 ? floor((x - c->first) / c->start) : HUGE_VAL);
}

static uint32_t chain_lost(const struct sdr_model_draw_chain *c, uint32_t n,
			   struct sdr_model_random *rnd)
{
	double at = chain_first(c, sdr_model_random_exp(rnd));
	uint32_t lost = 0;

	for (; at < n; at = chain_next(c, at, rnd))
		lost++;
	return lost;
}

/* Rounds of repairs of a codeword that lacks some packets. */
static void hybrid_repair(const struct sdr_model_draw_hybrid *d,
			  const struct sdr_model_draw_segs *g, uint32_t lacks,
			  struct hybrid_need *need, struct sdr_model_random *rnd)
{
	uint32_t want, lost, round;

	for (round = 0; lacks && round < SDR_MODEL_HYBRID_ROUNDS; round++) {
		want = d->want[lacks];
		need->sent[round] += want;
		lost = chain_lost(&g->repair, want, rnd);
		lacks = lost > want - lacks ? lost - (want - lacks) : 0;
	}
	need->rounds = round > need->rounds ? round : need->rounds;
}

/* A codeword of k whose first loss is at `at`. */
static void hybrid_word(const struct sdr_model_draw_hybrid *d, const struct sdr_model_draw_segs *g,
			uint32_t k, double at, struct hybrid_need *need,
			struct sdr_model_random *rnd)
{
	uint32_t m = g->s.m, lost = 0, rows = 0;

	for (; at < k + m; at = chain_next(&g->chain, at, rnd)) {
		lost++;
		/* of the parity, what comes once there is enough does not count */
		if (at < k + rows)
			rows++;
	}
	if (rows <= m) {
		need->rows = rows > need->rows ? rows : need->rows;
		return;
	}
	hybrid_repair(d, g, lost - m, need, rnd);
}

/* Of a codeword that fails: what it lacks. */
static uint32_t hybrid_lacks(const struct sdr_model_draw_hybrid *d, bool small,
			     struct sdr_model_random *rnd)
{
	double at = sdr_model_random_unit(rnd), sum = 0;
	uint32_t i;

	for (i = 1; i < d->full.s.k - small; i++) {
		sum += d->lacks[small][i];
		if (at < sum)
			break;
	}
	return i;
}

/* When a segment is through that ends `before` earlier than the last of its kind. */
static double hybrid_end(const struct sdr_model_draw_hybrid *d, const struct sdr_model_draw_segs *g,
			 double before, const struct hybrid_need *need)
{
	double t = g->s.end_s - before + d->rtt_s;

	if (!need->rounds)
		return g == &d->last ? d->plan.first_s + need->rows * g->s.codewords * d->plan.t_s
				     : t;
	for (uint32_t i = 0; i < need->rounds; i++)
		t += d->rtt_s + need->sent[i] * d->plan.t_s;
	return t;
}

/* From the last segment to the first, or to one that is through by then whatever it loses. */
static double hybrid_segs(const struct sdr_model_draw_hybrid *d,
			  const struct sdr_model_draw_segs *g, struct sdr_model_random *rnd)
{
	const double *rate = g->quick ? g->fails : g->clean;
	double big = g->s.big * rate[0], all = big + (g->s.codewords - g->s.big) * rate[1];
	double at = 0, seg = 0, skip, word, base, end = d->plan.first_s;
	struct hybrid_need need;
	bool small;

	if (!(g->s.segs > 0 && all > 0))
		return end;
	memset(&need, 0, sizeof(need));
	for (;;) {
		at += sdr_model_random_exp(rnd);
		skip = floor(at / all);
		if (skip > 0) {
			end = fmax(end, hybrid_end(d, g, seg * g->s.every_s, &need));
			memset(&need, 0, sizeof(need));
			seg += skip;
			at -= skip * all;
			if (!(seg < g->s.segs) || g->latest_s - seg * g->s.every_s < end)
				return end;
		}
		small = at >= big;
		base = small ? big : 0;
		word = floor((at - base) / rate[small]);
		if (g->quick)
			hybrid_repair(d, g, hybrid_lacks(d, small, rnd), &need, rnd);
		else
			hybrid_word(d, g, g->s.k - small,
				    chain_first(&g->chain, at - base - word * rate[small]), &need,
				    rnd);
		at = base + (word + 1) * rate[small];
	}
}

double sdr_model_draw_hybrid(const struct sdr_model_draw_hybrid *d, struct sdr_model_random *rnd)
{
	double t = d->plan.first_s;

	if (d->plan.lone)
		return hybrid_lone(d, rnd);
	if (d->plan.units > 0)
		t = fmax(t, sdr_model_draw_sr(&d->sr, d->plan.units, rnd) + d->rtt_s);
	t = fmax(t, hybrid_segs(d, &d->full, rnd));
	return fmax(t, hybrid_segs(d, &d->last, rnd));
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void segs_init(struct sdr_model_draw_segs *g, const struct sdr_model_hybrid_segs *s,
		      double p)
{
	g->s = *s;
	if (!(s->segs > 0))
		return;
	chain_init(&g->chain, p, s->again);
	chain_init(&g->repair, p, s->codewords > 1 ? 0 : s->again);
	g->clean[0] = g->chain.first + (s->k + s->m - 1.0) * g->chain.start;
	g->clean[1] = g->clean[0] - g->chain.start;
}

/* As many rounds as there can be, in each of which every codeword is sent as much as can be. */
static void segs_latest(struct sdr_model_draw_segs *g, const struct sdr_model_draw_hybrid *d)
{
	double round_s = d->rtt_s + g->s.codewords * SDR_MODEL_SYMS_MAX * d->plan.t_s;

	g->latest_s = g->s.end_s + d->rtt_s + SDR_MODEL_HYBRID_ROUNDS * round_s;
}

/* The full segments' failures: how likely they are, and what they lack. */
static void hybrid_quick(struct sdr_model_draw_hybrid *d, double p)
{
	struct sdr_model_draw_segs *g = &d->full;
	double lost[SDR_MODEL_SYMS_MAX + 1], fail;
	uint32_t k, i;

	g->quick = true;
	for (uint32_t small = 0; small < 2; small++) {
		k = g->s.k - small;
		if (!k)
			continue;
		sdr_model_chain(p, g->s.again, k + g->s.m, k, NULL, lost);
		for (fail = 0, i = k; i; i--)
			fail += lost[g->s.m + i];
		g->fails[small] = -log1p(-fmin(fail, 1 - 0x1p-53)); /* finite */
		for (i = 1; i <= k && fail > 0; i++)
			d->lacks[small][i] = lost[g->s.m + i] / fail;
	}
}

int sdr_model_draw_hybrid_init(struct sdr_model_draw_hybrid *d, const struct sdr_model_point *p,
			       bool quick)
{
	struct sdr_choice_table *t = sdr_choice_table_create();
	struct sdr_model_hybrid_plan *h = &d->plan;
	struct sdr_model_units unit;
	double losses;

	if (!t)
		return -ENOMEM;
	memset(d, 0, sizeof(*d));
	sdr_model_hybrid_plan(h, p, t);
	d->rtt_s = p->rtt_s;
	if (h->units > 0) {
		unit = (struct sdr_model_units){ .t_s = h->unit_s, .lnq = log1p(-h->loss.upper) };
		sdr_model_draw_sr_init(&d->sr, &unit, sdr_model_rto(p));
	}
	if (!h->lone && h->choice.m) {
		segs_init(&d->full, &h->full, h->loss.upper);
		segs_init(&d->last, &h->last, h->loss.upper);
		losses = d->full.s.segs * d->full.s.codewords * (d->full.s.k + d->full.s.m) *
			 h->loss.upper;
		if (losses > SDR_MODEL_DRAW_LOSSES || (quick && losses > 0))
			hybrid_quick(d, h->loss.upper);
		segs_latest(&d->full, d);
		segs_latest(&d->last, d);
		for (uint32_t i = 1; i < SDR_MODEL_SYMS_MAX; i++)
			d->want[i] =
				(uint16_t)sdr_choice_repair(t, &h->loss, i, SDR_CHOICE_REPAIR_EPS);
	}
	sdr_choice_table_destroy(t);
	return 0;
}
