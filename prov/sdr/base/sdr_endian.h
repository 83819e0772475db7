/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Integers in wire order, at any alignment: little-endian (le) and big-endian (be). */
#ifndef SDR_ENDIAN_H
#define SDR_ENDIAN_H

#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SDR_LE32(v) __builtin_bswap32(v)
#define SDR_LE64(v) __builtin_bswap64(v)
#define SDR_BE32(v) (v)
#define SDR_BE64(v) (v)
#else
#define SDR_LE32(v) (v)
#define SDR_LE64(v) (v)
#define SDR_BE32(v) __builtin_bswap32(v)
#define SDR_BE64(v) __builtin_bswap64(v)
#endif

static inline void sdr_put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}
static inline void sdr_put_le24(uint8_t *p, uint32_t v)
{
	sdr_put_le16(p, (uint16_t)v);
	p[2] = (uint8_t)(v >> 16);
}
static inline void sdr_put_le32(uint8_t *p, uint32_t v)
{
	v = SDR_LE32(v);
	__builtin_memcpy(p, &v, 4);
}
static inline void sdr_put_le64(uint8_t *p, uint64_t v)
{
	v = SDR_LE64(v);
	__builtin_memcpy(p, &v, 8);
}
static inline uint16_t sdr_get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t sdr_get_le24(const uint8_t *p)
{
	return sdr_get_le16(p) | (uint32_t)p[2] << 16;
}
static inline uint32_t sdr_get_le32(const uint8_t *p)
{
	uint32_t v;
	__builtin_memcpy(&v, p, 4);
	return SDR_LE32(v);
}
static inline uint64_t sdr_get_le64(const uint8_t *p)
{
	uint64_t v;
	__builtin_memcpy(&v, p, 8);
	return SDR_LE64(v);
}
static inline void sdr_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static inline void sdr_put_be32(uint8_t *p, uint32_t v)
{
	v = SDR_BE32(v);
	__builtin_memcpy(p, &v, 4);
}
static inline void sdr_put_be64(uint8_t *p, uint64_t v)
{
	v = SDR_BE64(v);
	__builtin_memcpy(p, &v, 8);
}
static inline uint16_t sdr_get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}
static inline uint32_t sdr_get_be32(const uint8_t *p)
{
	uint32_t v;
	__builtin_memcpy(&v, p, 4);
	return SDR_BE32(v);
}
static inline uint64_t sdr_get_be64(const uint8_t *p)
{
	uint64_t v;
	__builtin_memcpy(&v, p, 8);
	return SDR_BE64(v);
}

#endif /* SDR_ENDIAN_H */
