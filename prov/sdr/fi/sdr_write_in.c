/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of peers into regions, on a datagram endpoint: unreliable, told by bitmaps.
 *
 * WRITE names key, address and length: all of it is checked against the region and its rights, then
 * the slot of its number is bound there, and its packets land in place.  What comes before it, or
 * when it is lost, lands nowhere.  A write is over, and its slot unbound, which is the last that is
 * written to the region by it, when
 *
 *   all of its packets are there;
 *   its sender has sent all (SENT, or a later write of the same link, which leaves behind it), if
 *	nobody asked to be told of writes;
 *   the application ends it, its region is closed, or its link goes;
 *   a write SDR_LINK_WINDOW numbers later needs its place.
 *
 * Who asked to be told (sdr_writes_notify) is told of each write that was bound, at the end exactly
 * once, with FI_SDR_OVER; a write that is over lives on for that, until the queue has room.  Who
 * did not is told of whole ones, by what libfabric has for that: counters, and remote CQ data.
 *
 * A number is used once: what comes again is counted and dropped, also after it was skipped.  One
 * whose WRITE never came is counted as lost when its place is needed.  Bounded: links, writes of a
 * link, of all, bytes of their bitmaps, and the numbers that a link may jump.
 */
#include <errno.h>
#include <string.h>

#include <rdma/fi_ext_sdr.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rel/sdr_rel.h"

#include "sdr_write_in.h"
#include "sdr_av_table.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_link.h"
#include "sdr_notes.h"
#include "sdr_region.h"

/* ---- its end --------------------------------------------------------------------------------- */

static void sdr_write_free(struct sdr_links *s, struct sdr_write *w)
{
	sdr_list_del(&w->list);
	sdr_htab_del(&s->ids, &w->by_id);
	sdr_slab_free(&s->writes, w);
}

static void sdr_write_told(struct sdr_ep *ep, struct sdr_note *n)
{
	sdr_write_free(ep->links, sdr_container(n, struct sdr_write, note));
}

/* A write of which all bytes are in place is what libfabric knows as one. */
static void sdr_write_count(struct sdr_ep *ep, uint64_t key, uint64_t how)
{
	if (!(how & FI_SDR_TELL_CNTR) && ep->cntr[SDR_CNTR_REMOTE_WRITE])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_REMOTE_WRITE], false);
	sdr_regions_event(ep->dom, key, false, true);
	ep->links->st_whole++;
}

void sdr_write_over(struct sdr_write *w, bool quiet)
{
	struct sdr_ep *ep = w->link->ep;
	struct sdr_links *s = ep->links;
	const struct sdr_rcv_state *st = sdr_recv_state(w->h);
	bool whole = st->got == st->npkts, told = true;
	uint64_t flags = FI_SDR_OVER | (whole ? FI_SDR_WHOLE : 0);
	struct sdr_cqe e = { .flags = FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA,
			     .len = w->len,
			     .buf = w->va,
			     .data = w->data,
			     .src = w->src };

	if (w->has_data && whole)
		flags |= FI_REMOTE_CQ_DATA;
	if (whole)
		sdr_write_count(ep, w->key, w->note.how);
	else
		s->st_part++;
	if (quiet)
		sdr_note_end(&w->note);
	else if (w->note.how)
		told = sdr_note_over(ep, &w->note, flags);
	else if (whole && w->has_data && ep->rx_cq)
		sdr_cq_push(ep->rx_cq, &e);
	sdr_recv_complete(w->h);
	s->bits -= w->charge;
	w->h = NULL;
	w->link = NULL;
	w->region = NULL;
	sdr_list_del(&w->list);
	if (told) {
		sdr_note_end(&w->note);
		sdr_write_free(s, w);
	} else {
		sdr_list_add_tail(&w->list, &s->told);
	}
}

static void sdr_writes_gone(struct sdr_link *l)
{
	while (!sdr_list_empty(&l->ops))
		sdr_write_over(sdr_write_by(l->ops.next), false);
}

static void sdr_writes_revoke(struct sdr_ep *ep, const struct sdr_region *region)
{
	struct sdr_list *e, *f, *next;

	sdr_list_each(e, &ep->links->in) {
		struct sdr_link *l = sdr_container(e, struct sdr_link, all);

		sdr_list_each_safe(f, next, &l->ops) {
			if (sdr_write_by(f)->region == region)
				sdr_write_over(sdr_write_by(f), false);
		}
	}
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The SDK's call after a round in which packets of it were placed. */
static void sdr_write_received(void *link, struct sdr_rcv_handle *h)
{
	const struct sdr_rcv_state *st = sdr_recv_state(h);
	struct sdr_write *w = st->user;
	struct sdr_link *l = link;

	SDR_ASSERT(w->link == l && w->h == h);
	if (st->got == st->npkts)
		sdr_write_over(w, false);
	else if (w->note.how)
		sdr_note_look(l->ep, &w->note);
}

/* Its sender has nothing more to send. */
static void sdr_write_sent(struct sdr_write *w)
{
	const struct sdr_rcv_state *st = sdr_recv_state(w->h);

	if (w->sent)
		return;
	w->sent = true;
	w->note.flags |= FI_SDR_SENT;
	/* its last packets may have come in this round */
	if (!w->note.how || st->got == st->npkts)
		sdr_write_over(w, false);
	else
		sdr_note_say(w->link->ep, &w->note);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* All below lo are decided: those that never came are lost, those that are bound are over. */
static void sdr_write_window(struct sdr_link *l, uint32_t lo)
{
	uint32_t base = sdr_qp_recv_base(l->qp), n = lo - base, i;
	struct sdr_links *s = l->ep->links;
	struct sdr_list *e, *next;

	sdr_list_each_safe(e, next, &l->ops) {
		if ((int32_t)(sdr_write_by(e)->msn - lo) < 0)
			sdr_write_over(sdr_write_by(e), false);
	}
	for (i = 0; i < n && i < SDR_LINK_WINDOW; i++)
		s->st_lost += !sdr_recv_is_done(l->qp, base + i);
	s->st_lost += n - i;
	for (i = 0; base != lo && i <= n / SDR_LINK_WINDOW + 1; i++)
		base = sdr_recv_skip_range(l->qp, base, lo);
	SDR_ASSERT(base == lo);
}

/* 1: a number for a write.  0: it came before, or the link is out of step and gone. */
static int sdr_write_number(struct sdr_link *l, uint32_t msn)
{
	struct sdr_links *s = l->ep->links;
	uint32_t ahead = msn - sdr_qp_recv_base(l->qp);
	struct sdr_list *e, *next;

	if ((int32_t)ahead < 0 || (ahead < SDR_LINK_WINDOW &&
				   (sdr_recv_is_done(l->qp, msn) || sdr_recv_find(l->qp, msn)))) {
		s->st_twice++;
		return 0;
	}
	if (ahead >= SDR_WRITE_JUMP_MAX) {
		sdr_link_drop(l); /* the next datagram of it is answered with GONE */
		return 0;
	}
	if (ahead >= SDR_LINK_WINDOW)
		sdr_write_window(l, msn - SDR_LINK_WINDOW + 1);
	/* what comes behind a write says that all of that was sent */
	sdr_list_each_safe(e, next, &l->ops) {
		if ((int32_t)(sdr_write_by(e)->msn - msn) < 0)
			sdr_write_sent(sdr_write_by(e));
	}
	if ((int32_t)(msn + 1 - l->msn) > 0)
		l->msn = msn + 1;
	return 1;
}

/* ---- its beginning --------------------------------------------------------------------------- */

static int sdr_write_bind(struct sdr_link *l, const struct sdr_dgram_write *m, uint8_t *va,
			  struct sdr_region *region, fi_addr_t src)
{
	struct sdr_links *s = l->ep->links;
	uint64_t charge = (m->len / l->mtu + 1) / 8 * 2 + sizeof(struct sdr_write);
	struct sdr_rcv_wr wr = { .addr = va, .length = m->len };
	struct sdr_write *w;

	if (m->len > sdr_qp_max_msg(l->qp) || s->bits + charge > SDR_WRITES_BITS_MAX)
		return -ENOMEM;
	w = sdr_slab_alloc(&s->writes);
	if (!w)
		return -ENOMEM;
	w->id = ++s->made;
	if (sdr_htab_add(&s->ids, &w->by_id, sdr_mix64(w->id))) {
		sdr_slab_free(&s->writes, w);
		return -ENOMEM;
	}
	sdr_list_init(&w->list);
	if (sdr_recv_post_at(l->qp, m->msn, &wr, w, &w->h)) {
		sdr_write_free(s, w);
		return -ENOMEM;
	}
	w->link = l;
	w->region = region;
	w->key = m->key;
	w->data = m->data;
	w->has_data = m->flags & SDR_DGRAM_F_DATA;
	w->va = va;
	w->len = m->len;
	w->msn = m->msn;
	w->src = src;
	w->charge = charge;
	s->bits += charge;
	sdr_list_add_tail(&w->list, &l->ops);
	w->note = (struct sdr_note){ .st = sdr_recv_state(w->h),
				     .buf = va,
				     .mtu = l->mtu,
				     .cntr = SDR_CNTR_REMOTE_WRITE,
				     .flags = FI_REMOTE_WRITE | FI_RMA,
				     .tag = w->id,
				     .cq_data = m->data,
				     .src = src,
				     .told = sdr_write_told };
	if (s->how)
		sdr_note_set(l->ep, &w->note,
			     &(struct fi_sdr_notify){ sizeof(struct fi_sdr_notify), s->how,
						      s->context });
	return 0;
}

/* One whose bytes came with it. */
static void sdr_write_all(struct sdr_link *l, const struct sdr_dgram_write *m, uint8_t *va,
			  fi_addr_t src)
{
	struct sdr_ep *ep = l->ep;
	struct sdr_links *s = ep->links;
	bool data = m->flags & SDR_DGRAM_F_DATA, tell = s->how & FI_SDR_TELL_CQ;
	struct sdr_cqe e = { .ctx = tell ? s->context : NULL,
			     .flags = FI_REMOTE_WRITE | FI_RMA | (data ? FI_REMOTE_CQ_DATA : 0),
			     .len = m->len,
			     .buf = va,
			     .data = data ? m->data : 1,
			     .src = src };

	if (m->len)
		memcpy(va, m->bytes, m->len);
	if ((s->how & FI_SDR_TELL_CNTR) && ep->cntr[SDR_CNTR_REMOTE_WRITE])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_REMOTE_WRITE], false);
	sdr_write_count(ep, m->key, s->how);
	if (tell) {
		e.flags |= FI_SDR_BITMAP | FI_SDR_WHOLE | FI_SDR_SENT | FI_SDR_OVER;
		e.tag = ++s->made;
	}
	if (ep->rx_cq && (tell || data))
		sdr_cq_push(ep->rx_cq, &e);
}

static void sdr_write_begins(struct sdr_link *l, const struct sdr_dgram_write *m, bool all)
{
	struct sdr_ep *ep = l->ep;
	struct sdr_links *s = ep->links;
	void *va = NULL, *region = NULL;
	fi_addr_t src = FI_ADDR_NOTAVAIL;

	if (!sdr_write_number(l, m->msn))
		return;
	s->st_in++;
	if (ep->want_src && ep->av)
		src = sdr_av_user_id(ep->av, sdr_av_find(ep->av, &l->addr));
	/* there is no entry for a whole write in line: a queue without room takes none */
	if ((all && (s->how & FI_SDR_TELL_CQ) && sdr_cq_full(ep->rx_cq)) ||
	    sdr_regions_get(ep->dom, m->key, m->addr, m->len, SDR_REL_ACCESS_WRITE, &va, &region) ||
	    (!all && sdr_write_bind(l, m, va, region, src))) {
		s->st_refused++;
		sdr_recv_skip(l->qp, m->msn);
		return;
	}
	if (all) {
		sdr_recv_skip(l->qp, m->msn);
		sdr_write_all(l, m, va, src);
	}
}

void sdr_write_input(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len)
{
	bool all = type == SDR_DGRAM_WRITE_ALL;
	struct sdr_rcv_handle *h;
	struct sdr_dgram_write m;
	struct sdr_dgram_to to;
	struct sdr_link *l;
	uint32_t msn;

	if (sdr_dgram_to_decode(p, len, &to) ||
	    (type == SDR_DGRAM_SENT ? sdr_dgram_sent_decode(p, len, &msn)
				    : sdr_dgram_write_decode(p, len, all, &m)))
		return;
	l = sdr_link_of(ep, from, true, &to);
	if (!l || !l->open)
		return;
	sdr_link_prove(l);
	if (type != SDR_DGRAM_SENT) {
		sdr_write_begins(l, &m, all);
		return;
	}
	h = sdr_recv_find(l->qp, msn);
	if (h)
		sdr_write_sent(sdr_recv_state(h)->user);
}

/* ---- handle ---------------------------------------------------------------------------------- */

void sdr_writes_open(struct sdr_ep *ep)
{
	struct sdr_links *s = ep->links;

	sdr_slab_init(&s->writes, sizeof(struct sdr_write), SDR_WRITES_MAX);
	s->gone = sdr_writes_gone;
	s->received = sdr_write_received;
	s->revoke = sdr_writes_revoke;
}

void sdr_writes_close(struct sdr_ep *ep)
{
	struct sdr_links *s = ep->links;

	while (!sdr_list_empty(&s->in)) {
		struct sdr_link *l = sdr_container(s->in.next, struct sdr_link, all);

		while (!sdr_list_empty(&l->ops))
			sdr_write_over(sdr_write_by(l->ops.next), true);
		sdr_link_drop(l);
	}
	while (!sdr_list_empty(&s->told)) {
		struct sdr_write *w = sdr_write_by(s->told.next);

		sdr_note_end(&w->note);
		sdr_write_free(s, w);
	}
	SDR_ASSERT(!s->bits && !s->writes.used);
	sdr_slab_destroy(&s->writes);
	sdr_htab_destroy(&s->ids);
}
