/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long packets queue on their way: the smallest round trip of a round, less the smallest that
 * is remembered.  The smallest of a round, since late threads, batches and delayed acknowledgements
 * only ever add.
 *
 * A path may become longer, so the smallest is forgotten after one to two stretches.  It stays true
 * that long because every flow of ours empties the queue every few seconds (sdr_cc_auto.c).  No
 * clock, no timers, no threads, no allocation.
 */
#include "base/sdr_assert.h"
#include "sdr_qdelay.h"

void sdr_qdelay_init(struct sdr_qdelay *q, uint64_t now)
{
	*q = (struct sdr_qdelay){ .low = { UINT64_MAX, UINT64_MAX },
				  .begun = now,
				  .min = UINT64_MAX };
}

void sdr_qdelay_sample(struct sdr_qdelay *q, uint64_t now, uint64_t rtt)
{
	SDR_ASSERT(rtt);
	if (now >= q->begun + SDR_QDELAY_STRETCH_NS) {
		q->low[1] = q->low[0];
		q->low[0] = UINT64_MAX;
		q->begun = now;
	}
	if (rtt < q->low[0])
		q->low[0] = rtt;
	if (rtt < q->min)
		q->min = rtt;
	q->base = q->low[0] < q->low[1] ? q->low[0] : q->low[1];
	q->samples++;
}

bool sdr_qdelay_round(struct sdr_qdelay *q)
{
	if (!q->samples)
		return false;
	q->queue = sdr_qdelay_now(q);
	q->min = UINT64_MAX;
	q->samples = 0;
	return true;
}

uint64_t sdr_qdelay_now(const struct sdr_qdelay *q)
{
	if (!q->samples)
		return q->queue;
	return q->min > q->base ? q->min - q->base : 0;
}

void sdr_qdelay_forget(struct sdr_qdelay *q, uint64_t now, uint64_t rtt)
{
	sdr_qdelay_init(q, now);
	sdr_qdelay_sample(q, now, rtt);
}
