/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `auto`, the default: fills a path that others use as well, by the delay of its queue.
 *
 *    START   a first window, paced far above what most paths carry, so that its own dispersion
 *            tells the bottleneck's rate (sdr_train.c); until that is known the window grows by
 *            what is delivered.  A path that is known already (cc->known) begins in CRUISE.
 *    CRUISE  once a round trip (sdr_auto_cruise.c)
 *                win <- win * (base + target(win)) / (base + queue)
 *            the law of FAST TCP, with a target that is longer for those with little: whoever has
 *            less lets the queue be a little longer, so that flows of ours converge to equal
 *            shares, and n of them keep a queue that grows with the root of n only (Swift's flow
 *            scaling).  Losses do not enter.
 *    DRAIN   half the window for a round trip, every two seconds or so (sdr_auto_drain.c): the
 *            queue empties, and everybody sees how long the path is.  Whoever sees the queue shrink
 *            joins, so that those who share a path drain together.
 *
 * Beside that law stand:
 *    losses  sdr_blame.c says whether they are ours.  Ours put a bound on the window
 *            (sdr_auto_cut.c), which is lifted slowly after a while (BBRv3's inflight_hi); the
 *            weather's do nothing to it.
 *            Whosever they are, they shrink the target for a while, as the buffer may be shorter
 *            than that (sdr_shallow.c).
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
#include "base/sdr_assert.h"
#include "rel/path/sdr_auto_burst.h"
#include "rel/path/sdr_auto_cruise.h"
#include "rel/path/sdr_auto_cut.h"
#include "rel/path/sdr_auto_drain.h"
#include "rel/path/sdr_auto_start.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"
#include "rel/path/sdr_cc_ops.h"

#define SDR_AUTO_ROUND_NS 50000u /* a round lasts at least that: shorter ones are a host's */
#define SDR_AUTO_GAIN	  1.05	 /* pacing above what the window makes: the window rules */
#define SDR_AUTO_SETTLE	  2u	 /* rounds after START in which it is still answered */
/* rounds behind START in which the window of a far path does not grow */
#define SDR_AUTO_FROZEN_START	1u
#define SDR_AUTO_DRAIN_WIN	0.5
#define SDR_AUTO_NEAR_DRAIN_WIN 0.25 /* for as long as the queue is, too */
#define SDR_AUTO_HOLD_WIN	1.3
/* of the round trip: the delay of reports (bulk/sdr_report.c) */
#define SDR_AUTO_WAIT_SHARE 8u
#define SDR_AUTO_IDLE_NS    (10 * 1000000000ull) /* a pause that halves what is known */
#define SDR_AUTO_SPACED	    0.5			 /* of windows of a few packets (sdr_auto_few()) */
#define SDR_AUTO_ELSEWHERE  2u			 /* times a queue, and the target: it is another */
#define SDR_AUTO_CALM_QUEUE 1.5			 /* of the target */
#define SDR_AUTO_LITTLE	    0.05		 /* see struct sdr_rival_at */
#define SDR_AUTO_TRAIN_PATH 0.3	 /* of what the path holds: a train beyond the window */
#define SDR_AUTO_PASSES_ERR 0.05 /* of what a path passes, that is known */

_Static_assert(sizeof(struct sdr_auto) <= SDR_CC_STATE_MAX, "the state of auto must fit");

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

/*
 * Of several paths each is to have what it passes, and no more: what leaves by one faster waits in
 * its queue while others are idle.  A window does not say, where messages come one at a time and
 * their first packets meet no queue.
 */
static uint64_t auto_passes(const struct sdr_cc *cc, uint64_t rate_Bps)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	uint64_t most = (uint64_t)(SDR_AUTO_GAIN * (double)cc->train.rate_Bps);

	if (!cc->bond || cc->bond->n < 2 || a->phase == SDR_AUTO_START ||
	    a->rival.state != SDR_RIVAL_NONE || !most || cc->train.err > SDR_AUTO_PASSES_ERR)
		return rate_Bps;
	return rate_Bps < most ? rate_Bps : most;
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
	cc->pacing_Bps = auto_passes(cc, cc->pacing_Bps);
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

/* START is over, or was never needed. */
static void auto_started(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	a->settled = a->rounds + SDR_AUTO_SETTLE;
	sdr_blame_reset(&a->blame);
	sdr_auto_drain_wait(cc, now, SDR_AUTO_DRAIN_FIRST);
	/* nobody has emptied a queue that others would fill */
	if (a->queue.base >= SDR_AUTO_NO_SWITCH_NS)
		a->frozen = SDR_AUTO_FROZEN_START;
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
	sdr_calm_init(&a->calm);
	sdr_qdelay_init(&a->queue, now);
	sdr_blame_init(&a->blame);
	sdr_shallow_init(&a->shallow, now);
	sdr_rival_init(&a->rival, now, sdr_auto_random(cc, now));
	sdr_burst_init(&a->burst, now);
	if (k->rate_Bps && k->rtt_ns) {
		auto_started(cc, now);
		sdr_rival_passes(&a->rival, (double)k->rate_Bps);
	}
	auto_output(cc);
}

/* ---- the round ------------------------------------------------------------------------------- */

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

/* The queue that is kept in this round, ns. */
static uint64_t auto_keeps(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	sdr_shallow_least(&a->shallow, sdr_auto_shallow(cc));
	return sdr_auto_keeps(cc, a->win);
}

/* Bytes that a train has at least.  Of the window of who was beaten down one tells nothing. */
static uint64_t auto_train(const struct sdr_cc *cc, uint64_t now)
{
	const struct sdr_auto *a = sdr_auto_look(cc);
	double all = a->rival.most * (double)a->queue.base / SDR_CC_NS_PER_S;

	if (!sdr_rival_starves(&a->rival, now))
		return 1;
	all = fmin(SDR_AUTO_TRAIN_PATH * all, (double)cc->rx_window * SDR_CC_RX_SHARE);
	return (uint64_t)fmax(fmin(all, SDR_CC_TRAIN), 1);
}

static void auto_round(struct sdr_cc *cc, uint64_t now, const struct sdr_cc_rate *rate)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	uint64_t target = auto_keeps(cc);
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
		.random = sdr_auto_random(cc, now),
	};
	bool rivals = false;

	if (sdr_auto_capacity(rate)) {
		sdr_rival_passes(&a->rival, (double)rate->capacity_Bps);
		a->sure = true;
	}
	/* who sends less than the path takes overruns nobody, but for many that do so at once */
	if (a->rounds <= a->rivalled)
		sdr_blame_reset(&a->blame);
	else if (rate->app_limited && !sdr_blame_storms(&a->blame, cc->mtu))
		sdr_blame_rests(&a->blame, cc->mtu);
	else if (a->rival.state == SDR_RIVAL_NONE)
		sdr_auto_blame(cc, now, target);
	if (a->rounds <= a->settled) /* too much was START's, and says nothing of what fits */
		a->bound = HUGE_VAL;
	if (a->phase != SDR_AUTO_DRAIN && auto_asks(cc, target)) {
		rivals = sdr_rival_round(&a->rival, &at, &a->win);
		cc->train_asked = sdr_rival_wants_train(&a->rival) ? auto_train(cc, now) : 0;
	}
	if (rivals) {
		sdr_blame_reset(&a->blame);
		cc->own_lost += (uint64_t)at.lost;
		/* what is lost of it is told later */
		a->rivalled = a->rounds + SDR_AUTO_SETTLE;
	} else if (a->phase == SDR_AUTO_DRAIN) {
		sdr_auto_drain_round(cc, now);
	} else {
		sdr_auto_cruise_round(cc, now, target, rate);
		sdr_auto_drain_look(cc, now, target, rate->app_limited);
	}
	sdr_auto_marks(a, now);
}

/*
 * Who has all of the path keeps a queue that is short, to which what leaves together is added.
 * Near paths have short quanta, whoever is there.
 */
static void auto_calm(struct sdr_cc *cc, bool app_limited)
{
	struct sdr_auto *a = sdr_auto_state(cc);
	double own = (double)cc->pacer.quantum / (double)cc->pacing_Bps * SDR_CC_NS_PER_S;
	double all = a->rival.most * (double)a->queue.base / SDR_CC_NS_PER_S;
	uint64_t keeps = sdr_auto_target(a->queue.base, cc->mtu, fmax(all, a->win));
	double most = SDR_AUTO_CALM_QUEUE * (double)keeps + own;
	const struct sdr_calm_round r = {
		.met = a->queue.base < SDR_CC_SPAN_FAR_NS || a->phase == SDR_AUTO_START ||
		       a->rival.state != SDR_RIVAL_NONE || (double)a->queue.queue > most,
		.lost = a->lost > 0 || a->ce > 0,
		.limited = app_limited,
	};

	if (sdr_calm_round(&a->calm, &r) && a->lost > 0) {
		cc->own_lost += (uint64_t)a->lost;
		sdr_blame_reset(&a->blame);
	}
	cc->calm = sdr_calm_is(&a->calm);
}

static void auto_check(const struct sdr_cc *cc)
{
	const struct sdr_auto *a = sdr_auto_look(cc);

	SDR_ASSERT(a->phase <= SDR_AUTO_DRAIN && a->win > 0 && a->bound > 0);
	SDR_ASSERT(a->pace >= 1 && a->pace <= SDR_AUTO_PACE_MAX);
	SDR_ASSERT(a->marked >= 0 && a->marked <= 1);
	SDR_ASSERT(a->phase != SDR_AUTO_DRAIN || a->rival.state == SDR_RIVAL_NONE);
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
	a->passed = fmax(a->passed, (double)rate->passed_Bps);
	a->overtakes = ack->overtakes;
	if (ack->late)
		sdr_auto_late(a, (double)ack->late);
	auto_sample(cc, ack);
	if (!a->queue.base)
		return;
	cc->min_rtt = a->queue.base;
	sdr_blame_acked(&a->blame, ack->bytes, ack->lost - ack->repaired,
			ack->rtt > a->queue.base ? ack->rtt - a->queue.base : 0);
	sdr_shallow_acked(&a->shallow, ack->now, sdr_auto_overran(cc, (double)ack->lost));
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
			     sdr_auto_even(cc), a->overtakes)) {
		a->lasted = ack->now - a->round_at;
		changed = true;
		a->round_at = ack->now;
		a->rounds++;
		auto_calm(cc, rate->app_limited);
		if (a->phase != SDR_AUTO_START)
			auto_round(cc, ack->now, rate);
		else if (rate->app_limited)
			sdr_blame_reset(&a->blame);
		a->bytes = a->lost = a->ce = 0;
		if (a->passed > 0)
			a->passed_before = a->passed;
		a->passed = 0;
	}
	sdr_auto_drain_acked(cc, ack);
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
	static const struct sdr_calm_round silent = { .met = true };
	struct sdr_auto *a = sdr_auto_state(cc);

	(void)now;
	(void)sdr_calm_round(&a->calm, &silent);
	cc->calm = false;
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

static void auto_joined(struct sdr_cc *cc)
{
	struct sdr_auto *a = sdr_auto_state(cc);

	SDR_ASSERT(a->phase == SDR_AUTO_START);
	a->win = fmin(a->win, sdr_auto_first(cc));
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
	.joined = auto_joined,
};
