/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations that come to nothing on this side: cancelled, or without what it takes to send them.
 *
 * Most end where they are.  One whose record has a place that others wait behind, as a message or
 * by its turn, is reported at once and stays until its record has arrived: void, if it had not
 * left, else as it was.  Of a bulk that was announced, and is awaited, the peer is told that it
 * will not come.  No state of its own.
 */
#include <errno.h>
#include "base/sdr_assert.h"
#include "sdr_op.h"
#include "sdr_op_void.h"

/* flags of a record that stay when it becomes void */
#define OP_VOID_KEEPS (SDR_REC_F_ORDER | SDR_REC_F_TAG | SDR_REC_F_RMA | SDR_REC_F_LEAD)

void sdr_op_landing_abort(struct sdr_op *op)
{
	if (!op->brx)
		return;
	op->brx->read = NULL;
	sdr_bulk_rx_abort(op->brx);
	op->brx = NULL;
}

/* An answer or a BIND in place of what was to come.  False: the connection failed. */
static bool op_tell(struct sdr_op *op, int err)
{
	bool sent = op->rec.sent;
	struct sdr_rec *r = sdr_rec_new(op->conn, sent ? SDR_REC_BIND : op->kind->rec, op->wire_id);

	if (!r) {
		sdr_conn_fail(op->conn, SDR_REL_ERR_NOMEM); /* ends the operation too */
		return false;
	}
	r->f.flags = SDR_REC_F_STATUS | (sent ? SDR_REC_F_BULK | SDR_REC_F_LEN : 0);
	r->f.len = op->len;
	r->f.status = err;
	sdr_rec_queue(op->conn, r);
	return true;
}

/* Its bytes were announced to be placed as they come, and others follow them. */
static bool op_is_awaited(const struct sdr_op *op)
{
	return sdr_order_has_turn(op) && !op->kind->ordered && !op->kind->asks && op->rec.sent &&
	       (op->rec.f.flags & SDR_REC_F_LEN) && !op->rec.f.payload_len;
}

/* One that came to nothing: what has arrived of it is all that will. */
bool sdr_op_take_back(struct sdr_op *op)
{
	return !op_is_awaited(op) || op_tell(op, SDR_REL_ERR_CANCELED);
}

/* Its record has a place, of a message or by its turn, that others wait behind. */
static bool op_has_place(const struct sdr_op *op)
{
	return (op->kind->ordered || sdr_order_has_turn(op)) && !op->rec.acked;
}

/*
 * One with a place comes to nothing here.  The place is taken: without its record everything behind
 * it would wait for ever.  A record that has not left becomes void: it keeps the place and has no
 * effect.  One that has left stays as it is, with bytes of its own, as those of the caller are his
 * again.
 */
static void op_void(struct sdr_op *op, int err)
{
	struct sdr_rec *r = &op->rec;

	SDR_ASSERT((op_has_place(op) || op_is_awaited(op)) && !sdr_list_empty(&op->link));
	sdr_op_bulk_abort(op);
	sdr_op_landing_abort(op);
	sdr_list_del(&op->credit);
	if (!r->sent) {
		r->f.flags = SDR_REC_F_STATUS | (r->f.flags & OP_VOID_KEEPS);
		op->berth_named = false; /* it is for others */
		r->f.status = err;
		r->f.len = r->f.payload_len = 0;
		if (sdr_list_empty(&r->link))
			sdr_rec_queue(op->conn, r);
	} else if (r->f.payload_len && sdr_op_copy(op)) {
		sdr_conn_fail(op->conn, SDR_REL_ERR_NOMEM);
		return;
	}
	sdr_op_report(op, sdr_rel_errno(err), err);
	op->waiting = false;
	op->voided = true;
	op->data_out = true;
	op->data_in = true;
	sdr_op_advance(op);
}

void sdr_op_cancel(struct sdr_op *op)
{
	if (op_has_place(op) || op_is_awaited(op))
		op_void(op, SDR_REL_ERR_CANCELED);
	else
		sdr_op_end(op, -ECANCELED, SDR_REL_ERR_CANCELED);
}

/*
 * It cannot be sent for a reason that lies here.  The peer does not wait for it: the next message
 * has its turn, who reads gets an answer, and a receive that has met the announcement ends.
 */
void sdr_op_abandon(struct sdr_op *op, int err)
{
	if (op_has_place(op) && !op->rec.sent) {
		op_void(op, err);
		return;
	}
	if ((op->rec.sent || op->kind->served) && !op_tell(op, err))
		return;
	sdr_op_end(op, sdr_rel_errno(err), err);
}
