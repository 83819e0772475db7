/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A bottleneck: a queue in front of a line that has a rate, in virtual time.
 *
 * Time is a parameter and all times are computed from arrivals and from the time at which the line
 * becomes free, never from when the caller came: a caller that comes late finds the same
 * departures, waiting times, drops and marks.  It has to come in order: wan_line_leave until it
 * returns NULL, up to the time of the next arrival, then wan_line_put.  A packet on the line at a
 * change of the rate keeps the time it has.
 *
 * Room is counted in waiting bytes, with what is left of the packet on the line; a packet finds
 * room when nothing waits or it fits, as nothing larger than the queue could ever go otherwise.
 */
#ifndef SDR_TOOLS_WAN_LINE_H
#define SDR_TOOLS_WAN_LINE_H

#include "wan_aqm.h"
#include "wan_loss.h"
#include "wan_pkt.h"

struct wan_line {
	struct wan_link cfg;
	struct wan_pkt *head, **end;
	uint64_t bytes;	   /* of the packets that wait */
	uint64_t free_ps;  /* when the line will have sent what is on it */
	uint64_t free_bps; /* its rate then */
	struct wan_aqm aqm;
	struct wan_loss loss;
	uint64_t rng; /* of what happens behind the line */
	uint64_t last_due_ns;
};

/* How a packet left the queue. */
struct wan_left {
	uint64_t start_ps, end_ps; /* on the line; end is start when it was dropped */
	uint64_t sojourn_ns;
	enum wan_fate fate; /* MARK: and the packet bears it */
};

void wan_line_init(struct wan_line *l, const struct wan_link *cfg, uint64_t seed);
/* False: no room, and the packet is the caller's as before. */
bool wan_line_put(struct wan_line *l, uint64_t now, struct wan_pkt *p);
/* The next packet that leaves the queue at or before now; NULL: none does. */
struct wan_pkt *wan_line_leave(struct wan_line *l, uint64_t now, struct wan_left *left);
/* When the packet at the head will have been sent, ns; UINT64_MAX: nothing waits. */
uint64_t wan_line_next(const struct wan_line *l);
/* Bytes that wait at now, with what is left of the packet on the line; time they take. */
uint64_t wan_line_backlog(const struct wan_line *l, uint64_t now);
uint64_t wan_line_wait(const struct wan_line *l, uint64_t now);
/* When a packet that ends on the line at end_ps is there: delay, jitter, reordering. */
uint64_t wan_line_due(struct wan_line *l, uint64_t end_ps);

#endif /* SDR_TOOLS_WAN_LINE_H */
