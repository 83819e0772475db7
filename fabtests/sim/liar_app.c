/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: what the three applications post, and what comes of it.
 *
 * A buffer is set to one value when it is the application's again, and, where there is AddressSanitizer, must not be
 * touched from then on.  The conversation with the honest node takes one message each way at a time, each with a
 * receive of its own, by tags that nobody else uses; some are writes and reads of a region whose key nobody else has.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar.h"
#include "liar_heap.h"

#if defined(__SANITIZE_ADDRESS__)
#define LIAR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIAR_ASAN 1
#endif
#endif
#ifdef LIAR_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)	  ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#define TALK_TAG    (1ull << 63)
#define TALK_GAP_NS (20 * MS)
#define TALK_HUGE   11u /* of this many messages one follows one that nobody has the memory for */
#define GUARD_BYTE  0xa5
#define ENDED_BYTE  0xdd
#define HUGE_PART   (1ull << 39) /* bytes of each of two parts: together the largest operation there is */

/* ---- buffers --------------------------------------------------------------------------------------------------------- */

static uint8_t pattern(uint32_t seed, size_t i)
{
	uint32_t x = seed * 2654435761u + (uint32_t)i * 40503u;

	return (uint8_t)(x >> 11 ^ x >> 23);
}

static uint8_t *guarded(size_t len)
{
	uint8_t *p = malloc(len + 2 * LIAR_GUARD);

	LIAR_CHECK(p, "no memory");
	memset(p, GUARD_BYTE, len + 2 * LIAR_GUARD);
	return p + LIAR_GUARD;
}

static void guards_check(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < LIAR_GUARD; i++)
		LIAR_CHECK(p[-1 - (ptrdiff_t)i] == GUARD_BYTE && p[len + i] == GUARD_BYTE,
			   "L2: a byte beside a buffer of %zu was written", len);
}

static void op_seal(struct liar_op *op)
{
	if (!op->mem || op->sealed)
		return;
	op->sealed = true;
	memset(op->mem, ENDED_BYTE, op->len);
	ASAN_POISON_MEMORY_REGION(op->mem, op->len);
}

static void op_check(const struct liar_op *op)
{
	ASAN_UNPOISON_MEMORY_REGION(op->mem, op->len);
	guards_check(op->mem, op->len);
	for (size_t k = 0; op->sealed && k < op->len; k++)
		LIAR_CHECK(op->mem[k] == ENDED_BYTE, "L2: byte %zu of %zu was written after the end", k, op->len);
}

void liar_ops_check(struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++) {
		struct liar_op *op = &l->op[i];

		if (op->mem)
			op_check(op);
	}
	for (uint32_t n = 0; n < LIAR_NODES; n++) {
		for (uint32_t i = 0; i < LIAR_REGIONS; i++) {
			const struct liar_region *r = &l->node[n].region[i];

			guards_check(r->mem, LIAR_REGION);
			for (size_t k = 0; r->key == LIAR_KEY_RO && k < LIAR_REGION; k++)
				LIAR_CHECK(r->mem[k] == pattern(n, k), "L2: a region that may be read was written");
		}
	}
}

void liar_ops_free(struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++)
		if (l->op[i].mem)
			free(l->op[i].mem - LIAR_GUARD);
	l->nops = 0;
}

static void region_make(struct liar_region *r, uint32_t node)
{
	r->mem = guarded(LIAR_REGION);
	for (size_t k = 0; k < LIAR_REGION; k++)
		r->mem[k] = pattern(node, k);
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
		region_make(r, node);
	}
}

void liar_regions_free(struct liar *l)
{
	for (uint32_t n = 0; n < LIAR_NODES; n++)
		for (uint32_t i = 0; i < LIAR_REGIONS; i++)
			free(l->node[n].region[i].mem - LIAR_GUARD);
}

int liar_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va, void **region)
{
	struct node *nd = user;

	for (uint32_t i = 0; i < LIAR_REGIONS; i++) {
		const struct liar_region *r = &nd->region[i];

		if (r->key != key)
			continue;
		if ((r->access & access) != access || addr > LIAR_REGION || len > LIAR_REGION - addr)
			return -EACCES;
		*va = r->mem + addr;
		*region = r->mem;
		return 0;
	}
	return -ENOENT;
}

/* ---- operations ------------------------------------------------------------------------------------------------------- */

static struct liar_op *op_new(struct liar *l, uint32_t node, uint8_t kind, size_t len)
{
	struct liar_op *op;

	if (l->nops == LIAR_OPS)
		return NULL;
	op = &l->op[l->nops++];
	*op = (struct liar_op){
		.node = (uint8_t)node, .kind = kind, .peer = LIAR_NODES, .at = sdr_sim_world_now(l->w), .len = len
	};
	if (len)
		op->mem = guarded(len);
	l->st.ops++;
	return op;
}

static void op_drop(struct liar *l, struct liar_op *op)
{
	if (op->mem)
		free(op->mem - LIAR_GUARD);
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
	*p = sdr_rel_peer(l->node[node].rel, &addr);
	liar_heap_own(false);
	LIAR_CHECK(*p, "L3: no peer");
	return *p;
}

/* Cuts a buffer into parts. */
static uint8_t parts(struct liar_op *op, uint32_t n, struct sdr_rel_iov *iov)
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

static bool op_post(struct liar *l, struct liar_op *op, struct sdr_rel_wr *wr, uint32_t niov)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	int ret;

	wr->kind = op->kind;
	wr->flags = op->flags;
	wr->peer = peer_of(l, op->node, op->peer);
	wr->ctx = op;
	if (!wr->niov) {
		wr->iov = iov;
		wr->niov = parts(op, niov, iov);
		if (wr->niov > 1 || (op->flags & SDR_REL_F_INJECT))
			op->owed = op->len;
	}
	op->silent = op->flags & SDR_REL_F_SILENT;
	liar_heap_own(op->node == LIAR_VICTIM);
	ret = sdr_rel_post(l->node[op->node].rel, wr);
	liar_heap_own(false);
	LIAR_CHECK(ret == 0 || !op->honest, "L3: a message to the honest node is refused: %d", ret);
	if (!ret && (op->flags & SDR_REL_F_INJECT))
		op_seal(op); /* the bytes are copied */
	l->node[op->node].dirty = true;
	return !ret;
}

static bool op_recv(struct liar *l, struct liar_op *op, struct sdr_rel_rr *rr, uint32_t niov)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	int ret;

	rr->kind = op->kind;
	rr->flags = op->flags;
	rr->peer = op->peer == LIAR_NODES ? NULL : peer_of(l, op->node, op->peer);
	rr->ctx = op;
	rr->iov = iov;
	rr->niov = parts(op, niov, iov);
	op->owed = rr->niov > 1 ? op->len : 0;
	op->multi = op->flags & SDR_REL_R_MULTI;
	liar_heap_own(op->node == LIAR_VICTIM);
	ret = sdr_rel_recv(l->node[op->node].rel, rr);
	liar_heap_own(false);
	LIAR_CHECK(ret == 0 || !op->honest, "L3: a receive is refused: %d", ret);
	l->node[op->node].dirty = true;
	return !ret;
}

/* ---- completions -------------------------------------------------------------------------------------------------------- */

static void honest_check(const struct liar *l, const struct liar_op *op, const struct sdr_rel_cqe *e)
{
	LIAR_CHECK(!e->err, "L3: operation of kind %u of node %u, message %u of %zu bytes: %d, %s", op->kind,
		   op->node, op->word, op->len, e->err, sdr_rel_strerror(e->prov_err));
	if (op->kind != SDR_REL_TRECV && op->kind != SDR_REL_READ)
		return;
	LIAR_CHECK(e->len == op->len, "L3: %llu bytes instead of %zu", (unsigned long long)e->len, op->len);
	for (size_t i = 0; i < op->len; i++)
		LIAR_CHECK(op->mem[i] == pattern(op->kind == SDR_REL_READ ? l->node[op->peer].idx : op->word,
						 op->kind == SDR_REL_READ ? i + op->region : i),
			   "L3: byte %zu of %zu of message %u", i, op->len, op->word);
}

void liar_done(void *user, const struct sdr_rel_cqe *e)
{
	struct node *nd = user;
	struct liar *l = nd->l;
	struct liar_op *op = e->ctx;

	if (!op) {
		LIAR_CHECK(e->kind == SDR_REL_REMOTE_WRITE || e->kind == SDR_REL_REMOTE_READ, "kind %u", e->kind);
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
		LIAR_CHECK(!ended || op->silent || (op->flags & SDR_REL_R_CLAIM && op->kind >= SDR_REL_RECV),
			   "L1: operation %u of node %u, kind %u flags %x of %zu bytes, never ended", i, node,
			   op->kind, op->flags, op->len);
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

static bool op_sends(const struct liar_op *op)
{
	return op->kind <= SDR_REL_READ;
}

bool liar_ops_to_peer(const struct liar *l)
{
	for (uint32_t i = 0; i < l->nops; i++)
		if (!l->op[i].over && !l->op[i].silent && l->op[i].node == LIAR_VICTIM &&
		    l->op[i].peer == LIAR_PEER && op_sends(&l->op[i]))
			return true;
	return false;
}

static uint32_t ops_open(const struct liar *l, uint32_t node, bool sends)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nops; i++)
		n += l->op[i].node == node && !l->op[i].over && op_sends(&l->op[i]) == sends;
	return n;
}

/* ---- what an application does -------------------------------------------------------------------------------------------- */

static size_t draw_len(struct liar *l)
{
	uint32_t in = l->node[LIAR_VICTIM].rel ? l->node[LIAR_VICTIM].rel->inline_max : 1000;

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
	static const uint64_t keys[] = { LIAR_KEY_RW, LIAR_KEY_RW, LIAR_KEY_RO, LIAR_KEY_WO, 0xbad };
	uint8_t kind = kinds[liar_below(l->d, sizeof(kinds))];
	struct liar_op *op;
	struct sdr_rel_wr wr = { 0 };
	uint32_t niov;
	size_t len;

	if (ops_open(l, node, true) >= LIAR_OPS_OPEN)
		return;
	len = draw_len(l);
	if (kind >= SDR_REL_WRITE && len > LIAR_REGION)
		len = LIAR_REGION;
	op = op_new(l, node, kind, len);
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
	if (!op_post(l, op, &wr, niov))
		op_drop(l, op);
}

static void app_recv(struct liar *l, uint32_t node)
{
	struct sdr_rel_rr rr = { 0 };
	struct liar_op *op;
	uint32_t how = liar_below(l->d, 32), niov = 1;

	if (ops_open(l, node, false) >= LIAR_OPS_OPEN)
		return;
	op = op_new(l, node, how & 1 ? SDR_REL_RECV : SDR_REL_TRECV, draw_len(l));
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
	rr.ignore = liar_one_in(l->d, 3) ? ~TALK_TAG : 0;
	if (!op_recv(l, op, &rr, niov))
		op_drop(l, op);
}

/* Looks at what nobody asked for; takes it, or throws it away. */
static void app_peek(struct liar *l, uint32_t node)
{
	static const uint16_t flags[] = { 0, SDR_REL_R_CLAIM, SDR_REL_R_CLAIM, SDR_REL_R_DISCARD };
	struct sdr_rel_rr rr = { .ignore = ~TALK_TAG };
	struct liar_op *op;

	if (ops_open(l, node, false) >= LIAR_OPS_OPEN)
		return;
	op = op_new(l, node, liar_one_in(l->d, 2) ? SDR_REL_RECV : SDR_REL_TRECV, 0);
	if (!op)
		return;
	op->flags = (uint16_t)(SDR_REL_R_PEEK | flags[liar_below(l->d, 4)]);
	if (!op_recv(l, op, &rr, 0)) {
		op_drop(l, op);
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
		op->mem = guarded(op->len);
	}
	if (!op_recv(l, op, &rr, op->len ? 1 : 0))
		op->over = true;
	else if (!op->over)
		op->flags = 0; /* on its way: ends like any other */
}

static void app_cancel(struct liar *l, uint32_t node)
{
	uint32_t n = liar_below(l->d, 16);

	for (uint32_t i = l->nops; i-- > 0;) {
		struct liar_op *op = &l->op[i];

		if (op->node != node || op->over || op_sends(op) || op->honest || n--)
			continue;
		liar_heap_own(node == LIAR_VICTIM);
		sdr_rel_cancel(l->node[node].rel, op);
		liar_heap_own(false);
		l->node[node].dirty = true;
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

/* A region is taken back, and another one has its key: from the call on the old memory is nobody's. */
static void app_revoke(struct liar *l, uint32_t node)
{
	struct liar_region *r = &l->node[node].region[liar_below(l->d, LIAR_REGIONS - 1)];

	liar_heap_own(node == LIAR_VICTIM);
	sdr_rel_mr_revoke(l->node[node].rel, r->mem);
	liar_heap_own(false);
	l->node[node].dirty = true;
	LIAR_CHECK(!sdr_rel_mr_reading(l->node[node].rel, r->mem, LIAR_REGION),
		   "L2: the simulated engine reads at once");
	guards_check(r->mem, LIAR_REGION);
	free(r->mem - LIAR_GUARD);
	region_make(r, node);
}

void liar_app_step(struct liar *l, uint32_t node)
{
	uint32_t n = 1 + (liar_one_in(l->d, 8) ? liar_below(l->d, 24) : liar_below(l->d, 3));

	if (!l->node[node].rel || l->node[node].rel->closing)
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

/* ---- the conversation ------------------------------------------------------------------------------------------------------ */

static void talk_fill(struct liar_op *op)
{
	for (size_t i = 0; i < op->len; i++)
		op->mem[i] = pattern(op->word, i);
}

static struct liar_op *talk_op(struct liar *l, struct liar_talk *t, uint32_t node, uint32_t peer, uint8_t kind)
{
	struct liar_op *op = op_new(l, node, kind, t->len);

	if (!op)
		return NULL;
	op->peer = peer;
	op->honest = true;
	op->word = t->word;
	return op;
}

/* Two parts that no memory can hold together: it fails here, and must not be in the way of what follows. */
static void talk_huge(struct liar *l, uint32_t node, uint32_t peer)
{
	struct liar_op *op = op_new(l, node, SDR_REL_TSEND, 0);
	static uint8_t some[64];
	struct sdr_rel_iov iov[2] = { { some, HUGE_PART }, { some, HUGE_PART } };
	struct sdr_rel_wr wr = { .niov = 2, .iov = iov, .tag = TALK_TAG >> 1 };

	if (!op)
		return;
	op->peer = peer;
	op->honest = op->huge = true;
	op_post(l, op, &wr, 0);
}

static void talk_start(struct liar *l, struct liar_talk *t, uint32_t from, uint32_t to)
{
	static const uint32_t lens[] = { 8, 500, 12000, 3000, 100, 8, 500, 60000, 3000 };
	struct sdr_rel_rr rr = { .tag = TALK_TAG };
	struct sdr_rel_wr wr = { .tag = TALK_TAG, .rma_key = LIAR_KEY_HONEST };
	uint8_t kind = t->word % 8 == 6 ? SDR_REL_WRITE : t->word % 8 == 7 ? SDR_REL_READ : SDR_REL_TSEND;

	t->next = NEVER;
	if (l->nops + 4 > LIAR_OPS)
		return; /* enough was said */
	t->word++;
	t->len = lens[t->word % (sizeof(lens) / sizeof(*lens))];
	if (kind != SDR_REL_TSEND && t->len > LIAR_REGION / 2)
		t->len = LIAR_REGION / 2;
	if (from == LIAR_VICTIM && t->word % TALK_HUGE == TALK_HUGE - 1)
		talk_huge(l, from, to);
	rr.tag = wr.tag = TALK_TAG | (uint64_t)from << 32 | t->word;
	t->since = sdr_sim_world_now(l->w);
	t->rx = NULL;
	if (kind == SDR_REL_TSEND) {
		t->rx = talk_op(l, t, to, from, SDR_REL_TRECV);
		op_recv(l, t->rx, &rr, 1 + t->word % 3 / 2);
	}
	t->tx = talk_op(l, t, from, to, kind);
	if (kind == SDR_REL_WRITE)
		wr.rma_addr = LIAR_REGION / 2; /* reads are of the other half */
	if (kind != SDR_REL_READ)
		talk_fill(t->tx);
	op_post(l, t->tx, &wr, 1 + t->word % 4 / 3);
}

/* There are many of them. */
static void talk_free(struct liar_op *op)
{
	if (!op || !op->mem)
		return;
	op_check(op);
	free(op->mem - LIAR_GUARD);
	op->mem = NULL;
}

static bool talk_on(const struct liar *l)
{
	return l->node[LIAR_VICTIM].rel && l->node[LIAR_HONEST].rel && !l->node[LIAR_VICTIM].rel->closing;
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
		t->word, from, t->tx->kind, t->len, (unsigned long long)((now - t->since) / MS), t->tx->over,
		t->rx && t->rx->over);
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
