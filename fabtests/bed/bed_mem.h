/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers between guards, and bytes that identify their place.
 *
 * A buffer has BED_GUARD bytes of a fixed value in front of it and behind it: what is written
 * beside it is found when it is checked, without a sanitizer, too.
 */
#ifndef BED_MEM_H
#define BED_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BED_GUARD      64u /* bytes before and behind each buffer */
#define BED_GUARD_BYTE 0xa5
#define BED_FRESH      0xee /* what seed 0 fills with */

/* len bytes of BED_GUARD_BYTE between guards; NULL: no memory. */
uint8_t *bed_mem_new(size_t len);
bool bed_mem_ok(const uint8_t *p, size_t len); /* the guards are untouched */
void bed_mem_free(uint8_t *p);
/* Byte i of the pattern of a seed. */
uint8_t bed_pattern(uint32_t seed, size_t i);
/* All len bytes; seed 0: BED_FRESH instead of a pattern. */
void bed_fill(uint8_t *p, size_t len, uint32_t seed);
/* Offset of the first byte that is not the pattern's; len if there is none. */
size_t bed_differs(const uint8_t *p, size_t len, uint32_t seed);

#endif /* BED_MEM_H */
