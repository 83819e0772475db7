/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts that endpoints share: receives are posted to the context, and the message of
 * any of its endpoints takes the oldest that matches.  It is reported where it came in, in the
 * queue and the counter of that endpoint.
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
 *
 * A receive for several messages hands its buffer out in pieces, to several endpoints at once
 * perhaps; it is released by the report of the last one, so those are counted and reported under
 * our lock.  Peeking is not there: that nothing was found would have no queue to go to.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sdr_assert.h"

#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_ep_peer.h"
#include "sdr_held.h"
#include "sdr_prov.h"
#include "sdr_srx_post.h"
#include "sdr_srx_shared.h"

#define SRX_OP_FLAGS (FI_COMPLETION | FI_MULTI_RECV | FI_MORE)

struct srx_recv {
	struct sdr_list link; /* x->posted, or unlinked when met */
	uint8_t kind, niov;
	bool multi;	     /* takes several messages, of which: */
	bool retired;	     /* it takes no more */
	bool canceled;	     /* by the application, with transfers under way */
	uint32_t refs;	     /* transfers into it that are not reported */
	uint64_t total, off; /* bytes; bytes used */
	uint64_t min_multi;  /* bytes */
	fi_addr_t src;	     /* FI_ADDR_UNSPEC: any */
	uint64_t tag, ignore;
	void *ctx;
	uint64_t uflags;
	const struct sdr_mem *mem;
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

struct srx_msg {
	struct sdr_list link; /* x->kept */
	struct sdr_ep *ep;
	struct sdr_unexp *u; /* NULL: its endpoint has just offered it, and still has its lock */
	bool claimed;	     /* it is about to meet a receive, or its endpoint cannot let it */
	fi_addr_t src;
	uint64_t tag, len;
};

static struct sdr_srx_shared *srx_of(const struct sdr_ep *ep)
{
	return container_of(ep->srx, struct sdr_srx_shared, srx);
}

static unsigned int srx_line(uint8_t kind)
{
	return kind == SDR_REL_TRECV;
}

static bool srx_matches(const struct srx_recv *r, fi_addr_t src, uint64_t tag)
{
	return (r->src == FI_ADDR_UNSPEC || r->src == src) && !((tag ^ r->tag) & ~r->ignore);
}

static struct srx_recv *srx_posted(struct sdr_srx_shared *x, uint8_t kind, fi_addr_t src,
				   uint64_t tag)
{
	struct sdr_list *l;

	SDR_ASSERT_HELD(&x->lock);
	sdr_list_each(l, &x->posted[srx_line(kind)]) {
		struct srx_recv *r = sdr_container(l, struct srx_recv, link);

		if (srx_matches(r, src, tag))
			return r;
	}
	return NULL;
}

static struct srx_msg *srx_kept(struct sdr_srx_shared *x, const struct srx_recv *r)
{
	struct sdr_list *l;

	SDR_ASSERT_HELD(&x->lock);
	sdr_list_each(l, &x->kept[srx_line(r->kind)]) {
		struct srx_msg *m = sdr_container(l, struct srx_msg, link);

		if (!m->claimed && srx_matches(r, m->src, m->tag))
			return m;
	}
	return NULL;
}

/* A message of len gets this receive, or its next piece.  True: that was all of it. */
static bool srx_lend(struct sdr_ep *ep, struct srx_recv *r, uint64_t len, struct sdr_rel_rr *rr)
{
	uint64_t room = r->total - r->off, n = len < room ? len : room;
	unsigned int i;

	SDR_ASSERT_HELD(&ep->lock);
	SDR_ASSERT(!r->retired && r->off <= r->total);
	for (i = 0; i < r->niov; i++)
		ep->lent_iov[i] = r->iov[i];
	rr->niov = r->niov;
	rr->iov = ep->lent_iov;
	rr->mem = r->mem;
	rr->ctx = r;
	rr->uflags = SDR_UF_LENT;
	if (r->multi) {
		ep->lent_iov[0].buf = (uint8_t *)r->iov[0].buf + r->off;
		ep->lent_iov[0].len = n;
		r->refs++;
		r->off += n;
		r->retired = len >= room || room - len < r->min_multi;
	}
	if (!r->multi || r->retired)
		sdr_list_del(&r->link);
	return !r->multi || r->retired;
}

/* What srx_lend did is undone: nothing has come into it.  No other thread has seen it. */
static void srx_unlend(struct srx_recv *r, uint64_t off)
{
	if (!r->multi)
		return;
	r->refs--;
	r->off = off;
	r->retired = false;
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
 * Both locks held, ours let go in between.  1: the receive is used up, and perhaps gone; 0: not
 * yet, look for another message; or -FI_ENOMEM, and nothing has changed.
 */
static int srx_meet(struct sdr_srx_shared *x, struct srx_msg *m, struct srx_recv *r)
{
	struct sdr_rel_rr rr = { .niov = 0 };
	struct sdr_ep *ep = m->ep;
	uint64_t off = r->off;
	bool last;
	int ret;

	SDR_ASSERT(m->u && ep->rel);
	m->claimed = true;
	last = srx_lend(ep, r, m->len, &rr);
	pthread_mutex_unlock(&x->lock);
	ret = sdr_rel_meet(ep->rel, m->u, &rr);
	pthread_mutex_lock(&x->lock);
	if (!ret) {
		sdr_list_del(&m->link);
		sdr_slab_free(&x->msgs, m);
		return last;
	}
	srx_unlend(r, off);
	if (ret == -EIO) /* its endpoint is at its end, where the message goes, too */
		return 0;
	m->claimed = false;
	return ret;
}

int sdr_srx_shared_post(struct sdr_srx_shared *x, const struct sdr_rel_rr *rr, fi_addr_t src)
{
	bool tagged = rr->kind == SDR_REL_TRECV;
	struct srx_recv *r;
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
		sdr_list_add_tail(&r->link, &x->posted[tagged]);
	ret = 0;
out:
	pthread_mutex_unlock(&x->lock);
	return ret;
}

/* ---- what the layer below asks --------------------------------------------------------------- */

static bool srx_take(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
		     void **mark)
{
	struct sdr_ep *ep = user;
	struct sdr_srx_shared *x = srx_of(ep);
	fi_addr_t src = x->directed ? sdr_ep_source(ep, a->peer) : FI_ADDR_UNSPEC;
	struct srx_recv *r;
	struct srx_msg *m;

	SDR_ASSERT_HELD(&ep->lock);
	pthread_mutex_lock(&x->lock);
	r = srx_posted(x, a->kind, src, a->tag);
	if (r) {
		srx_lend(ep, r, a->len, rr);
		goto out;
	}
	m = sdr_slab_alloc(&x->msgs);
	if (!m)
		goto out;
	m->ep = ep;
	m->src = src;
	m->tag = a->kind == SDR_REL_TRECV ? a->tag : 0;
	m->len = a->len;
	sdr_list_add_tail(&m->link, &x->kept[srx_line(a->kind)]);
	*mark = m;
out:
	pthread_mutex_unlock(&x->lock);
	return r;
}

static bool srx_keep(void *user, void *mark, uint8_t kind, struct sdr_unexp *u)
{
	struct sdr_srx_shared *x = srx_of(user);
	struct srx_msg *m = mark;

	(void)kind;
	pthread_mutex_lock(&x->lock);
	m->u = u;
	pthread_mutex_unlock(&x->lock);
	return true;
}

static void srx_gone(void *user, void *mark)
{
	struct sdr_srx_shared *x = srx_of(user);
	struct srx_msg *m = mark;

	pthread_mutex_lock(&x->lock);
	sdr_list_del(&m->link);
	sdr_slab_free(&x->msgs, m);
	pthread_mutex_unlock(&x->lock);
}

/* Of this endpoint's kept messages the first that a receive waits for. */
static struct srx_msg *srx_found(struct sdr_srx_shared *x, const struct sdr_ep *ep,
				 struct srx_recv **r)
{
	static const uint8_t kinds[2] = { SDR_REL_RECV, SDR_REL_TRECV };
	struct sdr_list *l;
	int k;

	for (k = 0; k < 2; k++) {
		sdr_list_each(l, &x->kept[k]) {
			struct srx_msg *m = sdr_container(l, struct srx_msg, link);

			if (m->ep != ep || !m->u || m->claimed)
				continue;
			*r = srx_posted(x, kinds[k], m->src, m->tag);
			if (*r)
				return m;
		}
	}
	return NULL;
}

/*
 * Who sent them may be known by now: then the receives that were directed at those meet them.  From
 * inside a round, or with the endpoint's lock.
 */
static void srx_renamed(void *user)
{
	struct sdr_ep *ep = user;
	struct sdr_srx_shared *x = srx_of(ep);
	struct srx_recv *r;
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

static const struct sdr_rel_match srx_match = {
	.take = srx_take,
	.keep = srx_keep,
	.gone = srx_gone,
	.renamed = srx_renamed,
};

/* ---- reports --------------------------------------------------------------------------------- */

/* A release that is reported is the last of its receive: x->lock is held until it is given back. */
static void *srx_unwrap(struct sdr_ep *ep, const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine)
{
	struct sdr_srx_shared *x = srx_of(ep);
	struct srx_recv *r = e->ctx;

	*mine = *e;
	mine->ctx = r->ctx;
	mine->uflags = r->uflags | (ep->rx_msg_flags & FI_COMPLETION ? SDR_UF_CQ : 0);
	if (r->multi) {
		pthread_mutex_lock(&x->lock);
		SDR_ASSERT(r->refs);
		r->refs--;
		mine->multi_last = r->retired && !r->refs && !r->canceled;
	}
	return r;
}

static const void *srx_context(const void *ctx)
{
	return ((const struct srx_recv *)ctx)->ctx;
}

static void srx_report_cancel(struct sdr_ep *ep, const struct srx_recv *r)
{
	struct sdr_rel_cqe e = {
		.kind = r->kind,
		.err = -ECANCELED,
		.prov_err = SDR_REL_ERR_CANCELED,
		.ctx = r->ctx,
		.uflags = r->uflags,
		.multi_last = r->multi,
		.multi_only = r->multi,
	};

	sdr_ep_cbs.done(ep, &e);
}

static void srx_give_back(struct sdr_ep *ep, void *entry)
{
	struct sdr_srx_shared *x = srx_of(ep);
	struct srx_recv *r = entry;

	if (!r->multi)
		pthread_mutex_lock(&x->lock);
	if (r->canceled && !r->refs)
		srx_report_cancel(ep, r);
	if (!r->multi || (r->retired && !r->refs))
		sdr_slab_free(&x->recvs, r);
	pthread_mutex_unlock(&x->lock);
}

static bool srx_spend(struct sdr_ep *ep, struct sdr_peer *peer, void **ctx)
{
	struct sdr_srx_shared *x = srx_of(ep);
	fi_addr_t src = x->directed ? sdr_ep_source(ep, peer) : FI_ADDR_UNSPEC;
	struct sdr_list *l;
	bool found = false;

	pthread_mutex_lock(&x->lock);
	sdr_list_each(l, &x->posted[0]) {
		struct srx_recv *r = sdr_container(l, struct srx_recv, link);

		if (r->multi || !srx_matches(r, src, 0))
			continue;
		found = true;
		*ctx = r->ctx;
		sdr_list_del(l);
		sdr_slab_free(&x->recvs, r);
		break;
	}
	pthread_mutex_unlock(&x->lock);
	return found;
}

static struct srx_recv *srx_by_ctx(struct sdr_srx_shared *x, const void *ctx)
{
	struct sdr_list *l;
	int k;

	for (k = 0; k < 2; k++) {
		sdr_list_each(l, &x->posted[k]) {
			struct srx_recv *r = sdr_container(l, struct srx_recv, link);

			if (r->ctx == ctx)
				return r;
		}
	}
	return NULL;
}

int sdr_srx_shared_cancel(struct sdr_srx_shared *x, void *ctx)
{
	struct sdr_ep *ep = NULL;
	struct srx_recv *r;

	pthread_mutex_lock(&x->lock);
	if (!sdr_list_empty(&x->eps)) {
		ep = sdr_container(x->eps.next, struct sdr_ep, srx_link);
		srx_hold(x, ep);
	}
	r = srx_by_ctx(x, ctx);
	if (r) {
		sdr_list_del(&r->link);
		r->retired = r->canceled = true;
	}
	/* Else it is released, and reported, with the last transfer into it. */
	if (r && !r->refs) {
		if (ep)
			srx_report_cancel(ep, r);
		sdr_slab_free(&x->recvs, r);
	}
	if (ep)
		srx_let_go(x, ep);
	pthread_mutex_unlock(&x->lock);
	return r ? 0 : -FI_ENOENT;
}

/* ---- handle ---------------------------------------------------------------------------------- */

static void srx_addrs(struct sdr_ep *ep)
{
	pthread_mutex_lock(&ep->lock);
	if (ep->rel)
		srx_renamed(ep);
	sdr_ep_unlock(ep);
}

static int srx_bind(struct sdr_srx *srx, struct sdr_ep *ep)
{
	struct sdr_srx_shared *x = container_of(srx, struct sdr_srx_shared, srx);

	if (ep->type == FI_EP_DGRAM)
		return -FI_EINVAL;
	ep->want_src |= x->directed;
	ep->hmem |= x->hmem; /* what is posted here may lie there */
	pthread_mutex_lock(&x->lock);
	sdr_list_add_tail(&ep->srx_link, &x->eps);
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static void srx_leave(struct sdr_srx *srx, struct sdr_ep *ep)
{
	struct sdr_srx_shared *x = container_of(srx, struct sdr_srx_shared, srx);

	pthread_mutex_lock(&x->lock);
	sdr_list_del(&ep->srx_link);
	while (ep->srx_pins)
		pthread_cond_wait(&x->unpinned, &x->lock);
	pthread_mutex_unlock(&x->lock);
}

static void srx_close(struct sdr_srx *srx)
{
	struct sdr_srx_shared *x = container_of(srx, struct sdr_srx_shared, srx);

	SDR_ASSERT(sdr_list_empty(&x->eps));
	SDR_ASSERT(sdr_list_empty(&x->kept[0]) && sdr_list_empty(&x->kept[1]));
	sdr_slab_destroy(&x->recvs);
	sdr_slab_destroy(&x->msgs);
	pthread_cond_destroy(&x->unpinned);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

static int srx_open(struct sdr_domain *dom, struct fi_rx_attr *attr, void *context,
		    struct sdr_srx **srx)
{
	struct sdr_srx_shared *x;
	int k;

	(void)context;
	if (attr && (attr->size > SDR_RX_SIZE_MAX || attr->iov_limit > SDR_REL_IOV_MAX ||
		     (attr->op_flags & ~SRX_OP_FLAGS)))
		return -FI_EINVAL;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -FI_ENOMEM;
	x->op_flags = attr ? attr->op_flags : 0;
	x->directed = (attr && attr->caps ? attr->caps : dom->caps) & FI_DIRECTED_RECV;
	x->hmem = dom->hmem;
	x->min_multi = SDR_MULTI_RECV_MIN;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->unpinned, NULL);
	sdr_list_init(&x->eps);
	for (k = 0; k < 2; k++) {
		sdr_list_init(&x->posted[k]);
		sdr_list_init(&x->kept[k]);
	}
	sdr_slab_init(&x->recvs, sizeof(struct srx_recv),
		      attr && attr->size ? (uint32_t)attr->size : SDR_RX_SIZE);
	sdr_slab_init(&x->msgs, sizeof(struct srx_msg), UINT32_MAX);
	sdr_srx_post_ops(x);
	*srx = &x->srx;
	return 0;
}

const struct sdr_srx_kind sdr_srx_shared = {
	.match = &srx_match,
	.open = srx_open,
	.close = srx_close,
	.bind = srx_bind,
	.leave = srx_leave,
	.unwrap = srx_unwrap,
	.give_back = srx_give_back,
	.context = srx_context,
	.spend = srx_spend,
	.addrs = srx_addrs,
};
