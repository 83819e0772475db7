/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ring of equal elements, oldest to newest, that grows up to a limit and never shrinks.
 *
 * An element is named by its position, a free-running 32-bit number that wraps: those in [head,
 * tail) exist, and a position stays valid however the ring grows.  Positions may be the numbers of
 * a protocol (head and tail are then set before the first element).  The ring is memory and two
 * numbers; what an element means, and when the oldest goes, is for the owner to say.  Access is
 * one load beside what an array costs.
 *
 * Growing moves elements: no pointer to one survives sdr_ring_room, and elements that others point
 * to need a `move`.  Memory is bounded by max * size.  All zero is an empty ring.  One
 * thread at a time.
 */
#ifndef SDR_RING_H
#define SDR_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdr_assert.h"

struct sdr_ring {
	void *e;
	uint32_t cap;	     /* elements there is memory for: 0 or a power of two */
	uint32_t head, tail; /* positions of the oldest, and of the next */
};

/* What the elements of a ring are: the same in every call for it. */
struct sdr_ring_kind {
	size_t size;			    /* bytes of an element */
	uint32_t min, max;		    /* elements, powers of two */
	void (*move)(void *to, void *from); /* NULL: bytes are copied */
};

static inline uint32_t sdr_ring_len(const struct sdr_ring *r)
{
	return r->tail - r->head;
}
static inline bool sdr_ring_empty(const struct sdr_ring *r)
{
	return r->tail == r->head;
}
static inline bool sdr_ring_has(const struct sdr_ring *r, uint32_t pos)
{
	return pos - r->head < r->tail - r->head;
}

static inline void *sdr_ring_slot(const struct sdr_ring *r, size_t size, uint32_t pos)
{
	return (char *)r->e + size * (pos & (r->cap - 1));
}
static inline void *sdr_ring_old(const struct sdr_ring *r, size_t size, uint32_t pos)
{
	SDR_ASSERT(sdr_ring_has(r, pos));
	return sdr_ring_slot(r, size, pos);
}
static inline void *sdr_ring_new(const struct sdr_ring *r, size_t size)
{
	SDR_ASSERT(sdr_ring_len(r) < r->cap);
	return sdr_ring_slot(r, size, r->tail);
}

/* The element at a position that sdr_ring_has. */
#define sdr_ring_at(r, type, pos) ((type *)sdr_ring_old((r), sizeof(type), (pos)))
/* Where the next one goes, after sdr_ring_room; what was there last is still there. */
#define sdr_ring_spare(r, type) ((type *)sdr_ring_new((r), sizeof(type)))

/* The spare element becomes the newest; its position. */
static inline uint32_t sdr_ring_push(struct sdr_ring *r)
{
	SDR_ASSERT(sdr_ring_len(r) < r->cap);
	return r->tail++;
}
/* The oldest goes. */
static inline void sdr_ring_pop(struct sdr_ring *r)
{
	SDR_ASSERT(!sdr_ring_empty(r));
	r->head++;
}

int sdr_ring_grow(struct sdr_ring *r, const struct sdr_ring_kind *kind);
/* Room for one more: 0, or -ENOMEM at the limit or without memory; then nothing has changed. */
static inline int sdr_ring_room(struct sdr_ring *r, const struct sdr_ring_kind *kind)
{
	return sdr_ring_len(r) < r->cap ? 0 : sdr_ring_grow(r, kind);
}
/*
 * For rings that are an index by number: makes pos a position of the ring, at whichever end it is
 * missing; new elements are zero.  0, or -ENOMEM as above: no element has changed.
 */
int sdr_ring_reach(struct sdr_ring *r, const struct sdr_ring_kind *kind, uint32_t pos);
/* Frees the memory and forgets the elements; the positions stay. */
void sdr_ring_destroy(struct sdr_ring *r);

#endif /* SDR_RING_H */
