/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What all rooms of an endpoint share, see sdr_endpoint.h. */
#include "base/sdr_rand.h"
#include "sdr_endpoint.h"

uint64_t sdr_rel_rand(struct sdr_rel *rel)
{
	uint64_t in = rel->rng++;

	return sdr_hash64(&in, sizeof(in), rel->secret[1]);
}

void sdr_rel_lists_init(struct sdr_rel *rel)
{
	sdr_list_init(&rel->conn_list);
	sdr_list_init(&rel->dead);
	sdr_list_init(&rel->gone);
	sdr_list_init(&rel->ready);
	sdr_fan_init(&rel->fan_out);
	sdr_fan_init(&rel->fan_in);
}

void sdr_rel_now(struct sdr_rel *rel)
{
	uint64_t t = sdr_context_now(rel->ctx);

	if (t > rel->now)
		rel->now = t;
}

uint64_t sdr_rel_since(const struct sdr_rel *rel)
{
	uint64_t t = sdr_context_ctl_since(rel->ctx);

	return t < rel->now ? t : rel->now;
}

uint64_t sdr_rel_late(const struct sdr_rel *rel)
{
	uint64_t t = sdr_rel_since(rel);

	return t ? rel->now - t : 0;
}

/*
 * Values, not counts: the largest represents all.  Of decisions the latest would be better, but
 * it is not known which that is.
 */
#define GAUGES(X)     \
	X(rtt_min_ns) \
	X(srtt_ns)    \
	X(rttvar_ns)  \
	X(loss_ppm)   \
	X(cwnd_bytes) \
	X(pacing_bps) \
	X(code_k)     \
	X(code_m) X(code_cover_ppm) X(code_why) X(loss_upper_ppb) X(burst_milli) X(path_bytes)

void sdr_rel_stats_add(struct sdr_rel_stats *a, const struct sdr_rel_stats *b)
{
	struct sdr_rel_stats g = *a;

#define X(n) a->n += b->n;
	SDR_REL_STATS(X)
#undef X
#define X(n) a->n = g.n > b->n ? g.n : b->n;
	GAUGES(X)
#undef X
}
