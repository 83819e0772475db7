/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The books of the room: what operations, receives and kept messages count is what there is.
 *
 *   operations   all stand in one of their connection's two lists; posted here and served for the
 *                peer as often as counted; each is found by its number; its transfers and its BIND
 *                name it
 *   messages     those that came early stand where their number says; bytes and numbers of all that
 *                are kept are the endpoint's and their peer's
 *   receives     posted, or matched by a transfer under way
 *
 * Constant, no state.
 */
#include "sdr_early.h"
#include "sdr_follow.h"
#include "sdr_msg_books.h"
#include "sdr_op.h"
#include "sdr_unexp.h"

/* ---- operations ------------------------------------------------------------------------------ */

struct op_walk { /* of one connection */
	const struct sdr_conn *c;
	uint32_t own, serve, asked, binds, waiting, leads;
};

static void op_books(struct sdr_books *k, const struct sdr_op *op, struct op_walk *w,
		     struct sdr_msg_sums *s)
{
	const struct sdr_conn *c = w->c;

	sdr_books_of(k, "operation", op->id);
	SDR_BOOK(k, op->conn == c && op->peer == c->peer && op->rec.op == op);
	SDR_BOOK(k, sdr_idtab_get(&c->rel->msg->ids, op->id) == op);
	SDR_BOOK(k, !op->btx || (op->btx->op == op && op->btx->conn == c && !op->data_out));
	SDR_BOOK(k, !op->head || (op->head->op == op && op->head_len && !op->data_out));
	SDR_BOOK(k, !op->head_len || op->head_len < op->len);
	SDR_BOOK(k, !op->brx || (op->brx->read == op && op->kind->asks && !op->data_in));
	SDR_BOOK(k, !op->bind || op->bind->op == op);
	SDR_BOOK(k, !op->done || !op->kind->served);
	SDR_BOOK(k, !op->parts || (op->parts->left && !op->done));
	SDR_BOOK(k, !op->copy_pool || op->copy);
	if (op->kind->served)
		w->serve++;
	else
		w->own++;
	SDR_BOOK(k, op->asked == (op->rec.sent && sdr_rec_is_request(&op->rec.f)));
	w->asked += op->asked;
	w->binds += op->bind != NULL;
	w->leads += !sdr_list_empty(&op->lead);
	w->waiting += !sdr_list_empty(&op->credit);
	s->answers += op->stranger;
	s->remotes += !sdr_list_empty(&op->remote.link);
	s->ops++;
}

/* Those that lead, in the order of their turns. */
static uint32_t order_books(struct sdr_books *k, const struct sdr_conn *c)
{
	const struct sdr_order *o = &c->msg->order;
	uint32_t n = 0, ahead = SDR_REC_TURNS + 1;
	struct sdr_list *l;

	sdr_list_each(l, &o->leads) {
		const struct sdr_op *op = sdr_container(l, struct sdr_op, lead);

		n++;
		if (!sdr_order_has_turn(op))
			continue; /* its peer knows no turns */
		SDR_BOOK_IS(k, o->next - op->rec.f.turn, <, ahead);
		ahead = o->next - op->rec.f.turn;
	}
	return n;
}

static void ops_books(struct sdr_books *k, const struct sdr_conn *c, uint32_t alone,
		      struct sdr_msg_sums *s)
{
	struct op_walk w = { .c = c };
	uint32_t waiting = 0;
	struct sdr_list *l;

	sdr_list_each(l, &c->msg->ops)
		op_books(k, sdr_container(l, struct sdr_op, link), &w, s);
	sdr_list_each(l, &c->msg->deferred) {
		const struct sdr_op *op = sdr_container(l, struct sdr_op, link);

		op_books(k, op, &w, s);
		SDR_BOOK(k,
			 !op->rec.sent && !op->btx && !op->head && !op->bind); /* has not started */
	}
	sdr_list_each(l, &c->msg->cts_wait)
		waiting++;
	sdr_books_of(k, "operations of connection", c->id.cid);
	SDR_BOOK_EQ(k, c->msg->nown, w.own);
	SDR_BOOK_EQ(k, c->msg->nasked, w.asked);
	SDR_BOOK_EQ(k, c->credit.nserve, w.serve);
	SDR_BOOK_EQ(k, waiting, w.waiting);
	SDR_BOOK_EQ(k, c->rec.n, (uint64_t)alone + w.binds);
	SDR_BOOK_EQ(k, order_books(k, c), w.leads);
	s->own += w.own;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void unexp_books(struct sdr_books *k, const struct sdr_unexp *u, struct sdr_msg_sums *s)
{
	sdr_books_of(k, "message", u->f.mseq);
	SDR_BOOK(k, u->peer && (!u->conn || u->conn->peer == u->peer));
	SDR_BOOK(k, u->conn || u->complete || (u->err && u->mark));
	SDR_BOOK(k, !u->brx || (u->brx->unexp == u && !u->complete));
	SDR_BOOK_IS(k, u->charged, >=, sizeof(*u) + u->f.payload_len);
	s->unexp++;
	s->strangers += u->stranger;
	s->bytes += u->charged;
	if ((u->f.flags & SDR_REC_F_LEN) && u->payload)
		s->bounce += sdr_scratch_charge(u->f.len);
}

static void early_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_msg_sums *s)
{
	const struct sdr_early *e = &c->msg->early;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->cap; i++) {
		const struct sdr_unexp *u = e->slot[i];

		if (!u)
			continue;
		n++;
		unexp_books(k, u, s);
		SDR_BOOK(k, u->conn == c && sdr_list_empty(&u->link));
		SDR_BOOK_EQ(k, u->f.mseq & (e->cap - 1), i);
		SDR_BOOK_IS(k, u->f.mseq - c->rec.rx_mseq, <, e->cap);
		SDR_BOOK(k, u->f.mseq != c->rec.rx_mseq || c->rec.held || !sdr_conn_live(c) ||
				    !sdr_follow_turn(c, &u->f));
	}
	sdr_books_of(k, "early messages of connection", c->id.cid);
	SDR_BOOK_EQ(k, e->n, n);
	s->bytes += sdr_early_charge(c);
}

/* Transfers under way: for a receive, a message that is kept, or one of both meanwhile. */
static void landing_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_msg_sums *s)
{
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->rx.brx) {
		const struct sdr_bulk_rx *b = sdr_container(l, struct sdr_bulk_rx, link);
		const struct sdr_unexp *u = b->unexp;
		const struct sdr_rxe *rx = u ? u->rx : b->rx;

		s->remotes += !sdr_list_empty(&b->remote.link);
		if (u) {
			SDR_BOOK(k, u->brx == b && !b->rx);
			SDR_BOOK(k, sdr_list_empty(&u->link) == (u->rx || u->dropped));
			if (sdr_list_empty(&u->link))
				unexp_books(k, u, s);
		}
		if (!rx)
			continue;
		s->landing++;
		if (rx->bounce)
			s->bounce += sdr_scratch_charge(rx->bounce_len);
		s->multi += (rx->flags & SDR_REL_R_MULTI) != 0;
	}
}

void sdr_msg_books(struct sdr_books *k, const struct sdr_conn *c, uint32_t alone,
		   struct sdr_msg_sums *s)
{
	ops_books(k, c, alone, s);
	early_books(k, c, s);
	sdr_follow_books(k, c, s);
	landing_books(k, c, s);
}

/* ---- the endpoint ---------------------------------------------------------------------------- */

static void posted_books(struct sdr_books *k, const struct sdr_rel *rel,
			 const struct sdr_msg_sums *s)
{
	uint32_t posted = 0, single = s->landing - s->multi;
	struct sdr_list *l;

	for (int i = 0; i < 2; i++) {
		sdr_list_each(l, &rel->msg->posted[i]) {
			const struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

			SDR_BOOK(k, (rx->kind == SDR_REL_TRECV) == i && !rx->retired);
			SDR_BOOK(k, rx->off <= rx->total && rx->refs <= s->multi);
			SDR_BOOK(k, !rx->peer || rx->peer->names);
			posted++;
		}
	}
	SDR_BOOK_EQ(k, rel->msg->nrx, rel->msg->rx_pool.used);
	SDR_BOOK_IS(k, rel->msg->nrx, >=, posted + single);
	SDR_BOOK_IS(k, rel->msg->nrx, <=, posted + s->landing);
}

static void kept_books(struct sdr_books *k, const struct sdr_rel *rel, struct sdr_msg_sums *s)
{
	uint64_t bytes = 0, n = 0;
	struct sdr_list *l;

	for (int i = 0; i < 2; i++) {
		sdr_list_each(l, &rel->msg->unexp[i]) {
			const struct sdr_unexp *u = sdr_container(l, struct sdr_unexp, link);

			unexp_books(k, u, s);
			SDR_BOOK(k, sdr_msg_kind(u->f.op) == i && !sdr_list_empty(&u->of_peer));
		}
	}
	for (uint32_t i = 0; rel->peers.bucket && i <= rel->peers.mask; i++) {
		for (const struct sdr_hnode *h = rel->peers.bucket[i]; h; h = h->next) {
			const struct sdr_peer *p = sdr_container(h, struct sdr_peer, hnode);

			bytes += p->unexp_bytes;
			n += p->nunexp;
		}
	}
	sdr_books_of(k, "endpoint", rel->instance);
	SDR_BOOK_EQ(k, rel->msg->unexp_pool.used, s->unexp);
	SDR_BOOK_EQ(k, n, s->unexp);
	SDR_BOOK_IS(k, bytes, <=, s->bytes);
	SDR_BOOK_EQ(k, rel->unexp_bytes, s->bytes);
	SDR_BOOK_EQ(k, rel->nunexp_strangers, s->strangers);
	SDR_BOOK_EQ(k, rel->msg->bounce.used, s->bounce);
	SDR_BOOK_IS(k, rel->msg->bounce.held - rel->msg->bounce.used, <=, SDR_REL_BOUNCE_KEEP);
}

void sdr_msg_pool_books(struct sdr_books *k, const struct sdr_rel *rel, struct sdr_msg_sums *s)
{
	const struct sdr_rel_msg *m = rel->msg;
	uint32_t remotes = 0;
	struct sdr_list *l;

	kept_books(k, rel, s);
	posted_books(k, rel, s);
	sdr_list_each(l, &m->remotes)
		remotes++;
	SDR_BOOK_EQ(k, remotes, s->remotes);
	SDR_BOOK_EQ(k, m->nops, s->own);
	SDR_BOOK_EQ(k, m->op_pool.used, s->ops);
	SDR_BOOK_IS(k, m->buf_pool.used + m->atomic_pool.used, <=, s->ops);
	SDR_BOOK_IS(k, m->parts_pool.used, <=, s->own);
	SDR_BOOK(k, sdr_slab_sound(&m->op_pool) && sdr_slab_sound(&m->rx_pool) &&
			    sdr_slab_sound(&m->unexp_pool) && sdr_slab_sound(&m->atomic_pool) &&
			    sdr_slab_sound(&m->parts_pool));
}
