/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random properties: from a seed, a network, its impairments, the settings of the endpoints and a
 * program of operations; then the network heals, everything must complete, and the bench must have
 * nothing to object.
 *
 *   sdr_props [--seed N] [--first N] [--count M] [--paths] [--parity] [--heads] [--twice]
 *             [--keep-going] [-v] [-vv]
 *
 * --seed runs one seed, --first and --count a range (default 1, 1000), --twice each seed twice,
 * comparing the hashes of the traces (always done for every 16th seed).  A failing seed is printed
 * with the command that replays it; --keep-going goes on after it.  -v prints operations, -vv
 * packets too.  In a fourth of the seeds connections change the size of their packets at random.
 * In half of them the endpoints keep orders.
 * Three kinds of impairments: clean (nothing may be sent twice), mild, and brutal.
 * Atomics are mixed in in half of the seeds, very many in some.
 * Beside them, in two of five seeds without devices: paths that do not carry every packet.
 * In seeds with bit 32 set, which --paths adds, connections have several paths (props_lanes.c), in
 * those with bit 33, which --parity adds, devices get parity (props_parity.c), in those with bit
 * 34, which --heads adds, their berths hold only heads; without arguments some of each kind follow
 * the others (props_more).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/sdr_rand.h"
#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/conn/sdr_reshape.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_ceiling.h"
#include "crash_note.h"
#include "props_lanes.h"
#include "props_parity.h"
#include "../bed/fec_pass.h"
#include "../bed/simnet.h"

#define PROPS_BYTES_MAX	   (3u << 20)  /* a seed moves so many bytes, at most */
#define PROPS_BIG	   (1u << 20)  /* largest single operation */
#define PROPS_DRAIN	   8u	       /* receives kept posted while draining, each node and kind */
#define PROPS_HEAL_NS	   (20 * S_NS) /* all must be done so long after the network has healed */
#define PROPS_TAGS	   4u
#define PROPS_FIRST_WINDOW (256u << 10) /* bytes bbr starts with, at most */
#define PROPS_HANG_S	   120u		/* real seconds after which a seed counts as hung */
#define PROPS_PATH_MIN	   1100u	/* bytes of an IP packet that every path carries */
#define PROPS_PATH_NS	   (2 * S_NS)	/* the last change of what a path carries */
#define PROPS_LANES_COUNT  500u		/* seeds with several paths, by default */
#define PROPS_PARITY_COUNT 100u		/* with parity to devices */
#define PROPS_HEADS_COUNT  100u		/* with heads to them; half as many have both */

enum props_network { PROPS_CLEAN, PROPS_MILD, PROPS_BRUTAL };

struct props {
	struct simnet sn;
	struct simnet_cfg cfg;
	enum props_network network;
	uint64_t seed;
	uint64_t bytes;	   /* drawn so far */
	uint64_t quiet_at; /* when the last blackout ends, or a path's last change is over */
	bool narrow;	   /* paths do not carry everything */
	uint64_t path_rng; /* draws them, so that the rest of a seed is the same without */
	bool wishes;	   /* connections change the size of their packets */
	uint64_t wish_rng; /* likewise */
	uint64_t mark_rng; /* likewise, marks and ceilings */
	uint64_t atom_rng; /* likewise, atomics */
	uint8_t marking;   /* enum props_marking */
	struct props_lanes lanes;
	struct props_parity parity;
	struct sdr_cc_ops answers; /* the controller, but that it asks for marks */
	struct sdr_ceiling_word word;
	uint32_t ops;
	uint32_t posted, refused;
	uint32_t sizes_n;
	uint64_t sizes[20];
};

/* What becomes of packets that may be marked. */
enum props_marking {
	MARKING_NONE, /* there are none */
	MARKING_SOME, /* one in ten is */
	MARKING_ALL,
	MARKING_BLEACH,
	MARKING_DROP,
	MARKINGS,
};

static const char *const props_networks[] = { "clean", "mild", "brutal" };

static uint64_t pick(struct props *p, const uint64_t *v, uint32_t n)
{
	return v[simnet_below(&p->sn, n)];
}
#define PICK(p, ...) \
	pick(p, (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)

/* ---- what the seed decides ------------------------------------------------------------------- */

static void draw_link(struct props *p, struct sdr_sim_link *l, bool other)
{
	struct simnet *sn = &p->sn;

	if (!other) {
		l->delay_ns = PICK(p, 5, 50, 500, 2000, 12500, 25000, 60000) * US_NS +
			      simnet_below(sn, 1000);
		l->rate_bps = PICK(p, 0, 50, 100, 1000, 1000, 10000) * 1000000;
	} else if (simnet_chance(sn, 0.3)) { /* asymmetric */
		l->delay_ns = l->delay_ns / 2 + simnet_below(sn, l->delay_ns + 1);
	}
	if (p->network == PROPS_CLEAN)
		return;
	if (p->network == PROPS_MILD) {
		l->loss = simnet_chance(sn, 0.7) ? (double)PICK(p, 100, 1000, 10000) / 1e6 : 0;
		l->dup = simnet_chance(sn, 0.3) ? 0.001 : 0;
		l->reorder = simnet_chance(sn, 0.3) ? 0.01 : 0;
		l->corrupt = simnet_chance(sn, 0.2) ? 0.001 : 0;
		l->jitter_ns = simnet_chance(sn, 0.3) ? l->delay_ns / 20 : 0;
	} else {
		l->loss = simnet_chance(sn, 0.5)
				  ? (double)PICK(p, 10000, 50000, 100000, 300000) / 1e6
				  : 0;
		l->ge_loss =
			simnet_chance(sn, 0.4) ? (double)PICK(p, 10000, 50000, 200000) / 1e6 : 0;
		l->ge_burst = (double)PICK(p, 3, 10, 64);
		l->dup = simnet_chance(sn, 0.5) ? (double)PICK(p, 1, 10, 50) / 1000 : 0;
		l->reorder = simnet_chance(sn, 0.5) ? (double)PICK(p, 10, 50, 200) / 1000 : 0;
		l->corrupt = simnet_chance(sn, 0.3) ? (double)PICK(p, 5, 50) / 1000 : 0;
		l->jitter_ns = simnet_chance(sn, 0.5) ? l->delay_ns / PICK(p, 1, 4, 10) : 0;
		l->loss_byte = simnet_chance(sn, 0.2) ? 2e-5 : 0;
	}
	l->reorder_ns = l->delay_ns / PICK(p, 1, 3, 10) + 100 * US_NS;
	if (simnet_chance(sn, p->network == PROPS_BRUTAL ? 0.3 : 0.15)) {
		l->queue_bytes = PICK(p, 16000, 64000, 250000);
		l->block = simnet_chance(sn, 0.3);
	}
}

/* Lengths around everything that the code counts in. */
static void draw_sizes(struct props *p)
{
	const struct simnet_cfg *c = &p->cfg;

	p->sizes_n = props_parity_sizes(&p->parity, p->sizes);
	if (p->sizes_n)
		return;
#define SIZE(s) (p->sizes[p->sizes_n++] = (s))
	SIZE(0);
	SIZE(1);
	SIZE(7);
	SIZE(8);
	SIZE(64);
	SIZE(300);
	SIZE(1000);
	SIZE(c->node.mtu - 1);
	SIZE(c->node.mtu);
	SIZE(c->node.mtu + 1);
	SIZE(c->rel.chunk > 1 ? c->rel.chunk - 1 : 1);
	SIZE(c->rel.chunk);
	SIZE(c->rel.chunk + 1);
	SIZE(10000);
	SIZE(65536);
	SIZE(3 * c->rel.chunk + 5);
	SIZE(200000);
	if (p->network != PROPS_BRUTAL)
		SIZE(PROPS_BIG);
#undef SIZE
}

static uint64_t path_below(struct props *p, uint64_t n)
{
	return sdr_rand64(&p->path_rng) % n;
}

static uint32_t draw_path_mtu(struct props *p)
{
	static const uint32_t usual[] = { PROPS_PATH_MIN, 1280, 1420, 1500, 4164, 9000 };
	uint32_t i = (uint32_t)path_below(p, 2 * sizeof(usual) / sizeof(*usual));

	return i < sizeof(usual) / sizeof(*usual) ? usual[i]
						  : PROPS_PATH_MIN + (uint32_t)path_below(p, 8000);
}

/* Sides whose devices differ; what their paths carry is drawn when the links are there. */
static void draw_paths(struct props *p)
{
	static const uint32_t mtu[] = { 1024, 1436, 4096, 8192 };
	struct simnet_cfg *c = &p->cfg;

	p->path_rng = p->seed ^ 0x9a7b;
	p->narrow = path_below(p, 5) < 2;
	for (uint32_t i = 0; i < c->nodes; i++)
		p->narrow &= !c->rkeyed[i]; /* devices do not cut */
	c->node.no_probe = !p->narrow && path_below(p, 4);
	for (uint32_t i = 0; p->narrow && i < c->nodes; i++)
		if (path_below(p, 2))
			c->mtu[i] = mtu[path_below(p, sizeof(mtu) / sizeof(*mtu))];
}

/*
 * What the way from a to b carries: from the start, or from some time on, once or several times,
 * with and without a word to the sender; or the sender's own route does not carry more.
 */
static void set_path(struct props *p, uint32_t a, uint32_t b)
{
	uint64_t when = simnet_now(&p->sn), end = when + PROPS_PATH_NS;
	bool icmp = path_below(p, 2);

	if (!path_below(p, 4))
		return;
	if (!path_below(p, 8))
		sdr_sim_node_route(p->sn.w, a, draw_path_mtu(p));
	sdr_sim_link_mtu(p->sn.w, a, b, path_below(p, 3) ? draw_path_mtu(p) : 0, icmp);
	while (path_below(p, 2) && when < end) {
		when += path_below(p, path_below(p, 2) ? PROPS_PATH_NS : 50 * MS_NS);
		if (when > end)
			when = end;
		sdr_sim_link_mtu_at(p->sn.w, when, a, b, path_below(p, 4) ? draw_path_mtu(p) : 0,
				    icmp);
	}
	p->quiet_at = when > p->quiet_at ? when : p->quiet_at;
}

/* ---- the size of packets changes ------------------------------------------------------------- */

static uint32_t wish_below(struct props *p, uint32_t n)
{
	return (uint32_t)(sdr_rand64(&p->wish_rng) % n);
}

static void draw_wishes(struct props *p)
{
	p->wish_rng = p->seed ^ 0x5a9e;
	p->wishes = !wish_below(p, 4);
}

/* The endpoints know how to, though they may not look for the size that a path carries. */
static void set_wishes(struct props *p)
{
	for (uint32_t i = 0; p->wishes && i < p->cfg.nodes; i++)
		if (!p->cfg.rkeyed[i])
			p->sn.nodes[i].ep->rel->features |= SDR_FEATURE_SHAPE;
}

static void do_wish(struct props *p)
{
	static const uint32_t mtu[] = { 256, 300, 512, 1000, 1024, 1408, 2048, 4096, 8192 };
	uint32_t n, to;

	if (!p->wishes || wish_below(p, 2))
		return;
	n = wish_below(p, p->cfg.nodes);
	to = (n + 1 + wish_below(p, p->cfg.nodes - 1)) % p->cfg.nodes;
	if (!p->sn.nodes[n].ep->rel || !p->sn.nodes[n].peers[to] ||
	    !p->sn.nodes[n].peers[to]->conn ||
	    sdr_reshape_want(p->sn.nodes[n].peers[to]->conn,
			     mtu[wish_below(p, sizeof(mtu) / sizeof(*mtu))]))
		return;
	p->sn.nodes[n].ep->dirty = true;
}

/* ---- marks and ceilings ---------------------------------------------------------------------- */

static uint64_t mark_below(struct props *p, uint64_t n)
{
	return sdr_rand64(&p->mark_rng) % n;
}

static bool mark_filter(void *user, struct sdr_sim_packet *pkt)
{
	struct props *p = user;

	if (pkt->ecn == SDR_UC_NOT_ECT)
		return true;
	switch (p->marking) {
	case MARKING_SOME:
		if (!mark_below(p, 10))
			pkt->ecn = SDR_UC_CE;
		break;
	case MARKING_ALL:
		pkt->ecn = SDR_UC_CE;
		break;
	case MARKING_BLEACH:
		pkt->ecn = SDR_UC_NOT_ECT;
		break;
	case MARKING_DROP:
		return false;
	}
	return true;
}

/* Whatever the controller does about marks: that they come, and how, must harm nothing. */
static void draw_marks(struct props *p)
{
	struct simnet_cfg *c = &p->cfg;

	p->mark_rng = p->seed ^ 0xec4;
	p->marking = (uint8_t)mark_below(p, 2 * MARKINGS);
	if (p->marking >= MARKINGS)
		p->marking = MARKING_SOME;
	if (p->network == PROPS_CLEAN && p->marking == MARKING_DROP)
		p->marking = MARKING_BLEACH;
	if (p->marking) {
		p->answers = *c->rel.cc;
		p->answers.marks = true;
		c->rel.cc = &p->answers;
		c->node.ecn = true;
		c->user = p;
		c->filter = mark_filter;
	}
	if (!mark_below(p, 4)) {
		c->rel.rate_max_bps = 1000000000ull << mark_below(p, 6);
		c->rel.ceiling = mark_below(p, 2) ? &p->word : NULL;
	}
}

/* In half of the seeds some operations must follow others. */
static void draw_orders(struct props *p)
{
	uint64_t rng = p->seed ^ 0x04de4;

	if (sdr_rand64(&rng) % 2)
		return;
	for (uint32_t i = 0; i < SDR_ORDER_CLASSES; i++)
		p->cfg.rel.orders.after[i] =
			(uint8_t)(sdr_rand64(&rng) % (1u << SDR_ORDER_CLASSES));
}

static void device_writes(void *user)
{
	struct props *p = user;

	props_parity_pass(&p->parity, &p->sn);
}

/* Of two seeds one has threads that decode whatever they can, of their own draws. */
static void draw_jobs(struct props *p)
{
	uint64_t h = (p->seed ^ 0xdec0de) * 0x9e3779b97f4a7c15ull;

	if (h >> 63)
		return;
	p->cfg.job_ns = 1 + (h >> 20) % (h >> 62 & 1 ? 200 * MS_NS : 5 * MS_NS);
	p->cfg.rel.decode_lend = 1;
}

static void draw_cfg(struct props *p)
{
	static const struct {
		struct sdr_imm_split s;
		uint8_t gens;
	} geo[] = {
		{ { 10, 18, 4 }, 4 }, { { 10, 18, 4 }, 4 }, { { 8, 22, 2 }, 4 },
		{ { 4, 24, 4 }, 16 }, { { 6, 22, 4 }, 8 },  { { 12, 16, 4 }, 2 },
		{ { 10, 22, 0 }, 4 },
	};
	static const struct sdr_scheme_ops *const schemes[] = {
		&sdr_scheme_sr,	    &sdr_scheme_sr,    &sdr_scheme_sr, &sdr_scheme_sr_nack,
		&sdr_scheme_sr_rto, &sdr_scheme_ec_sr, &sdr_scheme_ec, &sdr_scheme_ec,
		&sdr_scheme_hybrid, &sdr_scheme_auto,
	};
	struct simnet_cfg *c = &p->cfg;
	struct simnet *sn = &p->sn;
	uint32_t g = (uint32_t)simnet_below(sn, sizeof(geo) / sizeof(*geo));

	c->nodes = (uint32_t)PICK(p, 2, 2, 2, 3, 4);
	p->network = simnet_chance(sn, 0.2)   ? PROPS_CLEAN
		     : simnet_chance(sn, 0.7) ? PROPS_MILD
					      : PROPS_BRUTAL;
	draw_link(p, &c->link, false);
	c->node.mtu = (uint32_t)PICK(p, 256, 512, 1024, 1408, 2048, 4096, 4096);
	c->node.report_late = simnet_chance(sn, 0.1);
	if (p->network != PROPS_CLEAN && simnet_chance(sn, 0.25))
		c->node.rx_window = (uint32_t)PICK(p, 65536, 131072, 212992);
	c->rel.scheme = schemes[simnet_below(sn, sizeof(schemes) / sizeof(*schemes))];
	c->rel.ec_code = (uint8_t)PICK(p, SDR_CODE_MDS, SDR_CODE_MDS, SDR_CODE_XOR);
	c->rel.ec_k = (uint16_t)PICK(p, 1, 2, 10, 32, 32, 64, 128);
	c->rel.ec_m = (uint16_t)PICK(p, 1, 2, 4, 8, 8, 16);
	c->rel.ec_chunk_decode = simnet_chance(sn, 0.25);
	c->rel.ec_scratch = PICK(p, 0, 0, 0, 1 << 20, 1 << 16);
	c->rel.objective = (uint8_t)simnet_below(sn, 3);
	c->rel.max_overhead = (double)PICK(p, 0, 25, 25, 100, 400) / 100;
	c->rel.cc = simnet_chance(sn, 0.5) ? &sdr_cc_bbr : &sdr_cc_fixed;
	if (c->rel.cc->provisioned)
		c->rel.rate_bps = c->link.rate_bps ? c->link.rate_bps / 10 * 9 : 1000000000;
	c->rel.chunk = (uint32_t)PICK(p, 1, 4096, 16384, 65536, 65536); /* 1: becomes the mtu */
	c->rel.split = geo[g].s;
	c->rel.generations = geo[g].gens;
	c->rel.channels = (uint8_t)PICK(p, 1, 1, 2, 4);
	c->rel.tx_depth = (uint32_t)PICK(p, 8, 64, 1024);
	c->rel.rx_depth = 4096;
	c->rel.inject_max = (uint32_t)PICK(p, 64, 256);
	c->tick_ns = PICK(p, 0, 0, 5 * US_NS, 50 * US_NS);
	c->rma_events = simnet_chance(sn, 0.3);
	c->ro_len = 1 << 18;
	c->wo_len = 1 << 21;
	p->ops = 5 + (uint32_t)simnet_below(sn, simnet_chance(sn, 0.2) ? 150 : 50);
	/*
	 * Last, so that the rest of a seed is the same with and without: all are devices, some are,
	 * none is.
	 */
	if (simnet_chance(sn, 0.5)) {
		bool all = simnet_chance(sn, 0.5);

		for (uint32_t i = 0; i < c->nodes; i++)
			if (all || simnet_chance(sn, 0.5))
				c->rkeyed[i] =
					(uint8_t)PICK(p, SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_ROOT);
	}
	props_parity_draw(&p->parity, c);
	if (p->parity.on && p->network == PROPS_CLEAN)
		p->network = PROPS_MILD;
	draw_sizes(p);
	draw_paths(p);
	draw_wishes(p);
	draw_marks(p);
	p->atom_rng = p->seed ^ 0xa70;
	draw_orders(p);
	props_lanes_draw(&p->lanes, c, p->network == PROPS_CLEAN);
	draw_jobs(p);
}

static void print_cfg(const struct props *p)
{
	const struct simnet_cfg *c = &p->cfg;
	const struct sdr_sim_link *l = &c->link;

	fprintf(stderr,
		"seed %llu: %s, %u nodes, %u operations, mtu %u chunk %u split %u+%u+%u gens %u channels %u, "
		"scheme %s cc %s rate %.3g, tx_depth %u, rx_window %u%s, tick %llu ns\n  first link: rate %.3g "
		"delay %.3f ms queue %llu%s "
		"loss %g ge %g/%g dup %g reorder %g (%.3f ms) jitter %.3f ms corrupt %g\n",
		(unsigned long long)p->seed, props_networks[p->network], c->nodes, p->ops,
		c->node.mtu, c->rel.chunk, c->rel.split.id_bits, c->rel.split.off_bits,
		c->rel.split.user_bits, c->rel.generations, c->rel.channels, c->rel.scheme->name,
		c->rel.cc->name, (double)c->rel.rate_bps, c->rel.tx_depth, c->node.rx_window,
		c->node.report_late ? " late reported" : "", (unsigned long long)c->tick_ns,
		(double)l->rate_bps, (double)l->delay_ns / 1e6, (unsigned long long)l->queue_bytes,
		l->block ? " blocking" : "", l->loss, l->ge_loss, l->ge_burst, l->dup, l->reorder,
		(double)l->reorder_ns / 1e6, (double)l->jitter_ns / 1e6, l->corrupt);
	if (c->rel.scheme->plan)
		fprintf(stderr,
			"  parity: code %u k %u m %u%s, buffers %llu, objective %u, at most %.2f of the data\n",
			c->rel.ec_code, c->rel.ec_k, c->rel.ec_m,
			c->rel.ec_chunk_decode ? " by chunks" : "",
			(unsigned long long)c->rel.ec_scratch, c->rel.objective,
			c->rel.max_overhead);
	for (uint32_t i = 0; i < c->nodes; i++)
		if (c->rkeyed[i])
			fprintf(stderr, "  node %u is rkeyed: %s\n", i,
				c->rkeyed[i] == SDR_SIM_RKEYED_MR ? "mr" : "root");
	if (p->marking || c->rel.rate_max_bps)
		fprintf(stderr, "  marking %u, ceiling %g%s\n", p->marking,
			(double)c->rel.rate_max_bps, c->rel.ceiling ? " shared" : "");
	fprintf(stderr, "  orders: reads after %x, writes %x, messages %x\n",
		c->rel.orders.after[SDR_ORDER_READ], c->rel.orders.after[SDR_ORDER_WRITE],
		c->rel.orders.after[SDR_ORDER_SEND]);
	for (uint32_t i = 0; p->narrow && i < c->nodes; i++)
		fprintf(stderr, "  narrow paths from node %u, mtu %u\n", i,
			c->mtu[i] ? c->mtu[i] : c->node.mtu);
	props_lanes_print(&p->lanes, c);
}

static void set_impairments(struct props *p)
{
	struct simnet *sn = &p->sn;
	uint64_t now = simnet_now(sn), from, len;

	p->quiet_at = now;
	for (uint32_t a = 0; a < p->cfg.nodes; a++) {
		for (uint32_t b = 0; b < p->cfg.nodes; b++) {
			struct sdr_sim_link l = p->cfg.link;

			if (a == b) {
				l = (struct sdr_sim_link){ .delay_ns = 1000 };
			} else {
				l.loss = l.ge_loss = l.dup = l.reorder = l.corrupt = l.loss_byte =
					0;
				draw_link(p, &l, true);
				props_parity_set(&p->parity, &l);
			}
			sdr_sim_link_set(sn->w, a, b, &l);
			if (a != b && p->narrow)
				set_path(p, a, b);
			if (a == b || p->network != PROPS_BRUTAL || !simnet_chance(sn, 0.3))
				continue;
			from = now + simnet_below(sn, 300 * MS_NS);
			len = simnet_below(sn, simnet_chance(sn, 0.3) ? 2 * S_NS : 100 * MS_NS);
			if (simnet_chance(sn, 0.5))
				sdr_sim_blackout(sn->w, a, b, from, from + len);
			else
				sdr_sim_blackout_both(sn->w, a, b, from, from + len);
			p->quiet_at = from + len > p->quiet_at ? from + len : p->quiet_at;
		}
	}
	props_lanes_set(&p->lanes, sn);
	if (p->lanes.quiet_at > p->quiet_at)
		p->quiet_at = p->lanes.quiet_at;
}

/* The network heals; delays, rates, what paths carry and the receivers' windows stay. */
static void heal(struct props *p)
{
	struct sdr_sim_link l;

	for (uint32_t a = 0; a < p->cfg.nodes; a++) {
		for (uint32_t b = 0; b < p->cfg.nodes; b++) {
			sdr_sim_link_get(p->sn.w, a, b, &l);
			l = (struct sdr_sim_link){ .rate_bps = l.rate_bps,
						   .delay_ns = l.delay_ns,
						   .mtu = l.mtu,
						   .icmp = l.icmp };
			sdr_sim_link_set(p->sn.w, a, b, &l);
		}
	}
	props_lanes_heal(&p->lanes, &p->sn);
}

/* ---- the program ----------------------------------------------------------------------------- */

static uint64_t draw_size(struct props *p)
{
	uint64_t n = p->sizes[simnet_below(&p->sn, p->sizes_n)];

	if (simnet_chance(&p->sn, 0.5))
		n = p->sizes[simnet_below(&p->sn, 7)];
	if (p->bytes + n > (p->parity.on ? 4 : 1) * PROPS_BYTES_MAX)
		n = simnet_below(&p->sn, 64);
	p->bytes += n;
	return n;
}

/* Posts; when the endpoint is full, waits for it a little. */
static void post(struct props *p, uint32_t node, const struct simnet_wr *w)
{
	for (int tries = 0; tries < 5 && !p->sn.failed; tries++) {
		if (simnet_post(&p->sn, node, w)) {
			p->posted++;
			return;
		}
		simnet_run_for(&p->sn, simnet_below(&p->sn, 4 * p->cfg.link.delay_ns + MS_NS));
	}
	p->refused++;
}

static void do_send(struct props *p, bool tagged)
{
	struct simnet *sn = &p->sn;
	struct simnet_wr w = { .kind = tagged ? SDR_REL_TSEND : SDR_REL_SEND };
	uint32_t node = (uint32_t)simnet_below(sn, p->cfg.nodes);

	w.peer = (uint32_t)simnet_below(sn, p->cfg.nodes);
	if (w.peer == node && simnet_chance(sn, 0.8))
		w.peer = (node + 1) % p->cfg.nodes;
	w.len = draw_size(p);
	w.tag = tagged ? simnet_below(sn, PROPS_TAGS) : 0;
	if (simnet_chance(sn, 0.75))
		w.flags |= SDR_REL_F_DATA;
	if (w.len <= p->cfg.rel.inject_max && simnet_chance(sn, 0.3))
		w.flags |= SDR_REL_F_INJECT | (simnet_chance(sn, 0.5) ? SDR_REL_F_SILENT : 0);
	else if (simnet_chance(sn, 0.25))
		w.flags |= SDR_REL_F_DELIVERY;
	if (simnet_chance(sn, 0.05))
		w.flags |= SDR_REL_F_FENCE;
	if (!(w.flags & SDR_REL_F_DELIVERY) && simnet_chance(sn, 0.2))
		w.flags |= SDR_REL_F_EARLY;
	if (w.len > 1 && simnet_chance(sn, 0.3))
		w.parts = (uint8_t)(1 + simnet_below(sn, SDR_REL_IOV_MAX));
	post(p, node, &w);
}

static void do_recv(struct props *p)
{
	struct simnet *sn = &p->sn;
	struct simnet_wr w = { .kind = simnet_chance(sn, 0.5) ? SDR_REL_TRECV : SDR_REL_RECV,
			       .peer = SIMNET_NOBODY };
	double x = (double)simnet_below(sn, 1000) / 1000;

	if (simnet_chance(sn, 0.4))
		w.peer = (uint32_t)simnet_below(sn, p->cfg.nodes);
	if (w.kind == SDR_REL_TRECV) {
		w.tag = simnet_below(sn, PROPS_TAGS);
		w.ignore = simnet_chance(sn, 0.4) ? PROPS_TAGS - 1 : simnet_chance(sn, 0.2) ? 1 : 0;
	}
	w.len = simnet_chance(sn, 0.7) ? PROPS_BIG : p->sizes[simnet_below(sn, p->sizes_n)];
	if (x < 0.12) {
		w.flags = SDR_REL_R_PEEK;
		if (simnet_chance(sn, 0.3))
			w.flags |= SDR_REL_R_CLAIM;
		if (simnet_chance(sn, 0.2))
			w.flags |= SDR_REL_R_DISCARD;
	} else if (x < 0.2) {
		w.flags = SDR_REL_R_MULTI;
		w.len = PICK(p, 1000, 10000, 300000);
		w.min_multi = PICK(p, 0, 64, 1024);
		w.kind = SDR_REL_RECV;
		w.tag = w.ignore = 0;
	} else if (w.len && simnet_chance(sn, 0.3)) {
		w.parts = (uint8_t)(1 + simnet_below(sn, SDR_REL_IOV_MAX));
	}
	post(p, (uint32_t)simnet_below(sn, p->cfg.nodes), &w);
}

static void do_rma(struct props *p)
{
	struct simnet *sn = &p->sn;
	struct simnet_wr w = { .kind = simnet_chance(sn, 0.6) ? SDR_REL_WRITE : SDR_REL_READ };
	uint32_t node = (uint32_t)simnet_below(sn, p->cfg.nodes);

	w.peer = (uint32_t)simnet_below(sn, p->cfg.nodes);
	w.len = draw_size(p);
	if (w.kind == SDR_REL_READ) {
		if (w.len > p->cfg.ro_len)
			w.len = p->cfg.ro_len;
		w.rma_key = SIMNET_KEY_RO;
		w.rma_addr = simnet_below(sn, p->cfg.ro_len - w.len + 1);
	} else {
		w.rma_key = SIMNET_KEY_WO;
		if (simnet_chance(sn, 0.4))
			w.flags |= SDR_REL_F_DATA;
		if (simnet_chance(sn, 0.4))
			w.flags |= SDR_REL_F_DELIVERY;
		else if (w.len <= p->cfg.rel.inject_max && simnet_chance(sn, 0.4))
			w.flags |= SDR_REL_F_INJECT;
	}
	if (simnet_chance(sn, 0.12)) { /* refused at the target: wrong key, access or bounds */
		w.must_fail = true;
		w.flags &= (uint16_t) ~(SDR_REL_F_DATA | SDR_REL_F_INJECT);
		w.flags |= w.kind == SDR_REL_WRITE ? SDR_REL_F_DELIVERY : 0;
		if (simnet_chance(sn, 0.3)) {
			w.rma_key = 77;
		} else if (simnet_chance(sn, 0.5)) {
			w.rma_key = w.kind == SDR_REL_READ ? SIMNET_KEY_WO : SIMNET_KEY_RO;
		} else {
			w.rma_addr = w.kind == SDR_REL_READ ? p->cfg.ro_len - w.len + 1
							    : p->cfg.wo_len + 1;
		}
	}
	if (w.len > 1 && simnet_chance(sn, 0.2))
		w.parts = (uint8_t)(1 + simnet_below(sn, SDR_REL_IOV_MAX));
	if (simnet_chance(sn, 0.05))
		w.flags |= SDR_REL_F_FENCE;
	post(p, node, &w);
}

static uint32_t atom_below(struct props *p, uint32_t n)
{
	return (uint32_t)(sdr_rand64(&p->atom_rng) % n);
}

/* Tickets, and 1 added to many words: one record, some, or as many parts as there can be. */
static void do_atomic(struct props *p)
{
	static const uint32_t words[] = { 1, 1, 1, 2, 10, 96, 97, 300, 2048 };
	struct simnet_wr w = { .rma_key = SIMNET_KEY_AT };
	uint32_t node = atom_below(p, p->cfg.nodes);

	w.peer = atom_below(p, p->cfg.nodes);
	w.words = words[atom_below(p, p->network == PROPS_CLEAN ? 6 : 9)];
	w.kind = w.words == 1 || atom_below(p, 2) ? SDR_REL_FETCH_ATOMIC : SDR_REL_ATOMIC;
	w.len = 8ull * w.words;
	w.parts = (uint8_t)(1 + atom_below(p, SDR_REL_IOV_MAX));
	if (!atom_below(p, 10))
		w.flags |= SDR_REL_F_FENCE;
	if (w.len <= p->cfg.rel.inject_max && !atom_below(p, 3))
		w.flags |= SDR_REL_F_INJECT | (atom_below(p, 2) ? SDR_REL_F_EARLY : 0);
	if (!atom_below(p, 12)) {
		w.must_fail = true;
		w.flags = 0;
		w.rma_key = 77;
	}
	post(p, node, &w);
}

/* None in half of the seeds, many in some. */
static void do_atomics(struct props *p)
{
	uint32_t often = p->seed % 8 < 4 ? 0 : p->seed % 8 == 7 ? 8 : 1;

	for (uint32_t n = often ? atom_below(p, often + 1) : 0; n && !p->sn.failed; n--)
		do_atomic(p);
}

static void do_cancel(struct props *p)
{
	struct simnet *sn = &p->sn;

	for (int tries = 0; tries < 10 && sn->nops; tries++) {
		struct simnet_op *op = sn->ops[simnet_below(sn, sn->nops)];

		if (!simnet_is_recv(op->kind) || simnet_op_done(op) || op->flags & SDR_REL_R_PEEK)
			continue;
		simnet_cancel(sn, op);
		return;
	}
}

/* Claimed messages are taken or dropped. */
static void do_claims(struct props *p, bool all)
{
	struct simnet *sn = &p->sn;

	for (uint32_t i = 0; i < sn->nops && !sn->failed; i++) {
		struct simnet_op *op = sn->ops[i];

		if (op->claimed && simnet_op_done(op) && (all || simnet_chance(sn, 0.5)))
			simnet_claim(sn, op, simnet_chance(sn, 0.4) ? SDR_REL_R_DISCARD : 0);
	}
}

static void do_trouble(struct props *p)
{
	struct simnet *sn = &p->sn;
	uint32_t a = (uint32_t)simnet_below(sn, p->cfg.nodes),
		 b = (uint32_t)simnet_below(sn, p->cfg.nodes);
	struct sdr_sim_link l;

	if (p->network == PROPS_CLEAN)
		return;
	if (simnet_chance(sn, 0.5)) {
		sdr_sim_node_stall(sn->w, a, simnet_now(sn) + simnet_below(sn, 200 * MS_NS));
	} else if (a != b) { /* the path changes */
		sdr_sim_link_get(sn->w, a, b, &l);
		l.delay_ns = l.delay_ns / 2 + simnet_below(sn, l.delay_ns + 1);
		l.rate_bps = l.rate_bps / 2;
		sdr_sim_link_set(sn->w, a, b, &l);
	}
}

/*
 * Receives that take every message there will be, posted before the first send: what law 6 is
 * about.
 */
static void post_ahead(struct props *p)
{
	for (uint32_t n = 0; n < p->cfg.nodes; n++) {
		for (uint32_t i = 0; i < 2 * p->ops; i++) {
			struct simnet_wr w = { .kind = i & 1 ? SDR_REL_RECV : SDR_REL_TRECV,
					       .peer = SIMNET_NOBODY,
					       .len = i < 2 * 8 ? PROPS_BIG : 210000,
					       .ignore = UINT64_MAX };

			post(p, n, &w);
		}
	}
}

static void program(struct props *p)
{
	struct simnet *sn = &p->sn;
	bool clean = p->network == PROPS_CLEAN;
	double x;

	if (clean) {
		p->sizes_n = 17; /* none larger than the receives posted */
		p->ops = p->ops < 30 ? p->ops : 30;
		post_ahead(p);
	}
	for (uint32_t i = 0; i < p->ops && !sn->failed; i++) {
		x = (double)simnet_below(sn, 1000) / 1000;
		if (x < 0.25)
			do_send(p, false);
		else if (x < 0.5)
			do_send(p, true);
		else if (x < 0.68 || clean)
			do_rma(p);
		else if (x < 0.92)
			do_recv(p);
		else if (x < 0.95)
			do_cancel(p);
		else if (x < 0.97)
			do_trouble(p);
		do_claims(p, false);
		do_wish(p);
		do_atomics(p);
		if (simnet_chance(sn, 0.6))
			simnet_run_for(sn, simnet_below(sn, simnet_chance(sn, 0.2) ? 20 * MS_NS
										   : 500 * US_NS));
		if (i % 8 == 0)
			simnet_check_memory(sn, 4);
	}
}

/* ---- draining -------------------------------------------------------------------------------- */

/*
 * Posts receives for what is still to come; *open: something is not done yet.  True: it posted
 * something.
 */
static bool drain_step(struct props *p, bool *open)
{
	struct simnet *sn = &p->sn;
	uint32_t left[SIMNET_NODES_MAX][2] = { { 0 } }, posted[SIMNET_NODES_MAX][2] = { { 0 } };
	bool any = false;

	*open = false;
	for (uint32_t i = 0; i < sn->nops; i++) {
		struct simnet_op *op = sn->ops[i];

		if (simnet_is_send(op->kind)) {
			left[op->peer][op->kind == SDR_REL_TSEND] += !op->consumed;
			*open |= !op->consumed && !sn->unknown;
		}
		if (!simnet_is_recv(op->kind))
			*open |= !simnet_op_done(op);
		else if (!simnet_op_done(op) && op->peer == SIMNET_NOBODY && op->len == PROPS_BIG &&
			 (op->kind == SDR_REL_RECV || op->ignore == UINT64_MAX))
			posted[op->node][op->kind == SDR_REL_TRECV]++;
	}
	for (uint32_t n = 0; n < p->cfg.nodes; n++) {
		for (int t = 0; t < 2; t++) {
			struct simnet_wr w = { .kind = t ? SDR_REL_TRECV : SDR_REL_RECV,
					       .peer = SIMNET_NOBODY,
					       .len = PROPS_BIG,
					       .ignore = UINT64_MAX };

			if (posted[n][t] < PROPS_DRAIN && posted[n][t] < left[n][t] &&
			    simnet_post(sn, n, &w))
				any = true;
		}
	}
	return any;
}

static bool drained(void *arg)
{
	struct props *p = arg;
	bool open;

	while (drain_step(p, &open) && !p->sn.failed)
		;
	return !open;
}

static void drain(struct props *p)
{
	struct simnet *sn = &p->sn;

	do_claims(p, true);
	simnet_run_cond(sn, drained, p, PROPS_HEAL_NS,
			"I8: everything arrives after the network healed");
	if (sn->failed && !strstr(sn->why, "I8"))
		return;
	if (sn->failed) {
		size_t n = strlen(sn->why);

		for (uint32_t i = 0; i < sn->nops; i++) {
			struct simnet_op *op = sn->ops[i];

			if (simnet_is_recv(op->kind) ||
			    (simnet_op_done(op) && (op->consumed || !simnet_is_send(op->kind))))
				continue;
			snprintf(sn->why + n, sizeof(sn->why) - n,
				 "; open: %s %u node %u to %u len %llu flags %x done %u "
				 "consumed %d",
				 simnet_kind_name(op->kind), op->id, op->node, op->peer,
				 (unsigned long long)op->len, op->flags, op->done, op->consumed);
			return;
		}
		return;
	}
	for (uint32_t i = 0; i < sn->nops && !sn->failed; i++)
		if (simnet_is_recv(sn->ops[i]->kind) && !simnet_op_done(sn->ops[i]))
			simnet_cancel(sn, sn->ops[i]);
	simnet_run_all(sn, 2 * S_NS);
}

/* I10, and gauges that cannot be. */
static void check_stats(struct props *p, int verbose)
{
	struct simnet *sn = &p->sn;
	struct sdr_rel_stats st;
	struct sdr_stats sdk = { .size = sizeof(sdk) };
	uint64_t chunks = 0;
	bool failed = false;

	simnet_stats(sn, &st);
	if (verbose && p->wishes)
		fprintf(stderr, "  packets changed their size %llu times\n",
			(unsigned long long)st.reshapes);
	if (st.loss_ppm > 1000000 * p->cfg.nodes)
		simnet_fail(sn, "loss estimate %llu ppm", (unsigned long long)st.loss_ppm);
	for (uint32_t i = 0; i < p->cfg.nodes; i++) {
		sdr_context_stats(sdr_rel_context(sn->nodes[i].ep->rel), &sdk);
		chunks += sdk.chunks_rx;
	}
	for (uint32_t i = 0; i < sn->nops; i++) /* what was refused or cut was sent in part */
		failed |= sn->ops[i]->cqe.err && sn->ops[i]->cqe.err != -ECANCELED &&
			  sn->ops[i]->cqe.err != -ENOMSG;
	/* With parity the message tables count its chunks, too, and none that came out of it. */
	if (!p->cfg.rel.scheme->plan && (st.chunks_fec || st.parity_tx || st.repair_tx ||
					 (!failed && st.chunks_direct + st.chunks_rtx != chunks)))
		simnet_fail(sn,
			    "I10: %llu chunks direct, %llu sent again, %llu decoded; %llu arrived",
			    (unsigned long long)st.chunks_direct, (unsigned long long)st.chunks_rtx,
			    (unsigned long long)st.chunks_fec, (unsigned long long)chunks);
}

/*
 * I9 is a promise of sr.  The plain schemes have timers that know nothing of queues, and bbr fills
 * a queue when it starts: where its first window takes longer to leave than a timer can know of,
 * nothing is promised.
 */
static bool no_repair_expected(const struct props *p)
{
	const struct simnet_cfg *c = &p->cfg;
	uint64_t queue_ns = c->link.rate_bps ? PROPS_FIRST_WINDOW * 8 * S_NS / c->link.rate_bps : 0;

	if (p->network != PROPS_CLEAN || p->narrow || p->lanes.on ||
	    c->rel.scheme == &sdr_scheme_sr_rto)
		return false;
	if (c->rel.cc == &sdr_cc_fixed)
		return true;
	return c->rel.scheme != &sdr_scheme_sr_nack && queue_ns <= (c->link.delay_ns + MS_NS) / 2;
}

/* Runs one seed; true when all was well. *hash: of the trace. */
static bool run_seed(uint64_t seed, int verbose, uint64_t *hash, char *why, size_t why_len)
{
	static struct props p;
	struct simnet *sn = &p.sn;
	bool ok;

	memset(&p, 0, sizeof(p));
	p.seed = seed;
	simnet_cfg_default(&p.cfg);
	sn->rng = seed ^ 0x5d7; /* for drawing; simnet_open makes another */
	p.cfg.seed = seed;
	draw_cfg(&p);
	if (verbose)
		print_cfg(&p);
	p.cfg.verbose = verbose;
	if (!simnet_open(sn, &p.cfg)) {
		if (p.parity.on)
			fec_pass_set(device_writes, &p);
		set_impairments(&p);
		set_wishes(&p);
		program(&p);
		if (simnet_now(sn) < p.quiet_at)
			simnet_run_for(sn, p.quiet_at - simnet_now(sn));
		heal(&p);
		if (!sn->failed)
			drain(&p);
		if (!sn->failed)
			simnet_check_end(sn);
		if (!sn->failed && no_repair_expected(&p))
			simnet_check_no_repair(sn);
		if (!sn->failed && p.network == PROPS_CLEAN)
			props_lanes_check(&p.lanes, sn);
		simnet_run_for(sn, S_NS); /* the last acknowledgements */
		if (!sn->failed)
			check_stats(&p, verbose);
		if (!sn->failed)
			simnet_check_atoms(sn);
		for (uint32_t i = 0; i < p.cfg.nodes && !sn->failed; i++)
			if (!simnet_shutdown(sn, i, 5 * S_NS) && !sn->failed)
				simnet_fail(sn, "node %u does not become quiet after shutdown", i);
	} else if (!sn->failed) {
		simnet_fail(sn, "no memory");
	}
	*hash = sn->trace;
	if (verbose)
		fprintf(stderr,
			"  %u operations, %u refused, %u completions unknown, %llu written early, %.3f s virtual, "
			"%llu packets, trace %016llx\n",
			p.posted, p.refused, sn->unknown, (unsigned long long)p.parity.early,
			sn->w ? (double)simnet_now(sn) / 1e9 : 0,
			sn->w ? (unsigned long long)sdr_sim_world_arrivals(sn->w) : 0,
			(unsigned long long)sn->trace);
	fec_pass_set(NULL, NULL);
	ok = simnet_close(sn, why, why_len);
	return ok;
}

/* ---- command line ---------------------------------------------------------------------------- */

static const char *props_name;

static int usage(void)
{
	fprintf(stderr,
		"usage: sdr_props [--seed N] [--first N] [--count M] [--paths] [--parity] [--heads] [--twice] [--keep-going] [-v] [-vv]\n");
	return 2;
}

struct props_run {
	uint64_t first, n;
	bool twice, keep;
	int verbose;
	unsigned int failed, ran;
};

/* All seeds of the range; false: one has failed, and that is enough. */
static bool run_range(struct props_run *r)
{
	uint64_t hash, again;
	char why[512];

	for (uint64_t s = r->first; s < r->first + r->n; s++) {
		alarm(PROPS_HANG_S);
		snprintf(crash_note, sizeof(crash_note),
			 "crashed or hung in seed %llu; replay: sdr_props --seed %llu -v\n",
			 (unsigned long long)s, (unsigned long long)s);
		r->ran++;
		bool ok = run_seed(s, r->verbose, &hash, why, sizeof(why));

		if (ok && (r->twice || s % 16 == 0)) {
			ok = run_seed(s, 0, &again, why, sizeof(why));
			if (ok && again != hash) {
				ok = false;
				snprintf(why, sizeof(why),
					 "I11: two runs differ: trace %016llx and %016llx",
					 (unsigned long long)hash, (unsigned long long)again);
			}
		}
		if (ok)
			continue;
		r->failed++;
		printf("seed %llu failed: %s\n  replay: %s --seed %llu -v\n", (unsigned long long)s,
		       why, props_name, (unsigned long long)s);
		fflush(stdout);
		if (!r->keep)
			return false;
	}
	return true;
}

/* What follows when nothing was asked for. */
static const struct {
	uint64_t bits, n;
} props_more[] = {
	{ PROPS_LANES_SEED, PROPS_LANES_COUNT },
	{ PROPS_PARITY_SEED, PROPS_PARITY_COUNT },
	{ PROPS_HEADS_SEED, PROPS_HEADS_COUNT },
	{ PROPS_HEADS_SEED | PROPS_PARITY_SEED, PROPS_HEADS_COUNT / 2 },
};

int main(int argc, char **argv)
{
	struct props_run r = { .first = 1, .n = 1000 };
	uint64_t bits = 0;

	props_name = argv[0];
	for (int i = 1; i < argc; i++) {
		uint64_t *num = NULL;

		if (!strcmp(argv[i], "--seed") || !strcmp(argv[i], "--first"))
			num = &r.first;
		else if (!strcmp(argv[i], "--count"))
			num = &r.n;
		else if (!strcmp(argv[i], "--paths"))
			bits |= PROPS_LANES_SEED;
		else if (!strcmp(argv[i], "--parity"))
			bits |= PROPS_PARITY_SEED;
		else if (!strcmp(argv[i], "--heads"))
			bits |= PROPS_HEADS_SEED;
		else if (!strcmp(argv[i], "--twice"))
			r.twice = true;
		else if (!strcmp(argv[i], "--keep-going"))
			r.keep = true;
		else if (!strcmp(argv[i], "-v"))
			r.verbose = 1;
		else if (!strcmp(argv[i], "-vv"))
			r.verbose = 2;
		else
			return usage();
		if (!num)
			continue;
		if (!strcmp(argv[i], "--seed"))
			r.n = 1;
		if (++i == argc)
			return usage();
		*num = strtoull(argv[i], NULL, 0);
	}
	crash_note_watch();
	r.first |= bits;
	for (size_t i = 0; run_range(&r) && argc == 1; i++) {
		if (i == sizeof(props_more) / sizeof(*props_more))
			break;
		r.first = 1 | props_more[i].bits;
		r.n = props_more[i].n;
	}
	printf("sdr_props: %u seeds, %u failed\n", r.ran, r.failed);
	return r.failed ? 1 : 0;
}
