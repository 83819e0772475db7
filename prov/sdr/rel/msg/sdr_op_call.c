/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Calls: a few bytes for whoever stands above the peer's endpoint, by which connections of
 * FI_EP_MSG are made.  What they mean is the caller's (cbs->call); the answer is a status, in the
 * DONE that ends the operation.
 *
 * A call travels inside its record, or not at all.  It has no place in the order of messages, meets
 * no receive and touches no memory, and it is the one thing that a bonded endpoint takes from a
 * peer to which it is not bound.
 */
#include "rel/conn/sdr_rec.h"
#include "sdr_op.h"

/* A peer without the feature has nobody who would take it. */
static int call_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	(void)f;
	if (!fits)
		return SDR_REL_ERR_NOMEM;
	return op->conn->hs.features & SDR_FEATURE_CALL ? SDR_REL_OK : SDR_REL_ERR_NOBODY;
}

static bool call_complete(const struct sdr_op *op)
{
	return op->got_done;
}

const struct sdr_op_kind sdr_op_call = {
	.name = "call",
	.number = SDR_REL_CALL,
	.rec = SDR_REC_CALL,
	.fill = call_fill,
	.complete = call_complete,
};

static void call_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_rel_cbs *cbs = c->rel->cbs;
	int status = SDR_REL_ERR_NOBODY;

	if (cbs->call && f->payload_len && !c->rel->closing)
		status = cbs->call(c->rel->user, c->peer, f->payload, f->payload_len);
	sdr_done_send(c, f->id, status);
}

const struct sdr_rec_kind sdr_rec_kind_call = {
	.name = "call",
	.input = call_input,
	.unbound = true,
	.feature = SDR_FEATURE_CALL,
};
