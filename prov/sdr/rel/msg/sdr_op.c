/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations: from post to the one report.
 *
 * What fits a datagram travels inside its record; the rest is bulk: the record announces (and
 * binds) it and the data follow at once.  A message is only announced, and waits for the receiver's
 * CTS, when the last rendezvous with this peer met no posted receive; a message or write to a keyed
 * peer always, since only the CTS says under which key its bytes may be written.  A caller that
 * wants message numbers beyond the peer's credit waits for credit.  A READ of a keyed engine takes
 * the key of its landing place along, and costs nothing more.
 *
 * An operation ends when nothing is missing:
 *   message    record acknowledged, bulk delivered, and with DELIVERY the receiver's DONE
 *   write      inline: the target's DONE (the key may be wrong); bulk: delivered (a wrong key is
 *              never bound)
 *   read       its bytes are here
 * Operations behind a fence, or posted while the handshake runs, are held back in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "rel/bulk/sdr_policy.h"
#include "sdr_op.h"

void sdr_op_report(struct sdr_op *op, int err, int prov_err)
{
	struct sdr_rel *rel = op->peer->rel;
	struct sdr_rel_cqe e = {
		.kind = op->kind,
		.err = err,
		.prov_err = prov_err,
		.ctx = op->ctx,
		.uflags = op->uflags,
		.len = op->len,
		.tag = op->tag,
		.data = op->data,
		.peer = op->peer,
	};

	if (op->done || op->kind == SDR_REL_READ_SERVE)
		return;
	op->done = true;
	if (err)
		op->conn->st.ops_failed++;
	else
		op->conn->st.msgs_tx++;
	if (err || !(op->flags & SDR_REL_F_SILENT))
		rel->cbs->done(rel->user, &e);
}

void sdr_op_bulk_abort(struct sdr_op *op)
{
	if (op->btx)
		sdr_bulk_tx_abort(op->btx);
	op->btx = NULL;
}

void sdr_op_end(struct sdr_op *op, int err, int prov_err)
{
	struct sdr_conn *c = op->conn;
	struct sdr_rel *rel = c->rel;

	/* First: once reported, buffers are the caller's. */
	if (op->brx) {
		op->brx->read = NULL;
		sdr_bulk_rx_abort(op->brx);
		op->brx = NULL;
	}
	sdr_op_bulk_abort(op);
	sdr_op_report(op, err, prov_err);
	sdr_list_del(&op->link);
	sdr_list_del(&op->credit);
	sdr_list_del(&op->remote.link);
	sdr_rec_detach(c, &op->rec);
	if (op->bind)
		op->bind->op = NULL;
	if (op->kind != SDR_REL_READ_SERVE) {
		rel->msg->nops--;
		c->msg->nown--;
	} else {
		c->credit.nserve--;
		rel->nanswers_strangers -= op->stranger;
	}
	sdr_idtab_del(&rel->msg->ids, op->id);
	if (op->copy_pool)
		sdr_slab_free(&rel->msg->buf_pool, op->copy);
	else
		free(op->copy);
	sdr_slab_free(&rel->msg->op_pool, op);
	rel->work++;
	if (c->state == SDR_CONN_OPEN && !sdr_list_empty(&c->msg->held))
		sdr_op_release_held(c);
}

void sdr_op_advance(struct sdr_op *op)
{
	bool ok;

	switch (op->kind) {
	case SDR_REL_READ:
		ok = op->data_in;
		break;
	case SDR_REL_WRITE:
		ok = op->data_out && (!op->need_done || op->got_done);
		break;
	default:
		ok = op->rec.acked && op->data_out && !op->waiting &&
		     (!op->need_done || op->got_done);
	}
	if (ok)
		sdr_op_end(op, 0, SDR_REL_OK);
}

/*
 * The one way to end several operations of a connection.  Each is taken out of its list before it
 * is looked at and put back behind those that stay, so that ending one may end, start or move any
 * other: nothing is remembered across it but the head of a list.  Nothing that is held back starts
 * meanwhile.
 */
static void ops_end(struct sdr_list *from, bool (*wanted)(const struct sdr_op *op),
		    void (*end)(struct sdr_op *op, int err), int err)
{
	struct sdr_list todo, *l;

	sdr_list_init(&todo);
	sdr_list_move(from, &todo);
	while ((l = sdr_list_pop(&todo))) {
		struct sdr_op *op = sdr_container(l, struct sdr_op, link);

		sdr_rel_step(op->peer->rel);
		sdr_list_add_tail(l, from);
		if (!wanted || wanted(op))
			end(op, err);
	}
}

static void op_fail(struct sdr_op *op, int err)
{
	sdr_op_end(op, sdr_rel_errno(err), err);
}

static void op_cancel(struct sdr_op *op, int err)
{
	(void)err;
	sdr_op_cancel(op);
}

static bool op_unpromised(const struct sdr_op *op)
{
	return !op->done && !(op->flags & (SDR_REL_F_SILENT | SDR_REL_F_INJECT)) &&
	       op->kind != SDR_REL_READ_SERVE;
}

void sdr_ops_end(struct sdr_conn *c, enum sdr_ops_which which, int err)
{
	bool nested = c->msg->releasing;

	c->msg->releasing = true;
	if (which == SDR_OPS_ALL)
		ops_end(&c->msg->ops, NULL, op_fail, err);
	else if (which == SDR_OPS_UNPROMISED)
		ops_end(&c->msg->ops, op_unpromised, op_cancel, err);
	ops_end(&c->msg->held, which == SDR_OPS_UNPROMISED ? op_unpromised : NULL, op_fail, err);
	c->msg->releasing = nested;
	sdr_op_release_held(c);
}

/* ---- its records ---- */

size_t sdr_op_rec_gather(const struct sdr_rec *r, uint8_t *p)
{
	return sdr_op_gather(r->op, p);
}

void sdr_op_rec_written(struct sdr_conn *c, struct sdr_rec *r)
{
	(void)c;
	if (r->op->btx && (r->f.flags & SDR_REC_F_BULK)) {
		r->op->btx->rec = r;
		sdr_bulk_announced(r->op->btx);
	}
}

void sdr_op_rec_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	struct sdr_op *op = r->op;

	if (op->btx && op->btx->rec == r)
		op->btx->rec = NULL;
	if (r == &op->rec) {
		sdr_op_advance(op);
		return;
	}
	if (r == op->bind)
		op->bind = NULL;
	sdr_rec_free(c, r);
}

size_t sdr_op_gather(const struct sdr_op *op, uint8_t *p)
{
	size_t n = 0;

	if (op->copy) {
		memcpy(p, op->copy, op->len);
		return op->len;
	}
	for (int i = 0; i < op->niov; i++) {
		if (op->iov[i].len)
			memcpy(p + n, op->iov[i].buf, op->iov[i].len);
		n += op->iov[i].len;
	}
	return n;
}

void sdr_op_scatter(struct sdr_op *op, const uint8_t *p, uint64_t n)
{
	for (int i = 0; i < op->niov && n; i++) {
		size_t k = op->iov[i].len < n ? op->iov[i].len : n;

		if (k)
			memcpy(op->iov[i].buf, p, k);
		p += k;
		n -= k;
	}
}

/* A copy of the bytes; NULL: no memory. */
static const uint8_t *op_copy(struct sdr_op *op)
{
	uint8_t *to;

	if (op->copy)
		return op->copy;
	to = malloc(op->len);
	if (to)
		sdr_op_gather(op, to);
	op->copy = to;
	return to;
}

/* The bytes of a bulk in one piece. */
static const uint8_t *op_base(struct sdr_op *op)
{
	return !op->copy && op->niov == 1 ? op->iov[0].buf : op_copy(op);
}

static bool op_is_message(const struct sdr_op *op)
{
	return op->kind == SDR_REL_SEND || op->kind == SDR_REL_TSEND;
}

/*
 * A message that comes to nothing here.  Its place in the order is taken: without its record
 * everything behind it would wait for ever.  A record that has not left becomes void: it keeps the
 * place and meets no receive.  One that has left stays as it is, with bytes of its own, as those of
 * the caller are his again.
 */
static void op_void(struct sdr_op *op, int err)
{
	struct sdr_rec *r = &op->rec;

	sdr_op_bulk_abort(op);
	sdr_list_del(&op->credit);
	if (!r->sent) {
		r->f.flags = SDR_REC_F_ORDER | SDR_REC_F_STATUS | (r->f.flags & SDR_REC_F_TAG);
		r->f.status = err;
		r->f.len = r->f.payload_len = 0;
		if (sdr_list_empty(&r->link))
			sdr_rec_queue(op->conn, r);
	} else if (r->f.payload_len && !op_copy(op)) {
		sdr_conn_fail(op->conn, SDR_REL_ERR_NOMEM);
		return;
	}
	sdr_op_report(op, sdr_rel_errno(err), err);
	op->waiting = false;
	op->need_done = false;
	op->data_out = true;
	sdr_op_advance(op);
}

void sdr_op_cancel(struct sdr_op *op)
{
	if (!op_is_message(op) || op->rec.acked)
		sdr_op_end(op, -ECANCELED, SDR_REL_ERR_CANCELED);
	else
		op_void(op, SDR_REL_ERR_CANCELED);
}

/*
 * It cannot be sent for a reason that lies here.  The peer does not wait for it: the next message
 * has its turn, who reads gets an answer, and a receive that has met the announcement ends.
 */
static void op_abandon(struct sdr_op *op, int err)
{
	struct sdr_conn *c = op->conn;
	struct sdr_rec *r;

	if (op_is_message(op) && !op->rec.sent) {
		op_void(op, err);
		return;
	}
	if (op->rec.sent || op->kind == SDR_REL_READ_SERVE) {
		r = sdr_rec_new(c, op->rec.sent ? SDR_REC_BIND : SDR_REC_READ_RSP, op->wire_id);
		if (!r) {
			sdr_conn_fail(c, SDR_REL_ERR_NOMEM); /* ends the operation too */
			return;
		}
		r->f.flags = SDR_REC_F_STATUS | (op->rec.sent ? SDR_REC_F_BULK | SDR_REC_F_LEN : 0);
		r->f.len = op->len;
		r->f.status = err;
		sdr_rec_queue(c, r);
	}
	sdr_op_end(op, sdr_rel_errno(err), err);
}

static void op_bulk_or_wait(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;

	if (op->kind <= SDR_REL_TSEND
		    ? c->msg->wait_mode || sdr_qp_peer_keyed(c->shape.qp)
		    : op->kind == SDR_REL_WRITE && sdr_qp_peer_keyed(c->shape.qp)) {
		op->waiting = true;
		sdr_rec_queue(c, &op->rec);
		return;
	}
	sdr_list_add_tail(&op->credit, &c->msg->cts_wait);
	sdr_op_release_credit(c);
}

/* Its bytes lie where the record said: it came, in whichever copy. */
static void op_delivered(struct sdr_op *op)
{
	op->btx = NULL;
	op->data_out = true;
	sdr_rec_detach(op->conn, &op->rec);
	sdr_op_advance(op);
}

void sdr_op_release_credit(struct sdr_conn *c)
{
	while (!sdr_list_empty(&c->msg->cts_wait)) {
		struct sdr_op *op = sdr_container(c->msg->cts_wait.next, struct sdr_op, credit);
		const uint8_t *base;
		struct sdr_rec *r = &op->rec, *bind = NULL;
		struct sdr_plan plan;
		int err;

		sdr_rel_step(c->rel);
		if (!sdr_bulk_tx_credit(c))
			return;
		sdr_list_del(&op->credit);
		err = sdr_policy_plan(c, op->len, &plan);
		if (err) {
			op_abandon(op, err);
			continue;
		}
		base = op_base(op);
		if (r->sent) /* announced before, CTS came: the numbers travel in a BIND */
			r = bind = sdr_rec_new(c, SDR_REC_BIND, op->id);
		op->btx = base && r ? sdr_bulk_tx_new(c, base, op->len, &plan) : NULL;
		if (!op->btx) {
			if (bind)
				sdr_rec_free(c, bind);
			op_abandon(op, SDR_REL_ERR_NOMEM);
			continue;
		}
		op->btx->op = op;
		op->btx->done = op_delivered;
		op->btx->keyed = op->keyed;
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
		sdr_rec_queue(c, r);
	}
}

/* All bytes of a READ are here. */
static void op_landed(struct sdr_bulk_rx *b)
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

int sdr_op_land(struct sdr_op *op)
{
	uint8_t *to;
	int err;

	if (op->niov > 1 && !op->copy)
		op->copy = malloc(op->len);
	to = op->niov > 1 ? op->copy : op->iov[0].buf;
	if (!to)
		return SDR_REL_ERR_NOMEM;
	err = sdr_bulk_rx_new(op->conn, SDR_REC_READ_RSP, op->wire_id, to, op->len, op_landed,
			      &op->brx);
	if (!err)
		op->brx->read = op;
	return err;
}

/*
 * READ: what does not fit a datagram comes back as bulk; a keyed engine says with the question
 * where to.
 */
static int op_read_key(struct sdr_op *op, struct sdr_frame_rec *f)
{
	int err;

	if (!sdr_qp_keyed(op->conn->shape.qp) || sdr_op_fits(op->conn, op->len))
		return SDR_REL_OK;
	err = sdr_op_land(op);
	if (err)
		return err;
	f->flags |= SDR_REC_F_KEY;
	f->va = op->brx->grant.va;
	f->rkey = op->brx->grant.rkey;
	return SDR_REL_OK;
}

void sdr_op_start(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;
	struct sdr_frame_rec *f = &op->rec.f;
	bool fits = sdr_op_fits(c, op->len);
	int err;

	sdr_list_add_tail(&op->link, &c->msg->ops);
	f->id = op->wire_id;
	f->len = op->len;
	f->data = op->data;
	if (op->flags & SDR_REL_F_DATA)
		f->flags |= SDR_REC_F_DATA;
	if (op->flags & SDR_REL_F_DELIVERY)
		f->flags |= SDR_REC_F_DELIVERY;
	switch (op->kind) {
	case SDR_REL_TSEND:
		f->tag = op->tag;
		f->flags |= SDR_REC_F_TAG;
		/* fall through */
	case SDR_REL_SEND:
		f->op = op->kind == SDR_REL_SEND ? SDR_REC_SEND : SDR_REC_TSEND;
		f->mseq = c->rec.mseq++;
		f->flags |= SDR_REC_F_ORDER;
		op->need_done = op->flags & SDR_REL_F_DELIVERY;
		break;
	case SDR_REL_WRITE:
	case SDR_REL_READ:
		f->op = op->kind == SDR_REL_WRITE ? SDR_REC_WRITE : SDR_REC_READ;
		f->addr = op->rma_addr;
		f->key = op->rma_key;
		f->flags |= SDR_REC_F_RMA;
		op->need_done = op->kind == SDR_REL_WRITE && fits;
		break;
	case SDR_REL_READ_SERVE:
		f->op = SDR_REC_READ_RSP;
		break;
	}
	if (op->kind == SDR_REL_READ) {
		err = op_read_key(op, f);
		if (err) {
			sdr_op_end(op, sdr_rel_errno(err), err);
			return;
		}
		f->flags |= SDR_REC_F_LEN;
		op->data_out = true;
	} else if (fits) {
		f->payload_len = (uint32_t)op->len;
		op->data_out = true;
	} else {
		f->flags |= SDR_REC_F_LEN;
		op_bulk_or_wait(op);
		return;
	}
	sdr_rec_queue(c, &op->rec);
}

void sdr_op_release_held(struct sdr_conn *c)
{
	if (c->msg->releasing)
		return; /* one that ended at its start: the walk goes on below */
	c->msg->releasing = true;
	while (c->state == SDR_CONN_OPEN && c->hs.proven && !sdr_list_empty(&c->msg->held)) {
		struct sdr_op *op = sdr_container(c->msg->held.next, struct sdr_op, link);

		sdr_rel_step(c->rel);
		if ((op->flags & SDR_REL_F_FENCE) && !sdr_list_empty(&c->msg->ops))
			break;
		sdr_list_del(&op->link);
		sdr_op_start(op);
	}
	c->msg->releasing = false;
}

/* Its connection is still to be set. */
struct sdr_op *sdr_op_new(struct sdr_peer *peer, uint8_t kind)
{
	struct sdr_rel *rel = peer->rel;
	struct sdr_op *op = sdr_slab_alloc(&rel->msg->op_pool);

	if (!op)
		return NULL;
	op->kind = kind;
	op->peer = peer;
	sdr_list_init(&op->link);
	sdr_list_init(&op->credit);
	sdr_list_init(&op->rec.link);
	sdr_list_init(&op->remote.link);
	op->rec.op = op;
	if (sdr_idtab_add(&rel->msg->ids, op, &op->id)) {
		sdr_slab_free(&rel->msg->op_pool, op);
		return NULL;
	}
	op->wire_id = op->id;
	return op;
}
