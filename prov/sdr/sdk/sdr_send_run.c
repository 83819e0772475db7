/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Runs: packets of one message as descriptors in the batch, and the registration under which they
 * are read.
 *
 * One descriptor carries a run of consecutive packets of one message: with several channels one GSO
 * train, channels taken in turn; with one channel a few trains, and a run that continues the last
 * descriptor extends it. All runs of a handle have the same key.
 *
 * Registration: from info.reg_min bytes on, one-shot and numbered sends are registered with the
 * engine at their first packets, for the life of the handle, and then read without a copy; if that
 * fails the engine copies.  A caller's own registration is used instead.  Parts of a stream that
 * come without one are copied.  Registered memory may be read after the descriptors have left the
 * batch: mr_busy says how long.  No timers.
 */
#include "base/sdr_assert.h"
#include "sdr_send_run.h"
#include "sdr_context.h"
#include "sdr_mr.h"
#include "sdr_qp.h"
#include "sdr_send.h"
#include "sdr_txq.h"

/* ---- runs ------------------------------------------------------------------------------------ */

static bool sdr_send_extend(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t first,
			    uint32_t n, uint32_t bytes, const void *mr)
{
	struct sdr_uc_tx *t = sdr_txq_last(h->qp->ctx, h);
	uint32_t mtu = h->qp->mtu;

	if (!t || t->mr != mr || (t->flags & SDR_UC_F_ECT) != h->qp->tx_flags ||
	    t->via != h->qp->tx_via || !t->len || t->len % mtu || t->buf + t->len != buf ||
	    t->w.first + t->len / mtu != first)
		return false;
	if (t->len / mtu + n > h->qp->run_pkts)
		return false;
	t->len += bytes;
	return true;
}

static void sdr_send_desc(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t first,
			  uint32_t bytes, void *mr)
{
	struct sdr_qp *qp = h->qp;
	struct sdr_uc_tx *t = sdr_txq_push(qp->ctx, h);

	t->kind = SDR_UC_TX_WRITE;
	t->flags = (uint8_t)(qp->tx_flags | (h->rkeyed ? SDR_UC_F_RKEYED : 0) |
			     (h->length >= qp->spread_min ? SDR_UC_F_SPREAD : 0));
	t->mr = bytes ? mr : NULL;
	t->w.rkey = h->key;
	t->w.va = h->va;
	t->gen = h->gen;
	t->channel = qp->channel;
	t->via = qp->tx_via;
	t->len = bytes;
	t->buf = buf;
	t->w.qp = qp->uqp;
	t->w.slot = sdr_qp_slot(qp, h->msn);
	t->w.first = first;
	t->w.user_imm = h->uimm;
	t->w.epoch = (h->msn >> qp->rxk.split.id_bits) / qp->generations;
	if (++qp->channel == qp->channels)
		qp->channel = 0;
}

uint32_t sdr_send_run(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t first, uint32_t n,
		      void *mr)
{
	static const uint8_t nothing[1];
	struct sdr_qp *qp = h->qp;
	uint32_t left = n;

	SDR_ASSERT(first <= h->total && n <= h->total - first);
	while (left) {
		uint32_t run = left < qp->run_pkts ? left : qp->run_pkts, bytes = 0;

		if (!sdr_txq_room(qp->ctx))
			break;
		if (first >= h->npkts) {
			sdr_send_desc(h, nothing, first, 0, NULL);
			first++;
			left--;
			continue;
		}
		if (run >= h->npkts - first) {
			run = h->npkts - first;
			bytes = (run - 1) * qp->mtu + h->tail;
		} else {
			bytes = run * qp->mtu;
		}
		if (!sdr_send_extend(h, buf, first, run, bytes, mr))
			sdr_send_desc(h, bytes ? buf : nothing, first, bytes, mr);
		qp->ctx->txq.bytes += bytes;
		if (bytes)
			buf += bytes;
		first += run;
		left -= run;
	}
	return n - left;
}

/* ---- registration ---------------------------------------------------------------------------- */

void *sdr_send_reg(struct sdr_snd_handle *h, const void *base)
{
	struct sdr_context *ctx = h->qp->ctx;

	if (!h->reg_tried && ctx->info.reg_min && h->length >= ctx->info.reg_min) {
		h->reg_tried = true;
		h->mr_base = base;
		if (ctx->uc->ops->mr_reg(ctx->uc, (void *)(uintptr_t)base, h->length, NULL, &h->mr))
			h->mr = NULL;
	}
	return h->mr_base == base ? h->mr : NULL;
}

void *sdr_send_mr_of(const struct sdr_snd_handle *h, const struct sdr_mr *mr)
{
	uint32_t min = h->qp->ctx->info.reg_min;

	return mr && min && h->length >= min ? mr->uc_mr : NULL;
}

bool sdr_send_reading(const struct sdr_snd_handle *h)
{
	struct sdr_uc *uc = h->qp->ctx->uc;
	bool (*busy)(struct sdr_uc * uc, void *mr) = uc->ops->mr_busy;

	if (!busy || !((h->mr && busy(uc, h->mr)) || (h->part_mr && busy(uc, h->part_mr))))
		return false;
	h->qp->ctx->tx_reading = true;
	return true;
}
