/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Random lanes for sdr_props: see props_lanes.c. */
#ifndef PROPS_LANES_H
#define PROPS_LANES_H

#include "../bed/simnet.h"

/* seeds with this bit have connections of several paths; without it there is one each */
#define PROPS_LANES_SEED (1ull << 32)
#define PROPS_LANES_MAX	 8u

struct props_lanes {
	bool on, clean, narrow;
	uint64_t rng;	   /* of its own, so that the rest of a seed is the same without */
	uint64_t quiet_at; /* when the last of them is back */
};

/* Before the endpoints open: how many sources each node has.  clean: nothing may be lost. */
void props_lanes_draw(struct props_lanes *pl, struct simnet_cfg *c, bool clean);
/* When the links are set: what each lane has of its own. */
void props_lanes_set(struct props_lanes *pl, struct simnet *sn);
/* The network heals; delays, rates and what lanes carry stay. */
void props_lanes_heal(const struct props_lanes *pl, struct simnet *sn);
/*
 * Clean lanes: none of them was given up; and nothing went again but what came before its receive
 * was bound, since messages match in order and the record in front may be on a longer lane.
 */
void props_lanes_check(const struct props_lanes *pl, struct simnet *sn);
void props_lanes_print(const struct props_lanes *pl, const struct simnet_cfg *c);

#endif /* PROPS_LANES_H */
