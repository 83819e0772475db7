/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported receive contexts: an endpoint whose receives are another provider's, the owner's, as
 * fi_peer(3) has it (lnx links shm and sdr so).
 *
 * A message whose turn it is is offered to the owner (sdr_srx_match, from inside a round).  It
 * gives the entry of a posted receive, which is reported once into the imported completion queue
 * and then given back; or it has none, and its entry stands for the message in the owner's queue
 * of unexpected ones, until the owner calls sdr_srx_start or sdr_srx_discard.  peer_context of such
 * an entry is the message that is kept (struct sdr_unexp); NULL when the endpoint has been closed
 * under it.
 *
 * All calls of the owner's operations but those of sdr_srx_addrs are made where the owner expects
 * them: in a read of the imported completion queue, or in its own call of start or discard, and so
 * under whatever lock it holds there.  That is why nothing else may drive such an endpoint: no
 * progress thread (the domain has manual progress), and no post (sdr_ep_nudge).  Order of locks:
 * the owner's, then ep->lock.  sdr_srx_addrs is called where addresses are inserted, under
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
#include "sdr_prov.h"

/* What lies beyond the pieces that we take is no room: a longer message is truncated. */
static void sdr_srx_fill(struct sdr_ep *ep, struct fi_peer_rx_entry *entry, struct sdr_rel_rr *rr)
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

static bool sdr_srx_take(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
			 void **mark)
{
	struct sdr_ep *ep = user;
	bool tagged = a->kind == SDR_REL_TRECV;
	struct fi_peer_rx_entry *entry = NULL;
	int ret;

	SDR_ASSERT_HELD(&ep->lock);
	ret = sdr_peer_get(ep->srx->owner, tagged, sdr_ep_source(ep, a->peer), a->len,
			   tagged ? a->tag : 0, &entry);
	if (!ret) {
		sdr_srx_fill(ep, entry, rr);
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

static bool sdr_srx_keep(void *user, void *mark, uint8_t kind, struct sdr_unexp *u)
{
	const struct fi_ops_srx_owner *ops = ((struct sdr_ep *)user)->srx->owner->owner_ops;
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
static void sdr_srx_gone(void *user, void *mark)
{
	struct fi_peer_rx_entry *entry = mark;

	if (!entry->peer_context)
		((struct sdr_ep *)user)->srx->owner->owner_ops->free_entry(entry);
	else
		entry->peer_context = NULL;
}

/* From inside a round. */
static fi_addr_t sdr_srx_addr_locked(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;

	if (!u)
		return FI_ADDR_UNSPEC;
	return sdr_ep_source(sdr_rel_kept_user(u), sdr_rel_kept_peer(u));
}

static void sdr_srx_renamed(void *user)
{
	sdr_peer_addrs(((struct sdr_ep *)user)->srx->owner, sdr_srx_addr_locked);
}

const struct sdr_rel_match sdr_srx_match = {
	.take = sdr_srx_take,
	.keep = sdr_srx_keep,
	.gone = sdr_srx_gone,
	.renamed = sdr_srx_renamed,
};

struct fi_peer_rx_entry *sdr_srx_unwrap(const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine)
{
	struct fi_peer_rx_entry *entry = e->ctx;

	*mine = *e;
	mine->ctx = entry->context;
	mine->uflags = entry->flags & FI_COMPLETION ? SDR_UF_CQ : 0;
	mine->multi_last = entry->flags & FI_MULTI_RECV;
	return entry;
}

void sdr_srx_give_back(struct sdr_ep *ep, struct fi_peer_rx_entry *entry)
{
	ep->srx->owner->owner_ops->free_entry(entry);
}

/* ---- what the owner asks --------------------------------------------------------------------- */

static int sdr_srx_start(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;
	struct sdr_rel_rr rr = { .niov = 0 };
	struct sdr_ep *ep;
	int ret;

	if (!u)
		return -FI_EINVAL;
	ep = sdr_rel_kept_user(u);
	pthread_mutex_lock(&ep->lock);
	sdr_srx_fill(ep, entry, &rr);
	entry->peer_context = NULL; /* it may be given back before meet returns */
	ret = sdr_rel_meet(ep->rel, u, &rr);
	if (ret)
		entry->peer_context = u;
	sdr_ep_unlock(ep);
	return ret;
}

/* The owner gives its entry back to itself. */
static int sdr_srx_discard(struct fi_peer_rx_entry *entry)
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

static fi_addr_t sdr_srx_addr(struct fi_peer_rx_entry *entry)
{
	struct sdr_unexp *u = entry->peer_context;
	struct sdr_ep *ep;
	fi_addr_t addr;

	if (!u)
		return FI_ADDR_UNSPEC;
	ep = sdr_rel_kept_user(u);
	pthread_mutex_lock(&ep->lock);
	addr = sdr_srx_addr_locked(entry);
	pthread_mutex_unlock(&ep->lock);
	return addr;
}

void sdr_srx_addrs(struct sdr_ep *ep)
{
	sdr_peer_addrs(ep->srx->owner, sdr_srx_addr);
}

/* ---- handle ---------------------------------------------------------------------------------- */

static int sdr_srx_close(struct fid *fid)
{
	struct sdr_srx *srx = container_of(fid, struct sdr_srx, fid.fid);

	if (atomic_load(&srx->refs))
		return -FI_EBUSY;
	atomic_fetch_sub(&srx->dom->refs, 1);
	free(srx);
	return 0;
}

static struct fi_ops sdr_srx_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_srx_close,
	.bind = sdr_no_bind,
	.control = sdr_no_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

int sdr_srx_bind(struct sdr_srx *srx, struct sdr_ep *ep)
{
	if (ep->srx || srx->dom != ep->dom || ep->type != FI_EP_RDM)
		return -FI_EINVAL;
	atomic_fetch_add(&srx->refs, 1);
	ep->srx = srx;
	ep->want_src = true; /* the owner matches by it */
	return 0;
}

/* Receive contexts of our own, shared by endpoints, are not there: -FI_ENOSYS. */
int sdr_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **fid,
		 void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	struct fi_peer_srx_context *c = context;
	struct sdr_srx *srx;

	if (!attr || !(attr->op_flags & FI_PEER))
		return -FI_ENOSYS;
	if (!sdr_peer_same() || attr->op_flags != FI_PEER || !c || c->size < sizeof(*c) ||
	    !c->srx || !c->srx->owner_ops ||
	    c->srx->owner_ops->size < sizeof(struct fi_ops_srx_owner))
		return -FI_EINVAL;
	if (dom->auto_progress) {
		FI_WARN(&sdr_prov, FI_LOG_DOMAIN,
			"an imported receive context wants a domain with manual progress\n");
		return -FI_EOPNOTSUPP;
	}
	srx = calloc(1, sizeof(*srx));
	if (!srx)
		return -FI_ENOMEM;
	srx->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	srx->ops = (struct fi_ops_srx_peer){
		.size = sizeof(struct fi_ops_srx_peer),
		.start_msg = sdr_srx_start,
		.start_tag = sdr_srx_start,
		.discard_msg = sdr_srx_discard,
		.discard_tag = sdr_srx_discard,
	};
	srx->owner = c->srx;
	srx->owner->peer_ops = &srx->ops;
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &sdr_srx_fi_ops;
	srx->fid.ops = &sdr_no_ep_ops;
	srx->fid.msg = &sdr_no_msg_ops;
	srx->fid.tagged = &sdr_no_tagged_ops;
	srx->fid.rma = &sdr_no_rma_ops;
	srx->fid.atomic = &sdr_no_atomic_ops;
	*fid = &srx->fid;
	return 0;
}
