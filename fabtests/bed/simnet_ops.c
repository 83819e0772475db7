/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's operations: making, posting, claiming, cancelling and forgetting them.
 *
 * An operation enters the list before it is posted, because its completion may come from inside the
 * call; when the endpoint refuses it, it leaves the list again and its number is used for the next
 * one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bed_pool.h"
#include "simnet.h"

const char *simnet_kind_name(uint8_t kind)
{
	static const char *const names[] = { "?",
					     "send",
					     "tsend",
					     "write",
					     "read",
					     "recv",
					     "trecv",
					     "remote write",
					     "remote read",
					     "atomic",
					     "fetch atomic",
					     "remote atomic",
					     "remote fetch atomic" };

	return names[kind < sizeof(names) / sizeof(*names) ? kind : 0];
}

/* ---- posting --------------------------------------------------------------------------------- */

static struct simnet_op *op_new(struct simnet *sn, uint32_t node, const struct simnet_wr *wr)
{
	struct simnet_op *op = calloc(1, sizeof(*op));
	uint32_t parts = wr->parts ? wr->parts : 1;
	uint64_t left = wr->len, n;
	uint8_t *p;

	if (sn->nops == sn->ops_cap) {
		sn->ops_cap = sn->ops_cap ? 2 * sn->ops_cap : 64;
		sn->ops = realloc(sn->ops, sn->ops_cap * sizeof(*sn->ops));
	}
	if (!op || !sn->ops)
		abort();
	*op = (struct simnet_op){ .sn = sn,
				  .id = sn->nops,
				  .node = node,
				  .peer = wr->peer,
				  .kind = wr->kind,
				  .flags = wr->flags,
				  .tag = wr->tag,
				  .ignore = wr->ignore,
				  .len = wr->len,
				  .rma_addr = wr->rma_addr,
				  .rma_key = wr->rma_key,
				  .may_fail = wr->may_fail || wr->must_fail,
				  .must_fail = wr->must_fail,
				  .took = SIMNET_NOBODY,
				  .expect = 1,
				  .posted_ns = simnet_now(sn) };
	if (parts > SDR_REL_IOV_MAX)
		parts = SDR_REL_IOV_MAX;
	op->mem_len = wr->len + (parts + 1) * SIMNET_GUARD + 8;
	op->mem = bed_pool_get(op->mem_len);
	if (!op->mem)
		abort();
	p = op->mem + SIMNET_GUARD + (sn->cfg.virtual_payload ? 0 : simnet_below(sn, 8));
	if (!sn->cfg.virtual_payload)
		memset(op->mem, SIMNET_GUARD_BYTE, op->mem_len);
	for (uint32_t i = 0; i < parts; i++) {
		n = i + 1 == parts ? left : simnet_below(sn, left + 1);
		op->iov[i] = (struct sdr_rel_iov){ p, n };
		p += n + SIMNET_GUARD;
		left -= n;
	}
	op->niov = (uint8_t)parts;
	return op;
}

static struct simnet_op *op_free(struct simnet_op *op)
{
	bed_pool_put(op->mem);
	free(op);
	return NULL;
}

static void op_enter(struct simnet *sn, struct simnet_op *op)
{
	sn->ops[sn->nops++] = op;
	sn->open += op->expect;
	sn->nodes[op->node].ep->dirty = true;
	if (sn->cfg.verbose)
		fprintf(stderr, "%12.6f ms  node %u: %s %u peer %d len %llu flags %x tag %llx\n",
			(double)simnet_now(sn) / 1e6, op->node, simnet_kind_name(op->kind), op->id,
			(int)op->peer, (unsigned long long)op->len, op->flags,
			(unsigned long long)op->tag);
}

static struct simnet_op *post_recv(struct simnet *sn, struct simnet_op *op,
				   const struct simnet_wr *w)
{
	struct sdr_rel_rr rr = {
		.kind = w->kind,
		.niov = op->niov,
		.flags = w->flags,
		.iov = op->iov,
		.tag = w->tag,
		.ignore = w->ignore,
		.min_multi = w->min_multi,
		.ctx = op,
		.uflags = op->id,
		.peer = w->peer == SIMNET_NOBODY ? NULL : simnet_peer(sn, op->node, w->peer),
	};
	int err;

	if (!sn->cfg.virtual_payload)
		simnet_parts_set(op, SIMNET_FRESH);
	op_enter(sn, op); /* a peek is done before recv returns */
	err = sdr_rel_recv(sn->nodes[op->node].ep->rel, &rr);
	if (!err)
		return op;
	sn->nops--;
	sn->open--;
	if (err != -EAGAIN)
		simnet_fail(sn, "receive refused: %s", strerror(-err));
	return op_free(op);
}

struct simnet_op *simnet_post(struct simnet *sn, uint32_t node, const struct simnet_wr *w)
{
	struct simnet_node *nd = &sn->nodes[node];
	struct simnet_region *wo;
	struct simnet_op *op;
	struct simnet_atom atom;
	struct sdr_rel_wr wr;
	int err;

	if (sn->failed || !nd->ep->rel)
		return NULL;
	op = op_new(sn, node, w);
	if (simnet_is_recv(w->kind))
		return post_recv(sn, op, w);
	if (simnet_is_send(w->kind) && (w->len < 8 || sn->cfg.virtual_payload))
		op->flags |= SDR_REL_F_DATA;
	op->data = op->id;
	op->silent = op->flags & SDR_REL_F_SILENT;
	op->expect = op->silent ? 0 : 1;
	wo = &sn->nodes[w->peer].wo;
	if (w->kind == SDR_REL_WRITE && w->rma_key == SIMNET_KEY_WO && !op->may_fail) {
		if (w->len + SIMNET_WO_GAP > wo->len || wo->next > wo->len - w->len - SIMNET_WO_GAP)
			return op_free(op); /* the region is used up */
		op->rma_addr = wo->next;
	}
	if (w->kind != SDR_REL_READ && w->kind != SDR_REL_FETCH_ATOMIC && !sn->cfg.virtual_payload)
		simnet_parts_fill(op);
	else if (!sn->cfg.virtual_payload)
		simnet_parts_set(op, SIMNET_FRESH);
	wr = (struct sdr_rel_wr){
		.kind = w->kind,
		.niov = op->niov,
		.flags = op->flags,
		.iov = op->iov,
		.tag = w->tag,
		.data = op->data,
		.rma_addr = op->rma_addr,
		.rma_key = op->rma_key,
		.ctx = op,
		.uflags = op->id,
		.peer = simnet_peer(sn, node, w->peer),
	};
	if (simnet_is_atomic(w->kind)) {
		simnet_atoms_ready(op, w->words, &atom);
		wr.atomic = &atom.wr;
		wr.rma_addr = op->rma_addr;
		if (w->kind == SDR_REL_FETCH_ATOMIC) {
			wr.iov = &atom.in;
			wr.niov = 1;
		}
	}
	op_enter(sn, op); /* an early completion comes before post returns */
	err = sdr_rel_post(nd->ep->rel, &wr);
	if (err) {
		sn->nops--;
		sn->open -= op->expect;
		if (err != -EAGAIN)
			simnet_fail(sn, "%s of %llu bytes refused: %s", simnet_kind_name(w->kind),
				    (unsigned long long)w->len, strerror(-err));
		return op_free(op);
	}
	if (w->kind == SDR_REL_WRITE && w->rma_key == SIMNET_KEY_WO && !op->may_fail)
		wo->next += w->len + SIMNET_WO_GAP;
	/* Operands of atomics are copied, too; old values come later. */
	if ((op->flags & SDR_REL_F_INJECT || w->kind == SDR_REL_ATOMIC) &&
	    w->kind != SDR_REL_FETCH_ATOMIC && !op->sealed) {
		simnet_parts_set(op, SIMNET_USED);
		simnet_op_seal(op);
	}
	return op;
}

struct simnet_op *simnet_send(struct simnet *sn, uint32_t node, uint32_t to, uint64_t len,
			      uint16_t flags)
{
	struct simnet_wr w = { .kind = SDR_REL_SEND, .peer = to, .len = len, .flags = flags };

	return simnet_post(sn, node, &w);
}

struct simnet_op *simnet_recv(struct simnet *sn, uint32_t node, uint32_t from, uint64_t len)
{
	struct simnet_wr w = { .kind = SDR_REL_RECV, .peer = from, .len = len };

	return simnet_post(sn, node, &w);
}

bool simnet_claim(struct simnet *sn, struct simnet_op *peek, uint16_t flags)
{
	struct sdr_rel_rr rr = {
		.kind = peek->kind,
		.niov = peek->niov,
		.flags = flags | SDR_REL_R_CLAIM,
		.iov = peek->iov,
		.tag = peek->tag,
		.ignore = peek->ignore,
		.ctx = peek,
		.uflags = peek->id,
		.peer = peek->peer == SIMNET_NOBODY ? NULL
						    : simnet_peer(sn, peek->node, peek->peer),
	};
	int err;

	peek->flags = rr.flags;
	peek->expect++;
	sn->open++;
	sn->nodes[peek->node].ep->dirty = true;
	err = sdr_rel_recv(sn->nodes[peek->node].ep->rel, &rr);
	if (err) {
		peek->expect--;
		sn->open--;
		if (err != -EAGAIN)
			simnet_fail(sn, "claim refused: %s", strerror(-err));
		return false;
	}
	peek->claimed = false;
	return true;
}

int simnet_cancel(struct simnet *sn, struct simnet_op *op)
{
	bool before = op->canceled;
	int err;

	op->canceled = true;
	sn->nodes[op->node].ep->dirty = true;
	err = sdr_rel_cancel(sn->nodes[op->node].ep->rel, op);
	if (err) {
		op->canceled = before;
		if (err != -ENOENT)
			simnet_fail(sn, "cancel: %s", strerror(-err));
	}
	return err;
}

void simnet_ops_close_node(struct simnet *sn, uint32_t node)
{
	for (uint32_t i = 0; i < sn->nops; i++) {
		struct simnet_op *op = sn->ops[i];

		if (op->node != node || op->closed)
			continue;
		op->closed = true;
		if (!simnet_op_done(op))
			sn->open -= op->expect - op->done;
	}
}

void simnet_ops_free(struct simnet *sn)
{
	for (uint32_t i = 0; i < sn->nops; i++)
		op_free(sn->ops[i]);
	for (uint32_t i = 0; i < SIMNET_NODES_MAX; i++) {
		bed_pool_put(sn->nodes[i].ro.mem);
		bed_pool_put(sn->nodes[i].wo.mem);
		free(sn->nodes[i].at);
	}
	free(sn->ops);
	free(sn->matches);
	sn->ops = NULL;
	sn->matches = NULL;
	sn->nops = 0;
}
