/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packet numbers received, as ranges modulo 2^32: recognises duplicates and feeds ACK frames.
 * Bounded: when a new range does not fit, the lowest is forgotten and everything up to it counts as
 * seen (a very late packet is then dropped as a duplicate; its records come again in another
 * packet).
 */
#ifndef SDR_PNSET_H
#define SDR_PNSET_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/sdr_frame.h"

#define SDR_PNSET_RANGES 32u
/*
 * Numbers that a packet may be ahead of the largest that came.  As many are sent while nothing
 * arrives: the reports of what the other side had under way when it began (4 GiB of packets of
 * 4096 bytes, a report for every fourth), and the few of records and probes.
 */
#define SDR_PNSET_AHEAD (1u << 18)
struct sdr_pnset {
	uint32_t n;
	uint32_t floor; /* everything below counts as seen */
	struct {
		uint32_t lo, hi;
	} r[SDR_PNSET_RANGES]; /* inclusive, descending, disjoint, not adjacent */
};
void sdr_pnset_init(struct sdr_pnset *s, uint32_t first_pn);
/* true: new; false: seen before (or too old, or too far ahead of the largest). */
bool sdr_pnset_add(struct sdr_pnset *s, uint32_t pn);
/* Farther ahead of the largest than an honest sender gets: of those, none arrives any more. */
bool sdr_pnset_far(const struct sdr_pnset *s, uint32_t pn);
/* Ahead of all that were received, and not too far. */
bool sdr_pnset_newest(const struct sdr_pnset *s, uint32_t pn);
/* Fills n and r of an ACK frame from the largest down; n = 0 when nothing was received. */
void sdr_pnset_ack(const struct sdr_pnset *s, struct sdr_frame_ack *f);

#endif
