/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's judgement: what must be true of each completion, and of all of them at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bed_pool.h"
#include "simnet.h"

/* ---- completions ----------------------------------------------------------------------------- */

static bool op_matches(const struct simnet_op *recv, const struct simnet_op *msg)
{
	return msg->peer == recv->node &&
	       (recv->kind == SDR_REL_TRECV) == (msg->kind == SDR_REL_TSEND) &&
	       (recv->peer == SIMNET_NOBODY || recv->peer == msg->node) &&
	       (recv->kind == SDR_REL_RECV || !((msg->tag ^ recv->tag) & ~recv->ignore));
}

/* Which message a receive or peek speaks of; NULL: unknown. */
static struct simnet_op *message_of(struct simnet *sn, const struct simnet_op *op,
				    const struct sdr_rel_cqe *e, bool bytes)
{
	uint64_t id = UINT64_MAX, off = 0;
	uint8_t w[8] = { 0 };

	if (e->has_data) {
		id = e->data;
	} else if (bytes && e->len >= 8) {
		if (op->flags & SDR_REL_R_MULTI) {
			memcpy(w, e->buf, 8);
		} else {
			for (int i = 0; i < op->niov && off < 8; i++)
				for (uint64_t k = 0; k < op->iov[i].len && off < 8; k++)
					w[off++] = ((uint8_t *)op->iov[i].buf)[k];
		}
		memcpy(&id, w, 8);
		id ^= 0x5d5aull << 48;
	} else {
		return NULL;
	}
	if (id >= sn->nops || !simnet_is_send(sn->ops[id]->kind)) {
		simnet_fail(sn, "I2: receive %u got a message that was not sent (%llx)", op->id,
			    (unsigned long long)id);
		return NULL;
	}
	return sn->ops[id];
}

static void note_match(struct simnet *sn, const struct simnet_op *op, const struct simnet_op *msg,
		       uint64_t at, uint64_t len)
{
	for (uint32_t i = 0; i < sn->nmatches && op->flags & SDR_REL_R_MULTI && len; i++) {
		const struct simnet_match *m = &sn->matches[i];

		if (m->recv == op->id && m->len && at < m->at + m->len && m->at < at + len)
			simnet_fail(sn, "I3: multi-receive %u: messages %u and %u overlap", op->id,
				    m->msg, msg->id);
	}
	if (sn->nmatches == sn->matches_cap) {
		sn->matches_cap = sn->matches_cap ? 2 * sn->matches_cap : 64;
		sn->matches = realloc(sn->matches, sn->matches_cap * sizeof(*sn->matches));
		if (!sn->matches)
			abort();
	}
	sn->matches[sn->nmatches++] = (struct simnet_match){ op->id, msg->id, at, len };
}

/*
 * What the endpoints were asked to keep in order: who sees op sees the bytes of each write that
 * was posted before it.
 */
static void order_check(struct simnet *sn, const struct simnet_op *op, uint32_t class)
{
	if (!(sn->cfg.rel.orders.after[class] & SDR_ORDER_BIT(SDR_ORDER_WRITE)))
		return;
	for (uint32_t i = 0; i < op->id && !sn->failed; i++) {
		const struct simnet_op *w = sn->ops[i];

		if (w->kind != SDR_REL_WRITE || w->node != op->node || w->peer != op->peer ||
		    w->may_fail || w->closed || (w->done && w->cqe.err))
			continue;
		simnet_write_check(sn, w, "I16: when what follows it was seen");
	}
}

static void recv_bytes(struct simnet *sn, struct simnet_op *op, const struct sdr_rel_cqe *e,
		       const struct simnet_op *msg)
{
	uint64_t bad = e->len, at = 0;

	if (op->flags & SDR_REL_R_MULTI) {
		at = (uint64_t)((uint8_t *)e->buf - (uint8_t *)op->iov[0].buf);
		if (at > op->len || e->len > op->len - at) {
			simnet_fail(
				sn,
				"I3: multi-receive %u: message at %llu + %llu leaves the buffer",
				op->id, (unsigned long long)at, (unsigned long long)e->len);
			return;
		}
		if (!sn->cfg.virtual_payload)
			bad = simnet_pattern_check(e->buf, msg->id, 0, e->len);
	} else if (!sn->cfg.virtual_payload) {
		bad = simnet_parts_check(op, msg->id, 0, e->len);
	}
	if (bad < e->len)
		simnet_fail(
			sn,
			"I2: message %u (%s, node %u to %u, %llu bytes) in receive %u: byte %llu is wrong",
			msg->id, simnet_kind_name(msg->kind), msg->node, msg->peer,
			(unsigned long long)msg->len, op->id, (unsigned long long)bad);
	if (!(op->flags & SDR_REL_R_CLAIM))
		note_match(sn, op, msg, at, e->len);
}

/* A receive completed with a message, or a peek discarded one. */
static void recv_done(struct simnet *sn, struct simnet_op *op, const struct sdr_rel_cqe *e,
		      bool bytes)
{
	struct simnet_op *msg = message_of(sn, op, e, bytes);
	uint64_t room = op->len;

	if (!msg) {
		sn->unknown++;
		return;
	}
	if (!op_matches(op, msg))
		simnet_fail(
			sn,
			"I2: receive %u does not match message %u (tag %llx against %llx & ~%llx)",
			op->id, msg->id, (unsigned long long)msg->tag, (unsigned long long)op->tag,
			(unsigned long long)op->ignore);
	if (msg->consumed)
		simnet_fail(sn, "I2: message %u was delivered twice, now to receive %u", msg->id,
			    op->id);
	msg->consumed = true;
	op->took = msg->id;
	op->taken++;
	if (e->peer && sdr_peer_user(e->peer) != UINT64_MAX && sdr_peer_user(e->peer) != msg->node)
		simnet_fail(sn, "I2: receive %u names node %llu, not %u", op->id,
			    (unsigned long long)sdr_peer_user(e->peer), msg->node);
	if (op->kind == SDR_REL_TRECV && e->tag != msg->tag)
		simnet_fail(sn, "I2: receive %u says tag %llx, sent was %llx", op->id,
			    (unsigned long long)e->tag, (unsigned long long)msg->tag);
	if (e->has_data && (!(msg->flags & SDR_REL_F_DATA) || e->data != msg->data))
		simnet_fail(sn, "I2: receive %u has remote data that was not sent", op->id);
	if (!e->has_data && msg->flags & SDR_REL_F_DATA)
		simnet_fail(sn, "I2: receive %u lost the remote data of message %u", op->id,
			    msg->id);
	order_check(sn, msg, SDR_ORDER_SEND);
	if (!bytes)
		return;
	/*
	 * Of a message that does not fit, any part or nothing may be delivered; the lengths must
	 * add up.
	 */
	if ((e->err ? e->len > room || e->len + e->olen != msg->len : e->len != msg->len) ||
	    (e->len < msg->len) != (e->err == -EMSGSIZE) ||
	    (e->err && msg->len <= room && !(op->flags & SDR_REL_R_MULTI)))
		simnet_fail(
			sn,
			"I2: message %u of %llu bytes in receive %u of %llu: length %llu, over %llu, error %d",
			msg->id, (unsigned long long)msg->len, op->id, (unsigned long long)op->len,
			(unsigned long long)e->len, (unsigned long long)e->olen, e->err);
	recv_bytes(sn, op, e, msg);
}

static void remote_done(struct simnet *sn, struct simnet_node *nd, const struct sdr_rel_cqe *e)
{
	struct simnet_op *op;

	if (e->kind == SDR_REL_REMOTE_READ)
		return;
	nd->remote_writes++;
	if (!e->has_data)
		return;
	op = e->data < sn->nops ? sn->ops[e->data] : NULL;
	if (!op || op->kind != SDR_REL_WRITE || op->peer != nd->idx ||
	    !(op->flags & SDR_REL_F_DATA)) {
		simnet_fail(sn, "I2: node %u: write with data that was not sent (%llx)", nd->idx,
			    (unsigned long long)e->data);
		return;
	}
	if (op->remote_seen)
		simnet_fail(sn, "I1: write %u was reported twice at its target", op->id);
	if (e->len != op->len || e->key != op->rma_key)
		simnet_fail(sn, "I2: write %u reported with length %llu key %llx", op->id,
			    (unsigned long long)e->len, (unsigned long long)e->key);
	op->remote_seen = true;
	simnet_write_check(sn, op, "when reported at the target");
	/* A bulk write is ordered with those whose bytes it reaches; here none are the same. */
	if (op->len <= SIMNET_INLINE)
		order_check(sn, op, SDR_ORDER_WRITE);
}

static bool error_allowed(const struct simnet_op *op, const struct sdr_rel_cqe *e)
{
	if (op->may_fail)
		return true;
	switch (e->prov_err) {
	case SDR_REL_ERR_CANCELED:
		return op->canceled && e->err == -ECANCELED;
	case SDR_REL_ERR_TRUNC:
		return simnet_is_recv(op->kind) && e->err == -EMSGSIZE;
	case SDR_REL_ERR_NOMSG:
		return op->flags & (SDR_REL_R_PEEK) && simnet_is_recv(op->kind);
	}
	return false;
}

static void op_done(struct simnet *sn, struct simnet_op *op, const struct sdr_rel_cqe *e)
{
	if (e->kind != op->kind)
		simnet_fail(sn, "I1: %s %u completed as %s", simnet_kind_name(op->kind), op->id,
			    simnet_kind_name(e->kind));
	if (e->uflags != op->id)
		simnet_fail(sn, "I1: operation %u got its flags wrong", op->id);
	if (!e->err != !e->prov_err)
		simnet_fail(sn, "I1: operation %u: error %d with reason %d", op->id, e->err,
			    e->prov_err);
	if (e->err && !error_allowed(op, e)) {
		simnet_fail(sn, "%s %u (node %u, peer %d, %llu bytes) failed: %d, %s",
			    simnet_kind_name(op->kind), op->id, op->node, (int)op->peer,
			    (unsigned long long)op->len, e->err, sdr_rel_strerror(e->prov_err));
		return;
	}
	if (simnet_is_recv(op->kind)) {
		if (op->flags & SDR_REL_R_PEEK) {
			if (e->err)
				return;
			op->claimed =
				op->flags & SDR_REL_R_CLAIM && !(op->flags & SDR_REL_R_DISCARD);
			if (op->flags & SDR_REL_R_DISCARD)
				recv_done(sn, op, e, false);
			return;
		}
		if (op->flags & SDR_REL_R_DISCARD)
			recv_done(sn, op, e, false);
		else if (!e->multi_only && (!e->err || e->err == -EMSGSIZE))
			recv_done(sn, op, e, true);
		if (simnet_op_done(op))
			simnet_op_seal(op);
		return;
	}
	if (op->must_fail && (!e->err || e->prov_err != SDR_REL_ERR_KEY)) {
		simnet_fail(
			sn,
			"%s %u of %llu bytes with a bad key, range or access was not refused (error %d, reason %d)",
			simnet_kind_name(op->kind), op->id, (unsigned long long)op->len, e->err,
			e->prov_err);
		return;
	}
	if (!e->err && op->flags & SDR_REL_F_DELIVERY) {
		if (simnet_is_send(op->kind) && !op->consumed && !sn->unknown)
			simnet_fail(sn, "send %u was reported delivered, but no receive has it",
				    op->id);
		if (op->kind == SDR_REL_WRITE)
			simnet_write_check(sn, op, "when reported delivered");
	}
	if (op->kind == SDR_REL_FETCH_ATOMIC) {
		simnet_atoms_done(op);
	} else if (op->kind == SDR_REL_READ) {
		uint64_t bad = op->len;

		if (!e->err && !sn->cfg.virtual_payload)
			bad = simnet_parts_check(op, SIMNET_RO_ID(op->peer), op->rma_addr, op->len);
		if (bad < op->len)
			simnet_fail(
				sn,
				"I2: read %u (node %u of %u, %llu bytes at %llu): byte %llu is wrong",
				op->id, op->node, op->peer, (unsigned long long)op->len,
				(unsigned long long)op->rma_addr, (unsigned long long)bad);
	} else if (!op->sealed && !sn->cfg.virtual_payload) {
		simnet_parts_set(op, SIMNET_USED);
	}
	if (!op->sealed)
		simnet_op_seal(op);
}

void simnet_done(void *user, const struct sdr_rel_cqe *e)
{
	struct simnet_node *nd = user;
	struct simnet *sn = nd->sn;
	struct simnet_op *op = e->ctx;
	bool counts;

	if (e->kind == SDR_REL_REMOTE_ATOMIC || e->kind == SDR_REL_REMOTE_FETCH_ATOMIC) {
		nd->remote_atomics++;
		return;
	}
	if (e->kind == SDR_REL_REMOTE_WRITE || e->kind == SDR_REL_REMOTE_READ) {
		if (op)
			simnet_fail(sn, "I1: remote event with a context");
		remote_done(sn, nd, e);
		return;
	}
	if (!op) {
		simnet_fail(sn, "I1: completion without context (%s)", simnet_kind_name(e->kind));
		return;
	}
	counts = !(simnet_is_recv(op->kind) && op->flags & SDR_REL_R_MULTI) || e->multi_last ||
		 e->err == -ECANCELED;
	if (op->node != nd->idx ||
	    (counts && op->done >= op->expect && !(op->silent && e->err && !op->done)) ||
	    (!counts && op->done)) {
		simnet_fail(sn, "I1: %s %u of node %u completed once more, at node %u",
			    simnet_kind_name(op->kind), op->id, op->node, nd->idx);
		return;
	}
	op->done += counts;
	if (op->closed)
		return;
	op->cqe = *e;
	op->done_ns = simnet_now(sn);
	if (counts && !op->silent)
		sn->open--;
	if (sn->cfg.verbose)
		fprintf(stderr, "%12.6f ms  node %u: %s %u done, error %d (%s) len %llu\n",
			(double)op->done_ns / 1e6, op->node, simnet_kind_name(op->kind), op->id,
			e->err, e->err ? sdr_rel_strerror(e->prov_err) : "",
			(unsigned long long)e->len);
	op_done(sn, op, e);
	if (sn->cfg.on_done)
		sn->cfg.on_done(sn->cfg.user, op);
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * A receive must not have let a message pass that it matches, when a later receive got it and this
 * one got a message which the same sender sent afterwards.
 */
static void check_order(struct simnet *sn)
{
	for (uint32_t i = 0; i < sn->nmatches; i++) {
		const struct simnet_op *r1 = sn->ops[sn->matches[i].recv],
				       *m1 = sn->ops[sn->matches[i].msg];
		bool swapped;

		for (uint32_t k = i + 1; k < sn->nmatches; k++) {
			const struct simnet_op *r2 = sn->ops[sn->matches[k].recv],
					       *m2 = sn->ops[sn->matches[k].msg];

			if (r1->node != r2->node || m1->node != m2->node || r1->kind != r2->kind)
				continue;
			if ((r1->flags | r2->flags) & SDR_REL_R_MULTI && r1 != r2)
				continue;
			if (r1 == r2) /* in one buffer the place gives the order */
				swapped = sn->matches[i].len && sn->matches[k].len &&
					  (sn->matches[i].at < sn->matches[k].at) !=
						  (m1->id < m2->id);
			else if (r1->id < r2->id)
				swapped = m2->id < m1->id && op_matches(r1, m2);
			else
				swapped = m1->id < m2->id && op_matches(r2, m1);
			if (swapped)
				simnet_fail(
					sn,
					"order: receives %u and %u of node %u got messages %u and %u of node %u",
					r1->id, r2->id, r1->node, m1->id, m2->id, m1->node);
		}
	}
}

/* What no write may have touched, a stretch between writes at a time. */
static void check_untouched(struct simnet *sn, const struct simnet_node *nd, const uint8_t *seen)
{
	const uint8_t *mem = nd->wo.mem, *end = seen + nd->wo.len, *p = seen;

	while (p < end && (p = memchr(p, 0, (size_t)(end - p)))) {
		const uint8_t *stop = memchr(p, 1, (size_t)(end - p));
		uint64_t at = (uint64_t)(p - seen);

		p = stop ? stop : end;
		if (simnet_all(mem + at, (uint64_t)(p - seen) - at, SIMNET_FRESH))
			continue;
		while (mem[at] == SIMNET_FRESH)
			at++;
		simnet_fail(sn,
			    "I3: byte %llu of node %u's region belongs to no write and was written",
			    (unsigned long long)at, nd->idx);
		return;
	}
}

static void check_region(struct simnet *sn, const struct simnet_node *nd)
{
	uint8_t *seen;

	if (sn->cfg.virtual_payload || !nd->wo.len)
		return;
	if (simnet_pattern_check(nd->ro.mem, SIMNET_RO_ID(nd->idx), 0, nd->ro.len) < nd->ro.len)
		simnet_fail(sn, "I3: the read-only region of node %u was written", nd->idx);
	seen = bed_pool_zeros(nd->wo.len);
	if (!seen)
		abort();
	for (uint32_t i = 0; i < sn->nops; i++) {
		const struct simnet_op *op = sn->ops[i];

		if (op->kind != SDR_REL_WRITE || op->peer != nd->idx || op->may_fail)
			continue;
		memset(seen + op->rma_addr, 1, op->len);
		if (op->closed || (op->done && op->cqe.err))
			continue;
		simnet_write_check(sn, op, "at the end");
		if (op->flags & SDR_REL_F_DATA && !op->remote_seen)
			simnet_fail(sn, "I1: write %u with data was never reported at node %u",
				    op->id, op->peer);
	}
	check_untouched(sn, nd, seen);
	bed_pool_put(seen);
}

bool simnet_check_end(struct simnet *sn)
{
	for (uint32_t i = 0; i < sn->nops && !sn->failed && !sn->unknown; i++) {
		const struct simnet_op *op = sn->ops[i];

		if (simnet_is_send(op->kind) && !op->closed && !(op->done && op->cqe.err) &&
		    !op->may_fail && !op->consumed)
			simnet_fail(sn,
				    "I2: message %u (%s, node %u to %u, %llu bytes) never arrived",
				    op->id, simnet_kind_name(op->kind), op->node, op->peer,
				    (unsigned long long)op->len);
	}
	check_order(sn);
	for (uint32_t i = 0; i < sn->cfg.nodes && !sn->failed; i++)
		check_region(sn, &sn->nodes[i]);
	return simnet_check_memory(sn, 1);
}
