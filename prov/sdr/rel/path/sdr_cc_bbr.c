/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Congestion control by a model of the path: bandwidth = largest delivery rate of the last ten
 * rounds, round trip = smallest of the last ten seconds.
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
 * 20 % without growth set the bandwidth to what was delivered in the last (half at the least), and
 * for a while the window to a little less than what did not get lost; if that does not lower the
 * loss, the loss is not ours: the cut is taken back and the guard sleeps ten seconds.
 *
 * Runs only inside acknowledgements: no timers.  A sender whose acknowledgements stop comes back
 * through sdr_cc_timeout.
 */
#include <string.h>
#include "sdr_cc_impl.h"

#define SDR_BBR_HIGH_GAIN   2.77 /* 4 ln 2: doubles the delivery rate each round */
#define SDR_BBR_NEAR_GAIN   2.0
#define SDR_BBR_FULL_GROWTH 1.25
#define SDR_BBR_FULL_ROUNDS 3u
#define SDR_BBR_CYCLES	    8u
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
/* rounds after a cut that still hear of what was sent before */
#define SDR_BBR_GUARD_COLD 3u
/* of the loss before: a cut that leaves more did not help */
#define SDR_BBR_GUARD_HELP 0.75
#define SDR_BBR_HOLD_RTTS  16u /* a first cut lasts that many round trips ... */
/* ... and this, each further one four times as long, up to ... */
#define SDR_BBR_HOLD_NS	   (20 * 1000000ull)
#define SDR_BBR_GUARD_NS   (10 * 1000000000ull)
#define SDR_BBR_GUARD_ROOM 0.85 /* share of what the path held that a cut leaves in flight */
#define SDR_BBR_GUARD_PKTS 16u	/* a round of fewer packets says nothing */

enum sdr_bbr_state { SDR_BBR_STARTUP, SDR_BBR_DRAIN, SDR_BBR_PROBE_BW, SDR_BBR_PROBE_RTT };

static const double sdr_bbr_gain[SDR_BBR_CYCLES] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

static uint64_t sdr_bbr_rtt(const struct sdr_cc *cc)
{
	return cc->min_rtt ? cc->min_rtt : cc->rtt_guess;
}

static double sdr_bbr_bdp(const struct sdr_cc *cc)
{
	return (double)cc->max_bw * (double)sdr_bbr_rtt(cc) / SDR_CC_NS_PER_S;
}

/* The RTT is well above the minimum: somebody queues. */
static bool sdr_bbr_queued(const struct sdr_cc *cc, uint64_t rtt)
{
	uint64_t noise = cc->min_rtt < SDR_ACK_DELAY_MAX_NS ? cc->min_rtt : SDR_ACK_DELAY_MAX_NS;

	return rtt > cc->min_rtt + cc->min_rtt / 4 + noise;
}

/* Bytes sent for each byte delivered, as far as the link's own loss explains it. */
static double sdr_bbr_loss_gain(const struct sdr_cc *cc)
{
	double loss = cc->loss < SDR_BBR_LOSS_MAX ? cc->loss : SDR_BBR_LOSS_MAX;

	if (loss <= SDR_BBR_LOSS_FREE || sdr_bbr_queued(cc, cc->srtt))
		return 1;
	return 1 / (1 - SDR_BBR_LOSS_PAID * (loss - SDR_BBR_LOSS_FREE));
}

static inline bool sdr_bbr_near(const struct sdr_cc *cc, uint64_t now)
{
	return cc->min_rtt && cc->min_rtt < SDR_BBR_NEAR_NS && now >= cc->cut_until;
}

/* ---- bandwidth filter ------------------------------------------------------------------------ */

static void sdr_bbr_bw_reset(struct sdr_cc *cc, uint64_t bw)
{
	memset(cc->bw, 0, sizeof(cc->bw));
	cc->bw[cc->bw_round % SDR_CC_BW_WINDOW] = bw;
	cc->max_bw = bw;
}

static void sdr_bbr_bw_update(struct sdr_cc *cc, uint64_t now, const struct sdr_cc_rate *rate)
{
	uint64_t *slot;
	uint32_t i;

	if (!rate->bw || (rate->app_limited && rate->bw < cc->max_bw))
		return;
	/* Rounds in which the application was the limit do not age the estimate. */
	if (rate->round_start && !rate->app_limited && now >= cc->bw_stamp + SDR_BBR_ROUND_MIN_NS) {
		cc->bw_stamp = now;
		cc->bw[++cc->bw_round % SDR_CC_BW_WINDOW] = 0;
	}
	slot = &cc->bw[cc->bw_round % SDR_CC_BW_WINDOW];
	if (rate->bw > *slot)
		*slot = rate->bw;
	cc->max_bw = 0;
	for (i = 0; i < SDR_CC_BW_WINDOW; i++)
		if (cc->bw[i] > cc->max_bw)
			cc->max_bw = cc->bw[i];
}

/* ---- rounds: loss and guard ------------------------------------------------------------------ */

static void sdr_bbr_guard(struct sdr_cc *cc, uint64_t now)
{
	double loss = cc->loss;

	cc->hot_rounds = 0;
	cc->cold_rounds = SDR_BBR_GUARD_COLD;
	if (now < cc->cut_until && loss > SDR_BBR_GUARD_HELP * cc->guard_loss) {
		if (cc->guard_bw > cc->max_bw)
			sdr_bbr_bw_reset(cc, cc->guard_bw);
		cc->guard_off_until = now + SDR_BBR_GUARD_NS;
		cc->cut_until = 0;
		return;
	}
	if (now < cc->guard_off_until)
		return;
	/*
	 * A burst of losses costs a few round trips; a limit that is met again and again is kept.
	 */
	if (cc->cut_hold && now < cc->guard_stamp + cc->cut_hold + SDR_BBR_GUARD_NS)
		cc->cut_hold *= 4;
	else
		cc->cut_hold = SDR_BBR_HOLD_RTTS * sdr_bbr_rtt(cc) + SDR_BBR_HOLD_NS;
	if (cc->cut_hold > SDR_BBR_GUARD_NS)
		cc->cut_hold = SDR_BBR_GUARD_NS;
	cc->cut_until = now + cc->cut_hold;
	cc->cut_win =
		(uint64_t)((double)cc->cwnd * (loss < 0.5 ? 1 - loss : 0.5) * SDR_BBR_GUARD_ROOM);
	cc->guard_bw = cc->max_bw;
	cc->guard_loss = loss;
	cc->guard_stamp = now;
	cc->loss = 0;
	sdr_bbr_bw_reset(cc, cc->round_bw > cc->max_bw / 2 ? cc->round_bw : cc->max_bw / 2);
	cc->full_count = SDR_BBR_FULL_ROUNDS;
	cc->state = SDR_BBR_DRAIN;
	cc->pacing_gain = 1 / SDR_BBR_HIGH_GAIN;
}

static void sdr_bbr_round(struct sdr_cc *cc, uint64_t now)
{
	uint64_t total = cc->round_lost + cc->round_delivered;
	bool grew = (double)cc->max_bw > (double)cc->last_round_bw * SDR_BBR_GUARD_GROWTH;
	double loss;

	if (total >= (uint64_t)SDR_BBR_GUARD_PKTS * cc->mtu) {
		loss = (double)cc->round_lost / (double)total;
		if (cc->cold_rounds) {
			cc->cold_rounds--;
			cc->loss = cc->cold_rounds ? 0 : loss;
		} else {
			cc->loss += (loss - cc->loss) / 4;
		}
		cc->hot_rounds = cc->loss > SDR_BBR_GUARD_LOSS && !grew ? cc->hot_rounds + 1 : 0;
		if (cc->hot_rounds >= SDR_BBR_GUARD_ROUNDS && cc->round_bw)
			sdr_bbr_guard(cc, now);
	}
	cc->last_round_bw = cc->max_bw;
	cc->round_bw = 0;
	cc->round_lost = 0;
	cc->round_delivered = 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void sdr_bbr_phase(struct sdr_cc *cc, uint64_t now, uint32_t cycle)
{
	cc->state = SDR_BBR_PROBE_BW;
	cc->cycle = cycle % SDR_BBR_CYCLES;
	cc->phase_stamp = now;
	cc->pacing_gain = sdr_bbr_gain[cc->cycle];
}

static void sdr_bbr_startup(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			    const struct sdr_cc_rate *rate)
{
	if (rate->round_start && !rate->app_limited && rate->bw) {
		if ((double)cc->max_bw >= (double)cc->full_bw * SDR_BBR_FULL_GROWTH) {
			cc->full_bw = cc->max_bw;
			cc->full_count = 0;
		} else {
			cc->full_count = sdr_bbr_queued(cc, ack->rtt) ? SDR_BBR_FULL_ROUNDS
								      : cc->full_count + 1;
		}
	}
	if (cc->full_count < SDR_BBR_FULL_ROUNDS)
		return;
	cc->state = SDR_BBR_DRAIN;
	cc->pacing_gain = 1 / SDR_BBR_HIGH_GAIN;
}

static void sdr_bbr_drain(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	if ((double)ack->inflight <= sdr_bbr_bdp(cc) || sdr_bbr_near(cc, ack->now))
		sdr_bbr_phase(cc, ack->now, 2);
}

static void sdr_bbr_probe_bw(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	double bdp = sdr_bbr_bdp(cc), inflight = (double)ack->inflight;
	uint64_t age = ack->now - cc->phase_stamp;
	bool over = age > sdr_bbr_rtt(cc);

	if (cc->pacing_gain > 1)
		over = over && (ack->lost || inflight >= cc->pacing_gain * bdp ||
				age > 2 * sdr_bbr_rtt(cc));
	else if (cc->pacing_gain < 1)
		over = over || inflight <= bdp;
	if (over)
		sdr_bbr_phase(cc, ack->now, cc->cycle + 1);
}

/* Keeps the minimum; enters and leaves PROBE_RTT. */
static void sdr_bbr_min_rtt(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	uint64_t rtt = ack->rtt;

	if (!cc->min_rtt && ack->min_rtt && ack->min_rtt != UINT64_MAX) {
		cc->min_rtt = ack->min_rtt;
		cc->min_rtt_stamp = ack->now;
	}
	if (rtt && (!cc->min_rtt || rtt < cc->min_rtt))
		cc->min_rtt = rtt;
	if (rtt && rtt <= cc->min_rtt + cc->min_rtt / 16 + 20000)
		cc->min_rtt_stamp = ack->now;
	if (!cc->min_rtt)
		return;

	if (cc->state == SDR_BBR_PROBE_BW && ack->now > cc->min_rtt_stamp + SDR_BBR_MIN_RTT_NS) {
		cc->state = SDR_BBR_PROBE_RTT;
		cc->pacing_gain = 1;
		cc->probe_rtt_done = 0;
		cc->probe_rtt_min = UINT64_MAX;
		return;
	}
	if (cc->state != SDR_BBR_PROBE_RTT)
		return;
	if (!cc->probe_rtt_done) {
		if (ack->inflight <= cc->cwnd)
			cc->probe_rtt_done = ack->now + cc->min_rtt + SDR_ACK_DELAY_MAX_NS;
		return;
	}
	if (rtt && rtt < cc->probe_rtt_min)
		cc->probe_rtt_min = rtt;
	if (ack->now < cc->probe_rtt_done)
		return;
	if (cc->probe_rtt_min != UINT64_MAX)
		cc->min_rtt = cc->probe_rtt_min;
	cc->min_rtt_stamp = ack->now;
	sdr_bbr_phase(cc, ack->now, 2);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Window of a near path, bytes: what the receiver's buffer takes, or the path's own need. */
static double sdr_bbr_near_window(const struct sdr_cc *cc, double bdp, double rxw)
{
	double win = rxw < SDR_BBR_NEAR_WIN ? rxw : SDR_BBR_NEAR_WIN;

	if (cc->state != SDR_BBR_STARTUP && win > bdp + (double)cc->max_bw * SDR_BBR_NEAR_QUEUE)
		win = bdp + (double)cc->max_bw * SDR_BBR_NEAR_QUEUE;
	if (win < 1.5 * bdp)
		win = 1.5 * bdp;
	return win < bdp + rxw ? win : bdp + rxw;
}

static double sdr_bbr_far_window(const struct sdr_cc *cc, double bw, double bdp, double rxw)
{
	/* Data whose acknowledgement waits at the receiver fills no queue. */
	double wait = bw * ((double)SDR_ACK_DELAY_MAX_NS / SDR_CC_NS_PER_S), win, cap;

	if (cc->state == SDR_BBR_STARTUP)
		return SDR_BBR_HIGH_GAIN * bdp + wait;
	win = 2 * bdp + wait + SDR_BBR_SLACK;
	cap = bdp + wait + rxw;
	/* Probing puts more onto the path, and must leave as much less to the receiver's buffer. */
	if (cc->pacing_gain > 1 && cap < cc->pacing_gain * bdp + wait + rxw / 2)
		cap = cc->pacing_gain * bdp + wait + rxw / 2;
	return win < cap ? win : cap;
}

static void sdr_bbr_output(struct sdr_cc *cc, uint64_t now)
{
	double rtt = (double)sdr_bbr_rtt(cc) / SDR_CC_NS_PER_S,
	       rxw = (double)cc->rx_window * SDR_CC_RX_SHARE;
	double least = (double)SDR_CC_MIN_PKTS * cc->mtu, first = (double)cc->first_win,
	       gain = cc->pacing_gain;
	double bw = (double)cc->max_bw, win;
	bool near = sdr_bbr_near(cc, now);

	/* A guess that is too long must not hold back the first window. */
	if (!cc->min_rtt && rtt > SDR_BBR_GUESS_S)
		rtt = SDR_BBR_GUESS_S;
	/*
	 * The first samples see only a part of the first window, or only what an idle application
	 * had to send.
	 */
	if (cc->state == SDR_BBR_STARTUP && bw * rtt < first)
		bw = first / rtt;
	bw *= sdr_bbr_loss_gain(cc);
	if (cc->state == SDR_BBR_PROBE_RTT)
		win = bw * rtt / 2;
	else if (near)
		win = sdr_bbr_near_window(cc, bw * rtt, rxw);
	else
		win = sdr_bbr_far_window(cc, bw, bw * rtt, rxw);
	if (cc->state == SDR_BBR_STARTUP && (win < first || !cc->max_bw))
		win = first;
	if (now < cc->cut_until && win > (double)cc->cut_win)
		win = (double)cc->cut_win;
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

void sdr_cc_bbr_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		      const struct sdr_cc_rate *rate)
{
	if (rate->bw > cc->round_bw)
		cc->round_bw = rate->bw;
	sdr_bbr_bw_update(cc, ack->now, rate);
	if (rate->round_start)
		sdr_bbr_round(cc, ack->now);
	if (cc->state == SDR_BBR_STARTUP)
		sdr_bbr_startup(cc, ack, rate);
	if (cc->state == SDR_BBR_DRAIN)
		sdr_bbr_drain(cc, ack);
	if (cc->state == SDR_BBR_PROBE_BW)
		sdr_bbr_probe_bw(cc, ack);
	sdr_bbr_min_rtt(cc, ack);
	sdr_bbr_output(cc, ack->now);
}

void sdr_cc_bbr_timeout(struct sdr_cc *cc, uint64_t now)
{
	cc->state = SDR_BBR_STARTUP;
	cc->pacing_gain = SDR_BBR_HIGH_GAIN;
	cc->full_bw = 0;
	cc->full_count = 0;
	cc->hot_rounds = 0;
	cc->round_bw = 0;
	cc->last_round_bw = 0;
	cc->round_lost = 0;
	cc->round_delivered = 0;
	cc->loss = 0;
	cc->bw_stamp = now;
	cc->startup_until = cc->delivered + cc->first_win;
	sdr_bbr_bw_reset(cc, 0);
	sdr_bbr_output(cc, now);
}

void sdr_cc_bbr_init(struct sdr_cc *cc, uint64_t now)
{
	cc->min_rtt_stamp = now;
	sdr_cc_bbr_timeout(cc, now);
}
