/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The world of a shared bottleneck: a pair of nodes for each flow, one line that all of them send
 * through, and half of each flow's RTT on either way.
 *
 * The line stands at the senders' end; what comes back meets no queue.  With incast all flows end
 * at one node; those of an all-to-all have some nodes on either side.  Messages have no bytes: one
 * stretch of address space is the buffer of all.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sdr_rand.h"
#include "share.h"

/* wire bytes that a host takes at once: a socket buffer of today */
#define SHARE_RX_WINDOW	 (8u << 20)
#define SHARE_ROUNDS_MAX 1000000u /* progress calls of a node in one instant */
#define SHARE_IDLE_MAX	 8u
#define SHARE_SCRATCH	 (16ull << 30) /* counted only: there are no bytes */
#define SHARE_DEPTH	 64u
#define SHARE_MEM_MIN	 4096u
#define SHARE_MTU_LARGE	 8192u /* as the soft engine chooses */
#define SHARE_MTU_MID	 4096u
#define SHARE_MTU_STEP	 64u

void share_cfg_init(struct share_cfg *cfg)
{
	*cfg = (struct share_cfg){
		.flows = 2,
		.rate_bps = 1e9,
		.queue_bdp = 1,
		.path_mtu = 9000,
		.size = 8u << 20,
		.window = 8,
		.seconds = 10,
		.settle_s = 1,
		.sample_s = 1e-3,
		.tick_s = 5e-6,
		.clocks_s = 1e-3,
		.paths = 1,
	};
	for (uint32_t i = 0; i < SHARE_FLOWS_MAX; i++)
		cfg->rtt_s[i] = 25e-3;
}

uint64_t share_rand(struct share_bed *b)
{
	return sdr_rand64(&b->rng);
}

double share_now(const struct share_bed *b)
{
	return (double)(sim_eps_now(&b->eps) - b->begin_ns) / SHARE_NS;
}

uint32_t share_payload(uint32_t path_mtu)
{
	uint32_t room = path_mtu - SDR_SIM_DATA_OVER;

	if (room >= SHARE_MTU_LARGE)
		return SHARE_MTU_LARGE;
	return room >= SHARE_MTU_MID ? SHARE_MTU_MID : room / SHARE_MTU_STEP * SHARE_MTU_STEP;
}

uint64_t share_queue_bytes(const struct share_cfg *cfg)
{
	if (cfg->queue_bdp < 0)
		return cfg->queue_bytes;
	return (uint64_t)llround(cfg->queue_bdp * cfg->rate_bps / 8 * cfg->rtt_s[0]);
}

static int share_line_open(struct share_bed *b)
{
	const struct share_cfg *cfg = b->cfg;
	struct sdr_sim_line line = {
		.rate_bps = (uint64_t)llround(cfg->rate_bps),
		.queue_bytes = share_queue_bytes(cfg),
		.loss = cfg->loss,
		.ge_loss = cfg->ge_loss,
		.ge_burst = cfg->ge_burst,
		.ge_packets = cfg->ge_packets,
		.ge_bytes = share_payload(cfg->path_mtu) + SDR_SIM_DATA_OVER,
		.codel_target_ns = (uint64_t)llround(cfg->codel_target_s * SHARE_NS),
		.codel_interval_ns = (uint64_t)llround(cfg->codel_interval_s * SHARE_NS),
		.mark_ns = (uint64_t)llround(cfg->mark_s * SHARE_NS),
	};
	int err = 0;

	b->line = sdr_sim_line_add(b->eps.w, &line);
	if (b->line < 0)
		return b->line;
	for (uint32_t i = 0; i < cfg->changes && !err; i++) {
		line.rate_bps = (uint64_t)llround(cfg->change[i].rate_bps);
		err = sdr_sim_line_set_at(
			b->eps.w, b->begin_ns + (uint64_t)llround(cfg->change[i].at_s * SHARE_NS),
			(uint32_t)b->line, &line);
	}
	return err;
}

static int share_links_set(struct share_bed *b, const struct share_flow *f)
{
	struct sdr_sim_link ahead = {
		.rate_bps = (uint64_t)llround(b->cfg->nic_bps),
		.delay_ns = (uint64_t)llround(b->cfg->rtt_s[f->idx] / 2 * SHARE_NS),
		.jitter_ns = (uint64_t)llround(b->cfg->jitter_s * SHARE_NS),
		.reorder = b->cfg->reorder,
		.reorder_ns = (uint64_t)llround(b->cfg->reorder_s * SHARE_NS),
	};
	struct sdr_sim_link back = ahead;
	int err = sdr_sim_link_set(b->eps.w, f->from, f->to, &ahead);

	back.rate_bps = 0;
	back.loss = b->cfg->reverse_loss;
	if (!err)
		err = sdr_sim_link_line(b->eps.w, f->from, f->to, (uint32_t)b->line);
	return err ? err : sdr_sim_link_set(b->eps.w, f->to, f->from, &back);
}

/* What all hosts have in common differs from run to run, and from host to host a little. */
static uint64_t share_clock(const struct share_bed *b, uint32_t node)
{
	uint64_t all = b->clocks, own = b->clocks + node;
	double luck = (double)(sdr_rand64(&own) >> 11) * 0x1p-53;

	return sdr_rand64(&all) + (uint64_t)(luck * b->cfg->clocks_s * SHARE_NS);
}

int share_node_open(struct share_bed *b, uint32_t i, struct sdr_path_mem *paths)
{
	struct sdr_rel_cfg cfg;
	struct sim_ep_attr a = {
		.rel = { .cfg = &cfg, .cbs = &share_cbs, .user = b, .paths = paths },
		.node = { .mtu = share_payload(b->cfg->path_mtu),
			  .no_probe = !b->cfg->probes,
			  .rx_window = SHARE_RX_WINDOW,
			  .stamps = true,
			  .sources = (uint8_t)b->cfg->paths,
			  .ecn = true },
		.context = { share_rand(b), share_rand(b) },
	};

	sdr_rel_cfg_init(&cfg);
	cfg.cc = b->cfg->cc;
	cfg.scheme = b->cfg->scheme;
	cfg.paths = b->cfg->paths;
	cfg.clock_ahead_ns = share_clock(b, i);
	if (cfg.cc && cfg.cc->provisioned)
		cfg.rate_bps = (uint64_t)llround(b->cfg->rate_bps);
	cfg.tx_depth = b->cfg->window > SHARE_DEPTH ? b->cfg->window : SHARE_DEPTH;
	cfg.rx_depth = cfg.tx_depth * b->flows;
	cfg.ec_scratch = SHARE_SCRATCH;
	for (int k = 0; k < 4; k++)
		a.rel.rand[k] = share_rand(b);
	return sim_ep_boot(&b->eps.ep[i], &a);
}

/* Of an all-to-all, from each sender, with an even number, to each receiver, with an odd one. */
static uint32_t share_rank(const struct share_bed *b, uint32_t flow, bool sends)
{
	uint32_t each = b->cfg->flows / b->cfg->ranks;

	return sends ? 2 * (flow / each) : 2 * (flow % each) + 1;
}

static bool share_rank_is(const struct share_bed *b, uint32_t node)
{
	return node / 2 < (node & 1 ? b->cfg->flows / b->cfg->ranks : b->cfg->ranks);
}

/* Of an all-to-all one of each sender's, as a barrier has it. */
static bool share_greets(const struct share_bed *b, uint32_t flow)
{
	uint32_t each = b->cfg->ranks ? b->cfg->flows / b->cfg->ranks : 1;

	return b->cfg->greets && flow % each == flow / each % each;
}

/* A node of sdr flows; a sender has a memory where there is something to be learnt. */
static int share_sender_open(struct share_bed *b, uint32_t node)
{
	struct share_flow *f = &b->flow[node / 2];

	f->step = b->cfg->teach_bytes	      ? SHARE_TEACH
		  : share_greets(b, node / 2) ? SHARE_GREET
					      : SHARE_RUN;
	if (b->cfg->ranks && !share_rank_is(b, node))
		return 0;
	if (!(node & 1) && (b->cfg->ranks || f->step == SHARE_TEACH)) {
		f->paths = sdr_path_mem_new(share_rand(b));
		if (!f->paths)
			return -ENOMEM;
	}
	return share_node_open(b, node, node & 1 ? NULL : f->paths);
}

int share_flow_meet(struct share_flow *f)
{
	struct share_bed *b = f->bed;

	f->peer = sim_ep_peer(&b->eps.ep[f->from], f->to);
	f->back = sim_ep_peer(&b->eps.ep[f->to], f->from);
	return f->peer && f->back ? 0 : -ENOMEM;
}

static int share_flow_open(struct share_bed *b, struct share_flow *f)
{
	int err = share_links_set(b, f);

	if (err)
		return err;
	if (f->idx >= b->cfg->flows) {
		struct rival_attr a = {
			.world = b->eps.w,
			.from = f->from,
			.to = f->to,
			.path_mtu = b->cfg->path_mtu,
			.cc = b->cfg->rival[f->idx - b->cfg->flows],
			.ecn = b->cfg->rival_ecn,
		};

		return rival_open(&a, &f->rival);
	}
	return share_flow_meet(f);
}

static void share_flows_set(struct share_bed *b)
{
	const struct share_cfg *cfg = b->cfg;
	double luck = 0;

	b->flows = cfg->flows + cfg->rivals;
	b->nodes = 2 * b->flows;
	b->busy = cfg->flows;
	for (uint32_t i = 0; i < b->flows; i++) {
		bool incast = cfg->incast && i < cfg->flows, rank = cfg->ranks && i < cfg->flows;

		/* a sender begins all of its own at once */
		if (!rank || i % (cfg->flows / cfg->ranks) == 0)
			luck = (double)(share_rand(b) >> 11) * 0x1p-53;
		b->flow[i] = (struct share_flow){
			.bed = b,
			.idx = i,
			.from = rank ? share_rank(b, i, true) : 2 * i,
			.to = rank     ? share_rank(b, i, false)
			      : incast ? 1
				       : 2 * i + 1,
			/* nobody starts in step with another */
			.start_ns = (uint64_t)((cfg->start_s[i] + luck * cfg->rtt_s[i]) * SHARE_NS),
		};
	}
}

/* ns in which the handshake and the greetings of all senders are over. */
static uint64_t share_barrier(const struct share_cfg *cfg)
{
	return (uint64_t)(3 * cfg->rtt_s[0] * SHARE_NS);
}

bool share_bed_open(struct share_bed *b, const struct share_cfg *cfg, uint64_t seed)
{
	struct sim_eps_attr ea = {
		.world = { .virtual_payload = true },
		.most = { .rounds = SHARE_ROUNDS_MAX, .idle = SHARE_IDLE_MAX },
	};
	int err;

	memset(b, 0, sizeof(*b));
	b->cfg = cfg;
	b->rng = b->clocks = seed;
	share_flows_set(b);
	ea.world.nodes = b->nodes;
	ea.world.seed = share_rand(b);
	b->mem_len = cfg->size > cfg->teach_bytes ? cfg->size : cfg->teach_bytes;
	if (b->mem_len < SHARE_MEM_MIN)
		b->mem_len = SHARE_MEM_MIN;
	b->mem = mmap(NULL, b->mem_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->mem == MAP_FAILED)
		b->mem = NULL;
	if (sim_eps_open(&b->eps, &ea) || !b->mem) {
		sim_eps_fail(&b->eps, "no memory for the world");
		return false;
	}
	b->begin_ns = sim_eps_now(&b->eps);
	err = share_line_open(b);
	for (uint32_t i = 0; i < 2 * cfg->flows && !err; i++)
		err = share_sender_open(b, i);
	for (uint32_t i = 0; i < b->flows && !err; i++) {
		b->flow[i].start_ns += b->begin_ns;
		if (cfg->ranks && cfg->greets)
			b->flow[i].next_ns = b->flow[i].start_ns + share_barrier(cfg);
		err = share_flow_open(b, &b->flow[i]);
	}
	if (err)
		sim_eps_fail(&b->eps, "the flows cannot be set up: %s", strerror(-err));
	return !err;
}

void share_bed_close(struct share_bed *b)
{
	sim_eps_close(&b->eps);
	for (uint32_t i = 0; i < b->flows; i++)
		rival_close(b->flow[i].rival);
	for (uint32_t i = 0; i < b->flows; i++)
		sdr_path_mem_free(b->flow[i].paths);
	if (b->mem)
		munmap(b->mem, b->mem_len);
	b->mem = NULL;
}
