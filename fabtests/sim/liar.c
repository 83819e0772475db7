/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: a run.  Settings are drawn first; then one step follows the other: lies,
 * applications, time, restarts; then the lies stop, and the victim is closed in one of several
 * ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/sdr_rand.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "liar.h"
#include "liar_heap.h"
#include "liar_say.h"

uint64_t liar_bits(struct liar_draw *d, uint32_t bytes)
{
	uint64_t v = 0;

	if (d->random) {
		v = sdr_rand64(&d->rng);
		return bytes < 8 ? v & ((1ull << 8 * bytes) - 1) : v;
	}
	for (uint32_t i = 0; i < bytes && d->left; i++, d->left--)
		v |= (uint64_t)*d->in++ << 8 * i;
	return v;
}

uint32_t liar_below(struct liar_draw *d, uint32_t n)
{
	return (uint32_t)(liar_bits(d, n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void draw_cfg(struct liar *l)
{
	static const struct sdr_imm_split splits[] = {
		{ 10, 18, 4 }, { 6, 24, 2 }, { 12, 12, 8 }, { 10, 14, 8 }, { 4, 24, 4 }
	};
	static const struct sdr_scheme_ops *const schemes[] = {
		&sdr_scheme_sr, &sdr_scheme_sr_nack, &sdr_scheme_sr_rto, &sdr_scheme_ec_sr,
		&sdr_scheme_ec, &sdr_scheme_hybrid,  &sdr_scheme_auto,
	};
	static const uint32_t mtus[] = { 256, 1024, 4096 };
	static const uint16_t codes[][2] = { { 2, 1 }, { 8, 4 }, { 1, 3 }, { 32, 8 } };
	struct liar_draw *d = l->d;
	uint32_t mtu = mtus[liar_below(d, 3)], code = liar_below(d, 4);

	sdr_rel_cfg_init(&l->cfg);
	l->cfg.max_overhead = 1;
	l->cfg.timeout_ms = 2000;
	l->cfg.tx_depth = l->cfg.rx_depth = LIAR_DEPTH;
	l->cfg.ec_k = codes[code][0];
	l->cfg.ec_m = codes[code][1];
	l->cfg.scheme = schemes[liar_below(d, 7)];
	l->cfg.cc = liar_one_in(d, 3) ? &sdr_cc_bbr : &sdr_cc_fixed;
	l->cfg.chunk = mtu << liar_below(d, 4);
	l->cfg.split = splits[liar_below(d, 5)];
	l->cfg.channels = (uint8_t)(1 + liar_below(d, 2));
	l->cfg.generations = (uint8_t)(1u << liar_below(d, 3));
	l->cfg.rtt_init_us = liar_one_in(d, 2) ? 0 : 2000;
	l->cfg.inject_max = 64u << liar_below(d, 4);
	l->cfg.ec_code = liar_one_in(d, 3) ? SDR_CODE_XOR : SDR_CODE_MDS;
	l->cfg.ec_chunk_decode = liar_one_in(d, 4);
	l->cfg.ec_scratch = liar_one_in(d, 2) ? 1u << 16 : 1u << 20;
	l->cfg.strangers_max = 1u << 2 * liar_below(d, 4);
	l->cfg.unexp_max = 1ull << (16 + 3 * liar_below(d, 3));
	if (l->cfg.cc == &sdr_cc_fixed)
		l->cfg.rate_bps = 1000000000ull;
	/* What it sends may be marked, and what the liar says of marks counts. */
	l->answers = *l->cfg.cc;
	l->answers.marks = true;
	l->cfg.cc = &l->answers;
	for (uint32_t i = 0; i < LIAR_NODES; i++) {
		l->na[i].mtu = mtu;
		l->na[i].ecn = true;
		l->na[i].rkeyed = (uint8_t)(liar_one_in(d, 3) ? 1 + liar_below(d, 2) : 0);
	}
	l->rma_events = liar_one_in(d, 2);
	l->habits = (uint32_t)liar_bits(d, 2);
	l->habits &= (uint32_t)liar_bits(d, 2);
	for (uint32_t i = 0; i < SDR_ORDER_CLASSES && l->habits & HABIT_TURNS; i++)
		l->cfg.orders.after[i] = (uint8_t)liar_below(d, 1u << SDR_ORDER_CLASSES);
	l->honest_delay = (1 + liar_below(d, 10)) * MS;
	/* half of them have threads that decode, for longer than it takes to be attacked */
	l->job_ns = l->cfg.ec_scratch > 1u << 16 ? l->honest_delay * 4 : 0;
	l->cfg.decode_lend = 1;
	l->network = (struct sdr_sim_link){ .delay_ns = (1 + liar_below(d, 4)) * MS };
	if (liar_one_in(d, 4)) {
		l->network.loss = 0.02;
		l->network.dup = 0.02;
		l->network.jitter_ns = MS;
	}
	l->cfg.berths = liar_one_in(d, 2) ? 1u << 20 : 8u << 20;
	if (!l->verbose)
		return;
	fprintf(stderr,
		"  scheme %s cc %s mtu %u split %u+%u+%u chunk %u rkeyed %u %u %u rma_events %d habits %03x\n",
		l->cfg.scheme->name, l->cfg.cc->name, mtu, l->cfg.split.id_bits,
		l->cfg.split.off_bits, l->cfg.split.user_bits, l->cfg.chunk, l->na[0].rkeyed,
		l->na[1].rkeyed, l->na[2].rkeyed, l->rma_events, l->habits);
}

/* ---- world ----------------------------------------------------------------------------------- */

static bool liar_filter(void *user, struct sdr_sim_packet *p)
{
	struct liar *l = user;

	return !(l->mute && p->src == LIAR_PEER && !(p->flags & SDR_SIM_P_COPY) &&
		 p->kind == SDR_SIM_CTL);
}

static void liar_trace(void *user, uint64_t now, enum sdr_sim_what what,
		       const struct sdr_sim_packet *p)
{
	struct liar *l = user;
	bool sent = what == SDR_SIM_T_SENT || what == SDR_SIM_T_NOROUTE;

	sim_hash_packet(&l->st.trace, now, what, p, sent);
	if (sent)
		liar_seen(l, p);
}

static void liar_eps_failed(void *user, const char *why)
{
	(void)user;
	LIAR_CHECK(false, "L6, L7: %s", why);
}

static void world_open(struct liar *l)
{
	struct sim_eps_attr attr = {
		.world = { .seed = 1,
			   .nodes = LIAR_NODES,
			   .user = l,
			   .filter = liar_filter,
			   .trace = liar_trace },
		.most = { .rounds = LIAR_ROUNDS_MAX, .idle = LIAR_IDLE_MAX },
		.books = LIAR_BOOKS,
		.job_ns = l->job_ns,
		.user = l,
		.progress = liar_progress,
		.fail = liar_eps_failed,
	};
	struct sdr_sim_link clean = { .delay_ns = l->honest_delay };

	LIAR_CHECK(!sim_eps_open(&l->eps, &attr), "no world");
	l->w = l->eps.w;
	sdr_sim_link_set_both(l->w, LIAR_VICTIM, LIAR_HONEST, &clean);
	sdr_sim_link_set_both(l->w, LIAR_VICTIM, LIAR_PEER, &l->network);
	for (uint32_t i = 0; i < LIAR_NODES; i++) {
		l->node[i].l = l;
		l->node[i].idx = i;
		l->node[i].ep = &l->eps.ep[i];
		liar_regions(l, i);
		liar_boot(l, i);
	}
}

/* ---- restarts -------------------------------------------------------------------------------- */

static void talk_forget(struct liar *l)
{
	l->to.tx = l->to.rx = l->from.tx = l->from.rx = NULL;
	l->to.next = l->from.next = sdr_sim_world_now(l->w);
}

static void forget_honest(struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++)
		if (l->op[i].honest)
			l->op[i].honest = false;
}

/* What it had with the honest node is over for both, and that one is new, too. */
static void victim_restart(struct liar *l)
{
	forget_honest(l);
	liar_close(l, LIAR_HONEST, true);
	if (liar_one_in(l->d, 2))
		liar_close(l, LIAR_VICTIM, true);
	else
		liar_shutdown(l, LIAR_VICTIM);
	liar_boot(l, LIAR_HONEST);
	liar_boot(l, LIAR_VICTIM);
	talk_forget(l);
	l->st.restarts++;
}

static void peer_restart(struct liar *l)
{
	bool crash = liar_one_in(l->d, 2);

	if (crash)
		liar_close(l, LIAR_PEER, true);
	else
		liar_shutdown(l, LIAR_PEER);
	liar_boot(l, LIAR_PEER);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void pass_some(struct liar *l)
{
	switch (liar_below(l->d, 16)) {
	case 0:
		liar_pass(l, 1000 * MS);
		break;
	case 1:
	case 2:
		liar_pass(l, 100 * MS);
		break;
	case 3:
	case 4:
	case 5:
		liar_pass(l, 10 * MS);
		break;
	default:
		liar_pass(l, MS * liar_below(l->d, 4));
	}
}

static void step(struct liar *l)
{
	uint32_t k = liar_below(l->d, 64);

	if (k < 40) {
		liar_forge(l);
		if (!liar_one_in(l->d, 4))
			liar_rounds(l);
	} else if (k < 50) {
		liar_app_step(l, LIAR_VICTIM);
	} else if (k < 54) {
		liar_app_step(l, LIAR_PEER);
	} else if (k < 60) {
		pass_some(l);
	} else if (k < 62) {
		l->mute = !l->mute;
	} else if (liar_one_in(l->d, 6)) {
		victim_restart(l);
	} else if (liar_one_in(l->d, 3)) {
		peer_restart(l);
	}
}

/* It answers nothing of what is due, and shows for ever that it lives. */
static void ping_on(struct liar *l)
{
	const struct sdr_rel *rel;
	struct sdr_list *k;

	liar_close(l, LIAR_PEER, true);
	for (uint32_t i = 0; i < l->cfg.timeout_ms + 1500; i += 100) {
		liar_ping(l);
		liar_pass(l, 100 * MS);
	}
	rel = l->node[LIAR_VICTIM].ep->rel;
	sdr_list_each(k, &rel->conn_list) {
		const struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		LIAR_CHECK(!c->pto.due_since ||
				   rel->now - c->pto.due_since <= l->cfg.timeout_ms * MS,
			   "L8: what a peer that only pings owes is waited for");
	}
}

/* The lies have ended; so must the rest. */
static void finish(struct liar *l)
{
	uint32_t how = liar_below(l->d, 5);

	liar_rounds(l);
	if (how == 4)
		ping_on(l);
	if (how == 0) {
		liar_close(l, LIAR_PEER, true);
		liar_pass(l, (l->cfg.timeout_ms + 1500) * MS);
		LIAR_CHECK(!liar_ops_to_peer(l),
			   "L8: an operation to a peer that is silent has not ended");
	} else if (how == 1) {
		l->mute = false;
		liar_pass(l, 200 * MS);
	}
	/* The conversation to its end. */
	for (uint32_t i = 0; i < 400 && (l->to.tx || l->from.tx); i++)
		liar_pass(l, 10 * MS);
	l->to.next = l->from.next = NEVER;
	forget_honest(l);
	if (how < 3)
		liar_shutdown(l, LIAR_VICTIM);
	else
		liar_close(l, LIAR_VICTIM, false);
	liar_close(l, LIAR_PEER, false);
	liar_close(l, LIAR_HONEST, false);
}

void liar_run(struct liar_draw *d, uint32_t steps, bool verbose, struct liar_stats *out)
{
	static struct liar_op ops[LIAR_OPS];
	static struct liar l;
	uint64_t grants;

	memset(&l, 0, sizeof(l));
	l.d = d;
	l.op = ops;
	l.verbose = verbose;
	draw_cfg(&l);
	world_open(&l);
	if (!liar_one_in(d, 4))
		liar_pass(&l, 50 * MS);
	for (uint32_t i = 0; i < steps && (d->random || d->left); i++)
		step(&l);
	finish(&l);
	liar_ops_check(&l);
	for (uint32_t i = 0; i < LIAR_NODES; i++) {
		grants = sim_ep_grants(&l.eps.ep[i]);
		LIAR_CHECK(!grants, "L2: node %u has %llu grants that did not end", i,
			   (unsigned long long)grants);
	}
	l.st.ns = sdr_sim_world_now(l.w);
	liar_ops_free(&l);
	liar_regions_free(&l);
	sim_eps_close(&l.eps);
	*out = l.st;
}
