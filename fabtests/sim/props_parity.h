/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Devices that get parity, for sdr_props: see props_parity.c. */
#ifndef PROPS_PARITY_H
#define PROPS_PARITY_H

#include "../bed/simnet.h"

/* seeds with this bit have devices that get parity */
#define PROPS_PARITY_SEED (1ull << 33)
/* with this one, berths that hold the heads of transfers only: with or without parity */
#define PROPS_HEADS_SEED (1ull << 34)

struct props_parity {
	bool on, heads;
	uint64_t rng;	/* of its own */
	uint64_t early; /* times that devices wrote what was under way to them */
};

/* Before the endpoints open: which nodes are devices, and the code. */
void props_parity_draw(struct props_parity *pp, struct simnet_cfg *c);
/* Lengths of transfers, instead of others.  Returns how many. */
uint32_t props_parity_sizes(const struct props_parity *pp, uint64_t *sizes);
/* When a link is set: packets overtake each other, by much. */
void props_parity_set(struct props_parity *pp, struct sdr_sim_link *l);
/* While symbols are made: devices may write what is under way to them. */
void props_parity_pass(struct props_parity *pp, struct simnet *sn);

#endif /* PROPS_PARITY_H */
