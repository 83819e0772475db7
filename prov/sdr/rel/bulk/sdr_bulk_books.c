/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The books of the room: what a transfer, a segment and a group count is what there is.
 *
 *   packets out   of a segment: in flight + lost + acknowledged = sent; the counts are those of the
 *                 bits; what is to be sent again is lost (or, of parity, anything not acknowledged)
 *                 and queued.  All in flight, with the packets of records, is the connection's
 *   log           each entry names a segment that knows of it
 *   shapes        as many transfers out as each counts; a segment's is its transfer's
 *   transfers     messages opened are those finished and those open; not all opened is queued
 *   groups        a data segment and its parity name each other; asked, and with a buffer, as often
 *                 as the connection counts
 *   in            bound and done within the plan; a segment is the receive of its number, and what
 *                 has come of it is what its bitmap says; a head is that of its transfer, or waits
 *   berths        of a connection: those unused and those of its transfers; the endpoint's room to
 *                 the byte
 *   pools         as many objects as the connections have; parity buffers to the byte
 *
 * Constant, no state.
 */
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_bulk_books.h"
#include "sdr_code_rx.h"
#include "sdr_code_tx.h"
#include "sdr_tlog.h"

struct bulk_walk { /* of one connection */
	const struct sdr_conn *c;
	uint64_t inflight; /* bytes */
	uint32_t nend_probed, ngroups, nlog, nindex;
	uint32_t lost_segs, ends, copies, evaluate; /* linked */
	uint32_t nwrites, nbrx, nroom, partial, dirty, asked;
	uint32_t ntx[2]; /* by shape */
	uint32_t berths;
};

static uint32_t list_len(const struct sdr_list *head)
{
	const struct sdr_list *l;
	uint32_t n = 0;

	sdr_list_each(l, head)
		n++;
	return n;
}

/* ---- out ------------------------------------------------------------------------------------- */

static void bits_books(struct sdr_books *k, const struct sdr_seg_tx *s)
{
	uint32_t sent = s->parity ? sdr_bitmap_count(s->chunk_rtx, s->npkts) : s->next;

	SDR_BOOK_IS(k, s->next, <=, s->goal);
	SDR_BOOK_IS(k, s->goal, <=, s->npkts);
	SDR_BOOK(k, s->next <= s->high && s->high <= s->npkts && (!s->top || s->top < s->high));
	SDR_BOOK_EQ(k, s->nacked, sdr_bitmap_count(s->acked, s->npkts));
	SDR_BOOK_EQ(k, s->nlost, sdr_bitmap_count(s->lost, s->npkts));
	SDR_BOOK_EQ(k, s->nagain, sdr_bitmap_count(s->again, s->npkts));
	SDR_BOOK_EQ(k, sent, (uint64_t)s->inflight + s->nlost + s->nacked);
	SDR_BOOK(k, !s->nagain == sdr_list_empty(&s->lost_link));
	SDR_BOOK(k, !s->nagain || sdr_bitmap_next_one(s->again, 0, s->npkts) >= s->again_hint);
	for (uint32_t i = 0; i < sdr_bitmap_words(s->npkts); i++) {
		SDR_BOOK(k, !(s->acked[i] & (s->lost[i] | s->again[i])));
		SDR_BOOK(k, s->parity || !(s->again[i] & ~s->lost[i]));
	}
}

static void group_books(struct sdr_books *k, const struct sdr_seg_tx *s, struct bulk_walk *w,
			struct sdr_bulk_sums *sums)
{
	const struct sdr_group_tx *g = s->grp;

	SDR_BOOK(k, s->parity ? g->parity == s && g->data : g->data == s);
	if (s->parity)
		return;
	SDR_BOOK(k, !g->parity || g->parity->grp == g);
	sums->gtx++;
	w->evaluate += !sdr_list_empty(&g->evaluate);
	w->nend_probed += g->end_probed;
	w->ngroups += g->scratch != NULL;
	if (g->scratch)
		sums->scratch += sdr_scratch_charge(sdr_code_parity_bytes(&g->code));
}

static void seg_books(struct sdr_books *k, const struct sdr_seg_tx *s, struct bulk_walk *w,
		      struct sdr_bulk_sums *sums)
{
	const struct sdr_bulk_tx *b = s->bulk;
	uint32_t flying = 0;

	sdr_books_of(k, s->parity ? "parity segment" : "segment", s->msn);
	SDR_BOOK(k, b && b->conn == w->c && s->h);
	if (!b)
		return;
	SDR_BOOK(k, s->shape == b->shape);
	SDR_BOOK_IS(k, s->msn - b->msn, <, b->opened);
	SDR_BOOK(k, sdr_seq_lt(s->msn, w->c->credit.msn_limit));
	bits_books(k, s);
	SDR_BOOK(k, sdr_seg_tx_by_msn(w->c, s->msn) == s);
	w->inflight += (uint64_t)s->inflight * s->shape->mtu;
	for (uint32_t i = 0; i < SDR_PATHS_MAX; i++)
		flying += s->flying[i];
	SDR_BOOK_EQ(k, flying, s->inflight);
	w->nlog += s->nlog;
	w->nindex++;
	w->lost_segs += !sdr_list_empty(&s->lost_link);
	w->ends += !sdr_list_empty(&s->end_link);
	if (s->stage.mem)
		sums->stage_tx += sdr_scratch_charge(s->stage.len);
	if (s->grp)
		group_books(k, s, w, sums);
	if (b->segs.next == &s->mine) { /* once per transfer */
		SDR_BOOK_EQ(k, b->opened - b->finished, list_len(&b->segs));
		SDR_BOOK(k, (b->opened < b->plan.nmsgs) == !sdr_list_empty(&b->link));
		w->copies += !sdr_list_empty(&b->copy);
		sums->btx++;
		w->ntx[b->shape != w->c->shapes]++;
	}
}

/* Those of which no segment is open: not begun, or between two segments. */
static void waiting_books(struct sdr_books *k, struct bulk_walk *w, struct sdr_bulk_sums *sums)
{
	struct sdr_list *l;

	sdr_list_each(l, &w->c->bulk->tx.bulks) {
		const struct sdr_bulk_tx *b = sdr_container(l, struct sdr_bulk_tx, link);

		sdr_books_of(k, "transfer", b->msn);
		SDR_BOOK(k, b->conn == w->c && b->op && b->done);
		SDR_BOOK(k, b->opened < b->plan.nmsgs && b->finished <= b->opened);
		SDR_BOOK(k, !sdr_seq_lt(w->c->bulk->tx.msn, b->msn + b->plan.nmsgs));
		if (!sdr_list_empty(&b->segs))
			continue;
		SDR_BOOK_EQ(k, b->opened, b->finished);
		w->ntx[b->shape != w->c->shapes]++;
		w->copies += !sdr_list_empty(&b->copy);
		sums->btx++;
	}
}

static void log_books(struct sdr_books *k, const struct bulk_walk *w)
{
	const struct sdr_ring *log = &w->c->bulk->tx.log;
	const struct sdr_txent *e, *last = NULL;
	uint32_t n = 0;

	for (uint32_t i = log->head; i != log->tail; i++, last = e) {
		e = sdr_tlog_at(w->c, i);
		SDR_BOOK(k, !last || sdr_seq_lt(last->seq, e->seq));
		SDR_BOOK(k, !sdr_seq_lt(w->c->tx.seq, e->seq) && e->tx_ns <= w->c->rel->now);
		if (!e->seg)
			continue;
		SDR_BOOK(k, e->seg->nlog && e->n && e->first + e->n <= e->seg->npkts);
		n += e->seg->bulk != NULL;
	}
	SDR_BOOK_EQ(k, w->nlog, n);
}

static void tx_books(struct sdr_books *k, struct bulk_walk *w, uint64_t packets,
		     struct sdr_bulk_sums *sums)
{
	const struct sdr_conn *c = w->c;
	const struct sdr_ring *index = &c->bulk->tx.index;
	uint32_t indexed = 0;
	uint64_t paths = 0;
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.segs)
		seg_books(k, sdr_container(l, struct sdr_seg_tx, link), w, sums);
	waiting_books(k, w, sums);
	sdr_books_of(k, "data of connection", c->id.cid);
	log_books(k, w);
	for (uint32_t i = index->head; i != index->tail; i++)
		indexed += *sdr_ring_at(index, struct sdr_seg_tx *, i) != NULL;
	SDR_BOOK_EQ(k, indexed, w->nindex);
	SDR_BOOK_EQ(k, c->inflight, packets + w->inflight);
	for (uint32_t i = 0; i < c->npaths; i++)
		paths += sdr_conn_path_of(c, i)->inflight;
	SDR_BOOK_EQ(k, c->inflight, paths);
	SDR_BOOK_EQ(k, c->shapes[0].ntx, w->ntx[0]);
	SDR_BOOK_EQ(k, c->shapes[1].ntx, w->ntx[1]);
	SDR_BOOK_EQ(k, c->bulk->tx.nend_probed, w->nend_probed);
	SDR_BOOK_EQ(k, c->bulk->tx.ngroups, w->ngroups);
	SDR_BOOK(k, !c->bulk->tx.parity_wait || c->bulk->tx.ngroups);
	SDR_BOOK_EQ(k, list_len(&c->bulk->tx.lost_segs), w->lost_segs);
	SDR_BOOK_EQ(k, list_len(&c->bulk->tx.ends), w->ends);
	SDR_BOOK_EQ(k, list_len(&c->bulk->tx.copies), w->copies);
	SDR_BOOK_EQ(k, list_len(&c->bulk->tx.evaluate), w->evaluate);
}

/* ---- in -------------------------------------------------------------------------------------- */

static void arrived_books(struct sdr_books *k, const struct sdr_rcv_state *st)
{
	SDR_BOOK_EQ(k, st->got, sdr_bitmap_count(st->pkt_bits, st->npkts));
	SDR_BOOK_EQ(k, st->cum, sdr_bitmap_next_zero(st->pkt_bits, 0, st->npkts));
	SDR_BOOK_EQ(k, st->high, sdr_bitmap_top(st->pkt_bits, st->npkts));
}

static void seg_rx_books(struct sdr_books *k, const struct sdr_bulk_rx *b,
			 const struct sdr_seg_rx *s, struct bulk_walk *w,
			 struct sdr_bulk_sums *sums)
{
	const struct sdr_rcv_state *st = sdr_recv_state(s->h);
	const struct sdr_group_rx *g = s->grp;

	sdr_books_of(k, s->parity ? "parity segment in" : "segment in", s->msn);
	SDR_BOOK(k, s->bulk == b && st->user == s && st->msn == s->msn);
	SDR_BOOK_IS(k, s->msn - b->msn, <, b->bound);
	SDR_BOOK(k, sdr_recv_find(b->shape->qp, s->msn) == s->h);
	SDR_BOOK(k, s->rep_got <= st->got && s->base <= st->npkts);
	arrived_books(k, st);
	sums->srx++;
	SDR_BOOK(k, !s->stage.mem || s->stage.part == (b->stage.mem != NULL));
	if (s->stage.mem && !s->stage.part)
		sums->stage_rx += sdr_scratch_charge(s->stage.len);
	w->dirty += !sdr_list_empty(&s->dirty);
	w->asked += !sdr_list_empty(&s->asked);
	if (!g)
		return;
	SDR_BOOK(k, s->parity ? g->parity == s && g->data : g->data == s);
	if (s->parity)
		return;
	SDR_BOOK(k, !sdr_decode_lent(&g->decode) || (g->parity && g->scratch && g->decode.copy));
	SDR_BOOK(k, sdr_decode_lent(&g->decode) || !(g->decode.copy || g->decode.w.cap));
	sums->decodes += sdr_decode_lent(&g->decode);
	sums->grx++;
	SDR_BOOK(k, !g->of_berth || !g->scratch || b->parity);
	if (g->scratch && !g->of_berth)
		sums->scratch += sdr_scratch_charge(sdr_code_parity_bytes(&g->code));
}

static void bulk_rx_books(struct sdr_books *k, const struct sdr_bulk_rx *b, struct bulk_walk *w,
			  struct sdr_bulk_sums *sums)
{
	struct sdr_list *l;
	uint32_t data = 0;

	sdr_list_each(l, &b->segs) {
		const struct sdr_seg_rx *s = sdr_container(l, struct sdr_seg_rx, link);

		seg_rx_books(k, b, s, w, sums);
		data += !s->parity;
	}
	sdr_books_of(k, "transfer in", b->id);
	SDR_BOOK(k, b->conn == w->c && b->arrived);
	SDR_BOOK(k, !b->expected || !b->has_msn || b->leads);
	SDR_BOOK(k, sdr_list_empty(&b->partial) || (b->has_msn && b->bound < b->plan.nmsgs));
	if (b->has_msn) {
		SDR_BOOK(k, b->shape == sdr_shape_of_rx(w->c, b->msn));
		SDR_BOOK_IS(k, b->bound, <=, b->plan.nmsgs);
		SDR_BOOK(k, b->done < b->plan.nsegs || b->still); /* else it has ended */
		SDR_BOOK(k, !b->still || ((b->head || b->kept) && sdr_list_empty(&b->segs)));
		SDR_BOOK_IS(k, (uint64_t)b->done + data, <=, b->plan.nsegs);
		SDR_BOOK_IS(k, (uint64_t)b->done + data, <=, b->bound);
	} else {
		SDR_BOOK(k, !b->bound && !b->done && !b->still && sdr_list_empty(&b->segs));
	}
	SDR_BOOK(k, !b->head || (b->head->whole == b && b->head->len == b->head_len));
	SDR_BOOK(k, !b->kept || (b->unexp && !b->whole && (b->berth || b->still)));
	if (b->stage.mem && !b->berth)
		sums->stage_rx += sdr_scratch_charge(b->stage.len);
	SDR_BOOK(k, !b->berth || b->kept || (b->stage.part && b->stage.near == b->berth->buf));
	SDR_BOOK(k, !b->berth || (b->berth->conn == w->c && sdr_list_empty(&b->berth->link)));
	SDR_BOOK(k, !b->berth || (b->kept && b->still) == !sdr_list_empty(&b->berth->age));
	sums->idle += b->kept && b->still && b->berth;
	w->berths += (b->berth != NULL) + (b->parity && b->parity != b->berth);
	SDR_BOOK(k, !b->direct || (b->mem && !b->stage.mem));
	SDR_BOOK(k, !sdr_bulk_rx_waits(b) || (!b->grant.impl && !b->stage.mem && !b->has_msn));
	w->nbrx += !b->still;
	w->nroom += sdr_bulk_rx_waits(b);
	w->nwrites += b->op == SDR_REC_WRITE;
	w->partial += !sdr_list_empty(&b->partial);
	sums->expected += b->expected;
	sums->brx++;
}

static void rx_books(struct sdr_books *k, struct bulk_walk *w, struct sdr_bulk_sums *sums)
{
	const struct sdr_conn *c = w->c;
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->rx.brx) {
		const struct sdr_bulk_rx *b = sdr_container(l, struct sdr_bulk_rx, link);

		bulk_rx_books(k, b, w, sums);
		if (b->head)
			bulk_rx_books(k, b->head, w, sums);
	}
	sdr_books_of(k, "data to connection", c->id.cid);
	SDR_BOOK_EQ(k, c->bulk->rx.nwrites, w->nwrites);
	SDR_BOOK_EQ(k, c->bulk->rx.nbrx, w->nbrx);
	SDR_BOOK_EQ(k, c->bulk->rx.nroom, w->nroom);
	SDR_BOOK_EQ(k, list_len(&c->bulk->rx.partial), w->partial);
	SDR_BOOK_EQ(k, list_len(&c->bulk->rx.dirty), w->dirty);
	SDR_BOOK_EQ(k, list_len(&c->bulk->rx.asked), w->asked);
	SDR_BOOK(k, !sdr_seq_lt(c->bulk->rx.skip_hi, c->bulk->rx.skip_lo));
}

static void berth_books(struct sdr_books *k, const struct bulk_walk *w, struct sdr_bulk_sums *s)
{
	const struct sdr_conn_berths *b = &w->c->bulk->rx.berths;
	uint32_t idle = list_len(&b->idle);

	SDR_BOOK_EQ(k, b->n, idle + w->berths);
	SDR_BOOK_IS(k, b->n, <=, b->want);
	SDR_BOOK_IS(k, b->want, <=, SDR_BERTHS_PEER);
	SDR_BOOK_EQ(k, w->c->bulk->tx.nkeys, list_len(&w->c->bulk->tx.keys));
	SDR_BOOK_IS(k, w->c->bulk->tx.nkeys, <=, SDR_BERTH_KEYS_MAX);
	s->berths += b->n;
	s->idle += idle;
	s->keys += w->c->bulk->tx.nkeys;
	s->berth_room += b->bytes;
}

void sdr_bulk_books(struct sdr_books *k, const struct sdr_conn *c, uint64_t packets,
		    struct sdr_bulk_sums *s)
{
	struct bulk_walk w = { .c = c };

	tx_books(k, &w, packets, s);
	rx_books(k, &w, s);
	berth_books(k, &w, s);
}

/* Bytes of what a device still reads. */
static uint64_t olds_books(const struct sdr_stages *g)
{
	const struct sdr_list *l;
	uint64_t sum = 0;

	sdr_list_each(l, &g->olds)
		sum += sdr_scratch_charge(sdr_container(l, struct sdr_stage_old, link)->len);
	return sum;
}

void sdr_bulk_pool_books(struct sdr_books *k, const struct sdr_rel *rel,
			 const struct sdr_bulk_sums *s)
{
	const struct sdr_rel_bulk *b = rel->bulk;

	sdr_books_of(k, "endpoint", rel->instance);
	SDR_BOOK_EQ(k, b->btx_pool.used, s->btx);
	SDR_BOOK_EQ(k, b->brx_pool.used, s->brx);
	SDR_BOOK_EQ(k, b->srx_pool.used, s->srx);
	SDR_BOOK_EQ(k, b->gtx_pool.used, s->gtx);
	SDR_BOOK_EQ(k, b->grx_pool.used, s->grx);
	SDR_BOOK_EQ(k, b->binds.n, s->expected);
	SDR_BOOK_EQ(k, b->stages.tx.used, s->stage_tx + olds_books(&b->stages));
	SDR_BOOK_EQ(k, b->stages.rx.used, s->stage_rx);
	SDR_BOOK_EQ(k, list_len(&b->decodes), s->decodes);
	SDR_BOOK_EQ(k, b->berths.pool.used, s->berths);
	SDR_BOOK_EQ(k, list_len(&b->berths.idle), s->idle);
	SDR_BOOK_EQ(k, b->berths.room.used, s->berth_room);
	SDR_BOOK_IS(k, b->berths.room.used, <=, b->berths.room.limit);
	SDR_BOOK_IS(k, s->keys, <=, b->key_pool.used);
	SDR_BOOK_EQ(k, b->scratch.used, s->scratch);
	SDR_BOOK_IS(k, b->scratch.used, <=, b->scratch.limit);
	if (b->scratch.no_bytes)
		return;
	SDR_BOOK_IS(k, b->scratch.held, <=, b->scratch.limit);
	SDR_BOOK_EQ(k, b->scratch.held, b->scratch.used + sdr_scratch_idle(&b->scratch));
}
