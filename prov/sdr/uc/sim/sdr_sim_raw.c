/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Nodes without an engine, and the packets that they send each other: flows of other protocols,
 * which the caller plays.
 *
 * A packet has no bytes, only a length on the wire and two numbers (in va and imm, psn), and goes
 * the way of all others.  What arrives is given to the node's function in the same instant.
 */
#include <errno.h>
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

int sdr_sim_raw_open(struct sdr_sim_world *w, uint32_t node,
		     void (*fn)(void *user, const struct sdr_sim_raw *r), void *user)
{
	struct sdr_sim_node *nd;

	if (node >= w->attr.nodes || !fn)
		return -EINVAL;
	nd = &w->nodes[node];
	if (nd->eng || nd->raw)
		return -EBUSY;
	nd->raw = fn;
	nd->raw_user = user;
	return 0;
}

int sdr_sim_raw_send(struct sdr_sim_world *w, uint32_t from, uint32_t to,
		     const struct sdr_sim_raw *r)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, from, to);
	struct sdr_sim_packet *p;

	if (!l)
		return sdr_sim_lnk_err(w, from, to);
	from = sdr_sim_lane_node(from);
	p = sdr_sim_packet_get(w, 0);
	if (!p)
		return -ENOMEM;
	p->kind = SDR_SIM_RAW;
	p->ecn = r->ecn;
	p->wire = r->wire;
	p->va = r->a;
	p->imm = (uint32_t)r->b;
	p->rkey = (uint32_t)(r->b >> 32);
	p->from = w->nodes[from].addr;
	p->to = w->nodes[to].addr;
	p->src = (uint16_t)from;
	p->dst = (uint16_t)to;
	p->lane = l->lane;
	if (w->nodes[from].dead) {
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_NOROUTE);
		return 0;
	}
	sdr_sim_lnk_send(w, l, p);
	return 0;
}

void sdr_sim_raw_arrive(struct sdr_sim_world *w, struct sdr_sim_packet *p)
{
	struct sdr_sim_node *nd = &w->nodes[p->dst];
	struct sdr_sim_raw r = {
		.a = p->va, .b = (uint64_t)p->rkey << 32 | p->imm, .wire = p->wire, .ecn = p->ecn
	};
	bool taken = nd->raw && !nd->dead && sdr_sim_source_at(nd, p->to) >= 0;

	if (p->flags & SDR_SIM_P_CORRUPT)
		taken = false;
	sdr_sim_trace(w, taken ? SDR_SIM_T_ARRIVED : SDR_SIM_T_NOROUTE, p);
	sdr_sim_packet_put(w, p);
	if (taken)
		nd->raw(nd->raw_user, &r);
}
