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
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static struct sdr_verbs_mr *sdr_verbs_mr_find(struct sdr_verbs_pd *pd, uintptr_t lo, uintptr_t hi,
					      int access)
{
	uint32_t i = sdr_verbs_mr_above(pd, lo), k;

	for (k = 0; k < SDR_VERBS_MR_NEAR && i; k++) {
		struct sdr_verbs_mr *m = pd->mr[--i];

		if (m->hi >= hi && (m->access & access) == access)
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

struct sdr_verbs_mr *sdr_verbs_mr_get(struct sdr_verbs_pd *pd, void *buf, size_t len, int access)
{
	uintptr_t lo = (uintptr_t)buf;
	struct sdr_verbs_mr *m;

	pthread_mutex_lock(&pd->lock);
	m = sdr_verbs_mr_find(pd, lo, lo + len, access);
	if (m) {
		m->refs++;
		goto out;
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		errno = ENOMEM;
		goto out;
	}
	m->lo = lo;
	m->hi = lo + len;
	m->access = access;
	m->refs = 1;
	m->mr = pd->ibv->reg_mr(pd->pd, buf, len, access);
	if (!m->mr || sdr_verbs_mr_insert(pd, m)) {
		int err = m->mr ? ENOMEM : errno;

		if (m->mr)
			pd->ibv->dereg_mr(m->mr);
		free(m);
		m = NULL;
		errno = err ? err : ENOMEM;
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
		free(m);
	}
	pthread_mutex_unlock(&pd->lock);
}

/* ---- what is sent ---------------------------------------------------------------------------- */

int sdr_verbs_mr_reg(struct sdr_uc *uc, void *buf, size_t len, void **out)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	struct sdr_verbs_reg *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	/*
	 * With the rights that grants want, one registration serves both; without, memory may be
	 * only readable.
	 */
	r->mr = sdr_verbs_mr_get(v->pd, buf, len, v->keys->access);
	if (!r->mr && v->keys->access)
		r->mr = sdr_verbs_mr_get(v->pd, buf, len, 0);
	if (!r->mr) {
		err = -errno;
		free(r);
		return err;
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

int sdr_verbs_mem_reg(const char *device, void *buf, size_t len, struct sdr_uc_mem **out, char *err,
		      size_t err_len)
{
	struct sdr_uc_mem *m = calloc(1, sizeof(*m));
	int access = IBV_ACCESS_LOCAL_WRITE, ret = -ENOMEM;

	if (!m)
		return ret;
	ret = sdr_verbs_pd_get(device, &m->pd, err, err_len);
	if (ret)
		goto err_mem;
	if (m->pd->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW)
		access |= IBV_ACCESS_MW_BIND;
	m->mr = sdr_verbs_mr_get(m->pd, buf, len, access);
	if (!m->mr && errno == EFAULT) /* only readable: good for sending */
		m->mr = sdr_verbs_mr_get(m->pd, buf, len, 0);
	if (!m->mr) {
		ret = -errno;
		sdr_verbs_why(m->pd, ret, "cannot register memory", err, err_len);
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
