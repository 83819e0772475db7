/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The simulated world: virtual time, the event heap, random numbers, packet memory.
 *
 * Events are ordered by (time, creation number), so that two events of the same instant always run
 * in the order in which they were made.  Packets of one link which keep their order cost no heap
 * operation but a replacement of the top.  Packets and payloads come from free lists that only
 * grow: a run allocates as many as were ever under way at once.  Not here: what a link does to a
 * packet (sdr_sim_link.c), what a receiver does with it (sdr_sim_node.c), addresses
 * (sdr_sim_addr.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

/* ---- random numbers: xoshiro256** seeded by splitmix64 (public domain algorithms) ------------ */

void sdr_sim_rng_seed(struct sdr_sim_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = sdr_rand64(&seed);
}

static inline uint64_t sdr_sim_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t sdr_sim_rng_next(struct sdr_sim_rng *r)
{
	uint64_t *s = r->s;
	uint64_t res = sdr_sim_rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = sdr_sim_rotl(s[3], 45);
	return res;
}

uint64_t sdr_sim_world_random(struct sdr_sim_world *w)
{
	return sdr_sim_rng_next(&w->rng);
}

/* ---- packet memory --------------------------------------------------------------------------- */

static bool sdr_sim_packets_grow(struct sdr_sim_world *w)
{
	struct sdr_sim_packet **blocks, *p;

	blocks = realloc(w->blocks, (w->blocks_n + 1) * sizeof(*blocks));
	if (!blocks)
		return false;
	w->blocks = blocks;
	p = calloc(SDR_SIM_BLOCK, sizeof(*p));
	if (!p)
		return false;
	w->blocks[w->blocks_n++] = p;
	for (uint32_t i = 0; i < SDR_SIM_BLOCK; i++) {
		p[i].next = w->free_pkt;
		w->free_pkt = &p[i];
	}
	return true;
}

struct sdr_sim_packet *sdr_sim_packet_get(struct sdr_sim_world *w, size_t len)
{
	struct sdr_sim_packet *p;
	uint8_t pool = SDR_SIM_POOL_NONE;
	void *buf = NULL;

	if (len > (size_t)SDR_SIM_POOL_MIN << (SDR_SIM_POOLS - 1))
		return NULL;
	if (!w->free_pkt && !sdr_sim_packets_grow(w))
		return NULL;
	if (len) {
		for (pool = 0; (size_t)SDR_SIM_POOL_MIN << pool < len; pool++)
			;
		buf = w->free_buf[pool];
		if (buf)
			memcpy(&w->free_buf[pool], buf, sizeof(void *));
		else
			buf = malloc((size_t)SDR_SIM_POOL_MIN << pool);
		if (!buf)
			return NULL;
	}
	p = w->free_pkt;
	w->free_pkt = p->next;
	memset(p, 0, sizeof(*p));
	p->buf = buf;
	p->pool = pool;
	return p;
}

void sdr_sim_packet_put(struct sdr_sim_world *w, struct sdr_sim_packet *p)
{
	SDR_ASSERT(p->pool == SDR_SIM_POOL_NONE || (p->pool < SDR_SIM_POOLS && p->buf));
	if (p->pool != SDR_SIM_POOL_NONE) {
		memcpy(p->buf, &w->free_buf[p->pool], sizeof(void *));
		w->free_buf[p->pool] = p->buf;
		p->buf = NULL;
		p->pool = SDR_SIM_POOL_NONE;
	}
	p->next = w->free_pkt;
	w->free_pkt = p;
}

/* ---- events ---------------------------------------------------------------------------------- */

static inline bool sdr_sim_before(const struct sdr_sim_event *a, const struct sdr_sim_event *b)
{
	return a->due != b->due ? a->due < b->due : a->seq < b->seq;
}

static void sdr_sim_heap_down(struct sdr_sim_world *w)
{
	struct sdr_sim_event e = w->heap[0];
	uint32_t i = 0, c;

	while ((c = 2 * i + 1) < w->heap_n) {
		if (c + 1 < w->heap_n && sdr_sim_before(&w->heap[c + 1], &w->heap[c]))
			c++;
		if (!sdr_sim_before(&w->heap[c], &e))
			break;
		w->heap[i] = w->heap[c];
		i = c;
	}
	w->heap[i] = e;
}

static int sdr_sim_heap_push(struct sdr_sim_world *w, const struct sdr_sim_event *e)
{
	uint32_t i, up;

	if (w->heap_n == w->heap_cap) {
		uint32_t cap = w->heap_cap ? 2 * w->heap_cap : 256;
		struct sdr_sim_event *h = realloc(w->heap, cap * sizeof(*h));

		if (!h)
			return -ENOMEM;
		w->heap = h;
		w->heap_cap = cap;
	}
	for (i = w->heap_n++; i; i = up) {
		up = (i - 1) / 2;
		if (!sdr_sim_before(e, &w->heap[up]))
			break;
		w->heap[i] = w->heap[up];
	}
	w->heap[i] = *e;
	return 0;
}

void sdr_sim_packet_schedule(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
			     struct sdr_sim_packet *p)
{
	struct sdr_sim_event e = { .due = p->due, .seq = p->seq };

	SDR_ASSERT(p->due >= w->now);
	w->flying += p->wire;
	if (l && l->fly.head) {
		if (p->due >= l->fly.tail->due) {
			sdr_sim_fifo_push(&l->fly, p);
			return;
		}
		l = NULL;
	}
	if (l) {
		e.kind = SDR_SIM_E_LINK;
		e.lnk = l;
	} else {
		e.kind = SDR_SIM_E_PKT;
		e.pkt = p;
	}
	if (sdr_sim_heap_push(w, &e)) {
		w->flying -= p->wire;
		sdr_sim_packet_put(w, p); /* out of memory: a loss */
		return;
	}
	if (l)
		sdr_sim_fifo_push(&l->fly, p);
}

int sdr_sim_world_at(struct sdr_sim_world *w, uint64_t when, void (*fn)(void *user), void *user)
{
	struct sdr_sim_event e = { .due = when > w->now ? when : w->now,
				   .seq = w->seq++,
				   .user = user };

	e.kind = SDR_SIM_E_FN;
	e.fn = fn;
	return sdr_sim_heap_push(w, &e);
}

int sdr_sim_at_own(struct sdr_sim_world *w, uint64_t when, void (*fn)(void *user), void *arg)
{
	struct sdr_sim_event e = { .due = when > w->now ? when : w->now,
				   .seq = w->seq++,
				   .user = arg };
	int err = -ENOMEM;

	e.kind = SDR_SIM_E_FN;
	e.own = true;
	e.fn = fn;
	if (arg)
		err = sdr_sim_heap_push(w, &e);
	if (err)
		free(arg);
	return err;
}

int sdr_sim_event_at(struct sdr_sim_world *w, uint64_t due, enum sdr_sim_evk kind, void *what)
{
	struct sdr_sim_event e = { .due = due, .seq = w->seq++ };

	SDR_ASSERT(due >= w->now);
	e.kind = (uint8_t)kind;
	if (kind == SDR_SIM_E_LINE)
		e.line = what;
	else
		e.lnk = what;
	return sdr_sim_heap_push(w, &e);
}

static void sdr_sim_heap_pop(struct sdr_sim_world *w)
{
	SDR_ASSERT(w->heap_n);
	w->heap[0] = w->heap[--w->heap_n];
	if (w->heap_n > 1)
		sdr_sim_heap_down(w);
}

/* The first packet of the link's front comes to the line. */
static void sdr_sim_front_step(struct sdr_sim_world *w, struct sdr_sim_lnk *l)
{
	struct sdr_sim_packet *p = l->front.head;

	l->front.head = p->next;
	w->flying -= p->wire;
	if (p->next) {
		w->heap[0].due = p->next->due;
		w->heap[0].seq = w->seq++;
		sdr_sim_heap_down(w);
	} else {
		sdr_sim_heap_pop(w);
	}
	sdr_sim_line_enter(w, l, p);
}

void sdr_sim_node_write(struct sdr_sim_world *w, uint32_t node)
{
	struct sdr_sim_eng *e = w->nodes[node].eng;

	for (uint32_t i = 0; e && e->attr.rkeyed && i < w->heap_n; i++) {
		const struct sdr_sim_event *ev = &w->heap[i];
		struct sdr_sim_packet *p = ev->kind == SDR_SIM_E_PKT	? ev->pkt
					   : ev->kind == SDR_SIM_E_LINK ? ev->lnk->fly.head
									: NULL;

		for (; p; p = ev->kind == SDR_SIM_E_LINK ? p->next : NULL)
			if (p->kind == SDR_SIM_DATA && p->dst == node)
				sdr_sim_grant_early(e, p);
	}
}

bool sdr_sim_world_step(struct sdr_sim_world *w)
{
	struct sdr_sim_event e;
	struct sdr_sim_packet *p;

	if (!w->heap_n)
		return false;
	e = w->heap[0];
	SDR_ASSERT(e.due >= w->now); /* time does not go back */
	w->now = e.due;
	switch ((enum sdr_sim_evk)e.kind) {
	case SDR_SIM_E_LINK:
		p = e.lnk->fly.head;
		e.lnk->fly.head = p->next;
		if (p->next) {
			w->heap[0].due = p->next->due;
			w->heap[0].seq = p->next->seq;
			sdr_sim_heap_down(w);
		} else {
			sdr_sim_heap_pop(w);
		}
		w->arrivals++;
		w->flying -= p->wire;
		sdr_sim_node_arrive(w, p);
		break;
	case SDR_SIM_E_PKT:
		sdr_sim_heap_pop(w);
		w->arrivals++;
		w->flying -= e.pkt->wire;
		sdr_sim_node_arrive(w, e.pkt);
		break;
	case SDR_SIM_E_FN:
		sdr_sim_heap_pop(w);
		e.fn(e.user);
		if (e.own)
			free(e.user); /* NOLINT(clang-analyzer-unix.Malloc): it was popped */
		break;
	case SDR_SIM_E_FRONT:
		sdr_sim_front_step(w, e.lnk);
		break;
	case SDR_SIM_E_LINE:
		sdr_sim_heap_pop(w);
		sdr_sim_line_leave(w, e.line);
		break;
	}
	return true;
}

void sdr_sim_world_run_until(struct sdr_sim_world *w, uint64_t t)
{
	while (w->heap_n && w->heap[0].due <= t)
		sdr_sim_world_step(w);
	if (t > w->now)
		w->now = t;
}

uint64_t sdr_sim_world_next(const struct sdr_sim_world *w)
{
	return w->heap_n ? w->heap[0].due : UINT64_MAX;
}

uint64_t sdr_sim_world_now(const struct sdr_sim_world *w)
{
	return w->now;
}

uint64_t sdr_sim_world_arrivals(const struct sdr_sim_world *w)
{
	return w->arrivals;
}

uint64_t sdr_sim_world_flying(const struct sdr_sim_world *w)
{
	return w->flying;
}

/* ---- creation -------------------------------------------------------------------------------- */

struct sdr_sim_world *sdr_sim_world_create(const struct sdr_sim_world_attr *attr)
{
	struct sdr_sim_world *w;

	if (!attr->nodes || attr->nodes > SDR_SIM_NODES_MAX)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->attr = *attr;
	w->now = 1000000; /* ns: not 0, which much code takes for "never" */
	sdr_sim_rng_seed(&w->rng, attr->seed);
	w->nodes = calloc(attr->nodes, sizeof(*w->nodes));
	if (!w->nodes)
		goto fail;
	for (uint32_t n = 0; n < attr->nodes; n++) {
		w->nodes[n].addr = n + 1;
		w->nodes[n].sources = 1;
		w->nodes[n].out = calloc(attr->nodes, sizeof(*w->nodes[n].out));
		if (!w->nodes[n].out)
			goto fail;
	}
	if (sdr_sim_route_build(w))
		goto fail;
	return w;
fail:
	sdr_sim_world_destroy(w);
	return NULL;
}

static void sdr_sim_fifo_put(struct sdr_sim_world *w, struct sdr_sim_fifo *f)
{
	struct sdr_sim_packet *p;

	while ((p = f->head)) {
		f->head = p->next;
		sdr_sim_packet_put(w, p);
	}
}

void sdr_sim_world_destroy(struct sdr_sim_world *w)
{
	struct sdr_sim_event *e;

	if (!w)
		return;
	for (uint32_t i = 0; i < w->heap_n; i++) { /* payloads under way go back to their pools */
		e = &w->heap[i];
		if (e->kind == SDR_SIM_E_PKT)
			sdr_sim_packet_put(w, e->pkt);
		if (e->kind == SDR_SIM_E_FN && e->own)
			free(e->user);
		if (e->kind == SDR_SIM_E_LINK)
			sdr_sim_fifo_put(w, &e->lnk->fly);
		if (e->kind == SDR_SIM_E_FRONT)
			sdr_sim_fifo_put(w, &e->lnk->front);
	}
	for (uint32_t i = 0; i < w->lines_n; i++) {
		sdr_sim_fifo_put(w, &w->line[i]->queue);
		if (w->line[i]->sent)
			sdr_sim_packet_put(w, w->line[i]->sent);
		free(w->line[i]);
	}
	for (uint32_t i = 0; i < SDR_SIM_POOLS; i++) {
		while (w->free_buf[i]) {
			void *b = w->free_buf[i];

			memcpy(&w->free_buf[i], b, sizeof(void *));
			free(b);
		}
	}
	for (uint32_t n = 0; w->nodes && n < w->attr.nodes; n++) {
		for (uint32_t m = 0; w->nodes[n].out && m < w->attr.nodes; m++)
			sdr_sim_lane_free(w->nodes[n].out[m]);
		free(w->nodes[n].out);
		free(w->nodes[n].more);
	}
	for (uint32_t i = 0; i < w->blocks_n; i++)
		free(w->blocks[i]);
	free(w->blocks);
	free(w->heap);
	free(w->nodes);
	free(w->route);
	free(w);
}
