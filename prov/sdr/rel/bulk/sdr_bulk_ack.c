/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the receiver says about bulk data, and what follows from it: which packets are delivered,
 * which are lost, and why we think so.
 *
 * A DACK gives the state of a message's packet bitmap at the receiver.  Newly delivered packets
 * leave the window; the newest transmission among them moves the connection's RACK point.  The
 * transmission log is in the order of sending: from its head, entries that are settled go, entries
 * behind the RACK point by more than the reordering window (zero until reordering was seen), and of
 * which the receiver has spoken, are lost: their undelivered packets get the lost bit and will be
 * sent again.  A packet that is delivered although its bit says lost loses the bit. Of a coded
 * segment losses are only noted: what is to be sent is decided when all of it is accounted for
 * (sdr_code_tx.c).
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
#include "sdr_bulk_ack.h"
#include "sdr_code_tx.h"
#include "sdr_scheme.h"
#include "sdr_seg_tx.h"

#define DETECT_OPEN_MAX 64u /* undecided entries that loss detection looks past */

static struct sdr_txent *tlog_at(struct sdr_conn *c, uint32_t pos)
{
	return sdr_ring_at(&c->bulk->tx.log, struct sdr_txent, pos);
}

static void tlog_settle(struct sdr_conn *c, struct sdr_txent *e)
{
	struct sdr_seg_tx *s = e->seg;

	SDR_ASSERT(!s || s->nlog);
	e->seg = NULL;
	if (!s || --s->nlog)
		return;
	/* All of it has been reported: some of what counted as arrived came out of parity. */
	sdr_home_recount(c, s->unknown);
	s->unknown = 0;
	if (!s->bulk)
		sdr_seg_tx_drop(c->rel, s);
}

/* Delivered, as far as is known.  The rest of a segment's parity is never reported. */
static void tlog_arrived(struct sdr_conn *c, struct sdr_txent *e)
{
	if (e->seg->bulk || !e->seg->parity)
		sdr_loss_est_arrived(&c->peer->loss, c->rel->now, e->n);
	tlog_settle(c, e);
}

static bool ent_delivered(const struct sdr_txent *e)
{
	return !e->seg->bulk ||
	       sdr_bitmap_next_zero(e->seg->acked, e->first, e->first + e->n) == e->first + e->n;
}

void sdr_bulk_tlog_trim(struct sdr_conn *c)
{
	while (!sdr_ring_empty(&c->bulk->tx.log)) {
		struct sdr_txent *e = tlog_at(c, c->bulk->tx.log.head);

		sdr_rel_step(c->rel);
		if (e->seg) {
			if (!ent_delivered(e))
				break;
			tlog_arrived(c, e);
		}
		sdr_ring_pop(&c->bulk->tx.log);
	}
}

/* Something behind it has arrived by its path. */
static bool ent_decidable(struct sdr_conn *c, const struct sdr_txent *e)
{
	return sdr_seq_lt(e->seq, sdr_conn_path(c, e->path)->rack.seq);
}

/*
 * The log entry of a packet's latest transmission, if it is still there.  A run that left in
 * parts has several entries close together; its log position is the last one's.
 */
static struct sdr_txent *pkt_entry(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt)
{
	uint32_t run = pkt / s->shape->run_pkts;
	uint32_t pos = s->run_log[run];

	if (!s->run_ntx[run])
		return NULL;
	for (uint32_t k = 0; k < s->shape->run_pkts && sdr_ring_has(&c->bulk->tx.log, pos);
	     k++, pos--) {
		struct sdr_txent *e = tlog_at(c, pos);

		sdr_rel_step(c->rel);
		if (e->seg == s && pkt - e->first < e->n)
			return e;
	}
	return NULL;
}

/* Next packet in [from, hi) that was sent and not delivered yet. */
static uint32_t seg_new_first(const struct sdr_seg_tx *s, uint32_t from, uint32_t hi)
{
	from = sdr_bitmap_next_zero(s->acked, from, hi);
	/* Of parity only some packets have been sent; the others cannot have been received. */
	while (s->parity && from < hi && !sdr_bitmap_test(s->chunk_rtx, from))
		from = sdr_bitmap_next_zero(s->acked, sdr_bitmap_next_one(s->chunk_rtx, from, hi),
					    hi);
	return from;
}

/* And the end of the run that begins there. */
static uint32_t seg_new_end(const struct sdr_seg_tx *s, uint32_t from, uint32_t hi)
{
	hi = sdr_bitmap_next_one(s->acked, from, hi);
	return s->parity ? sdr_bitmap_next_zero(s->chunk_rtx, from, hi) : hi;
}

/* IP bytes of all packets of a segment but the last, which may be shorter. */
static uint32_t seg_pkt_bytes(const struct sdr_conn *c, const struct sdr_seg_tx *s)
{
	return sdr_conn_mtu_data(c, s->len < s->shape->mtu ? s->len : s->shape->mtu);
}

/* n more of its packets have arrived, all below hi: a path that carries them is no black hole. */
static void seg_passed(struct sdr_conn *c, const struct sdr_seg_tx *s, struct sdr_path *p,
		       uint32_t n, uint32_t hi)
{
	if (n > 1 || hi < s->npkts || s->len % s->shape->mtu == 0)
		sdr_conn_mtu_passed(c, p, seg_pkt_bytes(c, s), 0);
}

/*
 * A hole that filled by itself: sent once, behind a packet of its path that overtook it.  top:
 * highest packet delivered, on whichever path.
 */
static bool seg_overtaken(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt)
{
	const struct sdr_txent *e;

	if (pkt >= s->top || s->run_ntx[pkt / s->shape->run_pkts] != 1)
		return false;
	if (c->npaths == 1)
		return true;
	e = pkt_entry(c, s, pkt);
	return e && sdr_seq_lt(e->seq, s->rack_seq[e->path]);
}

/* What a report tells of each path: bit n of paths, path n. */
struct told {
	struct sdr_acks *acks;
	uint32_t news, late; /* paths by which something new came; what had been declared lost */
	uint32_t top[SDR_PATHS_MAX]; /* news: the highest packet of those */
};

/*
 * [a, b) are newly delivered, and were sent by one path; those of them that had been declared lost
 * are not under way.
 */
static void seg_landed(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t a, uint32_t b,
		       struct told *t)
{
	uint32_t n = b - a, late = 0, path = s->on[a];
	struct sdr_cc_ack *ca = &t->acks->v[path];

	sdr_conn_answered(c, sdr_conn_path(c, path));
	if (s->nlost)
		late = sdr_bitmap_clear_range(s->lost, a, b);
	s->nlost -= late;
	sdr_seg_tx_land(s, path, n - late);
	ca->bytes += (uint64_t)n * s->shape->mtu;
	ca->late += (uint64_t)late * s->shape->mtu;
	t->late |= (uint32_t)(late > 0) << path;
	if (!(t->news & 1u << path) || t->top[path] < b - 1)
		t->top[path] = b - 1;
	t->news |= 1u << path;
}

/* The end of the packets from a on that went the same way. */
static uint32_t seg_same_path(const struct sdr_conn *c, const struct sdr_seg_tx *s, uint32_t a,
			      uint32_t b)
{
	uint32_t e = a + 1;

	if (c->npaths == 1)
		return b;
	while (e < b && s->on[e] == s->on[a])
		e++;
	return e;
}

/* Marks [lo, hi) delivered; returns packets that are new. */
static uint32_t seg_delivered(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t lo, uint32_t hi,
			      struct told *t)
{
	uint32_t n = 0, unsent = 0;

	t->late = 0;
	sdr_rel_steps(c->rel, 1 + (lo < hi ? (hi - lo) / 64 : 0));
	while (lo < hi) {
		uint32_t a = seg_new_first(s, lo, hi), b;

		if (a == hi)
			break;
		b = seg_same_path(c, s, a, seg_new_end(s, a, hi));
		sdr_rel_step(c->rel);
		n += sdr_bitmap_set_range(s->acked, a, b);
		s->nacked += b - a;
		if (seg_overtaken(c, s, a))
			sdr_rack_reordered(&sdr_conn_path(c, s->on[a])->rack, c->rel->now);
		if (s->nagain)
			unsent += sdr_bitmap_clear_range(s->again, a, b);
		if (c->pmtu.hole.lost || s->on[a])
			seg_passed(c, s, sdr_conn_path(c, s->on[a]), b - a, b);
		seg_landed(c, s, a, b, t);
		lo = b;
	}
	s->nagain -= unsent;
	if (!s->nagain)
		sdr_list_del(&s->lost_link);
	SDR_ASSERT(sdr_seg_tx_counts(s));
	for (uint32_t i = 0; t->late >> i; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (t->late >> i & 1)
			sdr_rack_spurious(&p->rack, &p->rtt, c->rel->now);
	}
	if (n && s->grp)
		sdr_group_tx_touch(s);
	return n;
}

/* Packets that were sent again and are on their way: that they were lost has been counted. */
static uint32_t seg_on_the_way_again(const struct sdr_seg_tx *s)
{
	uint32_t n = 0, p = 0;

	if (!s->rtx)
		return 0;
	while ((p = sdr_bitmap_next_zero(s->acked, p, s->npkts)) < s->npkts) {
		n += !sdr_bitmap_test(s->lost, p) &&
		     sdr_bitmap_test(s->chunk_rtx, p / s->shape->chunk_pkts);
		p++;
	}
	return n;
}

/*
 * Packets in flight that something sent later by their path has passed; most at most.  With parity
 * by a faster path a decoder has no need to wait for what is on its way by another: that is not
 * lost.
 */
static uint32_t seg_passed_over(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t most)
{
	uint32_t n = 0, p = 0;

	while (n < most && (p = sdr_bitmap_next_zero(s->acked, p, s->high)) < s->high) {
		const struct sdr_txent *e = pkt_entry(c, s, p);

		n += e && !sdr_bitmap_test(s->lost, p) && ent_decidable(c, e);
		p++;
	}
	return n;
}

/*
 * A coded segment is complete.  What came out of parity was lost, whether we knew it or not, on
 * each path in proportion to what was in flight there; it says nothing about the order of arrival.
 * Returns the packets that are new.
 */
static uint32_t seg_decoded(struct sdr_conn *c, struct sdr_seg_tx *s,
			    const struct sdr_frame_dack *f, struct sdr_acks *as)
{
	bool dec = f->flags & SDR_DACK_DECODED;
	uint32_t pkts = dec && f->dec_pkts < s->npkts ? f->dec_pkts : dec ? s->npkts : 0;
	uint32_t known = s->nlost + seg_on_the_way_again(s);
	uint32_t unknown = pkts > known ? pkts - known : 0, left, fly = s->inflight;

	if (unknown > s->inflight)
		unknown = s->inflight;
	if (unknown && c->npaths > 1)
		unknown = seg_passed_over(c, s, unknown);
	left = unknown;
	s->dec_chunks = dec ? f->dec_chunks : 0;
	for (uint32_t i = 0; i < c->npaths && fly; i++) {
		uint32_t n = (uint32_t)((uint64_t)left * s->flying[i] / fly);
		struct sdr_cc_ack *ca = &as->v[i];

		ca->lost += (uint64_t)n * s->shape->mtu;
		ca->repaired += (uint64_t)n * s->shape->mtu;
		ca->bytes += (uint64_t)(s->flying[i] - n) * s->shape->mtu;
		sdr_conn_path(c, i)->rack.lossy |= n > 0;
		if (s->flying[i] > n)
			sdr_conn_answered(c, sdr_conn_path(c, i));
		left -= n;
		fly -= s->flying[i];
	}
	SDR_ASSERT(!left);
	c->est.lost += unknown;
	s->unknown = unknown;
	return s->inflight - unknown;
}

static void seg_newest(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt, uint64_t delay_ns,
		       bool rtt, struct sdr_acks *as)
{
	struct sdr_txent *e = pkt_entry(c, s, pkt);
	uint64_t now = c->rel->now;
	struct sdr_cc_ack *ca;
	struct sdr_path *p;

	if (!e || now < e->tx_ns)
		return;
	p = sdr_conn_path(c, e->path);
	ca = &as->v[e->path];
	if (s->run_ntx[pkt / s->shape->run_pkts] > 1) {
		/*
		 * Which transmission arrived?  Not the latest if it is younger than any round trip.
		 */
		if (now - e->tx_ns < sdr_rtt_min(&p->rtt))
			return;
	} else if (rtt && now > e->tx_ns && !c->rtt_mute) {
		sdr_rtt_sample(&p->rtt, now, now - e->tx_ns, delay_ns);
		ca->rtt = p->rtt.latest;
		if (pkt + 1 < s->npkts || s->len % s->shape->mtu == 0)
			ca->rtt_full = p->rtt.latest;
	}
	if (!ca->snap || ca->snap_tx_ns <= e->tx_ns) {
		ca->snap = &e->snap;
		ca->snap_tx_ns = e->tx_ns;
		ca->delay = delay_ns;
	}
	sdr_rack_delivered(&p->rack, e->seq, e->tx_ns);
	if (sdr_seq_lt(s->rack_seq[e->path], e->seq))
		s->rack_seq[e->path] = e->seq;
}

/* The packet that came last gives the round trip; it and the topmost of each path give order. */
static void seg_order(struct sdr_conn *c, struct sdr_seg_tx *s, const struct sdr_frame_dack *f,
		      uint32_t top, const struct told *t)
{
	uint64_t delay = f->echo_delay_us * 1000ull;

	if (f->echo < s->npkts)
		seg_newest(c, s, f->echo, delay, true, t->acks);
	if (c->npaths == 1) {
		seg_newest(c, s, top, delay, false, t->acks);
		return;
	}
	for (uint32_t i = 0; i < c->npaths; i++)
		if (t->news >> i & 1)
			seg_newest(c, s, t->top[i], delay, false, t->acks);
}

/* n of its packets came twice, the last of them by that path. */
static void seg_twice(struct sdr_conn *c, const struct sdr_seg_tx *s, uint32_t path, uint32_t n,
		      struct sdr_acks *as)
{
	struct sdr_path *p = sdr_conn_path(c, path);

	as->v[path].late += (uint64_t)n * s->shape->mtu;
	sdr_rack_spurious(&p->rack, &p->rtt, c->rel->now);
}

void sdr_bulk_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as)
{
	struct told t = { .acks = as };
	uint64_t before = as->v[0].bytes;
	struct sdr_seg_tx *s = sdr_seg_tx_by_msn(c, f->msn);
	struct sdr_dack_iter it = { 0, f->base };
	uint32_t at, first, n, news = 0, top = 0;
	bool complete = false;
	int ret;

	c->st.ack_rx++;
	if (f->flags & SDR_DACK_GAP)
		c->st.nack_rx++;
	if (!s)
		return;
	/* Parity is reported complete only with what it protects. */
	if (s->parity && (f->flags & SDR_DACK_COMPLETE))
		s = s->grp->data;
	/* Nothing beyond what was sent can have arrived. */
	if (f->end > s->high || f->cum > s->high ||
	    ((f->flags & SDR_DACK_COMPLETE) && s->next != s->npkts)) {
		c->st.pkts_bad++;
		return;
	}
	if (f->flags & SDR_DACK_COMPLETE) {
		complete = true;
		news = s->grp ? seg_decoded(c, s, f, as) : seg_delivered(c, s, 0, s->npkts, &t);
		top = s->npkts - 1;
	} else {
		news = seg_delivered(c, s, 0, f->cum, &t);
		top = f->cum ? f->cum - 1 : 0;
		at = f->base;
		while ((ret = sdr_frame_dack_next(f, &it, &first, &n)) > 0) {
			uint32_t k = seg_delivered(c, s, at, first, &t);

			news += k;
			if (first > at)
				top = first - 1;
			at = first + n;
		}
		if (ret < 0) {
			c->st.pkts_bad++;
			return;
		}
		if (at < f->end) {
			news += seg_delivered(c, s, at, f->end, &t);
			top = f->end - 1;
		}
	}
	/* Marks are asked for on the first path alone. */
	sdr_ecn_acked(&c->ecn.tx, (as->v[0].bytes - before) / s->shape->mtu);
	if (news || complete) {
		sdr_conn_came_closer(c);
		c->bulk->tx.barren = 0;
	}
	if (news) {
		if (top > s->top)
			s->top = top;
		sdr_conn_progressed(c);
		seg_order(c, s, f, top, &t);
	}
	if (f->dups > s->dups) {
		uint32_t d = f->dups - s->dups;

		s->dups = f->dups;
		/* Duplicates of what we sent twice were needless; others are the network's. */
		if (s->rtx) {
			d = d < s->rtx ? d : s->rtx;
			c->st.rtx_spurious += d;
			seg_twice(c, s, f->echo < s->npkts ? s->on[f->echo] : 0, d, as);
		}
	}
	/* Of parity there may always be more. */
	if (complete || (s->nacked == s->npkts && !s->parity))
		sdr_seg_tx_end(s);
}

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
			sdr_conn_mtu_lost(c, p, n, seg_pkt_bytes(c, s), e->tx_ns);
		if (s->grp)
			sdr_group_tx_touch(s);
	}
	tlog_settle(c, e);
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
		struct sdr_txent *e = tlog_at(c, pos);
		enum lost_why why;

		sdr_rel_step(c->rel);
		if (!e->seg)
			continue;
		if (ent_delivered(e)) {
			tlog_arrived(c, e);
		} else if (ent_is_lost(c, e, rto, nack, &why)) {
			ent_lost(c, e, why, as);
			lost = true;
			timeout |= why == WHY_RTO;
		} else if (!sdr_seq_lt(e->seq, newest) || (ent_decidable(c, e) && !open--)) {
			break;
		}
	}
	while (!sdr_ring_empty(log) && !tlog_at(c, log->head)->seg)
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
		struct sdr_txent *e = tlog_at(c, pos);

		sdr_rel_step(c->rel);
		if (e->seg && e->path == path && !ent_delivered(e))
			ent_lost(c, e, WHY_PATH, &as);
	}
	sdr_bulk_tlog_trim(c);
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
