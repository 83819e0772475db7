/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_RMA on a datagram endpoint: the calls of fi_ops_rma.  Writes, which are unreliable
 * (sdr_put.c): complete when they were handed to the network, so FI_INJECT_COMPLETE and
 * FI_TRANSMIT_COMPLETE are the same, and FI_DELIVERY_COMPLETE cannot be had.  One local buffer, one
 * remote range.  No reads: they would have to be answered.
 */
#include <errno.h>

#include "sdr_dgram_rma.h"
#include "sdr_av_table.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_progress.h"
#include "sdr_link.h"
#include "sdr_prov.h"
#include "sdr_put.h"

static ssize_t sdr_dgram_no(const char *what)
{
	sdr_warn_once("FI_EP_DGRAM: %s", what);
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_dgram_write_post(struct sdr_ep *ep, const struct sdr_put_wr *wr, fi_addr_t dest)
{
	struct sdr_uc_addr to;
	ssize_t ret;

	if (!(ep->caps & FI_WRITE))
		return sdr_dgram_no("FI_WRITE was not asked for");
	if (ep->tx_cq && wr->completes && sdr_cq_full(ep->tx_cq))
		return -FI_EAGAIN;
	if (wr->len > SDR_LINK_WRITE_MAX || (wr->inject && wr->len > ep->inject_size))
		return -FI_EMSGSIZE;
	if (!ep->av || sdr_av_addr(ep->av, dest, &to))
		return -FI_EADDRNOTAVAIL;
	pthread_mutex_lock(&ep->lock);
	if (!ep->links) {
		ret = -FI_EOPBADSTATE;
	} else {
		(void)sdr_ep_addr_home(ep, &to);
		ret = sdr_put_post(ep, &to, wr);
		if (ret == -FI_EAGAIN) {
			sdr_ep_touch(ep);
			sdr_ep_round(ep, NULL);
			ret = sdr_put_post(ep, &to, wr);
		}
	}
	sdr_ep_unlock(ep);
	return ret;
}

static ssize_t sdr_dgram_write_flags(struct sdr_ep *ep, struct sdr_put_wr *wr, fi_addr_t dest,
				     uint64_t flags)
{
	if (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE))
		return sdr_dgram_no("writes are unreliable: no FI_DELIVERY_COMPLETE");
	if (flags & FI_FENCE)
		return sdr_dgram_no("writes are unreliable: FI_FENCE has nothing to wait for");
	wr->has_data = flags & FI_REMOTE_CQ_DATA;
	wr->inject = flags & FI_INJECT;
	wr->completes = flags & FI_COMPLETION;
	return sdr_dgram_write_post(ep, wr, dest);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static ssize_t sdr_dgram_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			       fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_put_wr wr = {
		.buf = buf, .len = len, .addr = addr, .key = key, .context = context
	};

	(void)desc;
	return sdr_dgram_write_flags(ep, &wr, dest, ep->tx_flags);
}

static ssize_t sdr_dgram_writev(struct fid_ep *fid, const struct iovec *v, void **desc,
				size_t count, fi_addr_t dest, uint64_t addr, uint64_t key,
				void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return sdr_dgram_write(fid, count ? v->iov_base : NULL, count ? v->iov_len : 0, NULL, dest,
			       addr, key, context);
}

static ssize_t sdr_dgram_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_put_wr wr = { .data = msg->data, .context = msg->context };

	if (msg->iov_count > 1 || msg->rma_iov_count != 1)
		return -FI_EINVAL;
	if (msg->iov_count) {
		wr.buf = msg->msg_iov->iov_base;
		wr.len = msg->msg_iov->iov_len;
	}
	if (wr.len != msg->rma_iov->len)
		return -FI_EINVAL;
	wr.addr = msg->rma_iov->addr;
	wr.key = msg->rma_iov->key;
	return sdr_dgram_write_flags(ep, &wr, msg->addr, flags | ep->tx_msg_flags);
}

static ssize_t sdr_dgram_write_inject(struct fid_ep *fid, const void *buf, size_t len,
				      fi_addr_t dest, uint64_t addr, uint64_t key)
{
	struct sdr_put_wr wr = { .buf = buf, .len = len, .addr = addr, .key = key };

	return sdr_dgram_write_flags(container_of(fid, struct sdr_ep, fid), &wr, dest, FI_INJECT);
}

static ssize_t sdr_dgram_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				   uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
				   void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_put_wr wr = {
		.buf = buf, .len = len, .addr = addr, .key = key, .data = data, .context = context
	};

	(void)desc;
	return sdr_dgram_write_flags(ep, &wr, dest, ep->tx_flags | FI_REMOTE_CQ_DATA);
}

static ssize_t sdr_dgram_write_injectdata(struct fid_ep *fid, const void *buf, size_t len,
					  uint64_t data, fi_addr_t dest, uint64_t addr,
					  uint64_t key)
{
	struct sdr_put_wr wr = { .buf = buf, .len = len, .addr = addr, .key = key, .data = data };

	return sdr_dgram_write_flags(container_of(fid, struct sdr_ep, fid), &wr, dest,
				     FI_INJECT | FI_REMOTE_CQ_DATA);
}

static const char sdr_dgram_no_reads[] =
	"fi_read is not there: what is read would have to be answered and repeated; FI_EP_RDM does";

static ssize_t sdr_dgram_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			      uint64_t addr, uint64_t key, void *context)
{
	(void)fid;
	(void)buf;
	(void)len;
	(void)desc;
	(void)src;
	(void)addr;
	(void)key;
	(void)context;
	return sdr_dgram_no(sdr_dgram_no_reads);
}

static ssize_t sdr_dgram_readv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			       fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	(void)fid;
	(void)v;
	(void)desc;
	(void)count;
	(void)src;
	(void)addr;
	(void)key;
	(void)context;
	return sdr_dgram_no(sdr_dgram_no_reads);
}

static ssize_t sdr_dgram_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	(void)fid;
	(void)msg;
	(void)flags;
	return sdr_dgram_no(sdr_dgram_no_reads);
}

struct fi_ops_rma sdr_dgram_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = sdr_dgram_read,
	.readv = sdr_dgram_readv,
	.readmsg = sdr_dgram_readmsg,
	.write = sdr_dgram_write,
	.writev = sdr_dgram_writev,
	.writemsg = sdr_dgram_writemsg,
	.inject = sdr_dgram_write_inject,
	.writedata = sdr_dgram_writedata,
	.injectdata = sdr_dgram_write_injectdata,
};
