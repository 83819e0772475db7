/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Token bucket with hysteresis.  While credit lasts, packets leave as they come; when it is used up
 * the pacer waits until a whole quantum has grown, so that what leaves together fills a batch.
 * Only a pacer that waits earns more than a quantum (its caller slept too long: at most
 * SDR_PACER_CATCHUP_NS more); an idle one does not.  Depth of the bucket, and so the burst: quantum
 * + rate * SDR_PACER_CATCHUP_NS, plus the packet that takes the last credit.  No clock, no threads.
 */
#include "base/sdr_assert.h"
#include "sdr_pacer.h"

#define SDR_NS_PER_S 1e9

static double sdr_pacer_catchup(const struct sdr_pacer *p)
{
	return (double)p->rate_Bps * ((double)SDR_PACER_CATCHUP_NS / SDR_NS_PER_S);
}

static void sdr_pacer_check(const struct sdr_pacer *p)
{
	SDR_ASSERT(p->quantum >= SDR_PACER_QUANTUM_MIN && p->quantum <= SDR_PACER_QUANTUM_MAX);
	/* + 1: the quantum is rounded to bytes */
	SDR_ASSERT(!p->rate_Bps || p->credit <= (double)p->quantum + sdr_pacer_catchup(p) + 1);
	SDR_ASSERT(!p->rate_Bps || p->waiting || p->credit >= 1);
}

static void sdr_pacer_earn(struct sdr_pacer *p, uint64_t now)
{
	double depth = (double)p->quantum, credit;

	if (now <= p->last)
		return;
	if (p->waiting)
		depth += sdr_pacer_catchup(p);
	credit = p->credit + (double)(now - p->last) * ((double)p->rate_Bps / SDR_NS_PER_S);
	p->last = now;
	if (credit > depth)
		credit = depth;
	if (credit > p->credit)
		p->credit = credit;
}

void sdr_pacer_init(struct sdr_pacer *p, uint64_t now)
{
	p->rate_Bps = 0;
	p->quantum = SDR_PACER_QUANTUM_MIN;
	p->credit = SDR_PACER_QUANTUM_MIN;
	p->last = now;
	p->waiting = false;
}

void sdr_pacer_rate_set(struct sdr_pacer *p, uint64_t rate_Bps, uint64_t now)
{
	double quantum, depth;

	if (rate_Bps == p->rate_Bps)
		return;
	if (p->rate_Bps) {
		sdr_pacer_earn(p, now);
	} else {
		p->last = now;
		p->credit = 0;
		p->waiting = false;
	}
	quantum = (double)rate_Bps * ((double)SDR_PACER_QUANTUM_NS / SDR_NS_PER_S);
	if (quantum < SDR_PACER_QUANTUM_MIN)
		quantum = SDR_PACER_QUANTUM_MIN;
	if (quantum > SDR_PACER_QUANTUM_MAX)
		quantum = SDR_PACER_QUANTUM_MAX;
	if (!p->rate_Bps)
		p->credit = quantum;
	p->rate_Bps = rate_Bps;
	p->quantum = (uint64_t)quantum;
	depth = quantum + sdr_pacer_catchup(p);
	if (p->credit > depth)
		p->credit = depth;
	sdr_pacer_check(p);
}

uint64_t sdr_pacer_allow(struct sdr_pacer *p, uint64_t now)
{
	if (!p->rate_Bps)
		return UINT64_MAX;
	sdr_pacer_earn(p, now);
	if (p->waiting && p->credit >= (double)p->quantum)
		p->waiting = false;
	sdr_pacer_check(p);
	return p->waiting || p->credit < 1 ? 0 : (uint64_t)p->credit;
}

void sdr_pacer_sent(struct sdr_pacer *p, uint64_t bytes)
{
	if (!p->rate_Bps)
		return;
	p->credit -= (double)bytes;
	if (p->credit < 1)
		p->waiting = true;
	sdr_pacer_check(p);
}

uint64_t sdr_pacer_next(const struct sdr_pacer *p, uint64_t now)
{
	double need;

	if (!p->rate_Bps)
		return now;
	need = (double)p->quantum - p->credit;
	if (need <= 0)
		return p->last < now ? p->last : now;
	/*
	 * the nanosecond on top: rounding must not wake the caller just before the quantum is there
	 */
	return p->last + (uint64_t)(need * SDR_NS_PER_S / (double)p->rate_Bps) + 1;
}
