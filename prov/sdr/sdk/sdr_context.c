/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The context: one engine, its batch, pools and QPs, and the round in which everything happens.
 *
 * A round polls the engine until it is empty or enough was handled, hands each event to its owner
 * at once (packets to the receive worker, control datagrams to their class), then calls the hook of
 * every receive that got packets, then runs what waits for time (CTS repetition, rate-limited
 * sends), then flushes the batch.
 *
 * Time is the engine's, read once a round.  Callbacks may post, complete, destroy QPs; events of a
 * destroyed QP that were polled already are struck out.  They must not call progress (it returns 0)
 * or destroy the context.  One thread at a time.  Randomness: keys are SipHash of a counter under
 * the 16 bytes given at creation, so that one key tells nothing about the next.
 */
#include "sdr_sdk_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ------------------------------------------------------------------------------------ */

static uint64_t sdr_context_number(struct sdr_context *ctx)
{
	uint8_t in[8];

	sdr_put_le64(in, ctx->nonce++);
	return sdr_siphash(in, sizeof(in), ctx->key);
}

void sdr_context_random(struct sdr_context *ctx, uint64_t out[2])
{
	out[0] = sdr_context_number(ctx);
	out[1] = sdr_context_number(ctx);
}

/* ---- create, destroy ------------------------------------------------------------------------- */

static int sdr_context_attr_check(const struct sdr_dev_attr *attr, uint32_t *mtu)
{
	if (!attr)
		return 0;
	if (attr->size < offsetof(struct sdr_dev_attr, fault))
		return -EINVAL;
	if (!attr->mtu)
		return 0;
	if (attr->mtu < SDR_MTU_MIN || attr->mtu > *mtu)
		return -EINVAL;
	*mtu = attr->mtu;
	return 0;
}

struct sdr_context *sdr_context_create_on(struct sdr_uc *uc, const struct sdr_dev_attr *attr,
					  const uint64_t rand[2])
{
	struct sdr_context *ctx = calloc(1, sizeof(*ctx));
	int err = -ENOMEM;

	if (!ctx)
		goto out;
	ctx->uc = uc;
	uc->ops->info(uc, &ctx->info);
	ctx->mtu = ctx->info.mtu;
	err = sdr_context_attr_check(attr, &ctx->mtu);
	if (err)
		goto out_ctx;
	sdr_put_le64(ctx->key, rand[0]);
	sdr_put_le64(ctx->key + 8, rand[1]);
	sdr_list_init(&ctx->qps);
	sdr_list_init(&ctx->busy);
	sdr_list_init(&ctx->touched);
	ctx->txq.ctl_size = (ctx->info.ctl_max + 63u) & ~63u;
	ctx->txq.ctl = malloc((size_t)SDR_CTL_SLOTS * ctx->txq.ctl_size);
	err = -ENOMEM;
	if (!ctx->txq.ctl)
		goto out_ctx;
	if (sdr_pool_init(&ctx->pool))
		goto out_ctl;
	ctx->now = uc->ops->now(uc);
	return ctx;

out_ctl:
	free(ctx->txq.ctl);
out_ctx:
	free(ctx);
out:
	errno = -err;
	return NULL;
}

int sdr_context_destroy(struct sdr_context *ctx)
{
	if (!ctx)
		return -EINVAL;
	if (!sdr_list_empty(&ctx->qps) || ctx->nmrs)
		return -EBUSY;
	if (!ctx->err)
		sdr_context_flush(ctx); /* what is queued is the last that leaves */
	ctx->uc->ops->close(ctx->uc);
	sdr_pool_free(&ctx->pool);
	free(ctx->txq.ctl);
	free(ctx);
	return 0;
}

struct sdr_uc *sdr_context_uc(struct sdr_context *ctx)
{
	return ctx->uc;
}

void sdr_context_ctl_set(struct sdr_context *ctx, enum sdr_class cls, sdr_ctl_fn fn, void *user)
{
	ctx->cls[cls].fn = fn;
	ctx->cls[cls].user = user;
}

struct sdr_qp *sdr_context_qp_find(struct sdr_context *ctx, uint32_t qpn)
{
	struct sdr_qp *qp = ctx->bucket[qpn % SDR_QP_BUCKETS];

	while (qp && qp->qpn != qpn)
		qp = qp->hash_next;
	return qp;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void sdr_context_ctl_input(struct sdr_context *ctx, const struct sdr_uc_ev *ev)
{
	uint8_t type;
	int cls = sdr_class_decode(ev->c.buf, ev->len, &type);

	if (cls <= 0) {
		ctx->pkts_bad++;
		return;
	}
	if (cls == SDR_CLASS_SDK) {
		sdr_cts_input(ctx, type, ev->c.buf + SDR_CLASS_LEN, ev->len - SDR_CLASS_LEN);
		return;
	}
	if (!ctx->cls[cls].fn) {
		ctx->pkts_bad++;
		return;
	}
	ctx->cls[cls].fn(ctx->cls[cls].user, ev->c.from, type, ev->c.buf + SDR_CLASS_LEN,
			 ev->len - SDR_CLASS_LEN);
}

static void sdr_context_dispatch(struct sdr_context *ctx, int n)
{
	ctx->ev_n = n;
	for (ctx->ev_pos = 0; ctx->ev_pos < ctx->ev_n;) {
		const struct sdr_uc_ev *ev = &ctx->ev[ctx->ev_pos++];

		switch (ev->kind) {
		case SDR_UC_EV_PLACED:
			if (ev->p.cookie)
				sdr_recv_placed(ev->p.cookie, ev);
			else
				ctx->pkts_late++; /* its QP was destroyed in this round */
			break;
		case SDR_UC_EV_CTL:
			sdr_context_ctl_input(ctx, ev);
			break;
		case SDR_UC_EV_QP:
			if (ev->q.cookie)
				sdr_qp_broken(ev->q.cookie, ev->q.err < 0 ? ev->q.err : -EIO);
			break;
		case SDR_UC_EV_ERROR:
			ctx->err = ev->err < 0 ? ev->err : -EIO;
			break;
		}
	}
	ctx->ev_n = ctx->ev_pos = 0;
}

static void sdr_context_busy_run(struct sdr_context *ctx)
{
	struct sdr_list todo;

	if (sdr_list_empty(&ctx->busy))
		return;
	/* Each QP once: it goes back to ctx->busy if it stays busy. */
	sdr_list_init(&todo);
	sdr_list_move(&ctx->busy, &todo);
	while (!sdr_list_empty(&todo)) {
		struct sdr_qp *qp = sdr_container(todo.next, struct sdr_qp, busy);

		sdr_list_del(&qp->busy);
		sdr_cts_run(qp);
		sdr_send_pump(qp);
		sdr_qp_busy_update(qp);
	}
}

int sdr_context_progress_max(struct sdr_context *ctx, int max_events)
{
	int handled = 0, n;

	if (ctx->in_progress)
		return 0;
	if (ctx->err)
		return ctx->err;
	ctx->in_progress = true;
	ctx->txq.blocked = false;
	ctx->tx_reading = false;
	ctx->now = ctx->uc->ops->now(ctx->uc);
	while (handled < max_events && !ctx->err) {
		n = max_events - handled;
		if (n < (int)SDR_UC_POLL_MIN)
			n = SDR_UC_POLL_MIN;
		if (n > (int)SDR_EV_MAX)
			n = SDR_EV_MAX;
		n = ctx->uc->ops->poll(ctx->uc, ctx->ev, n);
		if (n <= 0)
			break;
		/* A round may take milliseconds: arrival times must not be older than the poll. */
		ctx->now = ctx->uc->ops->now(ctx->uc);
		sdr_context_dispatch(ctx, n);
		handled += n;
	}
	sdr_recv_round_end(ctx);
	sdr_context_busy_run(ctx);
	sdr_context_flush(ctx);
	ctx->in_progress = false;
	return ctx->err ? ctx->err : handled;
}

int sdr_context_progress(struct sdr_context *ctx)
{
	return sdr_context_progress_max(ctx, SDR_PROGRESS_EVENTS);
}

uint64_t sdr_context_now(struct sdr_context *ctx)
{
	return ctx->now;
}

int sdr_context_fd(struct sdr_context *ctx)
{
	return ctx->uc->ops->fd(ctx->uc);
}

uint64_t sdr_context_timeout(struct sdr_context *ctx)
{
	uint64_t now, due = ctx->uc->ops->deadline(ctx->uc), t;
	struct sdr_list *e;

	if (ctx->err)
		return 0;
	if (!sdr_context_tx_idle(ctx)) {
		if (!ctx->txq.blocked)
			return 0;
		t = ctx->now + SDR_TX_RETRY_NS;
		due = t < due ? t : due;
	}
	if (ctx->tx_reading) {
		t = ctx->now + SDR_TX_RETRY_NS;
		due = t < due ? t : due;
	}
	sdr_list_each(e, &ctx->busy) {
		const struct sdr_qp *qp = sdr_container(e, struct sdr_qp, busy);

		if (qp->cts_armed && qp->cts_due < due)
			due = qp->cts_due;
		t = sdr_send_due(qp);
		if (t < due)
			due = t;
	}
	if (due && ctx->uc->ops->arm(ctx->uc))
		return 0;
	if (due == UINT64_MAX)
		return due;
	now = ctx->uc->ops->now(ctx->uc);
	return due > now ? due - now : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct sdr_mr *sdr_mr_reg(struct sdr_context *ctx, void *addr, size_t length, uint64_t flags)
{
	struct sdr_mr *mr = NULL;
	int err = -EINVAL;

	if (!ctx || !addr || !length || flags || (uintptr_t)addr > UINTPTR_MAX - length)
		goto out;
	err = -ENOMEM;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		goto out;
	err = ctx->uc->ops->mr_reg(ctx->uc, addr, length, &mr->uc_mr);
	if (err)
		goto out_mr;
	mr->ctx = ctx;
	mr->addr = (uintptr_t)addr;
	mr->len = length;
	ctx->nmrs++;
	return mr;

out_mr:
	free(mr);
out:
	errno = -err;
	return NULL;
}

int sdr_mr_dereg(struct sdr_mr *mr)
{
	if (!mr)
		return -EINVAL;
	mr->ctx->uc->ops->mr_dereg(mr->ctx->uc, mr->uc_mr);
	mr->ctx->nmrs--;
	free(mr);
	return 0;
}

bool sdr_mr_covers(const struct sdr_mr *mr, const struct sdr_context *ctx, const void *addr,
		   uint64_t len)
{
	uintptr_t a = (uintptr_t)addr;

	if (!mr)
		return true;
	return mr->ctx == ctx && a >= mr->addr && a - mr->addr <= mr->len &&
	       len <= mr->len - (a - mr->addr);
}

/* ---- statistics ------------------------------------------------------------------------------ */

int sdr_context_stats(struct sdr_context *ctx, struct sdr_stats *out)
{
	struct sdr_uc_stats u = { 0 };
	struct sdr_stats s = { 0 };

	if (!ctx || !out || out->size < sizeof(out->size))
		return -EINVAL;
	ctx->uc->ops->stats(ctx->uc, &u);
	s.size = out->size < sizeof(s) ? out->size : sizeof(s);
	s.pkts_tx = u.pkts_tx;
	s.bytes_tx = u.bytes_tx;
	s.pkts_rx = u.pkts_rx;
	s.bytes_rx = u.bytes_rx;
	s.pkts_dup = ctx->pkts_dup;
	s.pkts_late = u.pkts_late + ctx->pkts_late;
	s.pkts_bad = u.pkts_bad + ctx->pkts_bad;
	s.chunks_rx = ctx->chunks_rx;
	s.cts_tx = ctx->cts_tx;
	s.cts_rx = ctx->cts_rx;
	memcpy(out, &s, s.size);
	return 0;
}
