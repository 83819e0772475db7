/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the objects of the model share.  See include/sdr/model.h. */
#ifndef SDR_MODEL_IMPL_H
#define SDR_MODEL_IMPL_H

#include <sdr/model.h>

#define SDR_MODEL_HIDDEN __attribute__((visibility("hidden")))

/* Fills *err (may be NULL) and returns -EINVAL. */
SDR_MODEL_HIDDEN int sdr_model_refuse(struct sdr_model_error *err, const char *field,
				      const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * No time, rate or ratio of a point is larger, and no rate smaller than 1 over it: products of them
 * stay doubles.
 */
#define SDR_MODEL_FAR 1e30

/* ---- sdr_model_sr.c: selective repeat -------------------------------------------------------- */

/*
 * max over i = 1..M of (i + rho (Y_i - 1)), Y_i geometric with parameter 1 - P, in units of the
 * injection time of one of the M.  rho = (RTO + T) / T.  Nothing of it depends on M but the calls
 * that take it: submessages share one.
 */
#define SDR_MODEL_LEVELS     2048u  /* for any M */
#define SDR_MODEL_LEVELS_MAX 16384u /* for a few chunks of about a timeout each */

struct sdr_model_sr {
	double p, rho;
	double h;			  /* log(1 / P) */
	uint32_t levels;		  /* beyond which retries do not matter; 0: P = 0 */
	int far;			  /* more would matter: sdr_model_sr_far.c */
	double lam[SDR_MODEL_LEVELS_MAX]; /* log(1 - P^c), c = 1.. */
	double d[SDR_MODEL_LEVELS_MAX];	  /* lam(c) - lam(c + 1) */
};

/* m_max: the largest M that the other calls will be given. */
SDR_MODEL_HIDDEN void sdr_model_sr_init(struct sdr_model_sr *s, double p, double rho, double m_max);
/* The same for p = 1 - exp(lnq), which may be too close to 1 for a double. */
SDR_MODEL_HIDDEN void sdr_model_sr_init_lnq(struct sdr_model_sr *s, double lnq, double rho,
					    double m_max);
/* E[max] - M, >= 0. */
SDR_MODEL_HIDDEN double sdr_model_sr_mean(const struct sdr_model_sr *s, double m);
/* log P(max - M <= u), u >= 0; for the left limit (<), left. */
SDR_MODEL_HIDDEN double sdr_model_sr_logcdf(const struct sdr_model_sr *s, double m, double u,
					    int left);
/* The smallest u with log P(max - M <= u) >= logq. */
SDR_MODEL_HIDDEN double sdr_model_sr_quantile(const struct sdr_model_sr *s, double m, double logq);

/* ---- sdr_model_sr_far.c: the same for losses so near to 1 that the levels do not fit --------- */

SDR_MODEL_HIDDEN double sdr_model_sr_far_mean(const struct sdr_model_sr *s, double m);
SDR_MODEL_HIDDEN double sdr_model_sr_far_logcdf(const struct sdr_model_sr *s, double m, double u,
						int left);
SDR_MODEL_HIDDEN double sdr_model_sr_far_quantile(const struct sdr_model_sr *s, double m,
						  double logq);

/* ---- sdr_model_law.c ------------------------------------------------------------------------- */

/* A message in units of some bytes: chunks or packets. */
struct sdr_model_units {
	double t_s;	  /* injection of one */
	double p;	  /* probability that one is lost */
	double lnq;	  /* log(1 - p), exact also where p rounds to 1 */
	double rho;	  /* (RTO + t_s) / t_s */
	uint64_t count;	  /* of the message; the last counts as a whole one */
	uint32_t packets; /* of one */
};

SDR_MODEL_HIDDEN void sdr_model_units(const struct sdr_model_point *p, uint32_t bytes,
				      struct sdr_model_units *u);
/*
 * What rounding may have taken from a time of this size, s: a jump this little later counts as one
 * at t_s.
 */
SDR_MODEL_HIDDEN double sdr_model_slack(double t_s);
/* The share of q that a probability must reach to count as q: 1 - 0.01 is to be 0.99. */
#define SDR_MODEL_EQUAL (1 - 4 * 0x1p-52)

/* ---- what a scheme gives to sdr_model_law.c -------------------------------------------------- */

/* One a scheme family; times are seconds and include the final RTT. */
struct sdr_model_law_ops {
	void (*destroy)(void *self);
	double (*mean)(const void *self);
	double (*cdf)(const void *self, double t_s);
	double (*quantile)(const void *self, double q);
	/* ideal_s is filled in already */
	void (*derived)(const void *self, struct sdr_model_derived *out);
};

struct sdr_model_law {
	const struct sdr_model_law_ops *ops;
	struct sdr_model_point point;
	/* the scheme's own follows: it embeds this as its first member, so self is the law */
};

/* The point has been checked.  0, -ENOMEM. */
SDR_MODEL_HIDDEN int sdr_model_law_sr(const struct sdr_model_point *p, struct sdr_model_law **law);
SDR_MODEL_HIDDEN int sdr_model_law_ec(const struct sdr_model_point *p, struct sdr_model_law **law);
SDR_MODEL_HIDDEN int sdr_model_law_hybrid(const struct sdr_model_point *p,
					  struct sdr_model_law **law);

#endif /* SDR_MODEL_IMPL_H */
