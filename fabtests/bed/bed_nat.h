/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Address translators in front of nodes of a bed (struct bed, hook translate).
 *
 * A node behind one has an address that nobody outside can send to: packets that it sends get an
 * outside address, one a destination, and what comes back to that, from there, reaches it.  A
 * mapping that was idle for longer than its life is gone.  A forwarded address always reaches its
 * node, from anywhere.
 */
#ifndef BED_NAT_H
#define BED_NAT_H

#include "bed.h"

#define BED_NAT_MAPS 256u

struct bed_nat_map {
	uint32_t node, to; /* from this node, to that address, as the node sends */
	uint32_t out;	   /* the address that the packet gets */
	uint64_t used;	   /* ns */
};

struct bed_nat {
	struct bed *b;
	bool behind[BED_NODES];
	uint32_t forward[BED_NODES]; /* an address that reaches it; 0: none */
	bool keeps[BED_NODES];	     /* and what it sends gets that one, not a new one */
	uint64_t life;		     /* ns of a mapping; 0: for ever */
	struct bed_nat_map map[BED_NAT_MAPS];
	uint32_t n, next;
};

/* Before bed_boot: node i is behind a translator, and says that its name is `name` (0: none). */
void bed_nat_init(struct bed_nat *t, struct bed *b);
void bed_nat_behind(struct bed_nat *t, uint32_t node, uint32_t name);
void bed_nat_forget(struct bed_nat *t); /* all mappings: what comes next gets new ones */
/* The address that a node has outside, for that destination; 0: none. */
uint32_t bed_nat_out(const struct bed_nat *t, uint32_t node, uint32_t to);

#endif /* BED_NAT_H */
