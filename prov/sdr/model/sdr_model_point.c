/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A question to the model: its defaults, what makes sense, and the names of schemes.
 *
 * A refusal names the field as the tools call it, the value and the bounds.  Comparisons are
 * written so that NaN fails them.  Numbers that no link has (SDR_MODEL_FAR) are refused, so that
 * nothing overflows on the way to a time.  What a scheme does not look at is not checked: a row of
 * a table may leave it empty.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "sdr_model_impl.h"

#define RTO_SR	 3.0 /* RTTs: the paper's SR RTO */
#define RTO_NACK 1.0 /* and what reports of the receiver amount to */

static const char *const model_names[SDR_MODEL_SCHEMES] = {
	[SDR_MODEL_IDEAL] = "ideal",	 [SDR_MODEL_SR_RTO] = "sr_rto",
	[SDR_MODEL_SR_NACK] = "sr_nack", [SDR_MODEL_EC_MDS] = "ec_mds",
	[SDR_MODEL_EC_XOR] = "ec_xor",	 [SDR_MODEL_HYBRID] = "hybrid",
};

void sdr_model_point_init(struct sdr_model_point *p)
{
	*p = (struct sdr_model_point){
		.scheme = SDR_MODEL_SR_NACK,
		.bandwidth_bps = 400e9,
		.rtt_s = 25e-3,
		.beta = 1,
		.msg_bytes = 128ull << 20,
		.mtu_bytes = 4096,
		.chunk_bytes = 65536,
		.k = 32,
		.m = 8,
		.burst_packets = 1,
		.objective = SDR_OBJECTIVE_P99,
		.max_overhead = 0.25,
	};
}

const char *sdr_model_scheme_name(enum sdr_model_scheme scheme)
{
	return (unsigned int)scheme < SDR_MODEL_SCHEMES ? model_names[scheme] : NULL;
}

int sdr_model_scheme_parse(const char *name, enum sdr_model_scheme *scheme)
{
	for (int i = 0; i < SDR_MODEL_SCHEMES; i++) {
		if (!strcmp(name, model_names[i])) {
			*scheme = (enum sdr_model_scheme)i;
			return 0;
		}
	}
	return -EINVAL;
}

double sdr_model_p_chunk(double p_packet, uint32_t n)
{
	return -expm1(n * log1p(-p_packet));
}

double sdr_model_p_packet(double p_chunk, uint32_t n)
{
	return -expm1(log1p(-p_chunk) / n);
}

double sdr_model_rto(const struct sdr_model_point *p)
{
	double rtts = p->rto_rtts;

	if (!(rtts > 0))
		rtts = p->scheme == SDR_MODEL_SR_NACK || p->scheme == SDR_MODEL_HYBRID ? RTO_NACK
										       : RTO_SR;
	return rtts * p->rtt_s;
}

int sdr_model_refuse(struct sdr_model_error *err, const char *field, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->field = field;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

static bool model_not_negative(double v)
{
	return v >= 0 && v <= SDR_MODEL_FAR;
}

/* Added to the bounds in the message for a value that is beyond the upper one. */
static const char *model_limit(double v)
{
	return v > SDR_MODEL_FAR ? ", at most 1e30" : "";
}

static int model_check_code(const struct sdr_model_point *p, struct sdr_model_error *err)
{
	bool hybrid = p->scheme == SDR_MODEL_HYBRID;

	if (hybrid && !p->k && !p->m)
		return 0;
	if (!p->k)
		return sdr_model_refuse(err, "k",
					"k is 0: a submessage has at least one data chunk");
	if (!p->m)
		return sdr_model_refuse(err, "m",
					"m is 0: erasure coding has at least one parity chunk");
	if ((uint64_t)p->k + p->m > SDR_MODEL_SYMS_MAX)
		return sdr_model_refuse(err, "m",
					"k + m is %" PRIu64 ": a code over GF(2^8) has at most %u",
					(uint64_t)p->k + p->m, SDR_MODEL_SYMS_MAX);
	return 0;
}

static int model_check_hybrid(const struct sdr_model_point *p, struct sdr_model_error *err)
{
	if (!(p->burst_packets >= 1 && p->burst_packets <= SDR_MODEL_FAR))
		return sdr_model_refuse(err, "burst_packets",
					"a mean burst of %g packets: it is at least 1%s",
					p->burst_packets, model_limit(p->burst_packets));
	if (!model_not_negative(p->cover_bytes))
		return sdr_model_refuse(err, "cover_bytes",
					"%g bytes with parity: 0 (all) or more%s", p->cover_bytes,
					model_limit(p->cover_bytes));
	if (!model_not_negative(p->max_overhead))
		return sdr_model_refuse(err, "max_overhead", "an overhead of %g: 0 or more%s",
					p->max_overhead, model_limit(p->max_overhead));
	if ((unsigned int)p->objective > SDR_OBJECTIVE_P999)
		return sdr_model_refuse(err, "objective", "there is no objective %d",
					(int)p->objective);
	return 0;
}

int sdr_model_point_check(const struct sdr_model_point *p, struct sdr_model_error *err)
{
	bool ec = p->scheme == SDR_MODEL_EC_MDS || p->scheme == SDR_MODEL_EC_XOR;
	int ret;

	if (!sdr_model_scheme_name(p->scheme))
		return sdr_model_refuse(err, "scheme", "there is no scheme %d", (int)p->scheme);
	if (!(p->bandwidth_bps > 0))
		return sdr_model_refuse(err, "bandwidth_bps",
					"a bandwidth of %g bits per second: it is positive",
					p->bandwidth_bps);
	if (p->bandwidth_bps < 1 / SDR_MODEL_FAR || p->bandwidth_bps > SDR_MODEL_FAR)
		return sdr_model_refuse(err, "bandwidth_bps",
					"a bandwidth of %g bits per second: %g to %g",
					p->bandwidth_bps, 1 / SDR_MODEL_FAR, SDR_MODEL_FAR);
	if (!(p->rtt_s > 0 && p->rtt_s <= SDR_MODEL_FAR))
		return sdr_model_refuse(err, "rtt_s", "a round trip of %g s: it is positive%s",
					p->rtt_s, model_limit(p->rtt_s));
	if (!model_not_negative(p->rto_rtts))
		return sdr_model_refuse(
			err, "rto_rtts",
			"a timeout of %g RTTs: it is positive, or 0 for the default%s", p->rto_rtts,
			model_limit(p->rto_rtts));
	if (ec && !model_not_negative(p->beta))
		return sdr_model_refuse(err, "beta", "a beta of %g RTTs: 0 or more%s", p->beta,
					model_limit(p->beta));
	if (!(p->p_packet >= 0 && p->p_packet < 1))
		return sdr_model_refuse(err, "p_packet", "a loss of %g: 0 <= p < 1", p->p_packet);
	if (!p->msg_bytes || p->msg_bytes > SDR_MODEL_BYTES_MAX)
		return sdr_model_refuse(err, "msg_bytes",
					"a message of %" PRIu64 " bytes: 1 to 2^63", p->msg_bytes);
	if (!p->mtu_bytes)
		return sdr_model_refuse(err, "mtu_bytes", "packets of 0 bytes: at least 1");
	if (!p->chunk_bytes)
		return sdr_model_refuse(err, "chunk_bytes", "chunks of 0 bytes: at least 1");
	if (p->flags & ~SDR_MODEL_F_ALL)
		return sdr_model_refuse(err, "flags", "unknown flags 0x%x",
					p->flags & ~SDR_MODEL_F_ALL);
	ret = ec || p->scheme == SDR_MODEL_HYBRID ? model_check_code(p, err) : 0;
	if (!ret && p->scheme == SDR_MODEL_HYBRID)
		ret = model_check_hybrid(p, err);
	return ret;
}
