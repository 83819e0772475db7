/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages that meet no receive, and those that come before their turn.  Inline bytes are kept, and
 * count against the peer's credit; a bulk of up to SDR_REL_UNEXP_BULK bytes lands in a bounce
 * buffer; a larger one, and any for which there is no room, is parked: its data land nowhere, the
 * sender stops and waits for CTS.  What was only announced (always so when our engine is rkeyed,
 * but for what comes to a berth) waits without any memory but its entry.  What is complete stays
 * receivable after its connection is gone.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_match.h"
#include "sdr_unexp.h"

void sdr_unexp_charge(struct sdr_unexp *u, uint64_t bytes)
{
	u->charged += bytes;
	u->peer->rel->unexp_bytes += bytes;
}

/* No receive finds it any more. */
void sdr_unexp_unlist(struct sdr_unexp *u)
{
	sdr_list_del(&u->link);
	sdr_list_del(&u->of_peer);
}

void sdr_unexp_free(struct sdr_rel *rel, struct sdr_unexp *u)
{
	struct sdr_peer *peer = u->peer;

	SDR_ASSERT(rel->unexp_bytes >= u->charged && rel->nunexp_strangers >= u->stranger);
	SDR_ASSERT(peer->nunexp && peer->unexp_bytes >= u->f.payload_len + sizeof(*u));
	rel->unexp_bytes -= u->charged;
	rel->nunexp_strangers -= u->stranger;
	peer->unexp_bytes -= u->f.payload_len + sizeof(*u);
	peer->nunexp--;
	if (u->conn)
		sdr_conn_kick(u->conn); /* credit may move */
	sdr_unexp_unlist(u);
	if (u->f.flags & SDR_REC_F_LEN)
		sdr_scratch_put(&rel->msg->bounce, u->payload, u->f.len);
	else
		free(u->payload);
	sdr_slab_free(&rel->msg->unexp_pool, u);
	sdr_peer_release(peer);
}

void sdr_unexp_end(struct sdr_rel *rel, struct sdr_unexp *u, int err)
{
	SDR_ASSERT(err && !u->complete && !u->brx);
	if (!u->mark) {
		sdr_unexp_free(rel, u);
		return;
	}
	u->conn = NULL;
	u->err = err;
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
	sdr_unexp_charge(u, f->payload_len + sizeof(*u));
	u->peer->unexp_bytes += f->payload_len + sizeof(*u);
	u->peer->nunexp++;
	return u;
}

static bool unexp_suits(const struct sdr_unexp *u, const struct sdr_rxe *rx, bool claimed,
			const void *ctx)
{
	return claimed ? u->claimed && u->claim_ctx == ctx
		       : !u->claimed && sdr_rxe_matches(rx, u->peer, u->f.tag);
}

struct sdr_unexp *sdr_unexp_find(struct sdr_rel *rel, const struct sdr_rxe *rx, bool claimed,
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
