/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive side's message table: which message numbers are free, live or done.
 *
 * A number belongs to slot (number mod IDs) and generation (number / IDs mod generations).  The window of
 * numbers that may be live is [base, base + window): base is the lowest number that is not done, so two live
 * numbers never share a slot, and a number below base is done for good.  Inside the window a bitmap by slot
 * tells the done ones; the slot words of the receive worker tell the live ones.  Numbers wrap at 2^32, so
 * everything is compared as a distance from base.
 *
 * Late packets (law 2): closing clears the slot word first, so no bit is set any more, then unbinds the slot and
 * ends the grant, if there is one, so no byte is written; opening is the other way round and happens after the
 * engine has bound the buffer.  A packet of number n can therefore only be taken for n itself or for
 * n + generations * IDs * i: it must be older than generations * IDs messages to do harm, and that bound is exact.
 * (With grants it then sets a bit, and writes nothing: sdr_keys.c.)  No timers.
 */
#include "sdr_sdk_priv.h"

enum sdr_msgtab_state sdr_msgtab_state(const struct sdr_qp *qp, uint32_t msn)
{
	uint32_t d = msn - qp->base, slot = sdr_qp_slot(qp, msn);

	if (d >= 1u << 31)
		return SDR_MSG_DONE;
	if (d >= qp->window)
		return SDR_MSG_BEYOND;
	if (sdr_bitmap_test(qp->done, slot))
		return SDR_MSG_DONE;
	return qp->rxk.slots[slot] ? SDR_MSG_LIVE : SDR_MSG_FREE;
}

static void sdr_msgtab_done(struct sdr_qp *qp, uint32_t msn)
{
	sdr_bitmap_set(qp->done, sdr_qp_slot(qp, msn));
	while (sdr_bitmap_test(qp->done, sdr_qp_slot(qp, qp->base))) {
		sdr_bitmap_clear(qp->done, sdr_qp_slot(qp, qp->base));
		qp->base++;
	}
}

void sdr_msgtab_open(struct sdr_qp *qp, struct sdr_rcv_handle *h)
{
	uint32_t msn = h->st.msn;

	sdr_rxk_open(&qp->rxk, sdr_qp_slot(qp, msn), sdr_qp_gen(qp, msn), h->index);
	qp->nlive++;
}

void sdr_msgtab_close(struct sdr_qp *qp, struct sdr_rcv_handle *h)
{
	uint32_t slot = sdr_qp_slot(qp, h->st.msn);

	sdr_rxk_close(&qp->rxk, slot);
	qp->ctx->uc->ops->slot_unbind(qp->uqp, slot);
	sdr_qp_grant_end(qp, &h->grant);
	qp->nlive--;
	sdr_msgtab_done(qp, h->st.msn);
}

void sdr_msgtab_skip(struct sdr_qp *qp, uint32_t msn)
{
	sdr_msgtab_done(qp, msn);
}
