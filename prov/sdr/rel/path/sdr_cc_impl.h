/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What sdr_cc.c and its two algorithms share.  Not for others. */
#ifndef SDR_CC_IMPL_H
#define SDR_CC_IMPL_H

#include "sdr_cc.h"

#define SDR_CC_NS_PER_S 1e9
/* of the receiver's buffer: the rest is for control datagrams and bursts */
#define SDR_CC_RX_SHARE 0.9
#define SDR_CC_MIN_PKTS 4u /* packets that may always be in flight */

struct sdr_cc_rate {
	uint64_t bw; /* delivery rate, bytes a second; 0: no valid sample */
	bool app_limited;
	bool round_start; /* the packet acknowledged was sent after the last round ended */
};

void sdr_cc_bbr_init(struct sdr_cc *cc, uint64_t now);
void sdr_cc_bbr_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		      const struct sdr_cc_rate *rate);
void sdr_cc_bbr_timeout(struct sdr_cc *cc, uint64_t now);
void sdr_cc_fixed_update(struct sdr_cc *cc);

#endif
