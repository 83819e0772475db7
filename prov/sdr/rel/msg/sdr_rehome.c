/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A connection goes over to another peer, which its own turned out to be (conn/sdr_alias.c).
 *
 * With it go its operations, the messages that came through it and were not received, and the
 * receives that are directed at the address where it was seen.  Messages keep their order; then
 * the receives that are directed at the peer, in theirs, look once at what has become its.  What
 * another connection of the old peer's has left under way stays there and ends with that.  No
 * state.
 */
#include "base/sdr_assert.h"
#include "sdr_deliver.h"
#include "sdr_match.h"
#include "sdr_op.h"
#include "sdr_rehome.h"

void sdr_rehome_held(struct sdr_conn *from, struct sdr_conn *to)
{
	struct sdr_list *l;

	SDR_ASSERT(sdr_list_empty(&from->msg->ops) && !from->credit.nserve);
	while ((l = sdr_list_pop(&from->msg->deferred))) {
		struct sdr_op *op = sdr_container(l, struct sdr_op, link);

		SDR_ASSERT(op->conn == from && !op->rec.sent);
		op->conn = to;
		from->msg->nown--;
		to->msg->nown++;
		sdr_list_add_tail(&op->link, &to->msg->deferred);
	}
}

static void rehome_ops(struct sdr_list *ops, struct sdr_peer *to)
{
	struct sdr_list *l;

	sdr_list_each(l, ops)
		sdr_container(l, struct sdr_op, link)->peer = to;
}

static void rehome_unexp(struct sdr_unexp *u, struct sdr_peer *to)
{
	uint64_t bytes = u->f.payload_len + sizeof(*u);

	SDR_ASSERT(u->peer->nunexp && u->peer->unexp_bytes >= bytes);
	sdr_rel_step(to->rel);
	u->peer->nunexp--;
	u->peer->unexp_bytes -= bytes;
	u->peer = to;
	to->nunexp++;
	to->unexp_bytes += bytes;
}

/* Kept, before its turn, or on its way to a receive already. */
static void rehome_messages(struct sdr_conn *c, struct sdr_peer *from)
{
	struct sdr_list *l, *tmp;

	sdr_list_each_safe(l, tmp, &from->unexp) {
		struct sdr_unexp *u = sdr_container(l, struct sdr_unexp, of_peer);

		if (u->conn && u->conn != c)
			continue;
		rehome_unexp(u, c->peer);
		sdr_list_del(l);
		sdr_list_add_tail(l, &c->peer->unexp);
	}
	for (uint32_t i = 0; i < c->msg->early.cap; i++)
		if (c->msg->early.slot[i])
			rehome_unexp(c->msg->early.slot[i], c->peer);
	sdr_list_each(l, &c->bulk->rx.brx) {
		struct sdr_unexp *u = sdr_container(l, struct sdr_bulk_rx, link)->unexp;

		if (u && u->peer == from)
			rehome_unexp(u, c->peer);
	}
}

/* A receive that is directed at the peer meets what has become the peer's. */
static void rehome_meet(struct sdr_rel *rel, struct sdr_rxe *rx)
{
	struct sdr_unexp *u;

	while ((u = sdr_unexp_find(rel, rx, false, NULL))) {
		bool last =
			!(rx->flags & SDR_REL_R_MULTI) || sdr_rxe_retires(rx, sdr_msg_len(&u->f));

		sdr_unexp_deliver(rel, u, rx);
		if (last)
			return; /* rx may be gone */
	}
}

void sdr_rehome(struct sdr_conn *c, struct sdr_peer *from)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_list *l, *tmp;

	rehome_ops(&c->msg->ops, c->peer);
	rehome_ops(&c->msg->deferred, c->peer);
	rehome_messages(c, from);
	for (int k = 0; k < 2; k++) {
		sdr_list_each_safe(l, tmp, &rel->msg->posted[k]) {
			struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

			sdr_rel_step(rel);
			if (rx->peer == from) {
				rx->peer = c->peer;
				sdr_peer_name(c->peer);
				sdr_peer_unname(from);
			}
			if (rx->peer == c->peer)
				rehome_meet(rel, rx);
		}
	}
	if (rel->msg->matcher->renamed)
		rel->msg->matcher->renamed(rel);
}
