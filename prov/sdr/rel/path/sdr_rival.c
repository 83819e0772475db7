/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who yields to the delay of a queue starves beside those who do not: CUBIC and Reno fill every
 * queue, BBR takes what others leave.  This object finds out whether there are such rivals, and
 * says how large the window is while there are.
 *
 *   press   a queue that is long for SDR_RIVAL_PRESS_NS although we yielded to it: somebody fills
 *           it; or one that was there all the time, and that flows like us would have drained
 *           (sdr_standing.c).  -> WINDOW
 *   PUSH    an own rate below a fifth (behind a short queue a twelfth) of what the path was seen
 *           to carry may mean many flows like us, or one that takes all (or that there is little
 *           to send: then the window is not used).  Many flows like us empty the path whenever
 *           they drain; where our last drain did not show that, and where we came to a queue that
 *           no crowd keeps, we send a quarter of the path more, for twelve round trips.  Flows
 *           like us yield within a few, and the queue goes; then the pause to the next push
 *           doubles.  If the queue stays long, or packets are lost, another push follows soon,
 *           since others may have pushed as well; the second time: -> WINDOW.  If our rate did not
 *           grow: the path carries no more, we are alone.
 *   LISTEN  behind a short queue BBR is told by its beat (sdr_beat.c), not by a push: our rate is
 *           kept for some rounds, to hear it better.  It is there: -> HOLD.  It is not: -> NONE
 *   WINDOW  opens to half of the path within a few rounds, whatever is lost meanwhile: who yields
 *           to losses yields to these.  What the path carries may be known too low, where it was
 *           full from the first packet on; so we look how much longer the round trip becomes with
 *           what we have in flight more, and as long as that is not longer, nothing is lost and we
 *           get what we ask for, a tenth more is asked for each round.  From then on the law of
 *           RFC 9438 (CUBIC), and a rate that is kept while no loss says otherwise: a window
 *           beside windows.  The queue has gone: -> NONE.  Losses again and again soon after a
 *           cut: they do not yield to losses either.  -> HOLD.  Most of a round is lost: it was in
 *           vain, and the next time a queue must stay for twice as long
 *   HOLD    the largest rate of ten rounds, as BBR, but never more than half of what the path
 *           was seen to carry; no reaction to losses.  Ends when the queue has gone for
 *           SDR_RIVAL_DRY rounds, and after a while by itself, to see who is still there: where
 *           it was a beat by listening again, at two thirds of that rate.
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
#define SDR_RIVAL_PRESS_MAX_NS	(24 * 1000000000ull)
#define SDR_RIVAL_PRESS_BEGIN	1.5 /* of the target: a queue that others begin */
#define SDR_RIVAL_PRESS_OVER	1.2 /* ... that has gone, but at most */
#define SDR_RIVAL_PRESS_OVER_NS 5e6
#define SDR_RIVAL_PRESS_LONG	3.0 /* of the target: a queue that is long, and at least */
/* of a round that are counted: round trips, and times that a packet has at the own rate */
#define SDR_RIVAL_PRESS_TRIPS 2.0
#define SDR_RIVAL_PRESS_PKTS  1.5
#define SDR_RIVAL_PRESS_DIP   3.0 /* rounds that one which is not takes back */
#define SDR_RIVAL_PRESS_SHARE 0.1 /* of the round trip */
/* of what the path was seen to carry: so little may be too little, and where queues are short */
#define SDR_RIVAL_LITTLE	 0.2
#define SDR_RIVAL_LITTLE_SHALLOW 0.08
#define SDR_RIVAL_SHALLOW_NS	 (5 * 1000000000ull) /* losses so recently: it is short */
#define SDR_RIVAL_SHALLOW	 1.25 /* of the round trip, the longest with losses */
#define SDR_RIVAL_MORE		 0.25 /* of that: what is sent more */
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
#define SDR_RIVAL_PUSH_GREW	 2.5
#define SDR_RIVAL_PUSH_ROSE	 0.08 /* of the round trip: it has grown by our push */
#define SDR_RIVAL_PUSH_LONG	 3.0  /* of the target: a queue that nobody yields to */
#define SDR_RIVAL_PUSH_YIELDED	 6u   /* by this round they have */
#define SDR_RIVAL_PUSH_CALM	 2u   /* rounds without that, and without losses: they yield */
#define SDR_RIVAL_PUSH_LOST	 0.02
#define SDR_RIVAL_PUSH_ALONE	 0.4 /* of the push: who gains less has it all already */
#define SDR_RIVAL_PUSH_WAIT_NS	 (500 * 1000000ull)  /* with little, before a push: at least, ... */
#define SDR_RIVAL_PUSH_SPREAD_NS (1000 * 1000000ull) /* ... and that much more by chance */
/* ... for a second one, and for one on suspicion */
#define SDR_RIVAL_PUSH_AGAIN_NS	  (500 * 1000000ull)
#define SDR_RIVAL_PUSH_SOON_NS	  (250 * 1000000ull)
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
#define SDR_RIVAL_AGAIN_RTTS 24u /* a loss so soon after a cut: they do not yield */
#define SDR_RIVAL_CUTS	     3u
#define SDR_RIVAL_CRASH	     0.4 /* of a round lost: it was no good to open */
/* to half of the path: from that share of it on, so many times more a round; then so many rounds
 * until it shows whether it is half; a round trip so many times longer tells it, and so many times
 * more is more, of which a part is sure */
#define SDR_RIVAL_OPEN_FROM    0.15
#define SDR_RIVAL_OPEN	       1.5
#define SDR_RIVAL_OPEN_ROUNDS  2u
#define SDR_RIVAL_OPEN_LONGER  1.05
#define SDR_RIVAL_OPEN_SHORTER 0.97
#define SDR_RIVAL_OPEN_SURE    0.9
#define SDR_RIVAL_OPEN_MORE    0.25 /* of what was in flight: so much more tells something */
#define SDR_RIVAL_OPEN_USED    0.7  /* of what is claimed: who has less has no use for more */
#define SDR_RIVAL_OPEN_STEP    1.1  /* beyond half, as long as the path takes it */
#define SDR_RIVAL_GONE	       0.5  /* of the target: the queue has gone */
#define SDR_RIVAL_GONE_RTTS    4u
#define SDR_RIVAL_DRY	       40u
/* share lost, smoothed: too many hold, or too much */
#define SDR_RIVAL_HOLD_LOST 0.15
/* ... after so many rounds: who measures rates, as BBR, sees then that there is less for it */
#define SDR_RIVAL_HOLD_ROUNDS 20u
#define SDR_RIVAL_CYCLE	      8u
/* who has less of the path listens for a beat; rounds that are held for one; and of what is held,
 * to hear it again */
#define SDR_RIVAL_LISTEN_LITTLE 0.35
#define SDR_RIVAL_STEADY	128u
#define SDR_RIVAL_LISTEN_AGAIN	0.67

static double rival_trip(const struct sdr_rival_at *at)
{
	return (double)(at->base + at->queue) / SDR_RIVAL_NS_PER_S;
}

void sdr_rival_init(struct sdr_rival *r, uint64_t now, uint64_t random)
{
	memset(r, 0, sizeof(*r));
	sdr_standing_init(&r->standing);
	r->claim = SDR_RIVAL_HALF;
	r->push_gap = SDR_RIVAL_PUSH_GAP_NS;
	r->press_ns = SDR_RIVAL_PRESS_NS;
	r->push_at = now + SDR_RIVAL_PUSH_WAIT_NS + random % SDR_RIVAL_PUSH_SPREAD_NS;
}

void sdr_rival_passes(struct sdr_rival *r, double rate_Bps)
{
	if (rate_Bps > r->most)
		r->most = rate_Bps;
}

/* What is in flight, bytes, and how long the round trip is with that. */
static void rival_measure_begin(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->open_lost = false;
	r->open_trip = r->open_last = rival_trip(at);
	r->open_win = r->open_bytes = (double)at->bw * r->open_trip;
}

static void rival_window(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	r->state = SDR_RIVAL_WINDOW;
	r->win_max = r->win_first = win;
	r->win_rate = win / rival_trip(at);
	r->cut_at = at->now;
	r->cuts = 0;
	r->press_at = 0;
	r->open = true;
	r->suspect = false;
	r->open_rounds = 0;
	r->open_half = r->claim * r->most;
	rival_measure_begin(r, at);
}

static void rival_gone(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->state = SDR_RIVAL_NONE;
	r->press_at = 0;
	r->left_at = at->now;
	r->push_at = at->now + SDR_RIVAL_PUSH_WAIT_NS + at->random % SDR_RIVAL_PUSH_SPREAD_NS;
}

/* Nothing was won by it: next time later. */
static void rival_in_vain(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	rival_gone(r, at);
	r->left_at = 0;
	if (r->press_ns < SDR_RIVAL_PRESS_MAX_NS)
		r->press_ns *= 2;
}

/*
 * What the path carries: so much more of ours in flight has made the round trip so much longer.
 * Of those who fill the queue by themselves meanwhile it is less.
 */
static void rival_measures(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	double trip = rival_trip(at), more = r->open_bytes - r->open_win;

	if (trip < SDR_RIVAL_OPEN_SHORTER * r->open_last) { /* others have yielded */
		rival_measure_begin(r, at);
		return;
	}
	r->open_lost |= at->lost > 0;
	r->open_bytes = (double)at->bw * trip;
	r->open_last = trip;
	if (trip > SDR_RIVAL_OPEN_LONGER * r->open_trip &&
	    more > SDR_RIVAL_OPEN_MORE * r->open_win && !r->open_lost)
		sdr_rival_passes(r, fmin(SDR_RIVAL_OPEN_SURE * more / (trip - r->open_trip),
					 SDR_RIVAL_OPEN * r->most));
}

/* ---- is somebody there? ---------------------------------------------------------------------- */

/* Longer than what a crowd of flows like us would keep. */
static double rival_long(const struct sdr_rival_at *at)
{
	return SDR_RIVAL_PRESS_LONG * fmin((double)at->target, (double)at->few);
}

static bool rival_press(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	double queue = (double)at->queue, target = (double)at->target;
	bool recent = r->left_at && at->now < r->left_at + SDR_RIVAL_RECENT_NS;
	double longest = rival_long(at), seen;

	/* a round in which nothing arrived for long saw no queue */
	seen = (SDR_RIVAL_PRESS_TRIPS + SDR_RIVAL_PRESS_PKTS * at->mtu / win) *
	       ((double)at->base + queue);
	if (r->press_at && (double)(at->now - r->round_at) > seen)
		r->press_at += at->now - r->round_at - (uint64_t)seen;
	if (!r->press_at) {
		if (queue > SDR_RIVAL_PRESS_BEGIN * target || queue > longest)
			r->press_at = at->now;
		return false;
	}
	if (r->shorter)
		return false;
	if (queue < fmin(SDR_RIVAL_PRESS_OVER * target, SDR_RIVAL_PRESS_OVER_NS))
		r->press_at = 0;
	else if (queue < longest || queue < SDR_RIVAL_PRESS_SHARE * (double)at->base)
		r->press_at += (uint64_t)(SDR_RIVAL_PRESS_DIP * (double)(at->now - r->round_at));
	else
		return at->now >
		       r->press_at + (recent ? SDR_RIVAL_PRESS_RTTS * at->base : r->press_ns);
	if (r->press_at > at->now)
		r->press_at = at->now;
	return false;
}

/* Little enough to ask why.  Behind a short queue flows like us yield too slowly to be told. */
static bool rival_little(const struct sdr_rival *r, uint64_t now)
{
	bool shallow = r->lost_at && now < r->lost_at + SDR_RIVAL_SHALLOW_NS &&
		       (double)r->lost_trip < SDR_RIVAL_SHALLOW * (double)r->base;

	return r->rate < (shallow ? SDR_RIVAL_LITTLE_SHALLOW : SDR_RIVAL_LITTLE) * r->most;
}

/* Asks soon, but not with others who were there. */
static void rival_suspects(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->suspect = true;
	r->push_at = at->now + at->random % SDR_RIVAL_PUSH_SOON_NS;
}

static bool rival_asks(const struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	bool reason =
		r->suspect || ((r->standing.stays || r->push_sure) && rival_little(r, at->now));

	return reason && r->busy >= SDR_RIVAL_BUSY && at->now > r->push_at &&
	       at->base >= SDR_RIVAL_PUSH_RTT_NS &&
	       r->rate * rival_trip(at) >= SDR_RIVAL_PUSH_USED * win &&
	       (double)at->queue < SDR_RIVAL_PUSH_BEGIN * (double)at->target &&
	       (double)at->queue < rival_long(at);
}

static void rival_push_begin(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->push_base = (double)at->queue;
	r->push_long = fmin(SDR_RIVAL_PUSH_GREW * fmin((double)at->target, (double)at->few),
			    r->push_base + SDR_RIVAL_PUSH_ROSE * (double)at->base);
	r->state = SDR_RIVAL_PUSH;
	r->push_round = r->push_calm = 0;
	r->push_from = r->rate;
	r->push_gain = r->push_queue = r->push_lost = r->push_bytes = 0;
}

static void rival_push_rarer(struct sdr_rival *r)
{
	if (r->push_gap < SDR_RIVAL_PUSH_GAP_MAX_NS)
		r->push_gap *= 2;
}

static void rival_push_later(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	r->state = SDR_RIVAL_NONE;
	r->push_at = at->now + r->push_gap / 2 + at->random % r->push_gap;
	rival_push_rarer(r);
}

/* To where it was. */
static void rival_push_back(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	r->state = SDR_RIVAL_NONE;
	*win = r->push_from * (double)at->base / SDR_RIVAL_NS_PER_S;
}

/* To where it was, and a longer pause. */
static void rival_push_ends(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	rival_push_back(r, at, win);
	r->push_sure = r->suspect = false;
	r->press_at = 0;
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
	longest = fmax(SDR_RIVAL_PUSH_LONG * (double)at->target, fmin(r->push_base, r->push_long));
	if (r->push_round >= SDR_RIVAL_PUSH_YIELDED && (double)at->queue < longest &&
	    at->lost <= SDR_RIVAL_PUSH_LOST * at->bytes)
		r->push_calm++;
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
	if (r->push_gain / n < SDR_RIVAL_PUSH_ALONE * more) {
		r->most = r->push_from + r->push_gain / n;
		rival_push_ends(r, at, win);
	} else if (r->push_calm >= SDR_RIVAL_PUSH_CALM ||
		   (r->push_queue / n < fmax(longest, r->push_long) &&
		    r->push_lost <= SDR_RIVAL_PUSH_LOST * r->push_bytes)) {
		rival_push_ends(r, at, win);
	} else if (!r->push_sure) {
		/* it may have been another's push: once more, at another time */
		rival_push_back(r, at, win);
		r->push_sure = true;
		r->push_at = at->now + at->random % SDR_RIVAL_PUSH_AGAIN_NS;
	} else {
		r->push_sure = false;
		*win = r->claim * r->most * rival_trip(at);
		rival_window(r, at, *win);
	}
}

/* ---- holding our own ------------------------------------------------------------------------- */

static void rival_hold(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	uint32_t i;

	r->state = SDR_RIVAL_HOLD;
	r->steady = false;
	r->dry = r->held = 0;
	r->hold_lost = 0;
	r->push_at = at->now + 2 * r->push_gap;
	for (i = 0; i < SDR_RIVAL_ROUNDS; i++)
		r->bw[i] = r->win_first / rival_trip(at);
}

static double rival_hold_trip(const struct sdr_rival_at *at)
{
	return fmin(rival_trip(at), 2 * (double)at->base / SDR_RIVAL_NS_PER_S);
}

static void rival_listen(struct sdr_rival *r, double rate, bool again)
{
	r->state = SDR_RIVAL_LISTEN;
	r->press_at = 0;
	sdr_beat_listen(&r->beat, rate, again);
}

static void rival_in_listen(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	*win = r->beat.rate * rival_hold_trip(at);
	switch (sdr_beat_listens(&r->beat, at->now)) {
	case SDR_BEAT_WAIT:
		break;
	case SDR_BEAT_HEARD:
		r->win_first = *win = r->claim * r->most * rival_trip(at);
		rival_hold(r, at);
		r->steady = true;
		break;
	case SDR_BEAT_SILENT:
		r->state = SDR_RIVAL_NONE;
		break;
	}
}

/* Up to half of the path. */
static void rival_opens(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	double half;

	rival_measures(r, at);
	r->open_half = fmax(r->open_half, r->claim * r->most);
	half = r->open_half * rival_trip(at);
	if (SDR_RIVAL_KEEP * *win < half) {
		*win = fmin(SDR_RIVAL_OPEN * *win, half);
		return;
	}
	*win = half;
	/* the path takes it, and the queue is no longer for it: it takes more */
	if (at->lost <= SDR_RIVAL_CUT_LOST * at->bytes &&
	    (double)at->bw > SDR_RIVAL_OPEN_USED * r->open_half &&
	    rival_trip(at) <= SDR_RIVAL_OPEN_LONGER * r->open_trip) {
		r->open_half *= SDR_RIVAL_OPEN_STEP;
		r->open_win = r->open_bytes; /* others have left it */
		r->open_rounds = 0;
		return;
	}
	if (++r->open_rounds <= SDR_RIVAL_OPEN_ROUNDS)
		return;
	r->open = false;
	r->win_max = r->win_first = *win;
	r->win_rate = r->open_half;
	r->cut_at = at->now;
}

static void rival_in_window(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	uint64_t trip = at->base + at->queue, age = at->now - r->cut_at;
	double mtu = at->mtu, t, k, to;

	if (!r->shorter && (double)at->queue < SDR_RIVAL_GONE * (double)at->target &&
	    age > SDR_RIVAL_GONE_RTTS * at->base) {
		rival_gone(r, at);
		return;
	}
	if (at->lost > SDR_RIVAL_CRASH * at->bytes) {
		*win *= SDR_RIVAL_HALF;
		rival_in_vain(r, at);
		return;
	}
	if (r->open) {
		rival_opens(r, at, win);
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
		r->win_rate = 0;
		r->cut_at = at->now;
		return;
	}
	/* what is kept is the rate after everybody's cut */
	if (!(r->win_rate > 0) && age > SDR_RIVAL_CUT_RTTS * trip)
		r->win_rate = *win / rival_trip(at);
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
	double most = 0;
	uint32_t i;

	r->bw[++r->round % SDR_RIVAL_ROUNDS] = (double)at->bw;
	if (at->bytes > 0)
		r->hold_lost += (at->lost / at->bytes - r->hold_lost) / SDR_RIVAL_ROUNDS;
	r->dry = (double)at->queue > SDR_RIVAL_GONE * (double)at->target ? 0 : r->dry + 1;
	if (r->dry > SDR_RIVAL_DRY || at->now > r->push_at) {
		if (r->dry <= SDR_RIVAL_DRY)
			rival_push_rarer(r);
		rival_gone(r, at);
		r->left_at = 0;
		return;
	}
	if (++r->held > SDR_RIVAL_HOLD_ROUNDS && r->hold_lost > SDR_RIVAL_HOLD_LOST) {
		rival_push_rarer(r);
		rival_in_vain(r, at);
		return;
	}
	if (r->steady && r->held > SDR_RIVAL_STEADY) {
		rival_listen(r, SDR_RIVAL_LISTEN_AGAIN * r->claim * r->most, true);
		return;
	}
	for (i = 0; i < SDR_RIVAL_ROUNDS; i++)
		if (r->bw[i] > most)
			most = r->bw[i];
	*win = fmin(most, r->claim * r->most) * rival_hold_trip(at);
}

/* ---- the round ------------------------------------------------------------------------------- */

/* What we do to the queue ourselves has no beat. */
static void rival_hears(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	const struct sdr_beat_at look = {
		.now = at->now,
		.base = at->base,
		.queue = at->queue,
		.mtu = at->mtu,
		.win = win,
		.lost = at->lost,
		.drains = at->drains,
	};

	if (r->state == SDR_RIVAL_PUSH || r->state == SDR_RIVAL_WINDOW)
		sdr_beat_init(&r->beat);
	else
		sdr_beat_round(&r->beat, &look);
}

static bool rival_beats(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	return r->busy >= SDR_RIVAL_BUSY && at->base >= SDR_RIVAL_PUSH_RTT_NS &&
	       r->rate < SDR_RIVAL_LISTEN_LITTLE * r->most && sdr_beat_worth(&r->beat, at->now);
}

static void rival_check(const struct sdr_rival *r)
{
	SDR_ASSERT(r->state <= SDR_RIVAL_HOLD && r->most >= 0 && r->rate >= 0);
	SDR_ASSERT(r->push_gap && r->push_round <= SDR_RIVAL_PUSH_ROUNDS);
	SDR_ASSERT(r->cuts <= SDR_RIVAL_CUTS);
}

/* What is claimed beside rivals: half of the path, or of those together a part of it. */
static void rival_claim(struct sdr_rival *r, double claim)
{
	if (claim == r->claim)
		return;
	r->open_half *= claim / r->claim;
	r->claim = claim;
}

bool sdr_rival_round(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	const struct sdr_standing_at look = {
		.now = at->now,
		.base = at->base,
		.queue = at->queue,
		.few = at->few,
		.drains = at->drains,
	};
	enum sdr_standing_says says = SDR_STANDING_NOTHING;

	SDR_ASSERT(at->base && at->target && at->mtu && *win > 0);
	rival_claim(r, at->together ? SDR_RIVAL_HALF / at->together : SDR_RIVAL_HALF);
	if (at->bw)
		r->rate = r->rate > 0 ? r->rate + ((double)at->bw - r->rate) / 4 : (double)at->bw;
	sdr_rival_passes(r, r->rate);
	r->shorter = at->base + at->target / 2 < r->base;
	if (r->state == SDR_RIVAL_NONE && at->base >= SDR_RIVAL_PUSH_RTT_NS)
		says = sdr_standing_base(&r->standing, &look);
	sdr_standing_drained(&r->standing, &look);
	r->base = at->base;
	/* before we have drained it is not known how short the queue is */
	if (at->drains && r->state != SDR_RIVAL_PUSH && at->lost > SDR_RIVAL_CUT_LOST * at->bytes) {
		r->lost_at = at->now;
		r->lost_trip = at->base + at->queue;
	}
	if (!at->app_limited)
		r->busy += r->busy < SDR_RIVAL_BUSY_MAX;
	else
		r->busy -= r->busy < SDR_RIVAL_BUSY_LESS ? r->busy : SDR_RIVAL_BUSY_LESS;
	rival_hears(r, at, *win);
	switch (r->state) {
	case SDR_RIVAL_NONE:
		if (says == SDR_STANDING_ODD)
			rival_suspects(r, at);
		else if (!r->suspect && !rival_little(r, at->now) &&
			 at->now + SDR_RIVAL_PUSH_WAIT_NS > r->push_at)
			r->push_at = at->now + SDR_RIVAL_PUSH_WAIT_NS +
				     at->random % SDR_RIVAL_PUSH_SPREAD_NS;
		if (rival_beats(r, at)) {
			rival_listen(r, r->rate, false);
		} else if (at->app_limited && r->busy < SDR_RIVAL_BUSY) {
			r->press_at = 0; /* who sends little does not see it go */
		} else if (rival_press(r, at, *win) || says == SDR_STANDING_SURE) {
			/* it yielded long before */
			*win = fmax(*win, SDR_RIVAL_OPEN_FROM * r->most * rival_trip(at));
			rival_window(r, at, *win);
		} else if (rival_asks(r, at, *win)) {
			rival_push_begin(r, at);
		}
		break;
	case SDR_RIVAL_PUSH:
		rival_push(r, at, win);
		break;
	case SDR_RIVAL_LISTEN:
		rival_in_listen(r, at, win);
		break;
	case SDR_RIVAL_WINDOW:
		rival_in_window(r, at, win);
		break;
	case SDR_RIVAL_HOLD:
		rival_in_hold(r, at, win);
		break;
	}
	r->round_at = at->now;
	rival_check(r);
	return r->state != SDR_RIVAL_NONE;
}

double sdr_rival_gain(const struct sdr_rival *r)
{
	if (r->state != SDR_RIVAL_HOLD || r->steady)
		return 1;
	return r->round % SDR_RIVAL_CYCLE == 0 ? 1.25 : 1;
}
