/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Cells: what a name of a scheme means, what can be run, all that was given, and what came
 * of it.
 *
 * The model's rules are checked first (model_row_check), so that both tools refuse the same; then
 * those of the transport and of the simulation, which are narrower.  The result does not depend on
 * how the shards were spread over processes: their number follows from --runs alone, and their
 * times are put together in order.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fec/sdr_code.h"
#include "sim.h"
#include "sim_work.h"

#define SIM_RATE_MIN  1e6 /* bits per second */
#define SIM_RATE_MAX  1e13
#define SIM_RTT_MAX   10.0 /* s */
#define SIM_P_MAX     0.9
#define SIM_EC_CHUNK  SDR_REL_EC_CHUNK
#define SIM_NAMES_MAX 256u /* bytes of all names of schemes */

/* Names that are the model's alone; the others are those of sdr_scheme_table. */
static const struct sim_scheme schemes[] = {
	{ "ideal", SDR_MODEL_IDEAL, &sdr_scheme_sr, SDR_CODE_NONE, .lossless = true },
	{ "ec_mds", SDR_MODEL_EC_MDS, &sdr_scheme_ec_sr, SDR_CODE_MDS, .chunks = true },
	{ "ec_xor", SDR_MODEL_EC_XOR, &sdr_scheme_ec_sr, SDR_CODE_XOR, .chunks = true },
};
#define SIM_SCHEMES (sizeof(schemes) / sizeof(*schemes))

static void sim_scheme_names(char *buf, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < SIM_SCHEMES && n < len; i++)
		n += (size_t)snprintf(buf + n, len - n, "%s, ", schemes[i].name);
	if (n < len)
		sdr_scheme_names(buf + n, len - n);
}

/* What the simulation has to know of a scheme follows from what the scheme says of itself. */
static bool sim_scheme_find(const char *name, struct sim_scheme *s)
{
	const struct sdr_scheme_ops *ops = sdr_scheme_find(name);

	for (size_t i = 0; i < SIM_SCHEMES; i++) {
		if (strcmp(name, schemes[i].name) == 0) {
			*s = schemes[i];
			return true;
		}
	}
	if (!ops)
		return false;
	*s = (struct sim_scheme){
		.name = ops->name,
		.model = ops->fixed_code ? SDR_MODEL_EC_MDS
			 : ops->plan	 ? SDR_MODEL_HYBRID
			 : ops->rto_rtts ? SDR_MODEL_SR_RTO
					 : SDR_MODEL_SR_NACK,
		.rel = ops,
		.code = ops->fixed_code ? SDR_CODE_MDS : SDR_CODE_NONE,
		.learns = ops->plan && !ops->fixed_code,
	};
	return true;
}

/* ---- what can be run ------------------------------------------------------------------------- */

static int sim_check_packets(struct sim_cell *c)
{
	const struct sdr_model_point *pt = &c->row.point;

	if (pt->mtu_bytes < SDR_EP_MTU_MIN || pt->mtu_bytes > SDR_MTU_MAX || pt->mtu_bytes % 4)
		return model_row_refuse(
			&c->row, MODEL_MTU,
			"packets of %u bytes: the transport sends multiples of 4 from %u to %u",
			pt->mtu_bytes, SDR_EP_MTU_MIN, SDR_MTU_MAX);
	if (pt->chunk_bytes < pt->mtu_bytes || pt->chunk_bytes % pt->mtu_bytes ||
	    pt->chunk_bytes > SIM_EC_CHUNK)
		return model_row_refuse(
			&c->row, MODEL_CHUNK,
			"chunks of %u bytes: whole packets (of %u), at most %u bytes",
			pt->chunk_bytes, pt->mtu_bytes, SIM_EC_CHUNK);
	return 0;
}

static int sim_check_size(const struct sim_plan *plan, struct sim_cell *c)
{
	uint64_t len = c->row.point.msg_bytes, all;

	if (c->mode == SIM_ALLREDUCE) {
		if (c->row.nodes < 2 || c->row.nodes > SIM_NODES_MAX)
			return model_row_refuse(&c->row, MODEL_NODES,
						"%u nodes: an allreduce has 2 to %u", c->row.nodes,
						SIM_NODES_MAX);
		len = sim_work_step(len, c->row.nodes);
	}
	if (len > SDR_REL_MSG_MAX)
		return model_row_refuse(&c->row, MODEL_SIZE,
					"a message of %" PRIu64
					" bytes: the transport carries at most 2^40 (1 TiB) in one",
					len);
	all = len * (c->mode == SIM_STREAM ? plan->window : 1) *
	      (c->mode == SIM_ALLREDUCE ? c->row.nodes : 2);
	if (plan->verify && all > 8ull << 30)
		return model_row_refuse(&c->row, MODEL_SIZE,
					"buffers of %" PRIu64
					" bytes to verify: at most 8 GiB; without --verify they "
					"take no memory",
					all);
	if (c->mode == SIM_STREAM && all > 1ull << 45)
		return model_row_refuse(&c->row, MODEL_SIZE,
					"%u messages of %" PRIu64
					" bytes under way: they do not fit the address space; a "
					"smaller --window",
					plan->window, len);
	return 0;
}

static int sim_cell_check(const struct sim_plan *plan, struct sim_cell *c)
{
	const struct sdr_model_point *pt = &c->row.point;
	double rtts;

	if (model_row_check(&c->row))
		return -1;
	if (c->row.kind != SDR_MODEL_RING_ALLREDUCE || c->row.compute_s > 0)
		return model_row_refuse(
			&c->row, c->row.compute_s > 0 ? MODEL_COMPUTE : MODEL_COLLECTIVE,
			"only the ring is simulated, and what nodes compute takes no time");
	if (pt->bandwidth_bps < SIM_RATE_MIN || pt->bandwidth_bps > SIM_RATE_MAX)
		return model_row_refuse(
			&c->row, MODEL_BANDWIDTH,
			"a bandwidth of %g bits per second: %g to %g can be simulated",
			pt->bandwidth_bps, SIM_RATE_MIN, SIM_RATE_MAX);
	if (pt->rtt_s > SIM_RTT_MAX)
		return model_row_refuse(&c->row, MODEL_RTT,
					"a round trip of %g s: at most %g can be simulated",
					pt->rtt_s, SIM_RTT_MAX);
	if (pt->p_packet > SIM_P_MAX)
		return model_row_refuse(&c->row, MODEL_P,
					"a loss of %g: at most %g can be simulated", pt->p_packet,
					SIM_P_MAX);
	if (!(pt->burst_packets >= 1 && pt->burst_packets <= 1e6))
		return model_row_refuse(&c->row, MODEL_BURST,
					"a mean burst of %g packets: 1 to 1e6", pt->burst_packets);
	rtts = sdr_model_rto(pt) / pt->rtt_s;
	if (c->scheme.rel->rto_rtts && !(rtts > 1 - 1e-9 && rtts <= 100))
		return model_row_refuse(&c->row, MODEL_RTO,
					"a timeout of %g RTTs: the transport takes 1 to 100", rtts);
	if (!(pt->max_overhead >= 0 && pt->max_overhead <= 16))
		return model_row_refuse(&c->row, MODEL_OVERHEAD, "an overhead of %g: 0 to 16",
					pt->max_overhead);
	if (plan->cross_bps >= pt->bandwidth_bps && !plan->queue_bytes)
		return model_row_refuse(
			&c->row, MODEL_BANDWIDTH,
			"cross traffic of %g bits per second fills the line: it needs a queue with a limit (--queue)",
			plan->cross_bps);
	return sim_check_packets(c) || sim_check_size(plan, c) ? -1 : 0;
}

static const char *sim_scheme_of(const char *name, bool *ring)
{
	size_t n = strlen(SIM_PREFIX);

	*ring = strncmp(name, SIM_PREFIX, n) == 0;
	return *ring ? name + n : name;
}

static int sim_cell_set(struct sim_cell *c, enum model_field f, const char *text)
{
	char names[SIM_NAMES_MAX];
	bool ring;

	if (f != MODEL_SCHEME)
		return model_row_set(&c->row, f, text);
	text = sim_scheme_of(text, &ring);
	if (!sim_scheme_find(text, &c->scheme)) {
		sim_scheme_names(names, sizeof(names));
		return model_row_refuse(
			&c->row, f,
			"there is no scheme \"%.40s\": %s, or one of them behind " SIM_PREFIX, text,
			names);
	}
	if (ring && c->mode == SIM_STREAM)
		return model_row_refuse(&c->row, f, "an allreduce is no stream of messages");
	if (ring)
		c->mode = SIM_ALLREDUCE;
	c->row.coll = c->mode == SIM_ALLREDUCE;
	return model_row_set(&c->row, f, sdr_model_scheme_name(c->scheme.model));
}

bool sim_cell_chunk_decode(const struct sim_cell *c)
{
	if (!(c->row.given >> MODEL_DECODE & 1))
		return c->scheme.chunks;
	return !(c->row.point.flags & SDR_MODEL_F_ROWS);
}

/* ---- all cells ------------------------------------------------------------------------------- */

static struct sim_cell *sim_cells_add(struct sim_cells *cells, enum sim_mode mode)
{
	struct sim_cell *c;

	if (cells->n == cells->room) {
		cells->room = cells->room ? 2 * cells->room : 64;
		cells->cell = tool_alloc(cells->cell, cells->room, sizeof(*cells->cell));
	}
	c = &cells->cell[cells->n++];
	*c = (struct sim_cell){ .mode = mode };
	model_row_init(&c->row, mode == SIM_ALLREDUCE);
	return c;
}

void sim_cells_read(const struct sim_plan *plan, struct sim_cells *cells, enum sim_mode mode,
		    const char *const text[MODEL_FIELDS], const char *batch)
{
	struct model_source s = {
		.text = text, .coll = mode == SIM_ALLREDUCE, .batch = batch, .max = SIM_CELLS_MAX
	};
	struct sim_cell *c;

	model_source_open(&s);
	cells->file = s.file;
	while (model_source_next(&s)) {
		c = sim_cells_add(cells, mode);
		c->row.line = s.line;
		for (unsigned int i = 0; i < s.nend_probed; i++) {
			if (sim_cell_set(c, s.asked[i].field, s.asked[i].text))
				model_row_bad(&c->row, cells->file, text, false);
		}
		if (sim_cell_check(plan, c))
			model_row_bad(&c->row, cells->file, text, false);
	}
	model_source_close(&s);
}

void sim_cells_free(struct sim_cells *cells)
{
	for (uint32_t i = 0; i < cells->n; i++)
		free(cells->cell[i].row.id);
	free(cells->cell);
}

/* ---- runs and shards ------------------------------------------------------------------------- */

uint32_t sim_cell_samples(const struct sim_plan *plan, const struct sim_cell *c)
{
	return c->mode == SIM_STREAM ? plan->messages : 1;
}

uint32_t sim_cell_shards(const struct sim_plan *plan)
{
	uint32_t n = plan->runs / SIM_SHARD_RUNS;

	return !n ? 1 : n < SIM_SHARDS ? n : SIM_SHARDS;
}

void sim_shard_init(const struct sim_plan *plan, struct sim_shard *s, uint32_t shard)
{
	uint64_t n = sim_cell_shards(plan);

	s->first = (uint32_t)(plan->runs * (uint64_t)shard / n);
	s->runs = (uint32_t)(plan->runs * (uint64_t)(shard + 1) / n) - s->first;
}

static uint64_t sim_messages(const struct sim_plan *plan, const struct sim_cell *c, uint64_t *len)
{
	*len = c->row.point.msg_bytes;
	if (c->mode == SIM_STREAM)
		return plan->messages;
	if (c->mode != SIM_ALLREDUCE)
		return 1;
	*len = sim_work_step(*len, c->row.nodes);
	return (uint64_t)c->row.nodes * sim_work_rounds(c->row.nodes);
}

uint64_t sim_cell_packets(const struct sim_cell *c, const struct sim_plan *plan)
{
	uint64_t len, n = sim_messages(plan, c, &len);

	return n * (len / c->row.point.mtu_bytes + (len % c->row.point.mtu_bytes != 0));
}

double sim_cell_bytes(const struct sim_cell *c, const struct sim_plan *plan)
{
	return (double)c->row.point.msg_bytes * sim_cell_samples(plan, c);
}

/* ---- results --------------------------------------------------------------------------------- */

double sim_cell_ideal(const struct sim_plan *plan, const struct sim_cell *c)
{
	double len = (double)c->row.point.msg_bytes, bps = 0, rtt = SIM_RTT_MAX;
	uint32_t rounds = 1;

	for (uint32_t k = 0; k < plan->paths; k++) {
		const struct sim_lane *l = &plan->lane[k];

		bps += sim_lane_or(l, SIM_LANE_BANDWIDTH, c->row.point.bandwidth_bps);
		rtt = fmin(rtt, sim_lane_or(l, SIM_LANE_RTT, c->row.point.rtt_s));
	}
	if (c->mode == SIM_ALLREDUCE) {
		len = (double)sim_work_step(c->row.point.msg_bytes, c->row.nodes);
		rounds = sim_work_rounds(c->row.nodes);
	}
	return rounds * (len * 8 / bps + rtt);
}

void sim_cell_result(const struct sim_plan *plan, const struct sim_cell *c,
		     const struct sim_shard *s, double *t_s, struct sim_result *r)
{
	size_t n = (size_t)plan->runs * sim_cell_samples(plan, c);
	double cpu = 0, bytes = 0, busy = 0;
	uint64_t data = 0;

	*r = (struct sim_result){ .runs = plan->runs, .ideal_s = sim_cell_ideal(plan, c) };
	for (uint32_t i = 0; i < sim_cell_shards(plan); i++) {
		if (s[i].failed || !s[i].ended) {
			r->failed = true;
			r->why = s[i].why;
			return;
		}
		r->packets += s[i].packets;
		r->parity += s[i].parity;
		r->rtx += s[i].rtx;
		r->rss_kib = s[i].rss_kib > r->rss_kib ? s[i].rss_kib : r->rss_kib;
		data += s[i].data_pkts;
		cpu += s[i].cpu_s;
		bytes += s[i].bytes;
		busy += s[i].busy_s;
	}
	sdr_model_summary(t_s, n, &r->times);
	r->min_s = t_s[0];
	r->max_s = t_s[n - 1];
	r->overhead = (double)(r->parity + r->rtx) / (double)data;
	r->goodput_bps = bytes * 8 / busy;
	r->mpkt_per_s = (double)r->packets / cpu / 1e6;
}
