/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Links and their lanes: which there are, and how they are set.
 *
 * Links come into being when they are first used, and so do their lanes beyond lane 0, which is the
 * link itself and knows the others: a world of thousands of nodes has a pointer for each pair, and
 * sixteen more for those with several ways.  Each is seeded by the world's seed, the two nodes and
 * its number, so that what one does is nothing to another's luck; a world without further lanes
 * draws what it drew before there were any.  A new lane is set as lane 0 is at that time, and goes
 * on to be set with it until it is set for itself.  Blackouts are each lane's own.
 */
#include <errno.h>
#include <stdlib.h>
#include "sdr_sim_lane.h"

#define SDR_SIM_LANE_SEED 0x9fb21c651e98df25ull

/* The way back of a lane. */
static uint32_t sdr_sim_back(uint32_t from, uint32_t to)
{
	return SDR_SIM_LANE(to, sdr_sim_lane_of(from));
}

static bool sdr_sim_lnk_can(const struct sdr_sim_world *w, uint32_t from, uint32_t to)
{
	return sdr_sim_lane_node(from) < w->attr.nodes && sdr_sim_lane_of(from) < SDR_PATHS_MAX &&
	       to < w->attr.nodes;
}

int sdr_sim_lnk_err(const struct sdr_sim_world *w, uint32_t from, uint32_t to)
{
	return sdr_sim_lnk_can(w, from, to) ? -ENOMEM : -EINVAL;
}

static struct sdr_sim_lnk *sdr_sim_lane_get(struct sdr_sim_world *w, struct sdr_sim_lnk *first,
					    uint64_t seed, uint32_t lane)
{
	struct sdr_sim_lnk **slot, *l;

	if (!first->lanes) {
		first->lanes = calloc(SDR_PATHS_MAX - 1, sizeof(struct sdr_sim_lnk *));
		if (!first->lanes)
			return NULL;
	}
	slot = &first->lanes[lane - 1];
	if (*slot)
		return *slot;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->lane = (uint8_t)lane;
	l->line = first->line;
	sdr_sim_lnk_init(w, l, seed ^ lane * SDR_SIM_LANE_SEED, &first->cfg);
	*slot = l;
	return l;
}

struct sdr_sim_lnk *sdr_sim_lnk_get(struct sdr_sim_world *w, uint32_t from, uint32_t to)
{
	uint32_t node = sdr_sim_lane_node(from), lane = sdr_sim_lane_of(from);
	uint64_t seed = (uint64_t)node << 32 | to;
	struct sdr_sim_lnk **slot, *l;

	if (!sdr_sim_lnk_can(w, from, to))
		return NULL;
	slot = &w->nodes[node].out[to];
	l = *slot;
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return NULL;
		sdr_sim_lnk_init(w, l, seed, &w->attr.link);
		*slot = l;
	}
	return lane ? sdr_sim_lane_get(w, l, seed, lane) : l;
}

struct sdr_sim_lnk *sdr_sim_lnk_peek(const struct sdr_sim_world *w, uint32_t from, uint32_t to)
{
	uint32_t lane = sdr_sim_lane_of(from);
	struct sdr_sim_lnk *l;

	if (!sdr_sim_lnk_can(w, from, to))
		return NULL;
	l = w->nodes[sdr_sim_lane_node(from)].out[to];
	if (!l || !lane)
		return l;
	return l->lanes ? l->lanes[lane - 1] : NULL;
}

struct sdr_sim_lnk *sdr_sim_lnk_of(const struct sdr_sim_world *w, const struct sdr_sim_packet *p)
{
	struct sdr_sim_lnk *l = w->nodes[p->src].out[p->dst];

	return p->lane ? l->lanes[p->lane - 1] : l;
}

struct sdr_sim_lnk *sdr_sim_lane_next(struct sdr_sim_lnk *l, uint32_t *k)
{
	uint32_t i = (*k)++;

	if (!i)
		return l;
	for (; l->lanes && i < SDR_PATHS_MAX; i = (*k)++)
		if (l->lanes[i - 1])
			return l->lanes[i - 1];
	return NULL;
}

void sdr_sim_lane_free(struct sdr_sim_lnk *l)
{
	for (uint32_t k = 1; l && l->lanes && k < SDR_PATHS_MAX; k++)
		free(l->lanes[k - 1]);
	if (l)
		free(l->lanes);
	free(l);
}

/* ---- settings -------------------------------------------------------------------------------- */

int sdr_sim_link_set(struct sdr_sim_world *w, uint32_t from, uint32_t to,
		     const struct sdr_sim_link *cfg)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, from, to), *n;

	if (!l)
		return sdr_sim_lnk_err(w, from, to);
	l->own = true;
	for (uint32_t k = 0; (n = sdr_sim_lane_next(l, &k));)
		if (n == l || !n->own)
			sdr_sim_lnk_set(w, n, cfg);
	return 0;
}

int sdr_sim_link_set_both(struct sdr_sim_world *w, uint32_t a, uint32_t b,
			  const struct sdr_sim_link *cfg)
{
	int err = sdr_sim_link_set(w, a, b, cfg);

	return err ? err : sdr_sim_link_set(w, sdr_sim_back(a, b), sdr_sim_lane_node(a), cfg);
}

void sdr_sim_link_get(struct sdr_sim_world *w, uint32_t from, uint32_t to, struct sdr_sim_link *cfg)
{
	const struct sdr_sim_lnk *l = sdr_sim_lnk_peek(w, from, to);

	if (!l) /* it will be what lane 0 is */
		l = sdr_sim_lnk_get(w, sdr_sim_lane_node(from), to);
	*cfg = l ? l->cfg : w->attr.link;
}

void sdr_sim_link_stats(struct sdr_sim_world *w, uint32_t from, uint32_t to,
			struct sdr_sim_link_stats *out)
{
	const struct sdr_sim_lnk *l = sdr_sim_lnk_peek(w, from, to);

	*out = l ? l->st : (struct sdr_sim_link_stats){ 0 };
}

void sdr_sim_lanes_stats(struct sdr_sim_world *w, uint32_t from, uint32_t to,
			 struct sdr_sim_link_stats *out)
{
	struct sdr_sim_link_stats st;

	*out = (struct sdr_sim_link_stats){ 0 };
	for (uint32_t k = 0; k < SDR_PATHS_MAX; k++) {
		sdr_sim_link_stats(w, SDR_SIM_LANE(from, k), to, &st);
		out->data += st.data;
		out->ctl += st.ctl;
		out->bytes += st.bytes;
		out->filtered += st.filtered;
		out->dropped += st.dropped;
		out->lost += st.lost;
		out->blackout += st.blackout;
		out->drop_mtu += st.drop_mtu;
		out->icmp += st.icmp;
		out->dup += st.dup;
		out->reordered += st.reordered;
		out->corrupt += st.corrupt;
		out->cross += st.cross;
		out->cross_dropped += st.cross_dropped;
		out->line_out += st.line_out;
		out->line_bytes += st.line_bytes;
		out->marked += st.marked;
		if (st.queue_peak > out->queue_peak)
			out->queue_peak = st.queue_peak;
	}
}

struct sdr_sim_change {
	struct sdr_sim_world *w;
	uint32_t from, to;
	struct sdr_sim_link cfg;
};

static void sdr_sim_change_run(void *arg)
{
	struct sdr_sim_change *c = arg;

	(void)sdr_sim_link_set(c->w, c->from, c->to, &c->cfg);
}

int sdr_sim_link_set_at(struct sdr_sim_world *w, uint64_t when, uint32_t from, uint32_t to,
			const struct sdr_sim_link *cfg)
{
	struct sdr_sim_change *c;

	if (!sdr_sim_lnk_get(w, from, to))
		return -EINVAL;
	c = malloc(sizeof(*c));
	if (c)
		*c = (struct sdr_sim_change){ w, from, to, *cfg };
	return sdr_sim_at_own(w, when, sdr_sim_change_run, c);
}

static void sdr_sim_lnk_down(void *arg)
{
	((struct sdr_sim_lnk *)arg)->down++;
}

static void sdr_sim_lnk_up(void *arg)
{
	((struct sdr_sim_lnk *)arg)->down--;
}

int sdr_sim_blackout(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint64_t begin,
		     uint64_t end)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, from, to);
	int err;

	if (!l || end < begin)
		return -EINVAL;
	err = sdr_sim_world_at(w, begin, sdr_sim_lnk_down, l);
	return err ? err : sdr_sim_world_at(w, end, sdr_sim_lnk_up, l);
}

int sdr_sim_blackout_both(struct sdr_sim_world *w, uint32_t a, uint32_t b, uint64_t begin,
			  uint64_t end)
{
	int err = sdr_sim_blackout(w, a, b, begin, end);

	return err ? err
		   : sdr_sim_blackout(w, sdr_sim_back(a, b), sdr_sim_lane_node(a), begin, end);
}
