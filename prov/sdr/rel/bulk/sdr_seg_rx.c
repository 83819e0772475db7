/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Segments coming in, one SDR message each: bound as far as the window reaches, in the order of
 * their numbers, and freed.  The rest of a transfer waits (conn->bulk->rx.partial) until the window
 * has moved or there is memory again.
 *
 * A coded segment is two messages: the data, bound in place, and the parity, bound to a buffer of
 * ours (sdr_code_rx.c) right behind them.  Parity of which there is no use, or no room for, has its
 * number passed over.
 *
 * Into a device's memory that the engine does not reach, segments land in memory of ours
 * (sdr_stage.c).
 */
#include <errno.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_credit.h"
#include "sdr_code_rx.h"
#include "sdr_msn.h"
#include "sdr_seg_rx.h"

/* Parity of a segment that is complete, or that we have no room for: its number is passed over. */
static void parity_pass(struct sdr_bulk_rx *b, uint32_t msn)
{
	struct sdr_conn *c = b->conn;

	if (b->grp) {
		sdr_msn_skip(c, msn);
	} else {
		sdr_recv_skip(b->shape->qp, msn);
		sdr_msn_not_skipped(c, msn);
	}
	b->grp = NULL;
	b->bound++;
}

static int seg_bind(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	uint32_t msn = b->msn + b->bound;
	struct sdr_group_rx *g = b->grp;
	struct sdr_plan_msg m;
	struct sdr_rcv_wr wr = { 0 };
	struct sdr_seg_rx *s;
	int ret;

	sdr_rel_step(c->rel);
	sdr_plan_msg(&b->plan, b->bound, &m);
	if (m.parity && (!g || !g->scratch)) {
		parity_pass(b, msn);
		return 0;
	}
	s = sdr_slab_alloc(&c->rel->bulk->srx_pool);
	if (!s)
		return -ENOMEM;
	if (m.coded) {
		g = sdr_group_rx_new(b, &m);
		ret = -ENOMEM;
		if (!g)
			goto err_seg;
	}
	if (b->stage.mem) {
		sdr_stage_rx_part(&s->stage, &b->stage, m.off, m.len);
	} else if (b->mem && !b->direct && !m.parity &&
		   !sdr_stage_rx_open(&s->stage, c->rel, b->mem, sdr_bulk_rx_at(b) + m.off,
				      m.len)) {
		ret = -ENOMEM;
		goto err_group;
	}
	wr.addr = m.parity ? g->scratch : s->stage.mem ? s->stage.near : sdr_bulk_rx_at(b) + m.off;
	wr.length = m.parity ? sdr_code_parity_bytes(&g->code) : m.len;
	s->bulk = b;
	s->msn = msn;
	s->parity = m.parity;
	s->grp = m.parity || m.coded ? g : NULL;
	sdr_list_init(&s->link);
	sdr_list_init(&s->dirty);
	sdr_list_init(&s->asked);
	ret = sdr_recv_post_at(b->shape->qp, msn, &wr, s, &s->h);
	if (ret)
		goto err_group;
	if (m.parity)
		g->parity = s;
	else if (m.coded)
		g->data = s;
	b->grp = m.coded ? g : NULL;
	sdr_msn_not_skipped(c, msn);
	sdr_list_add_tail(&s->link, &b->segs);
	b->bound++;
	return 0;
err_group:
	if (m.coded)
		sdr_group_rx_free(c, g);
err_seg:
	sdr_stage_rx_close(&s->stage, c->rel);
	sdr_slab_free(&c->rel->bulk->srx_pool, s);
	return ret;
}

void sdr_seg_rx_free(struct sdr_seg_rx *s)
{
	struct sdr_conn *c = s->bulk->conn;
	struct sdr_group_rx *g = s->grp;

	if (g)
		sdr_decode_stop(&g->decode);
	sdr_list_del(&s->link);
	sdr_list_del(&s->dirty);
	sdr_list_del(&s->asked);
	sdr_recv_complete(s->h); /* from here on nothing is written there */
	sdr_stage_rx_close(&s->stage, c->rel);
	if (g && s->parity)
		g->parity = NULL;
	else if (g)
		g->data = NULL;
	if (g && !g->data && !g->parity) {
		if (s->bulk->grp == g)
			s->bulk->grp = NULL;
		sdr_group_rx_free(c, g);
	}
	sdr_slab_free(&c->rel->bulk->srx_pool, s);
}

bool sdr_seg_rx_bind(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	int ret = 0;

	while (!ret && b->bound < b->plan.nmsgs &&
	       sdr_seq_lt(b->msn + b->bound, sdr_conn_msn_limit(c)))
		ret = seg_bind(b);
	sdr_list_del(&b->partial);
	if (ret && ret != -ENOMEM)
		return false;
	if (b->bound < b->plan.nmsgs) /* when the window has moved, or there is memory again */
		sdr_list_add_tail(&b->partial, &c->bulk->rx.partial);
	return true;
}

void sdr_seg_rx_more(struct sdr_conn *c)
{
	struct sdr_list todo, *l;

	sdr_msn_skip_on(c);
	sdr_list_init(&todo);
	sdr_list_move(&c->bulk->rx.partial, &todo);
	while ((l = sdr_list_pop(&todo))) {
		sdr_rel_step(c->rel);
		(void)sdr_seg_rx_bind(sdr_container(l, struct sdr_bulk_rx, partial));
	}
}

bool sdr_seg_rx_settle(struct sdr_bulk_rx *b)
{
	uint32_t mtu = b->shape->mtu;
	struct sdr_list *l;

	sdr_list_each(l, &b->segs) {
		struct sdr_seg_rx *s = sdr_container(l, struct sdr_seg_rx, link);
		const struct sdr_rcv_state *st = sdr_recv_state(s->h);
		uint32_t p = (uint32_t)(s->stage.done / mtu), end;

		if (!s->stage.mem)
			continue;
		for (; (p = sdr_bitmap_next_one(st->pkt_bits, p, st->npkts)) < st->npkts; p = end) {
			end = sdr_bitmap_next_zero(st->pkt_bits, p, st->npkts);
			if (sdr_stage_rx_run(&s->stage, (uint64_t)p * mtu, (uint64_t)end * mtu))
				return false;
		}
	}
	return true;
}

bool sdr_seg_rx_stage(struct sdr_bulk_rx *b)
{
	struct sdr_list *l = b->segs.next;
	struct sdr_plan_msg m;

	SDR_ASSERT(b->stage.mem);
	for (uint32_t i = 0; i < b->bound; i++) {
		struct sdr_seg_rx *s =
			l == &b->segs ? NULL : sdr_container(l, struct sdr_seg_rx, link);
		bool open = s && s->msn == b->msn + i;

		sdr_rel_step(b->conn->rel);
		l = open ? l->next : l;
		sdr_plan_msg(&b->plan, i, &m);
		if (m.parity)
			continue;
		if (open)
			sdr_stage_rx_part(&s->stage, &b->stage, m.off, m.len);
		else if (sdr_stage_rx_run(&b->stage, m.off, m.off + m.len))
			return false;
	}
	return true;
}
