/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether there is a queue that nobody like us keeps.  Flows under `auto` drain the path together
 * every few seconds, so each of them sees it empty then, however many they are.  Who comes to a
 * path that somebody else keeps full never does, and takes its queue for a part of the path: the
 * round trip that it calls empty (the base) is too long, and the queue that it sees above that is
 * short and looks like one of a crowd of flows like us.  Three signs tell:
 *
 *   stays   after our own drain the queue is still there, and was there just before, too; or the
 *           drain has found a shorter path, so that nobody knows whether it was empty
 *   odd     the base was longer at first than any crowd of flows like us makes it.  It may have
 *           been somebody's start, so this is a reason to ask only (sdr_rival.c: a push)
 *   sure    the base stood for a while and then proves shorter, although we have drained twice, or
 *           by more than a crowd's queue
 *
 * Runs at ends of rounds; no clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_standing.h"

#define STANDING_RTTS	12u  /* round trips between two looks at the base */
#define STANDING_SAME	1.02 /* two of them as near as that are the same */
#define STANDING_SHARE	0.04 /* of the base: so much shorter is shorter */
#define STANDING_DRAINS 2u
#define STANDING_CROWD	0.85 /* of the target of those with little: the queue of a crowd */
#define STANDING_ODD	3.0  /* of the same: one that no crowd keeps */
#define STANDING_LOOK	3u   /* rounds in which a drain shows */
/* rounds of a block: an empty path is remembered for one to two of them, since who drains just
 * behind the others finds it empty, and is met by their queue when it returns */
#define STANDING_BLOCK 4u
#define STANDING_EMPTY 0.2 /* of the same: hardly any queue */

void sdr_standing_init(struct sdr_standing *s)
{
	memset(s, 0, sizeof(*s));
	s->low = s->lately = UINT64_MAX;
}

static bool standing_is_odd(struct sdr_standing *s, const struct sdr_standing_at *at)
{
	if (!s->begun)
		s->begun = at->base;
	if ((double)s->begun <= (double)at->base + STANDING_ODD * (double)at->few)
		return false;
	s->begun = at->base;
	return true;
}

static bool standing_is_sure(struct sdr_standing *s, const struct sdr_standing_at *at)
{
	double then = (double)s->past[1], shorter = then - (double)at->base;
	bool stood = s->past[2] && (double)s->past[2] <= STANDING_SAME * then;

	if (at->now >= s->past_at + STANDING_RTTS * at->base) {
		s->past[2] = s->past[1];
		s->past[1] = s->past[0];
		s->past[0] = at->base;
		s->past_at = at->now;
	}
	if (!stood || shorter < STANDING_SHARE * (double)at->base)
		return false;
	if (at->drains < STANDING_DRAINS && shorter <= STANDING_CROWD * (double)at->few)
		return false;
	memset(s->past, 0, sizeof(s->past));
	return true;
}

enum sdr_standing_says sdr_standing_base(struct sdr_standing *s, const struct sdr_standing_at *at)
{
	bool odd;

	SDR_ASSERT(at->base && at->few);
	odd = standing_is_odd(s, at);
	if (standing_is_sure(s, at))
		return SDR_STANDING_SURE;
	return odd ? SDR_STANDING_ODD : SDR_STANDING_NOTHING;
}

/* Nobody drains: a round may begin a block. */
static void standing_block(struct sdr_standing *s)
{
	if (s->rounds++ < STANDING_BLOCK)
		return;
	s->rounds = 1;
	s->lately = s->low;
	s->low = UINT64_MAX;
}

void sdr_standing_drained(struct sdr_standing *s, const struct sdr_standing_at *at)
{
	uint64_t low;

	SDR_ASSERT(at->drains >= s->drains);
	if (at->drains != s->drains) {
		s->drains = at->drains;
		s->look = STANDING_LOOK;
	}
	if (!s->look) {
		standing_block(s);
		s->before = at->base;
	}
	s->low = at->queue < s->low ? at->queue : s->low;
	if (!s->look)
		return;
	s->look--;
	low = s->low < s->lately ? s->low : s->lately;
	s->stays = (double)low > STANDING_EMPTY * (double)at->few ||
		   (double)s->before > STANDING_SAME * (double)at->base;
}
