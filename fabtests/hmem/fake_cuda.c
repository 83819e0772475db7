/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A CUDA driver library without a device: the calls that the provider makes, as NVIDIA documents
 * them, over fake_mem.  It is as strict as the real one may be: no call before cuInit, no copy
 * without a current context, and a copy in a stream is made no sooner than the stream is
 * synchronized.  A dma-buf is of whole pages, of memory whose copies are synchronous; what others
 * wrote to device 1 must be flushed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "fake_mem.h"

#define DRIVER	      1
#define CU_SUCCESS    0
#define CU_INVALID    1	  /* CUDA_ERROR_INVALID_VALUE */
#define CU_NOT_INIT   3	  /* CUDA_ERROR_NOT_INITIALIZED */
#define CU_NO_CONTEXT 201 /* CUDA_ERROR_INVALID_CONTEXT */
#define CU_LAUNCH     719 /* CUDA_ERROR_LAUNCH_FAILED */
#define STREAM_COPIES 64

struct stream {
	pthread_mutex_t lock;
	struct {
		void *to;
		const void *from;
		size_t n;
	} todo[STREAM_COPIES];
	unsigned int ntodo;
};

static int started;
static int contexts[FAKE_DEVICES]; /* their addresses are the handles */
static _Thread_local void *current[8];
static _Thread_local unsigned int ncurrent;

int cuInit(unsigned int flags);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *dev, int ordinal);
int cuDevicePrimaryCtxRetain(void **ctx, int dev);
int cuCtxPushCurrent_v2(void *ctx);
int cuCtxPopCurrent_v2(void **ctx);
int cuStreamCreate(void **stream, unsigned int flags);
int cuStreamSynchronize(void *stream);
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t n, void *stream);
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t n, void *stream);
int cuPointerGetAttribute(void *value, int attr, unsigned long long ptr);
int cuMemHostRegister_v2(void *p, size_t len, unsigned int flags);
int cuMemHostUnregister(void *p);
int cuDeviceGetAttribute(int *value, int attr, int dev);
int cuPointerSetAttribute(const void *value, int attr, unsigned long long ptr);
int cuMemGetHandleForAddressRange(void *handle, unsigned long long ptr, size_t size, int type,
				  unsigned long long flags);
int cuFlushGPUDirectRDMAWrites(int target, int scope);
/* What an application calls. */
int cuCtxSetCurrent(void *ctx);
int cuMemAlloc_v2(unsigned long long *p, size_t len);
int cuMemFree_v2(unsigned long long p);
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n);
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n);

int cuInit(unsigned int flags)
{
	started = 1;
	return flags ? CU_INVALID : CU_SUCCESS;
}

int cuDeviceGetCount(int *n)
{
	*n = FAKE_DEVICES;
	return started ? CU_SUCCESS : CU_NOT_INIT;
}

int cuDeviceGet(int *dev, int ordinal)
{
	*dev = ordinal;
	return ordinal >= 0 && ordinal < FAKE_DEVICES ? CU_SUCCESS : CU_INVALID;
}

int cuDevicePrimaryCtxRetain(void **ctx, int dev)
{
	*ctx = &contexts[dev];
	return CU_SUCCESS;
}

int cuCtxPushCurrent_v2(void *ctx)
{
	if (ncurrent == sizeof(current) / sizeof(current[0]))
		return CU_INVALID;
	current[ncurrent++] = ctx;
	return CU_SUCCESS;
}

int cuCtxPopCurrent_v2(void **ctx)
{
	if (!ncurrent)
		return CU_NO_CONTEXT;
	*ctx = current[--ncurrent];
	return CU_SUCCESS;
}

int cuStreamCreate(void **stream, unsigned int flags)
{
	struct stream *s = calloc(1, sizeof(*s));

	/* One that waits for the default stream may wait for ever. */
	if (!ncurrent || !s || flags != 1) {
		free(s);
		return CU_INVALID;
	}
	pthread_mutex_init(&s->lock, NULL);
	*stream = s;
	return CU_SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
	struct stream *s = stream;
	int ret = CU_SUCCESS;

	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < s->ntodo; i++)
		if (!fake_copy(s->todo[i].to, s->todo[i].from, s->todo[i].n))
			ret = CU_LAUNCH;
	s->ntodo = 0;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static int later(struct stream *s, void *to, const void *from, size_t n)
{
	if (!ncurrent)
		return CU_NO_CONTEXT;
	pthread_mutex_lock(&s->lock);
	if (s->ntodo == STREAM_COPIES)
		abort();
	s->todo[s->ntodo].to = to;
	s->todo[s->ntodo].from = from;
	s->todo[s->ntodo++].n = n;
	pthread_mutex_unlock(&s->lock);
	return CU_SUCCESS;
}

int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t n, void *stream)
{
	return later(stream, to, (const void *)(uintptr_t)from, n);
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t n, void *stream)
{
	return later(stream, (void *)(uintptr_t)to, from, n);
}

int cuPointerGetAttribute(void *value, int attr, unsigned long long ptr)
{
	int driver, device;

	if (!fake_owner((const void *)(uintptr_t)ptr, &driver, &device) || driver != DRIVER)
		return CU_INVALID;
	switch (attr) {
	case 2: /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
		*(unsigned int *)value = 2;
		return CU_SUCCESS;
	case 9: /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
		*(int *)value = device;
		return CU_SUCCESS;
	default:
		return CU_INVALID;
	}
}

int cuMemHostRegister_v2(void *p, size_t len, unsigned int flags)
{
	if (!p || !len || flags != 1)
		return CU_INVALID;
	fake_pin(true);
	return CU_SUCCESS;
}

int cuMemHostUnregister(void *p)
{
	if (!p)
		return CU_INVALID;
	fake_pin(false);
	return CU_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attr, int dev)
{
	switch (attr) {
	case 117: /* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
		*value = 1;
		return CU_SUCCESS;
	case 118: /* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING */
		*value = dev == 1 ? 0 : 100;
		return CU_SUCCESS;
	case 124: /* CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED */
		*value = 1;
		return CU_SUCCESS;
	default:
		return CU_INVALID;
	}
}

static unsigned long long synchronous; /* the pointer that was last said to be */

int cuPointerSetAttribute(const void *value, int attr, unsigned long long ptr)
{
	int driver, device;

	if (attr != 6 || !*(const unsigned int *)value ||
	    !fake_owner((const void *)(uintptr_t)ptr, &driver, &device) || driver != DRIVER)
		return CU_INVALID;
	__atomic_store_n(&synchronous, ptr, __ATOMIC_RELAXED);
	return CU_SUCCESS;
}

int cuMemGetHandleForAddressRange(void *handle, unsigned long long ptr, size_t size, int type,
				  unsigned long long flags)
{
	uint64_t off;

	if (!ncurrent)
		return CU_NO_CONTEXT;
	if (ptr % 4096 || size % 4096 || !size || type != 1 || flags ||
	    !__atomic_load_n(&synchronous, __ATOMIC_RELAXED))
		return CU_INVALID;
	return fake_dmabuf((const void *)(uintptr_t)ptr, size, false, handle, &off) ? CU_SUCCESS
										    : CU_INVALID;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
	if (!ncurrent || current[ncurrent - 1] != &contexts[1] || target != 0 || scope != 100)
		return CU_INVALID;
	fake_flush();
	return CU_SUCCESS;
}

int cuCtxSetCurrent(void *ctx)
{
	current[0] = ctx;
	ncurrent = 1;
	return CU_SUCCESS;
}

int cuMemAlloc_v2(unsigned long long *p, size_t len)
{
	if (!ncurrent)
		return CU_NO_CONTEXT;
	*p = (uintptr_t)fake_alloc(DRIVER, (int)((int *)current[ncurrent - 1] - contexts), len);
	return CU_SUCCESS;
}

int cuMemFree_v2(unsigned long long p)
{
	fake_free((void *)(uintptr_t)p);
	return CU_SUCCESS;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n)
{
	if (!ncurrent)
		return CU_NO_CONTEXT;
	return fake_copy((void *)(uintptr_t)to, from, n) ? CU_SUCCESS : CU_LAUNCH;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n)
{
	if (!ncurrent)
		return CU_NO_CONTEXT;
	return fake_copy(to, (const void *)(uintptr_t)from, n) ? CU_SUCCESS : CU_LAUNCH;
}
