/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: operations and their buffers, from the post to the end.
 *
 * A buffer is set to one value when it is the application's again, and, where there is
 * AddressSanitizer, must not be touched from then on.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar_ops.h"
#include "liar_heap.h"
#include "sim_asan.h"

#define ENDED_BYTE 0xdd

/* ---- buffers --------------------------------------------------------------------------------- */

uint8_t *liar_guarded(size_t len)
{
	uint8_t *p = bed_mem_new(len);

	LIAR_CHECK(p, "no memory");
	return p;
}

void liar_guards_check(const uint8_t *p, size_t len)
{
	LIAR_CHECK(bed_mem_ok(p, len), "L2: a byte beside a buffer of %zu was written", len);
}

static void op_seal(struct liar_op *op)
{
	if (!op->mem || op->sealed)
		return;
	op->sealed = true;
	memset(op->mem, ENDED_BYTE, op->len);
	ASAN_POISON_MEMORY_REGION(op->mem, op->len);
}

void liar_op_check(const struct liar_op *op)
{
	ASAN_UNPOISON_MEMORY_REGION(op->mem, op->len);
	liar_guards_check(op->mem, op->len);
	for (size_t k = 0; op->sealed && k < op->len; k++)
		LIAR_CHECK(op->mem[k] == ENDED_BYTE,
			   "L2: byte %zu of %zu was written after the end", k, op->len);
}

void liar_ops_check(struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++) {
		struct liar_op *op = &l->op[i];

		if (op->mem)
			liar_op_check(op);
	}
	for (uint32_t n = 0; n < LIAR_NODES; n++) {
		for (uint32_t i = 0; i < LIAR_REGIONS; i++) {
			const struct liar_region *r = &l->node[n].region[i];

			liar_guards_check(r->mem, LIAR_REGION);
			for (size_t k = 0; r->key == LIAR_KEY_RO && k < LIAR_REGION; k++)
				LIAR_CHECK(r->mem[k] == bed_pattern(n, k),
					   "L2: a region that may be read was written");
		}
	}
}

void liar_ops_free(struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++)
		if (l->op[i].mem)
			bed_mem_free(l->op[i].mem);
	l->nops = 0;
}

void liar_region_make(struct liar_region *r, uint32_t node)
{
	r->mem = liar_guarded(LIAR_REGION);
	for (size_t k = 0; k < LIAR_REGION; k++)
		r->mem[k] = bed_pattern(node, k);
}

void liar_regions(struct liar *l, uint32_t node)
{
	static const struct liar_region kinds[LIAR_REGIONS] = {
		{ LIAR_KEY_RW, NULL, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE },
		{ LIAR_KEY_RO, NULL, SDR_REL_ACCESS_READ },
		{ LIAR_KEY_WO, NULL, SDR_REL_ACCESS_WRITE },
		{ LIAR_KEY_HONEST, NULL, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE },
	};

	for (uint32_t i = 0; i < LIAR_REGIONS; i++) {
		struct liar_region *r = &l->node[node].region[i];

		*r = kinds[i];
		liar_region_make(r, node);
	}
}

void liar_regions_free(struct liar *l)
{
	for (uint32_t n = 0; n < LIAR_NODES; n++)
		for (uint32_t i = 0; i < LIAR_REGIONS; i++)
			bed_mem_free(l->node[n].region[i].mem);
}

int liar_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va,
		void **region)
{
	struct node *nd = user;

	access &= ~(uint32_t)SDR_REL_ACCESS_COPY; /* what the CPU reaches may also be copied */
	for (uint32_t i = 0; i < LIAR_REGIONS; i++) {
		const struct liar_region *r = &nd->region[i];

		if (r->key != key)
			continue;
		if ((r->access & access) != access || addr > LIAR_REGION ||
		    len > LIAR_REGION - addr)
			return -EACCES;
		*va = r->mem + addr;
		*region = r->mem;
		return 0;
	}
	return -ENOENT;
}

/* ---- operations ------------------------------------------------------------------------------ */

struct liar_op *liar_op_new(struct liar *l, uint32_t node, uint8_t kind, size_t len)
{
	struct liar_op *op;

	if (l->nops == LIAR_OPS)
		return NULL;
	op = &l->op[l->nops++];
	*op = (struct liar_op){ .node = (uint8_t)node,
				.kind = kind,
				.peer = LIAR_NODES,
				.at = sdr_sim_world_now(l->w),
				.len = len };
	if (len)
		op->mem = liar_guarded(len);
	l->st.ops++;
	return op;
}

void liar_op_drop(struct liar *l, struct liar_op *op)
{
	if (op->mem)
		bed_mem_free(op->mem);
	l->nops--;
}

static struct sdr_peer *peer_of(struct liar *l, uint32_t node, uint32_t to)
{
	struct sdr_peer **p = &l->node[node].peer[to];
	struct sdr_uc_addr addr;

	if (*p)
		return *p;
	sdr_sim_node_addr(l->w, to, &addr);
	liar_heap_own(node == LIAR_VICTIM);
	*p = sdr_rel_peer(l->node[node].ep->rel, &addr);
	liar_heap_own(false);
	LIAR_CHECK(*p, "L3: no peer");
	return *p;
}

/* Cuts a buffer into parts. */
static uint8_t liar_parts(struct liar_op *op, uint32_t n, struct sdr_rel_iov *iov)
{
	size_t at = 0, len = n ? op->len / n : 0;

	if (!op->len)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		iov[i] = (struct sdr_rel_iov){ op->mem + at, i + 1 < n ? len : op->len - at };
		at += len;
	}
	return (uint8_t)n;
}

bool liar_op_post(struct liar *l, struct liar_op *op, struct sdr_rel_wr *wr, uint32_t niov)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	int ret;

	wr->kind = op->kind;
	wr->flags = op->flags;
	wr->peer = peer_of(l, op->node, op->peer);
	wr->ctx = op;
	if (!wr->niov) {
		wr->iov = iov;
		wr->niov = liar_parts(op, niov, iov);
		if (wr->niov > 1 || (op->flags & SDR_REL_F_INJECT))
			op->owed = op->len;
	}
	op->silent = op->flags & SDR_REL_F_SILENT;
	liar_heap_own(op->node == LIAR_VICTIM);
	ret = sdr_rel_post(l->node[op->node].ep->rel, wr);
	liar_heap_own(false);
	LIAR_CHECK(ret == 0 || !op->honest, "L3: a message to the honest node is refused: %d", ret);
	if (!ret && (op->flags & SDR_REL_F_INJECT))
		op_seal(op); /* the bytes are copied */
	l->node[op->node].ep->dirty = true;
	return !ret;
}

bool liar_op_recv(struct liar *l, struct liar_op *op, struct sdr_rel_rr *rr, uint32_t niov)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	int ret;

	rr->kind = op->kind;
	rr->flags = op->flags;
	rr->peer = op->peer == LIAR_NODES ? NULL : peer_of(l, op->node, op->peer);
	rr->ctx = op;
	rr->iov = iov;
	rr->niov = liar_parts(op, niov, iov);
	op->owed = rr->niov > 1 ? op->len : 0;
	op->multi = op->flags & SDR_REL_R_MULTI;
	liar_heap_own(op->node == LIAR_VICTIM);
	ret = sdr_rel_recv(l->node[op->node].ep->rel, rr);
	liar_heap_own(false);
	LIAR_CHECK(ret == 0 || !op->honest, "L3: a receive is refused: %d", ret);
	l->node[op->node].ep->dirty = true;
	return !ret;
}

/* ---- completions ----------------------------------------------------------------------------- */

static void honest_check(const struct liar *l, const struct liar_op *op,
			 const struct sdr_rel_cqe *e)
{
	LIAR_CHECK(!e->err, "L3: operation of kind %u of node %u, message %u of %zu bytes: %d, %s",
		   op->kind, op->node, op->word, op->len, e->err, sdr_rel_strerror(e->prov_err));
	if (op->kind != SDR_REL_TRECV && op->kind != SDR_REL_READ)
		return;
	LIAR_CHECK(e->len == op->len, "L3: %llu bytes instead of %zu", (unsigned long long)e->len,
		   op->len);
	for (size_t i = 0; i < op->len; i++)
		LIAR_CHECK(op->mem[i] == bed_pattern(op->kind == SDR_REL_READ
							     ? l->node[op->peer].idx
							     : op->word,
						     op->kind == SDR_REL_READ ? i + op->region : i),
			   "L3: byte %zu of %zu of message %u", i, op->len, op->word);
}

void liar_done(void *user, const struct sdr_rel_cqe *e)
{
	struct node *nd = user;
	struct liar *l = nd->l;
	struct liar_op *op = e->ctx;

	if (!op) {
		LIAR_CHECK(e->kind == SDR_REL_REMOTE_WRITE || e->kind == SDR_REL_REMOTE_READ ||
				   e->kind == SDR_REL_REMOTE_ATOMIC ||
				   e->kind == SDR_REL_REMOTE_FETCH_ATOMIC,
			   "kind %u", e->kind);
		return;
	}
	LIAR_CHECK(op->node == nd->idx, "L1: an operation of another endpoint");
	LIAR_CHECK(!op->over, "L1: operation %u of node %u, kind %u flags %x, ends again: %d %d",
		   (uint32_t)(op - l->op), op->node, op->kind, op->flags, e->err, e->prov_err);
	LIAR_CHECK(!op->silent || e->err, "L1: a silent operation ends well");
	if (op->multi && !e->multi_last)
		return;
	op->failed = e->err;
	if (op->honest && !op->huge)
		honest_check(l, op, e);
	if (op->huge)
		LIAR_CHECK(e->err, "L3: 1 TiB is sent at once");
	op->done = op->over = true;
	op->owed = 0;
	op_seal(op);
}

void liar_ops_over(struct liar *l, uint32_t node, bool ended)
{
	for (uint32_t i = 0; i < l->nops; i++) {
		struct liar_op *op = &l->op[i];

		if (op->node != node || op->over)
			continue;
		LIAR_CHECK(
			!ended || op->silent ||
				(op->flags & SDR_REL_R_CLAIM && op->kind >= SDR_REL_RECV),
			"L1: operation %u of node %u, kind %u flags %x of %zu bytes, never ended",
			i, node, op->kind, op->flags, op->len);
		op->over = true;
		op->owed = 0;
	}
}

uint64_t liar_ops_owed(const struct liar *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->nops; i++)
		n += l->op[i].node == LIAR_VICTIM ? l->op[i].owed : 0;
	return n;
}

bool liar_op_sends(const struct liar_op *op)
{
	return op->kind <= SDR_REL_READ;
}

bool liar_ops_to_peer(const struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++)
		if (!l->op[i].over && !l->op[i].silent && l->op[i].node == LIAR_VICTIM &&
		    l->op[i].peer == LIAR_PEER && liar_op_sends(&l->op[i]))
			return true;
	return false;
}

uint32_t liar_ops_open(const struct liar *l, uint32_t node, bool sends)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nops; i++)
		n += l->op[i].node == node && !l->op[i].over && liar_op_sends(&l->op[i]) == sends;
	return n;
}
