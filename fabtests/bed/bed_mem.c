/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_mem.h.
 */
#include <stdlib.h>
#include <string.h>

#include "bed_mem.h"

uint8_t *bed_mem_new(size_t len)
{
	uint8_t *p = malloc(len + 2 * BED_GUARD);

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
		free(p - BED_GUARD);
}

uint8_t bed_pattern(uint32_t seed, size_t i)
{
	uint32_t x = seed * 2654435761u + (uint32_t)i * 40503u;

	return (uint8_t)(x >> 11 ^ x >> 23);
}

void bed_fill(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = seed ? bed_pattern(seed, i) : BED_FRESH;
}

size_t bed_differs(const uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != (seed ? bed_pattern(seed, i) : BED_FRESH))
			return i;
	return len;
}
