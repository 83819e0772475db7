/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Lines that links of the simulated network share; a part of sdr_sim.h, which includes it. */
#ifndef SDR_SIM_LINE_H
#define SDR_SIM_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_sim_world;

/*
 * A line with a queue in front of it, which any number of links lead through: a bottleneck.  Its
 * packets leave one after the other in the order in which they came.  What waits besides the packet
 * that is being sent counts for queue_bytes; a packet that finds nothing waiting is taken whatever
 * its length.  Loss here takes packets of all links alike: each has used its time on the line.
 * Bursts are stretches of time, in slots of ge_bytes.
 *
 * What the line does to a packet beyond that is decided when it begins to be sent, from the time
 * that it has waited:
 *
 *    CoDel (RFC 8289)  more than target for a whole interval: packets are dropped, ever closer to
 *                      each other until the wait is shorter.  Packets that can carry a mark are
 *                      marked instead.
 *    mark_ns           who has waited longer and can carry a mark is marked; others are let alone.
 */
#define SDR_SIM_LINES_MAX 64u
struct sdr_sim_line {
	uint64_t rate_bps;    /* wire bits per second, not 0 */
	uint64_t queue_bytes; /* 0: unlimited */
	double loss;	      /* probability a packet, independent */
	double ge_loss;	      /* share of packets that bursts take */
	double ge_burst;      /*	and mean length of a burst, packets of ge_bytes */
	uint32_t ge_bytes;    /* wire; 0: 1500 */
	bool ge_packets;      /* bursts are counted in packets instead, whatever their length */
	uint64_t codel_target_ns, codel_interval_ns; /* interval 0: no CoDel */
	uint64_t mark_ns;			     /* 0: no step marking */
};

struct sdr_sim_line_stats {
	uint64_t in, in_bytes;	 /* that came, wire bytes */
	uint64_t out, out_bytes; /* that were sent, lost ones included */
	uint64_t dropped;	 /* no room */
	uint64_t aqm_dropped, marked, lost;
	uint64_t queue_peak; /* bytes */
};

/* The number of a new line; -EINVAL: no rate, or too many; -ENOMEM. */
int sdr_sim_line_add(struct sdr_sim_world *w, const struct sdr_sim_line *cfg);
/* What waits stays, and goes at the new rate; the packet that is being sent goes at the old one. */
int sdr_sim_line_set(struct sdr_sim_world *w, uint32_t line, const struct sdr_sim_line *cfg);
int sdr_sim_line_set_at(struct sdr_sim_world *w, uint64_t when, uint32_t line,
			const struct sdr_sim_line *cfg);
void sdr_sim_line_get(const struct sdr_sim_world *w, uint32_t line, struct sdr_sim_line *cfg);
void sdr_sim_line_stats(const struct sdr_sim_world *w, uint32_t line,
			struct sdr_sim_line_stats *out);
/* The link leads through the line from now on.  Before its first packet. */
int sdr_sim_link_line(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint32_t line);
/* Time (ns) that a packet would wait which came now, and bytes that wait. */
uint64_t sdr_sim_line_wait(const struct sdr_sim_world *w, uint32_t line);
uint64_t sdr_sim_line_backlog(const struct sdr_sim_world *w, uint32_t line);

#endif /* SDR_SIM_LINE_H */
