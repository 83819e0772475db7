/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's nodes and its clock: those of tools/sim/sim_eps.c, whose failures are the bench's.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_rand.h"
#include "rel/bulk/sdr_scheme.h"
#include "simnet.h"

void simnet_fail(struct simnet *sn, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (sn->failed)
		return;
	sn->failed = true;
	n = snprintf(sn->why, sizeof(sn->why), "at %.6f s: ", (double)simnet_now(sn) / 1e9);
	va_start(ap, fmt);
	vsnprintf(sn->why + n, sizeof(sn->why) - (size_t)n, fmt, ap);
	va_end(ap);
}

uint64_t simnet_now(const struct simnet *sn)
{
	return sdr_sim_world_now(sn->w);
}

uint64_t simnet_rand(struct simnet *sn)
{
	return sdr_rand64(&sn->rng);
}

uint64_t simnet_below(struct simnet *sn, uint64_t n)
{
	return n ? simnet_rand(sn) % n : 0;
}

bool simnet_chance(struct simnet *sn, double p)
{
	return sdr_rand_unit(&sn->rng) < p;
}

/* ---- trace ----------------------------------------------------------------------------------- */

static void simnet_trace(void *user, uint64_t now, enum sdr_sim_what what,
			 const struct sdr_sim_packet *p)
{
	struct simnet *sn = user;

	sim_hash_packet(&sn->trace, now, what, p, what == SDR_SIM_T_SENT);
	if (sn->cfg.verbose > 1)
		fprintf(stderr,
			"%12.6f ms    %s %s %u -> %u, %u bytes, va %llx imm %08x due %.6f\n",
			(double)now / 1e6,
			p->kind == SDR_SIM_DATA	 ? "data"
			: p->kind == SDR_SIM_CTL ? "ctl"
						 : "icmp",
			sdr_sim_what_name(what), p->src, p->dst, p->len, (unsigned long long)p->va,
			p->imm, (double)p->due / 1e6);
	if (sn->cfg.on_trace)
		sn->cfg.on_trace(sn->cfg.user, now, what, p);
}

static bool simnet_filter(void *user, struct sdr_sim_packet *p)
{
	struct simnet *sn = user;

	return sn->cfg.filter(sn->cfg.user, p);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool simnet_lend(void *user, struct sdr_job *job)
{
	return sim_ep_lend(((struct simnet_node *)user)->ep, job);
}

static bool simnet_reclaim(void *user, struct sdr_job *job)
{
	sim_ep_reclaim(((struct simnet_node *)user)->ep, job);
	return true;
}

static void simnet_wake(void *user)
{
	((struct simnet_node *)user)->ep->dirty = true;
}

static const struct sdr_rel_cbs simnet_cbs = {
	.done = simnet_done,
	.mr_get = simnet_mr_get,
	.lend = simnet_lend,
	.reclaim = simnet_reclaim,
	.wake = simnet_wake,
};

int simnet_boot(struct simnet *sn, uint32_t node)
{
	struct simnet_node *nd = &sn->nodes[node];
	struct sim_ep_attr attr = {
		.rel = { .cfg = &sn->cfg.rel,
			 .cbs = &simnet_cbs,
			 .user = nd,
			 .rma_events = sn->cfg.rma_events },
		.node = sn->cfg.node,
	};

	if (sn->cfg.paths)
		attr.node.sources = (uint8_t)sn->cfg.paths;
	if (sn->cfg.sources[node])
		attr.node.sources = sn->cfg.sources[node];
	attr.node.rkeyed = sn->cfg.rkeyed[node];
	if (sn->cfg.mtu[node])
		attr.node.mtu = sn->cfg.mtu[node];
	for (int i = 0; i < 2; i++)
		attr.context[i] = simnet_rand(sn);
	for (int i = 0; i < 4; i++)
		attr.rel.rand[i] = simnet_rand(sn);
	memset(nd->peers, 0, sizeof(nd->peers));
	return sim_ep_boot(nd->ep, &attr);
}

void simnet_crash(struct simnet *sn, uint32_t node)
{
	simnet_ops_close_node(sn, node);
	sim_ep_crash(sn->nodes[node].ep);
}

bool simnet_shutdown(struct simnet *sn, uint32_t node, uint64_t limit_ns)
{
	struct simnet_node *nd = &sn->nodes[node];
	uint64_t end = simnet_now(sn) + limit_ns;
	bool quiet;

	sdr_rel_shutdown(nd->ep->rel);
	nd->ep->dirty = true;
	while (!(quiet = sdr_rel_quiet(nd->ep->rel)) && simnet_now(sn) < end)
		if (!simnet_advance(sn, end))
			break;
	simnet_ops_close_node(sn, node);
	sim_ep_close(nd->ep);
	return quiet;
}

struct sdr_peer *simnet_peer(struct simnet *sn, uint32_t node, uint32_t to)
{
	struct simnet_node *nd = &sn->nodes[node];

	if (!nd->peers[to]) {
		nd->peers[to] = sim_ep_peer(nd->ep, to);
		if (nd->peers[to])
			sdr_peer_user_set(nd->peers[to], to);
		else
			simnet_fail(sn, "node %u cannot name node %u", node, to);
	}
	return nd->peers[to];
}

void simnet_cfg_default(struct simnet_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->seed = 1;
	cfg->nodes = 2;
	sdr_rel_cfg_init(&cfg->rel);
	cfg->rel.scheme = &sdr_scheme_sr;
	cfg->rel.inject_max = 512;
	cfg->rel.max_overhead = 0;
	cfg->node.no_probe = true; /* the size of packets is settled */
}

/* Once something failed nothing moves, whatever it was. */
static int simnet_progress(void *user, struct sim_ep *ep)
{
	struct simnet *sn = user;

	return sn->failed ? 0 : sdr_rel_progress(ep->rel);
}

static void simnet_eps_failed(void *user, const char *why)
{
	simnet_fail(user, "I13: %s", why);
}

int simnet_open(struct simnet *sn, const struct simnet_cfg *cfg)
{
	struct sim_eps_attr attr = {
		.world = { .seed = cfg->seed,
			   .nodes = cfg->nodes,
			   .virtual_payload = cfg->virtual_payload,
			   .link = cfg->link,
			   .user = sn,
			   .filter = cfg->filter ? simnet_filter : NULL,
			   .trace = simnet_trace },
		.most = { .rounds = SIMNET_ROUNDS_MAX,
			  .idle = SIMNET_IDLE_MAX,
			  .wakes = SIMNET_WAKES_MAX,
			  .flying = SIMNET_FLYING_MAX },
		.books = SIMNET_BOOKS,
		.job_ns = cfg->job_ns,
		.user = sn,
		.progress = simnet_progress,
		.fail = simnet_eps_failed,
	};
	int err;

	memset(sn, 0, sizeof(*sn));
	if (cfg->nodes > SIMNET_NODES_MAX)
		return -EINVAL;
	sn->cfg = *cfg;
	if (cfg->paths)
		sn->cfg.rel.paths = cfg->paths;
	sn->rng = cfg->seed * 0x9e3779b97f4a7c15ull + 1;
	err = sim_eps_open(&sn->eps, &attr);
	if (err)
		return err;
	sn->w = sn->eps.w;
	for (uint32_t i = 0; i < cfg->nodes; i++) {
		sn->nodes[i].sn = sn;
		sn->nodes[i].idx = i;
		sn->nodes[i].ep = &sn->eps.ep[i];
		simnet_region_init(sn, &sn->nodes[i]);
		err = simnet_boot(sn, i);
		if (err) {
			simnet_fail(sn, "node %u does not open: %s", i, strerror(-err));
			return err;
		}
	}
	return 0;
}

static void check_grants(struct simnet *sn)
{
	for (uint32_t i = 0; i < sn->cfg.nodes; i++)
		if (sim_ep_grants(&sn->eps.ep[i]))
			simnet_fail(sn, "I14: node %u has %llu grants that did not end", i,
				    (unsigned long long)sim_ep_grants(&sn->eps.ep[i]));
}

bool simnet_close(struct simnet *sn, char *why_out, size_t why_len)
{
	bool ok;

	if (sn->w && !sn->failed)
		simnet_check_memory(sn, 1);
	for (uint32_t i = 0; sn->w && i < sn->cfg.nodes; i++) {
		if (!sn->eps.ep[i].rel)
			continue;
		simnet_ops_close_node(sn, i);
		sim_ep_close(&sn->eps.ep[i]);
	}
	if (sn->w && !sn->failed)
		simnet_check_memory(sn, 1); /* closing wrote nowhere */
	if (sn->w)
		check_grants(sn);
	ok = !sn->failed;
	if (why_out && why_len)
		snprintf(why_out, why_len, "%s", sn->why);
	simnet_ops_free(sn);
	sim_eps_close(&sn->eps);
	sn->w = NULL;
	return ok;
}

/* ---- the clock ------------------------------------------------------------------------------- */

bool simnet_advance(struct simnet *sn, uint64_t until)
{
	uint64_t t, due;

	if (sn->failed)
		return false;
	sim_eps_work(&sn->eps);
	sn->last_round = simnet_now(sn);
	if (sn->failed)
		return false;
	t = sdr_sim_world_next(sn->w);
	due = sim_eps_due(&sn->eps);
	t = due < t ? due : t;
	if (sn->cfg.tick_ns && t < sn->last_round + sn->cfg.tick_ns)
		t = sn->last_round + sn->cfg.tick_ns;
	sdr_sim_world_run_until(sn->w, t < until ? t : until);
	return true;
}

bool simnet_run_for(struct simnet *sn, uint64_t ns)
{
	uint64_t end = simnet_now(sn) + ns;

	do {
		if (!simnet_advance(sn, end))
			return false;
	} while (simnet_now(sn) < end);
	return true;
}

bool simnet_run_cond(struct simnet *sn, bool (*cond)(void *arg), void *arg, uint64_t limit_ns,
		     const char *what)
{
	uint64_t end = simnet_now(sn) + limit_ns;

	while (!cond(arg)) {
		if (simnet_now(sn) >= end) {
			simnet_fail(sn, "%s: not within %.3f s", what, (double)limit_ns / 1e9);
			return false;
		}
		if (!simnet_advance(sn, end))
			return false;
	}
	return !sn->failed;
}

static bool simnet_cond_op(void *arg)
{
	return simnet_op_done(arg);
}

bool simnet_run_op(struct simnet *sn, struct simnet_op *op, uint64_t limit_ns)
{
	char what[96];

	if (!op)
		return false;
	snprintf(what, sizeof(what), "I1: operation %u (%s of %llu bytes)", op->id,
		 simnet_kind_name(op->kind), (unsigned long long)op->len);
	return simnet_run_cond(sn, simnet_cond_op, op, limit_ns, what);
}

static bool simnet_cond_all(void *arg)
{
	return !((struct simnet *)arg)->open;
}

bool simnet_run_all(struct simnet *sn, uint64_t limit_ns)
{
	bool ok = simnet_run_cond(sn, simnet_cond_all, sn, limit_ns, "I1: all operations");

	for (uint32_t i = 0; !ok && i < sn->nops; i++) {
		struct simnet_op *op = sn->ops[i];
		size_t n = strlen(sn->why);

		if (op->closed || op->silent || simnet_op_done(op))
			continue;
		snprintf(sn->why + n, sizeof(sn->why) - n,
			 "; open: %u %s node %u peer %d len %llu flags %x", op->id,
			 simnet_kind_name(op->kind), op->node, (int)op->peer,
			 (unsigned long long)op->len, op->flags);
		break;
	}
	return ok;
}

/* ---- statistics ------------------------------------------------------------------------------ */

void simnet_node_stats(struct simnet *sn, uint32_t node, struct sdr_rel_stats *out)
{
	memset(out, 0, sizeof(*out));
	if (sn->nodes[node].ep->rel)
		sdr_rel_stats_get(sn->nodes[node].ep->rel, NULL, out);
}

void simnet_stats(struct simnet *sn, struct sdr_rel_stats *out)
{
	sim_eps_stats(&sn->eps, out);
}

bool simnet_check_no_repair(struct simnet *sn)
{
	struct sdr_rel_stats st;

	simnet_stats(sn, &st);
	/*
	 * What is still on its way for an operation that was refused is late, and bad when the
	 * queue pair of its size has been replaced meanwhile.
	 */
	if (st.reshapes && st.pkts_bad <= st.pkts_late)
		st.pkts_bad = 0;
	/* What travels by several paths has gaps. */
	if (sn->cfg.paths > 1)
		st.nack_tx = st.nack_rx = 0;
	if (st.rtx_rack | st.rtx_nack | st.rtx_tlp | st.rtx_rto | st.rtx_spurious | st.nack_tx |
	    st.nack_rx | st.pkts_dup | st.pkts_bad | st.rec_rtx | st.repair_tx)
		simnet_fail(
			sn,
			"I9: clean network, yet rack %llu nack %llu tlp %llu rto %llu spurious %llu nacks %llu "
			"dup %llu late %llu bad %llu rec_rtx %llu",
			(unsigned long long)st.rtx_rack, (unsigned long long)st.rtx_nack,
			(unsigned long long)st.rtx_tlp, (unsigned long long)st.rtx_rto,
			(unsigned long long)st.rtx_spurious, (unsigned long long)st.nack_tx,
			(unsigned long long)st.pkts_dup, (unsigned long long)st.pkts_late,
			(unsigned long long)st.pkts_bad, (unsigned long long)st.rec_rtx);
	return !sn->failed;
}
