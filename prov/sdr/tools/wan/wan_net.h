/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The emulated network: hosts, the lines between them, and what is under way, in virtual time.
 *
 * Packets go in with wan_net_put, at times that do not go back, and come out with wan_net_take at
 * the time at which they are due at their host.  Two shapes: two sides with a line for each
 * direction (and path) between all of their hosts, or a switch with a line in front of each host,
 * its port.  Among several paths the hash of the five-tuple chooses, or where hosts have an
 * interface for each, that by which the packet left.  Hosts of one side reach each other at once.
 *
 * Counters are kept for each direction (or port), each line and each pair of hosts, in phases: a
 * new phase begins with counters at zero.  Ten times in ten milliseconds the time that a packet
 * would have to wait in each queue is noted: what a ping would see.
 *
 * No I/O and no clock; one thread.
 */
#ifndef SDR_TOOLS_WAN_NET_H
#define SDR_TOOLS_WAN_NET_H

#include "wan_hist.h"
#include "wan_line.h"

#define WAN_PATHS_MAX 16u
#define WAN_NAME_MAX  32u
#define WAN_LOOK_NS   1000000u /* how often queues are looked at */

enum wan_shape { WAN_TWO_SIDES, WAN_SWITCH };

/* What happened to packets of a direction; bytes are those of IP packets and --overhead. */
struct wan_count {
	uint64_t in, in_bytes;	 /* came to the queue */
	uint64_t out, out_bytes; /* were delivered */
	uint64_t queue_drops;	 /* found no room, */
	uint64_t late_drops;	 /*	of them after the first second of the direction's phase */
	uint64_t aqm_drops, marks, lost, down, copies, late; /* late: reordered on purpose */
	uint64_t ce_in;					     /* bore a mark already */
	uint64_t first_ns, last_ns; /* arrivals, UINT64_MAX and 0: none; last delivery */
	uint64_t busy_ps;	    /* time that the line was sending */
	uint64_t peak_bytes;	    /* longest queue */
};

struct wan_group {
	struct wan_count c;
	struct wan_hist sojourn; /* of packets that were sent */
	struct wan_hist wait;	 /* as seen every WAN_LOOK_NS, from the first packet to the last */
};

struct wan_pair { /* of hosts; or what a line carried */
	uint64_t in, in_bytes, out, out_bytes, drops, lost, marks;
};

struct wan_phase {
	char name[WAN_NAME_MAX];
	uint64_t begin_ns, end_ns;
	struct wan_group *group; /* groups of them */
	struct wan_pair *pair;	 /* hosts * hosts, [src * hosts + dst] */
	struct wan_pair *path;	 /* of each line */
	struct wan_phase *next;
};

struct wan_event {
	uint64_t due;
	uint64_t seq;
	struct wan_pkt *pkt;
};

struct wan_net {
	struct wan_names names;
	uint16_t hosts, groups, paths;
	uint8_t shape;
	struct wan_line *line; /* [group * paths + path] */
	struct wan_event *heap;
	uint32_t n, cap;
	uint64_t seq, look_ns;
	struct wan_pool pool;
	struct wan_phase *first, *now; /* phases */
	uint64_t strange;	       /* packets to no host, or none at all */
	void *user;
	/* a look at the queues, if not NULL; after all that was before */
	void (*looked)(void *user, uint64_t now);
};

/* -1: no memory. */
int wan_net_init(struct wan_net *net, enum wan_shape shape, const struct wan_names *names,
		 uint16_t paths, uint64_t seed);
void wan_net_free(struct wan_net *net);
/* The line of a direction or port and a path. */
struct wan_line *wan_net_line(struct wan_net *net, uint16_t group, uint16_t path);
/* From now on; what has left the queue keeps its time. */
void wan_net_set(struct wan_net *net, uint64_t now, uint16_t group, uint16_t path,
		 const struct wan_link *cfg);
/* A packet of host src, as from wan_pkt_cut, alone (not its list). */
void wan_net_put(struct wan_net *net, uint64_t now, uint16_t src, struct wan_pkt *p);
/* Handles all that happens up to now. */
void wan_net_run(struct wan_net *net, uint64_t now);
/* The next packet that is due at or before now, the caller's from then on; NULL: none. */
struct wan_pkt *wan_net_take(struct wan_net *net, uint64_t now, uint64_t *due);
/* When something may be due next; UINT64_MAX: nothing is under way. */
uint64_t wan_net_next(const struct wan_net *net);
/* Ends the phase and begins another; -1: no memory. */
int wan_net_phase(struct wan_net *net, uint64_t now, const char *name);
/* "ab", "ba"; of a switch the port's host, "a3". */
void wan_net_group_name(const struct wan_net *net, uint16_t group, char out[WAN_NAME_MAX]);
void wan_net_host_name(const struct wan_net *net, uint16_t host, char out[WAN_NAME_MAX]);
/* -1: no host has that name. */
int wan_net_host_find(const struct wan_names *names, const char *name);

#endif /* SDR_TOOLS_WAN_NET_H */
