/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The choice of (k, m) for a transfer, in this order:
 *
 *   cover    A packet that leaves r round trips before the end has about r chances.  With loss p
 *            and w packets per round trip, p^r w <= (1 - q) / 50 says how many round trips repairs
 *            must have; what leaves later is covered.
 *   none     if the covered packets lose something with less than 1 - q.  Once a loss was seen it
 *            must be ten times less: parity for what is known to be lost costs a row of 128,
 *            ignorance alone is no reason to pay it.
 *   m        by the table, for (1 - q) / 50 over the number of codewords, at the upper bound of the
 *            loss rate.  The codewords of a segment take turns, so a burst continues in one with (1
 *            - 1 / burst)^codewords.  For the mean: m with the smallest (parity packets / rate +
 *            failure * round trip), by halves of the failure.
 *   bounds   max_overhead of the whole transfer's packets (of few, with the one that announces
 *            them and rounded up, to two at most: a single packet may be repeated, and five get two
 *            of parity where one would not do), and k + m <= SDR_CHOICE_SYMS, for which k is halved
 *            if overhead is no obstacle.
 *
 * cover and m are found for 50, and for 10 as well: what takes less time, with a round trip for
 * each failure, is taken.  Over a slow path a row of parity takes longer than what it saves.
 *
 * Failure probabilities are sums over codewords, from above.  Pure: no clock, no allocation, no
 * locks.
 */
#include <math.h>
#include "base/sdr_assert.h"
#include "sdr_choice_table.h"

/* how much surer than the objective parity is made: the mean must not suffer ... */
#define SDR_CHOICE_SPARE      50.0
#define SDR_CHOICE_SPARE_LESS 10.0 /* ... by parity, either */
#define SDR_CHOICE_SEEN	      10.0 /* how much surer no parity must be once a loss was seen */
#define SDR_CHOICE_RTTS_MIN   2.2
#define SDR_CHOICE_RTTS_MAX   6.0
#define SDR_CHOICE_K_MIN      8u   /* k is not halved below */
#define SDR_CHOICE_HOPE	      0.5  /* parity that fails more often is not sent */
#define SDR_CHOICE_LOSS_MAX   0.9  /* repairs are not made for more loss */
#define SDR_CHOICE_BURST_MAX  3u   /* and deficit: at most so many packets for bursts */
#define SDR_CHOICE_CERTAIN    1e60 /* packets seen, as good as infinitely many */

struct sdr_choice_path {
	double loss;  /* upper bound */
	double burst; /* mean packets */
	double rate;  /* packets a ns; 0: unlimited */
	double quant; /* 1 - q */
	double eps;   /* and of all parity, to fail */
	double any;   /* probability of a loss in the covered packets */
};

void sdr_choice_loss_of(struct sdr_choice_loss *l, double p, double burst)
{
	*l = (struct sdr_choice_loss){
		.upper = p,
		.burst = burst,
		.events = -log1p(-p) / burst * SDR_CHOICE_CERTAIN,
		.pkts = SDR_CHOICE_CERTAIN,
		.lossy = 1,
		.seen = p > 0,
	};
}

double sdr_choice_any(const struct sdr_choice_loss *l, double n)
{
	return n > 0 ? l->lossy * -expm1(-l->events * log1p(n / l->pkts)) : 0;
}

double sdr_choice_quantile(uint8_t objective)
{
	return objective == SDR_OBJECTIVE_P999 ? 1e-3 : 1e-2;
}

static uint64_t sdr_choice_cover(const struct sdr_choice_in *in, const struct sdr_choice_path *p)
{
	double w = p->rate * (double)in->rtt_ns, r, n;

	if (p->rate <= 0)
		return in->npkts;
	r = log(p->eps / fmax(w, 1)) / log(fmin(p->loss, 0.99));
	r = fmin(fmax(r, SDR_CHOICE_RTTS_MIN), SDR_CHOICE_RTTS_MAX);
	n = ceil(r * w);
	if (n >= (double)in->npkts)
		return in->npkts;
	return n > 1 ? (uint64_t)n : 1;
}

/* What is not covered and not repaired in time. */
static double sdr_choice_early(const struct sdr_choice_in *in, const struct sdr_choice_path *p,
			       uint64_t cover)
{
	double w = p->rate * (double)in->rtt_ns;

	if (cover >= in->npkts || w <= 0)
		return 0;
	return fmin(fmin(w, (double)(in->npkts - cover)) * pow(p->loss, (double)cover / w), 1);
}

/* Probability that one of n codewords fails with m, from above. */
static double sdr_choice_fail(const uint8_t *rows, uint32_t m, double n)
{
	uint32_t i = SDR_ROWS_EPS - 1;

	while (i && rows[i] > m)
		i--;
	return i ? -expm1(n * log1p(-ldexp(1, -(int)i))) : 1;
}

/* m that the objective asks for; SDR_ROWS_NONE: there is none. */
static uint32_t sdr_choice_need(const struct sdr_choice_in *in, const struct sdr_choice_path *p,
				const uint8_t *rows, double n)
{
	double best = p->any * (double)in->rtt_ns, cost;
	uint32_t m = 0, i;

	if (in->objective != SDR_OBJECTIVE_MEAN || p->rate <= 0)
		return rows[sdr_choice_rows_eps(p->eps / n)];
	for (i = 1; i < SDR_ROWS_EPS && rows[i] != SDR_ROWS_NONE; i++) {
		cost = rows[i] * n / p->rate + fmin(n * ldexp(1, -(int)i), 1) * (double)in->rtt_ns;
		if (cost < best) {
			best = cost;
			m = rows[i];
		}
	}
	return m;
}

static void sdr_choice_none(struct sdr_choice *out, enum sdr_choice_why why, double fail)
{
	out->why = why;
	out->k = 0;
	out->m = 0;
	out->cover = 0;
	out->fail = fail;
}

/* No parity: below this probability of a loss it is not asked for. */
static bool sdr_choice_clean(const struct sdr_choice_in *in, const struct sdr_choice_path *p)
{
	if (in->objective == SDR_OBJECTIVE_MEAN && p->rate > 0)
		return p->any * (double)in->rtt_ns <= 1 / p->rate;
	return p->any < (in->loss->seen ? p->quant / SDR_CHOICE_SEEN : p->quant);
}

static void sdr_choice_parity(struct sdr_choice_table *t, const struct sdr_choice_in *in,
			      const struct sdr_choice_path *p, struct sdr_choice *out)
{
	uint64_t cover = out->cover, seg, words, apart, k, last = 0;
	double n = (double)in->npkts, cap = 0, most, early = sdr_choice_early(in, p, cover), fail;
	uint32_t kmax, m, need, least = SDR_ROWS_NONE;
	const uint8_t *rows;
	bool tried = false;

	seg = in->seg_pkts && in->seg_pkts < cover ? in->seg_pkts : cover;
	if (in->max_overhead > 0)
		cap = fmax(floor(in->max_overhead * n), fmin(ceil(in->max_overhead * (n + 1)), 2));
	sdr_choice_none(out, SDR_CHOICE_OVERHEAD, 1);
	if (early >= SDR_CHOICE_HOPE) {
		/* the repairs of what is not covered will not be in time anyway */
		sdr_choice_none(out, SDR_CHOICE_HOPELESS, 1);
		return;
	}
	for (kmax = SDR_CHOICE_K; kmax >= SDR_CHOICE_K_MIN; kmax /= 2) {
		words = cover / kmax + (cover % kmax != 0);
		if (words == last)
			continue;
		last = words;
		k = cover / words + (cover % words != 0);
		apart = seg / k + (seg % k != 0);
		rows = sdr_choice_rows(t, p->loss, pow(1 - 1 / p->burst, (double)apart),
				       (uint32_t)k);
		need = sdr_choice_need(in, p, rows, (double)words);
		if (!need) {
			out->why = out->m ? out->why : SDR_CHOICE_CLEAN;
			break;
		}
		least = need < least ? need : least;
		most = fmin(floor(cap / (double)words), (double)(SDR_CHOICE_SYMS - k));
		m = need < most ? need : (uint32_t)most;
		tried |= m > 0;
		fail = m ? sdr_choice_fail(rows, m, (double)words) : 1;
		if (m && fail < out->fail) {
			out->k = (uint16_t)k;
			out->m = (uint16_t)m;
			out->cover = cover;
			out->fail = fail;
		}
		if (need <= most) {
			out->why = SDR_CHOICE_PARITY;
			break;
		}
		/* fewer packets per codeword need more overhead, not less */
		if (cap / (double)words < (double)(SDR_CHOICE_SYMS - k))
			break;
	}
	if (out->why == SDR_CHOICE_OVERHEAD && cap > 0 && (tried || least == SDR_ROWS_NONE) &&
	    out->fail >= SDR_CHOICE_HOPE)
		sdr_choice_none(out, SDR_CHOICE_HOPELESS, p->any);
	else if (!out->m)
		sdr_choice_none(out, out->why, p->any);
	out->fail = 1 - (1 - out->fail) * (1 - early);
}

/* So much surer than the objective. */
static void sdr_choice_spare(struct sdr_choice_table *t, const struct sdr_choice_in *in,
			     double spare, struct sdr_choice *out)
{
	struct sdr_choice_path p = {
		.loss = in->loss->upper,
		.burst = in->loss->burst,
		.quant = sdr_choice_quantile(in->objective),
	};

	p.eps = p.quant / spare;
	if (in->pkts_ns > 0 && isfinite(in->pkts_ns))
		p.rate = in->pkts_ns;
	out->cover = sdr_choice_cover(in, &p);
	p.any = sdr_choice_any(in->loss, (double)out->cover);
	if (in->far_only && in->rtt_ns < SDR_CHOICE_RTT_MIN)
		sdr_choice_none(out, SDR_CHOICE_NEAR, p.any);
	else if (sdr_choice_clean(in, &p))
		sdr_choice_none(out, SDR_CHOICE_CLEAN, p.any);
	else
		sdr_choice_parity(t, in, &p, out);
	SDR_ASSERT(out->cover <= in->npkts && out->k + out->m <= SDR_ROWS_SYMS);
}

/* Expected time that parity takes and that its failure costs, ns. */
static double sdr_choice_costs(const struct sdr_choice_in *in, const struct sdr_choice *o)
{
	double words = ceil((double)o->cover / o->k);

	return words * o->m / in->pkts_ns + o->fail * (double)in->rtt_ns;
}

void sdr_choose(struct sdr_choice_table *t, const struct sdr_choice_in *in, struct sdr_choice *out)
{
	struct sdr_choice less;

	sdr_choice_spare(t, in, SDR_CHOICE_SPARE, out);
	if (!out->m || !(in->pkts_ns > 0) || in->objective == SDR_OBJECTIVE_MEAN)
		return;
	sdr_choice_spare(t, in, SDR_CHOICE_SPARE_LESS, &less);
	if (less.m && sdr_choice_costs(in, &less) < sdr_choice_costs(in, out))
		*out = less;
}

uint32_t sdr_choice_repair(struct sdr_choice_table *t, const struct sdr_choice_loss *loss,
			   uint32_t deficit, double eps)
{
	double p = fmin(loss->upper, SDR_CHOICE_LOSS_MAX), s = 1 - 1 / loss->burst;
	uint32_t i = sdr_choice_rows_eps(eps), alone, m;

	SDR_ASSERT(loss->burst >= 1);
	if (!deficit || deficit >= SDR_ROWS_SYMS)
		return deficit;
	alone = sdr_choice_rows(t, p, 0, deficit)[i];
	if (alone == SDR_ROWS_NONE)
		return SDR_ROWS_SYMS;
	/*
	 * a burst longer than this takes the repair whatever is added to it: another round is
	 * cheaper
	 */
	m = sdr_choice_rows(t, p, s, deficit)[i];
	if (m > alone + deficit + SDR_CHOICE_BURST_MAX)
		m = alone + deficit + SDR_CHOICE_BURST_MAX;
	return m < SDR_ROWS_SYMS - deficit ? deficit + m : SDR_ROWS_SYMS;
}

const char *sdr_choice_text(enum sdr_choice_why why)
{
	switch (why) {
	case SDR_CHOICE_PARITY:
		return "loss is to be expected";
	case SDR_CHOICE_NEAR:
		return "the peer is near: a repair costs less than parity";
	case SDR_CHOICE_CLEAN:
		return "no parity pays for the loss that is to be expected";
	case SDR_CHOICE_OVERHEAD:
		return "max_overhead allows less parity than the loss needs";
	case SDR_CHOICE_HOPELESS:
		return "more is lost than parity could repair";
	}
	return "unknown";
}
