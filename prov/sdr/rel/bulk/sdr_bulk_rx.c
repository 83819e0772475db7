/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A transfer coming in: from the record that announces it to its end.  Its place in memory, its
 * numbers, and who waits for what; its segments are in sdr_seg_rx.c, what arrives of them in
 * sdr_bulk_arrive.c.
 *
 * On an rkeyed engine the place is granted to the peer when the transfer is made here and no longer
 * than it lives: the grant ends before the end of the transfer is reported, complete or not,
 * and so before its buffer can be used for something else.  The peer learns of it by CTS (messages,
 * writes) or by the READ itself.
 *
 * Into a device's memory: the engine writes there, if it is rkeyed and reaches it.  Else its
 * segments land in memory of ours, and are copied as they come (sdr_stage.c).  An rkeyed engine
 * grants such memory for the whole transfer; until there is some the peer is not told to send.
 *
 * One that comes to a berth (sdr_berth_rx.c) has its grant already, of memory of ours, which ends
 * with it likewise.
 *
 * The head of one may be a transfer of its own (sdr_head_rx.c).  The other bytes are announced,
 * granted and numbered here as if they were all, and the transfer ends when both have come, or with
 * the first of the two that fails.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_msn.h"
#include "sdr_seg_rx.h"

/* On an rkeyed engine: into a device's memory itself.  False: it does not reach that. */
static bool bulk_direct(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	int ret;

	if (!sdr_qp_far(c->shape->qp) || c->rel->cfg.no_far)
		return false;
	ret = sdr_qp_grant(c->shape->qp, sdr_bulk_rx_at(b), sdr_bulk_rx_len(b), b->mem, &b->grant);
	b->direct = !ret;
	if (ret && ret != -EAGAIN) /* that is no word against such memory: none is free now */
		sdr_stages_told(c->rel);
	return b->direct;
}

/* Into memory of ours, in one piece.  False: no room. */
static bool bulk_stage(struct sdr_bulk_rx *b, int *err)
{
	uint64_t len = sdr_bulk_rx_len(b);
	struct sdr_conn *c = b->conn;

	if (!sdr_stage_rx_open(&b->stage, c->rel, b->mem, sdr_bulk_rx_at(b), len))
		return false;
	*err = SDR_REL_OK;
	if (!sdr_qp_grant(c->shape->qp, b->stage.near, len, NULL, &b->grant))
		return true;
	sdr_stage_rx_close(&b->stage, c->rel);
	*err = SDR_REL_ERR_REG;
	return true;
}

/* Says where its bytes may go, where the peer has to know. */
static int bulk_grant(struct sdr_bulk_rx *b, struct sdr_berth *berth)
{
	struct sdr_stages *g = &b->conn->rel->bulk->stages;
	struct sdr_qp *qp = b->conn->shape->qp;
	int err = SDR_REL_OK;

	if (!sdr_qp_rkeyed(qp))
		return SDR_REL_OK;
	if (berth) {
		b->berth = berth;
		b->kept = b->buf == berth->buf;
		if (!b->kept)
			sdr_stage_rx_lent(&b->stage, b->conn->rel, b->mem, b->buf, berth->buf,
					  b->len);
		return SDR_REL_OK;
	}
	if (!b->mem)
		return sdr_qp_grant(qp, sdr_bulk_rx_at(b), sdr_bulk_rx_len(b), NULL, &b->grant)
			       ? SDR_REL_ERR_REG
			       : SDR_REL_OK;
	if (bulk_direct(b))
		return SDR_REL_OK;
	if (!sdr_list_empty(&g->rx_wait) || !bulk_stage(b, &err)) {
		sdr_list_add_tail(&b->room, &g->rx_wait);
		b->conn->bulk->rx.nroom++;
	}
	return err;
}

int sdr_bulk_rx_new(struct sdr_conn *c, const struct sdr_bulk_land *l, struct sdr_bulk_rx **out)
{
	struct sdr_bulk_rx *b;
	int err;

	*out = NULL;
	SDR_ASSERT(!l->berth || (sdr_qp_rkeyed(c->shape->qp) && l->len <= l->berth->len));
	SDR_ASSERT(!l->head || (sdr_qp_rkeyed(c->shape->qp) && l->head < l->len && !l->berth));
	b = l->op == SDR_REC_WRITE && c->bulk->rx.nwrites >= SDR_CONN_SERVES_MAX
		    ? NULL
		    : sdr_slab_alloc(&c->rel->bulk->brx_pool);
	if (!b) {
		if (l->berth)
			sdr_berth_end(l->berth);
		return SDR_REL_ERR_NOMEM;
	}
	b->conn = c;
	b->arrived = l->arrived;
	b->op = l->op;
	b->id = l->id;
	b->buf = l->buf;
	b->mem = l->len ? l->mem : NULL; /* a peer may say so */
	b->len = l->len;
	b->head_len = l->head;
	sdr_list_init(&b->room);
	err = bulk_grant(b, l->berth);
	if (err) {
		sdr_slab_free(&c->rel->bulk->brx_pool, b);
		return err;
	}
	c->st.hmem_direct += b->direct;
	c->st.hmem_staged += b->mem && !b->direct;
	c->st.berths_rx += b->berth != NULL;
	sdr_list_init(&b->segs);
	sdr_list_init(&b->partial);
	sdr_list_init(&b->remote.link);
	sdr_list_add_tail(&b->link, &c->bulk->rx.brx);
	if (!c->pto.wait_since)
		c->pto.wait_since = c->rel->now;
	c->bulk->rx.nbrx++;
	c->bulk->rx.nwrites += l->op == SDR_REC_WRITE;
	*out = b;
	return SDR_REL_OK;
}

bool sdr_bulk_rx_due(const struct sdr_conn *c)
{
	SDR_ASSERT(c->bulk->rx.nroom <= c->bulk->rx.nbrx);
	return c->bulk->rx.nbrx > c->bulk->rx.nroom;
}

/* ---- by the operation that a BIND names ------------------------------------------------------ */

/* The peer chooses its numbers: hashed with our key. */
static uint64_t bulk_hash(const struct sdr_conn *c, uint32_t id)
{
	uint64_t m[2] = { c->id.cid, id };

	return sdr_hash64(m, sizeof(m), c->rel->hash_key);
}

static int bulk_expect(struct sdr_bulk_rx *b)
{
	b->expected =
		!sdr_htab_add(&b->conn->rel->bulk->binds, &b->bnode, bulk_hash(b->conn, b->id));
	return b->expected ? 0 : -ENOMEM;
}

static void bulk_expected_not(struct sdr_bulk_rx *b)
{
	if (b->expected)
		sdr_htab_del(&b->conn->rel->bulk->binds, &b->bnode);
	b->expected = false;
}

struct sdr_bulk_rx *sdr_bulk_rx_expected(struct sdr_conn *c, uint32_t id)
{
	uint64_t h = bulk_hash(c, id);
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&c->rel->bulk->binds, h); n; n = n->next) {
		struct sdr_bulk_rx *b = sdr_container(n, struct sdr_bulk_rx, bnode);

		sdr_rel_step(c->rel);
		if (n->hash == h && b->conn == c && b->id == id)
			return b;
	}
	return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* All has come that comes: nothing is written there any more, and it waits for something else. */
static void bulk_still(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;

	SDR_ASSERT(!b->still && (b->head || b->kept) && sdr_list_empty(&b->segs));
	b->still = true;
	b->bound = b->plan.nmsgs;
	sdr_list_del(&b->partial);
	c->bulk->rx.nbrx--;
	sdr_qp_grant_end(c->shape->qp, &b->grant);
	sdr_stage_rx_close(&b->stage, c->rel);
	if (b->parity && b->parity != b->berth)
		sdr_berth_end(b->parity);
	b->parity = NULL;
	if (b->kept)
		sdr_berth_spare(&b->berth);
}

/* Over: from here on nothing is written there. */
static void bulk_close(struct sdr_bulk_rx *b)
{
	struct sdr_rel *rel = b->conn->rel;
	struct sdr_list *wait = &rel->bulk->stages.rx_wait;

	sdr_list_del(&b->link);
	sdr_list_del(&b->partial);
	bulk_expected_not(b);
	sdr_list_del(&b->remote.link);
	b->conn->bulk->rx.nbrx -= !b->still;
	b->conn->bulk->rx.nwrites -= b->op == SDR_REC_WRITE;
	b->conn->bulk->rx.nroom -= sdr_bulk_rx_waits(b);
	sdr_list_del(&b->room);
	sdr_qp_grant_end(b->conn->shape->qp, &b->grant);
	sdr_stage_rx_close(&b->stage, rel);
	if (b->parity && b->parity != b->berth)
		sdr_berth_end(b->parity);
	if (b->berth)
		sdr_berth_end(b->berth);
	b->berth = b->parity = NULL;
	if (!sdr_list_empty(wait)) /* later: who calls may be in the middle of something */
		sdr_conn_kick(sdr_container(wait->next, struct sdr_bulk_rx, room)->conn);
}

bool sdr_bulk_rx_name(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;

	/* Two RTS under one number: a BIND could mean either. */
	if (sdr_bulk_rx_expected(c, b->id))
		sdr_conn_fail(c, SDR_REL_ERR_PROTO); /* ends the transfer too */
	else if (bulk_expect(b))
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
	return b->expected;
}

bool sdr_bulk_rx_cts(struct sdr_bulk_rx *b, bool expected)
{
	struct sdr_conn *c = b->conn;
	struct sdr_rec *r;

	if (!b->expected && !sdr_bulk_rx_name(b))
		return false;
	if (sdr_bulk_rx_waits(b)) {
		b->cts_owed = true;
		b->cts_expected = expected;
		return true;
	}
	sdr_berths_wanted(c, b->len, b->head_len);
	r = sdr_rec_new(c, SDR_REC_CTS, b->id);
	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM); /* ends the transfer too */
		return false;
	}
	r->f.flags = SDR_REC_F_STATUS;
	r->f.status = expected;
	if (sdr_qp_rkeyed(c->shape->qp)) {
		r->f.flags |= SDR_REC_F_KEY;
		r->f.va = b->grant.va;
		r->f.rkey = b->grant.rkey;
		r->f.head = b->head_len;
		r->f.flags |= b->head_len ? SDR_REC_F_HEAD : 0;
	}
	sdr_rec_queue(c, r);
	return true;
}

static void rx_seen(struct sdr_conn *c, uint32_t end)
{
	if (sdr_seq_lt(c->bulk->rx.seen, end))
		c->bulk->rx.seen = end;
}

bool sdr_bulk_rx_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len)
{
	struct sdr_plan plan;
	struct sdr_list *l;
	uint32_t end;

	/* The first must be one that we allowed, and is not over. */
	if (sdr_bulk_rx_plan(c, f, len, &plan) ||
	    f->msn - sdr_shape_rx_base(c) >= sdr_qp_ids(c->shape->qp))
		return false;
	end = f->msn + plan.nmsgs;
	if (c->in.old && sdr_seq_lt(f->msn, c->in.lo) && sdr_seq_lt(c->in.lo, end))
		return false; /* a transfer lies on one shape */
	if (!sdr_msn_beyond(c, f->msn, plan.nmsgs)) {
		rx_seen(c, end);
		return true;
	}
	/* Who has numbered more than the window waits for it with everything else. */
	if (c->bulk->rx.skip_lo != c->bulk->rx.skip_hi)
		return false;
	sdr_list_each(l, &c->bulk->rx.partial) {
		const struct sdr_bulk_rx *b = sdr_container(l, struct sdr_bulk_rx, partial);

		sdr_rel_step(c->rel);
		if (sdr_msn_beyond(c, b->msn, b->plan.nmsgs))
			return false;
	}
	rx_seen(c, end);
	return true;
}

int sdr_bulk_rx_plan(const struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len,
		     struct sdr_plan *plan)
{
	return sdr_plan_init(plan, len, sdr_shape_of_rx(c, f->msn)->seg_bytes,
			     f->flags & SDR_REC_F_CODE ? &f->code : NULL);
}

/*
 * Where parity comes to, on an rkeyed engine.  False: nowhere that an honest peer would name.  A
 * berth that was taken back, or data that the CPU does not reach: there is no parity, as without
 * room for it.
 */
static bool parity_berth(struct sdr_bulk_rx *b, const struct sdr_frame_rec *f)
{
	if (!sdr_qp_rkeyed(b->shape->qp) || !b->plan.code.kind)
		return true;
	if (!(f->flags & SDR_REC_F_BERTH))
		return false;
	b->parity = b->berth ? b->berth : sdr_berth_take(b->conn, f);
	return !b->parity || !sdr_plan_berth(&b->plan, b->shape->mtu, b->parity->len, b->berth);
}

/* False: parity that cannot be decoded, here or at all. */
static bool plan_taken(const struct sdr_conn_shape *s, const struct sdr_plan *plan)
{
	return !plan->code.kind || (plan->code.chunk <= SDR_REL_EC_CHUNK &&
				    !sdr_plan_check(plan, s->mtu, s->seg_bytes));
}

int sdr_bulk_rx_start(struct sdr_bulk_rx *b, const struct sdr_frame_rec *f)
{
	b->shape = sdr_shape_of_rx(b->conn, f->msn);
	if (sdr_bulk_rx_waits(b)) { /* nobody has told it to */
		b->conn->st.pkts_bad++;
		sdr_bulk_rx_skip(b->conn, f, sdr_bulk_rx_len(b));
		return SDR_REL_ERR_PROTO;
	}
	if (sdr_bulk_rx_plan(b->conn, f, sdr_bulk_rx_len(b), &b->plan) || !parity_berth(b, f) ||
	    !plan_taken(b->shape, &b->plan)) {
		b->conn->st.pkts_bad++;
		sdr_bulk_rx_skip(b->conn, f, sdr_bulk_rx_len(b));
		return SDR_REL_ERR_CODE;
	}
	if (!b->leads) /* its sender may still say that it will not come */
		bulk_expected_not(b);
	b->msn = f->msn;
	b->has_msn = true;
	return sdr_seg_rx_bind(b) ? SDR_REL_OK : SDR_REL_ERR_PROTO;
}

void sdr_bulk_rx_skip(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len)
{
	struct sdr_berth *berth = sdr_berth_take(c, f);
	struct sdr_plan plan;

	if (berth)
		sdr_berth_end(berth);
	(void)sdr_bulk_rx_plan(c, f, len, &plan); /* was countable, or there are no numbers */
	sdr_msn_skip_range(c, f->msn, f->msn + plan.nmsgs);
	sdr_seg_rx_more(c);
	sdr_conn_kick(c);
}

/* Its numbers are passed over; nothing is written to its buffer any more. */
static void bulk_stop(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;

	while (!sdr_list_empty(&b->segs)) {
		struct sdr_seg_rx *s = sdr_container(b->segs.next, struct sdr_seg_rx, link);
		uint32_t msn = s->msn;

		sdr_seg_rx_free(s);
		sdr_msn_skip(c, msn); /* ended, not complete */
	}
	if (b->has_msn && b->bound < b->plan.nmsgs)
		sdr_msn_skip_range(c, b->msn + b->bound, b->msn + b->plan.nmsgs);
	bulk_close(b);
}

static void bulk_end(struct sdr_bulk_rx *b)
{
	struct sdr_bulk_rx *head = b->head;

	b->head = NULL;
	bulk_stop(b);
	if (!head)
		return;
	bulk_stop(head);
	sdr_slab_free(&b->conn->rel->bulk->brx_pool, head);
}

void sdr_bulk_rx_abort(struct sdr_bulk_rx *b)
{
	struct sdr_rel *rel = b->conn->rel;

	bulk_end(b);
	sdr_slab_free(&rel->bulk->brx_pool, b);
}

void sdr_bulk_rx_fail(struct sdr_bulk_rx *b, int err)
{
	struct sdr_conn *c = b->conn;

	bulk_end(b);
	b->err = err;
	b->arrived(b);
	sdr_slab_free(&c->rel->bulk->brx_pool, b);
	sdr_conn_kick(c); /* credit */
}

void sdr_bulk_rx_complete(struct sdr_bulk_rx *b)
{
	struct sdr_rel *rel = b->conn->rel;

	if (b->head || b->kept) {
		bulk_still(b);
		return;
	}
	bulk_close(b);
	b->arrived(b);
	sdr_slab_free(&rel->bulk->brx_pool, b);
}

void sdr_bulk_rx_room(struct sdr_rel *rel)
{
	struct sdr_list *wait = &rel->bulk->stages.rx_wait;
	struct sdr_bulk_rx *b;
	int err;

	while (!sdr_list_empty(wait)) {
		b = sdr_container(wait->next, struct sdr_bulk_rx, room);
		sdr_rel_step(rel);
		/* one that is over makes way when its connection is reaped */
		if (!sdr_conn_live(b->conn) || !bulk_stage(b, &err))
			return;
		sdr_list_del(&b->room);
		b->conn->bulk->rx.nroom--;
		if (!err && b->cts_owed)
			(void)sdr_bulk_rx_cts(b, b->cts_expected);
		else if (err)
			sdr_bulk_rx_fail(b, err);
	}
}
