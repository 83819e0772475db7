/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the sender learns of data coming in: the packet bitmaps of open segments, and which
 * segments are complete.
 *
 * When a report (DACK) is owed:
 *   at once        the segment is complete; a gap appeared that was not reported yet; the sender
 *                  asked (END); so many packets arrived since the last report: shape->dack_pkts,
 *                  at the head of a train on a far path fewer
 *   a little later srtt / 8 (SDR_REPORT_DELAY_MIN_NS..SDR_ACK_DELAY_MAX_NS) after the first
 *   unreported packet
 *   once more      as long after a report that the sender waits for (a segment is complete, END),
 *   where losses were seen or the sender expects them: it sends parity
 * The head of a train, what comes first after a pause, is reported in small parts: by the time
 * between them the sender finds out what the path passes (path/sdr_train.c).  When it has had
 * SDR_TRAIN_FIRST of them it knows, and every SDR_TRAIN_EVERY-th one shows what changes; besides,
 * it may ask for one.
 * A gap is reported when it is seen; whether it is loss or reordering is for the sender to decide,
 * which knows when it sent what.
 *
 * Completed messages are remembered by the message table's window, so that a lost last report can
 * be repeated.
 */
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_report.h"

#define COMP_RING_MIN 8u
#define COMP_RING_MAX (2u << SDR_IMM_ID_BITS_MAX)

/* the head of a train is reported in parts of this many bytes, but SDR_TRAIN_PKTS packets */
#define SDR_TRAIN_PART (16u * 1024)
#define SDR_TRAIN_PKTS 2u
/* after 128 and 512 KiB they are twice as long, and the head ends at 1.5 MiB */
#define SDR_TRAIN_HEAD_1 (128u * 1024)
#define SDR_TRAIN_HEAD_2 (512u * 1024)
#define SDR_TRAIN_HEAD_3 (1536u * 1024)
/* the first trains are reported so, and of those after them one in so many */
#define SDR_TRAIN_FIRST 16u
#define SDR_TRAIN_EVERY 4u
/* and what may have been asked for, so many round trips after the last one that was */
#define SDR_TRAIN_APART 4u
/* ns: a round trip shorter than that has no use for it */
#define SDR_TRAIN_FAR_NS 1000000u

/* ns: a round trip shorter than that (and what a short queue adds to it) is near; reports in ... */
#define SDR_NEAR_RTT_NS	 10000000u
#define SDR_NEAR_NS	 1000000u /* ... that time, of so many packets at least */
#define SDR_NEAR_REPORTS 8u
#define SDR_NEAR_PKTS	 2u

/* a receiver's own samples of the round trip: so many, then on a near path one in so long, ns */
#define SDR_ASK_FIRST	 4u
#define SDR_ASK_EVERY_NS (SDR_RTT_MIN_WINDOW_NS / 4)

static void comp_push(struct sdr_ring *r, const struct sdr_complete *e)
{
	static const struct sdr_ring_kind kind = { sizeof(*e), COMP_RING_MIN, COMP_RING_MAX, NULL };

	if (sdr_ring_room(r, &kind))
		return; /* the sender will ask again */
	*sdr_ring_spare(r, struct sdr_complete) = *e;
	sdr_ring_push(r);
}

static const struct sdr_complete *comp_next(const struct sdr_ring *r)
{
	return sdr_ring_empty(r) ? NULL : sdr_ring_at(r, struct sdr_complete, r->head);
}

/*
 * On a near path a window may be smaller than what is reported together, and its sender would wait
 * for the delay each time, which goes by a round trip that a receiver hardly ever measures.  So
 * there are about SDR_NEAR_REPORTS in a millisecond, however fast data come.
 */
static uint32_t near_pkts(struct sdr_conn *c, uint32_t came)
{
	uint64_t now = c->rel->now;
	uint32_t n;

	if (now >= c->bulk->rx.near_ns + SDR_NEAR_NS) {
		c->bulk->rx.near_last =
			now < c->bulk->rx.near_ns + 2 * SDR_NEAR_NS ? c->bulk->rx.near_came : 0;
		c->bulk->rx.near_came = 0;
		c->bulk->rx.near_ns = now;
	}
	c->bulk->rx.near_came += came;
	n = c->bulk->rx.near_last > c->bulk->rx.near_came ? c->bulk->rx.near_last
							  : c->bulk->rx.near_came;
	n /= SDR_NEAR_REPORTS;
	return n > SDR_NEAR_PKTS ? n : SDR_NEAR_PKTS;
}

/*
 * What is asked for in the middle of a flight comes behind three quarters of a round trip
 * (path/sdr_cc.c), sooner than an application's next message that waits for an answer.
 */
static void train_begins(struct sdr_conn *c, uint64_t pause)
{
	uint64_t srtt = c->main.rtt.srtt, next = c->bulk->rx.train_told_ns + SDR_TRAIN_APART * srtt;
	bool asked = pause < srtt && c->rel->now >= next;

	c->bulk->rx.train_bytes = 0;
	c->bulk->rx.trains++;
	c->bulk->rx.train_told = c->bulk->rx.trains <= SDR_TRAIN_FIRST ||
				 c->bulk->rx.trains % SDR_TRAIN_EVERY == 0 || asked;
	if (c->bulk->rx.train_told)
		c->bulk->rx.train_told_ns = c->rel->now;
}

uint32_t sdr_report_pkts(struct sdr_conn *c, const struct sdr_seg_rx *s, uint32_t came)
{
	const struct sdr_conn_shape *shape = s->bulk->shape;
	uint64_t part = SDR_TRAIN_PART, pkts, train, pause;

	pause = c->rel->now - c->bulk->rx.train_ns;
	if (pause > c->main.rtt.srtt / 2)
		train_begins(c, pause);
	c->bulk->rx.train_ns = c->rel->now;
	c->bulk->rx.train_bytes += (uint64_t)came * shape->mtu;
	train = c->bulk->rx.train_bytes;
	if (c->main.rtt.samples && sdr_rtt_min(&c->main.rtt) < SDR_NEAR_RTT_NS) {
		pkts = near_pkts(c, came);
		return pkts < shape->dack_pkts ? (uint32_t)pkts : shape->dack_pkts;
	}
	if (train >= SDR_TRAIN_HEAD_3 || c->main.rtt.srtt < SDR_TRAIN_FAR_NS ||
	    !c->bulk->rx.train_told)
		return shape->dack_pkts;
	part <<= (train >= SDR_TRAIN_HEAD_1) + (train >= SDR_TRAIN_HEAD_2);
	pkts = part / shape->mtu;
	if (pkts < SDR_TRAIN_PKTS)
		pkts = SDR_TRAIN_PKTS;
	return pkts < shape->dack_pkts ? (uint32_t)pkts : shape->dack_pkts;
}

void sdr_report_complete(struct sdr_conn *c, const struct sdr_complete *e)
{
	comp_push(&c->bulk->rx.comp[0], e);
}

bool sdr_report_waits(const struct sdr_conn *c, uint32_t msn)
{
	struct sdr_ring *r = &c->bulk->rx.comp[0];
	uint32_t most = r->tail - r->head;

	if (most > COMP_RING_MIN)
		most = COMP_RING_MIN;
	for (uint32_t i = 1; i <= most; i++)
		if (sdr_ring_at(r, struct sdr_complete, r->tail - i)->msn == msn)
			return true;
	return false;
}

void sdr_report_owed(struct sdr_conn *c, struct sdr_seg_rx *s)
{
	uint64_t due = c->rel->now + sdr_conn_report_delay(c);

	if (!sdr_list_empty(&s->dirty))
		return;
	if (sdr_list_empty(&c->bulk->rx.dirty) || due < c->bulk->rx.report_at)
		c->bulk->rx.report_at = due;
	sdr_list_add_tail(&s->dirty, &c->bulk->rx.dirty);
}

void sdr_report_now(struct sdr_conn *c, struct sdr_seg_rx *s)
{
	sdr_report_owed(c, s);
	c->bulk->rx.report_at = 0;
}

void sdr_report_again(struct sdr_conn *c)
{
	struct sdr_ring *again = &c->bulk->rx.comp[1];
	struct sdr_list *l;

	/*
	 * An acknowledged END behind which nothing was reported says that all of it is lost: the
	 * second reports may not come after the second acknowledgement.
	 */
	for (uint32_t i = again->head; i != again->tail; i++) {
		sdr_rel_step(c->rel);
		sdr_ring_at(again, struct sdr_complete, i)->at = 0;
	}
	while ((l = sdr_list_pop(&c->bulk->rx.asked))) {
		sdr_rel_step(c->rel);
		sdr_report_now(c, sdr_container(l, struct sdr_seg_rx, asked));
	}
}

bool sdr_report_due(const struct sdr_conn *c)
{
	uint64_t now = c->rel->now;
	const struct sdr_complete *again = comp_next(&c->bulk->rx.comp[1]);

	return comp_next(&c->bulk->rx.comp[0]) || (again && again->at <= now) ||
	       /* in a lull: not later than the round that is sure to come */
	       (c->bulk->rx.report_at <= now + c->rel->lull.span &&
		!sdr_list_empty(&c->bulk->rx.dirty));
}

uint64_t sdr_report_deadline(const struct sdr_conn *c)
{
	const struct sdr_complete *again = comp_next(&c->bulk->rx.comp[1]);
	uint64_t d = again ? again->at : UINT64_MAX;

	return c->bulk->rx.report_at < d && !sdr_list_empty(&c->bulk->rx.dirty)
		       ? c->bulk->rx.report_at
		       : d;
}

/*
 * The report that a message is complete is the one whose loss costs the sender a timeout: where
 * losses are to be expected, it travels twice.
 */
static size_t put_complete(struct sdr_conn *c, int again, uint8_t *p, size_t room, bool *more)
{
	struct sdr_ring *r = &c->bulk->rx.comp[again];
	const struct sdr_complete *e;
	uint32_t last = 0, left = r->tail - r->head;
	size_t n = 0;

	/*
	 * One that was asked for several times goes in as many packets.  Those behind it go now:
	 * the acknowledgement that goes along may be that of their ENDs, too.
	 */
	while (left-- && (e = comp_next(r)) && e->at <= c->rel->now) {
		struct sdr_frame_dack f = {
			.flags =
				(uint8_t)(SDR_DACK_COMPLETE | (e->dec_pkts ? SDR_DACK_DECODED : 0)),
			.msn = e->msn,
			.echo = e->echo,
			.dec_pkts = e->dec_pkts,
			.dec_chunks = e->dec_chunks,
			.echo_delay_us = sdr_us_since(c->rel->now, e->last_ns),
		};
		struct sdr_complete once = *e;
		size_t k;

		sdr_rel_step(c->rel);
		if (n && once.msn == last) {
			sdr_ring_pop(r);
			comp_push(r, &once);
			continue;
		}
		k = sdr_frame_dack_encode(p + n, room - n, &f, NULL, 0);
		if (!k) {
			*more = true;
			break;
		}
		n += k;
		last = e->msn;
		sdr_ring_pop(r);
		c->st.ack_tx++;
		if (!again && once.twice) {
			once.at = c->rel->now + sdr_conn_report_delay(c);
			comp_push(&c->bulk->rx.comp[1], &once);
		}
	}
	return n;
}

/*
 * Who only receives learns the round trip by asking; till then its reports are late.  The answer
 * may wait behind the sender's data, so it is asked again when a message is complete: then the
 * sender may have nothing under way.
 */
static void report_ask(struct sdr_conn *c)
{
	uint64_t wait = c->main.rtt.samples < SDR_ASK_FIRST ? c->main.rtt.srtt : SDR_ASK_EVERY_NS;

	if (c->tx.log.head != c->tx.log.tail)
		return;
	if (!c->main.rtt.samples && sdr_list_empty(&c->bulk->rx.dirty))
		return;
	if (c->main.rtt.samples &&
	    (!comp_next(&c->bulk->rx.comp[0]) || c->rel->now < c->bulk->rx.asked_ns + wait))
		return;
	if (c->main.rtt.samples >= SDR_ASK_FIRST && sdr_rtt_min(&c->main.rtt) >= SDR_NEAR_RTT_NS)
		return;
	c->bulk->rx.asked_ns = c->rel->now;
	c->tx.ping_due = true;
}

size_t sdr_report_write(struct sdr_conn *c, uint8_t *p, size_t room, bool *more)
{
	struct sdr_list *l, *tmp, rest;
	size_t n;

	sdr_list_init(&rest);
	*more = false;
	report_ask(c);
	n = put_complete(c, 0, p, room, more);
	n += put_complete(c, 1, p + n, room - n, more);
	sdr_list_each_safe(l, tmp, &c->bulk->rx.dirty) {
		struct sdr_seg_rx *s = sdr_container(l, struct sdr_seg_rx, dirty);
		const struct sdr_rcv_state *st = sdr_recv_state(s->h);
		struct sdr_frame_dack f = {
			.flags = s->gap ? SDR_DACK_GAP : 0,
			.msn = s->msn,
			.cum = st->cum,
			.base = s->base > st->cum ? s->base : st->cum,
			.echo = st->got ? st->last : ~0u,
			.echo_delay_us = sdr_us_since(c->rel->now, st->last_ns),
			.dups = st->dups,
		};
		size_t k;

		/*
		 * A report starts with a missing packet (or at the top, when nothing is missing).
		 */
		while (f.base > st->cum && f.base < st->high &&
		       sdr_bitmap_test(st->pkt_bits, f.base)) {
			sdr_rel_step(c->rel);
			f.base--;
		}
		k = sdr_frame_dack_encode(p + n, room - n, &f, st->pkt_bits, st->high);
		if (!k) {
			*more = true;
			break;
		}
		SDR_ASSERT(k <= room - n && f.base <= f.end && f.end <= st->high);
		sdr_rel_steps(c->rel, 1 + (f.end - f.base) / 64);
		n += k;
		c->st.ack_tx++;
		c->st.nack_tx += s->gap && st->high > st->got;
		if (f.end < st->high) { /* the bitmap goes on in the next packet */
			s->base = f.end;
			*more = true;
			break;
		}
		s->base = 0;
		s->rep_got = st->got;
		s->rep_holes = st->high - st->got;
		s->gap = false;
		sdr_list_del(&s->dirty);
		s->asks -= s->asks > 0;
		if (s->asks)
			sdr_list_add_tail(&s->dirty, &rest);
	}
	SDR_ASSERT(n <= room && (*more || sdr_list_empty(&c->bulk->rx.dirty)));
	/* Those that were asked for more than once: in the next packet. */
	while ((l = sdr_list_pop(&rest)))
		sdr_report_now(c, sdr_container(l, struct sdr_seg_rx, dirty));
	if (*more)
		c->bulk->rx.report_at = 0;
	return n;
}
