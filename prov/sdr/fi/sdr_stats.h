/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_SDR_STATS: an endpoint's counters at its end (sdr_stats.c).
 */
#ifndef SDR_STATS_H
#define SDR_STATS_H

struct sdr_ep;

void sdr_stats_dump(struct sdr_ep *ep);

#endif /* SDR_STATS_H */
