/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which data are lost, and why we think so.
 *
 * The transmission log is in the order of sending: from its head, entries that are settled go,
 * entries behind the RACK point of their path by more than the reordering window (zero until
 * reordering was seen), and of which the receiver has spoken, are lost: their undelivered packets
 * get the lost bit and will be sent again.  Of a coded segment losses are only noted: what is to be
 * sent is decided when all of it is accounted for (sdr_code_tx.c).
 *
 * That is with a scheme that leaves losses to RACK.  One with a timeout of its own (sdr_scheme.h)
 * has a transmission lost when it is that old, or, unless the scheme ignores gaps, when a report
 * shows it missing and it is at least a round trip old.
 *
 * Counters say what uncovered a loss: a probe (tlp), a report of a gap (nack), an ordinary report
 * (rack), or time (rto).
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_conn_ecn.h"
#include "rel/conn/sdr_conn_mtu.h"
#include "rel/conn/sdr_home.h"
#include "sdr_bulk_loss.h"
#include "sdr_code_tx.h"
#include "sdr_scheme.h"
#include "sdr_seg_tx.h"
#include "sdr_tlog.h"

#define DETECT_OPEN_MAX 64u /* undecided entries that loss detection looks past */

enum lost_why { WHY_RACK, WHY_NACK, WHY_TLP, WHY_RTO, WHY_PATH };

static void ent_lost(struct sdr_conn *c, struct sdr_txent *e, enum lost_why why,
		     struct sdr_acks *as)
{
	struct sdr_path *p = sdr_conn_path(c, e->path);
	struct sdr_seg_tx *s = e->seg;
	uint32_t hi = e->first + e->n, n = 0, again = 0;

	if (s->bulk) {
		uint32_t a = sdr_bitmap_next_zero(s->acked, e->first, hi);
		/* What parity covers is not sent again for each loss. */
		uint32_t bare = !s->grp ? hi : s->parity ? 0 : s->grp->code.a.first;

		sdr_loss_est_arrived(&c->peer->loss, c->rel->now, a - e->first);
		while (a < hi) {
			uint32_t b = sdr_bitmap_next_one(s->acked, a, hi);

			sdr_rel_step(c->rel);
			n += sdr_bitmap_set_range(s->lost, a, b);
			if (why != WHY_PATH)
				sdr_home_lost(c, b - a);
			if (a < bare) {
				sdr_seg_tx_again(s, a, b < bare ? b : bare);
				again += (b < bare ? b : bare) - a;
			}
			a = sdr_bitmap_next_zero(s->acked, b, hi);
			sdr_loss_est_arrived(&c->peer->loss, c->rel->now, a - b);
		}
		s->nlost += n;
		sdr_seg_tx_land(s, e->path, n);
		SDR_ASSERT(sdr_seg_tx_counts(s));
		as->v[e->path].lost += (uint64_t)n * s->shape->mtu;
		c->est.lost += why == WHY_PATH ? 0 : n;
		p->rack.lossy |= n > 0 && why != WHY_PATH;
		c->st.rtx_rack += why == WHY_RACK ? again : 0;
		c->st.rtx_nack += why == WHY_NACK ? again : 0;
		c->st.rtx_tlp += why == WHY_TLP || why == WHY_PATH ? again : 0;
		c->st.rtx_rto += why == WHY_RTO ? again : 0;
		if (why != WHY_PATH)
			sdr_conn_mtu_lost(c, p, n, sdr_seg_tx_pkt_bytes(c, p, s), e->tx_ns);
		if (s->grp)
			sdr_group_tx_touch(s);
	}
	sdr_tlog_settle(c, e);
}

/*
 * Has the receiver spoken of this transmission?  A report covers its own message only, and may be
 * lost: what was delivered of others says nothing, unless so much later that a report would have
 * come anyway.  Nor does what came by another path.
 */
static bool ent_reported(const struct sdr_path *p, const struct sdr_txent *e)
{
	const struct sdr_seg_tx *s = e->seg;

	if (sdr_seq_lt(e->seq, s->rack_seq[e->path]))
		return true;
	if (s->ended && sdr_seq_lt(e->seq, s->end_seq) && !sdr_seq_lt(p->acked_seq, s->end_seq))
		return true;
	if (s->ended && sdr_seq_lt(e->seq, s->end_first) && !sdr_seq_lt(p->acked_seq, s->end_first))
		return true;
	return e->tx_ns + p->rtt.srtt / 4 + 2 * SDR_ACK_DELAY_MAX_NS < p->rack.ns;
}

/* rto: of the scheme, ns; 0: it has none. */
static bool ent_is_lost(struct sdr_conn *c, const struct sdr_txent *e, uint64_t rto, bool nack,
			enum lost_why *why)
{
	struct sdr_path *p = sdr_conn_path(c, e->path);
	uint64_t age = c->rel->now - e->tx_ns;

	if (!rto) {
		*why = p->rack.probed ? WHY_TLP : nack ? WHY_NACK : WHY_RACK;
		return ent_reported(p, e) &&
		       sdr_rack_is_lost(&p->rack, &p->rtt, e->seq, e->tx_ns, c->rel->now);
	}
	*why = WHY_RTO;
	if (age >= rto)
		return true;
	if (c->bulk->scheme->ignores_gaps)
		return false;
	*why = WHY_NACK;
	return sdr_rack_is_lost(&p->rack, &p->rtt, e->seq, e->tx_ns, c->rel->now) &&
	       age >= sdr_rtt_min(&p->rtt);
}

/*
 * Silence after a timeout doubles the next.  The packets of a flight time out one after the other,
 * each at its own time: that is one silence, until what was sent again could have been answered.
 */
static void rto_backoff(struct sdr_conn *c)
{
	if (c->pto.last_rto < c->pto.progress_ns) {
		c->pto.last_rto = c->rel->now;
	} else if (c->rel->now - c->pto.last_rto >= c->main.rtt.srtt) {
		c->pto.last_rto = c->rel->now;
		if (c->pto.rto_shift < SDR_PTO_BACKOFF_MAX)
			c->pto.rto_shift++;
	}
}

/* Data were lost: one more round trip of nothing else, unless some arrive. */
static void bulk_barren(struct sdr_conn *c)
{
	if (c->rel->now - c->bulk->tx.barren_ns < c->main.rtt.srtt)
		return;
	c->bulk->tx.barren_ns = c->rel->now;
	c->bulk->tx.barren += c->bulk->tx.barren < UINT32_MAX;
}

/* The newest transmission that was delivered, by whichever path. */
static uint32_t rack_newest(struct sdr_conn *c)
{
	uint32_t seq = c->main.rack.seq;

	for (uint32_t i = 1; i < c->npaths; i++)
		if (sdr_seq_lt(seq, sdr_conn_path(c, i)->rack.seq))
			seq = sdr_conn_path(c, i)->rack.seq;
	return seq;
}

void sdr_bulk_detect_lost(struct sdr_conn *c, bool nack, struct sdr_acks *as)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;
	uint64_t rto = ops->rto ? ops->rto(c) : 0;
	uint32_t open = ops->rto ? 0 : DETECT_OPEN_MAX, pos;
	struct sdr_ring *log = &c->bulk->tx.log;
	uint32_t newest = rack_newest(c);
	bool timeout = false, lost = false;

	/*
	 * Entries that are neither delivered nor reported do not block those behind.
	 */
	for (pos = log->head; pos != log->tail; pos++) {
		struct sdr_txent *e = sdr_tlog_at(c, pos);
		enum lost_why why;

		sdr_rel_step(c->rel);
		if (!e->seg)
			continue;
		if (sdr_txent_delivered(e)) {
			sdr_tlog_arrived(c, e);
		} else if (ent_is_lost(c, e, rto, nack, &why)) {
			ent_lost(c, e, why, as);
			lost = true;
			timeout |= why == WHY_RTO;
		} else if (!sdr_seq_lt(e->seq, newest) || (sdr_txent_passed(c, e) && !open--)) {
			break;
		}
	}
	while (!sdr_ring_empty(log) && !sdr_tlog_at(c, log->head)->seg)
		sdr_ring_pop(log);
	if (lost)
		bulk_barren(c);
	if (timeout) {
		rto_backoff(c);
		sdr_conn_ecn_timeout(c);
	}
	sdr_group_tx_evaluate(c);
}

void sdr_bulk_path_lost(struct sdr_conn *c, uint32_t path)
{
	struct sdr_ring *log = &c->bulk->tx.log;
	struct sdr_acks as;

	sdr_acks_init(c, &as); /* its window begins anew when it answers */
	for (uint32_t pos = log->head; pos != log->tail; pos++) {
		struct sdr_txent *e = sdr_tlog_at(c, pos);

		sdr_rel_step(c->rel);
		if (e->seg && e->path == path && !sdr_txent_delivered(e))
			ent_lost(c, e, WHY_PATH, &as);
	}
	sdr_tlog_trim(c);
	sdr_group_tx_evaluate(c);
}

uint64_t sdr_bulk_loss_deadline(const struct sdr_conn *c)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;
	const struct sdr_txent *e;

	if (!ops->rto || sdr_ring_empty(&c->bulk->tx.log) || !c->inflight)
		return UINT64_MAX;
	e = sdr_ring_at(&c->bulk->tx.log, struct sdr_txent, c->bulk->tx.log.head);
	return e->tx_ns + ops->rto(c);
}

/* PTO: ask about the oldest segment that is not finished. */
void sdr_bulk_probe(struct sdr_conn *c)
{
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.segs) {
		struct sdr_seg_tx *s = sdr_container(l, struct sdr_seg_tx, link);

		sdr_rel_step(c->rel);
		/* answered, and not decoded; or the answer is lost */
		if (s->grp && s->grp->end_probed) {
			sdr_group_tx_touch(s);
			sdr_group_tx_evaluate(c);
			return;
		}
		if (s->inflight) {
			sdr_seg_tx_end_due(s);
			return;
		}
	}
}
