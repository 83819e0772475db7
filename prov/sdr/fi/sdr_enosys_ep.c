/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is not there on an object that is no endpoint of its own: messages and options of an
 * imported receive context.  Like sdr_enosys.c, which has the rest: -FI_ENOSYS for all of it.
 */
#include <rdma/fi_errno.h>

#include "sdr_enosys.h"

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

static ssize_t sdr_no_msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			       fi_addr_t src_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_iov(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			      fi_addr_t addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_msg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_inject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				   uint64_t data, fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				     fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

struct fi_ops_msg sdr_no_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = sdr_no_msg_recv,
	.recvv = sdr_no_msg_iov,
	.recvmsg = sdr_no_msg_msg,
	.send = sdr_no_msg_send,
	.sendv = sdr_no_msg_iov,
	.sendmsg = sdr_no_msg_msg,
	.inject = sdr_no_msg_inject,
	.senddata = sdr_no_msg_senddata,
	.injectdata = sdr_no_msg_injectdata,
};

static ssize_t sdr_no_cancel(fid_t fid, void *context)
{
	return -FI_ENOSYS;
}

static int sdr_no_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return -FI_ENOSYS;
}

static int sdr_no_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	return -FI_ENOSYS;
}

struct fi_ops_ep sdr_no_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = sdr_no_cancel,
	.getopt = sdr_no_getopt,
	.setopt = sdr_no_setopt,
	.tx_ctx = sdr_no_tx_ctx,
	.rx_ctx = sdr_no_rx_ctx,
	.rx_size_left = sdr_no_size_left,
	.tx_size_left = sdr_no_size_left,
};
