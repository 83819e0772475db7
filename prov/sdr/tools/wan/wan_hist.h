/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How times are spread: counts in steps of 1.6 %, 0 to 2^40 ns, and the exact maximum.  Adding is a
 * few instructions and no memory; quantiles are the middle of a step.
 */
#ifndef SDR_TOOLS_WAN_HIST_H
#define SDR_TOOLS_WAN_HIST_H

#include <stdint.h>

#define WAN_HIST_FINE 6u /* 2^6 steps to a power of two */
#define WAN_HIST_TOP  40u
#define WAN_HIST_N    ((WAN_HIST_TOP - WAN_HIST_FINE + 1) << WAN_HIST_FINE)

struct wan_hist {
	uint64_t n, max, sum;
	uint32_t count[WAN_HIST_N];
};

void wan_hist_add(struct wan_hist *h, uint64_t v);
void wan_hist_merge(struct wan_hist *to, const struct wan_hist *h);
/* The q-quantile, 0 <= q <= 1; 0 where nothing was added. */
uint64_t wan_hist_at(const struct wan_hist *h, double q);

#endif /* SDR_TOOLS_WAN_HIST_H */
