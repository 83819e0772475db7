/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Flows under `auto` that have nothing to send now and then: hands sdr_burst.c what it needs to
 * know of the world, and the window what comes of that.  Over near paths the law of the windows is
 * quick enough, and beside flows that do not yield (sdr_rival.c) there is nothing to be gained.
 *
 * Changes the window in the state of `auto`, and what is counted as lost by us.  No clock, no
 * timers, no threads, no allocation.
 */
#include <math.h>
#include "rel/path/sdr_auto_burst.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"

/* It may have looked far at first. */
static bool auto_burst_far(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	if (a->queue.base >= SDR_QDELAY_FAR_NS)
		return true;
	if (sdr_burst_holds(&a->burst) || a->burst.left > 0)
		sdr_burst_init(&a->burst, now);
	return false;
}

/*
 * What the path is known to carry in a round trip.  Who started amid others, or on a host that was
 * late, knows only what it had of it.
 */
static double auto_burst_full(const struct sdr_auto *a)
{
	if (!a->sure)
		return 0;
	return a->rival.most * (double)a->queue.base / SDR_CC_NS_PER_S;
}

bool sdr_auto_burst_begins(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double full = auto_burst_full(a), win = a->win;

	cc->begins = false;
	cc->begin_win = 0;
	/* paths of one connection begin together whenever it does, and mostly not at one line */
	if (cc->bond && cc->bond->n > 1)
		return false;
	if (!auto_burst_far(cc, now) || a->phase == SDR_AUTO_START ||
	    a->rival.state == SDR_RIVAL_WINDOW || a->rival.state == SDR_RIVAL_HOLD)
		return false;
	a->win = sdr_burst_begin(&a->burst, now, win, full);
	cc->begins = true;
	cc->begin_win = sdr_burst_holds(&a->burst) ? (uint32_t)fmin(a->win, UINT32_MAX) : 0;
	return a->win < win || a->win > win;
}

void sdr_auto_burst_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	uint64_t tx = ack->snap ? ack->snap_tx_ns : 0;
	double Bps = a->rival.most > 0 ? a->rival.most : (double)cc->pacing_Bps;
	struct sdr_burst_at at;

	if (!auto_burst_far(cc, ack->now))
		return;
	if (!sdr_burst_acked(&a->burst, ack->now - ack->delay, tx, ack->bytes,
			     ack->lost - ack->repaired, a->queue.base) &&
	    (ack->inflight || !(a->burst.left > 0)))
		return;
	at = (struct sdr_burst_at){ .mtu = cc->mtu,
				    .base = a->queue.base,
				    .target = sdr_auto_keeps(cc, a->win),
				    .together = (uint64_t)((double)cc->pacer.quantum / Bps *
							   SDR_CC_NS_PER_S),
				    .share = a->blame.share,
				    .full = auto_burst_full(a),
				    .mean = ack->sharers > 1 ? ack->sharers_win : 0,
				    .sharers = ack->sharers };
	cc->own_lost += (uint64_t)sdr_burst_judge(&a->burst, &at);
	cc->begins = false;
}

bool sdr_auto_burst_round(struct sdr_cc *cc, double target)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	const struct sdr_burst_round r = { .mtu = cc->mtu,
					   .queue = (double)a->queue.queue,
					   .target = target,
					   .lossy = a->lost > 0 };
	double grows = sdr_burst_round(&a->burst, &r);

	if (grows < 0)
		return false;
	if (a->frozen)
		a->frozen--;
	else
		a->win += grows * fmin(a->bytes, a->win);
	return true;
}
