/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices: which drivers there are, and whose a pointer is.
 *
 * A driver's library is found by dlopen when somebody first asks for its memory, never linked, and
 * stays loaded: its threads may run in it.  Who never asks never loads one.  What it cannot do is
 * said once (why), and it is not asked again.
 *
 * All that a row copies through is made once a device and kept: a pointer's memory (struct sdr_mem)
 * is valid as long as the process, whatever becomes of regions.
 *
 * Not here: allocating device memory (the application's), direct paths between a device and the
 * network (a NIC's), events of memory that is freed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sdr_hmem.h"
#include "sdr_hmem_rows.h"

#define PAGE 4096u

const struct sdr_hmem_ops *const sdr_hmem_table[SDR_HMEM_IFACES] = {
	[SDR_HMEM_CUDA] = &sdr_hmem_cuda,
	[SDR_HMEM_ROCR] = &sdr_hmem_rocr,
	[SDR_HMEM_ZE] = &sdr_hmem_ze,
};

static struct {
	pthread_once_t once;
	atomic_bool usable;
	const char *why;
} drivers[SDR_HMEM_IFACES] = {
	[SDR_HMEM_CUDA] = { .once = PTHREAD_ONCE_INIT, .why = "" },
	[SDR_HMEM_ROCR] = { .once = PTHREAD_ONCE_INIT, .why = "" },
	[SDR_HMEM_ZE] = { .once = PTHREAD_ONCE_INIT, .why = "" },
};

static void hmem_load(unsigned int iface)
{
	void *lib = dlopen(sdr_hmem_table[iface]->lib, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	int ret = lib ? sdr_hmem_table[iface]->load(lib) : -ENOENT;

	drivers[iface].why = !lib	      ? "its driver's library is not there"
			     : ret == -ENOSYS ? "its driver's library lacks calls that are needed"
			     : ret	      ? "its driver has no device"
					      : "";
	atomic_store(&drivers[iface].usable, ret == 0);
	if (lib && ret)
		dlclose(lib);
}

/* pthread_once passes nothing on. */
static void load_cuda(void)
{
	hmem_load(SDR_HMEM_CUDA);
}

static void load_rocr(void)
{
	hmem_load(SDR_HMEM_ROCR);
}

static void load_ze(void)
{
	hmem_load(SDR_HMEM_ZE);
}

bool sdr_hmem_usable(unsigned int iface, const char **why)
{
	static void (*const load[SDR_HMEM_IFACES])(void) = {
		[SDR_HMEM_CUDA] = load_cuda, [SDR_HMEM_ROCR] = load_rocr, [SDR_HMEM_ZE] = load_ze
	};

	if (why)
		*why = "such memory is not known";
	if (iface >= SDR_HMEM_IFACES || !sdr_hmem_table[iface])
		return false;
	pthread_once(&drivers[iface].once, load[iface]);
	if (why)
		*why = drivers[iface].why;
	return atomic_load(&drivers[iface].usable);
}

bool sdr_hmem_any(void)
{
	bool any = false;
	unsigned int i;

	for (i = SDR_HMEM_CUDA; i < SDR_HMEM_IFACES; i++)
		any |= sdr_hmem_usable(i, NULL);
	return any;
}

int sdr_hmem_mem(unsigned int iface, uint64_t device, const void *ptr, const struct sdr_mem **out)
{
	if (!sdr_hmem_usable(iface, NULL))
		return -ENOSYS;
	return sdr_hmem_table[iface]->mem(device, ptr, out);
}

int sdr_hmem_find(const void *ptr, const struct sdr_mem **out)
{
	unsigned int i;

	*out = NULL;
	for (i = SDR_HMEM_CUDA; ptr && i < SDR_HMEM_IFACES; i++) {
		if (atomic_load(&drivers[i].usable) && sdr_hmem_table[i]->mine(ptr))
			return sdr_hmem_table[i]->mem(SDR_HMEM_ANY_DEVICE, ptr, out);
	}
	return 0;
}

void *sdr_hmem_host_alloc(size_t len)
{
	unsigned int i;
	void *p;

	len = (len + PAGE - 1) / PAGE * PAGE;
	p = aligned_alloc(PAGE, len);
	for (i = SDR_HMEM_CUDA; p && i < SDR_HMEM_IFACES; i++) {
		if (atomic_load(&drivers[i].usable) && sdr_hmem_table[i]->pin)
			(void)sdr_hmem_table[i]->pin(p, len); /* slower without */
	}
	return p;
}

void sdr_hmem_host_free(void *p, size_t len)
{
	unsigned int i;

	(void)len;
	for (i = SDR_HMEM_CUDA; p && i < SDR_HMEM_IFACES; i++) {
		if (atomic_load(&drivers[i].usable) && sdr_hmem_table[i]->unpin)
			sdr_hmem_table[i]->unpin(p);
	}
	free(p);
}
