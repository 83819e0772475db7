/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Nodes of a simulated network in a ring, each with a reliable endpoint and memory of its own.
 *
 * Endpoints and clock are those of sim_eps.c.  Without verification data packets carry no bytes:
 * the buffers of long messages are addresses that nothing may touch, and are mapped so that it
 * cannot.  Arrivals wait up to a tick for each other, so that a node handles a batch, as with
 * interrupt coalescing.  What is sent when is for sim_work.c to say.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sdr_rand.h"
#include "sim_bed.h"
#include "sim_trace.h"

#define SIM_ROUNDS_MAX 1000000u /* progress calls of a node in one instant */
#define SIM_IDLE_MAX   8u	/* and of those that do nothing although the deadline has come */
/* messages up to this many bytes have memory: they may travel in a datagram */
#define SIM_INLINE_SIZE 65536u

uint64_t sim_bed_rand(struct sim_bed *b)
{
	return sdr_rand64(&b->rng);
}

uint64_t sim_bed_now(const struct sim_bed *b)
{
	return sim_eps_now(&b->eps);
}

static uint32_t sim_next(const struct sim_bed *b, uint32_t node)
{
	return (node + 1) % b->a.nodes;
}

uint64_t sim_bed_packets(struct sim_bed *b)
{
	struct sdr_sim_link_stats s;
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->a.nodes; i++) {
		sdr_sim_lanes_stats(b->eps.w, i, sim_next(b, i), &s);
		n += s.data + s.ctl;
		if (b->a.nodes == 2)
			continue; /* the other node's forward link */
		sdr_sim_lanes_stats(b->eps.w, sim_next(b, i), i, &s);
		n += s.data + s.ctl;
	}
	return n;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void sim_done(void *user, const struct sdr_rel_cqe *e)
{
	struct sim_node *nd = user;
	struct sim_op *op = e->ctx;

	if (nd->bed->eps.failed)
		return; /* the waiting side has gone */
	if (e->err)
		sim_eps_fail(&nd->bed->eps, "the %s failed: %s (%s)",
			     e->kind == SDR_REL_RECV ? "receive" : "send", strerror(-e->err),
			     sdr_rel_strerror(e->prov_err));
	op->done = true;
	op->done_ns = sim_bed_now(nd->bed);
	if (nd->bed->a.trace)
		sim_trace_done(nd->bed->a.trace, op->done_ns, (uint32_t)(nd - nd->bed->node), e);
}

static int sim_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		      void **va, void **region)
{
	(void)user;
	(void)region;
	(void)key;
	(void)addr;
	(void)len;
	(void)access;
	(void)va;
	return -ENOKEY;
}

static const struct sdr_rel_cbs sim_cbs = {
	.done = sim_done,
	.mr_get = sim_mr_get,
};

static char *sim_area(const struct sim_bed *b)
{
	int prot =
		b->a.verify || b->a.mem_len <= SIM_INLINE_SIZE ? PROT_READ | PROT_WRITE : PROT_NONE;
	void *p = mmap(NULL, b->areas, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int sim_node_open(struct sim_bed *b, uint32_t i)
{
	struct sim_node *nd = &b->node[i];
	struct sim_ep_attr a = {
		.rel = { .cfg = &b->a.cfg, .cbs = &sim_cbs, .user = nd },
		.node = { .mtu = b->a.mtu,
			  .no_probe = !b->a.forward.mtu && !b->a.backward.mtu,
			  .sources = b->a.sources },
		.context = { sim_bed_rand(b), sim_bed_rand(b) },
	};
	int err;

	nd->bed = b;
	nd->ep = &b->eps.ep[i];
	nd->tx = sim_area(b);
	nd->rx = sim_area(b);
	if (!nd->tx || !nd->rx)
		return -ENOMEM;
	for (int k = 0; k < 4; k++)
		a.rel.rand[k] = sim_bed_rand(b);
	err = sim_ep_boot(nd->ep, &a);
	if (err)
		return err;
	nd->next = sim_ep_peer(nd->ep, sim_next(b, i));
	nd->prev = sim_ep_peer(nd->ep, (i + b->a.nodes - 1) % b->a.nodes);
	return nd->next && nd->prev ? 0 : -ENOMEM;
}

/* Pairs of neighbours: each node and the next, but of two nodes only one. */
static uint32_t sim_pairs(const struct sim_bed *b)
{
	return b->a.nodes == 2 ? 1 : b->a.nodes;
}

static int sim_pair_set(struct sim_bed *b, uint32_t i, uint32_t lane,
			const struct sdr_sim_link *forward, const struct sdr_sim_link *backward)
{
	uint32_t next = sim_next(b, i);
	int err = sdr_sim_link_set(b->eps.w, SDR_SIM_LANE(i, lane), next, forward);

	if (b->a.nodes == 2 && b->a.two_way)
		backward = forward;
	return err ? err : sdr_sim_link_set(b->eps.w, SDR_SIM_LANE(next, lane), i, backward);
}

static int sim_links_set(struct sim_bed *b)
{
	int err = 0;

	for (uint32_t i = 0; i < sim_pairs(b) && !err; i++) {
		err = sim_pair_set(b, i, 0, &b->a.forward, &b->a.backward);
		for (uint32_t k = 0; k < b->a.lanes && !err; k++)
			err = sim_pair_set(b, i, k, &b->a.lane[k].forward, &b->a.lane[k].backward);
	}
	return err;
}

void sim_bed_outages(struct sim_bed *b)
{
	uint64_t now = sim_bed_now(b);
	int err = 0;

	for (uint32_t k = 0; k < b->a.lanes; k++) {
		const struct sim_bed_lane *l = &b->a.lane[k];

		for (uint32_t i = 0; l->dead_to_ns && i < sim_pairs(b) && !err; i++)
			err = sdr_sim_blackout_both(b->eps.w, SDR_SIM_LANE(i, k), sim_next(b, i),
						    now + l->dead_from_ns, now + l->dead_to_ns);
	}
	if (err)
		sim_eps_fail(&b->eps, "no memory for the outages");
}

bool sim_bed_open(struct sim_bed *b, const struct sim_bed_attr *attr)
{
	struct sim_eps_attr ea = {
		.world = { .nodes = attr->nodes, .virtual_payload = !attr->verify },
		.most = { .rounds = SIM_ROUNDS_MAX, .idle = SIM_IDLE_MAX },
	};
	int err;

	*b = (struct sim_bed){ .a = *attr, .rng = attr->seed };
	if (__builtin_mul_overflow(attr->mem_len, (uint64_t)attr->mem_slots, &b->areas) ||
	    b->areas > SIZE_MAX / 4) {
		sim_eps_fail(
			&b->eps,
			"%u messages of %llu bytes at a time do not fit the address space: fewer at a time",
			attr->mem_slots, (unsigned long long)attr->mem_len);
		return false;
	}
	ea.world.seed = sim_bed_rand(b);
	if (attr->trace) {
		ea.world.trace = sim_trace_packet;
		ea.world.user = attr->trace;
	}
	b->node = calloc(attr->nodes, sizeof(*b->node));
	if (!b->node || sim_eps_open(&b->eps, &ea)) {
		sim_eps_fail(&b->eps, "no memory for the world");
		return false;
	}
	err = sim_links_set(b);
	for (uint32_t i = 0; !err && i < attr->nodes; i++)
		err = sim_node_open(b, i);
	if (err == -ENOMEM)
		sim_eps_fail(&b->eps, "no memory for the nodes and their buffers");
	else if (err)
		sim_eps_fail(&b->eps, "an endpoint does not open: %s; see --mtu, --chunk, --k, --m",
			     strerror(-err));
	return !err;
}

void sim_bed_close(struct sim_bed *b)
{
	sim_eps_close(&b->eps);
	for (uint32_t i = 0; b->node && i < b->a.nodes; i++) {
		if (b->node[i].tx)
			munmap(b->node[i].tx, b->areas);
		if (b->node[i].rx)
			munmap(b->node[i].rx, b->areas);
	}
	free(b->node);
	b->node = NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

void sim_bed_send(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len, struct sim_op *op)
{
	struct sim_node *nd = &b->node[node];
	struct sdr_rel_iov iov = { nd->tx + slot * b->a.mem_len, len };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .peer = nd->next, .ctx = op
	};
	int err;

	*op = (struct sim_op){ .post_ns = sim_bed_now(b) };
	nd->ep->dirty = true;
	err = b->eps.failed ? 0 : sdr_rel_post(nd->ep->rel, &wr);
	if (err)
		sim_eps_fail(&b->eps, "post of a send: %s", strerror(-err));
}

void sim_bed_recv(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len, struct sim_op *op)
{
	struct sim_node *nd = &b->node[node];
	struct sdr_rel_iov iov = { nd->rx + slot * b->a.mem_len, len };
	struct sdr_rel_rr rr = {
		.kind = SDR_REL_RECV, .niov = 1, .iov = &iov, .peer = nd->prev, .ctx = op
	};
	int err;

	*op = (struct sim_op){ .post_ns = sim_bed_now(b) };
	nd->ep->dirty = true;
	err = b->eps.failed ? 0 : sdr_rel_recv(nd->ep->rel, &rr);
	if (err)
		sim_eps_fail(&b->eps, "post of a receive: %s", strerror(-err));
}

/* ---- the clock ------------------------------------------------------------------------------- */

void sim_bed_work(struct sim_bed *b)
{
	sim_eps_work(&b->eps);
}

void sim_bed_move(struct sim_bed *b, uint64_t until)
{
	uint64_t next = sdr_sim_world_next(b->eps.w), due = sim_eps_due(&b->eps);

	next = next < until ? next + b->a.tick_ns : until;
	next = due < next ? due : next;
	sdr_sim_world_run_until(b->eps.w, next < until ? next : until);
	sim_bed_work(b);
}
