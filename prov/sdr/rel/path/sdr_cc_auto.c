/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `auto`, the default: fills a path that others use as well, by the delay of its queue.
 *
 *    START   a first window, paced far above what most paths carry, so that its own dispersion
 *            tells the bottleneck's rate (sdr_train.c); until that is known the window grows by
 *            what is delivered.  A path that is known already (cc->known) begins in CRUISE.
 *    CRUISE  once a round trip
 *                win <- win * (base + target(win)) / (base + queue)
 *            the law of FAST TCP, with a target that is longer for those with little: whoever has
 *            less lets the queue be a little longer, so that flows of ours converge to equal
 *            shares, and n of them keep a queue that grows with the root of n only (Swift's flow
 *            scaling).  Losses do not enter.
 *    DRAIN   half the window for a round trip, every two seconds or so: the queue empties, and
 *            everybody sees how long the path is.  Whoever sees the queue shrink joins, so that
 *            those who share a path drain together.
 *
 * Beside that law stand:
 *    losses  sdr_blame.c says whether they are ours.  Ours put a bound on the window, which is
 *            lifted slowly after a while (BBRv3's inflight_hi); the weather's do nothing.
 *    marks   the window shrinks by half the share of packets with congestion marks, once a round
 *            trip (DCTCP; RFC 8257)
 *    rivals  flows that do not yield to delay: sdr_rival.c has the window while there are some
 *    near    where the round trip is short, but not a host's (sdr_qdelay_near), a queue of a few
 *            packets is longer than the path, and many senders have less than a packet each
 *            (auto_few): samples are averaged, pacing answers each of them and the window slowly,
 *            and a round counts by how long it lasted
 *
 * What it was not told is what an application did not send: the window grows in rounds only in
 * which it was the limit, but the capacity that trains show counts for flows that send little, too.
 * After a pause the window fades, down to the first one; and a flow that was one of many who began
 * at the same time begins with less (sdr_burst.c).
 *
 * Runs in acknowledgements: no timers, no clock, no allocation.  Everything random is drawn from
 * times and counts of bytes, so that a run can be repeated.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rel/path/sdr_auto_burst.h"
#include "rel/path/sdr_auto_start.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"
#include "rel/path/sdr_cc_ops.h"

#define SDR_AUTO_ROUND_NS	50000u /* a round lasts at least that: shorter ones are a host's */
#define SDR_AUTO_USED		4      /* times what a round carried: no window grows beyond */
#define SDR_AUTO_TRAIN_USE	0.95   /* of a capacity: some may belong to others */
#define SDR_AUTO_GAIN		1.05   /* pacing above what the window makes: the window rules */
#define SDR_AUTO_SETTLE		2u     /* rounds after START in which it is still answered */
#define SDR_AUTO_YIELD		0.7    /* of the window at least remains after a round */
#define SDR_AUTO_QUIET		0.25   /* of the target: hardly any queue */
#define SDR_AUTO_QUIET_ROUNDS	3u
#define SDR_AUTO_PACE_STEP	1.25 /* a quiet path is filled faster and faster, up to */
#define SDR_AUTO_PACE_MAX	3.0
#define SDR_AUTO_FROZEN_DRAIN	3u
#define SDR_AUTO_CUT		0.8  /* a question to the path */
#define SDR_AUTO_FULL		0.95 /* an answer */
#define SDR_AUTO_STORM		0.6
#define SDR_AUTO_BOUND		0.95		   /* of the window at which losses were ours */
#define SDR_AUTO_BOUND_NS	(700 * 1000000ull) /* it stands that long, and is lifted by ... */
#define SDR_AUTO_BOUND_STEP	1.0		   /* ... of the plain step a round */
#define SDR_AUTO_BOUND_OVER	1.02		   /* a window above it may grow by that */
#define SDR_AUTO_BOUND_SLOW	16.0 /* of what was sent, a round, where that was all there was */
#define SDR_AUTO_DRAIN_WIN	0.5
#define SDR_AUTO_NEAR_DRAIN_WIN 0.25 /* for as long as the queue is, too */
#define SDR_AUTO_DRAIN_EMPTY	0.25 /* of the window in flight: no drain is needed */
#define SDR_AUTO_HOLD_WIN	1.3
/* round trips to the first drain, between two, and between two whoever begins, the end of START
 * counted as one; and half as many more by chance */
#define SDR_AUTO_DRAIN_FIRST	   20u
#define SDR_AUTO_DRAIN_RTTS	   72u
#define SDR_AUTO_DRAIN_APART	   40u
#define SDR_AUTO_DRAIN_APART_FIRST 16u
#define SDR_AUTO_DRAIN_ROUNDS	   24u /* and on a near path so many rounds */
/* ns: the round trip that counts in these */
#define SDR_AUTO_DRAIN_RTT_MIN (2 * 1000000ull)
#define SDR_AUTO_DRAIN_RTT_MAX (25 * 1000000ull)
/* a queue shorter than all since the last drain, by a share and by a share of the target */
#define SDR_AUTO_JOIN_SHARE  0.8
#define SDR_AUTO_JOIN_TARGET 0.1
/* of the round trip: the delay of reports (bulk/sdr_report.c) */
#define SDR_AUTO_WAIT_SHARE 8u
#define SDR_AUTO_MARK_FADE  32.0		 /* rounds over which marks are smoothed */
#define SDR_AUTO_IDLE_NS    (10 * 1000000000ull) /* a pause that halves what is known */
#define SDR_AUTO_MOST_NS    (30 * 1000000000ull) /* in which the largest rate seen halves */
#define SDR_AUTO_SPACED	    0.5			 /* of windows of a few packets (sdr_auto_few()) */
#define SDR_AUTO_ELSEWHERE  2u			 /* times a queue, and the target: it is another */
#define SDR_AUTO_LITTLE	    0.05		 /* see struct sdr_rival_at */

_Static_assert(sizeof(struct sdr_auto) <= SDR_CC_STATE_MAX, "the state of auto must fit");

static uint64_t auto_random(const struct sdr_cc *cc, uint64_t now)
{
	uint64_t seed = now ^ cc->delivered << 20 ^ cc->srtt;

	return sdr_rand64(&seed);
}

/* What other paths of the connection see of this one. */
static void auto_bond(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	bool rival = a->rival.state != SDR_RIVAL_NONE;

	if (!cc->bond)
		return;
	if (!cc->bond->asks)
		cc->bond->asks = cc;
	cc->bond->win += a->win - cc->bond_win;
	cc->bond_win = a->win;
	cc->bond->rivals += (uint32_t)rival - cc->bond_rival;
	cc->bond_rival = rival;
}

static void auto_output(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double least = SDR_AUTO_LEAST_PKTS * cc->mtu, win, gain = SDR_AUTO_GAIN, most;
	bool near = sdr_qdelay_near(a->queue.base);
	uint64_t trip = a->queue.base + a->queue.queue, wait;

	cc->starting = a->phase == SDR_AUTO_START;
	win = a->win = fmax(a->win, sdr_auto_floor(cc));
	auto_bond(cc);
	if (a->phase == SDR_AUTO_DRAIN)
		win *= near ? SDR_AUTO_NEAR_DRAIN_WIN : SDR_AUTO_DRAIN_WIN;
	/* a queue that is longer than the path is answered at once */
	if (a->phase == SDR_AUTO_CRUISE && a->queue.last)
		trip = (uint64_t)((double)trip +
				  sdr_auto_few(cc) * ((double)a->queue.last - (double)trip));
	if (a->phase == SDR_AUTO_START)
		gain = sdr_auto_start_gain(cc);
	gain *= sdr_rival_gain(&a->rival);
	if (!a->queue.base && !cc->known.rate_Bps) {
		gain = 1;
		trip = sdr_auto_first_ns(cc);
	} else if (!a->queue.base) {
		trip = cc->known.rtt_ns;
	}
	cc->pacing_Bps = (uint64_t)(gain * win / (double)trip * SDR_CC_NS_PER_S) + 1;
	/* a rate that is held lets its window be longer than it needs */
	if (a->rival.state == SDR_RIVAL_HOLD)
		win *= SDR_AUTO_HOLD_WIN;
	/* data whose acknowledgement waits at the receiver are not in the path */
	wait = a->queue.base / SDR_AUTO_WAIT_SHARE;
	wait = wait < SDR_ACK_DELAY_MAX_NS ? wait : SDR_ACK_DELAY_MAX_NS;
	win += (double)cc->pacing_Bps * ((double)wait / SDR_CC_NS_PER_S);
	/* a receiver that does not read for a moment loses nothing */
	most = a->win + (double)cc->rx_window * SDR_CC_RX_SHARE;
	win = win < most ? win : most;
	cc->cwnd = (uint64_t)(win > least ? win : least);
}

/* The round trip by which drains are timed. */
static uint64_t auto_beat(const struct sdr_cc *cc)
{
	uint64_t base = sdr_auto_look(cc)->queue.base;

	if (!base)
		base = cc->known.rtt_ns ? cc->known.rtt_ns : cc->rtt_guess;
	if (base < SDR_AUTO_DRAIN_RTT_MIN)
		return SDR_AUTO_DRAIN_RTT_MIN;
	return base < SDR_AUTO_DRAIN_RTT_MAX ? base : SDR_AUTO_DRAIN_RTT_MAX;
}

/* So many round trips from now, and up to half as many more. */
static uint64_t auto_after(const struct sdr_cc *cc, uint64_t now, uint32_t trips)
{
	uint64_t ns = trips * auto_beat(cc);

	return now + ns + auto_random(cc, now) % (ns / 2);
}

/* To CRUISE; so many round trips until a drain. */
static void auto_cruise(struct sdr_cc *cc, uint64_t now, uint32_t trips)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	a->phase = SDR_AUTO_CRUISE;
	a->frozen = SDR_AUTO_FROZEN_DRAIN;
	a->pace = 1;
	a->quiet = 0;
	a->drain_at = auto_after(cc, now, trips);
}

/* START is over, or was never needed. */
static void auto_started(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	a->settled = a->rounds + SDR_AUTO_SETTLE;
	sdr_blame_reset(&a->blame);
	auto_cruise(cc, now, SDR_AUTO_DRAIN_FIRST);
	a->drained_at = now;
}

static void auto_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	const struct sdr_cc_known *k = &cc->known;

	(void)cfg;
	a->win = sdr_auto_begins(cc);
	a->bound = HUGE_VAL;
	a->pace = 1;
	a->shortest = HUGE_VAL;
	sdr_qdelay_init(&a->queue, now);
	sdr_blame_init(&a->blame);
	sdr_shallow_init(&a->shallow, now);
	sdr_rival_init(&a->rival, now, auto_random(cc, now));
	sdr_burst_init(&a->burst, now);
	if (k->rate_Bps && k->rtt_ns) {
		auto_started(cc, now);
		sdr_rival_passes(&a->rival, (double)k->rate_Bps);
	}
	auto_output(cc);
}

/* What was taken for lost has only been overtaken. */
static void auto_late(struct sdr_auto *a, double late)
{
	double win = sdr_blame_late(&a->blame, late);

	a->lost = fmax(0, a->lost - late);
	if (win <= a->win)
		return;
	a->before = fmax(a->before, win);
	a->bound = HUGE_VAL;
}

/* ---- CRUISE and DRAIN ------------------------------------------------------------------------ */

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
	return a->drained_at && now > a->drained_at + apart * auto_beat(cc) &&
	       queue < a->shortest * SDR_AUTO_JOIN_SHARE - SDR_AUTO_JOIN_TARGET * target;
}

static void auto_drain_round(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	if (now <= a->drain_end)
		return;
	if (a->drained_at)
		a->rival.most *= exp2(-(double)(now - a->drained_at) / SDR_AUTO_MOST_NS);
	a->drained_at = now;
	a->drains++;
	a->drained = a->rounds;
	a->shortest = HUGE_VAL;
	auto_cruise(cc, now, SDR_AUTO_DRAIN_RTTS);
}

static void auto_grow(struct sdr_cc *cc, uint64_t now, double step, const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double win = a->win + step * a->pace * sdr_auto_damp(cc), plain, used;

	if (a->frozen) {
		a->frozen--;
		return;
	}
	if (rate->app_limited && sdr_burst_holds(&a->burst))
		return;
	if (rate->app_limited) {
		/* whoever does not fill the path may begin as at first */
		if (now > a->bound_at + SDR_AUTO_BOUND_NS)
			a->bound += a->bytes / SDR_AUTO_BOUND_SLOW;
		plain = fmin(sdr_auto_first(cc), a->bound);
		if (a->win < plain)
			a->win = fmin(plain, a->win + a->bytes);
		/* it had nothing to send, but what it sent shows what would pass */
		plain = SDR_AUTO_TRAIN_USE * (double)rate->capacity_Bps * (double)a->queue.base /
			SDR_CC_NS_PER_S;
		if (sdr_auto_capacity(rate) && plain > a->win && plain < a->bound)
			a->win = plain;
		return;
	}
	if (win > a->bound) {
		if (now > a->bound_at + SDR_AUTO_BOUND_NS)
			a->bound += SDR_AUTO_BOUND_STEP * step;
		win = fmin(fmax(a->win, a->bound), a->win * SDR_AUTO_BOUND_OVER);
	}
	/* where not the window is the limit (a processor, the peer's buffer) it does not grow */
	used = SDR_AUTO_USED * (a->bytes + a->lost);
	a->win = fmin(win, fmax(a->win, used));
}

static void auto_cruise_round(struct sdr_cc *cc, uint64_t now, uint64_t target,
			      const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double base = (double)a->queue.base, queue = (double)a->queue.queue, aim = (double)target;
	double to = a->win * (base + aim) / (base + queue);
	bool burst = !a->blame.testing && sdr_auto_burst_round(cc, aim);

	if (queue >= SDR_AUTO_QUIET * aim) {
		a->quiet = 0;
		a->pace = 1;
	} else if (++a->quiet > SDR_AUTO_QUIET_ROUNDS) {
		a->pace = fmin(a->pace * SDR_AUTO_PACE_STEP, SDR_AUTO_PACE_MAX);
	}
	if (a->blame.testing)
		a->frozen = SDR_AUTO_FROZEN_CUT;
	else if (burst)
		a->quiet = 0;
	else if (to > a->win || (rate->app_limited && a->win <= sdr_auto_first(cc)))
		auto_grow(cc, now, (to - a->win) * sdr_auto_lasted(cc), rate);
	else
		a->win = fmax(a->win + (to - a->win) * sdr_auto_damp(cc), a->win * SDR_AUTO_YIELD);
	if (rate->app_limited && queue < aim) {
		/* the path is as empty as it gets */
		a->drain_at = auto_after(cc, now, SDR_AUTO_DRAIN_FIRST);
	} else if (auto_drains(cc, now, aim)) {
		a->phase = SDR_AUTO_DRAIN;
		if (cc->bond && !auto_drains_too(cc, now))
			cc->bond->drain_ns = now;
		a->drain_end = now + a->queue.base;
		if (sdr_qdelay_near(a->queue.base))
			a->drain_end += a->queue.queue;
	}
	if (a->drained_at && now > a->drained_at + SDR_AUTO_FROZEN_DRAIN * a->queue.base)
		a->shortest = fmin(a->shortest, queue);
}

/* ---- the round ------------------------------------------------------------------------------- */

static void auto_blame(struct sdr_cc *cc, uint64_t now, uint64_t target)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	const struct sdr_blame_at at = {
		.mtu = cc->mtu,
		.win = a->win,
		.queue = a->queue.queue,
		.target = target,
		.foul = a->overtakes || a->queue.base >= SDR_QDELAY_FAR_NS,
	};

	switch (sdr_blame_round(&a->blame, &at)) {
	case SDR_BLAME_SUSPECT:
		a->before = 0;
		a->win *= SDR_AUTO_CUT;
		break;
	case SDR_BLAME_WEATHER:
		a->win /= SDR_AUTO_CUT;
		break;
	case SDR_BLAME_OURS:
		a->bound = a->win / SDR_AUTO_CUT * SDR_AUTO_BOUND;
		a->bound_at = now;
		a->win *= SDR_AUTO_FULL;
		break;
	case SDR_BLAME_FULL:
		a->before = 0;
		a->win *= SDR_AUTO_FULL;
		break;
	case SDR_BLAME_STORM:
		a->before = 0;
		a->win *= SDR_AUTO_STORM;
		a->bound = a->win;
		a->bound_at = now;
		a->frozen = SDR_AUTO_FROZEN_CUT;
		break;
	case SDR_BLAME_FOUL:
		/* to what passed before the cuts, as after a start */
		a->before =
			a->win * (1 - a->blame.share) / pow(SDR_AUTO_STORM, SDR_BLAME_STORMS - 1);
		a->bound = HUGE_VAL;
		break;
	case SDR_BLAME_NONE:
		break;
	}
	cc->own_lost += (uint64_t)a->blame.ours;
	a->burst.said += a->blame.ours;
}

static void auto_marks(struct sdr_auto *a, uint64_t now)
{
	double share = a->bytes > 0 ? fmin(a->ce / a->bytes, 1) : 0;

	a->marked += (share - a->marked) / SDR_AUTO_MARK_FADE;
	/* the round after a cut still tells of what left before it */
	if (!(share > 0) || a->rounds <= a->marked_round + 1)
		return;
	a->marked_round = a->rounds;
	a->win *= 1 - a->marked / 2;
	a->bound = a->win;
	a->bound_at = now;
}

/*
 * Of the paths of a connection one looks for rivals: to each of several the others' queue, which
 * stays while it yields, is one.  But who meets a queue that is not that one's is elsewhere, and
 * looks for itself.
 */
static bool auto_asks(const struct sdr_cc *cc, uint64_t target)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	const struct sdr_cc *who = cc->bond ? cc->bond->asks : NULL;
	uint64_t theirs;

	if (!who || who == cc || cc->bond->n < 2 || a->rival.state != SDR_RIVAL_NONE)
		return true;
	theirs = sdr_auto_look(who)->queue.queue;
	return a->queue.queue > SDR_AUTO_ELSEWHERE * (theirs + target);
}

static void auto_round(struct sdr_cc *cc, uint64_t now, const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	uint64_t target = sdr_auto_keeps(cc, a->win);
	double little = SDR_AUTO_LITTLE * a->rival.most * (double)a->queue.base / SDR_CC_NS_PER_S;
	struct sdr_rival_at at = {
		.now = now,
		.base = a->queue.base,
		.queue = a->queue.queue,
		.target = target,
		.drains = a->drains,
		.few = little > 0 ? sdr_auto_keeps(cc, little) : target,
		.mtu = cc->mtu,
		.bw = rate->bw,
		.bytes = a->bytes + a->lost,
		.lost = sdr_blame_beyond(&a->blame, a->bytes + a->lost, a->lost),
		.app_limited = rate->app_limited,
		.train_Bps = cc->train.own_Bps,
		.trains = cc->train.owns,
		.together = cc->bond ? cc->bond->rivals : 0,
		.random = auto_random(cc, now),
	};
	bool rivals = false;

	if (sdr_auto_capacity(rate))
		sdr_rival_passes(&a->rival, (double)rate->capacity_Bps);
	/* who sends less than the path takes overruns nobody, but for many that do so at once */
	if ((rate->app_limited && !sdr_blame_storms(&a->blame, cc->mtu)) ||
	    a->rounds <= a->rivalled)
		sdr_blame_reset(&a->blame);
	else if (a->rival.state == SDR_RIVAL_NONE)
		auto_blame(cc, now, target);
	if (a->rounds <= a->settled) /* too much was START's, and says nothing of what fits */
		a->bound = HUGE_VAL;
	if (a->phase != SDR_AUTO_DRAIN && auto_asks(cc, target)) {
		rivals = sdr_rival_round(&a->rival, &at, &a->win);
		cc->train_asked = sdr_rival_wants_train(&a->rival);
	}
	if (rivals) {
		sdr_blame_reset(&a->blame);
		cc->own_lost += (uint64_t)at.lost;
		/* what is lost of it is told later */
		a->rivalled = a->rounds + SDR_AUTO_SETTLE;
	} else if (a->phase == SDR_AUTO_DRAIN) {
		auto_drain_round(cc, now);
	} else {
		auto_cruise_round(cc, now, target, rate);
	}
	auto_marks(a, now);
}

static void auto_check(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	SDR_ASSERT(a->phase <= SDR_AUTO_DRAIN && a->win > 0 && a->bound > 0);
	SDR_ASSERT(a->pace >= 1 && a->pace <= SDR_AUTO_PACE_MAX);
	SDR_ASSERT(a->marked >= 0 && a->marked <= 1);
	SDR_ASSERT(a->phase != SDR_AUTO_DRAIN || a->rival.state == SDR_RIVAL_NONE);
}

/* So little of ours is on its way that a drain would not empty the path more. */
static bool auto_is_empty(const struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	return a->phase == SDR_AUTO_CRUISE && ack->bytes && a->queue.base >= SDR_QDELAY_FAR_NS &&
	       (double)ack->inflight < SDR_AUTO_DRAIN_EMPTY * a->win;
}

/* Losses that the verdict is still to come of.  Who sends less than the path takes makes none. */
static bool auto_doubts(const struct sdr_auto *a)
{
	if (a->burst.left > 0 && a->burst.lost > 0)
		return true;
	return !a->limited && (a->blame.testing || a->blame.lost > 0);
}

/* The round trips that it tells. */
static void auto_sample(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	bool least = ack->min_rtt && ack->min_rtt != UINT64_MAX;

	if (cc->rerouted && !ack->rtt)
		return;
	if (cc->rerouted)
		sdr_qdelay_forget(&a->queue, ack->now, ack->rtt);
	cc->rerouted = false;
	if (ack->rtt)
		sdr_qdelay_sample(&a->queue, ack->now, ack->rtt);
	else if (!a->queue.base && least)
		sdr_qdelay_sample(&a->queue, ack->now, ack->min_rtt);
	if (ack->rtt_full)
		sdr_qdelay_full(&a->queue, ack->rtt_full);
	/* the first exchange met no queue of those who begin together */
	if (least)
		sdr_qdelay_least(&a->queue, ack->min_rtt);
}

static void auto_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		       const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	bool changed;

	a->bytes += (double)ack->bytes;
	a->lost += (double)ack->lost;
	a->ce += (double)ack->ce;
	a->overtakes = ack->overtakes;
	if (ack->late)
		auto_late(a, (double)ack->late);
	auto_sample(cc, ack);
	if (!a->queue.base)
		return;
	cc->min_rtt = a->queue.base;
	sdr_blame_acked(&a->blame, ack->bytes, ack->lost - ack->repaired,
			ack->rtt > a->queue.base ? ack->rtt - a->queue.base : 0);
	if (sdr_qdelay_near(a->queue.base))
		sdr_shallow_acked(&a->shallow, ack->now, (double)ack->lost / cc->mtu);
	/* which queue they met is not known any more */
	if (ack->repaired)
		sdr_blame_acked(&a->blame, 0, ack->repaired, 0);
	if (ack->snap)
		a->limited = ack->snap->app_limited;
	sdr_auto_verify(cc);
	sdr_auto_burst_acked(cc, ack);
	changed = a->phase == SDR_AUTO_START || a->win < a->before || a->learnt_at ||
		  (ack->rtt && sdr_qdelay_near(a->queue.base));
	if (a->phase == SDR_AUTO_START || a->learnt_at)
		sdr_auto_spread(cc, ack, rate->round_start);
	if (a->phase == SDR_AUTO_START && sdr_auto_start(cc, ack, rate))
		auto_started(cc, ack->now);
	if (a->before > 0)
		sdr_auto_returns(cc, ack->bytes);
	if (rate->round_start && ack->now >= a->round_at + SDR_AUTO_ROUND_NS &&
	    sdr_qdelay_round(&a->queue,
			     sdr_auto_target(a->queue.base, cc->mtu, sdr_auto_counts(cc, a->win)),
			     sdr_auto_few(cc))) {
		a->lasted = ack->now - a->round_at;
		changed = true;
		a->round_at = ack->now;
		a->rounds++;
		if (a->phase != SDR_AUTO_START)
			auto_round(cc, ack->now, rate);
		else if (rate->app_limited)
			sdr_blame_reset(&a->blame);
		a->bytes = a->lost = a->ce = 0;
	}
	if (auto_is_empty(cc, ack))
		a->drain_at = auto_after(cc, ack->now, SDR_AUTO_DRAIN_RTTS);
	cc->doubts = auto_doubts(a);
	if (!changed)
		return;
	cc->spaced = sdr_auto_few(cc) > SDR_AUTO_SPACED;
	cc->learnt.rate_Bps = (uint64_t)a->rival.most;
	cc->learnt.rtt_ns = a->queue.base;
	auto_output(cc);
	auto_check(cc);
}

static void auto_timeout(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	(void)now;
	if (a->before < a->win)
		a->before = a->win;
	a->win /= 2;
	a->bytes = a->lost = a->ce = 0;
	sdr_blame_reset(&a->blame);
	auto_output(cc);
}

static void auto_resumed(struct sdr_cc *cc, uint64_t now, uint64_t idle_ns)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double first = sdr_auto_first(cc);

	(void)now;
	if (a->win > first)
		a->win = fmax(first, a->win * exp2(-(double)idle_ns / SDR_AUTO_IDLE_NS));
	auto_output(cc);
}

static void auto_begins(struct sdr_cc *cc, uint64_t now)
{
	if (sdr_auto_burst_begins(cc, now))
		auto_output(cc);
}

static void auto_pair(struct sdr_cc *cc)
{
	sdr_auto_state(cc)->win = sdr_auto_begins(cc);
	auto_output(cc);
}

const struct sdr_cc_ops sdr_cc_auto = {
	.name = "auto",
	.marks = true,
	.trains = true,
	.coarse = true,
	.init = auto_init,
	.acked = auto_acked,
	.timeout = auto_timeout,
	.resumed = auto_resumed,
	.begins = auto_begins,
	.pair = auto_pair,
};
