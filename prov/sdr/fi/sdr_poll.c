/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Poll sets: drive several queues and counters with one call, and say which of them have
 * something.  A counter has something when it has moved since the set looked last.
 */
#include <errno.h>
#include <stdlib.h>

#include "sdr_poll.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_prov.h"
#include "sdr_pset.h"

struct sdr_poll {
	struct fid_poll fid;
	struct sdr_domain *dom;
	pthread_mutex_t lock;
	struct fid **v;
	unsigned int n, cap;
};

static atomic_int *sdr_poll_refs(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return &container_of(fid, struct sdr_cq, fid.fid)->refs;
	case FI_CLASS_CNTR:
		return &container_of(fid, struct sdr_cntr, fid.fid)->refs;
	default:
		return NULL;
	}
}

static bool sdr_poll_ready(struct fid *fid)
{
	struct sdr_cntr *cntr;
	struct sdr_cq *cq;
	uint64_t val, err;

	if (fid->fclass == FI_CLASS_CQ) {
		cq = container_of(fid, struct sdr_cq, fid.fid);
		sdr_pset_progress(&cq->eps);
		return atomic_load(&cq->count) > 0;
	}
	cntr = container_of(fid, struct sdr_cntr, fid.fid);
	sdr_pset_progress(&cntr->eps);
	val = atomic_load(&cntr->val);
	err = atomic_load(&cntr->err);
	if (val == cntr->polled_val && err == cntr->polled_err)
		return false;
	cntr->polled_val = val;
	cntr->polled_err = err;
	return true;
}

static int sdr_poll_poll(struct fid_poll *fid, void **context, int count)
{
	struct sdr_poll *p = container_of(fid, struct sdr_poll, fid);
	unsigned int i;
	int n = 0;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->n && n < count; i++) {
		if (sdr_poll_ready(p->v[i]))
			context[n++] = p->v[i]->context;
	}
	pthread_mutex_unlock(&p->lock);
	return n;
}

static int sdr_poll_add(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct sdr_poll *p = container_of(fid, struct sdr_poll, fid);
	atomic_int *refs = sdr_poll_refs(event_fid);
	struct fid **v;
	int ret = 0;

	if (flags)
		return -FI_EBADFLAGS;
	if (!refs)
		return -FI_EINVAL;
	pthread_mutex_lock(&p->lock);
	if (p->n == p->cap) {
		v = realloc(p->v, (p->cap + 8) * sizeof(*v));
		if (!v) {
			ret = -FI_ENOMEM;
			goto out;
		}
		p->v = v;
		p->cap += 8;
	}
	p->v[p->n++] = event_fid;
	atomic_fetch_add(refs, 1);
out:
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static int sdr_poll_del(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct sdr_poll *p = container_of(fid, struct sdr_poll, fid);
	unsigned int i;
	int ret = -FI_EINVAL;

	if (flags)
		return -FI_EBADFLAGS;
	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->n; i++) {
		if (p->v[i] == event_fid) {
			atomic_fetch_sub(sdr_poll_refs(event_fid), 1);
			p->v[i] = p->v[--p->n];
			ret = 0;
			break;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static int sdr_poll_close(struct fid *fid)
{
	struct sdr_poll *p = container_of(fid, struct sdr_poll, fid.fid);
	unsigned int i;

	for (i = 0; i < p->n; i++)
		atomic_fetch_sub(sdr_poll_refs(p->v[i]), 1);
	pthread_mutex_destroy(&p->lock);
	atomic_fetch_sub(&p->dom->refs, 1);
	free(p->v);
	free(p);
	return 0;
}

static struct fi_ops sdr_poll_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_poll_close,
	.bind = sdr_no_bind,
	.control = sdr_no_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_poll sdr_poll_ops = {
	.size = sizeof(struct fi_ops_poll),
	.poll = sdr_poll_poll,
	.poll_add = sdr_poll_add,
	.poll_del = sdr_poll_del,
};

int sdr_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **pollset)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	struct sdr_poll *p;

	if (attr && attr->flags)
		return -FI_EBADFLAGS;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -FI_ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	p->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	p->fid.fid.fclass = FI_CLASS_POLL;
	p->fid.fid.ops = &sdr_poll_fi_ops;
	p->fid.ops = &sdr_poll_ops;
	*pollset = &p->fid;
	return 0;
}
