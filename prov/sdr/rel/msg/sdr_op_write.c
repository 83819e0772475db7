/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes into memory of the peer.
 *
 * One whose bytes travel inside its record ends with the target's DONE, since its key may be wrong.
 * A bulk ends when it is delivered: with a wrong key it is never bound.  To a keyed peer it is only
 * announced, and waits for CTS.
 */
#include "sdr_op.h"

static int write_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	f->addr = op->rma_addr;
	f->key = op->rma_key;
	f->flags |= SDR_REC_F_RMA;
	op->need_done = fits;
	return SDR_REL_OK;
}

static bool write_complete(const struct sdr_op *op)
{
	return op->data_out && (!op->need_done || op->got_done);
}

static bool write_waits(const struct sdr_op *op)
{
	return sdr_qp_peer_keyed(op->conn->shape.qp);
}

const struct sdr_op_kind sdr_op_write = {
	.name = "write",
	.number = SDR_REL_WRITE,
	.rec = SDR_REC_WRITE,
	.fill = write_fill,
	.complete = write_complete,
	.waits = write_waits,
};
