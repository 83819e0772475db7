/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Advice: every scheme on a link with the best parameters it can have, the best scheme first.
 *
 * Best is what the objective says: mean, p99 or p99.9 of the completion time, each from the
 * scheme's law.  Schemes are taken as the library runs them: packets are repaired, codewords are
 * rows of packets, a fallback sends only what is missing.  Codes are tried with k from 8 to 128 and
 * m in powers of two within max_overhead; a message shorter than k is one codeword.  A scheme that
 * max_overhead leaves no parity at all is no candidate.  Where two need the same time the one that
 * sends less is better, then the plainer one.
 *
 * Overhead is what is expected to be sent beyond the data: parity, and repairs, by the probability
 * that they are needed.  Pure; allocates only what the laws do.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "sdr_model_hybrid.h"

#define ADVISE_SAME 1e-9 /* of a time: no difference */

/* Flags of the library's own codes. */
#define ADVISE_EC (SDR_MODEL_F_PACKETS | SDR_MODEL_F_ROWS | SDR_MODEL_F_MISSING)

static double advise_cost(const struct sdr_model_law *law, enum sdr_objective objective)
{
	if (objective == SDR_OBJECTIVE_MEAN)
		return sdr_model_law_mean(law);
	return sdr_model_law_quantile(law, objective == SDR_OBJECTIVE_P99 ? 0.99 : 0.999);
}

/* ---- overhead -------------------------------------------------------------------------------- */

/*
 * Lost data packets of a codeword of n with its parity if more than m are lost, else none; on
 * average.
 */
static double advise_missing(double p, uint32_t n, uint32_t m, double data)
{
	double lost[SDR_MODEL_SYMS_MAX + 1], sum = 0;

	sdr_model_chain(p, p, n, n, NULL, lost);
	for (uint32_t i = m + 1; i <= n; i++)
		sum += i * lost[i];
	return sum * data / n;
}

static double advise_overhead(const struct sdr_model_law *law, const struct sdr_model_derived *d)
{
	const struct sdr_model_point *p = &law->point;
	double loss = p->p_packet, again = 1 / (1 - loss), k, m, sum;
	double pkts = (double)((p->msg_bytes - 1) / p->mtu_bytes + 1);

	switch (p->scheme) {
	case SDR_MODEL_HYBRID:
		return ((double)d->parity_chunks + sdr_model_hybrid_repairs(law)) / pkts;
	case SDR_MODEL_EC_MDS:
	case SDR_MODEL_EC_XOR:
		k = fmin(p->k, (double)d->chunks);
		m = ceil(k * p->m / p->k);
		if (p->scheme == SDR_MODEL_EC_MDS)
			sum = advise_missing(loss, (uint32_t)(k + m), (uint32_t)m, k);
		else
			sum = advise_missing(loss, (uint32_t)ceil(k / m) + 1, 1, ceil(k / m)) * m;
		return (double)d->parity_chunks / (double)d->chunks + sum / k * again;
	default:
		return loss * again;
	}
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Of the codes that max_overhead allows the one with the smallest cost.  False: none. */
static bool advise_code(struct sdr_model_point *p)
{
	double chunks = (double)((p->msg_bytes - 1) / p->chunk_bytes + 1), best = INFINITY, cost,
	       parity, last = 0;
	struct sdr_model_point try = *p;
	struct sdr_model_law *law;

	for (try.k = 8; try.k <= 128; try.k *= 2) {
		/* a message that fits one codeword is the same with every longer one */
		if (last >= chunks)
			break;
		last = try.k;
		for (try.m = 1; try.m <= try.k && try.k + try.m <= SDR_MODEL_SYMS_MAX; try.m *= 2) {
			parity = floor(chunks / try.k) * try.m +
				 ceil(fmod(chunks, try.k) * try.m / try.k);
			if (parity > p->max_overhead * chunks * (1 + ADVISE_SAME))
				break;
			/* no time is below that of the injection */
			if ((chunks + parity) * 8 * p->chunk_bytes / p->bandwidth_bps + p->rtt_s >=
			    best)
				break;
			if (sdr_model_law_create(&try, &law, NULL))
				continue;
			cost = advise_cost(law, p->objective);
			sdr_model_law_destroy(law);
			if (cost < best * (1 - ADVISE_SAME)) {
				best = cost;
				p->k = try.k;
				p->m = try.m;
			}
		}
	}
	return isfinite(best);
}

/* "25", "0.0031", "1440000": three digits, without an exponent where there is room for it */
static const char *advise_number(double v, char *buf, size_t len)
{
	snprintf(buf, len, v >= 999.5 && v < 1e12 ? "%.0f" : "%.3g", v);
	return buf;
}

/* "25 ms" */
static const char *advise_time(double s, char *buf, size_t len)
{
	static const char *const units[] = { "s", "ms", "us", "ns" };
	char number[16];
	uint32_t u = 0;

	for (; s > 0 && s < 0.9995 && u < 3; u++)
		s *= 1e3;
	snprintf(buf, len, "%s %s", advise_number(s, number, sizeof(number)), units[u]);
	return buf;
}

/* "28 % of messages", "one message in 14000" */
static const char *advise_share(double share, char *buf, size_t len)
{
	if (share >= 0.995)
		snprintf(buf, len, "nearly every message");
	else if (share >= 0.01)
		snprintf(buf, len, "%.2g %% of messages", 100 * share);
	else if (share > 1e-6)
		snprintf(buf, len, "one message in %.0f", rint(1 / share));
	else if (share > 1e-9)
		snprintf(buf, len, "one message in %.0f million", rint(1e-6 / share));
	else
		snprintf(buf, len, share > 0 ? "hardly any message" : "no message");
	return buf;
}

static void advise_why(struct sdr_model_candidate *c)
{
	const struct sdr_model_point *p = &c->point;
	bool hybrid = p->scheme == SDR_MODEL_HYBRID;
	double pkts = (double)((p->msg_bytes - 1) / p->mtu_bytes + 1);
	/* only the hybrid scheme's law knows of bursts */
	double any = -expm1(pkts * log1p(-p->p_packet) / (hybrid ? p->burst_packets : 1));
	char cost[24], takes[24], who[32], share[16], where[32] = "all";

	if (!c->derived.m) {
		snprintf(c->why, sizeof(c->why), "a lost packet costs %s; %s lose%s one%s",
			 advise_time(sdr_model_rto(p), cost, sizeof(cost)),
			 advise_share(any, who, sizeof(who)), any >= 0.995 || any < 0.01 ? "s" : "",
			 hybrid ? ", and no parity that max_overhead allows would pay" : "");
		return;
	}
	advise_time((double)c->derived.parity_chunks * c->derived.t_inj_s, takes, sizeof(takes));
	advise_share(c->derived.p_fallback, who, sizeof(who));
	if (c->derived.cover < 1 && hybrid)
		snprintf(where, sizeof(where), "the last %s %%",
			 advise_number(100 * c->derived.cover, share, sizeof(share)));
	advise_time(hybrid ? p->rtt_s : (1 + p->beta) * p->rtt_s, cost, sizeof(cost));
	if (hybrid && c->derived.chunks == 1)
		snprintf(c->why, sizeof(c->why),
			 "the packet is sent twice; another round trip of %s: %s", cost, who);
	else if (hybrid)
		snprintf(
			c->why, sizeof(c->why),
			"parity (%u, %u) over %s of the packets takes %s; another round trip of %s: %s",
			c->derived.k, c->derived.m, where, takes, cost, who);
	else
		snprintf(c->why, sizeof(c->why),
			 "parity (%u, %u) over all chunks takes %s; a fallback of %s and more: %s",
			 c->derived.k, c->derived.m, takes, cost, who);
}

static int advise_candidate(struct sdr_model_candidate *c, struct sdr_model_error *err)
{
	struct sdr_model_law *law;
	int ret;

	ret = sdr_model_law_create(&c->point, &law, err);
	if (ret)
		return ret;
	c->times.mean_s = sdr_model_law_mean(law);
	c->times.p50_s = sdr_model_law_quantile(law, 0.5);
	c->times.p99_s = sdr_model_law_quantile(law, 0.99);
	c->times.p999_s = sdr_model_law_quantile(law, 0.999);
	sdr_model_law_derived(law, &c->derived);
	c->overhead = advise_overhead(law, &c->derived);
	c->cost_s = advise_cost(law, c->point.objective);
	if (c->point.scheme == SDR_MODEL_HYBRID) {
		c->point.k = c->derived.k;
		c->point.m = c->derived.m;
		c->point.cover_bytes = 0; /* all */
		if (c->derived.m && c->derived.cover < 1)
			c->point.cover_bytes = rint(c->derived.cover * (double)c->derived.chunks) *
					       c->point.mtu_bytes;
	}
	sdr_model_law_destroy(law);
	advise_why(c);
	return 0;
}

/* Better: sooner, or as soon with fewer bytes. */
static bool advise_better(const struct sdr_model_candidate *a, const struct sdr_model_candidate *b)
{
	if (fabs(a->cost_s - b->cost_s) > ADVISE_SAME * b->cost_s)
		return a->cost_s < b->cost_s;
	return a->overhead < b->overhead * (1 - ADVISE_SAME);
}

int sdr_model_advise(const struct sdr_model_point *link, struct sdr_model_candidate *out,
		     uint32_t *n, struct sdr_model_error *err)
{
	/* from the plainest on */
	static const enum sdr_model_scheme schemes[] = { SDR_MODEL_SR_NACK, SDR_MODEL_SR_RTO,
							 SDR_MODEL_HYBRID, SDR_MODEL_EC_MDS,
							 SDR_MODEL_EC_XOR };
	struct sdr_model_candidate all[sizeof(schemes) / sizeof(schemes[0])], c;
	struct sdr_model_point p = *link;
	uint32_t i, j, count = 0;
	int ret;

	p.flags = 0;
	p.k = p.m = 0;
	p.scheme = SDR_MODEL_HYBRID;
	ret = sdr_model_point_check(&p, err);
	for (i = 0; !ret && i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		memset(&c, 0, sizeof(c));
		c.point = p;
		c.point.scheme = schemes[i];
		if (schemes[i] == SDR_MODEL_SR_NACK || schemes[i] == SDR_MODEL_SR_RTO)
			c.point.flags = SDR_MODEL_F_PACKETS;
		else if (schemes[i] != SDR_MODEL_HYBRID)
			c.point.flags = ADVISE_EC;
		/* reports need no timeout; the one that is given is that of the others */
		if (schemes[i] == SDR_MODEL_SR_NACK || schemes[i] == SDR_MODEL_HYBRID)
			c.point.rto_rtts = 0;
		if (c.point.flags == ADVISE_EC && !advise_code(&c.point))
			continue;
		ret = advise_candidate(&c, err);
		for (j = count++; j && advise_better(&c, &all[j - 1]); j--)
			all[j] = all[j - 1];
		all[j] = c;
	}
	if (ret)
		return ret;
	memcpy(out, all, count * sizeof(*out));
	*n = count;
	return 0;
}
