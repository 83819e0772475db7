/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations: from post to the one report.
 *
 * What fits a datagram travels inside its record; the rest is bulk: the record announces (and
 * binds) it and the data follow at once, or, where the operation's kind says so, when the peer's
 * CTS has come: so to an rkeyed peer, which alone says under which key its bytes may be written,
 * unless it has handed one out ahead (sdr_berth_tx.c): if that is not for all of them, what is
 * behind the head waits.  An operation that wants message numbers
 * beyond the peer's credit waits for credit. When it ends is its kind's to say (sdr_op_kind.h).
 * Operations behind a fence, or posted while the handshake runs, are held back in order.  Those
 * that keep their order otherwise are not, but have turns (sdr_order.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_follow.h"
#include "sdr_op.h"
#include "sdr_op_void.h"

/* It was one of several, and is over: true for the last, whose report is that of all. */
static bool op_join(struct sdr_op *op, struct sdr_rel_cqe *e)
{
	struct sdr_op_parts *p = op->parts;
	uint64_t whole = p->whole;

	SDR_ASSERT(p->left);
	op->parts = NULL;
	if (e->err && !p->err) {
		p->err = e->err;
		p->prov_err = e->prov_err;
	}
	p->moved += e->len;
	if (--p->left)
		return false;
	e->err = p->err;
	e->prov_err = p->prov_err;
	e->len = p->moved;
	sdr_slab_free(&op->peer->rel->msg->parts_pool, p);
	if (!e->err && op->kind->joined)
		op->kind->joined(op, whole);
	return true;
}

void sdr_op_report(struct sdr_op *op, int err, int prov_err)
{
	struct sdr_rel *rel = op->peer->rel;
	struct sdr_rel_cqe e = {
		.kind = op->kind->number,
		.err = err,
		.prov_err = prov_err,
		.ctx = op->ctx,
		.uflags = op->uflags,
		.len = op->moved,
		.tag = op->tag,
		.data = op->data,
		.peer = op->peer,
	};

	if (op->done || op->kind->served)
		return;
	op->done = true;
	if (op->parts && !op_join(op, &e))
		return;
	if (e.err)
		op->conn->st.ops_failed++;
	else
		op->conn->st.msgs_tx++;
	if (e.err || !(op->flags & SDR_REL_F_SILENT))
		rel->cbs->done(rel->user, &e);
}

void sdr_op_end(struct sdr_op *op, int err, int prov_err)
{
	struct sdr_conn *c = op->conn;
	struct sdr_rel *rel = c->rel;
	uint32_t turn = op->turn;
	bool leads = op->leads;

	SDR_ASSERT(!sdr_list_empty(&op->link)); /* in a list of its connection's until now */
	/* First: once reported, buffers are the caller's. */
	sdr_op_landing_abort(op);
	sdr_op_bulk_abort(op);
	sdr_op_report(op, err, prov_err);
	sdr_list_del(&op->link);
	sdr_list_del(&op->lead);
	sdr_list_del(&op->credit);
	sdr_list_del(&op->remote.link);
	SDR_ASSERT(c->msg->nasked >= op->asked);
	c->msg->nasked -= op->asked;
	sdr_op_berth_leave(op);
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
		sdr_slab_free(op->copy_pool, op->copy);
	else
		free(op->copy);
	sdr_slab_free(&rel->msg->op_pool, op);
	rel->activity++;
	sdr_follow_ended(c, leads, turn);
	if (c->state == SDR_CONN_OPEN && !sdr_list_empty(&c->msg->deferred))
		sdr_op_release_deferred(c);
}

void sdr_op_advance(struct sdr_op *op)
{
	if (op->voided ? op->rec.acked && sdr_op_take_back(op) : op->kind->complete(op))
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
	struct sdr_bulk_tx *b = sdr_op_bulk_of(r->op, r);

	if (sdr_rec_is_request(&r->f)) {
		r->op->asked = true;
		c->msg->nasked++;
	}
	if (b) {
		b->rec = r;
		sdr_bulk_announced(b);
	}
}

void sdr_op_rec_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	struct sdr_op *op = r->op;
	struct sdr_bulk_tx *b = sdr_op_bulk_of(op, r);

	SDR_ASSERT(r->acked && (r == &op->rec || r == op->bind));
	if (b && b->rec == r)
		b->rec = NULL;
	if (r == &op->rec) {
		sdr_op_advance(op);
		return;
	}
	if (r == op->bind)
		op->bind = NULL;
	sdr_rec_free(c, r);
}

static void op_bulk_or_wait(struct sdr_op *op, bool waits)
{
	struct sdr_conn *c = op->conn;

	if (waits) {
		op->waiting = true;
		sdr_rec_queue(c, &op->rec);
		return;
	}
	sdr_list_add_tail(&op->credit, &c->msg->cts_wait);
	sdr_op_release_credit(c);
}

/* Some of its bytes lie where the record said: it came, in whichever copy.  All of them? */
static void op_delivered(struct sdr_op *op)
{
	SDR_ASSERT(!op->data_out);
	sdr_rec_detach(op->conn, &op->rec);
	if (op->head || op->btx || op->waiting || !sdr_list_empty(&op->credit))
		return;
	op->data_out = true;
	sdr_op_advance(op);
}

static void op_head_delivered(struct sdr_op *op)
{
	op->head = NULL;
	op_delivered(op);
}

static void op_btx_delivered(struct sdr_op *op)
{
	op->btx = NULL;
	op_delivered(op);
}

void sdr_op_release_credit(struct sdr_conn *c)
{
	static const struct sdr_op_bulk_done done = { op_head_delivered, op_btx_delivered };

	while (!sdr_list_empty(&c->msg->cts_wait)) {
		struct sdr_op *op = sdr_container(c->msg->cts_wait.next, struct sdr_op, credit);
		int err;

		sdr_rel_step(c->rel);
		if (!sdr_bulk_tx_credit(c))
			return;
		sdr_list_del(&op->credit);
		err = sdr_op_bulk_start(op, &done);
		if (err)
			sdr_op_abandon(op, err);
	}
}

void sdr_op_start(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;
	struct sdr_frame_rec *f = &op->rec.f;
	bool fits = sdr_op_fits(c, op->len), bulk = !fits && !op->kind->asks, waits;
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
	if (op->kind->feature & ~c->hs.features)
		err = SDR_REL_ERR_UNSUPPORTED;
	else
		err = op->kind->fill ? op->kind->fill(op, f, fits) : SDR_REL_OK;
	if (err) {
		sdr_op_end(op, sdr_rel_errno(err), err);
		return;
	}
	waits = bulk && op->kind->waits && op->kind->waits(op);
	if (bulk && !waits && op->kind->waits && sdr_qp_peer_rkeyed(c->shape->qp))
		waits = !sdr_op_berth(op);
	sdr_order_start(op, bulk && !waits && !op->kind->ordered);
	if (op->kind->asks) {
		f->flags |= SDR_REC_F_LEN;
		op->data_out = true;
	} else if (fits) {
		if (op->mem && op->len && (err = sdr_op_copy(op))) {
			sdr_op_abandon(op, err);
			return;
		}
		f->payload_len = (uint32_t)op->len;
		op->data_out = true;
	} else {
		f->flags |= SDR_REC_F_LEN;
		op_bulk_or_wait(op, waits);
		return;
	}
	sdr_rec_queue(c, &op->rec);
}

bool sdr_op_is_held(const struct sdr_op *op)
{
	const struct sdr_conn *c = op->conn;

	return ((op->flags & SDR_REL_F_FENCE) && !sdr_list_empty(&c->msg->ops)) ||
	       sdr_order_holds(c, op);
}

void sdr_op_release_deferred(struct sdr_conn *c)
{
	if (c->msg->releasing)
		return; /* one that ended at its start: the walk goes on below */
	c->msg->releasing = true;
	while (c->state == SDR_CONN_OPEN && c->hs.validated && !sdr_list_empty(&c->msg->deferred)) {
		struct sdr_op *op = sdr_container(c->msg->deferred.next, struct sdr_op, link);

		sdr_rel_step(c->rel);
		if (sdr_op_is_held(op))
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
	sdr_list_init(&op->lead);
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

void sdr_op_unserve(struct sdr_op *op)
{
	SDR_ASSERT(op->kind->served && !op->rec.sent);
	op->leads = false; /* whoever refuses ends the turn */
	sdr_list_add_tail(&op->link, &op->conn->msg->ops);
	sdr_op_end(op, 0, SDR_REL_OK);
}
