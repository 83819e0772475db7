/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One transfer at random, by the mechanism and not by the law, so that one checks the other.
 *
 * Selective repeat: unit i (1..M) that is lost r times is through at i T + r O, and the transfer
 * when the last one is.  A unit can be that last one only if all behind it were lost less often.
 * So the walk starts at the end and skips (a geometric gap) to the first unit that is lost at all,
 * draws how often (geometric again), skips on to the first that is lost more often than that, and
 * so forth: log(losses) steps whatever M and P are, nothing is left out.
 *
 * Erasure coding: lost symbols by geometric gaps over the codewords in the order of sending, data
 * before parity; a codeword of m + 1 losses (MDS), or with two in a group (XOR), fails its
 * submessage, and what the fallback sends is counted.  A symbol is a chunk, or with F_ROWS a
 * packet, and then a submessage has as many codewords as a chunk has packets.  Time: the losses.
 * Where these are very many, or when told to be quick, failed submessages are skipped to directly,
 * with the probability that a submessage fails.  With F_MISSING, which asks what was lost, that is
 * done for very many losses only: failed codewords then, and what each has lost, from the law of
 * one codeword.
 *
 * The hybrid scheme is in sdr_model_draw_hybrid.c.
 *
 * No allocation; a draw (struct sdr_model_draw) is made once and only read then.  Numbers of things
 * are double: messages may have 2^63 units, and beyond 2^53 no count is exact.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_model_draw.h"
#include "sdr_model_ec.h"

#define DRAW_MANY 1e4 /* failures that are not drawn one by one */

/* ---- selective repeat ------------------------------------------------------------------------ */

/* -log(1 - exp(-x)) */
static double draw_other(double x)
{
	return x < M_LN2 ? -log(-expm1(-x)) : -log1p(-exp(-x));
}

static double draw_sr_rate(const struct sdr_model_draw_sr *s, double r)
{
	return draw_other((r + 1) * s->retry);
}

void sdr_model_draw_sr_init(struct sdr_model_draw_sr *s, const struct sdr_model_units *u,
			    double rto_s)
{
	s->t_s = u->t_s;
	s->o_s = rto_s + u->t_s;
	s->retry = draw_other(-u->lnq); /* infinite: never */
	for (uint32_t r = 0; r < SDR_MODEL_DRAW_RATES; r++)
		s->rates[r] = draw_sr_rate(s, r);
}

double sdr_model_draw_sr(const struct sdr_model_draw_sr *s, double n, struct sdr_model_random *rnd)
{
	double end = n * s->t_s, lost = 0, gap;

	for (;;) {
		gap = sdr_model_random_misses(rnd, lost < SDR_MODEL_DRAW_RATES
							   ? s->rates[(int)lost]
							   : draw_sr_rate(s, lost));
		if (!(gap < n))
			return end;
		n -= gap;
		lost += 1 + sdr_model_random_misses(rnd, s->retry);
		end = fmax(end, n * s->t_s + lost * s->o_s);
		n--;
	}
}

/* ---- codewords ------------------------------------------------------------------------------- */

/* What a transfer's codewords came to. */
struct draw_tally {
	double failed;	/* data chunks of failed submessages */
	double missing; /* lost data of failed codewords: what F_MISSING sends again */
};

/* Losses of the codeword at hand. */
struct draw_word {
	uint32_t lost, data; /* symbols; those of them with data */
	bool failed;
	uint64_t groups[4]; /* XOR: that lost one */
};

static bool draw_set(uint64_t set[4], uint32_t i)
{
	bool was = sdr_bitmap_test(set, i);

	sdr_bitmap_set(set, i);
	return was;
}

static void draw_lose(const struct sdr_model_draw *d, const struct sdr_model_draw_codewords *w,
		      struct draw_word *word, uint32_t symbol)
{
	word->lost++;
	word->data += symbol < w->k;
	if (d->scheme == SDR_MODEL_EC_MDS)
		word->failed = word->lost > w->m;
	else if (draw_set(word->groups, symbol < w->k ? symbol % w->m : symbol - w->k))
		word->failed = true;
}

/* Lost packets of a chunk that lost one at least. */
static double draw_packets(const struct sdr_model_draw *d, struct sdr_model_random *rnd)
{
	/* where the first is: a geometric gap that is known to be below pkts */
	double all = -expm1(-d->pkt_loss * d->pkts), n = 0;
	double at = floor(-log1p(-sdr_model_random_unit(rnd) * all) / d->pkt_loss);

	for (at = fmin(at, d->pkts - 1.0); at < d->pkts;
	     at += 1 + sdr_model_random_misses(rnd, d->pkt_loss))
		n++;
	return n;
}

/* The code is one of chunks, and what is lost of them is sent again packet by packet. */
static bool draw_inside(const struct sdr_model_draw *d)
{
	return d->flags & SDR_MODEL_F_PACKETS && !(d->flags & SDR_MODEL_F_ROWS);
}

/* Units that are sent again of some lost symbols. */
static double draw_again(const struct sdr_model_draw *d, uint32_t symbols,
			 struct sdr_model_random *rnd)
{
	double n = 0;

	if (!draw_inside(d))
		return symbols;
	for (; symbols; symbols--)
		n += draw_packets(d, rnd);
	return n;
}

static void draw_close(const struct sdr_model_draw *d, struct draw_word *word, struct draw_tally *t,
		       struct sdr_model_random *rnd)
{
	if (word->failed)
		t->missing += draw_again(d, word->data, rnd);
	memset(word, 0, sizeof(*word));
}

/* Loss by loss. */
static void draw_codewords(const struct sdr_model_draw *d, const struct sdr_model_draw_codewords *w,
			   struct draw_tally *t, struct sdr_model_random *rnd)
{
	double size = (double)w->k + w->m, at = 0, row = 0, sub = 0, skip, words;
	struct draw_word word;
	bool failed = false; /* the submessage */

	memset(&word, 0, sizeof(word));
	for (;;) {
		at += sdr_model_random_misses(rnd, d->loss);
		if (at >= size) {
			failed |= word.failed;
			if (word.lost)
				draw_close(d, &word, t, rnd);
			words = floor(at / size);
			at -= words * size;
			row += words;
			if (row >= d->rows) {
				t->failed += failed ? w->k : 0;
				failed = false;
				skip = floor(row / d->rows);
				row -= skip * d->rows;
				sub += skip;
				if (!(sub < w->subs))
					return;
			}
		}
		draw_lose(d, w, &word, (uint32_t)at);
		at++;
	}
}

static double draw_normal(struct sdr_model_random *rnd)
{
	return sqrt(2 * sdr_model_random_exp(rnd)) * cos(2 * M_PI * sdr_model_random_unit(rnd));
}

/*
 * How many of all (submessages or codewords) fail: one by one those that do, or those that do not,
 * whichever are fewer; of very many the number has a normal distribution.
 */
static double draw_failures(const struct sdr_model_draw_codewords *w, double all,
			    struct sdr_model_random *rnd)
{
	bool rare = w->fail < M_LN2;
	double rate = rare ? w->fail : draw_other(w->fail), mean = -expm1(-rate) * all, n = 0, at;

	if (mean > DRAW_MANY) {
		n = rint(mean + draw_normal(rnd) * sqrt(mean * exp(-rate)));
		return rare ? n : all - n;
	}
	for (at = sdr_model_random_misses(rnd, rate); at < all;
	     at += 1 + sdr_model_random_misses(rnd, rate))
		n++;
	return rare ? n : all - n;
}

/*
 * Units that codewords lack, of those that fail; of very many that has a normal distribution, too.
 */
static double draw_missing(const struct sdr_model_draw *d, const struct sdr_model_draw_codewords *w,
			   struct sdr_model_random *rnd)
{
	double n = draw_failures(w, w->subs * d->rows, rnd), sum = 0, at;
	uint32_t x;

	if (n > DRAW_MANY)
		return rint(n * w->mean + draw_normal(rnd) * sqrt(n * w->var));
	for (; n > 0; n--) {
		at = sdr_model_random_unit(rnd);
		for (x = 0; x < w->k && at > w->upto[x]; x++)
			;
		sum += draw_again(d, x, rnd);
	}
	return sum;
}

static double draw_ec(const struct sdr_model_draw *d, struct sdr_model_random *rnd)
{
	bool missing = d->flags & SDR_MODEL_F_MISSING;
	struct draw_tally t = { 0, 0 };
	const struct sdr_model_draw_codewords *w;
	double n;

	for (w = d->codewords; w < d->codewords + 2; w++) {
		if (!(w->subs > 0))
			continue;
		if (isnan(w->fail))
			draw_codewords(d, w, &t, rnd);
		else if (missing)
			t.missing += draw_missing(d, w, rnd);
		else
			t.failed += draw_failures(w, w->subs, rnd) * w->k;
	}
	if (!(t.failed > 0 || t.missing > 0))
		return d->lossless_s;
	n = d->flags & SDR_MODEL_F_PACKETS ? t.failed * d->pkts : t.failed;
	return d->fallback_s + sdr_model_draw_sr(&d->sr, missing ? t.missing : n, rnd);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* P(more than m of n are lost); loss: -log P(one is not). */
static double draw_tail(uint32_t n, uint32_t m, double loss)
{
	double log_p = log(-expm1(-loss)), q = 0;

	for (uint32_t i = n; i > m; i--)
		q += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log_p -
			 (n - i) * loss);
	return fmin(q, 1);
}

/* -log P(a codeword can be decoded). */
static double draw_word_fail(const struct sdr_model_draw *d, uint32_t k, uint32_t m)
{
	double sum = 0;

	if (d->scheme == SDR_MODEL_EC_MDS)
		return -log1p(-draw_tail(k + m, m, d->loss));
	for (uint32_t g = 0; g < m; g++)
		sum -= log1p(-draw_tail(k / m + (g < k % m) + 1, 1, d->loss));
	return sum;
}

/* What a codeword that fails has lost. */
static void draw_missing_init(const struct sdr_model_draw *d, struct sdr_model_draw_codewords *w)
{
	double one = 0, two = 0, mean = 1, square = 1, n = d->pkts, p = -expm1(-d->pkt_loss);
	struct sdr_model_code c;
	uint32_t x;

	sdr_model_code_init(&c, -d->loss, w->k, w->m, d->scheme == SDR_MODEL_EC_XOR);
	w->fail = -c.lnok;
	for (x = 1; x <= w->k; x++) {
		w->upto[x] = w->upto[x - 1] + c.lost[x];
		one += x * c.lost[x];
		two += (double)x * x * c.lost[x];
	}
	if (draw_inside(d)) { /* of a lost chunk's packets one at least is lost */
		mean = n * p / -expm1(-d->loss);
		square = mean * (1 - p + n * p);
	}
	w->mean = one * mean;
	w->var = one * (square - mean * mean) + (two - one * one) * mean * mean;
}

static void draw_codewords_init(struct sdr_model_draw *d, struct sdr_model_draw_codewords *w,
				double subs, uint32_t k, uint32_t m, bool quick)
{
	double losses = subs * (k + m) * d->rows * -expm1(-d->loss);

	*w = (struct sdr_model_draw_codewords){ .subs = subs, .k = k, .m = m, .fail = NAN };
	if (!(losses > SDR_MODEL_DRAW_LOSSES || (quick && d->loss > 0)))
		return;
	if (!(d->flags & SDR_MODEL_F_MISSING))
		w->fail = d->rows * draw_word_fail(d, k, m);
	else if (losses > SDR_MODEL_DRAW_LOSSES)
		draw_missing_init(d, w);
}

static void draw_ec_init(struct sdr_model_draw *d, const struct sdr_model_point *p,
			 const struct sdr_model_units *chunk, bool quick)
{
	uint32_t k = (uint32_t)(chunk->count % p->k),
		 m = (uint32_t)(((uint64_t)k * p->m + p->k - 1) / p->k);
	double full = (double)(chunk->count / p->k);
	double base_s = ((double)chunk->count + full * p->m + m) * chunk->t_s;

	d->lossless_s = base_s + p->rtt_s;
	d->fallback_s = base_s + (2 + p->beta) * p->rtt_s;
	d->pkts = chunk->packets;
	d->rows = p->flags & SDR_MODEL_F_ROWS ? d->pkts : 1;
	d->pkt_loss = -log1p(-p->p_packet);
	d->loss = d->rows > 1 ? d->pkt_loss : -chunk->lnq;
	draw_codewords_init(d, &d->codewords[0], full, p->k, p->m, quick);
	draw_codewords_init(d, &d->codewords[1], k ? 1 : 0, k, m, quick);
}

int sdr_model_draw_init(struct sdr_model_draw *d, const struct sdr_model_point *p, bool quick)
{
	const uint32_t lost_rows = SDR_MODEL_F_ROWS | SDR_MODEL_F_MISSING;
	bool pkts = p->flags & SDR_MODEL_F_PACKETS || (p->flags & lost_rows) == lost_rows;
	struct sdr_model_units chunk, unit;

	SDR_ASSERT(!sdr_model_point_check(p, NULL));
	memset(d, 0, sizeof(*d));
	d->scheme = p->scheme;
	d->flags = p->flags;
	sdr_model_units(p, p->chunk_bytes, &chunk);
	sdr_model_units(p, pkts ? p->mtu_bytes : p->chunk_bytes, &unit);
	sdr_model_draw_sr_init(&d->sr, &unit, sdr_model_rto(p));
	d->units = (double)unit.count;
	switch (p->scheme) {
	case SDR_MODEL_IDEAL:
		d->lossless_s = 8.0 * (double)p->msg_bytes / p->bandwidth_bps + p->rtt_s;
		return 0;
	case SDR_MODEL_SR_RTO:
	case SDR_MODEL_SR_NACK:
		d->lossless_s = p->rtt_s;
		return 0;
	case SDR_MODEL_EC_MDS:
	case SDR_MODEL_EC_XOR:
		draw_ec_init(d, p, &chunk, quick);
		return 0;
	default:
		return sdr_model_draw_hybrid_init(&d->hybrid, p, quick);
	}
}

double sdr_model_draw(const struct sdr_model_draw *d, struct sdr_model_random *r)
{
	switch (d->scheme) {
	case SDR_MODEL_SR_RTO:
	case SDR_MODEL_SR_NACK:
		return sdr_model_draw_sr(&d->sr, d->units, r) + d->lossless_s;
	case SDR_MODEL_EC_MDS:
	case SDR_MODEL_EC_XOR:
		return draw_ec(d, r);
	case SDR_MODEL_HYBRID:
		return sdr_model_draw_hybrid(&d->hybrid, r);
	default:
		return d->lossless_s;
	}
}
