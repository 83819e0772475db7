/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long packets may be on the simulated network, and who learns of it.
 *
 * A link drops what is longer than its mtu (sdr_sim_link.c); with icmp the sender is told, by a
 * packet of its own kind that arrives as others do, unless a blackout or the link's loss takes it.
 * It has no length, takes no time on a line and no room in the receiver's queue, and filters do not
 * see it.  It is about one lane, and goes back by it.  A node's host refuses what is longer than
 * the node's route before any link sees it, and says so in the same instant.  What a host was told
 * of a lane it remembers for SDR_SIM_KNOWN_NS, whichever engine the node has then; only a smaller
 * number replaces it.  Asked for an address, it says what it knows of the lane from source 0 to it.
 * It does not act on it: longer packets leave all the same, as from a socket that probes.  Nothing
 * here draws a random number while no packet is too long, so that a network without such limits is
 * what it was before there were any.
 */
#include <errno.h>
#include <stdlib.h>
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

#define SDR_SIM_KNOWN_NS 600000000000ull /* as long as Linux keeps a path MTU */
#define SDR_SIM_ICMP_LEN 4u		 /* payload: the number of bytes */

/* A message to the link's sender about the way to that address.  NULL: no memory, or too early. */
static struct sdr_sim_packet *sdr_sim_path_message(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
						   const struct sdr_sim_packet *about,
						   uint32_t bytes)
{
	struct sdr_sim_packet *p;
	struct sdr_uc_addr to;

	if (w->now < l->icmp_next)
		return NULL;
	p = sdr_sim_packet_get(w, sizeof(to) + SDR_SIM_ICMP_LEN);
	if (!p)
		return NULL;
	l->icmp_next = w->now + SDR_SIM_ICMP_NS;
	sdr_sim_addr_make(about->to, &to);
	__builtin_memcpy(p->buf, &to, sizeof(to));
	p->kind = SDR_SIM_ICMP;
	p->len = SDR_SIM_ICMP_LEN;
	sdr_put_le32(sdr_sim_packet_payload(p), bytes);
	p->from = about->to;
	p->to = about->from;
	p->src = about->dst;
	p->dst = about->src;
	p->lane = l->lane;
	p->due = w->now;
	return p;
}

void sdr_sim_path_icmp(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
		       const struct sdr_sim_packet *p)
{
	const struct sdr_sim_lnk *back;
	struct sdr_sim_packet *m;

	if (!l->cfg.icmp)
		return;
	back = sdr_sim_lnk_get(w, SDR_SIM_LANE(p->dst, l->lane), p->src);
	if (!back || l->down || back->down)
		return;
	if (l->cfg.loss > 0 && sdr_sim_rng_hit(&l->rng, l->cfg.loss))
		return;
	m = sdr_sim_path_message(w, l, p, l->cfg.mtu);
	if (!m)
		return;
	m->due += (l->cfg.delay_ns + back->cfg.delay_ns) / 2;
	l->st.icmp++;
	sdr_sim_lnk_launch(w, NULL, m);
}

void sdr_sim_path_refuse(struct sdr_sim_eng *e, struct sdr_sim_lnk *l, struct sdr_sim_packet *p)
{
	struct sdr_sim_world *w = e->w;
	struct sdr_sim_packet *m = NULL;

	e->st.tx_lost++;
	e->st.tx_toobig++;
	p->seq = w->seq++;
	sdr_sim_trace(w, SDR_SIM_T_OVERSIZE, p);
	if (!(p->flags & SDR_SIM_P_PROBE))
		m = sdr_sim_path_message(w, l, p, w->nodes[e->node].route);
	if (m) {
		m->seq = w->seq++;
		sdr_sim_node_arrive(w, m);
	}
	sdr_sim_packet_put(w, p);
}

void sdr_sim_path_hear(struct sdr_sim_world *w, const struct sdr_sim_packet *p)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, SDR_SIM_LANE(p->dst, p->lane), p->src);
	uint32_t bytes = sdr_get_le32(sdr_sim_packet_payload(p));

	if (!l || (w->now < l->known_until && l->known < bytes))
		return;
	l->known = bytes;
	l->known_until = w->now + SDR_SIM_KNOWN_NS;
}

uint32_t sdr_sim_path_mtu(struct sdr_uc *uc, const struct sdr_uc_addr *to)
{
	const struct sdr_sim_eng *e = sdr_sim_eng(uc);
	struct sdr_sim_world *w = e->w;
	uint32_t lane, bytes = w->nodes[e->node].route;
	int node = sdr_sim_node_by_addr(w, sdr_sim_addr_number(to), &lane);
	const struct sdr_sim_lnk *l = NULL;

	if (node >= 0) /* from source 0 */
		l = sdr_sim_lnk_peek(w, SDR_SIM_LANE(e->node, lane), (uint32_t)node);
	if (l && w->now < l->known_until && (!bytes || l->known < bytes))
		bytes = l->known;
	return bytes;
}

void sdr_sim_qp_path(struct sdr_uc_qp *base, uint32_t bytes)
{
	if (!sdr_sim_eng(base->uc)->attr.rkeyed)
		sdr_sim_qp(base)->path = bytes;
}

void sdr_sim_via_path(struct sdr_uc_qp *base, uint32_t via, uint32_t bytes)
{
	if (via && via < SDR_PATHS_MAX)
		sdr_sim_qp(base)->via[via].path = bytes;
}

/* ---- settings -------------------------------------------------------------------------------- */

void sdr_sim_node_route(struct sdr_sim_world *w, uint32_t node, uint32_t mtu)
{
	w->nodes[node].route = mtu;
}

int sdr_sim_link_mtu(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint32_t mtu, bool icmp)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, from, to), *n;

	if (!l)
		return sdr_sim_lnk_err(w, from, to);
	l->own = true;
	for (uint32_t k = 0; (n = sdr_sim_lane_next(l, &k));) {
		if (n != l && n->own)
			continue;
		n->cfg.mtu = mtu;
		n->cfg.icmp = icmp;
	}
	return 0;
}

struct sdr_sim_mtu_change {
	struct sdr_sim_world *w;
	uint32_t from, to, mtu;
	bool icmp;
};

static void sdr_sim_mtu_run(void *arg)
{
	const struct sdr_sim_mtu_change *c = arg;

	(void)sdr_sim_link_mtu(c->w, c->from, c->to, c->mtu, c->icmp);
}

int sdr_sim_link_mtu_at(struct sdr_sim_world *w, uint64_t when, uint32_t from, uint32_t to,
			uint32_t mtu, bool icmp)
{
	struct sdr_sim_mtu_change *c;

	if (!sdr_sim_lnk_get(w, from, to))
		return -EINVAL;
	c = malloc(sizeof(*c));
	if (c)
		*c = (struct sdr_sim_mtu_change){ w, from, to, mtu, icmp };
	return sdr_sim_at_own(w, when, sdr_sim_mtu_run, c);
}
