/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bulk of an operation on its way out: where it goes to at an rkeyed peer, how it is planned,
 * and in which record its numbers travel.
 *
 * What was announced before gets its numbers in a BIND.  To an rkeyed peer the bytes go to a berth,
 * if they did not wait for a key, else to where the CTS has said; their parity to a berth in either
 * case.  Of what is longer than the berth the head goes there, a transfer of its own, and the rest
 * waits for the CTS.  A berth that was not named in a record that left is for others.  No state, no
 * timers.
 */
#include "rel/bulk/sdr_policy.h"
#include "rel/bulk/sdr_scheme.h"
#include "sdr_op.h"

void sdr_op_bulk_abort(struct sdr_op *op)
{
	if (op->head)
		sdr_bulk_tx_abort(op->head);
	if (op->btx)
		sdr_bulk_tx_abort(op->btx);
	op->head = op->btx = NULL;
}

/*
 * Whether a CTS would be waited for: what has not left yet takes less than half of the round trip
 * that the CTS needs.  Else a head saves nothing, and its rest would leave behind what is posted
 * after it.
 */
static bool op_waits_for_cts(const struct sdr_conn *c)
{
	double trip = sdr_path_rate(&c->main) * (double)c->main.rtt.srtt / 1e9;

	return (double)sdr_bulk_tx_unsent(c) < trip / 2;
}

bool sdr_op_berth(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;

	op->berth = sdr_berth_key_take(c, op->len);
	if (!op->berth && (c->hs.features & SDR_FEATURE_HEAD) && op_waits_for_cts(c))
		op->berth = sdr_berth_key_take(c, SDR_BERTH_MIN);
	if (!op->berth)
		return false;
	op->rkeyed = true;
	op->va = op->berth->va;
	op->rkey = op->berth->rkey;
	return true;
}

void sdr_op_berth_leave(struct sdr_op *op)
{
	if (!op->berth)
		return;
	if (op->berth_named && op->rec.sent)
		sdr_berth_key_free(op->conn->rel, op->berth);
	else
		sdr_berth_key_back(op->conn, op->berth);
	op->berth = NULL;
	op->berth_named = false;
}

/* Its bytes go to the berth, not only their parity: it did not wait for a key. */
static bool op_ahead(const struct sdr_op *op)
{
	return op->berth && !op->rec.sent && !op->kind->served;
}

/* To a berth of its own: all of it, or its head. */
static int op_plan_ahead(struct sdr_op *op, struct sdr_plan *plan)
{
	uint64_t room = op->berth->len;
	int err;

	if (op->len <= room)
		return sdr_policy_plan_berth(op->conn, op->len, room, true, plan);
	err = sdr_policy_plan_head(op->conn, op->len, room, plan);
	op->head_len = err ? 0 : plan->len;
	return err;
}

/* Of what begins now. */
static int op_plan(struct sdr_op *op, struct sdr_plan *plan)
{
	struct sdr_conn *c = op->conn;
	int err;

	if (!sdr_qp_peer_rkeyed(c->shape->qp))
		return sdr_policy_plan(c, op->len, plan);
	if (op_ahead(op))
		return op_plan_ahead(op, plan);
	sdr_op_berth_leave(op); /* of its head, or it was parked and has lost it */
	if (c->bulk->scheme->plan)
		op->berth = sdr_berth_key_take(c, SDR_BERTH_MIN);
	err = sdr_policy_plan_berth(c, op->len - op->head_len, op->berth ? op->berth->len : 0,
				    false, plan);
	if (err || !plan->code.kind)
		sdr_op_berth_leave(op);
	return err;
}

struct sdr_bulk_tx *sdr_op_bulk_of(const struct sdr_op *op, const struct sdr_rec *r)
{
	if (!(r->f.flags & SDR_REC_F_BULK))
		return NULL;
	return r->f.flags & SDR_REC_F_HEAD ? op->head : op->btx;
}

/* The record says how its bytes come. */
static void op_bulk_say(struct sdr_op *op, struct sdr_rec *r, struct sdr_bulk_tx *b)
{
	const struct sdr_plan *plan = &b->plan;

	r->f.flags |= SDR_REC_F_BULK;
	r->f.msn = b->msn;
	if (plan->code.kind) {
		r->f.flags |= SDR_REC_F_CODE;
		r->f.code = plan->code;
	}
	if (b == op->head) {
		r->f.flags |= SDR_REC_F_HEAD;
		r->f.head = op->head_len;
		op->waiting = true;
	}
	if (!op->berth)
		return;
	r->f.flags |= SDR_REC_F_BERTH;
	r->f.berth = op->berth->id;
	b->par_va = op->berth->va + plan->par_at;
	b->par_rkey = op->berth->rkey;
	op->berth_named = true;
	op->conn->st.berths_tx += op_ahead(op);
}

int sdr_op_bulk_start(struct sdr_op *op, const struct sdr_op_bulk_done *done)
{
	struct sdr_conn *c = op->conn;
	struct sdr_rec *r = &op->rec, *bind = NULL;
	const struct sdr_mem *mem;
	const uint8_t *base;
	struct sdr_bulk_tx *b;
	struct sdr_plan plan;
	int err = sdr_op_base(op, &base, &mem);
	bool head;

	if (!err)
		err = op_plan(op, &plan);
	if (err)
		return err;
	head = op->head_len && !r->sent;
	if (r->sent) { /* announced before, CTS came: the numbers travel in a BIND */
		r = bind = sdr_rec_new(c, SDR_REC_BIND, op->id);
		base += op->head_len;
	}
	b = r ? sdr_bulk_tx_new(c, base, plan.len, &plan) : NULL;
	if (!b) {
		if (bind)
			sdr_rec_free(c, bind);
		return SDR_REL_ERR_NOMEM;
	}
	*(head ? &op->head : &op->btx) = b;
	b->op = op;
	b->mem = mem;
	b->done = head ? done->head : done->btx;
	b->rkeyed = op->rkeyed;
	b->va = op->va;
	b->rkey = op->rkey;
	if (bind) {
		r->op = op;
		r->f.len = plan.len;
		r->f.flags = SDR_REC_F_LEN;
		op->bind = r;
	}
	op_bulk_say(op, r, b);
	sdr_rec_queue(c, r);
	return SDR_REL_OK;
}
