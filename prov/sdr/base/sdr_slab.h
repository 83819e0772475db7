/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Freelist of equal objects: allocates in slabs, gives nothing back before destroy, so that a
 * warmed-up endpoint allocates nothing.  alloc returns zeroed memory.  Bounded by a count; NULL
 * beyond it.
 */
#ifndef SDR_SLAB_H
#define SDR_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_slab {
	void *free;  /* first word of a free object links to the next */
	void *slabs; /* likewise for slabs */
	size_t size; /* bytes of an object */
	uint32_t used, total, limit;
};

void sdr_slab_init(struct sdr_slab *p, size_t size, uint32_t limit);
void *sdr_slab_alloc(struct sdr_slab *p);
void sdr_slab_free(struct sdr_slab *p, void *obj);
/* Those that are not used are on the free list.  Looks at all of them. */
bool sdr_slab_sound(const struct sdr_slab *p);
void sdr_slab_destroy(struct sdr_slab *p);

#endif /* SDR_SLAB_H */
