/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar_heap.h.  Owned blocks stand in a hash table of addresses (linear probing, at most half
 * full), which is allocated past the wrappers.  A block that is not in it was allocated by
 * something else.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "liar_heap.h"

#define HEAP_TABLE_MIN 4096u /* blocks, power of two */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

struct heap_block {
	uintptr_t p; /* 0: free */
	size_t n;
};

static struct {
	struct heap_block *t;
	size_t cap, used;
	uint64_t live, peak;
	bool on;
} heap;

static size_t heap_at(uintptr_t p)
{
	return (size_t)((p >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (heap.cap - 1);
}

static void heap_put(uintptr_t p, size_t n)
{
	size_t i = heap_at(p);

	while (heap.t[i].p)
		i = (i + 1) & (heap.cap - 1);
	heap.t[i] = (struct heap_block){ p, n };
}

static void heap_grow(void)
{
	struct heap_block *old = heap.t;
	size_t cap = heap.cap;

	heap.cap = cap ? 2 * cap : HEAP_TABLE_MIN;
	heap.t = __real_calloc(heap.cap, sizeof(*heap.t));
	if (!heap.t) {
		fprintf(stderr, "no memory to count memory\n");
		abort();
	}
	for (size_t i = 0; i < cap; i++)
		if (old[i].p)
			heap_put(old[i].p, old[i].n);
	__real_free(old);
}

static void heap_add(void *p, size_t n)
{
	if (!p || !heap.on)
		return;
	if (2 * (heap.used + 1) > heap.cap)
		heap_grow();
	heap_put((uintptr_t)p, n);
	heap.used++;
	heap.live += n;
	if (heap.live > heap.peak)
		heap.peak = heap.live;
}

/* True: it was the endpoint's. */
static bool heap_del(void *ptr)
{
	uintptr_t p = (uintptr_t)ptr;
	struct heap_block b;
	size_t i, k;

	if (!p || !heap.used)
		return false;
	for (i = heap_at(p); heap.t[i].p != p; i = (i + 1) & (heap.cap - 1))
		if (!heap.t[i].p)
			return false;
	heap.live -= heap.t[i].n;
	heap.used--;
	heap.t[i].p = 0;
	/* Those that it had pushed aside move up. */
	for (k = (i + 1) & (heap.cap - 1); heap.t[k].p; k = (k + 1) & (heap.cap - 1)) {
		b = heap.t[k];
		heap.t[k].p = 0;
		heap_put(b.p, b.n);
	}
	return true;
}

static bool heap_refuses(size_t n)
{
	return heap.on && n > LIAR_HEAP_BLOCK;
}

void *__wrap_malloc(size_t n)
{
	void *p = heap_refuses(n) ? NULL : __real_malloc(n);

	heap_add(p, n);
	return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p = size && n > LIAR_HEAP_BLOCK / size && heap.on ? NULL : __real_calloc(n, size);

	heap_add(p, n * size);
	return p;
}

void *__wrap_realloc(void *old, size_t n)
{
	bool own, on = heap.on;
	void *p;

	if (heap_refuses(n))
		return NULL;
	own = heap_del(old);
	p = __real_realloc(old, n);
	heap.on = own || (!old && on);
	heap_add(p, n);
	heap.on = on;
	return p;
}

void __wrap_free(void *p)
{
	heap_del(p);
	__real_free(p);
}

bool liar_heap_own(bool on)
{
	bool was = heap.on;

	heap.on = on;
	return was;
}

uint64_t liar_heap_live(void)
{
	return heap.live;
}

uint64_t liar_heap_peak(void)
{
	return heap.peak;
}

void liar_heap_reset(void)
{
	__real_free(heap.t);
	memset(&heap, 0, sizeof(heap));
}
