/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bulk of an operation on its way out: where it goes to at an rkeyed peer, how it is planned,
 * and in which record its numbers travel.
 *
 * What was announced before gets its numbers in a BIND.  To an rkeyed peer the bytes go to a berth,
 * if they did not wait for a key, else to where the CTS has said; their parity to a berth in either
 * case.  One that was not named in a record that left is for others.  No state, no timers.
 */
#include "rel/bulk/sdr_policy.h"
#include "rel/bulk/sdr_scheme.h"
#include "sdr_op.h"

void sdr_op_bulk_abort(struct sdr_op *op)
{
	if (op->btx)
		sdr_bulk_tx_abort(op->btx);
	op->btx = NULL;
}

bool sdr_op_berth(struct sdr_op *op)
{
	op->berth = sdr_berth_key_take(op->conn, op->len);
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

static int op_plan(struct sdr_op *op, struct sdr_plan *plan)
{
	struct sdr_conn *c = op->conn;
	int err;

	if (!sdr_qp_peer_rkeyed(c->shape->qp))
		return sdr_policy_plan(c, op->len, plan);
	if (!op_ahead(op)) { /* one that was parked has lost its own */
		sdr_op_berth_leave(op);
		if (c->bulk->scheme->plan)
			op->berth = sdr_berth_key_take(c, SDR_BERTH_MIN);
	}
	err = sdr_policy_plan_berth(c, op->len, op->berth ? op->berth->len : 0, op_ahead(op), plan);
	if (!op_ahead(op) && (err || !plan->code.kind))
		sdr_op_berth_leave(op);
	return err;
}

int sdr_op_bulk_start(struct sdr_op *op, void (*done)(struct sdr_op *op))
{
	struct sdr_conn *c = op->conn;
	struct sdr_rec *r = &op->rec, *bind = NULL;
	const struct sdr_mem *mem;
	const uint8_t *base;
	struct sdr_plan plan;
	int err = sdr_op_base(op, &base, &mem);

	if (!err)
		err = op_plan(op, &plan);
	if (err)
		return err;
	if (r->sent) /* announced before, CTS came: the numbers travel in a BIND */
		r = bind = sdr_rec_new(c, SDR_REC_BIND, op->id);
	op->btx = r ? sdr_bulk_tx_new(c, base, op->len, &plan) : NULL;
	if (!op->btx) {
		if (bind)
			sdr_rec_free(c, bind);
		return SDR_REL_ERR_NOMEM;
	}
	op->btx->op = op;
	op->btx->mem = mem;
	op->btx->done = done;
	op->btx->rkeyed = op->rkeyed;
	op->btx->va = op->va;
	op->btx->rkey = op->rkey;
	if (bind) {
		r->op = op;
		r->f.len = op->len;
		r->f.flags = SDR_REC_F_LEN;
		op->bind = r;
	}
	r->f.flags |= SDR_REC_F_BULK;
	r->f.msn = op->btx->msn;
	if (plan.code.kind) {
		r->f.flags |= SDR_REC_F_CODE;
		r->f.code = plan.code;
	}
	if (op->berth) {
		r->f.flags |= SDR_REC_F_BERTH;
		r->f.berth = op->berth->id;
		op->btx->par_va = op->berth->va + plan.par_at;
		op->btx->par_rkey = op->berth->rkey;
		op->berth_named = true;
		c->st.berths_tx += op_ahead(op);
	}
	sdr_rec_queue(c, r);
	return SDR_REL_OK;
}
