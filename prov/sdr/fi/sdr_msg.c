/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_MSG on a reliable endpoint: the nine calls of fi_ops_msg.  Calls without flags use the
 * endpoint's default flags; those with a message structure add only FI_COMPLETION of a
 * non-selective binding.
 */
#include "sdr_ep.h"
#include "sdr_post.h"
#include "sdr_prov.h"

static ssize_t sdr_msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			    void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { buf, len };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &iov, .ctx = context };

	return sdr_ep_post_recv(ep, &rr, src, ep->rx_flags, &desc);
}

static ssize_t sdr_msg_recvv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			     fi_addr_t src, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .iov = iov, .ctx = context };
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	rr.niov = (uint8_t)n;
	return sdr_ep_post_recv(ep, &rr, src, ep->rx_flags, desc);
}

static ssize_t sdr_msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .iov = iov, .ctx = msg->context };
	int n = sdr_iov_copy(iov, msg->msg_iov, msg->iov_count);

	if (n < 0)
		return n;
	rr.niov = (uint8_t)n;
	return sdr_ep_post_recv(ep, &rr, msg->addr, flags | ep->rx_msg_flags, msg->desc);
}

static ssize_t sdr_msg_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    fi_addr_t dest, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .ctx = context };

	return sdr_ep_post(ep, &wr, dest, ep->tx_flags, &desc);
}

static ssize_t sdr_msg_sendv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			     fi_addr_t dest, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .iov = iov, .ctx = context };
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	wr.niov = (uint8_t)n;
	return sdr_ep_post(ep, &wr, dest, ep->tx_flags, desc);
}

static ssize_t sdr_msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_SEND, .iov = iov, .data = msg->data, .ctx = msg->context
	};
	int n = sdr_iov_copy(iov, msg->msg_iov, msg->iov_count);

	if (n < 0)
		return n;
	wr.niov = (uint8_t)n;
	return sdr_ep_post(ep, &wr, msg->addr, flags | ep->tx_msg_flags, msg->desc);
}

static ssize_t sdr_msg_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &iov };

	return sdr_ep_post_inject(ep, &wr, dest, 0);
}

static ssize_t sdr_msg_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				uint64_t data, fi_addr_t dest, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .data = data, .ctx = context
	};

	return sdr_ep_post(ep, &wr, dest, ep->tx_flags | FI_REMOTE_CQ_DATA, &desc);
}

static ssize_t sdr_msg_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				  fi_addr_t dest)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .data = data };

	return sdr_ep_post_inject(ep, &wr, dest, FI_REMOTE_CQ_DATA);
}

struct fi_ops_msg sdr_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = sdr_msg_recv,
	.recvv = sdr_msg_recvv,
	.recvmsg = sdr_msg_recvmsg,
	.send = sdr_msg_send,
	.sendv = sdr_msg_sendv,
	.sendmsg = sdr_msg_sendmsg,
	.inject = sdr_msg_inject,
	.senddata = sdr_msg_senddata,
	.injectdata = sdr_msg_injectdata,
};
