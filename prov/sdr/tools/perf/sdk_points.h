/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The points of sdr_perf --sdk: what is run, one after the other (sdk_points.c).
 */
#ifndef SDR_PERF_SDK_POINTS_H
#define SDR_PERF_SDK_POINTS_H

#include <stdint.h>

#include "sdr_perf_opt.h"
#include "wire/sdr_limits.h"

#define SDK_POINTS_MAX	 64u
#define SDK_MTU_MAX	 8192u /* payload bytes of a packet */
#define SDK_MTU_MIN	 64u
#define SDK_CHUNK_MAX	 (1u << 30) /* bytes, packets */
#define SDK_CHANNELS_MAX 16u
#define SDK_WORKERS_MAX	 SDR_WORKERS_MAX

struct sdk_point {
	uint64_t size; /* bytes of a message */
	uint32_t mtu;  /* payload bytes of a packet; 0: what the path carries */
	/* of a chunk: bytes, or packets if that is not 0; both 0: the SDK's choice */
	uint32_t chunk, chunk_pkts;
	uint32_t channels, workers, in_flight;
};

/* All points of the options in v, which has room for SDK_POINTS_MAX; or -1 with why. */
int sdk_points(const struct perf_opt *opt, struct sdk_point *v, char *why);
/* -1 with why: makes no sense, or is more than this program does.  What the network says, too. */
int sdk_point_check(const struct sdk_point *p, char *why);
/*
 * The split of the immediate for messages of so many packets, so many in flight: bits of message
 * ID, offset and user's; the default one where that does.  -1: there is none
 */
int sdk_point_split(uint64_t npkts, uint32_t in_flight, uint8_t bits[3]);
/* The names that --sweep takes, for people. */
extern const char sdk_sweep_names[];

#endif /* SDR_PERF_SDK_POINTS_H */
