/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A packet of control frames leaves: its header, by which path and in how many datagrams, and its
 * place in the log if it wants an answer.
 *
 * A packet that is longer than what the path carries travels in parts (sdr_parts.c).  One that
 * wants an answer is counted as in flight by its path and its connection, and sets the time of the
 * first probe.  No timers of its own.
 */
#include "base/sdr_assert.h"
#include "sdr_conn_mtu.h"
#include "sdr_parts.h"
#include "sdr_pkt_out.h"
#include "sdr_plog.h"
#include "sdr_seal.h"

void sdr_pkt_out(struct sdr_conn *c, struct sdr_path *path, const uint8_t *p, size_t n, bool wants)
{
	if (n > sdr_seal_room(c->rel, sdr_path_mtu_ctl(c, path))) {
		sdr_ecn_sent(&path->ecn, 1, false);
		sdr_parts_send(c, path, p, n);
	} else if (wants) {
		sdr_seal_send_asking(c, path, n);
	} else {
		sdr_seal_send_by(c, path, n);
	}
	c->tx.pn++;
}

size_t sdr_pkt_begin(const struct sdr_conn *c, const struct sdr_path *path, uint8_t *p)
{
	size_t n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);

	if (path && path->index == c->ctl)
		return n;
	return n + sdr_frame_aside_encode(p + n, SDR_FRAME_LONG_HDR);
}

void sdr_pkt_log(struct sdr_conn *c, struct sdr_pkt *pkt, size_t n)
{
	struct sdr_path *path = sdr_conn_path(c, pkt->path);
	struct sdr_rel *rel = c->rel;

	SDR_ASSERT(n && n <= c->ctl_agreed && c->hs.validated);
	SDR_ASSERT(sdr_ring_empty(&c->tx.log) ||
		   sdr_seq_lt(sdr_plog_at(c, c->tx.log.tail - 1)->pn, c->tx.pn - 1));
	pkt->pn = c->tx.pn - 1;
	pkt->seq = ++c->tx.seq;
	pkt->bytes = (uint32_t)n;
	pkt->tx_ns = rel->now;
	if (!c->tx.live && !c->inflight)
		c->pto.progress_ns = rel->now;
	sdr_cc_sent(&path->cc, rel->now, n, 0, path->inflight, &pkt->snap);
	sdr_conn_fly(c, path, n);
	sdr_ring_push(&c->tx.log);
	c->tx.live++;
	sdr_conn_sent(c);
	rel->activity++;
}
