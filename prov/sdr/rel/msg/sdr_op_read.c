/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reads of memory of the peer, and their answers.
 *
 * A read ends when its bytes are here: inside the answer's record, or as bulk, which lands in the
 * buffer when that is one piece, else in a copy.  An rkeyed engine says with the question where a
 * bulk may be written: where that is a device's memory which it does not reach, and there is no
 * room to receive it in between, in a copy too, for the question does not wait.
 *
 * An answer (READ_SERVE) is an operation of the target's that was not posted and that is not
 * reported; it ends when its record is acknowledged and its bulk delivered.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_follow.h"
#include "sdr_op.h"
#include "sdr_remote.h"

/* All bytes of a bulk are here. */
static void read_landed(struct sdr_bulk_rx *b)
{
	struct sdr_op *op = b->read;
	int err = b->err;

	if (!op)
		return;
	op->brx = NULL;
	if (!err && op->copy)
		err = sdr_op_scatter(op, op->copy, op->len);
	if (err) {
		sdr_op_end(op, sdr_rel_errno(err), err);
		return;
	}
	op->data_in = true;
	sdr_op_advance(op);
}

static int read_land_in(struct sdr_op *op, uint8_t *to, const struct sdr_mem *mem)
{
	struct sdr_bulk_land l = { .op = SDR_REC_READ_RSP,
				   .id = op->wire_id,
				   .buf = to,
				   .len = op->len,
				   .mem = mem,
				   .arrived = read_landed };
	int err = to ? sdr_bulk_rx_new(op->conn, &l, &op->brx) : SDR_REL_ERR_NOMEM;

	if (!err)
		op->brx->read = op;
	return err;
}

static int read_land(struct sdr_op *op)
{
	int err;

	SDR_ASSERT(!op->brx && !op->data_in);
	if (op->niov == 1) {
		err = read_land_in(op, op->iov[0].buf, op->mem);
		if (err || !sdr_bulk_rx_waits(op->brx))
			return err;
		sdr_bulk_rx_abort(op->brx);
		op->brx = NULL;
	}
	if (!op->copy)
		op->copy = malloc(op->len);
	return read_land_in(op, op->copy, NULL);
}

static int read_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	int err;

	f->addr = op->rma_addr;
	f->key = op->rma_key;
	f->flags |= SDR_REC_F_RMA;
	if (fits || !sdr_qp_rkeyed(op->conn->shape->qp))
		return SDR_REL_OK;
	err = read_land(op);
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
	.classes = SDR_ORDER_BIT(SDR_ORDER_READ),
	.asks = true,
	.fill = read_fill,
	.complete = read_complete,
};

/*
 * ---- at the target -----------------------------------------------------------------------------
 */

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

static void read_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	void *va = NULL, *region = NULL;
	int err = SDR_REL_OK;

	if (!sdr_op_key_expected(c, f, !sdr_op_fits(c, f->len))) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!(f->flags & SDR_REC_F_RMA) ||
		   rel->cbs->mr_get(rel->user, f->key, f->addr, f->len,
				    SDR_REL_ACCESS_READ | SDR_REL_ACCESS_COPY, &va, &region)) {
		err = SDR_REL_ERR_KEY;
	}
	if (!err && sdr_remote_serve(c, &sdr_op_read_serve, f, va, region)) {
		sdr_remote_report(c, SDR_REL_REMOTE_READ, f, va);
		return; /* its turn is over when the answer is not read from memory any more */
	}
	sdr_remote_read_refuse(c, f->id, err ? err : SDR_REL_ERR_NOMEM);
	sdr_follow_over(c, f);
}

const struct sdr_rec_kind sdr_rec_kind_read = {
	.name = "read",
	.input = read_input,
};

/* ---- the answer ------------------------------------------------------------------------------ */

/* A READ that waits for its answer. */
static struct sdr_op *read_of(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = sdr_op_find(c, id);

	return op && op->kind == &sdr_op_read && !op->data_in ? op : NULL;
}

static void read_rsp_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = read_of(c, f->id);
	int err = SDR_REL_OK;

	if (!op) {
		/*
		 * It ended here, or was refused after all; records may overtake each other.
		 * Nothing will bind these numbers.
		 */
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		return;
	}
	if (sdr_msg_status(f)) {
		sdr_op_end(op, sdr_rel_errno(f->status), f->status);
		return;
	}
	if (!(f->flags & SDR_REC_F_BULK)) {
		if (f->payload_len != op->len) {
			c->st.pkts_bad++;
			sdr_op_end(op, -EIO, SDR_REL_ERR_NOMEM);
			return;
		}
		if (op->brx) /* the place for a bulk that did not come */
			sdr_bulk_rx_abort(op->brx);
		op->brx = NULL;
		err = sdr_op_scatter(op, f->payload, f->payload_len);
		op->data_in = !err;
		if (err)
			sdr_op_end(op, sdr_rel_errno(err), err);
		else
			sdr_op_advance(op);
		return;
	}
	/* An rkeyed engine has made its place already; it takes one answer. */
	if (op->brx ? op->brx->has_msn : sdr_qp_rkeyed(c->shape->qp)) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!op->brx) {
		err = read_land(op);
	}
	if (err)
		sdr_bulk_rx_skip(c, f, op->len);
	else
		err = sdr_bulk_rx_start(op->brx, f);
	/*
	 * Its server sends what cannot be taken, and cannot learn which of its answers that is.
	 */
	if (err == SDR_REL_ERR_CODE)
		sdr_conn_fail(c, err);
	else if (err)
		sdr_op_end(op, sdr_rel_errno(err), err);
}

/* It says how much it brings; what was wanted counts. */
static bool rsp_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t *len)
{
	const struct sdr_op *op = read_of(c, f->id);

	*len = op ? op->len : f->len;
	return true;
}

const struct sdr_rec_kind sdr_rec_kind_read_rsp = {
	.name = "read_rsp",
	.input = read_rsp_input,
	.numbers = rsp_numbers,
};
