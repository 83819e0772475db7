/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A look at what has come of a receive, or of a read, before it is complete.
 *
 * Bytes of a bulk land where they belong, packet by packet, in any order; which of them are there
 * is known from the bitmaps of the transfer's messages: those that are over are whole (however
 * their bytes came, parity included), those that are open have a bit for each packet, those that
 * are not bound have nothing.  From that come the runs of bytes that are in place, in the order in
 * which they lie; neighbours are put together, and a bit of the caller is set when a run has all of
 * its unit.  So the unit is the caller's own, of any size.
 *
 * What is in place stays so, with these bytes, up to the report: a packet that comes twice brings
 * the same.  Bytes that go by way of other memory (a message that met no receive when it came,
 * buffers in several pieces, a device's memory) are not in place before the report, and a small
 * message is in place and reported at once: of these there is nothing to see.
 *
 * For the caller's calls, between rounds; nothing is changed.  A call costs a walk over the
 * transfers that are under way, and one over the bits of the one that is meant.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_units.h"
#include "rel/bulk/sdr_seg_rx.h"
#include "sdr_op.h"
#include "sdr_recv_entry.h"
#include "sdr_unexp.h"
#include "sdr_view.h"

/* ---- transfers ------------------------------------------------------------------------------- */

/* What has come of b, whose first byte is number `at`. */
static void view_add(struct sdr_units *u, const struct sdr_bulk_rx *b, uint64_t at)
{
	const struct sdr_list *l = b->segs.next;
	const struct sdr_rcv_state *st;
	struct sdr_plan_msg m;

	for (uint32_t i = 0; i < b->bound; i++) {
		const struct sdr_seg_rx *s =
			l == &b->segs ? NULL : sdr_container(l, struct sdr_seg_rx, link);

		if (s && s->msn == b->msn + i)
			l = l->next;
		else
			s = NULL;
		sdr_plan_msg(&b->plan, i, &m);
		if (m.parity)
			continue;
		st = s ? sdr_recv_state(s->h) : NULL;
		if (st)
			sdr_units_packets(u, st->pkt_bits, st->npkts, b->shape->mtu, at + m.off,
					  m.len);
		else
			sdr_units_add(u, at + m.off, at + m.off + m.len);
	}
	SDR_ASSERT(l == &b->segs);
}

static void view_fill(struct sdr_rel_view *v, const struct sdr_bulk_rx *b)
{
	uint32_t mtu = b->has_msn ? b->shape->mtu : b->conn->shape->mtu;
	struct sdr_units u = { .len = b->len,
			       .unit = v->unit ? v->unit : mtu,
			       .first = v->first,
			       .bits = v->bits,
			       .words = v->words };

	if (v->bits)
		memset(v->bits, 0, v->words * sizeof(*v->bits));
	if (b->head)
		view_add(&u, b->head, 0);
	else if (b->head_len)
		sdr_units_add(&u, 0, b->head_len);
	if (b->has_msn)
		view_add(&u, b, b->head_len);
	sdr_units_end(&u);
	v->unit = u.unit;
	v->buf = b->buf;
	v->len = b->len;
	v->nbits = sdr_units_count(&u);
	v->got = u.got;
	v->front = u.front;
}

/* elsewhere: not into what the caller posted. */
static int view_bulk(struct sdr_rel_view *v, struct sdr_bulk_rx *b, bool elsewhere)
{
	if (elsewhere || b->mem)
		return -ENODATA;
	if (!b->has_msn && !b->head_len) /* announced: it has not begun */
		return -EAGAIN;
	if ((b->berth && !sdr_seg_rx_settle(b)) || (b->head && !sdr_seg_rx_settle(b->head)))
		return -ENODATA;
	view_fill(v, b);
	return 0;
}

struct look {
	sdr_view_is is;
	const void *arg;
	uint32_t nth;
	bool found; /* the answer is known */
};

/* This context, as often as it takes? */
static bool look_is(struct look *k, const void *ctx, uint64_t uflags)
{
	if (k->found || !k->is(k->arg, ctx, uflags))
		return false;
	k->found = !k->nth;
	k->nth -= k->nth > 0;
	return k->found;
}

static int view_transfers(struct sdr_conn *c, struct look *k, struct sdr_rel_view *v)
{
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->rx.brx) {
		struct sdr_bulk_rx *b = sdr_container(l, struct sdr_bulk_rx, link);
		const struct sdr_rxe *rx = b->unexp ? b->unexp->rx : b->rx;

		if (!rx || !look_is(k, rx->ctx, rx->uflags))
			continue;
		v->kind = rx->kind;
		v->tag = b->tag;
		v->peer = c->peer;
		return view_bulk(v, b, b->unexp || rx->bounce);
	}
	return -ENOENT;
}

static int view_reads(struct sdr_conn *c, const struct sdr_list *ops, struct look *k,
		      struct sdr_rel_view *v)
{
	const struct sdr_list *l;

	for (l = ops->next; l != ops; l = l->next) {
		const struct sdr_op *op = sdr_container(l, struct sdr_op, link);

		if (op->kind->number != SDR_REL_READ || op->done ||
		    !look_is(k, op->ctx, op->uflags))
			continue;
		v->kind = SDR_REL_READ;
		v->peer = c->peer;
		return op->brx ? view_bulk(v, op->brx, op->copy) : -EAGAIN;
	}
	return -ENOENT;
}

static int view_posted(struct sdr_rel *rel, struct look *k)
{
	struct sdr_list *l;

	for (int i = 0; i < 2; i++) {
		sdr_list_each(l, &rel->msg->posted[i]) {
			const struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

			if (look_is(k, rx->ctx, rx->uflags))
				return -EAGAIN;
		}
	}
	return -ENOENT;
}

int sdr_rel_view(struct sdr_rel *rel, sdr_view_is is, const void *arg, struct sdr_rel_view *v)
{
	struct look k = { .is = is, .arg = arg, .nth = v->nth };
	struct sdr_list *l;
	int ret = -ENOENT;

	SDR_ASSERT(!(v->first % 64) && (!v->words || v->bits));
	sdr_list_each(l, &rel->conn_list) {
		struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);

		ret = view_transfers(c, &k, v);
		if (!k.found)
			ret = view_reads(c, &c->msg->ops, &k, v);
		if (!k.found)
			ret = view_reads(c, &c->msg->deferred, &k, v);
		if (k.found)
			return ret;
	}
	return view_posted(rel, &k);
}
