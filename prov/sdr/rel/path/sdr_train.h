/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a bottleneck passes, by the dispersion of the own packets: see sdr_train.c. */
#ifndef SDR_TRAIN_H
#define SDR_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_TRAIN_KEPT	  8u  /* runs that are over and still count */
#define SDR_TRAIN_CORNERS 12u /* of the hull under a run */

struct sdr_train_run { /* one that is over */
	uint64_t rate_Bps;
	double weight; /* 1 / square of its relative error; 0: none */
};

struct sdr_train_point { /* newest packet of an acknowledgement event */
	uint64_t tx, rx; /* ns: it left, it arrived (in the sender's clock) */
	double x, y;	 /* bytes and ns since the first point of its run */
};

struct sdr_train_line {	  /* under the points of a run */
	double n, x, y;	  /* how many, and their sums */
	uint32_t corners; /* of the hull below them */
	struct {
		double x, y;
	} corner[SDR_TRAIN_CORNERS];
};

struct sdr_train {
	/* the last event: it may be added to as long as the clock stands still */
	struct sdr_train_point last;
	uint64_t at;	/* ns: when it came; 0: none did */
	uint64_t bytes; /* delivered, and in no point yet */
	double noise;	/* of times, ns */
	bool busy;	/* it goes on the run of the point before */
	/* the run under way, without last */
	struct sdr_train_point first, prev;
	struct sdr_train_line line;
	/* those that are over, in turn */
	struct sdr_train_run run[SDR_TRAIN_KEPT];
	uint32_t nruns;
	/* what left in between, ns, was sent to be a run of its own; 0: nothing was */
	uint64_t own_from, own_to;
	/* outputs, set by sdr_train_acked */
	uint64_t rate_Bps; /* what the bottleneck passes of ours; 0: unknown */
	double err;	   /* relative standard error of that */
	uint64_t own_Bps;  /* by the last run that was sent for it; and how many have told so far */
	uint32_t owns;
};

/* One acknowledgement event with something new in it. */
struct sdr_train_ack {
	uint64_t now;
	uint64_t tx_ns;	   /* when the newest packet that it reports was sent */
	uint64_t delay_ns; /* that this one waited at the receiver */
	uint64_t bytes;	   /* newly delivered */
	uint64_t min_rtt;  /* ns, of the connection so far */
	uint64_t noise_ns; /* of what packets take, where they overtake each other */
};

void sdr_train_init(struct sdr_train *t);
void sdr_train_acked(struct sdr_train *t, const struct sdr_train_ack *a);
/* What leaves between the two times, ns, is to be a run of its own, whatever is around it. */
void sdr_train_own(struct sdr_train *t, uint64_t from, uint64_t to);
/* The bottleneck passes at least so much: what says less is of another time. */
void sdr_train_least(struct sdr_train *t, uint64_t rate_Bps);

#endif /* SDR_TRAIN_H */
