/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who yields to the delay of a queue starves beside those who do not: CUBIC and Reno fill every
 * queue, BBR takes what others leave.  This object finds out whether there are such rivals, and
 * says how large the window is while there are.
 *
 *   press   a queue that is long for SDR_RIVAL_PRESS_NS although we yielded to it: somebody fills
 *           it.  -> WINDOW, with the window from before
 *   PUSH    an own rate below a fifth (after losses, a twelfth) of what the path was seen to
 *           carry may mean many flows like us, or one that takes all (or that there is little to
 *           send: then the window is not used).  So now and then we send a quarter of the path
 *           more, for twelve round trips.  Flows like us yield within a few, and the queue goes;
 *           then the pause to the next push doubles.  If the queue is still long then, or packets
 *           are lost: -> WINDOW, with half of the path.  If our rate did not grow: the path
 *           carries no more, we are alone on it.
 *   WINDOW  the law of RFC 9438 (CUBIC), and a rate that is kept while no loss says otherwise:
 *           a window beside windows.  The queue has gone: -> NONE.  Losses again and again soon
 *           after a cut: they do not yield to losses either.  -> HOLD
 *   HOLD    the largest rate of ten rounds, as BBR, but never more than half of what the path
 *           was seen to carry; no reaction to losses.  Ends when the queue has gone for
 *           SDR_RIVAL_DRY rounds, and after a while by itself, to see who is still there.
 *
 * (Copa has the first two, by another rule; the experiment is ours.)  Runs at ends of rounds, no
 * clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_rival.h"

#define SDR_RIVAL_NS_PER_S 1e9
#define SDR_RIVAL_PRESS_NS (1500 * 1000000ull)
/* within that after rivals went they are recognised after some round trips */
#define SDR_RIVAL_RECENT_NS	(10 * 1000000000ull)
#define SDR_RIVAL_PRESS_RTTS	10u
#define SDR_RIVAL_PRESS_BEGIN	1.5 /* of the target: a queue that others begin */
#define SDR_RIVAL_PRESS_OVER	1.2 /* ... that has gone, but at most */
#define SDR_RIVAL_PRESS_OVER_NS 5e6
#define SDR_RIVAL_PRESS_LONG	3.0 /* of the target: a queue that is long, and at least */
#define SDR_RIVAL_PRESS_SHARE	0.1 /* of the round trip */
/* of what the path was seen to carry: so little may be too little, and where queues are short */
#define SDR_RIVAL_LITTLE	 0.2
#define SDR_RIVAL_LITTLE_SHALLOW 0.08
#define SDR_RIVAL_SHALLOW_NS	 (5 * 1000000000ull) /* losses so recently: it is short */
#define SDR_RIVAL_MORE		 0.25		     /* of that: what is sent more */
/* ns: shorter round trips are those of hosts and not of paths */
#define SDR_RIVAL_PUSH_RTT_NS (2 * 1000000ull)
#define SDR_RIVAL_PUSH_ROUNDS 12u
/* rounds in which the path was the limit, before anybody is suspected */
#define SDR_RIVAL_BUSY	    8u
#define SDR_RIVAL_BUSY_LESS 4u /* one in which it was not takes so many away */
#define SDR_RIVAL_BUSY_MAX  32u
/* after this round it is known whether others push, too: a queue of so many times the own, or a
 * share of losses */
#define SDR_RIVAL_PUSH_SENSE  3u
#define SDR_RIVAL_PUSH_OTHERS 2.5
#define SDR_RIVAL_PUSH_CRASH  0.35
#define SDR_RIVAL_PUSH_LOOK   8u  /* from this round on it counts what happens */
#define SDR_RIVAL_PUSH_BEGIN  1.5 /* of the target: a longer queue may be another's push */
/* of the target before a push, or of those with little: the queue of a crowd of flows like us */
#define SDR_RIVAL_PUSH_GREW	  2.5
#define SDR_RIVAL_PUSH_LONG	  3.0 /* of the target: a queue that nobody yields to */
#define SDR_RIVAL_PUSH_LOST	  0.02
#define SDR_RIVAL_PUSH_ALONE	  0.4 /* of the push: who gains less has it all already */
#define SDR_RIVAL_PUSH_WAIT_NS	  (500 * 1000000ull) /* with little, before a push: at least, ... */
#define SDR_RIVAL_PUSH_SPREAD_NS  (1000 * 1000000ull) /* ... and that much more by chance */
#define SDR_RIVAL_PUSH_USED	  0.25 /* of the window, by the rate: who uses less asks nothing */
#define SDR_RIVAL_PUSH_GAP_NS	  (8 * 1000000000ull)
#define SDR_RIVAL_PUSH_GAP_MAX_NS (600 * 1000000000ull)
#define SDR_RIVAL_HALF		  0.5 /* of the path: what is claimed */
/* RFC 9438: C packets per cubic second, beta */
#define SDR_RIVAL_CUBIC_C    0.4
#define SDR_RIVAL_CUBIC_BETA 0.7
#define SDR_RIVAL_GROWTH     1.5 /* of a window in a round, at most */
#define SDR_RIVAL_KEEP	     1.1 /* ... where a rate is kept */
#define SDR_RIVAL_CUT_LOST   0.005
#define SDR_RIVAL_CUT_RTTS   2u	 /* between two cuts */
#define SDR_RIVAL_AGAIN_RTTS 16u /* a loss so soon after a cut: they do not yield */
#define SDR_RIVAL_CUTS	     3u
#define SDR_RIVAL_GONE	     0.5 /* of the target: the queue has gone */
#define SDR_RIVAL_GONE_RTTS  4u
#define SDR_RIVAL_DRY	     40u
/* share lost, smoothed: too many hold, or too much */
#define SDR_RIVAL_HOLD_LOST 0.15
#define SDR_RIVAL_CYCLE	    8u

static double rival_trip(const struct sdr_rival_at *at)
{
	return (double)(at->base + at->queue) / SDR_RIVAL_NS_PER_S;
}

void sdr_rival_init(struct sdr_rival *r, uint64_t now, uint64_t random)
{
	memset(r, 0, sizeof(*r));
	r->push_gap = SDR_RIVAL_PUSH_GAP_NS;
	r->push_at = now + SDR_RIVAL_PUSH_WAIT_NS + random % SDR_RIVAL_PUSH_SPREAD_NS;
}

void sdr_rival_passes(struct sdr_rival *r, double rate_Bps)
{
	if (rate_Bps > r->most)
		r->most = rate_Bps;
}

static void rival_window(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	r->state = SDR_RIVAL_WINDOW;
	r->win_max = r->win_first = win;
	r->win_rate = win / rival_trip(at);
	r->cut_at = at->now;
	r->cuts = 0;
	r->press_at = 0;
}

static void rival_gone(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->state = SDR_RIVAL_NONE;
	r->press_at = 0;
	r->left_at = at->now;
	r->push_at = at->now + SDR_RIVAL_PUSH_WAIT_NS + at->random % SDR_RIVAL_PUSH_SPREAD_NS;
}

/* ---- is somebody there? ---------------------------------------------------------------------- */

static bool rival_press(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	double queue = (double)at->queue, target = (double)at->target;
	bool recent = r->left_at && at->now < r->left_at + SDR_RIVAL_RECENT_NS;
	double longest;

	if (!r->press_at) {
		if (queue > SDR_RIVAL_PRESS_BEGIN * target) {
			r->press_at = at->now;
			r->press_win = win;
		}
		return false;
	}
	longest = SDR_RIVAL_PRESS_LONG * fmin(target, (double)at->few);
	if (queue < fmin(SDR_RIVAL_PRESS_OVER * target, SDR_RIVAL_PRESS_OVER_NS))
		r->press_at = 0;
	else if (queue < longest || queue < SDR_RIVAL_PRESS_SHARE * (double)at->base)
		r->press_at = at->now;
	else
		return at->now > r->press_at + (recent ? SDR_RIVAL_PRESS_RTTS * at->base
						       : SDR_RIVAL_PRESS_NS);
	return false;
}

/* Little enough to ask why.  Behind a short queue flows like us yield too slowly to be told. */
static bool rival_little(const struct sdr_rival *r, uint64_t now)
{
	bool shallow = r->lost_at && now < r->lost_at + SDR_RIVAL_SHALLOW_NS;

	return r->rate < (shallow ? SDR_RIVAL_LITTLE_SHALLOW : SDR_RIVAL_LITTLE) * r->most;
}

static void rival_push_begin(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->push_base = (double)at->queue;
	r->push_long = SDR_RIVAL_PUSH_GREW * fmin((double)at->target, (double)at->few);
	r->state = SDR_RIVAL_PUSH;
	r->push_round = 0;
	r->push_from = r->rate;
	r->push_gain = r->push_queue = r->push_lost = r->push_bytes = 0;
	r->press_at = 0;
}

static void rival_push_later(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->state = SDR_RIVAL_NONE;
	r->push_at = at->now + r->push_gap / 2 + at->random % r->push_gap;
	if (r->push_gap < SDR_RIVAL_PUSH_GAP_MAX_NS)
		r->push_gap *= 2;
}

/* Back to where it was, and a longer pause. */
static void rival_push_ends(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	*win = r->push_from * (double)at->base / SDR_RIVAL_NS_PER_S;
	rival_push_later(r, at);
}

/* More has happened than our push can do: others push as well. */
static bool rival_collides(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	double own = SDR_RIVAL_MORE * SDR_RIVAL_PUSH_SENSE * (double)at->base;

	if (r->push_round != SDR_RIVAL_PUSH_SENSE)
		return false;
	return (double)at->queue - r->push_base > SDR_RIVAL_PUSH_OTHERS * own ||
	       at->lost > SDR_RIVAL_PUSH_CRASH * at->bytes;
}

static void rival_push(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	double more = SDR_RIVAL_MORE * r->most, n, longest;

	r->push_round++;
	if (at->app_limited) { /* it cannot push with nothing */
		rival_push_later(r, at);
		return;
	}
	if (rival_collides(r, at)) {
		rival_push_ends(r, at, win);
		return;
	}
	if (r->push_round >= SDR_RIVAL_PUSH_LOOK) {
		r->push_gain += (double)at->bw - r->push_from;
		r->push_queue += (double)at->queue;
		r->push_lost += at->lost;
		r->push_bytes += at->bytes;
	}
	*win = (r->push_from + more) * rival_trip(at);
	if (r->push_round < SDR_RIVAL_PUSH_ROUNDS)
		return;
	n = SDR_RIVAL_PUSH_ROUNDS - SDR_RIVAL_PUSH_LOOK + 1;
	longest = fmax(SDR_RIVAL_PUSH_LONG * (double)at->target, r->push_long);
	if (r->push_gain / n < SDR_RIVAL_PUSH_ALONE * more) {
		r->most = r->push_from + r->push_gain / n;
		rival_push_ends(r, at, win);
	} else if (r->push_queue / n < longest &&
		   r->push_lost <= SDR_RIVAL_PUSH_LOST * r->push_bytes) {
		rival_push_ends(r, at, win);
	} else {
		*win = SDR_RIVAL_HALF * r->most * rival_trip(at);
		rival_window(r, at, *win);
	}
}

/* ---- holding our own ------------------------------------------------------------------------- */

static void rival_hold(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	uint32_t i;

	r->state = SDR_RIVAL_HOLD;
	r->dry = 0;
	r->hold_lost = 0;
	r->push_at = at->now + 2 * r->push_gap;
	for (i = 0; i < SDR_RIVAL_ROUNDS; i++)
		r->bw[i] = r->win_first / rival_trip(at);
}

static void rival_in_window(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	uint64_t trip = at->base + at->queue, age = at->now - r->cut_at;
	double mtu = at->mtu, t, k, to;

	if ((double)at->queue < SDR_RIVAL_GONE * (double)at->target &&
	    age > SDR_RIVAL_GONE_RTTS * at->base) {
		rival_gone(r, at);
		return;
	}
	if (at->lost > SDR_RIVAL_CUT_LOST * at->bytes && age > SDR_RIVAL_CUT_RTTS * trip) {
		if (age > SDR_RIVAL_AGAIN_RTTS * trip) {
			r->cuts = 0;
			r->win_first = *win;
		} else if (++r->cuts >= SDR_RIVAL_CUTS) {
			*win = r->win_first;
			rival_hold(r, at);
			return;
		}
		r->win_max = *win;
		*win *= SDR_RIVAL_CUBIC_BETA;
		r->win_rate = *win / rival_trip(at);
		r->cut_at = at->now;
		return;
	}
	t = (double)(age + at->base) / SDR_RIVAL_NS_PER_S;
	k = cbrt(r->win_max / mtu * (1 - SDR_RIVAL_CUBIC_BETA) / SDR_RIVAL_CUBIC_C);
	to = fmin(SDR_RIVAL_CUBIC_C * pow(t - k, 3) * mtu + r->win_max, SDR_RIVAL_GROWTH * *win);
	if (to > *win)
		*win = to;
	to = fmin(r->win_rate * rival_trip(at), SDR_RIVAL_KEEP * *win);
	if (to > *win)
		*win = to;
}

static void rival_in_hold(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	double most = 0, trip = fmin(rival_trip(at), 2 * (double)at->base / SDR_RIVAL_NS_PER_S);
	uint32_t i;

	r->bw[++r->round % SDR_RIVAL_ROUNDS] = (double)at->bw;
	if (at->bytes > 0)
		r->hold_lost += (at->lost / at->bytes - r->hold_lost) / SDR_RIVAL_ROUNDS;
	r->dry = (double)at->queue > SDR_RIVAL_GONE * (double)at->target ? 0 : r->dry + 1;
	if (at->now > r->push_at || r->dry > SDR_RIVAL_DRY || r->hold_lost > SDR_RIVAL_HOLD_LOST) {
		if (r->dry <= SDR_RIVAL_DRY && r->push_gap < SDR_RIVAL_PUSH_GAP_MAX_NS)
			r->push_gap *= 2;
		rival_gone(r, at);
		r->left_at = 0;
		return;
	}
	for (i = 0; i < SDR_RIVAL_ROUNDS; i++)
		if (r->bw[i] > most)
			most = r->bw[i];
	*win = fmin(most, SDR_RIVAL_HALF * r->most) * trip;
}

/* ---- the round ------------------------------------------------------------------------------- */

static void rival_check(const struct sdr_rival *r)
{
	SDR_ASSERT(r->state <= SDR_RIVAL_HOLD && r->most >= 0 && r->rate >= 0);
	SDR_ASSERT(r->push_gap && r->push_round <= SDR_RIVAL_PUSH_ROUNDS);
	SDR_ASSERT(r->cuts <= SDR_RIVAL_CUTS);
}

bool sdr_rival_round(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	SDR_ASSERT(at->base && at->target && at->mtu && *win > 0);
	if (at->bw)
		r->rate = r->rate > 0 ? r->rate + ((double)at->bw - r->rate) / 4 : (double)at->bw;
	sdr_rival_passes(r, r->rate);
	if (r->state != SDR_RIVAL_PUSH && at->lost > SDR_RIVAL_CUT_LOST * at->bytes)
		r->lost_at = at->now;
	if (!at->app_limited)
		r->busy += r->busy < SDR_RIVAL_BUSY_MAX;
	else
		r->busy -= r->busy < SDR_RIVAL_BUSY_LESS ? r->busy : SDR_RIVAL_BUSY_LESS;
	switch (r->state) {
	case SDR_RIVAL_NONE:
		if (!rival_little(r, at->now) && at->now + SDR_RIVAL_PUSH_WAIT_NS > r->push_at)
			r->push_at = at->now + SDR_RIVAL_PUSH_WAIT_NS +
				     at->random % SDR_RIVAL_PUSH_SPREAD_NS;
		if (r->busy < SDR_RIVAL_BUSY) {
			r->press_at = 0; /* who sends little does not see it go */
			break;
		}
		if (rival_press(r, at, *win)) {
			if (r->press_win > *win)
				*win = r->press_win;
			rival_window(r, at, *win);
			/* it yielded long before: it may grow to half of the path */
			r->win_rate = fmax(r->win_rate, SDR_RIVAL_HALF * r->most);
		} else if (at->base >= SDR_RIVAL_PUSH_RTT_NS && at->now > r->push_at &&
			   rival_little(r, at->now) &&
			   r->rate * rival_trip(at) >= SDR_RIVAL_PUSH_USED * *win &&
			   (double)at->queue < SDR_RIVAL_PUSH_BEGIN * (double)at->target) {
			rival_push_begin(r, at);
		}
		break;
	case SDR_RIVAL_PUSH:
		rival_push(r, at, win);
		break;
	case SDR_RIVAL_WINDOW:
		rival_in_window(r, at, win);
		break;
	case SDR_RIVAL_HOLD:
		rival_in_hold(r, at, win);
		break;
	}
	rival_check(r);
	return r->state != SDR_RIVAL_NONE;
}

double sdr_rival_gain(const struct sdr_rival *r)
{
	if (r->state != SDR_RIVAL_HOLD)
		return 1;
	return r->round % SDR_RIVAL_CYCLE == 0 ? 1.25 : 1;
}
