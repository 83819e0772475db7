/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Endpoints: what both types share, and the life of a reliable one.
 *
 * The engine (sdr_ep_engine.c) is opened by fi_enable, or earlier by a call that needs the name;
 * the reliable endpoint above it by fi_enable.  Everything is bound before that.  Closing takes the
 * endpoint out of every list, so that no other thread drives it, then lets it finish what it has
 * promised, for at most SDR_CLOSE_LINGER_MS. Traffic is in sdr_post.c, sdr_ep_progress.c and
 * sdr_ep_done.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/sdr_assert.h"
#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_ep.h"
#include "sdr_av.h"
#include "sdr_cm.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_dgram.h"
#include "sdr_dgram_rma.h"
#include "sdr_enosys.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_bind.h"
#include "sdr_ep_done.h"
#include "sdr_ep_engine.h"
#include "sdr_ep_opt.h"
#include "sdr_ep_progress.h"
#include "sdr_eq.h"
#include "sdr_ext.h"
#include "sdr_iface.h"
#include "sdr_paths.h"
#include "sdr_post.h"
#include "sdr_progress.h"
#include "sdr_msg_order.h"
#include "sdr_prov.h"
#include "sdr_put.h"
#include "sdr_rate_word.h"
#include "sdr_srx.h"
#include "sdr_stats.h"
#include "sdr_tclass.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* What the wall clock, which hosts have in common if anything, is ahead of the engine's; ns. */
static uint64_t sdr_ep_clock_ahead(struct sdr_uc *uc)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec - uc->ops->now(uc);
}

static int sdr_ep_rel_open(struct sdr_ep *ep)
{
	struct sdr_rel_attr attr = {
		.cfg = &ep->env.rel,
		.cbs = ep->cm_ops ? &sdr_ep_msg_cbs : &sdr_ep_cbs,
		.bonded = ep->cm_ops,
		.user = ep,
		.paths = sdr_paths_mem(ep->dom->paths),
		.match = ep->srx ? ep->srx->kind->match : NULL,
		.rma_events = (ep->caps & FI_RMA_EVENT) || ep->cntr[SDR_CNTR_REMOTE_READ] ||
			      ep->cntr[SDR_CNTR_REMOTE_WRITE],
	};
	struct sdr_uc_info info = { .far = false };
	struct sockaddr_storage name;
	char err[SDR_ENV_ERR];
	int ret;

	ep->uc->ops->info(ep->uc, &info);
	if (ep->hmem && info.far && !ep->env.rel.no_far)
		ep->env.rel.berths =
			0; /* the device writes in place, and nothing is to be copied */
	/*
	 * So that peers know us through address translation, by what they were told.  A connection
	 * of FI_EP_MSG is between those who made it.
	 */
	if (ep->cm_ops || sdr_ep_name(ep, &name) ||
	    sdr_uc_addr_from_sockaddr(&attr.name, (struct sockaddr *)&name))
		attr.name.len = 0;
	if (getrandom(attr.rand, sizeof(attr.rand), 0) != sizeof(attr.rand))
		return -FI_EIO;
	ret = sdr_rate_word(ep->env.rate_max.share, &ep->env.rel.ceiling, err, sizeof(err));
	if (ret && ep->env.rate_max.bps) {
		sdr_warn_once("%s", err);
		return ret;
	}
	ep->env.rel.rate_max_bps = ep->env.rate_max.bps;
	ep->env.rel.clock_ahead_ns = sdr_ep_clock_ahead(ep->uc);
	ep->env.rel.no_aliases |= ep->cm_ops != NULL;
	ep->env.rel.tx_depth = ep->tx_size;
	ep->env.rel.rx_depth = ep->rx_size;
	ep->env.rel.inject_max = (uint32_t)ep->inject_size;
	return sdr_rel_open(ep->ctx, &attr, &ep->rel);
}

/* Puts its descriptors into the sets of all bound queues and counters (some perhaps twice). */
static int sdr_ep_watch(struct sdr_ep *ep)
{
	int i, ret = 0;

	if (ep->tx_cq)
		ret = sdr_pset_watch(&ep->tx_cq->eps, ep);
	if (ep->rx_cq && !ret)
		ret = sdr_pset_watch(&ep->rx_cq->eps, ep);
	for (i = 0; i < SDR_CNTR_KINDS && !ret; i++) {
		if (ep->cntr[i])
			ret = sdr_pset_watch(&ep->cntr[i]->eps, ep);
	}
	return ret;
}

/*
 * Has the thread of its domain.  With manual progress, too: the application drives, but while it
 * computes for longer than its peers wait for an answer (FI_SDR_TIMEOUT), somebody must say that it
 * is alive.  What is linked (FI_PEER) is driven by another provider alone, under its lock.
 */
static bool sdr_ep_threaded(const struct sdr_ep *ep)
{
	return !(ep->dom->caps & FI_PEER) && (ep->dom->auto_progress || ep->type != FI_EP_DGRAM);
}

/* The application does not drive while it waits for a connection, or on a condition variable. */
static uint64_t sdr_ep_look_ns(const struct sdr_ep *ep)
{
	uint64_t ns = ep->env.rel.timeout_ms * 1000000ull / SDR_THREAD_LOOK_TIMES;

	if (ep->dom->auto_progress || ep->cm_ops || ep->dom->waits)
		return 0;
	return ns < SDR_THREAD_LOOK_NS ? ns : SDR_THREAD_LOOK_NS;
}

static int sdr_ep_enable(struct sdr_ep *ep)
{
	bool tx = ep->caps & (FI_SEND | FI_READ | FI_WRITE), rx = ep->caps & FI_RECV;
	int ret;

	if (ep->cm_ops ? !ep->eq : !ep->av)
		return ep->cm_ops ? -FI_ENOEQ : -FI_ENOAV;
	if (tx && !ep->tx_cq && !ep->cntr[SDR_CNTR_SEND] && !ep->cntr[SDR_CNTR_WRITE] &&
	    !ep->cntr[SDR_CNTR_READ])
		return -FI_ENOCQ;
	if (rx && !ep->rx_cq && !ep->cntr[SDR_CNTR_RECV])
		return -FI_ENOCQ;
	pthread_mutex_lock(&ep->lock);
	if (ep->enabled) { /* and the progress thread reads what follows */
		pthread_mutex_unlock(&ep->lock);
		return -FI_EOPBADSTATE;
	}
	ep->look_ns = sdr_ep_look_ns(ep);
	if (ep->look_ns)
		ep->thread_seen = UINT32_MAX; /* as if it had driven: it has that long to begin */
	ret = sdr_ep_engine_open(ep);
	if (!ret)
		ret = sdr_ep_alarm_open(ep);
	if (!ret)
		ret = ep->type != FI_EP_DGRAM ? sdr_ep_rel_open(ep) : sdr_dgram_open(ep);
	if (!ret)
		ep->enabled = true;
	pthread_mutex_unlock(&ep->lock);
	if (ret)
		return ret;
	ret = sdr_ep_watch(ep);
	if (!ret)
		ret = sdr_domain_ep_add(ep->dom, ep);
	if (!ret && sdr_ep_threaded(ep))
		ret = sdr_thread_start(ep->dom);
	return ret;
}

/* ---- handle ---------------------------------------------------------------------------------- */

/* Nothing of what was promised is left. */
static bool sdr_ep_quiet(struct sdr_ep *ep)
{
	return ep->rel ? sdr_rel_quiet(ep->rel) : !sdr_puts_busy(ep);
}

/* Lets an endpoint finish; under lock but for its sleeps, and no other thread drives it. */
static void sdr_ep_linger(struct sdr_ep *ep)
{
	uint64_t until = sdr_mono_ns() + SDR_CLOSE_LINGER_MS * 1000000ull, wait_ns, now;
	struct pollfd pfd = { .fd = ep->fd, .events = POLLIN };
	struct timespec ts;

	if (ep->rel)
		sdr_rel_shutdown(ep->rel);
	while (!ep->broken && !sdr_ep_quiet(ep)) {
		if (sdr_ep_round(ep, &wait_ns) > 0)
			continue;
		now = sdr_mono_ns();
		if (now >= until)
			break;
		if (wait_ns > until - now)
			wait_ns = until - now;
		if (wait_ns > 10 * SDR_THREAD_BACKOFF_NS)
			wait_ns = 10 * SDR_THREAD_BACKOFF_NS;
		ts.tv_sec = 0;
		ts.tv_nsec = (long)wait_ns;
		if (sdr_ep_quiet(ep))
			break;
		pthread_mutex_unlock(&ep->lock); /* for a region that closes meanwhile */
		ppoll(&pfd, 1, &ts, NULL);
		pthread_mutex_lock(&ep->lock);
	}
}

static int sdr_ep_close(struct fid *fid)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	int ret;

	sdr_cm_leave(ep);
	sdr_ep_bind_leave(ep);
	pthread_mutex_lock(&ep->lock);
	atomic_store(&ep->watch, 0);
	sdr_cm_shut(ep);
	if (ep->rel) {
		sdr_ep_linger(ep);
		sdr_stats_dump(ep);
		sdr_rel_close(ep->rel);
	} else if (ep->ctx) {
		if (ep->enabled)
			sdr_ep_linger(ep);
		sdr_dgram_close(ep);
		ret = sdr_context_destroy(ep->ctx);
		if (ret)
			FI_WARN(&sdr_prov, FI_LOG_EP_CTRL,
				"endpoint closed with queue pairs of fi_ext_sdr.h: memory leaks\n");
	}
	ep->rel = NULL;
	ep->ctx = NULL;
	ep->enabled = false;
	sdr_ep_alarm_close(ep);
	pthread_mutex_unlock(&ep->lock);
	if (ep->srx)
		sdr_srx_unbind(ep);
	sdr_domain_ep_gone(ep->dom, ep);

	sdr_ep_bind_end(ep);
	if (ep->av)
		sdr_av_ep_del(ep->av, ep);
	if (ep->eq) {
		if (ep->cm)
			sdr_eq_purge(ep->eq, fid);
		atomic_fetch_sub(&ep->eq->refs, 1);
	}
	sdr_cm_free(ep);
	atomic_fetch_sub(&ep->dom->refs, 1);
	pthread_mutex_destroy(&ep->lock);
	SDR_ASSERT(!ep->rel && !ep->ctx && ep->alarm_fd < 0);
	free(ep->peers);
	free(ep);
	return 0;
}

static int sdr_ep_opsflag(struct sdr_ep *ep, int command, uint64_t *flags)
{
	uint64_t side = *flags & (FI_TRANSMIT | FI_RECV);
	uint64_t *mine = side == FI_TRANSMIT ? &ep->tx_flags : &ep->rx_flags;

	if (side != FI_TRANSMIT && side != FI_RECV)
		return -FI_EINVAL;
	if (command == FI_SETOPSFLAG)
		*mine = *flags & ~side;
	else
		*flags = *mine;
	return 0;
}

static int sdr_ep_control(struct fid *fid, int command, void *arg)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);

	switch (command) {
	case FI_ENABLE:
		return sdr_ep_enable(ep);
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
		return sdr_ep_opsflag(ep, command, arg);
	default:
		return -FI_ENOSYS;
	}
}

static ssize_t sdr_ep_cancel(fid_t fid, void *context)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	ssize_t ret;

	pthread_mutex_lock(&ep->lock);
	if (!ep->enabled)
		ret = -FI_EOPBADSTATE;
	else if (ep->srx)
		ret = -FI_ENOSYS; /* receives are not its own */
	else if (ep->rel)
		ret = sdr_rel_cancel(ep->rel, context);
	else
		ret = sdr_dgram_cancel(ep, context);
	sdr_ep_unlock(ep);
	return ret;
}

static int sdr_ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	int ret;

	pthread_mutex_lock(&ep->lock);
	ret = sdr_ep_addr_set(ep, addr, addrlen);
	pthread_mutex_unlock(&ep->lock);
	return ret;
}

static int sdr_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	struct sockaddr_storage sa;
	int ret;

	pthread_mutex_lock(&ep->lock);
	ret = sdr_ep_engine_open(ep);
	if (!ret)
		ret = sdr_ep_name(ep, &sa);
	pthread_mutex_unlock(&ep->lock);
	return ret ? ret : sdr_ep_addr_give(&sa, addr, addrlen);
}

static struct fi_ops sdr_ep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_ep_close,
	.bind = sdr_ep_bind,
	.control = sdr_ep_control,
	.ops_open = sdr_ep_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_ep sdr_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = sdr_ep_cancel,
	.getopt = sdr_ep_getopt,
	.setopt = sdr_ep_setopt,
	.tx_ctx = sdr_no_tx_ctx,
	.rx_ctx = sdr_no_rx_ctx,
	.rx_size_left = sdr_no_size_left,
	.tx_size_left = sdr_no_size_left,
};

static struct fi_ops_cm sdr_ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = sdr_ep_setname,
	.getname = sdr_ep_getname,
	.getpeer = sdr_no_getpeer,
	.connect = sdr_no_connect,
	.listen = sdr_no_listen,
	.accept = sdr_no_accept,
	.reject = sdr_no_reject,
	.shutdown = sdr_no_shutdown,
	.join = sdr_no_join,
};

static struct fi_ops_cm sdr_ep_msg_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = sdr_ep_setname,
	.getname = sdr_ep_getname,
	.getpeer = sdr_cm_getpeer,
	.connect = sdr_cm_connect,
	.listen = sdr_no_listen,
	.accept = sdr_cm_accept,
	.reject = sdr_no_reject,
	.shutdown = sdr_cm_shutdown,
	.join = sdr_no_join,
};

int sdr_ep_open2(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid,
		 uint64_t flags, void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	uint8_t dscp = dom->env.dscp;
	struct sdr_ep *ep;
	int ret;

	if (flags)
		return -FI_EBADFLAGS;
	if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr || !info->domain_attr)
		return -FI_EINVAL;
	if (info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_MSG &&
	    info->ep_attr->type != FI_EP_DGRAM)
		return -FI_EINVAL;
	if (info->tx_attr->inject_size > SDR_INJECT_SIZE_MAX ||
	    info->tx_attr->size > SDR_TX_SIZE_MAX || info->rx_attr->size > SDR_RX_SIZE_MAX)
		return -FI_EINVAL;
	if (!sdr_tclass_of(info, &dscp)) {
		sdr_warn_once("traffic class 0x%x of the endpoint is not there: fi_tc_dscp_set of "
			      "0..63, or a label but FI_TC_NETWORK_CTRL",
			      info->tx_attr->tclass ? info->tx_attr->tclass
						    : info->domain_attr->tclass);
		return -FI_EINVAL;
	}
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ret = sdr_ep_addr_init(ep, info);
	if (!ret && info->ep_attr->type == FI_EP_MSG)
		ret = sdr_cm_open(ep, info->handle);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->dom = dom;
	ep->type = info->ep_attr->type;
	ep->fd = -1;
	ep->alarm_fd = -1;
	ep->alarm_due = UINT64_MAX;
	ep->caps = info->caps;
	ep->directed = info->caps & FI_DIRECTED_RECV;
	ep->want_src = info->caps & FI_SOURCE;
	ep->source_err = info->caps & FI_SOURCE_ERR;
	ep->hmem = ep->type != FI_EP_DGRAM && (info->caps & FI_HMEM);
	ep->rx_cq_data = (info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA;
	ep->tx_flags = info->tx_attr->op_flags;
	ep->rx_flags = info->rx_attr->op_flags;
	ep->min_multi = SDR_MULTI_RECV_MIN;
	ep->inject_size = info->tx_attr->inject_size;
	ep->tx_size = info->tx_attr->size ? (uint32_t)info->tx_attr->size : SDR_TX_SIZE;
	ep->rx_size = info->rx_attr->size ? (uint32_t)info->rx_attr->size : SDR_RX_SIZE;
	ep->env = dom->env;
	ep->env.dscp = dscp;
	sdr_msg_order_set(info->tx_attr->msg_order, &ep->env.rel.orders);
	pthread_mutex_init(&ep->lock, NULL);
	atomic_fetch_add(&dom->refs, 1);

	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &sdr_ep_fi_ops;
	ep->fid.ops = &sdr_ep_ops;
	ep->fid.cm = ep->cm_ops ? &sdr_ep_msg_cm_ops : &sdr_ep_cm_ops;
	ep->fid.msg = ep->type != FI_EP_DGRAM ? &sdr_msg_ops : &sdr_dgram_msg_ops;
	ep->fid.rma = ep->type != FI_EP_DGRAM ? &sdr_rma_ops
		      : ep->caps & FI_RMA     ? &sdr_dgram_rma_ops
					      : &sdr_no_rma_ops;
	ep->fid.tagged = ep->type != FI_EP_DGRAM ? &sdr_tagged_ops : &sdr_no_tagged_ops;
	ep->fid.atomic = ep->type != FI_EP_DGRAM ? &sdr_atomic_ops : &sdr_no_atomic_ops;
	ep->fid.collective = &sdr_no_collective_ops;
	*fid = &ep->fid;
	return 0;
}

int sdr_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid, void *context)
{
	return sdr_ep_open2(domain, info, fid, 0, context);
}
