/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported counters: what ends here is counted by another provider's counter, the owner's, as
 * fi_peer(3) has it since libfabric 2.
 *
 * As with imported completion queues (sdr_cq_peer.c): nothing is kept here, fi_cntr_read drives the
 * endpoints that are bound and has no value to tell, and there is nothing to set or to wait for.
 * The owner is told under ep->lock, in whatever call ended the operation.
 */
#include <rdma/fi_errno.h>

#include "sdr_cntr_peer.h"
#include "sdr_cntr.h"
#include "sdr_peer_api.h"
#include "sdr_prov.h"

#ifdef SDR_PEER_CNTR

static void sdr_cntr_peer_bump(struct sdr_cntr *cntr, bool error)
{
	if (error)
		cntr->owner->owner_ops->incerr(cntr->owner);
	else
		cntr->owner->owner_ops->inc(cntr->owner);
}

static uint64_t sdr_cntr_peer_read(struct fid_cntr *fid)
{
	sdr_pset_progress(&container_of(fid, struct sdr_cntr, fid)->eps);
	return 0;
}

static uint64_t sdr_cntr_peer_readerr(struct fid_cntr *fid)
{
	(void)fid;
	return (uint64_t)-FI_ENOSYS;
}

static int sdr_cntr_peer_value(struct fid_cntr *fid, uint64_t value)
{
	(void)fid;
	(void)value;
	return -FI_ENOSYS;
}

static int sdr_cntr_peer_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	(void)timeout;
	return sdr_cntr_peer_value(fid, threshold);
}

static struct fi_ops_cntr sdr_cntr_peer_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = sdr_cntr_peer_read,
	.readerr = sdr_cntr_peer_readerr,
	.add = sdr_cntr_peer_value,
	.set = sdr_cntr_peer_value,
	.wait = sdr_cntr_peer_wait,
	.adderr = sdr_cntr_peer_value,
	.seterr = sdr_cntr_peer_value,
};

int sdr_cntr_import(struct sdr_cntr *cntr, const void *context)
{
	const struct fi_peer_cntr_context *c = context;

	if (!sdr_peer_same() || !c || c->size < sizeof(*c) || !c->cntr || !c->cntr->owner_ops ||
	    c->cntr->owner_ops->size < sizeof(struct fi_ops_cntr_owner))
		return -FI_EINVAL;
	cntr->owner = c->cntr;
	cntr->bump = sdr_cntr_peer_bump;
	cntr->fid.ops = &sdr_cntr_peer_ops;
	return 0;
}

#else

int sdr_cntr_import(struct sdr_cntr *cntr, const void *context)
{
	(void)cntr;
	(void)context;
	return -FI_EINVAL;
}

#endif
