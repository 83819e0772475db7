/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * far_mem.h over CUDA's driver library, for a GPU that is there: device 0, whatever driver a test
 * wants the memory of.  The calls are declared as NVIDIA's "CUDA Driver API" has them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "far_mem.h"

#define CUDA 1u /* FI_HMEM_CUDA */

typedef unsigned long long cu_ptr; /* CUdeviceptr */

static struct { /* all return a CUresult, 0: success */
	int (*init)(unsigned int flags);
	int (*count)(int *n);
	int (*device)(int *dev, int ordinal);
	int (*retain)(void **ctx, int dev);
	int (*current)(void *ctx);
	int (*alloc)(cu_ptr *p, size_t len);
	int (*release)(cu_ptr p);
	int (*put)(cu_ptr to, const void *from, size_t n);
	int (*get)(void *to, cu_ptr from, size_t n);
} cu;
static int devices;

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "far_cuda: %s failed\n", what);
		abort();
	}
}

const char *far_open(void)
{
	static const struct {
		const char *name;
		void *slot;
	} calls[] = {
		{ "cuInit", &cu.init },
		{ "cuDeviceGetCount", &cu.count },
		{ "cuDeviceGet", &cu.device },
		{ "cuDevicePrimaryCtxRetain", &cu.retain },
		{ "cuCtxSetCurrent", &cu.current },
		{ "cuMemAlloc_v2", &cu.alloc },
		{ "cuMemFree_v2", &cu.release },
		{ "cuMemcpyHtoD_v2", &cu.put },
		{ "cuMemcpyDtoH_v2", &cu.get },
	};
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *at, *ctx;
	int dev;

	if (!lib)
		return "no driver of CUDA's (libcuda.so.1)";
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		at = dlsym(lib, calls[i].name);
		must(at, calls[i].name);
		memcpy(calls[i].slot, &at, sizeof(at));
	}
	if (cu.init(0) || cu.count(&devices) || !devices)
		return "no GPU";
	must(!cu.device(&dev, 0) && !cu.retain(&ctx, dev) && !cu.current(ctx), "the context");
	return NULL;
}

unsigned int far_iface(unsigned int wanted)
{
	return wanted ? CUDA : 0;
}

int far_device(void)
{
	return 0;
}

int far_device_none(void)
{
	return devices;
}

void *far_alloc(unsigned int iface, size_t len)
{
	cu_ptr p = 0;

	must(iface == CUDA && !cu.alloc(&p, len), "an allocation");
	return (void *)(uintptr_t)p;
}

void far_free(void *p)
{
	must(!cu.release((cu_ptr)(uintptr_t)p), "giving memory back");
}

void far_write(void *to, const void *from, size_t n)
{
	must(!n || !cu.put((cu_ptr)(uintptr_t)to, from, n), "a copy to the device");
}

void far_read(void *to, const void *from, size_t n)
{
	must(!n || !cu.get(to, (cu_ptr)(uintptr_t)from, n), "a copy from the device");
}

bool far_fail(int n)
{
	return n < 0; /* none fails by itself */
}

bool far_stats(struct far_stats *out)
{
	(void)out;
	return false;
}
