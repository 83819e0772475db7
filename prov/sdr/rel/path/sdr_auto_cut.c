/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What losses and marks make of the window of a flow under `auto`.  Which losses are whose is for
 * sdr_blame.c to say, once a round: under suspicion the window is cut as a question to the path;
 * ours put a bound on it, storms cut it at once, and what the weather or packets overtaken were cut
 * for is given back.  Marks cut it by half their smoothed share, once for what they tell.
 *
 * Changes window, bound and what the window returns to (before) in the state of `auto`; what was
 * ours is counted in cc->own_lost.  No timers.
 */
#include <math.h>
#include "rel/path/sdr_auto_cut.h"
#include "rel/path/sdr_cc_auto.h"

#define SDR_AUTO_CUT	   0.8	/* a question to the path */
#define SDR_AUTO_FULL	   0.95 /* an answer */
#define SDR_AUTO_STORM	   0.6
#define SDR_AUTO_BOUND	   0.95 /* of the window at which losses were ours */
#define SDR_AUTO_MARK_FADE 32.0 /* rounds over which marks are smoothed */

void sdr_auto_blame(struct sdr_cc *cc, uint64_t now, uint64_t target)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	const struct sdr_blame_at at = {
		.mtu = cc->mtu,
		.win = a->win,
		.queue = a->queue.queue,
		.target = target,
		.foul = a->overtakes || a->queue.base >= SDR_QDELAY_FAR_NS,
	};

	switch (sdr_blame_round(&a->blame, &at)) {
	case SDR_BLAME_SUSPECT:
		a->before = 0;
		a->win *= SDR_AUTO_CUT;
		break;
	case SDR_BLAME_WEATHER:
		a->win /= SDR_AUTO_CUT;
		break;
	case SDR_BLAME_OURS:
		a->bound = a->win / SDR_AUTO_CUT * SDR_AUTO_BOUND;
		a->bound_at = now;
		a->win *= SDR_AUTO_FULL;
		break;
	case SDR_BLAME_NOT_OURS:
		if (a->bound < HUGE_VAL)
			a->win = fmax(a->win, a->bound / SDR_AUTO_BOUND);
		a->bound = HUGE_VAL;
		break;
	case SDR_BLAME_FULL:
		a->before = 0;
		a->win *= SDR_AUTO_FULL;
		break;
	case SDR_BLAME_STORM:
		a->before = 0;
		a->win *= SDR_AUTO_STORM;
		a->bound = a->win;
		a->bound_at = now;
		a->frozen = SDR_AUTO_FROZEN_CUT;
		break;
	case SDR_BLAME_FOUL:
		/* to what passed before the cuts, as after a start */
		a->before =
			a->win * (1 - a->blame.share) / pow(SDR_AUTO_STORM, SDR_BLAME_STORMS - 1);
		a->bound = HUGE_VAL;
		break;
	case SDR_BLAME_NONE:
		break;
	}
	cc->own_lost += (uint64_t)a->blame.ours;
	a->burst.said += a->blame.ours;
}

void sdr_auto_marks(struct sdr_auto *a, uint64_t now)
{
	double share = a->bytes > 0 ? fmin(a->ce / a->bytes, 1) : 0;

	a->marked += (share - a->marked) / SDR_AUTO_MARK_FADE;
	/* the round after a cut still tells of what left before it */
	if (!(share > 0) || a->rounds <= a->marked_round + 1)
		return;
	a->marked_round = a->rounds;
	a->win *= 1 - a->marked / 2;
	a->bound = a->win;
	a->bound_at = now;
}

void sdr_auto_late(struct sdr_auto *a, double late)
{
	double win = sdr_blame_late(&a->blame, late);

	a->lost = fmax(0, a->lost - late);
	if (win <= a->win)
		return;
	a->before = fmax(a->before, win);
	a->bound = HUGE_VAL;
}
