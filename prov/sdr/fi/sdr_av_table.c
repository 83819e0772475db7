/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of an address vector: entries by index, and a hash that finds the index of an address,
 * for FI_SOURCE.  All under av->lock.
 *
 * Indexes are given out in order, freed ones (the latest first) before new ones; the same address
 * inserted twice gets two indexes that mean one peer.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc.h"

#include "sdr_av_table.h"
#include "sdr_av.h"

static uint32_t sdr_av_hash(const struct sdr_uc_addr *a)
{
	uint64_t h = 14695981039346656037ull;
	unsigned int i;

	for (i = 0; i < a->len; i++)
		h = (h ^ a->b[i]) * 1099511628211ull;
	return (uint32_t)(h ^ h >> 32);
}

static void sdr_av_link(struct sdr_av *av, uint32_t idx)
{
	uint32_t *p = &av->bucket[sdr_av_hash(&av->tab[idx].addr) & av->mask];

	SDR_ASSERT(idx < av->n && idx < av->cap);
	/* behind those that are there: the first index of an address is the one reported */
	while (*p)
		p = &av->tab[*p - 1].next;
	av->tab[idx].next = 0;
	*p = idx + 1;
}

static void sdr_av_unlink(struct sdr_av *av, uint32_t idx)
{
	uint32_t *p = &av->bucket[sdr_av_hash(&av->tab[idx].addr) & av->mask];

	SDR_ASSERT(idx < av->n && idx < av->cap);
	while (*p != idx + 1)
		p = &av->tab[*p - 1].next;
	*p = av->tab[idx].next;
}

int sdr_av_grow(struct sdr_av *av, uint32_t cap)
{
	struct sdr_av_entry *tab;
	uint32_t *bucket, i;

	if (cap > SDR_AV_COUNT_MAX)
		cap = SDR_AV_COUNT_MAX;
	if (cap <= av->cap)
		return -FI_ENOSPC;
	bucket = calloc(cap, sizeof(*bucket));
	tab = realloc(av->tab, (size_t)cap * sizeof(*tab));
	if (tab)
		av->tab = tab;
	if (!bucket || !tab) {
		free(bucket);
		return -FI_ENOMEM;
	}
	free(av->bucket);
	av->bucket = bucket;
	av->mask = cap - 1;
	av->cap = cap;
	for (i = 0; i < av->n; i++) {
		if (av->tab[i].used)
			sdr_av_link(av, i);
	}
	return 0;
}

int sdr_av_put(struct sdr_av *av, const struct sdr_uc_addr *addr, fi_addr_t *out)
{
	uint32_t idx;
	int ret = 0;

	pthread_mutex_lock(&av->lock);
	if (av->free) {
		idx = av->free - 1;
		av->free = av->tab[idx].next;
	} else {
		if (av->n == av->cap)
			ret = sdr_av_grow(av, av->cap * 2);
		if (ret)
			goto out;
		idx = av->n++;
	}
	av->tab[idx].addr = *addr;
	av->tab[idx].used = true;
	av->tab[idx].user_id = av->named ? FI_ADDR_NOTAVAIL : idx;
	sdr_av_link(av, idx);
	*out = idx;
out:
	pthread_mutex_unlock(&av->lock);
	return ret;
}

int sdr_av_addr(struct sdr_av *av, fi_addr_t fi_addr, struct sdr_uc_addr *out)
{
	int ret = -FI_EINVAL;

	pthread_mutex_lock(&av->lock);
	if (fi_addr < av->n && av->tab[fi_addr].used) {
		*out = av->tab[fi_addr].addr;
		ret = 0;
	}
	pthread_mutex_unlock(&av->lock);
	return ret;
}

fi_addr_t sdr_av_user_id(struct sdr_av *av, fi_addr_t fi_addr)
{
	fi_addr_t ret = fi_addr;

	if (fi_addr == FI_ADDR_NOTAVAIL ||
	    !atomic_load_explicit(&av->user_ids, memory_order_acquire))
		return ret;
	pthread_mutex_lock(&av->lock);
	if (fi_addr < av->n && av->tab[fi_addr].used)
		ret = av->tab[fi_addr].user_id;
	pthread_mutex_unlock(&av->lock);
	return ret;
}

int sdr_av_user_id_set(struct sdr_av *av, fi_addr_t fi_addr, fi_addr_t user_id)
{
	int ret = -FI_EINVAL;

	pthread_mutex_lock(&av->lock);
	if (fi_addr < av->n && av->tab[fi_addr].used) {
		av->tab[fi_addr].user_id = user_id;
		atomic_store_explicit(&av->user_ids, true, memory_order_release);
		ret = 0;
	}
	pthread_mutex_unlock(&av->lock);
	return ret;
}

fi_addr_t sdr_av_find(struct sdr_av *av, const struct sdr_uc_addr *addr)
{
	fi_addr_t ret = FI_ADDR_NOTAVAIL;
	uint32_t i;

	pthread_mutex_lock(&av->lock);
	for (i = av->bucket[sdr_av_hash(addr) & av->mask]; i; i = av->tab[i - 1].next) {
		if (sdr_uc_addr_equal(&av->tab[i - 1].addr, addr)) {
			ret = i - 1;
			break;
		}
	}
	pthread_mutex_unlock(&av->lock);
	return ret;
}

bool sdr_av_take(struct sdr_av *av, fi_addr_t fi_addr, struct sdr_uc_addr *out)
{
	bool there;

	pthread_mutex_lock(&av->lock);
	there = fi_addr < av->n && av->tab[fi_addr].used;
	if (there) {
		*out = av->tab[fi_addr].addr;
		av->tab[fi_addr].used = false;
		sdr_av_unlink(av, (uint32_t)fi_addr);
	}
	pthread_mutex_unlock(&av->lock);
	return there;
}

void sdr_av_put_back(struct sdr_av *av, fi_addr_t fi_addr)
{
	pthread_mutex_lock(&av->lock);
	SDR_ASSERT(fi_addr < av->n && !av->tab[fi_addr].used);
	av->tab[fi_addr].next = av->free;
	av->free = (uint32_t)fi_addr + 1;
	pthread_mutex_unlock(&av->lock);
}
