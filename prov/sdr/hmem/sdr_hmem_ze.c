/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Level Zero, through its loader (libze_loader.so.1): what is used of it is declared here, as the
 * "oneAPI Level Zero Specification" 1.x has it, so that no header of theirs is needed.
 *
 * One context of ours and, for each device, an immediate command list that is synchronous: a copy
 * is over when the call returns.  A list is used by one thread at a time.  A device's number is its
 * driver's in the upper 16 bits, as fi_hmem_ze_device makes it; only the first driver is used.
 *
 * An allocation's dma-buf is told with its properties.  The descriptor may be the driver's own, so
 * it is duplicated, never closed; it is of the whole allocation.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "sdr_hmem_rows.h"

#define ZE_CONTEXT_DESC	     0x0du /* ZE_STRUCTURE_TYPE_CONTEXT_DESC */
#define ZE_QUEUE_DESC	     0x0eu /* ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC */
#define ZE_MEM_PROPS	     0x17u /* ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES */
#define ZE_EXPORT_FD	     0x1au /* ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD */
#define ZE_EXTERNAL_DMABUF   0x2u  /* ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF */
#define ZE_QUEUE_SYNCHRONOUS 1u	   /* ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS */
#define ZE_MEMORY_DEVICE     2u	   /* ZE_MEMORY_TYPE_DEVICE */

struct ze_context_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags;
};

struct ze_queue_desc {
	uint32_t stype;
	const void *next;
	uint32_t ordinal, index, flags, mode, priority;
};

struct ze_mem_props {
	uint32_t stype;
	void *next;
	uint32_t type;
	uint64_t id, page_size;
};

struct ze_export_fd {
	uint32_t stype;
	void *next;
	uint32_t flags;
	int fd;
};

static struct { /* all return a ze_result_t, 0: success; handles are pointers */
	int (*init)(uint32_t flags);
	int (*drivers)(uint32_t *n, void **drivers);
	int (*devices)(void *driver, uint32_t *n, void **devices);
	int (*context)(void *driver, const struct ze_context_desc *desc, void **context);
	int (*list)(void *context, void *device, const struct ze_queue_desc *desc, void **list);
	int (*copy)(void *list, void *to, const void *from, size_t n, void *signal, uint32_t nwait,
		    void **wait);
	int (*props)(void *context, const void *ptr, struct ze_mem_props *props, void **device);
	int (*range)(void *context, const void *ptr, void **base, size_t *size);
} ze;

struct ze_mem {
	struct sdr_mem mem;
	pthread_mutex_t *lock; /* of list */
	void *list;
};

static pthread_mutex_t ze_lock = PTHREAD_MUTEX_INITIALIZER; /* and of all lists */
static void *ze_context, *ze_devices[SDR_HMEM_DEVICES];
static struct ze_mem *ze_mems[SDR_HMEM_DEVICES]; /* under lock until made */
static uint32_t ze_ndevices = SDR_HMEM_DEVICES;

static int ze_load(void *lib)
{
	struct ze_context_desc desc = { .stype = ZE_CONTEXT_DESC };
	uint32_t one = 1;
	void *driver;

	if (sdr_hmem_call(lib, "zeInit", &ze.init) ||
	    sdr_hmem_call(lib, "zeDriverGet", &ze.drivers) ||
	    sdr_hmem_call(lib, "zeDeviceGet", &ze.devices) ||
	    sdr_hmem_call(lib, "zeContextCreate", &ze.context) ||
	    sdr_hmem_call(lib, "zeCommandListCreateImmediate", &ze.list) ||
	    sdr_hmem_call(lib, "zeCommandListAppendMemoryCopy", &ze.copy) ||
	    sdr_hmem_call(lib, "zeMemGetAllocProperties", &ze.props) ||
	    sdr_hmem_call(lib, "zeMemGetAddressRange", &ze.range))
		return -ENOSYS;
	if (ze.init(0) || ze.drivers(&one, &driver) || !one ||
	    ze.devices(driver, &ze_ndevices, ze_devices) || !ze_ndevices ||
	    ze.context(driver, &desc, &ze_context))
		return -ENODEV;
	return 0;
}

static int ze_copy(const struct sdr_mem *mem, void *to, const void *from, size_t n)
{
	const struct ze_mem *m = (const struct ze_mem *)mem;
	int ret;

	pthread_mutex_lock(m->lock);
	ret = ze.copy(m->list, to, from, n, NULL, 0, NULL);
	pthread_mutex_unlock(m->lock);
	return ret ? -EIO : 0;
}

static int ze_dmabuf(const struct sdr_mem *mem, const void *p, size_t n, struct sdr_dmabuf *out)
{
	struct ze_export_fd fd = { .stype = ZE_EXPORT_FD, .flags = ZE_EXTERNAL_DMABUF, .fd = -1 };
	struct ze_mem_props props = { .stype = ZE_MEM_PROPS, .next = &fd };
	void *device, *base;
	size_t size;

	(void)mem;
	if (ze.range(ze_context, p, &base, &size) ||
	    n > size - (size_t)((const uint8_t *)p - (uint8_t *)base) ||
	    ze.props(ze_context, p, &props, &device) || fd.fd < 0)
		return -EINVAL;
	out->fd = fcntl(fd.fd, F_DUPFD_CLOEXEC, 0);
	out->off = (uint64_t)((const uint8_t *)p - (uint8_t *)base);
	return out->fd < 0 ? -errno : 0;
}

static const struct sdr_mem_ops ze_mem_ops = {
	.name = "ze",
	.get = ze_copy,
	.put = ze_copy,
	.dmabuf = ze_dmabuf,
};

static struct ze_mem *ze_mem_new(uint32_t k)
{
	struct ze_queue_desc desc = { .stype = ZE_QUEUE_DESC, .mode = ZE_QUEUE_SYNCHRONOUS };
	struct ze_mem *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->mem.ops = &ze_mem_ops;
	m->lock = &ze_lock;
	if (!ze.list(ze_context, ze_devices[k], &desc, &m->list))
		return m;
	free(m);
	return NULL;
}

/* The device that ptr lies on, in device memory; false: on none. */
static bool ze_owner(const void *ptr, uint32_t *k)
{
	struct ze_mem_props props = { .stype = ZE_MEM_PROPS };
	void *device = NULL;

	if (ze.props(ze_context, ptr, &props, &device) || props.type != ZE_MEMORY_DEVICE)
		return false;
	for (*k = 0; *k < ze_ndevices; ++*k) {
		if (ze_devices[*k] == device)
			return true;
	}
	return false;
}

static int ze_mem(uint64_t device, const void *ptr, const struct sdr_mem **out)
{
	uint32_t k = (uint32_t)device;

	if (device == SDR_HMEM_ANY_DEVICE && !ze_owner(ptr, &k))
		return -EINVAL;
	if (k >= ze_ndevices)
		return -EINVAL;
	pthread_mutex_lock(&ze_lock);
	if (!ze_mems[k])
		ze_mems[k] = ze_mem_new(k);
	*out = ze_mems[k] ? &ze_mems[k]->mem : NULL;
	pthread_mutex_unlock(&ze_lock);
	return *out ? 0 : -EIO;
}

/* What is shared between device and host is the CPU's as well. */
static bool ze_mine(const void *ptr)
{
	uint32_t k;

	return ze_owner(ptr, &k);
}

const struct sdr_hmem_ops sdr_hmem_ze = {
	.name = "ze",
	.lib = "libze_loader.so.1",
	.load = ze_load,
	.mem = ze_mem,
	.mine = ze_mine,
};
