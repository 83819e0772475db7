/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported receive contexts: an endpoint whose receives are another provider's, the owner's, as
 * fi_peer(3) has it (lnx links shm and sdr so).
 *
 * A message whose turn it is is offered to the owner (srx_match, from inside a round).  It
 * gives the entry of a posted receive, which is reported once into the imported completion queue
 * and then given back; or it has none, and its entry stands for the message in the owner's queue
 * of unexpected ones, until the owner calls srx_start or srx_discard.  peer_context of such
 * an entry is the message that is kept (struct sdr_unexp); NULL when the endpoint has been closed
 * under it.
 *
 * All calls of the owner's operations but those of srx_addrs are made where the owner expects
 * them: in a read of the imported completion queue, or in its own call of start or discard, and so
 * under whatever lock it holds there.  That is why nothing else may drive such an endpoint: no
 * progress thread (the domain has manual progress), and no post (sdr_ep_nudge).  Order of locks:
 * the owner's, then ep->lock.  srx_addrs is called where addresses are inserted, under
 * av->eps_lock: an owner that locks in foreach_unspec_addr inserts and removes without that lock.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"

#include "sdr_srx.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_ep_peer.h"
#include "sdr_held.h"
#include "sdr_peer_api.h"
#include "sdr_prov.h"

/* A receive context with that owner. */
struct sdr_srx_import {
	struct sdr_srx srx;
	struct fid_peer_srx *owner;
	struct fi_ops_srx_peer ops; /* what the owner calls */
};

static struct fid_peer_srx *srx_owner(const struct sdr_ep *ep)
{
	return container_of(ep->srx, struct sdr_srx_import, srx)->owner;
}

/* What lies beyond the pieces that we take is no room: a longer message is truncated. */
static void srx_fill(struct sdr_ep *ep, struct fi_peer_rx_entry *entry, struct sdr_rel_rr *rr)
{
	size_t n = entry->count < SDR_REL_IOV_MAX ? entry->count : SDR_REL_IOV_MAX, i;

	for (i = 0; i < n; i++)
		ep->lent_iov[i] =
			(struct sdr_rel_iov){ entry->iov[i].iov_base, entry->iov[i].iov_len };
	rr->niov = (uint8_t)n;
	rr->iov = ep->lent_iov;
	rr->ctx = entry;
	rr->uflags = SDR_UF_LENT;
}

/* ---- what the layer below asks --------------------------------------------------------------- */

static bool srx_take(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
		     void **mark)
{
	struct sdr_ep *ep = user;
	bool tagged = a->kind == SDR_REL_TRECV;
	struct fi_peer_rx_entry *entry = NULL;
	int ret;

	SDR_ASSERT_HELD(&ep->lock);
	ret = sdr_peer_get(srx_owner(ep), tagged, sdr_ep_source(ep, a->peer), a->len,
			   tagged ? a->tag : 0, &entry);
	if (!ret) {
		srx_fill(ep, entry, rr);
		return true;
	}
	if (ret != -FI_ENOENT) {
		/* Once: peers decide how often. */
		sdr_warn_once("the owner of the receives refuses %s messages (%s): connections "
			      "that bring one end",
			      tagged ? "tagged" : "untagged", fi_strerror(-ret));
		return false;
	}
	entry->peer_context = NULL;
	sdr_peer_describe(entry, a->len, a->has_data, a->data);
	*mark = entry;
	return false;
}

static bool srx_keep(void *user, void *mark, uint8_t kind, struct sdr_unexp *u)
{
	const struct fi_ops_srx_owner *ops = srx_owner(user)->owner_ops;
	struct fi_peer_rx_entry *entry = mark;
	int ret;

	entry->peer_context = u;
	ret = kind == SDR_REL_TRECV ? ops->queue_tag(entry) : ops->queue_msg(entry);
	if (!ret)
		return true;
	sdr_warn_once("the owner of the receives queues no message (%s): its connection ends",
		      fi_strerror(-ret));
	ops->free_entry(entry);
	return false;
}

/* One that the owner has in its queue stays its own. */
static void srx_gone(void *user, void *mark)
{
	struct fi_peer_rx_entry *entry = mark;

	if (!entry->peer_context)
		srx_owner(user)->owner_ops->free_entry(entry);
	else
		entry->peer_context = NULL;
}

/* From inside a round. */
static fi_addr_t srx_addr_locked(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;

	if (!u)
		return FI_ADDR_UNSPEC;
	return sdr_ep_source(sdr_rel_kept_user(u), sdr_rel_kept_peer(u));
}

static void srx_renamed(void *user)
{
	sdr_peer_addrs(srx_owner(user), srx_addr_locked);
}

static const struct sdr_rel_match srx_match = {
	.take = srx_take,
	.keep = srx_keep,
	.gone = srx_gone,
	.renamed = srx_renamed,
};

static void *srx_unwrap(struct sdr_ep *ep, const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine)
{
	struct fi_peer_rx_entry *entry = e->ctx;

	(void)ep;
	*mine = *e;
	mine->ctx = entry->context;
	mine->uflags = entry->flags & FI_COMPLETION ? SDR_UF_CQ : 0;
	mine->multi_last = entry->flags & FI_MULTI_RECV;
	return entry;
}

static void srx_give_back(struct sdr_ep *ep, void *entry)
{
	srx_owner(ep)->owner_ops->free_entry(entry);
}

static const void *srx_context(const void *ctx)
{
	return ((const struct fi_peer_rx_entry *)ctx)->context;
}

/* ---- what the owner asks --------------------------------------------------------------------- */

static int srx_start(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;
	struct sdr_rel_rr rr = { .niov = 0 };
	struct sdr_ep *ep;
	int ret;

	if (!u)
		return -FI_EINVAL;
	ep = sdr_rel_kept_user(u);
	pthread_mutex_lock(&ep->lock);
	srx_fill(ep, entry, &rr);
	entry->peer_context = NULL; /* it may be given back before meet returns */
	ret = sdr_rel_meet(ep->rel, u, &rr);
	if (ret)
		entry->peer_context = u;
	sdr_ep_unlock(ep);
	return ret;
}

/* The owner gives its entry back to itself. */
static int srx_discard(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;
	struct sdr_ep *ep;

	if (!u)
		return -FI_EINVAL;
	ep = sdr_rel_kept_user(u);
	pthread_mutex_lock(&ep->lock);
	entry->peer_context = NULL;
	sdr_rel_discard(ep->rel, u);
	sdr_ep_unlock(ep);
	return 0;
}

static fi_addr_t srx_addr(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;
	struct sdr_ep *ep;
	fi_addr_t addr;

	if (!u)
		return FI_ADDR_UNSPEC;
	ep = sdr_rel_kept_user(u);
	pthread_mutex_lock(&ep->lock);
	addr = srx_addr_locked(entry);
	pthread_mutex_unlock(&ep->lock);
	return addr;
}

static void srx_addrs(struct sdr_ep *ep)
{
	sdr_peer_addrs(srx_owner(ep), srx_addr);
}

/* ---- handle ---------------------------------------------------------------------------------- */

static int srx_open(struct sdr_domain *dom, struct fi_rx_attr *attr, void *context,
		    struct sdr_srx **srx)
{
	struct fi_peer_srx_context *c = context;
	struct sdr_srx_import *x;

	if (!sdr_peer_same() || attr->op_flags != FI_PEER || !c || c->size < sizeof(*c) ||
	    !c->srx || !c->srx->owner_ops ||
	    c->srx->owner_ops->size < sizeof(struct fi_ops_srx_owner))
		return -FI_EINVAL;
	if (dom->auto_progress || !(dom->caps & FI_PEER)) {
		FI_WARN(&sdr_prov, FI_LOG_DOMAIN,
			"an imported receive context wants a domain with FI_PEER, and so manual progress\n");
		return -FI_EOPNOTSUPP;
	}
	x = calloc(1, sizeof(*x));
	if (!x)
		return -FI_ENOMEM;
	x->ops = (struct fi_ops_srx_peer){
		.size = sizeof(struct fi_ops_srx_peer),
		.start_msg = srx_start,
		.start_tag = srx_start,
		.discard_msg = srx_discard,
		.discard_tag = srx_discard,
	};
	x->owner = c->srx;
	x->owner->peer_ops = &x->ops;
	x->srx.fid.ops = &sdr_no_ep_ops;
	x->srx.fid.msg = &sdr_no_msg_ops;
	x->srx.fid.tagged = &sdr_no_tagged_ops;
	*srx = &x->srx;
	return 0;
}

static void srx_close(struct sdr_srx *srx)
{
	free(container_of(srx, struct sdr_srx_import, srx));
}

static int srx_bind(struct sdr_srx *srx, struct sdr_ep *ep)
{
	(void)srx;
	if (ep->type != FI_EP_RDM)
		return -FI_EINVAL;
	ep->want_src = true; /* the owner matches by it */
	return 0;
}

const struct sdr_srx_kind sdr_srx_peer = {
	.foreign = true,
	.match = &srx_match,
	.open = srx_open,
	.close = srx_close,
	.bind = srx_bind,
	.unwrap = srx_unwrap,
	.give_back = srx_give_back,
	.context = srx_context,
	.addrs = srx_addrs,
};
