/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_TAGGED on a reliable endpoint: the nine calls of fi_ops_tagged.  All 64 tag bits are the
 * application's. FI_PEEK, FI_CLAIM and FI_DISCARD come through trecvmsg.
 */
#include "sdr_ep.h"
#include "sdr_post.h"
#include "sdr_prov.h"

static ssize_t sdr_tagged_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			       uint64_t tag, uint64_t ignore, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { buf, len };
	struct sdr_rel_rr rr = { .kind = SDR_REL_TRECV,
				 .niov = 1,
				 .iov = &iov,
				 .tag = tag,
				 .ignore = ignore,
				 .ctx = context };

	return sdr_ep_post_recv(ep, &rr, src, ep->rx_flags & ~FI_MULTI_RECV, &desc);
}

static ssize_t sdr_tagged_recvv(struct fid_ep *fid, const struct iovec *v, void **desc,
				size_t count, fi_addr_t src, uint64_t tag, uint64_t ignore,
				void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_rr rr = {
		.kind = SDR_REL_TRECV, .iov = iov, .tag = tag, .ignore = ignore, .ctx = context
	};
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	rr.niov = (uint8_t)n;
	return sdr_ep_post_recv(ep, &rr, src, ep->rx_flags & ~FI_MULTI_RECV, desc);
}

static ssize_t sdr_tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
				  uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_rr rr = { .kind = SDR_REL_TRECV,
				 .iov = iov,
				 .tag = msg->tag,
				 .ignore = msg->ignore,
				 .ctx = msg->context };
	int n = sdr_iov_copy(iov, msg->msg_iov, msg->iov_count);

	if (n < 0)
		return n;
	if (flags & FI_MULTI_RECV)
		return -FI_EBADFLAGS;
	rr.niov = (uint8_t)n;
	return sdr_ep_post_recv(ep, &rr, msg->addr, flags | ep->rx_msg_flags, msg->desc);
}

static ssize_t sdr_tagged_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			       fi_addr_t dest, uint64_t tag, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_TSEND, .niov = 1, .iov = &iov, .tag = tag, .ctx = context
	};

	return sdr_ep_post(ep, &wr, dest, ep->tx_flags, &desc);
}

static ssize_t sdr_tagged_sendv(struct fid_ep *fid, const struct iovec *v, void **desc,
				size_t count, fi_addr_t dest, uint64_t tag, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_wr wr = { .kind = SDR_REL_TSEND, .iov = iov, .tag = tag, .ctx = context };
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	wr.niov = (uint8_t)n;
	return sdr_ep_post(ep, &wr, dest, ep->tx_flags, desc);
}

static ssize_t sdr_tagged_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
				  uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_wr wr = { .kind = SDR_REL_TSEND,
				 .iov = iov,
				 .tag = msg->tag,
				 .data = msg->data,
				 .ctx = msg->context };
	int n = sdr_iov_copy(iov, msg->msg_iov, msg->iov_count);

	if (n < 0)
		return n;
	wr.niov = (uint8_t)n;
	return sdr_ep_post(ep, &wr, msg->addr, flags | ep->tx_msg_flags, msg->desc);
}

static ssize_t sdr_tagged_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
				 uint64_t tag)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_TSEND, .niov = 1, .iov = &iov, .tag = tag };

	return sdr_ep_post_inject(ep, &wr, dest, 0);
}

static ssize_t sdr_tagged_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				   uint64_t data, fi_addr_t dest, uint64_t tag, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_TSEND,
				 .niov = 1,
				 .iov = &iov,
				 .tag = tag,
				 .data = data,
				 .ctx = context };

	return sdr_ep_post(ep, &wr, dest, ep->tx_flags | FI_REMOTE_CQ_DATA, &desc);
}

static ssize_t sdr_tagged_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				     fi_addr_t dest, uint64_t tag)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_TSEND, .niov = 1, .iov = &iov, .tag = tag, .data = data
	};

	return sdr_ep_post_inject(ep, &wr, dest, FI_REMOTE_CQ_DATA);
}

struct fi_ops_tagged sdr_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = sdr_tagged_recv,
	.recvv = sdr_tagged_recvv,
	.recvmsg = sdr_tagged_recvmsg,
	.send = sdr_tagged_send,
	.sendv = sdr_tagged_sendv,
	.sendmsg = sdr_tagged_sendmsg,
	.inject = sdr_tagged_inject,
	.senddata = sdr_tagged_senddata,
	.injectdata = sdr_tagged_injectdata,
};
