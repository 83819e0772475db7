/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Texts of errors: the cause and one next step, for fi_cq_strerror and logs.  Also the sums of
 * statistics.
 */
#include "sdr_rel_priv.h"

const char *sdr_rel_strerror(int e)
{
	switch (e) {
	case SDR_REL_OK:
		return "success";
	case SDR_REL_ERR_NO_ANSWER:
		return "the peer never answered the handshake: check that its process runs, that the address and "
		       "port are "
		       "right, and that UDP passes the firewall both ways";
	case SDR_REL_ERR_STOPPED:
		return "the peer stopped answering: it died or the path is cut; check the remote process and the "
		       "link, "
		       "or raise FI_SDR_TIMEOUT if outages this long are normal";
	case SDR_REL_ERR_RESTARTED:
		return "another process took the peer's address: the peer restarted; resolve its address again and "
		       "repeat "
		       "the operation";
	case SDR_REL_ERR_CLOSED:
		return "the peer closed its endpoint before the operation was complete: check why it ended early";
	case SDR_REL_ERR_REFUSED:
		return "the peer refused the connection: both sides need the same "
		       "FI_SDR_IMM_SPLIT, FI_SDR_CHANNELS and FI_SDR_GENERATIONS, and the same version of sdr";
	case SDR_REL_ERR_KEY:
		return "remote memory access refused: the key is unknown there or was closed meanwhile, the range "
		       "leaves the region, or "
		       "the region "
		       "was registered without that access; check key, address and FI_REMOTE_READ/FI_REMOTE_WRITE";
	case SDR_REL_ERR_TRUNC:
		return "the message is longer than the receive buffer: post a larger one";
	case SDR_REL_ERR_CANCELED:
		return "the operation was cancelled";
	case SDR_REL_ERR_NOMEM:
		return "a limit of the endpoint or its peer is reached: post less at a time, or raise the "
		       "process's memory";
	case SDR_REL_ERR_ENGINE:
		return "the network engine failed, or gave up its connection to this peer: see the log "
		       "(FI_LOG_LEVEL=warn) and repeat the operation; reopen the endpoint if that fails as well";
	case SDR_REL_ERR_NOMSG:
		return "no message matches";
	case SDR_REL_ERR_REG:
		return "the device, here or the peer's, has no more memory registrations: have fewer large "
		       "transfers "
		       "under way at a time, or raise the limit of locked memory (ulimit -l)";
	case SDR_REL_ERR_PATH:
		return "the two sides hear each other, but one's engine cannot exchange data with the other's "
		       "device: "
		       "see that side's log (FI_LOG_LEVEL=warn), or use FI_SDR_ENGINE=soft on both";
	case SDR_REL_ERR_CODE:
		return "the peer cannot decode the parity of FI_SDR_EC_CODE, FI_SDR_EC_K, FI_SDR_EC_M and "
		       "FI_SDR_CHUNK_SIZE: use smaller values, or FI_SDR_RELIABILITY=auto";
	case SDR_REL_ERR_PROTO:
		return "the peer broke the protocol: check that both sides run the same version of sdr";
	}
	return "unknown error of the sdr provider";
}

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
	out->loss_upper_ppb = (uint64_t)(sdr_loss_upper(&c->peer->loss) * 1e9);
	out->burst_milli = (uint64_t)(sdr_loss_burst(&c->peer->loss) * 1e3);
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
