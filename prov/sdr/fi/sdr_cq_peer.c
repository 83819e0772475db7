/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported completion queues: what completes here is written into another provider's queue, the
 * owner's, as fi_peer(3) has it.
 *
 * The queue itself keeps nothing.  Reading it drives the endpoints bound to it, and is all that
 * the owner does with it: there is nothing to read, to wait for, or to say of an error but what
 * was written.  The owner locks, wakes, and has room for what is written; what it refuses is
 * counted as lost, and logged.  A write happens under ep->lock, in whatever call completed the
 * operation, a post too.
 */
#include <stdlib.h>
#include <string.h>

#include "rel/sdr_rel_err.h"

#include "sdr_cq_peer.h"
#include "sdr_cq.h"
#include "sdr_peer_api.h"
#include "sdr_prov.h"

static void sdr_cq_peer_push(struct sdr_cq *cq, const struct sdr_cqe *e)
{
	const struct fi_ops_cq_owner *ops = cq->owner->owner_ops;
	ssize_t ret;

	sdr_yield_busy(&cq->yield);
	if (e->err) {
		struct fi_cq_err_entry err = {
			.op_context = e->ctx,
			.flags = e->flags,
			.len = e->len,
			.buf = e->buf,
			.data = e->data,
			.tag = e->tag,
			.olen = e->olen,
			.err = e->err,
			.prov_errno = e->prov_err,
			.err_data = e->note ? e->note->bytes : NULL,
			.err_data_size = e->note ? e->note->len : 0,
		};

		ret = ops->writeerr(cq->owner, &err); /* copies the note */
		free(e->note);
	} else {
		ret = ops->write(cq->owner, e->ctx, e->flags, e->len, e->buf, e->data, e->tag,
				 e->src);
	}
	if (!ret)
		return;
	pthread_mutex_lock(&cq->lock);
	cq->lost++;
	pthread_mutex_unlock(&cq->lock);
	sdr_warn_once("the owner of a completion queue refused a completion, which was lost: %s",
		      fi_strerror((int)-ret));
}

static ssize_t sdr_cq_peer_read(struct fid_cq *fid, void *buf, size_t count)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);

	(void)buf;
	/* it is never slept here: the owner has others to look at, and what is published is his */
	if (sdr_yield_read(&cq->yield, sdr_pset_progress(&cq->eps)))
		sdr_yield_now(&cq->yield);
	return count ? -FI_ENOSYS : 0;
}

static ssize_t sdr_cq_peer_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src)
{
	(void)src;
	return sdr_cq_peer_read(fid, buf, count);
}

static ssize_t sdr_cq_peer_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	(void)fid;
	(void)buf;
	(void)flags;
	return -FI_ENOSYS;
}

static ssize_t sdr_cq_peer_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
				 int timeout)
{
	(void)fid;
	(void)buf;
	(void)count;
	(void)cond;
	(void)timeout;
	return -FI_ENOSYS;
}

static ssize_t sdr_cq_peer_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src,
				     const void *cond, int timeout)
{
	(void)src;
	return sdr_cq_peer_sread(fid, buf, count, cond, timeout);
}

static int sdr_cq_peer_signal(struct fid_cq *fid)
{
	(void)fid;
	return -FI_ENOSYS;
}

static const char *sdr_cq_peer_strerror(struct fid_cq *fid, int prov_errno, const void *err_data,
					char *buf, size_t len)
{
	(void)fid;
	(void)err_data;
	if (!buf || !len)
		return sdr_rel_strerror(prov_errno);
	sdr_rel_err_text(prov_errno, buf, len);
	return buf;
}

static struct fi_ops_cq sdr_cq_peer_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = sdr_cq_peer_read,
	.readfrom = sdr_cq_peer_readfrom,
	.readerr = sdr_cq_peer_readerr,
	.sread = sdr_cq_peer_sread,
	.sreadfrom = sdr_cq_peer_sreadfrom,
	.signal = sdr_cq_peer_signal,
	.strerror = sdr_cq_peer_strerror,
};

int sdr_cq_import(struct sdr_cq *cq, const void *context)
{
	const struct fi_peer_cq_context *c = context;

	if (!sdr_peer_same() || !c || c->size < sizeof(*c) || !c->cq || !c->cq->owner_ops ||
	    c->cq->owner_ops->size < sizeof(struct fi_ops_cq_owner))
		return -FI_EINVAL;
	cq->owner = c->cq;
	cq->push = sdr_cq_peer_push;
	cq->fid.ops = &sdr_cq_peer_ops;
	return 0;
}
