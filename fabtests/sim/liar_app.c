/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: what the applications of victim and liar do: post, receive, look, cancel, forget a
 * peer, revoke a region.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar_ops.h"
#include "liar_heap.h"

static size_t draw_len(struct liar *l)
{
	uint32_t in = l->node[LIAR_VICTIM].ep->rel
			      ? sdr_seal_inline_max(l->node[LIAR_VICTIM].ep->rel,
						    l->node[LIAR_VICTIM].ep->rel->ctl_max)
			      : 1000;

	switch (liar_below(l->d, 10)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return 1 + liar_below(l->d, 64);
	case 3:
		return in - 2 + liar_below(l->d, 4);
	case 4:
	case 5:
		return in + 1 + liar_below(l->d, 16) * 1024;
	case 6:
		return 65536 - 1 + liar_below(l->d, 3);
	case 7:
		return 1 + liar_below(l->d, 300) * 1000;
	default:
		return 1 + liar_below(l->d, 2000);
	}
}

static void app_send(struct liar *l, uint32_t node)
{
	static const uint8_t kinds[] = { SDR_REL_SEND,	SDR_REL_TSEND, SDR_REL_SEND,
					 SDR_REL_TSEND, SDR_REL_WRITE, SDR_REL_READ };
	static const uint64_t keys[] = { LIAR_KEY_RW, LIAR_KEY_RW, LIAR_KEY_RO, LIAR_KEY_WO,
					 0xbad };
	uint8_t kind = kinds[liar_below(l->d, sizeof(kinds))];
	struct liar_op *op;
	struct sdr_rel_wr wr = { 0 };
	uint32_t niov;
	size_t len;

	if (liar_ops_open(l, node, true) >= LIAR_OPS_OPEN)
		return;
	len = draw_len(l);
	if (kind >= SDR_REL_WRITE && len > LIAR_REGION)
		len = LIAR_REGION;
	op = liar_op_new(l, node, kind, len);
	if (!op)
		return;
	op->peer = node == LIAR_VICTIM ? LIAR_PEER : LIAR_VICTIM;
	for (uint32_t i = 0; i < 6; i++)
		if (liar_one_in(l->d, 5))
			op->flags |= (uint16_t)(1u << i);
	if (kind == SDR_REL_READ || len > l->cfg.inject_max)
		op->flags &= (uint16_t)~SDR_REL_F_INJECT;
	if (!(op->flags & SDR_REL_F_INJECT))
		op->flags &= (uint16_t)~SDR_REL_F_EARLY;
	niov = liar_one_in(l->d, 4) && len >= 8 ? 1 + liar_below(l->d, SDR_REL_IOV_MAX) : 1;
	wr.tag = liar_below(l->d, 4);
	wr.data = 0xda7a;
	wr.rma_key = keys[liar_below(l->d, 5)];
	wr.rma_addr = liar_one_in(l->d, 8) ? LIAR_REGION - len + 1 : 0;
	if (!liar_op_post(l, op, &wr, niov))
		liar_op_drop(l, op);
}

static void app_recv(struct liar *l, uint32_t node)
{
	struct sdr_rel_rr rr = { 0 };
	struct liar_op *op;
	uint32_t how = liar_below(l->d, 32), niov = 1;

	if (liar_ops_open(l, node, false) >= LIAR_OPS_OPEN)
		return;
	op = liar_op_new(l, node, how & 1 ? SDR_REL_RECV : SDR_REL_TRECV, draw_len(l));
	if (!op)
		return;
	if (!(how >> 1 & 3))
		op->peer = node == LIAR_VICTIM ? LIAR_PEER : LIAR_VICTIM;
	if (how >> 3 == 0 && op->len) {
		op->flags = SDR_REL_R_MULTI;
		rr.min_multi = liar_below(l->d, 256);
	} else if (how >> 3 == 1 && op->len >= 8) {
		niov = 1 + liar_below(l->d, SDR_REL_IOV_MAX);
	}
	rr.tag = liar_below(l->d, 4);
	rr.ignore = liar_one_in(l->d, 3) ? ~LIAR_TALK_TAG : 0;
	if (!liar_op_recv(l, op, &rr, niov))
		liar_op_drop(l, op);
}

/* Looks at unexpected messages; takes one, or discards it. */
static void app_peek(struct liar *l, uint32_t node)
{
	static const uint16_t flags[] = { 0, SDR_REL_R_CLAIM, SDR_REL_R_CLAIM, SDR_REL_R_DISCARD };
	struct sdr_rel_rr rr = { .ignore = ~LIAR_TALK_TAG };
	struct liar_op *op;

	if (liar_ops_open(l, node, false) >= LIAR_OPS_OPEN)
		return;
	op = liar_op_new(l, node, liar_one_in(l->d, 2) ? SDR_REL_RECV : SDR_REL_TRECV, 0);
	if (!op)
		return;
	op->flags = (uint16_t)(SDR_REL_R_PEEK | flags[liar_below(l->d, 4)]);
	if (!liar_op_recv(l, op, &rr, 0)) {
		liar_op_drop(l, op);
		return;
	}
	LIAR_CHECK(op->done, "L1: a look has no result");
	if (op->failed || !(op->flags & SDR_REL_R_CLAIM))
		return;
	/* Claimed: the same word takes it, now or never. */
	if (liar_one_in(l->d, 4))
		return;
	op->done = op->over = op->sealed = false;
	op->flags = SDR_REL_R_CLAIM | (liar_one_in(l->d, 3) ? SDR_REL_R_DISCARD : 0);
	if (!(op->flags & SDR_REL_R_DISCARD)) {
		op->len = 1 + liar_below(l->d, 3000);
		op->mem = liar_guarded(op->len);
	}
	if (!liar_op_recv(l, op, &rr, op->len ? 1 : 0))
		op->over = true;
	else if (!op->over)
		op->flags = 0; /* on its way: ends like any other */
}

static void app_cancel(struct liar *l, uint32_t node)
{
	uint32_t n = liar_below(l->d, 16);

	for (uint32_t i = l->nops; i-- > 0;) {
		struct liar_op *op = &l->op[i];

		if (op->node != node || op->over || liar_op_sends(op) || op->honest || n--)
			continue;
		liar_heap_own(node == LIAR_VICTIM);
		sdr_rel_cancel(l->node[node].ep->rel, op);
		liar_heap_own(false);
		l->node[node].ep->dirty = true;
		return;
	}
}

/* The peer's address is removed, whatever is posted to it. */
static void app_forget(struct liar *l, uint32_t node)
{
	struct sdr_peer **p = &l->node[node].peer[node == LIAR_VICTIM ? LIAR_PEER : LIAR_VICTIM];

	if (!*p)
		return;
	liar_heap_own(node == LIAR_VICTIM);
	sdr_rel_peer_put(*p);
	liar_heap_own(false);
	*p = NULL;
}

/*
 * A region is taken back, and another one has its key: from the call on the old memory must not
 * change.
 */
static void app_revoke(struct liar *l, uint32_t node)
{
	struct liar_region *r = &l->node[node].region[liar_below(l->d, LIAR_REGIONS - 1)];

	liar_heap_own(node == LIAR_VICTIM);
	sdr_rel_mr_revoke(l->node[node].ep->rel, r->mem);
	liar_heap_own(false);
	l->node[node].ep->dirty = true;
	LIAR_CHECK(!sdr_rel_mr_reading(l->node[node].ep->rel, r->mem, LIAR_REGION),
		   "L2: the simulated engine reads at once");
	liar_guards_check(r->mem, LIAR_REGION);
	bed_mem_free(r->mem);
	liar_region_make(r, node);
}

void liar_app_step(struct liar *l, uint32_t node)
{
	uint32_t n = 1 + (liar_one_in(l->d, 8) ? liar_below(l->d, 24) : liar_below(l->d, 3));

	if (!l->node[node].ep->rel || l->node[node].ep->rel->closing)
		return;
	switch (liar_below(l->d, 16)) {
	case 0:
		app_cancel(l, node);
		break;
	case 5:
		app_forget(l, node);
		break;
	case 6:
		app_revoke(l, node);
		break;
	case 1:
		app_peek(l, node);
		break;
	case 2:
	case 3:
	case 4:
		while (n--)
			app_recv(l, node);
		break;
	default:
		while (n--)
			app_send(l, node);
	}
}
