/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What --lane says of one of a connection's paths: where it differs from what the others are. */
#ifndef SDR_TOOLS_SIM_LANE_H
#define SDR_TOOLS_SIM_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_bed.h"

enum sim_lane_key {
	SIM_LANE_BANDWIDTH, /* as --bandwidth, bits per second */
	SIM_LANE_RTT,	    /* s */
	SIM_LANE_LOSS,
	SIM_LANE_REVERSE, /* loss on the way back */
	SIM_LANE_JITTER,  /* s */
	SIM_LANE_QUEUE,	  /* bytes */
	SIM_LANE_DEAD,	  /* s, after the begin of each run */
	SIM_LANE_KEYS
};

struct sim_lane {
	uint32_t given; /* a bit for each key */
	double value[SIM_LANE_KEYS];
	double burst;	  /* of LOSS, packets; 0: independent */
	double dead_to_s; /* until when DEAD */
};

static inline bool sim_lane_has(const struct sim_lane *l, enum sim_lane_key key)
{
	return l->given >> key & 1;
}
static inline double sim_lane_or(const struct sim_lane *l, enum sim_lane_key key, double other)
{
	return sim_lane_has(l, key) ? l->value[key] : other;
}

/* "K:key=value,...", for lane K.  Exits with TOOL_USAGE and the reason unless it makes sense. */
void sim_lane_read(struct sim_lane lane[SDR_PATHS_MAX], const char *s);
/*
 * The links of the lane, from those of the path; wire: bits on the line for each of the bandwidth.
 * lossless: nothing but rate and distance.
 */
void sim_lane_links(const struct sim_lane *l, double wire, bool lossless, struct sim_bed_lane *out);

#endif /* SDR_TOOLS_SIM_LANE_H */
