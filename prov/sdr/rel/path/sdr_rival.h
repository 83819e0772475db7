/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Flows that do not yield to a queue, and how we hold our own beside them: see sdr_rival.c. */
#ifndef SDR_RIVAL_H
#define SDR_RIVAL_H

#include <stdbool.h>
#include <stdint.h>
#include "rel/path/sdr_beat.h"
#include "rel/path/sdr_standing.h"

#define SDR_RIVAL_ROUNDS 10u /* rounds over which the largest rate counts */

enum sdr_rival_state {
	SDR_RIVAL_NONE,	  /* nobody but flows that yield: the queue's delay governs */
	SDR_RIVAL_PUSH,	  /* an experiment: do they yield? */
	SDR_RIVAL_LISTEN, /* a rate that is kept: is there one that probes as BBR? */
	SDR_RIVAL_WINDOW, /* they do not: a window that is cut at losses, as theirs */
	SDR_RIVAL_HOLD,	  /* nor do they yield to losses: a rate that is held */
};

struct sdr_rival {
	enum sdr_rival_state state;
	double claim; /* of the path, what is ours beside them */
	double most;  /* largest own rate seen on this path (fades), bytes per second */
	double rate;  /* own rate, smoothed, bytes per second */
	/* round trip of the empty path, ns; it was found to be shorter: the queue says nothing */
	uint64_t base;
	bool shorter;
	struct sdr_standing standing;
	bool suspect; /* what it says is worth a push */
	struct sdr_beat beat;
	/* a queue stays although we yield: since then, ns (0: it does not), and how long it may */
	uint64_t press_at, press_ns;
	uint64_t round_at; /* when the last round ended, ns */
	uint32_t busy;	   /* rounds in which the path was the limit, less those in which not */
	/* when losses were beyond the weather last, ns (0: never), and the round trip then */
	uint64_t lost_at, lost_trip;
	uint64_t left_at; /* when rivals went last, ns; 0: never were */
	/* pushes: not before, ns; pause after one; rounds of this one; what it brought */
	uint64_t push_at, push_gap;
	uint32_t push_round, push_calm;
	double push_from, push_base, push_long, push_gain, push_queue, push_lost, push_bytes;
	bool push_sure; /* the last one met somebody who does not yield, or another's */
	/* window: as RFC 9438; bytes, ns, bytes per second */
	double win_max, win_first, win_rate;
	uint64_t cut_at;
	uint32_t cuts;
	/* it opens: rounds at what it opens to; bytes that were in flight and round trip before */
	bool open, open_lost;
	uint32_t open_rounds;
	double open_win, open_trip, open_bytes, open_last;
	double open_half; /* what is claimed, bytes per second */
	/* hold: largest rates, bytes per second; place in the cycle; rounds without a queue */
	double bw[SDR_RIVAL_ROUNDS];
	uint32_t round, dry, held; /* held: rounds of this one */
	double hold_lost;	   /* share, smoothed */
	bool steady;		   /* for somebody's beat: we have none, and listen again */
};

/* A round that is over. */
struct sdr_rival_at {
	uint64_t now;
	uint64_t base, queue, target; /* ns; see sdr_qdelay.h, sdr_auto_target() */
	uint32_t drains;	      /* of ours until now */
	uint64_t few;		      /* target of a flow that has a twentieth of the path, ns */
	uint32_t mtu;		      /* bytes */
	uint64_t bw;		      /* delivery rate, bytes per second; 0: none */
	double bytes, lost;	      /* decided in it; lost: beyond the weather */
	bool app_limited;
	/* so many flows, this one included, are to have what one has; 0: as 1 */
	uint32_t together;
	uint64_t random;
};

void sdr_rival_init(struct sdr_rival *r, uint64_t now, uint64_t random);
/* At least that passes the path. */
void sdr_rival_passes(struct sdr_rival *r, double rate_Bps);
/*
 * At the end of a round.  *win: the window in bytes, set where true is returned; false: there are
 * no rivals, and it is not for this object to say.
 */
bool sdr_rival_round(struct sdr_rival *r, const struct sdr_rival_at *at, double *win);
/* Of the rate that the window makes. */
double sdr_rival_gain(const struct sdr_rival *r);

#endif /* SDR_RIVAL_H */
