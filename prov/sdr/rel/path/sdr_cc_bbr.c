/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `bbr`: congestion control by a model of the path: bandwidth = largest delivery rate of the last
 * ten rounds, round trip = smallest of the last ten seconds.  Never reacts to single losses, so
 * random loss costs nothing.  Window: at most pacing rate * (RTT + acknowledgement delay) + the
 * receiver's buffer, so that a receiver that does not read for a moment loses little.
 *
 *    STARTUP    gain 2.77 until the rate has not grown by 25 % for three rounds (one, when the RTT
 *               grew)
 *    DRAIN      gain 1/2.77 until what startup queued has gone
 *    PROBE_BW   gains 1.25, 0.75, 1, 1, 1, 1, 1, 1, a round trip each
 *    PROBE_RTT  half a BDP for a round trip, when no sample near the minimum came for ten seconds
 *
 * On a near path (RTT below a millisecond: the same host or rack) clock and scheduling noise exceed
 * the round trip and the receiver's buffer is larger than the path: there the window alone governs,
 * at what the receiver's buffer takes, and pacing only bounds bursts.
 *
 * Loss: where no queue is seen, the rate is raised by what the link loses beyond 3 %, since a
 * delivery rate is a sending rate less losses and would spiral down.  The guard: two rounds above
 * 20 % without growth set the bandwidth to what was delivered in the last (at least half), and
 * for a while the window to a little less than what did not get lost; if that does not lower the
 * loss, the loss is not ours: the cut is taken back and the guard sleeps ten seconds.
 *
 * Runs only inside acknowledgements: no timers.  A sender whose acknowledgements stop comes back
 * through sdr_cc_timeout.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/path/sdr_cc_bbr.h"
#include "rel/path/sdr_cc_ops.h"

#define SDR_BBR_HIGH_GAIN   2.77 /* 4 ln 2: doubles the delivery rate each round */
#define SDR_BBR_NEAR_GAIN   2.0
#define SDR_BBR_FULL_GROWTH 1.25
#define SDR_BBR_FULL_ROUNDS 3u
#define SDR_BBR_CYCLES	    8u
#define SDR_BBR_MIN_PKTS    4u /* as the draft has it: acknowledgements of two still flow */
/* a round of the bandwidth filter lasts at least that */
#define SDR_BBR_ROUND_MIN_NS (2 * 1000000ull)
#define SDR_BBR_GUESS_S	     0.01		  /* s: an unmeasured RTT counts as no more */
#define SDR_BBR_MIN_RTT_NS   (10 * 1000000000ull) /* without a sample near the minimum */
#define SDR_BBR_NEAR_NS	     (1 * 1000000ull)	  /* RTT below: near path */
/* s of bandwidth: a near window never queues more */
#define SDR_BBR_NEAR_QUEUE 0.01
/* bytes of window on a near path, however large the receiver's buffer */
#define SDR_BBR_NEAR_WIN  (2.0 * 1024 * 1024)
#define SDR_BBR_SLACK	  (3.0 * 16384) /* bytes above two BDP: sender's and receiver's batches */
#define SDR_BBR_LOSS_FREE 0.03		/* share of loss that the probing gains pay for */
/* share of the loss beyond that is compensated: below 1, so that it cannot run away */
#define SDR_BBR_LOSS_PAID    0.9
#define SDR_BBR_LOSS_MAX     0.5
#define SDR_BBR_GUARD_LOSS   0.2
#define SDR_BBR_GUARD_GROWTH 1.05
#define SDR_BBR_GUARD_ROUNDS 2u
/* rounds after a cut in which what was sent before is still acknowledged */
#define SDR_BBR_GUARD_COLD 3u
/* of the loss before: a cut that leaves more did not help */
#define SDR_BBR_GUARD_HELP 0.75
#define SDR_BBR_HOLD_RTTS  16u /* a first cut lasts that many round trips ... */
/* ... and this, each further one four times as long, up to ... */
#define SDR_BBR_HOLD_NS	   (20 * 1000000ull)
#define SDR_BBR_GUARD_NS   (10 * 1000000000ull)
#define SDR_BBR_GUARD_ROOM 0.85 /* share of what the path held that a cut leaves in flight */
#define SDR_BBR_GUARD_PKTS 16u	/* a round of fewer packets says nothing */

_Static_assert(sizeof(struct sdr_bbr) <= SDR_CC_STATE_MAX, "the state of bbr must fit into sdr_cc");

static const double sdr_bbr_gain[SDR_BBR_CYCLES] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

static uint64_t sdr_bbr_rtt(const struct sdr_cc *cc)
{
	return cc->min_rtt ? cc->min_rtt : cc->rtt_guess;
}

static double sdr_bbr_bdp(const struct sdr_cc *cc)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);

	return (double)b->max_bw * (double)sdr_bbr_rtt(cc) / SDR_CC_NS_PER_S;
}

/* The RTT is well above the minimum: there is a queue. */
static bool sdr_bbr_queued(const struct sdr_cc *cc, uint64_t rtt)
{
	uint64_t noise = cc->min_rtt < SDR_ACK_DELAY_MAX_NS ? cc->min_rtt : SDR_ACK_DELAY_MAX_NS;

	return rtt > cc->min_rtt + cc->min_rtt / 4 + noise;
}

/* Bytes sent for each byte delivered, as far as the link's own loss explains it. */
static double sdr_bbr_loss_gain(const struct sdr_cc *cc)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);
	double loss = b->loss < SDR_BBR_LOSS_MAX ? b->loss : SDR_BBR_LOSS_MAX;

	if (loss <= SDR_BBR_LOSS_FREE || sdr_bbr_queued(cc, cc->srtt))
		return 1;
	return 1 / (1 - SDR_BBR_LOSS_PAID * (loss - SDR_BBR_LOSS_FREE));
}

static inline bool sdr_bbr_near(const struct sdr_cc *cc, uint64_t now)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);

	return cc->min_rtt && cc->min_rtt < SDR_BBR_NEAR_NS && now >= b->cut_until;
}

/* ---- bandwidth filter ------------------------------------------------------------------------ */

static void sdr_bbr_bw_reset(struct sdr_cc *cc, uint64_t bw)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);

	memset(b->bw, 0, sizeof(b->bw));
	b->bw[b->bw_round % SDR_BBR_BW_WINDOW] = bw;
	b->max_bw = bw;
}

static void sdr_bbr_bw_update(struct sdr_cc *cc, uint64_t now, const struct sdr_cc_rate *rate)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	uint64_t *slot;
	uint32_t i;

	if (!rate->bw || (rate->app_limited && rate->bw < b->max_bw))
		return;
	/* Rounds in which the application was the limit do not age the estimate. */
	if (rate->round_start && !rate->app_limited && now >= b->bw_stamp + SDR_BBR_ROUND_MIN_NS) {
		b->bw_stamp = now;
		b->bw[++b->bw_round % SDR_BBR_BW_WINDOW] = 0;
	}
	slot = &b->bw[b->bw_round % SDR_BBR_BW_WINDOW];
	if (rate->bw > *slot)
		*slot = rate->bw;
	b->max_bw = 0;
	for (i = 0; i < SDR_BBR_BW_WINDOW; i++)
		if (b->bw[i] > b->max_bw)
			b->max_bw = b->bw[i];
}

/* ---- rounds: loss and guard ------------------------------------------------------------------ */

static void sdr_bbr_guard(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	double loss = b->loss;

	b->hot_rounds = 0;
	b->cold_rounds = SDR_BBR_GUARD_COLD;
	if (now < b->cut_until && loss > SDR_BBR_GUARD_HELP * b->guard_loss) {
		if (b->guard_bw > b->max_bw)
			sdr_bbr_bw_reset(cc, b->guard_bw);
		b->guard_off_until = now + SDR_BBR_GUARD_NS;
		b->cut_until = 0;
		return;
	}
	if (now < b->guard_off_until)
		return;
	/*
	 * A burst of losses costs a few round trips; a limit that is met again and again is kept.
	 */
	if (b->cut_hold && now < b->guard_stamp + b->cut_hold + SDR_BBR_GUARD_NS)
		b->cut_hold *= 4;
	else
		b->cut_hold = SDR_BBR_HOLD_RTTS * sdr_bbr_rtt(cc) + SDR_BBR_HOLD_NS;
	if (b->cut_hold > SDR_BBR_GUARD_NS)
		b->cut_hold = SDR_BBR_GUARD_NS;
	b->cut_until = now + b->cut_hold;
	b->cut_win =
		(uint64_t)((double)cc->cwnd * (loss < 0.5 ? 1 - loss : 0.5) * SDR_BBR_GUARD_ROOM);
	b->guard_bw = b->max_bw;
	b->guard_loss = loss;
	b->guard_stamp = now;
	b->loss = 0;
	sdr_bbr_bw_reset(cc, b->round_bw > b->max_bw / 2 ? b->round_bw : b->max_bw / 2);
	b->full_count = SDR_BBR_FULL_ROUNDS;
	b->state = SDR_BBR_DRAIN;
	b->pacing_gain = 1 / SDR_BBR_HIGH_GAIN;
}

static void sdr_bbr_round(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	uint64_t total = b->round_lost + b->round_delivered;
	bool grew = (double)b->max_bw > (double)b->last_round_bw * SDR_BBR_GUARD_GROWTH;
	double loss;

	if (total >= (uint64_t)SDR_BBR_GUARD_PKTS * cc->mtu) {
		loss = (double)b->round_lost / (double)total;
		if (b->cold_rounds) {
			b->cold_rounds--;
			b->loss = b->cold_rounds ? 0 : loss;
		} else {
			b->loss += (loss - b->loss) / 4;
		}
		b->hot_rounds = b->loss > SDR_BBR_GUARD_LOSS && !grew ? b->hot_rounds + 1 : 0;
		if (b->hot_rounds >= SDR_BBR_GUARD_ROUNDS && b->round_bw)
			sdr_bbr_guard(cc, now);
	}
	b->last_round_bw = b->max_bw;
	b->round_bw = 0;
	b->round_lost = 0;
	b->round_delivered = 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void sdr_bbr_phase(struct sdr_cc *cc, uint64_t now, uint32_t cycle)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);

	b->state = SDR_BBR_PROBE_BW;
	b->cycle = cycle % SDR_BBR_CYCLES;
	b->phase_stamp = now;
	b->pacing_gain = sdr_bbr_gain[b->cycle];
}

static void sdr_bbr_startup(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			    const struct sdr_cc_rate *rate)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);

	if (rate->round_start && !rate->app_limited && rate->bw) {
		if ((double)b->max_bw >= (double)b->full_bw * SDR_BBR_FULL_GROWTH) {
			b->full_bw = b->max_bw;
			b->full_count = 0;
		} else {
			b->full_count = sdr_bbr_queued(cc, ack->rtt) ? SDR_BBR_FULL_ROUNDS
								     : b->full_count + 1;
		}
	}
	if (b->full_count < SDR_BBR_FULL_ROUNDS)
		return;
	b->state = SDR_BBR_DRAIN;
	b->pacing_gain = 1 / SDR_BBR_HIGH_GAIN;
}

static void sdr_bbr_drain(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	if ((double)ack->inflight <= sdr_bbr_bdp(cc) || sdr_bbr_near(cc, ack->now))
		sdr_bbr_phase(cc, ack->now, 2);
}

static void sdr_bbr_probe_bw(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	double bdp = sdr_bbr_bdp(cc), inflight = (double)ack->inflight;
	uint64_t age = ack->now - b->phase_stamp;
	bool over = age > sdr_bbr_rtt(cc);

	if (b->pacing_gain > 1)
		over = over &&
		       (ack->lost || inflight >= b->pacing_gain * bdp || age > 2 * sdr_bbr_rtt(cc));
	else if (b->pacing_gain < 1)
		over = over || inflight <= bdp;
	if (over)
		sdr_bbr_phase(cc, ack->now, b->cycle + 1);
}

/* Keeps the minimum; enters and leaves PROBE_RTT. */
static void sdr_bbr_min_rtt(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	uint64_t rtt = ack->rtt;

	if (!cc->min_rtt && ack->min_rtt && ack->min_rtt != UINT64_MAX) {
		cc->min_rtt = ack->min_rtt;
		b->min_rtt_stamp = ack->now;
	}
	if (rtt && (!cc->min_rtt || rtt < cc->min_rtt))
		cc->min_rtt = rtt;
	if (rtt && rtt <= cc->min_rtt + cc->min_rtt / 16 + 20000)
		b->min_rtt_stamp = ack->now;
	if (!cc->min_rtt)
		return;

	if (b->state == SDR_BBR_PROBE_BW && ack->now > b->min_rtt_stamp + SDR_BBR_MIN_RTT_NS) {
		b->state = SDR_BBR_PROBE_RTT;
		b->pacing_gain = 1;
		b->probe_rtt_done = 0;
		b->probe_rtt_min = UINT64_MAX;
		return;
	}
	if (b->state != SDR_BBR_PROBE_RTT)
		return;
	if (!b->probe_rtt_done) {
		if (ack->inflight <= cc->cwnd)
			b->probe_rtt_done = ack->now + cc->min_rtt + SDR_ACK_DELAY_MAX_NS;
		return;
	}
	if (rtt && rtt < b->probe_rtt_min)
		b->probe_rtt_min = rtt;
	if (ack->now < b->probe_rtt_done)
		return;
	if (b->probe_rtt_min != UINT64_MAX)
		cc->min_rtt = b->probe_rtt_min;
	b->min_rtt_stamp = ack->now;
	sdr_bbr_phase(cc, ack->now, 2);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Window of a near path, bytes: what the receiver's buffer takes, or the path's own need. */
static double sdr_bbr_near_window(const struct sdr_cc *cc, double bdp, double rxw)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);
	double win = rxw < SDR_BBR_NEAR_WIN ? rxw : SDR_BBR_NEAR_WIN;

	if (b->state != SDR_BBR_STARTUP && win > bdp + (double)b->max_bw * SDR_BBR_NEAR_QUEUE)
		win = bdp + (double)b->max_bw * SDR_BBR_NEAR_QUEUE;
	if (win < 1.5 * bdp)
		win = 1.5 * bdp;
	return win < bdp + rxw ? win : bdp + rxw;
}

static double sdr_bbr_far_window(const struct sdr_cc *cc, double bw, double bdp, double rxw)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);

	/* Data whose acknowledgement waits at the receiver fills no queue. */
	double wait = bw * ((double)SDR_ACK_DELAY_MAX_NS / SDR_CC_NS_PER_S), win, cap;

	if (b->state == SDR_BBR_STARTUP)
		return SDR_BBR_HIGH_GAIN * bdp + wait;
	win = 2 * bdp + wait + SDR_BBR_SLACK;
	cap = bdp + wait + rxw;
	/* Probing puts more onto the path, and must leave as much less to the receiver's buffer. */
	if (b->pacing_gain > 1 && cap < b->pacing_gain * bdp + wait + rxw / 2)
		cap = b->pacing_gain * bdp + wait + rxw / 2;
	return win < cap ? win : cap;
}

static void sdr_bbr_output(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);
	double rtt = (double)sdr_bbr_rtt(cc) / SDR_CC_NS_PER_S,
	       rxw = (double)cc->rx_window * SDR_CC_RX_SHARE;
	double least = (double)SDR_BBR_MIN_PKTS * cc->mtu, first = (double)cc->first_win,
	       gain = b->pacing_gain;
	double bw = (double)b->max_bw, win;
	bool near = sdr_bbr_near(cc, now);

	/* A guess that is too long must not hold back the first window. */
	if (!cc->min_rtt && rtt > SDR_BBR_GUESS_S)
		rtt = SDR_BBR_GUESS_S;
	/*
	 * The first samples see only a part of the first window, or only what an idle application
	 * had to send.
	 */
	if (b->state == SDR_BBR_STARTUP && bw * rtt < first)
		bw = first / rtt;
	bw *= sdr_bbr_loss_gain(cc);
	if (b->state == SDR_BBR_PROBE_RTT)
		win = bw * rtt / 2;
	else if (near)
		win = sdr_bbr_near_window(cc, bw * rtt, rxw);
	else
		win = sdr_bbr_far_window(cc, bw, bw * rtt, rxw);
	if (b->state == SDR_BBR_STARTUP && (win < first || !b->max_bw))
		win = first;
	if (now < b->cut_until && win > (double)b->cut_win)
		win = (double)b->cut_win;
	if (win < least)
		win = least;
	cc->cwnd = (uint64_t)win;

	if (near && gain < SDR_BBR_NEAR_GAIN)
		gain = SDR_BBR_NEAR_GAIN;
	bw *= gain;
	if (bw < least / rtt)
		bw = least / rtt;
	cc->pacing_Bps = (uint64_t)bw + 1;
}

static void sdr_bbr_check(const struct sdr_cc *cc)
{
	const struct sdr_bbr *b = sdr_bbr_look(cc);

	SDR_ASSERT(b->state <= SDR_BBR_PROBE_RTT && b->cycle < SDR_BBR_CYCLES);
	SDR_ASSERT(b->max_bw >= b->bw[b->bw_round % SDR_BBR_BW_WINDOW]);
	SDR_ASSERT(b->loss >= 0 && b->loss <= 1 && b->guard_loss >= 0 && b->guard_loss <= 1);
	SDR_ASSERT(b->pacing_gain > 0 && b->pacing_gain <= SDR_BBR_HIGH_GAIN);
	SDR_ASSERT(b->cold_rounds <= SDR_BBR_GUARD_COLD);
	SDR_ASSERT(b->cut_hold <= SDR_BBR_GUARD_NS);
}

static void sdr_bbr_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			  const struct sdr_cc_rate *rate)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);

	b->round_delivered += ack->bytes;
	b->round_lost += ack->lost;
	if (rate->bw > b->round_bw)
		b->round_bw = rate->bw;
	sdr_bbr_bw_update(cc, ack->now, rate);
	if (rate->round_start)
		sdr_bbr_round(cc, ack->now);
	if (b->state == SDR_BBR_STARTUP)
		sdr_bbr_startup(cc, ack, rate);
	if (b->state == SDR_BBR_DRAIN)
		sdr_bbr_drain(cc, ack);
	if (b->state == SDR_BBR_PROBE_BW)
		sdr_bbr_probe_bw(cc, ack);
	sdr_bbr_min_rtt(cc, ack);
	sdr_bbr_output(cc, ack->now);
	if (b->state != SDR_BBR_STARTUP)
		cc->learnt = (struct sdr_cc_known){ .rate_Bps = b->max_bw, .rtt_ns = cc->min_rtt };
	sdr_bbr_check(cc);
}

/* The model starts anew, but for the RTT and for what the guard knows. */
static void sdr_bbr_timeout(struct sdr_cc *cc, uint64_t now)
{
	struct sdr_bbr *b = sdr_bbr_state(cc);

	b->state = SDR_BBR_STARTUP;
	b->pacing_gain = SDR_BBR_HIGH_GAIN;
	b->full_bw = 0;
	b->full_count = 0;
	b->hot_rounds = 0;
	b->round_bw = 0;
	b->last_round_bw = 0;
	b->round_lost = 0;
	b->round_delivered = 0;
	b->loss = 0;
	b->bw_stamp = now;
	sdr_bbr_bw_reset(cc, 0);
	sdr_bbr_output(cc, now);
	sdr_bbr_check(cc);
}

static void sdr_bbr_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	sdr_bbr_state(cc)->min_rtt_stamp = now;
	sdr_bbr_timeout(cc, now);
}

const struct sdr_cc_ops sdr_cc_bbr = {
	.name = "bbr",
	.init = sdr_bbr_init,
	.acked = sdr_bbr_acked,
	.timeout = sdr_bbr_timeout,
};
