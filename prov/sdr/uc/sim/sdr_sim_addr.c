/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Addresses of the simulated network: whose a number is.
 *
 * Every source of every node has a number, and one hash table knows them all; it is made anew when
 * a node moves or opens with another number of sources, and looked into for each packet.  The
 * numbers of a node's sources differ from its own in four bits of the port, so that they are of one
 * host; a source that was moved alone has any.  No time, no packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

#define SDR_SIM_ROUTE_NODE 0xffffu /* an entry: node + 1, and the source above it */

static inline uint32_t sdr_sim_route_hash(uint32_t number)
{
	return (number * 0x9e3779b1u) >> 7;
}

static void sdr_sim_route_enter(uint32_t *route, uint32_t mask, uint32_t number, uint32_t entry)
{
	uint32_t i = sdr_sim_route_hash(number) & mask;

	while (route[i])
		i = (i + 1) & mask;
	route[i] = entry;
}

int sdr_sim_route_build(struct sdr_sim_world *w)
{
	uint32_t size = 4, all = 0, *route;

	for (uint32_t n = 0; n < w->attr.nodes; n++)
		all += w->nodes[n].sources;
	while (size < 2 * all)
		size *= 2;
	route = calloc(size, sizeof(*route));
	if (!route)
		return -ENOMEM;
	for (uint32_t n = 0; n < w->attr.nodes; n++) {
		const struct sdr_sim_node *nd = &w->nodes[n];

		for (uint32_t k = 0; k < nd->sources; k++)
			sdr_sim_route_enter(route, size - 1, sdr_sim_source_number(nd, k),
					    SDR_SIM_LANE(n + 1, k));
	}
	free(w->route);
	w->route = route;
	w->route_mask = size - 1;
	return 0;
}

int sdr_sim_node_by_addr(const struct sdr_sim_world *w, uint32_t number, uint32_t *source)
{
	uint32_t i = sdr_sim_route_hash(number) & w->route_mask, node;

	for (; w->route[i]; i = (i + 1) & w->route_mask) {
		node = (w->route[i] & SDR_SIM_ROUTE_NODE) - 1;
		*source = w->route[i] >> 16;
		if (sdr_sim_source_number(&w->nodes[node], *source) == number)
			return (int)node;
	}
	*source = 0;
	return -1;
}

int sdr_sim_source_at(const struct sdr_sim_node *nd, uint32_t number)
{
	for (uint32_t k = 0; k < nd->sources; k++)
		if (sdr_sim_source_number(nd, k) == number)
			return (int)k;
	return -1;
}

/* ---- what a node is called ------------------------------------------------------------------- */

void sdr_sim_addr_make(uint32_t number, struct sdr_uc_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->len = 7;
	addr->b[0] = 4;
	sdr_put_be16(addr->b + 1, (uint16_t)(number >> 8 & 0xffff) ^ SDR_SIM_PORT);
	sdr_put_be32(addr->b + 3, SDR_SIM_NET | (number >> 24 << 8) | (number & 0xff));
}

void sdr_sim_node_addr(const struct sdr_sim_world *w, uint32_t node, struct sdr_uc_addr *addr)
{
	const struct sdr_sim_node *nd = &w->nodes[sdr_sim_lane_node(node)];
	uint32_t source = sdr_sim_lane_of(node);

	if (source < nd->sources)
		sdr_sim_addr_make(sdr_sim_source_number(nd, source), addr);
	else
		memset(addr, 0, sizeof(*addr));
}

void sdr_sim_source(struct sdr_uc *uc, uint32_t source, struct sdr_uc_addr *out)
{
	const struct sdr_sim_eng *e = sdr_sim_eng(uc);

	sdr_sim_node_addr(e->w, SDR_SIM_LANE(e->node, source), out);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Nobody but the node has them: all of them with the number of source 0. */
static bool sdr_sim_numbers_free(const struct sdr_sim_world *w, uint32_t node, uint32_t number,
				 uint32_t sources)
{
	uint32_t source;
	int holder;

	for (uint32_t k = 0; k < sources; k++) {
		holder = sdr_sim_node_by_addr(w, number ^ k << SDR_SIM_SOURCE_SHIFT, &source);
		if (holder >= 0 && holder != (int)node)
			return false;
	}
	return true;
}

static int sdr_sim_numbers_set(struct sdr_sim_world *w, uint32_t node, uint32_t number)
{
	struct sdr_sim_node *nd = &w->nodes[node];

	nd->addr = number;
	for (uint32_t k = 1; k < nd->sources; k++)
		nd->more[k - 1] = number ^ k << SDR_SIM_SOURCE_SHIFT;
	return sdr_sim_route_build(w);
}

int sdr_sim_sources_set(struct sdr_sim_world *w, uint32_t node, uint8_t sources)
{
	struct sdr_sim_node *nd = &w->nodes[node];
	uint32_t *more = NULL;

	if (sources == nd->sources)
		return 0;
	if (!sdr_sim_numbers_free(w, node, nd->addr, sources))
		return -EADDRINUSE;
	if (sources > 1) {
		more = calloc(sources - 1u, sizeof(*more));
		if (!more)
			return -ENOMEM;
	}
	free(nd->more);
	nd->more = more;
	nd->sources = sources;
	return sdr_sim_numbers_set(w, node, nd->addr);
}

int sdr_sim_node_rebind(struct sdr_sim_world *w, uint32_t packed, uint32_t number)
{
	uint32_t node = sdr_sim_lane_node(packed), source = sdr_sim_lane_of(packed), had;
	struct sdr_sim_node *nd;
	int holder;

	if (node >= w->attr.nodes || !number)
		return -EINVAL;
	nd = &w->nodes[node];
	if (source >= nd->sources)
		return -EINVAL;
	if (!source) {
		if (!sdr_sim_numbers_free(w, node, number, nd->sources))
			return -EADDRINUSE;
		return sdr_sim_numbers_set(w, node, number);
	}
	holder = sdr_sim_node_by_addr(w, number, &had);
	if (holder >= 0)
		return holder == (int)node && had == source ? 0 : -EADDRINUSE;
	nd->more[source - 1] = number;
	return sdr_sim_route_build(w);
}
