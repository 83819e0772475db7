/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bulk data going out: a transfer is cut into segments, one SDR message each; a segment's packets
 * leave in runs, each run one entry of the connection's transmission log.
 *
 * Order of sending: what was lost first, then new packets in the order of the operations.  A
 * segment opens when its turn comes and the receiver's credit allows its number.  Window and pacing
 * bound every run.  When everything of a segment has been sent (again), an END follows, so that a
 * lost tail is seen after one round trip and not after a timeout.
 *
 * Segments have a file of their own (sdr_seg_tx.c).
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_conn_fan.h"
#include "rel/conn/sdr_conn_known.h"
#include "rel/conn/sdr_pkt.h"
#include "rel/conn/sdr_rec.h"
#include "rel/conn/sdr_turn.h"
#include "sdr_bulk_path.h"
#include "sdr_bulk_tx.h"
#include "sdr_code_tx.h"
#include "sdr_seg_tx.h"
#include "sdr_tlog.h"

/* a record's copies: behind the first packets, and 8, 64, 512 ... times as many */
#define COPY_STEP 8u

/* ---- transfers ------------------------------------------------------------------------------- */

bool sdr_bulk_tx_credit(const struct sdr_conn *c)
{
	/*
	 * The first segment must be allowed; the others follow as the receiver finishes earlier
	 * ones.
	 */
	return c->state == SDR_CONN_OPEN && sdr_seq_lt(c->bulk->tx.msn, c->credit.msn_limit);
}

struct sdr_bulk_tx *sdr_bulk_tx_new(struct sdr_conn *c, const uint8_t *base, uint64_t len,
				    const struct sdr_plan *plan)
{
	struct sdr_bulk_tx *b = sdr_slab_alloc(&c->rel->bulk->btx_pool);

	if (!b)
		return NULL;
	b->conn = c;
	b->base = base;
	b->len = len;
	b->plan = *plan;
	b->shape = c->shape;
	b->shape->ntx++;
	b->msn = c->bulk->tx.msn;
	c->bulk->tx.msn += plan->nmsgs;
	sdr_list_init(&b->copy);
	sdr_list_init(&b->segs);
	sdr_list_add_tail(&b->link, &c->bulk->tx.bulks);
	return b;
}

/*
 * Without its record all data land nowhere: where losses are to be expected it travels more than
 * once.
 */
static void bulk_copy(struct sdr_bulk_tx *b)
{
	struct sdr_conn *c = b->conn;

	if ((c->main.rack.lossy || b->plan.code.kind) && sdr_list_empty(&b->copy))
		sdr_list_add_tail(&b->copy, &c->bulk->tx.copies);
}

void sdr_bulk_announced(struct sdr_bulk_tx *b)
{
	struct sdr_conn *c = b->conn;
	uint64_t rtt = sdr_rtt_min(&c->main.rtt);

	if (!b->announced && b->plan.code.kind)
		bulk_copy(b);
	b->announced = true;
	b->told |= (uint16_t)(1u << c->ctl);
	/*
	 * On a path that reorders, data overtake the record and land nowhere.  A long transfer
	 * repairs that while it goes on; a short one waits as long as they do that by instead.
	 */
	if (c->main.rack.reo_mult && (double)b->len * 1e9 < sdr_conn_rate(c) * (double)rtt)
		b->not_before = c->rel->now + sdr_rack_apart(&c->main.rack, &c->main.rtt);
	sdr_conn_kick(c);
}

void sdr_bulk_tx_delivered(struct sdr_bulk_tx *b)
{
	bool over = false;

	while (!over && !sdr_list_empty(&b->segs)) {
		sdr_rel_step(b->conn->rel);
		over = sdr_seg_tx_end(sdr_container(b->segs.next, struct sdr_seg_tx, mine));
	}
}

void sdr_bulk_tx_abort(struct sdr_bulk_tx *b)
{
	struct sdr_conn *c = b->conn;

	while (!sdr_list_empty(&b->segs)) {
		sdr_rel_step(c->rel);
		sdr_seg_tx_release(c, sdr_container(b->segs.next, struct sdr_seg_tx, mine));
	}
	sdr_bulk_tx_free(b);
}

void sdr_bulk_tx_destroy(struct sdr_conn *c)
{
	struct sdr_list *l;

	/* The operations are gone already: only the log still names segments. */
	while ((l = c->bulk->tx.segs.next) != &c->bulk->tx.segs)
		sdr_seg_tx_release(c, sdr_container(l, struct sdr_seg_tx, link));
	sdr_tlog_clear(c);
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool bulk_next_ready(const struct sdr_conn *c)
{
	const struct sdr_bulk_tx *b;

	if (sdr_list_empty(&c->bulk->tx.bulks))
		return false;
	b = sdr_container(c->bulk->tx.bulks.next, struct sdr_bulk_tx, link);
	return b->announced && b->not_before <= c->rel->now && !c->bulk->tx.parity_wait &&
	       sdr_list_empty(&c->bulk->tx.stage_link) &&
	       sdr_seq_lt(b->msn + b->opened, c->credit.msn_limit);
}

uint64_t sdr_bulk_tx_unsent(const struct sdr_conn *c)
{
	const struct sdr_list *e;
	uint64_t bytes = 0;

	for (e = c->bulk->tx.bulks.next; e != &c->bulk->tx.bulks; e = e->next) {
		const struct sdr_bulk_tx *b = sdr_container(e, struct sdr_bulk_tx, link);

		bytes += b->len / b->plan.nmsgs * (b->plan.nmsgs - b->opened);
	}
	for (e = c->bulk->tx.segs.next; e != &c->bulk->tx.segs; e = e->next) {
		const struct sdr_seg_tx *s = sdr_container(e, struct sdr_seg_tx, link);

		bytes += (uint64_t)(s->goal - s->next) * s->shape->mtu;
	}
	return bytes;
}

uint64_t sdr_bulk_tx_deferral(const struct sdr_conn *c)
{
	const struct sdr_bulk_tx *b;

	if (sdr_list_empty(&c->bulk->tx.bulks))
		return UINT64_MAX;
	b = sdr_container(c->bulk->tx.bulks.next, struct sdr_bulk_tx, link);
	return b->announced && b->not_before > c->rel->now ? b->not_before : UINT64_MAX;
}

/*
 * A segment opens when nothing else is left to send: only the last one can have packets that never
 * left.
 */
static struct sdr_seg_tx *seg_fresh(const struct sdr_conn *c)
{
	struct sdr_seg_tx *s;

	if (sdr_list_empty(&c->bulk->tx.segs))
		return NULL;
	s = sdr_container(c->bulk->tx.segs.prev, struct sdr_seg_tx, link);
	return s->next < s->goal ? s : NULL;
}

bool sdr_bulk_tx_work(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->bulk->tx.lost_segs) || seg_fresh(c) || bulk_next_ready(c);
}

/* All but the last segment have left, and are open because something is missing over there. */
bool sdr_bulk_tx_due(const struct sdr_conn *c)
{
	const struct sdr_list *segs = &c->bulk->tx.segs;
	const struct sdr_seg_tx *s = sdr_container(segs->next, struct sdr_seg_tx, link);

	return !sdr_list_empty(segs) && (segs->next != segs->prev || s->inflight || s->nlost);
}

/*
 * Data that come by another path than the record that announces them may come before it, and would
 * land nowhere: it goes in front of the first of them on each path.  False: the engine is full.
 */
static bool seg_tell(struct sdr_conn *c, const struct sdr_path *p, struct sdr_seg_tx *s)
{
	struct sdr_bulk_tx *b = s->bulk;

	if (c->npaths == 1 || b->told >> p->index & 1)
		return true;
	if (b->rec && b->rec->sent && !b->rec->acked && !sdr_pkt_record_by(c, p, b->rec))
		return false;
	b->told |= (uint16_t)(1u << p->index);
	return true;
}

/* Sends [first, first + n) at most; returns the packets taken, 0 when the engine is full. */
static uint32_t seg_send_run(struct sdr_conn *c, struct sdr_path *p, struct sdr_seg_tx *s,
			     uint32_t first, uint32_t n, bool again)
{
	struct sdr_rel *rel = c->rel;
	uint32_t run = first / s->shape->run_pkts, end_run = (run + 1) * s->shape->run_pkts, took;
	struct sdr_txent *e;
	uint64_t bytes;

	if (first + n > end_run)
		n = end_run - first;
	if (!sdr_tlog_room(c) || !seg_tell(c, p, s))
		return 0;
	sdr_qp_ect_set(s->shape->qp, p->ecn.ect);
	sdr_qp_via_set(s->shape->qp, p->index);
	took = sdr_send_packets(s->h, s->base, first, n);
	if (!took)
		return 0;
	sdr_ecn_sent(&p->ecn, took, p->ecn.ect);
	if (again && c->npaths > 1)
		sdr_ecn_excuse(&p->ecn, took); /* it may be what went by another that arrives */
	bytes = (uint64_t)took * s->shape->mtu;
	sdr_turn_sent_data(c, p, took, s->shape->mtu);
	e = sdr_ring_spare(&c->bulk->tx.log, struct sdr_txent);
	*e = (struct sdr_txent){
		.seg = s,
		.first = first,
		.n = took,
		.seq = ++c->tx.seq,
		.path = p->index,
		.tx_ns = rel->now,
	};
	memset(s->on + first, p->index, took);
	s->run_log[run] = sdr_ring_push(&c->bulk->tx.log);
	s->nlog++;
	/* Parts of a run sent one after the other count as one transmission. */
	if (again || first == run * s->shape->run_pkts)
		s->run_ntx[run] += s->run_ntx[run] < UINT8_MAX;
	if (!c->tx.live && !c->inflight)
		c->pto.progress_ns = rel->now;
	sdr_cc_sent(&p->cc, rel->now, bytes, (uint64_t)took * SDR_WIRE_OVERHEAD, p->inflight,
		    &e->snap);
	s->inflight += took;
	s->flying[p->index] += took;
	sdr_conn_fan_sends(c);
	sdr_conn_known_sends(c);
	sdr_conn_fly(c, p, bytes);
	sdr_bulk_path_sent(c, p, bytes);
	c->st.pkts_tx += took;
	c->st.bytes_tx += bytes;
	c->est.sent += took;
	rel->activity++;
	rel->went += took;
	sdr_conn_sent(c);
	return took;
}

static bool seg_send_again(struct sdr_conn *c, struct sdr_path *p, struct sdr_seg_tx *s,
			   uint32_t max, uint32_t *sent)
{
	uint32_t first = sdr_bitmap_next_one(s->again, s->again_hint, s->npkts);
	uint32_t n = sdr_bitmap_next_zero(s->again, first, s->npkts) - first, took, twice;
	uint32_t end_run = (first / s->shape->run_pkts + 1) * s->shape->run_pkts;

	n = n < max ? n : max;
	n = n < end_run - first ? n : end_run - first;
	if (s->parity)
		sdr_group_tx_make(s, first, n);
	took = seg_send_run(c, p, s, first, n, true);
	if (!took)
		return false;
	sdr_bitmap_clear_range(s->again, first, first + took);
	twice = sdr_bitmap_clear_range(s->lost, first, first + took);
	s->nlost -= twice;
	s->rtx += twice;
	s->nagain -= took;
	s->again_hint = first + took;
	if (s->parity) {
		sdr_bitmap_set_range(s->chunk_rtx, first, first + took);
		c->st.repair_tx += took;
	} else {
		sdr_bitmap_set_range(s->chunk_rtx, first / s->shape->chunk_pkts,
				     (first + took - 1) / s->shape->chunk_pkts + 1);
	}
	if (first + took > s->high)
		s->high = first + took;
	*sent = took;
	if (!s->nagain)
		sdr_list_del(&s->lost_link);
	SDR_ASSERT(sdr_seg_tx_counts(s));
	sdr_seg_tx_sent(s);
	return true;
}

/* [first, first + n) of a device's memory can leave; parity is made of all of it. */
static bool seg_near(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t first, uint32_t n)
{
	uint64_t end = (uint64_t)(first + n) * s->shape->mtu;

	if (!s->stage.mem)
		return true;
	if (s->grp || end > s->len)
		end = s->len;
	if (!sdr_stage_tx_fetch(&s->stage, end))
		return true;
	sdr_conn_fail(c, SDR_REL_ERR_MEM);
	return false;
}

static bool seg_send_new(struct sdr_conn *c, struct sdr_path *p, struct sdr_seg_tx *s, uint32_t max,
			 uint32_t *sent)
{
	uint32_t first = s->next, n = s->goal - first, run = s->shape->run_pkts, took;

	SDR_ASSERT(run);
	n = n < max ? n : max;
	n = n < run ? n : run;
	if (!seg_near(c, s, first, n))
		return true;
	took = seg_send_run(c, p, s, first, n, false);
	if (!took)
		return false;
	s->next += took;
	if (s->msn == s->bulk->msn && s->next >= s->bulk->copy_at) {
		bulk_copy(s->bulk);
		s->bulk->copy_at = s->next * COPY_STEP;
	}
	if (s->next > s->high)
		s->high = s->next;
	*sent = took;
	if (s->parity) {
		sdr_bitmap_set_range(s->chunk_rtx, first, first + took);
		c->st.parity_tx += took;
	} else if (s->grp) {
		sdr_group_tx_sent(s, first, took);
	}
	SDR_ASSERT(sdr_seg_tx_counts(s));
	sdr_seg_tx_sent(s);
	return true;
}

/* Whose data go next; NULL: there are none. */
static const struct sdr_bulk_tx *bulk_next(const struct sdr_conn *c)
{
	const struct sdr_list *l = &c->bulk->tx.lost_segs;
	const struct sdr_seg_tx *s = seg_fresh(c);

	if (!sdr_list_empty(l))
		return sdr_container(l->next, struct sdr_seg_tx, lost_link)->bulk;
	if (s)
		return s->bulk;
	l = &c->bulk->tx.bulks;
	return sdr_list_empty(l) ? NULL : sdr_container(l->next, struct sdr_bulk_tx, link);
}

/*
 * The paths that its data may take: those by which its record went, while that or others that it
 * has to wait for have not arrived.
 */
static uint32_t bulk_told(const struct sdr_bulk_tx *b)
{
	const struct sdr_ring *r = b ? &b->conn->rec.ring : NULL;

	if (!b || !b->rec || b->rec->acked || sdr_ring_empty(r) ||
	    *sdr_ring_at(r, struct sdr_rec *, r->head) == b->rec)
		return UINT32_MAX;
	return b->told | 1u << b->conn->ctl;
}

uint64_t sdr_bulk_tx_paced(const struct sdr_conn *c)
{
	return sdr_bulk_path_paced(c, bulk_told(bulk_next(c)));
}

static struct sdr_seg_tx *seg_pick(struct sdr_conn *c)
{
	struct sdr_seg_tx *fresh = seg_fresh(c);

	if (!sdr_list_empty(&c->bulk->tx.lost_segs))
		return sdr_container(c->bulk->tx.lost_segs.next, struct sdr_seg_tx, lost_link);
	while (!fresh && bulk_next_ready(c)) {
		fresh = sdr_seg_tx_open(
			c, sdr_container(c->bulk->tx.bulks.next, struct sdr_bulk_tx, link));
		if (!fresh)
			return NULL;
		if (!fresh->goal)
			fresh = NULL; /* parity without a buffer */
	}
	return fresh;
}

/* The path by which most of what parity repairs is on its way: what ends there would take both. */
static uint32_t parity_avoids(const struct sdr_conn *c, const struct sdr_seg_tx *data)
{
	uint32_t missing = sdr_bitmap_next_zero(data->acked, 0, data->npkts), most;

	if (missing == data->npkts)
		return SDR_PATHS_MAX;
	most = data->on[missing];
	for (uint32_t i = 0; i < c->npaths; i++)
		if (data->flying[i] > data->flying[most])
			most = i;
	return most;
}

/*
 * The path that the packet which goes next should not take: where it was lost, or what it repairs
 * went.  SDR_PATHS_MAX: any will do.
 */
static uint32_t seg_avoids(const struct sdr_conn *c, const struct sdr_seg_tx *s)
{
	if (c->npaths == 1)
		return SDR_PATHS_MAX;
	if (s->parity)
		return s->grp->data ? parity_avoids(c, s->grp->data) : SDR_PATHS_MAX;
	if (!s->nagain)
		return SDR_PATHS_MAX;
	return s->on[sdr_bitmap_next_one(s->again, s->again_hint, s->npkts)];
}

bool sdr_bulk_tx_send(struct sdr_conn *c, uint64_t budget)
{
	struct sdr_seg_tx *s;

	if (c->state != SDR_CONN_OPEN || !c->hs.validated)
		return true;
	while ((s = seg_pick(c))) {
		struct sdr_path *p = sdr_bulk_path_next(c, seg_avoids(c, s), bulk_told(s->bulk));
		uint64_t room, turn;
		uint32_t max, sent = 0;

		/* An acknowledgement brings us back, or the pacer's timer. */
		if (!p)
			return true;
		if (!budget) {
			sdr_conn_kick(c);
			return true;
		}
		turn = sdr_turn_allow(c);
		if (!turn) {
			/*
			 * The ceiling says nothing of what the path could carry; but a window that
			 * is nearly full is a limit of its own.
			 */
			if (p->inflight < p->cc.cwnd / 2)
				sdr_cc_app_limited(&p->cc, p->inflight);
			return true;
		}
		room = sdr_bulk_path_bytes(c, p);
		room = turn < room ? turn : room;
		max = (uint32_t)((room < budget ? room : budget) / s->shape->mtu);
		if (!(s->nagain ? seg_send_again(c, p, s, max ? max : 1, &sent)
				: seg_send_new(c, p, s, max ? max : 1, &sent)))
			return false;
		if (!sdr_conn_live(c))
			return true;
		budget -= (uint64_t)sent * s->shape->mtu < budget ? (uint64_t)sent * s->shape->mtu
								  : budget;
	}
	if (sdr_list_empty(&c->rec.ordered))
		sdr_bulk_path_limited(c);
	return true;
}
