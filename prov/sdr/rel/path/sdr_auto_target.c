/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long a queue a flow under `auto` keeps, by the path and by what it has of it: a share of the
 * round trip, what hosts add, a part that grows as the window shrinks, the noise.  And what is
 * different where a window is a few packets of a near path, which are counted one by one: how much
 * of a step the window takes, how small it may become, how long a round was.
 *
 * Reads the state of `auto` and changes nothing.  No clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include "base/sdr_assert.h"
#include "rel/path/sdr_auto_cruise.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"
#include "rel/path/sdr_cc_ops.h"

/* the target: a share of the round trip, what hosts add, a part that shrinks with the window */
#define SDR_AUTO_TARGET_SHARE 0.01
#define SDR_AUTO_TARGET_NS    70000.0
/* ns: round trips of one host, and of a rack; and what hosts add there */
#define SDR_AUTO_SAME_HOST_NS	 15000u
#define SDR_AUTO_SAME_HOST_QUEUE 1e6
#define SDR_AUTO_RACK_QUEUE	 300000.0
#define SDR_AUTO_TARGET_ROOT	 0.45
/* on a near path, of the round trip, for who sends more than a packet in one; 0 for about two */
#define SDR_AUTO_TILT	   0.2
#define SDR_AUTO_TILT_NONE 0.7
/* of a round trip beyond that, ns, times a share of the path, that one at most, times what it is
 * less than that one: what is kept more; so much of all remains at least */
#define SDR_AUTO_LEAN	      0.075
#define SDR_AUTO_LEAN_FROM_NS 5e6
#define SDR_AUTO_LEAN_MOST    0.66
#define SDR_AUTO_LEAN_UNSURE  0.2 /* ... where nobody has shown what the path carries */
#define SDR_AUTO_LEAN_NONE    0.5
#define SDR_AUTO_LEAN_LEAST   0.5
/* what is kept at least in a shallow buffer: of a far round trip, ns, and of what it would keep */
#define SDR_AUTO_SHALLOW       0.02
#define SDR_AUTO_SHALLOW_NS    55000.0
#define SDR_AUTO_SHALLOW_LEAST 0.05
/* of what it would keep, and ns, what is kept of a far path: none of the mean counts, to all of it;
 * of what it adds by chance */
#define SDR_AUTO_EVEN_NONE    0.4
#define SDR_AUTO_EVEN	      0.2
#define SDR_AUTO_EVEN_NONE_NS 400000.0
#define SDR_AUTO_EVEN_NS      300000.0
#define SDR_AUTO_EVEN_NOISE   0.25
/* of the window: the smallest that still has a rate; on a near path, of what would fill it */
#define SDR_AUTO_WIN_MIN_PKTS (1.0 / 64)
#define SDR_AUTO_NEAR_SHARE   (1.0 / 16)
/* of the step, as the queue answers a round trip later; on a far path up to two */
#define SDR_AUTO_DAMP	    0.6
#define SDR_AUTO_NEAR_DAMP  0.7
#define SDR_AUTO_FEW	    4.0	 /* packets of a window on a near path: few, to ... */
#define SDR_AUTO_FEW_NONE   12.0 /* ... a window as others */
#define SDR_AUTO_FEW_DAMP   0.2	 /* the queue is longer than the path, and pacing follows it */
#define SDR_AUTO_BOND	    0.8	 /* of the window that counts: that of all paths */
#define SDR_AUTO_FEW_LASTED 8.0	 /* round trips that a round counts for, at most */

/* How far x is on the way from none to all: 0..1. */
static double auto_way(double x, double none, double all)
{
	return fmin(fmax((none - x) / (none - all), 0), 1);
}

/* How far a path of that round trip is one within a rack: 1, it is, to 0. */
static double auto_rack(uint64_t base)
{
	double over = (double)base - SDR_QDELAY_RACK_NS;

	return fmin(fmax(1 - over / (SDR_AUTO_LAN_NS - SDR_QDELAY_RACK_NS), 0), 1);
}

/*
 * What threads and processors at both ends make of a round trip, ns.  The shorter the path, the
 * more of what looks like a queue is a processor that is not there yet.
 */
double sdr_auto_host(uint64_t base)
{
	if (base < SDR_AUTO_SAME_HOST_NS)
		return SDR_AUTO_SAME_HOST_QUEUE;
	return SDR_AUTO_TARGET_NS + auto_rack(base) * (SDR_AUTO_RACK_QUEUE - SDR_AUTO_TARGET_NS);
}

/*
 * So much longer, ns, is the queue of who has less on a near path, beyond the root; slot: the time
 * that a packet has at the own rate.  There the times of a few packets, which one sees in the
 * smallest round trip and the other does not, are as long as what the root makes of three times
 * the rate.  Not among those who have less than a packet in a round trip: the root is large there,
 * and each ns that a crowd keeps is one that hides the empty path.
 */
static double auto_tilt(double trip, double slot)
{
	double near = fmin(fmax(2 - 2 * trip / SDR_QDELAY_FAR_NS, 0), 1);

	return near * SDR_AUTO_TILT * (sqrt(trip * fmin(slot, trip)) - SDR_AUTO_TILT_NONE * trip);
}

uint64_t sdr_auto_target(uint64_t base, uint32_t mtu, double win)
{
	/* base * mtu / rate: round trip times the time that a packet has at the own rate */
	double trip = (double)base, slot = trip * mtu / win;

	SDR_ASSERT(base && mtu && win > 0);
	return (uint64_t)(sdr_auto_host(base) + SDR_AUTO_TARGET_SHARE * trip +
			  SDR_AUTO_TARGET_ROOT * sqrt(trip * slot) + auto_tilt(trip, slot));
}

/*
 * The window by which the target goes: of paths of one connection that of all of them, mostly, so
 * that together they yield to others as one flow with it does; the rest keeps their shares apart.
 */
double sdr_auto_counts(const struct sdr_cc *cc, double win)
{
	const struct sdr_cc_bond *b = cc->bond;
	double all;

	if (!b || b->n < 2)
		return win;
	all = fmax(b->win - cc->bond_win, 0) + win;
	return SDR_AUTO_BOND * all + (1 - SDR_AUTO_BOND) * b->n * win;
}

/*
 * How few packets a window on a near path is: 1, so few that they are counted one by one, to 0, a
 * window as others.
 */
double sdr_auto_few(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double pkts = a->win / cc->mtu;

	/* where packets overtake, a mean tells of their ways and not of a queue */
	if (!sdr_qdelay_near(a->queue.base) || a->overtakes)
		return 0;
	return auto_way(pkts, SDR_AUTO_FEW_NONE, SDR_AUTO_FEW);
}

/*
 * Of what is kept (keeps, ns) who has less than half of a far path keeps more, and who has more
 * less, as far as there is a queue: what the root makes of two shares depends on how long a packet
 * is, and is so little that equal shares take seconds (round trips, which are short on a near one).
 * It is for shares of a few: those of a crowd, and one that has all of it, keep what they kept.
 */
static uint64_t auto_lean(const struct sdr_cc *cc, double win, uint64_t keeps)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double trip = (double)a->queue.base, path = a->rival.most * trip / SDR_CC_NS_PER_S;
	double share, lean;

	if (trip < SDR_AUTO_LEAN_FROM_NS || path <= 0)
		return keeps;
	/* who was never alone may take what it had for all there is */
	share = fmin(win / path, a->sure ? SDR_AUTO_LEAN_MOST : SDR_AUTO_LEAN_UNSURE);
	lean = SDR_AUTO_LEAN * (trip - SDR_AUTO_LEAN_FROM_NS) * share *
	       (SDR_AUTO_LEAN_NONE - share);
	/* a path that is not full is filled as fast as ever */
	if (lean < 0)
		lean *= fmin((double)a->queue.queue / (double)keeps, 1);
	return (uint64_t)fmax((double)keeps + lean, SDR_AUTO_LEAN_LEAST * (double)keeps);
}

/*
 * The queue that this flow would keep, if the buffer were deep, ns.  The smallest round trip may be
 * a small packet's: what a full one takes longer is no queue.
 */
static uint64_t auto_would(const struct sdr_cc *cc, double win)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	uint64_t slot = 0;

	/* who was never seen to have much of the path would keep more for that */
	if (a->rival.most > 0)
		slot = (uint64_t)fmin(cc->mtu / a->rival.most * SDR_CC_NS_PER_S,
				      (double)sdr_qdelay_slot(&a->queue));
	slot += sdr_auto_target(a->queue.base + slot, cc->mtu, sdr_auto_counts(cc, win));
	slot = auto_lean(cc, sdr_auto_counts(cc, win), slot);
	/* a mean has what the path adds by chance in it (more than the path is our own), ... */
	return slot + (uint64_t)(sdr_auto_few(cc) * fmin(a->queue.noise, (double)a->queue.base));
}

/*
 * ... and a queue shorter than that is not seen, which late hosts of a rack must not fill.  A far
 * path that is not full is filled as fast as ever.
 */
static uint64_t auto_kept(const struct sdr_cc *cc, double win)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	uint64_t own = sdr_qdelay_slot(&a->queue), noise = (uint64_t)a->queue.noise;
	uint64_t keeps = auto_would(cc, win);

	if (sdr_qdelay_near(a->queue.base))
		return sdr_shallow_keeps(&a->shallow, keeps > noise ? keeps : noise, own);
	if (a->quiet <= SDR_AUTO_QUIET_ROUNDS)
		keeps = sdr_shallow_keeps(&a->shallow, keeps, own);
	return keeps > noise ? keeps : noise;
}

/*
 * On a far path windows are many packets; but where losses have left next to nothing of the queue
 * (kept, ns), what of it the smallest of many samples misses is as much as it is long, and who has
 * more takes all.
 */
static double auto_even(const struct sdr_cc *cc, uint64_t kept)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	if (a->queue.base < SDR_QDELAY_FAR_NS || a->overtakes)
		return 0;
	return auto_way(a->shallow.keeps, SDR_AUTO_EVEN_NONE, SDR_AUTO_EVEN) *
	       auto_way((double)kept, SDR_AUTO_EVEN_NONE_NS, SDR_AUTO_EVEN_NS);
}

double sdr_auto_even(const struct sdr_cc *cc)
{
	return fmax(sdr_auto_few(cc), auto_even(cc, auto_kept(cc, sdr_auto_look(cc)->win)));
}

uint64_t sdr_auto_keeps(const struct sdr_cc *cc, double win)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double noise = fmin(a->queue.noise, (double)a->queue.base);
	uint64_t kept = auto_kept(cc, win);

	return kept + (uint64_t)(SDR_AUTO_EVEN_NOISE * auto_even(cc, kept) * noise);
}

double sdr_auto_shallow(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double over = (double)auto_would(cc, a->win) - (double)sdr_qdelay_slot(&a->queue);
	double least = fmax(SDR_AUTO_SHALLOW * (double)a->queue.base, SDR_AUTO_SHALLOW_NS);
	double share = 1;

	if (sdr_qdelay_near(a->queue.base))
		return SDR_SHALLOW_LEAST;
	if (over > least)
		share = least / over;
	return fmax(share, SDR_AUTO_SHALLOW_LEAST);
}

/* On a far path a burst is one accident, and what START has sent too much is none. */
double sdr_auto_overran(const struct sdr_cc *cc, double lost)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	if (sdr_qdelay_near(a->queue.base))
		return lost / cc->mtu;
	return a->phase == SDR_AUTO_START || a->rounds <= a->settled ? 0 : fmin(lost / cc->mtu, 1);
}

/*
 * Of the window, bytes: behind processors that are late no flow is to yield for ever.  On a near
 * path a share of what was seen to pass remains, as a window: its rate still falls with a queue.
 */
double sdr_auto_floor(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double rack = a->queue.base ? auto_rack(a->queue.base) : 0, least;

	least = cc->mtu * SDR_AUTO_WIN_MIN_PKTS *
		pow(SDR_AUTO_LEAST_PKTS / SDR_AUTO_WIN_MIN_PKTS, rack);
	if (!sdr_qdelay_near(a->queue.base))
		return least;
	return fmax(least,
		    a->rival.most * (double)a->queue.base / SDR_CC_NS_PER_S * SDR_AUTO_NEAR_SHARE);
}

double sdr_auto_damp(const struct sdr_cc *cc)
{
	if (!sdr_qdelay_near(sdr_auto_look(cc)->queue.base))
		return SDR_AUTO_DAMP;
	return SDR_AUTO_NEAR_DAMP + sdr_auto_few(cc) * (SDR_AUTO_FEW_DAMP - SDR_AUTO_NEAR_DAMP);
}

/* Round trips that the last round counts for: with less than a packet in one, it was longer. */
double sdr_auto_lasted(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double trip = (double)(a->queue.base + a->queue.queue);

	return fmax(1, sdr_auto_few(cc) * fmin((double)a->lasted / trip / 2, SDR_AUTO_FEW_LASTED));
}
