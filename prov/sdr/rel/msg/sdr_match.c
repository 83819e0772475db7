/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages meet receives.  Messages of one peer are matched in the order of their mseq (those that
 * come early wait), receives in the order of posting; untagged and tagged are separate worlds.  The
 * receives are those posted here, or somebody else's: a row of struct sdr_matcher says.
 */
#include "base/sdr_assert.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_deliver.h"
#include "sdr_early.h"
#include "sdr_follow.h"
#include "sdr_match.h"
#include "sdr_op.h"

/* ---- from the network ------------------------------------------------------------------------ */

static struct sdr_rxe *posted_find(struct sdr_conn *c, const struct sdr_frame_rec *f, void **mark)
{
	struct sdr_list *l, *head = &c->rel->msg->posted[sdr_msg_kind(f->op)];

	(void)mark;
	sdr_list_each(l, head) {
		struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

		sdr_rel_step(c->rel);
		if (sdr_rxe_matches(rx, c->peer, f->tag))
			return rx;
	}
	return NULL;
}

static bool posted_waits(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return posted_find(c, f, NULL);
}

const struct sdr_matcher sdr_matcher_own = {
	.find = posted_find,
	.waits = posted_waits,
};

/* ---- in order -------------------------------------------------------------------------------- */

/* Its sender gave it up before it left: it keeps its place in the order, and meets no receive. */
static bool msg_is_void(const struct sdr_frame_rec *f)
{
	return sdr_msg_status(f);
}

/* All before it have met their receives, or been kept; and what it must follow is over. */
static bool msg_turn(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return f->mseq == c->rec.rx_mseq && !c->rec.held && sdr_follow_turn(c, f);
}

/* It met no receive. */
static void match_keep(struct sdr_conn *c, struct sdr_unexp *u)
{
	const struct sdr_matcher *m = c->rel->msg->matcher;

	if (!m->keep || m->keep(u)) {
		sdr_unexp_add(c, u);
		return;
	}
	sdr_unexp_free(c->rel, u);
	sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
}

static void match_drain(struct sdr_conn *c)
{
	const struct sdr_matcher *m = c->rel->msg->matcher;
	struct sdr_frame_rec f;
	struct sdr_unexp *u;
	struct sdr_rxe *rx;

	while (sdr_conn_live(c) && (u = sdr_early_at(c, c->rec.rx_mseq)) && msg_turn(c, &u->f)) {
		sdr_rel_step(c->rel);
		f = u->f;
		sdr_early_take(c, c->rec.rx_mseq++);
		rx = msg_is_void(&f) ? NULL : m->find(c, &f, &u->mark);
		if (rx) {
			u->f.payload = u->payload;
			sdr_rxe_deliver(c, rx, &u->f);
		}
		if (rx || msg_is_void(&f))
			sdr_unexp_free(c->rel, u);
		else
			match_keep(c, u);
		sdr_follow_over(c, &f);
	}
}

/* Refused for ever: before its turn by more than we granted, or there already. */
static bool msg_is_bad(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return !(f->flags & SDR_REC_F_ORDER) || sdr_seq_lt(f->mseq, c->rec.rx_mseq) ||
	       !sdr_seq_lt(f->mseq, c->credit.mseq_granted) || sdr_early_has(c, f->mseq);
}

uint64_t sdr_match_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	uint64_t bytes = sizeof(struct sdr_unexp) + f->payload_len;

	return msg_turn(c, f) || msg_is_bad(c, f) ? bytes : bytes + sdr_early_growth(c, f->mseq);
}

bool sdr_match_room(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	bool next = msg_turn(c, f);

	if (msg_is_bad(c, f) || (next && msg_is_void(f)))
		return true;
	return sdr_unexp_room(c, sdr_match_bytes(c, f), !next) ||
	       (next && c->rel->msg->matcher->waits(c, f));
}

void sdr_match_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	void *mark = NULL;
	struct sdr_unexp *u;
	struct sdr_rxe *rx;

	if (msg_is_bad(c, f)) {
		c->st.pkts_bad++;
		return;
	}
	if (msg_turn(c, f)) {
		rx = msg_is_void(f) ? NULL : c->rel->msg->matcher->find(c, f, &mark);
		if (rx || msg_is_void(f)) {
			c->rec.rx_mseq++;
			if (rx)
				sdr_rxe_deliver(c, rx, f);
			sdr_follow_over(c, f);
			match_drain(c);
			return;
		}
	}
	u = sdr_unexp_new(c, f);
	if (u && msg_turn(c, f)) {
		c->rec.rx_mseq++;
		u->mark = mark;
		match_keep(c, u);
		sdr_follow_over(c, f);
		match_drain(c);
		return;
	}
	if (u && !sdr_early_put(c, u))
		return;
	/* The record will be acknowledged and cannot be kept: the connection cannot go on. */
	if (mark)
		c->rel->msg->above->gone(c->rel->user, mark);
	if (u)
		sdr_unexp_free(c->rel, u);
	sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
}

void sdr_match_released(struct sdr_conn *c)
{
	match_drain(c);
}

/* Over for what waits for it here. */
static void bulk_end(struct sdr_bulk_rx *b, int err)
{
	struct sdr_unexp *u = b->unexp;
	struct sdr_frame_rec f = u ? u->f : sdr_bulk_frame(b);
	struct sdr_rxe *rx = u ? u->rx : b->rx;
	struct sdr_conn *c = b->conn;
	uint64_t off = b->rx_off;
	uint32_t turn = b->turn;
	bool leads = b->leads;

	if (b->read)
		b->read->brx = NULL;
	sdr_bulk_rx_abort(b);
	if (u) {
		u->brx = NULL;
		sdr_unexp_end(c->rel, u, err);
	}
	if (rx)
		sdr_rxe_report(c->rel, rx, c->peer, &f, off, 0, err);
	sdr_follow_ended(c, leads, turn);
}

void sdr_match_bind(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_bulk_rx *b = sdr_bulk_rx_expected(c, f->id);
	int err;

	if (msg_is_void(f)) { /* what was announced will not come */
		if (b)
			bulk_end(b, f->status);
		return;
	}
	if (!b || b->has_msn) {
		sdr_bulk_rx_skip(c, f, f->len);
		return;
	}
	err = sdr_bulk_rx_start(b, f);
	if (!err)
		return;
	/* Its bytes come in a way that cannot be received: over for both sides. */
	sdr_done_send(c, b->id, err);
	bulk_end(b, err);
}

void sdr_match_conn_gone(struct sdr_conn *c, int err)
{
	const struct sdr_frame_rec nothing = { .len = 0 };
	struct sdr_rel *rel = c->rel;
	struct sdr_list *l, *tmp;

	while (!sdr_list_empty(&c->bulk->rx.brx)) {
		sdr_rel_step(rel);
		bulk_end(sdr_container(c->bulk->rx.brx.next, struct sdr_bulk_rx, link), err);
	}
	sdr_list_each_safe(l, tmp, &c->peer->unexp) {
		struct sdr_unexp *u = sdr_container(l, struct sdr_unexp, of_peer);

		sdr_rel_step(rel);
		if (u->conn != c)
			continue;
		if (u->complete)
			u->conn = NULL;
		else
			sdr_unexp_end(rel, u, err);
	}
	if (c->msg->taken)
		sdr_rxe_report(rel, c->msg->taken, c->peer, &nothing, 0, 0, err);
	c->msg->taken = NULL;
	sdr_early_drop(c);
	sdr_list_del(&c->ready); /* sdr_unexp_free may have kicked it */
}

/* ---- the end --------------------------------------------------------------------------------- */

void sdr_match_cancel_all(struct sdr_rel *rel)
{
	struct sdr_list *l, *m, *tmp;

	for (int k = 0; k < 2; k++)
		while (!sdr_list_empty(&rel->msg->posted[k]))
			sdr_rxe_cancel(
				rel, sdr_container(rel->msg->posted[k].next, struct sdr_rxe, link));
	sdr_list_each(l, &rel->conn_list) {
		struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);

		sdr_list_each_safe(m, tmp, &c->bulk->rx.brx) {
			struct sdr_bulk_rx *b = sdr_container(m, struct sdr_bulk_rx, link);
			struct sdr_frame_rec f = sdr_bulk_frame(b);
			struct sdr_rxe *rx = b->unexp ? b->unexp->rx : b->rx;
			uint64_t off = b->rx_off;

			if (!rx)
				continue;
			if (b->unexp) {
				b->unexp->rx = NULL;
				b->unexp->dropped = true;
			} else {
				sdr_bulk_rx_abort(b);
			}
			sdr_rxe_report(rel, rx, c->peer, &f, off, 0, SDR_REL_ERR_CANCELED);
		}
	}
}

void sdr_match_destroy(struct sdr_rel *rel)
{
	for (int k = 0; k < 2; k++) {
		while (!sdr_list_empty(&rel->msg->unexp[k])) {
			struct sdr_unexp *u =
				sdr_container(rel->msg->unexp[k].next, struct sdr_unexp, link);

			u->conn = NULL;
			if (u->mark)
				rel->msg->matcher->gone(u);
			sdr_unexp_free(rel, u);
		}
	}
}
