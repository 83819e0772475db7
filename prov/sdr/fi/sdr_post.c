/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The common way of every operation of a reliable endpoint into the layer below: resolve the
 * address, turn libfabric's flags into its own, post, and when its queue is full run one round and
 * try once more.
 *
 * One lock, no allocation, no system call of its own unless a thread sleeps on the endpoint and
 * would sleep too long (sdr_ep_unlock).  Posting is not driving: the progress thread goes on
 * meanwhile.  A completion queue with too much unread makes posting say -FI_EAGAIN, so that it
 * stays bounded.  Completion levels: transmit complete (the default) means that the peer's provider
 * has it, delivery complete that it lies in the application's buffer, inject complete that the
 * buffer may be reused.
 *
 * Where buffers lie is asked only of endpoints with FI_HMEM: their descriptor says it, or, without
 * one, the drivers do.  All of one operation lie in one memory.
 */
#include <errno.h>

#include "hmem/sdr_hmem.h"

#include "sdr_alarm.h"
#include "sdr_post.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_ep_peer.h"
#include "sdr_ep_progress.h"
#include "sdr_region.h"

static inline uint16_t sdr_post_flags(uint64_t flags)
{
	uint16_t f = 0;

	if (flags & FI_INJECT)
		f |= SDR_REL_F_INJECT;
	if (flags & FI_REMOTE_CQ_DATA)
		f |= SDR_REL_F_DATA;
	if (flags & FI_FENCE)
		f |= SDR_REL_F_FENCE;
	if (flags & FI_MORE)
		f |= SDR_REL_F_MORE;
	if (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))
		f |= SDR_REL_F_DELIVERY;
	else if ((flags & (FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)) == FI_INJECT_COMPLETE)
		f |= SDR_REL_F_EARLY;
	return f;
}

int sdr_post_mem(const struct sdr_rel_iov *iov, unsigned int n, void *const *desc,
		 const struct sdr_mem **mem)
{
	const struct sdr_mem *m;
	unsigned int i, seen = 0;
	int ret;

	for (i = 0; i < n; i++) {
		if (!iov[i].len)
			continue;
		m = NULL;
		ret = 0;
		if (desc && desc[i])
			m = ((const struct sdr_region *)desc[i])->hmem;
		else
			ret = sdr_hmem_find(iov[i].buf, &m);
		if (ret)
			return ret;
		if (seen++ && m != *mem)
			return -FI_EINVAL;
		*mem = m;
	}
	return 0;
}

static inline ssize_t sdr_post_locked(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest)
{
	int ret;

	if (!ep->rel)
		return -FI_EOPBADSTATE;
	wr->peer = sdr_ep_peer(ep, dest);
	if (!wr->peer)
		return ep->cm_ops ? -FI_ENOTCONN : -FI_EADDRNOTAVAIL;
	ret = sdr_rel_post(ep->rel, wr);
	if (ret == -EAGAIN) {
		sdr_ep_touch(ep);
		if (sdr_ep_nudge(ep) > 0)
			ret = sdr_rel_post(ep->rel, wr);
	}
	if (ret == -ENOMEM)
		sdr_ep_reason(ep);
	return ret;
}

ssize_t sdr_ep_post(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest, uint64_t flags,
		    void *const *desc)
{
	ssize_t ret;

	if (ep->hmem && (ret = sdr_post_mem(wr->iov, wr->niov, desc, &wr->mem)))
		return ret;
	if (ep->tx_cq && sdr_cq_full(ep->tx_cq))
		return -FI_EAGAIN;
	wr->flags = sdr_post_flags(flags);
	wr->uflags = flags & FI_COMPLETION ? SDR_UF_CQ : 0;
	pthread_mutex_lock(&ep->lock);
	ret = sdr_post_locked(ep, wr, dest);
	sdr_ep_unlock(ep);
	return ret;
}

ssize_t sdr_ep_post_inject(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest, uint64_t flags)
{
	ssize_t ret;

	if (ep->hmem && (ret = sdr_post_mem(wr->iov, wr->niov, NULL, &wr->mem)))
		return ret;
	wr->flags = sdr_post_flags(flags) | SDR_REL_F_INJECT;
	wr->uflags = 0;
	wr->ctx = NULL;
	pthread_mutex_lock(&ep->lock);
	if (!ep->cntr[sdr_ep_done_cntr(wr->kind)])
		wr->flags |= SDR_REL_F_SILENT;
	ret = sdr_post_locked(ep, wr, dest);
	sdr_ep_unlock(ep);
	return ret;
}

ssize_t sdr_ep_post_recv(struct sdr_ep *ep, struct sdr_rel_rr *rr, fi_addr_t src, uint64_t flags,
			 void *const *desc)
{
	ssize_t ret;

	if (ep->srx)
		return -FI_ENOSYS; /* receives are not its own */
	if (ep->hmem && (ret = sdr_post_mem(rr->iov, rr->niov, desc, &rr->mem)))
		return ret;
	/*
	 * Who looks whether something has come gets an answer, behind however many others: some
	 * give up when they do not (MPICH's probes).
	 */
	if (flags & FI_PEEK ? sdr_ep_backpressured(ep) : ep->rx_cq && sdr_cq_full(ep->rx_cq))
		return -FI_EAGAIN;
	rr->flags = 0;
	rr->uflags = flags & FI_COMPLETION ? SDR_UF_CQ : 0;
	if (flags & (FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD)) {
		if (flags & FI_MULTI_RECV)
			rr->flags |= SDR_REL_R_MULTI;
		if (flags & FI_PEEK) {
			rr->flags |= SDR_REL_R_PEEK;
			rr->uflags = SDR_UF_CQ; /* nothing else would tell */
		}
		if (flags & FI_CLAIM)
			rr->flags |= SDR_REL_R_CLAIM;
		if (flags & FI_DISCARD) {
			if (!(flags & (FI_PEEK | FI_CLAIM)))
				return -FI_EINVAL;
			rr->flags |= SDR_REL_R_DISCARD;
		}
	}
	pthread_mutex_lock(&ep->lock);
	rr->min_multi = ep->min_multi;
	rr->peer = NULL;
	if (!ep->rel) {
		ret = -FI_EOPBADSTATE;
		goto out;
	}
	if (ep->directed && src != FI_ADDR_UNSPEC) {
		rr->peer = sdr_ep_peer(ep, src);
		if (!rr->peer) {
			ret = -FI_EADDRNOTAVAIL;
			goto out;
		}
	}
	ret = sdr_rel_recv(ep->rel, rr);
	if (ep->over) /* what did not meet a message that is here meets none any more */
		sdr_rel_recv_cancel(ep->rel);
out:
	sdr_ep_unlock(ep);
	return ret;
}
