/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of selective repeat, sr_rto and sr_nack: (M + U) T + RTT with U of sdr_model_sr.c, M
 * units of T each.  A unit is a chunk, or a packet with SDR_MODEL_F_PACKETS.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sdr_model_impl.h"

struct law_sr {
	struct sdr_model_law law;
	struct sdr_model_units unit;
	struct sdr_model_sr sr;
};

static double law_sr_time(const struct law_sr *l, double u)
{
	return ((double)l->unit.count + u) * l->unit.t_s + l->law.point.rtt_s;
}

static double law_sr_mean(const void *self)
{
	const struct law_sr *l = self;

	return law_sr_time(l, sdr_model_sr_mean(&l->sr, (double)l->unit.count));
}

static double law_sr_cdf(const void *self, double t_s)
{
	const struct law_sr *l = self;
	double m = (double)l->unit.count, u;

	u = (t_s + sdr_model_slack(t_s) - l->law.point.rtt_s) / l->unit.t_s - m;
	return exp(sdr_model_sr_logcdf(&l->sr, m, u, 0));
}

static double law_sr_quantile(const void *self, double q)
{
	const struct law_sr *l = self;

	return law_sr_time(
		l, sdr_model_sr_quantile(&l->sr, (double)l->unit.count, log(q * SDR_MODEL_EQUAL)));
}

static void law_sr_derived(const void *self, struct sdr_model_derived *out)
{
	const struct law_sr *l = self;

	out->t_inj_s = l->unit.t_s;
	out->chunks = l->unit.count;
	out->p_chunk = l->unit.p;
	out->base_s = (double)l->unit.count * l->unit.t_s;
}

int sdr_model_law_sr(const struct sdr_model_point *p, struct sdr_model_law **law)
{
	static const struct sdr_model_law_ops ops = {
		.destroy = free,
		.mean = law_sr_mean,
		.cdf = law_sr_cdf,
		.quantile = law_sr_quantile,
		.derived = law_sr_derived,
	};
	struct law_sr *l = malloc(sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->law.ops = &ops;
	l->law.point = *p;
	sdr_model_units(p, p->flags & SDR_MODEL_F_PACKETS ? p->mtu_bytes : p->chunk_bytes,
			&l->unit);
	sdr_model_sr_init_lnq(&l->sr, l->unit.lnq, l->unit.rho, (double)l->unit.count);
	*law = &l->law;
	return 0;
}
