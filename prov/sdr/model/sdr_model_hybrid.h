/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the hybrid scheme lays a transfer out: packets, segments, codewords.  See
 * sdr_model_hybrid_plan.c.
 */
#ifndef SDR_MODEL_HYBRID_H
#define SDR_MODEL_HYBRID_H

#include <stdbool.h>
#include "sdr_choice.h"
#include "sdr_model_impl.h"

/* Segments with parity that are alike. */
struct sdr_model_hybrid_segs {
	double segs;	  /* how many */
	double pkts;	  /* data packets of each that have parity */
	double codewords; /* codewords of each; they take turns in the order of sending */
	double big;	  /* of them with k data packets, the others have k - 1 */
	uint32_t k, m;	  /* packets of a codeword */
	/* probability that the next packet of a codeword is lost when this one was */
	double again;
	/* when the last of them has been sent, and how much earlier the one before */
	double end_s, every_s;
};

struct sdr_model_hybrid_plan {
	double t_s;  /* injection of a packet */
	double pkts; /* of data */
	/* of them without parity, at the start; the others are in the segments of full and last */
	double head;
	double parity; /* packets */
	/* one packet that travels in a record: no segment, no report but its acknowledgement */
	bool lone;
	uint32_t sends; /* lone: copies sent ahead of any loss, 1 or 2 */
	double rto_s;	/* lone: of its probe; it doubles up to SDR_MODEL_HYBRID_BACK */
	double first_s; /* nothing comes earlier: the time of a transfer that loses nothing */
	/* the head by what is lost as one, bursts; injection of such a unit */
	double units, unit_s;
	struct sdr_choice choice; /* k, m; m 0: no parity */
	struct sdr_choice_loss loss;
	struct sdr_model_hybrid_segs full,
		last; /* in the order of sending; full.segs may be 0; last.segs is 0 or 1 */
};

/* The point has been checked; t may be NULL when its k and m are given. */
SDR_MODEL_HIDDEN void sdr_model_hybrid_plan(struct sdr_model_hybrid_plan *h,
					    const struct sdr_model_point *p,
					    struct sdr_choice_table *t);

/* s: a probe's timeout does not double beyond (SDR_RTO_MAX_NS) */
#define SDR_MODEL_HYBRID_BACK	1.0
#define SDR_MODEL_HYBRID_ROUNDS 48u   /* of repairs that are followed */
#define SDR_MODEL_HYBRID_LEFT	1e-16 /* probability of more rounds that does not matter */

/* Segments that are alike: when they are through. */
struct sdr_model_hybrid_part {
	struct sdr_model_hybrid_segs s;
	/* [j]: log P(j rows of parity are enough for all codewords) */
	double rows[SDR_MODEL_SYMS_MAX + 1];
	double rounds[SDR_MODEL_HYBRID_ROUNDS]; /* [g]: log P(g rounds of repairs are) */
	uint32_t nrounds;			/* more are not needed */
	double round_s;
	/* packets that the first round of one segment sends, on average, mostly 0 */
	double sent;
	/* P(a codeword of k cannot be decoded), and expected number of those in a segment */
	double fail, failures;
};

/* s is filled in, all else 0.  sdr_model_hybrid_part.c. */
SDR_MODEL_HIDDEN void sdr_model_hybrid_part_init(struct sdr_model_hybrid_part *p,
						 const struct sdr_model_hybrid_plan *h,
						 struct sdr_choice_table *t, double rtt_s);

/*
 * Packets that a hybrid law expects to be sent beyond data and parity (a second round of repairs is
 * not counted).
 */
SDR_MODEL_HIDDEN double sdr_model_hybrid_repairs(const struct sdr_model_law *law);

/*
 * Losses among the first 1..n (<= SDR_MODEL_SYMS_MAX) packets of a Markov chain as in
 * sdr_choice_table.h. tail[j], j = 0..n - k: P(more than j of the first k + j are lost); lost[i], i
 * = 0..n: P(i of all n are lost). Either may be NULL.
 */
SDR_MODEL_HIDDEN void sdr_model_chain(double p, double again, uint32_t n, uint32_t k, double *tail,
				      double *lost);

#endif /* SDR_MODEL_HYBRID_H */
