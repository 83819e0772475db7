/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Ranges of bytes as bits of units, see sdr_units.h. */
#include "sdr_assert.h"
#include "sdr_bitmap.h"
#include "sdr_units.h"

/* The range so far is over: units that it has all of are there. */
static void units_flush(struct sdr_units *u)
{
	uint64_t lo = u->lo / u->unit + (u->lo % u->unit != 0), hi = u->hi / u->unit, i;

	u->got += u->hi - u->lo;
	if (!u->lo)
		u->front = u->hi;
	if (u->hi == u->len) /* the last unit may be shorter */
		hi = sdr_units_count(u);
	if (lo < u->first)
		lo = u->first;
	if (hi > u->first + u->words * 64)
		hi = u->first + u->words * 64;
	for (; u->bits && lo < hi; lo++) {
		i = lo - u->first;
		if (i % 64 || hi - lo < 64) {
			u->bits[i / 64] |= 1ull << i % 64;
		} else {
			u->bits[i / 64] = ~0ull;
			lo += 63;
		}
	}
	u->lo = u->hi;
}

void sdr_units_add(struct sdr_units *u, uint64_t lo, uint64_t hi)
{
	SDR_ASSERT(lo >= u->hi && hi > lo && hi <= u->len && u->unit);
	if (lo != u->hi) {
		units_flush(u);
		u->lo = lo;
	}
	u->hi = hi;
}

void sdr_units_end(struct sdr_units *u)
{
	units_flush(u);
	SDR_ASSERT(u->front <= u->got && u->got <= u->len);
}

void sdr_units_packets(struct sdr_units *u, const uint64_t *bits, uint32_t npkts, uint32_t mtu,
		       uint64_t off, uint64_t len)
{
	uint32_t lo, hi;

	for (lo = sdr_bitmap_next_one(bits, 0, npkts); lo < npkts;
	     lo = sdr_bitmap_next_one(bits, hi, npkts)) {
		hi = sdr_bitmap_next_zero(bits, lo, npkts);
		sdr_units_add(u, off + (uint64_t)lo * mtu,
			      hi == npkts ? off + len : off + (uint64_t)hi * mtu);
	}
}
