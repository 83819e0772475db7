/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much of the queue that it would keep a flow keeps in a buffer that is shallower than that of
 * all who share it.  With eight senders of a rack and 64 KiB the queue that lets them converge ends
 * just below the buffer's end; whatever hosts add by being late (they send what they missed,
 * together) is lost.  At a few ms a tenth of what the path holds is less than any of them would
 * keep: all of them fill it for ever.  No queue delay tells that, and no experiment of one of many:
 * the others fill what it leaves, and so it takes half of what it sends to be lost for weather.
 *
 * So each packet lost takes a twentieth of it away (on a far path each acknowledgement that tells
 * of some, as a burst is one accident there), and time gives back: e times as much in a second.
 * Losses settle where both are the same, at 20 packets a second of each flow, whatever the buffer.
 * Who sends more loses more of them and keeps less, so shares stay equal.  It has a floor, so that
 * what a path loses by itself does not stop it, and the time of an own packet is never given up: a
 * line that is not used is no shorter queue.
 *
 * (The law is TCP's, increase by time and decrease by losses, applied to the target of the delay
 * and not to the window: the delay still keeps shares and queue from one round trip to the next.)
 * No clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include "base/sdr_assert.h"
#include "sdr_shallow.h"

#define SHALLOW_LOST 0.05 /* of it, for a packet */
#define SHALLOW_NS   1e9  /* in which it becomes e times as much */

void sdr_shallow_init(struct sdr_shallow *s, uint64_t now)
{
	s->keeps = 1;
	s->least = SDR_SHALLOW_LEAST;
	s->at = now;
}

void sdr_shallow_least(struct sdr_shallow *s, double least)
{
	SDR_ASSERT(least > 0 && least <= 1);
	s->least = least;
	s->keeps = fmax(s->keeps, least);
}

void sdr_shallow_acked(struct sdr_shallow *s, uint64_t now, double lost)
{
	double back = 0;

	SDR_ASSERT(lost >= 0);
	if (s->keeps >= 1 && !(lost > 0)) {
		s->at = now;
		return;
	}
	if (now > s->at) {
		back = (double)(now - s->at) / SHALLOW_NS;
		s->at = now;
	}
	s->keeps = fmin(s->keeps * exp(back), 1) * exp(-SHALLOW_LOST * lost);
	s->keeps = fmax(s->keeps, s->least);
	SDR_ASSERT(s->keeps <= 1);
}

uint64_t sdr_shallow_keeps(const struct sdr_shallow *s, uint64_t ns, uint64_t own)
{
	return ns > own ? own + (uint64_t)((double)(ns - own) * s->keeps) : ns;
}
