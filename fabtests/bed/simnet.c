/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's nodes and its clock.
 *
 * One round of a node: progress until it returns 0, then its deadline.  A node gets a round when a
 * packet waits for it, something was posted, or its deadline has come; a stalled node gets none.
 * When no node has anything left to do now, time moves to the earlier of the next event of the
 * network and the next deadline.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_rand.h"
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

static void simnet_mix(struct simnet *sn, uint64_t v)
{
	sn->trace = (sn->trace ^ v) * 0x9fb21c651e98df25ull;
	sn->trace ^= sn->trace >> 29;
}

static void simnet_trace(void *user, uint64_t now, enum sdr_sim_what what,
			 const struct sdr_sim_packet *p)
{
	struct simnet *sn = user;
	const uint8_t *b;
	uint64_t v;

	simnet_mix(sn, now << 4 ^ what);
	simnet_mix(sn, p->seq ^ (uint64_t)p->len << 40 ^ (uint64_t)p->kind << 60);
	simnet_mix(sn, p->va ^ (uint64_t)p->imm << 32);
	if (what == SDR_SIM_T_SENT && p->kind == SDR_SIM_CTL) {
		b = sdr_sim_packet_payload(p);
		for (uint32_t i = 0; i < p->len; i += 8) {
			v = 0;
			memcpy(&v, b + i, p->len - i < 8 ? p->len - i : 8);
			simnet_mix(sn, v);
		}
	}
	if (sn->cfg.verbose > 1)
		fprintf(stderr,
			"%12.6f ms    %s %s %u -> %u, %u bytes, va %llx imm %08x due %.6f\n",
			(double)now / 1e6, p->kind == SDR_SIM_DATA ? "data" : "ctl",
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

static const struct sdr_rel_cbs simnet_cbs = {
	.done = simnet_done,
	.mr_get = simnet_mr_get,
};

int simnet_boot(struct simnet *sn, uint32_t node)
{
	struct simnet_node *nd = &sn->nodes[node];
	struct sdr_rel_attr attr = { .cfg = &sn->cfg.rel, .cbs = &simnet_cbs, .user = nd };
	struct sdr_sim_node_attr na = sn->cfg.node;
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	uint64_t rnd[2];
	int err;

	na.keyed = sn->cfg.keyed[node];
	err = sdr_sim_node_open(sn->w, node, &na, &uc);
	if (err)
		return err;
	rnd[0] = simnet_rand(sn);
	rnd[1] = simnet_rand(sn);
	ctx = sdr_context_create_on(uc, NULL, rnd);
	if (!ctx) {
		err = -errno;
		uc->ops->close(uc);
		return err ? err : -ENOMEM;
	}
	for (int i = 0; i < 4; i++)
		attr.rand[i] = simnet_rand(sn);
	attr.rma_events = sn->cfg.rma_events;
	err = sdr_rel_open(ctx, &attr, &nd->rel);
	if (err) {
		sdr_context_destroy(ctx);
		return err;
	}
	nd->opened++;
	nd->dirty = true;
	memset(nd->peers, 0, sizeof(nd->peers));
	return 0;
}

void simnet_crash(struct simnet *sn, uint32_t node)
{
	struct simnet_node *nd = &sn->nodes[node];

	sdr_sim_node_kill(sn->w, node, true);
	simnet_ops_close_node(sn, node);
	sdr_rel_close(nd->rel);
	nd->rel = NULL;
	sdr_sim_node_kill(sn->w, node, false);
}

bool simnet_shutdown(struct simnet *sn, uint32_t node, uint64_t limit_ns)
{
	struct simnet_node *nd = &sn->nodes[node];
	uint64_t end = simnet_now(sn) + limit_ns;
	bool quiet;

	sdr_rel_shutdown(nd->rel);
	nd->dirty = true;
	while (!(quiet = sdr_rel_quiet(nd->rel)) && simnet_now(sn) < end)
		if (!simnet_advance(sn, end))
			break;
	simnet_ops_close_node(sn, node);
	sdr_rel_close(nd->rel);
	nd->rel = NULL;
	return quiet;
}

struct sdr_peer *simnet_peer(struct simnet *sn, uint32_t node, uint32_t to)
{
	struct simnet_node *nd = &sn->nodes[node];
	struct sdr_uc_addr addr;

	if (!nd->peers[to]) {
		sdr_sim_node_addr(sn->w, to, &addr);
		nd->peers[to] = sdr_rel_peer(nd->rel, &addr);
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
	cfg->rel.scheme = SDR_SCHEME_SR;
	cfg->rel.inject_max = 512;
	cfg->rel.max_overhead = 0;
}

int simnet_open(struct simnet *sn, const struct simnet_cfg *cfg)
{
	struct sdr_sim_world_attr wa = {
		.seed = cfg->seed,
		.nodes = cfg->nodes,
		.virtual_payload = cfg->virtual_payload,
		.link = cfg->link,
		.user = sn,
		.trace = simnet_trace,
	};
	int err;

	memset(sn, 0, sizeof(*sn));
	if (cfg->nodes > SIMNET_NODES_MAX)
		return -EINVAL;
	sn->cfg = *cfg;
	sn->rng = cfg->seed * SDR_RAND_STEP + 1;
	if (cfg->filter)
		wa.filter = simnet_filter;
	sn->w = sdr_sim_world_create(&wa);
	if (!sn->w)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->nodes; i++) {
		sn->nodes[i].sn = sn;
		sn->nodes[i].idx = i;
		sn->nodes[i].deadline = UINT64_MAX;
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
	uint64_t made, ended;

	for (uint32_t i = 0; i < sn->cfg.nodes; i++) {
		sdr_sim_node_grants(sn->w, i, &made, &ended);
		if (made != ended)
			simnet_fail(sn, "I14: node %u made %llu grants and ended %llu", i,
				    (unsigned long long)made, (unsigned long long)ended);
	}
}

bool simnet_close(struct simnet *sn, char *why_out, size_t why_len)
{
	bool ok;

	if (sn->w && !sn->failed)
		simnet_check_memory(sn, 1);
	for (uint32_t i = 0; sn->w && i < sn->cfg.nodes; i++) {
		if (!sn->nodes[i].rel)
			continue;
		simnet_ops_close_node(sn, i);
		sdr_rel_close(sn->nodes[i].rel);
		sn->nodes[i].rel = NULL;
	}
	if (sn->w && !sn->failed)
		simnet_check_memory(sn, 1); /* closing wrote nowhere */
	if (sn->w)
		check_grants(sn);
	ok = !sn->failed;
	if (why_out && why_len)
		snprintf(why_out, why_len, "%s", sn->why);
	simnet_ops_free(sn);
	sdr_sim_world_destroy(sn->w);
	sn->w = NULL;
	return ok;
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void simnet_round(struct simnet *sn, struct simnet_node *nd)
{
	uint64_t now = simnet_now(sn), ms = now / MS_NS;
	bool asked = nd->dirty || sdr_sim_node_pending(sn->w, nd->idx);
	uint32_t n = 0, idle = 0;
	int ret;

	if (!nd->rel || sdr_sim_node_stalled(sn->w, nd->idx))
		return;
	if (!asked && nd->deadline > now)
		return;
	if (!asked) {
		if (nd->wakes_ms != ms) {
			nd->wakes_ms = ms;
			nd->wakes = 0;
		}
		if (++nd->wakes > SIMNET_WAKES_MAX) {
			simnet_fail(sn,
				    "I13: node %u woke up %u times in one ms with nothing to do",
				    nd->idx, SIMNET_WAKES_MAX);
			return;
		}
	}
	do {
		nd->dirty = false;
		while ((ret = sdr_rel_progress(nd->rel)) > 0) {
			sn->rounds++;
			if (sn->failed)
				return;
			if (++n > SIMNET_ROUNDS_MAX) {
				simnet_fail(sn, "I13: node %u always has more to do", nd->idx);
				return;
			}
			if (sdr_sim_world_flying(sn->w) > SIMNET_FLYING_MAX) {
				simnet_fail(
					sn,
					"I13: storm: node %u sent until %llu MiB were under way",
					nd->idx,
					(unsigned long long)sdr_sim_world_flying(sn->w) >> 20);
				return;
			}
		}
		sn->rounds++;
		if (ret < 0) {
			simnet_fail(sn, "node %u: progress says %s", nd->idx, strerror(-ret));
			return;
		}
		nd->deadline = sdr_rel_deadline(nd->rel);
		if (++idle > SIMNET_IDLE_MAX) {
			simnet_fail(
				sn,
				"I13: node %u has nothing to do and its deadline is %llu ns ago",
				nd->idx, (unsigned long long)(now - nd->deadline));
			return;
		}
	} while (nd->deadline <= now && !nd->dirty);
}

bool simnet_advance(struct simnet *sn, uint64_t until)
{
	uint64_t t, d;

	if (sn->failed)
		return false;
	for (uint32_t i = 0; i < sn->cfg.nodes; i++)
		simnet_round(sn, &sn->nodes[i]);
	sn->last_round = simnet_now(sn);
	if (sn->failed)
		return false;
	t = sdr_sim_world_next(sn->w);
	for (uint32_t i = 0; i < sn->cfg.nodes; i++) {
		struct simnet_node *nd = &sn->nodes[i];

		if (!nd->rel || sdr_sim_node_stalled(sn->w, i))
			continue; /* the end of a stall is an event of the world */
		d = nd->dirty ? simnet_now(sn) : nd->deadline;
		t = d < t ? d : t;
	}
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
	if (sn->nodes[node].rel)
		sdr_rel_stats_get(sn->nodes[node].rel, NULL, out);
}

void simnet_stats(struct simnet *sn, struct sdr_rel_stats *out)
{
	struct sdr_rel_stats one;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < sn->cfg.nodes; i++) {
		simnet_node_stats(sn, i, &one);
#define SIMNET_ADD(n) out->n += one.n;
		SDR_REL_STATS(SIMNET_ADD)
#undef SIMNET_ADD
	}
}

bool simnet_check_no_repair(struct simnet *sn)
{
	struct sdr_rel_stats st;

	simnet_stats(sn, &st);
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
