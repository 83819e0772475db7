/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A bed: simulated nodes in a ring that run the real transport (sim_eps.h), and their memory.
 *
 * Node i has connections to the next node (i + 1) and to the one before it; two nodes are a pair.
 * Data flow forward, from i to i + 1; what forward links do to packets and what backward links do
 * is given apart.  In a pair whose nodes both send, both links are forward ones.  Nodes may have
 * several sources; then links have lanes (sdr_sim.h), which may be given apart, too.
 *
 * A failure (of an operation, of the simulation) is kept as a text in eps.why; from then on nothing
 * moves.  One thread per bed.
 */
#ifndef SDR_TOOLS_SIM_BED_H
#define SDR_TOOLS_SIM_BED_H

#include "sim_eps.h"

#define SIM_NS 1e9

struct sim_trace;

/* A lane of all links, and from when to when after sim_bed_outages it is dead; 0, 0: never. */
struct sim_bed_lane {
	struct sdr_sim_link forward, backward;
	uint64_t dead_from_ns, dead_to_ns;
};

struct sim_bed_attr {
	uint64_t seed;	    /* of everything random */
	uint32_t nodes;	    /* 2..SDR_SIM_NODES_MAX */
	uint32_t mtu;	    /* payload bytes of a packet */
	uint64_t tick_ns;   /* packets wait at most so long for the node that they have reached */
	uint64_t mem_len;   /* bytes of the longest message */
	uint32_t mem_slots; /* messages of a node under way at a time, each direction, >= 1 */
	bool two_way;	    /* a pair: both links are forward ones */
	bool verify;	    /* packets carry bytes, buffers are real */
	struct sdr_sim_link forward, backward;
	uint8_t sources;		 /* of each node; 0: 1 */
	uint32_t lanes;			 /* so many are given apart; 0: all are as the links */
	const struct sim_bed_lane *lane; /* read while it is open */
	struct sdr_rel_cfg cfg;
	struct sim_trace *trace; /* NULL: none */
};

struct sim_bed;

/* One posted send or receive.  The caller's, until it is done. */
struct sim_op {
	bool done;
	uint64_t post_ns, done_ns;
};

struct sim_node {
	struct sim_bed *bed;
	struct sim_ep *ep;
	struct sdr_peer *next, *prev;
	char *tx, *rx; /* mem_slots * mem_len bytes each; may be touched with verify only */
};

struct sim_bed {
	struct sim_bed_attr a;
	struct sim_eps eps;
	struct sim_node *node;
	uint64_t rng;
	uint64_t areas; /* bytes of a node's tx and of its rx */
};

/* False: failed; close it all the same. */
bool sim_bed_open(struct sim_bed *b, const struct sim_bed_attr *attr);
void sim_bed_close(struct sim_bed *b);
uint64_t sim_bed_rand(struct sim_bed *b);
uint64_t sim_bed_now(const struct sim_bed *b);
/* Lanes that die now and then do so after this moment. */
void sim_bed_outages(struct sim_bed *b);
/* Packets that have entered any link. */
uint64_t sim_bed_packets(struct sim_bed *b);

/* Slot 0..mem_slots - 1 of the node's memory; len <= mem_len. */
void sim_bed_send(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len, struct sim_op *op);
void sim_bed_recv(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len, struct sim_op *op);

/* All work that is due now. */
void sim_bed_work(struct sim_bed *b);
/* On to the next moment at which there is some, but not beyond until; and the work. */
void sim_bed_move(struct sim_bed *b, uint64_t until);

#endif /* SDR_TOOLS_SIM_BED_H */
