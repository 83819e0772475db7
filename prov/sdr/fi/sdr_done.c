/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The traffic side of an endpoint: one round of it, its peers, and what becomes of completions.
 *
 * Completions arrive in sdr_ep_done while a post or a round runs, under the endpoint's lock, and
 * become a CQ entry (errors and the release of a multi-receive's buffer always, successes when the
 * operation asked for one) and a counter's step.  Peers are found by fi_addr in an array that the
 * endpoint fills as addresses are used; the other way round, for FI_SOURCE, the peer carries its
 * fi_addr.  What is decided for a peer goes to the log.  When the engine fails for good the
 * endpoint stops being driven; its operations have been failed by then.
 */
#include <errno.h>
#include <stdio.h>

#include "sdr_fi.h"

#define SDR_CHOKED_NS 10000000ull /* until an endpoint with too much unread is looked at again */

/* ---- completions ----------------------------------------------------------------------------- */

static const struct {
	uint64_t flags;
	uint8_t cntr;
	bool rx;
} sdr_kinds[] = {
	[SDR_REL_SEND] = { FI_SEND | FI_MSG, SDR_CNTR_SEND, false },
	[SDR_REL_TSEND] = { FI_SEND | FI_TAGGED, SDR_CNTR_SEND, false },
	[SDR_REL_WRITE] = { FI_WRITE | FI_RMA, SDR_CNTR_WRITE, false },
	[SDR_REL_READ] = { FI_READ | FI_RMA, SDR_CNTR_READ, false },
	[SDR_REL_RECV] = { FI_RECV | FI_MSG, SDR_CNTR_RECV, true },
	[SDR_REL_TRECV] = { FI_RECV | FI_TAGGED, SDR_CNTR_RECV, true },
	[SDR_REL_REMOTE_WRITE] = { FI_REMOTE_WRITE | FI_RMA, SDR_CNTR_REMOTE_WRITE, true },
	[SDR_REL_REMOTE_READ] = { FI_REMOTE_READ | FI_RMA, SDR_CNTR_REMOTE_READ, true },
};

/* What the application sees of a cause. */
static int sdr_ep_fi_err(const struct sdr_rel_cqe *e)
{
	switch (e->prov_err) {
	case SDR_REL_ERR_NO_ANSWER:
	case SDR_REL_ERR_STOPPED:
		return FI_ETIMEDOUT;
	case SDR_REL_ERR_RESTARTED:
		return FI_ECONNRESET;
	case SDR_REL_ERR_CLOSED:
		return FI_ECONNABORTED;
	case SDR_REL_ERR_REFUSED:
		return FI_ECONNREFUSED;
	case SDR_REL_ERR_KEY:
		return FI_EACCES;
	case SDR_REL_ERR_TRUNC:
		return FI_ETRUNC;
	case SDR_REL_ERR_CANCELED:
		return FI_ECANCELED;
	case SDR_REL_ERR_NOMEM:
		return FI_ENOMEM;
	case SDR_REL_ERR_ENGINE:
		return FI_EIO;
	case SDR_REL_ERR_NOMSG:
		return FI_ENOMSG;
	default:
		return e->err ? -e->err : FI_EOTHER;
	}
}

void sdr_ep_done_error(struct sdr_ep *ep, struct sdr_cq *cq, struct sdr_cqe *e,
		       const struct sdr_uc_addr *who)
{
	const char *why = "";
	char addr[64] = "";
	char text[SDR_ENV_ERR];

	if (!cq)
		return;
	if (ep->uc && (e->prov_err == SDR_REL_ERR_ENGINE || e->prov_err == SDR_REL_ERR_REG ||
		       e->prov_err == SDR_REL_ERR_PATH || e->prov_err == SDR_REL_ERR_NOMEM))
		why = ep->uc->ops->reason(ep->uc);
	if (who)
		sdr_uc_addr_format(who, addr, sizeof(addr));
	snprintf(text, sizeof(text), "%s%s%s%s%s", addr, addr[0] ? ": " : "",
		 sdr_rel_strerror(e->prov_err), why[0] ? ": " : "", why);
	/* peeks that find nothing and cancelled receives are no news */
	e->text = e->err == FI_ENOMSG || e->err == FI_ECANCELED ? NULL : strdup(text);
	sdr_cq_push(cq, e);
}

fi_addr_t sdr_ep_source(struct sdr_ep *ep, struct sdr_peer *peer)
{
	uint64_t a;

	if (!ep->want_src || !peer || !ep->av)
		return FI_ADDR_NOTAVAIL;
	a = sdr_peer_user(peer);
	if (a == UINT64_MAX) {
		a = sdr_av_find(ep->av, sdr_peer_addr(peer));
		if (a != FI_ADDR_NOTAVAIL)
			sdr_peer_user_set(peer, a);
	}
	return a;
}

static void sdr_ep_done(void *user, const struct sdr_rel_cqe *e)
{
	struct sdr_ep *ep = user;
	bool rx = sdr_kinds[e->kind].rx, remote = e->kind >= SDR_REL_REMOTE_WRITE;
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

	if (e->has_data)
		c.flags |= FI_REMOTE_CQ_DATA;
	if (e->multi_last)
		c.flags |= FI_MULTI_RECV;
	if (e->multi_only)
		c.flags = FI_MULTI_RECV | FI_RECV | FI_MSG;
	else if (cntr)
		sdr_cntr_bump(cntr, e->err != 0);

	if (e->err) {
		c.err = sdr_ep_fi_err(e);
		c.prov_err = e->prov_err;
		FI_INFO(&sdr_prov, FI_LOG_EP_DATA, "operation failed: %s\n",
			sdr_rel_strerror(e->prov_err));
		sdr_ep_done_error(ep, cq, &c, e->peer ? sdr_peer_addr(e->peer) : NULL);
		return;
	}
	if (remote) {
		sdr_regions_event(ep->dom, e->key, e->kind == SDR_REL_REMOTE_WRITE);
		if (!e->has_data)
			return;
	} else if (!(e->uflags & SDR_UF_CQ)) {
		if (!e->multi_last)
			return;
		/*
		 * The buffer's release is told always; of the message itself nobody wants to hear.
		 */
		c = (struct sdr_cqe){ .ctx = e->ctx,
				      .flags = FI_MULTI_RECV,
				      .src = FI_ADDR_NOTAVAIL };
		rx = false;
	}
	if (!cq)
		return;
	if (rx)
		c.src = sdr_ep_source(ep, e->peer);
	sdr_cq_push(cq, &c);
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

static bool sdr_ep_work(void *user, struct sdr_job *job)
{
	struct sdr_ep *ep = user;
	int ret;

	if (!ep->env.ec_threads)
		return false;
	ret = sdr_work_give(&ep->dom->work, job, ep->env.ec_threads);
	if (ret && ret != -ECHILD && ret != -ECANCELED)
		sdr_complain(
			"no thread to make parity with: %s; the sending one does it alone (raise the limit of "
			"threads, ulimit -u, or set FI_SDR_EC_THREADS=0)",
			strerror(-ret));
	return ret == 0;
}

static bool sdr_ep_unwork(void *user, struct sdr_job *job)
{
	return sdr_work_take(&((struct sdr_ep *)user)->dom->work, job);
}

const struct sdr_rel_cbs sdr_ep_cbs = {
	.done = sdr_ep_done,
	.mr_get = sdr_ep_mr_get,
	.note = sdr_ep_note,
	.work = sdr_ep_work,
	.unwork = sdr_ep_unwork,
};

/* ---- driving --------------------------------------------------------------------------------- */

/* The rest of a round that has to wait because too much is unread. */
bool sdr_ep_choked(const struct sdr_ep *ep)
{
	return (ep->rx_cq &&
		atomic_load_explicit(&ep->rx_cq->count, memory_order_relaxed) >= SDR_CQ_SIZE_MAX) ||
	       (ep->tx_cq &&
		atomic_load_explicit(&ep->tx_cq->count, memory_order_relaxed) >= SDR_CQ_SIZE_MAX);
}

uint64_t sdr_ep_due(struct sdr_ep *ep)
{
	uint64_t ns;

	if (!ep->enabled || ep->broken)
		return UINT64_MAX;
	if (ep->rel && !sdr_ep_choked(ep))
		return sdr_rel_deadline(ep->rel);
	ns = ep->rel ? SDR_CHOKED_NS : sdr_context_timeout(ep->ctx);
	return ns == UINT64_MAX ? ns : ep->uc->ops->now(ep->uc) + ns;
}

bool sdr_ep_arm(struct sdr_ep *ep)
{
	return ep->enabled && !ep->broken && ep->uc->ops->arm(ep->uc);
}

void sdr_ep_reason(struct sdr_ep *ep)
{
	const char *why = ep->uc->ops->reason(ep->uc);

	if (!why[0] || strncmp(why, ep->told, sizeof(ep->told) - 1) == 0)
		return;
	snprintf(ep->told, sizeof(ep->told), "%s", why);
	FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "%s\n", ep->told);
}

int sdr_ep_drive(struct sdr_ep *ep)
{
	int ret;

	if (!ep->enabled || ep->broken || sdr_ep_choked(ep))
		return 0;
	ret = ep->rel ? sdr_rel_progress(ep->rel) : sdr_context_progress(ep->ctx);
	sdr_ep_reason(ep);
	if (ret < 0 && ret != -EAGAIN) {
		ep->broken = true;
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "endpoint stopped: %s (%s)\n",
			ep->uc->ops->reason(ep->uc), fi_strerror(-ret));
	}
	return ret;
}

int sdr_ep_round(struct sdr_ep *ep, uint64_t *wait_ns)
{
	int ret = sdr_ep_drive(ep);
	uint64_t due, now;

	if (atomic_load_explicit(&ep->watch, memory_order_relaxed) || ep->alarm_due != UINT64_MAX)
		sdr_ep_alarm_driven(ep);
	if (!wait_ns)
		return ret;
	due = sdr_ep_due(ep);
	if (due && sdr_ep_arm(ep))
		due = 0;
	now = due && due != UINT64_MAX ? ep->uc->ops->now(ep->uc) : 0;
	*wait_ns = due == UINT64_MAX ? due : due > now ? due - now : 0;
	return ret;
}

/* ---- peers ----------------------------------------------------------------------------------- */

struct sdr_peer *sdr_ep_peer_slow(struct sdr_ep *ep, fi_addr_t fi_addr)
{
	struct sdr_uc_addr addr;
	struct sdr_peer **v, *peer;
	uint32_t n = ep->npeers ? ep->npeers : 64;

	if (!ep->av || sdr_av_addr(ep->av, fi_addr, &addr))
		return NULL;
	while (n <= fi_addr)
		n *= 2;
	if (n != ep->npeers) {
		v = realloc(ep->peers, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + ep->npeers, 0, (n - ep->npeers) * sizeof(*v));
		ep->peers = v;
		ep->npeers = n;
	}
	peer = sdr_rel_peer(ep->rel, &addr);
	if (peer) {
		ep->peers[fi_addr] = peer;
		if (sdr_peer_user(peer) == UINT64_MAX)
			sdr_peer_user_set(peer, fi_addr);
	}
	return peer;
}

void sdr_ep_peer_forget(struct sdr_ep *ep, fi_addr_t fi_addr, const struct sdr_uc_addr *addr)
{
	struct sdr_peer *peer, **held;

	pthread_mutex_lock(&ep->lock);
	peer = ep->rel ? sdr_rel_peer_find(ep->rel, addr) : NULL;
	if (peer && sdr_peer_user(peer) == fi_addr) /* perhaps known as a source only */
		sdr_peer_user_set(peer, UINT64_MAX);
	held = fi_addr < ep->npeers ? &ep->peers[fi_addr] : NULL;
	if (held && *held) {
		sdr_rel_peer_put(*held);
		*held = NULL;
	}
	pthread_mutex_unlock(&ep->lock);
}
