/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sums of statistics: a connection's counters and gauges, those of a peer with its past
 * connections, and the endpoint's with what its engine and message tables count.  What has gone
 * stays in the sum.
 */
#include <string.h>
#include "bulk/sdr_bulk.h"
#include "conn/sdr_conn_ecn.h"
#include "conn/sdr_peer.h"
#include "sdr_rel.h"
#include "sdr_rel_sum.h"

static void conn_stats(struct sdr_conn *c, struct sdr_rel_stats *out)
{
	*out = c->st;
	/* with several paths it may begin anew, from what was known */
	if (c->main.rtt.samples || c->npaths > 1) {
		out->rtt_min_ns = sdr_rtt_min(&c->main.rtt);
		out->srtt_ns = c->main.rtt.srtt;
		out->rttvar_ns = c->main.rtt.rttvar;
	}
	out->loss_ppm = c->est.sent ? c->est.lost * 1000000 / c->est.sent : 0;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (p->state != SDR_PATH_ALIVE)
			continue;
		out->cwnd_bytes += p->cc.cwnd;
		out->pacing_bps += p->cc.pacing_Bps * 8;
	}
	out->path_bytes = c->main.pmtu.size;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const uint64_t *rx = sdr_conn_ecn_rx(c, i);

		out->ect_tx += sdr_conn_path_of(c, i)->ecn.sent;
		out->ce_tx += sdr_conn_path_of(c, i)->ecn.ce;
		out->ect_rx += rx[SDR_UC_ECT0] + rx[SDR_UC_ECT1] + rx[SDR_UC_CE];
		out->ce_rx += rx[SDR_UC_CE];
	}
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
	sdr_rel_stats_add(&c->peer->past, &s);
}

static void peer_stats(struct sdr_peer *p, struct sdr_rel_stats *out)
{
	struct sdr_rel_stats s;

	sdr_rel_stats_add(out, &p->past);
	if (p->conn) {
		conn_stats(p->conn, &s);
		sdr_rel_stats_add(out, &s);
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
