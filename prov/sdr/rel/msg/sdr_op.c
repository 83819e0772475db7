/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations: from post to the one report.
 *
 * What fits a datagram travels inside its record; the rest is bulk: the record announces (and
 * binds) it and the data follow at once, or, where the operation's kind says so, when the peer's
 * CTS has come.  An operation that wants message numbers beyond the peer's credit waits for credit.
 * When it ends is its kind's to say (sdr_op_kind.h).  Operations behind a fence, or posted while
 * the handshake runs, are held back in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/bulk/sdr_policy.h"
#include "sdr_op.h"

void sdr_op_report(struct sdr_op *op, int err, int prov_err)
{
	struct sdr_rel *rel = op->peer->rel;
	struct sdr_rel_cqe e = {
		.kind = op->kind->number,
		.err = err,
		.prov_err = prov_err,
		.ctx = op->ctx,
		.uflags = op->uflags,
		.len = op->len,
		.tag = op->tag,
		.data = op->data,
		.peer = op->peer,
	};

	if (op->done || op->kind->served)
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

	SDR_ASSERT(!sdr_list_empty(&op->link)); /* in a list of its connection's until now */
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
	SDR_ASSERT(c->msg->nasked >= op->asked);
	c->msg->nasked -= op->asked;
	sdr_rec_detach(c, &op->rec);
	if (op->bind)
		op->bind->op = NULL;
	if (!op->kind->served) {
		SDR_ASSERT(op->done && c->msg->nown && rel->msg->nops >= c->msg->nown);
		rel->msg->nops--;
		c->msg->nown--;
	} else {
		SDR_ASSERT(!op->done && c->credit.nserve);
		SDR_ASSERT(rel->nanswers_strangers >= op->stranger);
		c->credit.nserve--;
		rel->nanswers_strangers -= op->stranger;
	}
	sdr_idtab_del(&rel->msg->ids, op->id);
	if (op->copy_pool)
		sdr_slab_free(&rel->msg->buf_pool, op->copy);
	else
		free(op->copy);
	sdr_slab_free(&rel->msg->op_pool, op);
	rel->activity++;
	if (c->state == SDR_CONN_OPEN && !sdr_list_empty(&c->msg->deferred))
		sdr_op_release_deferred(c);
}

void sdr_op_advance(struct sdr_op *op)
{
	if (op->kind->complete(op))
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
	       !op->kind->served;
}

void sdr_ops_end(struct sdr_conn *c, enum sdr_ops_which which, int err)
{
	bool nested = c->msg->releasing;

	c->msg->releasing = true;
	if (which == SDR_OPS_ALL)
		ops_end(&c->msg->ops, NULL, op_fail, err);
	else if (which == SDR_OPS_UNPROMISED)
		ops_end(&c->msg->ops, op_unpromised, op_cancel, err);
	ops_end(&c->msg->deferred, which == SDR_OPS_UNPROMISED ? op_unpromised : NULL, op_fail,
		err);
	c->msg->releasing = nested;
	sdr_op_release_deferred(c);
}

/* ---- its records ---- */

size_t sdr_op_rec_gather(const struct sdr_rec *r, uint8_t *p)
{
	return sdr_op_gather(r->op, p);
}

void sdr_op_rec_written(struct sdr_conn *c, struct sdr_rec *r)
{
	if (sdr_rec_is_request(&r->f)) {
		r->op->asked = true;
		c->msg->nasked++;
	}
	if (r->op->btx && (r->f.flags & SDR_REC_F_BULK)) {
		r->op->btx->rec = r;
		sdr_bulk_announced(r->op->btx);
	}
}

void sdr_op_rec_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	struct sdr_op *op = r->op;

	SDR_ASSERT(r->acked && (r == &op->rec || r == op->bind));
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

/*
 * A message that comes to nothing here.  Its place in the order is taken: without its record
 * everything behind it would wait for ever.  A record that has not left becomes void: it keeps the
 * place and meets no receive.  One that has left stays as it is, with bytes of its own, as those of
 * the caller are his again.
 */
static void op_void(struct sdr_op *op, int err)
{
	struct sdr_rec *r = &op->rec;

	SDR_ASSERT(op->kind->ordered && !r->acked && !sdr_list_empty(&op->link));
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
	if (!op->kind->ordered || op->rec.acked)
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

	if (op->kind->ordered && !op->rec.sent) {
		op_void(op, err);
		return;
	}
	if (op->rec.sent || op->kind->served) {
		r = sdr_rec_new(c, op->rec.sent ? SDR_REC_BIND : op->kind->rec, op->wire_id);
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

	if (op->kind->waits && op->kind->waits(op)) {
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
	SDR_ASSERT(op->btx && !op->data_out);
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
		sdr_rec_queue(c, r);
	}
}

void sdr_op_start(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;
	struct sdr_frame_rec *f = &op->rec.f;
	bool fits = sdr_op_fits(c, op->len);
	int err;

	SDR_ASSERT(sdr_list_empty(&op->link) && !op->rec.sent && op->conn == c);
	sdr_list_add_tail(&op->link, &c->msg->ops);
	f->id = op->wire_id;
	f->len = op->len;
	f->data = op->data;
	if (op->flags & SDR_REL_F_DATA)
		f->flags |= SDR_REC_F_DATA;
	if (op->flags & SDR_REL_F_DELIVERY)
		f->flags |= SDR_REC_F_DELIVERY;
	f->op = op->kind->rec;
	err = op->kind->fill ? op->kind->fill(op, f, fits) : SDR_REL_OK;
	if (err) {
		sdr_op_end(op, sdr_rel_errno(err), err);
		return;
	}
	if (op->kind->asks) {
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

void sdr_op_release_deferred(struct sdr_conn *c)
{
	if (c->msg->releasing)
		return; /* one that ended at its start: the walk goes on below */
	c->msg->releasing = true;
	while (c->state == SDR_CONN_OPEN && c->hs.validated && !sdr_list_empty(&c->msg->deferred)) {
		struct sdr_op *op = sdr_container(c->msg->deferred.next, struct sdr_op, link);

		sdr_rel_step(c->rel);
		if ((op->flags & SDR_REL_F_FENCE) && !sdr_list_empty(&c->msg->ops))
			break;
		sdr_list_del(&op->link);
		sdr_op_start(op);
	}
	c->msg->releasing = false;
}

/* Its connection is still to be set. */
struct sdr_op *sdr_op_new(struct sdr_peer *peer, const struct sdr_op_kind *kind)
{
	struct sdr_rel *rel = peer->rel;
	struct sdr_op *op = sdr_slab_alloc(&rel->msg->op_pool);

	if (!op)
		return NULL;
	SDR_ASSERT(kind->complete && kind->rec);
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

struct sdr_op *sdr_op_find(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = sdr_idtab_get(&c->rel->msg->ids, id);

	return op && op->conn == c ? op : NULL;
}

struct sdr_op *sdr_op_serve(struct sdr_conn *c, const struct sdr_op_kind *kind,
			    const struct sdr_frame_rec *f)
{
	struct sdr_op *op =
		c->credit.nserve < SDR_CONN_SERVES_MAX ? sdr_op_new(c->peer, kind) : NULL;

	if (!op)
		return NULL;
	SDR_ASSERT(kind->served);
	op->conn = c;
	c->credit.nserve++;
	op->stranger = !c->peer->names;
	c->rel->nanswers_strangers += op->stranger;
	op->wire_id = f->id;
	return op;
}
