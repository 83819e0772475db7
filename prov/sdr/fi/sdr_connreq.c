/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connection requests: from the FI_CONNREQ that reports one to fi_accept, fi_reject or the end of
 * the passive endpoint, whichever comes first.
 *
 * A request stands in its passive endpoint's list, which is what the backlog counts, and keeps the
 * peer that asked from being dismissed as a stranger there.  An endpoint that was opened with its
 * handle may outlive the passive one: then the request is the endpoint's, and good for nothing but
 * being freed.  Two locks: the fabric's `answer` is the outermost and serialises what decides who
 * frees a request, the passive endpoint's guards the list against requests that come in.
 */
#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "base/sdr_assert.h"
#include "rel/sdr_rel.h"

#include "sdr_connreq.h"
#include "sdr_held.h"

struct sdr_connreq *sdr_connreq_new(struct sdr_connreqs *of, struct sdr_peer *peer, uint64_t call)
{
	struct sdr_connreq *req = calloc(1, sizeof(*req));

	SDR_ASSERT_HELD(of->lock);
	if (!req)
		return NULL;
	req->fid.fclass = FI_CLASS_CONNREQ;
	req->answer = of->answer;
	req->of = of;
	req->peer = peer;
	req->addr = *sdr_peer_addr(peer);
	req->call = call;
	sdr_list_add_tail(&req->link, &of->list);
	of->n++;
	return req;
}

/* It is in the list no more.  Under the list's lock. */
static void connreq_leaves(struct sdr_connreqs *of, struct sdr_connreq *req)
{
	SDR_ASSERT_HELD(of->lock);
	SDR_ASSERT(of->n && req->of == of);
	of->n--;
	req->of = NULL;
}

static void connreq_unlink(struct sdr_connreq *req)
{
	sdr_list_del(&req->link);
	connreq_leaves(req->of, req);
}

void sdr_connreq_undo(struct sdr_connreq *req)
{
	connreq_unlink(req);
	free(req);
}

int sdr_connreq_take(struct fid *handle, struct sdr_connreq **out)
{
	struct sdr_connreq *req;
	int ret;

	if (handle->fclass != FI_CLASS_CONNREQ)
		return -FI_EINVAL;
	req = sdr_container(handle, struct sdr_connreq, fid);
	pthread_mutex_lock(req->answer);
	ret = req->taken ? -FI_EBUSY : 0;
	req->taken = true;
	pthread_mutex_unlock(req->answer);
	if (!ret)
		*out = req;
	return ret;
}

void sdr_connreq_drop(struct sdr_connreq *req)
{
	pthread_mutex_t *answer = req->answer;

	pthread_mutex_lock(answer);
	SDR_ASSERT(req->taken);
	req->taken = false;
	if (!req->of)
		free(req);
	pthread_mutex_unlock(answer);
}

int sdr_connreq_check(struct sdr_connreq *req)
{
	int ret;

	pthread_mutex_lock(req->answer);
	ret = req->of ? 0 : -FI_ECONNABORTED;
	pthread_mutex_unlock(req->answer);
	return ret;
}

void sdr_connreq_accepted(struct sdr_connreq *req)
{
	pthread_mutex_t *answer = req->answer, *lock;

	pthread_mutex_lock(answer);
	if (req->of) {
		lock = req->of->lock;
		pthread_mutex_lock(lock);
		connreq_unlink(req);
		sdr_rel_peer_put(req->peer);
		pthread_mutex_unlock(lock);
	}
	free(req);
	pthread_mutex_unlock(answer);
}

/* One that was opened with it frees it; otherwise nobody else knows it. */
static void connreq_free(struct sdr_connreq *req)
{
	if (!req->taken)
		free(req);
}

struct sdr_peer *sdr_connreq_reject(struct sdr_connreqs *of, struct fid *handle, uint64_t *call)
{
	struct sdr_peer *peer = NULL;
	struct sdr_list *l;

	pthread_mutex_lock(of->answer);
	pthread_mutex_lock(of->lock);
	sdr_list_each(l, &of->list) {
		struct sdr_connreq *req = sdr_container(l, struct sdr_connreq, link);

		if (&req->fid != handle)
			continue;
		peer = req->peer;
		*call = req->call;
		connreq_unlink(req);
		connreq_free(req);
		break;
	}
	pthread_mutex_unlock(of->lock);
	pthread_mutex_unlock(of->answer);
	return peer;
}

void sdr_connreq_end(struct sdr_connreqs *of)
{
	struct sdr_list *l, *next;

	pthread_mutex_lock(of->answer);
	pthread_mutex_lock(of->lock);
	sdr_list_each_safe(l, next, &of->list) {
		struct sdr_connreq *req = sdr_container(l, struct sdr_connreq, link);

		sdr_rel_peer_put(req->peer);
		connreq_leaves(of, req);
		connreq_free(req);
	}
	sdr_list_init(&of->list);
	pthread_mutex_unlock(of->lock);
	pthread_mutex_unlock(of->answer);
}
