/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The state of `auto` in sdr_cc.state, for sdr_cc_auto.c with its parts (sdr_auto_start.c,
 * sdr_auto_cruise.c, sdr_auto_drain.c, sdr_auto_cut.c, sdr_auto_burst.c, sdr_auto_target.c) and for
 * tests: nobody else looks inside.
 */
#ifndef SDR_CC_AUTO_H
#define SDR_CC_AUTO_H

#include "base/sdr_rand.h"
#include "rel/path/sdr_blame.h"
#include "rel/path/sdr_burst.h"
#include "rel/path/sdr_calm.h"
#include "rel/path/sdr_cc.h"
#include "rel/path/sdr_qdelay.h"
#include "rel/path/sdr_rival.h"
#include "rel/path/sdr_shallow.h"
#include "rel/path/sdr_spread.h"

/* ns: no queue of a switch makes a near path look so far */
#define SDR_AUTO_NO_SWITCH_NS 10000000u
#define SDR_AUTO_FROZEN_CUT   2u /* rounds in which a window that was cut does not grow */

enum sdr_auto_phase {
	SDR_AUTO_START,	 /* what the path carries is not known */
	SDR_AUTO_CRUISE, /* a short queue of our own */
	SDR_AUTO_DRAIN,	 /* none, for a round trip: everybody sees the path empty */
};

struct sdr_auto {
	enum sdr_auto_phase phase;
	double win;   /* bytes that we want in flight */
	double bound; /* bytes; above it losses were ours; HUGE_VAL: none known */
	uint64_t bound_at;
	double before;	 /* window before timeouts; 0: there was none */
	double pace;	 /* growth of the window, times the plain step */
	uint32_t quiet;	 /* rounds that met hardly any queue */
	uint32_t frozen; /* rounds in which the window does not grow: a cut must show first */
	uint64_t rounds;
	uint64_t settled;      /* round after which losses are no longer those of START */
	uint64_t rivalled;     /* round after which losses are no longer those of sdr_rival.c */
	uint64_t round_at;     /* when the last one ended, ns */
	uint64_t lasted;       /* how long it was, ns */
	uint64_t drained;      /* round that ended the last drain */
	uint64_t marked_round; /* that ended with a cut for marks */
	double marked;	       /* share of bytes with congestion marks, smoothed */
	uint64_t drain_at, drain_end; /* ns: the next drain, the end of this one, ... */
	uint64_t drained_at;	      /* ... and of the last */
	/* ns: when hardly anything of ours was on its way last; the shortest queue since */
	uint64_t emptied_at;
	double shortest;
	uint32_t drains;	/* until now */
	bool overtakes;		/* packets do */
	bool sure;		/* trains have shown what the path carries */
	double bytes, lost, ce; /* of this round */
	/* bytes per second that have passed in this round, and in the last one that told */
	double passed, passed_before;
	bool limited;		  /* of late the application was the limit */
	struct sdr_spread spread; /* of the flight by which START ends */
	/* ns: what left before is of that flight; 0: it has arrived, and the one behind it */
	uint64_t learnt_at;
	uint32_t learnt_flights; /* that have arrived since */
	/* in START, of those who begin together: bytes of this round, and its longest queue, ns */
	struct {
		double bytes;
		uint64_t queue;
	} grows;
	struct sdr_qdelay queue;
	struct sdr_shallow shallow;
	struct sdr_blame blame;
	struct sdr_rival rival;
	struct sdr_burst burst;
	struct sdr_calm calm;
};

static inline struct sdr_auto *sdr_auto_state(struct sdr_cc *cc)
{
	return (struct sdr_auto *)(void *)cc->state;
}

static inline const struct sdr_auto *sdr_auto_look(const struct sdr_cc *cc)
{
	return (const struct sdr_auto *)(const void *)cc->state;
}

static inline uint64_t sdr_auto_random(const struct sdr_cc *cc, uint64_t now)
{
	uint64_t seed = now ^ cc->delivered << 20 ^ cc->srtt;

	return sdr_rand64(&seed);
}

#endif /* SDR_CC_AUTO_H */
