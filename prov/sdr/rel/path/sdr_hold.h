/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A rate that is held beside those who yield to nothing: see sdr_hold.c. */
#ifndef SDR_HOLD_H
#define SDR_HOLD_H

#include "rel/path/sdr_rival_at.h"

#define SDR_HOLD_ROUNDS 10u /* rounds over which the largest rate counts */

enum sdr_hold_says {
	SDR_HOLD_ON,	  /* it is held */
	SDR_HOLD_GONE,	  /* the queue has gone, and who filled it */
	SDR_HOLD_SEE,	  /* a while has passed: let us see who is still there */
	SDR_HOLD_IN_VAIN, /* too many hold, or too much: too much is lost */
	SDR_HOLD_LISTEN,  /* steady: is the beat still there? */
};

struct sdr_hold {
	double bw[SDR_HOLD_ROUNDS]; /* rates of the last rounds, bytes per second */
	uint32_t place;		    /* in them, and in the cycle of probes */
	double open;		    /* it opens: bytes per second so far */
	double most;		    /* that was to be held, bytes per second */
	uint32_t dry, rounds;	    /* without a queue; of this one */
	double lost;		    /* share, smoothed */
	uint64_t until;		    /* ns */
	bool steady;		    /* for somebody's beat: we have none, and listen again */
};

/* From the rate of this window, bytes; most: as of sdr_hold_round(). */
void sdr_hold_begin(struct sdr_hold *h, const struct sdr_rival_at *at, double win, double most,
		    uint64_t until, bool steady);
/* After each round; most: bytes per second that are held at most; *win: the window, bytes. */
enum sdr_hold_says sdr_hold_round(struct sdr_hold *h, const struct sdr_rival_at *at, double most,
				  double *win);
/* Of the rate that the window makes. */
double sdr_hold_gain(const struct sdr_hold *h);
/* The round trip, seconds, for which a window makes a rate: of a queue not more than the path. */
double sdr_hold_trip(const struct sdr_rival_at *at);

#endif /* SDR_HOLD_H */
