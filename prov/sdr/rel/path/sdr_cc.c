/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What all congestion controllers share: the first window, delivery accounting and rate samples,
 * RTT, rounds, the pacer, the choice of the controller.  A provisioned one without a rate gives way
 * to the default.  No clock, no timers, no threads, no allocation.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/path/sdr_cc_ops.h"

#define SDR_CC_RATE_MAX (1ull << 60) /* bytes per second: more is a mistake */
/* share of what a path was seen to pass at least that is forgotten in a round trip: 1 in */
#define SDR_CC_LEAST_FADE 32u
/* trains leave until the error is at most this, but no more of them: the path may be too fast */
#define SDR_CC_TRAIN_ERR 0.1
#define SDR_CC_TRAINS	 16u
#define SDR_CC_FAR_NS	 1000000u
/* of the round trip: the pause in front of one that is asked for; half is a pause to receivers */
#define SDR_CC_TRAIN_PAUSE 0.75

/* What every controller owes, and what the accounting keeps. */
static void sdr_cc_check(const struct sdr_cc *cc)
{
	SDR_ASSERT(cc->cwnd >= (uint64_t)SDR_CC_MIN_PKTS * cc->mtu);
	SDR_ASSERT(cc->pacing_Bps <= SDR_CC_RATE_MAX);
	SDR_ASSERT(cc->pacer.rate_Bps == cc->pacing_Bps);
	SDR_ASSERT(cc->round_end <= cc->delivered);
	SDR_ASSERT(!cc->app_limited_until || cc->app_limited_until >= cc->delivered);
}

static const struct sdr_cc_ops *sdr_cc_chosen(const struct sdr_rel_cfg *cfg)
{
	const struct sdr_cc_ops *ops = cfg->cc ? cfg->cc : sdr_cc_table[0];

	return ops->provisioned && cfg->rate_bps < 8 ? sdr_cc_table[0] : ops;
}

bool sdr_cc_pair_asks(const struct sdr_rel_cfg *cfg)
{
	return sdr_cc_chosen(cfg)->pair;
}

void sdr_cc_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint32_t mtu, uint64_t rx_window,
		 uint64_t rtt_guess_ns, const struct sdr_cc_known *known, uint64_t now)
{
	SDR_ASSERT(mtu);
	memset(cc, 0, sizeof(*cc));
	cc->ops = sdr_cc_chosen(cfg);
	cc->rx_window = rx_window ? rx_window : SDR_CC_RX_WINDOW;
	cc->mtu = mtu;
	cc->rtt_guess = rtt_guess_ns ? rtt_guess_ns : SDR_RTT_INIT_NS;
	cc->clock_ahead_ns = cfg->clock_ahead_ns;
	if (known)
		cc->known = *known;
	cc->delivered_ns = now;
	cc->first_tx_ns = now;
	cc->first_win = (uint64_t)((double)cc->rx_window * SDR_CC_RX_SHARE);
	if (cc->first_win > SDR_CC_RX_WINDOW)
		cc->first_win = SDR_CC_RX_WINDOW;
	if (cc->first_win < (uint64_t)SDR_CC_MIN_PKTS * mtu)
		cc->first_win = (uint64_t)SDR_CC_MIN_PKTS * mtu;
	SDR_ASSERT(cc->ops->name && cc->ops->init && cc->ops->acked && cc->ops->timeout);
	cc->ops->init(cc, cfg, now);
	sdr_pacer_init(&cc->pacer, mtu, now);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, now);
	sdr_cc_check(cc);
}

void sdr_cc_mtu_set(struct sdr_cc *cc, uint32_t mtu)
{
	uint64_t least = (uint64_t)SDR_CC_MIN_PKTS * mtu;

	SDR_ASSERT(mtu && cc->ops);
	cc->mtu = mtu;
	sdr_pacer_pkt_set(&cc->pacer, mtu);
	if (cc->first_win < least)
		cc->first_win = least;
	if (cc->cwnd < least)
		cc->cwnd = least;
	sdr_cc_check(cc);
}

/* Of a flight, bytes that leave at once. */
static uint64_t sdr_cc_train_most(const struct sdr_cc *cc)
{
	uint64_t most = cc->pair.waits ? cc->cwnd : cc->cwnd / 2;

	return most < SDR_CC_TRAIN ? most : SDR_CC_TRAIN;
}

/* The flight that begins is to show what the bottleneck passes: part of it leaves at once. */
static void sdr_cc_train(struct sdr_cc *cc, uint64_t now)
{
	uint64_t rtt = cc->srtt ? cc->srtt : cc->rtt_guess;

	if (cc->train_beyond && now < cc->busy_ns + rtt) /* all else has arrived in its pause */
		return;
	cc->train_left = cc->train_beyond = 0;
	cc->train_own = false;
	if (!cc->ops->trains || cc->known.rate_Bps || cc->trains >= SDR_CC_TRAINS ||
	    rtt < SDR_CC_FAR_NS || (cc->train.rate_Bps && cc->train.err <= SDR_CC_TRAIN_ERR))
		return;
	cc->trains++;
	cc->train_left = cc->train_first = sdr_cc_train_most(cc);
}

/*
 * One in the middle of a flight.  It leaves behind a pause by which the receiver knows the head of
 * a train (bulk/sdr_report.c).
 */
static void sdr_cc_train_asked(struct sdr_cc *cc, uint64_t now)
{
	uint64_t bytes = cc->train_asked, most = sdr_cc_train_most(cc);

	cc->train_asked = 0;
	if (cc->train_left || cc->srtt < SDR_CC_FAR_NS || cc->app_limited_until)
		return;
	cc->train_own = true;
	cc->train_beyond = bytes > most ? bytes : 0;
	cc->train_left = cc->train_first = bytes > most ? bytes : most;
	sdr_pacer_pause(&cc->pacer, (uint64_t)(SDR_CC_TRAIN_PAUSE * (double)cc->srtt), now);
}

/* Part of a train leaves. */
static void sdr_cc_train_sent(struct sdr_cc *cc, uint64_t now, uint64_t bytes)
{
	uint64_t from = cc->train_left == cc->train_first ? now : cc->train.own_from;

	if (cc->train_own)
		sdr_train_own(&cc->train, from, now);
	cc->train_left -= bytes;
	cc->train_own = cc->train_own && cc->train_left;
	cc->train_beyond = cc->train_own ? cc->train_beyond : 0;
}

static void sdr_cc_pair(struct sdr_cc *cc, uint64_t now)
{
	cc->ops->pair(cc);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, now);
	sdr_cc_check(cc);
}

void sdr_cc_pair_waits(struct sdr_cc *cc, uint64_t now)
{
	if (!cc->ops->pair || cc->busy_ns)
		return;
	cc->pair.waits = true;
	sdr_cc_pair(cc, now);
}

void sdr_cc_pair_told(struct sdr_cc *cc, uint64_t most_Bps, uint64_t now)
{
	uint64_t most, left;

	if (!cc->pair.waits)
		return;
	cc->pair.waits = false;
	cc->pair.most_Bps = most_Bps;
	sdr_cc_pair(cc, now);
	/* the flight that has begun goes on as one that did not wait */
	SDR_ASSERT(cc->train_left <= cc->train_first);
	most = sdr_cc_train_most(cc);
	left = cc->train_first - cc->train_left;
	if (cc->trains)
		cc->train_left = most > left ? most - left : 0;
}

void sdr_cc_joined(struct sdr_cc *cc, uint32_t together, uint64_t now)
{
	if (!cc->starting || together <= cc->known.together)
		return;
	cc->known.together = together;
	if (!cc->ops->joined)
		return;
	cc->ops->joined(cc);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, now);
	sdr_cc_check(cc);
}

/* Nothing is in flight, and something will be. */
static void sdr_cc_resume(struct sdr_cc *cc, uint64_t now)
{
	uint64_t rtt = cc->min_rtt ? cc->min_rtt : cc->srtt ? cc->srtt : cc->rtt_guess;

	if (!cc->busy_ns)
		return;
	if (cc->ops->resumed && now > cc->busy_ns + rtt)
		cc->ops->resumed(cc, now, now - cc->busy_ns);
	if (cc->ops->begins)
		cc->ops->begins(cc, now);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, now);
	sdr_cc_check(cc);
}

void sdr_cc_sent(struct sdr_cc *cc, uint64_t now, uint64_t bytes, uint64_t overhead,
		 uint64_t inflight, struct sdr_cc_snap *snap)
{
	uint64_t pays, at_once;

	SDR_ASSERT(cc->ops); /* opened */
	pays = bytes + (cc->ops->provisioned ? overhead : 0);
	if (!inflight) {
		sdr_cc_resume(cc, now);
		sdr_cc_train(cc, now);
		cc->first_tx_ns = now;
		cc->delivered_ns = now;
	}
	sdr_passed_sent(&cc->passed, now, bytes, cc->delivered, inflight, cc->app_limited_until);
	cc->busy_ns = now;
	snap->delivered = cc->delivered;
	snap->delivered_ns = cc->delivered_ns;
	snap->first_tx_ns = cc->first_tx_ns;
	snap->app_limited = cc->app_limited_until != 0;
	at_once = pays < cc->train_left ? pays : cc->train_left;
	if (at_once)
		sdr_cc_train_sent(cc, now, at_once);
	sdr_pacer_sent(&cc->pacer, pays - at_once);
}

void sdr_cc_app_limited(struct sdr_cc *cc, uint64_t inflight)
{
	cc->app_limited_until = cc->delivered + inflight;
	if (!cc->app_limited_until)
		cc->app_limited_until = 1;
}

/* The rate between the transmission of the packet and its acknowledgement. */
static void sdr_cc_rate_sample(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			       struct sdr_cc_rate *rate)
{
	const struct sdr_cc_snap *s = ack->snap;
	uint64_t tx, rx, interval;

	memset(rate, 0, sizeof(*rate));
	if (!s)
		return;
	rate->app_limited = s->app_limited;
	if (s->delivered >= cc->round_end) {
		cc->round_end = cc->delivered;
		rate->round_start = true;
	}
	tx = ack->snap_tx_ns > s->first_tx_ns ? ack->snap_tx_ns - s->first_tx_ns : 0;
	rx = ack->now > s->delivered_ns ? ack->now - s->delivered_ns : 0;
	if (ack->snap_tx_ns > cc->first_tx_ns)
		cc->first_tx_ns = ack->snap_tx_ns;
	interval = tx > rx ? tx : rx;
	if (ack->rtt && ack->rtt >= ack->min_rtt)
		rate->passed_Bps =
			sdr_passed_acked(&cc->passed, ack->snap_tx_ns, ack->rtt - ack->min_rtt,
					 cc->delivered, cc->mtu);
	/* Shorter than a round trip: the acknowledgement was of an earlier transmission. */
	if (!interval || interval < cc->min_rtt || cc->delivered <= s->delivered)
		return;
	rate->bw = (uint64_t)((double)(cc->delivered - s->delivered) * SDR_CC_NS_PER_S /
			      (double)interval);
}

/* What the bottleneck passes, as far as the own packets tell. */
static void sdr_cc_capacity(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			    struct sdr_cc_rate *rate)
{
	const struct sdr_train_ack a = { .now = ack->now,
					 .tx_ns = ack->snap_tx_ns,
					 .delay_ns = ack->delay,
					 .bytes = ack->bytes,
					 .min_rtt = ack->min_rtt,
					 .noise_ns = ack->noise };

	if (ack->snap && ack->bytes && ack->snap_tx_ns <= ack->now && ack->now >= cc->train.at)
		sdr_train_acked(&cc->train, &a);
	if (rate->round_start)
		cc->capacity_least -= cc->capacity_least / SDR_CC_LEAST_FADE;
	if (rate->bw > cc->capacity_least)
		cc->capacity_least = rate->bw;
	sdr_train_least(&cc->train, cc->capacity_least);
	rate->capacity_Bps = cc->train.rate_Bps ? cc->train.rate_Bps : cc->capacity_least;
	rate->capacity_err = cc->train.err;
	rate->capacity_least = !cc->train.rate_Bps;
}

/* How long the pacer may gather what leaves together. */
static uint64_t sdr_cc_span(const struct sdr_cc *cc, uint64_t rtt)
{
	uint64_t span = rtt / SDR_CC_SPAN_SHARE, most = SDR_CC_SPAN_MAX_NS, good;

	span = span < most ? span : most;
	if (!cc->ops->coarse || rtt < SDR_CC_SPAN_FAR_NS || !cc->pacing_Bps)
		return span;
	good = (uint64_t)((double)SDR_CC_SPAN_GOOD * SDR_CC_NS_PER_S / (double)cc->pacing_Bps);
	if (good <= span)
		return span;
	most = 2 * span < most ? 2 * span : most;
	most += cc->calm ? most / 2 : 0;
	return good < most ? good : most;
}

void sdr_cc_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack)
{
	struct sdr_cc_rate rate;

	if (cc->busy_ns && (ack->bytes || ack->lost))
		cc->busy_ns = ack->now;
	if (ack->bytes) {
		cc->delivered += ack->bytes;
		cc->delivered_ns = ack->now;
		cc->pair.waits = false;
		if (cc->app_limited_until && cc->delivered > cc->app_limited_until)
			cc->app_limited_until = 0;
	}
	if (ack->min_rtt && ack->min_rtt != UINT64_MAX)
		sdr_pacer_span_set(&cc->pacer, sdr_cc_span(cc, ack->min_rtt));
	if (ack->rtt)
		cc->srtt = cc->srtt ? (7 * cc->srtt + ack->rtt) / 8 : ack->rtt;
	SDR_ASSERT(ack->ce <= ack->bytes && ack->repaired <= ack->lost);
	SDR_ASSERT(!ack->snap || ack->snap->delivered <= cc->delivered);
	sdr_cc_rate_sample(cc, ack, &rate);
	sdr_cc_capacity(cc, ack, &rate);
	cc->ops->acked(cc, ack, &rate);
	sdr_pacer_spaced_set(&cc->pacer, cc->spaced);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, ack->now);
	if (cc->train_asked)
		sdr_cc_train_asked(cc, ack->now);
	sdr_cc_check(cc);
}

void sdr_cc_timeout(struct sdr_cc *cc, uint64_t now)
{
	cc->app_limited_until = 0;
	cc->pair.waits = false;
	cc->round_end = cc->delivered;
	cc->ops->timeout(cc, now);
	sdr_pacer_rate_set(&cc->pacer, cc->pacing_Bps, now);
	sdr_cc_check(cc);
}

void sdr_cc_rerouted(struct sdr_cc *cc)
{
	cc->rerouted = true;
	cc->min_rtt = 0;
}

void sdr_cc_bond(struct sdr_cc *cc, struct sdr_cc_bond *bond)
{
	if (cc->bond) {
		SDR_ASSERT(cc->bond->n && cc->bond->rivals >= cc->bond_rival);
		cc->bond->n--;
		cc->bond->win -= cc->bond_win;
		cc->bond->rivals -= cc->bond_rival;
	}
	if (cc->bond && cc->bond->asks == cc)
		cc->bond->asks = NULL;
	cc->bond = bond;
	cc->bond_win = 0;
	cc->bond_rival = false;
	if (bond)
		bond->n++;
}
