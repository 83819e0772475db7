/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The state of `bbr` in sdr_cc.state.  For sdr_cc_bbr.c and its tests; no other code looks inside.
 */
#ifndef SDR_CC_BBR_H
#define SDR_CC_BBR_H

#include "rel/path/sdr_cc.h"

#define SDR_BBR_BW_WINDOW 10 /* rounds over which the largest delivery rate is kept */

enum sdr_bbr_phase { SDR_BBR_STARTUP, SDR_BBR_DRAIN, SDR_BBR_PROBE_BW, SDR_BBR_PROBE_RTT };

struct sdr_bbr {
	enum sdr_bbr_phase state;
	uint32_t cycle; /* PROBE_BW: place in the cycle of gains */
	double pacing_gain;
	/* bandwidth filter, bytes per second */
	uint64_t bw[SDR_BBR_BW_WINDOW]; /* the largest of each round */
	uint64_t max_bw;		/* largest of bw[]; 0 unknown */
	uint64_t bw_stamp;		/* when its last round began, ns */
	uint32_t bw_round;		/* rounds that it counted */
	/* startup */
	uint32_t full_count; /* rounds without growth */
	uint64_t full_bw;    /* largest rate that was a growth */
	/* the minimum RTT, ns */
	uint64_t min_rtt_stamp, phase_stamp, probe_rtt_done, probe_rtt_min;
	/* this round and the last: bytes, bytes per second */
	uint64_t round_lost, round_delivered, round_bw, last_round_bw;
	double loss; /* share of bytes, smoothed over rounds */
	/* guard: ns; guard_bw bytes per second, before the cut */
	uint64_t guard_bw, guard_stamp, guard_off_until, cut_until;
	uint64_t cut_win;  /* bytes, until cut_until */
	uint64_t cut_hold; /* ns */
	uint32_t hot_rounds, cold_rounds;
	double guard_loss; /* the loss that led to the cut */
};

static inline struct sdr_bbr *sdr_bbr_state(struct sdr_cc *cc)
{
	return (struct sdr_bbr *)(void *)cc->state;
}

static inline const struct sdr_bbr *sdr_bbr_look(const struct sdr_cc *cc)
{
	return (const struct sdr_bbr *)(const void *)cc->state;
}

#endif /* SDR_CC_BBR_H */
