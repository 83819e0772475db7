/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: the conversation of victim and honest node, one message each way at a time, each with
 * a receive of its own, by tags that no other uses; some are writes and reads of a region whose
 * key no other node has (L3).
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar_ops.h"
#include "liar_heap.h"

#define TALK_GAP_NS (20 * MS)
/* of this many messages one follows one that no node has the memory for */
#define TALK_HUGE 11u
/* bytes of each of two parts: together the largest operation there is */
#define HUGE_PART (1ull << 39)

static void talk_fill(struct liar_op *op)
{
	for (size_t i = 0; i < op->len; i++)
		op->mem[i] = bed_pattern(op->word, i);
}

static struct liar_op *talk_op(struct liar *l, struct liar_talk *t, uint32_t node, uint32_t peer,
			       uint8_t kind)
{
	struct liar_op *op = liar_op_new(l, node, kind, t->len);

	if (!op)
		return NULL;
	op->peer = peer;
	op->honest = true;
	op->word = t->word;
	return op;
}

/*
 * Two parts that no memory can hold together: it fails here, and must not be in the way of what
 * follows.
 */
static void talk_huge(struct liar *l, uint32_t node, uint32_t peer)
{
	struct liar_op *op = liar_op_new(l, node, SDR_REL_TSEND, 0);
	static uint8_t some[64];
	struct sdr_rel_iov iov[2] = { { some, HUGE_PART }, { some, HUGE_PART } };
	struct sdr_rel_wr wr = { .niov = 2, .iov = iov, .tag = LIAR_TALK_TAG >> 1 };

	if (!op)
		return;
	op->peer = peer;
	op->honest = op->huge = true;
	liar_op_post(l, op, &wr, 0);
}

static void talk_start(struct liar *l, struct liar_talk *t, uint32_t from, uint32_t to)
{
	static const uint32_t lens[] = { 8, 500, 12000, 3000, 100, 8, 500, 60000, 3000 };
	struct sdr_rel_rr rr = { .tag = LIAR_TALK_TAG };
	struct sdr_rel_wr wr = { .tag = LIAR_TALK_TAG, .rma_key = LIAR_KEY_HONEST };
	uint8_t kind = t->word % 8 == 6	  ? SDR_REL_WRITE
		       : t->word % 8 == 7 ? SDR_REL_READ
					  : SDR_REL_TSEND;

	t->next = NEVER;
	if (l->nops + 4 > LIAR_OPS)
		return; /* enough was said */
	t->word++;
	t->len = lens[t->word % (sizeof(lens) / sizeof(*lens))];
	if (kind != SDR_REL_TSEND && t->len > LIAR_REGION / 2)
		t->len = LIAR_REGION / 2;
	if (from == LIAR_VICTIM && t->word % TALK_HUGE == TALK_HUGE - 1)
		talk_huge(l, from, to);
	rr.tag = wr.tag = LIAR_TALK_TAG | (uint64_t)from << 32 | t->word;
	t->since = sdr_sim_world_now(l->w);
	t->rx = NULL;
	if (kind == SDR_REL_TSEND) {
		t->rx = talk_op(l, t, to, from, SDR_REL_TRECV);
		liar_op_recv(l, t->rx, &rr, 1 + t->word % 3 / 2);
	}
	t->tx = talk_op(l, t, from, to, kind);
	if (kind == SDR_REL_WRITE)
		wr.rma_addr = LIAR_REGION / 2; /* reads are of the other half */
	if (kind != SDR_REL_READ)
		talk_fill(t->tx);
	liar_op_post(l, t->tx, &wr, 1 + t->word % 4 / 3);
}

/* There are many of them. */
static void talk_free(struct liar_op *op)
{
	if (!op || !op->mem)
		return;
	liar_op_check(op);
	bed_mem_free(op->mem);
	op->mem = NULL;
}

static bool talk_on(const struct liar *l)
{
	return l->node[LIAR_VICTIM].ep->rel && l->node[LIAR_HONEST].ep->rel &&
	       !l->node[LIAR_VICTIM].ep->rel->closing;
}

uint64_t liar_talk_at(const struct liar *l)
{
	if (!talk_on(l))
		return NEVER;
	return l->to.next < l->from.next ? l->to.next : l->from.next;
}

static void talk_dir(struct liar *l, struct liar_talk *t, uint32_t from, uint32_t to)
{
	uint64_t now = sdr_sim_world_now(l->w);

	if (!talk_on(l))
		return;
	if (!t->tx) {
		if (now >= t->next)
			talk_start(l, t, from, to);
		return;
	}
	LIAR_CHECK(
		now - t->since <= LIAR_IN_TIME_NS,
		"L3: message %u of node %u, kind %u of %u bytes, is not there after %llu ms (sent %d, received %d)",
		t->word, from, t->tx->kind, t->len, (unsigned long long)((now - t->since) / MS),
		t->tx->over, t->rx && t->rx->over);
	if (!t->tx->over || (t->rx && !t->rx->over))
		return;
	talk_free(t->tx);
	talk_free(t->rx);
	t->tx = t->rx = NULL;
	t->next = now + TALK_GAP_NS;
	l->st.talks++;
}

void liar_talk(struct liar *l)
{
	talk_dir(l, &l->to, LIAR_VICTIM, LIAR_HONEST);
	talk_dir(l, &l->from, LIAR_HONEST, LIAR_VICTIM);
}
