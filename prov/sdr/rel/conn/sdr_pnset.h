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
struct sdr_pnset {
	uint32_t n;
	uint32_t floor; /* everything below counts as seen */
	struct {
		uint32_t lo, hi;
	} r[SDR_PNSET_RANGES]; /* inclusive, descending, disjoint, not adjacent */
};
void sdr_pnset_init(struct sdr_pnset *s, uint32_t first_pn);
/* true: new; false: seen before (or too old, or more than 2^30 ahead of the largest). */
bool sdr_pnset_add(struct sdr_pnset *s, uint32_t pn);
/* Fills n and r of an ACK frame from the largest down; n = 0 when nothing was received. */
void sdr_pnset_ack(const struct sdr_pnset *s, struct sdr_frame_ack *f);

#endif
