/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the parity of a transfer lies: the length of its segments, and the place from which on they
 * have parity.
 *
 * rel/ lays its transfers out with this, the model's hybrid scheme those that it predicts.  All
 * numbers are bytes; a unit is what a segment has a whole number of, a chunk (hybrid: a packet).
 * Lengths are at most 2^63 and a unit.  Pure.
 */
#ifndef SDR_CHOICE_LAYOUT_H
#define SDR_CHOICE_LAYOUT_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct sdr_choice_layout {
	uint64_t seg;  /* of each segment, units; the last may be shorter */
	uint64_t from; /* what lies from here on has parity: at a segment, or in the last one */
};

/*
 * The longest segment, at least a unit and else at most max, so that its own parity at k + m is not
 * longer than max either.  Whole submessages of k units, where one fits.
 */
uint64_t sdr_choice_seg(uint64_t max, uint64_t unit, uint32_t k, uint32_t m);
/*
 * Segments of at most seg, all about as long: a short last one would have little parity.  Of len
 * bytes the last cover, 1 to len, are to have parity.  Over several segments those that have some
 * have it all; where one would do, it is the last alone, with a little less than asked for.
 */
void sdr_choice_layout(struct sdr_choice_layout *o, uint64_t len, uint64_t cover, uint64_t seg,
		       uint64_t unit);

#pragma GCC visibility pop

#endif /* SDR_CHOICE_LAYOUT_H */
