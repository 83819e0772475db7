/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law by which the window of a flow under `auto` follows the queue, once a round in CRUISE.
 *
 *                win <- win * (base + target(win)) / (base + queue)
 *
 * It shrinks by no more than a share of itself a round, and not for the queue that START has made:
 * what START has learnt is what there was room for, and others have to yield.  It grows faster and
 * faster while there is hardly a queue, hardly beyond the bound above which losses were ours, which
 * is lifted after a while, never far beyond what a round carried, and not at all in the rounds
 * behind a cut.  Rounds in which the application was the limit say nothing of the path: such a
 * window grows to the first one again, or to what trains have shown, or bursts (sdr_auto_shown).
 *
 * Changes window, bound and pace in the state of `auto`, a round at a time; no timers.
 */
#include <math.h>
#include "rel/path/sdr_auto_burst.h"
#include "rel/path/sdr_auto_cruise.h"
#include "rel/path/sdr_auto_start.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"

#define SDR_AUTO_USED	    4	 /* times what a round carried: no window grows beyond */
#define SDR_AUTO_YIELD	    0.7	 /* of the window at least remains after a round */
#define SDR_AUTO_QUIET	    0.25 /* of the target: hardly any queue */
#define SDR_AUTO_PACE_STEP  1.25 /* a quiet path is filled faster and faster */
#define SDR_AUTO_BOUND_NS   (700 * 1000000ull) /* a bound stands that long, */
#define SDR_AUTO_BOUND_STEP 1.0		       /* and is lifted by that of the plain step a round */
#define SDR_AUTO_BOUND_OVER 1.02	       /* a window above it may grow by that */
#define SDR_AUTO_BOUND_SLOW 16.0 /* of what was sent, a round, where that was all there was */

static void auto_grow(struct sdr_cc *cc, uint64_t now, double step, const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double win = a->win + step * a->pace * sdr_auto_damp(cc), plain, used;

	if (a->frozen) {
		a->frozen--;
		return;
	}
	if (rate->app_limited && sdr_burst_holds(&a->burst))
		return;
	if (rate->app_limited) {
		/* whoever does not fill the path may begin as at first */
		if (now > a->bound_at + SDR_AUTO_BOUND_NS)
			a->bound += a->bytes / SDR_AUTO_BOUND_SLOW;
		plain = fmin(sdr_auto_first(cc), a->bound);
		if (a->win < plain)
			a->win = fmin(plain, a->win + a->bytes);
		/* it had nothing to send, but what it sent shows what would pass */
		plain = sdr_auto_shown(cc, rate);
		if (plain > a->win && plain < a->bound)
			a->win = plain;
		return;
	}
	if (win > a->bound) {
		if (now > a->bound_at + SDR_AUTO_BOUND_NS)
			a->bound += SDR_AUTO_BOUND_STEP * step;
		win = fmin(fmax(a->win, a->bound), a->win * SDR_AUTO_BOUND_OVER);
	}
	/* where not the window is the limit (a processor, the peer's buffer) it does not grow */
	used = SDR_AUTO_USED * (a->bytes + a->lost);
	a->win = fmin(win, fmax(a->win, used));
}

/*
 * A flight into an empty path meets no queue at its head, and one as long as it should be at its
 * end: the window is what fits, ...
 */
static bool auto_fits(const struct sdr_cc *cc, double aim, const struct sdr_cc_rate *rate)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	return !rate->app_limited && a->queue.base >= SDR_QDELAY_FAR_NS &&
	       (double)a->queue.ended > aim;
}

/* ... but for what was lost of it, a packet at a time: some of that may be weather. */
static void auto_fit(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double lost = sdr_blame_beyond(&a->blame, a->bytes + a->lost, a->lost);

	a->win = fmax(a->win - fmin(lost, cc->mtu), a->win * SDR_AUTO_YIELD);
}

void sdr_auto_cruise_round(struct sdr_cc *cc, uint64_t now, uint64_t target,
			   const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double base = (double)a->queue.base, queue = (double)a->queue.queue, aim = (double)target;
	double to = a->win * (base + aim) / (base + queue);
	bool burst = !a->blame.testing && sdr_auto_burst_round(cc, aim);

	if (fmax(queue, (double)a->queue.ended) >= SDR_AUTO_QUIET * aim) {
		a->quiet = 0;
		a->pace = 1;
	} else if (++a->quiet > SDR_AUTO_QUIET_ROUNDS) {
		a->pace = fmin(a->pace * SDR_AUTO_PACE_STEP, SDR_AUTO_PACE_MAX);
	}
	if (a->blame.testing)
		a->frozen = SDR_AUTO_FROZEN_CUT;
	else if (burst)
		a->quiet = 0;
	else if (to > a->win && auto_fits(cc, aim, rate))
		auto_fit(cc);
	else if (to > a->win || (rate->app_limited && a->win <= sdr_auto_first(cc)))
		auto_grow(cc, now, (to - a->win) * sdr_auto_lasted(cc), rate);
	else if (a->rounds > a->settled || a->queue.base < SDR_AUTO_NO_SWITCH_NS)
		a->win = fmax(a->win + (to - a->win) * sdr_auto_damp(cc), a->win * SDR_AUTO_YIELD);
}
