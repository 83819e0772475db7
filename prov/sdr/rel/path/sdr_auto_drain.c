/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a flow under `auto` empties its queue, so that everybody sees how long the path is.
 *
 * Every two seconds or so, sooner at first; over far paths at certain times of a clock that all
 * hosts have in common: of many flows one that drains is not seen, all of them are.  And together
 * with whoever is seen to drain, as clocks may differ: the queue is shorter than all since the last
 * one, or another path of the connection says so.  Not where little is in flight, nor where an
 * application leaves the path as empty as it gets: that was a drain, and a queue that is short just
 * behind it is of our making.  A drain lasts a round trip, and the window does not grow in the
 * rounds behind it.
 *
 * Clocks are not as near to each other as near paths are short.  There flows drain by chance, more
 * often, and twice a second all at once, for as much longer as clocks may differ: whoever came when
 * there was a queue would take it for a part of the path, and with it most of what others have.
 *
 * No timers and no clock: drain_at is looked at when a round is over.
 */
#include <math.h>
#include "rel/path/sdr_auto_drain.h"
#include "rel/path/sdr_cc_auto.h"

#define SDR_AUTO_FROZEN_DRAIN 3u
#define SDR_AUTO_DRAIN_EMPTY  0.25 /* of the window in flight: no drain is needed */
/* round trips between two drains, and between two whoever begins, the end of START counted as one;
 * a third more or less, so that all drain at the same times, or by chance */
#define SDR_AUTO_DRAIN_RTTS	   72u
#define SDR_AUTO_DRAIN_APART	   40u
#define SDR_AUTO_DRAIN_APART_FIRST 16u
#define SDR_AUTO_DRAIN_ROUNDS	   24u /* and on a near path so many rounds */
/* ns: the round trip that counts in these */
#define SDR_AUTO_DRAIN_RTT_MIN (2 * 1000000ull)
#define SDR_AUTO_DRAIN_RTT_MAX (25 * 1000000ull)
/* ns: of near paths, all drain at multiples of that, and so much longer; nobody by chance so short
 * before; so late, it is still one of these */
#define SDR_AUTO_DRAIN_ALL	(1ull << 29)
#define SDR_AUTO_DRAIN_ALL_MORE (2 * 1000000ull)
#define SDR_AUTO_DRAIN_ALL_ROOM (50 * 1000000ull)
#define SDR_AUTO_DRAIN_ALL_LATE (5 * 1000000ull)
/* ... and what losses leave of the target of who does (sdr_shallow.c), at least */
#define SDR_AUTO_DRAIN_ALL_KEEPS 0.9
/* a queue shorter than all since the last drain, by a share and by a share of the target */
#define SDR_AUTO_JOIN_SHARE  0.8
#define SDR_AUTO_JOIN_TARGET 0.1
#define SDR_AUTO_MOST_NS     (30 * 1000000000ull) /* in which the largest rate seen halves */

/* The round trip of the empty path, as far as it is known. */
static uint64_t auto_trip(const struct sdr_cc *cc)
{
	uint64_t base = sdr_auto_look(cc)->queue.base;

	if (base)
		return base;
	return cc->known.rtt_ns ? cc->known.rtt_ns : cc->rtt_guess;
}

/* The one by which drains are timed. */
static uint64_t auto_beat(const struct sdr_cc *cc)
{
	uint64_t trip = auto_trip(cc);

	if (trip < SDR_AUTO_DRAIN_RTT_MIN)
		return SDR_AUTO_DRAIN_RTT_MIN;
	return trip < SDR_AUTO_DRAIN_RTT_MAX ? trip : SDR_AUTO_DRAIN_RTT_MAX;
}

/*
 * All of a near path drain at times; but not who is told by losses that the buffer is short, as
 * nobody finds much of a queue there.
 */
static bool auto_all(const struct sdr_cc *cc)
{
	return sdr_qdelay_near(auto_trip(cc)) &&
	       sdr_auto_look(cc)->shallow.keeps >= SDR_AUTO_DRAIN_ALL_KEEPS;
}

/* Since all of a near path were to drain, ns. */
static uint64_t auto_since_all(const struct sdr_cc *cc, uint64_t now)
{
	return (now + cc->clock_ahead_ns) % SDR_AUTO_DRAIN_ALL;
}

/* On a near path: after ns and up to half as many more, by chance, or when all do. */
static uint64_t auto_after_near(const struct sdr_cc *cc, uint64_t now, uint64_t ns)
{
	uint64_t at = now + ns + sdr_auto_random(cc, now) % (ns / 2);
	uint64_t all = now + SDR_AUTO_DRAIN_ALL - auto_since_all(cc, now);

	if (!auto_all(cc) || at + SDR_AUTO_DRAIN_ALL_ROOM < all)
		return at;
	return all;
}

/*
 * So many round trips from now, to the nearest multiple of a power of two by the hosts' common
 * clock: flows whose round trips differ have multiples in common, too.
 */
static uint64_t auto_after(const struct sdr_cc *cc, uint64_t now, uint32_t trips)
{
	uint64_t ns = trips * auto_beat(cc), grid = 1ull << (63 - __builtin_clzll(ns));
	uint64_t at = now + ns + grid / 2;

	if (auto_trip(cc) < SDR_QDELAY_FAR_NS)
		return auto_after_near(cc, now, ns);
	return at - (at + cc->clock_ahead_ns) % grid;
}

/* Hardly anything of ours is on its way: everybody sees the path without us. */
static void auto_emptied(struct sdr_auto *a, uint64_t now)
{
	a->emptied_at = now;
	a->shortest = HUGE_VAL;
}

void sdr_auto_drain_wait(struct sdr_cc *cc, uint64_t now, uint32_t trips)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	a->phase = SDR_AUTO_CRUISE;
	a->frozen = SDR_AUTO_FROZEN_DRAIN;
	a->pace = 1;
	a->quiet = 0;
	a->drain_at = auto_after(cc, now, trips);
	a->drained_at = now;
	auto_emptied(a, now);
}

/* Another path of the connection empties its queue: it may be the same. */
static bool auto_drains_too(const struct sdr_cc *cc, uint64_t now)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	uint64_t at = cc->bond ? cc->bond->drain_ns : 0;

	return at > a->drained_at && now < at + a->queue.base;
}

static bool auto_drains(const struct sdr_cc *cc, uint64_t now, double target)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double queue = (double)a->queue.queue;
	uint32_t apart = a->drains ? SDR_AUTO_DRAIN_APART : SDR_AUTO_DRAIN_APART_FIRST;

	/* who is on a path with a packet now and then makes no queue */
	if (sdr_qdelay_near(a->queue.base) && a->rounds < a->drained + SDR_AUTO_DRAIN_ROUNDS)
		return false;
	if (now > a->drain_at || auto_drains_too(cc, now))
		return true;
	return a->emptied_at && now > a->emptied_at + apart * auto_beat(cc) &&
	       queue < a->shortest * SDR_AUTO_JOIN_SHARE - SDR_AUTO_JOIN_TARGET * target;
}

void sdr_auto_drain_round(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	if (now <= a->drain_end)
		return;
	if (a->drained_at)
		a->rival.most *= exp2(-(double)(now - a->drained_at) / SDR_AUTO_MOST_NS);
	a->drains++;
	a->drained = a->rounds;
	sdr_auto_drain_wait(cc, now, SDR_AUTO_DRAIN_RTTS);
}

/* How long this one lasts, ns. */
static uint64_t auto_drain_lasts(const struct sdr_cc *cc, uint64_t now)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	if (!sdr_qdelay_near(a->queue.base))
		return a->queue.base;
	if (auto_all(cc) && auto_since_all(cc, now) < SDR_AUTO_DRAIN_ALL_LATE)
		return a->queue.base + a->queue.queue + SDR_AUTO_DRAIN_ALL_MORE;
	return a->queue.base + a->queue.queue;
}

void sdr_auto_drain_look(struct sdr_cc *cc, uint64_t now, uint64_t target, bool app_limited)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double queue = (double)a->queue.queue, aim = (double)target;
	uint64_t after;

	if (app_limited && queue < aim) {
		/* the path is as empty as it gets */
		after = auto_after(cc, now, SDR_AUTO_DRAIN_FIRST);
		a->drain_at = a->drain_at > after ? a->drain_at : after;
	} else if (auto_drains(cc, now, aim)) {
		a->phase = SDR_AUTO_DRAIN;
		if (cc->bond && !auto_drains_too(cc, now))
			cc->bond->drain_ns = now;
		a->drain_end = now + auto_drain_lasts(cc, now);
	}
	if (a->emptied_at && now > a->emptied_at + SDR_AUTO_FROZEN_DRAIN * a->queue.base)
		a->shortest = fmin(a->shortest, queue);
}

/*
 * So little of ours is on its way that a drain would not empty the path more.  START ends so, too,
 * in a queue that it has made.
 */
static bool auto_is_empty(const struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	return a->phase == SDR_AUTO_CRUISE && a->rounds > a->settled && ack->bytes &&
	       a->queue.base >= SDR_QDELAY_FAR_NS &&
	       (double)ack->inflight < SDR_AUTO_DRAIN_EMPTY * a->win;
}

void sdr_auto_drain_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	if (!auto_is_empty(cc, ack))
		return;
	a->drain_at = auto_after(cc, ack->now, SDR_AUTO_DRAIN_RTTS);
	auto_emptied(a, ack->now);
}
