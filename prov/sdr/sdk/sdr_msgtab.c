/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive side's message table: which message numbers are free, live or done.
 *
 * A number belongs to slot (number mod IDs) and generation (number / IDs mod generations).  The
 * window of numbers that may be live is [base, base + window): base is the lowest number that is
 * not done, so two live numbers never share a slot, and a number below base is done for good.
 * Inside the window bitmaps by slot mark the done ones and the live ones; the slot words of the
 * receive worker say which of the live ones take packets.  Numbers wrap at 2^32, so everything is
 * compared as a distance from base.
 *
 * Late packets (law 2): closing clears the slot word first, so no bit is set any more, then unbinds
 * the slot and ends the grant, if there is one, so no byte is written; opening is the other way
 * round.  An engine with receive workers takes nothing for a slot before it is bound, and may take
 * something at once when it is: there the word is set before.  A packet of number n can therefore
 * only be taken for n itself or for n + generations * IDs * i: it must be older than generations *
 * IDs messages to do harm, and that bound is exact. (With grants it then sets a bit, and writes
 * nothing: sdr_keys.c.)  No timers.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"

#include "sdr_msgtab.h"
#include "sdr_context.h"
#include "sdr_qp.h"
#include "sdr_recv.h"
#include "sdr_rxk.h"
#include "sdr_sdk.h"

enum sdr_msgtab_state sdr_msgtab_state(const struct sdr_qp *qp, uint32_t msn)
{
	uint32_t d = msn - qp->base, slot = sdr_qp_slot(qp, msn);

	if (d >= 1u << 31)
		return SDR_MSG_DONE;
	if (d >= qp->window)
		return SDR_MSG_BEYOND;
	if (sdr_bitmap_test(qp->done, slot))
		return SDR_MSG_DONE;
	return sdr_bitmap_test(qp->live, slot) ? SDR_MSG_LIVE : SDR_MSG_FREE;
}

/* The base passes over what is done. */
static void sdr_msgtab_advance(struct sdr_qp *qp)
{
	uint32_t ids = 1u << qp->rxk.split.id_bits;

	for (;;) {
		uint32_t slot = sdr_qp_slot(qp, qp->base);
		uint32_t end = (slot | 63) + 1 < ids ? (slot | 63) + 1 : ids;
		uint32_t n = sdr_bitmap_next_zero(qp->done, slot, end) - slot;

		if (!n)
			return;
		sdr_bitmap_clear_range(qp->done, slot, slot + n);
		qp->base += n;
	}
}

static void sdr_msgtab_done(struct sdr_qp *qp, uint32_t msn)
{
	sdr_bitmap_set(qp->done, sdr_qp_slot(qp, msn));
	sdr_msgtab_advance(qp);
}

int sdr_msgtab_open(struct sdr_qp *qp, struct sdr_rcv_handle *h, void *mr)
{
	const struct sdr_context *ctx = qp->ctx;
	uint32_t msn = h->st.msn, slot = sdr_qp_slot(qp, msn);
	int err;

	SDR_ASSERT(h->qp == qp && sdr_msgtab_state(qp, msn) == SDR_MSG_FREE);
	if (ctx->crew)
		sdr_rxk_open(&qp->rxk, slot, sdr_qp_gen(qp, msn), h->index);
	err = ctx->uc->ops->slot_bind(qp->uqp, slot, msn >> qp->rxk.split.id_bits, h->st.buf,
				      h->st.length, mr);
	if (err) {
		sdr_rxk_close(&qp->rxk, slot);
		return err;
	}
	if (!ctx->crew)
		sdr_rxk_open(&qp->rxk, slot, sdr_qp_gen(qp, msn), h->index);
	sdr_bitmap_set(qp->live, sdr_qp_slot(qp, msn));
	qp->nlive++;
	SDR_ASSERT(qp->nlive <= qp->window);
	return 0;
}

void sdr_msgtab_seal(struct sdr_qp *qp, struct sdr_rcv_handle *h)
{
	uint32_t slot = sdr_qp_slot(qp, h->st.msn);

	SDR_ASSERT(sdr_msgtab_state(qp, h->st.msn) == SDR_MSG_LIVE);
	sdr_rxk_seal(&qp->rxk, slot);
	qp->ctx->uc->ops->slot_unbind(qp->uqp, slot);
}

void sdr_msgtab_close(struct sdr_qp *qp, struct sdr_rcv_handle *h)
{
	uint32_t slot = sdr_qp_slot(qp, h->st.msn);

	SDR_ASSERT(qp->nlive > 0 && sdr_msgtab_state(qp, h->st.msn) == SDR_MSG_LIVE);
	sdr_rxk_close(&qp->rxk, slot);
	sdr_bitmap_clear(qp->live, slot);
	qp->ctx->uc->ops->slot_unbind(qp->uqp, slot);
	sdr_qp_grant_end(qp, &h->grant);
	qp->nlive--;
	sdr_msgtab_done(qp, h->st.msn);
	SDR_ASSERT(!sdr_bitmap_test(qp->done, sdr_qp_slot(qp, qp->base)));
}

/* Nothing in the window is posted or done. */
static bool sdr_msgtab_blank(const struct sdr_qp *qp)
{
	uint32_t i, ids = 1u << qp->rxk.split.id_bits;

	if (qp->nlive)
		return false;
	for (i = 0; i < sdr_bitmap_words(ids); i++)
		if (qp->done[i])
			return false;
	return true;
}

/*
 * A peer may void a million numbers with one record, so nothing is done number by number: words of
 * the window are set at once, and where a range goes on behind an empty window the base goes to its
 * end.
 */
uint32_t sdr_msgtab_skip(struct sdr_qp *qp, uint32_t lo, uint32_t hi)
{
	uint32_t ids = 1u << qp->rxk.split.id_bits;

	SDR_ASSERT((int32_t)(hi - lo) >= 0);
	if ((int32_t)(lo - qp->base) < 0)
		lo = (int32_t)(hi - qp->base) < 0 ? hi : qp->base;
	while (lo != hi && lo - qp->base < qp->window) {
		uint32_t reach = qp->base + qp->window - lo;

		if (lo == qp->base && hi - lo > reach && sdr_msgtab_blank(qp)) {
			qp->base = lo = hi;
			break;
		}
		for (reach = hi - lo < reach ? hi - lo : reach; reach;) {
			uint32_t slot = sdr_qp_slot(qp, lo), n = 64 - (slot & 63);

			n = n < ids - slot ? n : ids - slot;
			n = n < reach ? n : reach;
			qp->done[slot / 64] |=
				sdr_bitmap_mask(slot & 63, (slot & 63) + n) & ~qp->live[slot / 64];
			lo += n;
			reach -= n;
		}
		sdr_msgtab_advance(qp);
	}
	return lo;
}
