/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The books of the room: what a connection, a peer and an endpoint count is what there is.
 *
 *   packets   the log is in the order of packet numbers and transmissions; `live` of its entries
 *             are unanswered, their bytes are in flight; one that is answered or lost carries no
 *             record
 *   records   every number in the ring belongs to a record that was sent and waits, in a packet or
 *             to travel again; what waits for its first time has no number
 *   numbers   ranges received are in order and apart; what was granted covers what was taken
 *   shapes    two at most, each with its QP while it is of use, and none without
 *   timers    armed only while the connection lives; what is unanswered has one, or a turn to come
 *   peers     each count of the endpoint is the sum over its connections and peers
 *
 * What data are in flight is the next room's to add (sdr_bulk_books.c), and so are records whose
 * owner is an operation (sdr_msg_books.c).  Constant, no state.
 */
#include "base/sdr_bitmap.h"
#include "base/sdr_seq.h"
#include "rel/sdr_rel.h"
#include "sdr_conn_books.h"
#include "sdr_credit.h"
#include "sdr_handshake.h"
#include "sdr_peer_cid.h"
#include "sdr_pkt.h"
#include "sdr_rec.h"
#include "sdr_reshape.h"
#include "sdr_turn.h"

/* One that waits somewhere: for its first time, to travel again, or for an acknowledgement. */
static uint32_t rec_books(struct sdr_books *k, const struct sdr_conn *c, const struct sdr_rec *r,
			  struct sdr_conn_sums *s)
{
	SDR_BOOK(k, !r->acked);
	SDR_BOOK(k, r->link.prev->next == &r->link && r->link.next->prev == &r->link);
	if (r->sent)
		SDR_BOOK(k, sdr_rec_by_rseq(c, r->f.rseq) == r);
	if (r->op) {
		s->owned++;
	} else {
		s->alone++;
	}
	s->answers += r->stranger;
	return r->sent;
}

/* Of a queue or a packet; returns those with a number. */
static uint32_t list_books(struct sdr_books *k, const struct sdr_conn *c,
			   const struct sdr_list *head, struct sdr_conn_sums *s)
{
	uint32_t n = 0;
	struct sdr_list *l;

	sdr_list_each(l, head)
		n += rec_books(k, c, sdr_container(l, struct sdr_rec, link), s);
	return n;
}

static uint32_t log_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_conn_sums *s)
{
	const struct sdr_pkt *p, *last = NULL;
	uint32_t live = 0, numbered = 0;

	s->inflight = 0;
	for (uint32_t pos = c->tx.log.head; pos != c->tx.log.tail; pos++, last = p) {
		p = sdr_ring_at(&c->tx.log, struct sdr_pkt, pos);
		sdr_books_of(k, "packet", p->pn);
		SDR_BOOK(k, sdr_seq_lt(p->pn, c->tx.pn) && !sdr_seq_lt(c->tx.seq, p->seq));
		SDR_BOOK(k,
			 !last || (sdr_seq_lt(last->pn, p->pn) && sdr_seq_lt(last->seq, p->seq)));
		SDR_BOOK(k, p->bytes && p->bytes <= c->ctl_agreed && p->nrseq <= SDR_PKT_RSEQS);
		SDR_BOOK(k, p->tx_ns <= c->rel->now && (!last || last->tx_ns <= p->tx_ns));
		SDR_BOOK(k, (!p->done && !p->lost && !p->copy) || sdr_list_empty(&p->recs));
		SDR_BOOK(k, !p->probed || p->lost);
		numbered += list_books(k, c, &p->recs, s);
		if (p->done || p->lost)
			continue;
		live++;
		s->inflight += p->bytes;
	}
	sdr_books_of(k, "connection", c->id.cid);
	SDR_BOOK_IS(k, sdr_ring_len(&c->tx.log), <=, SDR_REL_CTL_WINDOW);
	SDR_BOOK_EQ(k, c->tx.live, live);
	SDR_BOOK_IS(k, c->inflight, >=, s->inflight);
	for (uint32_t i = 0; i < c->npaths; i++)
		SDR_BOOK(k, !sdr_seq_lt(c->tx.seq, sdr_conn_path_of(c, i)->acked_seq));
	return numbered;
}

static void recs_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_conn_sums *s)
{
	const struct sdr_ring *ring = &c->rec.ring;
	uint32_t listed, again, used = 0;

	s->alone = s->owned = 0;
	listed = log_books(k, c, s);
	again = s->alone + s->owned;
	sdr_books_of(k, "records of connection", c->id.cid);
	SDR_BOOK_EQ(k, listed, again); /* what a packet carries has a number */
	listed += list_books(k, c, &c->rec.rtx, s);
	SDR_BOOK_EQ(k, listed, s->alone + s->owned); /* and so has what travels again */
	listed += list_books(k, c, &c->rec.unordered, s);
	listed += list_books(k, c, &c->rec.ordered, s);
	for (uint32_t pos = ring->head; pos != ring->tail; pos++) {
		const struct sdr_rec *r = *sdr_ring_at(ring, struct sdr_rec *, pos);

		if (!r)
			continue;
		used++;
		SDR_BOOK(k, r->sent && !r->acked && r->f.rseq == pos);
		SDR_BOOK(k, !(r->f.flags & SDR_REC_F_ORDER) ||
				    sdr_seq_lt(r->f.mseq, c->credit.mseq_limit));
	}
	SDR_BOOK_EQ(k, listed, used);
	SDR_BOOK_IS(k, sdr_ring_len(ring), <=, SDR_REL_CTL_WINDOW);
	SDR_BOOK(k, sdr_ring_empty(ring) || *sdr_ring_at(ring, struct sdr_rec *, ring->head));
	SDR_BOOK_IS(k, c->rec.n, >=, s->alone);
	SDR_BOOK_IS(k, c->rec.n, <=, s->alone + s->owned);
	s->recs += c->rec.n;
}

static void in_books(struct sdr_books *k, const struct sdr_conn *c)
{
	const struct sdr_pnset *p = &c->rx.pns;

	SDR_BOOK_IS(k, p->n, <=, SDR_PNSET_RANGES);
	for (uint32_t i = 0; i < p->n && i < SDR_PNSET_RANGES; i++) {
		SDR_BOOK_IS(k, p->r[i].lo - p->floor, <=, p->r[i].hi - p->floor);
		SDR_BOOK(k, !i || p->r[i].hi - p->floor + 1 < p->r[i - 1].lo - p->floor);
	}
	SDR_BOOK(k, !sdr_bitmap_test(c->rec.rx_bits, c->rec.rx_next & (SDR_REL_CTL_WINDOW - 1)));
	SDR_BOOK_IS(k, c->credit.mseq_granted - c->rec.rx_mseq, <=, SDR_MSEQ_CREDIT);
	SDR_BOOK(k, !sdr_seq_lt(sdr_conn_msn_limit(c), c->credit.msn_granted));
	SDR_BOOK_IS(k, c->credit.nserve, <=, SDR_CONN_SERVES_MAX);
	SDR_BOOK(k, c->rx.heard_ns <= c->rx.last_ns && c->rx.last_ns <= c->rel->now);
	SDR_BOOK(k, c->pto.wait_since <= c->rel->now && c->pto.due_since <= c->rel->now);
}

/* A shape that is there is of use, or goes in the connection's turn. */
static void shape_books(struct sdr_books *k, const struct sdr_conn *c,
			const struct sdr_conn_shape *s)
{
	bool used = s == c->shape || s == c->in.now || s == c->in.old ||
		    (c->reshape && s == c->reshape->next);

	SDR_BOOK(k, used == (s->qp != NULL));
	SDR_BOOK(k, !s->ntx || s == c->shape || s == c->in.now || s == c->in.old);
	if (s->qp)
		SDR_BOOK(k, s->mtu && s->mtu <= c->rel->mtu && s->chunk_pkts && s->run_pkts &&
				    s->run_pkts <= SDR_RUN_PKTS_MAX && s->dack_pkts &&
				    s->seg_bytes >= s->mtu);
}

/* Marks that the peer has counted, of one path. */
static void ecn_books(struct sdr_books *k, const struct sdr_ecn *e)
{
	SDR_BOOK(k, e->on || !e->sent);
	SDR_BOOK(k, e->ect == (e->on && !e->hide && e->why == SDR_ECN_FINE));
	SDR_BOOK_IS(k, e->ce, <=, e->counted);
	SDR_BOOK(k, e->counted <= e->sent || e->why == SDR_ECN_MANGLED);
}

/* Those, and turns under the ceiling. */
static void share_books(struct sdr_books *k, const struct sdr_conn *c)
{
	for (uint32_t i = 0; i < c->npaths; i++)
		ecn_books(k, &sdr_conn_path_of(c, i)->ecn);
	SDR_BOOK(k, !sdr_turn_waits(c) || c->rel->turns.ceiling.word);
	SDR_BOOK(k, !c->rel->turns.who);
}

static void life_books(struct sdr_books *k, const struct sdr_conn *c)
{
	const struct sdr_rel *rel = c->rel;
	bool turn = !sdr_list_empty(&c->ready);

	SDR_BOOK(k, c->state <= SDR_CONN_DEAD && c->err == SDR_REL_OK);
	SDR_BOOK(k, sdr_conn_by_cid(c->rel, c->id.cid) == c);
	/* One that came by an alias may find its peer with another. */
	SDR_BOOK(k, c->peer->conn == c || (c->alias.by && c->peer->conn));
	SDR_BOOK(k, !c->alias.by || (c->alias.by->same == c->peer && c->alias.by->came == c));
	SDR_BOOK(k, !c->rec.held || c->alias.name.len);
	SDR_BOOK(k, c->state == SDR_CONN_HELLO || c->hs.peer_known);
	/* A peer that gives two connections the same number is known by one of them. */
	SDR_BOOK(k, !sdr_conn_peer_noted(c) ||
			    sdr_conn_by_peer(c->rel, c->id.peer_cid, &c->addr) == c);
	SDR_BOOK(k, c->hs.peer_known || !sdr_conn_peer_noted(c));
	SDR_BOOK(k, !c->timer.pos || (c->timer.pos <= rel->timers.n &&
				      rel->timers.heap[c->timer.pos - 1] == &c->timer));
	SDR_BOOK(k, c->timer.pos || turn || !(c->tx.live || c->inflight));
	for (int i = 0; i < 2; i++)
		shape_books(k, c, &c->shapes[i]);
	SDR_BOOK(k, c->shape->qp && c->in.now->qp && c->in.now != c->in.old);
	SDR_BOOK(k, !c->in.old || (c->in.old->qp && c->in.now == c->shape));
	SDR_BOOK_IS(k, c->ctl_max, <=, c->ctl_agreed);
	SDR_BOOK_IS(k, c->ctl_agreed, <=, rel->ctl_max);
	SDR_BOOK(k, c->state == SDR_CONN_HELLO ||
			    (c->main.cc.cwnd >= c->main.cc.mtu && c->main.cc.mtu));
	share_books(k, c);
}

void sdr_conn_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_conn_sums *s)
{
	s->conns++;
	recs_books(k, c, s);
	sdr_books_of(k, "connection", c->id.cid);
	in_books(k, c);
	if (sdr_conn_live(c)) {
		life_books(k, c);
		s->unvalidated += c->hs.passive && !c->hs.validated;
		s->armed += c->timer.pos != 0;
		return;
	}
	SDR_BOOK(k, c->err && !c->timer.pos && c->peer->conn != c && !sdr_turn_waits(c));
	SDR_BOOK(k, sdr_conn_by_cid(c->rel, c->id.cid) != c);
}

/* ---- peers ----------------------------------------------------------------------------------- */

struct peer_sums {
	uint32_t n, named, conns, strangers, gone;
};

static void peer_books(struct sdr_books *k, const struct sdr_peer *p, struct peer_sums *s)
{
	uint32_t listed = 0;
	struct sdr_list *l;

	sdr_books_of(k, "peer", p->user);
	s->n++;
	s->named += p->names != 0;
	s->conns += p->nconns;
	s->strangers += p->names ? 0 : p->nconns;
	sdr_list_each(l, &p->unexp)
		listed++;
	SDR_BOOK_IS(k, listed, <=, p->nunexp);
	SDR_BOOK(k, !p->conn || (p->nconns && p->conn->peer == p && sdr_conn_live(p->conn)));
	SDR_BOOK(k, p->nunexp || !p->unexp_bytes);
	SDR_BOOK(k, !p->same == !p->came && (!p->same || (!p->same->same && p->ncame)));
	if (sdr_list_empty(&p->gone)) {
		SDR_BOOK(k, p->names || p->nconns || p->nunexp || p->ncame);
		return;
	}
	s->gone++;
	SDR_BOOK(k, p->validated && !p->names && !p->nconns && !p->nunexp);
}

static void peers_books(struct sdr_books *k, const struct sdr_rel *rel)
{
	struct peer_sums s = { 0 };

	for (uint32_t i = 0; rel->peers.bucket && i <= rel->peers.mask; i++)
		for (const struct sdr_hnode *n = rel->peers.bucket[i]; n; n = n->next)
			peer_books(k, sdr_container(n, struct sdr_peer, hnode), &s);
	sdr_books_of(k, "endpoint", rel->instance);
	SDR_BOOK_EQ(k, rel->peers.n, s.n);
	SDR_BOOK_EQ(k, rel->npeers_named, s.named);
	SDR_BOOK_EQ(k, rel->nconns, s.conns);
	SDR_BOOK_EQ(k, rel->nstrangers, s.strangers);
	SDR_BOOK_EQ(k, rel->ngone, s.gone);
	SDR_BOOK_IS(k, rel->ngone, <=, SDR_REL_PEERS_GONE);
}

void sdr_endpoint_books(struct sdr_books *k, const struct sdr_rel *rel,
			const struct sdr_conn_sums *s)
{
	uint32_t n = 0;
	struct sdr_list *l;

	peers_books(k, rel);
	SDR_BOOK_EQ(k, rel->nconns, s->conns);
	SDR_BOOK_EQ(k, rel->nunvalidated, s->unvalidated);
	SDR_BOOK_IS(k, rel->nunvalidated, <=, SDR_CONN_UNVALIDATED_MAX);
	SDR_BOOK_EQ(k, rel->timers.n, s->armed);
	SDR_BOOK(k, sdr_timerq_sound(&rel->timers));
	SDR_BOOK_EQ(k, rel->rec_pool.used, s->recs);
	SDR_BOOK(k, sdr_slab_sound(&rel->rec_pool));
	sdr_list_each(l, &rel->gone)
		n++;
	SDR_BOOK_EQ(k, rel->ngone, n);
	sdr_list_each(l, &rel->ready)
		SDR_BOOK(k, sdr_conn_live(sdr_container(l, struct sdr_conn, ready)));
}
