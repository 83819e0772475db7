/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations that keep their order: the initiator's side.
 *
 * The endpoint's setting says which classes of operations follow which (sdr_orders.h); a kind's row
 * says of which classes it is.  One that others may have to follow leads: it gets a turn, the next
 * number of the connection, when it starts.  One that must follow another says in its record which
 * turns have to be over before it has its effect, and leaves at once: it is the target that makes
 * it wait (sdr_follow.c).  All that lead have one row of turns, so that an order which was asked
 * for between some classes holds between all that lead and all that follow.
 *
 * The bytes of a bulk write are placed as they come.  It leads, but does not follow, unless it
 * reaches bytes that an earlier operation under way reaches under the same key: then it is only
 * announced, and its data leave when the target has given it its turn (CTS).  The same holds for a
 * bulk message behind anything that is bulk: its data would come too early to be of use, and be
 * repeated until its turn comes, beside the repairs of what it waits for.
 *
 * A sender is at most SDR_REC_TURNS ahead of the oldest that has not ended.  To a peer that does
 * not know turns, what must follow starts when nothing that leads is under way: a round trip.
 *
 * No timers, no memory of its own.  Invariant: leads holds, in order, the operations of `ops` that
 * lead and have not ended.
 */
#include "base/sdr_assert.h"
#include "sdr_op.h"

/* Classes that one of these classes must follow. */
static uint32_t order_after(const struct sdr_orders *o, uint32_t classes)
{
	uint32_t after = 0;

	for (uint32_t i = 0; i < SDR_ORDER_CLASSES; i++)
		if (classes & SDR_ORDER_BIT(i))
			after |= o->after[i];
	return after;
}

uint32_t sdr_order_leads(const struct sdr_orders *o)
{
	return order_after(o, ~0u);
}

static bool op_leads(const struct sdr_op *op)
{
	return op->peer->rel->msg->leads & op->kind->classes;
}

static bool op_follows(const struct sdr_op *op)
{
	return order_after(&op->peer->rel->cfg.orders, op->kind->classes);
}

static bool order_in_force(const struct sdr_conn *c)
{
	return c->hs.features & SDR_FEATURE_ORDER;
}

static const struct sdr_op *lead_of(const struct sdr_list *l)
{
	return sdr_container(l, struct sdr_op, lead);
}

bool sdr_order_holds(const struct sdr_conn *c, const struct sdr_op *op)
{
	const struct sdr_order *o = &c->msg->order;

	if (sdr_list_empty(&o->leads))
		return false;
	if (!order_in_force(c))
		return op_follows(op);
	return op_leads(op) && o->next - lead_of(o->leads.next)->rec.f.turn >= SDR_REC_TURNS;
}

void sdr_order_start(struct sdr_op *op, bool placed)
{
	struct sdr_conn *c = op->conn;
	struct sdr_order *o = &c->msg->order;
	struct sdr_frame_rec *f = &op->rec.f;
	bool leads = op_leads(op);

	if (!c->rel->msg->leads)
		return;
	SDR_ASSERT(!sdr_order_holds(c, op) && sdr_list_empty(&op->lead));
	if (order_in_force(c)) {
		f->turn = o->next;
		if (!placed && op_follows(op) && !sdr_list_empty(&o->leads))
			f->flags |= SDR_REC_F_FOLLOW;
		if (leads) {
			f->flags |= SDR_REC_F_LEAD;
			o->next++;
		}
	}
	if (leads)
		sdr_list_add_tail(&op->lead, &o->leads);
}

bool sdr_order_has_turn(const struct sdr_op *op)
{
	return op->rec.f.flags & SDR_REC_F_LEAD;
}

/* Under the same key: what else a region may overlap with is the target's to know. */
static bool op_meets(const struct sdr_op *x, const struct sdr_op *y)
{
	return x->rma_key == y->rma_key &&
	       (x->rma_addr - y->rma_addr < y->reach || y->rma_addr - x->rma_addr < x->reach);
}

bool sdr_order_overlaps(const struct sdr_op *op)
{
	uint32_t after = order_after(&op->peer->rel->cfg.orders, op->kind->classes);
	const struct sdr_list *l;

	if (!after || !order_in_force(op->conn))
		return false;
	sdr_list_each(l, &op->conn->msg->order.leads)
		if ((lead_of(l)->kind->classes & after) && op_meets(lead_of(l), op))
			return true;
	return false;
}

bool sdr_order_behind_bulk(const struct sdr_op *op)
{
	const struct sdr_list *l;

	if (!op_follows(op) || !order_in_force(op->conn))
		return false;
	sdr_list_each(l, &op->conn->msg->order.leads)
		if (!sdr_op_fits(op->conn, lead_of(l)->len))
			return true;
	return false;
}
