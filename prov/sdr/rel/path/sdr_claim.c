/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A window beside those of others, who do not yield to a queue.
 *
 * It opens to half of the path within a few rounds, whatever is lost meanwhile: who yields to
 * losses yields to these.  What the path carries may be known too low, where it was full from the
 * first packet on; so we look how much longer the round trip becomes with what we have in flight
 * more, and as long as that is not longer, nothing is lost and we get what we ask for, a tenth more
 * is asked for each round.  From then on the law of RFC 9438 (CUBIC), and a rate that is kept while
 * no loss says otherwise: a window beside windows.  What ends it is said, and what follows is the
 * caller's (sdr_rival.c).
 *
 * Runs at ends of rounds, no clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_claim.h"

#define SDR_CLAIM_HALF 0.5 /* of the path: what is claimed */
/* RFC 9438: C packets per cubic second, beta */
#define SDR_CLAIM_CUBIC_C    0.4
#define SDR_CLAIM_CUBIC_BETA 0.7
#define SDR_CLAIM_GROWTH     1.5 /* of a window in a round, at most */
#define SDR_CLAIM_KEEP	     1.1 /* ... where a rate is kept */
#define SDR_CLAIM_CUT_RTTS   2u	 /* between two cuts */
#define SDR_CLAIM_AGAIN_RTTS 40u /* a loss so soon after a cut: they do not yield */
#define SDR_CLAIM_CUTS	     2u
#define SDR_CLAIM_CRASH	     0.4 /* of a round lost: it was no good to open */
/* before an empty queue says anything: after a cut; and as it opens, when BBR may ask just then how
 * long the path is */
#define SDR_CLAIM_GONE_RTTS  4u
#define SDR_CLAIM_EMPTY_RTTS 12u
/* to half of the path: so many times more a round; then so many rounds until it shows whether it
 * is half; a round trip so many times longer tells it, and so many times more is more, of which a
 * part is sure */
#define SDR_CLAIM_OPEN	       1.5
#define SDR_CLAIM_OPEN_ROUNDS  2u
#define SDR_CLAIM_OPEN_LONGER  1.05
#define SDR_CLAIM_OPEN_SHORTER 0.97
#define SDR_CLAIM_OPEN_SURE    0.9
#define SDR_CLAIM_OPEN_MORE    0.25 /* of what was in flight: so much more tells something */
#define SDR_CLAIM_OPEN_USED    0.7  /* of what is claimed: who has less has no use for more */
#define SDR_CLAIM_OPEN_STEP    1.1  /* beyond half, as long as the path takes it */

void sdr_claim_init(struct sdr_claim *c)
{
	memset(c, 0, sizeof(*c));
	c->share = SDR_CLAIM_HALF;
}

void sdr_claim_together(struct sdr_claim *c, uint32_t together)
{
	double share = together ? SDR_CLAIM_HALF / together : SDR_CLAIM_HALF;

	if (share == c->share)
		return;
	c->half *= share / c->share;
	c->share = share;
}

/* What is in flight, bytes, and how long the round trip is with that. */
static void measure_begin(struct sdr_claim *c, const struct sdr_rival_at *at)
{
	c->open_lost = false;
	c->open_trip = c->open_last = sdr_rival_trip(at);
	c->open_win = c->open_bytes = (double)at->bw * c->open_trip;
}

void sdr_claim_begin(struct sdr_claim *c, const struct sdr_rival_at *at, double most, double win)
{
	c->max = c->first = win;
	c->rate = win / sdr_rival_trip(at);
	c->cut_at = at->now;
	c->cuts = 0;
	c->open = true;
	c->open_rounds = 0;
	c->half = c->share * most;
	measure_begin(c, at);
}

/*
 * What the path carries: so much more of ours in flight has made the round trip so much longer.
 * Of those who fill the queue by themselves meanwhile it is less.
 */
static void measures(struct sdr_claim *c, const struct sdr_rival_at *at, double *most)
{
	double trip = sdr_rival_trip(at), more = c->open_bytes - c->open_win;

	if (trip < SDR_CLAIM_OPEN_SHORTER * c->open_last) { /* others have yielded */
		measure_begin(c, at);
		return;
	}
	c->open_lost |= at->lost > 0;
	c->open_bytes = (double)at->bw * trip;
	c->open_last = trip;
	if (trip > SDR_CLAIM_OPEN_LONGER * c->open_trip &&
	    more > SDR_CLAIM_OPEN_MORE * c->open_win && !c->open_lost)
		*most = fmax(*most, fmin(SDR_CLAIM_OPEN_SURE * more / (trip - c->open_trip),
					 SDR_CLAIM_OPEN * *most));
}

/* Up to half of the path. */
static void opens(struct sdr_claim *c, const struct sdr_rival_at *at, double *most, double *win)
{
	double half;

	measures(c, at, most);
	c->half = fmax(c->half, c->share * *most);
	half = c->half * sdr_rival_trip(at);
	if (SDR_CLAIM_KEEP * *win < half) {
		*win = fmin(SDR_CLAIM_OPEN * *win, half);
		return;
	}
	*win = half;
	/* the path takes it, and the queue is no longer for it: it takes more */
	if (at->lost <= SDR_RIVAL_LOST * at->bytes &&
	    (double)at->bw > SDR_CLAIM_OPEN_USED * c->half &&
	    sdr_rival_trip(at) <= SDR_CLAIM_OPEN_LONGER * c->open_trip) {
		c->half *= SDR_CLAIM_OPEN_STEP;
		c->open_win = c->open_bytes; /* others have left it */
		c->open_rounds = 0;
		return;
	}
	if (++c->open_rounds <= SDR_CLAIM_OPEN_ROUNDS)
		return;
	c->open = false;
	c->max = c->first = *win;
	c->rate = c->half;
	c->cut_at = at->now;
}

/* By the law; age: since the last cut, ns. */
static void grows(struct sdr_claim *c, const struct sdr_rival_at *at, uint64_t age, double *win)
{
	double mtu = at->mtu, t, k, to;

	/* what is kept is the rate after everybody's cut */
	if (!(c->rate > 0) && age > SDR_CLAIM_CUT_RTTS * (at->base + at->queue))
		c->rate = *win / sdr_rival_trip(at);
	t = (double)(age + at->base) / SDR_RIVAL_NS_PER_S;
	k = cbrt(c->max / mtu * (1 - SDR_CLAIM_CUBIC_BETA) / SDR_CLAIM_CUBIC_C);
	to = fmin(SDR_CLAIM_CUBIC_C * pow(t - k, 3) * mtu + c->max, SDR_CLAIM_GROWTH * *win);
	if (to > *win)
		*win = to;
	to = fmin(c->rate * sdr_rival_trip(at), SDR_CLAIM_KEEP * *win);
	if (to > *win)
		*win = to;
}

enum sdr_claim_says sdr_claim_round(struct sdr_claim *c, const struct sdr_rival_at *at,
				    bool shorter, double *most, double *win)
{
	uint64_t trip = at->base + at->queue, age = at->now - c->cut_at;
	uint32_t trips = c->open ? SDR_CLAIM_EMPTY_RTTS : SDR_CLAIM_GONE_RTTS;

	SDR_ASSERT(c->cuts < SDR_CLAIM_CUTS);
	if (!shorter && (double)at->queue < SDR_RIVAL_GONE * (double)at->target &&
	    age > trips * at->base)
		return SDR_CLAIM_GONE;
	if (at->lost > SDR_CLAIM_CRASH * at->bytes) {
		*win *= SDR_CLAIM_HALF;
		return SDR_CLAIM_IN_VAIN;
	}
	if (c->open) {
		opens(c, at, most, win);
		return SDR_CLAIM_ON;
	}
	if (at->lost > SDR_RIVAL_LOST * at->bytes && age > SDR_CLAIM_CUT_RTTS * trip) {
		if (age > SDR_CLAIM_AGAIN_RTTS * trip) {
			c->cuts = 0;
			c->first = *win;
		} else if (++c->cuts >= SDR_CLAIM_CUTS) {
			*win = c->first;
			return SDR_CLAIM_HOLD;
		}
		c->max = *win;
		*win *= SDR_CLAIM_CUBIC_BETA;
		c->rate = 0;
		c->cut_at = at->now;
		return SDR_CLAIM_ON;
	}
	grows(c, at, age, win);
	return SDR_CLAIM_ON;
}
