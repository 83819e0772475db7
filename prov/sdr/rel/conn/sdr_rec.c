/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reliable records.  Outgoing: three queues (lost ones first, then unordered ones, then messages in
 * order as far as the peer's credit goes); a record gets its rseq when it first leaves and keeps
 * it.  At most SDR_REL_CTL_WINDOW records are unacknowledged.  A refusal goes before all others:
 * data land nowhere until the peer has it, and when the END behind them is acknowledged first, they
 * count as lost.  Incoming: a window of the same size shows which rseq were processed, so that a
 * record has its effect exactly once however often it comes.  What they mean is the room above's
 * (sdr_rec_input.c).
 */
#include <stdlib.h>
#include <errno.h>
#include "base/sdr_bitmap.h"
#include "sdr_conn_ops.h"
#include "sdr_rec.h"

#define REC_RING_MIN 16u

struct sdr_rec *sdr_rec_new(struct sdr_conn *c, uint8_t op, uint32_t id)
{
	struct sdr_rec *r = c->rec.n < SDR_CONN_RECS_MAX ? sdr_slab_alloc(&c->rel->rec_pool) : NULL;

	if (!r)
		return NULL;
	c->rec.n++;
	r->stranger = !c->peer->names;
	c->rel->nanswers_strangers += r->stranger;
	sdr_list_init(&r->link);
	r->f.op = op;
	r->f.id = id;
	return r;
}

void sdr_rec_free(struct sdr_conn *c, struct sdr_rec *r)
{
	SDR_ASSERT(c->rec.n && sdr_list_empty(&r->link));
	SDR_ASSERT(!r->stranger || c->rel->nanswers_strangers);
	c->rec.n--;
	c->rel->nanswers_strangers -= r->stranger;
	sdr_slab_free(&c->rel->rec_pool, r);
}

static bool rec_refuses(const struct sdr_rec *r)
{
	return r->f.op == SDR_REC_PARK ||
	       (r->f.op == SDR_REC_DONE && r->f.flags & SDR_REC_F_STATUS && r->f.status);
}

void sdr_rec_queue(struct sdr_conn *c, struct sdr_rec *r)
{
	SDR_ASSERT(sdr_list_empty(&r->link) && !r->acked);
	if (rec_refuses(r))
		sdr_list_add_head(&r->link, &c->rec.unordered);
	else
		sdr_list_add_tail(&r->link, r->f.flags & SDR_REC_F_ORDER ? &c->rec.ordered
									 : &c->rec.unordered);
	sdr_conn_kick(c);
}

static bool rec_window(const struct sdr_conn *c)
{
	return sdr_ring_len(&c->rec.ring) < SDR_REL_CTL_WINDOW;
}

static bool msg_allowed(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->rec.ordered) &&
	       sdr_seq_lt(sdr_container(c->rec.ordered.next, struct sdr_rec, link)->f.mseq,
			  c->credit.mseq_limit);
}

/* The refusal in front; NULL: none, or not now. */
static struct sdr_rec *rec_refusal(const struct sdr_conn *c)
{
	struct sdr_rec *r;

	if (sdr_list_empty(&c->rec.unordered) || !rec_window(c))
		return NULL;
	r = sdr_container(c->rec.unordered.next, struct sdr_rec, link);
	return rec_refuses(r) ? r : NULL;
}

bool sdr_rec_urgent(const struct sdr_conn *c)
{
	return rec_refusal(c) != NULL;
}

bool sdr_rec_sendable(const struct sdr_conn *c)
{
	if (!sdr_list_empty(&c->rec.rtx))
		return true;
	return rec_window(c) && (!sdr_list_empty(&c->rec.unordered) || msg_allowed(c));
}

struct sdr_rec *sdr_rec_by_rseq(const struct sdr_conn *c, uint32_t rseq)
{
	return sdr_ring_has(&c->rec.ring, rseq) ? *sdr_ring_at(&c->rec.ring, struct sdr_rec *, rseq)
						: NULL;
}

/* The next number is r's.  False: no memory. */
static bool rec_number(struct sdr_conn *c, struct sdr_rec *r)
{
	static const struct sdr_ring_kind kind = { sizeof(r), REC_RING_MIN, SDR_REL_CTL_WINDOW,
						   NULL };

	if (sdr_ring_room(&c->rec.ring, &kind))
		return false;
	SDR_ASSERT(!r->sent && !r->acked && rec_window(c));
	*sdr_ring_spare(&c->rec.ring, struct sdr_rec *) = r;
	r->f.rseq = sdr_ring_push(&c->rec.ring);
	return true;
}

/* Whose turn it is; NULL: nobody's. */
static struct sdr_rec *rec_head(const struct sdr_conn *c)
{
	struct sdr_rec *r = rec_refusal(c);

	if (r)
		return r;
	if (!sdr_list_empty(&c->rec.rtx))
		return sdr_container(c->rec.rtx.next, struct sdr_rec, link);
	if (!rec_window(c))
		return NULL;
	if (!sdr_list_empty(&c->rec.unordered))
		return sdr_container(c->rec.unordered.next, struct sdr_rec, link);
	return msg_allowed(c) ? sdr_container(c->rec.ordered.next, struct sdr_rec, link) : NULL;
}

size_t sdr_rec_next_size(const struct sdr_conn *c)
{
	const struct sdr_rec *r = rec_head(c);

	return r ? sdr_frame_rec_size(&r->f) : 0;
}

struct sdr_rec *sdr_rec_next(struct sdr_conn *c, size_t room)
{
	struct sdr_rec *r = rec_head(c);

	if (!r || sdr_frame_rec_size(&r->f) > room)
		return NULL;
	if (!r->sent && !rec_number(c, r))
		return NULL;
	sdr_list_del(&r->link);
	return r;
}

bool sdr_rec_number(struct sdr_conn *c, struct sdr_rec *r)
{
	if (r->sent)
		return true;
	if (!rec_window(c) || !rec_number(c, r))
		return false;
	r->sent = true;
	c->st.rec_tx++;
	return true;
}

size_t sdr_rec_write(struct sdr_conn *c, struct sdr_rec *r, uint8_t *p, size_t room)
{
	size_t n = sdr_frame_rec_encode(p, room, &r->f);

	if (r->f.payload_len)
		c->rel->ops->gather(r, p + n);
	n += r->f.payload_len;
	if (!r->sent) {
		r->sent = true;
		c->st.rec_tx++;
		if (r->op)
			c->rel->ops->written(c, r);
	}
	return n;
}

void sdr_rec_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	sdr_conn_came_closer(c);
	sdr_rec_detach(c, r);
	if (r->op)
		c->rel->ops->acked(c, r);
	else
		sdr_rec_free(c, r);
}

void sdr_rec_detach(struct sdr_conn *c, struct sdr_rec *r)
{
	sdr_list_del(&r->link);
	if (!r->sent || r->acked)
		return;
	SDR_ASSERT(sdr_rec_by_rseq(c, r->f.rseq) == r);
	r->acked = true;
	*sdr_ring_at(&c->rec.ring, struct sdr_rec *, r->f.rseq) = NULL;
	while (!sdr_ring_empty(&c->rec.ring) &&
	       !*sdr_ring_at(&c->rec.ring, struct sdr_rec *, c->rec.ring.head)) {
		sdr_rel_step(c->rel);
		sdr_ring_pop(&c->rec.ring);
	}
}

/* ---- incoming -------------------------------------------------------------------------------- */

bool sdr_rec_room(const struct sdr_conn *c, uint32_t rseq)
{
	return sdr_seq_lt(rseq, c->rec.rx_next) || rseq - c->rec.rx_next < SDR_REL_CTL_WINDOW;
}

bool sdr_rec_seen(const struct sdr_conn *c, uint32_t rseq)
{
	uint32_t bit = rseq & (SDR_REL_CTL_WINDOW - 1);

	return sdr_seq_lt(rseq, c->rec.rx_next) || sdr_bitmap_test(c->rec.rx_bits, bit);
}

bool sdr_rec_accept(struct sdr_conn *c, uint32_t rseq)
{
	uint32_t bit = rseq & (SDR_REL_CTL_WINDOW - 1);

	if (sdr_seq_lt(rseq, c->rec.rx_next) || rseq - c->rec.rx_next >= SDR_REL_CTL_WINDOW ||
	    sdr_bitmap_test(c->rec.rx_bits, bit))
		return false;
	sdr_bitmap_set(c->rec.rx_bits, bit);
	for (;;) {
		sdr_rel_step(c->rel);
		bit = c->rec.rx_next & (SDR_REL_CTL_WINDOW - 1);
		if (!sdr_bitmap_test(c->rec.rx_bits, bit))
			return true;
		sdr_bitmap_clear(c->rec.rx_bits, bit);
		c->rec.rx_next++;
	}
}

void sdr_done_send(struct sdr_conn *c, uint32_t id, int status)
{
	struct sdr_rec *r;

	r = sdr_rec_new(c, SDR_REC_DONE, id);
	if (!r) {
		/*
		 * The peer waits for it: without memory, or with a peer that takes no answers,
		 * there is no going on.
		 */
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return;
	}
	r->f.flags = SDR_REC_F_STATUS;
	r->f.status = status;
	sdr_rec_queue(c, r);
}
