/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* One transfer at random: what sampling and the collectives share.  See sdr_model_draw.c. */
#ifndef SDR_MODEL_DRAW_H
#define SDR_MODEL_DRAW_H

#include <stdbool.h>
#include "sdr_model_hybrid.h"
#include "sdr_model_random.h"

#define SDR_MODEL_DRAW_RATES  16u
#define SDR_MODEL_DRAW_LOSSES 1000.0 /* of a transfer that are drawn one by one, on average */

/* Selective repeat of some units (chunks or packets) sent one behind the other. */
struct sdr_model_draw_sr {
	double t_s;   /* injection of a unit */
	double o_s;   /* what a loss costs: timeout and injection */
	double retry; /* -log P(a unit is lost) */
	/* [r]: -log P(a unit is not lost more than r times in a row) */
	double rates[SDR_MODEL_DRAW_RATES];
};

SDR_MODEL_HIDDEN void sdr_model_draw_sr_init(struct sdr_model_draw_sr *s,
					     const struct sdr_model_units *u, double rto_s);
/* From the start of the injection until the last of n units is through, without the RTT. */
SDR_MODEL_HIDDEN double sdr_model_draw_sr(const struct sdr_model_draw_sr *s, double n,
					  struct sdr_model_random *rnd);

/* ---- sdr_model_draw_hybrid.c ----------------------------------------------------------------- */

/* Losses of packets in the order in which a codeword sends them. */
struct sdr_model_draw_chain {
	double first; /* -log P(the first arrives) */
	double start; /* -log P(one arrives that follows one that did) */
	double again; /* probability that one is lost that follows one that was */
};

struct sdr_model_draw_segs {
	struct sdr_model_hybrid_segs s;
	struct sdr_model_draw_chain chain, repair;
	bool quick;	 /* only failures are drawn */
	double fails[2]; /* quick: -log P(a codeword of k, of k - 1 packets does not fail) */
	double clean[2]; /* -log P(a codeword of k, of k - 1 packets loses nothing) */
	double latest_s; /* when the last of them is through at the latest */
};

struct sdr_model_draw_hybrid {
	struct sdr_model_hybrid_plan plan;
	double rtt_s;
	struct sdr_model_draw_sr sr;
	struct sdr_model_draw_segs full, last;
	/* quick, by kind: P(lacks so many), of one that fails */
	double lacks[2][SDR_MODEL_SYMS_MAX];
	uint16_t want[SDR_MODEL_SYMS_MAX]; /* packets that repair so many, on demand */
};

/* The point has been checked.  -ENOMEM. */
SDR_MODEL_HIDDEN int sdr_model_draw_hybrid_init(struct sdr_model_draw_hybrid *d,
						const struct sdr_model_point *p, bool quick);
SDR_MODEL_HIDDEN double sdr_model_draw_hybrid(const struct sdr_model_draw_hybrid *d,
					      struct sdr_model_random *rnd);

/* ---- any scheme ------------------------------------------------------------------------------ */

/* Codewords of the same size: the full submessages, or the short one at the end. */
struct sdr_model_draw_codewords {
	double subs; /* submessages; each has rows codewords */
	/* -log P(a submessage, with F_MISSING a codeword, does not fail); NAN: draw the losses */
	double fail;
	uint32_t k, m;
	/* F_MISSING, fail given: of a codeword that failed */
	double upto[SDR_MODEL_SYMS_MAX]; /* [x]: P(at most x of its data symbols are lost) */
	double mean, var;		 /* units that are sent again */
};

struct sdr_model_draw {
	enum sdr_model_scheme scheme;
	uint32_t flags;
	double lossless_s;	     /* the time of a transfer that loses nothing */
	double units;		     /* of selective repeat */
	struct sdr_model_draw_sr sr; /* EC: of the fallback */
	/* EC */
	/* from the start to that of the fallback's first injection, and its RTT */
	double fallback_s;
	double loss;	 /* -log P(a symbol of a codeword arrives) */
	uint32_t rows;	 /* codewords of a submessage */
	uint32_t pkts;	 /* of a chunk */
	double pkt_loss; /* -log P(a packet arrives) */
	struct sdr_model_draw_codewords codewords[2];
	struct sdr_model_draw_hybrid hybrid;
};

/* The point has been checked.  quick: what need not be drawn loss by loss is not.  -ENOMEM. */
SDR_MODEL_HIDDEN int sdr_model_draw_init(struct sdr_model_draw *d, const struct sdr_model_point *p,
					 bool quick);
/* Time of a transfer, s. */
SDR_MODEL_HIDDEN double sdr_model_draw(const struct sdr_model_draw *d, struct sdr_model_random *r);

#endif /* SDR_MODEL_DRAW_H */
