/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An own rate that is a small part of what the path was seen to carry may mean many flows like us,
 * or one that takes all (or that there is little to send: then the window is not used).  Many
 * flows like us empty the path whenever they drain; where our last drain did not show that, and
 * where we came to a queue that no crowd keeps, we send a quarter of the path more, for twelve
 * round trips.
 *
 *   NOBODY  flows like us yield within a few, and the queue goes (from the tenth on it may be BBR's
 *           that goes, which has forgotten by then that it had more); or our rate did not grow: the
 *           path carries no more, we are alone.  The pause to the next push doubles
 *   ASIDE   the queue stays long, or packets are lost: another push follows soon, since others may
 *           have pushed as well.  Or another's push was under way when this one began.  Or there
 *           was nothing to push with
 *   RIVALS  so it was the second time
 *
 * Whether there is a reason to push is the caller's to know (sdr_rival.c).  Runs at ends of rounds,
 * no clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_push.h"

#define SDR_PUSH_MORE	0.25 /* of what the path was seen to carry: what is sent more */
#define SDR_PUSH_ROUNDS 12u
/* after this round it is known whether others push, too: a queue of so many times the own, or a
 * share of losses */
#define SDR_PUSH_SENSE	3u
#define SDR_PUSH_BUSY	0.05 /* lost before that round is not by our push: another's is under way */
#define SDR_PUSH_OTHERS 2.5
#define SDR_PUSH_CRASH	0.35
#define SDR_PUSH_LOOK	8u  /* from this round on it counts what happens */
#define SDR_PUSH_BEGIN	1.5 /* of the target: a longer queue may be another's push */
/* of the target before a push, or of those with little: the queue of a crowd of flows like us */
#define SDR_PUSH_GREW	   2.5
#define SDR_PUSH_ROSE	   0.08 /* of the round trip: it has grown by our push */
#define SDR_PUSH_LONG	   3.0	/* of the target: a queue that nobody yields to */
#define SDR_PUSH_YIELDED   6u	/* by this round they have */
#define SDR_PUSH_REMEMBERS 10u	/* from this one on BBR does as well, which forgets then */
#define SDR_PUSH_CALM	   2u	/* rounds without that, and without losses: they yield */
#define SDR_PUSH_LOST	   0.02
#define SDR_PUSH_ALONE	   0.4		       /* of the push: who gains less has it all already */
#define SDR_PUSH_WAIT_NS   (500 * 1000000ull)  /* with little, before a push: at least, ... */
#define SDR_PUSH_SPREAD_NS (1000 * 1000000ull) /* ... and that much more by chance */
/* with little, from when there is a reason on, by chance: others have found the same one */
#define SDR_PUSH_APART_NS (500 * 1000000ull)
/* ... for a second one, and for one on suspicion */
#define SDR_PUSH_AGAIN_NS   (500 * 1000000ull)
#define SDR_PUSH_SOON_NS    (250 * 1000000ull)
#define SDR_PUSH_USED	    0.25 /* of the window, by the rate: who uses less asks nothing */
#define SDR_PUSH_GAP_NS	    (8 * 1000000000ull)
#define SDR_PUSH_GAP_MAX_NS (600 * 1000000000ull)

static void wait_some(struct sdr_push *p, uint64_t now, uint64_t random)
{
	p->at = now + SDR_PUSH_WAIT_NS + random % SDR_PUSH_SPREAD_NS;
}

void sdr_push_init(struct sdr_push *p, uint64_t now, uint64_t random)
{
	memset(p, 0, sizeof(*p));
	p->gap = SDR_PUSH_GAP_NS;
	wait_some(p, now, random);
}

void sdr_push_idle(struct sdr_push *p, uint64_t now, uint64_t random)
{
	if (!p->sure && now + SDR_PUSH_WAIT_NS > p->at)
		wait_some(p, now, random);
}

void sdr_push_apart(struct sdr_push *p, uint64_t now, uint64_t random)
{
	if (now > p->at)
		p->at = now + random % SDR_PUSH_APART_NS;
}

void sdr_push_after(struct sdr_push *p, uint64_t now, uint64_t random)
{
	wait_some(p, now, random);
}

uint64_t sdr_push_put_off(struct sdr_push *p, uint64_t now)
{
	p->at = now + 2 * p->gap;
	return p->at;
}

void sdr_push_suspects(struct sdr_push *p, const struct sdr_rival_at *at)
{
	p->suspect = true;
	p->at = at->now + at->random % SDR_PUSH_SOON_NS;
}

bool sdr_push_may(const struct sdr_push *p, const struct sdr_rival_at *at, double rate, double win)
{
	return at->now > p->at && at->base >= SDR_RIVAL_RTT_NS &&
	       rate * sdr_rival_trip(at) >= SDR_PUSH_USED * win &&
	       (double)at->queue < SDR_PUSH_BEGIN * (double)at->target &&
	       (double)at->queue < sdr_rival_long(at);
}

void sdr_push_begin(struct sdr_push *p, const struct sdr_rival_at *at, double rate)
{
	p->base = (double)at->queue;
	p->grown = fmin(SDR_PUSH_GREW * fmin((double)at->target, (double)at->few),
			p->base + SDR_PUSH_ROSE * (double)at->base);
	p->rounds = p->calm = 0;
	p->from = rate;
	p->gain = p->queue = p->lost = p->bytes = 0;
}

void sdr_push_rarer(struct sdr_push *p)
{
	if (p->gap < SDR_PUSH_GAP_MAX_NS)
		p->gap *= 2;
}

static void pause_long(struct sdr_push *p, const struct sdr_rival_at *at)
{
	p->at = at->now + p->gap / 2 + at->random % p->gap;
	sdr_push_rarer(p);
}

/* To where it was. */
static void back(const struct sdr_push *p, const struct sdr_rival_at *at, double *win)
{
	*win = p->from * (double)at->base / SDR_RIVAL_NS_PER_S;
}

/* To where it was, and a longer pause. */
static enum sdr_push_says nobody(struct sdr_push *p, const struct sdr_rival_at *at, double *win)
{
	back(p, at, win);
	p->sure = p->suspect = false;
	pause_long(p, at);
	return SDR_PUSH_NOBODY;
}

/* To where it was, and once more soon, at another time. */
static enum sdr_push_says again(struct sdr_push *p, const struct sdr_rival_at *at, double *win)
{
	back(p, at, win);
	p->at = at->now + at->random % SDR_PUSH_AGAIN_NS;
	return SDR_PUSH_ASIDE;
}

/* Too much was lost of what left before our push: another's goes on, and would look like it. */
static bool busy(const struct sdr_push *p, const struct sdr_rival_at *at)
{
	return p->rounds < SDR_PUSH_SENSE && at->lost > SDR_PUSH_BUSY * at->bytes;
}

/* More has happened than our push can do: others push as well. */
static bool collides(const struct sdr_push *p, const struct sdr_rival_at *at)
{
	double own = SDR_PUSH_MORE * SDR_PUSH_SENSE * (double)at->base;

	if (p->rounds != SDR_PUSH_SENSE)
		return false;
	return (double)at->queue - p->base > SDR_PUSH_OTHERS * own ||
	       at->lost > SDR_PUSH_CRASH * at->bytes;
}

static void look(struct sdr_push *p, const struct sdr_rival_at *at, double longest)
{
	if (p->rounds >= SDR_PUSH_YIELDED && p->rounds < SDR_PUSH_REMEMBERS &&
	    (double)at->queue < longest && at->lost <= SDR_PUSH_LOST * at->bytes)
		p->calm++;
	if (p->rounds >= SDR_PUSH_LOOK) {
		p->gain += (double)at->bw - p->from;
		p->queue += (double)at->queue;
		p->lost += at->lost;
		p->bytes += at->bytes;
	}
}

/* They yield: in some rounds, or by what all have brought (rounds: so many that count). */
static bool yield(const struct sdr_push *p, double longest, double rounds)
{
	return p->calm >= SDR_PUSH_CALM ||
	       (p->queue / rounds < fmax(longest, p->grown) && p->lost <= SDR_PUSH_LOST * p->bytes);
}

enum sdr_push_says sdr_push_round(struct sdr_push *p, const struct sdr_rival_at *at, double *most,
				  double *win)
{
	double more = SDR_PUSH_MORE * *most, n = SDR_PUSH_ROUNDS - SDR_PUSH_LOOK + 1, longest;

	p->rounds++;
	SDR_ASSERT(p->gap && p->rounds <= SDR_PUSH_ROUNDS);
	if (at->app_limited) { /* it cannot push with nothing */
		pause_long(p, at);
		return SDR_PUSH_ASIDE;
	}
	if (busy(p, at))
		return again(p, at, win);
	if (collides(p, at))
		return nobody(p, at, win);
	longest = fmax(SDR_PUSH_LONG * (double)at->target, fmin(p->base, p->grown));
	look(p, at, longest);
	*win = (p->from + more) * sdr_rival_trip(at);
	if (p->rounds < SDR_PUSH_ROUNDS)
		return SDR_PUSH_WAIT;
	if (p->gain / n < SDR_PUSH_ALONE * more) {
		*most = p->from + p->gain / n;
		return nobody(p, at, win);
	}
	if (yield(p, longest, n))
		return nobody(p, at, win);
	if (!p->sure) { /* it may have been another's push */
		p->sure = true;
		return again(p, at, win);
	}
	p->sure = p->suspect = false;
	return SDR_PUSH_RIVALS;
}
