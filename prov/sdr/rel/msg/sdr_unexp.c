/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages that meet no receive, and those that come before their turn.  Inline bytes are kept, and
 * count against the peer's credit; a bulk of up to SDR_REL_UNEXP_BULK bytes lands in a bounce
 * buffer; a larger one, and any for which there is no room, is parked: its data land nowhere, the
 * sender stops and waits for CTS.  What was only announced (always so when our engine is keyed)
 * waits without any memory but its entry.  What is complete stays receivable after its connection
 * is gone.
 */
#include <stdlib.h>
#include <string.h>
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_match.h"
#include "sdr_unexp.h"

static void unexp_charge(struct sdr_unexp *u, uint64_t bytes)
{
	u->charged += bytes;
	u->peer->rel->unexp_bytes += bytes;
}

/* No receive finds it any more. */
static void unexp_unlist(struct sdr_unexp *u)
{
	sdr_list_del(&u->link);
	sdr_list_del(&u->of_peer);
}

void sdr_unexp_free(struct sdr_rel *rel, struct sdr_unexp *u)
{
	struct sdr_peer *peer = u->peer;

	rel->unexp_bytes -= u->charged;
	rel->nunexp_strangers -= u->stranger;
	peer->unexp_bytes -= u->f.payload_len + sizeof(*u);
	peer->nunexp--;
	if (u->conn)
		sdr_conn_kick(u->conn); /* credit may move */
	unexp_unlist(u);
	free(u->payload);
	sdr_slab_free(&rel->msg->unexp_pool, u);
	sdr_peer_release(peer);
}

struct sdr_unexp *sdr_unexp_new(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_unexp *u = sdr_slab_alloc(&c->rel->msg->unexp_pool);

	if (!u)
		return NULL;
	u->conn = c;
	u->peer = c->peer;
	u->f = *f;
	u->f.payload = NULL;
	sdr_list_init(&u->link);
	sdr_list_init(&u->of_peer);
	if (!(f->flags & SDR_REC_F_LEN)) {
		if (f->payload_len) {
			u->payload = malloc(f->payload_len);
			if (!u->payload) {
				sdr_slab_free(&c->rel->msg->unexp_pool, u);
				return NULL;
			}
			memcpy(u->payload, f->payload, f->payload_len);
		}
		u->complete = true;
	}
	u->stranger = !u->peer->names;
	c->rel->nunexp_strangers += u->stranger;
	unexp_charge(u, f->payload_len + sizeof(*u));
	u->peer->unexp_bytes += f->payload_len + sizeof(*u);
	u->peer->nunexp++;
	return u;
}

static void unexp_park(struct sdr_conn *c, struct sdr_unexp *u)
{
	struct sdr_rec *r;

	sdr_bulk_rx_skip(c, &u->f, u->f.len);
	r = sdr_rec_new(c, SDR_REC_PARK, u->f.id);
	u->f.flags &= (uint16_t) ~(SDR_REC_F_BULK |
				   /* from here on it waits for CTS like any announced one */
				   SDR_REC_F_CODE);
	c->st.msgs_parked++;
	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM); /* frees u */
		return;
	}
	r->f.flags = SDR_REC_F_BULK;
	r->f.msn = u->f.msn;
	sdr_rec_queue(c, r);
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
	if (u->f.len <= SDR_REL_UNEXP_BULK && sdr_unexp_room(c, u->f.len, true)) {
		u->payload = malloc(u->f.len);
		if (u->payload) {
			unexp_charge(u, u->f.len);
			(void)sdr_bulk_rx_new(c, u->f.op, u->f.id, u->payload, u->f.len,
					      sdr_match_done, &u->brx);
		}
		if (u->brx) {
			u->brx->unexp = u;
			err = sdr_bulk_rx_start(u->brx, &u->f);
			if (!err)
				return;
			sdr_bulk_rx_abort(u->brx); /* nobody has seen it yet, and nobody will */
			sdr_done_send(c, u->f.id, err);
			sdr_unexp_free(rel, u);
			return;
		}
	}
	unexp_park(c, u);
}

/* An unexpected message goes to a receive posted later. */
void sdr_unexp_deliver(struct sdr_rel *rel, struct sdr_unexp *u, struct sdr_rx *rx)
{
	uint64_t len = sdr_msg_len(&u->f), room, off = sdr_rx_take(rx, len, &room),
		 n = len < room ? len : room;
	struct sdr_frame_rec f = u->f;

	if (u->complete) {
		if (n)
			sdr_rx_fill(rx, off, u->payload, n);
		if ((f.flags & SDR_REC_F_DELIVERY) && u->conn)
			sdr_done_send(u->conn, f.id, SDR_REL_OK);
		sdr_rx_report(rel, rx, u->peer, &f, off, n,
			      n < len ? SDR_REL_ERR_TRUNC : SDR_REL_OK);
		sdr_unexp_free(rel, u); /* and perhaps the peer */
	} else if (u->brx) {
		/* Still arriving in its bounce buffer. */
		unexp_unlist(u);
		u->rx = rx;
		u->brx->rx_off = off;
	} else {
		struct sdr_conn *c = u->conn;

		f.flags &= (uint16_t) ~(SDR_REC_F_BULK | SDR_REC_F_CODE);
		sdr_unexp_free(rel, u);
		if (len > room)
			sdr_rx_truncated(c, rx, &f, off);
		else
			sdr_rx_bulk(c, rx, &f, off, false, false);
	}
}

void sdr_unexp_drop(struct sdr_rel *rel, struct sdr_unexp *u)
{
	if (u->brx) {
		/* Let it arrive; nobody gets it. */
		unexp_unlist(u);
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

static bool unexp_suits(const struct sdr_unexp *u, const struct sdr_rx *rx, bool claimed,
			const void *ctx)
{
	return claimed ? u->claimed && u->claim_ctx == ctx
		       : !u->claimed && sdr_rx_matches(rx, u->peer, u->f.tag);
}

struct sdr_unexp *sdr_unexp_find(struct sdr_rel *rel, const struct sdr_rx *rx, bool claimed,
				 const void *ctx)
{
	int kind = rx->kind == SDR_REL_TRECV;
	struct sdr_list *l;

	/*
	 * A claim is of one message by its context: the address of the receive that takes it may be
	 * anything, and Open MPI's is.
	 */
	if (claimed || !rx->peer) {
		sdr_list_each(l, &rel->msg->unexp[kind]) {
			sdr_rel_step(rel);
			if (unexp_suits(sdr_container(l, struct sdr_unexp, link), rx, claimed, ctx))
				return sdr_container(l, struct sdr_unexp, link);
		}
		return NULL;
	}
	/* Directed: what others have sent is not looked at. */
	sdr_list_each(l, &rx->peer->unexp) {
		struct sdr_unexp *u = sdr_container(l, struct sdr_unexp, of_peer);

		sdr_rel_step(rel);
		if (sdr_msg_kind(u->f.op) == kind && unexp_suits(u, rx, claimed, ctx))
			return u;
	}
	return NULL;
}
