/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A device as this process has it open: context, protection domain and what the device reports
 * about itself.
 *
 * All engines on a device share one, so that memory registered once serves all of them.  It is
 * opened by the first and closed by the last; a forked child opens its own, because a protection
 * domain does not survive a fork.  Events (a port that goes down, a queue pair or completion queue
 * that failed, the device's removal) are read by whichever engine looks first and left as marks at
 * the engines they concern.
 *
 * Threads: the list has a lock of its own; a device's lock covers registrations, the list of
 * engines and the reading of events.  Both are leaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sdr_verbs_impl.h"

static pthread_mutex_t sdr_verbs_pds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_verbs_pd *sdr_verbs_pds;

void sdr_verbs_why(const struct sdr_verbs_pd *pd, int err, const char *what, char *buf, size_t len)
{
	struct rlimit lock, files;
	char hint[160] = "";

	if (!buf || !len)
		return;
	err = err < 0 ? -err : err;
	if (err == ENOMEM && !getrlimit(RLIMIT_MEMLOCK, &lock) && lock.rlim_cur != RLIM_INFINITY)
		snprintf(
			hint, sizeof(hint),
			" (at most %llu KiB may be locked: raise RLIMIT_MEMLOCK, \"ulimit -l unlimited\"; or the "
			"device is out of resources: \"rdma resource\")",
			(unsigned long long)lock.rlim_cur >> 10);
	else if (err == ENOMEM)
		snprintf(hint, sizeof(hint),
			 " (the device is out of resources: \"rdma resource\" shows who has them)");
	else if (err == EAGAIN)
		snprintf(hint, sizeof(hint),
			 " (the limit of its control group is reached: rdma.max of the cgroup)");
	else if (err == EMFILE && !getrlimit(RLIMIT_NOFILE, &files))
		snprintf(hint, sizeof(hint), " (at most %llu files may be open: \"ulimit -n\")",
			 (unsigned long long)files.rlim_cur);
	else if (err == EACCES || err == EPERM)
		snprintf(
			hint, sizeof(hint),
			" (no permission on /dev/infiniband/uverbs*: become a member of its group)");
	else if (err == EOPNOTSUPP)
		snprintf(hint, sizeof(hint),
			 " (rdma-core 34, Linux 5.12 and a driver of the device that can do it are "
			 "needed)");
	else if (err == EINVAL && pd)
		snprintf(hint, sizeof(hint),
			 " (the device's limits: %d QPs, %d WRs a QP, %d CQs, %d CQEs, %d MRs)",
			 pd->attr.max_qp, pd->attr.max_qp_wr, pd->attr.max_cq, pd->attr.max_cqe,
			 pd->attr.max_mr);
	snprintf(buf, len, "%s%s%s: %s%s", pd ? pd->name : "", pd ? ": " : "", what, strerror(err),
		 hint);
}

static int sdr_verbs_pd_open(struct sdr_verbs_pd *pd, const char *device, char *err, size_t err_len)
{
	struct ibv_device **list;
	int i, n = 0, flags, ret = -ENODEV;

	list = pd->ibv->get_device_list(&n);
	for (i = 0; list && i < n; i++) {
		if (strcmp(pd->ibv->get_device_name(list[i]), device))
			continue;
		pd->ctx = pd->ibv->open_device(list[i]);
		ret = pd->ctx ? 0 : -errno;
	}
	if (list)
		pd->ibv->free_device_list(list);
	if (!pd->ctx) {
		sdr_verbs_why(NULL, ret, "cannot open the RDMA device", err, err_len);
		return ret ? ret : -ENODEV;
	}
	if (pd->ibv->query_device(pd->ctx, &pd->attr))
		memset(&pd->attr, 0, sizeof(pd->attr));
	flags = fcntl(pd->ctx->async_fd, F_GETFL);
	if (flags < 0 || fcntl(pd->ctx->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		ret = -errno;
	if (!ret) {
		pd->pd = pd->ibv->alloc_pd(pd->ctx);
		ret = pd->pd ? 0 : -(errno ? errno : ENOMEM);
	}
	if (ret) {
		sdr_verbs_why(pd, ret, "cannot make a protection domain", err, err_len);
		pd->ibv->close_device(pd->ctx);
	}
	return ret;
}

int sdr_verbs_pd_get(const char *device, struct sdr_verbs_pd **out, char *err, size_t err_len)
{
	const struct sdr_ibv *ibv = sdr_ibv_get(err, err_len);
	struct sdr_verbs_pd *pd;
	int ret;

	if (!ibv)
		return -ENODEV;
	pthread_mutex_lock(&sdr_verbs_pds_lock);
	for (pd = sdr_verbs_pds; pd; pd = pd->next) {
		if (pd->pid == getpid() && !strcmp(pd->name, device)) {
			pd->refs++;
			ret = 0;
			goto out;
		}
	}
	pd = calloc(1, sizeof(*pd));
	ret = -ENOMEM;
	if (!pd)
		goto out;
	pd->ibv = ibv;
	pd->pid = getpid();
	pd->refs = 1;
	snprintf(pd->name, sizeof(pd->name), "%s", device);
	ret = sdr_verbs_pd_open(pd, device, err, err_len);
	if (ret) {
		free(pd);
		pd = NULL;
		goto out;
	}
	pthread_mutex_init(&pd->lock, NULL);
	pd->next = sdr_verbs_pds;
	sdr_verbs_pds = pd;
out:
	pthread_mutex_unlock(&sdr_verbs_pds_lock);
	*out = pd;
	return ret;
}

void sdr_verbs_pd_put(struct sdr_verbs_pd *pd)
{
	struct sdr_verbs_pd **p;

	pthread_mutex_lock(&sdr_verbs_pds_lock);
	if (!--pd->refs) {
		for (p = &sdr_verbs_pds; *p != pd; p = &(*p)->next)
			;
		*p = pd->next;
		pd->ibv->dealloc_pd(pd->pd);
		pd->ibv->close_device(pd->ctx);
		pthread_mutex_destroy(&pd->lock);
		free(pd->mr);
		free(pd);
	}
	pthread_mutex_unlock(&sdr_verbs_pds_lock);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void sdr_verbs_event(struct sdr_verbs_pd *pd, const struct ibv_async_event *e)
{
	struct sdr_verbs *v;
	char words[160];

	snprintf(words, sizeof(words), "the device reports: %s",
		 pd->ibv->event_type_str(e->event_type));
	for (v = pd->engines; v; v = v->next) {
		switch (e->event_type) {
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
			if (e->element.qp->qp_context == v)
				sdr_verbs_break(v, -EIO, words);
			else if (e->element.qp->qp_context ==
				 &v->qp_event) /* this may be another engine's thread */
				atomic_store(&v->qp_event, 1 + (int)e->event_type);
			break;
		case IBV_EVENT_CQ_ERR:
			if (e->element.cq->cq_context == v)
				sdr_verbs_break(v, -EIO, words);
			break;
		case IBV_EVENT_DEVICE_FATAL:
			sdr_verbs_break(v, -ENODEV,
					"the device is gone: it was removed, or it failed (dmesg)");
			break;
		case IBV_EVENT_PORT_ERR:
			if (e->element.port_num == v->port && !atomic_load(&v->down)) {
				v->down_since = sdr_verbs_now(&v->uc);
				atomic_store(&v->down, true);
			}
			break;
		case IBV_EVENT_PORT_ACTIVE:
			if (e->element.port_num == v->port)
				atomic_store(&v->down, false);
			break;
		default:
			break; /* a GID or a path MTU changed: the next connection sees it */
		}
	}
}

void sdr_verbs_pd_events(struct sdr_verbs_pd *pd)
{
	struct ibv_async_event e;

	pthread_mutex_lock(&pd->lock);
	while (!pd->ibv->get_async_event(pd->ctx, &e)) {
		sdr_verbs_event(pd, &e);
		pd->ibv->ack_async_event(&e);
	}
	pthread_mutex_unlock(&pd->lock);
}
