/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Interrupt moderation.  A thread that sleeps on the socket wakes for each packet; a wake-up costs
 * more than the packet.  While a stream comes over a long path, what arrives can wait for a share
 * of the round trip (SDR_LULL_MIN_NS to SDR_LULL_MAX_NS): the sleeper then looks at a time of its
 * own and finds several.  Measured round trips do not suffer: they are those of the last packet,
 * which came just before the look.
 *
 * Lulls begin when two windows in a row brought more than a packet a lull, so never within a short
 * message; they end with a window that brought less, when nothing came for half a round trip, or
 * with a packet from a peer that is near: what anybody near says is never kept waiting but by the
 * lull that runs.  Peers count for a second after they were heard; one whose round trip was not
 * measured yet is near, for a shorter time.  So the first messages on a connection, an idle one's,
 * and near paths see no lull at all; nor does the answer to a train (sdr_cc.c).  In none more comes
 * than a quarter of the receive buffer, as the last window went.
 *
 * No clock, no timers, no threads.  That somebody sleeps at all, and on what, is decided elsewhere.
 */
#include "base/sdr_assert.h"
#include "sdr_lull.h"

static void lull_window(struct sdr_lull *l, uint64_t now)
{
	l->from = now;
	l->pkts = 0;
	l->bytes = 0;
}

static void lull_end(struct sdr_lull *l, uint64_t now)
{
	l->span = 0;
	l->until = 0;
	l->streak = 0;
	lull_window(l, now);
}

/* As long as the peers allow; 0: not at all. */
static uint64_t lull_most(const struct sdr_lull *l)
{
	uint64_t ns = l->near / SDR_LULL_SHARE;

	if (!l->room || ns < SDR_LULL_MIN_NS)
		return 0;
	return ns < SDR_LULL_MAX_NS ? ns : SDR_LULL_MAX_NS;
}

void sdr_lull_init(struct sdr_lull *l, uint64_t room, uint64_t now)
{
	*l = (struct sdr_lull){ .room = room, .from = now, .last = now };
}

void sdr_lull_heard(struct sdr_lull *l, uint64_t rtt, uint64_t now)
{
	uint64_t keep = l->near ? SDR_LULL_NEAR_NS : SDR_LULL_UNKNOWN_NS;

	if (rtt <= l->near || now - l->near_ns > keep || !l->near_ns) {
		l->near = rtt;
		l->near_ns = now;
	}
}

/* A window is over: the next lulls are as long as what came in it allows. */
static void lull_judge(struct sdr_lull *l, uint64_t most, uint64_t now)
{
	uint64_t ns = now - l->from, span = most, quick;

	/* more than a packet a lull; once there, as long as it is not much less */
	if (l->pkts * most * (l->span ? 2 : 1) <= ns) {
		lull_end(l, now);
		return;
	}
	quick = (uint64_t)((double)l->room / SDR_LULL_ROOM * (double)ns / (double)(l->bytes + 1));
	if (quick < span)
		span = quick;
	lull_window(l, now);
	if (l->streak < SDR_LULL_WINDOWS)
		l->streak++;
	l->span = l->streak >= SDR_LULL_WINDOWS && span >= SDR_LULL_MIN_NS ? span : 0;
}

void sdr_lull_none(struct sdr_lull *l, uint64_t until)
{
	if (until > l->none)
		l->none = until;
}

void sdr_lull_round(struct sdr_lull *l, uint32_t pkts, uint64_t bytes, uint64_t now)
{
	uint64_t most = lull_most(l);

	SDR_ASSERT(now >= l->from);
	if (!most || now < l->none) {
		if (l->streak || l->span)
			lull_end(l, now);
		l->from = now;
		return;
	}
	/* a pause: what comes behind it is another stream (a busy host stops for milliseconds) */
	if (now - l->last > l->near / 2 && (l->span || l->pkts))
		lull_end(l, now);
	l->pkts += pkts;
	l->bytes += bytes;
	if (pkts)
		l->last = now;
	if (now - l->from >= SDR_LULL_WINDOW * most)
		lull_judge(l, most, now);
	if (!l->span)
		l->until = 0;
	else if (pkts || now >= l->until)
		l->until = now + l->span;
}
