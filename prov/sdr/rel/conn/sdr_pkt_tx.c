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
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_credit.h"
#include "sdr_pkt_copy.h"
#include "sdr_pkt_out.h"
#include "sdr_pkt_put.h"
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
		n += sdr_pkt_put_acks(c, p + n, room - n, &more);
		if (!more)
			n += sdr_pkt_put_answers(c, p + n, room - n);
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

/* ---- one packet ------------------------------------------------------------------------------ */

/* A packet while it is made. */
struct pkt_build {
	struct sdr_conn *c;
	struct sdr_pkt *pkt; /* its place in the log; NULL: there is none, and nothing is asked */
	uint8_t *p;
	size_t n, room;	    /* bytes there are, and may be */
	size_t ask, nasked; /* of them: where what is asked begins, how long it is */
	bool more;	    /* bitmaps are left: what comes behind them waits */
	bool recs;	    /* records may be in it */
	bool wants;	    /* an answer */
	bool alone;	    /* a ping that travels without records */
};

/* That many bytes were written at its end, and want an answer. */
static void build_wants(struct pkt_build *b, size_t k)
{
	b->wants |= k > 0;
	b->n += k;
}

/* False: the engine is full. */
static bool build_begin(struct pkt_build *b, struct sdr_conn *c)
{
	*b = (struct pkt_build){ .c = c, .p = sdr_seal_begin(c->rel) };
	if (!b->p)
		return false;
	if (sdr_plog_room(c)) {
		b->pkt = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
		memset(b->pkt, 0, sizeof(*b->pkt));
		b->pkt->path = sdr_conn_path(c, c->ctl)->index;
		sdr_list_init(&b->pkt->recs);
	}
	sdr_pn_skip(c);
	b->n = sdr_packet_encode(b->p, c->id.peer_cid, c->tx.pn);
	b->room = pkt_room(c);
	return true;
}

/* What the peer is told, and a change of the packets' size, which is in front of all records. */
static void build_tell(struct pkt_build *b)
{
	struct sdr_conn *c = b->c;
	size_t k;

	c->rx.ack_now |= c->close.bye_due; /* our last packets say what we have */
	b->n += sdr_pkt_put_acks(c, b->p + b->n, b->room - b->n, &b->more);
	b->recs = !b->more;
	if (b->recs && sdr_reshape_says(c)) {
		k = sdr_reshape_put(c, b->p + b->n, b->room - b->n);
		b->recs = k > 0; /* no record without it */
		b->n += k;
		if (k && b->pkt) {
			b->pkt->shape = sdr_reshape_mark(c);
			b->wants = true;
		}
	}
	if (b->recs)
		b->n += c->rel->ops->put_copies(c, b->p + b->n, b->room - b->n);
	if (!b->more)
		b->n += sdr_pkt_put_bye_ack(c, b->p + b->n, b->room - b->n);
}

/* What it is asked, and records. */
static void build_ask(struct pkt_build *b)
{
	struct sdr_conn *c = b->c;
	size_t k;

	if (b->more || !b->pkt)
		return;
	b->ask = b->n;
	build_wants(b, c->rel->ops->put_ends(c, b->p + b->n, b->room - b->n));
	b->alone = c->tx.ping_due && c->pto.count >= PING_ALONE;
	if (c->tx.ping_due) {
		k = sdr_frame_ping_encode(b->p + b->n, b->room - b->n);
		build_wants(b, k);
		c->tx.ping_due = k == 0;
	}
	build_wants(b, sdr_pkt_put_bye(c, b->p + b->n, b->room - b->n));
	b->nasked = b->n - b->ask;
	if (!b->alone && b->recs)
		build_wants(b, put_records(c, b->p + b->n, b->room - b->n, b->pkt));
}

/* It leaves, and what of it goes several times over. */
static void build_leave(struct pkt_build *b)
{
	uint8_t ping[PING_FRAMES], asked[ASKED_FRAMES];
	size_t len = b->n - SDR_PACKET_HDR, nasked = b->nasked;
	struct sdr_conn *c = b->c;

	if (b->alone && c->pto.copies && !b->pkt->shape && len <= sizeof(ping))
		memcpy(ping, b->p + SDR_PACKET_HDR, len);
	else
		len = 0;
	if (c->npaths == 1 || nasked > sizeof(asked))
		nasked = 0;
	if (nasked)
		memcpy(asked, b->p + b->ask, nasked);
	sdr_pkt_out(c, sdr_conn_path(c, c->ctl), b->p, b->n, b->wants);
	if (b->wants)
		sdr_pkt_log(c, b->pkt, b->n);
	else
		c->rel->activity++;
	if (nasked)
		sdr_pkt_copy_asked(c, asked, nasked);
	if (len)
		sdr_pkt_copy_ping(c, ping, len);
}

/* One packet; false: the engine is full, nothing changed. */
static bool pkt_build(struct sdr_conn *c)
{
	struct pkt_build b;
	bool bye;

	if (!build_begin(&b, c))
		return false;
	bye = c->close.bye_ack_due;
	build_tell(&b);
	build_ask(&b);
	build_leave(&b);
	if (bye)
		sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
	return true;
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
	n = sdr_pkt_begin(c, NULL, p);
	n += sdr_pkt_put_acks(c, p + n, room - n, &more);
	sdr_seal_send_from(c, source, to, n);
	c->tx.pn++;
	c->rel->activity++;
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
			sdr_pkt_repeat(c);
	}
	if (sdr_pkt_due(c))
		sdr_conn_kick(c);
	sdr_conn_mtu_send(c);
	return true;
}
