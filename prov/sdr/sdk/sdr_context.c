/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The context: what it owns, and how it is opened and closed.  What happens in it is
 * sdr_context_progress.c.
 *
 * It takes the engine that it is given and closes it at its end; QPs and registrations must be gone
 * by then.  Randomness: keys are SipHash of a counter under the 16 bytes given at creation, so that
 * one key reveals nothing about the next.  No timers; one thread at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_context.h"
#include "sdr_crew.h"
#include "sdr_qp.h"
#include "sdr_why.h"

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
	if (attr->mtu < SDR_MTU_MIN || attr->mtu > *mtu) {
		sdr_why(attr->why, attr->why_len,
			"mtu %u: this device carries %u to %u bytes of payload a packet", attr->mtu,
			SDR_MTU_MIN, *mtu);
		return -EINVAL;
	}
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
	ctx->txq.ctl_size = sdr_txq_ctl_most(&ctx->info);
	ctx->txq.ctl = malloc((size_t)SDR_CTL_SLOTS * ctx->txq.ctl_size);
	err = -ENOMEM;
	if (!ctx->txq.ctl)
		goto out_ctx;
	if (sdr_pool_init(&ctx->pool))
		goto out_ctl;
	if (ctx->info.workers && sdr_crew_create(ctx))
		goto out_pool;
	ctx->now = uc->ops->now(uc);
	return ctx;

out_pool:
	sdr_pool_free(&ctx->pool);
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
	SDR_ASSERT(sdr_list_empty(&ctx->busy) && sdr_list_empty(&ctx->touched));
	ctx->uc->ops->close(ctx->uc);
	sdr_crew_destroy(ctx->crew);
	sdr_pool_free(&ctx->pool);
	free(ctx->txq.ctl);
	free(ctx);
	return 0;
}

struct sdr_uc *sdr_context_uc(struct sdr_context *ctx)
{
	return ctx->uc;
}

void sdr_context_ctl_other_set(struct sdr_context *ctx, sdr_ctl_other_fn fn, void *user)
{
	ctx->other.fn = fn;
	ctx->other.user = user;
}

void sdr_context_path_set(struct sdr_context *ctx, sdr_path_fn fn, void *user)
{
	ctx->path.fn = fn;
	ctx->path.user = user;
}

void sdr_context_ctl_set(struct sdr_context *ctx, enum sdr_class cls, sdr_ctl_fn fn, void *user)
{
	SDR_ASSERT((unsigned int)cls < sizeof(ctx->cls) / sizeof(ctx->cls[0]));
	ctx->cls[cls].fn = fn;
	ctx->cls[cls].user = user;
}

uint64_t sdr_context_ctl_since(const struct sdr_context *ctx)
{
	return ctx->ctl_since;
}

uint8_t sdr_context_ctl_source(const struct sdr_context *ctx)
{
	return ctx->ctl_source;
}

uint8_t sdr_context_ctl_ecn(const struct sdr_context *ctx)
{
	return ctx->ctl_ecn;
}

struct sdr_qp *sdr_context_qp_find(struct sdr_context *ctx, uint32_t qpn)
{
	struct sdr_qp *qp = ctx->bucket[qpn % SDR_QP_BUCKETS];

	while (qp && qp->qpn != qpn)
		qp = qp->hash_next;
	return qp;
}

/* ---- reading --------------------------------------------------------------------------------- */

uint64_t sdr_context_now(struct sdr_context *ctx)
{
	return ctx->now;
}

int sdr_context_fd(struct sdr_context *ctx)
{
	return ctx->uc->ops->fd(ctx->uc);
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
