/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rivals: flows of TCP's kind over the simulated network, to share a bottleneck with sdr's.
 *
 * A rival always has something to send.  What it sends has no bytes: a packet has a number of its
 * own, a lost one is made up for by the next, and every packet that arrives counts as delivered
 * once.  Its controller is a struct sdr_cc_ops by a published law (rival_table), so that the same
 * object runs in a unit test.  The rest is what the kernel's TCP does on such a path: an
 * acknowledgement for every second packet, at once when one is missing; a packet is lost when three
 * that were sent later have come; a probe of the tail after two round trips, a timeout after 200 ms
 * and a round trip; bursts of a millisecond's worth up to 64 KiB (segmentation offload), which a
 * window that opens is waited for; pacing where the controller asks for it.
 */
#ifndef SDR_TOOLS_RIVAL_H
#define SDR_TOOLS_RIVAL_H

#include "rel/path/sdr_cc_ops.h"
#include "uc/sim/sdr_sim.h"

#define RIVAL_HEADERS 52u /* bytes of IPv4 and TCP with time stamps */

extern const struct sdr_cc_ops rival_cubic;
extern const struct sdr_cc_ops rival_reno;
extern const struct sdr_cc_ops rival_bbr;
extern const struct sdr_cc_ops rival_bbr3;

/* All of them; ends with NULL. */
extern const struct sdr_cc_ops *const rival_table[];
/* NULL: there is none of that name. */
const struct sdr_cc_ops *rival_find(const char *name);

struct rival_attr {
	struct sdr_sim_world *world;
	uint32_t from, to; /* nodes, without engines */
	uint32_t path_mtu; /* bytes of a full IP packet */
	const struct sdr_cc_ops *cc;
	bool ecn; /* its packets may be marked; a mark counts as a loss does */
};

struct rival_stats {
	uint64_t sent, delivered, lost; /* packets; lost: taken for it */
	uint64_t bytes;			/* delivered, without headers */
	uint64_t probes, timeouts;
	uint64_t cwnd, pacing_Bps, srtt, min_rtt; /* now: bytes, ns */
};

struct rival;

/* 0 or a negative errno.  It is to be closed when the world moves no more. */
int rival_open(const struct rival_attr *attr, struct rival **out);
void rival_close(struct rival *r);
/* Sends from now on. */
void rival_start(struct rival *r);
void rival_stats_get(const struct rival *r, struct rival_stats *st);

#endif /* SDR_TOOLS_RIVAL_H */
