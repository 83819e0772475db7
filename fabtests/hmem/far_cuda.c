/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * far_mem.h over CUDA's driver library (tool_cuda.h), for a GPU that is there: device 0, whatever
 * driver a test wants the memory of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "far_mem.h"
#include "tools/common/tool_cuda.h"

#define CUDA 1u /* FI_HMEM_CUDA */

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "far_cuda: failed: %s\n", what);
		abort();
	}
}

const char *far_open(void)
{
	static char why[TOOL_CUDA_WHY];
	int ret = tool_cuda_open(0, why);

	must(!ret || ret == -ENODEV, why);
	return ret ? why : NULL;
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
	return tool_cuda_devices();
}

void *far_alloc(unsigned int iface, size_t len)
{
	void *p = iface == CUDA ? tool_cuda_alloc(len) : NULL;

	must(p, "an allocation");
	return p;
}

void far_free(void *p)
{
	must(tool_cuda_free(p), "giving memory back");
}

void far_write(void *to, const void *from, size_t n)
{
	must(!n || tool_cuda_put(to, from, n), "a copy to the device");
}

void far_read(void *to, const void *from, size_t n)
{
	must(!n || tool_cuda_get(to, from, n), "a copy from the device");
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
