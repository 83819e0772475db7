/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes into memory of the peer.
 *
 * One whose bytes travel inside its record ends with the target's DONE, since its key may be wrong.
 * A bulk ends when it is delivered: with a wrong key it is never bound.  To an rkeyed peer whose
 * key is not here it is only announced, and waits for CTS; so it is where it reaches bytes that one
 * which it must follow still reaches (sdr_order.c).  At the target each is checked before a byte of
 * it is placed, and answered with DONE when it is refused.
 */
#include <errno.h>
#include <string.h>
#include "rel/bulk/sdr_head_rx.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_deliver.h"
#include "sdr_follow.h"
#include "sdr_op.h"
#include "sdr_remote.h"

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
	return sdr_order_overlaps(op);
}

const struct sdr_op_kind sdr_op_write = {
	.name = "write",
	.number = SDR_REL_WRITE,
	.rec = SDR_REC_WRITE,
	.classes = SDR_ORDER_BIT(SDR_ORDER_WRITE),
	.fill = write_fill,
	.complete = write_complete,
	.waits = write_waits,
};

/* ---- at the target --------------------------------------------------------------------------- */

/* A peer's WRITE is complete. */
static void write_done(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	struct sdr_rel *rel = c->rel;
	struct sdr_rel_cqe e = {
		.kind = SDR_REL_REMOTE_WRITE,
		.changed = true,
		.has_data = b->has_data,
		.data = b->data,
		.len = b->len,
		.buf = b->buf,
		.peer = b->conn->peer,
		.key = b->key,
	};

	if (b->err)
		sdr_done_send(c, b->id, b->err);
	else if (rel->msg->rma_events || b->has_data)
		rel->cbs->done(rel->user, &e);
	sdr_follow_ended(c, b->leads, b->turn);
}

static void write_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	uint64_t head = f->flags & SDR_REC_F_HEAD ? f->head : 0;
	bool bulk = f->flags & SDR_REC_F_BULK;
	struct sdr_berth *berth = NULL;
	struct sdr_bulk_rx *b;
	void *va = NULL, *region = NULL;
	int ret, err;

	ret = f->flags & SDR_REC_F_RMA
		      ? rel->cbs->mr_get(rel->user, f->key, f->addr, f->len,
					 SDR_REL_ACCESS_WRITE | SDR_REL_ACCESS_COPY, &va, &region)
		      : -EINVAL;
	if (ret) {
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, sdr_rec_bulk(f));
		sdr_done_send(c, f->id, SDR_REL_ERR_KEY);
		sdr_follow_over(c, f);
		return;
	}
	if (!(f->flags & SDR_REC_F_LEN)) {
		err = sdr_mem_put(sdr_remote_mem(rel, region), va, f->payload, f->payload_len)
			      ? SDR_REL_ERR_MEM
			      : SDR_REL_OK;
		sdr_done_send(c, f->id, err);
		if (!err)
			sdr_remote_report(c, SDR_REL_REMOTE_WRITE, f, va);
		sdr_follow_over(c, f);
		return;
	}
	if (bulk && !sdr_berth_or_park(c, f, &berth)) {
		if (!sdr_conn_live(c))
			return;
		bulk = false; /* it is as if only announced */
		head = 0;
	}
	err = sdr_head_rx_land(c,
			       &(struct sdr_bulk_land){ SDR_REC_WRITE, f->id, va, f->len,
							sdr_remote_mem(rel, region), write_done,
							berth, head },
			       &b);
	if (err) {
		if (bulk)
			sdr_bulk_rx_skip(c, f, sdr_rec_bulk(f));
		sdr_done_send(c, f->id, err);
		sdr_follow_over(c, f);
		return;
	}
	sdr_remote_write(b, region);
	b->has_data = f->flags & SDR_REC_F_DATA;
	b->data = f->data;
	b->key = f->key;
	b->delivery = f->flags & SDR_REC_F_DELIVERY;
	b->leads = f->flags & SDR_REC_F_LEAD;
	b->turn = f->turn;
	if (b->leads && !sdr_bulk_rx_name(b))
		return;
	err = bulk ? sdr_bulk_rx_start(b->head ? b->head : b, f) : SDR_REL_OK;
	if (err) {
		sdr_bulk_rx_abort(b);
		sdr_done_send(c, f->id, err);
		sdr_follow_over(c, f);
	} else if (!b->has_msn) {
		(void)sdr_bulk_rx_cts(b, true);
	}
}

const struct sdr_rec_kind sdr_rec_kind_write = {
	.name = "write",
	.input = write_input,
	.starts = true,
};
