/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `bbr`: the first version, as Linux has it (tcp_bbr.c), without the policer detection.
 *
 * STARTUP at gain 2.885 until the bandwidth has grown by less than a quarter for three rounds;
 * DRAIN until no more than a BDP is in flight; PROBE_BW in eight phases of a smallest RTT each
 * (1.25, 0.75, six of 1), the first drawn; PROBE_RTT with four packets for 200 ms when the smallest
 * RTT is ten seconds old.  Window: twice the BDP, three bursts, and what acknowledgements have come
 * in bunches.  A loss changes the model in nothing: for a round no more leaves than comes back
 * (packet conservation), then the window is what it was.  Paced at 99 % of the rate.
 */
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rival.h"

#define BBR_HIGH_GAIN	 (2885.0 / 1000)
#define BBR_MARGIN	 0.99
#define BBR_CWND_GAIN	 2.0
#define BBR_CYCLES	 8u
#define BBR_BW_ROUNDS	 10u
#define BBR_FULL_GROWTH	 1.25
#define BBR_FULL_ROUNDS	 3u
#define BBR_MIN_RTT_NS	 10000000000ull
#define BBR_PROBE_RTT_NS 200000000ull
#define BBR_BURST_BYTES	 65536.0
#define BBR_BURST_S	 1e-3
#define BBR_AGGR_ROUNDS	 5u
#define BBR_AGGR_S	 0.1 /* of bandwidth: most that bunches add to the window */
#define BBR_FIRST	 10u /* packets of the first window */
#define BBR_MIN_PKTS	 4u

static const double bbr_gain[BBR_CYCLES] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

struct bbr {
	enum bbr_mode mode;
	double bw[BBR_BW_ROUNDS]; /* bytes per second, of each of the last rounds */
	uint32_t round;
	double full_bw;
	uint32_t full_rounds;
	bool full;
	double pacing_gain, cwnd_gain;
	uint32_t cycle;
	uint64_t cycle_ns;
	uint64_t min_rtt, min_rtt_ns, probe_rtt_ns;
	bool probe_rtt_round;
	uint64_t prior_cwnd;
	bool recovery, conserve;
	uint64_t recover; /* delivered count of what is sent after its begin */
	double aggr[2];
	uint32_t aggr_now, aggr_rounds;
	uint64_t epoch_ns;
	double epoch_acked;
	uint64_t rng;
};

_Static_assert(sizeof(struct bbr) <= SDR_CC_STATE_MAX, "state of bbr");

static struct bbr *bbr_of(struct sdr_cc *cc)
{
	return (struct bbr *)(void *)cc->state;
}

static double bbr_bw(const struct bbr *s)
{
	double bw = 0;

	for (uint32_t i = 0; i < BBR_BW_ROUNDS; i++)
		bw = s->bw[i] > bw ? s->bw[i] : bw;
	return bw;
}

static double bbr_burst(const struct sdr_cc *cc)
{
	double burst = (double)cc->pacing_Bps * BBR_BURST_S;

	burst = burst < BBR_BURST_BYTES ? burst : BBR_BURST_BYTES;
	return burst > 2.0 * cc->mtu ? burst : 2.0 * cc->mtu;
}

/* Bytes in flight at that gain, with room for the bursts of both ends. */
static double bbr_inflight(const struct sdr_cc *cc, const struct bbr *s, double gain)
{
	double flight = bbr_bw(s) * (double)s->min_rtt / SDR_CC_NS_PER_S * gain;

	if (!s->min_rtt)
		return (double)BBR_FIRST * cc->mtu;
	flight += 3 * bbr_burst(cc);
	if (s->mode == BBR_PROBE_BW && !s->cycle)
		flight += 2.0 * cc->mtu;
	return flight;
}

static void bbr_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	struct bbr *s = bbr_of(cc);

	(void)cfg;
	s->pacing_gain = s->cwnd_gain = BBR_HIGH_GAIN;
	s->min_rtt_ns = s->epoch_ns = now;
	s->rng = now;
	cc->cwnd = (uint64_t)BBR_FIRST * cc->mtu;
	cc->pacing_Bps = (uint64_t)(BBR_HIGH_GAIN * (double)cc->cwnd * 1e3); /* an RTT of 1 ms */
}

/* ---- the model ------------------------------------------------------------------------------- */

static void bbr_update_bw(struct bbr *s, const struct sdr_cc_rate *rate)
{
	double *slot;

	if (rate->round_start) {
		s->round++;
		s->bw[s->round % BBR_BW_ROUNDS] = 0;
	}
	slot = &s->bw[s->round % BBR_BW_ROUNDS];
	if ((double)rate->bw > *slot)
		*slot = (double)rate->bw;
}

/* Acknowledgements that come in bunches: what came beyond the rate. */
static void bbr_update_aggr(struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack,
			    bool round_start)
{
	double expected, extra;

	if (round_start && ++s->aggr_rounds >= BBR_AGGR_ROUNDS) {
		s->aggr_rounds = 0;
		s->aggr_now ^= 1;
		s->aggr[s->aggr_now] = 0;
	}
	expected = bbr_bw(s) * (double)(ack->now - s->epoch_ns) / SDR_CC_NS_PER_S;
	if (s->epoch_acked <= expected) {
		s->epoch_acked = 0;
		s->epoch_ns = ack->now;
		expected = 0;
	}
	s->epoch_acked += (double)ack->bytes;
	extra = s->epoch_acked - expected;
	extra = extra < (double)cc->cwnd ? extra : (double)cc->cwnd;
	if (extra > s->aggr[s->aggr_now])
		s->aggr[s->aggr_now] = extra;
}

static void bbr_cycle_to(struct bbr *s, uint32_t cycle, uint64_t now)
{
	s->cycle = cycle;
	s->cycle_ns = now;
	s->pacing_gain = bbr_gain[cycle];
}

static void bbr_update_cycle(const struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack)
{
	bool over = ack->now - s->cycle_ns > s->min_rtt;
	double flight = (double)ack->inflight;

	if (s->mode != BBR_PROBE_BW)
		return;
	if (s->pacing_gain > 1)
		over = over && (ack->lost || flight >= bbr_inflight(cc, s, s->pacing_gain));
	else if (s->pacing_gain < 1)
		over = over || flight <= bbr_inflight(cc, s, 1);
	if (over)
		bbr_cycle_to(s, (s->cycle + 1) % BBR_CYCLES, ack->now);
}

static void bbr_check_full(struct bbr *s, const struct sdr_cc_rate *rate)
{
	double bw = bbr_bw(s);

	if (s->full || !rate->round_start || rate->app_limited)
		return;
	if (bw >= s->full_bw * BBR_FULL_GROWTH) {
		s->full_bw = bw;
		s->full_rounds = 0;
		return;
	}
	s->full = ++s->full_rounds >= BBR_FULL_ROUNDS;
}

static void bbr_enter_probe_bw(struct bbr *s, uint64_t now)
{
	s->mode = BBR_PROBE_BW;
	s->cwnd_gain = BBR_CWND_GAIN;
	/* any phase but the one that drains */
	bbr_cycle_to(s,
		     (BBR_CYCLES - (uint32_t)(sdr_rand64(&s->rng) % (BBR_CYCLES - 1))) % BBR_CYCLES,
		     now);
}

static void bbr_check_drain(const struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack)
{
	if (s->mode == BBR_STARTUP && s->full) {
		s->mode = BBR_DRAIN;
		s->pacing_gain = 1 / BBR_HIGH_GAIN;
		s->cwnd_gain = BBR_HIGH_GAIN;
	}
	if (s->mode == BBR_DRAIN && (double)ack->inflight <= bbr_inflight(cc, s, 1))
		bbr_enter_probe_bw(s, ack->now);
}

static void bbr_leave_probe_rtt(struct sdr_cc *cc, struct bbr *s, uint64_t now)
{
	s->min_rtt_ns = now;
	if (cc->cwnd < s->prior_cwnd)
		cc->cwnd = s->prior_cwnd;
	if (s->full) {
		bbr_enter_probe_bw(s, now);
		return;
	}
	s->mode = BBR_STARTUP;
	s->pacing_gain = s->cwnd_gain = BBR_HIGH_GAIN;
}

static void bbr_save_cwnd(const struct sdr_cc *cc, struct bbr *s)
{
	if (!s->recovery && s->mode != BBR_PROBE_RTT)
		s->prior_cwnd = cc->cwnd;
	else if (s->prior_cwnd < cc->cwnd)
		s->prior_cwnd = cc->cwnd;
}

static void bbr_update_min_rtt(struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack,
			       bool round_start)
{
	bool expired = ack->now > s->min_rtt_ns + BBR_MIN_RTT_NS;

	if (ack->rtt && (!s->min_rtt || ack->rtt < s->min_rtt || expired)) {
		s->min_rtt = ack->rtt;
		s->min_rtt_ns = ack->now;
	}
	if (expired && s->mode != BBR_PROBE_RTT) {
		bbr_save_cwnd(cc, s);
		s->mode = BBR_PROBE_RTT;
		s->pacing_gain = s->cwnd_gain = 1;
		s->probe_rtt_ns = 0;
	}
	if (s->mode != BBR_PROBE_RTT)
		return;
	if (!s->probe_rtt_ns) {
		if (ack->inflight <= (uint64_t)BBR_MIN_PKTS * cc->mtu) {
			s->probe_rtt_ns = ack->now + BBR_PROBE_RTT_NS;
			s->probe_rtt_round = false;
		}
		return;
	}
	s->probe_rtt_round |= round_start;
	if (s->probe_rtt_round && ack->now > s->probe_rtt_ns)
		bbr_leave_probe_rtt(cc, s, ack->now);
}

/* ---- the outputs ----------------------------------------------------------------------------- */

static void bbr_set_pacing(struct sdr_cc *cc, const struct bbr *s)
{
	double bw = bbr_bw(s), rate = bw * s->pacing_gain * BBR_MARGIN;

	if (!(bw > 0) && cc->srtt)
		rate = BBR_HIGH_GAIN * (double)BBR_FIRST * cc->mtu * SDR_CC_NS_PER_S /
		       (double)cc->srtt;
	if (rate > 0 && (s->full || !(bw > 0) || rate > (double)cc->pacing_Bps))
		cc->pacing_Bps = (uint64_t)rate;
}

/* True: the window is that of the recovery. */
static bool bbr_recover(struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack,
			uint64_t *cwnd)
{
	uint64_t least = cc->mtu, conserved = ack->inflight + ack->bytes;

	*cwnd = cc->cwnd;
	if (ack->lost)
		*cwnd = *cwnd > ack->lost + least ? *cwnd - ack->lost : least;
	if (!s->recovery && ack->lost) {
		bbr_save_cwnd(cc, s);
		s->recovery = s->conserve = true;
		s->recover = cc->delivered;
		*cwnd = conserved;
	} else if (s->recovery && !ack->lost && ack->snap && ack->snap->delivered >= s->recover) {
		s->recovery = s->conserve = false;
		*cwnd = *cwnd > s->prior_cwnd ? *cwnd : s->prior_cwnd;
	}
	if (!s->conserve)
		return false;
	*cwnd = *cwnd > conserved ? *cwnd : conserved;
	return true;
}

static void bbr_set_cwnd(struct sdr_cc *cc, struct bbr *s, const struct sdr_cc_ack *ack)
{
	double most = bbr_bw(s) * BBR_AGGR_S,
	       aggr = s->aggr[0] > s->aggr[1] ? s->aggr[0] : s->aggr[1];
	uint64_t target, cwnd, least = (uint64_t)BBR_MIN_PKTS * cc->mtu;
	bool conserve = bbr_recover(cc, s, ack, &cwnd);

	if (!conserve && ack->bytes) {
		aggr = aggr < most ? aggr : most;
		target = (uint64_t)(bbr_inflight(cc, s, s->cwnd_gain) + (s->full ? aggr : 0));
		if (s->full)
			cwnd = cwnd + ack->bytes < target ? cwnd + ack->bytes : target;
		else if (cwnd < target || cc->delivered < (uint64_t)BBR_FIRST * cc->mtu)
			cwnd += ack->bytes;
	}
	if (s->mode == BBR_PROBE_RTT && cwnd > least)
		cwnd = least;
	cc->cwnd = cwnd > least ? cwnd : least;
}

static void bbr_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		      const struct sdr_cc_rate *rate)
{
	struct bbr *s = bbr_of(cc);

	cc->min_rtt = ack->min_rtt;
	if (rate->round_start)
		s->conserve = false;
	bbr_update_bw(s, rate);
	bbr_update_aggr(cc, s, ack, rate->round_start);
	bbr_update_cycle(cc, s, ack);
	bbr_check_full(s, rate);
	bbr_check_drain(cc, s, ack);
	bbr_update_min_rtt(cc, s, ack, rate->round_start);
	bbr_set_pacing(cc, s);
	bbr_set_cwnd(cc, s, ack);
}

static void bbr_timeout(struct sdr_cc *cc, uint64_t now)
{
	struct bbr *s = bbr_of(cc);

	(void)now;
	bbr_save_cwnd(cc, s);
	s->full_bw = 0;
	s->full_rounds = 0;
	s->recovery = true;
	s->conserve = false;
	s->recover = cc->delivered;
	cc->cwnd = (uint64_t)BBR_MIN_PKTS * cc->mtu;
}

const struct sdr_cc_ops rival_bbr = {
	.name = "bbr",
	.init = bbr_init,
	.acked = bbr_acked,
	.timeout = bbr_timeout,
};
