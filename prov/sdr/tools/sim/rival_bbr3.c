/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `bbr3`: the third version, after draft-ietf-ccwg-bbr.
 *
 * STARTUP at 2.77 (window 2) until the bandwidth stands still for three rounds or a round loses
 * more than 2 %; DRAIN at 0.35.  PROBE_BW goes round: DOWN at 0.9 until the flight fits the BDP
 * and the headroom, CRUISE at 1 for two to three seconds by the clock (or as many rounds as Reno
 * would need), REFILL at 1 for a round, UP at 1.25 until the flight meets its bound or a queue of
 * a quarter of the BDP is there.  A round of more than 2 % loss while it probes sets the bound
 * inflight_hi to what was in flight, at least 0.7 of what the model wants; loss at other times sets
 * the short-term bounds bw_lo and inflight_lo (beta 0.7), which REFILL forgets.  PROBE_RTT every
 * five seconds, half a BDP for 200 ms.
 *
 * Unlike the draft's, a round's loss is judged at the round's end, and what was in flight when a
 * packet was sent is taken for what was delivered since.
 */
#include <math.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rival.h"

#define BBR3_STARTUP_GAIN  2.77
#define BBR3_DRAIN_GAIN	   0.35
#define BBR3_DOWN_GAIN	   0.9
#define BBR3_UP_GAIN	   1.25
#define BBR3_CWND_GAIN	   2.0
#define BBR3_UP_CWND_GAIN  2.25
#define BBR3_MARGIN	   0.99
#define BBR3_LOSS	   0.02
#define BBR3_BETA	   0.7
#define BBR3_HEADROOM	   0.15
#define BBR3_FULL_GROWTH   1.25
#define BBR3_FULL_ROUNDS   3u
#define BBR3_BW_CYCLES	   2u
#define BBR3_WAIT_NS	   2000000000ull
#define BBR3_WAIT_RAND_NS  1000000000ull
#define BBR3_WAIT_ROUNDS   63.0
#define BBR3_MIN_RTT_NS	   10000000000ull
#define BBR3_PROBE_RTT_INT 5000000000ull
#define BBR3_PROBE_RTT_NS  200000000ull
#define BBR3_PROBE_RTT	   0.5
#define BBR3_BURST_BYTES   65536.0
#define BBR3_BURST_S	   1e-3
#define BBR3_FIRST	   10u
#define BBR3_MIN_PKTS	   4u

enum bbr3_mode {
	B3_STARTUP,
	B3_DRAIN,
	B3_DOWN,
	B3_CRUISE,
	B3_REFILL,
	B3_UP,
	B3_PROBE_RTT,
	B3_MODES
};

static const double bbr3_pacing[B3_MODES] = {
	BBR3_STARTUP_GAIN, BBR3_DRAIN_GAIN, BBR3_DOWN_GAIN, 1, 1, BBR3_UP_GAIN, 1
};
static const double bbr3_window[B3_MODES] = { BBR3_CWND_GAIN, BBR3_CWND_GAIN, BBR3_CWND_GAIN,
					      BBR3_CWND_GAIN, BBR3_CWND_GAIN, BBR3_UP_CWND_GAIN,
					      BBR3_PROBE_RTT };

struct bbr3 {
	enum bbr3_mode mode;
	double bw[BBR3_BW_CYCLES];		/* largest of this and the last cycle of probing */
	double bw_lo, inflight_lo, inflight_hi; /* INFINITY: no bound */
	double full_bw;
	uint32_t full_rounds;
	bool full;
	/* this round */
	double round_bw, round_flight, round_acked, round_lost;
	uint32_t rounds; /* since the last probe for bandwidth */
	uint32_t up;	 /* rounds of UP: how steeply inflight_hi grows */
	double up_acked;
	uint64_t mode_ns, wait_ns, cycle_ns;
	uint64_t min_rtt, min_rtt_ns;
	uint64_t probe_rtt_min, probe_rtt_min_ns, probe_rtt_ns;
	uint64_t prior_cwnd;
	bool probing; /* losses now are of the probe */
	uint64_t rng;
};

_Static_assert(sizeof(struct bbr3) <= SDR_CC_STATE_MAX, "state of bbr3");

static struct bbr3 *bbr3_of(struct sdr_cc *cc)
{
	return (struct bbr3 *)(void *)cc->state;
}

static double bbr3_max_bw(const struct bbr3 *s)
{
	return fmax(s->bw[0], s->bw[1]);
}

static double bbr3_bw(const struct bbr3 *s)
{
	return fmin(bbr3_max_bw(s), s->bw_lo);
}

static double bbr3_bdp(const struct bbr3 *s, double bw, double gain)
{
	return bw * (double)s->min_rtt / SDR_CC_NS_PER_S * gain;
}

static double bbr3_headroom(const struct sdr_cc *cc, const struct bbr3 *s)
{
	if (isinf(s->inflight_hi))
		return INFINITY;
	return fmax(s->inflight_hi - fmax((double)cc->mtu, BBR3_HEADROOM * s->inflight_hi),
		    (double)BBR3_MIN_PKTS * cc->mtu);
}

static void bbr3_no_low(struct bbr3 *s)
{
	s->bw_lo = s->inflight_lo = INFINITY;
}

static void bbr3_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	struct bbr3 *s = bbr3_of(cc);

	(void)cfg;
	s->inflight_hi = INFINITY;
	bbr3_no_low(s);
	s->mode_ns = s->cycle_ns = s->min_rtt_ns = s->probe_rtt_min_ns = now;
	s->rng = now;
	cc->cwnd = (uint64_t)BBR3_FIRST * cc->mtu;
	cc->pacing_Bps = (uint64_t)(BBR3_STARTUP_GAIN * (double)cc->cwnd * 1e3);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static void bbr3_enter(struct bbr3 *s, enum bbr3_mode mode, uint64_t now)
{
	s->mode = mode;
	s->mode_ns = now;
	s->probing = mode == B3_STARTUP || mode == B3_REFILL || mode == B3_UP;
}

static void bbr3_down(struct bbr3 *s, uint64_t now)
{
	bbr3_enter(s, B3_DOWN, now);
	s->cycle_ns = now;
	s->rounds = (uint32_t)(sdr_rand64(&s->rng) % 2);
	s->wait_ns = BBR3_WAIT_NS + sdr_rand64(&s->rng) % BBR3_WAIT_RAND_NS;
	s->bw[1] = s->bw[0];
	s->bw[0] = 0;
}

static void bbr3_refill(struct bbr3 *s, uint64_t now)
{
	bbr3_no_low(s);
	s->up = 0;
	s->up_acked = 0;
	bbr3_enter(s, B3_REFILL, now);
}

static bool bbr3_time_to_probe(const struct sdr_cc *cc, const struct bbr3 *s, uint64_t now)
{
	double reno = fmin(bbr3_bdp(s, bbr3_bw(s), 1) / cc->mtu, BBR3_WAIT_ROUNDS);

	return now - s->cycle_ns > s->wait_ns || s->rounds >= reno;
}

/* UP: inflight_hi grows by 1, 2, 4, ... packets a round while the flight leans on it. */
static void bbr3_raise(const struct sdr_cc *cc, struct bbr3 *s, const struct sdr_cc_ack *ack,
		       bool round_start)
{
	double a_packet;

	if (isinf(s->inflight_hi))
		return;
	if ((double)(ack->inflight + ack->bytes) + cc->mtu < s->inflight_hi)
		return;
	if (round_start && s->up < 30)
		s->up++;
	a_packet = fmax((double)cc->cwnd / (double)(1u << s->up), cc->mtu);
	s->up_acked += (double)ack->bytes;
	while (s->up_acked >= a_packet) {
		s->up_acked -= a_packet;
		s->inflight_hi += cc->mtu;
	}
}

static void bbr3_cycle(const struct sdr_cc *cc, struct bbr3 *s, const struct sdr_cc_ack *ack,
		       bool round_start)
{
	double flight = (double)ack->inflight, max_bw = bbr3_max_bw(s);
	bool aged = ack->now - s->mode_ns > s->min_rtt;

	switch (s->mode) {
	case B3_DOWN:
		if (bbr3_time_to_probe(cc, s, ack->now))
			bbr3_refill(s, ack->now);
		else if (flight <= bbr3_headroom(cc, s) && flight <= bbr3_bdp(s, max_bw, 1))
			bbr3_enter(s, B3_CRUISE, ack->now);
		break;
	case B3_CRUISE:
		if (bbr3_time_to_probe(cc, s, ack->now))
			bbr3_refill(s, ack->now);
		break;
	case B3_REFILL:
		if (round_start && aged)
			bbr3_enter(s, B3_UP, ack->now);
		break;
	case B3_UP:
		bbr3_raise(cc, s, ack, round_start);
		if (aged && (flight >= bbr3_bdp(s, max_bw, BBR3_UP_GAIN) + 2.0 * cc->mtu ||
			     (flight + cc->mtu >= s->inflight_hi && ack->lost)))
			bbr3_down(s, ack->now);
		break;
	default:
		break;
	}
}

static void bbr3_check_full(struct bbr3 *s, const struct sdr_cc_rate *rate)
{
	if (s->full || !rate->round_start || rate->app_limited)
		return;
	if (bbr3_max_bw(s) >= s->full_bw * BBR3_FULL_GROWTH) {
		s->full_bw = bbr3_max_bw(s);
		s->full_rounds = 0;
		return;
	}
	s->full = ++s->full_rounds >= BBR3_FULL_ROUNDS;
}

static void bbr3_start(struct bbr3 *s, const struct sdr_cc_ack *ack)
{
	if (s->mode == B3_STARTUP && s->full)
		bbr3_enter(s, B3_DRAIN, ack->now);
	if (s->mode == B3_DRAIN && (double)ack->inflight <= bbr3_bdp(s, bbr3_max_bw(s), 1))
		bbr3_down(s, ack->now);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void bbr3_round_end(const struct sdr_cc *cc, struct bbr3 *s, uint64_t now)
{
	double sent = s->round_lost + s->round_acked;
	bool much = s->round_lost > BBR3_LOSS * sent;
	double want = bbr3_bdp(s, bbr3_bw(s), 1);

	if (much && s->probing) {
		s->inflight_hi = fmax(s->round_flight, BBR3_BETA * fmax(want, (double)cc->cwnd));
		if (s->mode == B3_STARTUP) {
			s->full = true;
			s->inflight_hi = fmax(want, s->round_flight);
		} else {
			bbr3_down(s, now);
		}
	} else if (s->round_lost > 0 && !s->probing) {
		if (isinf(s->bw_lo))
			s->bw_lo = bbr3_max_bw(s);
		if (isinf(s->inflight_lo))
			s->inflight_lo = (double)cc->cwnd;
		s->bw_lo = fmax(s->round_bw, BBR3_BETA * s->bw_lo);
		s->inflight_lo = fmax(s->round_flight, BBR3_BETA * s->inflight_lo);
	}
	s->rounds++;
	s->round_bw = s->round_flight = s->round_acked = s->round_lost = 0;
}

static void bbr3_count(const struct sdr_cc *cc, struct bbr3 *s, const struct sdr_cc_ack *ack,
		       const struct sdr_cc_rate *rate)
{
	s->round_acked += (double)ack->bytes;
	s->round_lost += (double)ack->lost + (double)ack->ce;
	s->round_bw = fmax(s->round_bw, (double)rate->bw);
	if (ack->snap)
		s->round_flight =
			fmax(s->round_flight, (double)(cc->delivered - ack->snap->delivered));
}

/* ---- the smallest round trip ----------------------------------------------------------------- */

static void bbr3_update_min_rtt(struct sdr_cc *cc, struct bbr3 *s, const struct sdr_cc_ack *ack)
{
	bool old = ack->now > s->probe_rtt_min_ns + BBR3_PROBE_RTT_INT;

	if (ack->rtt && (!s->probe_rtt_min || ack->rtt < s->probe_rtt_min || old)) {
		s->probe_rtt_min = ack->rtt;
		s->probe_rtt_min_ns = ack->now;
	}
	if (!s->min_rtt || s->probe_rtt_min < s->min_rtt ||
	    ack->now > s->min_rtt_ns + BBR3_MIN_RTT_NS) {
		s->min_rtt = s->probe_rtt_min;
		s->min_rtt_ns = s->probe_rtt_min_ns;
	}
	if (s->mode == B3_PROBE_RTT) {
		if (!s->probe_rtt_ns &&
		    (double)ack->inflight <=
			    fmax(bbr3_bdp(s, bbr3_bw(s), BBR3_PROBE_RTT), 4.0 * cc->mtu))
			s->probe_rtt_ns = ack->now + BBR3_PROBE_RTT_NS;
		if (!s->probe_rtt_ns || ack->now < s->probe_rtt_ns)
			return;
		s->probe_rtt_min_ns = ack->now;
		cc->cwnd = cc->cwnd > s->prior_cwnd ? cc->cwnd : s->prior_cwnd;
		bbr3_no_low(s);
		bbr3_enter(s, s->full ? B3_CRUISE : B3_STARTUP, ack->now);
	} else if (old) {
		s->prior_cwnd = cc->cwnd;
		s->probe_rtt_ns = 0;
		bbr3_enter(s, B3_PROBE_RTT, ack->now);
	}
}

/* ---- the outputs ----------------------------------------------------------------------------- */

static void bbr3_set_pacing(struct sdr_cc *cc, const struct bbr3 *s)
{
	double bw = bbr3_bw(s), rate = bw * bbr3_pacing[s->mode] * BBR3_MARGIN;

	if (!(bw > 0) && cc->srtt)
		rate = BBR3_STARTUP_GAIN * (double)BBR3_FIRST * cc->mtu * SDR_CC_NS_PER_S /
		       (double)cc->srtt;
	if (rate > 0 && (s->full || !(bw > 0) || rate > (double)cc->pacing_Bps))
		cc->pacing_Bps = (uint64_t)rate;
}

static double bbr3_bound(const struct sdr_cc *cc, const struct bbr3 *s)
{
	double most = s->inflight_lo;

	if (s->mode == B3_CRUISE || s->mode == B3_PROBE_RTT)
		most = fmin(most, bbr3_headroom(cc, s));
	else if (s->mode != B3_STARTUP && s->mode != B3_DRAIN)
		most = fmin(most, s->inflight_hi);
	return most;
}

static void bbr3_set_cwnd(struct sdr_cc *cc, const struct bbr3 *s, const struct sdr_cc_ack *ack)
{
	double burst = fmin((double)cc->pacing_Bps * BBR3_BURST_S, BBR3_BURST_BYTES);
	double want = bbr3_bdp(s, bbr3_bw(s), bbr3_window[s->mode]), cwnd = (double)cc->cwnd;

	burst = 3 * fmax(burst, 2.0 * cc->mtu);
	if (s->mode != B3_PROBE_RTT)
		want += burst;
	if (ack->lost)
		cwnd = fmax(cwnd - (double)ack->lost, (double)(ack->inflight + ack->bytes));
	if (s->full || s->mode == B3_PROBE_RTT)
		cwnd = fmin(cwnd + (double)ack->bytes, want);
	else if (cwnd < want || cc->delivered < (uint64_t)BBR3_FIRST * cc->mtu)
		cwnd += (double)ack->bytes;
	cwnd = fmax(fmin(cwnd, bbr3_bound(cc, s)), (double)BBR3_MIN_PKTS * cc->mtu);
	cc->cwnd = (uint64_t)cwnd;
}

static void bbr3_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		       const struct sdr_cc_rate *rate)
{
	struct bbr3 *s = bbr3_of(cc);

	cc->min_rtt = ack->min_rtt;
	bbr3_count(cc, s, ack, rate);
	s->bw[0] = fmax(s->bw[0], (double)rate->bw);
	bbr3_check_full(s, rate);
	if (rate->round_start)
		bbr3_round_end(cc, s, ack->now);
	bbr3_start(s, ack);
	bbr3_cycle(cc, s, ack, rate->round_start);
	bbr3_update_min_rtt(cc, s, ack);
	bbr3_set_pacing(cc, s);
	bbr3_set_cwnd(cc, s, ack);
}

static void bbr3_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)now;
	bbr3_no_low(bbr3_of(cc));
	cc->cwnd = (uint64_t)BBR3_MIN_PKTS * cc->mtu;
}

const struct sdr_cc_ops rival_bbr3 = {
	.name = "bbr3",
	.init = bbr3_init,
	.acked = bbr3_acked,
	.timeout = bbr3_timeout,
};
