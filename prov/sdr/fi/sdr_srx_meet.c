/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which message gets which receive of a context that endpoints share: the oldest that matches,
 * whatever came first, the receive or the message.
 *
 * A message whose turn it is meets a receive here (take, from inside a round), or is kept by its
 * endpoint and stands in our line of kept ones, in the order in which messages had their turn: that
 * is the order of each peer's messages.  It stands there from the look at the receives on, under
 * one lock, so that no receive that is posted meanwhile misses it.  A receive that is posted looks
 * at that line first.  What meets then is met under the lock of the message's endpoint.
 *
 * Locks: ep->lock, then x->lock.  Who posts knows the endpoint only when it has looked, and takes
 * its lock with ours let go: it pins the endpoint meanwhile (srx_pins), which waits for that before
 * it is gone, and looks again.  With both locks held a message of that endpoint does not change.
 */
#include <errno.h>

#include "base/sdr_assert.h"

#include "sdr_srx_meet.h"
#include "sdr_ep.h"
#include "sdr_ep_peer.h"
#include "sdr_held.h"
#include "sdr_srx_recv.h"
#include "sdr_srx_shared.h"

struct srx_msg {
	struct sdr_list link; /* x->kept */
	struct sdr_ep *ep;
	struct sdr_unexp *u; /* NULL: its endpoint has just offered it, and still has its lock */
	bool claimed;	     /* it is about to meet a receive, or its endpoint cannot let it */
	fi_addr_t src;
	uint64_t tag, len;
};

static struct srx_msg *srx_kept(struct sdr_srx_shared *x, const struct sdr_srx_recv *r)
{
	struct sdr_list *l;

	SDR_ASSERT_HELD(&x->lock);
	sdr_list_each(l, &x->kept[sdr_srx_line(r->kind)]) {
		struct srx_msg *m = sdr_container(l, struct srx_msg, link);

		if (!m->claimed && sdr_srx_matches(r, m->src, m->tag))
			return m;
	}
	return NULL;
}

/* With the lock of an endpoint that has an entry in our lists; ours is let go in between. */
static void srx_hold(struct sdr_srx_shared *x, struct sdr_ep *ep)
{
	ep->srx_pins++;
	pthread_mutex_unlock(&x->lock);
	pthread_mutex_lock(&ep->lock);
	pthread_mutex_lock(&x->lock);
}

static void srx_let_go(struct sdr_srx_shared *x, struct sdr_ep *ep)
{
	pthread_mutex_unlock(&x->lock);
	sdr_ep_unlock(ep);
	pthread_mutex_lock(&x->lock);
	if (!--ep->srx_pins)
		pthread_cond_broadcast(&x->unpinned);
}

/*
 * It has not met the message after all.  If it waited in its line, it does again, or ends, when it
 * was canceled or used up while we had let go of our lock.
 */
static void srx_unmet(struct sdr_srx_shared *x, struct sdr_ep *ep, struct sdr_srx_recv *r)
{
	if (!r->retired && sdr_list_empty(&r->link))
		sdr_srx_enqueue(x, r);
	if (!r->retired || r->refs)
		return;
	sdr_srx_report_cancel(ep, r);
	sdr_slab_free(&x->recvs, r);
}

/*
 * Both locks held, ours let go in between.  1: the receive is used up, and perhaps gone; 0: not
 * yet, look for another message; or -FI_ENOMEM, and nothing has changed.
 */
static int srx_meet(struct sdr_srx_shared *x, struct srx_msg *m, struct sdr_srx_recv *r)
{
	struct sdr_rel_rr rr = { .niov = 0 };
	struct sdr_ep *ep = m->ep;
	uint64_t off = r->off, end;
	bool waits = !sdr_list_empty(&r->link), last;
	int ret;

	SDR_ASSERT(m->u && ep->rel);
	m->claimed = true;
	last = sdr_srx_lend(ep, r, m->len, &rr);
	end = r->off;
	pthread_mutex_unlock(&x->lock);
	ret = sdr_rel_meet(ep->rel, m->u, &rr);
	pthread_mutex_lock(&x->lock);
	if (!ret) {
		sdr_list_del(&m->link);
		sdr_slab_free(&x->msgs, m);
		return last;
	}
	sdr_srx_unlend(r, off, end);
	if (waits)
		srx_unmet(x, ep, r);
	if (ret == -EIO) /* its endpoint is at its end, where the message goes, too */
		return 0;
	m->claimed = false;
	return ret;
}

int sdr_srx_shared_post(struct sdr_srx_shared *x, const struct sdr_rel_rr *rr, fi_addr_t src)
{
	bool tagged = rr->kind == SDR_REL_TRECV;
	struct sdr_srx_recv *r;
	struct srx_msg *m;
	bool met = false;
	int i, ret = 0;

	if ((rr->flags & SDR_REL_R_MULTI) && rr->niov != 1)
		return -FI_EINVAL;
	pthread_mutex_lock(&x->lock);
	r = sdr_slab_alloc(&x->recvs);
	if (!r) {
		ret = x->recvs.used >= x->recvs.limit ? -FI_EAGAIN : -FI_ENOMEM;
		goto out;
	}
	sdr_list_init(&r->link);
	r->turn = x->turns++;
	r->kind = rr->kind;
	r->niov = rr->niov;
	r->multi = rr->flags & SDR_REL_R_MULTI;
	r->min_multi = x->min_multi ? x->min_multi : 1;
	r->src = x->directed ? src : FI_ADDR_UNSPEC;
	r->tag = tagged ? rr->tag : 0;
	r->ignore = tagged ? rr->ignore : UINT64_MAX;
	r->ctx = rr->ctx;
	r->uflags = rr->uflags;
	r->mem = rr->mem;
	for (i = 0; i < rr->niov; i++) {
		r->iov[i] = rr->iov[i];
		r->total += rr->iov[i].len;
	}
	while ((m = srx_kept(x, r))) {
		struct sdr_ep *ep = m->ep;

		srx_hold(x, ep);
		m = srx_kept(x, r);
		ret = m && m->ep == ep ? srx_meet(x, m, r) : 0;
		srx_let_go(x, ep);
		if (ret)
			break;
		met = true;
	}
	if (ret < 0 && !met) {
		sdr_slab_free(&x->recvs, r);
		goto out;
	}
	if (ret <= 0)
		sdr_srx_enqueue(x, r);
	ret = 0;
out:
	pthread_mutex_unlock(&x->lock);
	return ret;
}

int sdr_srx_shared_cancel(struct sdr_srx_shared *x, void *ctx)
{
	struct sdr_ep *ep = NULL;
	struct sdr_srx_recv *r;

	pthread_mutex_lock(&x->lock);
	if (!sdr_list_empty(&x->eps)) {
		ep = sdr_container(x->eps.next, struct sdr_ep, srx_link);
		srx_hold(x, ep);
	}
	r = sdr_srx_by_ctx(x, ctx);
	if (r) {
		sdr_list_del(&r->link);
		r->retired = r->canceled = true;
	}
	/* Else it is released, and reported, with the last transfer into it. */
	if (r && !r->refs) {
		if (ep)
			sdr_srx_report_cancel(ep, r);
		sdr_slab_free(&x->recvs, r);
	}
	if (ep)
		srx_let_go(x, ep);
	pthread_mutex_unlock(&x->lock);
	return r ? 0 : -FI_ENOENT;
}

/* ---- what the layer below asks --------------------------------------------------------------- */

static bool srx_take(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
		     void **mark)
{
	struct sdr_ep *ep = user;
	struct sdr_srx_shared *x = sdr_srx_of(ep);
	fi_addr_t src = x->directed ? sdr_ep_source(ep, a->peer) : FI_ADDR_UNSPEC;
	struct sdr_srx_recv *r;
	struct srx_msg *m;

	SDR_ASSERT_HELD(&ep->lock);
	pthread_mutex_lock(&x->lock);
	r = sdr_srx_posted(x, a->kind, src, a->tag);
	if (r) {
		sdr_srx_lend(ep, r, a->len, rr);
		goto out;
	}
	m = sdr_slab_alloc(&x->msgs);
	if (!m)
		goto out;
	m->ep = ep;
	m->src = src;
	m->tag = a->kind == SDR_REL_TRECV ? a->tag : 0;
	m->len = a->len;
	sdr_list_add_tail(&m->link, &x->kept[sdr_srx_line(a->kind)]);
	*mark = m;
out:
	pthread_mutex_unlock(&x->lock);
	return r;
}

static bool srx_keep(void *user, void *mark, uint8_t kind, struct sdr_unexp *u)
{
	struct sdr_srx_shared *x = sdr_srx_of(user);
	struct srx_msg *m = mark;

	(void)kind;
	pthread_mutex_lock(&x->lock);
	m->u = u;
	pthread_mutex_unlock(&x->lock);
	return true;
}

static void srx_gone(void *user, void *mark)
{
	struct sdr_srx_shared *x = sdr_srx_of(user);
	struct srx_msg *m = mark;

	pthread_mutex_lock(&x->lock);
	sdr_list_del(&m->link);
	sdr_slab_free(&x->msgs, m);
	pthread_mutex_unlock(&x->lock);
}

/* Of this endpoint's kept messages the first that a receive waits for. */
static struct srx_msg *srx_found(struct sdr_srx_shared *x, const struct sdr_ep *ep,
				 struct sdr_srx_recv **r)
{
	static const uint8_t kinds[2] = { SDR_REL_RECV, SDR_REL_TRECV };
	struct sdr_list *l;
	int k;

	for (k = 0; k < 2; k++) {
		sdr_list_each(l, &x->kept[k]) {
			struct srx_msg *m = sdr_container(l, struct srx_msg, link);

			if (m->ep != ep || !m->u || m->claimed)
				continue;
			*r = sdr_srx_posted(x, kinds[k], m->src, m->tag);
			if (*r)
				return m;
		}
	}
	return NULL;
}

void sdr_srx_renamed(void *user)
{
	struct sdr_ep *ep = user;
	struct sdr_srx_shared *x = sdr_srx_of(ep);
	struct sdr_srx_recv *r;
	struct srx_msg *m;
	struct sdr_list *l;
	int k;

	SDR_ASSERT_HELD(&ep->lock);
	if (!x->directed)
		return;
	pthread_mutex_lock(&x->lock);
	for (k = 0; k < 2; k++) {
		sdr_list_each(l, &x->kept[k]) {
			m = sdr_container(l, struct srx_msg, link);
			if (m->ep == ep && m->u)
				m->src = sdr_ep_source(ep, sdr_rel_kept_peer(m->u));
		}
	}
	while ((m = srx_found(x, ep, &r)) && srx_meet(x, m, r) >= 0)
		;
	pthread_mutex_unlock(&x->lock);
}

const struct sdr_rel_match sdr_srx_match = {
	.take = srx_take,
	.keep = srx_keep,
	.gone = srx_gone,
	.renamed = sdr_srx_renamed,
};

/* ---- handle ---------------------------------------------------------------------------------- */

void sdr_srx_kept_open(struct sdr_srx_shared *x)
{
	int k;

	for (k = 0; k < 2; k++)
		sdr_list_init(&x->kept[k]);
	sdr_slab_init(&x->msgs, sizeof(struct srx_msg), UINT32_MAX);
}

void sdr_srx_kept_close(struct sdr_srx_shared *x)
{
	SDR_ASSERT(sdr_list_empty(&x->kept[0]) && sdr_list_empty(&x->kept[1]));
	sdr_slab_destroy(&x->msgs);
}
