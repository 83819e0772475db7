/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts: the handle that fi_srx_context gives, and what endpoints it has.  What the
 * receives are, and how messages come to them, is the business of its kind.
 */
#include "sdr_srx.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_prov.h"

static int sdr_srx_close(struct fid *fid)
{
	struct sdr_srx *srx = container_of(fid, struct sdr_srx, fid.fid);
	struct sdr_domain *dom = srx->dom;

	if (atomic_load(&srx->refs))
		return -FI_EBUSY;
	srx->kind->close(srx);
	atomic_fetch_sub(&dom->refs, 1);
	return 0;
}

/* There is nothing to enable, and programs that enable whatever they have opened are right, too. */
static int sdr_srx_control(struct fid *fid, int command, void *arg)
{
	(void)fid;
	(void)arg;
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops sdr_srx_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_srx_close,
	.bind = sdr_no_bind,
	.control = sdr_srx_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

int sdr_srx_bind(struct sdr_srx *srx, struct sdr_ep *ep)
{
	int ret;

	if (ep->srx || srx->dom != ep->dom)
		return -FI_EINVAL;
	ret = srx->kind->bind(srx, ep);
	if (ret)
		return ret;
	atomic_fetch_add(&srx->refs, 1);
	ep->srx = srx;
	return 0;
}

void sdr_srx_unbind(struct sdr_ep *ep)
{
	if (ep->srx->kind->leave)
		ep->srx->kind->leave(ep->srx, ep);
	atomic_fetch_sub(&ep->srx->refs, 1);
	ep->srx = NULL;
}

int sdr_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **fid,
		 void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	const struct sdr_srx_kind *kind =
		attr && (attr->op_flags & FI_PEER) ? &sdr_srx_peer : &sdr_srx_shared;
	struct sdr_srx *srx;
	int ret;

	ret = kind->open(dom, attr, context, &srx);
	if (ret)
		return ret;
	srx->kind = kind;
	srx->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &sdr_srx_fi_ops;
	srx->fid.rma = &sdr_no_rma_ops;
	srx->fid.atomic = &sdr_no_atomic_ops;
	*fid = &srx->fid;
	return 0;
}
