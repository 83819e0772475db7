/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_mem.h.
 */
#include <string.h>

#include "bed_mem.h"
#include "bed_pool.h"

uint8_t *bed_mem_new(size_t len)
{
	uint8_t *p = bed_pool_get(len + 2 * BED_GUARD);

	if (!p)
		return NULL;
	memset(p, BED_GUARD_BYTE, len + 2 * BED_GUARD);
	return p + BED_GUARD;
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
	if (p)
		bed_pool_put(p - BED_GUARD);
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
