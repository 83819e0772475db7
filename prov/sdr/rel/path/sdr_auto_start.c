/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The beginning of a flow under `auto`: how large the first window is, what ends START (a capacity
 * that trains have shown, a queue, losses), what is learnt by that, whether several start at once,
 * and whether a path that was known is still the same.
 *
 * Changes window, phase and what was learnt in the state of `auto`; sdr_cc_auto.c goes on from
 * there.  No clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include "rel/path/sdr_auto_start.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"

#define SDR_AUTO_FIRST_PKTS  96u /* the first window */
#define SDR_AUTO_FIRST_LEAST 8.0 /* of it, to one of many that begin together */
#define SDR_AUTO_NEAR_FIRST  6u	 /* on a near path, in a round trip: others may begin as well */
/* how far a round trip may be from the known one, either way, for the path to be the known one */
#define SDR_AUTO_KNOWN_RTT  2u
#define SDR_AUTO_START_FREE 0.02 /* share of a first window lost that is not put on it */
/* share of a round lost that ends START, and packets after which it is one: beyond weather, ... */
#define SDR_AUTO_START_LOST 0.12
#define SDR_AUTO_START_SURE 48.0
/* ... and where the round trip is so short, ns, that none is expected */
#define SDR_AUTO_START_NEAR_LOST 0.02
#define SDR_AUTO_START_NEAR_SURE 16.0
#define SDR_AUTO_START_FEW	 24.0 /* packets decided before a queue ends it */
#define SDR_AUTO_START_USE	 0.88 /* of the capacity that ends START: others may start, too */
/* of the rate that was learnt, or sent: less of a whole flight arrives where others start, too; and
 * what says so, packets */
#define SDR_AUTO_SPREAD_LEAST 0.6
#define SDR_AUTO_SPREAD_PKTS  24.0
#define SDR_AUTO_SPREAD_MORE  1.5  /* of what was learnt: it was too little */
#define SDR_AUTO_SPREAD_TIME  4u   /* of a round trip: a shorter time says nothing of more */
#define SDR_AUTO_SPREAD_CLAIM 0.5  /* of what was learnt, whoever is there */
#define SDR_AUTO_SHOWN_USE    0.95 /* of a capacity: some may belong to others */
#define SDR_AUTO_START_FULL   1.25 /* of the target: a queue that ends START */
#define SDR_AUTO_START_GAIN   2.0
#define SDR_AUTO_FIRST_NS     (2500 * 1000ull) /* in which a first window leaves */
/* many begin together: their first windows take so many times as long each, at most, ... */
#define SDR_AUTO_TOGETHER_SLOW 2.0
#define SDR_AUTO_TOGETHER_MAX  8.0
/* ... they are paced above their windows by that, and grow up to a queue, of the target */
#define SDR_AUTO_TOGETHER_PACE 1.25
#define SDR_AUTO_TOGETHER_FULL 0.4
#define SDR_AUTO_TOGETHER_GAIN 0.5 /* of what arrives, in START of what a round has brought */
/* times what arrived in a round: no window for what was seen to pass is larger; and times a first
 * window: who has met nobody for so long was through with the others */
#define SDR_AUTO_TOGETHER_USED	8
#define SDR_AUTO_TOGETHER_ALONE 4

/* They share the first window, and what it shows. */
static double auto_together(const struct sdr_cc *cc)
{
	uint64_t base = sdr_auto_look(cc)->queue.base, trip = base ? base : cc->rtt_guess;

	if (cc->known.rate_Bps || !cc->known.together || trip < SDR_QDELAY_FAR_NS)
		return 1;
	return cc->known.together;
}

/*
 * Packets that a slow path holds, as the handshake has shown, unless more was seen to pass since;
 * and until it has shown it.
 */
static double auto_first_fits(const struct sdr_cc *cc, uint64_t trip)
{
	double rate = fmax((double)cc->pair.most_Bps, sdr_auto_look(cc)->rival.most);

	if (cc->pair.waits)
		return SDR_AUTO_LEAST_PKTS;
	if (!cc->pair.most_Bps)
		return SDR_AUTO_FIRST_PKTS;
	return fmax(rate * (double)trip / SDR_CC_NS_PER_S / cc->mtu, SDR_AUTO_LEAST_PKTS);
}

/*
 * A near path begins with a few packets: others may begin as well, and it is soon known.  How far
 * it is the connection's first exchange tells, which may have met a queue already.
 */
double sdr_auto_first(const struct sdr_cc *cc)
{
	uint64_t base = sdr_auto_look(cc)->queue.base, trip = base ? base : cc->rtt_guess;
	double pkts = SDR_AUTO_FIRST_PKTS, far = (double)trip / SDR_QDELAY_FAR_NS, room;

	pkts = fmax(pkts / auto_together(cc), SDR_AUTO_FIRST_LEAST);
	if (trip >= SDR_QDELAY_RACK_NS)
		pkts = fmin(pkts, SDR_AUTO_NEAR_FIRST * fmax(far * far, 1));
	room = (double)cc->rx_window * SDR_CC_RX_SHARE;
	if (far >= 1)
		pkts = fmin(pkts, auto_first_fits(cc, trip));
	return fmin(pkts * cc->mtu, room);
}

double sdr_auto_begins(const struct sdr_cc *cc)
{
	const struct sdr_cc_known *k = &cc->known;
	double first = sdr_auto_first(cc);

	if (!k->rate_Bps || !k->rtt_ns)
		return first;
	/* all of it: the window is what the path holds, and queues for no more than its error */
	return fmax((double)k->rate_Bps * (double)k->rtt_ns / SDR_CC_NS_PER_S, first / 2);
}

/*
 * There may be more of them than those of this process: up to its share the window grows out of
 * what has arrived so far.  Or of what it had when messages of the application had met nobody for
 * long, as far as there is room for as many processes as connections of this one.
 */
static void auto_learn_together(struct sdr_cc *cc, bool all, double had)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double n = auto_together(cc), least = SDR_AUTO_FIRST_LEAST * cc->mtu;
	double first = sdr_auto_first(cc), arrived = fmax(a->blame.bytes, first);

	if (n <= 1)
		return;
	a->before = fmax(all ? a->win / n : a->win, least);
	if (had >= SDR_AUTO_TOGETHER_ALONE * first)
		arrived = fmax(arrived, fmin(had, a->before / n));
	a->win = fmin(a->before, fmax(arrived - a->blame.lost, least));
	sdr_burst_share(&a->burst, a->win);
}

/*
 * Begin with that rate.  passes: the path was seen to carry so much; all: whoever else is there,
 * else it is what we had.
 */
static bool auto_learn(struct sdr_cc *cc, uint64_t now, double rate_Bps, double passes, bool all)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double free = SDR_AUTO_START_FREE * a->blame.bytes, had = a->win, least = 0;

	sdr_blame_cut(&a->blame, a->win, a->blame.lost);
	/* all that was lost since the begin: the window was too large */
	if (a->blame.lost > free)
		cc->own_lost += (uint64_t)a->blame.lost;
	/*
	 * Of a flight that is lost but for a packet hardly a rate is left, and what is sent again
	 * tells no round trips: such a window would not grow until all of that has passed.
	 */
	if (a->queue.base >= SDR_QDELAY_FAR_NS)
		least = SDR_CC_MIN_PKTS * cc->mtu;
	a->win = fmax(rate_Bps * (double)a->queue.base / SDR_CC_NS_PER_S, least);
	sdr_rival_passes(&a->rival, passes);
	auto_learn_together(cc, all, had);
	a->learnt_at = now;
	a->learnt_flights = 0;
	return true;
}

/* A flight that left into an empty path begins to arrive a round trip later, if it meets nobody. */
static void auto_spread_begin(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	uint64_t head = ack->snap->first_tx_ns, rx = ack->now - ack->delay;

	if (ack->snap_tx_ns > head + a->queue.base / 2) /* nor is it the first */
		head = ack->snap_tx_ns;
	else if (rx > head + a->queue.base)
		rx = head + a->queue.base;
	sdr_spread_begin(&a->spread, rx, head);
}

/*
 * The first packets that arrived told what the path passes.  Those behind them tell what of it is
 * ours, where several start at once: each of them saw all of it.
 */
void sdr_auto_spread(struct sdr_cc *cc, const struct sdr_cc_ack *ack, bool round_start)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double passes, least, more;

	if (!ack->snap || !ack->bytes || a->queue.base < SDR_QDELAY_FAR_NS)
		return;
	if (a->phase == SDR_AUTO_START && round_start)
		auto_spread_begin(cc, ack);
	if (a->phase != SDR_AUTO_START && ack->snap_tx_ns > a->learnt_at) {
		a->learnt_at = a->learnt_flights++ ? 0 : ack->now;
		auto_spread_begin(cc, ack);
	} else if (a->spread.rx) {
		sdr_spread_acked(&a->spread, ack->now - ack->delay, ack->snap_tx_ns, ack->bytes);
	}
	if (!a->learnt_at || a->phase == SDR_AUTO_START ||
	    a->spread.bytes < SDR_AUTO_SPREAD_PKTS * cc->mtu)
		return;
	passes = sdr_spread_arrived(&a->spread);
	least = SDR_AUTO_SPREAD_LEAST * fmin(sdr_spread_left(&a->spread), a->rival.most);
	/*
	 * a queue that was there before us ended START with its first packet; what is told of at
	 * once did not arrive at once
	 */
	more = fmin(passes, sdr_spread_left(&a->spread));
	if (a->spread.rx_last - a->spread.rx < a->queue.base / SDR_AUTO_SPREAD_TIME)
		more = 0;
	if (more > SDR_AUTO_SPREAD_MORE * a->rival.most) {
		passes = SDR_AUTO_START_USE * more;
		sdr_rival_passes(&a->rival, passes);
		a->win = fmax(a->win, passes * (double)a->queue.base / SDR_CC_NS_PER_S);
	} else if (passes > 0 && passes < least) {
		a->frozen = SDR_AUTO_FROZEN_CUT;
		a->before = 0;
		passes = fmax(passes, SDR_AUTO_SPREAD_CLAIM / auto_together(cc) * a->rival.most);
		a->win = fmin(a->win, SDR_AUTO_START_USE * passes * (double)a->queue.base /
					      SDR_CC_NS_PER_S);
	}
}

/*
 * The window, bytes, that the path is known to pass, though the application is the limit: by what
 * trains have shown, else by what twice has passed of its bursts, which is less than all of it.
 */
double sdr_auto_shown(const struct sdr_cc *cc, const struct sdr_cc_rate *rate)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double rate_Bps = 0;

	if (sdr_auto_capacity(rate))
		rate_Bps = SDR_AUTO_SHOWN_USE * (double)rate->capacity_Bps;
	else if (a->queue.base >= SDR_QDELAY_FAR_NS)
		rate_Bps = fmin(a->passed, a->passed_before);
	return rate_Bps * (double)a->queue.base / SDR_CC_NS_PER_S;
}

/* A queue that was full from the first packet on is not seen, but what it drops. */
static bool auto_start_drops(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	bool near = a->queue.base < SDR_QDELAY_FAR_NS;
	double sure = near ? SDR_AUTO_START_NEAR_SURE : SDR_AUTO_START_SURE;
	double share = near ? SDR_AUTO_START_NEAR_LOST : SDR_AUTO_START_LOST;

	return a->bytes + a->lost >= sure * cc->mtu && a->lost > share * (a->bytes + a->lost);
}

/*
 * As large as what was seen to pass may make the window, bytes.  Of those who begin together each
 * sees what passes while the others pause, and is to be ready for its next message, not for all.
 */
static double auto_start_most(const struct sdr_cc *cc)
{
	return auto_together(cc) > 1 ? SDR_AUTO_TOGETHER_USED * sdr_auto_look(cc)->bytes : HUGE_VAL;
}

/*
 * Of those who begin together each grows behind a round that has met hardly any queue: others may
 * be there that nobody here knows of, and all of them grow at once.
 */
static void auto_grow_together(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			       const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	if (rate->round_start) {
		if ((double)a->grows.queue <=
		    SDR_AUTO_TOGETHER_FULL * (double)sdr_auto_keeps(cc, a->win))
			a->win += SDR_AUTO_TOGETHER_GAIN * a->grows.bytes;
		a->grows.bytes = 0;
		a->grows.queue = 0;
	}
	if (!rate->app_limited)
		a->grows.bytes += (double)ack->bytes;
	if (ack->rtt > a->queue.base + a->grows.queue)
		a->grows.queue = ack->rtt - a->queue.base;
}

bool sdr_auto_start(struct sdr_cc *cc, const struct sdr_cc_ack *ack, const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double queue = (double)sdr_qdelay_now(&a->queue), full = SDR_AUTO_START_FULL, win = a->win;
	double use = SDR_AUTO_START_USE * (double)rate->capacity_Bps, half, passes;
	bool far = a->queue.base >= SDR_QDELAY_FAR_NS;

	if (sdr_auto_capacity(rate) || (rate->capacity_Bps && auto_start_drops(cc)))
		return auto_learn(cc, ack->now, use, use, !rate->capacity_least);
	if (auto_together(cc) > 1)
		auto_grow_together(cc, ack, rate);
	else if (!rate->app_limited)
		a->win += (double)ack->bytes;
	if (rate->app_limited)
		a->win = fmax(a->win, fmin(sdr_auto_shown(cc, rate), auto_start_most(cc)));
	/* what the first of a flight met over a far path was there before us */
	if (far && a->blame.bytes < SDR_AUTO_START_FEW * cc->mtu)
		return false;
	/* the target, and its root, only of a queue that is longer than its smallest part */
	if (!a->queue.samples || queue <= full * sdr_auto_host(a->queue.base) ||
	    queue <= full * (double)sdr_auto_target(a->queue.base, cc->mtu, win))
		return false;
	/* a first acknowledgement shows the least capacity of all: more is tried, not known */
	half = a->win / 2 / (double)a->queue.base * SDR_CC_NS_PER_S;
	if (!rate->capacity_Bps || (a->queue.base >= SDR_AUTO_LAN_NS && rate->capacity_least))
		use = fmax(use, half);
	passes = use;
	if (!far && rate->capacity_Bps)
		passes = fmin(use, (double)rate->capacity_Bps);
	return auto_learn(cc, ack->now, use, passes, false);
}

uint64_t sdr_auto_first_ns(const struct sdr_cc *cc)
{
	double n = auto_together(cc);
	uint64_t ns = SDR_AUTO_FIRST_NS;

	if (n > 1)
		ns = (uint64_t)((double)ns *
				fmin(SDR_AUTO_TOGETHER_SLOW * n, SDR_AUTO_TOGETHER_MAX));

	if (cc->rtt_guess >= SDR_QDELAY_RACK_NS && cc->rtt_guess < ns)
		return cc->rtt_guess;
	return ns;
}

double sdr_auto_start_gain(const struct sdr_cc *cc)
{
	return auto_together(cc) > 1 ? SDR_AUTO_TOGETHER_PACE : SDR_AUTO_START_GAIN;
}

void sdr_auto_returns(struct sdr_cc *cc, uint64_t bytes)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double gain = 1;

	if (auto_together(cc) > 1) {
		gain = SDR_AUTO_TOGETHER_GAIN;
		if ((double)sdr_qdelay_now(&a->queue) >
		    SDR_AUTO_TOGETHER_FULL * (double)sdr_auto_keeps(cc, a->win))
			a->before = 0;
	}
	if (a->win < a->before)
		a->win = fmin(a->before, a->win + gain * (double)bytes);
	else
		a->before = 0;
}

/* What was known is of another path: the first round trip says so. */
void sdr_auto_verify(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	uint64_t known = cc->known.rtt_ns, base = a->queue.base;

	if (!cc->known.rate_Bps || a->rounds)
		return;
	if (base <= SDR_AUTO_KNOWN_RTT * known && known <= SDR_AUTO_KNOWN_RTT * base)
		return;
	cc->known.rate_Bps = 0;
	a->phase = SDR_AUTO_START;
	a->win = fmin(a->win, sdr_auto_first(cc));
	a->rival.most = 0;
}
