/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_EP_DGRAM: one message, one control datagram of class SDR_CLASS_DGRAM, unreliable and
 * unordered.
 *
 * (wire/sdr_dgram_msg.h: types 0 and 1; the others are of links and writes, sdr_link.c and
 * sdr_write_in.c.)
 *
 * A send is complete when the SDK's batch has it.  Receives are matched in order; datagrams that
 * find none posted wait in a ring of SDR_DGRAM_BACKLOG, further ones are lost, as a network may.  A
 * message longer than its buffer is an error completion (FI_ETRUNC).  Everything under the
 * endpoint's lock; the rings are allocated by fi_enable, nothing later.  SDR messages with bitmaps
 * go beside this, see sdr_ext.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc.h"

#include "sdr_dgram.h"
#include "sdr_av_table.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_done.h"
#include "sdr_ep_progress.h"
#include "sdr_link.h"
#include "sdr_notes.h"
#include "sdr_put.h"
#include "sdr_write_in.h"
#include "sdr_prov.h"

#define SDR_DGRAM_DATA_LEN 8u /* bytes of CQ data in front of the message */

struct sdr_dgram_rx {
	void *buf;
	size_t len;
	void *ctx;
	uint64_t uflags;
};

struct sdr_dgram_msg {
	struct sdr_uc_addr from;
	uint8_t type;
	uint16_t len; /* bytes used in b */
	uint8_t b[SDR_CTL_MAX];
};

struct sdr_dgram {
	uint32_t max; /* bytes of the largest message */
	uint32_t rx_mask, rx_head, rx_count;
	struct sdr_dgram_rx *rx;
	uint32_t msg_head, msg_count;
	struct sdr_dgram_msg *msg; /* SDR_DGRAM_BACKLOG */
	uint64_t lost;		   /* datagrams that found the ring full */
};

size_t sdr_dgram_max(uint32_t ctl_max)
{
	return ctl_max - SDR_CLASS_LEN - SDR_DGRAM_DATA_LEN;
}

/* A message meets a receive. */
static void sdr_dgram_deliver(struct sdr_ep *ep, const struct sdr_dgram_rx *rx,
			      const struct sdr_uc_addr *from, uint8_t type, const uint8_t *p,
			      size_t len)
{
	struct sdr_cqe e = {
		.ctx = rx->ctx,
		.flags = FI_RECV | FI_MSG,
		.buf = rx->buf,
		.src = FI_ADDR_NOTAVAIL,
	};
	size_t n;

	if (type == SDR_DGRAM_DATA) {
		e.data = sdr_get_le64(p);
		e.flags |= FI_REMOTE_CQ_DATA;
		p += SDR_DGRAM_DATA_LEN;
		len -= SDR_DGRAM_DATA_LEN;
	}
	n = len < rx->len ? len : rx->len;
	if (n)
		memcpy(rx->buf, p, n);
	e.len = n;
	if (ep->cntr[SDR_CNTR_RECV])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_RECV], n < len);
	if (n < len) {
		e.olen = len - n;
		e.err = FI_ETRUNC;
		e.prov_err = SDR_REL_ERR_TRUNC;
		sdr_ep_done_error(ep, ep->rx_cq, &e, from);
		return;
	}
	if (!(rx->uflags & SDR_UF_CQ) || !ep->rx_cq)
		return;
	if (ep->want_src)
		e.src = sdr_av_user_id(ep->av, sdr_av_find(ep->av, from));
	sdr_ep_done_from(ep, &e, from);
	sdr_cq_push(ep->rx_cq, &e);
}

/* Of links and writes. */
static void sdr_dgram_rma_arrived(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
				  const uint8_t *buf, size_t len)
{
	if (!ep->links) {
		if (type == SDR_DGRAM_OPEN)
			sdr_link_refuse(ep, from, buf, len);
		return;
	}
	if (type <= SDR_DGRAM_GONE)
		sdr_link_input(ep, from, type, buf, len);
	else if (type <= SDR_DGRAM_SENT)
		sdr_write_input(ep, from, type, buf, len);
}

/* From the SDK, inside a round. */
static void sdr_dgram_arrived(void *user, const struct sdr_uc_addr *from, uint8_t type,
			      const uint8_t *buf, size_t len)
{
	struct sdr_ep *ep = user;
	struct sdr_dgram *dg = ep->dg;
	struct sdr_dgram_msg *m;

	if (type > SDR_DGRAM_DATA) {
		sdr_dgram_rma_arrived(ep, from, type, buf, len);
		return;
	}
	if (len > SDR_CTL_MAX || (type == SDR_DGRAM_DATA && len < SDR_DGRAM_DATA_LEN))
		return;
	if (dg->rx_count) {
		sdr_dgram_deliver(ep, &dg->rx[dg->rx_head & dg->rx_mask], from, type, buf, len);
		dg->rx_head++;
		dg->rx_count--;
		return;
	}
	if (dg->msg_count == SDR_DGRAM_BACKLOG) {
		dg->lost++;
		return;
	}
	m = &dg->msg[(dg->msg_head + dg->msg_count) % SDR_DGRAM_BACKLOG];
	m->from = *from;
	m->type = type;
	m->len = (uint16_t)len;
	memcpy(m->b, buf, len);
	dg->msg_count++;
}

int sdr_dgram_open(struct sdr_ep *ep)
{
	struct sdr_dgram *dg = calloc(1, sizeof(*dg));
	struct sdr_uc_info info;
	uint32_t n = 1;

	if (!dg)
		return -FI_ENOMEM;
	while (n < ep->rx_size)
		n *= 2;
	dg->rx_mask = n - 1;
	dg->rx = calloc(n, sizeof(*dg->rx));
	dg->msg = malloc(SDR_DGRAM_BACKLOG * sizeof(*dg->msg));
	if (!dg->rx || !dg->msg || sdr_notes_open(ep) ||
	    ((ep->caps & FI_RMA) && sdr_links_open(ep))) {
		sdr_notes_close(ep);
		free(dg->rx);
		free(dg->msg);
		free(dg);
		return -FI_ENOMEM;
	}
	if (ep->links) {
		sdr_puts_open(ep);
		sdr_writes_open(ep);
	}
	ep->uc->ops->info(ep->uc, &info);
	dg->max = (uint32_t)sdr_dgram_max(info.ctl_max);
	ep->dg = dg;
	sdr_context_ctl_set(ep->ctx, SDR_CLASS_DGRAM, sdr_dgram_arrived, ep);
	return 0;
}

void sdr_dgram_close(struct sdr_ep *ep)
{
	struct sdr_dgram *dg = ep->dg;

	if (!dg)
		return;
	sdr_context_ctl_set(ep->ctx, SDR_CLASS_DGRAM, NULL, NULL);
	if (ep->links) {
		sdr_puts_close(ep);
		sdr_writes_close(ep);
		sdr_links_close(ep);
	}
	sdr_notes_close(ep);
	if (dg->lost)
		FI_INFO(&sdr_prov, FI_LOG_EP_DATA, "%llu datagrams found no receive posted\n",
			(unsigned long long)dg->lost);
	free(dg->rx);
	free(dg->msg);
	free(dg);
	ep->dg = NULL;
}

ssize_t sdr_dgram_cancel(struct sdr_ep *ep, void *context)
{
	struct sdr_dgram *dg = ep->dg;
	struct sdr_cqe e = { .flags = FI_RECV | FI_MSG,
			     .src = FI_ADDR_NOTAVAIL,
			     .err = FI_ECANCELED,
			     .prov_err = SDR_REL_ERR_CANCELED };
	uint32_t i;

	for (i = 0; i < dg->rx_count; i++) {
		if (dg->rx[(dg->rx_head + i) & dg->rx_mask].ctx == context)
			break;
	}
	if (i == dg->rx_count)
		return -FI_ENOENT;
	e.ctx = context;
	for (; i + 1 < dg->rx_count; i++)
		dg->rx[(dg->rx_head + i) & dg->rx_mask] =
			dg->rx[(dg->rx_head + i + 1) & dg->rx_mask];
	dg->rx_count--;
	if (ep->cntr[SDR_CNTR_RECV])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_RECV], true);
	sdr_ep_done_error(ep, ep->rx_cq, &e, NULL);
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static ssize_t sdr_dgram_post_recv(struct fid_ep *fid, void *buf, size_t len, void *context,
				   uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_dgram_rx rx = { buf, len, context, flags & FI_COMPLETION ? SDR_UF_CQ : 0 };
	struct sdr_dgram_msg *m;
	struct sdr_dgram *dg;
	ssize_t ret = 0;

	if (flags & (FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD))
		return -FI_EBADFLAGS;
	if (ep->rx_cq && sdr_cq_full(ep->rx_cq))
		return -FI_EAGAIN;
	pthread_mutex_lock(&ep->lock);
	dg = ep->dg;
	if (!dg) {
		ret = -FI_EOPBADSTATE;
	} else if (dg->msg_count) {
		m = &dg->msg[dg->msg_head % SDR_DGRAM_BACKLOG];
		sdr_dgram_deliver(ep, &rx, &m->from, m->type, m->b, m->len);
		dg->msg_head++;
		dg->msg_count--;
	} else if (dg->rx_count > dg->rx_mask || dg->rx_count == ep->rx_size) {
		ret = -FI_EAGAIN;
	} else {
		dg->rx[(dg->rx_head + dg->rx_count++) & dg->rx_mask] = rx;
	}
	pthread_mutex_unlock(&ep->lock);
	return ret;
}

static ssize_t sdr_dgram_post_send(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
				   uint64_t data, void *context, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_cqe e = {
		.ctx = context, .flags = FI_SEND | FI_MSG, .len = len, .src = FI_ADDR_NOTAVAIL
	};
	struct sdr_uc_addr to;
	uint8_t *p;
	size_t head = SDR_CLASS_LEN;
	ssize_t ret = 0;

	if (ep->tx_cq && (flags & FI_COMPLETION) && sdr_cq_full(ep->tx_cq))
		return -FI_EAGAIN;
	if (!ep->av || sdr_av_addr(ep->av, dest, &to))
		return -FI_EADDRNOTAVAIL;
	pthread_mutex_lock(&ep->lock);
	if (!ep->dg) {
		ret = -FI_EOPBADSTATE;
		goto out;
	}
	if (len > ep->dg->max || ((flags & FI_INJECT) && len > ep->inject_size)) {
		ret = -FI_EMSGSIZE;
		goto out;
	}
	(void)sdr_ep_addr_home(ep, &to);
	p = sdr_context_ctl_alloc(ep->ctx);
	if (!p) {
		sdr_ep_touch(ep);
		sdr_ep_round(ep, NULL);
		p = sdr_context_ctl_alloc(ep->ctx);
	}
	if (!p) {
		ret = -FI_EAGAIN;
		goto out;
	}
	sdr_class_encode(p, SDR_CLASS_DGRAM,
			 flags & FI_REMOTE_CQ_DATA ? SDR_DGRAM_DATA : SDR_DGRAM_PLAIN);
	if (flags & FI_REMOTE_CQ_DATA) {
		sdr_put_le64(p + head, data);
		head += SDR_DGRAM_DATA_LEN;
	}
	if (len)
		memcpy(p + head, buf, len);
	sdr_context_ctl_push(ep->ctx, &to, head + len);
	sdr_context_flush(ep->ctx);
	if (ep->cntr[SDR_CNTR_SEND])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_SEND], false);
	if ((flags & FI_COMPLETION) && ep->tx_cq)
		sdr_cq_push(ep->tx_cq, &e);
out:
	sdr_ep_unlock(ep);
	return ret;
}

static ssize_t sdr_dgram_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			      void *context)
{
	(void)desc;
	(void)src;
	return sdr_dgram_post_recv(fid, buf, len, context,
				   container_of(fid, struct sdr_ep, fid)->rx_flags);
}

static ssize_t sdr_dgram_recvv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			       fi_addr_t src, void *context)
{
	(void)desc;
	(void)src;
	if (count > 1)
		return -FI_EINVAL;
	return sdr_dgram_post_recv(fid, count ? v->iov_base : NULL, count ? v->iov_len : 0, context,
				   container_of(fid, struct sdr_ep, fid)->rx_flags);
}

static ssize_t sdr_dgram_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	size_t count = msg->iov_count;

	if (count > 1)
		return -FI_EINVAL;
	return sdr_dgram_post_recv(fid, count ? msg->msg_iov->iov_base : NULL,
				   count ? msg->msg_iov->iov_len : 0, msg->context,
				   flags | container_of(fid, struct sdr_ep, fid)->rx_msg_flags);
}

static ssize_t sdr_dgram_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			      fi_addr_t dest, void *context)
{
	(void)desc;
	return sdr_dgram_post_send(fid, buf, len, dest, 0, context,
				   container_of(fid, struct sdr_ep, fid)->tx_flags);
}

static ssize_t sdr_dgram_sendv(struct fid_ep *fid, const struct iovec *v, void **desc, size_t count,
			       fi_addr_t dest, void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return sdr_dgram_post_send(fid, count ? v->iov_base : NULL, count ? v->iov_len : 0, dest, 0,
				   context, container_of(fid, struct sdr_ep, fid)->tx_flags);
}

static ssize_t sdr_dgram_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	size_t count = msg->iov_count;

	if (count > 1)
		return -FI_EINVAL;
	return sdr_dgram_post_send(fid, count ? msg->msg_iov->iov_base : NULL,
				   count ? msg->msg_iov->iov_len : 0, msg->addr, msg->data,
				   msg->context,
				   flags | container_of(fid, struct sdr_ep, fid)->tx_msg_flags);
}

static ssize_t sdr_dgram_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	return sdr_dgram_post_send(fid, buf, len, dest, 0, NULL, FI_INJECT);
}

static ssize_t sdr_dgram_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				  uint64_t data, fi_addr_t dest, void *context)
{
	(void)desc;
	return sdr_dgram_post_send(fid, buf, len, dest, data, context,
				   container_of(fid, struct sdr_ep, fid)->tx_flags |
					   FI_REMOTE_CQ_DATA);
}

static ssize_t sdr_dgram_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				    fi_addr_t dest)
{
	return sdr_dgram_post_send(fid, buf, len, dest, data, NULL, FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_msg sdr_dgram_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = sdr_dgram_recv,
	.recvv = sdr_dgram_recvv,
	.recvmsg = sdr_dgram_recvmsg,
	.send = sdr_dgram_send,
	.sendv = sdr_dgram_sendv,
	.sendmsg = sdr_dgram_sendmsg,
	.inject = sdr_dgram_inject,
	.senddata = sdr_dgram_senddata,
	.injectdata = sdr_dgram_injectdata,
};
