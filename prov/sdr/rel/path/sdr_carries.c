/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much there is to share.  Who comes to a path that others have filled measures what they
 * leave: START's dispersion has their packets in it, and what was never had cannot be remembered.
 * So a train is asked for in the middle of the flight (sdr_cc.c): 128 KiB that leave at once, in so
 * little time that few of the others' come in between.  One may meet a burst of theirs, or a full
 * queue, and then it shows too little or nothing; the largest of some is believed.  It is half of
 * the window at most, but for who was beaten down behind a long queue to a few packets, of which a
 * train tells nothing (auto_train()).
 *
 * Trains leave only when somebody is suspected who does not yield (a crowd of flows like us would
 * make a queue of them), or the path proves shorter than it was at first, not behind losses,
 * SDR_CARRIES_APART rounds apart, more of them for each that told nothing (the pauses are paid
 * for), and no more than SDR_CARRIES_ENOUGH in SDR_CARRIES_NS that show something.  So many, and
 * what was measured otherwise counts no more than a little beyond theirs.
 *
 * Runs at ends of rounds, no clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_carries.h"

#define SDR_CARRIES_APART  6u
#define SDR_CARRIES_MUTE   4u /* times that this doubles, while they tell nothing */
#define SDR_CARRIES_ENOUGH 3u
#define SDR_CARRIES_NS	   (10 * 1000000000ull)
#define SDR_CARRIES_BEYOND 1.25

void sdr_carries_init(struct sdr_carries *c)
{
	memset(c, 0, sizeof(*c));
}

/* The largest of late, and how many there are. */
static double carries_most(const struct sdr_carries *c, uint64_t now, uint32_t *fresh)
{
	uint32_t i, n = c->n < SDR_CARRIES_KEPT ? c->n : SDR_CARRIES_KEPT;
	double most = 0;

	*fresh = 0;
	for (i = 0; i < n; i++) {
		if (now > c->shown[i].at + SDR_CARRIES_NS)
			continue;
		++*fresh;
		most = fmax(most, c->shown[i].rate);
	}
	return most;
}

void sdr_carries_round(struct sdr_carries *c, const struct sdr_rival_at *at, bool curious,
		       double *most)
{
	uint32_t fresh;
	double shown;

	SDR_ASSERT(*most >= 0);
	if (at->trains < c->heard)
		sdr_carries_init(c); /* they are counted anew: this is another path */
	if (at->trains != c->heard) {
		c->heard = at->trains;
		c->mute = 0;
		c->shown[c->n % SDR_CARRIES_KEPT].rate = (double)at->train_Bps;
		c->shown[c->n++ % SDR_CARRIES_KEPT].at = at->now;
	}
	shown = carries_most(c, at->now, &fresh);
	*most = fmax(*most, shown);
	if (fresh >= SDR_CARRIES_ENOUGH)
		*most = fmin(*most, SDR_CARRIES_BEYOND * shown);
	c->in -= c->in > 0;
	c->wants = curious && !c->in && fresh < SDR_CARRIES_ENOUGH && !at->app_limited &&
		   !(at->lost > 0) && at->base >= SDR_RIVAL_RTT_NS;
	if (c->wants)
		c->in = SDR_CARRIES_APART << c->mute;
	c->mute += c->wants && c->mute < SDR_CARRIES_MUTE;
}

bool sdr_carries_told(const struct sdr_carries *c)
{
	return c->n >= SDR_CARRIES_ENOUGH;
}
