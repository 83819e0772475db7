/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What becomes of an endpoint's completions, and the other calls that rel makes back.
 *
 * A completion arrives in sdr_ep_done while a post or a round runs, under the endpoint's lock, and
 * becomes a CQ entry (errors and the release of a multi-receive's buffer always, successes when the
 * operation requested one) and a counter's step.  An error's entry says who and why.  What rel
 * decides for a peer goes to the log.  Remote keys are looked up in the domain's table, and long
 * work is lent to the domain's threads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hmem/sdr_hmem.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_ep_done.h"
#include "sdr_atomic_lock.h"
#include "sdr_cm.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_env.h"
#include "sdr_ep.h"
#include "sdr_av_table.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_peer.h"
#include "sdr_prov.h"
#include "sdr_region.h"
#include "sdr_srx.h"
#include "sdr_work.h"
#include "sdr_held.h"

/* What libfabric calls each kind of report, its counter, whether it is a receiver's, a peer's. */
#define SDR_KIND_ROWS(X)                                                                         \
	X(SDR_REL_SEND, FI_SEND | FI_MSG, SDR_CNTR_SEND, false, false)                           \
	X(SDR_REL_TSEND, FI_SEND | FI_TAGGED, SDR_CNTR_SEND, false, false)                       \
	X(SDR_REL_WRITE, FI_WRITE | FI_RMA, SDR_CNTR_WRITE, false, false)                        \
	X(SDR_REL_READ, FI_READ | FI_RMA, SDR_CNTR_READ, false, false)                           \
	X(SDR_REL_RECV, FI_RECV | FI_MSG, SDR_CNTR_RECV, true, false)                            \
	X(SDR_REL_TRECV, FI_RECV | FI_TAGGED, SDR_CNTR_RECV, true, false)                        \
	X(SDR_REL_REMOTE_WRITE, FI_REMOTE_WRITE | FI_RMA, SDR_CNTR_REMOTE_WRITE, true, true)     \
	X(SDR_REL_REMOTE_READ, FI_REMOTE_READ | FI_RMA, SDR_CNTR_REMOTE_READ, true, true)        \
	X(SDR_REL_ATOMIC, FI_WRITE | FI_ATOMIC, SDR_CNTR_WRITE, false, false)                    \
	X(SDR_REL_FETCH_ATOMIC, FI_READ | FI_ATOMIC, SDR_CNTR_READ, false, false)                \
	X(SDR_REL_REMOTE_ATOMIC, FI_REMOTE_WRITE | FI_ATOMIC, SDR_CNTR_REMOTE_WRITE, true, true) \
	X(SDR_REL_REMOTE_FETCH_ATOMIC, FI_REMOTE_READ | FI_ATOMIC, SDR_CNTR_REMOTE_READ, true,   \
	  true)                                                                                  \
	X(SDR_REL_CALL, 0, SDR_CNTR_SEND, false, false) /* no completion: sdr_cm.c */

static const struct {
	uint64_t flags;
	uint8_t cntr;
	bool rx, remote;
} sdr_kinds[] = {
#define X(kind, flags, cntr, rx, remote) [kind] = { flags, cntr, rx, remote },
	SDR_KIND_ROWS(X)
#undef X
};
/* Two rows of one kind are an error of their own. */
enum {
#define X(kind, ...) SDR_ROW_##kind,
	SDR_KIND_ROWS(X)
#undef X
		SDR_KIND_NROWS
};
_Static_assert(SDR_KIND_NROWS == SDR_REL_KINDS - 1, "a row for each kind of report");

uint8_t sdr_ep_done_cntr(uint8_t kind)
{
	return sdr_kinds[kind].cntr;
}

int sdr_ep_done_errno(int err)
{
	switch (-err) {
	case 0:
		return FI_EOTHER;
	case EMSGSIZE:
		return FI_ETRUNC;
	default:
		return -err; /* FI_E* are errno values below FI_ERRNO_OFFSET */
	}
}

void sdr_ep_done_error(struct sdr_ep *ep, struct sdr_cq *cq, struct sdr_cqe *e,
		       const struct sdr_uc_addr *who)
{
	const char *why = "";
	char addr[64] = "";
	char text[SDR_ENV_ERR], cause[SDR_REL_ERR_TEXT];

	SDR_ASSERT_HELD(&ep->lock);
	if (!cq)
		return;
	if (ep->uc && (e->prov_err == SDR_REL_ERR_ENGINE || e->prov_err == SDR_REL_ERR_REG ||
		       e->prov_err == SDR_REL_ERR_PATH || e->prov_err == SDR_REL_ERR_NOMEM))
		why = ep->uc->ops->reason(ep->uc);
	if (who)
		sdr_uc_addr_format(who, addr, sizeof(addr));
	sdr_rel_err_text(e->prov_err, cause, sizeof(cause));
	snprintf(text, sizeof(text), "%s%s%s%s%s", addr, addr[0] ? ": " : "", cause,
		 why[0] ? ": " : "", why);
	/* peeks that find nothing and cancelled receives are not reported */
	if (e->err != FI_ENOMSG && e->err != FI_ECANCELED)
		e->note = sdr_cq_note(true, text, strlen(text) + 1);
	sdr_cq_push(cq, e);
}

void sdr_ep_done_from(struct sdr_ep *ep, struct sdr_cqe *e, const struct sdr_uc_addr *from)
{
	struct sockaddr_storage sa;
	int len;

	if (!ep->source_err || e->src != FI_ADDR_NOTAVAIL || !from)
		return;
	len = sdr_uc_addr_to_sockaddr(from, &sa);
	if (len <= 0)
		return;
	e->err = FI_EADDRNOTAVAIL;
	e->note = sdr_cq_note(false, &sa, (size_t)len);
}

/* A peer's write with data takes a receive with it, whoever's they are. */
static void sdr_ep_spend(struct sdr_ep *ep, struct sdr_peer *peer, void **ctx)
{
	if (!ep->srx)
		(void)sdr_rel_recv_spend(ep->rel, peer, ctx);
	else if (ep->srx->kind->spend)
		(void)ep->srx->kind->spend(ep, peer, ctx);
}

static void sdr_ep_report(struct sdr_ep *ep, const struct sdr_rel_cqe *e)
{
	bool rx = sdr_kinds[e->kind].rx, remote = sdr_kinds[e->kind].remote;
	struct sdr_cq *cq = rx ? ep->rx_cq : ep->tx_cq;
	struct sdr_cntr *cntr = ep->cntr[sdr_kinds[e->kind].cntr];
	struct sdr_cqe c = {
		.ctx = e->ctx,
		.flags = sdr_kinds[e->kind].flags,
		.len = e->len,
		.buf = e->buf,
		.data = e->data,
		.tag = e->tag,
		.src = FI_ADDR_NOTAVAIL,
		.olen = e->olen,
	};

	SDR_ASSERT_HELD(&ep->lock);
	if (!c.flags) {
		ep->cm_ops->done(ep, e);
		return;
	}
	if (e->has_data)
		c.flags |= FI_REMOTE_CQ_DATA;
	if (e->multi_last)
		c.flags |= FI_MULTI_RECV;
	if (e->multi_only)
		c.flags = FI_MULTI_RECV | FI_RECV | FI_MSG;
	else if (cntr)
		sdr_cntr_bump(cntr, e->err != 0);

	if (e->err) {
		c.err = sdr_ep_done_errno(e->err);
		c.prov_err = e->prov_err;
		FI_INFO(&sdr_prov, FI_LOG_EP_DATA, "operation failed: %s\n",
			sdr_rel_strerror(e->prov_err));
		sdr_ep_done_error(ep, cq, &c, e->peer ? sdr_peer_addr(e->peer) : NULL);
		return;
	}
	if (remote) {
		sdr_regions_event(ep->dom, e->key, sdr_kinds[e->kind].cntr == SDR_CNTR_REMOTE_READ,
				  e->changed);
		if (!e->has_data)
			return;
		if (ep->rx_cq_data && e->kind == SDR_REL_REMOTE_WRITE)
			sdr_ep_spend(ep, e->peer, &c.ctx);
	} else if (!(e->uflags & SDR_UF_CQ)) {
		if (!e->multi_last)
			return;
		/*
		 * The buffer's release is always reported; the message itself is not.
		 */
		c = (struct sdr_cqe){ .ctx = e->ctx,
				      .flags = FI_MULTI_RECV,
				      .src = FI_ADDR_NOTAVAIL };
		rx = false;
	}
	if (!cq)
		return;
	if (rx) {
		c.src = sdr_ep_source(ep, e->peer);
		sdr_ep_done_from(ep, &c, e->peer ? sdr_peer_addr(e->peer) : NULL);
	}
	sdr_cq_push(cq, &c);
}

static void sdr_ep_done(void *user, const struct sdr_rel_cqe *e)
{
	struct sdr_ep *ep = user;
	struct sdr_rel_cqe mine;
	void *lent;

	if (!(e->uflags & SDR_UF_LENT)) {
		sdr_ep_report(ep, e);
		return;
	}
	lent = ep->srx->kind->unwrap(ep, e, &mine);
	sdr_ep_report(ep, &mine);
	ep->srx->kind->give_back(ep, lent);
}

static int sdr_ep_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
			 void **va, void **region)
{
	return sdr_regions_get(((struct sdr_ep *)user)->dom, key, addr, len, access, va, region);
}

/* What is decided for a peer changes now and then, not with every message. */
static void sdr_ep_note(void *user, struct sdr_peer *peer, const char *text)
{
	char addr[64] = "";

	(void)user;
	if (!fi_log_enabled(&sdr_prov, FI_LOG_INFO, FI_LOG_EP_DATA))
		return;
	sdr_uc_addr_format(sdr_peer_addr(peer), addr, sizeof(addr));
	FI_INFO(&sdr_prov, FI_LOG_EP_DATA, "%s: %s\n", addr, text);
}

/* A peer says that this is its address: has the application heard of it? */
static bool sdr_ep_knows(void *user, const struct sdr_uc_addr *addr)
{
	struct sdr_uc_addr near = *addr;
	struct sdr_ep *ep = user;

	/* One of this host's is known by where it is. */
	return ep->av && !sdr_ep_addr_home(ep, &near) &&
	       sdr_av_find(ep->av, addr) != FI_ADDR_NOTAVAIL;
}

static bool sdr_ep_lend(void *user, struct sdr_job *job)
{
	struct sdr_ep *ep = user;
	int ret;

	if (!ep->env.ec_threads)
		return false;
	ret = sdr_work_give(&ep->dom->work, job, ep->env.ec_threads);
	if (ret && ret != -ECHILD && ret != -ECANCELED)
		sdr_warn_once(
			"no thread to make parity with, or to decode: %s; the one that drives the endpoint does "
			"it alone (raise the limit of threads, ulimit -u, or set FI_SDR_EC_THREADS=0)",
			strerror(-ret));
	return ret == 0;
}

static bool sdr_ep_reclaim(void *user, struct sdr_job *job)
{
	return sdr_work_take(&((struct sdr_ep *)user)->dom->work, job);
}

static void sdr_ep_wake(void *user)
{
	sdr_ep_alarm_ring(user);
}

static const struct sdr_mem *sdr_ep_mr_mem(void *user, void *region)
{
	(void)user;
	return ((const struct sdr_region *)region)->hmem;
}

static void *sdr_ep_stage_alloc(void *user, uint64_t bytes)
{
	(void)user;
	return sdr_hmem_host_alloc(bytes);
}

static void sdr_ep_stage_free(void *user, void *p, uint64_t bytes)
{
	(void)user;
	sdr_hmem_host_free(p, bytes);
}

static void sdr_ep_far_refused(void *user, const char *why)
{
	(void)user;
	sdr_warn_once("data of devices pass through memory of the host, not straight to the RDMA "
		      "device: %s",
		      why);
}

static int sdr_ep_call(void *user, struct sdr_peer *peer, const uint8_t *buf, size_t len)
{
	struct sdr_ep *ep = user;
	struct sdr_cm_msg m;

	return sdr_cm_decode(buf, len, &m) ? SDR_REL_ERR_NOBODY : ep->cm_ops->call(ep, peer, &m);
}

static void sdr_ep_gone(void *user, struct sdr_peer *peer, int err)
{
	struct sdr_ep *ep = user;

	ep->cm_ops->gone(ep, peer, err);
}

const struct sdr_rel_cbs sdr_ep_msg_cbs = {
	.done = sdr_ep_done,
	.mr_get = sdr_ep_mr_get,
	.atomic_enter = sdr_atomic_enter,
	.atomic_leave = sdr_atomic_leave,
	.note = sdr_ep_note,
	.lend = sdr_ep_lend,
	.reclaim = sdr_ep_reclaim,
	.wake = sdr_ep_wake,
	.mr_mem = sdr_ep_mr_mem,
	.stage_alloc = sdr_ep_stage_alloc,
	.stage_free = sdr_ep_stage_free,
	.far_refused = sdr_ep_far_refused,
	.call = sdr_ep_call,
	.gone = sdr_ep_gone,
};

const struct sdr_rel_cbs sdr_ep_cbs = {
	.done = sdr_ep_done,
	.mr_get = sdr_ep_mr_get,
	.atomic_enter = sdr_atomic_enter,
	.atomic_leave = sdr_atomic_leave,
	.knows = sdr_ep_knows,
	.note = sdr_ep_note,
	.lend = sdr_ep_lend,
	.reclaim = sdr_ep_reclaim,
	.wake = sdr_ep_wake,
	.mr_mem = sdr_ep_mr_mem,
	.stage_alloc = sdr_ep_stage_alloc,
	.stage_free = sdr_ep_stage_free,
	.far_refused = sdr_ep_far_refused,
};
