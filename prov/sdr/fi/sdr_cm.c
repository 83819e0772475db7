/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections of FI_EP_MSG: fi_connect, fi_accept, fi_shutdown, and the events that tell of them.
 *
 * Such an endpoint is a reliable one with a single peer, its mate, to which every operation goes.
 * The two find each other by three messages (wire/sdr_cm_msg.h), calls of the layer below:
 *
 *   IDLE ── fi_connect: REQUEST to the passive endpoint ──► CALLING
 *   IDLE ── fi_accept: ACCEPT to the one that called ─────► ACCEPTING ── answered ──► CONNECTED
 *   CALLING ── ACCEPT, whose sender becomes the mate ─────► CONNECTED
 *   CALLING ── REJECT, nobody there, silence ─────────────► OVER, an error event
 *   CONNECTED ── the mate closes, shuts down or dies ─────► OVER, FI_SHUTDOWN
 *   CONNECTED ── fi_shutdown ─────────────────────────────► OVER, FI_SHUTDOWN here as well
 *
 * An accepting endpoint hears its mate from fi_accept on, a calling one from the ACCEPT on; until
 * then and from everybody else only calls are taken (attr.bonded of sdr_rel).  An ACCEPT must name
 * the random number of the REQUEST.  The calling side is CONNECTED first, and may call again before
 * the other one knows: that request is not reported before this connection (sdr_eq_await).  OVER is
 * for good: what is posted to receive ends with what had come before, or as cancelled.  All under
 * ep->lock but for the request that an endpoint was opened with, which is the application's calls'
 * alone (fi_endpoint, fi_accept, fi_close).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sdr_assert.h"
#include "rel/sdr_rel.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_cm.h"
#include "sdr_connreq.h"
#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_done.h"
#include "sdr_eq.h"
#include "sdr_held.h"
#include "sdr_iface.h"
#include "sdr_prov.h"

enum sdr_cm_state {
	SDR_CM_IDLE,
	SDR_CM_CALLING,
	SDR_CM_ACCEPTING,
	SDR_CM_CONNECTED,
	SDR_CM_OVER,
};

struct sdr_cm {
	enum sdr_cm_state state;
	uint64_t call;		 /* of the REQUEST */
	struct sdr_peer *to;	 /* CALLING: the passive endpoint, held */
	struct sdr_connreq *req; /* that it was opened with, until accepted */
	struct sdr_eq_await due; /* ACCEPTING */
	uint8_t msg[SDR_CM_MSG_MAX];
};

/* ---- what the application hears -------------------------------------------------------------- */

static void cm_event(struct sdr_ep *ep, uint32_t event, const void *data, size_t len)
{
	struct fi_eq_cm_entry entry = { .fid = &ep->fid.fid };

	if (sdr_eq_cm(ep->eq, event, &entry, data, len))
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "the event queue is full: an event is lost\n");
}

/* Why there is no connection: cause is an enum sdr_rel_err. */
static void cm_failed(struct sdr_ep *ep, int cause, const void *data, size_t len)
{
	struct fi_eq_err_entry e = {
		.fid = &ep->fid.fid,
		.context = ep->fid.fid.context,
		.err = sdr_ep_done_errno(sdr_rel_errno(cause)),
		.prov_errno = SDR_EQ_CAUSE | cause,
	};

	ep->cm->state = SDR_CM_OVER;
	ep->over = true;
	sdr_rel_recv_cancel(ep->rel);
	if (sdr_eq_error_data(ep->eq, &e, data, len))
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "the event queue is full: an error is lost\n");
}

/* ---- messages -------------------------------------------------------------------------------- */

int sdr_cm_post(struct sdr_ep *ep, struct sdr_peer *to, const struct sdr_cm_msg *m, uint8_t *buf,
		void *ctx)
{
	struct sdr_rel_iov iov = { buf, sdr_cm_encode(buf, m) };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_CALL, .niov = 1, .iov = &iov, .peer = to, .ctx = ctx
	};

	SDR_ASSERT_HELD(&ep->lock);
	return sdr_rel_post(ep->rel, &wr);
}

/* The passive endpoint has done its part: that connection ends. */
static void cm_hangup(struct sdr_ep *ep)
{
	struct sdr_peer *to = ep->cm->to;

	if (!to)
		return;
	ep->cm->to = NULL;
	sdr_rel_hangup(to);
	sdr_rel_peer_put(to);
}

/* There was a connection: its one end. */
static void cm_end(struct sdr_ep *ep)
{
	struct sdr_peer *mate = ep->mate;

	ep->cm->state = SDR_CM_OVER;
	ep->over = true;
	ep->mate = NULL;
	sdr_rel_hangup(mate);
	sdr_rel_recv_cancel(ep->rel);
	sdr_rel_peer_put(mate);
	cm_event(ep, FI_SHUTDOWN, NULL, 0);
}

static int cm_call(struct sdr_ep *ep, struct sdr_peer *peer, const struct sdr_cm_msg *m)
{
	struct sdr_cm *cm = ep->cm;

	SDR_ASSERT_HELD(&ep->lock);
	if (cm->state != SDR_CM_CALLING || m->call != cm->call)
		return SDR_REL_ERR_NOBODY;
	if (m->kind == SDR_CM_REJECT && peer == cm->to) {
		cm_failed(ep, SDR_REL_ERR_NOBODY, m->data, m->len);
		cm_hangup(ep);
		return SDR_REL_OK;
	}
	if (m->kind != SDR_CM_ACCEPT || peer == cm->to)
		return SDR_REL_ERR_NOBODY;
	ep->mate = sdr_rel_peer(ep->rel, sdr_peer_addr(peer));
	if (!ep->mate)
		return SDR_REL_ERR_NOBODY;
	cm->state = SDR_CM_CONNECTED;
	sdr_rel_bond(ep->mate, SDR_BOND_HEAR | SDR_BOND_WATCH);
	cm_hangup(ep);
	cm_event(ep, FI_CONNECTED, m->data, m->len);
	return SDR_REL_OK;
}

/* Answered: a REQUEST waits for the application over there, an ACCEPT has made the connection. */
static void cm_done(struct sdr_ep *ep, const struct sdr_rel_cqe *e)
{
	struct sdr_cm *cm = ep->cm;

	SDR_ASSERT_HELD(&ep->lock);
	if (cm->state == SDR_CM_CALLING && e->err) {
		cm_failed(ep, e->prov_err, NULL, 0);
		cm_hangup(ep);
	} else if (cm->state == SDR_CM_ACCEPTING && e->err) {
		cm_failed(ep, e->prov_err, NULL, 0);
		sdr_eq_awaited(ep->eq, &cm->due);
		sdr_rel_peer_put(ep->mate);
		ep->mate = NULL;
	} else if (cm->state == SDR_CM_ACCEPTING) {
		cm->state = SDR_CM_CONNECTED;
		cm_event(ep, FI_CONNECTED, NULL, 0);
		sdr_eq_awaited(ep->eq, &cm->due);
	}
}

static void cm_gone(struct sdr_ep *ep, struct sdr_peer *peer, int err)
{
	struct sdr_cm *cm = ep->cm;

	SDR_ASSERT_HELD(&ep->lock);
	if (peer == cm->to && cm->state == SDR_CM_CALLING) {
		/* Who closes without an answer has refused. */
		cm->to = NULL;
		cm_failed(ep, err == SDR_REL_ERR_CLOSED ? SDR_REL_ERR_NOBODY : err, NULL, 0);
		sdr_rel_peer_put(peer);
		return;
	}
	if (peer != ep->mate || cm->state != SDR_CM_CONNECTED)
		return;
	FI_INFO(&sdr_prov, FI_LOG_EP_CTRL, "connection over: %s\n", sdr_rel_strerror(err));
	cm_end(ep); /* what may have come from there since is hung up on */
}

const struct sdr_cm_ops sdr_cm_ops = {
	.call = cm_call,
	.done = cm_done,
	.gone = cm_gone,
};

/* ---- the endpoint ---------------------------------------------------------------------------- */

int sdr_cm_open(struct sdr_ep *ep, struct fid *handle)
{
	int ret = 0;

	ep->cm = calloc(1, sizeof(*ep->cm));
	if (!ep->cm)
		return -FI_ENOMEM;
	ep->cm_ops = &sdr_cm_ops;
	if (handle)
		ret = sdr_connreq_take(handle, &ep->cm->req);
	if (ret)
		sdr_cm_free(ep);
	return ret;
}

void sdr_cm_leave(struct sdr_ep *ep)
{
	if (ep->cm && ep->cm->req)
		sdr_connreq_drop(ep->cm->req);
}

void sdr_cm_shut(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->cm)
		return;
	if (ep->cm->state == SDR_CM_ACCEPTING)
		sdr_eq_awaited(ep->eq, &ep->cm->due);
	ep->cm->state = SDR_CM_OVER;
}

void sdr_cm_free(struct sdr_ep *ep)
{
	free(ep->cm);
	ep->cm = NULL;
}

/* ---- calls of the application ---------------------------------------------------------------- */

/* Both calls enable the endpoint. */
static int cm_enable(struct sdr_ep *ep)
{
	return ep->enabled ? 0 : fi_enable(&ep->fid);
}

/* Why a connection cannot begin now; 0: it can. */
static int cm_begin(const struct sdr_cm *cm)
{
	switch (cm->state) {
	case SDR_CM_IDLE:
		return 0;
	case SDR_CM_CALLING:
	case SDR_CM_ACCEPTING:
		return -FI_EALREADY;
	case SDR_CM_CONNECTED:
		return -FI_EISCONN;
	default:
		return -FI_EOPBADSTATE; /* once in its life */
	}
}

/* A call's number: 16 bits of the process's (sdr_cm_caller), the others its own.  0 or FI error. */
static int cm_number(uint64_t *call)
{
	static atomic_uint_fast32_t ours; /* 0: none yet */
	uint_fast32_t old = 0, mine;

	if (getrandom(call, sizeof(*call), 0) != sizeof(*call))
		return -FI_EIO;
	mine = 0x10000u | sdr_cm_caller(*call);
	if (!atomic_compare_exchange_strong(&ours, &old, mine))
		mine = old;
	*call = (uint64_t)(mine & 0xffffu) << 48 | (*call & 0xffffffffffffu);
	return 0;
}

int sdr_cm_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_cm_msg m = { .kind = SDR_CM_REQUEST,
				.len = sdr_cm_len(param, paramlen),
				.data = param };
	struct sdr_cm *cm = ep->cm;
	struct sdr_uc_addr to;
	int ret;

	if (!addr || cm->req || sdr_uc_addr_from_sockaddr(&to, addr) ||
	    ((const struct sockaddr *)addr)->sa_family != ep->src.ss_family)
		return -FI_EINVAL;
	ret = cm_enable(ep);
	if (!ret)
		ret = cm_number(&m.call);
	if (ret)
		return ret;
	pthread_mutex_lock(&ep->lock);
	ret = cm_begin(cm);
	if (ret)
		goto out;
	(void)sdr_ep_addr_home(ep, &to);
	cm->to = sdr_rel_peer(ep->rel, &to);
	if (!cm->to) {
		ret = -FI_ENOMEM;
		goto out;
	}
	sdr_rel_bond(cm->to, SDR_BOND_WATCH);
	cm->call = m.call;
	cm->state = SDR_CM_CALLING;
	ret = sdr_cm_post(ep, cm->to, &m, cm->msg, cm);
	if (!ret)
		goto out;
	cm->state = SDR_CM_IDLE;
	cm_hangup(ep);
out:
	sdr_ep_unlock(ep);
	return ret;
}

int sdr_cm_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_cm *cm = ep->cm;
	struct sdr_cm_msg m = { .kind = SDR_CM_ACCEPT,
				.len = sdr_cm_len(param, paramlen),
				.data = param };
	int ret;

	if (!cm->req)
		return cm->state == SDR_CM_IDLE ? -FI_EINVAL : cm_begin(cm);
	ret = sdr_connreq_check(cm->req);
	if (!ret)
		ret = cm_enable(ep);
	if (ret)
		return ret;
	m.call = cm->req->call;
	pthread_mutex_lock(&ep->lock);
	SDR_ASSERT(cm->state == SDR_CM_IDLE && !ep->mate);
	ep->mate = sdr_rel_peer(ep->rel, &cm->req->addr);
	if (!ep->mate) {
		ret = -FI_ENOMEM;
		goto out;
	}
	sdr_rel_bond(ep->mate, SDR_BOND_HEAR | SDR_BOND_WATCH);
	cm->state = SDR_CM_ACCEPTING;
	sdr_eq_await(ep->eq, &cm->due, sdr_cm_caller(m.call));
	ret = sdr_cm_post(ep, ep->mate, &m, cm->msg, cm);
	if (ret) {
		cm->state = SDR_CM_IDLE;
		sdr_eq_awaited(ep->eq, &cm->due);
		sdr_rel_hangup(ep->mate);
		sdr_rel_peer_put(ep->mate);
		ep->mate = NULL;
	}
out:
	sdr_ep_unlock(ep);
	if (ret)
		return ret;
	sdr_connreq_accepted(cm->req);
	cm->req = NULL;
	return 0;
}

int sdr_cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	int ret = -FI_ENOTCONN;

	if (flags)
		return -FI_EBADFLAGS;
	pthread_mutex_lock(&ep->lock);
	if (ep->cm->state == SDR_CM_CONNECTED) {
		cm_end(ep);
		ret = 0;
	}
	sdr_ep_unlock(ep);
	return ret;
}

int sdr_cm_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sockaddr_storage sa;
	struct sdr_uc_addr name;
	int ret = -FI_ENOTCONN;

	memset(&sa, 0, sizeof(sa));
	pthread_mutex_lock(&ep->lock);
	if (ep->cm->state == SDR_CM_CONNECTED) {
		name = *sdr_peer_addr(ep->mate);
		(void)sdr_ep_addr_away(ep, &name);
		ret = sdr_uc_addr_to_sockaddr(&name, &sa) < 0 ? -FI_EOTHER : 0;
	}
	pthread_mutex_unlock(&ep->lock);
	return ret ? ret : sdr_ep_addr_give(&sa, addr, addrlen);
}
