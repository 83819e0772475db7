/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_mr_reg and its kin: what is taken as a memory region.
 *
 * One contiguous range a region.  Of the access bits those that name a right count; others, which
 * some applications add (FI_RMA, FI_COLLECTIVE), are passed over.  Local buffers need no
 * registration; a region without remote rights is not in the table, so that its requested key may
 * be that of another.
 *
 * Memory of a device is taken in a domain with FI_HMEM (hmem/), whether the call says whose it is
 * or only the pointer does, and refused in any other (-FI_ENOSYS): reading it would be a crash
 * later.  Of a dma-buf the address counts under which it is mapped on the device.
 *
 * In the domain of an RDMA device the memory is registered with the device, too, so that its
 * engines need not do it for each message.  Where that fails the call fails, unless the application
 * did not choose the device: then the endpoint may not run on it either, and has messages of its
 * own if it does.  A device's memory is registered by its dma-buf, the application's or its
 * driver's; where that is refused, its data are copied (rel/bulk/sdr_stage.c), and nothing fails.
 */
#include <stdlib.h>
#include <string.h>

#include "hmem/sdr_hmem.h"

#include "sdr_domain.h"
#include "sdr_env.h"
#include "sdr_eq.h"
#include "sdr_prov.h"
#include "sdr_region.h"

/* the rights that a region can give */
#define SDR_MR_REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

static int sdr_region_device(struct sdr_region *reg, const struct sdr_dmabuf *dmabuf)
{
	struct sdr_domain *dom = reg->dom;
	char why[SDR_ENV_ERR] = "";
	int ret;

	if (!dom->device[0] || !reg->len || !dom->engine->mem_reg)
		return 0;
	ret = dom->engine->mem_reg(dom->device, reg->base, reg->len, reg->hmem, dmabuf, &reg->mem,
				   why, sizeof(why));
	if (!ret)
		return 0;
	if (reg->hmem) {
		sdr_warn_once("a region of a device's memory is not registered with %s, its data "
			      "pass through memory of the host: %s%s%s",
			      dom->device, fi_strerror(-ret), why[0] ? ": " : "", why);
		reg->mem = NULL;
		return 0;
	}
	FI_WARN(&sdr_prov, FI_LOG_MR, "cannot register %zu bytes with %s: %s%s%s\n",
		(size_t)reg->len, dom->device, fi_strerror(-ret), why[0] ? ": " : "", why);
	reg->mem = NULL;
	return dom->device_asked ? ret : 0;
}

/* FI_MR_DMABUF and its structure, as of libfabric 1.20: our headers may be older. */
#define SDR_MR_DMABUF (1ULL << 40)
struct sdr_mr_dmabuf {
	int fd;
	uint64_t offset; /* bytes */
	size_t len;
	void *base_addr;
};

_Static_assert((int)SDR_HMEM_CUDA == FI_HMEM_CUDA && (int)SDR_HMEM_ROCR == FI_HMEM_ROCR &&
		       (int)SDR_HMEM_ZE == FI_HMEM_ZE,
	       "libfabric's numbers");

/* A key that the application chose need be nobody else's only where a peer could use it. */
static int sdr_region_publish(struct sdr_region *reg, uint64_t key)
{
	struct sdr_domain *dom = reg->dom;

	reg->fid.key = key;
	if (!dom->mr_prov_key && !(reg->access & SDR_MR_REMOTE))
		return 0;
	return sdr_regions_insert(&dom->regions, reg, dom->mr_prov_key, key);
}

/* Where the memory is that is said to be iface's, of this device. */
static int sdr_region_place(const struct sdr_domain *dom, unsigned int iface, uint64_t device,
			    const void *buf, const struct sdr_mem **mem)
{
	const char *why;
	int ret;

	*mem = NULL;
	if (iface == FI_HMEM_SYSTEM)
		return dom->hmem ? sdr_hmem_find(buf, mem) : 0;
	if (!dom->hmem)
		return -FI_ENOSYS;
	ret = sdr_hmem_mem(iface, device, buf, mem);
	if (ret == -ENOSYS) {
		sdr_hmem_usable(iface, &why);
		FI_WARN(&sdr_prov, FI_LOG_MR, "memory of interface %u: %s\n", iface, why);
	}
	return ret;
}

static int sdr_region_open(struct fid *fid, void *buf, size_t len, uint64_t access, uint64_t key,
			   uint64_t flags, unsigned int iface, uint64_t device,
			   const struct sdr_dmabuf *dmabuf, struct fid_mr **mr, void *context)
{
	const struct sdr_mem *mem;
	struct sdr_domain *dom;
	struct sdr_region *reg;
	struct fi_eq_entry ev;
	int ret;

	if (fid->fclass != FI_CLASS_DOMAIN || !mr)
		return -FI_EINVAL;
	dom = container_of(fid, struct sdr_domain, fid.fid);
	if (flags & ~FI_RMA_EVENT)
		return -FI_EBADFLAGS;
	if ((uintptr_t)buf + len < (uintptr_t)buf)
		return -FI_EINVAL;
	ret = sdr_region_place(dom, iface, device, buf, &mem);
	if (ret)
		return ret;
	reg = calloc(1, sizeof(*reg));
	if (!reg)
		return -FI_ENOMEM;
	reg->dom = dom;
	reg->hmem = mem;
	reg->base = buf;
	reg->len = len;
	reg->access = access;
	reg->fid.fid.fclass = FI_CLASS_MR;
	reg->fid.fid.context = context;
	reg->fid.fid.ops = &sdr_region_fi_ops;
	reg->fid.mem_desc = reg;
	ret = sdr_region_device(reg, mem ? dmabuf : NULL);
	if (!ret)
		ret = sdr_region_publish(reg, key);
	if (ret) {
		if (reg->mem)
			reg->dom->engine->mem_dereg(reg->mem);
		free(reg);
		return ret;
	}
	atomic_fetch_add(&dom->refs, 1);
	*mr = &reg->fid;
	if (dom->mr_eq) {
		memset(&ev, 0, sizeof(ev));
		ev.fid = &reg->fid.fid;
		ev.context = context;
		sdr_eq_event(container_of(dom->mr_eq, struct sdr_eq, fid), FI_MR_COMPLETE, &ev);
	}
	return 0;
}

static int sdr_mr_ops_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
			  uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
			  void *context)
{
	if (offset)
		return -FI_EINVAL; /* reserved */
	return sdr_region_open(fid, (void *)(uintptr_t)buf, len, access, key, flags, FI_HMEM_SYSTEM,
			       0, NULL, mr, context);
}

static int sdr_mr_ops_regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
			   uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
			   void *context)
{
	if (count > 1 || offset)
		return -FI_EINVAL;
	return sdr_region_open(fid, count ? iov->iov_base : NULL, count ? iov->iov_len : 0, access,
			       key, flags, FI_HMEM_SYSTEM, 0, NULL, mr, context);
}

static int sdr_mr_ops_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
			      struct fid_mr **mr)
{
	const struct sdr_mr_dmabuf *d = (const void *)attr->mr_iov;
	struct sdr_dmabuf dmabuf = { .fd = -1 };
	const struct sdr_domain *dom;
	unsigned int iface;
	void *buf = NULL;
	size_t len = 0;

	if (fid->fclass != FI_CLASS_DOMAIN || attr->iov_count > 1 || attr->offset)
		return -FI_EINVAL;
	dom = container_of(fid, struct sdr_domain, fid.fid);
	if ((flags & SDR_MR_DMABUF) && !dom->hmem)
		return -FI_EBADFLAGS;
	iface = dom->mr_iface ? attr->iface : FI_HMEM_SYSTEM;
	if ((flags & SDR_MR_DMABUF) && attr->iov_count) {
		if (!d->base_addr) /* nothing here maps it */
			return -FI_ENOSYS;
		buf = (uint8_t *)d->base_addr + d->offset;
		len = d->len;
		dmabuf = (struct sdr_dmabuf){ d->fd, d->offset };
	} else if (attr->iov_count) {
		buf = attr->mr_iov->iov_base;
		len = attr->mr_iov->iov_len;
	}
	return sdr_region_open(
		fid, buf, len, attr->access, attr->requested_key, flags & ~SDR_MR_DMABUF, iface,
		(uint64_t)(iface == FI_HMEM_CUDA ? attr->device.cuda : attr->device.ze),
		dmabuf.fd >= 0 ? &dmabuf : NULL, mr, attr->context);
}

struct fi_ops_mr sdr_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = sdr_mr_ops_reg,
	.regv = sdr_mr_ops_regv,
	.regattr = sdr_mr_ops_regattr,
};
