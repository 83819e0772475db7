/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A window beside those of others, who do not yield to a queue: see sdr_claim.c. */
#ifndef SDR_CLAIM_H
#define SDR_CLAIM_H

#include "rel/path/sdr_rival_at.h"

enum sdr_claim_says {
	SDR_CLAIM_ON,	   /* it is the window */
	SDR_CLAIM_GONE,	   /* the queue has gone, and who filled it */
	SDR_CLAIM_IN_VAIN, /* most of a round is lost: there is no place for both */
	SDR_CLAIM_HOLD,	   /* they do not yield to losses either */
};

struct sdr_claim {
	double share; /* of the path, what is ours beside them */
	/* as RFC 9438; bytes, bytes per second, ns */
	double max, first, rate;
	uint64_t cut_at;
	uint32_t cuts;
	/* it opens: rounds at what it opens to; bytes that were in flight and round trip before */
	bool open, open_lost;
	uint32_t open_rounds;
	double open_win, open_trip, open_bytes, open_last;
	double half; /* what is claimed, bytes per second */
};

void sdr_claim_init(struct sdr_claim *c);
/* What is ours is a half of the path, or of so many together a part of it; 0: as 1. */
void sdr_claim_together(struct sdr_claim *c, uint32_t together);
/*
 * It begins with this window, bytes.  most: what the path was seen to carry, bytes per second,
 * here and below.
 */
void sdr_claim_begin(struct sdr_claim *c, const struct sdr_rival_at *at, double most, double win);
/*
 * After each round, *most being set where the path is found to carry more; shorter: the path has
 * been found to be, so that the queue says nothing now.  *win: bytes.
 */
enum sdr_claim_says sdr_claim_round(struct sdr_claim *c, const struct sdr_rival_at *at,
				    bool shorter, double *most, double *win);

#endif /* SDR_CLAIM_H */
