/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Passive endpoints: an address where connections are asked for.
 *
 * One has a domain and an endpoint of its own, which nobody else sees: the endpoint is bound to the
 * address, is enabled by fi_listen, hears nothing but calls (wire/sdr_cm_msg.h), and is driven by
 * that domain's thread.  A REQUEST becomes a struct sdr_connreq and an FI_CONNREQ event, or is
 * refused: beyond the backlog, which bounds what strangers may have here, or when it cannot be
 * reported.  The endpoint that accepts it is opened with the event's info, answers by itself from
 * its own port, and needs this one no more; a rejection is sent from here.  Requests that are not
 * answered when the passive endpoint closes are refused by that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "rel/sdr_rel.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_pep.h"
#include "sdr_cm.h"
#include "sdr_connreq.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_eq.h"
#include "sdr_fabric.h"
#include "sdr_held.h"
#include "sdr_iface.h"
#include "sdr_prov.h"

struct sdr_pep {
	struct fid_pep fid;
	struct fid_domain *dom;
	struct fid_ep *fid_ep;
	struct sdr_ep *ep;    /* the same */
	struct fi_info *info; /* as it was opened */
	struct sdr_eq *eq;
	struct sdr_connreqs reqs; /* under ep->lock */
	uint32_t backlog;	  /* likewise */
};

struct sdr_rejection { /* until it is delivered */
	struct sdr_peer *peer;
	uint8_t msg[SDR_CM_MSG_MAX];
};

static struct sdr_pep *pep_of(struct fid *fid)
{
	return container_of(fid, struct sdr_pep, fid.fid);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void *addr_dup(const struct sdr_uc_addr *addr, size_t *len)
{
	struct sockaddr_storage sa;
	void *p;

	memset(&sa, 0, sizeof(sa));
	if (sdr_uc_addr_to_sockaddr(addr, &sa) < 0)
		return NULL;
	*len = sdr_sockaddr_len((struct sockaddr *)&sa);
	p = malloc(*len);
	if (p)
		memcpy(p, &sa, *len);
	return p;
}

/* What an endpoint that accepts is opened with: at this address, at a port of its own. */
static struct fi_info *pep_info(const struct sdr_pep *pep, struct sdr_connreq *req)
{
	struct fi_info *info = fi_dupinfo(pep->info);

	if (!info)
		return NULL;
	if (info->src_addr)
		sdr_sockaddr_port_set(info->src_addr, 0);
	free(info->dest_addr);
	info->dest_addr = addr_dup(&req->addr, &info->dest_addrlen);
	info->handle = &req->fid;
	if (info->dest_addr)
		return info;
	info->handle = NULL;
	fi_freeinfo(info);
	return NULL;
}

static int pep_call(struct sdr_ep *ep, struct sdr_peer *from, const struct sdr_cm_msg *m)
{
	struct sdr_pep *pep = ep->pep;
	struct fi_eq_cm_entry entry = { .fid = &pep->fid.fid };
	struct sdr_connreq *req = NULL;
	struct sdr_peer *peer;

	SDR_ASSERT_HELD(&ep->lock);
	if (m->kind != SDR_CM_REQUEST || pep->reqs.n >= pep->backlog)
		return SDR_REL_ERR_NOBODY;
	peer = sdr_rel_peer(ep->rel, sdr_peer_addr(from));
	if (peer)
		req = sdr_connreq_new(&pep->reqs, peer, m->call);
	if (!req)
		goto err_peer;
	entry.info = pep_info(pep, req);
	if (!entry.info)
		goto err_req;
	if (!sdr_eq_request(pep->eq, &entry, m->data, m->len, sdr_cm_caller(m->call)))
		return SDR_REL_OK;
	fi_freeinfo(entry.info);
err_req:
	sdr_connreq_undo(req);
err_peer:
	if (peer)
		sdr_rel_peer_put(peer);
	return SDR_REL_ERR_NOBODY;
}

static void pep_done(struct sdr_ep *ep, const struct sdr_rel_cqe *e)
{
	struct sdr_rejection *r = e->ctx;

	SDR_ASSERT_HELD(&ep->lock);
	sdr_rel_peer_put(r->peer);
	free(r);
}

/* No peer has a bond here. */
static void pep_gone(struct sdr_ep *ep, struct sdr_peer *peer, int err)
{
	(void)ep;
	(void)peer;
	(void)err;
}

static const struct sdr_cm_ops sdr_pep_calls = {
	.call = pep_call,
	.done = pep_done,
	.gone = pep_gone,
};

/* ---- calls of the application ---------------------------------------------------------------- */

static int pep_listen(struct fid_pep *fid)
{
	struct sdr_pep *pep = pep_of(&fid->fid);

	return pep->eq ? fi_enable(pep->fid_ep) : -FI_ENOEQ;
}

static int pep_reject(struct fid_pep *fid, struct fid *handle, const void *param, size_t paramlen)
{
	struct sdr_pep *pep = pep_of(&fid->fid);
	struct sdr_cm_msg m = { .kind = SDR_CM_REJECT,
				.len = sdr_cm_len(param, paramlen),
				.data = param };
	struct sdr_rejection *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return -FI_ENOMEM;
	r->peer = sdr_connreq_reject(&pep->reqs, handle, &m.call);
	if (!r->peer) {
		free(r);
		return -FI_EINVAL;
	}
	pthread_mutex_lock(&pep->ep->lock);
	ret = sdr_cm_post(pep->ep, r->peer, &m, r->msg, r);
	if (ret) {
		sdr_rel_hangup(r->peer); /* that is an answer as well */
		sdr_rel_peer_put(r->peer);
		free(r);
	}
	sdr_ep_unlock(pep->ep);
	return ret;
}

static int pep_setname(struct fid *fid, void *addr, size_t len)
{
	return fi_setname(&pep_of(fid)->fid_ep->fid, addr, len);
}

static int pep_getname(struct fid *fid, void *addr, size_t *len)
{
	return fi_getname(&pep_of(fid)->fid_ep->fid, addr, len);
}

static int pep_getopt(struct fid *fid, int level, int name, void *val, size_t *len)
{
	return fi_getopt(&pep_of(fid)->fid_ep->fid, level, name, val, len);
}

static int pep_setopt(struct fid *fid, int level, int name, const void *val, size_t len)
{
	(void)fid;
	(void)level;
	(void)name;
	(void)val;
	(void)len;
	return -FI_ENOPROTOOPT;
}

static ssize_t pep_cancel(struct fid *fid, void *context)
{
	(void)fid;
	(void)context;
	return -FI_ENOENT; /* nothing is posted here */
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct sdr_pep *pep = pep_of(fid);
	int ret;

	if (bfid->fclass != FI_CLASS_EQ)
		return -FI_EINVAL;
	if (flags)
		return -FI_EBADFLAGS;
	ret = fi_ep_bind(pep->fid_ep, bfid, 0);
	if (!ret)
		pep->eq = container_of(bfid, struct sdr_eq, fid.fid);
	return ret;
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	struct sdr_pep *pep = pep_of(fid);
	int n;

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	n = *(int *)arg;
	if (n < 1)
		return -FI_EINVAL;
	pthread_mutex_lock(&pep->ep->lock);
	pep->backlog = n < SDR_BACKLOG_MAX ? (uint32_t)n : SDR_BACKLOG_MAX;
	pthread_mutex_unlock(&pep->ep->lock);
	return 0;
}

static int pep_close(struct fid *fid)
{
	struct sdr_pep *pep = pep_of(fid);
	int ret;

	/* From here on requests are refused. */
	pthread_mutex_lock(&pep->ep->lock);
	pep->backlog = 0;
	pthread_mutex_unlock(&pep->ep->lock);
	sdr_connreq_end(&pep->reqs);
	if (pep->eq)
		sdr_eq_purge(pep->eq, fid);
	ret = fi_close(&pep->fid_ep->fid);
	if (!ret)
		ret = fi_close(&pep->dom->fid);
	if (ret)
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "passive endpoint not closed: %s\n",
			fi_strerror(-ret));
	fi_freeinfo(pep->info);
	free(pep);
	return ret;
}

static struct fi_ops sdr_pep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_ep sdr_pep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = pep_cancel,
	.getopt = pep_getopt,
	.setopt = pep_setopt,
	.tx_ctx = sdr_no_tx_ctx,
	.rx_ctx = sdr_no_rx_ctx,
	.rx_size_left = sdr_no_size_left,
	.tx_size_left = sdr_no_size_left,
};

static struct fi_ops_cm sdr_pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pep_setname,
	.getname = pep_getname,
	.getpeer = sdr_no_getpeer,
	.connect = sdr_no_connect,
	.listen = pep_listen,
	.accept = sdr_no_accept,
	.reject = pep_reject,
	.shutdown = sdr_no_shutdown,
	.join = sdr_no_join,
};

int sdr_pep_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **fid,
		 void *context)
{
	struct sdr_fabric *f = container_of(fabric, struct sdr_fabric, fid);
	struct sdr_pep *pep;
	int ret = -FI_ENOMEM;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	if (!pep->info)
		goto err_pep;
	pep->info->handle = NULL;
	ret = sdr_domain_open(fabric, pep->info, &pep->dom, NULL);
	if (ret)
		goto err_info;
	ret = fi_endpoint(pep->dom, pep->info, &pep->fid_ep, NULL);
	if (ret)
		goto err_dom;
	pep->ep = container_of(pep->fid_ep, struct sdr_ep, fid);
	pep->ep->cm_ops = &sdr_pep_calls;
	pep->ep->pep = pep;
	pep->ep->caps = 0; /* no queues */
	pep->reqs.answer = &f->answer;
	pep->reqs.lock = &pep->ep->lock;
	sdr_list_init(&pep->reqs.list);
	pep->backlog = SDR_BACKLOG;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &sdr_pep_fi_ops;
	pep->fid.ops = &sdr_pep_ops;
	pep->fid.cm = &sdr_pep_cm_ops;
	*fid = &pep->fid;
	return 0;
err_dom:
	fi_close(&pep->dom->fid);
err_info:
	fi_freeinfo(pep->info);
err_pep:
	free(pep);
	return ret;
}
