/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The largest rate of ten rounds, as BBR, but never more than what is claimed of the path; no
 * reaction to losses, until they are so many, and for so long, that it is in vain.  Once in eight
 * rounds a little more is asked for; not by who is steady, for somebody's beat (sdr_beat.c) that
 * was heard or should be, and listens for it after a while: it asks for as much more in all rounds,
 * as what passes would only ever shrink.  When the path proves to carry more than was known, what
 * is claimed of that is asked for as at the beginning: from what has passed it would take seconds.
 *
 * Runs at ends of rounds, no clock, no timers, no threads, no allocation.
 */
#include "sdr_hold.h"

#define SDR_HOLD_DRY  40u  /* rounds in which the queue has gone */
#define SDR_HOLD_LOST 0.15 /* share lost, smoothed: too many hold, or too much */
/* ... after so many rounds: who measures rates, as BBR, sees then that there is less for it */
#define SDR_HOLD_PATIENT 80u
#define SDR_HOLD_OPEN	 1.5 /* times more a round, up to what is held */
#define SDR_HOLD_CYCLE	 8u
#define SDR_HOLD_MORE	 1.25 /* asked for once in it */
#define SDR_HOLD_WIDER	 1.5  /* times more to hold: it opens again */
#define SDR_HOLD_STEADY	 128u /* rounds that are held for a beat */

/* As if so much had passed in all rounds, bytes per second. */
static void hold_asks(struct sdr_hold *h, double rate)
{
	uint32_t i;

	for (i = 0; i < SDR_HOLD_ROUNDS; i++)
		h->bw[i] = rate;
}

void sdr_hold_begin(struct sdr_hold *h, const struct sdr_rival_at *at, double win, double most,
		    uint64_t until, bool steady)
{
	h->steady = steady;
	h->dry = h->rounds = 0;
	h->lost = 0;
	h->until = until;
	h->open = fmax((double)at->bw, at->mtu / sdr_rival_trip(at));
	h->most = most;
	hold_asks(h, win / sdr_rival_trip(at));
}

double sdr_hold_trip(const struct sdr_rival_at *at)
{
	return fmin(sdr_rival_trip(at), 2 * (double)at->base / SDR_RIVAL_NS_PER_S);
}

static double largest(const struct sdr_hold *h)
{
	double bw = 0;
	uint32_t i;

	for (i = 0; i < SDR_HOLD_ROUNDS; i++)
		if (h->bw[i] > bw)
			bw = h->bw[i];
	return bw;
}

enum sdr_hold_says sdr_hold_round(struct sdr_hold *h, const struct sdr_rival_at *at, double most,
				  double *win)
{
	h->bw[++h->place % SDR_HOLD_ROUNDS] = (double)at->bw;
	if (at->bytes > 0)
		h->lost += (at->lost / at->bytes - h->lost) / SDR_HOLD_ROUNDS;
	h->dry = (double)at->queue > SDR_RIVAL_GONE * (double)at->target ? 0 : h->dry + 1;
	if (h->dry > SDR_HOLD_DRY)
		return SDR_HOLD_GONE;
	if (at->now > h->until)
		return SDR_HOLD_SEE;
	if (++h->rounds > SDR_HOLD_PATIENT && h->lost > SDR_HOLD_LOST)
		return SDR_HOLD_IN_VAIN;
	if (h->steady && h->rounds > SDR_HOLD_STEADY)
		return SDR_HOLD_LISTEN;
	if (most > SDR_HOLD_WIDER * h->most) { /* the path carries more than was known */
		hold_asks(h, most);
		h->most = most;
	}
	h->open = fmin(SDR_HOLD_OPEN * h->open, most);
	*win = fmin(largest(h) * (h->steady ? SDR_HOLD_MORE : 1), h->open) * sdr_hold_trip(at);
	return SDR_HOLD_ON;
}

double sdr_hold_gain(const struct sdr_hold *h)
{
	return !h->steady && h->place % SDR_HOLD_CYCLE == 0 ? SDR_HOLD_MORE : 1;
}
