/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The batch in front of the engine: runs of data packets and control datagrams, in the order in
 * which they were queued, handed over in one call.
 *
 * Invariants: descriptors [head, tail) are to go; a send handle's `queued` is the number of them
 * that are its own, so its buffer may be forgotten when that is 0; the bytes of queued control
 * datagrams lie in a ring of fixed slots in the same order.  Data leaves room for SDR_TX_RESERVE
 * control datagrams and stops at SDR_TX_BYTES, so that an acknowledgement never waits behind more
 * than that.  No timers: a full engine is remembered for the rest of the round (`blocked`) and
 * tried again in the next.
 */
#include <errno.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_txq.h"
#include "sdr_context.h"
#include "sdr_sdk.h"
#include "sdr_send.h"

static void sdr_txq_taken(struct sdr_txq *q, uint32_t i)
{
	if (q->v[i].kind == SDR_UC_TX_CTL)
		q->ctl_head++;
	else
		q->own[i]->queued--;
	SDR_ASSERT((int32_t)(q->ctl_tail - q->ctl_head) >= 0);
}

static void sdr_txq_bytes_count(struct sdr_txq *q)
{
	uint32_t i;

	q->bytes = 0;
	for (i = q->head; i < q->tail; i++)
		if (q->v[i].kind == SDR_UC_TX_WRITE)
			q->bytes += q->v[i].len;
}

/* Moves what is left to the front. */
static void sdr_txq_compact(struct sdr_txq *q)
{
	uint32_t n = q->tail - q->head;

	if (!q->head)
		return;
	memmove(q->v, q->v + q->head, n * sizeof(q->v[0]));
	memmove(q->own, q->own + q->head, n * sizeof(q->own[0]));
	q->head = 0;
	q->tail = n;
}

int sdr_context_flush(struct sdr_context *ctx)
{
	struct sdr_txq *q = &ctx->txq;
	int want = (int)(q->tail - q->head), n, i;

	if (!want)
		return 0;
	if (ctx->err)
		return ctx->err;
	n = ctx->uc->ops->post(ctx->uc, q->v + q->head, want);
	if (n < 0)
		n = 0;
	SDR_ASSERT(n <= want); /* of the engine */
	for (i = 0; i < n; i++)
		sdr_txq_taken(q, q->head++);
	if (q->head < q->tail) {
		sdr_txq_bytes_count(q);
		q->blocked = true;
		return -EAGAIN;
	}
	q->head = q->tail = 0;
	q->bytes = 0;
	if (!q->ctl_open)
		q->ctl_head = q->ctl_tail = 0; /* the same few lines of cache again */
	q->blocked = false;
	return 0;
}

bool sdr_context_tx_idle(const struct sdr_context *ctx)
{
	return ctx->txq.head == ctx->txq.tail;
}

static bool sdr_txq_has(struct sdr_context *ctx, uint32_t spare)
{
	struct sdr_txq *q = &ctx->txq;

	if (q->tail - q->head >= SDR_TX_DESCS - spare)
		return false;
	if (q->tail == SDR_TX_DESCS)
		sdr_txq_compact(q);
	return true;
}

bool sdr_txq_room(struct sdr_context *ctx)
{
	struct sdr_txq *q = &ctx->txq;

	if (q->bytes < SDR_TX_BYTES && sdr_txq_has(ctx, SDR_TX_RESERVE))
		return true;
	if (q->blocked)
		return false;
	sdr_context_flush(ctx);
	return q->bytes < SDR_TX_BYTES && sdr_txq_has(ctx, SDR_TX_RESERVE);
}

struct sdr_uc_tx *sdr_txq_last(struct sdr_context *ctx, const struct sdr_snd_handle *h)
{
	struct sdr_txq *q = &ctx->txq;

	return q->head < q->tail && q->own[q->tail - 1] == h ? &q->v[q->tail - 1] : NULL;
}

struct sdr_uc_tx *sdr_txq_push(struct sdr_context *ctx, struct sdr_snd_handle *h)
{
	struct sdr_txq *q = &ctx->txq;

	SDR_ASSERT(q->tail < SDR_TX_DESCS); /* sdr_txq_room said so */
	q->own[q->tail] = h;
	h->queued++;
	return &q->v[q->tail++];
}

void sdr_context_data_drop(struct sdr_context *ctx)
{
	struct sdr_txq *q = &ctx->txq;
	uint32_t i, to = q->head;

	for (i = q->head; i < q->tail; i++) {
		if (q->own[i]) {
			q->own[i]->queued--;
			continue;
		}
		q->v[to] = q->v[i];
		q->own[to++] = NULL;
	}
	q->tail = to;
	q->bytes = 0;
}

void sdr_txq_drop(struct sdr_context *ctx, struct sdr_snd_handle *h)
{
	struct sdr_txq *q = &ctx->txq;
	uint32_t i, to = q->head;

	for (i = q->head; h->queued && i < q->tail; i++) {
		if (q->own[i] == h) {
			h->queued--;
			continue;
		}
		q->v[to] = q->v[i];
		q->own[to++] = q->own[i];
	}
	if (to == i)
		return;
	memmove(q->v + to, q->v + i, (q->tail - i) * sizeof(q->v[0]));
	memmove(q->own + to, q->own + i, (q->tail - i) * sizeof(q->own[0]));
	q->tail = to + (q->tail - i);
	sdr_txq_bytes_count(q);
}

/* ---- control datagrams ----------------------------------------------------------------------- */

static bool sdr_txq_ctl_has(struct sdr_context *ctx)
{
	return ctx->txq.ctl_tail - ctx->txq.ctl_head < SDR_CTL_SLOTS && sdr_txq_has(ctx, 0);
}

uint8_t *sdr_context_ctl_alloc(struct sdr_context *ctx)
{
	struct sdr_txq *q = &ctx->txq;

	if (!sdr_txq_ctl_has(ctx)) {
		if (q->blocked)
			return NULL;
		sdr_context_flush(ctx);
		if (!sdr_txq_ctl_has(ctx))
			return NULL;
	}
	SDR_ASSERT(q->head <= q->tail && q->tail - q->head < SDR_TX_DESCS);
	q->ctl_open = true;
	return q->ctl + (size_t)(q->ctl_tail % SDR_CTL_SLOTS) * q->ctl_size;
}

static void sdr_txq_ctl_push(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len,
			     uint8_t flags, uint8_t source)
{
	struct sdr_txq *q = &ctx->txq;
	uint32_t slot = q->ctl_tail % SDR_CTL_SLOTS;
	struct sdr_uc_tx *t;

	SDR_ASSERT(q->ctl_open && len);
	if (q->tail == SDR_TX_DESCS)
		sdr_txq_compact(q);
	t = &q->v[q->tail];
	q->own[q->tail++] = NULL;
	q->to[slot] = *to;
	q->ctl_tail++;
	q->ctl_open = false;
	memset(t, 0, sizeof(*t));
	t->kind = SDR_UC_TX_CTL;
	t->flags = flags;
	t->via = source;
	t->len = (uint32_t)len;
	t->buf = q->ctl + (size_t)slot * q->ctl_size;
	t->to = &q->to[slot];
}

void sdr_context_ctl_push(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len)
{
	SDR_ASSERT(len <= ctx->info.ctl_max);
	sdr_txq_ctl_push(ctx, to, len, 0, 0);
}

void sdr_context_ctl_push_ect(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len)
{
	SDR_ASSERT(len <= ctx->info.ctl_max);
	sdr_txq_ctl_push(ctx, to, len, SDR_UC_F_ECT, 0);
}

void sdr_context_ctl_push_probe(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len)
{
	SDR_ASSERT(len <= ctx->info.probe_max);
	sdr_txq_ctl_push(ctx, to, len, SDR_UC_F_PROBE, 0);
}

void sdr_context_ctl_push_from(struct sdr_context *ctx, uint8_t source,
			       const struct sdr_uc_addr *to, size_t len, uint8_t flags)
{
	SDR_ASSERT(source < ctx->info.sources);
	SDR_ASSERT(len <= (flags & SDR_UC_F_PROBE ? ctx->info.probe_max : ctx->info.ctl_max));
	sdr_txq_ctl_push(ctx, to, len, flags, source);
}
