/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Addresses of the simulated network: their form, and whose they are. */
#ifndef SDR_SIM_ADDR_H
#define SDR_SIM_ADDR_H

#include "sdr_sim_impl.h"

/*
 * An address looks like one of IPv4, so that it can stand in a datagram: the port from bits 8 to 23
 * of the number, the host from the others.
 */
#define SDR_SIM_NET	     0x0a000000u
#define SDR_SIM_PORT	     4791u
#define SDR_SIM_SOURCE_SHIFT 20u /* a node's source k: its number with k in four bits from here */
static inline uint32_t sdr_sim_addr_number(const struct sdr_uc_addr *a)
{
	uint32_t ip = sdr_get_be32(a->b + 3), port = sdr_get_be16(a->b + 1) ^ SDR_SIM_PORT;

	return a->len == 7 ? (ip >> 8 & 0xff) << 24 | port << 8 | (ip & 0xff) : 0;
}

/* The number of a source that the node has. */
static inline uint32_t sdr_sim_source_number(const struct sdr_sim_node *nd, uint32_t source)
{
	return source ? nd->more[source - 1] : nd->addr;
}
/* The source that has this number; -1: none. */
int sdr_sim_source_at(const struct sdr_sim_node *nd, uint32_t number);
/* The node of which a source has that number, and which; -1: none. */
int sdr_sim_node_by_addr(const struct sdr_sim_world *w, uint32_t number, uint32_t *source);
/* The node has so many from now on.  -ENOMEM, -EADDRINUSE. */
int sdr_sim_sources_set(struct sdr_sim_world *w, uint32_t node, uint8_t sources);
/* The table of all numbers is made anew.  -ENOMEM: is as it was. */
int sdr_sim_route_build(struct sdr_sim_world *w);
/* As ops->source. */
void sdr_sim_source(struct sdr_uc *uc, uint32_t source, struct sdr_uc_addr *out);

#endif /* SDR_SIM_ADDR_H */
