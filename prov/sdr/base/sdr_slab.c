/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_slab.h.  Slabs grow from 8 to 128 objects; freed objects are reused last in, first out
 * (cache-warm).
 */
#include <stdlib.h>
#include <string.h>
#include "sdr_assert.h"
#include "sdr_slab.h"

#define SLAB_ALIGN 16u
#define SLAB_MIN   8u
#define SLAB_MAX   128u

void sdr_slab_init(struct sdr_slab *p, size_t size, uint32_t limit)
{
	SDR_ASSERT(size && limit);
	memset(p, 0, sizeof(*p));
	p->size = (size + SLAB_ALIGN - 1) & ~(size_t)(SLAB_ALIGN - 1);
	p->limit = limit;
}

static int slab_grow(struct sdr_slab *p)
{
	uint32_t n = p->total < SLAB_MIN ? SLAB_MIN : p->total;
	char *slab;

	if (n > SLAB_MAX)
		n = SLAB_MAX;
	if (n > p->limit - p->total)
		n = p->limit - p->total;
	if (!n)
		return -1;
	slab = malloc(SLAB_ALIGN + n * p->size);
	if (!slab)
		return -1;
	*(void **)(void *)slab = p->slabs;
	p->slabs = slab;
	p->total += n;
	for (uint32_t i = n; i-- > 0;) {
		void *obj = slab + SLAB_ALIGN + i * p->size;

		*(void **)obj = p->free;
		p->free = obj;
	}
	return 0;
}

void *sdr_slab_alloc(struct sdr_slab *p)
{
	void *obj;

	if (!p->free && slab_grow(p))
		return NULL;
	obj = p->free;
	p->free = *(void **)obj;
	p->used++;
	SDR_ASSERT(p->used <= p->total && p->total <= p->limit);
	memset(obj, 0, p->size);
	return obj;
}

void sdr_slab_free(struct sdr_slab *p, void *obj)
{
	if (!obj)
		return;
	SDR_ASSERT(p->used > 0 && obj != p->free);
	*(void **)obj = p->free;
	p->free = obj;
	p->used--;
}

bool sdr_slab_sound(const struct sdr_slab *p)
{
	uint32_t n = 0;

	for (void *obj = p->free; obj && n <= p->total; obj = *(void **)obj)
		n++;
	return p->total <= p->limit && p->used <= p->total && n == p->total - p->used;
}

void sdr_slab_destroy(struct sdr_slab *p)
{
	while (p->slabs) {
		void *s = p->slabs;

		p->slabs = *(void **)s;
		free(s);
	}
	p->free = NULL;
}
