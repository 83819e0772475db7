/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of one transfer, whatever its scheme: checks the point, has the scheme make its law, and
 * passes the calls on.  What an ideal transfer takes is all here.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "sdr_model_impl.h"

void sdr_model_units(const struct sdr_model_point *p, uint32_t bytes, struct sdr_model_units *u)
{
	uint32_t n = bytes / p->mtu_bytes + (bytes % p->mtu_bytes != 0);

	u->t_s = bytes * 8.0 / p->bandwidth_bps;
	u->count = p->msg_bytes / bytes + (p->msg_bytes % bytes != 0);
	u->packets = n;
	u->lnq = n * log1p(-p->p_packet);
	u->p = -expm1(u->lnq);
	u->rho = (sdr_model_rto(p) + u->t_s) / u->t_s;
}

double sdr_model_slack(double t_s)
{
	return 8 * DBL_EPSILON * fabs(t_s);
}

/* ---- ideal ----------------------------------------------------------------------------------- */

static double law_ideal_s(const struct sdr_model_point *p)
{
	return (double)p->msg_bytes * 8 / p->bandwidth_bps + p->rtt_s;
}

static double law_ideal_mean(const void *self)
{
	return law_ideal_s(&((const struct sdr_model_law *)self)->point);
}

static double law_ideal_cdf(const void *self, double t_s)
{
	return t_s + sdr_model_slack(t_s) >= law_ideal_mean(self);
}

static double law_ideal_quantile(const void *self, double q)
{
	(void)q;
	return law_ideal_mean(self);
}

static void law_ideal_derived(const void *self, struct sdr_model_derived *out)
{
	const struct sdr_model_point *p = &((const struct sdr_model_law *)self)->point;
	struct sdr_model_units u;

	sdr_model_units(p, p->flags & SDR_MODEL_F_PACKETS ? p->mtu_bytes : p->chunk_bytes, &u);
	out->t_inj_s = u.t_s;
	out->chunks = u.count;
	out->p_chunk = u.p;
	out->base_s = out->ideal_s - p->rtt_s;
}

static int law_ideal(const struct sdr_model_point *p, struct sdr_model_law **law)
{
	static const struct sdr_model_law_ops ops = {
		.destroy = free,
		.mean = law_ideal_mean,
		.cdf = law_ideal_cdf,
		.quantile = law_ideal_quantile,
		.derived = law_ideal_derived,
	};
	struct sdr_model_law *l = malloc(sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->ops = &ops;
	l->point = *p;
	*law = l;
	return 0;
}

/* ---- any scheme ------------------------------------------------------------------------------ */

int sdr_model_law_create(const struct sdr_model_point *p, struct sdr_model_law **law,
			 struct sdr_model_error *err)
{
	int ret = sdr_model_point_check(p, err);

	if (ret)
		return ret;
	switch (p->scheme) {
	case SDR_MODEL_SR_RTO:
	case SDR_MODEL_SR_NACK:
		return sdr_model_law_sr(p, law);
	case SDR_MODEL_EC_MDS:
	case SDR_MODEL_EC_XOR:
		return sdr_model_law_ec(p, law);
	case SDR_MODEL_HYBRID:
		return sdr_model_law_hybrid(p, law);
	default:
		return law_ideal(p, law);
	}
}

void sdr_model_law_destroy(struct sdr_model_law *law)
{
	if (law)
		law->ops->destroy(law);
}

double sdr_model_law_mean(const struct sdr_model_law *law)
{
	double mean = law->ops->mean(law);

	SDR_ASSERT(mean >= 0);
	return mean;
}

double sdr_model_law_cdf(const struct sdr_model_law *law, double t_s)
{
	if (isnan(t_s))
		return NAN;
	if (isinf(t_s))
		return t_s > 0;
	return law->ops->cdf(law, t_s);
}

double sdr_model_law_quantile(const struct sdr_model_law *law, double q)
{
	return q >= 0 && q < 1 ? law->ops->quantile(law, q) : NAN;
}

void sdr_model_law_derived(const struct sdr_model_law *law, struct sdr_model_derived *out)
{
	*out = (struct sdr_model_derived){ .ideal_s = law_ideal_s(&law->point) };
	law->ops->derived(law, out);
}

int sdr_model_predict(const struct sdr_model_point *p, struct sdr_model_times *times,
		      struct sdr_model_derived *derived, struct sdr_model_error *err)
{
	struct sdr_model_law *law;
	int ret = sdr_model_law_create(p, &law, err);

	if (ret)
		return ret;
	times->mean_s = sdr_model_law_mean(law);
	times->p50_s = sdr_model_law_quantile(law, 0.5);
	times->p99_s = sdr_model_law_quantile(law, 0.99);
	times->p999_s = sdr_model_law_quantile(law, 0.999);
	if (derived)
		sdr_model_law_derived(law, derived);
	sdr_model_law_destroy(law);
	return 0;
}
