/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An operation is posted: checked, copied where it is injected, given to its peer's connection.  A
 * small one leaves at once, for latency.
 */
#include <errno.h>
#include <string.h>
#include "bulk/sdr_bulk_tx.h"
#include "conn/sdr_alias.h"
#include "conn/sdr_pkt.h"
#include "msg/sdr_op.h"
#include "sdr_conn_timer.h"

/* Opens one if needed; NULL out of memory. */
static struct sdr_conn *conn_get(struct sdr_peer *peer)
{
	struct sdr_conn *c = peer->conn;

	if (c)
		return c;
	c = sdr_conn_open(peer, false, peer->rel->mtu);
	if (c) {
		sdr_alias_opened(c);
		c->pto.wait_since = peer->rel->now;
		sdr_conn_timer(c); /* the first HELLO leaves at once */
	}
	return c;
}

/* An operation that nobody has seen. */
static void op_unmake(struct sdr_op *op)
{
	struct sdr_rel *rel = op->peer->rel;

	if (op->parts && !--op->parts->left)
		sdr_slab_free(&rel->msg->parts_pool, op->parts);
	if (op->copy)
		sdr_slab_free(op->copy_pool, op->copy);
	sdr_idtab_del(&rel->msg->ids, op->id);
	sdr_slab_free(&rel->msg->op_pool, op);
}

/* The bytes of its iovs, copied where they are injected.  0, -ENOMEM, -EIO. */
static int op_bytes(struct sdr_op *op, const struct sdr_rel_wr *wr, uint64_t len)
{
	struct sdr_slab *pool = &op->peer->rel->msg->buf_pool;
	uint8_t *to;

	op->niov = wr->niov;
	op->mem = wr->mem;
	op->len = op->moved = op->reach = len;
	if (wr->niov)
		memcpy(op->iov, wr->iov, wr->niov * sizeof(op->iov[0]));
	if (!(wr->flags & SDR_REL_F_INJECT) || !len)
		return 0;
	to = sdr_slab_alloc(pool);
	if (!to)
		return -ENOMEM;
	if (sdr_op_fetch(op, to)) {
		sdr_slab_free(pool, to);
		return -EIO;
	}
	op->copy = to;
	op->copy_pool = pool;
	return 0;
}

/*
 * Number i of the n operations that one is, with bytes of its iovs; its connection is still to be
 * set.  0, -ENOMEM, -EIO.
 */
static int op_make(struct sdr_op **made, struct sdr_peer *peer, const struct sdr_op_kind *kind,
		   const struct sdr_rel_wr *wr, uint64_t len, uint32_t i, uint32_t n)
{
	struct sdr_op *op = sdr_op_new(peer, kind);
	int ret;

	if (!op)
		return -ENOMEM;
	op->flags = wr->flags;
	if (n > 1) /* they are reported when all are over */
		op->flags &= ~SDR_REL_F_EARLY;
	if (i) /* they follow the first one */
		op->flags &= ~SDR_REL_F_FENCE;
	op->tag = wr->tag;
	op->data = wr->data;
	op->rma_addr = wr->rma_addr;
	op->rma_key = wr->rma_key;
	op->ctx = wr->ctx;
	op->uflags = wr->uflags;
	ret = kind->load ? kind->load(op, wr, i) : op_bytes(op, wr, len);
	if (ret)
		op_unmake(op);
	else
		*made = op;
	return ret;
}

/* All n of them.  0, or a negative errno, and there is none. */
static int ops_make(struct sdr_list *made, struct sdr_peer *peer, const struct sdr_op_kind *kind,
		    const struct sdr_rel_wr *wr, uint64_t len, uint32_t n)
{
	struct sdr_slab *pool = &peer->rel->msg->parts_pool;
	struct sdr_op_parts *parts = n > 1 ? sdr_slab_alloc(pool) : NULL;
	struct sdr_list *l;
	int ret;

	if (n > 1 && !parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct sdr_op *op;

		ret = op_make(&op, peer, kind, wr, len, i, n);
		if (ret)
			goto err;
		op->parts = parts;
		sdr_list_add_tail(&op->link, made);
		if (parts) {
			parts->left++;
			parts->whole += op->moved;
		}
	}
	return 0;
err:
	if (sdr_list_empty(made))
		sdr_slab_free(pool, parts);
	while ((l = sdr_list_pop(made)))
		op_unmake(sdr_container(l, struct sdr_op, link));
	return ret;
}

/* It is its connection's from now on.  False: it waits there. */
static bool op_give(struct sdr_op *op, struct sdr_conn *c)
{
	op->conn = c;
	c->rel->msg->nops++;
	c->msg->nown++;
	if ((op->flags & (SDR_REL_F_EARLY | SDR_REL_F_INJECT)) ==
	    (SDR_REL_F_EARLY | SDR_REL_F_INJECT))
		sdr_op_report(op, 0, SDR_REL_OK);
	if (c->state != SDR_CONN_OPEN || !c->hs.validated || !sdr_list_empty(&c->msg->deferred) ||
	    sdr_op_is_held(op)) {
		sdr_list_add_tail(&op->link, &c->msg->deferred);
		return false;
	}
	sdr_op_start(op);
	return true;
}

/* A small operation leaves now, with those that waited for it: latency. */
static void post_send(struct sdr_conn *c)
{
	if (!sdr_list_empty(&c->bulk->tx.segs) || !sdr_pkt_due(c))
		return;
	sdr_pkt_send(c);
	sdr_context_flush(c->rel->ctx);
	sdr_list_del(&c->ready);
	if (sdr_pkt_due(c) || sdr_bulk_tx_work(c))
		sdr_conn_kick(c);
}

int sdr_rel_post(struct sdr_rel *rel, const struct sdr_rel_wr *wr)
{
	const struct sdr_op_kind *kind = sdr_op_kind(rel->msg->kinds, wr->kind);
	struct sdr_list made, *l;
	struct sdr_peer *peer;
	struct sdr_conn *c;
	bool started = false;
	uint64_t len = 0;
	int n, ret;

	if (wr->niov > SDR_REL_IOV_MAX || !kind || !wr->peer)
		return -EINVAL;
	for (int i = 0; i < wr->niov; i++)
		len += wr->iov[i].len;
	if (len > SDR_REL_MSG_MAX || ((wr->flags & SDR_REL_F_INJECT) && len > rel->cfg.inject_max))
		return -EMSGSIZE;
	n = kind->split ? kind->split(wr) : 1;
	if (n < 0)
		return n;
	if (rel->msg->nops >= rel->cfg.tx_depth)
		return -EAGAIN;
	if (rel->failed || rel->closing)
		return -EIO;
	rel->now = rel->uc->ops->now(rel->uc);
	/*
	 * The connection comes last: one without an operation would request an answer that no
	 * operation waits for.
	 */
	peer = sdr_peer_real(wr->peer);
	sdr_list_init(&made);
	ret = ops_make(&made, peer, kind, wr, len, (uint32_t)n);
	if (ret)
		return ret;
	c = conn_get(peer);
	while ((l = sdr_list_pop(&made))) {
		struct sdr_op *op = sdr_container(l, struct sdr_op, link);

		if (c)
			started |= op_give(op, c);
		else
			op_unmake(op);
	}
	if (!c)
		return -ENOMEM;
	if (started && !(wr->flags & SDR_REL_F_MORE))
		post_send(c);
	sdr_conn_rearm(c);
	return 0;
}
