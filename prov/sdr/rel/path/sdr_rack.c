/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Loss detection by time and order, see sdr_rack.h. */
#include "base/sdr_assert.h"
#include "base/sdr_seq.h"
#include "sdr_rack.h"

/* quarters of min RTT; the window is capped at one srtt anyway: it may be far more than min RTT */
#define REO_MULT_STEPS	8u /* one by one up to that, then twice as many at a time */
#define REO_MULT_MAX	1024u
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

void sdr_rack_reordered(struct sdr_rack *r, uint64_t now)
{
	if (!r->reo_mult)
		r->reo_mult = 1;
	r->reo_seen = now;
}

void sdr_rack_age(struct sdr_rack *r, const struct sdr_rtt *rtt, uint64_t now)
{
	SDR_ASSERT(now >= r->reo_seen);
	if (r->reo_mult && now - r->reo_seen > REO_FORGET_RTTS * rtt->srtt + REO_FORGET_NS)
		r->reo_mult = 0;
}

void sdr_rack_delivered(struct sdr_rack *r, uint32_t seq, uint64_t tx_ns)
{
	if (sdr_seq_lt(r->seq, seq)) {
		r->seq = seq;
		r->ns = tx_ns;
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
