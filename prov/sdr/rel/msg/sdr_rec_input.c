/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a record of the peer means here: it needs memory (WRITE, READ), answers an operation of
 * ours (READ_RSP, DONE, CTS, PARK), or carries a message (SEND, TSEND, BIND), which sdr_match.c
 * takes.
 *
 * Records of unknown operations are ignored: the operation ended meanwhile (or never was), which is
 * no error.
 */
#include <errno.h>
#include <string.h>
#include "sdr_match.h"
#include "sdr_op.h"
#include "sdr_rec_input.h"
#include "sdr_remote.h"

static void remote_report(struct sdr_conn *c, uint8_t kind, const struct sdr_frame_rec *f, void *va)
{
	struct sdr_rel_cqe e = {
		.kind = kind,
		.has_data = f->flags & SDR_REC_F_DATA,
		.len = f->len,
		.data = f->data,
		.buf = va,
		.peer = c->peer,
		.key = f->key,
	};

	if (c->rel->msg->rma_events || e.has_data)
		c->rel->cbs->done(c->rel->user, &e);
}

/* A peer's WRITE is complete. */
static void write_done(struct sdr_bulk_rx *b)
{
	struct sdr_rel *rel = b->conn->rel;
	struct sdr_rel_cqe e = {
		.kind = SDR_REL_REMOTE_WRITE,
		.has_data = b->has_data,
		.data = b->data,
		.len = b->len,
		.buf = b->buf,
		.peer = b->conn->peer,
		.key = b->key,
	};

	if (rel->msg->rma_events || b->has_data)
		rel->cbs->done(rel->user, &e);
}

static void write_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_bulk_rx *b;
	void *va = NULL, *region = NULL;
	int ret, err;

	ret = f->flags & SDR_REC_F_RMA ? rel->cbs->mr_get(rel->user, f->key, f->addr, f->len,
							  SDR_REL_ACCESS_WRITE, &va, &region)
				       : -EINVAL;
	if (ret) {
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		sdr_done_send(c, f->id, SDR_REL_ERR_KEY);
		return;
	}
	if (!(f->flags & SDR_REC_F_LEN)) {
		if (f->payload_len)
			memcpy(va, f->payload, f->payload_len);
		sdr_done_send(c, f->id, SDR_REL_OK);
		remote_report(c, SDR_REL_REMOTE_WRITE, f, va);
		return;
	}
	err = sdr_bulk_rx_new(c, SDR_REC_WRITE, f->id, va, f->len, write_done, &b);
	if (err) {
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		sdr_done_send(c, f->id, err);
		return;
	}
	sdr_remote_write(b, region);
	b->has_data = f->flags & SDR_REC_F_DATA;
	b->data = f->data;
	b->key = f->key;
	b->delivery = f->flags & SDR_REC_F_DELIVERY;
	if (!(f->flags & SDR_REC_F_BULK)) {
		(void)sdr_bulk_rx_cts(b, true);
	} else if ((err = sdr_bulk_rx_start(b, f))) {
		sdr_bulk_rx_abort(b);
		sdr_done_send(c, f->id, err);
	}
}

/* A keyed peer says where a bulk may go, and no other has a key to give. */
static bool key_expected(const struct sdr_conn *c, const struct sdr_frame_rec *f, bool bulk)
{
	bool key = f->flags & SDR_REC_F_KEY;

	return sdr_qp_peer_keyed(c->shape.qp) ? key || !bulk : !key;
}

static void read_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	void *va = NULL, *region = NULL;
	int err = SDR_REL_OK;

	if (!key_expected(c, f, !sdr_op_fits(c, f->len))) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!(f->flags & SDR_REC_F_RMA) ||
		   rel->cbs->mr_get(rel->user, f->key, f->addr, f->len, SDR_REL_ACCESS_READ, &va,
				    &region)) {
		err = SDR_REL_ERR_KEY;
	}
	if (!err && sdr_remote_serve(c, f, va, region)) {
		remote_report(c, SDR_REL_REMOTE_READ, f, va);
		return;
	}
	sdr_remote_read_refuse(c, f->id, err ? err : SDR_REL_ERR_NOMEM);
}

static struct sdr_op *op_of(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = sdr_idtab_get(&c->rel->msg->ids, id);

	return op && op->conn == c ? op : NULL;
}

/* A READ that waits for its answer. */
static struct sdr_op *read_of(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = op_of(c, id);

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
	if ((f->flags & SDR_REC_F_STATUS) && f->status) {
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
		sdr_op_scatter(op, f->payload, f->payload_len);
		op->data_in = true;
		sdr_op_advance(op);
		return;
	}
	/* A keyed engine has made its place already; it takes one answer. */
	if (op->brx ? op->brx->has_msn : sdr_qp_keyed(c->shape.qp)) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!op->brx) {
		err = sdr_op_read_land(op);
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

static void done_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);
	int status = f->flags & SDR_REC_F_STATUS ? f->status : SDR_REL_OK;

	if (!op || op->kind->served)
		return;
	/* A truncated receive is the receiver's error: here the message is delivered. */
	if (status && status != SDR_REL_ERR_TRUNC) {
		sdr_op_end(op, sdr_rel_errno(status), status);
		return;
	}
	op->got_done = true;
	if (op->kind->done)
		op->kind->done(op, status);
	else
		sdr_op_advance(op);
}

static void cts_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);

	if (!op || !op->kind->waits)
		return;
	/*
	 * Only what was announced without its bytes, and is not over, can be requested, and that
	 * once.
	 */
	if (!(op->rec.f.flags & SDR_REC_F_LEN) || !op->rec.sent || op->data_out || op->got_done ||
	    op->bind || (!op->kind->ordered && !op->waiting))
		return;
	if (!key_expected(c, f, true)) {
		c->st.pkts_bad++;
		sdr_op_end(op, sdr_rel_errno(SDR_REL_ERR_PROTO), SDR_REL_ERR_PROTO);
		return;
	}
	op->keyed = f->flags & SDR_REC_F_KEY;
	op->va = f->va;
	op->rkey = f->rkey;
	if ((f->flags & SDR_REC_F_STATUS) && f->status)
		c->msg->wait_mode =
			false; /* the receive was waiting for us: start at once next time */
	/*
	 * Records may overtake each other: a CTS for a bulk under way says that its PARK is still
	 * to come.
	 */
	sdr_op_bulk_abort(op);
	op->waiting = false;
	sdr_list_del(&op->credit);
	sdr_list_add_tail(&op->credit, &c->msg->cts_wait);
	sdr_op_release_credit(c);
}

static void park_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);

	if (!op || !op->btx || op->got_done || !(f->flags & SDR_REC_F_BULK) ||
	    op->btx->msn != f->msn)
		return;
	if (sdr_qp_peer_keyed(c->shape.qp)) { /* it requested these data itself */
		c->st.pkts_bad++;
		return;
	}
	sdr_op_bulk_abort(op);
	op->waiting = true;
	c->msg->wait_mode = true;
}

/* Of a record that numbers messages here: as many as there can be, and where its sender may be. */
static bool rec_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_op *op = f->op == SDR_REC_READ_RSP ? read_of(c, f->id) : NULL;

	if (!(f->flags & SDR_REC_F_BULK) || f->op == SDR_REC_PARK ||
	    (f->op == SDR_REC_BIND && (f->flags & SDR_REC_F_STATUS) && f->status))
		return true;
	return sdr_bulk_rx_numbers(c, f, op ? op->len : f->len);
}

void sdr_rec_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	if (!rec_numbers(c, f)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	/*
	 * Data to a keyed engine wait for its CTS.  Who numbers them before knows nothing of keys:
	 * he is no peer.
	 */
	if ((f->flags & SDR_REC_F_BULK) && f->op <= SDR_REC_WRITE && sdr_qp_keyed(c->shape.qp)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	switch (f->op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
		sdr_match_input(c, f);
		break;
	case SDR_REC_WRITE:
		write_input(c, f);
		break;
	case SDR_REC_READ:
		read_input(c, f);
		break;
	case SDR_REC_READ_RSP:
		read_rsp_input(c, f);
		break;
	case SDR_REC_BIND:
		sdr_match_bind(c, f);
		break;
	case SDR_REC_CTS:
		cts_input(c, f);
		break;
	case SDR_REC_PARK:
		park_input(c, f);
		break;
	case SDR_REC_DONE:
		done_input(c, f);
		break;
	default:
		c->st.pkts_bad++;
	}
}
