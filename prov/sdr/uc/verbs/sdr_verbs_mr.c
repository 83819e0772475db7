/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Registrations of memory with a device, and who uses them.
 *
 * A registration lives exactly as long as something has a claim on the memory: a message under
 * way (its owner may not free the buffer before the completion), an open grant, or the application
 * that registered it.  Who needs a range that lies inside a living one shares it.  Nothing is kept
 * beyond that: no hooks into malloc, no guess whether a range still means the same pages.  So a
 * buffer used again and again is registered again and again, unless the application registers it
 * (fi_mr_reg, sdr_mr_reg) or its messages overlap in time; messages shorter than SDR_VERBS_REG_MIN
 * are copied instead.
 *
 * Order: an array sorted by start; a lookup tries the SDR_VERBS_MR_NEAR that start last before the
 * range.  A miss costs a registration, never correctness.  Memory pinned is the sum of what is
 * under way. Threads: under the device's lock.
 *
 * Memory of devices lies in the same address space, and so in the same array; how it is registered
 * is sdr_verbs_far.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdr_verbs_impl.h"

#define SDR_VERBS_MR_NEAR 8u

/* First entry that starts above a. */
static uint32_t sdr_verbs_mr_above(const struct sdr_verbs_pd *pd, uintptr_t a)
{
	uint32_t lo = 0, hi = pd->nmr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (pd->mr[mid]->lo <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct sdr_verbs_mr *sdr_verbs_mr_find(struct sdr_verbs_pd *pd,
					      const struct sdr_verbs_range *r, int access)
{
	uintptr_t lo = (uintptr_t)r->buf, hi = lo + r->len;
	uint32_t i = sdr_verbs_mr_above(pd, lo), k;

	for (k = 0; k < SDR_VERBS_MR_NEAR && i; k++) {
		struct sdr_verbs_mr *m = pd->mr[--i];

		if (m->hi >= hi && (m->access & access) == access && m->mem == r->mem)
			return m;
	}
	return NULL;
}

static int sdr_verbs_mr_insert(struct sdr_verbs_pd *pd, struct sdr_verbs_mr *m)
{
	uint32_t i;

	if (pd->nmr == pd->cap) {
		uint32_t cap = pd->cap ? 2 * pd->cap : 64;
		struct sdr_verbs_mr **n = realloc(pd->mr, cap * sizeof(*n));

		if (!n)
			return -ENOMEM;
		pd->mr = n;
		pd->cap = cap;
	}
	i = sdr_verbs_mr_above(pd, m->lo);
	memmove(pd->mr + i + 1, pd->mr + i, (pd->nmr - i) * sizeof(*pd->mr));
	pd->mr[i] = m;
	pd->nmr++;
	return 0;
}

/* Under pd->lock.  0 or an errno. */
static int sdr_verbs_mr_make(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
			     struct sdr_verbs_mr *m)
{
	int err;

	errno = 0;
	m->mr = r->mem ? sdr_verbs_far_reg(pd, r, NULL, m->access)
		       : pd->ibv->reg_mr(pd->pd, r->buf, r->len, m->access);
	if (!m->mr)
		return errno ? errno : ENOMEM;
	if (r->dmabuf) {
		m->dmabuf.off = r->dmabuf->off;
		m->dmabuf.fd = fcntl(r->dmabuf->fd, F_DUPFD_CLOEXEC, 0);
		err = m->dmabuf.fd < 0 ? errno : 0;
		if (err)
			goto err_mr;
	}
	err = sdr_verbs_mr_insert(pd, m) ? ENOMEM : 0;
	if (!err)
		return 0;
	if (m->dmabuf.fd >= 0)
		close(m->dmabuf.fd);
err_mr:
	pd->ibv->dereg_mr(m->mr);
	return err;
}

struct sdr_verbs_mr *sdr_verbs_mr_share(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
					int access)
{
	struct sdr_verbs_mr *m;

	pthread_mutex_lock(&pd->lock);
	m = sdr_verbs_mr_find(pd, r, access);
	if (m)
		m->refs++;
	pthread_mutex_unlock(&pd->lock);
	return m;
}

struct sdr_verbs_mr *sdr_verbs_mr_get(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
				      int access)
{
	struct sdr_verbs_mr *m;
	int err = ENOMEM;

	pthread_mutex_lock(&pd->lock);
	m = sdr_verbs_mr_find(pd, r, access);
	if (m) {
		m->refs++;
		goto out;
	}
	m = calloc(1, sizeof(*m));
	if (m) {
		m->lo = (uintptr_t)r->buf;
		m->hi = m->lo + r->len;
		m->access = access;
		m->refs = 1;
		m->mem = r->mem;
		m->dmabuf.fd = -1;
		err = sdr_verbs_mr_make(pd, r, m);
	}
	if (err) {
		free(m);
		m = NULL;
		errno = err;
		goto out;
	}
	atomic_fetch_add_explicit(&pd->regs, 1, memory_order_relaxed);
out:
	pthread_mutex_unlock(&pd->lock);
	return m;
}

void sdr_verbs_mr_put(struct sdr_verbs_pd *pd, struct sdr_verbs_mr *m)
{
	uint32_t i;

	pthread_mutex_lock(&pd->lock);
	if (!--m->refs) {
		for (i = 0; pd->mr[i] != m; i++)
			;
		memmove(pd->mr + i, pd->mr + i + 1, (pd->nmr - i - 1) * sizeof(*pd->mr));
		pd->nmr--;
		pd->ibv->dereg_mr(m->mr);
		if (m->mem && m->dmabuf.fd >= 0)
			close(m->dmabuf.fd);
		free(m);
	}
	pthread_mutex_unlock(&pd->lock);
}

/* ---- what is sent ---------------------------------------------------------------------------- */

/*
 * With the rights that grants want, one registration serves both; without, memory may be only
 * readable.
 */
static struct sdr_verbs_mr *sdr_verbs_mr_of_sent(struct sdr_verbs *v,
						 const struct sdr_verbs_range *r)
{
	struct sdr_verbs_mr *m;

	/* A copy out of a device is cheaper than a dma-buf; what is registered costs nothing. */
	if (r->mem && r->len < SDR_VERBS_REG_MIN) {
		m = sdr_verbs_mr_share(v->pd, r, 0);
		errno = EAGAIN;
		return m;
	}
	m = sdr_verbs_mr_get(v->pd, r, v->keys->access);
	if (!m && v->keys->access)
		m = sdr_verbs_mr_get(v->pd, r, 0);
	return m;
}

int sdr_verbs_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
		     void **out)
{
	const struct sdr_verbs_range range = { buf, len, mem, NULL };
	struct sdr_verbs *v = sdr_verbs_of(uc);
	struct sdr_verbs_reg *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->mr = sdr_verbs_mr_of_sent(v, &range);
	if (!r->mr) {
		err = errno;
		if (mem && err != EAGAIN)
			sdr_verbs_why(v->pd, err, SDR_VERBS_FAR_WHAT, v->reason, sizeof(v->reason));
		free(r);
		return -err;
	}
	*out = r;
	return 0;
}

bool sdr_verbs_mr_busy(struct sdr_uc *uc, void *mr)
{
	struct sdr_verbs_reg *r = mr;

	if (r->batches)
		sdr_verbs_tx_reap(sdr_verbs_of(uc));
	return r->batches;
}

/* Registrations whose owners abandoned their packets: few, and until those are sent. */
bool sdr_verbs_mr_reading(struct sdr_uc *uc, const void *buf, size_t len)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	uintptr_t lo = (uintptr_t)buf;
	struct sdr_verbs_reg *r;

	if (v->dead_regs)
		sdr_verbs_tx_reap(v);
	for (r = v->dead_regs; r; r = r->next) {
		if (r->mr->lo < lo + len && lo < r->mr->hi)
			return true;
	}
	return false;
}

void sdr_verbs_mr_dereg(struct sdr_uc *uc, void *mr)
{
	struct sdr_verbs_reg *r = mr, **p;

	if (!r || sdr_verbs_pd_foreign(sdr_verbs_of(uc)->pd))
		return;
	if (r->batches) {
		r->dead = true;
		r->next = sdr_verbs_of(uc)->dead_regs;
		sdr_verbs_of(uc)->dead_regs = r;
		return;
	}
	for (p = &sdr_verbs_of(uc)->dead_regs; r->dead && *p; p = &(*p)->next) {
		if (*p == r) {
			*p = r->next;
			break;
		}
	}
	sdr_verbs_mr_put(sdr_verbs_of(uc)->pd, r->mr);
	free(r);
}

/* ---- what the application registered --------------------------------------------------------- */

struct sdr_uc_mem {
	struct sdr_verbs_pd *pd;
	struct sdr_verbs_mr *mr;
};

int sdr_verbs_mem_reg(const char *device, void *buf, size_t len, const struct sdr_mem *far,
		      const struct sdr_dmabuf *dmabuf, struct sdr_uc_mem **out, char *err,
		      size_t err_len)
{
	const struct sdr_verbs_range r = { buf, len, far, dmabuf };
	struct sdr_uc_mem *m = calloc(1, sizeof(*m));
	int access = IBV_ACCESS_LOCAL_WRITE, ret = -ENOMEM;

	if (!m)
		return ret;
	ret = sdr_verbs_pd_get(device, &m->pd, err, err_len);
	if (ret)
		goto err_mem;
	if (m->pd->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW)
		access |= IBV_ACCESS_MW_BIND;
	m->mr = sdr_verbs_mr_get(m->pd, &r, access);
	if (!m->mr && errno == EFAULT) /* only readable: good for sending */
		m->mr = sdr_verbs_mr_get(m->pd, &r, 0);
	if (!m->mr) {
		ret = -errno;
		sdr_verbs_why(m->pd, ret, far ? SDR_VERBS_FAR_WHAT : "cannot register memory", err,
			      err_len);
		goto err_pd;
	}
	*out = m;
	return 0;
err_pd:
	sdr_verbs_pd_put(m->pd);
err_mem:
	free(m);
	return ret;
}

void sdr_verbs_mem_dereg(struct sdr_uc_mem *m)
{
	if (!m || sdr_verbs_pd_foreign(m->pd))
		return;
	sdr_verbs_mr_put(m->pd, m->mr);
	sdr_verbs_pd_put(m->pd);
	free(m);
}
