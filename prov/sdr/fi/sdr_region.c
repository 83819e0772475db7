/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory regions: registration, keys, and the check of every remote access.
 *
 * A region has one key.  The application chooses it (mr_mode without FI_MR_PROV_KEY), or it is a
 * sequence number in the low half, used once in 2^32 registrations, and in the high half its
 * SipHash under a secret of the domain: neither an old key opens anything nor one that was guessed
 * from others.  Remote addresses are virtual addresses (FI_MR_VIRT_ADDR) or offsets from the
 * region's start.  An access is granted when key, access right and the whole range are right,
 * checked without overflow, each time.
 *
 * Closing takes the key out of the table first; then each endpoint ends what its peers still do to
 * this region (rel/msg/sdr_remote.c), which is reported to them.  It waits for no peer: only for a
 * device that has packets to send which lie in the region.  A region that no peer may use is not in
 * the table: its key opens nothing, and may be any other's.  Registration is in sdr_region_open.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"

#include "sdr_region.h"
#include "sdr_cntr.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_ep_progress.h"
#include "sdr_eq.h"
#include "sdr_link.h"
#include "sdr_prov.h"
#include "sdr_wait.h"

#define SDR_REGION_BUCKETS 64u /* first size of the hash table; it doubles */

uint64_t sdr_region_key(const uint8_t secret[SDR_REGION_SECRET], uint64_t n)
{
	uint8_t in[8];

	_Static_assert(SDR_REGION_SECRET == SDR_SIPHASH_KEY, "a key of SipHash");
	sdr_put_le64(in, n);
	return (sdr_siphash(in, sizeof(in), secret) & 0xffffffff00000000ull) | (uint32_t)n;
}

int sdr_regions_init(struct sdr_regions *r)
{
	memset(r, 0, sizeof(*r));
	r->bucket = calloc(SDR_REGION_BUCKETS, sizeof(*r->bucket));
	if (!r->bucket)
		return -FI_ENOMEM;
	r->mask = SDR_REGION_BUCKETS - 1;
	if (getrandom(r->secret, sizeof(r->secret), 0) != sizeof(r->secret)) {
		free(r->bucket);
		return -FI_EIO;
	}
	pthread_mutex_init(&r->lock, NULL);
	return 0;
}

void sdr_regions_fini(struct sdr_regions *r)
{
	SDR_ASSERT(!r->count);
	pthread_mutex_destroy(&r->lock);
	free(r->bucket);
}

/* Under lock. */
static struct sdr_region **sdr_regions_slot(struct sdr_regions *r, uint64_t key)
{
	struct sdr_region **p = &r->bucket[sdr_mix64(key) & r->mask];

	while (*p && (*p)->fid.key != key)
		p = &(*p)->next;
	return p;
}

static void sdr_regions_grow(struct sdr_regions *r)
{
	uint32_t mask = r->mask * 2 + 1, i;
	struct sdr_region **b = calloc((size_t)mask + 1, sizeof(*b)), *reg, *next;

	if (!b)
		return; /* longer chains, still right */
	for (i = 0; i <= r->mask; i++) {
		for (reg = r->bucket[i]; reg; reg = next) {
			next = reg->next;
			reg->next = b[sdr_mix64(reg->fid.key) & mask];
			b[sdr_mix64(reg->fid.key) & mask] = reg;
		}
	}
	free(r->bucket);
	r->bucket = b;
	r->mask = mask;
}

int sdr_regions_insert(struct sdr_regions *r, struct sdr_region *reg, bool prov_key, uint64_t key)
{
	struct sdr_region **p;
	int ret = 0;

	pthread_mutex_lock(&r->lock);
	do {
		if (prov_key) {
			key = sdr_region_key(r->secret, ++r->made);
		}
		p = sdr_regions_slot(r, key);
	} while (prov_key && (*p || key == FI_KEY_NOTAVAIL));
	if (*p) {
		ret = -FI_ENOKEY;
		goto out;
	}
	SDR_ASSERT(!reg->on);
	reg->fid.key = key;
	reg->next = NULL;
	reg->on = true;
	*p = reg;
	if (++r->count > r->mask)
		sdr_regions_grow(r);
out:
	pthread_mutex_unlock(&r->lock);
	return ret;
}

static void sdr_regions_remove(struct sdr_regions *r, struct sdr_region *reg)
{
	struct sdr_region **p;

	pthread_mutex_lock(&r->lock);
	p = sdr_regions_slot(r, reg->fid.key);
	if (reg->on && *p == reg) {
		SDR_ASSERT(r->count);
		*p = reg->next;
		r->count--;
		reg->on = false;
	}
	pthread_mutex_unlock(&r->lock);
}

int sdr_regions_get(struct sdr_domain *dom, uint64_t key, uint64_t addr, uint64_t len,
		    uint32_t access, void **va, void **region)
{
	struct sdr_regions *r = &dom->regions;
	struct sdr_region *reg;
	uint64_t off;
	int ret = -EINVAL;

	pthread_mutex_lock(&r->lock);
	reg = *sdr_regions_slot(r, key);
	if (!reg)
		goto out;
	off = dom->mr_virt ? addr - (uint64_t)(uintptr_t)reg->base : addr;
	if (off > reg->len || len > reg->len - off)
		goto out;
	ret = -EACCES;
	if ((access & SDR_REL_ACCESS_READ) && !(reg->access & FI_REMOTE_READ))
		goto out;
	if ((access & SDR_REL_ACCESS_WRITE) && !(reg->access & FI_REMOTE_WRITE))
		goto out;
	if (reg->hmem && !(access & SDR_REL_ACCESS_COPY))
		goto out;
	*va = reg->base + off;
	*region = reg;
	ret = 0;
out:
	pthread_mutex_unlock(&r->lock);
	return ret;
}

void sdr_regions_event(struct sdr_domain *dom, uint64_t key, bool read, bool changed)
{
	struct sdr_regions *r = &dom->regions;
	struct sdr_region *reg;

	pthread_mutex_lock(&r->lock);
	reg = *sdr_regions_slot(r, key);
	if (reg && read && reg->rd_cntr)
		sdr_cntr_bump(reg->rd_cntr, false);
	if (reg && changed && reg->wr_cntr)
		sdr_cntr_bump(reg->wr_cntr, false);
	pthread_mutex_unlock(&r->lock);
}

/* ---- handles --------------------------------------------------------------------------------- */

/* From the peers of one endpoint. */
static void sdr_region_take(struct sdr_region *reg, struct sdr_ep *ep)
{
	pthread_mutex_lock(&ep->lock);
	if (ep->rel && sdr_rel_mr_revoke(ep->rel, reg))
		sdr_ep_nudge(ep); /* informs the peers */
	if (ep->links)
		ep->links->revoke(ep, reg);
	sdr_ep_unlock(ep);
}

static bool sdr_region_read(struct sdr_region *reg, struct sdr_ep *ep)
{
	bool reading;

	pthread_mutex_lock(&ep->lock);
	reading = ep->rel && !ep->broken && sdr_rel_mr_reading(ep->rel, reg->base, reg->len);
	pthread_mutex_unlock(&ep->lock);
	return reading;
}

/*
 * From here on no peer reaches it: the key is gone, and what was under way ends, whatever its peer
 * does.
 */
static void sdr_region_revoke(struct sdr_region *reg)
{
	struct sdr_domain *dom = reg->dom;
	struct sdr_ep *ep;
	unsigned int i;

	sdr_regions_remove(&dom->regions, reg);
	if (!reg->len || !(reg->access & (FI_REMOTE_READ | FI_REMOTE_WRITE)))
		return;
	pthread_mutex_lock(&dom->eps_lock);
	for (i = 0; i < dom->neps; i++)
		sdr_region_take(reg, dom->eps[i]);
	for (ep = dom->closing; ep; ep = ep->closing_next)
		sdr_region_take(reg, ep);
	pthread_mutex_unlock(&dom->eps_lock);
}

/* True while a device has packets to send that lie in it. */
static bool sdr_region_reading(struct sdr_region *reg)
{
	struct sdr_domain *dom = reg->dom;
	bool reading = false;
	struct sdr_ep *ep;
	unsigned int i;

	pthread_mutex_lock(&dom->eps_lock);
	for (i = 0; i < dom->neps && !reading; i++)
		reading = sdr_region_read(reg, dom->eps[i]);
	for (ep = dom->closing; ep && !reading; ep = ep->closing_next)
		reading = sdr_region_read(reg, ep);
	pthread_mutex_unlock(&dom->eps_lock);
	return reading;
}

/* A device needs no peer to send what it was given: this is short. */
static void sdr_region_drain(struct sdr_region *reg)
{
	struct timespec ts = { .tv_nsec = 50000 };
	uint64_t until = 0;

	while ((reg->access & FI_REMOTE_READ) && sdr_region_reading(reg)) {
		if (!until)
			until = sdr_mono_ns() + SDR_CLOSE_LINGER_MS * 1000000ull;
		if (sdr_mono_ns() > until) {
			FI_WARN(&sdr_prov, FI_LOG_MR,
				"the device does not finish reading a region that is closed\n");
			return;
		}
		nanosleep(&ts, NULL);
	}
}

static int sdr_region_close(struct fid *fid)
{
	struct sdr_region *reg = container_of(fid, struct sdr_region, fid.fid);
	struct sdr_domain *dom = reg->dom;

	sdr_region_revoke(reg);
	sdr_region_drain(reg);
	if (reg->mem)
		reg->dom->engine->mem_dereg(reg->mem);
	if (dom->mr_eq)
		sdr_eq_purge(container_of(dom->mr_eq, struct sdr_eq, fid), fid);
	if (reg->rd_cntr)
		atomic_fetch_sub(&reg->rd_cntr->refs, 1);
	if (reg->wr_cntr)
		atomic_fetch_sub(&reg->wr_cntr->refs, 1);
	atomic_fetch_sub(&dom->refs, 1);
	free(reg);
	return 0;
}

static int sdr_region_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct sdr_region *reg = container_of(fid, struct sdr_region, fid.fid);
	struct sdr_cntr *cntr;
	int ret;

	if (bfid->fclass == FI_CLASS_EP)
		return 0; /* FI_MR_ENDPOINT is not required, and harmless */
	if (bfid->fclass != FI_CLASS_CNTR)
		return -FI_EINVAL;
	if (!(reg->dom->caps & FI_RMA_EVENT) || (flags & ~(FI_REMOTE_READ | FI_REMOTE_WRITE)) ||
	    !flags)
		return -FI_EBADFLAGS;
	cntr = container_of(bfid, struct sdr_cntr, fid.fid);
	if (cntr->dom != reg->dom)
		return -FI_EINVAL;
	ret = sdr_domain_cntr_add(reg->dom, cntr);
	if (ret)
		return ret;
	pthread_mutex_lock(&reg->dom->regions.lock);
	if ((flags & FI_REMOTE_READ) && !reg->rd_cntr) {
		atomic_fetch_add(&cntr->refs, 1);
		reg->rd_cntr = cntr;
	}
	if ((flags & FI_REMOTE_WRITE) && !reg->wr_cntr) {
		atomic_fetch_add(&cntr->refs, 1);
		reg->wr_cntr = cntr;
	}
	pthread_mutex_unlock(&reg->dom->regions.lock);
	return 0;
}

static int sdr_region_control(struct fid *fid, int command, void *arg)
{
	struct sdr_region *reg = container_of(fid, struct sdr_region, fid.fid);
	struct fi_mr_raw_attr *raw = arg;

	switch (command) {
	case FI_ENABLE:
		return 0;
	case FI_GET_RAW_MR:
		if (*raw->key_size < sizeof(reg->fid.key)) {
			*raw->key_size = sizeof(reg->fid.key);
			return -FI_ETOOSMALL;
		}
		*raw->key_size = sizeof(reg->fid.key);
		memcpy(raw->raw_key, &reg->fid.key, sizeof(reg->fid.key));
		if (raw->base_addr)
			*raw->base_addr = reg->dom->mr_virt ? (uint64_t)(uintptr_t)reg->base : 0;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

struct fi_ops sdr_region_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_region_close,
	.bind = sdr_region_bind,
	.control = sdr_region_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};
