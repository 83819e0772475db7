/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the law of erasure coding is made of: codewords, counts of failures, mixtures of selective
 * repeats.
 */
#ifndef SDR_MODEL_EC_H
#define SDR_MODEL_EC_H

#include <stdbool.h>
#include "sdr_model_impl.h"

/* ---- sdr_model_code.c: one codeword ---------------------------------------------------------- */

struct sdr_model_code {
	double fail; /* probability that it cannot be decoded */
	double lnok; /* log(1 - fail) */
	uint32_t k, m;
	/* given that it failed: probability that so many of the k were lost */
	double lost[SDR_MODEL_SYMS_MAX + 1];
};

/* k + m symbols, each lost with 1 - exp(lnq); xor: the paper's code, else MDS.  m > 0. */
SDR_MODEL_HIDDEN void sdr_model_code_init(struct sdr_model_code *c, double lnq, uint32_t k,
					  uint32_t m, bool xor);

/* ---- sdr_model_count.c: how many of n fail --------------------------------------------------- */

#define SDR_MODEL_COUNTS 16384u

/* Bin(n, fail) at first, first + step, ...; the weights add up to 1. */
struct sdr_model_count {
	double first, step, sd;
	uint32_t n;
	double *w;
};

/* -ENOMEM */
SDR_MODEL_HIDDEN int sdr_model_count_init(struct sdr_model_count *c, double n, double fail,
					  double lnok);
SDR_MODEL_HIDDEN void sdr_model_count_fini(struct sdr_model_count *c);

/* ---- sdr_model_mix.c: selective repeat of D units, D random ---------------------------------- */

#define SDR_MODEL_COMBS 4u

/* D = first + i step with weight scale w[i], D >= 1.  w is not the comb's. */
struct sdr_model_comb {
	double first, step, scale;
	uint32_t n;
	const double *w;
	double sum, mean, sd; /* of w; of i */
	uint32_t by;	      /* teeth of which one is enough for what is smooth in D */
	double part;	      /* sum of those */
};

/*
 * max over D units, in units of their injection; the weights of all combs add up to at most 1.
 */
struct sdr_model_mix {
	struct sdr_model_sr sr;
	struct sdr_model_comb comb[SDR_MODEL_COMBS];
	uint32_t combs;
	double d_max;
};

SDR_MODEL_HIDDEN void sdr_model_mix_add(struct sdr_model_mix *x, double first, double step,
					double scale, uint32_t n, const double *w);
/* Sum over D of weight times E[max]. */
SDR_MODEL_HIDDEN double sdr_model_mix_mean(const struct sdr_model_mix *x);
/* Sum over D of weight times P(max <= at). */
SDR_MODEL_HIDDEN double sdr_model_mix_cdf(const struct sdr_model_mix *x, double at);
/* The smallest time at which that is at least q > 0. */
SDR_MODEL_HIDDEN double sdr_model_mix_quantile(const struct sdr_model_mix *x, double q);

#endif /* SDR_MODEL_EC_H */
