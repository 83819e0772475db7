/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A receive: posted, filled, reported.  One that takes several messages (MULTI) hands out its
 * buffer piece by piece, leaves the list of posted ones when less than min_multi is left, and is
 * released with its last transfer; any other is released with its one report.  A scattered receive
 * of bulk data goes through a bounce buffer, since a slot is one range of memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "rel/conn/sdr_rec.h"
#include "sdr_match.h"
#include "sdr_rx.h"
#include "sdr_unexp.h"

void sdr_rx_free(struct sdr_rel *rel, struct sdr_rx *rx)
{
	struct sdr_peer *peer = rx->peer;

	sdr_list_del(&rx->link);
	free(rx->bounce);
	rel->msg->nrx--;
	sdr_slab_free(&rel->msg->rx_pool, rx);
	if (peer)
		sdr_peer_unname(peer);
}

void sdr_rx_fill(const struct sdr_rx *rx, uint64_t off, const uint8_t *p, uint64_t n)
{
	for (int i = 0; i < rx->niov && n; i++) {
		size_t k;

		if (off >= rx->iov[i].len) {
			off -= rx->iov[i].len;
			continue;
		}
		k = rx->iov[i].len - off < n ? rx->iov[i].len - off : n;
		memcpy((uint8_t *)rx->iov[i].buf + off, p, k);
		p += k;
		n -= k;
		off = 0;
	}
}

/* The one report of a receive (for MULTI: of one message in it). */
void sdr_rx_report(struct sdr_rel *rel, struct sdr_rx *rx, struct sdr_peer *peer,
		   const struct sdr_frame_rec *f, uint64_t off, uint64_t got, int prov_err)
{
	uint64_t len = sdr_msg_len(f);
	struct sdr_rel_cqe e = {
		.kind = rx->kind,
		.has_data = f->flags & SDR_REC_F_DATA,
		.err = sdr_rel_errno(prov_err),
		.prov_err = prov_err,
		.ctx = rx->ctx,
		.uflags = rx->uflags,
		.len = got,
		.olen = len - got,
		.tag = f->tag,
		.data = f->data,
		.peer = peer,
		.buf = rx->niov ? (uint8_t *)rx->iov[0].buf + off : NULL,
	};
	bool multi = rx->flags & SDR_REL_R_MULTI;

	if (prov_err != SDR_REL_ERR_TRUNC)
		e.olen = 0;
	if (multi) {
		rx->refs--;
		e.multi_last = rx->retired && !rx->refs && !rx->canceled;
	}
	if (peer->conn)
		peer->conn->st.msgs_rx++;
	rel->cbs->done(rel->user, &e);
	rel->work++;
	if (multi && rx->canceled && !rx->refs) {
		struct sdr_rel_cqe x = {
			.kind = rx->kind,
			.err = -ECANCELED,
			.prov_err = SDR_REL_ERR_CANCELED,
			.ctx = rx->ctx,
			.uflags = rx->uflags,
			.multi_last = true,
			.multi_only = true,
		};

		rel->cbs->done(rel->user, &x);
	}
	if (!multi || (rx->retired && !rx->refs))
		sdr_rx_free(rel, rx);
}

/* MULTI: does a message of len leave too little? */
bool sdr_rx_retires(const struct sdr_rx *rx, uint64_t len)
{
	uint64_t room = rx->total - rx->off;

	return len >= room || room - len < rx->min_multi;
}

/* Reserves room for a message: offset in the receive; *room bytes are there. */
uint64_t sdr_rx_take(struct sdr_rx *rx, uint64_t len, uint64_t *room)
{
	uint64_t off = rx->off;

	*room = rx->total - off;
	if (!(rx->flags & SDR_REL_R_MULTI)) {
		sdr_list_del(&rx->link);
		return 0;
	}
	rx->refs++;
	if (sdr_rx_retires(rx, len)) {
		rx->retired = true;
		sdr_list_del(&rx->link);
	}
	rx->off += len < *room ? len : *room;
	return off;
}

void sdr_rx_truncated(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f,
		      uint64_t off)
{
	if (f->flags & SDR_REC_F_BULK)
		sdr_bulk_rx_skip(c, f, f->len);
	sdr_done_send(c, f->id, SDR_REL_ERR_TRUNC);
	sdr_rx_report(c->rel, rx, c->peer, f, off, 0, SDR_REL_ERR_TRUNC);
}

/* Bulk into a receive: now when msn is known, else CTS asks for it. */
void sdr_rx_bulk(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f, uint64_t off,
		 bool expected, bool has_msn)
{
	uint8_t *to = rx->niov ? (uint8_t *)rx->iov[0].buf + off : NULL;
	struct sdr_bulk_rx *b = NULL;
	int err = SDR_REL_ERR_NOMEM;

	if (rx->niov > 1)
		to = rx->bounce = malloc(f->len);
	if (to)
		err = sdr_bulk_rx_new(c, f->op, f->id, to, f->len, sdr_match_done, &b);
	if (!b) {
		if (has_msn)
			sdr_bulk_rx_skip(c, f, f->len);
		sdr_done_send(c, f->id, err);
		sdr_rx_report(c->rel, rx, c->peer, f, off, 0, err);
		return;
	}
	b->rx = rx;
	b->rx_off = off;
	b->tag = f->tag;
	b->data = f->data;
	b->has_data = f->flags & SDR_REC_F_DATA;
	b->delivery = f->flags & SDR_REC_F_DELIVERY;
	if (!has_msn) {
		if (!sdr_bulk_rx_cts(b, expected))
			return;
	} else if ((err = sdr_bulk_rx_start(b, f))) {
		sdr_bulk_rx_abort(b);
		sdr_done_send(c, f->id, err);
		sdr_rx_report(c->rel, rx, c->peer, f, off, 0, err);
		return;
	}
	sdr_conn_kick(c);
}

void sdr_rx_deliver(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f)
{
	uint64_t len = sdr_msg_len(f), room, off = sdr_rx_take(rx, len, &room);

	if (f->flags & SDR_REC_F_LEN) {
		if (len > room)
			sdr_rx_truncated(c, rx, f, off);
		else
			sdr_rx_bulk(c, rx, f, off, true, f->flags & SDR_REC_F_BULK);
		return;
	}
	sdr_rx_fill(rx, off, f->payload, len < room ? len : room);
	if (f->flags & SDR_REC_F_DELIVERY)
		sdr_done_send(c, f->id, SDR_REL_OK);
	sdr_rx_report(c->rel, rx, c->peer, f, off, len < room ? len : room,
		      len > room ? SDR_REL_ERR_TRUNC : SDR_REL_OK);
}

/* ---- from the caller ------------------------------------------------------------------------- */

static void recv_peek(struct sdr_rel *rel, const struct sdr_rel_rr *rr, struct sdr_rx *probe)
{
	struct sdr_unexp *u = sdr_unexp_find(rel, probe, false, NULL);
	struct sdr_rel_cqe e = { .kind = rr->kind, .ctx = rr->ctx, .uflags = rr->uflags };

	if (!u) {
		e.err = -ENOMSG;
		e.prov_err = SDR_REL_ERR_NOMSG;
	} else {
		e.len = sdr_msg_len(&u->f);
		e.tag = u->f.tag;
		e.data = u->f.data;
		e.has_data = u->f.flags & SDR_REC_F_DATA;
		e.peer = u->peer;
		if (rr->flags & SDR_REL_R_CLAIM) {
			u->claimed = true;
			u->claim_ctx = rr->ctx;
		}
	}
	rel->cbs->done(rel->user, &e);
	if (u && (rr->flags & SDR_REL_R_DISCARD))
		sdr_unexp_drop(rel, u); /* and perhaps its peer */
}

static void recv_claimed(struct sdr_rel *rel, const struct sdr_rel_rr *rr, struct sdr_rx *rx)
{
	struct sdr_unexp *u = sdr_unexp_find(rel, rx, true, rr->ctx);
	struct sdr_rel_cqe e = { .kind = rr->kind, .ctx = rr->ctx, .uflags = rr->uflags };

	if (u && !(rr->flags & SDR_REL_R_DISCARD)) {
		sdr_unexp_deliver(rel, u, rx);
		return;
	}
	if (u) {
		e.len = sdr_msg_len(&u->f);
		e.tag = u->f.tag;
		e.peer = u->peer;
	} else {
		e.err = -ENOMSG;
		e.prov_err = SDR_REL_ERR_NOMSG;
	}
	rel->cbs->done(rel->user, &e);
	if (u)
		sdr_unexp_drop(rel, u);
	sdr_rx_free(rel, rx);
}

int sdr_rel_recv(struct sdr_rel *rel, const struct sdr_rel_rr *rr)
{
	struct sdr_unexp *u;
	struct sdr_rx *rx;
	int k = rr->kind == SDR_REL_TRECV;

	if (rr->niov > SDR_REL_IOV_MAX || (rr->kind != SDR_REL_RECV && rr->kind != SDR_REL_TRECV))
		return -EINVAL;
	if ((rr->flags & SDR_REL_R_MULTI) &&
	    (rr->niov != 1 || (rr->flags & (SDR_REL_R_PEEK | SDR_REL_R_CLAIM))))
		return -EINVAL;
	if (rel->msg->nrx >= rel->cfg.rx_depth)
		return -EAGAIN;
	if (rel->failed || rel->closing)
		return -EIO;
	rel->now = rel->uc->ops->now(rel->uc);
	rx = sdr_slab_alloc(&rel->msg->rx_pool);
	if (!rx)
		return -ENOMEM;
	rel->msg->nrx++;
	sdr_list_init(&rx->link);
	rx->kind = rr->kind;
	rx->niov = rr->niov;
	rx->flags = rr->flags;
	rx->peer = rr->peer;
	if (rx->peer)
		sdr_peer_name(rx->peer);
	rx->tag = k ? rr->tag : 0;
	rx->ignore = k ? rr->ignore : UINT64_MAX;
	rx->min_multi = rr->min_multi ? rr->min_multi : 1;
	rx->ctx = rr->ctx;
	rx->uflags = rr->uflags;
	for (int i = 0; i < rr->niov; i++) {
		rx->iov[i] = rr->iov[i];
		rx->total += rr->iov[i].len;
	}
	if (rr->flags & SDR_REL_R_PEEK) {
		recv_peek(rel, rr, rx);
		sdr_rx_free(rel, rx);
		return 0;
	}
	if (rr->flags & SDR_REL_R_CLAIM) {
		recv_claimed(rel, rr, rx);
		return 0;
	}
	if (rr->flags & SDR_REL_R_MULTI) {
		sdr_list_add_tail(&rx->link, &rel->msg->posted[k]);
		while ((u = sdr_unexp_find(rel, rx, false, NULL))) {
			bool last = sdr_rx_retires(rx, sdr_msg_len(&u->f));

			sdr_unexp_deliver(rel, u, rx);
			if (last)
				break; /* rx may be gone */
		}
		return 0;
	}
	u = sdr_list_empty(&rel->msg->unexp[k]) ? NULL : sdr_unexp_find(rel, rx, false, NULL);
	if (u)
		sdr_unexp_deliver(rel, u, rx);
	else
		sdr_list_add_tail(&rx->link, &rel->msg->posted[k]);
	return 0;
}

void sdr_rx_cancel(struct sdr_rel *rel, struct sdr_rx *rx)
{
	struct sdr_rel_cqe e = {
		.kind = rx->kind,
		.err = -ECANCELED,
		.prov_err = SDR_REL_ERR_CANCELED,
		.ctx = rx->ctx,
		.uflags = rx->uflags,
	};

	sdr_list_del(&rx->link);
	if (rx->flags & SDR_REL_R_MULTI) {
		rx->retired = rx->canceled = true;
		if (rx->refs)
			return; /* released, and reported, with the last transfer into it */
		e.multi_last = e.multi_only = true;
	}
	rel->cbs->done(rel->user, &e);
	sdr_rx_free(rel, rx);
}

int sdr_rel_cancel(struct sdr_rel *rel, void *ctx)
{
	struct sdr_list *l;

	for (int k = 0; k < 2; k++) {
		sdr_list_each(l, &rel->msg->posted[k]) {
			struct sdr_rx *rx = sdr_container(l, struct sdr_rx, link);

			if (rx->ctx == ctx) {
				sdr_rx_cancel(rel, rx);
				return 0;
			}
		}
	}
	return -ENOENT;
}
