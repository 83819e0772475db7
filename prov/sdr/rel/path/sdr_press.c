/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A queue that is long for SDR_PRESS_NS although we yielded to it: somebody fills it.
 *
 * It begins where the queue is half as long again as what we keep, or longer than a crowd of flows
 * like us would keep it.  Rounds in which it is neither gone nor long count against it, those in
 * which too little arrived to see it do not count.  On near paths it takes twice as long.  Soon
 * after rivals went it takes but some round trips; and who was in vain beside them waits longer
 * each time.
 *
 * Runs at ends of rounds, no clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "sdr_press.h"

#define SDR_PRESS_NS   (750 * 1000000ull)
#define SDR_PRESS_NEAR 2u /* times as long where it may be hosts that are late */
/* within that after rivals went they are recognised after some round trips */
#define SDR_PRESS_RECENT_NS (10 * 1000000000ull)
#define SDR_PRESS_RTTS	    10u
#define SDR_PRESS_MAX_NS    (24 * 1000000000ull)
#define SDR_PRESS_BEGIN	    1.5 /* of the target: a queue that others begin */
#define SDR_PRESS_OVER	    1.2 /* ... that has gone, but at most */
#define SDR_PRESS_OVER_NS   5e6
/* of a round that are counted: round trips, and times that a packet has at the own rate */
#define SDR_PRESS_TRIPS 2.0
#define SDR_PRESS_PKTS	1.5
#define SDR_PRESS_DIP	3.0 /* rounds that one which is not takes back */
#define SDR_PRESS_SHARE 0.1 /* of the round trip */

void sdr_press_init(struct sdr_press *p)
{
	memset(p, 0, sizeof(*p));
	p->ns = SDR_PRESS_NS;
}

static uint64_t press_ns(const struct sdr_press *p, const struct sdr_rival_at *at)
{
	return at->base < SDR_RIVAL_RTT_NS ? SDR_PRESS_NEAR * p->ns : p->ns;
}

bool sdr_press_round(struct sdr_press *p, const struct sdr_rival_at *at, double win, bool shorter)
{
	double queue = (double)at->queue, target = (double)at->target;
	bool recent = p->left_at && at->now < p->left_at + SDR_PRESS_RECENT_NS;
	double longest = sdr_rival_long(at), seen;

	/* a round in which nothing arrived for long saw no queue */
	seen = (SDR_PRESS_TRIPS + SDR_PRESS_PKTS * at->mtu / win) * ((double)at->base + queue);
	if (p->at && (double)(at->now - p->round_at) > seen)
		p->at += at->now - p->round_at - (uint64_t)seen;
	if (!p->at) {
		if (queue > SDR_PRESS_BEGIN * target || queue > longest)
			p->at = at->now;
		return false;
	}
	if (shorter)
		return false;
	if (queue < fmin(SDR_PRESS_OVER * target, SDR_PRESS_OVER_NS))
		p->at = 0;
	else if (queue < longest || queue < SDR_PRESS_SHARE * (double)at->base)
		p->at += (uint64_t)(SDR_PRESS_DIP * (double)(at->now - p->round_at));
	else
		return at->now > p->at + (recent ? SDR_PRESS_RTTS * at->base : press_ns(p, at));
	if (p->at > at->now)
		p->at = at->now;
	return false;
}

void sdr_press_next(struct sdr_press *p, uint64_t now)
{
	p->round_at = now;
}

void sdr_press_forget(struct sdr_press *p)
{
	p->at = 0;
}

void sdr_press_gone(struct sdr_press *p, uint64_t now, bool worth)
{
	p->at = 0;
	p->left_at = worth ? now : 0;
}

void sdr_press_in_vain(struct sdr_press *p)
{
	if (p->ns < SDR_PRESS_MAX_NS)
		p->ns *= 2;
}
