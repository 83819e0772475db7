/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Nodes of a simulated network, each with a reliable endpoint of its own, in virtual time.
 *
 * All nodes are the real rel and sdk on the simulated engine.  Without verification data packets
 * carry no bytes: the buffers of long messages are addresses that nothing may touch, and are mapped
 * so that it cannot.
 *
 * The clock moves as a test bench's does: a node works until it has nothing to do, then the next
 * moment comes at which something can happen; arrivals wait up to a tick for each other, so that a
 * node handles a batch, as with interrupt coalescing.  A node that always finds more to do in one
 * instant, or never does what its deadline asks for, fails the bed instead of hanging it.  What is
 * sent when is for sim_work.c to say.
 */
#include <errno.h>
#include <stdarg.h>
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

void sim_bed_fail(struct sim_bed *b, const char *fmt, ...)
{
	va_list ap;

	if (b->failed)
		return;
	b->failed = true;
	va_start(ap, fmt);
	vsnprintf(b->why, sizeof(b->why), fmt, ap);
	va_end(ap);
}

uint64_t sim_bed_rand(struct sim_bed *b)
{
	return sdr_rand64(&b->rng);
}

uint64_t sim_bed_now(const struct sim_bed *b)
{
	return sdr_sim_world_now(b->w);
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
		sdr_sim_link_stats(b->w, i, sim_next(b, i), &s);
		n += s.data + s.ctl;
		if (b->a.nodes == 2)
			continue; /* the other node's forward link */
		sdr_sim_link_stats(b->w, sim_next(b, i), i, &s);
		n += s.data + s.ctl;
	}
	return n;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void sim_done(void *user, const struct sdr_rel_cqe *e)
{
	struct sim_node *nd = user;
	struct sim_op *op = e->ctx;

	if (nd->bed->failed)
		return; /* whoever waited has gone */
	if (e->err)
		sim_bed_fail(nd->bed, "the %s failed: %s (%s)",
			     e->kind == SDR_REL_RECV ? "receive" : "send", strerror(-e->err),
			     sdr_rel_strerror(e->prov_err));
	op->done = true;
	op->done_ns = sdr_sim_world_now(nd->bed->w);
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
	struct sdr_sim_node_attr na = { .mtu = b->a.mtu };
	struct sim_node *nd = &b->node[i];
	struct sdr_rel_attr attr = { .cfg = &b->a.cfg, .cbs = &sim_cbs, .user = nd };
	uint64_t rnd[2] = { sim_bed_rand(b), sim_bed_rand(b) };
	struct sdr_context *ctx;
	struct sdr_uc_addr addr;
	struct sdr_uc *uc;
	int err;

	nd->bed = b;
	nd->tx = sim_area(b);
	nd->rx = sim_area(b);
	if (!nd->tx || !nd->rx)
		return -ENOMEM;
	for (int k = 0; k < 4; k++)
		attr.rand[k] = sim_bed_rand(b);
	err = sdr_sim_node_open(b->w, i, &na, &uc);
	if (err)
		return err;
	ctx = sdr_context_create_on(uc, NULL, rnd);
	if (!ctx) {
		uc->ops->close(uc);
		return -ENOMEM;
	}
	err = sdr_rel_open(ctx, &attr, &nd->rel);
	if (err) {
		nd->rel = NULL;
		sdr_context_destroy(ctx);
		return err;
	}
	sdr_sim_node_addr(b->w, sim_next(b, i), &addr);
	nd->next = sdr_rel_peer(nd->rel, &addr);
	sdr_sim_node_addr(b->w, (i + b->a.nodes - 1) % b->a.nodes, &addr);
	nd->prev = sdr_rel_peer(nd->rel, &addr);
	return nd->next && nd->prev ? 0 : -ENOMEM;
}

static int sim_links_set(struct sim_bed *b)
{
	int err = 0;

	if (b->a.nodes == 2) {
		err = sdr_sim_link_set(b->w, 0, 1, &b->a.forward);
		return err ? err
			   : sdr_sim_link_set(b->w, 1, 0,
					      b->a.two_way ? &b->a.forward : &b->a.backward);
	}
	for (uint32_t i = 0; i < b->a.nodes && !err; i++) {
		err = sdr_sim_link_set(b->w, i, sim_next(b, i), &b->a.forward);
		if (!err)
			err = sdr_sim_link_set(b->w, sim_next(b, i), i, &b->a.backward);
	}
	return err;
}

bool sim_bed_open(struct sim_bed *b, const struct sim_bed_attr *attr)
{
	struct sdr_sim_world_attr wa = { .nodes = attr->nodes, .virtual_payload = !attr->verify };
	int err;

	*b = (struct sim_bed){ .a = *attr, .rng = attr->seed };
	if (__builtin_mul_overflow(attr->mem_len, (uint64_t)attr->mem_slots, &b->areas) ||
	    b->areas > SIZE_MAX / 4) {
		sim_bed_fail(
			b,
			"%u messages of %llu bytes at a time do not fit the address space: fewer at a time",
			attr->mem_slots, (unsigned long long)attr->mem_len);
		return false;
	}
	wa.seed = sim_bed_rand(b);
	if (attr->trace) {
		wa.trace = sim_trace_packet;
		wa.user = attr->trace;
	}
	b->node = calloc(attr->nodes, sizeof(*b->node));
	b->w = b->node ? sdr_sim_world_create(&wa) : NULL;
	if (!b->w) {
		sim_bed_fail(b, "no memory for the world");
		return false;
	}
	err = sim_links_set(b);
	for (uint32_t i = 0; !err && i < attr->nodes; i++)
		err = sim_node_open(b, i);
	if (err == -ENOMEM)
		sim_bed_fail(b, "no memory for the nodes and their buffers");
	else if (err)
		sim_bed_fail(b, "an endpoint does not open: %s; see --mtu, --chunk, --k, --m",
			     strerror(-err));
	return !err;
}

void sim_bed_close(struct sim_bed *b)
{
	for (uint32_t i = 0; b->node && i < b->a.nodes; i++) {
		struct sim_node *nd = &b->node[i];

		if (nd->rel)
			sdr_rel_close(nd->rel);
		if (nd->tx)
			munmap(nd->tx, b->areas);
		if (nd->rx)
			munmap(nd->rx, b->areas);
	}
	sdr_sim_world_destroy(b->w);
	free(b->node);
	b->node = NULL;
	b->w = NULL;
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
	nd->dirty = true;
	err = b->failed ? 0 : sdr_rel_post(nd->rel, &wr);
	if (err)
		sim_bed_fail(b, "post of a send: %s", strerror(-err));
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
	nd->dirty = true;
	err = b->failed ? 0 : sdr_rel_recv(nd->rel, &rr);
	if (err)
		sim_bed_fail(b, "post of a receive: %s", strerror(-err));
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void sim_round(struct sim_bed *b, uint32_t node)
{
	struct sim_node *nd = &b->node[node];
	uint64_t now = sdr_sim_world_now(b->w);
	uint32_t n = 0, idle = 0;
	int ret;

	if (!nd->dirty && nd->deadline > now && !sdr_sim_node_pending(b->w, node))
		return;
	do {
		nd->dirty = false;
		do {
			ret = sdr_rel_progress(nd->rel);
		} while (ret > 0 && ++n < SIM_ROUNDS_MAX);
		if (ret) {
			sim_bed_fail(b, "progress: %s",
				     ret < 0 ? strerror(-ret) : "always more to do");
			return;
		}
		nd->deadline = sdr_rel_deadline(nd->rel);
		if (++idle > SIM_IDLE_MAX) {
			sim_bed_fail(b, "node %u has nothing to do and its deadline has come",
				     node);
			return;
		}
	} while (nd->deadline <= now || nd->dirty);
}

void sim_bed_work(struct sim_bed *b)
{
	for (uint32_t i = 0; i < b->a.nodes && !b->failed; i++)
		sim_round(b, i);
}

void sim_bed_move(struct sim_bed *b, uint64_t until)
{
	uint64_t next = sdr_sim_world_next(b->w);

	next = next < until ? next + b->a.tick_ns : until;
	for (uint32_t i = 0; i < b->a.nodes; i++) {
		uint64_t d = b->node[i].dirty ? sdr_sim_world_now(b->w) : b->node[i].deadline;

		next = d < next ? d : next;
	}
	sdr_sim_world_run_until(b->w, next < until ? next : until);
	sim_bed_work(b);
}
