/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The round trip of an empty path, and how long packets queue: see sdr_qdelay.c. */
#ifndef SDR_QDELAY_H
#define SDR_QDELAY_H

#include <stdbool.h>
#include <stdint.h>

/* the smallest round trip is remembered for one to two of these, ns */
#define SDR_QDELAY_STRETCH_NS (10 * 1000000000ull)

struct sdr_qdelay {
	uint64_t base;	  /* smallest round trip remembered, ns; 0: unknown */
	uint64_t queue;	  /* of the last round: smallest round trip less base, ns */
	uint64_t low[2];  /* smallest of this stretch and of the one before; UINT64_MAX: none */
	uint64_t begun;	  /* when this stretch began, ns */
	uint64_t min;	  /* smallest of the round under way; UINT64_MAX: none */
	uint64_t samples; /* of the round under way */
};

void sdr_qdelay_init(struct sdr_qdelay *q, uint64_t now);
void sdr_qdelay_sample(struct sdr_qdelay *q, uint64_t now, uint64_t rtt);
/* A round ends; false: without a sample, and queue stays. */
bool sdr_qdelay_round(struct sdr_qdelay *q);
/* What queues now, as far as the round under way tells, ns. */
uint64_t sdr_qdelay_now(const struct sdr_qdelay *q);
/* The path is another: what was the smallest counts no longer. */
void sdr_qdelay_forget(struct sdr_qdelay *q, uint64_t now, uint64_t rtt);

#endif /* SDR_QDELAY_H */
