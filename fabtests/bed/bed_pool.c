/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_pool.h.  Tests allocate large buffers by the thousand, and a page that is touched for the
 * first time may cost tens of microseconds (a guest of a hypervisor); a sanitizer's allocator gives
 * the pages of a large block, and those of its shadow, back each time.  That was most of what whole
 * suites took.  So a block of 64 KiB and more is a map of its own, of a power of two, in huge pages
 * where it has room for one, and is kept for the next of its size until the program ends.
 *
 * What is not lent is poisoned for AddressSanitizer: a block in the pool, and what a block has
 * beyond its length.  Blocks of one size up to QUIET_SIZE are used again in turn after QUIET
 * others, so that a late write still meets poison.  Smaller ones are malloc's.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bed_pool.h"
#include "../sim/sim_asan.h"

#define POOL_MIN   (64ul << 10)
#define HUGE_PAGE  (2ul << 20)
#define QUIET	   8u
#define QUIET_SIZE (1ul << 20)
#define HEAD_LEN   64u

/* Ahead of what is lent; stays readable. */
struct head {
	struct head *next; /* in the pool */
	size_t size;	   /* of a map after the head, a power of two; 0: from malloc */
};

_Static_assert(sizeof(struct head) <= HEAD_LEN, "alignment");

/* By the exponent of the size; the oldest is the first. */
static struct shelf {
	struct head *first, **end;
	uint32_t n;
} shelves[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct shelf *shelf_of(size_t size)
{
	return &shelves[__builtin_ctzl(size)];
}

static struct head *shelf_take(size_t size)
{
	struct shelf *s = shelf_of(size);
	struct head *h = NULL;

	pthread_mutex_lock(&lock);
	if (s->n > (size <= QUIET_SIZE ? QUIET : 0)) {
		h = s->first;
		s->first = h->next;
		s->n--;
	}
	pthread_mutex_unlock(&lock);
	return h;
}

static void shelf_put(struct head *h)
{
	struct shelf *s = shelf_of(h->size);

	h->next = NULL;
	pthread_mutex_lock(&lock);
	if (!s->n++)
		s->end = &s->first;
	*s->end = h;
	s->end = &h->next;
	pthread_mutex_unlock(&lock);
}

/* The head lies at the end of a page, what is lent begins with one: a huge one if it has room. */
static struct head *map_new(size_t size)
{
	size_t align = size < HUGE_PAGE ? POOL_MIN : HUGE_PAGE;
	uint8_t *p = mmap(NULL, size + 2 * align, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct head *h;

	if (p == MAP_FAILED)
		return NULL;
	p = (uint8_t *)(((uintptr_t)p / align + 1) * align);
	if (align == HUGE_PAGE)
		(void)madvise(p, size, MADV_HUGEPAGE); /* refused: slower */
	h = (void *)(p - HEAD_LEN);
	h->size = size;
	return h;
}

void *bed_pool_get(size_t len)
{
	size_t size = POOL_MIN;
	struct head *h;

	if (len < POOL_MIN) {
		h = aligned_alloc(HEAD_LEN, (len + 2 * HEAD_LEN - 1) / HEAD_LEN * HEAD_LEN);
		if (!h)
			return NULL;
		h->size = 0;
		return (uint8_t *)h + HEAD_LEN;
	}
	while (size < len)
		size *= 2;
	h = shelf_take(size);
	if (!h)
		h = map_new(size);
	if (!h)
		return NULL;
	ASAN_UNPOISON_MEMORY_REGION((uint8_t *)h + HEAD_LEN, size);
	ASAN_POISON_MEMORY_REGION((uint8_t *)h + HEAD_LEN + len, size - len);
	return (uint8_t *)h + HEAD_LEN;
}

void *bed_pool_zeros(size_t len)
{
	void *p = bed_pool_get(len);

	return p ? memset(p, 0, len) : NULL;
}

void bed_pool_put(void *p)
{
	struct head *h;

	if (!p)
		return;
	h = (void *)((uint8_t *)p - HEAD_LEN);
	if (!h->size) {
		free(h);
		return;
	}
	ASAN_POISON_MEMORY_REGION(p, h->size);
	shelf_put(h);
}
