/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages go where their receive wants them, at once or when their bytes have come; those that
 * meet no receive are kept or parked.
 *
 * A bulk of up to SDR_REL_UNEXP_BULK bytes without a receive lands in a bounce buffer; a larger
 * one, and any for which there is no room, is parked: its data land nowhere, the sender stops and
 * waits for CTS.  What was only announced (always so when our engine is rkeyed, but for what comes
 * to a berth) waits without any memory but its entry.  The head of a long one waits in the berth
 * that it comes to (sdr_head_rx.c), and the rest is requested when a receive is there.
 */
#include "rel/bulk/sdr_head_rx.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_deliver.h"

/* A receive's frame again, from its bulk. */
struct sdr_frame_rec sdr_bulk_frame(const struct sdr_bulk_rx *b)
{
	struct sdr_frame_rec f = {
		.op = b->op,
		.id = b->id,
		.len = b->len,
		.tag = b->tag,
		.data = b->data,
		.flags = (uint16_t)(SDR_REC_F_LEN | (b->has_data ? SDR_REC_F_DATA : 0)),
	};

	return f;
}

void sdr_rxe_truncated(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f,
		       uint64_t off)
{
	if (f->flags & SDR_REC_F_BULK)
		sdr_bulk_rx_skip(c, f, sdr_rec_bulk(f));
	sdr_done_send(c, f->id, SDR_REL_ERR_TRUNC);
	sdr_rxe_report(c->rel, rx, c->peer, f, off, 0, SDR_REL_ERR_TRUNC);
}

/* The first n bytes of a message were to be filled in; err: they were not. */
static void rxe_filled(struct sdr_rel *rel, struct sdr_rxe *rx, struct sdr_peer *peer,
		       const struct sdr_frame_rec *f, uint64_t off, uint64_t n, int err)
{
	if (!err && n < sdr_msg_len(f))
		err = SDR_REL_ERR_TRUNC;
	sdr_rxe_report(rel, rx, peer, f, off, err == SDR_REL_ERR_MEM ? 0 : n, err);
}

void sdr_deliver_done(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	struct sdr_unexp *u = b->unexp;
	struct sdr_frame_rec f = sdr_bulk_frame(b);
	int err = b->err;

	if (!u) {
		if (b->rx->bounce)
			err = sdr_rxe_fill(b->rx, b->rx_off, b->rx->bounce, b->len);
		if (b->delivery || err)
			sdr_done_send(c, b->id, err);
		sdr_rxe_report(c->rel, b->rx, c->peer, &f, b->rx_off, err ? 0 : b->len, err);
		return;
	}
	SDR_ASSERT(!err); /* it landed in memory of ours */
	u->complete = true;
	u->brx = NULL;
	if (u->dropped) {
		sdr_unexp_drop(c->rel, u);
	} else if (u->rx) {
		struct sdr_rxe *rx = u->rx;
		uint64_t room = rx->total - b->rx_off, n = b->len < room ? b->len : room;

		err = sdr_rxe_fill(rx, b->rx_off, u->payload, n);
		f = u->f;
		if (f.flags & SDR_REC_F_DELIVERY)
			sdr_done_send(c, f.id, err);
		sdr_unexp_free(c->rel, u);
		rxe_filled(c->rel, rx, c->peer, &f, b->rx_off, n, err);
	}
}

/* Its numbers are void, and its sender stops.  False: the connection failed. */
static bool bulk_park(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rec *r;

	sdr_bulk_rx_skip(c, f, sdr_rec_bulk(f));
	r = sdr_rec_new(c, SDR_REC_PARK, f->id);
	c->st.msgs_parked++;
	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return false;
	}
	r->f.flags = SDR_REC_F_BULK;
	r->f.msn = f->msn;
	sdr_rec_queue(c, r);
	return true;
}

bool sdr_berth_or_park(struct sdr_conn *c, const struct sdr_frame_rec *f, struct sdr_berth **berth)
{
	*berth = NULL;
	if (!sdr_qp_rkeyed(c->shape->qp))
		return true;
	*berth = sdr_berth_take(c, f);
	if (!*berth)
		(void)bulk_park(c, f);
	return *berth;
}

/*
 * Bulk into a receive: what its record has numbered now, else CTS requests it.  kept: its head,
 * where that came first; NULL: there is none.
 */
void sdr_rxe_bulk(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f,
		  uint64_t off, bool expected, struct sdr_bulk_rx *kept)
{
	uint64_t head = f->flags & SDR_REC_F_HEAD ? f->head : 0;
	uint8_t *to = rx->niov ? (uint8_t *)rx->iov[0].buf + off : NULL;
	bool has_msn = f->flags & SDR_REC_F_BULK;
	struct sdr_berth *berth = NULL;
	struct sdr_bulk_rx *b = NULL;
	int err = SDR_REL_ERR_NOMEM;

	if (has_msn && !sdr_berth_or_park(c, f, &berth)) {
		if (!sdr_conn_live(c)) {
			sdr_rxe_report(c->rel, rx, c->peer, f, off, 0, err);
			return;
		}
		has_msn = false;
		head = 0;
	}
	if (rx->niov > 1) {
		to = rx->bounce = sdr_scratch_get(&c->rel->msg->bounce, f->len);
		rx->bounce_len = f->len;
	}
	if (to)
		err = sdr_head_rx_land(c,
				       &(struct sdr_bulk_land){ f->op, f->id, to, f->len,
								rx->bounce ? NULL : rx->mem,
								sdr_deliver_done, berth, head },
				       &b);
	else if (berth)
		sdr_berth_end(berth);
	if (!b) {
		if (kept)
			sdr_bulk_rx_abort(kept);
		if (has_msn)
			sdr_bulk_rx_skip(c, f, sdr_rec_bulk(f));
		sdr_done_send(c, f->id, err);
		sdr_rxe_report(c->rel, rx, c->peer, f, off, 0, err);
		return;
	}
	b->rx = rx;
	b->rx_off = off;
	b->tag = f->tag;
	b->data = f->data;
	b->has_data = f->flags & SDR_REC_F_DATA;
	b->delivery = f->flags & SDR_REC_F_DELIVERY;
	err = has_msn ? sdr_bulk_rx_start(b->head ? b->head : b, f) : SDR_REL_OK;
	if (err) {
		sdr_bulk_rx_abort(b);
		sdr_done_send(c, f->id, err);
		sdr_rxe_report(c->rel, rx, c->peer, f, off, 0, err);
		return;
	}
	sdr_conn_kick(c);
	if (!b->has_msn && !sdr_bulk_rx_cts(b, expected)) {
		if (kept)
			sdr_bulk_rx_abort(kept);
	} else if (kept) {
		sdr_head_rx_meet(b, kept);
	}
}

void sdr_rxe_deliver(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f)
{
	uint64_t len = sdr_msg_len(f), room, off = sdr_rxe_take(rx, len, &room);
	int err;

	if (f->flags & SDR_REC_F_LEN) {
		if (len > room)
			sdr_rxe_truncated(c, rx, f, off);
		else
			sdr_rxe_bulk(c, rx, f, off, true, NULL);
		return;
	}
	err = sdr_rxe_fill(rx, off, f->payload, len < room ? len : room);
	if (f->flags & SDR_REC_F_DELIVERY)
		sdr_done_send(c, f->id, err);
	rxe_filled(c->rel, rx, c->peer, f, off, len < room ? len : room, err);
}

/* ---- without a receive ----------------------------------------------------------------------- */

/* from here on it waits for CTS like any announced one */
#define PARKED_NOT (SDR_REC_F_BULK | SDR_REC_F_CODE | SDR_REC_F_BERTH | SDR_REC_F_HEAD)

static void unexp_park(struct sdr_conn *c, struct sdr_unexp *u)
{
	struct sdr_frame_rec f = u->f;

	u->f.flags &= (uint16_t)~PARKED_NOT;
	(void)bulk_park(c, &f); /* may free u, when the connection is */
}

/* For its bounce buffer.  False: there is no place for it to come to. */
static bool unexp_berth(struct sdr_conn *c, const struct sdr_unexp *u, struct sdr_berth **berth)
{
	*berth = sdr_berth_take(c, &u->f);
	return *berth || !sdr_qp_rkeyed(c->shape->qp);
}

/* Into its bounce buffer; the head of a long one stays in its berth.  False: there is no place. */
static bool unexp_place(struct sdr_conn *c, struct sdr_unexp *u)
{
	uint64_t bytes = sdr_scratch_charge(u->f.len);
	bool head = u->f.flags & SDR_REC_F_HEAD;
	struct sdr_berth *berth;

	if (!head && (u->f.len > SDR_REL_UNEXP_BULK || !sdr_unexp_room(c, bytes, true)))
		return false;
	if (!unexp_berth(c, u, &berth))
		return false;
	if (head) {
		(void)sdr_head_rx_keep(c, &u->f, berth, &u->brx);
		return u->brx;
	}
	u->payload = sdr_scratch_get(&c->rel->msg->bounce, u->f.len);
	if (u->payload) {
		sdr_unexp_charge(u, bytes);
		(void)sdr_bulk_rx_new(c,
				      &(struct sdr_bulk_land){ .op = u->f.op,
							       .id = u->f.id,
							       .buf = u->payload,
							       .len = u->f.len,
							       .arrived = sdr_deliver_done,
							       .berth = berth },
				      &u->brx);
	} else if (berth) {
		sdr_berth_end(berth);
	}
	return u->brx;
}

void sdr_unexp_add(struct sdr_conn *c, struct sdr_unexp *u)
{
	struct sdr_rel *rel = c->rel;
	int err;

	c->st.msgs_unexp++;
	sdr_list_add_tail(&u->link, &rel->msg->unexp[sdr_msg_kind(u->f.op)]);
	sdr_list_add_tail(&u->of_peer, &u->peer->unexp);
	if (!(u->f.flags & SDR_REC_F_BULK))
		return;
	if (!unexp_place(c, u)) {
		unexp_park(c, u);
		return;
	}
	u->brx->unexp = u;
	err = sdr_bulk_rx_start(u->brx, &u->f);
	if (!err)
		return;
	sdr_bulk_rx_abort(u->brx); /* it was not reported yet, and will not be */
	sdr_done_send(c, u->f.id, err);
	u->brx = NULL;
	sdr_unexp_end(rel, u, err);
}

/* Its head goes to whoever takes it; NULL: there is none, or no more. */
static struct sdr_bulk_rx *unexp_head(struct sdr_unexp *u)
{
	struct sdr_bulk_rx *head = u->brx;

	if (!head || !head->kept)
		return NULL;
	head->unexp = NULL;
	u->brx = NULL;
	return sdr_head_rx_wanted(head) ? head : NULL;
}

/* An unexpected message goes to a receive posted later. */
void sdr_unexp_deliver(struct sdr_rel *rel, struct sdr_unexp *u, struct sdr_rxe *rx)
{
	uint64_t len = sdr_msg_len(&u->f), room, off = sdr_rxe_take(rx, len, &room),
		 n = len < room ? len : room;
	struct sdr_frame_rec f = u->f;
	int err;

	if (u->err) {
		sdr_rxe_report(rel, rx, u->peer, &f, off, 0, u->err);
		sdr_unexp_free(rel, u); /* and perhaps the peer */
	} else if (u->complete) {
		err = n ? sdr_rxe_fill(rx, off, u->payload, n) : SDR_REL_OK;
		if ((f.flags & SDR_REC_F_DELIVERY) && u->conn)
			sdr_done_send(u->conn, f.id, err);
		rxe_filled(rel, rx, u->peer, &f, off, n, err);
		sdr_unexp_free(rel, u); /* and perhaps the peer */
	} else if (u->brx && !u->brx->kept) {
		/* Still arriving in its bounce buffer. */
		sdr_unexp_unlist(u);
		u->rx = rx;
		u->brx->rx_off = off;
	} else {
		struct sdr_bulk_rx *head = unexp_head(u);
		struct sdr_conn *c = u->conn;

		f.flags &= (uint16_t)~PARKED_NOT;
		f.flags |= head ? SDR_REC_F_HEAD : 0;
		sdr_unexp_free(rel, u);
		if (len <= room) {
			sdr_rxe_bulk(c, rx, &f, off, false, head);
			return;
		}
		if (head)
			sdr_bulk_rx_abort(head);
		sdr_rxe_truncated(c, rx, &f, off);
	}
}

void sdr_unexp_drop(struct sdr_rel *rel, struct sdr_unexp *u)
{
	struct sdr_bulk_rx *head = unexp_head(u);

	if (head)
		sdr_bulk_rx_abort(head);
	if (u->brx) {
		/* Let it arrive; it is not delivered. */
		sdr_unexp_unlist(u);
		u->dropped = true;
		return;
	}
	/*
	 * What never came is over for the sender too: to it this is like a receive that was too
	 * short.
	 */
	if (u->conn && (!u->complete || (u->f.flags & SDR_REC_F_DELIVERY)))
		sdr_done_send(u->conn, u->f.id, u->complete ? SDR_REL_OK : SDR_REL_ERR_TRUNC);
	sdr_unexp_free(rel, u);
}
