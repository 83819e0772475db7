/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The rate somebody provisioned.  The window is no control, only a bound on memory and on what a
 * dead path swallows: twice what the rate puts into the longest round trip seen (a lost packet is
 * in flight for two), acknowledgement delay included, and the receiver's buffer.  Losses and
 * timeouts change nothing.
 */
#include "sdr_cc_impl.h"

#define SDR_CC_FIXED_RTT_MAX (2 * 1000000000ull) /* ns: no longer round trip is believed */

void sdr_cc_fixed_update(struct sdr_cc *cc)
{
	uint64_t rtt = cc->srtt_max ? cc->srtt_max : cc->rtt_guess;

	if (rtt > SDR_CC_FIXED_RTT_MAX)
		rtt = SDR_CC_FIXED_RTT_MAX;
	rtt += SDR_ACK_DELAY_MAX_NS;
	cc->pacing_Bps = cc->fixed_Bps;
	cc->cwnd = (uint64_t)(2.0 * (double)cc->fixed_Bps * (double)rtt / SDR_CC_NS_PER_S) +
		   cc->rx_window;
	if (cc->cwnd < cc->first_win)
		cc->cwnd = cc->first_win;
}
