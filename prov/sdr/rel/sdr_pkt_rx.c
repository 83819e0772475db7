/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets from the peer: frames are applied in order, then one look at losses and congestion for all of them
 * together.  The connection id finds the connection, whatever address the packet came from; the newest packet
 * number moves the connection there (address translation, a host that moved).  A packet with any unusable
 * frame is dropped whole and counted.
 */
#include "sdr_rel_priv.h"

/* The newest packet came from there: the peer moved, or an address translator changed its mind. */
static void conn_readdress(struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	if (sdr_uc_addr_equal(from, &c->addr))
		return;
	c->addr = *from;
	sdr_qp_readdress(c->qp, from);
}

static void conn_closed_by_peer(struct sdr_conn *c, uint16_t reason)
{
	if (reason == SDR_CLOSE_BYE_ACK) {
		if (c->state == SDR_CONN_CLOSING)
			sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
		return;
	}
	/*
	 * What of ours it has taken and we do not know of yet (its last words may be lost): ask before we believe
	 * that it is gone.  It repeats the BYE.
	 */
	if ((c->pl_live || c->inflight) && ++c->byes < SDR_BYES_ASK) {
		sdr_pkt_probe(c);
		sdr_bulk_probe(c);
		sdr_conn_kick(c);
		return;
	}
	/* The answer frees the connection; what is still posted ends now. */
	c->bye_ack_due = true;
	sdr_ops_end(c, SDR_OPS_HELD, SDR_REL_ERR_CLOSED);
	sdr_conn_kick(c);
}

static void conn_credit(struct sdr_conn *c, const struct sdr_frame_credit *f)
{
	if (sdr_seq_lt(c->tx_msn_limit, f->msn_limit)) {
		c->tx_msn_limit = f->msn_limit;
		sdr_qp_limit_set(c->qp, f->msn_limit);
		sdr_op_release_credit(c);
	}
	if (sdr_seq_lt(c->tx_mseq_limit, f->mseq_limit))
		c->tx_mseq_limit = f->mseq_limit;
}

/* Walks the frames once without effect: a record outside our window would be acknowledged but not taken. */
static bool pkt_acceptable(const struct sdr_conn *c, const uint8_t *p, const uint8_t *end)
{
	struct sdr_frame f;
	int ret;

	while ((ret = sdr_frame_next(&p, end, &f)) > 0)
		if (f.type == SDR_FRAME_REC && !sdr_rec_room(c, f.rec.rseq))
			return false;
	return ret == 0;
}

static void pkt_ack_want(struct sdr_conn *c)
{
	if (!c->ack_due) {
		c->ack_due = true;
		c->ack_pass = c->rel->pass;
		c->ack_ns = c->rel->now;
	}
}

static void pkt_frame(struct sdr_conn *c, const struct sdr_frame *f, struct sdr_cc_ack *ca, bool *nack)
{
	switch (f->type) {
	case SDR_FRAME_ACK:
		sdr_pkt_acked(c, &f->ack, ca);
		break;
	case SDR_FRAME_DACK:
		*nack |= f->dack.flags & SDR_DACK_GAP;
		sdr_bulk_dack(c, &f->dack, ca);
		break;
	case SDR_FRAME_CREDIT:
		conn_credit(c, &f->credit);
		break;
	case SDR_FRAME_PING:
		pkt_ack_want(c);
		c->ack_now = true;
		c->sent_msn_limit--; /* a ping may ask for credit: repeat it */
		break;
	case SDR_FRAME_END:
		pkt_ack_want(c);
		c->ack_now = true;
		sdr_bulk_rx_ended(c, f->end.msn);
		break;
	case SDR_FRAME_REC:
		pkt_ack_want(c);
		if (sdr_rec_accept(c, f->rec.rseq)) {
			c->st.rec_rx++;
			sdr_rec_input(c, &f->rec);
		}
		break;
	case SDR_FRAME_CLOSE:
		if (f->close.reason == SDR_CLOSE_BYE)
			pkt_ack_want(c);
		conn_closed_by_peer(c, f->close.reason);
		break;
	}
}

void sdr_pkt_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p, size_t len)
{
	struct sdr_cc_ack ca = { .now = rel->now };
	const uint8_t *end = p + len;
	struct sdr_frame f;
	struct sdr_conn *c;
	bool nack = false;
	uint64_t cid;
	uint32_t pn;

	if (sdr_packet_decode(p, len, &cid, &pn)) {
		rel->closed.pkts_bad++;
		return;
	}
	c = sdr_conn_by_cid(rel, cid);
	if (!c) {
		rel->closed.pkts_late++;
		sdr_reset_send(rel, from, cid);
		return;
	}
	p += SDR_PACKET_HDR - SDR_CLASS_LEN;
	if (c->state == SDR_CONN_HELLO || c->state == SDR_CONN_DEAD || !pkt_acceptable(c, p, end)) {
		c->st.pkts_bad++;
		return;
	}
	c->st.ctl_rx++;
	if (!sdr_pnset_add(&c->rx_pns, pn)) {
		c->st.pkts_dup++;
		return;
	}
	c->last_rx = rel->now;
	c->answered = true;
	sdr_conn_prove(c);
	if (c->rx_pns.n && c->rx_pns.r[0].hi == pn) {
		c->rx_largest_ns = rel->now;
		conn_readdress(c, from);
	}
	while (c->state != SDR_CONN_DEAD && sdr_frame_next(&p, end, &f) > 0)
		pkt_frame(c, &f, &ca, &nack);
	if (c->state == SDR_CONN_DEAD)
		return;
	sdr_pkt_detect_lost(c, &ca);
	sdr_bulk_detect_lost(c, nack, &ca);
	if (ca.bytes || ca.lost) {
		ca.inflight = c->inflight;
		ca.min_rtt = sdr_rtt_min(&c->rtt);
		sdr_cc_acked(&c->cc, &ca);
		sdr_pacer_rate_set(&c->pacer, c->cc.pacing_Bps, rel->now);
	}
	sdr_bulk_tlog_trim(c);
	c->probed = false;
	if (c->est_sent > (1u << 20)) {
		c->est_sent /= 2;
		c->est_lost /= 2;
	}
	sdr_conn_kick(c);
}
