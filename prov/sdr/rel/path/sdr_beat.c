/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether one of those who share a path is BBR's first version, by its beat.  Once in eight of its
 * smallest round trips it sends a quarter more, and in the next one a quarter less.  Behind a
 * queue that is short to that, the first makes losses, and after the second the queue has gone: a
 * crest with losses, a sudden fall, and the same again 6.2 to 8.8 round trips later (its cycle is
 * shorter than eight where it has drained before the time, and ends of our rounds are what we see).
 * One that we did not see is forgiven.
 *
 * Flows like us make such crests, too, and fall together when all of them cut; but then their
 * bound stands for longer than a cycle.  So falls that we cut or drained for ourselves do not count
 * (what was cut shows a round trip later), nor what the queue does when there was nothing to send:
 * messages of some round trips, one after the other, have a beat of their own.  And after two beats
 * in a row the own rate is kept for 30 rounds, no more and no less, whatever is lost: two more in
 * these are believed.  Of crowds that costs next to nothing, as who listens has what it had.  Who
 * was believed to be there is listened to again, with less than we held beside it, since it beats
 * as long as it has more than a rest of the path only.  Then one beat will do.
 *
 * Who has little, or keeps still, loses nothing in most crests.  A fall without losses that leaves
 * hardly a queue keeps the time, and for who listens it is a beat; crowds sway as regularly, but
 * not as far down.
 *
 * What two of them do at once has no beat, nor have later versions, which ask once in seconds.
 * A path that carries only a few packets of ours in a round trip tells nothing, as losses are
 * counted.
 *
 * Runs at ends of rounds; no clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_beat.h"

/* so much shorter within two rounds is a fall: of the base, of the target, and ns */
#define BEAT_FALL	 0.03
#define BEAT_FALL_TARGET 0.4
#define BEAT_FALL_NS	 300000.0
/* round trips of the empty path from one to the next; what is nearer is the same one */
#define BEAT_LEAST 6.2
#define BEAT_MOST  8.8
#define BEAT_SAME  3.0
#define BEAT_LOST  0.5	/* packets lost within three rounds */
#define BEAT_EMPTY 0.15 /* of the crest: without losses a fall leaves less */
#define BEAT_CUT   0.9	/* of the window: who goes below makes a fall by itself */
#define BEAT_STILL 3u	/* rounds after a drain, or after a pause, that it may have made */
#define BEAT_WORTH 2u	/* beats */
#define BEAT_SURE  2u	/* more of them, while we listen */
#define BEAT_AGAIN 1u
/* rounds in which we do, and ns before the next time */
#define BEAT_ROUNDS   30u
#define BEAT_PAUSE_NS 1000000000ull

void sdr_beat_init(struct sdr_beat *b)
{
	uint64_t pause = b->pause;

	memset(b, 0, sizeof(*b));
	b->pause = pause;
}

/* Of a cycle, or of two. */
static bool beat_apart(double trips, double cycles)
{
	return trips >= cycles * BEAT_LEAST && trips <= cycles * BEAT_MOST;
}

/* lost: beside it.  Without losses it keeps the time, and is a beat for who listens only. */
static void beat_falls(struct sdr_beat *b, const struct sdr_beat_at *at, bool lost)
{
	double trips = (double)(at->now - b->fell_at) / (double)at->base;
	bool apart = beat_apart(trips, 1) || beat_apart(trips, 2);

	if (b->fell_at && trips < BEAT_SAME)
		return;
	if (!b->fell_at || !apart) {
		b->beats = 0;
	} else {
		b->beats += lost;
		b->heard += lost || b->need;
	}
	b->fell_at = at->now;
}

static void beat_note(struct sdr_beat *b, const struct sdr_beat_at *at)
{
	uint32_t i;

	for (i = SDR_BEAT_PAST - 1; i; i--) {
		b->queue[i] = b->queue[i - 1];
		b->lost[i] = b->lost[i - 1];
		b->win[i] = b->win[i - 1];
	}
	b->queue[0] = (double)at->queue;
	b->lost[0] = at->lost;
	b->win[0] = at->win;
}

void sdr_beat_round(struct sdr_beat *b, const struct sdr_beat_at *at)
{
	double fall = fmax(fmax(BEAT_FALL * (double)at->base, BEAT_FALL_NS),
			   BEAT_FALL_TARGET * (double)at->target);
	double lost = at->lost + b->lost[0] + b->lost[1];
	double crest = fmax(b->queue[0], b->queue[1]);
	bool own = b->win[0] < BEAT_CUT * b->win[SDR_BEAT_PAST - 1], lossy;

	SDR_ASSERT(at->base && at->mtu && at->win > 0 && at->now >= b->fell_at);
	if (at->drains != b->drains || at->app_limited)
		b->still = 0;
	else
		b->still += b->still < BEAT_STILL;
	b->drains = at->drains;
	lossy = lost >= BEAT_LOST * at->mtu;
	if (b->still >= BEAT_STILL && !own && (double)at->queue + fall < crest &&
	    (lossy || (double)at->queue < BEAT_EMPTY * crest))
		beat_falls(b, at, lossy);
	if ((double)(at->now - b->fell_at) > 2 * BEAT_MOST * (double)at->base)
		b->beats = 0;
	beat_note(b, at);
}

bool sdr_beat_worth(const struct sdr_beat *b, uint64_t now)
{
	return b->beats >= BEAT_WORTH && now > b->pause;
}

void sdr_beat_listen(struct sdr_beat *b, double rate_Bps, bool again)
{
	SDR_ASSERT(rate_Bps > 0);
	b->rate = rate_Bps;
	b->rounds = b->heard = 0;
	b->need = again ? BEAT_AGAIN : BEAT_SURE;
}

enum sdr_beat_says sdr_beat_listens(struct sdr_beat *b, uint64_t now)
{
	bool heard;

	SDR_ASSERT(b->need);
	if (b->heard < b->need && ++b->rounds <= BEAT_ROUNDS)
		return SDR_BEAT_WAIT;
	heard = b->heard >= b->need;
	b->need = 0;
	if (heard)
		return SDR_BEAT_HEARD;
	b->pause = now + BEAT_PAUSE_NS;
	return SDR_BEAT_SILENT;
}
