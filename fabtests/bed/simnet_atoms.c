/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's atomics: each node has a word from which tickets are drawn, and behind it words to
 * which 1 is added, many at a time.
 *
 * Whatever the network does, a ticket is drawn once, the first word is how many were drawn, and
 * each other word is how many operations reached so far: each happened exactly once.  Where an end
 * is not known (an error, a node that went), it happened once or not at all.  With events the
 * target was told of each as often, and not by parts.
 */
#include <stdlib.h>
#include <string.h>
#include "simnet.h"

static uint64_t ones[SIMNET_ATOMS];

void simnet_atoms_ready(struct simnet_op *op, uint32_t words, struct simnet_atom *a)
{
	bool fetch = op->kind == SDR_REL_FETCH_ATOMIC;
	uint64_t off = 0;

	for (uint32_t i = 0; !ones[0] && i < SIMNET_ATOMS; i++)
		ones[SIMNET_ATOMS - 1 - i] = 1;
	op->rma_addr = words > 1 ? sizeof(uint64_t) : 0;
	a->in = (struct sdr_rel_iov){ ones, words * sizeof(uint64_t) };
	a->wr = (struct sdr_rel_atomic){ .op = SDR_ATOMIC_SUM,
					 .type = SDR_ATOMIC_UINT64,
					 .form = fetch ? SDR_ATOMIC_FETCH : SDR_ATOMIC_UPDATE,
					 .count = words,
					 .res = op->iov,
					 .nres = fetch ? op->niov : 0 };
	for (uint8_t i = 0; !fetch && i < op->niov; off += op->iov[i].len, i++)
		if (op->iov[i].len)
			memcpy(op->iov[i].buf, (uint8_t *)ones + off, op->iov[i].len);
}

/* The first of the old values. */
void simnet_atoms_done(struct simnet_op *op)
{
	uint8_t w[sizeof(op->ticket)] = { 0 };
	size_t n = 0;

	for (uint8_t i = 0; i < op->niov; i++)
		for (size_t k = 0; k < op->iov[i].len && n < sizeof(w); k++)
			w[n++] = ((uint8_t *)op->iov[i].buf)[k];
	memcpy(&op->ticket, w, sizeof(w));
}

/* Of a node's words: how many operations reached them, for certain and perhaps. */
struct reach {
	uint32_t sure[SIMNET_ATOMS], maybe[SIMNET_ATOMS];
};

static void reach_add(struct reach *r, const struct simnet_op *op)
{
	bool sure = op->done && !op->cqe.err;
	uint64_t first = op->rma_addr / sizeof(uint64_t), n = op->len / sizeof(uint64_t);

	for (uint64_t i = first; i < first + n; i++) {
		r->maybe[i]++;
		r->sure[i] += sure;
	}
}

static void check_tickets(struct simnet *sn, uint32_t node, const struct reach *r)
{
	uint8_t *drawn = calloc(1, r->maybe[0] + 1u);

	if (!drawn)
		abort();
	for (uint32_t i = 0; i < sn->nops && !sn->failed; i++) {
		const struct simnet_op *op = sn->ops[i];

		if (op->peer != node || op->kind != SDR_REL_FETCH_ATOMIC || op->rma_addr ||
		    op->may_fail || !op->done || op->cqe.err)
			continue;
		if (op->ticket >= r->maybe[0])
			simnet_fail(sn, "I15: ticket %llu of node %u is one of %u",
				    (unsigned long long)op->ticket, node, r->maybe[0]);
		else if (drawn[op->ticket]++)
			simnet_fail(sn, "I15: ticket %llu of node %u was drawn twice",
				    (unsigned long long)op->ticket, node);
	}
	free(drawn);
}

static void check_node(struct simnet *sn, uint32_t node, bool certain)
{
	const struct simnet_node *nd = &sn->nodes[node];
	static struct reach r;
	uint64_t told = 0;

	memset(&r, 0, sizeof(r));
	for (uint32_t i = 0; i < sn->nops; i++) {
		const struct simnet_op *op = sn->ops[i];

		if (!simnet_is_atomic(op->kind) || op->peer != node || op->may_fail)
			continue;
		reach_add(&r, op);
		told++;
	}
	for (uint32_t i = 0; i < SIMNET_ATOMS && !sn->failed; i++)
		if (nd->at[i] < r.sure[i] || nd->at[i] > r.maybe[i])
			simnet_fail(sn, "I15: word %u of node %u is %llu after %u to %u atomics", i,
				    node, (unsigned long long)nd->at[i], r.sure[i], r.maybe[i]);
	check_tickets(sn, node, &r);
	if (sn->cfg.rma_events &&
	    (nd->remote_atomics > told || (certain && nd->remote_atomics != told)))
		simnet_fail(sn, "I15: node %u was told of %llu atomics instead of %llu", node,
			    (unsigned long long)nd->remote_atomics, (unsigned long long)told);
}

bool simnet_check_atoms(struct simnet *sn)
{
	bool certain = true;

	for (uint32_t i = 0; i < sn->nops; i++)
		if (simnet_is_atomic(sn->ops[i]->kind) && !sn->ops[i]->may_fail)
			certain &= sn->ops[i]->done && !sn->ops[i]->cqe.err;
	for (uint32_t i = 0; i < sn->cfg.nodes && !sn->failed && sn->nodes[i].at; i++)
		check_node(sn, i, certain);
	return !sn->failed;
}
