/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Flows that do not yield to a queue, and how we hold our own beside them: see sdr_rival.c. */
#ifndef SDR_RIVAL_H
#define SDR_RIVAL_H

#include "rel/path/sdr_beat.h"
#include "rel/path/sdr_carries.h"
#include "rel/path/sdr_claim.h"
#include "rel/path/sdr_hold.h"
#include "rel/path/sdr_press.h"
#include "rel/path/sdr_push.h"
#include "rel/path/sdr_standing.h"

enum sdr_rival_state {
	SDR_RIVAL_NONE,	  /* nobody but flows that yield: the queue's delay governs */
	SDR_RIVAL_PUSH,	  /* an experiment: do they yield? */
	SDR_RIVAL_LISTEN, /* a rate that is kept: is there one that probes as BBR? */
	SDR_RIVAL_WINDOW, /* they do not: a window that is cut at losses, as theirs */
	SDR_RIVAL_HOLD,	  /* nor do they yield to losses: a rate that is held */
};

struct sdr_rival {
	enum sdr_rival_state state;
	double most; /* largest own rate seen on this path (fades), bytes per second */
	double rate; /* own rate, smoothed, bytes per second */
	/* round trip of the empty path, ns; it was found to be shorter: the queue says nothing */
	uint64_t base;
	bool shorter;
	uint32_t busy; /* rounds in which the path was the limit, less those in which not */
	double level;  /* of the queue, smoothed, ns */
	/* when losses were beyond the weather last, ns (0: never), and the round trip then */
	uint64_t lost_at, lost_trip;
	/* what says whether there are some: */
	struct sdr_press press;
	struct sdr_standing standing;
	struct sdr_beat beat;
	struct sdr_push push;
	/* how much there is to share: */
	struct sdr_carries carries;
	/* and what is ours beside them: */
	struct sdr_claim claim;
	struct sdr_hold hold;
};

void sdr_rival_init(struct sdr_rival *r, uint64_t now, uint64_t random);
/* At least that passes the path. */
void sdr_rival_passes(struct sdr_rival *r, double rate_Bps);
/*
 * At the end of a round.  *win: the window in bytes, set where true is returned; false: there are
 * no rivals, and it is not for this object to say.
 */
bool sdr_rival_round(struct sdr_rival *r, const struct sdr_rival_at *at, double *win);
/* After a round: a train is to leave, to show what the path carries; ... */
bool sdr_rival_wants_train(const struct sdr_rival *r);
/* ... and the window is no measure for it: we were beaten down behind a queue that is long. */
bool sdr_rival_starves(const struct sdr_rival *r, uint64_t now);
/* Of the rate that the window makes. */
double sdr_rival_gain(const struct sdr_rival *r);

#endif /* SDR_RIVAL_H */
