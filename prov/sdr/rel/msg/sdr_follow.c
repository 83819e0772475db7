/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Records that follow others: the target's side.
 *
 * Operations of the peer that others may have to follow have a turn each, in one row.  A record
 * with FOLLOW has its effect when all turns below its own are over.  Until then a message waits
 * with those that came early (sdr_match.c, sdr_early.c), and anything else is kept here, by the
 * last turn that it waits for.  When a turn is over is said by who carries the operation out; what
 * that sets free has its effect inside the same call, one after the other.
 *
 * Memory: SDR_REC_TURNS bits twice for each connection whose peer uses turns, and a ring of lists,
 * as long as the farthest that waits needs.  What is kept counts as unexpected messages do, with
 * what the ring is longer than RING_MIN, and is refused where there is no room for it.  A record
 * whose turn has come needs none, so that those that wait for it do not keep it out.
 *
 * No timers.  Invariants: every turn below base is over, base is not; nothing is kept that waits
 * for a turn below base.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_conn_ops.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_follow.h"
#include "sdr_op_kind.h"

#define RING_MIN   16u		/* lists, power of two */
#define FOLLOW_FAR (1ull << 48) /* bytes: there is no room for so many */

struct sdr_held {
	struct sdr_held *next;
	struct sdr_frame_rec f;
	bool stranger; /* counts in rel->nunexp_strangers */
	uint8_t payload[];
};

static bool turn_bit(const uint64_t *bits, uint32_t turn)
{
	return sdr_bitmap_test(bits, turn & (SDR_REC_TURNS - 1));
}

static uint32_t follow_base(const struct sdr_conn *c)
{
	return c->msg->follow ? c->msg->follow->base : 0;
}

bool sdr_follow_turn(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return !(f->flags & SDR_REC_F_FOLLOW) || !sdr_seq_lt(follow_base(c), f->turn);
}

/* Not a message: those wait elsewhere. */
static bool rec_is_kept(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return !sdr_rec_is_message(f) && !sdr_follow_turn(c, f);
}

/* Further ahead than a sender may be that knows what is over; it may not yet. */
static bool turn_is_far(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	uint32_t ahead = f->turn - follow_base(c), max = SDR_REC_TURNS;

	if (!(f->flags & SDR_REC_F_TURN) || sdr_seq_lt(f->turn, follow_base(c)))
		return false;
	return f->flags & SDR_REC_F_LEAD ? ahead >= max : ahead > max;
}

static uint64_t ring_bytes(uint32_t cap)
{
	return cap > RING_MIN ? (cap - RING_MIN) * sizeof(struct sdr_held *) : 0;
}

/* Lists of a ring that reaches this turn. */
static uint32_t ring_fit(const struct sdr_conn *c, uint32_t last)
{
	uint32_t cap = c->msg->follow && c->msg->follow->cap ? c->msg->follow->cap : RING_MIN;

	while (cap <= last - follow_base(c))
		cap *= 2;
	return cap;
}

uint64_t sdr_follow_charge(const struct sdr_conn *c)
{
	return c->msg->follow ? ring_bytes(c->msg->follow->cap) : 0;
}

uint64_t sdr_follow_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	if (turn_is_far(c, f))
		return FOLLOW_FAR;
	if (!rec_is_kept(c, f))
		return 0;
	return sizeof(struct sdr_held) + f->payload_len + ring_bytes(ring_fit(c, f->turn - 1)) -
	       sdr_follow_charge(c);
}

bool sdr_follow_room(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	uint64_t bytes = sdr_follow_bytes(c, f);

	return bytes < FOLLOW_FAR && (!bytes || sdr_unexp_room(c, bytes, true));
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static uint64_t held_bytes(const struct sdr_held *h)
{
	return sizeof(*h) + h->f.payload_len;
}

/* By the last turn that it waits for. */
static struct sdr_held **held_at(const struct sdr_follow *w, uint32_t last)
{
	return &w->slot[last & (w->cap - 1)];
}

static void held_put(struct sdr_follow *w, struct sdr_held *h)
{
	struct sdr_held **to = held_at(w, h->f.turn - 1);

	h->next = *to;
	*to = h;
}

static struct sdr_held *held_take(struct sdr_follow *w, uint32_t last)
{
	struct sdr_held *h = w->cap ? *held_at(w, last) : NULL;

	if (h)
		*held_at(w, last) = h->next;
	return h;
}

static bool ring_grow(struct sdr_conn *c, uint32_t cap)
{
	struct sdr_follow *w = c->msg->follow, old = *w;
	struct sdr_held *h;

	if (cap == w->cap)
		return true;
	w->slot = calloc(cap, sizeof(struct sdr_held *));
	if (!w->slot) {
		w->slot = old.slot;
		return false;
	}
	w->cap = cap;
	sdr_rel_steps(c->rel, old.cap);
	for (uint32_t i = 0; i < old.cap; i++)
		while ((h = held_take(&old, i)))
			held_put(w, h);
	c->rel->unexp_bytes += ring_bytes(cap) - ring_bytes(old.cap);
	free(old.slot);
	return true;
}

static void ring_free(struct sdr_conn *c)
{
	struct sdr_follow *w = c->msg->follow;

	SDR_ASSERT(!w->kept && c->rel->unexp_bytes >= ring_bytes(w->cap));
	c->rel->unexp_bytes -= ring_bytes(w->cap);
	free(w->slot);
	w->slot = NULL;
	w->cap = 0;
}

static void held_free(struct sdr_conn *c, struct sdr_held *h)
{
	struct sdr_rel *rel = c->rel;

	SDR_ASSERT(rel->unexp_bytes >= held_bytes(h) && rel->nunexp_strangers >= h->stranger);
	rel->unexp_bytes -= held_bytes(h);
	rel->nunexp_strangers -= h->stranger;
	free(h);
	sdr_conn_kick(c); /* credit may move */
	if (!--c->msg->follow->kept && c->msg->follow->cap > RING_MIN)
		ring_free(c);
}

static bool held_new(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_follow *w = c->msg->follow;
	struct sdr_held *h;

	if (!ring_grow(c, ring_fit(c, f->turn - 1)))
		return false;
	h = malloc(sizeof(*h) + f->payload_len);
	if (!h)
		return false;
	h->f = *f;
	h->f.payload = h->payload;
	if (f->payload_len)
		memcpy(h->payload, f->payload, f->payload_len);
	h->stranger = !c->peer->names;
	c->rel->unexp_bytes += held_bytes(h);
	c->rel->nunexp_strangers += h->stranger;
	c->st.recs_held++;
	w->kept++;
	held_put(w, h);
	return true;
}

uint32_t sdr_follow_kept(const struct sdr_conn *c)
{
	return c->msg->follow ? c->msg->follow->kept : 0;
}

void sdr_follow_free(struct sdr_conn *c)
{
	struct sdr_follow *w = c->msg->follow;
	struct sdr_held *h;

	if (!w)
		return;
	for (uint32_t i = 0; i < w->cap; i++) {
		while ((h = held_take(w, i))) {
			sdr_rel_step(c->rel);
			held_free(c, h);
		}
	}
	ring_free(c);
	free(w);
	c->msg->follow = NULL;
}

void sdr_follow_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_msg_sums *s)
{
	const struct sdr_follow *w = c->msg->follow;
	uint32_t n = 0;

	if (!w)
		return;
	sdr_books_of(k, "records that wait at connection", c->id.cid);
	for (uint32_t i = 0; i < w->cap; i++) {
		for (const struct sdr_held *h = w->slot[i]; h; h = h->next) {
			n++;
			s->bytes += held_bytes(h);
			s->strangers += h->stranger;
			SDR_BOOK_EQ(k, (h->f.turn - 1) & (w->cap - 1), i);
			SDR_BOOK_IS(k, h->f.turn - 1 - w->base, <, w->cap);
		}
	}
	SDR_BOOK_EQ(k, w->kept, n);
	SDR_BOOK(k, !turn_bit(w->over, w->base) || !sdr_conn_live(c));
	for (uint32_t i = 0; i < SDR_REC_TURNS / 64; i++)
		SDR_BOOK(k, !(w->over[i] & ~w->came[i]));
	s->bytes += sdr_follow_charge(c);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* All that waited for this turn alone. */
static void held_release(struct sdr_conn *c, uint32_t turn)
{
	struct sdr_follow *w = c->msg->follow;
	struct sdr_held *h;

	while (sdr_conn_live(c) && (h = held_take(w, turn))) {
		sdr_rel_step(c->rel);
		c->rel->msg->kinds->rec[h->f.op]->input(c, &h->f);
		held_free(c, h);
	}
}

void sdr_follow_ended(struct sdr_conn *c, bool led, uint32_t turn)
{
	struct sdr_follow *w = c->msg->follow;

	if (!led || !sdr_conn_live(c))
		return;
	SDR_ASSERT(w && turn - w->base < SDR_REC_TURNS);
	SDR_ASSERT(turn_bit(w->came, turn) && !turn_bit(w->over, turn));
	sdr_bitmap_set(w->over, turn & (SDR_REC_TURNS - 1));
	if (w->releasing)
		return; /* the walk goes on below */
	w->releasing = true;
	while (sdr_conn_live(c) && turn_bit(w->over, w->base)) {
		sdr_rel_step(c->rel);
		sdr_bitmap_clear(w->came, w->base & (SDR_REC_TURNS - 1));
		sdr_bitmap_clear(w->over, w->base & (SDR_REC_TURNS - 1));
		held_release(c, w->base++);
		if (sdr_conn_live(c))
			c->rel->ops->released(c);
	}
	w->releasing = false;
}

void sdr_follow_over(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	sdr_follow_ended(c, f->flags & SDR_REC_F_LEAD, f->turn);
}

/* False: no honest peer says so. */
static bool turn_came(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_follow *w = c->msg->follow;

	if (!(f->flags & SDR_REC_F_LEAD))
		return true;
	if (f->turn - w->base >= SDR_REC_TURNS || turn_bit(w->came, f->turn))
		return false;
	sdr_bitmap_set(w->came, f->turn & (SDR_REC_TURNS - 1));
	return true;
}

bool sdr_follow_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	SDR_ASSERT(f->flags & SDR_REC_F_TURN);
	if (!c->msg->follow && c->hs.features & SDR_FEATURE_ORDER) {
		c->msg->follow = calloc(1, sizeof(*c->msg->follow));
		if (!c->msg->follow) {
			sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
			return false;
		}
	}
	if (!c->msg->follow || !turn_came(c, f)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return false;
	}
	if (rec_is_kept(c, f)) {
		if (!held_new(c, f)) /* it will be acknowledged, and cannot be kept */
			sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return false;
	}
	if (sdr_rec_is_message(f) || !(f->flags & SDR_REC_F_LEAD) || !sdr_msg_status(f))
		return true;
	sdr_follow_over(c, f); /* its sender gave it up before it left */
	return false;
}
