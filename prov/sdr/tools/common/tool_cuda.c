/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * CUDA's driver library, as far as a program needs it that has buffers in a GPU's memory, and is
 * not the provider (that has hmem/).
 *
 * It is loaded when it is asked for, never linked, and what is used of it is declared here as
 * NVIDIA's "CUDA Driver API" has it; the copies are the synchronous ones, in the primary context,
 * as an application of the runtime would make them.  One device of a process; no state but the
 * calls and how many devices there are.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tool_cuda.h"

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

static int load(char why[TOOL_CUDA_WHY])
{
	static const struct {
		const char *name;
		void *slot; /* of the pointer to the call */
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
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *at;
	size_t i;

	if (!lib) {
		snprintf(why, TOOL_CUDA_WHY, "no driver of CUDA's on this host (%s)", dlerror());
		return -ENODEV;
	}
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		at = dlsym(lib, calls[i].name);
		if (!at) {
			snprintf(why, TOOL_CUDA_WHY, "libcuda.so.1 has no %s", calls[i].name);
			return -EIO;
		}
		memcpy(calls[i].slot, &at, sizeof(at));
	}
	return 0;
}

int tool_cuda_open(int device, char why[TOOL_CUDA_WHY])
{
	int dev, ret = load(why);
	void *ctx;

	if (ret)
		return ret;
	ret = cu.init(0);
	if (!ret)
		ret = cu.count(&devices);
	if (ret) {
		snprintf(why, TOOL_CUDA_WHY, "the driver says error %d: see nvidia-smi", ret);
		return -ENODEV;
	}
	if (device >= devices) {
		snprintf(why, TOOL_CUDA_WHY, "there are %d devices, counted from 0", devices);
		return -ENODEV;
	}
	ret = cu.device(&dev, device);
	if (!ret)
		ret = cu.retain(&ctx, dev);
	if (!ret)
		ret = cu.current(ctx);
	if (!ret)
		return 0;
	snprintf(why, TOOL_CUDA_WHY, "the driver says error %d of its context", ret);
	return -EIO;
}

int tool_cuda_devices(void)
{
	return devices;
}

void *tool_cuda_alloc(size_t len)
{
	cu_ptr p = 0;

	return cu.alloc(&p, len) ? NULL : (void *)(uintptr_t)p;
}

bool tool_cuda_free(void *p)
{
	return !cu.release((cu_ptr)(uintptr_t)p);
}

bool tool_cuda_put(void *far, const void *near, size_t n)
{
	return !cu.put((cu_ptr)(uintptr_t)far, near, n);
}

bool tool_cuda_get(void *near, const void *far, size_t n)
{
	return !cu.get(near, (cu_ptr)(uintptr_t)far, n);
}
