/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The completion queue: a ring of entries, successes and errors in the order in which they
 * happened.
 *
 * It never overruns (FI_RM_ENABLED).  The ring doubles when it is full, so its memory follows what
 * is unread; what is unread stays bounded because posting says -FI_EAGAIN from `limit` entries on
 * (those already posted still find room, and peeks are answered) and because an endpoint is not
 * progressed any more while SDR_CQ_SIZE_MAX entries wait.  Reading takes what is there; only when
 * there is nothing it drives the bound endpoints.  While an error is at the head, reads say
 * -FI_EAVAIL and fi_cq_readerr takes it; its text, the peer's address and the cause, lives until
 * the next read of an error.  A blocking read drives the endpoints itself, see sdr_pset.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"

#include "sdr_cq.h"
#include "sdr_cq_peer.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_fabric.h"
#include "sdr_prov.h"

/* Under lock.  Twice the room, or -FI_ENOMEM. */
static int sdr_cq_grow(struct sdr_cq *cq)
{
	uint32_t cap = cq->cap ? cq->cap * 2 : SDR_CQ_SIZE_FIRST, n = atomic_load(&cq->count), i;
	struct sdr_cqe *ring = malloc((size_t)cap * sizeof(*ring));

	if (!ring)
		return -FI_ENOMEM;
	for (i = 0; i < n; i++)
		ring[i] = cq->ring[(cq->head + i) & (cq->cap - 1)];
	free(cq->ring);
	cq->ring = ring;
	cq->cap = cap;
	cq->head = 0;
	return 0;
}

struct sdr_cq_note *sdr_cq_note(bool text, const void *bytes, size_t len)
{
	struct sdr_cq_note *note = malloc(sizeof(*note) + len);

	if (!note)
		return NULL;
	note->text = text;
	note->len = len;
	memcpy(note->bytes, bytes, len);
	return note;
}

static void sdr_cq_store(struct sdr_cq *cq, const struct sdr_cqe *e)
{
	uint32_t n;

	pthread_mutex_lock(&cq->lock);
	n = atomic_load_explicit(&cq->count, memory_order_relaxed);
	if (n == cq->cap && sdr_cq_grow(cq)) {
		cq->lost++;
		pthread_mutex_unlock(&cq->lock);
		free(e->note);
		sdr_warn_once("out of memory: a completion was lost");
		return;
	}
	SDR_ASSERT(n < cq->cap && !(cq->cap & (cq->cap - 1)));
	cq->ring[(cq->head + n) & (cq->cap - 1)] = *e;
	atomic_store(&cq->count, n + 1); /* before the look at the sleepers */
	pthread_mutex_unlock(&cq->lock);
	sdr_wait_raise(&cq->wait);
}

static const size_t sdr_cq_entry_size[] = {
	[FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
	[FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
	[FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
	[FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry),
};

static inline void sdr_cq_copy(enum fi_cq_format format, void *to, const struct sdr_cqe *e)
{
	struct fi_cq_tagged_entry *t = to; /* each format is the beginning of the next */

	t->op_context = e->ctx;
	if (format == FI_CQ_FORMAT_CONTEXT)
		return;
	t->flags = e->flags;
	t->len = e->len;
	if (format == FI_CQ_FORMAT_MSG)
		return;
	t->buf = e->buf;
	t->data = e->data;
	if (format == FI_CQ_FORMAT_TAGGED)
		t->tag = e->tag;
}

/* Entries up to the first error; -FI_EAGAIN none, -FI_EAVAIL an error first. */
static ssize_t sdr_cq_take(struct sdr_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	size_t size = sdr_cq_entry_size[cq->format];
	struct sdr_cqe *e;
	uint32_t n;
	size_t i;

	if (!atomic_load_explicit(&cq->count, memory_order_acquire))
		return -FI_EAGAIN;
	pthread_mutex_lock(&cq->lock);
	n = atomic_load_explicit(&cq->count, memory_order_relaxed);
	for (i = 0; i < count && i < n; i++) {
		e = &cq->ring[(cq->head + i) & (cq->cap - 1)];
		if (e->err)
			break;
		sdr_cq_copy(cq->format, (char *)buf + i * size, e);
		if (src)
			src[i] = e->src;
	}
	SDR_ASSERT(i <= n && n <= cq->cap);
	cq->head += (uint32_t)i;
	atomic_store_explicit(&cq->count, n - (uint32_t)i, memory_order_relaxed);
	pthread_mutex_unlock(&cq->lock);
	if (i)
		return (ssize_t)i;
	if (!n)
		return -FI_EAGAIN;
	return count ? -FI_EAVAIL : 0;
}

static bool cq_news(void *of)
{
	const struct sdr_cq *cq = of;

	return atomic_load(&cq->count);
}

static ssize_t sdr_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);
	ssize_t ret = sdr_cq_take(cq, buf, count, src);
	bool worked;

	if (ret > 0 || ret == -FI_EAVAIL)
		return ret;
	worked = sdr_pset_progress(&cq->eps);
	ret = sdr_cq_take(cq, buf, count, src);
	if (sdr_yield_read(&cq->yield, worked || ret != -FI_EAGAIN)) {
		sdr_pset_rest(&cq->eps, &cq->yield, cq_news, cq);
		ret = sdr_cq_take(cq, buf, count, src);
	}
	if (ret != -FI_EAGAIN)
		return ret;
	if (cq->wait.obj == FI_WAIT_FD && atomic_load(&cq->wait.raised)) {
		/* for those who sleep on the descriptor without fi_trywait */
		sdr_wait_drain(&cq->wait);
		if (atomic_load(&cq->count))
			sdr_wait_raise(&cq->wait);
	}
	return ret;
}

static ssize_t sdr_cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return sdr_cq_readfrom(fid, buf, count, NULL);
}

static ssize_t sdr_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);
	bool sized = FI_VERSION_GE(cq->dom->fabric->fid.api_version, FI_VERSION(1, 5));
	struct sdr_cqe *e;
	size_t room = sized ? buf->err_data_size : 0, n;
	struct sdr_cq_note *note;
	ssize_t ret = -FI_EAGAIN;

	pthread_mutex_lock(&cq->lock);
	if (!atomic_load_explicit(&cq->count, memory_order_relaxed))
		goto out;
	e = &cq->ring[cq->head & (cq->cap - 1)];
	if (!e->err)
		goto out;
	buf->op_context = e->ctx;
	buf->flags = e->flags;
	buf->len = e->len;
	buf->buf = e->buf;
	buf->data = e->data;
	buf->tag = e->tag;
	buf->olen = e->olen;
	buf->err = e->err;
	buf->prov_errno = e->prov_err;
	note = e->note;
	n = note ? note->len : 0;
	if (!(flags & FI_PEEK)) {
		free(cq->err_note);
		cq->err_note = note;
	}
	if (room) {
		buf->err_data_size = n < room ? n : room;
		if (n)
			memcpy(buf->err_data, note->bytes, buf->err_data_size);
		if (n > room && note->text)
			((char *)buf->err_data)[room - 1] = '\0';
	} else {
		buf->err_data = note ? note->bytes : NULL;
		if (sized)
			buf->err_data_size = n;
	}
	if (!(flags & FI_PEEK)) {
		cq->head++;
		atomic_fetch_sub(&cq->count, 1);
	}
	ret = 1;
out:
	pthread_mutex_unlock(&cq->lock);
	return ret;
}

/*
 * True when fi_cq_signal was called since this read began (it saw `mine` calls then), or before it
 * and it was not read: every read that is blocked returns, or the next one.
 */
static bool sdr_cq_signaled(struct sdr_cq *cq, uint32_t mine)
{
	uint32_t n = atomic_load(&cq->signals);

	if (n == mine)
		return false;
	atomic_store(&cq->signals_seen, n);
	return true;
}

static ssize_t sdr_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src,
				const void *cond, int timeout)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);
	uint64_t until = timeout < 0 ? UINT64_MAX : sdr_mono_ns() + (uint64_t)timeout * 1000000ull;
	uint32_t need = cq->wait_cond == FI_CQ_COND_THRESHOLD ? (uint32_t)(uintptr_t)cond : 1;
	uint32_t signals = atomic_load(&cq->signals_seen);
	struct sdr_sleeper *s;
	bool late = false, busy;
	ssize_t ret;

	if (need > count)
		need = (uint32_t)count;
	if (need <= 1) {
		ret = sdr_cq_readfrom(fid, buf, count, src);
		if (ret != -FI_EAGAIN)
			return ret;
	}
	ret = sdr_pset_enter(&cq->eps, &s);
	if (ret)
		return ret;
	for (;;) {
		sdr_wait_awake(&cq->wait, s);
		busy = sdr_pset_look(&cq->eps);
		ret = -FI_EAGAIN;
		if (late || atomic_load(&cq->count) >= need) {
			ret = sdr_cq_take(cq, buf, count, src);
			if (ret != -FI_EAGAIN || late)
				break;
		}
		if (sdr_cq_signaled(cq, signals))
			break;
		if (until != UINT64_MAX && sdr_mono_ns() >= until) {
			late = true;
			continue;
		}
		ret = busy ? 0 : sdr_wait_sleep(&cq->wait, s, until);
		if (ret)
			break;
	}
	sdr_pset_leave(&cq->eps, s);
	return ret;
}

static ssize_t sdr_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			    int timeout)
{
	return sdr_cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int sdr_cq_signal(struct fid_cq *fid)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);

	atomic_fetch_add(&cq->signals, 1);
	sdr_wait_raise(&cq->wait);
	return 0;
}

int sdr_cq_trywait(struct sdr_cq *cq)
{
	bool busy = false;

	if (atomic_load(&cq->count))
		return -FI_EAGAIN;
	sdr_wait_drain(&cq->wait);
	if (cq->wait.obj == FI_WAIT_FD)
		busy = sdr_pset_handover(&cq->eps);
	else
		sdr_pset_progress(&cq->eps);
	if (!atomic_load(&cq->count))
		return busy ? -FI_EAGAIN : 0;
	sdr_wait_raise(&cq->wait);
	return -FI_EAGAIN;
}

static const char *sdr_cq_strerror(struct fid_cq *fid, int prov_errno, const void *err_data,
				   char *buf, size_t len)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid);
	const char *text = sdr_rel_strerror(prov_errno);
	const struct sdr_cq_note *note;

	/*
	 * The text with the peer's address, if that is what the caller shows us; numbers only where
	 * the caller has room for them.
	 */
	pthread_mutex_lock(&cq->lock);
	note = cq->err_note;
	if (note && (!note->text || err_data != note->bytes))
		note = NULL;
	if (note)
		text = note->bytes;
	if (buf && len) {
		if (note)
			snprintf(buf, len, "%s", text);
		else
			sdr_rel_err_text(prov_errno, buf, len);
		text = buf;
	}
	pthread_mutex_unlock(&cq->lock);
	return text;
}

static int sdr_cq_close(struct fid *fid)
{
	struct sdr_cq *cq = container_of(fid, struct sdr_cq, fid.fid);
	uint32_t i, n = atomic_load(&cq->count);

	if (atomic_load(&cq->refs) || atomic_load(&cq->wait.sleepers))
		return -FI_EBUSY;
	for (i = 0; i < n; i++)
		free(cq->ring[(cq->head + i) & (cq->cap - 1)].note);
	free(cq->ring);
	free(cq->err_note);
	sdr_wait_fini(&cq->wait);
	sdr_pset_fini(&cq->eps);
	pthread_mutex_destroy(&cq->lock);
	atomic_fetch_sub(&cq->dom->refs, 1);
	free(cq);
	return 0;
}

static int sdr_cq_control(struct fid *fid, int command, void *arg)
{
	return sdr_wait_control(&container_of(fid, struct sdr_cq, fid.fid)->wait, command, arg);
}

static struct fi_ops sdr_cq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_cq_close,
	.bind = sdr_no_bind,
	.control = sdr_cq_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_cq sdr_cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = sdr_cq_read,
	.readfrom = sdr_cq_readfrom,
	.readerr = sdr_cq_readerr,
	.sread = sdr_cq_sread,
	.sreadfrom = sdr_cq_sreadfrom,
	.signal = sdr_cq_signal,
	.strerror = sdr_cq_strerror,
};

int sdr_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **fid,
		void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	bool peer = attr && (attr->flags & FI_PEER);
	struct sdr_cq *cq;
	int ret;

	if (attr && (attr->flags & ~(FI_AFFINITY | FI_PEER)))
		return -FI_EBADFLAGS;
	if (attr && ((int)attr->format < 0 || attr->format > FI_CQ_FORMAT_TAGGED))
		return -FI_ENOSYS;
	if (attr && attr->size > SDR_CQ_SIZE_MAX)
		return -FI_EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->push = sdr_cq_store;
	cq->fid.ops = &sdr_cq_ops;
	ret = peer ? sdr_cq_import(cq, context) : 0;
	if (!ret)
		ret = sdr_wait_init(&cq->wait, attr && !peer ? attr->wait_obj : FI_WAIT_NONE, dom);
	if (!ret) {
		ret = sdr_wait_drives(&cq->wait);
		if (ret)
			sdr_wait_fini(&cq->wait);
	}
	if (ret) {
		free(cq);
		return ret;
	}
	pthread_mutex_init(&cq->lock, NULL);
	sdr_pset_init(&cq->eps, &cq->wait);
	cq->format = attr && attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
	if (attr)
		attr->format = cq->format;
	cq->wait_cond = attr ? attr->wait_cond : FI_CQ_COND_NONE;
	cq->limit = attr && attr->size > SDR_CQ_SIZE ? (uint32_t)attr->size : SDR_CQ_SIZE;
	cq->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &sdr_cq_fi_ops;
	*fid = &cq->fid;
	return 0;
}
