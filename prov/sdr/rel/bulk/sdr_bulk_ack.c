/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the receiver says about bulk data: which packets are delivered.
 *
 * A DACK gives the state of a message's packet bitmap at the receiver.  Newly delivered packets
 * leave the window; the newest transmission among them moves the RACK point of its path, which is
 * what losses are judged by (sdr_bulk_loss.c).  A packet that is delivered although its bit says
 * lost loses the bit.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_conn_ecn.h"
#include "rel/conn/sdr_conn_mtu.h"
#include "rel/conn/sdr_home.h"
#include "rel/conn/sdr_probe.h"
#include "sdr_bulk_ack.h"
#include "sdr_code_tx.h"
#include "sdr_seg_tx.h"
#include "sdr_tlog.h"

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

/* n more of its packets have arrived, all below hi: a path that carries them is no black hole. */
static void seg_passed(struct sdr_conn *c, const struct sdr_seg_tx *s, struct sdr_path *p,
		       uint32_t n, uint32_t hi)
{
	if (n > 1 || hi < s->npkts || s->len % s->shape->mtu == 0)
		sdr_conn_mtu_passed(p, sdr_seg_tx_pkt_bytes(c, p, s), 0);
}

/*
 * Is pkt a hole that filled by itself: sent once, behind a packet of its path that overtook it?
 * Then its path reorders.  s->top: highest packet delivered, on whichever path.
 */
static void seg_overtaken(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt, uint64_t delay)
{
	const struct sdr_txent *e;
	struct sdr_rack *r;

	if (pkt >= s->top || s->run_ntx[pkt / s->shape->run_pkts] != 1)
		return;
	e = sdr_tlog_find(c, s, pkt);
	if (!e || (c->npaths > 1 && !sdr_seq_lt(e->seq, s->rack_seq[e->path])))
		return;
	r = &sdr_conn_path(c, e->path)->rack;
	sdr_rack_reordered(r, c->rel->now);
	sdr_rack_overtaken(r, e->tx_ns, c->rel->now, delay);
}

/* What a report tells of each path: bit n of paths, path n. */
struct told {
	struct sdr_acks *acks;
	uint64_t delay;	     /* ns: that the peer waited */
	uint64_t waited;     /* ns: that its report waited here */
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
		seg_overtaken(c, s, a, t->delay + t->waited);
		if (s->nagain)
			unsent += sdr_bitmap_clear_range(s->again, a, b);
		if (c->main.pmtu.hole.lost || s->on[a])
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
		const struct sdr_txent *e = sdr_tlog_find(c, s, p);

		n += e && !sdr_bitmap_test(s->lost, p) && sdr_txent_passed(c, e);
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

/* Packet pkt has arrived, and was the newest of its path; rtt: the report left because of it. */
static void seg_newest(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt, bool rtt,
		       const struct told *t)
{
	struct sdr_txent *e = sdr_tlog_find(c, s, pkt);
	uint64_t now = c->rel->now, heard = now - t->waited, delay = t->delay + t->waited;
	struct sdr_cc_ack *ca;
	struct sdr_path *p;

	if (!e || heard < e->tx_ns)
		return;
	p = sdr_conn_path(c, e->path);
	ca = &t->acks->v[e->path];
	if (s->run_ntx[pkt / s->shape->run_pkts] > 1) {
		/*
		 * Which transmission arrived?  Not the latest if it is younger than any round trip.
		 */
		if (heard - e->tx_ns < sdr_rtt_min(&p->rtt))
			return;
	} else if (rtt && heard > e->tx_ns && !c->rtt_mute) {
		sdr_rtt_sample(&p->rtt, now, heard - e->tx_ns, t->delay,
			       sdr_conn_repeats(c, t->delay));
		ca->rtt = p->rtt.latest;
		if (pkt + 1 < s->npkts || s->len % s->shape->mtu == 0)
			ca->rtt_full = p->rtt.latest;
	}
	if (!ca->snap || ca->snap_tx_ns <= e->tx_ns) {
		ca->snap = &e->snap;
		ca->snap_tx_ns = e->tx_ns;
		ca->delay = delay;
	}
	sdr_rack_delivered(&p->rack, e->seq, e->tx_ns, now, delay);
	if (sdr_seq_lt(s->rack_seq[e->path], e->seq))
		s->rack_seq[e->path] = e->seq;
}

/* The packet that came last gives the round trip; it and the topmost of each path give order. */
static void seg_order(struct sdr_conn *c, struct sdr_seg_tx *s, const struct sdr_frame_dack *f,
		      uint32_t top, const struct told *t)
{
	if (f->echo < s->npkts)
		seg_newest(c, s, f->echo, true, t);
	if (c->npaths == 1) {
		seg_newest(c, s, top, false, t);
		return;
	}
	for (uint32_t i = 0; i < c->npaths; i++)
		if (t->news >> i & 1)
			seg_newest(c, s, t->top[i], false, t);
}

/* n of its packets came twice, the last of them by that path. */
static void seg_twice(struct sdr_conn *c, const struct sdr_seg_tx *s, uint32_t path, uint32_t n,
		      struct sdr_acks *as)
{
	struct sdr_path *p = sdr_conn_path(c, path);

	as->v[path].late += (uint64_t)n * s->shape->mtu;
	sdr_rack_spurious(&p->rack, &p->rtt, c->rel->now);
}

/*
 * Each path hears how many of its packets this report has delivered.  Of several paths nobody knows
 * by which those did not come that were made out of parity.
 */
static void seg_ecn(struct sdr_conn *c, const struct sdr_frame_dack *f, uint32_t mtu,
		    const uint64_t *before, const struct sdr_acks *as)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_ecn *e = &sdr_conn_path(c, i)->ecn;
		uint64_t n = (as->v[i].bytes - before[i]) / mtu;

		sdr_ecn_acked(e, n);
		if (c->npaths > 1)
			sdr_ecn_excuse(e, n < f->dec_pkts ? n : f->dec_pkts);
	}
}

void sdr_bulk_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as)
{
	struct told t = { .acks = as,
			  .delay = f->echo_delay_us * 1000ull,
			  .waited = sdr_rel_late(c->rel) };
	uint64_t before[SDR_PATHS_MAX];
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
	for (uint32_t i = 0; i < c->npaths; i++)
		before[i] = as->v[i].bytes;
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
	seg_ecn(c, f, s->shape->mtu, before, as);
	if (news || complete) {
		sdr_conn_came_closer(c);
		c->bulk->tx.barren = 0;
	}
	if (news) {
		if (top > s->top)
			s->top = top;
		sdr_probe_answered(c);
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
