/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How much of its queue a flow keeps where the buffer is shallower than that: see sdr_shallow.c. */
#ifndef SDR_SHALLOW_H
#define SDR_SHALLOW_H

#include <stdint.h>

struct sdr_shallow {
	double keeps; /* share of the queue that it would keep: least..1 */
	double least; /* above 0, 1 at most */
	uint64_t at;  /* ns */
};

#define SDR_SHALLOW_LEAST 0.35 /* until something else is said */

void sdr_shallow_init(struct sdr_shallow *s, uint64_t now);
/* From now on that share is kept at least. */
void sdr_shallow_least(struct sdr_shallow *s, double least);
/* Until now so many packets were lost (a share of one is possible). */
void sdr_shallow_acked(struct sdr_shallow *s, uint64_t now, double lost);
/* The queue to keep, of one of ns; own: the time that a packet of ours takes, which is none. */
uint64_t sdr_shallow_keeps(const struct sdr_shallow *s, uint64_t ns, uint64_t own);

#endif /* SDR_SHALLOW_H */
