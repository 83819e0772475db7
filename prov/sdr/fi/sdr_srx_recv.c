/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A receive that was posted to a context which endpoints share.  It leaves its line when a message
 * takes it, or its last piece, and is given back by the report of that.
 *
 * A receive for several messages hands its buffer out in pieces, to several endpoints at once
 * perhaps; it is released by the report of the last one, so those are counted and reported under
 * our lock.
 *
 * Called under the context's lock, by threads that post, cancel or run a round; reports are made
 * under the lock of the endpoint alone, and take ours.
 */
#include <errno.h>

#include "base/sdr_assert.h"

#include "sdr_srx_recv.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_ep_peer.h"
#include "sdr_held.h"
#include "sdr_prov.h"
#include "sdr_srx_shared.h"

struct sdr_srx_shared *sdr_srx_of(const struct sdr_ep *ep)
{
	return container_of(ep->srx, struct sdr_srx_shared, srx);
}

struct sdr_srx_recv *sdr_srx_posted(struct sdr_srx_shared *x, uint8_t kind, fi_addr_t src,
				    uint64_t tag)
{
	struct sdr_list *l;

	SDR_ASSERT_HELD(&x->lock);
	sdr_list_each(l, &x->posted[sdr_srx_line(kind)]) {
		struct sdr_srx_recv *r = sdr_container(l, struct sdr_srx_recv, link);

		if (sdr_srx_matches(r, src, tag))
			return r;
	}
	return NULL;
}

struct sdr_srx_recv *sdr_srx_by_ctx(struct sdr_srx_shared *x, const void *ctx)
{
	struct sdr_list *l;
	int k;

	for (k = 0; k < 2; k++) {
		sdr_list_each(l, &x->posted[k]) {
			struct sdr_srx_recv *r = sdr_container(l, struct sdr_srx_recv, link);

			if (r->ctx == ctx)
				return r;
		}
	}
	return NULL;
}

bool sdr_srx_lend(struct sdr_ep *ep, struct sdr_srx_recv *r, uint64_t len, struct sdr_rel_rr *rr)
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

void sdr_srx_unlend(struct sdr_srx_recv *r, uint64_t off, uint64_t end)
{
	if (!r->multi)
		return;
	SDR_ASSERT(r->refs && r->off >= end);
	r->refs--;
	if (r->off != end)
		return;
	r->off = off;
	r->retired = r->canceled;
}

void sdr_srx_enqueue(struct sdr_srx_shared *x, struct sdr_srx_recv *r)
{
	struct sdr_list *line = &x->posted[sdr_srx_line(r->kind)], *l = line->prev;

	SDR_ASSERT_HELD(&x->lock);
	SDR_ASSERT(sdr_list_empty(&r->link) && !r->retired);
	while (l != line && sdr_container(l, struct sdr_srx_recv, link)->turn > r->turn)
		l = l->prev;
	sdr_list_add_before(&r->link, l->next);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* A release that is reported is the last of its receive: x->lock is held until it is given back. */
void *sdr_srx_unwrap(struct sdr_ep *ep, const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine)
{
	struct sdr_srx_shared *x = sdr_srx_of(ep);
	struct sdr_srx_recv *r = e->ctx;

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

const void *sdr_srx_context(const void *ctx)
{
	return ((const struct sdr_srx_recv *)ctx)->ctx;
}

void sdr_srx_report_cancel(struct sdr_ep *ep, const struct sdr_srx_recv *r)
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

void sdr_srx_give_back(struct sdr_ep *ep, void *entry)
{
	struct sdr_srx_shared *x = sdr_srx_of(ep);
	struct sdr_srx_recv *r = entry;

	if (!r->multi)
		pthread_mutex_lock(&x->lock);
	if (r->canceled && !r->refs)
		sdr_srx_report_cancel(ep, r);
	if (!r->multi || (r->retired && !r->refs))
		sdr_slab_free(&x->recvs, r);
	pthread_mutex_unlock(&x->lock);
}

bool sdr_srx_spend(struct sdr_ep *ep, struct sdr_peer *peer, void **ctx)
{
	struct sdr_srx_shared *x = sdr_srx_of(ep);
	fi_addr_t src = x->directed ? sdr_ep_source(ep, peer) : FI_ADDR_UNSPEC;
	struct sdr_list *l;
	bool found = false;

	pthread_mutex_lock(&x->lock);
	sdr_list_each(l, &x->posted[0]) {
		struct sdr_srx_recv *r = sdr_container(l, struct sdr_srx_recv, link);

		if (r->multi || !sdr_srx_matches(r, src, 0))
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
