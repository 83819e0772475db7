/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RTT estimate of a connection.  The minimum takes samples as they are, so a peer that lies about
 * its delay cannot push it down; the smoothed value takes them without the delay.  The minimum is
 * that of two half windows: it forgets a sample after one half to one whole window.  No timers, no
 * threads.
 */
#include "base/sdr_assert.h"
#include "sdr_rtt.h"
#include "rel/sdr_rel_cfg.h"

#define SDR_RTT_MAX_NS	   (1ull << 40) /* 18 minutes: keeps the arithmetic far from overflow */
#define SDR_RTT_HALF_NS	   (SDR_RTT_MIN_WINDOW_NS / 2)
#define RTT_WAITS_FADE	   32u		    /* samples */
#define SDR_RTO_VAR_MIN_NS (1 * 1000000ull) /* clock and scheduling slack of both sides */

void sdr_rtt_init(struct sdr_rtt *r, uint64_t initial_ns)
{
	if (!initial_ns)
		initial_ns = SDR_RTT_INIT_NS;
	if (initial_ns > SDR_RTT_MAX_NS)
		initial_ns = SDR_RTT_MAX_NS;
	r->srtt = initial_ns;
	r->rttvar = initial_ns / 2;
	r->min_rtt = UINT64_MAX;
	r->latest = 0;
	r->bucket_min[0] = UINT64_MAX;
	r->bucket_min[1] = UINT64_MAX;
	r->bucket_start = 0;
	r->samples = 0;
	r->waits = 0;
	r->again = false;
}

void sdr_rtt_again(struct sdr_rtt *r)
{
	sdr_rtt_init(r, r->srtt);
	r->again = true;
}

/*
 * srtt may lie below min_rtt for a while: the minimum of a path that became longer is new, the
 * smoothed value still remembers.
 */
static void sdr_rtt_check(const struct sdr_rtt *r)
{
	SDR_ASSERT(r->srtt && r->srtt <= SDR_RTT_MAX_NS && r->rttvar <= SDR_RTT_MAX_NS);
	SDR_ASSERT(r->min_rtt && r->min_rtt <= r->latest && r->latest <= SDR_RTT_MAX_NS);
	SDR_ASSERT(r->min_rtt <= r->bucket_min[0] && r->min_rtt <= r->bucket_min[1]);
}

static void sdr_rtt_min_update(struct sdr_rtt *r, uint64_t now, uint64_t rtt)
{
	uint64_t age = now > r->bucket_start ? now - r->bucket_start : 0;

	if (!r->samples || age >= 2 * SDR_RTT_HALF_NS) {
		r->bucket_min[0] = UINT64_MAX;
		r->bucket_min[1] = UINT64_MAX;
		r->bucket_start = now;
	} else if (age >= SDR_RTT_HALF_NS) {
		r->bucket_min[1] = r->bucket_min[0];
		r->bucket_min[0] = UINT64_MAX;
		r->bucket_start += SDR_RTT_HALF_NS;
	}
	if (rtt < r->bucket_min[0])
		r->bucket_min[0] = rtt;
	r->min_rtt = r->bucket_min[0] < r->bucket_min[1] ? r->bucket_min[0] : r->bucket_min[1];
}

void sdr_rtt_sample(struct sdr_rtt *r, uint64_t now, uint64_t rtt, uint64_t delay, bool repeats)
{
	uint64_t err;

	if (!rtt)
		rtt = 1;
	if (rtt > SDR_RTT_MAX_NS)
		rtt = SDR_RTT_MAX_NS;
	if (r->again && delay < rtt) {
		rtt -= delay;
		delay = 0;
	}
	r->again = false;
	sdr_rtt_min_update(r, now, rtt);
	if (delay >= rtt || rtt - delay < r->min_rtt)
		delay = 0;
	rtt -= delay;
	if (!repeats)
		r->waits =
			delay > r->waits ? delay : r->waits - (r->waits - delay) / RTT_WAITS_FADE;
	r->latest = rtt;
	if (!r->samples++) {
		r->srtt = rtt;
		r->rttvar = rtt / 2;
		sdr_rtt_check(r);
		return;
	}
	err = r->srtt > rtt ? r->srtt - rtt : rtt - r->srtt;
	r->rttvar = (3 * r->rttvar + err) / 4;
	r->srtt = (7 * r->srtt + rtt) / 8;
	sdr_rtt_check(r);
}

uint64_t sdr_rtt_rto(const struct sdr_rtt *r)
{
	uint64_t waits = r->waits > SDR_ACK_DELAY_MAX_NS ? r->waits : SDR_ACK_DELAY_MAX_NS;
	uint64_t var = 4 * r->rttvar, least = r->srtt + r->srtt / 8 + waits, rto;

	if (var < r->srtt / 8)
		var = r->srtt / 8;
	if (var < SDR_RTO_VAR_MIN_NS)
		var = SDR_RTO_VAR_MIN_NS;
	rto = r->srtt + var + waits;
	if (rto < SDR_RTO_MIN_NS)
		rto = SDR_RTO_MIN_NS;
	/* The cap must not cut below what was measured. */
	if (rto > SDR_RTO_MAX_NS)
		rto = least > SDR_RTO_MAX_NS ? least : SDR_RTO_MAX_NS;
	SDR_ASSERT(rto > r->srtt && rto >= SDR_RTO_MIN_NS);
	return rto;
}

uint64_t sdr_rtt_min(const struct sdr_rtt *r)
{
	return r->min_rtt == UINT64_MAX ? r->srtt : r->min_rtt;
}
