/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Posting to a receive context that endpoints share: the six calls of fi_ops_msg and fi_ops_tagged
 * that receive, fi_cancel, and FI_OPT_MIN_MULTI_RECV.  Everything else is not there.
 *
 * Whether a success makes an entry is decided where the message comes in: an endpoint that is bound
 * to its queue selectively makes one for what was posted with FI_COMPLETION, any other for all.
 */
#include <string.h>

#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_post.h"
#include "sdr_prov.h"
#include "sdr_srx_meet.h"
#include "sdr_srx_post.h"
#include "sdr_srx_shared.h"

#define SRX_FLAGS_NOT_THERE (FI_PEEK | FI_CLAIM | FI_DISCARD)

static struct sdr_srx_shared *srx_of(struct fid_ep *fid)
{
	return container_of(fid, struct sdr_srx_shared, srx.fid);
}

static ssize_t srx_post(struct sdr_srx_shared *x, const struct sdr_rel_rr *what,
			const struct iovec *v, size_t count, void *const *desc, fi_addr_t src,
			uint64_t flags)
{
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	struct sdr_rel_rr rr = *what;
	int n = sdr_iov_copy(iov, v, count);

	if (n < 0)
		return n;
	if (flags & SRX_FLAGS_NOT_THERE)
		return -FI_EOPNOTSUPP;
	rr.niov = (uint8_t)n;
	rr.iov = iov;
	if (x->hmem && (n = sdr_post_mem(iov, rr.niov, desc, &rr.mem)))
		return n;
	rr.flags = flags & FI_MULTI_RECV ? SDR_REL_R_MULTI : 0;
	rr.uflags = flags & FI_COMPLETION ? SDR_UF_CQ : 0;
	return sdr_srx_shared_post(x, &rr, src);
}

static ssize_t srx_recvv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			 fi_addr_t src, void *context)
{
	struct sdr_srx_shared *x = srx_of(fid);
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .ctx = context };

	return srx_post(x, &rr, v, count, desc, src, x->op_flags);
}

static ssize_t srx_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct iovec v = { buf, len };

	return srx_recvv(fid, &v, &desc, 1, src, context);
}

static ssize_t srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .ctx = msg->context };

	return srx_post(srx_of(fid), &rr, msg->msg_iov, msg->iov_count, msg->desc, msg->addr,
			flags);
}

static ssize_t srx_trecvv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			  fi_addr_t src, uint64_t tag, uint64_t ignore, void *context)
{
	struct sdr_srx_shared *x = srx_of(fid);
	struct sdr_rel_rr rr = {
		.kind = SDR_REL_TRECV, .tag = tag, .ignore = ignore, .ctx = context
	};

	return srx_post(x, &rr, v, count, desc, src, x->op_flags & ~FI_MULTI_RECV);
}

static ssize_t srx_trecv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			 uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec v = { buf, len };

	return srx_trecvv(fid, &v, &desc, 1, src, tag, ignore, context);
}

static ssize_t srx_trecvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	struct sdr_rel_rr rr = {
		.kind = SDR_REL_TRECV, .tag = msg->tag, .ignore = msg->ignore, .ctx = msg->context
	};

	if (flags & FI_MULTI_RECV)
		return -FI_EBADFLAGS;
	return srx_post(srx_of(fid), &rr, msg->msg_iov, msg->iov_count, msg->desc, msg->addr,
			flags);
}

static ssize_t srx_cancel(fid_t fid, void *context)
{
	return sdr_srx_shared_cancel(container_of(fid, struct sdr_srx_shared, srx.fid.fid),
				     context);
}

static int srx_getopt(fid_t fid, int level, int name, void *val, size_t *len)
{
	struct sdr_srx_shared *x = container_of(fid, struct sdr_srx_shared, srx.fid.fid);
	size_t room = *len;

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	*len = sizeof(x->min_multi);
	if (room < *len)
		return -FI_ETOOSMALL;
	pthread_mutex_lock(&x->lock);
	memcpy(val, &x->min_multi, sizeof(x->min_multi));
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static int srx_setopt(fid_t fid, int level, int name, const void *val, size_t len)
{
	struct sdr_srx_shared *x = container_of(fid, struct sdr_srx_shared, srx.fid.fid);

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (len < sizeof(x->min_multi))
		return -FI_EINVAL;
	pthread_mutex_lock(&x->lock);
	memcpy(&x->min_multi, val, sizeof(x->min_multi));
	pthread_mutex_unlock(&x->lock);
	return 0;
}

void sdr_srx_post_ops(struct sdr_srx_shared *x)
{
	x->ops = sdr_no_ep_ops;
	x->ops.cancel = srx_cancel;
	x->ops.getopt = srx_getopt;
	x->ops.setopt = srx_setopt;
	x->msg = sdr_no_msg_ops;
	x->msg.recv = srx_recv;
	x->msg.recvv = srx_recvv;
	x->msg.recvmsg = srx_recvmsg;
	x->tagged = sdr_no_tagged_ops;
	x->tagged.recv = srx_trecv;
	x->tagged.recvv = srx_trecvv;
	x->tagged.recvmsg = srx_trecvmsg;
	x->srx.fid.ops = &x->ops;
	x->srx.fid.msg = &x->msg;
	x->srx.fid.tagged = &x->tagged;
}
