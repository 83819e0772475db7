/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Token bucket with hysteresis.  While credit lasts, packets leave as they come; when it is used up
 * the pacer waits until a whole quantum has grown, so that what leaves together fills a batch and
 * costs one wake-up.
 *
 * A caller that was told to wait and comes late has missed what grew beyond the quantum.  That is
 * owed to it, up to what the rate gives in SDR_PACER_OWED_SPANS spans, and comes back with this
 * quantum and the next ones, at most as much again with each (or what SDR_PACER_LATE_NS gives,
 * where that is more): a thread that always wakes late meets the rate, and one that slept for long
 * does not send all that it missed in one burst.  A caller that had nothing to send is not late:
 * idle time earns a quantum, and what was owed before is forgotten.
 *
 * Where a queue holds a few packets of all who share it, two of one together are too many: there
 * quanta come at twice the rate until what was missed has come back (spaced).
 *
 * In any interval t no more leaves than rate * t + quantum + what can be owed + a packet, and at
 * one moment no more than sdr_pacer_burst and a packet.  No clock, no threads.
 */
#include "base/sdr_assert.h"
#include "sdr_pacer.h"

#define SDR_NS_PER_S 1e9

static double pacer_bytes(const struct sdr_pacer *p, uint64_t ns)
{
	return (double)p->rate_Bps * ((double)ns / SDR_NS_PER_S);
}

/* Bytes of what was missed that may come back with one quantum. */
static double pacer_more(const struct sdr_pacer *p)
{
	double late = pacer_bytes(p, SDR_PACER_LATE_NS);

	return late > (double)p->quantum ? late : (double)p->quantum;
}

static double pacer_owed_max(const struct sdr_pacer *p)
{
	uint64_t ns = SDR_PACER_OWED_SPANS * p->span;

	return pacer_bytes(p, ns > SDR_PACER_OWED_MIN_NS ? ns : SDR_PACER_OWED_MIN_NS);
}

static void pacer_check(const struct sdr_pacer *p)
{
	SDR_ASSERT(p->pkt && p->quantum >= p->pkt);
	SDR_ASSERT(p->span >= SDR_PACER_SPAN_MIN_NS && p->span <= SDR_PACER_SPAN_MAX_NS);
	if (!p->rate_Bps)
		return;
	/* + 1: bytes are rounded */
	SDR_ASSERT(p->credit <= (double)p->quantum + pacer_more(p) + 1);
	SDR_ASSERT(p->owed >= 0 && p->owed <= pacer_owed_max(p) + 1);
	SDR_ASSERT(p->waiting || p->credit >= 1);
	SDR_ASSERT(p->waiting || !p->asked);
}

/* Rate, span or packet changed: the quantum follows, and nothing is more than it now may be. */
static void pacer_shape(struct sdr_pacer *p)
{
	double quantum = pacer_bytes(p, p->span), most;

	if (quantum > SDR_PACER_QUANTUM_MAX)
		quantum = SDR_PACER_QUANTUM_MAX;
	if (quantum < p->pkt)
		quantum = p->pkt;
	p->quantum = (uint64_t)quantum;
	most = p->waiting ? (double)p->quantum : (double)p->quantum + pacer_more(p);
	if (p->credit > most)
		p->credit = most;
	if (p->owed > pacer_owed_max(p))
		p->owed = pacer_owed_max(p);
}

static void pacer_earn(struct sdr_pacer *p, uint64_t now)
{
	double credit, over, most = pacer_owed_max(p), back;
	uint64_t dt = now - p->last;

	if (now <= p->last)
		return;
	credit = p->credit + pacer_bytes(p, dt);
	if (p->spaced && p->waiting) {
		back = pacer_bytes(p, dt) < p->owed ? pacer_bytes(p, dt) : p->owed;
		credit += back;
		p->owed -= back;
	}
	p->last = now;
	over = credit - (double)p->quantum;
	if (over <= 0) {
		p->credit = credit;
		return;
	}
	if (p->credit < (double)p->quantum)
		p->credit = (double)p->quantum;
	if (p->asked)
		p->owed = p->owed + over < most ? p->owed + over : most;
	else if (dt > p->span)
		p->owed = 0;
}

void sdr_pacer_init(struct sdr_pacer *p, uint32_t pkt, uint64_t now)
{
	SDR_ASSERT(pkt);
	p->rate_Bps = 0;
	p->span = SDR_PACER_SPAN_MIN_NS;
	p->pkt = pkt;
	p->quantum = pkt;
	p->credit = 0;
	p->owed = 0;
	p->last = now;
	p->waiting = false;
	p->asked = false;
	p->spaced = false;
}

void sdr_pacer_rate_set(struct sdr_pacer *p, uint64_t rate_Bps, uint64_t now)
{
	bool first = !p->rate_Bps;

	if (rate_Bps == p->rate_Bps)
		return;
	if (!first)
		pacer_earn(p, now);
	p->rate_Bps = rate_Bps;
	pacer_shape(p);
	if (first) {
		p->last = now;
		p->credit = (double)p->quantum;
		p->owed = 0;
		p->waiting = false;
		p->asked = false;
	}
	pacer_check(p);
}

void sdr_pacer_span_set(struct sdr_pacer *p, uint64_t ns)
{
	if (ns < SDR_PACER_SPAN_MIN_NS)
		ns = SDR_PACER_SPAN_MIN_NS;
	if (ns > SDR_PACER_SPAN_MAX_NS)
		ns = SDR_PACER_SPAN_MAX_NS;
	if (ns == p->span)
		return;
	p->span = ns;
	pacer_shape(p);
	pacer_check(p);
}

void sdr_pacer_pkt_set(struct sdr_pacer *p, uint32_t pkt)
{
	SDR_ASSERT(pkt);
	p->pkt = pkt;
	pacer_shape(p);
	pacer_check(p);
}

void sdr_pacer_spaced_set(struct sdr_pacer *p, bool spaced)
{
	p->spaced = spaced;
}

uint64_t sdr_pacer_allow(struct sdr_pacer *p, uint64_t now)
{
	double more;

	if (!p->rate_Bps)
		return UINT64_MAX;
	pacer_earn(p, now);
	if (p->waiting && p->credit >= (double)p->quantum) {
		more = p->owed < pacer_more(p) ? p->owed : pacer_more(p);
		more = p->spaced ? 0 : more;
		p->credit += more;
		p->owed -= more;
		p->waiting = false;
		p->asked = false;
	}
	p->asked = p->waiting;
	pacer_check(p);
	return p->waiting ? 0 : (uint64_t)p->credit;
}

void sdr_pacer_sent(struct sdr_pacer *p, uint64_t bytes)
{
	if (!p->rate_Bps)
		return;
	p->credit -= (double)bytes;
	if (p->credit < 1)
		p->waiting = true;
	pacer_check(p);
}

void sdr_pacer_pause(struct sdr_pacer *p, uint64_t ns, uint64_t now)
{
	if (!p->rate_Bps)
		return;
	pacer_earn(p, now);
	p->owed = 0;
	p->asked = false;
	p->waiting = true;
	p->credit = (double)p->quantum - pacer_bytes(p, ns);
	pacer_check(p);
}

uint64_t sdr_pacer_next(const struct sdr_pacer *p, uint64_t now)
{
	double need;

	if (!p->rate_Bps || !p->waiting)
		return now;
	need = (double)p->quantum - p->credit;
	if (need <= 0)
		return p->last < now ? p->last : now;
	if (p->spaced)
		need -= p->owed < need / 2 ? p->owed : need / 2;
	/*
	 * the nanosecond on top: rounding must not wake the caller just before the quantum is there
	 */
	return p->last + (uint64_t)(need * SDR_NS_PER_S / (double)p->rate_Bps) + 1;
}

uint64_t sdr_pacer_burst(const struct sdr_pacer *p)
{
	return p->rate_Bps ? p->quantum + (uint64_t)pacer_more(p) : UINT64_MAX;
}
