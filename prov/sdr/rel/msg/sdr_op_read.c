/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reads of memory of the peer, and their answers.
 *
 * A read ends when its bytes are here: inside the answer's record, or as bulk, which lands in the
 * buffer when that is one piece, else in a copy.  A keyed engine says with the question where a
 * bulk may be written.  An answer (READ_SERVE) is an operation of the target's that was not
 * posted and that is not reported; it ends when its record is acknowledged and its bulk delivered.
 */
#include <stdlib.h>
#include "sdr_op.h"

/* All bytes of a bulk are here. */
static void read_landed(struct sdr_bulk_rx *b)
{
	struct sdr_op *op = b->read;

	if (!op)
		return;
	op->brx = NULL;
	if (op->niov > 1)
		sdr_op_scatter(op, op->copy, op->len);
	op->data_in = true;
	sdr_op_advance(op);
}

int sdr_op_read_land(struct sdr_op *op)
{
	uint8_t *to;
	int err;

	if (op->niov > 1 && !op->copy)
		op->copy = malloc(op->len);
	to = op->niov > 1 ? op->copy : op->iov[0].buf;
	if (!to)
		return SDR_REL_ERR_NOMEM;
	err = sdr_bulk_rx_new(op->conn, SDR_REC_READ_RSP, op->wire_id, to, op->len, read_landed,
			      &op->brx);
	if (!err)
		op->brx->read = op;
	return err;
}

static int read_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	int err;

	f->addr = op->rma_addr;
	f->key = op->rma_key;
	f->flags |= SDR_REC_F_RMA;
	if (fits || !sdr_qp_keyed(op->conn->shape.qp))
		return SDR_REL_OK;
	err = sdr_op_read_land(op);
	if (err)
		return err;
	f->flags |= SDR_REC_F_KEY;
	f->va = op->brx->grant.va;
	f->rkey = op->brx->grant.rkey;
	return SDR_REL_OK;
}

static bool read_complete(const struct sdr_op *op)
{
	return op->data_in;
}

const struct sdr_op_kind sdr_op_read = {
	.name = "read",
	.number = SDR_REL_READ,
	.rec = SDR_REC_READ,
	.asks = true,
	.fill = read_fill,
	.complete = read_complete,
};

/* ---- the answer ------------------------------------------------------------------------------ */

static bool serve_complete(const struct sdr_op *op)
{
	return op->rec.acked && op->data_out && !op->waiting;
}

const struct sdr_op_kind sdr_op_read_serve = {
	.name = "read_serve",
	.rec = SDR_REC_READ_RSP,
	.served = true,
	.complete = serve_complete,
};
