/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Matching is done above: the receives are the caller's, which several endpoints may share.
 *
 * Each message whose turn it is is offered once (struct sdr_rel_match).  Where there is a receive
 * for it the way goes on as with one posted here: the entry lives until it is reported, in no list,
 * and its bytes land where they belong.  Where there is none the message is kept like any
 * unexpected one, under the mark that the caller gave it, and only the caller ends it: nobody can
 * take it out of the caller's queue, so one whose bytes will not come stays, and says so to the
 * receive that it meets (sdr_unexp_end).
 *
 * Where memory for unexpected messages is full a message is offered before its record is taken, and
 * the receive it got waits in c->msg->taken for the record, which follows at once.  A caller that
 * has no place for the mark ends the connection: the message would be lost without a word.  An
 * endpoint that closes offers nothing any more.  No state but that, no timers.
 */
#include <errno.h>
#include "base/sdr_assert.h"
#include "sdr_above.h"
#include "sdr_deliver.h"

/* Of the receive that it wants. */
static uint8_t above_kind(const struct sdr_frame_rec *f)
{
	return sdr_msg_kind(f->op) ? SDR_REL_TRECV : SDR_REL_RECV;
}

static struct sdr_rxe *above_ask(struct sdr_conn *c, const struct sdr_frame_rec *f, void **mark)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_rel_arrival a = {
		.kind = above_kind(f),
		.has_data = f->flags & SDR_REC_F_DATA,
		.peer = c->peer,
		.len = sdr_msg_len(f),
		.tag = f->tag,
		.data = f->data,
	};
	struct sdr_rel_rr rr = { .niov = 0 };
	struct sdr_rxe *rx;

	*mark = NULL;
	if (rel->closing)
		return NULL;
	rx = sdr_rxe_new(rel); /* first: a receive that is given to us must not be lost */
	if (!rx)
		return NULL;
	if (rel->msg->above->take(rel->user, &a, &rr, mark)) {
		SDR_ASSERT(!*mark && !rr.flags && !rr.peer);
		rr.kind = a.kind;
		sdr_rxe_set(rx, &rr);
		return rx;
	}
	sdr_rxe_free(rel, rx);
	return NULL;
}

static struct sdr_rxe *above_find(struct sdr_conn *c, const struct sdr_frame_rec *f, void **mark)
{
	struct sdr_rxe *rx = c->msg->taken;

	c->msg->taken = NULL;
	return rx ? rx : above_ask(c, f, mark);
}

static bool above_waits(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	void *mark = NULL;

	if (!c->msg->taken)
		c->msg->taken = above_ask(c, f, &mark);
	if (mark)
		c->rel->msg->above->gone(c->rel->user, mark);
	return c->msg->taken;
}

static bool above_keep(struct sdr_unexp *u)
{
	struct sdr_rel *rel = u->peer->rel;

	if (!u->mark)
		return rel->closing;
	return rel->msg->above->keep(rel->user, u->mark, above_kind(&u->f), u);
}

static void above_gone(struct sdr_unexp *u)
{
	u->peer->rel->msg->above->gone(u->peer->rel->user, u->mark);
	u->mark = NULL;
}

static void above_renamed(struct sdr_rel *rel)
{
	rel->msg->above->renamed(rel->user);
}

const struct sdr_matcher sdr_matcher_above = {
	.find = above_find,
	.waits = above_waits,
	.keep = above_keep,
	.gone = above_gone,
	.renamed = above_renamed,
};

void sdr_above_set(struct sdr_rel *rel, const struct sdr_rel_match *match)
{
	rel->msg->above = match;
	rel->msg->matcher = match ? &sdr_matcher_above : &sdr_matcher_own;
}

/* ---- messages that are kept ------------------------------------------------------------------ */

int sdr_rel_meet(struct sdr_rel *rel, struct sdr_unexp *u, const struct sdr_rel_rr *rr)
{
	struct sdr_rel_rr of = *rr;
	struct sdr_rxe *rx;

	SDR_ASSERT(rel->msg->above && u->mark && u->peer->rel == rel);
	SDR_ASSERT(!rr->flags && !rr->peer);
	if (rel->failed || rel->closing)
		return -EIO;
	rx = sdr_rxe_new(rel);
	if (!rx)
		return -ENOMEM;
	rel->now = rel->uc->ops->now(rel->uc);
	of.kind = above_kind(&u->f);
	sdr_rxe_set(rx, &of);
	u->mark = NULL;
	sdr_unexp_deliver(rel, u, rx);
	return 0;
}

void sdr_rel_discard(struct sdr_rel *rel, struct sdr_unexp *u)
{
	SDR_ASSERT(rel->msg->above && u->mark && u->peer->rel == rel);
	rel->now = rel->uc->ops->now(rel->uc);
	u->mark = NULL;
	sdr_unexp_drop(rel, u);
}

struct sdr_peer *sdr_rel_kept_peer(const struct sdr_unexp *u)
{
	return u->peer;
}

void *sdr_rel_kept_user(const struct sdr_unexp *u)
{
	return u->peer->rel->user;
}
