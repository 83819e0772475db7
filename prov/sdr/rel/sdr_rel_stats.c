/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sums of statistics: a connection's counters and gauges, those of a peer with its past
 * connections, and the endpoint's with what its engine and message tables count.  What has gone
 * stays in the sum.
 */
#include "sdr_rel_priv.h"

/*
 * Values, not counts: the largest stands for all.  Of decisions the latest would be better, but
 * nobody knows which is.
 */
#define GAUGES(X)     \
	X(rtt_min_ns) \
	X(srtt_ns)    \
	X(rttvar_ns)  \
	X(loss_ppm)   \
	X(cwnd_bytes) \
	X(pacing_bps) \
	X(code_k) X(code_m) X(code_cover_ppm) X(code_why) X(loss_upper_ppb) X(burst_milli)

static void stats_add(struct sdr_rel_stats *a, const struct sdr_rel_stats *b)
{
	struct sdr_rel_stats g = *a;

#define X(n) a->n += b->n;
	SDR_REL_STATS(X)
#undef X
#define X(n) a->n = g.n > b->n ? g.n : b->n;
	GAUGES(X)
#undef X
}

static void conn_stats(struct sdr_conn *c, struct sdr_rel_stats *out)
{
	*out = c->st;
	out->rtt_min_ns = c->rtt.samples ? c->rtt.min_rtt : 0;
	out->srtt_ns = c->rtt.samples ? c->rtt.srtt : 0;
	out->rttvar_ns = c->rtt.samples ? c->rtt.rttvar : 0;
	out->loss_ppm = c->est.sent ? c->est.lost * 1000000 / c->est.sent : 0;
	out->cwnd_bytes = c->cc.cwnd;
	out->pacing_bps = c->cc.pacing_Bps * 8;
	out->code_k = c->bulk->choice.k;
	out->code_m = c->bulk->choice.m;
	out->code_cover_ppm = c->bulk->cover_ppm;
	out->code_why = c->bulk->chosen ? (uint64_t)c->bulk->choice.why + 1 : 0;
	out->loss_upper_ppb = (uint64_t)(sdr_loss_est_upper(&c->peer->loss) * 1e9);
	out->burst_milli = (uint64_t)(sdr_loss_est_burst(&c->peer->loss) * 1e3);
}

void sdr_conn_stats_fold(struct sdr_conn *c)
{
	struct sdr_rel_stats s;

	conn_stats(c, &s);
	stats_add(&c->peer->past, &s);
}

/* It goes; what its connections did stays in the total. */
void sdr_peer_stats_fold(struct sdr_peer *p)
{
	stats_add(&p->rel->closed, &p->past);
}

static void peer_stats(struct sdr_peer *p, struct sdr_rel_stats *out)
{
	struct sdr_rel_stats s;

	stats_add(out, &p->past);
	if (p->conn) {
		conn_stats(p->conn, &s);
		stats_add(out, &s);
	}
}

static void peer_stats_cb(void *user, struct sdr_peer *p)
{
	peer_stats(p, user);
}

void sdr_rel_stats_get(struct sdr_rel *rel, struct sdr_peer *peer, struct sdr_rel_stats *out)
{
	struct sdr_stats sdk = { .size = sizeof(sdk) };

	memset(out, 0, sizeof(*out));
	if (peer) {
		peer_stats(peer, out);
		return;
	}
	*out = rel->closed;
	sdr_rel_peers_walk(rel, peer_stats_cb, out);
	/* What only the engine and the message tables can count. */
	if (!sdr_context_stats(rel->ctx, &sdk)) {
		out->pkts_late += sdk.pkts_late;
		out->pkts_bad += sdk.pkts_bad;
	}
}
