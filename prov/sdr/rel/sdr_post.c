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

int sdr_rel_post(struct sdr_rel *rel, const struct sdr_rel_wr *wr)
{
	const struct sdr_op_kind *kind = sdr_op_kind(rel->msg->kinds, wr->kind);
	struct sdr_peer *peer;
	struct sdr_conn *c;
	struct sdr_op *op;
	uint64_t len = 0;
	uint8_t *to;

	if (wr->niov > SDR_REL_IOV_MAX || !kind || !wr->peer)
		return -EINVAL;
	for (int i = 0; i < wr->niov; i++)
		len += wr->iov[i].len;
	if (len > SDR_REL_MSG_MAX || ((wr->flags & SDR_REL_F_INJECT) && len > rel->cfg.inject_max))
		return -EMSGSIZE;
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
	op = sdr_op_new(peer, kind);
	if (!op)
		return -ENOMEM;
	op->flags = wr->flags;
	op->niov = wr->niov;
	op->len = len;
	op->tag = wr->tag;
	op->data = wr->data;
	op->rma_addr = wr->rma_addr;
	op->rma_key = wr->rma_key;
	op->ctx = wr->ctx;
	op->uflags = wr->uflags;
	if (wr->niov)
		memcpy(op->iov, wr->iov, wr->niov * sizeof(op->iov[0]));
	if ((wr->flags & SDR_REL_F_INJECT) && len) {
		to = sdr_slab_alloc(&rel->msg->buf_pool);
		if (!to)
			goto err_op;
		sdr_op_gather(op, to);
		op->copy = to;
		op->copy_pool = true;
	}
	c = conn_get(peer);
	if (!c)
		goto err_copy;
	op->conn = c;
	rel->msg->nops++;
	c->msg->nown++;
	if ((wr->flags & (SDR_REL_F_EARLY | SDR_REL_F_INJECT)) ==
	    (SDR_REL_F_EARLY | SDR_REL_F_INJECT))
		sdr_op_report(op, 0, SDR_REL_OK);
	if (c->state != SDR_CONN_OPEN || !c->hs.validated || !sdr_list_empty(&c->msg->deferred) ||
	    ((op->flags & SDR_REL_F_FENCE) && !sdr_list_empty(&c->msg->ops))) {
		sdr_list_add_tail(&op->link, &c->msg->deferred);
	} else {
		sdr_op_start(op);
		/* A small operation leaves now: latency. */
		if (sdr_list_empty(&c->bulk->tx.segs) && sdr_pkt_due(c)) {
			sdr_pkt_send(c);
			sdr_context_flush(rel->ctx);
			sdr_list_del(&c->ready);
			if (sdr_pkt_due(c) || sdr_bulk_tx_work(c))
				sdr_conn_kick(c);
		}
	}
	sdr_conn_rearm(c);
	return 0;
err_copy:
	if (op->copy)
		sdr_slab_free(&rel->msg->buf_pool, op->copy);
err_op:
	sdr_idtab_del(&rel->msg->ids, op->id);
	sdr_slab_free(&rel->msg->op_pool, op);
	return -ENOMEM;
}
