/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * CUDA, through its driver library (libcuda.so.1): what is used of it is declared here, as NVIDIA's
 * "CUDA Driver API" has it, so that no header of theirs is needed.
 *
 * Copies go through a stream of ours, one a device, in the device's primary context, which the
 * runtime shares.  The stream is no blocking one: it does not wait for the application's default
 * stream, in which a kernel may be waiting for what is copied here.  The context is pushed for the
 * call and popped again: the caller's stays current.
 *
 * A device's memory has a dma-buf (CUDA 11.7, open kernel modules) if the device says so, and if
 * what others wrote there can be made visible: either it is at once, or the host may flush.  Pages
 * of the host are what is named, so the range is widened to them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdr_hmem_rows.h"

#define CU_NON_BLOCKING	      1u /* CU_STREAM_NON_BLOCKING */
#define CU_PORTABLE	      1u /* CU_MEMHOSTREGISTER_PORTABLE */
#define CU_ATTR_TYPE	      2	 /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
#define CU_ATTR_DEVICE	      9	 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
#define CU_MEMORYTYPE_HOST    1u
#define CU_MEMORYTYPE_UNIFIED 4u
#define CU_SYNC_MEMOPS	      6	  /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
#define CU_FLUSH_OPTIONS      117 /* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
#define CU_WRITES_ORDERING    118 /* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING */
#define CU_DMABUF	      124 /* CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED */
#define CU_FLUSH_HOST	      0x1 /* CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST */
#define CU_ORDERED_OWNER      100 /* CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER */
#define CU_FLUSH_TO_OWNER     100 /* CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER */
#define CU_FLUSH_CURRENT      0	  /* CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX */
#define CU_HANDLE_DMABUF      0x1 /* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD */

typedef unsigned long long cu_ptr; /* CUdeviceptr */

static struct { /* all return a CUresult, 0: success */
	int (*init)(unsigned int flags);
	int (*count)(int *n);
	int (*device)(int *dev, int ordinal);
	int (*retain)(void **ctx, int dev);
	int (*push)(void *ctx);
	int (*pop)(void **ctx);
	int (*stream)(void **stream, unsigned int flags);
	int (*sync)(void *stream);
	int (*get)(void *to, cu_ptr from, size_t n, void *stream);
	int (*put)(cu_ptr to, const void *from, size_t n, void *stream);
	int (*attr)(void *value, int attr, cu_ptr ptr);
	int (*pin)(void *p, size_t len, unsigned int flags);
	int (*unpin)(void *p);
	/* of later drivers: NULL without */
	int (*dev_attr)(int *value, int attr, int dev);
	int (*attr_set)(const void *value, int attr, cu_ptr ptr);
	int (*range)(void *handle, cu_ptr ptr, size_t size, int type, unsigned long long flags);
	int (*flush)(int target, int scope);
} cu;

struct cuda_mem {
	struct sdr_mem mem;
	void *ctx, *stream;
	bool dmabuf, flush; /* there is one; and what others wrote is flushed */
};

static pthread_mutex_t cuda_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_mem *cuda_mems[SDR_HMEM_DEVICES]; /* by ordinal; under lock until made */
static int cuda_ndevices;

static int cuda_load(void *lib)
{
	if (sdr_hmem_call(lib, "cuInit", &cu.init) ||
	    sdr_hmem_call(lib, "cuDeviceGetCount", &cu.count) ||
	    sdr_hmem_call(lib, "cuDeviceGet", &cu.device) ||
	    sdr_hmem_call(lib, "cuDevicePrimaryCtxRetain", &cu.retain) ||
	    sdr_hmem_call(lib, "cuCtxPushCurrent_v2", &cu.push) ||
	    sdr_hmem_call(lib, "cuCtxPopCurrent_v2", &cu.pop) ||
	    sdr_hmem_call(lib, "cuStreamCreate", &cu.stream) ||
	    sdr_hmem_call(lib, "cuStreamSynchronize", &cu.sync) ||
	    sdr_hmem_call(lib, "cuMemcpyDtoHAsync_v2", &cu.get) ||
	    sdr_hmem_call(lib, "cuMemcpyHtoDAsync_v2", &cu.put) ||
	    sdr_hmem_call(lib, "cuPointerGetAttribute", &cu.attr) ||
	    sdr_hmem_call(lib, "cuMemHostRegister_v2", &cu.pin) ||
	    sdr_hmem_call(lib, "cuMemHostUnregister", &cu.unpin))
		return -ENOSYS;
	if (sdr_hmem_call(lib, "cuDeviceGetAttribute", &cu.dev_attr) ||
	    sdr_hmem_call(lib, "cuPointerSetAttribute", &cu.attr_set) ||
	    sdr_hmem_call(lib, "cuMemGetHandleForAddressRange", &cu.range) ||
	    sdr_hmem_call(lib, "cuFlushGPUDirectRDMAWrites", &cu.flush))
		cu.range = NULL;
	if (cu.init(0) || cu.count(&cuda_ndevices) || cuda_ndevices < 1)
		return -ENODEV;
	return 0;
}

static int cuda_copy(const struct sdr_mem *mem, void *near, const void *far, size_t n, bool get)
{
	const struct cuda_mem *m = (const struct cuda_mem *)mem;
	void *mine;
	int ret;

	if (cu.push(m->ctx))
		return -EIO;
	ret = get ? cu.get(near, (cu_ptr)(uintptr_t)far, n, m->stream)
		  : cu.put((cu_ptr)(uintptr_t)far, near, n, m->stream);
	if (!ret)
		ret = cu.sync(m->stream);
	(void)cu.pop(&mine);
	return ret ? -EIO : 0;
}

static int cuda_get(const struct sdr_mem *mem, void *to, const void *from, size_t n)
{
	return cuda_copy(mem, to, from, n, true);
}

static int cuda_put(const struct sdr_mem *mem, void *to, const void *from, size_t n)
{
	return cuda_copy(mem, (void *)(uintptr_t)from, to, n, false);
}

/*
 * Bytes that a copy of the device's still brings there are to be there when the call that made it
 * returns (SYNC_MEMOPS): nobody waits for them else.
 */
static int cuda_dmabuf(const struct sdr_mem *mem, const void *p, size_t n, struct sdr_dmabuf *out)
{
	const struct cuda_mem *m = (const struct cuda_mem *)mem;
	cu_ptr page = (cu_ptr)sysconf(_SC_PAGESIZE), lo = (cu_ptr)(uintptr_t)p,
	       from = lo & ~(page - 1), to = (lo + n + page - 1) & ~(page - 1);
	unsigned int on = 1;
	void *mine;
	int ret;

	if (!m->dmabuf)
		return -EOPNOTSUPP;
	if (cu.push(m->ctx))
		return -EIO;
	ret = cu.attr_set(&on, CU_SYNC_MEMOPS, lo);
	if (!ret)
		ret = cu.range(&out->fd, from, to - from, CU_HANDLE_DMABUF, 0);
	(void)cu.pop(&mine);
	out->off = lo - from;
	return ret ? -EINVAL : 0; /* of this allocation */
}

static int cuda_flush(const struct sdr_mem *mem)
{
	const struct cuda_mem *m = (const struct cuda_mem *)mem;
	void *mine;
	int ret;

	if (!m->flush)
		return 0;
	if (cu.push(m->ctx))
		return -EIO;
	ret = cu.flush(CU_FLUSH_CURRENT, CU_FLUSH_TO_OWNER);
	(void)cu.pop(&mine);
	return ret ? -EIO : 0;
}

static const struct sdr_mem_ops cuda_mem_ops = {
	.name = "cuda",
	.get = cuda_get,
	.put = cuda_put,
	.dmabuf = cuda_dmabuf,
	.flush = cuda_flush,
};

static void cuda_mem_direct(struct cuda_mem *m, int dev)
{
	int has = 0, order = 0, options = 0;

	if (!cu.range || cu.dev_attr(&has, CU_DMABUF, dev) ||
	    cu.dev_attr(&order, CU_WRITES_ORDERING, dev) ||
	    cu.dev_attr(&options, CU_FLUSH_OPTIONS, dev))
		return;
	m->flush = order < CU_ORDERED_OWNER;
	m->dmabuf = has && (!m->flush || options & CU_FLUSH_HOST);
}

static struct cuda_mem *cuda_mem_new(int ordinal)
{
	struct cuda_mem *m = calloc(1, sizeof(*m));
	void *mine;
	int dev, ret;

	if (!m)
		return NULL;
	m->mem.ops = &cuda_mem_ops;
	ret = cu.device(&dev, ordinal) || cu.retain(&m->ctx, dev) || cu.push(m->ctx);
	if (!ret) {
		ret = cu.stream(&m->stream, CU_NON_BLOCKING);
		(void)cu.pop(&mine);
	}
	if (!ret) {
		cuda_mem_direct(m, dev);
		return m;
	}
	free(m);
	return NULL;
}

static int cuda_mem(uint64_t device, const void *ptr, const struct sdr_mem **out)
{
	int ordinal = (int)device;

	if (device == SDR_HMEM_ANY_DEVICE &&
	    cu.attr(&ordinal, CU_ATTR_DEVICE, (cu_ptr)(uintptr_t)ptr))
		return -EINVAL;
	if (ordinal < 0 || ordinal >= cuda_ndevices || ordinal >= (int)SDR_HMEM_DEVICES)
		return -EINVAL;
	pthread_mutex_lock(&cuda_lock);
	if (!cuda_mems[ordinal])
		cuda_mems[ordinal] = cuda_mem_new(ordinal);
	*out = cuda_mems[ordinal] ? &cuda_mems[ordinal]->mem : NULL;
	pthread_mutex_unlock(&cuda_lock);
	return *out ? 0 : -EIO;
}

/* Memory of the host that CUDA knows is the CPU's as well. */
static bool cuda_mine(const void *ptr)
{
	unsigned int type = CU_MEMORYTYPE_HOST;

	return !cu.attr(&type, CU_ATTR_TYPE, (cu_ptr)(uintptr_t)ptr) && type > CU_MEMORYTYPE_HOST &&
	       type <= CU_MEMORYTYPE_UNIFIED;
}

static int cuda_pin(void *p, size_t len)
{
	return cu.pin(p, len, CU_PORTABLE) ? -ENOMEM : 0;
}

static void cuda_unpin(void *p)
{
	(void)cu.unpin(p); /* fails where pinning did */
}

const struct sdr_hmem_ops sdr_hmem_cuda = {
	.name = "cuda",
	.lib = "libcuda.so.1",
	.load = cuda_load,
	.mem = cuda_mem,
	.mine = cuda_mine,
	.pin = cuda_pin,
	.unpin = cuda_unpin,
};
