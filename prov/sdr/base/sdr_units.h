/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Ranges of bytes as bits of units of any size: a bit is set when all bytes of its unit are in
 * ranges that were added.  Ranges come in the order in which they lie, and do not overlap;
 * neighbours are put together.  No allocation.
 */
#ifndef SDR_UNITS_H
#define SDR_UNITS_H

#include <stdint.h>

struct sdr_units {
	uint64_t len;	/* bytes of all */
	uint64_t unit;	/* bytes a bit, not 0 */
	uint64_t first; /* the bit that is bit 0 of bits */
	uint64_t *bits; /* the caller's, clear; NULL: sums alone */
	uint64_t words; /* of bits */
	uint64_t got;	/* bytes of the ranges */
	uint64_t front; /* of them, from byte 0 on without a hole */
	uint64_t lo, hi;
};

static inline uint64_t sdr_units_count(const struct sdr_units *u)
{
	return u->len / u->unit + (u->len % u->unit != 0);
}
/* got, front, lo and hi are 0 at first. */
void sdr_units_add(struct sdr_units *u, uint64_t lo, uint64_t hi);
void sdr_units_end(struct sdr_units *u);
/*
 * The ranges of a bitmap: its npkts packets have mtu bytes each, the last what is left of len, and
 * begin at off.  Its words are read one by one, by atomic loads.
 */
void sdr_units_packets(struct sdr_units *u, const uint64_t *bits, uint32_t npkts, uint32_t mtu,
		       uint64_t off, uint64_t len);

#endif /* SDR_UNITS_H */
