/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a path carries that others have filled: see sdr_carries.c. */
#ifndef SDR_CARRIES_H
#define SDR_CARRIES_H

#include "rel/path/sdr_rival_at.h"

#define SDR_CARRIES_KEPT 4u

struct sdr_carries {
	struct {
		double rate; /* bytes per second */
		uint64_t at; /* ns */
	} shown[SDR_CARRIES_KEPT];
	uint32_t n;	/* so many were shown, all told */
	uint32_t heard; /* trains that had told something until the last round */
	uint32_t in;	/* rounds before the next train */
	uint32_t mute;	/* trains, one after the other, that told nothing */
	bool wants;	/* a train */
};

void sdr_carries_init(struct sdr_carries *c);
/*
 * After each round; curious: it matters how much the path carries.  *most: what it was seen to
 * carry, bytes per second, set where trains say something else.
 */
void sdr_carries_round(struct sdr_carries *c, const struct sdr_rival_at *at, bool curious,
		       double *most);
/* As many trains have told as are believed. */
bool sdr_carries_told(const struct sdr_carries *c);

#endif /* SDR_CARRIES_H */
