/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How much a flow may begin with that has nothing to send in between: see sdr_burst.c. */
#ifndef SDR_BURST_H
#define SDR_BURST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct sdr_burst {
	double win;   /* bytes to begin with, at most; HUGE_VAL: nothing says less than all */
	double began; /* bytes with which the last flight began; 0: there was none */
	double mean;  /* and all who share the path, as a mean; 0: unknown */
	double fair;  /* of the path, among them; 0: unknown */
	/* flows that both ends saw: the most in these flights, so many, and in those before */
	struct {
		uint32_t now, flights, before;
	} sharers;
	uint32_t alone; /* messages in a row that met nobody */
	uint64_t risen; /* when it was last made longer for the time that had passed, ns */
	/* the flight under judgement: the window that it left with; 0: there is none */
	double left;
	uint64_t tx, tx_last; /* when its first packet left, and the newest that arrived, ns */
	uint64_t rx, rx_last; /* when its first packet arrived, and the last; 0: none did yet */
	double bytes, lost;   /* of it */
	double said;	      /* lost, and known to be ours already */
	bool passed;	      /* it was judged, and met no queue */
	/* since it began: rounds, of those in a row without a queue; there was one; losses */
	uint32_t rounds, quiet;
	bool met, lossy;
};

/* The world, when a flight is judged. */
struct sdr_burst_at {
	uint32_t mtu;
	uint64_t base, target; /* round trip without a queue, the queue that we keep, ns */
	uint64_t together;     /* what leaves together takes on the path, ns */
	double share;	       /* of bytes that weather takes */
	double full;	       /* bytes that the path carries in a round trip; 0: unknown */
	double mean;	       /* bytes with which those begin that share it; 0: unknown */
	uint32_t sharers;      /* those, this one included; 0: unknown */
};

/* What a round met. */
struct sdr_burst_round {
	uint32_t mtu;
	double queue, target; /* ns */
	bool lossy;
};

void sdr_burst_init(struct sdr_burst *b, uint64_t now);
/* It is not to begin with more than that: others begin at the same time. */
void sdr_burst_share(struct sdr_burst *b, double win);
/*
 * Something leaves, and nothing was in front of it.  full: as in sdr_burst_at.  Returns the window
 * that it leaves with: win, less for one of many, more for one of many that meets nobody.
 */
double sdr_burst_begin(struct sdr_burst *b, uint64_t now, double win, double full);
/*
 * The newest packet that an acknowledgement tells of left at tx and arrived at rx (tx 0: it tells
 * of none).  True: the flight has arrived, or what did of it, and is to be judged.
 */
bool sdr_burst_acked(struct sdr_burst *b, uint64_t rx, uint64_t tx, uint64_t bytes, uint64_t lost,
		     uint64_t base);
/* Bytes of what it lost that are ours, and were not known to be. */
double sdr_burst_judge(struct sdr_burst *b, const struct sdr_burst_at *at);
/*
 * At the end of a round: by which share of what was delivered the window grows; < 0: as that of any
 * other flow.
 */
double sdr_burst_round(struct sdr_burst *b, const struct sdr_burst_round *r);

/* It has been found to be one of many. */
static inline bool sdr_burst_holds(const struct sdr_burst *b)
{
	return b->win < HUGE_VAL;
}

#endif /* SDR_BURST_H */
