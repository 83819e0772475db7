/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives: posting, what a packet changes, completing.
 *
 * A receive is bound to its slot from post to complete.  In between packets of one slot that were
 * taken together go through the receive worker kernel, which writes the bitmaps, into a note
 * (sdr_recv_run, on any thread), and that into the sums (got, high, ...: sdr_recv_count) and cum
 * (sdr_recv_cum), in constant time a packet on average: cum only moves forward, over words.  The
 * round does both for what it polls, workers the first for what they place (sdr_crew.c).  Receives
 * that got packets in a round are on the context's list and their hook is called once at the
 * round's end.  Completing is final and immediate, in whatever state the message is.
 *
 * Where messages need a grant (rkeyed engines), a QP without hooks makes one here for the posted
 * buffer; with hooks the layer above does.  Packets without bytes are checked by no key, so a
 * message of no bytes has none.
 *
 * A packet counts only when its length is what belongs at its offset of the posted buffer, so
 * sender and receiver must agree on the message's length: of a shorter message the last, short
 * packet is not counted. A message of no bytes is one empty packet.  No timers.
 */
#include <errno.h>

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"

#include "sdr_recv.h"
#include "sdr_context.h"
#include "sdr_cts.h"
#include "sdr_mr.h"
#include "sdr_msgtab.h"
#include "sdr_pool.h"
#include "sdr_qp.h"

int sdr_recv_post_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_rcv_wr *wr, void *user,
		     struct sdr_rcv_handle **hdl)
{
	struct sdr_context *ctx;
	struct sdr_rcv_handle *h;
	uint32_t npkts, nchunks;
	void *mr;
	int err;

	if (!qp || !wr || !hdl || wr->length > qp->max_msg || (wr->length && !wr->addr) ||
	    !sdr_mr_covers(wr->mr, qp->ctx, wr->addr, wr->length))
		return -EINVAL;
	switch (sdr_msgtab_state(qp, msn)) {
	case SDR_MSG_FREE:
		break;
	case SDR_MSG_DONE:
		return -EALREADY;
	default:
		return -EBUSY;
	}
	ctx = qp->ctx;
	npkts = sdr_qp_npkts(qp, wr->length);
	nchunks = (npkts - 1) / qp->rxk.ppc + 1;
	h = sdr_pool_rcv_get(&ctx->pool, npkts, nchunks);
	if (!h)
		return -ENOMEM;
	h->k.tail = (uint32_t)(wr->length - (uint64_t)(npkts - 1) * qp->mtu);
	h->st.user = user;
	h->st.msn = msn;
	h->st.npkts = npkts;
	h->st.nchunks = nchunks;
	h->st.pkt_bits = h->k.pkt_bits;
	h->st.chunk_bits = h->k.chunk_bits;
	h->st.buf = wr->addr;
	h->st.length = wr->length;
	mr = wr->mr ? wr->mr->uc_mr : NULL;
	if (ctx->info.rkeyed && !qp->hooked && wr->length) {
		err = ctx->uc->ops->grant(qp->uqp, wr->addr, wr->length, NULL, mr, &h->grant);
		if (err)
			goto err_handle;
	}
	h->qp = qp;
	err = sdr_msgtab_open(qp, h, mr);
	if (err)
		goto err_grant;
	if ((int32_t)(msn + 1 - qp->next) > 0)
		qp->next = msn + 1;
	*hdl = h;
	return 0;

err_grant:
	sdr_qp_grant_end(qp, &h->grant);
	h->qp = NULL;
err_handle:
	sdr_pool_rcv_put(&ctx->pool, h);
	return err;
}

int sdr_recv_post(struct sdr_qp *qp, const struct sdr_rcv_wr *wr, struct sdr_rcv_handle **hdl)
{
	int err;

	if (!qp)
		return -EINVAL;
	if (qp->err)
		return qp->err;
	/* Numbers that were skipped are passed over. */
	if ((int32_t)(qp->base - qp->next) > 0)
		qp->next = qp->base;
	while (sdr_msgtab_state(qp, qp->next) == SDR_MSG_DONE)
		qp->next++;
	if (sdr_cts_gated(qp))
		return -EAGAIN;
	err = sdr_recv_post_at(qp, qp->next, wr, NULL, hdl);
	if (err)
		return err == -EBUSY ? -EAGAIN : err;
	sdr_cts_kick(qp);
	return 0;
}

int sdr_recv_is_done(const struct sdr_qp *qp, uint32_t msn)
{
	return sdr_msgtab_state(qp, msn) == SDR_MSG_DONE;
}

void sdr_recv_skip(struct sdr_qp *qp, uint32_t msn)
{
	(void)sdr_msgtab_skip(qp, msn, msn + 1);
}

uint32_t sdr_recv_skip_range(struct sdr_qp *qp, uint32_t lo, uint32_t hi)
{
	return sdr_msgtab_skip(qp, lo, hi);
}

struct sdr_rcv_handle *sdr_recv_find(const struct sdr_qp *qp, uint32_t msn)
{
	if (!qp || sdr_msgtab_state(qp, msn) != SDR_MSG_LIVE)
		return NULL;
	return sdr_container(sdr_rxk_msg_at(&qp->rxk, qp->rxk.slots[sdr_qp_slot(qp, msn)]),
			     struct sdr_rcv_handle, k);
}

uint32_t sdr_qp_recv_base(const struct sdr_qp *qp)
{
	return qp->base;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* One packet, whatever it is. */
static void sdr_recv_packet(struct sdr_recv_note *note, const struct sdr_uc_ev *ev)
{
	struct sdr_rxk_out out;
	enum sdr_rxk_res r = sdr_rxk_packet(&note->qp->rxk, ev->gen, ev->p.imm, ev->len, &out);

	note->late += r == SDR_RXK_LATE;
	note->bad += r == SDR_RXK_BAD;
	if (r == SDR_RXK_LATE || r == SDR_RXK_BAD)
		return;
	note->h = sdr_container(out.msg, struct sdr_rcv_handle, k);
	if (r == SDR_RXK_UIMM)
		return;
	note->last = out.off;
	if (r == SDR_RXK_DUP) {
		note->dups++;
		return;
	}
	note->fresh++;
	note->chunks += r == SDR_RXK_CHUNK;
	note->ecn[ev->ecn % SDR_UC_ECNS]++;
	if (out.off >= note->high)
		note->high = out.off + 1;
}

/* How many from the first on follow each other, are full but the last, and came alike. */
static int sdr_recv_row(const struct sdr_rxk *k, const struct sdr_uc_ev *ev, int n, uint32_t *imm)
{
	uint32_t off = sdr_imm_off(&k->split, ev->p.imm);
	int i;

	for (i = 0; i < n; i++) {
		if (sdr_imm_off(&k->split, ev[i].p.imm) != off + (uint32_t)i ||
		    ev[i].gen != ev->gen || ev[i].ecn != ev->ecn || (i && ev[i - 1].len != k->mtu))
			break;
		imm[i] = ev[i].p.imm;
	}
	return i;
}

void sdr_recv_run(struct sdr_qp *qp, const struct sdr_uc_ev *ev, int n, struct sdr_recv_note *note)
{
	uint32_t imm[SDR_UC_POLL_MIN];
	struct sdr_rxk_run run;
	int i, k;

	SDR_ASSERT(n > 0 && n <= (int)SDR_UC_POLL_MIN);
	*note = (struct sdr_recv_note){ .qp = qp, .via = ev->via };
	for (i = 0; i < n; i += k) {
		SDR_ASSERT(ev[i].p.cookie == qp);
		k = sdr_recv_row(&qp->rxk, ev + i, n - i, imm);
		if (!sdr_rxk_run(&qp->rxk, ev[i].gen, imm, (uint32_t)k, ev[i + k - 1].len, &run)) {
			k = 1;
			sdr_recv_packet(note, &ev[i]);
			continue;
		}
		if (!run.msg) {
			note->late += (uint16_t)k;
			continue;
		}
		note->h = sdr_container(run.msg, struct sdr_rcv_handle, k);
		note->last = sdr_imm_off(&qp->rxk.split, imm[k - 1]);
		note->dups += run.dups;
		note->fresh += run.fresh;
		note->chunks += run.chunks;
		note->ecn[ev[i].ecn % SDR_UC_ECNS] += (uint16_t)run.fresh;
		/* If the last of them had come before, it was counted as the highest then. */
		if (run.fresh && note->last >= note->high)
			note->high = note->last + 1;
	}
	if (note->h)
		note->msn = note->h->st.msn;
}

struct sdr_rcv_handle *sdr_recv_count(struct sdr_context *ctx, const struct sdr_recv_note *note)
{
	struct sdr_rcv_handle *h = note->h;
	struct sdr_qp *qp = note->qp;
	struct sdr_rcv_state *st;
	uint64_t *marks;
	uint32_t i;

	ctx->pkts_late += note->late;
	ctx->pkts_bad += note->bad;
	ctx->pkts_dup += note->dups;
	ctx->chunks_rx += note->chunks;
	/* Those of a message that has ended since came while it was there. */
	if (!qp || !h || h->qp != qp || h->st.msn != note->msn)
		return NULL;
	st = &h->st;
	st->dups += note->dups;
	if (note->fresh && !st->got && !qp->numbered && !ctx->info.rkeyed)
		sdr_cts_seen(qp, st->msn + 1);
	st->got += note->fresh;
	if (note->high > st->high)
		st->high = note->high;
	SDR_ASSERT(st->got <= st->high && st->high <= st->npkts);
	marks = note->via && qp->marks_via ? qp->marks_via[note->via - 1] : qp->hooks.marks;
	for (i = 0; marks && i < SDR_UC_ECNS; i++)
		marks[i] += note->ecn[i];
	if (note->fresh + note->dups) {
		st->last = note->last;
		st->last_ns = note->since && note->since < ctx->now ? note->since : ctx->now;
	}
	if (sdr_list_empty(&h->touched))
		sdr_list_add_tail(&h->touched, &ctx->touched);
	return h;
}

/*
 * It is taken from the bitmap, which may know of packets whose run has not been counted: those
 * count when it has.
 */
void sdr_recv_cum(struct sdr_rcv_handle *h)
{
	struct sdr_rcv_state *st = &h->st;
	uint32_t cum;

	if (st->cum < st->high && sdr_bitmap_test(st->pkt_bits, st->cum)) {
		cum = sdr_bitmap_next_zero(st->pkt_bits, st->cum, st->high);
		st->cum = cum < st->got ? cum : st->got;
	}
	SDR_ASSERT(st->cum <= st->got);
}

void sdr_recv_round_end(struct sdr_context *ctx)
{
	while (!sdr_list_empty(&ctx->touched)) {
		struct sdr_rcv_handle *h =
			sdr_container(ctx->touched.next, struct sdr_rcv_handle, touched);
		struct sdr_qp *qp = h->qp;

		SDR_ASSERT(qp);
		sdr_list_del(&h->touched);
		if (qp->hooks.recv_progress)
			qp->hooks.recv_progress(qp->hooks.user, h);
	}
}

/* ---- reading and ending ---------------------------------------------------------------------- */

const struct sdr_rcv_state *sdr_recv_state(const struct sdr_rcv_handle *hdl)
{
	return hdl && hdl->qp ? &hdl->st : NULL;
}

int sdr_recv_key_get(const struct sdr_rcv_handle *hdl, uint64_t *va, uint32_t *rkey)
{
	if (!hdl || !hdl->qp || !va || !rkey)
		return -EINVAL;
	*va = hdl->grant.va;
	*rkey = hdl->grant.rkey;
	return 0;
}

int sdr_recv_bitmap_get(struct sdr_rcv_handle *hdl, const uint8_t **bitmap, size_t *len)
{
	if (!hdl || !hdl->qp || !bitmap || !len)
		return -EINVAL;
	*bitmap = (const uint8_t *)hdl->k.chunk_bits;
	*len = ((size_t)hdl->st.nchunks + 7) / 8;
	return 0;
}

int sdr_recv_packet_bitmap_get(struct sdr_rcv_handle *hdl, const uint8_t **bitmap, size_t *len)
{
	if (!hdl || !hdl->qp || !bitmap || !len)
		return -EINVAL;
	*bitmap = (const uint8_t *)hdl->k.pkt_bits;
	*len = ((size_t)hdl->st.npkts + 7) / 8;
	return 0;
}

void sdr_recv_free(struct sdr_rcv_handle *h)
{
	struct sdr_qp *qp = h->qp;

	SDR_ASSERT(qp); /* not freed yet */
	sdr_msgtab_close(qp, h);
	sdr_list_del(&h->touched);
	sdr_pool_rcv_put(&qp->ctx->pool, h);
}

int sdr_recv_seal(struct sdr_rcv_handle *hdl)
{
	if (!hdl || !hdl->qp || hdl->qp->ctx->info.rkeyed)
		return -EINVAL;
	sdr_msgtab_seal(hdl->qp, hdl);
	return 0;
}

int sdr_recv_complete(struct sdr_rcv_handle *hdl)
{
	if (!hdl || !hdl->qp)
		return -EINVAL;
	sdr_recv_free(hdl);
	return 0;
}
