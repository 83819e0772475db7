/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `fixed`: the rate that the line's owner provides.  The window is no control, only a bound on
 * memory and on what a dead path swallows: twice what the rate puts into the longest round trip
 * seen (a lost packet is in flight for two), acknowledgement delay included, and the receiver's
 * buffer.  No guess slows a provisioned link: losses and timeouts change nothing.
 */
#include "rel/path/sdr_cc_ops.h"

#define SDR_CC_FIXED_RTT_MAX (2 * 1000000000ull) /* ns: no longer round trip is believed */

struct sdr_cc_fixed {
	uint64_t rate_Bps; /* bytes per second on the wire */
	uint64_t srtt_max; /* ns; 0 unknown */
};

_Static_assert(sizeof(struct sdr_cc_fixed) <= SDR_CC_STATE_MAX,
	       "the state of fixed must fit into sdr_cc");

static void sdr_fixed_output(struct sdr_cc *cc, const struct sdr_cc_fixed *f)
{
	uint64_t rtt = f->srtt_max ? f->srtt_max : cc->rtt_guess;

	if (rtt > SDR_CC_FIXED_RTT_MAX)
		rtt = SDR_CC_FIXED_RTT_MAX;
	rtt += SDR_ACK_DELAY_MAX_NS;
	cc->pacing_Bps = f->rate_Bps;
	cc->cwnd = (uint64_t)(2.0 * (double)f->rate_Bps * (double)rtt / SDR_CC_NS_PER_S) +
		   cc->rx_window;
	if (cc->cwnd < cc->first_win)
		cc->cwnd = cc->first_win;
}

static void sdr_fixed_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	struct sdr_cc_fixed *f = (void *)cc->state;

	(void)now;
	f->rate_Bps = cfg->rate_bps / 8;
	sdr_fixed_output(cc, f);
}

static void sdr_fixed_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			    const struct sdr_cc_rate *rate)
{
	struct sdr_cc_fixed *f = (void *)cc->state;

	(void)ack;
	(void)rate;
	if (cc->srtt > f->srtt_max)
		f->srtt_max = cc->srtt;
	sdr_fixed_output(cc, f);
}

static void sdr_fixed_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)cc;
	(void)now;
}

const struct sdr_cc_ops sdr_cc_fixed = {
	.name = "fixed",
	.provisioned = true,
	.coarse = true,
	.init = sdr_fixed_init,
	.acked = sdr_fixed_acked,
	.timeout = sdr_fixed_timeout,
};
