/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_ep_bind.h.  What is bound is counted (refs), so that it cannot be closed under the
 * endpoint, and an endpoint is in the set of each queue and counter whose reading drives it.
 */
#include "sdr_ep_bind.h"
#include "sdr_av.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_eq.h"
#include "sdr_prov.h"
#include "sdr_pset.h"
#include "sdr_srx.h"
#include "sdr_wait.h"

static int sdr_ep_bind_cq(struct sdr_ep *ep, struct sdr_cq *cq, uint64_t flags)
{
	uint64_t comp = flags & FI_SELECTIVE_COMPLETION ? 0 : FI_COMPLETION;
	int ret;

	if ((flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION)) ||
	    !(flags & (FI_TRANSMIT | FI_RECV)))
		return -FI_EBADFLAGS;
	if (((flags & FI_TRANSMIT) && ep->tx_cq) || ((flags & FI_RECV) && ep->rx_cq))
		return -FI_EINVAL;
	if (cq->dom != ep->dom)
		return -FI_EINVAL;
	ret = sdr_pset_add(&cq->eps, ep);
	if (ret)
		return ret;
	if (flags & FI_TRANSMIT) {
		atomic_fetch_add(&cq->refs, 1);
		ep->tx_cq = cq;
		ep->tx_flags |= comp;
		ep->tx_msg_flags = comp;
	}
	if (flags & FI_RECV) {
		atomic_fetch_add(&cq->refs, 1);
		ep->rx_cq = cq;
		ep->rx_flags |= comp;
		ep->rx_msg_flags = comp;
	}
	return 0;
}

/*
 * Also when the endpoint is enabled: it counts from then on, and who sleeps on the counter looks
 * again, as the endpoint may have been asleep without an alarm.
 */
static int sdr_ep_bind_cntr(struct sdr_ep *ep, struct sdr_cntr *cntr, uint64_t flags)
{
	static const uint64_t bits[SDR_CNTR_KINDS] = { FI_SEND,	 FI_RECV,	 FI_READ,
						       FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE };
	int i, ret;

	if (!flags ||
	    (flags & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		return -FI_EBADFLAGS;
	if (cntr->dom != ep->dom)
		return -FI_EINVAL;
	for (i = 0; i < SDR_CNTR_KINDS; i++) {
		if ((flags & bits[i]) && ep->cntr[i])
			return -FI_EINVAL;
	}
	/* whether a peer's operations are reported was settled when it was enabled */
	if (ep->enabled && (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) &&
	    !(ep->caps & FI_RMA_EVENT))
		return -FI_EOPBADSTATE;
	ret = sdr_pset_add(&cntr->eps, ep);
	if (ret)
		return ret;
	if (ep->enabled) {
		ret = sdr_pset_watch(&cntr->eps, ep);
		if (ret) {
			sdr_pset_del(&cntr->eps, ep);
			return ret;
		}
	}
	pthread_mutex_lock(&ep->lock);
	for (i = 0; i < SDR_CNTR_KINDS; i++) {
		if (flags & bits[i]) {
			atomic_fetch_add(&cntr->refs, 1);
			ep->cntr[i] = cntr;
		}
	}
	pthread_mutex_unlock(&ep->lock);
	if (ep->enabled)
		sdr_wait_raise(&cntr->wait);
	return 0;
}

int sdr_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	int ret;

	if (ep->enabled && bfid->fclass != FI_CLASS_CNTR)
		return -FI_EOPBADSTATE;
	switch (bfid->fclass) {
	case FI_CLASS_AV:
		if (ep->av || ep->cm_ops ||
		    container_of(bfid, struct sdr_av, fid.fid)->dom != ep->dom)
			return -FI_EINVAL;
		ret = sdr_av_ep_add(container_of(bfid, struct sdr_av, fid.fid), ep);
		if (!ret)
			ep->av = container_of(bfid, struct sdr_av, fid.fid);
		return ret;
	case FI_CLASS_CQ:
		return sdr_ep_bind_cq(ep, container_of(bfid, struct sdr_cq, fid.fid), flags);
	case FI_CLASS_CNTR:
		return sdr_ep_bind_cntr(ep, container_of(bfid, struct sdr_cntr, fid.fid), flags);
	case FI_CLASS_SRX_CTX:
		return sdr_srx_bind(container_of(bfid, struct sdr_srx, fid.fid), ep);
	case FI_CLASS_EQ:
		if (ep->eq)
			return -FI_EINVAL;
		ep->eq = container_of(bfid, struct sdr_eq, fid.fid);
		atomic_fetch_add(&ep->eq->refs, 1);
		return 0;
	default:
		return -FI_EINVAL;
	}
}

void sdr_ep_bind_leave(struct sdr_ep *ep)
{
	int i;

	sdr_domain_ep_del(ep->dom, ep);
	if (ep->tx_cq)
		sdr_pset_del(&ep->tx_cq->eps, ep);
	if (ep->rx_cq)
		sdr_pset_del(&ep->rx_cq->eps, ep);
	for (i = 0; i < SDR_CNTR_KINDS; i++) {
		if (ep->cntr[i])
			sdr_pset_del(&ep->cntr[i]->eps, ep);
	}
}

void sdr_ep_bind_end(struct sdr_ep *ep)
{
	int i;

	if (ep->tx_cq) {
		sdr_wait_raise(&ep->tx_cq->wait);
		atomic_fetch_sub(&ep->tx_cq->refs, 1);
	}
	if (ep->rx_cq) {
		sdr_wait_raise(&ep->rx_cq->wait);
		atomic_fetch_sub(&ep->rx_cq->refs, 1);
	}
	for (i = 0; i < SDR_CNTR_KINDS; i++) {
		if (ep->cntr[i]) {
			sdr_wait_raise(&ep->cntr[i]->wait);
			atomic_fetch_sub(&ep->cntr[i]->refs, 1);
		}
	}
}
