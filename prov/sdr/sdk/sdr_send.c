/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sends: cutting messages into runs of packets.
 *
 * Public sends have a part (a range of packets) to go.  A one-shot send is a stream with one part
 * that was ended at once.  A message below the QP's limit is `ready` and its part moves into the
 * batch as room and rate allow, oldest first; one at or above the limit is `waiting` until the
 * receiver has posted its buffer (CTS). A message that the receiver is known to have completed is
 * not sent at all, and counts as sent.  To an rkeyed peer a message is also `waiting` until its key
 * has come; messages do not wait for each other's keys. When the message's last packet goes out,
 * the empty packets that carry the rest of a user immediate follow. Numbered sends (reliability
 * layer) go straight into the batch and know neither limit nor rate beyond start.
 *
 * Invariant: a handle is given back to the pool only with no descriptor of it in the batch, and to
 * the user of a public send only when the engine has read its registered memory too
 * (sdr_send_run.c), so an engine never reads a buffer that its owner has taken back.  A numbered
 * send's owner waits for the acknowledgement by itself.  Timer: the leaky bucket of rate_bps, in
 * engine time.
 */
#include <errno.h>

#include "base/sdr_assert.h"
#include "sdr_send.h"
#include "sdr_context.h"
#include "sdr_mr.h"
#include "sdr_pool.h"
#include "sdr_qp.h"
#include "sdr_send_run.h"
#include "sdr_txq.h"

/* a rate-limited sender injects at most this much (or a packet) at a time */
#define SDR_RATE_QUANTUM_NS 100000ull

/* ---- handles --------------------------------------------------------------------------------- */

static int sdr_send_new(struct sdr_qp *qp, uint32_t msn, uint64_t length, uint32_t imm,
			uint32_t flags, struct sdr_snd_handle **hdl)
{
	struct sdr_snd_handle *h;
	uint32_t frags = sdr_imm_frags(&qp->rxk.split);

	if (length > qp->max_msg || flags & ~SDR_SEND_IMM || (flags & SDR_SEND_IMM && !frags))
		return -EINVAL;
	if (!qp->connected)
		return -ENOTCONN;
	if (qp->err)
		return qp->err;
	h = sdr_pool_snd_get(&qp->ctx->pool);
	if (!h)
		return -ENOMEM;
	h->qp = qp;
	h->msn = msn;
	h->gen = sdr_qp_gen(qp, msn);
	h->length = length;
	h->npkts = h->total = sdr_qp_npkts(qp, length);
	h->tail = (uint32_t)(length - (uint64_t)(h->npkts - 1) * qp->mtu);
	if (flags & SDR_SEND_IMM) {
		h->uimm = imm;
		if (h->total < frags)
			h->total = frags;
	}
	sdr_list_add_tail(&h->all, &qp->sends);
	*hdl = h;
	return 0;
}

void sdr_send_free(struct sdr_snd_handle *h)
{
	struct sdr_uc *uc = h->qp->ctx->uc;

	SDR_ASSERT(!sdr_list_empty(&h->all)); /* one of qp->sends */
	sdr_txq_drop(h->qp->ctx, h);
	if (h->mr)
		uc->ops->mr_dereg(uc, h->mr);
	sdr_list_del(&h->link);
	sdr_list_del(&h->all);
	SDR_ASSERT(!h->queued);
	sdr_pool_snd_put(&h->qp->ctx->pool, h);
}

/* What is known of a message of an rkeyed peer: an entry of the ring, or NULL outside it. */
static const struct sdr_wire_key *sdr_send_key(const struct sdr_qp *qp, uint32_t msn)
{
	if (!qp->keys || qp->snd_limit - msn - 1 >= 1u << qp->rxk.split.id_bits)
		return NULL;
	return &qp->keys[sdr_qp_slot(qp, msn)];
}

/*
 * CTS or KEYS says that the receiver has completed this message: packets of it could only do harm
 * (see sdr_cts.c).
 */
static bool sdr_send_stale(const struct sdr_qp *qp, uint32_t msn)
{
	const struct sdr_wire_key *key = sdr_send_key(qp, msn);

	if (key && key->state == SDR_KEY_VOID)
		return true;
	return !qp->numbered && (int32_t)(msn + (1u << qp->rxk.split.id_bits) - qp->snd_limit) < 0;
}

static bool sdr_send_allowed(const struct sdr_qp *qp, uint32_t msn)
{
	const struct sdr_wire_key *key = sdr_send_key(qp, msn);

	return (int32_t)(msn - qp->snd_limit) < 0 && (!key || key->state);
}

static void sdr_send_key_take(struct sdr_snd_handle *h)
{
	const struct sdr_wire_key *key = sdr_send_key(h->qp, h->msn);

	if (key && key->state == SDR_KEY_LIVE)
		sdr_send_key_set(h, key->va, key->rkey);
}

/* ---- numbered sends -------------------------------------------------------------------------- */

int sdr_send_start_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_start_wr *wr,
		      struct sdr_snd_handle **hdl)
{
	int err;

	if (!qp || !wr || !hdl)
		return -EINVAL;
	if (!sdr_send_allowed(qp, msn))
		return -EAGAIN;
	err = sdr_send_new(qp, msn, wr->length, wr->imm, wr->flags, hdl);
	if (!err)
		sdr_send_key_take(*hdl);
	return err;
}

uint32_t sdr_send_packets(struct sdr_snd_handle *hdl, const void *base, uint32_t first, uint32_t n)
{
	const uint8_t *buf = base;

	SDR_ASSERT(hdl->qp && hdl->npkts <= hdl->total);
	if (first >= hdl->total)
		return 0;
	if (n > hdl->total - first)
		n = hdl->total - first;
	if (first < hdl->npkts && hdl->length)
		buf += (uint64_t)first * hdl->qp->mtu;
	return sdr_send_run(hdl, buf, first, n, sdr_send_reg(hdl, base));
}

int sdr_send_far(struct sdr_snd_handle *hdl, const struct sdr_mem *mem, const void *base)
{
	struct sdr_uc *uc = hdl->qp->ctx->uc;
	int ret;

	SDR_ASSERT(mem && hdl->length && !hdl->reg_tried);
	ret = uc->ops->mr_reg(uc, (void *)(uintptr_t)base, hdl->length, mem, &hdl->mr);
	if (ret) {
		hdl->mr = NULL;
		return ret;
	}
	hdl->reg_tried = true;
	hdl->mr_base = base;
	return 0;
}

void sdr_send_key_set(struct sdr_snd_handle *hdl, uint64_t va, uint32_t rkey)
{
	hdl->va = va;
	hdl->key = rkey;
	hdl->rkeyed = true;
}

void sdr_send_release(struct sdr_snd_handle *hdl)
{
	sdr_send_free(hdl);
}

/* ---- public sends ---------------------------------------------------------------------------- */

/* Payload bytes per 2^32 would overflow nothing before 2^64 / 8e9 bytes: far beyond a quantum. */
static uint64_t sdr_rate_ns(const struct sdr_qp *qp, uint64_t bytes)
{
	return bytes * 8000000000ull / qp->rate_bps;
}

/* Packets that the bucket lets go now. */
static uint32_t sdr_rate_quantum(const struct sdr_qp *qp)
{
	uint64_t n;

	if (!qp->rate_bps)
		return UINT32_MAX;
	if (qp->rate_at > qp->ctx->now)
		return 0;
	n = (uint64_t)((double)qp->rate_bps * SDR_RATE_QUANTUM_NS / 8e9 / qp->mtu);
	return n < 1 ? 1 : n > SDR_TRAIN_PKTS ? SDR_TRAIN_PKTS : (uint32_t)n;
}

static void sdr_rate_charge(struct sdr_qp *qp, uint32_t pkts)
{
	uint64_t now = qp->ctx->now;

	if (!qp->rate_bps)
		return;
	if (now > SDR_RATE_CATCHUP_NS && qp->rate_at < now - SDR_RATE_CATCHUP_NS)
		qp->rate_at = now - SDR_RATE_CATCHUP_NS;
	qp->rate_at += sdr_rate_ns(qp, (uint64_t)pkts * qp->mtu);
}

uint64_t sdr_send_due(const struct sdr_qp *qp)
{
	if (sdr_list_empty(&qp->ready) || qp->ctx->txq.blocked)
		return UINT64_MAX;
	return qp->rate_bps ? qp->rate_at : 0;
}

static void *sdr_send_part_mr(struct sdr_snd_handle *h)
{
	if (h->part_mr || !h->whole)
		return h->part_mr;
	return sdr_send_reg(h, h->part);
}

void sdr_send_pump(struct sdr_qp *qp)
{
	while (!sdr_list_empty(&qp->ready)) {
		struct sdr_snd_handle *h =
			sdr_container(qp->ready.next, struct sdr_snd_handle, link);

		while (h->part_next < h->part_end) {
			uint32_t n = h->part_end - h->part_next, q = sdr_rate_quantum(qp), got;
			const uint8_t *buf = h->part;

			if (n > q)
				n = q;
			if (!n)
				return;
			if (h->part_next < h->npkts && h->length)
				buf += (uint64_t)(h->part_next - h->part_first) * qp->mtu;
			got = sdr_send_run(h, buf, h->part_next, n, sdr_send_part_mr(h));
			SDR_ASSERT(got <= n);
			sdr_rate_charge(qp, got);
			h->part_next += got;
			if (got < n)
				return;
		}
		sdr_list_del(&h->link);
	}
}

/* The QP may have something to do now, outside or inside a round. */
static void sdr_send_kick(struct sdr_qp *qp)
{
	struct sdr_context *ctx = qp->ctx;

	if (!ctx->in_progress) {
		ctx->now = ctx->uc->ops->now(ctx->uc);
		ctx->txq.blocked = false;
	}
	sdr_send_pump(qp);
	sdr_qp_busy_update(qp);
	if (!ctx->in_progress)
		sdr_context_flush(ctx);
}

/* They are a prefix of all sends, but for those that are void. */
static void sdr_send_stale_drop(struct sdr_qp *qp, bool voids)
{
	struct sdr_list *e;

	sdr_list_each(e, &qp->sends) {
		struct sdr_snd_handle *h = sdr_container(e, struct sdr_snd_handle, all);

		if ((int32_t)(h->msn - qp->snd_limit) >= 0)
			return;
		if (!sdr_send_stale(qp, h->msn)) {
			if (!voids)
				return;
			continue;
		}
		h->part_next = h->part_end;
		sdr_list_del(&h->link);
		sdr_txq_drop(qp->ctx, h);
	}
}

static void sdr_send_ready(struct sdr_snd_handle *h)
{
	sdr_send_key_take(h);
	sdr_list_add_tail(&h->link, &h->qp->ready);
}

void sdr_send_review(struct sdr_qp *qp, bool voids)
{
	struct sdr_list *e, *next;

	sdr_send_stale_drop(qp, voids);
	sdr_list_each_safe(e, next, &qp->waiting) {
		struct sdr_snd_handle *h = sdr_container(e, struct sdr_snd_handle, link);

		if ((int32_t)(h->msn - qp->snd_limit) >= 0 && !qp->numbered)
			break; /* so are all behind it */
		if (!sdr_send_allowed(qp, h->msn))
			continue;
		sdr_list_del(&h->link);
		sdr_send_ready(h);
	}
	if (!sdr_list_empty(&qp->ready))
		sdr_send_kick(qp);
}

void sdr_qp_limit_set(struct sdr_qp *qp, uint32_t limit)
{
	if ((int32_t)(limit - qp->snd_limit) <= 0)
		return;
	qp->snd_limit = limit;
	sdr_send_review(qp, false);
}

static int sdr_send_open(struct sdr_qp *qp, uint32_t msn, const struct sdr_start_wr *wr,
			 struct sdr_snd_handle **hdl)
{
	int err;

	if (qp->nopen >= qp->window)
		return -EAGAIN;
	err = sdr_send_new(qp, msn, wr->length, wr->imm, wr->flags, hdl);
	if (err)
		return err;
	if ((int32_t)(msn + 1 - qp->snd_next) > 0)
		qp->snd_next = msn + 1;
	qp->nopen++;
	SDR_ASSERT(qp->nopen <= qp->window);
	return 0;
}

static void sdr_send_part(struct sdr_snd_handle *h, const void *addr, uint32_t first, uint32_t end)
{
	struct sdr_qp *qp = h->qp;

	if (sdr_send_stale(qp, h->msn))
		return;
	SDR_ASSERT(first <= end && end <= h->total && sdr_list_empty(&h->link));
	h->part = addr;
	h->part_first = h->part_next = first;
	h->part_end = end == h->npkts ? h->total : end;
	if (!sdr_send_allowed(qp, h->msn)) {
		sdr_list_add_tail(&h->link, &qp->waiting);
		return;
	}
	sdr_send_ready(h);
	sdr_send_kick(qp);
}

int sdr_send_stream_start(struct sdr_qp *qp, const struct sdr_start_wr *wr,
			  struct sdr_snd_handle **hdl)
{
	if (!qp || !wr || !hdl)
		return -EINVAL;
	return sdr_send_open(qp, qp->snd_next, wr, hdl);
}

int sdr_send_stream_start_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_start_wr *wr,
			     struct sdr_snd_handle **hdl)
{
	if (!qp || !wr || !hdl)
		return -EINVAL;
	return qp->numbered ? sdr_send_open(qp, msn, wr, hdl) : -EOPNOTSUPP;
}

/* Its key is for the caller to set. */
static bool sdr_send_keyless(const struct sdr_snd_handle *h)
{
	return h->qp->peer_rkeyed && !h->qp->keys && !h->rkeyed && h->length;
}

/* The part before is still to be sent. */
static bool sdr_send_pending(struct sdr_snd_handle *h)
{
	if (h->part_next < h->part_end)
		sdr_send_kick(h->qp);
	return h->part_next < h->part_end;
}

int sdr_send_stream_continue(struct sdr_snd_handle *hdl, const struct sdr_continue_wr *wr)
{
	struct sdr_qp *qp;
	uint32_t first, n;
	void *mr;

	if (!hdl || !hdl->qp || !wr || hdl->ended)
		return -EINVAL;
	qp = hdl->qp;
	if (wr->offset > hdl->length || wr->length > hdl->length - wr->offset ||
	    wr->offset % qp->mtu)
		return -EINVAL;
	if (wr->length % qp->mtu && wr->offset + wr->length != hdl->length)
		return -EINVAL;
	if ((wr->length && !wr->addr) || !sdr_mr_covers(wr->mr, qp->ctx, wr->addr, wr->length))
		return -EINVAL;
	if (!wr->length && hdl->length)
		return 0;
	if (qp->ctx->err || qp->err)
		return qp->ctx->err ? qp->ctx->err : qp->err;
	if (!sdr_send_allowed(qp, hdl->msn) || sdr_send_keyless(hdl) || sdr_send_pending(hdl))
		return -EAGAIN;
	mr = sdr_send_mr_of(hdl, wr->mr);
	if (hdl->part_mr != mr && sdr_send_reading(hdl))
		return -EAGAIN;
	hdl->part_mr = mr;
	first = (uint32_t)(wr->offset / qp->mtu);
	n = sdr_qp_npkts(qp, wr->length);
	sdr_send_part(hdl, wr->addr, first, first + n);
	return 0;
}

int sdr_send_imm_again(struct sdr_snd_handle *hdl)
{
	if (!hdl || !hdl->qp || hdl->ended)
		return -EINVAL;
	if (!sdr_imm_frags(&hdl->qp->rxk.split))
		return -EOPNOTSUPP;
	if (hdl->npkts == hdl->total)
		return 0;
	if (hdl->qp->ctx->err || hdl->qp->err)
		return hdl->qp->ctx->err ? hdl->qp->ctx->err : hdl->qp->err;
	if (!sdr_send_allowed(hdl->qp, hdl->msn) || sdr_send_keyless(hdl) || sdr_send_pending(hdl))
		return -EAGAIN;
	sdr_send_part(hdl, NULL, hdl->npkts, hdl->total);
	return 0;
}

int sdr_send_stream_end(struct sdr_snd_handle *hdl)
{
	if (!hdl || !hdl->qp || hdl->ended)
		return -EINVAL;
	hdl->ended = true;
	return 0;
}

int sdr_send_post(struct sdr_qp *qp, const struct sdr_snd_wr *wr, struct sdr_snd_handle **hdl)
{
	struct sdr_start_wr start;
	int err;

	if (!qp || !wr || !hdl || (wr->length && !wr->addr) ||
	    !sdr_mr_covers(wr->mr, qp->ctx, wr->addr, wr->length))
		return -EINVAL;
	if (qp->numbered && qp->peer_rkeyed)
		return -EOPNOTSUPP; /* there is no moment for its key: a stream has one */
	start = (struct sdr_start_wr){ wr->length, wr->imm, wr->flags };
	err = sdr_send_open(qp, qp->snd_next, &start, hdl);
	if (err)
		return err;
	(*hdl)->ended = (*hdl)->whole = true;
	(*hdl)->part_mr = sdr_send_mr_of(*hdl, wr->mr);
	sdr_send_part(*hdl, wr->addr, 0, (*hdl)->npkts);
	return 0;
}
