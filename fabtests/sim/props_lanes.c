/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random lanes: connections of two to eight paths, not as many at each node, and lanes that differ
 * in delay, rate and weather, die and come back, in one direction or both, some of them at the same
 * time.
 *
 * In clean seeds lanes differ in delay and rate alone.  Lane 0 has what sdr_props drew for the
 * link, and may die as the others do.  Some lanes carry small packets only, from the start or from
 * some time on: they are of no use, and must do no harm.
 */
#include <stdio.h>
#include "base/sdr_rand.h"
#include "props_lanes.h"

#define LANES_DEATHS_NS (1500 * MS_NS) /* all are over so long after the start */
#define LANES_NARROW	600u	       /* bytes of an IP packet: no data of most seeds pass */

static uint64_t below(struct props_lanes *pl, uint64_t n)
{
	return sdr_rand64(&pl->rng) % n;
}

static bool chance(struct props_lanes *pl, uint32_t percent)
{
	return below(pl, 100) < percent;
}

void props_lanes_draw(struct props_lanes *pl, struct simnet_cfg *c, bool clean)
{
	*pl = (struct props_lanes){ .on = c->seed & PROPS_LANES_SEED,
				    .clean = clean,
				    .rng = c->seed ^ 0x1a9e5 };
	if (!pl->on)
		return;
	c->paths = 2 + (uint32_t)below(pl, PROPS_LANES_MAX - 1);
	/* now and then a node has fewer, or one alone */
	for (uint32_t i = 0; i < c->nodes; i++)
		if (chance(pl, 25))
			c->sources[i] = (uint8_t)(1 + below(pl, c->paths));
	pl->narrow = !clean && chance(pl, 25);
}

/* What lane 0 has, and of its own. */
static void lane_draw(struct props_lanes *pl, struct sdr_sim_link *l)
{
	static const uint32_t loss_ppm[] = { 0, 0, 0, 1000, 10000, 100000 };

	l->delay_ns = l->delay_ns * (50 + below(pl, 151)) / 100 + below(pl, 1000);
	if (l->rate_bps)
		l->rate_bps = l->rate_bps * (25 + below(pl, 176)) / 100;
	if (pl->clean)
		return;
	if (chance(pl, 60))
		l->loss = loss_ppm[below(pl, sizeof(loss_ppm) / sizeof(*loss_ppm))] / 1e6;
	if (chance(pl, 40))
		l->dup = chance(pl, 50) ? 0 : 0.01;
	if (chance(pl, 40))
		l->reorder = chance(pl, 50) ? 0 : 0.05;
	if (chance(pl, 30))
		l->jitter_ns = chance(pl, 50) ? 0 : l->delay_ns / 4;
	l->reorder_ns = l->delay_ns / 3 + 100 * US_NS;
}

static void lane_dies(struct props_lanes *pl, struct simnet *sn, uint32_t from, uint32_t to)
{
	uint64_t now = simnet_now(sn), begin = now + below(pl, LANES_DEATHS_NS), end;

	if (chance(pl, 50))
		begin = now + below(pl, 20 * MS_NS);
	end = begin + below(pl, chance(pl, 50) ? LANES_DEATHS_NS : 20 * MS_NS);
	if (chance(pl, 50))
		sdr_sim_blackout(sn->w, from, to, begin, end);
	else
		sdr_sim_blackout_both(sn->w, from, to, begin, end);
	if (end > pl->quiet_at)
		pl->quiet_at = end;
}

static void lane_set(struct props_lanes *pl, struct simnet *sn, uint32_t a, uint32_t b, uint32_t k)
{
	uint32_t from = SDR_SIM_LANE(a, k);
	struct sdr_sim_link l;

	sdr_sim_link_get(sn->w, a, b, &l);
	if (k) {
		lane_draw(pl, &l);
		sdr_sim_link_set(sn->w, from, b, &l);
	}
	if (pl->clean)
		return;
	if (chance(pl, 25))
		lane_dies(pl, sn, from, b);
	if (k && pl->narrow && chance(pl, 30))
		sdr_sim_link_mtu_at(sn->w, simnet_now(sn) + below(pl, 2) * below(pl, S_NS), from, b,
				    LANES_NARROW, chance(pl, 50));
}

/* Everything dies for a while: nobody is to blame. */
static void all_die(struct props_lanes *pl, struct simnet *sn, uint32_t a, uint32_t b)
{
	uint64_t begin = simnet_now(sn) + below(pl, 300 * MS_NS), end = begin + below(pl, S_NS);

	for (uint32_t k = 0; k < sn->cfg.paths; k++)
		sdr_sim_blackout_both(sn->w, SDR_SIM_LANE(a, k), b, begin, end);
	if (end > pl->quiet_at)
		pl->quiet_at = end;
}

void props_lanes_set(struct props_lanes *pl, struct simnet *sn)
{
	if (!pl->on)
		return;
	for (uint32_t a = 0; a < sn->cfg.nodes; a++) {
		for (uint32_t b = 0; b < sn->cfg.nodes; b++) {
			if (a == b)
				continue;
			for (uint32_t k = 0; k < sn->cfg.paths; k++)
				lane_set(pl, sn, a, b, k);
			if (!pl->clean && a < b && chance(pl, 10))
				all_die(pl, sn, a, b);
		}
	}
}

void props_lanes_heal(const struct props_lanes *pl, struct simnet *sn)
{
	struct sdr_sim_link l;

	if (!pl->on)
		return;
	for (uint32_t a = 0; a < sn->cfg.nodes; a++) {
		for (uint32_t b = 0; b < sn->cfg.nodes; b++) {
			for (uint32_t k = 1; k < sn->cfg.paths && a != b; k++) {
				sdr_sim_link_get(sn->w, SDR_SIM_LANE(a, k), b, &l);
				l = (struct sdr_sim_link){ .rate_bps = l.rate_bps,
							   .delay_ns = l.delay_ns,
							   .mtu = l.mtu,
							   .icmp = l.icmp };
				sdr_sim_link_set(sn->w, SDR_SIM_LANE(a, k), b, &l);
			}
		}
	}
}

void props_lanes_check(const struct props_lanes *pl, struct simnet *sn)
{
	struct sdr_rel_stats st;
	uint64_t again;

	if (!pl->on)
		return;
	simnet_stats(sn, &st);
	again = st.rtx_rack + st.rtx_nack;
	/*
	 * A path of some microseconds that a queue of ours makes a thousand times as long may be
	 * given up for a moment (paths_down): what it had arrives, and it comes back.
	 */
	if (again > st.pkts_late)
		simnet_fail(sn, "%llu packets were sent again, and %llu came too early",
			    (unsigned long long)again, (unsigned long long)st.pkts_late);
}

void props_lanes_print(const struct props_lanes *pl, const struct simnet_cfg *c)
{
	if (!pl->on)
		return;
	fprintf(stderr, "  %u paths%s; sources:", c->paths, pl->narrow ? ", some narrow" : "");
	for (uint32_t i = 0; i < c->nodes; i++)
		fprintf(stderr, " %u", c->sources[i] ? c->sources[i] : c->paths);
	fprintf(stderr, "\n");
}
