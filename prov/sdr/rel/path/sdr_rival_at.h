/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A round that is over, as those see it who look for rivals and hold our own beside them:
 * sdr_rival.c and its parts.
 */
#ifndef SDR_RIVAL_AT_H
#define SDR_RIVAL_AT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define SDR_RIVAL_NS_PER_S 1e9
/* of the target, or of those with little: longer than what a crowd of flows like us would keep */
#define SDR_RIVAL_LONG 3.0
#define SDR_RIVAL_GONE 0.5   /* of the target: the queue has gone */
#define SDR_RIVAL_LOST 0.005 /* of a round, beyond the weather: it counts */
/* ns: shorter round trips are those of hosts and not of paths */
#define SDR_RIVAL_RTT_NS (2 * 1000000ull)

struct sdr_rival_at {
	uint64_t now;
	uint64_t base, queue, target; /* ns; see sdr_qdelay.h, sdr_auto_target() */
	uint32_t drains;	      /* of ours until now */
	uint64_t few;		      /* target of a flow that has a twentieth of the path, ns */
	uint32_t mtu;		      /* bytes */
	uint64_t bw;		      /* delivery rate, bytes per second; 0: none */
	double bytes, lost;	      /* decided in it; lost: beyond the weather */
	bool app_limited;
	/* by a train that was asked for: what the path passes, bytes a second; so many have told */
	uint64_t train_Bps;
	uint32_t trains;
	/* so many flows, this one included, are to have what one has; 0: as 1 */
	uint32_t together;
	uint64_t random;
};

/* The round trip, seconds. */
static inline double sdr_rival_trip(const struct sdr_rival_at *at)
{
	return (double)(at->base + at->queue) / SDR_RIVAL_NS_PER_S;
}

/* Of a queue, ns. */
static inline double sdr_rival_long(const struct sdr_rival_at *at)
{
	return SDR_RIVAL_LONG * fmin((double)at->target, (double)at->few);
}

#endif /* SDR_RIVAL_AT_H */
