/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Numbers of variable length on the wire: LEB128 in its shortest form, at most 5 bytes, 32 bits.
 */
#ifndef SDR_VARINT_H
#define SDR_VARINT_H

#include <stdint.h>

static inline uint32_t sdr_varint_size(uint32_t v)
{
	return v < 1u << 7 ? 1 : v < 1u << 14 ? 2 : v < 1u << 21 ? 3 : v < 1u << 28 ? 4 : 5;
}

static inline uint8_t *sdr_varint_put(uint8_t *p, uint32_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Bytes taken, 0 when cut short, not the shortest form or more than 32 bits. */
static inline uint32_t sdr_varint_get(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
	uint32_t v = 0, i = 0;
	uint8_t b;

	do {
		if (p + i >= end || i == 5)
			return 0;
		b = p[i];
		if (i == 4 && b > 0x0f)
			return 0;
		v |= (uint32_t)(b & 0x7f) << (7 * i);
		i++;
	} while (b & 0x80);
	if (!b && i > 1)
		return 0;
	*out = v;
	return i;
}

#endif /* SDR_VARINT_H */
