/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_mem.h.  A large buffer is a map of its own: where a page that is touched for the first
 * time costs much (a guest of a hypervisor), small pages were most of what tests of large transfers
 * took, and a sanitizer marked a shadow as large again and again.  What is written beyond such a
 * buffer is found by its guard, what is written after it is freed by the system.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bed_mem.h"

#define BED_LARGE  (1ul << 20)
#define BED_HUGE   (2ul << 20) /* a huge page */
#define BED_HEADER 64u

/* Ahead of the front guard. */
struct bed_head {
	void *map; /* NULL: from malloc */
	size_t map_len;
};

/* A map of its own, aligned, in huge pages where the system has them. */
static uint8_t *mem_map(size_t len, struct bed_head *h)
{
	uintptr_t at;

	h->map_len = len + 2 * BED_HUGE;
	h->map = mmap(NULL, h->map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->map == MAP_FAILED)
		return NULL;
	at = ((uintptr_t)h->map + BED_HUGE - 1) & ~(BED_HUGE - 1);
	madvise((void *)at, len, MADV_HUGEPAGE); /* refused: slower */
	return (uint8_t *)at;
}

uint8_t *bed_mem_new(size_t len)
{
	size_t all = BED_HEADER + BED_GUARD + len + BED_GUARD;
	struct bed_head h = { NULL, 0 };
	uint8_t *p = len < BED_LARGE ? malloc(all) : mem_map(all, &h);

	if (!p)
		return NULL;
	memcpy(p, &h, sizeof(h));
	memset(p + BED_HEADER, BED_GUARD_BYTE, all - BED_HEADER);
	return p + BED_HEADER + BED_GUARD;
}

bool bed_mem_ok(const uint8_t *p, size_t len)
{
	const uint8_t *front = p - BED_GUARD, *back = p + len;

	for (size_t i = 0; i < BED_GUARD; i++)
		if (front[i] != BED_GUARD_BYTE || back[i] != BED_GUARD_BYTE)
			return false;
	return true;
}

void bed_mem_free(uint8_t *p)
{
	struct bed_head h;

	if (!p)
		return;
	p -= BED_HEADER + BED_GUARD;
	memcpy(&h, p, sizeof(h));
	if (h.map)
		munmap(h.map, h.map_len);
	else
		free(p);
}

/* Eight bytes at once: filling and comparing is most of what a large transfer costs here. */
static uint64_t pattern_word(uint32_t seed, size_t k)
{
	uint64_t x = ((uint64_t)seed << 32 ^ (uint64_t)k) * 0x9e3779b97f4a7c15ull;

	return seed ? x ^ x >> 29 : BED_FRESH * 0x0101010101010101ull;
}

uint8_t bed_pattern(uint32_t seed, size_t i)
{
	uint64_t w = pattern_word(seed, i / 8);

	return ((uint8_t *)&w)[i % 8];
}

void bed_fill(uint8_t *p, size_t len, uint32_t seed)
{
	uint64_t w;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		w = pattern_word(seed, i / 8);
		memcpy(p + i, &w, 8);
	}
	w = pattern_word(seed, i / 8);
	memcpy(p + i, &w, len - i);
}

size_t bed_differs(const uint8_t *p, size_t len, uint32_t seed)
{
	uint64_t w;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&w, p + i, 8);
		if (w != pattern_word(seed, i / 8))
			break;
	}
	for (; i < len; i++)
		if (p[i] != bed_pattern(seed, i))
			break;
	return i;
}
