/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * ROCr, through the HSA runtime (libhsa-runtime64.so.1): what is used of it is declared here, as
 * the "HSA Runtime Programmer's Reference Manual" 1.2 and AMD's hsa_ext_amd.h have it, so that no header
 * of theirs is needed.
 *
 * One address space for all devices, and one copy for all of them, which finds out by itself where
 * both ends lie: there is one memory, whatever the device's number.  It has dma-bufs where the
 * runtime (ROCm 5.6) and the kernel say so.
 */
#include <stdint.h>

#include "sdr_hmem_rows.h"

#define HSA_SUCCESS	      0
#define HSA_AGENT_INFO_DEVICE 17    /* HSA_AGENT_INFO_DEVICE */
#define HSA_DEVICE_GPU	      1	    /* HSA_DEVICE_TYPE_GPU */
#define HSA_PTR_HSA	      1	    /* HSA_EXT_POINTER_TYPE_HSA: allocated by the runtime */
#define HSA_SYSTEM_DMABUF     0x204 /* HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED */

struct hsa_agent {
	uint64_t handle;
};

struct hsa_ptr_info { /* hsa_amd_pointer_info_t; size tells how much the runtime may fill */
	uint32_t size;
	int type;
	void *agent_base, *host_base;
	size_t len;
	void *user;
	struct hsa_agent owner;
	uint32_t global_flags;
};

static struct { /* all return an hsa_status_t */
	int (*init)(void);
	int (*agents)(int (*each)(struct hsa_agent agent, void *data), void *data);
	int (*agent_info)(struct hsa_agent agent, int attr, void *value);
	int (*copy)(void *to, const void *from, size_t n);
	int (*info)(const void *ptr, struct hsa_ptr_info *info, void *alloc, uint32_t *n,
		    struct hsa_agent **agents);
	int (*lock)(void *p, size_t len, struct hsa_agent *agents, int n, void **out);
	int (*unlock)(void *p);
	/* of later runtimes: NULL without, or without dma-bufs */
	int (*export)(const void *p, size_t n, int *fd, uint64_t *off);
} hsa;

/* True: a GPU. */
static bool rocr_is_gpu(struct hsa_agent agent)
{
	int type = 0;

	return hsa.agent_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_SUCCESS &&
	       type == HSA_DEVICE_GPU;
}

static int rocr_count(struct hsa_agent agent, void *data)
{
	*(unsigned int *)data += rocr_is_gpu(agent);
	return HSA_SUCCESS;
}

static void rocr_load_dmabuf(void *lib)
{
	int (*info)(int attr, void *value);
	bool has = false;

	if (sdr_hmem_call(lib, "hsa_system_get_info", &info) ||
	    info(HSA_SYSTEM_DMABUF, &has) != HSA_SUCCESS || !has ||
	    sdr_hmem_call(lib, "hsa_amd_portable_export_dmabuf", &hsa.export))
		hsa.export = NULL;
}

static int rocr_load(void *lib)
{
	unsigned int n = 0;

	if (sdr_hmem_call(lib, "hsa_init", &hsa.init) ||
	    sdr_hmem_call(lib, "hsa_iterate_agents", &hsa.agents) ||
	    sdr_hmem_call(lib, "hsa_agent_get_info", &hsa.agent_info) ||
	    sdr_hmem_call(lib, "hsa_memory_copy", &hsa.copy) ||
	    sdr_hmem_call(lib, "hsa_amd_pointer_info", &hsa.info) ||
	    sdr_hmem_call(lib, "hsa_amd_memory_lock", &hsa.lock) ||
	    sdr_hmem_call(lib, "hsa_amd_memory_unlock", &hsa.unlock))
		return -ENOSYS;
	if (hsa.init() != HSA_SUCCESS)
		return -ENODEV;
	rocr_load_dmabuf(lib);
	return hsa.agents(rocr_count, &n) == HSA_SUCCESS && n ? 0 : -ENODEV;
}

static int rocr_copy(const struct sdr_mem *mem, void *to, const void *from, size_t n)
{
	(void)mem;
	return hsa.copy(to, from, n) == HSA_SUCCESS ? 0 : -EIO;
}

static int rocr_dmabuf(const struct sdr_mem *mem, const void *p, size_t n, struct sdr_dmabuf *out)
{
	(void)mem;
	if (!hsa.export)
		return -EOPNOTSUPP;
	return hsa.export(p, n, &out->fd, &out->off) == HSA_SUCCESS ? 0 : -EINVAL;
}

static const struct sdr_mem_ops rocr_mem_ops = {
	.name = "rocr",
	.get = rocr_copy,
	.put = rocr_copy,
	.dmabuf = rocr_dmabuf,
};

static int rocr_mem(uint64_t device, const void *ptr, const struct sdr_mem **out)
{
	static const struct sdr_mem mem = { &rocr_mem_ops };

	(void)device;
	(void)ptr;
	*out = &mem;
	return 0;
}

/* Allocated by the runtime, for a GPU: what it allocates for CPUs is theirs. */
static bool rocr_mine(const void *ptr)
{
	struct hsa_ptr_info i = { .size = sizeof(i) };

	return hsa.info(ptr, &i, NULL, NULL, NULL) == HSA_SUCCESS && i.type == HSA_PTR_HSA &&
	       rocr_is_gpu(i.owner);
}

static int rocr_pin(void *p, size_t len)
{
	void *theirs;

	return hsa.lock(p, len, NULL, 0, &theirs) == HSA_SUCCESS ? 0 : -ENOMEM;
}

static void rocr_unpin(void *p)
{
	(void)hsa.unlock(p); /* fails where pinning did */
}

const struct sdr_hmem_ops sdr_hmem_rocr = {
	.name = "rocr",
	.lib = "libhsa-runtime64.so.1",
	.load = rocr_load,
	.mem = rocr_mem,
	.mine = rocr_mine,
	.pin = rocr_pin,
	.unpin = rocr_unpin,
};
