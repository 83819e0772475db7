/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The event queue: a list of events in order, errors among them.
 *
 * Control events are rare here (connections, asynchronous address insertion, registrations of a
 * bound domain, what the application writes itself), so each is one allocation, at most
 * SDR_EQ_SIZE_MAX of them.  While an error is at the head, reads say -FI_EAVAIL and fi_eq_readerr
 * takes it.  Nothing needs to be driven for events: endpoints that report some have a thread.
 *
 * A connection's event has what the peer said behind its entry, cut to the room that is read into.
 * The data of an error go into the application's buffer, or where it brings none stay ours, until
 * the queue is read again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "rel/sdr_rel_err.h"

#include "sdr_eq.h"
#include "sdr_enosys.h"
#include "sdr_fabric.h"
#include "sdr_prov.h"

/* Under lock, as all of these. */
static bool sdr_eq_awaits(const struct sdr_eq *eq, const struct sdr_event *ev)
{
	struct sdr_list *l;

	if (!ev->request)
		return false;
	sdr_list_each(l, &eq->awaited) {
		if (sdr_container(l, struct sdr_eq_await, link)->caller == ev->caller)
			return true;
	}
	return false;
}

static void sdr_event_append(struct sdr_event ***tail, struct sdr_event *ev)
{
	ev->next = NULL;
	**tail = ev;
	*tail = &ev->next;
}

static int sdr_eq_put(struct sdr_eq *eq, struct sdr_event *ev)
{
	pthread_mutex_lock(&eq->lock);
	if (eq->count >= SDR_EQ_SIZE_MAX) {
		pthread_mutex_unlock(&eq->lock);
		free(ev);
		return -FI_EAGAIN;
	}
	sdr_event_append(sdr_eq_awaits(eq, ev) ? &eq->held_tail : &eq->tail, ev);
	eq->count++;
	pthread_mutex_unlock(&eq->lock);
	sdr_wait_raise(&eq->wait);
	return 0;
}

static int sdr_eq_event_put(struct sdr_eq *eq, uint32_t event, const void *buf, size_t len,
			    bool provider)
{
	struct sdr_event *ev = calloc(1, sizeof(*ev) + len);

	if (!ev)
		return -FI_ENOMEM;
	ev->event = event;
	ev->provider = provider;
	ev->len = len;
	if (len)
		memcpy(ev->data, buf, len);
	return sdr_eq_put(eq, ev);
}

int sdr_eq_event(struct sdr_eq *eq, uint32_t event, const struct fi_eq_entry *entry)
{
	return sdr_eq_event_put(eq, event, entry, sizeof(*entry), true);
}

static struct sdr_event *sdr_event_cm(uint32_t event, const struct fi_eq_cm_entry *entry,
				      const void *data, size_t len)
{
	struct sdr_event *ev = calloc(1, sizeof(*ev) + sizeof(*entry) + len);

	if (!ev)
		return NULL;
	ev->event = event;
	ev->provider = ev->cm = true;
	ev->info = entry->info;
	ev->len = sizeof(*entry) + len;
	memcpy(ev->data, entry, sizeof(*entry));
	if (len)
		memcpy(ev->data + sizeof(*entry), data, len);
	return ev;
}

int sdr_eq_cm(struct sdr_eq *eq, uint32_t event, const struct fi_eq_cm_entry *entry,
	      const void *data, size_t len)
{
	struct sdr_event *ev = sdr_event_cm(event, entry, data, len);

	return ev ? sdr_eq_put(eq, ev) : -FI_ENOMEM;
}

int sdr_eq_request(struct sdr_eq *eq, const struct fi_eq_cm_entry *entry, const void *data,
		   size_t len, uint16_t caller)
{
	struct sdr_event *ev = sdr_event_cm(FI_CONNREQ, entry, data, len);

	if (!ev)
		return -FI_ENOMEM;
	ev->request = true;
	ev->caller = caller;
	return sdr_eq_put(eq, ev);
}

void sdr_eq_await(struct sdr_eq *eq, struct sdr_eq_await *a, uint16_t caller)
{
	a->caller = caller;
	pthread_mutex_lock(&eq->lock);
	sdr_list_add_tail(&a->link, &eq->awaited);
	pthread_mutex_unlock(&eq->lock);
}

void sdr_eq_awaited(struct sdr_eq *eq, struct sdr_eq_await *a)
{
	struct sdr_event **p, *ev;
	bool any = false;

	pthread_mutex_lock(&eq->lock);
	sdr_list_del(&a->link);
	for (p = &eq->held; (ev = *p);) {
		if (sdr_eq_awaits(eq, ev)) {
			p = &ev->next;
			continue;
		}
		*p = ev->next;
		sdr_event_append(&eq->tail, ev);
		any = true;
	}
	eq->held_tail = p;
	pthread_mutex_unlock(&eq->lock);
	if (any)
		sdr_wait_raise(&eq->wait);
}

int sdr_eq_error_data(struct sdr_eq *eq, const struct fi_eq_err_entry *err, const void *data,
		      size_t len)
{
	struct sdr_event *ev = calloc(1, sizeof(*ev) + len);

	if (!ev)
		return -FI_ENOMEM;
	ev->is_err = true;
	ev->err = *err;
	ev->len = len;
	if (len)
		memcpy(ev->data, data, len);
	return sdr_eq_put(eq, ev);
}

int sdr_eq_error(struct sdr_eq *eq, const struct fi_eq_err_entry *err)
{
	return sdr_eq_error_data(eq, err, NULL, 0);
}

/* With what goes with it. */
static void sdr_event_free(struct sdr_event *ev)
{
	if (ev && ev->info)
		fi_freeinfo(ev->info);
	free(ev);
}

/* Under lock: the first is taken out. */
static struct sdr_event *sdr_eq_pop(struct sdr_eq *eq)
{
	struct sdr_event *ev = eq->head;

	eq->head = ev->next;
	if (!eq->head)
		eq->tail = &eq->head;
	eq->count--;
	return ev;
}

/* Under lock: the queue is read, what was lent before is ours again. */
static void sdr_eq_lend(struct sdr_eq *eq, struct sdr_event *ev)
{
	free(eq->lent);
	eq->lent = ev;
}

/* Under lock: where the next is appended. */
static struct sdr_event **sdr_eq_purge_list(struct sdr_eq *eq, struct sdr_event **p,
					    const struct fid *fid)
{
	const struct fid *of;
	struct sdr_event *ev;

	for (ev = *p; ev; ev = *p) {
		of = ev->is_err	    ? ev->err.fid
		     : ev->provider ? ((struct fi_eq_entry *)(void *)ev->data)->fid
				    : NULL;
		if (of == fid) {
			*p = ev->next;
			eq->count--;
			sdr_event_free(ev);
		} else {
			p = &ev->next;
		}
	}
	return p;
}

void sdr_eq_purge(struct sdr_eq *eq, const struct fid *fid)
{
	pthread_mutex_lock(&eq->lock);
	eq->tail = sdr_eq_purge_list(eq, &eq->head, fid);
	eq->held_tail = sdr_eq_purge_list(eq, &eq->held, fid);
	SDR_ASSERT(!eq->count == (!eq->head && !eq->held));
	pthread_mutex_unlock(&eq->lock);
}

static ssize_t sdr_eq_read(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
			   uint64_t flags)
{
	struct sdr_eq *eq = container_of(fid, struct sdr_eq, fid);
	struct sdr_event *ev;
	ssize_t ret;

	pthread_mutex_lock(&eq->lock);
	sdr_eq_lend(eq, NULL);
	ev = eq->head;
	if (!ev) {
		ret = -FI_EAGAIN;
	} else if (ev->is_err) {
		ret = -FI_EAVAIL;
	} else if (len < (ev->cm ? sizeof(struct fi_eq_cm_entry) : ev->len)) {
		ret = -FI_ETOOSMALL;
	} else {
		*event = ev->event;
		len = len < ev->len ? len : ev->len;
		memcpy(buf, ev->data, len);
		ret = (ssize_t)len;
		if (!(flags & FI_PEEK)) {
			sdr_eq_pop(eq);
			free(ev); /* its info is the application's */
		}
	}
	/*
	 * for those who sleep on the descriptor without fi_trywait; who writes raises it after this
	 */
	if (ret == -FI_EAGAIN && eq->wait.obj == FI_WAIT_FD && atomic_load(&eq->wait.raised))
		sdr_wait_drain(&eq->wait);
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t sdr_eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	struct sdr_eq *eq = container_of(fid, struct sdr_eq, fid);
	bool theirs =
		FI_VERSION_GE(eq->fabric->fid.api_version, FI_VERSION(1, 5)) && buf->err_data_size;
	void *user = buf->err_data;
	size_t user_size = buf->err_data_size;
	ssize_t ret = -FI_EAGAIN;
	struct sdr_event *ev;

	pthread_mutex_lock(&eq->lock);
	sdr_eq_lend(eq, NULL);
	ev = eq->head;
	if (ev && ev->is_err) {
		*buf = ev->err;
		buf->err_data = theirs ? user : ev->len ? ev->data : NULL;
		buf->err_data_size = theirs && user_size < ev->len ? user_size : ev->len;
		if (theirs && buf->err_data_size)
			memcpy(user, ev->data, buf->err_data_size);
		if (!(flags & FI_PEEK))
			sdr_eq_lend(eq, sdr_eq_pop(eq));
		ret = sizeof(*buf);
	}
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t sdr_eq_write(struct fid_eq *fid, uint32_t event, const void *buf, size_t len,
			    uint64_t flags)
{
	struct sdr_eq *eq = container_of(fid, struct sdr_eq, fid);
	int ret;

	(void)flags;
	if (!eq->user_writes)
		return -FI_EINVAL;
	ret = sdr_eq_event_put(eq, event, buf, len, false);
	return ret ? ret : (ssize_t)len;
}

static ssize_t sdr_eq_sread(struct fid_eq *fid, uint32_t *event, void *buf, size_t len, int timeout,
			    uint64_t flags)
{
	struct sdr_eq *eq = container_of(fid, struct sdr_eq, fid);
	uint64_t until = timeout < 0 ? UINT64_MAX : sdr_mono_ns() + (uint64_t)timeout * 1000000ull;
	struct sdr_sleeper *s = sdr_wait_enter(&eq->wait);
	ssize_t ret;
	int err;

	if (!s)
		return -errno;
	for (;;) {
		sdr_wait_awake(&eq->wait, s);
		ret = sdr_eq_read(fid, event, buf, len, flags);
		if (ret != -FI_EAGAIN || sdr_mono_ns() >= until)
			break;
		err = sdr_wait_sleep(&eq->wait, s, until);
		if (err) {
			ret = err;
			break;
		}
	}
	sdr_wait_leave(&eq->wait, s);
	return ret;
}

int sdr_eq_trywait(struct sdr_eq *eq)
{
	int ret;

	sdr_wait_drain(&eq->wait);
	pthread_mutex_lock(&eq->lock);
	ret = eq->head ? -FI_EAGAIN : 0;
	pthread_mutex_unlock(&eq->lock);
	if (ret)
		sdr_wait_raise(&eq->wait);
	return ret;
}

static const char *sdr_eq_strerror(struct fid_eq *fid, int prov_errno, const void *err_data,
				   char *buf, size_t len)
{
	const char *text = prov_errno > 0 && (prov_errno & SDR_EQ_CAUSE)
				   ? sdr_rel_strerror(prov_errno & ~SDR_EQ_CAUSE)
				   : fi_strerror(prov_errno < 0 ? -prov_errno : prov_errno);

	(void)fid;
	(void)err_data;
	if (buf && len) {
		snprintf(buf, len, "%s", text);
		return buf;
	}
	return text;
}

static int sdr_eq_close(struct fid *fid)
{
	struct sdr_eq *eq = container_of(fid, struct sdr_eq, fid.fid);

	if (atomic_load(&eq->refs))
		return -FI_EBUSY;
	while (eq->head)
		sdr_event_free(sdr_eq_pop(eq));
	sdr_eq_lend(eq, NULL);
	SDR_ASSERT(!eq->count);
	sdr_wait_fini(&eq->wait);
	pthread_mutex_destroy(&eq->lock);
	atomic_fetch_sub(&eq->fabric->refs, 1);
	free(eq);
	return 0;
}

static int sdr_eq_control(struct fid *fid, int command, void *arg)
{
	return sdr_wait_control(&container_of(fid, struct sdr_eq, fid.fid)->wait, command, arg);
}

static struct fi_ops sdr_eq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_eq_close,
	.bind = sdr_no_bind,
	.control = sdr_eq_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_eq sdr_eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = sdr_eq_read,
	.readerr = sdr_eq_readerr,
	.write = sdr_eq_write,
	.sread = sdr_eq_sread,
	.strerror = sdr_eq_strerror,
};

int sdr_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **fid,
		void *context)
{
	struct sdr_fabric *f = container_of(fabric, struct sdr_fabric, fid);
	struct sdr_eq *eq;
	int ret;

	if (attr && (attr->flags & ~(FI_WRITE | FI_AFFINITY)))
		return -FI_EBADFLAGS;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	ret = sdr_wait_init(&eq->wait, attr ? attr->wait_obj : FI_WAIT_UNSPEC, NULL);
	if (ret) {
		free(eq);
		return ret;
	}
	pthread_mutex_init(&eq->lock, NULL);
	eq->tail = &eq->head;
	eq->held_tail = &eq->held;
	sdr_list_init(&eq->awaited);
	eq->user_writes = attr && (attr->flags & FI_WRITE);
	eq->fabric = f;
	atomic_fetch_add(&f->refs, 1);
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &sdr_eq_fi_ops;
	eq->fid.ops = &sdr_eq_ops;
	*fid = &eq->fid;
	return 0;
}
