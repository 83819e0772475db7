/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who yields to the delay of a queue starves beside those who do not: CUBIC and Reno fill every
 * queue, BBR takes what others leave.  This object finds out whether there are such rivals, and
 * says how large the window is while there are.  It is the verdict; what it goes by, and what it
 * does then, are objects of their own:
 *
 *   press   a queue that is long although we yielded to it: somebody fills it (sdr_press.c); or one
 *           that was there all the time, and that flows like us would have drained
 *           (sdr_standing.c).  -> WINDOW
 *   PUSH    an own rate below a fifth (behind a short queue an eighth) of what the path was seen to
 *           carry, and a queue that may be no crowd's; or below a seventh, and losses, although
 *           there is hardly a queue between them: the experiment of sdr_push.c.
 *           They do not yield: -> WINDOW.  They do, or it does not tell: -> NONE
 *   LISTEN  behind a short queue BBR is told by its beat (sdr_beat.c), not by a push: our rate is
 *           kept for some rounds, to hear it better.  It is there: -> HOLD.  It is not: -> NONE
 *   WINDOW  a window beside windows (sdr_claim.c).  The queue has gone: -> NONE.  Losses again and
 *           again soon after a cut: they do not yield to losses either.  -> HOLD.  Most of a round
 *           is lost: it was in vain, and the next time a queue must stay for twice as long
 *   HOLD    a rate beside rates (sdr_hold.c).  Ends when the queue has gone, and after a while by
 *           itself, to see who is still there: where it was a beat, or the queue is short, by
 *           listening again, at two thirds of that rate.
 *
 * How much there is to share matters all that time, and is asked of trains (sdr_carries.c).
 * (Copa has the first two, by another rule; the experiment is ours.)  Runs at ends of rounds, no
 * clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_rival.h"

/* of what the path was seen to carry: so little may be too little, and where queues are short */
#define SDR_RIVAL_LITTLE	 0.2
#define SDR_RIVAL_LITTLE_SHALLOW 0.12
#define SDR_RIVAL_LITTLE_SPARE	 0.15
#define SDR_RIVAL_STARVES	 0.05		     /* less than any of a crowd that shares */
#define SDR_RIVAL_SHALLOW_NS	 (5 * 1000000000ull) /* losses so recently: it is short */
#define SDR_RIVAL_SHALLOW	 1.25 /* of the round trip, the longest with losses */
#define SDR_RIVAL_SPARE		 0.3  /* of the queue of those with little: room is to spare */
#define SDR_RIVAL_SPARE_ROUNDS	 8.0  /* over which that is looked at */
#define SDR_RIVAL_SHORTER	 1.1  /* times that the path was longer at first */
#define SDR_RIVAL_DRAINS	 2u   /* of ours, before that says something */
/* rounds in which the path was the limit, before anybody is suspected */
#define SDR_RIVAL_BUSY 8u
/* one in which it was not takes so many away: messages of a few rounds suspect nobody */
#define SDR_RIVAL_BUSY_LESS 8u
#define SDR_RIVAL_BUSY_MAX  32u
#define SDR_RIVAL_OPEN_FROM 0.15 /* of the path: what a window that opens begins with */
/* who has less of the path listens for a beat; and of what is held, to hear it again */
#define SDR_RIVAL_LISTEN_LITTLE 0.35
#define SDR_RIVAL_LISTEN_LEAST	0.1 /* with less, hardly a loss is ours */
#define SDR_RIVAL_LISTEN_AGAIN	0.67

void sdr_rival_init(struct sdr_rival *r, uint64_t now, uint64_t random)
{
	memset(r, 0, sizeof(*r));
	sdr_press_init(&r->press);
	sdr_standing_init(&r->standing);
	sdr_push_init(&r->push, now, random);
	sdr_carries_init(&r->carries);
	sdr_claim_init(&r->claim);
}

void sdr_rival_passes(struct sdr_rival *r, double rate_Bps)
{
	if (rate_Bps > r->most)
		r->most = rate_Bps;
}

/* Of the path, bytes per second. */
static double rival_ours(const struct sdr_rival *r)
{
	return r->claim.share * r->most;
}

static void rival_window(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	r->state = SDR_RIVAL_WINDOW;
	r->push.suspect = false;
	sdr_press_forget(&r->press);
	sdr_claim_begin(&r->claim, at, r->most, win);
}

/* worth: we held our own beside them. */
static void rival_gone(struct sdr_rival *r, const struct sdr_rival_at *at, bool worth)
{
	r->state = SDR_RIVAL_NONE;
	sdr_press_gone(&r->press, at->now, worth);
	sdr_push_after(&r->push, at->now, at->random);
}

static void rival_in_vain(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	rival_gone(r, at, false);
	sdr_press_in_vain(&r->press);
}

static void rival_hold(struct sdr_rival *r, const struct sdr_rival_at *at, double win, bool steady)
{
	r->state = SDR_RIVAL_HOLD;
	sdr_hold_begin(&r->hold, at, win, rival_ours(r), sdr_push_put_off(&r->push, at->now),
		       steady);
}

static void rival_listen(struct sdr_rival *r, double rate, bool again)
{
	r->state = SDR_RIVAL_LISTEN;
	sdr_press_forget(&r->press);
	sdr_beat_listen(&r->beat, rate, again);
}

/* ---- nobody is there, as far as is known ----------------------------------------------------- */

/* There were losses of late, and the round trip was hardly longer than that of the empty path. */
static bool rival_shallow(const struct sdr_rival *r, uint64_t now)
{
	return r->lost_at && now < r->lost_at + SDR_RIVAL_SHALLOW_NS &&
	       (double)r->lost_trip < SDR_RIVAL_SHALLOW * (double)r->base;
}

/* Little enough to ask why.  Behind a short queue flows like us yield too slowly to be told. */
static bool rival_little(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	double little = rival_shallow(r, at->now) ? SDR_RIVAL_LITTLE_SHALLOW : SDR_RIVAL_LITTLE;

	return r->rate < little * r->most;
}

/*
 * Behind a short queue we lose what we try, and there is hardly a queue: flows like us would fill
 * it, but who sends at a rate leaves it empty.
 */
static bool rival_spares(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	return rival_shallow(r, at->now) && r->rate < SDR_RIVAL_LITTLE_SPARE * r->most &&
	       (r->push.sure || r->level < SDR_RIVAL_SPARE * (double)at->few);
}

/* There may be somebody. */
static bool rival_reason(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	return r->push.suspect || rival_spares(r, at) ||
	       ((r->standing.stays || r->push.sure) && rival_little(r, at));
}

static bool rival_asks(const struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	return rival_reason(r, at) && r->busy >= SDR_RIVAL_BUSY &&
	       sdr_push_may(&r->push, at, r->rate, win);
}

static bool rival_beats(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	return r->busy >= SDR_RIVAL_BUSY && at->base >= SDR_RIVAL_RTT_NS &&
	       r->rate < SDR_RIVAL_LISTEN_LITTLE * r->most && sdr_beat_worth(&r->beat, at->now);
}

static void rival_in_none(struct sdr_rival *r, const struct sdr_rival_at *at,
			  enum sdr_standing_says says, double *win)
{
	if (says == SDR_STANDING_ODD)
		sdr_push_suspects(&r->push, at);
	else if (!r->push.suspect && !rival_little(r, at) && !rival_spares(r, at))
		sdr_push_idle(&r->push, at->now, at->random);
	else if (!rival_reason(r, at))
		sdr_push_apart(&r->push, at->now, at->random);
	if (rival_beats(r, at)) {
		rival_listen(r, fmax(r->rate, SDR_RIVAL_LISTEN_LEAST * r->most), false);
	} else if (at->app_limited && r->busy < SDR_RIVAL_BUSY) {
		sdr_press_forget(&r->press); /* who sends little does not see it go */
	} else if (sdr_press_round(&r->press, at, *win, r->shorter) || says == SDR_STANDING_SURE) {
		/* it yielded long before */
		*win = fmax(*win, SDR_RIVAL_OPEN_FROM * r->most * sdr_rival_trip(at));
		rival_window(r, at, *win);
	} else if (rival_asks(r, at, *win)) {
		r->state = SDR_RIVAL_PUSH;
		sdr_push_begin(&r->push, at, r->rate);
	}
}

/* ---- somebody may be, or is ------------------------------------------------------------------ */

static void rival_in_push(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	switch (sdr_push_round(&r->push, at, &r->most, win)) {
	case SDR_PUSH_WAIT:
		break;
	case SDR_PUSH_ASIDE:
		r->state = SDR_RIVAL_NONE;
		r->rate = r->push.from; /* what it gained is not ours */
		break;
	case SDR_PUSH_NOBODY:
		r->state = SDR_RIVAL_NONE;
		r->rate = r->push.from;
		sdr_press_forget(&r->press);
		break;
	case SDR_PUSH_RIVALS:
		*win = rival_ours(r) * sdr_rival_trip(at);
		rival_window(r, at, *win);
		break;
	}
}

static void rival_in_listen(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	*win = r->beat.rate * sdr_hold_trip(at);
	switch (sdr_beat_listens(&r->beat, at->now)) {
	case SDR_BEAT_WAIT:
		break;
	case SDR_BEAT_HEARD:
		*win = rival_ours(r) * sdr_rival_trip(at);
		rival_hold(r, at, *win, true);
		break;
	case SDR_BEAT_SILENT:
		r->state = SDR_RIVAL_NONE;
		break;
	}
}

static void rival_in_window(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	switch (sdr_claim_round(&r->claim, at, r->shorter, &r->most, win)) {
	case SDR_CLAIM_ON:
		break;
	case SDR_CLAIM_GONE:
		rival_gone(r, at, true);
		break;
	case SDR_CLAIM_IN_VAIN:
		rival_in_vain(r, at);
		break;
	case SDR_CLAIM_HOLD:
		rival_hold(r, at, *win, rival_shallow(r, at->now));
		break;
	}
}

static void rival_in_hold(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	switch (sdr_hold_round(&r->hold, at, rival_ours(r), win)) {
	case SDR_HOLD_ON:
		break;
	case SDR_HOLD_GONE:
		rival_gone(r, at, false);
		break;
	case SDR_HOLD_SEE:
		sdr_push_rarer(&r->push);
		rival_gone(r, at, false);
		break;
	case SDR_HOLD_IN_VAIN:
		sdr_push_rarer(&r->push);
		rival_in_vain(r, at);
		break;
	case SDR_HOLD_LISTEN:
		rival_listen(r, SDR_RIVAL_LISTEN_AGAIN * r->claim.share * r->most, true);
		break;
	}
}

/* ---- the round ------------------------------------------------------------------------------- */

/* What we do to the queue ourselves has no beat. */
static void rival_hears(struct sdr_rival *r, const struct sdr_rival_at *at, double win)
{
	const struct sdr_beat_at look = {
		.now = at->now,
		.base = at->base,
		.queue = at->queue,
		.target = at->target,
		.mtu = at->mtu,
		.win = win,
		.lost = at->lost,
		.drains = at->drains,
		.app_limited = at->app_limited,
	};

	if (r->state == SDR_RIVAL_PUSH || r->state == SDR_RIVAL_WINDOW)
		sdr_beat_init(&r->beat);
	else
		sdr_beat_round(&r->beat, &look);
}

/*
 * What START measured had a queue of others in it.  That of flows like us has gone with two drains,
 * and a pause of who has just come would cost it its share.
 */
static bool rival_began_late(const struct sdr_rival *r)
{
	return r->standing.drains >= SDR_RIVAL_DRAINS &&
	       (double)r->standing.begun > SDR_RIVAL_SHORTER * (double)r->base &&
	       !sdr_carries_told(&r->carries);
}

/* It matters how much there is; but a push is to be seen by itself, and pauses cost a window. */
static bool rival_curious(const struct sdr_rival *r, const struct sdr_rival_at *at)
{
	switch (r->state) {
	case SDR_RIVAL_NONE:
		return r->busy >= SDR_RIVAL_BUSY && (rival_reason(r, at) || rival_began_late(r) ||
						     sdr_beat_worth(&r->beat, at->now));
	case SDR_RIVAL_PUSH:
	case SDR_RIVAL_WINDOW:
		return false;
	default:
		return true;
	}
}

/* What the round says of the path and of us; and of a queue that our drains do not remove. */
static enum sdr_standing_says rival_measures(struct sdr_rival *r, const struct sdr_rival_at *at)
{
	const struct sdr_standing_at look = {
		.now = at->now,
		.base = at->base,
		.queue = at->queue,
		.few = at->few,
		.drains = at->drains,
	};
	enum sdr_standing_says says = SDR_STANDING_NOTHING;

	if (at->bw)
		r->rate = r->rate > 0 ? r->rate + ((double)at->bw - r->rate) / 4 : (double)at->bw;
	sdr_rival_passes(r, r->rate);
	r->shorter = at->base + at->target / 2 < r->base;
	if (r->state == SDR_RIVAL_NONE && at->base >= SDR_RIVAL_RTT_NS)
		says = sdr_standing_base(&r->standing, &look);
	sdr_standing_drained(&r->standing, &look);
	r->base = at->base;
	r->level += ((double)at->queue - r->level) / SDR_RIVAL_SPARE_ROUNDS;
	/* before we have drained it is not known how short the queue is */
	if (at->drains && r->state != SDR_RIVAL_PUSH && at->lost > SDR_RIVAL_LOST * at->bytes) {
		r->lost_at = at->now;
		r->lost_trip = at->base + at->queue;
	}
	if (!at->app_limited)
		r->busy += r->busy < SDR_RIVAL_BUSY_MAX;
	else
		r->busy -= r->busy < SDR_RIVAL_BUSY_LESS ? r->busy : SDR_RIVAL_BUSY_LESS;
	return says;
}

bool sdr_rival_round(struct sdr_rival *r, const struct sdr_rival_at *at, double *win)
{
	enum sdr_standing_says says;

	SDR_ASSERT(at->base && at->target && at->mtu && *win > 0);
	sdr_claim_together(&r->claim, at->together);
	says = rival_measures(r, at);
	rival_hears(r, at, *win);
	switch (r->state) {
	case SDR_RIVAL_NONE:
		rival_in_none(r, at, says, win);
		break;
	case SDR_RIVAL_PUSH:
		rival_in_push(r, at, win);
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
	sdr_press_next(&r->press, at->now);
	sdr_carries_round(&r->carries, at, rival_curious(r, at), &r->most);
	SDR_ASSERT(r->state <= SDR_RIVAL_HOLD && r->most >= 0 && r->rate >= 0);
	return r->state != SDR_RIVAL_NONE;
}

bool sdr_rival_wants_train(const struct sdr_rival *r)
{
	return r->carries.wants;
}

bool sdr_rival_starves(const struct sdr_rival *r, uint64_t now)
{
	return r->standing.stays && r->rate < SDR_RIVAL_STARVES * r->most && !rival_shallow(r, now);
}

double sdr_rival_gain(const struct sdr_rival *r)
{
	return r->state == SDR_RIVAL_HOLD ? sdr_hold_gain(&r->hold) : 1;
}
