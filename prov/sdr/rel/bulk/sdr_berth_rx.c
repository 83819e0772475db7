/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Berths: memory of an rkeyed engine's owner that is granted to a peer before a transfer wants it,
 * so that none of its bytes waits a round trip for the key.
 *
 * A berth is for one transfer, of one peer: its record names it by number, its bytes land there,
 * are copied to where they belong as they come, and the grant is over before the end of the
 * transfer is reported, like any other.  So what comes late finds no key, and no byte of the
 * application's is ever within the reach of a peer that has not said what for.  That is why keys of
 * receives, or of whole regions, are not handed out: which receive a message meets is decided when
 * it comes, and a key of a region would outlive the writes that used it, whose late packets would
 * change bytes that were reported and are the application's again.
 *
 * What is longer than one sends its head there, and the rest when it has its key.
 *
 * Parity comes to a berth, too: behind the data where these do, else to one of its own that the
 * record names which numbers the transfer (BIND, READ_RSP).
 *
 * How many: none until a transfer waited for its CTS that a berth would have served, over a path
 * that is far enough for the copy; then SDR_BERTHS_FIRST, doubling each time it happens again, as
 * far as SDR_BERTHS_PEER and a quarter of the endpoint's room reach.  One that was used is replaced
 * by another with a key and a number of its own, which leaves with the report of the transfer.
 *
 * They are taken back when the connection ends, when longer ones are wanted, and, those that lay
 * idle for SDR_BERTH_OLD_NS, when there is no room for those of others; one with a head that nobody
 * has asked for since (sdr_head_rx.c), too.  Nobody waits for the peer: the grant ends at once, and
 * a record tells it.  What it had sent by then is for a berth that is not there: the owner answers
 * with PARK, as to a message without a place, and CTS.
 *
 * What was in the memory before is nobody's to see.  A device does not compare where a packet lies
 * with the number in its immediate, so a peer can have bytes copied that it never wrote.  Memory
 * that comes from the heap, or from another connection, is cleared; what a connection itself left
 * there stays (a tag behind the link of idle memory tells), so that warm transfers cost no pass.
 *
 * Numbers are never used again, so one below `next` that is not idle was used or taken back.  No
 * timers; strangers have half of the room, and make nobody give way.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_berth_rx.h"
#include "sdr_bulk.h"
#include "sdr_scheme.h"

#define BERTHS_MAX 65536u /* of an endpoint */
#define BERTH_TAG  8u	  /* byte of idle memory at which the tag is: behind sdr_scratch's link */

/* No tag is 0. */
static void *berth_alloc(void *user, uint64_t bytes)
{
	void *p = aligned_alloc(SDR_SCRATCH_ALIGN, bytes);

	(void)user;
	if (p)
		memset(p, 0, bytes);
	return p;
}

static void berth_release(void *user, void *p, uint64_t bytes)
{
	(void)user;
	(void)bytes;
	free(p);
}

void sdr_berths_open(struct sdr_rel *rel)
{
	struct sdr_berths *g = &rel->bulk->berths;

	sdr_slab_init(&g->pool, sizeof(struct sdr_berth), BERTHS_MAX);
	sdr_scratch_init(&g->room, rel->cfg.berths, rel->info.no_bytes);
	g->room.src.alloc = berth_alloc;
	g->room.src.release = berth_release;
	sdr_list_init(&g->idle);
}

void sdr_berths_close(struct sdr_rel *rel)
{
	struct sdr_berths *g = &rel->bulk->berths;

	SDR_ASSERT(!g->pool.used && !g->room.used && sdr_list_empty(&g->idle));
	sdr_slab_destroy(&g->pool);
	sdr_scratch_destroy(&g->room);
}

void sdr_berths_conn_init(struct sdr_conn *c)
{
	sdr_list_init(&c->bulk->rx.berths.idle);
	c->bulk->rx.berths.tag = ++c->rel->bulk->berths.tags;
}

static struct sdr_berth *berth_first(const struct sdr_conn_berths *k)
{
	return sdr_container(k->idle.next, struct sdr_berth, link);
}

void sdr_berths_conn_free(struct sdr_conn *c)
{
	struct sdr_conn_berths *k = &c->bulk->rx.berths;

	while (!sdr_list_empty(&k->idle))
		sdr_berth_end(berth_first(k));
	SDR_ASSERT(!k->n && !k->bytes);
}

static void berth_put(struct sdr_conn *c, uint8_t *buf, uint64_t len)
{
	struct sdr_scratch *room = &c->rel->bulk->berths.room;

	if (!room->no_bytes)
		memcpy(buf + BERTH_TAG, &c->bulk->rx.berths.tag, sizeof(uint64_t));
	sdr_scratch_put(room, buf, len);
}

/* All of it: a shorter berth of the same size class may have left some. */
static void berth_clear(const struct sdr_conn *c, uint8_t *buf, uint64_t len)
{
	uint64_t tag;

	if (c->rel->bulk->berths.room.no_bytes)
		return;
	memcpy(&tag, buf + BERTH_TAG, sizeof(tag));
	memset(buf, 0,
	       tag == c->bulk->rx.berths.tag ? BERTH_TAG + sizeof(tag) : sdr_scratch_charge(len));
}

void sdr_berth_end(struct sdr_berth *t)
{
	struct sdr_conn *c = t->conn;
	struct sdr_conn_berths *k = &c->bulk->rx.berths;

	SDR_ASSERT(k->n && k->bytes >= sdr_scratch_charge(t->len));
	sdr_qp_grant_end(c->shape->qp, &t->grant);
	sdr_list_del(&t->link);
	sdr_list_del(&t->age);
	k->n--;
	k->bytes -= sdr_scratch_charge(t->len);
	berth_put(c, t->buf, t->len);
	sdr_slab_free(&c->rel->bulk->berths.pool, t);
	sdr_conn_kick(c); /* another one in its place */
}

/* ---- taken back ------------------------------------------------------------------------------ */

static void berth_take_back(struct sdr_berth *t)
{
	struct sdr_conn *c = t->conn;
	struct sdr_rec *r = sdr_conn_live(c) ? sdr_rec_new(c, SDR_REC_BERTH, t->id) : NULL;

	sdr_rel_step(c->rel);
	SDR_ASSERT(!sdr_list_empty(&t->link));
	sdr_berth_end(t);
	if (!r) /* the peer learns of it when it uses it */
		return;
	r->f.flags = SDR_REC_F_LEN | SDR_REC_F_STATUS;
	r->f.status = SDR_REL_ERR_CANCELED;
	sdr_rec_queue(c, r);
}

void sdr_berths_recall(struct sdr_conn *c)
{
	while (!sdr_list_empty(&c->bulk->rx.berths.idle))
		berth_take_back(berth_first(&c->bulk->rx.berths));
}

/* One that nobody used for long.  False: there is none. */
static bool berth_make_way(struct sdr_rel *rel)
{
	const struct sdr_list *idle = &rel->bulk->berths.idle;
	struct sdr_berth *t = sdr_container(idle->next, struct sdr_berth, age);

	if (sdr_list_empty(idle) || rel->now - t->since < SDR_BERTH_OLD_NS)
		return false;
	t->conn->bulk->rx.berths.want--;
	if (!t->user) {
		berth_take_back(t);
		return true;
	}
	*t->user = NULL;
	sdr_berth_end(t);
	return true;
}

/* ---- handed out ------------------------------------------------------------------------------ */

/* Bytes of those that a transfer of len bytes wants; 0: none would do. */
static uint64_t berth_size(const struct sdr_conn *c, uint64_t len)
{
	bool parity = c->bulk->scheme->plan; /* most likely the peer's, too */
	bool heads = c->hs.features & SDR_FEATURE_HEAD, is_long = len > SDR_BERTH_MAX;
	uint64_t size = SDR_BERTH_MIN, most = c->rel->cfg.berths / 4;

	if (is_long)
		len = heads ? SDR_BERTH_MAX : parity ? SDR_BERTH_PARITY : 0;
	if (!len)
		return 0;
	while (size < len)
		size *= 2;
	/* that of a long one lies by itself */
	size += parity && !(heads && is_long) ? size / 2 : 0;
	while (heads && size / 2 >= SDR_BERTH_MIN && sdr_scratch_charge(size) > most)
		size /= 2;
	return size;
}

void sdr_berths_wanted(struct sdr_conn *c, uint64_t len, uint64_t head)
{
	struct sdr_conn_berths *k = &c->bulk->rx.berths;
	uint64_t size = berth_size(c, len);

	if (!sdr_qp_rkeyed(c->shape->qp) || !(c->hs.features & SDR_FEATURE_BERTH) ||
	    !c->rel->cfg.berths || !size || sdr_rtt_min(&c->main.rtt) < SDR_BERTH_RTT_NS)
		return;
	if (size > k->size) {
		k->size = size;
		sdr_berths_recall(c);
	}
	if (!k->want)
		k->want = SDR_BERTHS_FIRST;
	else if (!head && (len <= SDR_BERTH_MAX || c->hs.features & SDR_FEATURE_HEAD))
		k->want *= 2;
	if (k->want > SDR_BERTHS_PEER)
		k->want = SDR_BERTHS_PEER;
	sdr_conn_kick(c);
}

static uint8_t *berth_room(struct sdr_conn *c, uint64_t len)
{
	struct sdr_scratch *room = &c->rel->bulk->berths.room;
	uint64_t charge = sdr_scratch_charge(len);
	uint8_t *buf;

	if (c->bulk->rx.berths.bytes + charge > room->limit / 4)
		return NULL;
	if (!c->peer->names)
		return room->used + charge > room->limit / 2 ? NULL : sdr_scratch_get(room, len);
	do {
		buf = sdr_scratch_get(room, len);
	} while (!buf && berth_make_way(c->rel));
	return buf;
}

static bool berth_hand(struct sdr_conn *c)
{
	struct sdr_conn_berths *k = &c->bulk->rx.berths;
	struct sdr_berths *g = &c->rel->bulk->berths;
	struct sdr_berth *t = sdr_slab_alloc(&g->pool);
	struct sdr_rec *r;

	if (!t)
		return false;
	t->len = k->size;
	t->buf = berth_room(c, t->len);
	if (!t->buf)
		goto err_berth;
	berth_clear(c, t->buf, t->len);
	if (sdr_qp_grant(c->shape->qp, t->buf, t->len, NULL, &t->grant))
		goto err_room;
	r = sdr_rec_new(c, SDR_REC_BERTH, k->next);
	if (!r)
		goto err_grant;
	t->conn = c;
	t->id = k->next++;
	t->since = c->rel->now;
	sdr_list_init(&t->link);
	sdr_list_init(&t->age);
	sdr_list_add_tail(&t->link, &k->idle);
	sdr_list_add_tail(&t->age, &g->idle);
	k->n++;
	k->bytes += sdr_scratch_charge(t->len);
	r->f.flags = SDR_REC_F_LEN | SDR_REC_F_KEY;
	r->f.len = t->len;
	r->f.va = t->grant.va;
	r->f.rkey = t->grant.rkey;
	sdr_rec_queue(c, r);
	return true;
err_grant:
	sdr_qp_grant_end(c->shape->qp, &t->grant);
err_room:
	berth_put(c, t->buf, t->len);
err_berth:
	sdr_slab_free(&g->pool, t);
	return false;
}

void sdr_berths_hand(struct sdr_conn *c)
{
	struct sdr_conn_berths *k = &c->bulk->rx.berths;

	while (k->n < k->want && c->state == SDR_CONN_OPEN && !c->rel->closing) {
		sdr_rel_step(c->rel);
		if (!berth_hand(c))
			k->want = k->n; /* that many can be had, until one is missed again */
	}
}

/* ---- used ------------------------------------------------------------------------------------ */

static struct sdr_berth *berth_find(const struct sdr_conn *c, uint32_t id)
{
	const struct sdr_conn_berths *k = &c->bulk->rx.berths;
	struct sdr_list *l;

	sdr_list_each(l, &k->idle) {
		struct sdr_berth *t = sdr_container(l, struct sdr_berth, link);

		sdr_rel_step(c->rel);
		if (t->id == id)
			return t;
	}
	return NULL;
}

bool sdr_berth_named(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_berth *t;

	if (!sdr_qp_rkeyed(c->shape->qp) || !(c->hs.features & SDR_FEATURE_BERTH) ||
	    !sdr_seq_lt(f->berth, c->bulk->rx.berths.next))
		return false;
	t = berth_find(c, f->berth);
	return !t || f->op == SDR_REC_BIND || f->op == SDR_REC_READ_RSP ||
	       sdr_rec_bulk(f) <= t->len;
}

void sdr_berth_spare(struct sdr_berth **user)
{
	struct sdr_berth *t = *user;

	SDR_ASSERT(sdr_list_empty(&t->age) && sdr_list_empty(&t->link));
	sdr_qp_grant_end(t->conn->shape->qp, &t->grant);
	t->user = user;
	t->since = t->conn->rel->now;
	sdr_list_add_tail(&t->age, &t->conn->rel->bulk->berths.idle);
}

bool sdr_berth_spared(struct sdr_berth **user)
{
	if (!*user)
		return false;
	sdr_list_del(&(*user)->age);
	(*user)->user = NULL;
	return true;
}

struct sdr_berth *sdr_berth_take(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_berth *t = f->flags & SDR_REC_F_BERTH ? berth_find(c, f->berth) : NULL;

	if (!t)
		return NULL;
	sdr_list_del(&t->link);
	sdr_list_del(&t->age);
	return t;
}
