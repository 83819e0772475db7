/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Loss detection by time and order, see sdr_rack.h. */
#include <math.h>
#include "base/sdr_assert.h"
#include "base/sdr_seq.h"
#include "sdr_rack.h"

/* quarters of min RTT; the window is capped at one srtt anyway: it may be far more than min RTT */
#define REO_MULT_STEPS	8u /* one by one up to that, then twice as many at a time */
#define REO_MULT_MAX	1024u
#define REO_EXTENT_FADE 16u /* packets overtaken over which their mean is smoothed */
#define REO_NOISE_FADE	64u /* deliveries */
#define REO_APART	1.5 /* of that mean: little overtakes by more */
#define REO_FEW		64u /* overtaken: fewer do not say by how much */
#define REO_VAR		2.0 /* of the mean deviation of round trips: few packets are late by more */
#define REO_FORGET_RTTS 64u
#define REO_FORGET_NS	(1000 * 1000000ull) /* and this, on short paths */

uint64_t sdr_rack_window(const struct sdr_rack *r, const struct sdr_rtt *rtt)
{
	uint64_t w = sdr_rtt_min(rtt) / 4 * r->reo_mult;

	SDR_ASSERT(r->reo_mult <= REO_MULT_MAX);
	return w < rtt->srtt ? w : rtt->srtt;
}

void sdr_rack_spurious(struct sdr_rack *r, const struct sdr_rtt *rtt, uint64_t now)
{
	SDR_ASSERT(now >= r->reo_grown && now >= r->reo_seen);
	/* At most one step a round trip: one reordering event shows up in many packets. */
	if (!r->reo_mult || now - r->reo_grown >= rtt->srtt) {
		if (r->reo_mult < REO_MULT_STEPS)
			r->reo_mult++;
		else if (r->reo_mult < REO_MULT_MAX)
			r->reo_mult *= 2;
		r->reo_grown = now;
	}
	r->reo_seen = now;
}

/* Its round trip without what the peer says it waited, which may be a lie. */
static uint64_t rack_took(uint64_t tx_ns, uint64_t now, uint64_t delay)
{
	uint64_t age = now - tx_ns;

	SDR_ASSERT(now >= tx_ns);
	return age - (delay < age ? delay : age);
}

void sdr_rack_overtaken(struct sdr_rack *r, uint64_t tx_ns, uint64_t now, uint64_t delay)
{
	uint64_t took = rack_took(tx_ns, now, delay);
	double d = took > r->took ? (double)(took - r->took) : 0;

	/* With that much between their sendings they would have come in order. */
	r->extent += r->overtaken++ ? (d - r->extent) / REO_EXTENT_FADE : d;
	r->noise += d / REO_NOISE_FADE;
	r->share += (1 - r->share) / REO_NOISE_FADE;
}

void sdr_rack_reordered(struct sdr_rack *r, uint64_t now)
{
	if (!r->reo_mult)
		r->reo_mult = 1;
	r->reo_seen = now;
}

uint64_t sdr_rack_apart(const struct sdr_rack *r, const struct sdr_rtt *rtt)
{
	double least = (double)sdr_rtt_min(rtt), apart = 0;

	if (!r->reo_mult)
		return 0;
	if (r->overtaken < REO_FEW)
		apart = REO_VAR * (double)rtt->rttvar;
	if (r->extent <= r->share * least)
		apart = fmax(apart, REO_APART * r->extent);
	return (uint64_t)fmin(apart, least / 4);
}

void sdr_rack_age(struct sdr_rack *r, const struct sdr_rtt *rtt, uint64_t now)
{
	SDR_ASSERT(now >= r->reo_seen);
	if (r->reo_mult && now - r->reo_seen > REO_FORGET_RTTS * rtt->srtt + REO_FORGET_NS) {
		r->reo_mult = 0;
		r->overtaken = 0;
		r->extent = r->noise = r->share = 0;
	}
}

void sdr_rack_delivered(struct sdr_rack *r, uint32_t seq, uint64_t tx_ns, uint64_t now,
			uint64_t delay)
{
	r->noise -= r->noise / REO_NOISE_FADE;
	/* what was sent apart from the one before could not overtake it */
	if (tx_ns < r->ns + (uint64_t)r->extent)
		r->share -= r->share / REO_NOISE_FADE;
	if (sdr_seq_lt(r->seq, seq)) {
		r->seq = seq;
		r->ns = tx_ns;
		r->took = rack_took(tx_ns, now, delay);
	}
}

bool sdr_rack_is_lost(struct sdr_rack *r, const struct sdr_rtt *rtt, uint32_t seq, uint64_t tx_ns,
		      uint64_t now)
{
	uint64_t wnd = sdr_rack_window(r, rtt), at;

	if (!sdr_seq_lt(seq, r->seq))
		return false;
	if (!wnd || tx_ns + wnd < r->ns)
		return true;
	at = tx_ns + rtt->latest + wnd;
	if (at <= now)
		return true;
	if (at < r->timer)
		r->timer = at;
	return false;
}
