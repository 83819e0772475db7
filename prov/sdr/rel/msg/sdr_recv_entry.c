/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A receive: posted, filled, reported.  One that takes several messages (MULTI) hands out its
 * buffer piece by piece, leaves the list of posted ones when less than min_multi is left, and is
 * released with its last transfer; any other is released with its one report.  A scattered receive
 * of bulk data goes through a bounce buffer, since a slot is one range of memory.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_match.h"
#include "sdr_recv_entry.h"
#include "sdr_unexp.h"

struct sdr_rxe *sdr_rxe_new(struct sdr_rel *rel)
{
	struct sdr_rxe *rx = sdr_slab_alloc(&rel->msg->rx_pool);

	if (!rx)
		return NULL;
	rel->msg->nrx++;
	sdr_list_init(&rx->link);
	return rx;
}

void sdr_rxe_set(struct sdr_rxe *rx, const struct sdr_rel_rr *rr)
{
	bool tagged = rr->kind == SDR_REL_TRECV;

	SDR_ASSERT(rr->niov <= SDR_REL_IOV_MAX);
	rx->kind = rr->kind;
	rx->niov = rr->niov;
	rx->flags = rr->flags;
	rx->tag = tagged ? rr->tag : 0;
	rx->ignore = tagged ? rr->ignore : UINT64_MAX;
	rx->min_multi = rr->min_multi ? rr->min_multi : 1;
	rx->ctx = rr->ctx;
	rx->uflags = rr->uflags;
	rx->mem = rr->mem;
	for (int i = 0; i < rr->niov; i++) {
		rx->iov[i] = rr->iov[i];
		rx->total += rr->iov[i].len;
	}
}

void sdr_rxe_free(struct sdr_rel *rel, struct sdr_rxe *rx)
{
	struct sdr_peer *peer = rx->peer;

	SDR_ASSERT(rel->msg->nrx && !rx->refs);
	sdr_list_del(&rx->link);
	sdr_scratch_put(&rel->msg->bounce, rx->bounce, rx->bounce_len);
	rel->msg->nrx--;
	sdr_slab_free(&rel->msg->rx_pool, rx);
	if (peer)
		sdr_peer_unname(peer);
}

int sdr_rxe_fill(const struct sdr_rxe *rx, uint64_t off, const uint8_t *p, uint64_t n)
{
	for (int i = 0; i < rx->niov && n; i++) {
		size_t k;

		if (off >= rx->iov[i].len) {
			off -= rx->iov[i].len;
			continue;
		}
		k = rx->iov[i].len - off < n ? rx->iov[i].len - off : n;
		if (sdr_mem_put(rx->mem, (uint8_t *)rx->iov[i].buf + off, p, k))
			return SDR_REL_ERR_MEM;
		p += k;
		n -= k;
		off = 0;
	}
	return SDR_REL_OK;
}

/* The one report of a receive (for MULTI: of one message in it). */
void sdr_rxe_report(struct sdr_rel *rel, struct sdr_rxe *rx, struct sdr_peer *peer,
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
	SDR_ASSERT(sdr_list_empty(&rx->link) || (multi && !rx->retired));
	if (multi) {
		SDR_ASSERT(rx->refs);
		rx->refs--;
		e.multi_last = rx->retired && !rx->refs && !rx->canceled;
	}
	if (peer->conn)
		peer->conn->st.msgs_rx++;
	rel->cbs->done(rel->user, &e);
	rel->activity++;
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
		sdr_rxe_free(rel, rx);
}

/* MULTI: does a message of len leave too little? */
bool sdr_rxe_retires(const struct sdr_rxe *rx, uint64_t len)
{
	uint64_t room = rx->total - rx->off;

	return len >= room || room - len < rx->min_multi;
}

/* Reserves room for a message: offset in the receive; *room bytes are there. */
uint64_t sdr_rxe_take(struct sdr_rxe *rx, uint64_t len, uint64_t *room)
{
	uint64_t off = rx->off;

	SDR_ASSERT(!rx->retired && off <= rx->total);
	*room = rx->total - off;
	if (!(rx->flags & SDR_REL_R_MULTI)) {
		sdr_list_del(&rx->link);
		return 0;
	}
	rx->refs++;
	if (sdr_rxe_retires(rx, len)) {
		rx->retired = true;
		sdr_list_del(&rx->link);
	}
	rx->off += len < *room ? len : *room;
	return off;
}

void sdr_rxe_cancel(struct sdr_rel *rel, struct sdr_rxe *rx)
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
	sdr_rxe_free(rel, rx);
}
