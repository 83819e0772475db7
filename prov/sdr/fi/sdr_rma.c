/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_RMA on a reliable endpoint: the nine calls of fi_ops_rma.  Local buffers may be scattered; the
 * remote side is one contiguous range (rma_iov_limit 1) of the same total length.
 */
#include "sdr_ep.h"
#include "sdr_post.h"
#include "sdr_prov.h"

static ssize_t sdr_rma_post(struct sdr_ep *ep, uint8_t kind, const struct iovec *v, size_t count,
			    fi_addr_t peer, uint64_t addr, uint64_t key, uint64_t data,
			    void *context, uint64_t flags, void *const *desc)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_wr wr = { .kind = kind,
				 .iov = iov,
				 .data = data,
				 .rma_addr = addr,
				 .rma_key = key,
				 .ctx = context };
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	wr.niov = (uint8_t)n;
	return sdr_ep_post(ep, &wr, peer, flags, desc);
}

/* A message's remote side; its length must be that of the local one. */
static int sdr_rma_check(const struct fi_msg_rma *msg)
{
	size_t i, len = 0;

	if (msg->rma_iov_count != 1)
		return -FI_EINVAL;
	for (i = 0; i < msg->iov_count; i++)
		len += msg->msg_iov[i].iov_len;
	return len == msg->rma_iov[0].len ? 0 : -FI_EINVAL;
}

static ssize_t sdr_rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			    uint64_t addr, uint64_t key, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct iovec v = { buf, len };

	return sdr_rma_post(ep, SDR_REL_READ, &v, 1, src, addr, key, 0, context,
			    ep->tx_flags & ~FI_INJECT, &desc);
}

static ssize_t sdr_rma_readv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			     fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);

	return sdr_rma_post(ep, SDR_REL_READ, v, count, src, addr, key, 0, context,
			    ep->tx_flags & ~FI_INJECT, desc);
}

static ssize_t sdr_rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	int ret = sdr_rma_check(msg);

	if (ret)
		return ret;
	return sdr_rma_post(ep, SDR_REL_READ, msg->msg_iov, msg->iov_count, msg->addr,
			    msg->rma_iov->addr, msg->rma_iov->key, 0, msg->context,
			    (flags & ~(FI_INJECT | FI_REMOTE_CQ_DATA)) | ep->tx_msg_flags,
			    msg->desc);
}

static ssize_t sdr_rma_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			     fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct iovec v = { (void *)(uintptr_t)buf, len };

	return sdr_rma_post(ep, SDR_REL_WRITE, &v, 1, dest, addr, key, 0, context, ep->tx_flags,
			    &desc);
}

static ssize_t sdr_rma_writev(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			      fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);

	return sdr_rma_post(ep, SDR_REL_WRITE, v, count, dest, addr, key, 0, context, ep->tx_flags,
			    desc);
}

static ssize_t sdr_rma_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	int ret = sdr_rma_check(msg);

	if (ret)
		return ret;
	return sdr_rma_post(ep, SDR_REL_WRITE, msg->msg_iov, msg->iov_count, msg->addr,
			    msg->rma_iov->addr, msg->rma_iov->key, msg->data, msg->context,
			    flags | ep->tx_msg_flags, msg->desc);
}

static ssize_t sdr_rma_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
			      uint64_t addr, uint64_t key)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_WRITE, .niov = 1, .iov = &iov, .rma_addr = addr, .rma_key = key
	};

	return sdr_ep_post_inject(ep, &wr, dest, 0);
}

static ssize_t sdr_rma_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				 uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
				 void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct iovec v = { (void *)(uintptr_t)buf, len };

	return sdr_rma_post(ep, SDR_REL_WRITE, &v, 1, dest, addr, key, data, context,
			    ep->tx_flags | FI_REMOTE_CQ_DATA, &desc);
}

static ssize_t sdr_rma_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				  fi_addr_t dest, uint64_t addr, uint64_t key)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_WRITE,
				 .niov = 1,
				 .iov = &iov,
				 .data = data,
				 .rma_addr = addr,
				 .rma_key = key };

	return sdr_ep_post_inject(ep, &wr, dest, FI_REMOTE_CQ_DATA);
}

struct fi_ops_rma sdr_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = sdr_rma_read,
	.readv = sdr_rma_readv,
	.readmsg = sdr_rma_readmsg,
	.write = sdr_rma_write,
	.writev = sdr_rma_writev,
	.writemsg = sdr_rma_writemsg,
	.inject = sdr_rma_inject,
	.writedata = sdr_rma_writedata,
	.injectdata = sdr_rma_injectdata,
};
