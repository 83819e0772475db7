/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The round of a context, in which everything happens, and when the next is due.
 *
 * A round polls the engine until it is empty, or says so itself, or enough was handled, hands each
 * event to its owner at once (packets to the receive worker, control datagrams to their class),
 * then calls the hook of every receive that got packets, then runs what waits for time (CTS
 * repetition, rate-limited sends), then flushes the batch.
 *
 * Time is the engine's, read once per poll.  Callbacks may post, complete, destroy QPs; events of a
 * destroyed QP that were polled already are struck out.  They must not call progress (it returns 0)
 * or destroy the context.  One thread at a time.
 */
#include <errno.h>

#include "base/sdr_assert.h"
#include "sdr_app.h"
#include "sdr_context.h"
#include "sdr_crew.h"
#include "sdr_cts.h"
#include "sdr_qp.h"
#include "sdr_recv.h"
#include "sdr_sdk.h"
#include "sdr_send.h"

#define SDR_PROGRESS_EVENTS 256 /* events a round of sdr_context_progress */

static void sdr_context_ctl_input(struct sdr_context *ctx, const struct sdr_uc_ev *ev)
{
	uint8_t type;
	int cls = sdr_class_decode(ev->c.buf, ev->len, &type);

	ctx->ctl_ecn = ev->ecn;
	ctx->ctl_source = ev->source;
	ctx->ctl_since = ev->since;
	if (cls == -EPROTONOSUPPORT && ctx->other.fn) {
		ctx->other.fn(ctx->other.user, ev->c.from, ev->c.buf, ev->len);
		return;
	}
	if (cls <= 0) {
		ctx->pkts_bad++;
		return;
	}
	if (cls == SDR_CLASS_SDK && type == SDR_SDK_APP) {
		sdr_app_input(ctx, ev->c.buf + SDR_CLASS_LEN, ev->len - SDR_CLASS_LEN);
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

/* How many events from this on are of packets of one slot and way: they are taken together. */
static int sdr_context_row(const struct sdr_uc_ev *ev, int n)
{
	const struct sdr_imm_split *s = &((const struct sdr_qp *)ev->p.cookie)->rxk.split;
	int i;

	n = n < (int)SDR_UC_POLL_MIN ? n : (int)SDR_UC_POLL_MIN;
	for (i = 1; i < n; i++)
		if (ev[i].kind != SDR_UC_EV_PLACED || ev[i].p.cookie != ev->p.cookie ||
		    sdr_imm_id(s, ev[i].p.imm) != sdr_imm_id(s, ev->p.imm) || ev[i].via != ev->via)
			break;
	return i;
}

static void sdr_context_placed(struct sdr_context *ctx, const struct sdr_uc_ev *ev)
{
	struct sdr_rcv_handle *h;
	struct sdr_recv_note note;
	int n;

	if (!ev->p.cookie) { /* its QP was destroyed in this round */
		ctx->pkts_late++;
		return;
	}
	n = sdr_context_row(ev, ctx->ev_n - (int)(ev - ctx->ev));
	sdr_recv_run(ev->p.cookie, ev, n, &note);
	note.since = ev[n - 1].since;
	h = sdr_recv_count(ctx, &note);
	if (h)
		sdr_recv_cum(h);
	ctx->ev_pos += n - 1;
}

static void sdr_context_dispatch(struct sdr_context *ctx, int n)
{
	ctx->ev_n = n;
	for (ctx->ev_pos = 0; ctx->ev_pos < ctx->ev_n;) {
		const struct sdr_uc_ev *ev = &ctx->ev[ctx->ev_pos++];
		switch (ev->kind) {
		case SDR_UC_EV_PLACED:
			sdr_context_placed(ctx, ev);
			break;
		case SDR_UC_EV_CTL:
			sdr_context_ctl_input(ctx, ev);
			break;
		case SDR_UC_EV_QP:
			if (ev->q.cookie)
				sdr_qp_broken(ev->q.cookie, ev->q.err < 0 ? ev->q.err : -EIO);
			break;
		case SDR_UC_EV_PATH:
			if (ctx->path.fn)
				ctx->path.fn(ctx->path.user, ev->path.to, ev->path.bytes);
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
	ctx->dry = false;
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
		SDR_ASSERT(n <= (int)SDR_EV_MAX); /* of the engine */
		ctx->dry = n <= 0 || (ctx->uc->ops->dry && ctx->uc->ops->dry(ctx->uc));
		/* A round may take milliseconds: arrival times must not be older than the poll. */
		if (n > 0)
			ctx->now = ctx->uc->ops->now(ctx->uc);
		/* Control datagrams may be about the packets before them. */
		if (ctx->crew)
			handled += sdr_crew_collect(ctx);
		if (n <= 0)
			break;
		sdr_context_dispatch(ctx, n);
		handled += n;
		if (ctx->dry)
			break;
	}
	sdr_recv_round_end(ctx);
	sdr_context_busy_run(ctx);
	sdr_context_flush(ctx);
	SDR_ASSERT(sdr_list_empty(&ctx->touched));
	ctx->in_progress = false;
	return ctx->err ? ctx->err : handled;
}

int sdr_context_progress(struct sdr_context *ctx)
{
	return sdr_context_progress_max(ctx, SDR_PROGRESS_EVENTS);
}

bool sdr_context_dry(const struct sdr_context *ctx)
{
	return ctx->dry;
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
