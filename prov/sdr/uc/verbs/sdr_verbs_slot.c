/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Slots of a QP of the verbs engine, and whether anything can arrive for it: a QP is looked at
 * (`hot`) while a slot is bound or a grant is open, since nothing else can arrive that a receive
 * waits for.
 *
 * The owner binds and unbinds while workers look: pages stay until the QP goes, `bound` is set last
 * and cleared first, and what has events of the slot by then is waited for (sdr_verbs_crew_leave).
 */
#include <errno.h>
#include <stdlib.h>

#include "sdr_verbs_impl.h"

void sdr_verbs_qp_expect(struct sdr_verbs_qp *q, int delta)
{
	bool was = q->expected;
	uint32_t i;

	q->expected += (uint32_t)delta;
	for (i = 0; was != !!q->expected && i < q->nrq; i++) {
		sdr_verbs_lane_lock(q->rq[i].lane);
		sdr_verbs_rq_hot(&q->rq[i], !was);
		sdr_verbs_lane_unlock(q->rq[i].lane);
		if (!was)
			sdr_verbs_lane_wake(q->rq[i].lane);
	}
}

/* From now on nobody has events of it, until it is bound again. */
static void sdr_verbs_slot_leave(struct sdr_verbs_qp *q, uint32_t slot, struct sdr_verbs_slot *e)
{
	__atomic_store_n(&e->bound, false, __ATOMIC_RELEASE);
	sdr_verbs_crew_leave(q, slot);
}

int sdr_verbs_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			void *mr)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	struct sdr_verbs_slot **page, *e;
	uint32_t gen = use % q->generations, c;

	(void)mr;
	if (slot >= q->nslots || len > q->max_msg || (len && !buf))
		return -EINVAL;
	page = &q->pages[slot / SDR_VERBS_SLOT_PAGE];
	if (!*page) {
		e = calloc(SDR_VERBS_SLOT_PAGE, sizeof(*e));
		if (!e)
			return -ENOMEM;
		__atomic_store_n(page, e, __ATOMIC_RELEASE);
	}
	for (c = 0; c < q->channels; c++)
		sdr_verbs_tp_ready(&q->tp[gen * q->channels + c]);
	e = &(*page)[slot % SDR_VERBS_SLOT_PAGE];
	if (e->bound)
		sdr_verbs_slot_leave(q, slot, e);
	else
		sdr_verbs_qp_expect(q, 1);
	e->len = len;
	e->gen = (uint8_t)gen;
	__atomic_store_n(&e->bound, true, __ATOMIC_RELEASE);
	return 0;
}

void sdr_verbs_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	struct sdr_verbs_slot *e = sdr_verbs_slot_find(q, slot);

	if (!e || !e->bound)
		return;
	sdr_verbs_slot_leave(q, slot, e);
	sdr_verbs_qp_expect(q, -1);
}
