/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages, untagged and tagged: they keep their order and meet receives (sdr_match.c).
 *
 * One ends when its record is acknowledged, its bulk delivered, and with DELIVERY the receiver's
 * DONE is here.  Its bulk follows its record at once, except to a peer whose last rendezvous met no
 * posted receive, and to an rkeyed one whose key is not here: there it is announced, and waits for
 * CTS, all but its head where there is a key for that.  So it is where it must follow a bulk.
 */
#include "sdr_match.h"
#include "sdr_op.h"

static int message_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	(void)fits;
	f->mseq = op->conn->rec.mseq++;
	f->flags |= SDR_REC_F_ORDER;
	op->need_done = op->flags & SDR_REL_F_DELIVERY;
	return SDR_REL_OK;
}

static int tagged_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	f->tag = op->tag;
	f->flags |= SDR_REC_F_TAG;
	return message_fill(op, f, fits);
}

static bool message_complete(const struct sdr_op *op)
{
	return op->rec.acked && op->data_out && !op->waiting && (!op->need_done || op->got_done);
}

static bool message_waits(const struct sdr_op *op)
{
	return op->conn->msg->rnr_mode || sdr_order_behind_bulk(op);
}

/* The receiver is done with it, whatever of it is still under way. */
static void message_done(struct sdr_op *op, int status)
{
	if (op->head && op->btx && !status && op->head->opened == op->head->plan.nmsgs)
		sdr_bulk_tx_delivered(op->head);
	if (op->btx && !op->head && !status && op->btx->opened == op->btx->plan.nmsgs) {
		/* ends the operation when nothing else is missing */
		sdr_bulk_tx_delivered(op->btx);
		return;
	}
	sdr_op_bulk_abort(op);
	sdr_list_del(&op->credit);
	op->waiting = false;
	op->data_out = true;
	sdr_op_advance(op);
}

const struct sdr_op_kind sdr_op_send = {
	.name = "send",
	.number = SDR_REL_SEND,
	.rec = SDR_REC_SEND,
	.ordered = true,
	.classes = SDR_ORDER_BIT(SDR_ORDER_SEND),
	.fill = message_fill,
	.complete = message_complete,
	.waits = message_waits,
	.done = message_done,
};

const struct sdr_op_kind sdr_op_tsend = {
	.name = "tsend",
	.number = SDR_REL_TSEND,
	.rec = SDR_REC_TSEND,
	.ordered = true,
	.classes = SDR_ORDER_BIT(SDR_ORDER_SEND),
	.fill = tagged_fill,
	.complete = message_complete,
	.waits = message_waits,
	.done = message_done,
};

const struct sdr_rec_kind sdr_rec_kind_send = {
	.name = "send",
	.input = sdr_match_input,
	.starts = true,
};
