/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts that endpoints share: receives are posted to the context, and the message of
 * any of its endpoints takes the oldest that matches (sdr_srx_meet.c).  It is reported where it
 * came in, in the queue and the counter of that endpoint (sdr_srx_recv.c).
 *
 * This is the handle: it is opened and closed, endpoints come and go.  One that goes has no message
 * left, and waits until no thread that posts has it pinned.  Any thread may call; x->lock is taken
 * inside of ep->lock.  Peeking is not there: that nothing was found would have no queue to go to.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"

#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_prov.h"
#include "sdr_srx_meet.h"
#include "sdr_srx_post.h"
#include "sdr_srx_recv.h"
#include "sdr_srx_shared.h"

#define SRX_OP_FLAGS (FI_COMPLETION | FI_MULTI_RECV | FI_MORE)

static void srx_addrs(struct sdr_ep *ep)
{
	pthread_mutex_lock(&ep->lock);
	if (ep->rel)
		sdr_srx_renamed(ep);
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
	sdr_srx_kept_close(x);
	sdr_slab_destroy(&x->recvs);
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
	for (k = 0; k < 2; k++)
		sdr_list_init(&x->posted[k]);
	sdr_slab_init(&x->recvs, sizeof(struct sdr_srx_recv),
		      attr && attr->size ? (uint32_t)attr->size : SDR_RX_SIZE);
	sdr_srx_kept_open(x);
	sdr_srx_post_ops(x);
	*srx = &x->srx;
	return 0;
}

const struct sdr_srx_kind sdr_srx_shared = {
	.match = &sdr_srx_match,
	.open = srx_open,
	.close = srx_close,
	.bind = srx_bind,
	.leave = srx_leave,
	.unwrap = sdr_srx_unwrap,
	.give_back = sdr_srx_give_back,
	.context = sdr_srx_context,
	.spend = sdr_srx_spend,
	.addrs = srx_addrs,
};
