/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The round trip of an empty path, and how long packets queue: see sdr_qdelay.c. */
#ifndef SDR_QDELAY_H
#define SDR_QDELAY_H

#include <stdbool.h>
#include <stdint.h>

/* the smallest round trip is remembered for one to two of these, ns */
#define SDR_QDELAY_STRETCH_NS (10 * 1000000000ull)

/* round trips in a rack are shorter, and to another site longer, ns */
#define SDR_QDELAY_RACK_NS 100000u
#define SDR_QDELAY_FAR_NS  1000000u

#define SDR_QDELAY_PAST 8u /* rounds remembered */

struct sdr_qdelay {
	uint64_t base;	  /* smallest round trip remembered, ns; 0: unknown */
	uint64_t queue;	  /* smallest round trip of late, or the mean, less base, ns */
	uint64_t low[2];  /* smallest of this stretch and of the one before; UINT64_MAX: none */
	uint64_t full[2]; /* the same, of full packets alone */
	uint64_t begun;	  /* when this stretch began, ns */
	uint64_t min;	  /* smallest of the round under way; UINT64_MAX: none */
	uint32_t samples; /* of the round under way */
	double rate;	  /* sum of what they are the inverse of, 1 / ns */
	/* of rounds before, the last one at past_at - 1: smallest, and samples */
	uint64_t past[SDR_QDELAY_PAST];
	uint32_t past_n[SDR_QDELAY_PAST], past_at;
	/* smallest of the few samples under way, and of as many before, ns; how many those are */
	uint64_t tail[2];
	uint32_t tail_n;
	uint64_t ended;	  /* the queue that the last samples of the last round met, ns */
	uint64_t last;	  /* round trip of the last sample, ns; 0: none */
	double noise;	  /* how much one differs from the next, smoothed, ns */
	uint32_t differs; /* samples smoothed, up to a few */
};

/* Near: the round trip is short, but not one within a rack, where it is made by hosts. */
static inline bool sdr_qdelay_near(uint64_t base)
{
	return base >= SDR_QDELAY_RACK_NS && base < SDR_QDELAY_FAR_NS;
}

void sdr_qdelay_init(struct sdr_qdelay *q, uint64_t now);
void sdr_qdelay_sample(struct sdr_qdelay *q, uint64_t now, uint64_t rtt);
/* What was the smallest before the first sample: it tells the base, not how long packets queue. */
void sdr_qdelay_least(struct sdr_qdelay *q, uint64_t rtt);
/* A sample was of a full packet. */
void sdr_qdelay_full(struct sdr_qdelay *q, uint64_t rtt);
/* How much longer than the base the smallest of those is: the time that a full packet takes, ns. */
uint64_t sdr_qdelay_slot(const struct sdr_qdelay *q);
/*
 * A round ends.  Where it has too few samples to tell a queue of target ns from the noise, those
 * of rounds before count, too.  even: 0, its smallest sample counts, to 1, the mean.  chance:
 * packets overtake each other, so the noise is no queue's.  false: it has none, and queue stays.
 */
bool sdr_qdelay_round(struct sdr_qdelay *q, uint64_t target, double even, bool chance);
/* What queues now, as far as the round under way tells, ns. */
uint64_t sdr_qdelay_now(const struct sdr_qdelay *q);
/* The path is another: what was the smallest counts no longer. */
void sdr_qdelay_forget(struct sdr_qdelay *q, uint64_t now, uint64_t rtt);

#endif /* SDR_QDELAY_H */
