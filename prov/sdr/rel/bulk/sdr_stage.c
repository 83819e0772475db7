/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Room between a device's memory and the network: a segment whose bytes lie where the CPU does not
 * reach is sent from, and lands in, memory of ours.
 *
 * Out: a piece is copied when its first packet is about to leave, so the copy goes on while earlier
 * pieces travel; what is repeated is still there.  In: a piece is copied when all before it has
 * come, the last one before the segment is reported complete, so that delivered means delivered.
 * Encoding and decoding see our memory alone.
 *
 * Each direction has a limit of its own (cfg.stage), which holds the longest segment: a sender and
 * a receiver never wait for each other's room.  Where there is none, a segment to be sent waits
 * until one of ours is over; one that comes in is not bound, lands nowhere and is repeated, as
 * without memory for its state.  The memory comes from the caller where it lends some
 * (cbs->stage_alloc: pinned, so that a device copies faster), and is kept for reuse.
 *
 * A device that reads what is sent may do so later, also what was sent twice and has arrived: a
 * segment's room is no other's until it has (olds), or a late packet would carry other bytes to a
 * place that its peer has granted.
 *
 * What comes to a berth (sdr_berth_rx.c) is copied likewise, wherever it belongs.
 *
 * On an rkeyed engine a transfer comes in under one key, so it has room for all of it or none: its
 * segments have parts of that.  Those without wait in their order (rx_wait); one that is longer
 * than the limit has its turn when nothing else is out.
 */
#include "base/sdr_assert.h"
#include "sdr_bulk.h"
#include "sdr_stage.h"

#define STAGE_TX_MAX 65536u /* segments that are sent from it, at a time */

void sdr_stages_open(struct sdr_rel *rel)
{
	struct sdr_stages *g = &rel->bulk->stages;
	uint64_t limit = rel->cfg.stage ? rel->cfg.stage : SDR_REL_STAGE;
	const struct sdr_scratch_src src = { rel->cbs->stage_alloc, rel->cbs->stage_free,
					     rel->user };

	sdr_scratch_init(&g->tx, limit, false);
	sdr_scratch_init(&g->rx, limit, false);
	if (src.alloc)
		g->tx.src = g->rx.src = src;
	g->rx.alone = true;
	sdr_list_init(&g->wait);
	sdr_list_init(&g->rx_wait);
	sdr_list_init(&g->olds);
	sdr_slab_init(&g->old_pool, sizeof(struct sdr_stage_old), STAGE_TX_MAX);
}

static void stage_old_free(struct sdr_stages *g, struct sdr_stage_old *o)
{
	sdr_scratch_put(&g->tx, o->near, o->len);
	sdr_slab_free(&g->old_pool, o);
}

void sdr_stages_close(struct sdr_rel *rel)
{
	struct sdr_stages *g = &rel->bulk->stages;
	struct sdr_list *l;

	while ((l = sdr_list_pop(&g->olds)))
		stage_old_free(g, sdr_container(l, struct sdr_stage_old, link));
	SDR_ASSERT(!g->tx.used && !g->rx.used && sdr_list_empty(&g->wait) &&
		   sdr_list_empty(&g->rx_wait));
	sdr_scratch_destroy(&g->tx);
	sdr_scratch_destroy(&g->rx);
	sdr_slab_destroy(&g->old_pool);
}

void sdr_stages_told(struct sdr_rel *rel)
{
	if (rel->bulk->far_told || !rel->cbs->far_refused)
		return;
	rel->bulk->far_told = true;
	rel->cbs->far_refused(rel->user, rel->uc->ops->reason(rel->uc));
}

static bool stage_open(struct sdr_stage *s, struct sdr_scratch *room, const struct sdr_mem *mem,
		       uint8_t *far, uint64_t len)
{
	SDR_ASSERT(mem && len && !s->mem);
	s->near = sdr_scratch_get(room, len);
	if (!s->near)
		return false;
	s->mem = mem;
	s->far = far;
	s->len = len;
	s->done = 0;
	s->part = false;
	return true;
}

static void stage_close(struct sdr_stage *s, struct sdr_scratch *room)
{
	sdr_scratch_put(room, s->near, s->len);
	s->mem = NULL;
	s->near = NULL;
}

/* ---- out ------------------------------------------------------------------------------------- */

bool sdr_stage_tx_open(struct sdr_stage *s, struct sdr_conn *c, const struct sdr_mem *mem,
		       const uint8_t *far, uint64_t len)
{
	struct sdr_stages *g = &c->rel->bulk->stages;

	s->old = sdr_slab_alloc(&g->old_pool);
	if (s->old && stage_open(s, &g->tx, mem, (uint8_t *)(uintptr_t)far, len))
		return true;
	if (s->old)
		sdr_slab_free(&g->old_pool, s->old);
	if (sdr_list_empty(&c->bulk->tx.stage_link))
		sdr_list_add_tail(&c->bulk->tx.stage_link, &g->wait);
	return false;
}

int sdr_stage_tx_fetch(struct sdr_stage *s, uint64_t end)
{
	int ret = 0;

	SDR_ASSERT(s->mem && end <= s->len);
	while (s->done < end && !ret) {
		uint64_t left = s->len - s->done,
			 n = left < SDR_STAGE_PIECE ? left : SDR_STAGE_PIECE;

		ret = sdr_mem_get(s->mem, s->near + s->done, s->far + s->done, n);
		if (!ret)
			s->done += n;
	}
	return ret;
}

static bool stage_read(const struct sdr_rel *rel, const uint8_t *near, uint64_t len)
{
	struct sdr_uc *uc = rel->uc;

	return uc->ops->reading && uc->ops->reading(uc, near, len);
}

/* There is room again for those that want some. */
static void stage_tx_room(struct sdr_rel *rel)
{
	struct sdr_list *l;

	while ((l = sdr_list_pop(&rel->bulk->stages.wait))) {
		struct sdr_conn_bulk *b = sdr_container(l, struct sdr_conn_bulk, tx.stage_link);

		sdr_rel_step(rel);
		sdr_conn_kick(b->tx.conn);
	}
}

void sdr_stage_tx_close(struct sdr_stage *s, struct sdr_conn *c)
{
	struct sdr_stages *g = &c->rel->bulk->stages;

	if (!s->mem)
		return;
	if (stage_read(c->rel, s->near, s->len)) {
		s->old->near = s->near;
		s->old->len = s->len;
		sdr_list_init(&s->old->link);
		sdr_list_add_tail(&s->old->link, &g->olds);
		s->mem = NULL;
		s->near = NULL;
		return;
	}
	sdr_slab_free(&g->old_pool, s->old);
	stage_close(s, &g->tx);
	stage_tx_room(c->rel);
}

void sdr_stages_round(struct sdr_rel *rel)
{
	struct sdr_stages *g = &rel->bulk->stages;
	struct sdr_list *l, *tmp;

	sdr_list_each_safe(l, tmp, &g->olds) {
		struct sdr_stage_old *o = sdr_container(l, struct sdr_stage_old, link);

		if (stage_read(rel, o->near, o->len))
			continue;
		sdr_list_del(l);
		stage_old_free(g, o);
		stage_tx_room(rel);
	}
}

/* ---- in -------------------------------------------------------------------------------------- */

static int host_put(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	(void)m;
	return sdr_mem_put(NULL, to, from, n);
}

static int nowhere_put(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	(void)m;
	(void)to;
	(void)from;
	(void)n;
	return 0;
}

void sdr_stage_rx_lent(struct sdr_stage *s, const struct sdr_rel *rel, const struct sdr_mem *mem,
		       uint8_t *far, uint8_t *near, uint64_t len)
{
	static const struct sdr_mem_ops host_ops = { .name = "host", .put = host_put },
					nowhere_ops = { .name = "nowhere", .put = nowhere_put };
	static const struct sdr_mem host = { &host_ops }, nowhere = { &nowhere_ops };

	SDR_ASSERT(len && !s->mem);
	*s = (struct sdr_stage){
		.mem = rel->info.no_bytes ? &nowhere
		       : mem		  ? mem
					  : &host,
		.far = far,
		.near = near,
		.len = len,
		.part = true,
	};
}

bool sdr_stage_rx_open(struct sdr_stage *s, struct sdr_rel *rel, const struct sdr_mem *mem,
		       uint8_t *far, uint64_t len)
{
	return stage_open(s, &rel->bulk->stages.rx, mem, far, len);
}

int sdr_stage_rx_store(struct sdr_stage *s, uint64_t end)
{
	int ret;

	SDR_ASSERT(s->mem && end <= s->len);
	if (end <= s->done || (end < s->len && end - s->done < SDR_STAGE_PIECE))
		return 0;
	ret = sdr_mem_put(s->mem, s->far + s->done, s->near + s->done, end - s->done);
	if (!ret)
		s->done = end;
	return ret;
}

int sdr_stage_rx_run(const struct sdr_stage *s, uint64_t from, uint64_t to)
{
	to = to < s->len ? to : s->len;
	SDR_ASSERT(s->mem && from <= to);
	return sdr_mem_put(s->mem, s->far + from, s->near + from, to - from);
}

void sdr_stage_rx_close(struct sdr_stage *s, struct sdr_rel *rel)
{
	if (s->mem && !s->part)
		stage_close(s, &rel->bulk->stages.rx);
	s->mem = NULL;
}

void sdr_stage_rx_part(struct sdr_stage *s, const struct sdr_stage *whole, uint64_t off,
		       uint64_t len)
{
	SDR_ASSERT(whole->mem && !s->mem && off <= whole->len && len <= whole->len - off);
	*s = (struct sdr_stage){
		.mem = whole->mem,
		.far = whole->far + off,
		.near = whole->near + off,
		.len = len,
		.part = true,
	};
}
