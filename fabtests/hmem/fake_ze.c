/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A Level Zero loader without a device: the calls that the provider makes, as its specification has
 * them, over fake_mem.  A command list is used by one thread at a time, or the process ends.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_mem.h"

#define DRIVER	 3
#define ZE_ERROR 0x78000004 /* ZE_RESULT_ERROR_INVALID_ARGUMENT */

struct queue_desc {
	uint32_t stype;
	const void *next;
	uint32_t ordinal, index, flags, mode, priority;
};

struct props {
	uint32_t stype;
	void *next;
	uint32_t type;
	uint64_t id, page_size;
};

struct export_fd {
	uint32_t stype;
	void *next;
	uint32_t flags;
	int fd;
};

struct list {
	pthread_mutex_t busy;
};

static int driver, devices[FAKE_DEVICES], context; /* their addresses are the handles */
static int started;

int zeInit(uint32_t flags);
int zeDriverGet(uint32_t *n, void **drivers);
int zeDeviceGet(void *drv, uint32_t *n, void **devs);
int zeContextCreate(void *drv, const void *desc, void **ctx);
int zeCommandListCreateImmediate(void *ctx, void *dev, const struct queue_desc *desc, void **out);
int zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t n, void *signal,
				  uint32_t nwait, void **wait);
int zeMemGetAllocProperties(void *ctx, const void *ptr, struct props *p, void **dev);
int zeMemGetAddressRange(void *ctx, const void *ptr, void **base, size_t *size);

int zeInit(uint32_t flags)
{
	started = 1;
	return flags ? ZE_ERROR : 0;
}

int zeDriverGet(uint32_t *n, void **drivers)
{
	if (!started || *n < 1)
		return ZE_ERROR;
	*n = 1;
	*drivers = &driver;
	return 0;
}

int zeDeviceGet(void *drv, uint32_t *n, void **devs)
{
	if (drv != &driver || *n < FAKE_DEVICES)
		return ZE_ERROR;
	*n = FAKE_DEVICES;
	for (int i = 0; i < FAKE_DEVICES; i++)
		devs[i] = &devices[i];
	return 0;
}

int zeContextCreate(void *drv, const void *desc, void **ctx)
{
	if (drv != &driver || *(const uint32_t *)desc != 0x0d)
		return ZE_ERROR;
	*ctx = &context;
	return 0;
}

int zeCommandListCreateImmediate(void *ctx, void *dev, const struct queue_desc *desc, void **out)
{
	struct list *l = calloc(1, sizeof(*l));

	/* Only a synchronous one is over when its call returns. */
	if (!l || ctx != &context || !dev || desc->stype != 0x0e || desc->mode != 1) {
		free(l);
		return ZE_ERROR;
	}
	pthread_mutex_init(&l->busy, NULL);
	*out = l;
	return 0;
}

int zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t n, void *signal,
				  uint32_t nwait, void **wait)
{
	struct list *l = list;
	int ret;

	if (pthread_mutex_trylock(&l->busy))
		abort();
	ret = !signal && !nwait && !wait && fake_copy(to, from, n) ? 0 : ZE_ERROR;
	pthread_mutex_unlock(&l->busy);
	return ret;
}

/*
 * The driver keeps what it hands out, and counts on it: one for the process, of the allocation that
 * was asked for last.
 */
static int props_fd(const void *ptr, struct export_fd *x)
{
	static int kept = -1;
	uint64_t off;
	int fd;

	if (!x)
		return 0;
	if (x->stype != 0x1a || x->flags != 2 || !fake_dmabuf(ptr, 1, true, &fd, &off))
		return ZE_ERROR;
	if (kept >= 0 && close(kept))
		abort(); /* somebody else did */
	x->fd = kept = fd;
	return 0;
}

int zeMemGetAllocProperties(void *ctx, const void *ptr, struct props *p, void **dev)
{
	int drv, device;

	if (ctx != &context || p->stype != 0x17)
		return ZE_ERROR;
	p->type = 0; /* ZE_MEMORY_TYPE_UNKNOWN */
	*dev = NULL;
	if (fake_owner(ptr, &drv, &device) && drv == DRIVER) {
		p->type = 2; /* ZE_MEMORY_TYPE_DEVICE */
		*dev = &devices[device];
		return props_fd(ptr, p->next);
	}
	return 0;
}

int zeMemGetAddressRange(void *ctx, const void *ptr, void **base, size_t *size)
{
	int drv, device;

	if (ctx != &context || !fake_owner(ptr, &drv, &device) || drv != DRIVER)
		return ZE_ERROR;
	fake_range(ptr, base, size);
	return 0;
}
