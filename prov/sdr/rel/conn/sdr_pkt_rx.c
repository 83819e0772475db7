/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets from the peer: frames are applied in order, then one look at losses and congestion for
 * all of them together.  The connection id finds the connection, whatever address the packet came
 * from; from elsewhere than the peer is known to be nothing of it counts (sdr_conn_path.c).  A
 * packet with any unusable frame is dropped whole and counted.  One with messages for which there
 * is no room is not acknowledged, whatever else of it was taken: records are known by their
 * numbers, so what comes again does no harm.
 */
#include <stddef.h>
#include <string.h>
#include "sdr_conn_ecn.h"
#include "sdr_conn_fan.h"
#include "sdr_conn_known.h"
#include "sdr_conn_ops.h"
#include "sdr_conn_path.h"
#include "sdr_credit.h"
#include "sdr_handshake.h"
#include "sdr_hello_tx.h"
#include "sdr_home.h"
#include "sdr_multipath.h"
#include "sdr_pkt.h"
#include "sdr_probe.h"
#include "sdr_rec.h"
#include "sdr_reshape.h"
#include "sdr_stranger.h"
#include "sdr_wire_err.h"

#define CREDIT_FAR (1u << 29) /* no peer has room for so many messages */

static void conn_closed_by_peer(struct sdr_conn *c, uint16_t reason)
{
	if (reason == SDR_CLOSE_BYE_ACK) {
		if (c->state == SDR_CONN_CLOSING)
			sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
		return;
	}
	/*
	 * What of ours it has taken and we do not know of yet (its farewell may be lost): ask
	 * before we believe that it is gone.  It repeats the BYE.
	 */
	if ((c->tx.live || c->inflight) && ++c->close.byes < SDR_BYES_ASK) {
		sdr_pkt_probe(c);
		c->rel->ops->probe(c);
		sdr_conn_kick(c);
		return;
	}
	/* The answer frees the connection; what is still posted ends now. */
	c->close.bye_ack_due = true;
	c->rel->ops->closed(c);
	sdr_conn_kick(c);
}

/* So far from what was numbered that it might lie behind the next one, or one behind it: a lie. */
static bool credit_far(uint32_t limit, uint32_t next)
{
	return limit - next + CREDIT_FAR > 2 * CREDIT_FAR;
}

static void conn_credit(struct sdr_conn *c, const struct sdr_frame_credit *f)
{
	bool msn = sdr_seq_lt(c->credit.msn_limit, f->msn_limit),
	     mseq = sdr_seq_lt(c->credit.mseq_limit, f->mseq_limit);

	if ((msn && credit_far(f->msn_limit, c->rel->ops->msn_out(c))) ||
	    (mseq && credit_far(f->mseq_limit, c->rec.mseq))) {
		c->st.pkts_bad++;
		return;
	}
	if (msn) {
		c->credit.msn_limit = f->msn_limit;
		sdr_shape_limit_set(c, f->msn_limit);
		c->rel->ops->credit(c);
	}
	if (mseq)
		c->credit.mseq_limit = f->mseq_limit;
}

enum pkt_verdict {
	PKT_TAKE,
	PKT_BAD,   /* no peer sends this: dropped whole */
	PKT_TIGHT, /* there may be no room for all of its messages, or for answers to it */
};

/*
 * Walks the frames once without effect: a record outside our window would be acknowledged but not
 * taken.  One acknowledgement says all there is to say; to go through more would be work for
 * nothing.  A challenge is answered with a packet: one for one.
 */
static enum pkt_verdict pkt_classify(const struct sdr_conn *c, const uint8_t *p, const uint8_t *end)
{
	uint64_t kept = 0;
	struct sdr_frame f;
	uint32_t acks = 0, challenges = 0, asked = 0;
	int ret;

	while ((ret = sdr_frame_next(&p, end, &f)) > 0) {
		sdr_rel_step(c->rel);
		if ((f.type == SDR_FRAME_ACK && acks++) ||
		    (f.type == SDR_FRAME_PATH_CHALLENGE && challenges++))
			return PKT_BAD;
		if (f.type != SDR_FRAME_REC)
			continue;
		if (!sdr_rec_room(c, f.rec.rseq))
			return PKT_BAD;
		if (sdr_rec_needs_room(&f.rec))
			kept += c->rel->ops->bytes(c, &f.rec);
		asked += sdr_rec_is_request(&f.rec);
	}
	if (ret < 0)
		return PKT_BAD;
	if ((kept && !sdr_unexp_room(c, kept, true)) || (asked && !sdr_rec_answerable(c, asked)))
		return PKT_TIGHT;
	return PKT_TAKE;
}

/* What one packet leads to beyond its frames. */
struct pkt_sum {
	struct sdr_acks acks;
	struct sdr_frame_marks marks; /* counted: what the peer's acknowledgement said, of others */
	struct sdr_frame_ecn ecn;     /* than the first path, and of that */
	bool counted;
	bool nack;	     /* a gap was reported */
	uint32_t asked;	     /* frames that want an answer */
	bool pinged, ended;  /* of them */
	uint32_t recs, seen; /* records; those of them that had come before */
	bool tight;	     /* look at each message and request before it is taken */
	/* one was not: the packet is not acknowledged, its sender repeats what was in it */
	bool refused;
};

static void pkt_ack_want(struct sdr_conn *c)
{
	if (!c->rx.ack_due) {
		c->rx.ack_due = true;
		c->rx.ack_round = c->rel->ack_wait = c->rel->round;
		c->rx.ack_ns = c->rel->now;
	}
}

static void pkt_record(struct sdr_conn *c, const struct sdr_frame_rec *f, struct pkt_sum *sum)
{
	if (sum->tight && !sdr_rec_seen(c, f->rseq) &&
	    ((sdr_rec_needs_room(f) && !c->rel->ops->room(c, f)) ||
	     (sdr_rec_is_request(f) && !sdr_rec_answerable(c, 1)))) {
		sum->refused = true;
		return;
	}
	sum->recs++;
	if (sdr_rec_accept(c, f->rseq)) {
		c->st.rec_rx++;
		sdr_conn_came_closer(c);
		c->rel->ops->record(c, f);
	} else {
		sum->seen++;
	}
}

/* It came from c->addr.  f: a record's status is translated in place. */
static void pkt_frame(struct sdr_conn *c, const struct sdr_uc_addr *from, struct sdr_frame *f,
		      struct pkt_sum *sum)
{
	SDR_ASSERT(sdr_conn_live(c) && c->state != SDR_CONN_HELLO && c->hs.validated);
	sdr_rel_step(c->rel);
	sum->asked +=
		f->type == SDR_FRAME_REC || f->type == SDR_FRAME_END || f->type == SDR_FRAME_PING;
	sum->pinged |= f->type == SDR_FRAME_PING;
	sum->ended |= f->type == SDR_FRAME_END;
	switch (f->type) {
	case SDR_FRAME_ACK:
		if (!sdr_pkt_acked(c, &f->ack, &sum->acks))
			break;
		sdr_conn_path_acked(c, f->ack.r[0].hi);
		sum->ecn = f->ack.ecn;
		sum->counted = true;
		break;
	case SDR_FRAME_DACK:
		sum->nack |= f->dack.flags & SDR_DACK_GAP;
		c->rel->ops->dack(c, &f->dack, &sum->acks);
		break;
	case SDR_FRAME_CREDIT:
		conn_credit(c, &f->credit);
		break;
	case SDR_FRAME_PING:
		pkt_ack_want(c);
		c->rx.ack_now = true;
		c->rx.pings += c->rx.pings < SDR_PROBE_ANSWERS;
		c->credit.msn_granted--; /* a ping may ask for credit: repeat it */
		sdr_conn_path_pinged(c);
		break;
	case SDR_FRAME_END:
		pkt_ack_want(c);
		c->rx.ack_now = true;
		c->rel->ops->end(c, f->end.msn);
		break;
	case SDR_FRAME_REC:
		pkt_ack_want(c);
		if (f->rec.op != SDR_REC_CTS)
			f->rec.status = sdr_rel_err_of_status(f->rec.status);
		pkt_record(c, &f->rec, sum);
		break;
	case SDR_FRAME_CLOSE:
		if (f->close.reason == SDR_CLOSE_BYE)
			pkt_ack_want(c);
		conn_closed_by_peer(c, f->close.reason);
		break;
	case SDR_FRAME_SHAPE:
		pkt_ack_want(c);
		sdr_reshape_input(c, &f->shape);
		break;
	case SDR_FRAME_PADDING:
	case SDR_FRAME_ASIDE:
		break;
	case SDR_FRAME_HELD: /* it has what we sent, and will take it when there is room */
		sdr_conn_came_closer(c);
		break;
	case SDR_FRAME_FAN:
		sdr_conn_fan_said(c, &f->fan);
		break;
	case SDR_FRAME_DROPS:
		sdr_home_said(c, &f->drops);
		break;
	case SDR_FRAME_MARKS:
		if (sdr_conn_ecn_by_path(c))
			sum->marks = f->marks;
		else
			c->st.frames_skipped++;
		break;
	case SDR_FRAME_PATH_CHALLENGE:
	case SDR_FRAME_PATH_RESPONSE:
		if (sdr_multipath_input(c, from, f))
			break;
		if (sdr_conn_path_in_force(c)) {
			if (sdr_frame_wants(f->type, 0))
				pkt_ack_want(c);
			sdr_conn_path_input(c, &c->addr, f);
			break;
		}
		/* fall through */
	default: /* passed over: of a later version, or of a feature that is not in force */
		c->st.frames_skipped++;
		if (sdr_frame_wants(f->type, 0))
			pkt_ack_want(c);
	}
}

/*
 * The acknowledgement of what is alone on its way has nothing behind it that would show its loss:
 * it costs the peer a timeout.  Where losses are to be expected it is said twice.  The peer shows
 * it: a packet of nothing but known records is a copy, or a repair, and one that asks for an answer
 * and after its data at once is the probe of somebody who heard nothing.  A near peer waits for
 * milliseconds, and would get thousands of them.
 */
static void pkt_expect_loss(struct sdr_conn *c, const struct pkt_sum *sum)
{
	bool known = sum->recs && sum->seen == sum->recs, probe = sum->pinged && sum->ended;

	if (known || probe)
		c->rx.told_ns = c->rel->now;
	if (known || (sum->asked && c->main.rtt.srtt >= SDR_CHOICE_RTT_MIN && sdr_conn_lossy(c)))
		c->rx.ack_twice = true;
}

/* It is acknowledged from now on; false: it was before. */
static bool pkt_received(struct sdr_conn *c, const struct sdr_uc_addr *from, uint32_t pn)
{
	bool gap = !c->rx.pns.n || pn != c->rx.pns.r[0].hi + 1;

	if (!sdr_pnset_add(&c->rx.pns, pn)) {
		c->st.pkts_dup++;
		return false;
	}
	sdr_conn_ecn_came(c, sdr_multipath_by(c, from));
	if (gap)
		c->rx.gap_ns = c->rel->now;
	if (c->rx.pns.r[0].hi == pn)
		c->rx.largest_ns = c->rel->now - sdr_rel_late(c->rel);
	return true;
}

void sdr_pkt_zero(struct sdr_conn *c)
{
	if (!sdr_pnset_add(&c->rx.pns, 0))
		return;
	if (!c->rx.pns.r[0].hi)
		c->rx.largest_ns = c->rel->now - sdr_rel_late(c->rel);
	c->rx.ack_now = true;
}

/*
 * There was no room: the peer hears it with our next packet, and waits.  What else it owes us may
 * wait behind that in its window, so it is not called late here either.
 */
static void pkt_refused(struct sdr_conn *c)
{
	c->st.rec_refused++;
	c->rx.held_due = true;
	sdr_conn_came_closer(c);
}

/* Congestion control hears of what a packet has told of each path. */
static void pkt_judged(struct sdr_conn *c, struct sdr_acks *as)
{
	bool news = false;

	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_cc_ack *ca = &as->v[i];

		if (!ca->bytes && !ca->lost && !ca->late)
			continue;
		news = true;
		sdr_conn_ecn_bytes(sdr_conn_path(c, i), ca);
		ca->min_rtt = sdr_rtt_min(&sdr_conn_path(c, i)->rtt);
	}
	if (!news)
		return;
	sdr_home_acked(c, as);
	sdr_conn_known_acked(c);
}

/* From elsewhere than c->addr: true where that is the end of another path. */
static bool pkt_by_path(struct sdr_conn *c, const struct sdr_uc_addr *from, uint32_t pn,
			const uint8_t *p, const uint8_t *end)
{
	switch (sdr_multipath_who(c, from)) {
	case SDR_MULTIPATH_PEER:
		return c->hs.validated;
	case SDR_MULTIPATH_NAMED:
		sdr_multipath_named(c, from, p, end);
		return false;
	default:
		sdr_conn_path_elsewhere(c, from, pn, p, end);
		return false;
	}
}

void sdr_pkt_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		   size_t len)
{
	struct pkt_sum sum;
	const uint8_t *end = p + len;
	enum pkt_verdict verdict;
	struct sdr_frame f;
	struct sdr_conn *c;
	uint64_t cid;
	uint32_t pn;
	bool aside;

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
	aside = p < end && *p == SDR_FRAME_ASIDE;
	verdict = c->state == SDR_CONN_HELLO || sdr_pnset_far(&c->rx.pns, pn)
			  ? PKT_BAD
			  : pkt_classify(c, p, end);
	if (verdict == PKT_BAD) {
		c->st.pkts_bad++;
		return;
	}
	if (!sdr_uc_addr_equal(from, &c->addr) && !pkt_by_path(c, from, pn, p, end))
		return;
	c->st.ctl_rx++;
	memset(&sum.ecn, 0, sizeof(sum) - offsetof(struct pkt_sum, ecn));
	sum.marks.n = 0;
	sum.tight = verdict == PKT_TIGHT;
	if (!sum.tight && !pkt_received(c, from, pn))
		return;
	sdr_conn_heard(c);
	sdr_multipath_heard(c, from, aside);
	c->hs.answered = true;
	sdr_conn_validate(c);
	sdr_acks_init(c, &sum.acks); /* it may have several paths now */
	while (sdr_conn_live(c) && sdr_frame_next(&p, end, &f) > 0)
		pkt_frame(c, from, &f, &sum);
	if (!sdr_conn_live(c))
		return;
	if (sum.refused)
		pkt_refused(c);
	else if (sum.tight)
		pkt_received(c, from, pn);
	if (sum.counted)
		sdr_conn_ecn_heard(c, &sum.ecn, &sum.marks);
	if (sum.asked)
		sdr_multipath_asked(c, from, c->rx.pns.n && c->rx.pns.r[0].hi == pn, aside,
				    sum.pinged);
	pkt_expect_loss(c, &sum);
	sdr_pkt_detect_lost(c, &sum.acks);
	rel->ops->detect_lost(c, sum.nack, &sum.acks);
	pkt_judged(c, &sum.acks);
	sdr_multipath_judge(c);
	rel->ops->settled(c);
	for (uint32_t i = 0; i < c->npaths; i++)
		sdr_conn_path(c, i)->rack.probed = false;
	if (c->est.sent > (1u << 20)) {
		c->est.sent /= 2;
		c->est.lost /= 2;
	}
	sdr_conn_kick(c);
}
