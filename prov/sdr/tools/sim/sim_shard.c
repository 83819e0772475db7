/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One shard of a cell: a bed of its own, one run after the other.
 *
 * The settings of the transport and of the links follow from the cell and the plan here.  The first
 * runs (warm-up) open the connections and feed the estimators; schemes that learn get more of them.
 * Cells of the same size and impairments have the same losses, whatever the scheme, and so does
 * each shard of theirs.
 *
 * The bandwidth of a cell is what data get: the line is faster by the headers of full packets,
 * unless the plan says that the line itself is meant.  The paced sender knows the line's rate.
 */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sdr_rand.h"
#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/sdr_rel.h"
#include "sim.h"
#include "sim_work.h"

/* minimum and maximum of the packets that warm up a scheme that learns */
#define SIM_WARM_PKTS  300000u
#define SIM_WARM_MOST  4000000u
#define SIM_WARM_SEEN  4.0    /* bursts of losses that it is to meet in between */
#define SIM_WARM_MAX   16384u /* but not more runs than these */
#define SIM_WARM_PLAIN 2u     /* the first opens the connection, the second knows the RTT */
#define SIM_DEPTH      64u    /* operations posted at a time, each direction */
#define SIM_INJECT     512u   /* bytes */
/* counted only: 400 Gbit/s over 25 ms have 1.25 GB under way */
#define SIM_SCRATCH (16ull << 30)
#define SIM_WIRE    (SDR_SIM_IP_UDP + SDR_DATA_OVERHEAD)

static double sim_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / SIM_NS;
}

static uint64_t sim_seed(const struct sim_plan *plan, const struct sim_cell *c, uint32_t shard)
{
	double v[3] = { c->row.point.p_packet, c->row.point.burst_packets, c->row.point.rtt_s };
	uint64_t seed = sdr_mix64(plan->seed ^ 0x51ed270b9f86a2c3ull) ^
			sdr_mix64(c->row.point.msg_bytes),
		 x;

	for (int i = 0; i < 3; i++) {
		memcpy(&x, &v[i], sizeof(x));
		seed = sdr_mix64(seed ^ x);
	}
	return sdr_mix64(seed ^ ((uint64_t)c->row.nodes << 32 | shard));
}

static void sim_links(const struct sim_plan *plan, const struct sim_cell *c, struct sim_bed_attr *a)
{
	const struct sdr_model_point *pt = &c->row.point;
	double line = pt->bandwidth_bps;
	bool bursts = pt->burst_packets > 1 && pt->p_packet > 0;

	if (!plan->headers)
		line *= (double)(pt->mtu_bytes + SIM_WIRE) / pt->mtu_bytes;
	a->forward.rate_bps = (uint64_t)llround(line);
	a->forward.delay_ns = (uint64_t)llround(pt->rtt_s / 2 * SIM_NS);
	a->backward = a->forward;
	if (c->scheme.lossless)
		return; /* nor is anything else in the way */
	a->forward.mtu = plan->path_mtu;
	a->forward.icmp = plan->path_icmp;
	a->forward.queue_bytes = plan->queue_bytes;
	a->forward.jitter_ns = (uint64_t)llround(plan->jitter_s * SIM_NS);
	a->forward.reorder = plan->reorder_p;
	a->forward.reorder_ns = (uint64_t)llround(plan->reorder_s * SIM_NS);
	a->backward = a->forward; /* the same impairments, but no cross traffic */
	a->forward.cross_bps = (uint64_t)llround(plan->cross_bps);
	a->forward.cross_bytes = plan->cross_bytes;
	if (bursts) {
		a->forward.ge_loss = pt->p_packet;
		a->forward.ge_burst = pt->burst_packets;
	} else {
		a->forward.loss = pt->p_packet;
	}
	if (plan->reverse_p >= 0) {
		a->backward.loss = plan->reverse_p;
	} else {
		a->backward.loss = a->forward.loss;
		a->backward.ge_loss = a->forward.ge_loss;
		a->backward.ge_burst = a->forward.ge_burst;
	}
}

/* Where any is given, all are: lane 0 may be one of them, which those that are not set follow. */
static void sim_lanes(const struct sim_plan *plan, const struct sim_cell *c, struct sim_bed_attr *a,
		      struct sim_bed_lane lane[SDR_PATHS_MAX])
{
	double wire = (double)a->forward.rate_bps / c->row.point.bandwidth_bps;

	a->sources = (uint8_t)plan->paths;
	if (!plan->lanes)
		return;
	a->lanes = plan->paths;
	a->lane = lane;
	for (uint32_t k = 0; k < plan->paths; k++) {
		lane[k] = (struct sim_bed_lane){ .forward = a->forward, .backward = a->backward };
		sim_lane_links(&plan->lane[k], wire, c->scheme.lossless, &lane[k]);
	}
}

static void sim_settings(const struct sim_plan *plan, const struct sim_cell *c,
			 struct sim_bed_attr *a)
{
	const struct sdr_model_point *pt = &c->row.point;
	struct sdr_rel_cfg *cfg = &a->cfg;

	sdr_rel_cfg_init(cfg);
	cfg->scheme = c->scheme.rel;
	cfg->cc = plan->cc;
	cfg->rate_bps = plan->cc->provisioned ? a->forward.rate_bps : 0;
	cfg->chunk = pt->chunk_bytes;
	cfg->paths = plan->paths;
	if (c->scheme.rel->rto_rtts)
		cfg->rto_rtts = sdr_model_rto(pt) / pt->rtt_s;
	cfg->tx_depth = cfg->rx_depth = SIM_DEPTH;
	cfg->inject_max = SIM_INJECT;
	cfg->ec_scratch = SIM_SCRATCH;
	cfg->ec_chunk_decode = sim_cell_chunk_decode(c);
	cfg->objective = (uint8_t)pt->objective;
	cfg->max_overhead = pt->max_overhead;
	if (c->scheme.code != SDR_CODE_NONE) {
		cfg->ec_code = c->scheme.code;
		cfg->ec_k = (uint16_t)pt->k;
		cfg->ec_m = (uint16_t)pt->m;
	}
	if (c->mode == SIM_STREAM && plan->window > SIM_DEPTH)
		cfg->tx_depth = cfg->rx_depth = plan->window;
	if (c->mode == SIM_ALLREDUCE && sim_work_rounds(c->row.nodes) > SIM_DEPTH)
		cfg->rx_depth = sim_work_rounds(c->row.nodes);
}

static bool sim_open(const struct sim_plan *plan, const struct sim_cell *c, uint32_t shard,
		     struct sim_trace *trace, struct sim_bed_lane lane[SDR_PATHS_MAX],
		     struct sim_bed *b)
{
	struct sim_bed_attr a = {
		.seed = sim_seed(plan, c, shard),
		.nodes = c->mode == SIM_ALLREDUCE ? c->row.nodes : 2,
		.mtu = c->row.point.mtu_bytes,
		.tick_ns = (uint64_t)llround(plan->tick_s * SIM_NS),
		.mem_len = c->row.point.msg_bytes,
		.mem_slots = c->mode == SIM_STREAM ? plan->window : 1,
		.two_way = c->mode == SIM_ALLREDUCE,
		.verify = plan->verify,
		.trace = trace,
	};

	if (c->mode == SIM_ALLREDUCE)
		a.mem_len = sim_work_step(c->row.point.msg_bytes, c->row.nodes);
	sim_links(plan, c, &a);
	sim_lanes(plan, c, &a, lane);
	sim_settings(plan, c, &a);
	return sim_bed_open(b, &a);
}

static uint32_t sim_warm(const struct sim_plan *plan, const struct sim_cell *c)
{
	uint64_t pkts = sim_cell_packets(c, plan), runs;
	double least = SIM_WARM_PKTS;

	if (plan->warm != SIM_WARM_AUTO)
		return plan->warm;
	if (!c->scheme.learns && plan->cc->provisioned)
		return SIM_WARM_PLAIN;
	if (c->row.point.p_packet > 0)
		least = fmax(least,
			     SIM_WARM_SEEN * c->row.point.burst_packets / c->row.point.p_packet);
	runs = (uint64_t)fmin(least, SIM_WARM_MOST) / (pkts ? pkts : 1) + 1;
	runs = runs < SIM_WARM_PLAIN ? SIM_WARM_PLAIN : runs;
	return runs < SIM_WARM_MAX ? (uint32_t)runs : SIM_WARM_MAX;
}

/* One run; t_s, which may be NULL, gets its time or times. */
static bool sim_one(const struct sim_plan *plan, const struct sim_cell *c, struct sim_bed *b,
		    double *t_s, double *busy_s)
{
	uint64_t ns = 0;
	bool ok = false;

	switch (c->mode) {
	case SIM_MESSAGE:
	case SIM_MODES:
		ok = sim_work_message(b, c->row.point.msg_bytes, &ns);
		break;
	case SIM_STREAM:
		ok = sim_work_stream(b, c->row.point.msg_bytes, plan->messages, plan->window, &ns,
				     t_s);
		break;
	case SIM_ALLREDUCE:
		ok = sim_work_allreduce(b, c->row.point.msg_bytes, &ns);
		break;
	}
	if (t_s && c->mode != SIM_STREAM)
		*t_s = (double)ns / SIM_NS;
	*busy_s = (double)ns / SIM_NS;
	return ok;
}

static void sim_count(struct sim_bed *b, uint64_t *parity, uint64_t *rtx)
{
	struct sdr_rel_stats st;

	*parity = *rtx = 0;
	for (uint32_t i = 0; i < b->a.nodes; i++) {
		sdr_rel_stats_get(b->node[i].ep->rel, NULL, &st);
		*parity += st.parity_tx + st.repair_tx;
		*rtx += st.rtx_rack + st.rtx_nack + st.rtx_tlp + st.rtx_rto;
	}
}

void sim_shard_run(const struct sim_plan *plan, const struct sim_cell *c, uint32_t cell,
		   uint32_t shard, struct sim_shard *s, double *t_s)
{
	struct sim_trace trace = plan->trace, *tr = trace.f ? &trace : NULL;
	uint32_t samples = sim_cell_samples(plan, c);
	double busy, cpu;
	uint64_t parity, rtx, packets;
	struct sim_bed_lane lane[SDR_PATHS_MAX];
	struct sim_bed b;
	struct rusage ru;

	if (tr) {
		tr->split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
		tr->mtu = c->row.point.mtu_bytes;
	}
	s->warm = sim_warm(plan, c);
	if (!sim_open(plan, c, shard, tr, lane, &b))
		goto out;
	for (uint32_t i = 0; i < s->warm && !b.eps.failed; i++, s->done++) {
		sim_one(plan, c, &b, NULL, &busy);
		sim_work_pause(&b, plan->pause_s);
	}
	sim_count(&b, &parity, &rtx);
	packets = sim_bed_packets(&b);
	cpu = sim_clock(CLOCK_PROCESS_CPUTIME_ID);
	for (uint32_t i = 0; i < s->runs && !b.eps.failed; i++, s->done++) {
		if (tr)
			sim_trace_run(tr, sim_bed_now(&b), false, cell, shard, s->first + i);
		sim_bed_outages(&b);
		if (sim_one(plan, c, &b, t_s + (size_t)i * samples, &busy))
			s->busy_s += busy;
		if (tr)
			sim_trace_run(tr, sim_bed_now(&b), true, cell, shard, s->first + i);
		sim_work_pause(&b, plan->pause_s);
	}
	s->cpu_s = sim_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	s->packets = sim_bed_packets(&b) - packets;
	sim_count(&b, &s->parity, &s->rtx);
	s->parity -= parity;
	s->rtx -= rtx;
	s->data_pkts = sim_cell_packets(c, plan) * s->runs;
	s->bytes = sim_cell_bytes(c, plan) * s->runs;
out:
	s->failed = b.eps.failed;
	memcpy(s->why, b.eps.why, sizeof(s->why));
	sim_bed_close(&b);
	getrusage(RUSAGE_SELF, &ru);
	s->rss_kib = (uint64_t)ru.ru_maxrss;
	s->ended = true;
}
