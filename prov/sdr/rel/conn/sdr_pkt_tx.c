/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets to the peer: what goes into one.
 *
 * A packet takes along whatever is owed at the moment, in this order: bitmaps of transfers (DACK),
 * the acknowledgement of packets (ACK), credit, then what wants an answer:  ENDs, a ping, records.
 * A change of the packets' size goes in front of all records (sdr_reshape.c).  A DACK never leaves
 * after the ACK that belongs to it, so that a sender which sees packet n acknowledged and a data
 * packet sent before n not, may call it lost; nor does the refusal of what those data are for,
 * which therefore waits neither for the pacer nor for the window.  Packets without anything that
 * wants an answer are not logged.
 *
 * An acknowledgement waits for one round of progress: the application that just got its message
 * usually answers in between, and the answer takes the acknowledgement along.  Where losses are to
 * be expected it is said a second time, sdr_conn_report_delay later.
 *
 * Under hybrid and auto a packet that is alone on its way over a path that loses is followed by a
 * copy of its records.
 */
#include <string.h>
#include "sdr_conn_ecn.h"
#include "sdr_conn_ops.h"
#include "sdr_conn_mtu.h"
#include "sdr_credit.h"
#include "sdr_home.h"
#include "sdr_parts.h"
#include "sdr_pkt.h"
#include "sdr_plog.h"
#include "sdr_pn_skip.h"
#include "sdr_rec.h"
#include "sdr_reshape.h"
#include "sdr_seal.h"
#include "sdr_turn.h"

/*
 * Timeouts in a row from which on a ping travels without records: they may be what the peer has no
 * room for, and its answer shows that all that was sent before is lost, so that it goes again at
 * once and in order.
 */
#define PING_ALONE     2u
#define LAST_WORDS_MAX 64u   /* packets */
#define PING_FRAMES    256u  /* bytes of frames of a ping that is repeated */
#define ASKED_FRAMES   1024u /* and of what is asked by all paths */

/* But for the pacer and the ceiling. */
static bool rec_ready(const struct sdr_conn *c)
{
	const struct sdr_path *p = sdr_conn_path_of(c, c->ctl);

	return sdr_rec_sendable(c) && (p->inflight < p->cc.cwnd || !c->tx.live);
}

static bool rec_allowed(struct sdr_conn *c)
{
	return sdr_rec_urgent(c) ||
	       (rec_ready(c) &&
		sdr_pacer_allow(&sdr_conn_path(c, c->ctl)->cc.pacer, c->rel->now) > 0 &&
		sdr_turn_allow(c) > 0);
}

bool sdr_pkt_paced(const struct sdr_conn *c)
{
	return rec_ready(c) &&
	       sdr_pacer_next(&sdr_conn_path_of(c, c->ctl)->cc.pacer, c->rel->now) > c->rel->now;
}

static bool ack_is_due(const struct sdr_conn *c)
{
	return c->rx.ack_now ||
	       (c->rx.ack_due && (c->rel->round > c->rx.ack_round || c->rel->closing)) ||
	       sdr_credit_due(c);
}

bool sdr_pkt_due(const struct sdr_conn *cc)
{
	struct sdr_conn *c = (struct sdr_conn *)(uintptr_t)cc;
	uint32_t due;

	if ((c->state != SDR_CONN_OPEN && c->state != SDR_CONN_CLOSING) || !c->hs.validated)
		return false;
	if (ack_is_due(c) || c->close.bye_ack_due)
		return true;
	due = c->rel->ops->due(c);
	if (due & SDR_DUE_TELL)
		return true;
	/* What wants an answer needs a place in the log. */
	return (c->tx.ping_due || c->close.bye_due || (due & SDR_DUE_ASK) || rec_allowed(c) ||
		sdr_reshape_due(c)) &&
	       sdr_plog_room(c);
}

/* It has left; where losses are to be expected, once more a little later, with what may be new. */
static void ack_again(struct sdr_conn *c)
{
	if (c->rx.ack_twice && c->rx.again_ns == NEVER)
		c->rx.again_ns = c->rel->now + sdr_conn_report_delay(c);
	c->rx.ack_twice = false;
}

/* Frames that want no answer; returns bytes. */
static size_t put_acks(struct sdr_conn *c, uint8_t *p, size_t room, bool *more)
{
	struct sdr_frame_credit cr = { sdr_conn_msn_limit(c), sdr_conn_mseq_limit(c) };
	struct sdr_frame_ack ack;
	size_t n = 0, k;

	*more = false;
	n += c->rel->ops->put_reports(c, p, room, more);
	if (*more)
		return n; /* the ACK goes with the last of them */
	if (c->rx.ack_due || c->rx.ack_now || n) {
		sdr_pnset_ack(&c->rx.pns, &ack);
		if (ack.n) {
			ack.delay_us = sdr_us_since(c->rel->now, c->rx.largest_ns);
			sdr_conn_ecn_put(c, &ack);
			k = sdr_frame_ack_encode(p + n, room - n, &ack);
			n += k;
			if (k) {
				c->st.ack_tx++;
				/* A ping may be one of many: an answer for each (sdr_probe.c). */
				c->rx.pings -= c->rx.pings > 0;
				c->rx.ack_due = c->rx.ack_now = c->rx.pings > 0;
				ack_again(c);
				n += sdr_conn_ecn_put_more(c, p + n, room - n);
			}
		} else {
			c->rx.ack_due = c->rx.ack_now = false;
		}
	}
	if (c->rx.held_due) {
		k = sdr_frame_held_encode(p + n, room - n);
		n += k;
		c->rx.held_due = k == 0;
	}
	if (n)
		n += sdr_home_put(c, p + n, room - n);
	if (cr.msn_limit != c->credit.msn_granted || cr.mseq_limit != c->credit.mseq_granted ||
	    c->tx.ping_due) {
		k = sdr_frame_credit_encode(p + n, room - n, &cr);
		n += k;
		if (k) {
			/* What was granted stays granted. */
			SDR_ASSERT(!sdr_seq_lt(cr.msn_limit, c->credit.msn_granted) &&
				   !sdr_seq_lt(cr.mseq_limit, c->credit.mseq_granted));
			c->credit.msn_granted = cr.msn_limit;
			c->credit.mseq_granted = cr.mseq_limit;
		}
	}
	return n;
}

static size_t put_records(struct sdr_conn *c, uint8_t *p, size_t room, struct sdr_pkt *pkt)
{
	struct sdr_rec *r;
	size_t n = 0;

	while (rec_allowed(c) && (r = sdr_rec_next(c, room - n))) {
		n += sdr_rec_write(c, r, p + n, room - n);
		sdr_list_add_tail(&r->link, &pkt->recs);
		if (pkt->nrseq < SDR_PKT_RSEQS)
			pkt->rseq[pkt->nrseq++] = r->f.rseq;
	}
	return n;
}

static size_t put_bye(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_frame_close f = { SDR_CLOSE_BYE };

	if (!c->close.bye_due)
		return 0;
	c->close.bye_due = false;
	return sdr_frame_close_encode(p, room, &f);
}

static size_t put_bye_ack(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_frame_close f = { SDR_CLOSE_BYE_ACK };

	if (!c->close.bye_ack_due)
		return 0;
	c->close.bye_ack_due = false;
	return sdr_frame_close_encode(p, room, &f);
}

/* Packet next_pn - 1 wants an answer. */
static void pkt_log(struct sdr_conn *c, struct sdr_pkt *pkt, size_t n)
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

/*
 * Records that stand alone answer the peer's: those that it has not acknowledged, once more or for
 * the first time; not logged, not awaited.
 */
static size_t put_answers(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_list *q[] = { &c->rec.rtx, &c->rec.unordered }, *l;
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		sdr_list_each(l, q[i]) {
			struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);

			if (!r->op && sdr_rec_number(c, r))
				n += sdr_frame_rec_encode(p + n, room - n, &r->f);
		}
	}
	for (uint32_t pos = c->tx.log.head; pos != c->tx.log.tail; pos++) {
		sdr_list_each(l, &sdr_plog_at(c, pos)->recs) {
			struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);

			if (!r->op)
				n += sdr_frame_rec_encode(p + n, room - n, &r->f);
		}
	}
	return n;
}

bool sdr_pkt_farewell(struct sdr_conn *c)
{
	const struct sdr_path *path = sdr_conn_path(c, c->ctl);
	size_t room = sdr_seal_room(c->rel, sdr_path_mtu_ctl(c, path));
	uint32_t budget = LAST_WORDS_MAX;
	bool more = true;
	uint8_t *p;
	size_t n;

	while (more && budget--) {
		p = sdr_seal_begin(c->rel);
		if (!p)
			return false;
		c->rx.ack_now = true;
		n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);
		n += put_acks(c, p + n, room - n, &more);
		if (!more)
			n += put_answers(c, p + n, room - n);
		sdr_seal_send_by(c, path, n);
		c->tx.pn++;
		c->rel->activity++;
	}
	return true;
}

/*
 * Bytes that a packet may have: what the path carries.  A record that was made when that was more
 * has a packet as long as it takes, which travels in parts.
 */
static size_t pkt_room(const struct sdr_conn *c)
{
	uint32_t ctl = sdr_path_mtu_ctl(c, sdr_conn_path_of(c, c->ctl));
	size_t room = sdr_seal_room(c->rel, ctl);

	if (ctl < c->ctl_agreed && SDR_PACKET_HDR + sdr_rec_next_size(c) > room)
		room = sdr_seal_room(c->rel, c->ctl_agreed);
	return room;
}

static void pkt_out(struct sdr_conn *c, struct sdr_path *path, const uint8_t *p, size_t n,
		    bool wants)
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

/* Header of the next packet, by that path (NULL: one of the peer's). */
static size_t pkt_begin(const struct sdr_conn *c, const struct sdr_path *path, uint8_t *p)
{
	size_t n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);

	if (path && path->index == c->ctl)
		return n;
	return n + sdr_frame_aside_encode(p + n, SDR_FRAME_LONG_HDR);
}

/*
 * Frames that have just left once more, by that path.  They are none of the records of the packet
 * that they were in: that this one arrives says nothing of those.  False: there is no room.
 */
static bool frames_copy(struct sdr_conn *c, struct sdr_path *path, const uint8_t *frames,
			size_t len)
{
	struct sdr_pkt *p;
	uint8_t *to;
	size_t n;

	if (!sdr_plog_room(c) || !(to = sdr_seal_begin(c->rel)))
		return false;
	p = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
	*p = (struct sdr_pkt){ .extra = true, .path = path->index };
	sdr_list_init(&p->recs);
	n = pkt_begin(c, path, to);
	memcpy(to + n, frames, len);
	pkt_out(c, path, to, n + len, true);
	pkt_log(c, p, n + len);
	return true;
}

/*
 * A ping that was not answered before goes several times over (sdr_probe.c): the same frames, of
 * which each packet is answered for itself.
 */
static void ping_copies(struct sdr_conn *c, const uint8_t *frames, size_t len)
{
	while (c->pto.copies && frames_copy(c, sdr_conn_path(c, c->ctl), frames, len))
		c->pto.copies--;
	c->pto.copies = 0;
}

/*
 * What was asked by the packet that has just left is asked by each other path as well, where data
 * are under way, or all of them when nothing is heard: an answer says something of what was sent
 * before on its own path alone.
 */
static void asked_by_all(struct sdr_conn *c, const uint8_t *frames, size_t len)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (i != c->ctl && p->state == SDR_PATH_ALIVE &&
		    (p->inflight || c->pto.count || c->close.tries > 1) &&
		    !frames_copy(c, p, frames, len))
			return;
	}
}

/* One packet; false: the engine is full, nothing changed. */
static bool pkt_build(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	uint8_t *p = sdr_seal_begin(rel);
	bool wants = false, more, bye, logged, alone = false, recs;
	struct sdr_pkt *pkt = NULL;
	struct sdr_path *path = sdr_conn_path(c, c->ctl);
	uint8_t ping[PING_FRAMES], asked[ASKED_FRAMES];
	size_t n, k, room, len = 0, ask = 0, nasked = 0;

	if (!p)
		return false;
	logged = sdr_plog_room(c);
	if (logged) {
		pkt = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
		memset(pkt, 0, sizeof(*pkt));
		pkt->path = path->index;
		sdr_list_init(&pkt->recs);
	}
	sdr_pn_skip(c);
	n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);
	room = pkt_room(c);
	c->rx.ack_now |= c->close.bye_due; /* our last packets say what we have */
	n += put_acks(c, p + n, room - n, &more);
	bye = c->close.bye_ack_due;
	recs = !more;
	if (recs && sdr_reshape_says(c)) {
		k = sdr_reshape_put(c, p + n, room - n);
		recs = k > 0; /* no record without it */
		n += k;
		if (k && logged) {
			pkt->shape = sdr_reshape_mark(c);
			wants = true;
		}
	}
	if (recs)
		n += rel->ops->put_copies(c, p + n, room - n);
	if (!more)
		n += put_bye_ack(c, p + n, room - n);
	if (!more && logged) {
		ask = n;
		k = rel->ops->put_ends(c, p + n, room - n);
		wants |= k > 0;
		n += k;
		alone = c->tx.ping_due && c->pto.count >= PING_ALONE;
		if (c->tx.ping_due) {
			k = sdr_frame_ping_encode(p + n, room - n);
			wants |= k > 0;
			n += k;
			c->tx.ping_due = k == 0;
		}
		k = put_bye(c, p + n, room - n);
		wants |= k > 0;
		n += k;
		nasked = n - ask;
		k = alone || !recs ? 0 : put_records(c, p + n, room - n, pkt);
		wants |= k > 0;
		n += k;
	}
	if (alone && c->pto.copies && !pkt->shape && n - SDR_PACKET_HDR <= sizeof(ping)) {
		len = n - SDR_PACKET_HDR;
		memcpy(ping, p + SDR_PACKET_HDR, len);
	}
	if (c->npaths == 1 || nasked > sizeof(asked))
		nasked = 0;
	if (nasked)
		memcpy(asked, p + ask, nasked);
	pkt_out(c, path, p, n, wants);
	if (wants)
		pkt_log(c, pkt, n);
	else
		rel->activity++;
	if (nasked)
		asked_by_all(c, asked, nasked);
	if (len)
		ping_copies(c, ping, len);
	if (bye)
		sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
	return true;
}

/*
 * The packet just sent is alone on its way: nothing behind it would show its loss before a timeout,
 * and nothing but its own bytes pays for a copy.  Where losses are to be expected its records
 * travel twice, as a message of one packet under parity does.
 */
static void pkt_repeat(struct sdr_conn *c)
{
	size_t room = sdr_seal_room(c->rel, c->ctl_agreed);
	struct sdr_pkt *p, *orig;
	struct sdr_list *l;
	uint8_t *to;
	size_t n;

	if (sdr_ring_empty(&c->tx.log) || sdr_reshape_says(c))
		return;
	orig = sdr_plog_at(c, c->tx.log.tail - 1);
	if (orig->pn != c->tx.pn - 1 || c->tx.live != 1 || c->inflight != orig->bytes ||
	    sdr_list_empty(&orig->recs) || !c->rel->ops->repeats(c) || !sdr_plog_room(c))
		return;
	to = sdr_seal_begin(c->rel);
	if (!to)
		return;
	orig = sdr_plog_at(c, c->tx.log.tail - 1);
	p = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
	*p = (struct sdr_pkt){
		.copy = true, .copy_of = orig->pn, .nrseq = orig->nrseq, .path = orig->path
	};
	memcpy(p->rseq, orig->rseq, sizeof(p->rseq));
	sdr_list_init(&p->recs);
	n = sdr_packet_encode(to, c->id.peer_cid, c->tx.pn);
	sdr_list_each(l, &orig->recs) {
		struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);
		size_t k = sdr_frame_rec_encode(to + n, room - n, &r->f);

		if (!k)
			return; /* dropped with the next alloc */
		if (r->f.payload_len)
			c->rel->ops->gather(r, to + n + k);
		n += k + r->f.payload_len;
		c->st.rec_copies++;
	}
	pkt_out(c, sdr_conn_path(c, p->path), to, n, true);
	pkt_log(c, p, n);
}

void sdr_pkt_answer(struct sdr_conn *c, const struct sdr_path *back, uint8_t source,
		    const struct sdr_uc_addr *to)
{
	uint32_t ctl = back ? sdr_path_mtu_ctl(c, back) : SDR_CTL_MIN;
	size_t room = sdr_seal_room(c->rel, ctl), n;
	uint8_t *p = sdr_seal_begin(c->rel);
	bool more;

	if (!p)
		return; /* as if lost */
	c->rx.ack_now = true;
	n = pkt_begin(c, NULL, p);
	n += put_acks(c, p + n, room - n, &more);
	sdr_seal_send_from(c, source, to, n);
	c->tx.pn++;
	c->rel->activity++;
}

bool sdr_pkt_record_by(struct sdr_conn *c, const struct sdr_path *path, const struct sdr_rec *r)
{
	size_t room = sdr_seal_room(c->rel, sdr_path_mtu_ctl(c, path)), n, k;
	uint8_t *p = sdr_seal_begin(c->rel);

	if (!p)
		return false;
	n = pkt_begin(c, path, p);
	if (sdr_reshape_says(c)) { /* no record without it */
		k = sdr_reshape_put(c, p + n, room - n);
		if (!k)
			return true; /* dropped with the next alloc: c->ctl has it */
		n += k;
	}
	k = sdr_frame_rec_encode(p + n, room - n, &r->f);
	if (!k)
		return true;
	n += k;
	sdr_seal_send_by(c, path, n);
	c->tx.pn++;
	c->st.rec_copies++;
	c->rel->activity++;
	return true;
}

bool sdr_pkt_send(struct sdr_conn *c)
{
	uint32_t budget = 64;

	if (c->reshape)
		sdr_reshape_run(c);
	while (budget-- && sdr_pkt_due(c)) {
		if (!pkt_build(c))
			return false;
		if (sdr_conn_live(c))
			pkt_repeat(c);
	}
	if (sdr_pkt_due(c))
		sdr_conn_kick(c);
	sdr_conn_mtu_send(c);
	return true;
}
