/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is in the cells of a result.
 *
 * A field is printed as it holds for the row, defaults filled in; where the scheme does not look at
 * it, only if the row of a batch named it, so that a batch comes back as it went in.  A result that
 * the scheme does not have is empty.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "model_cell.h"

static const char *const names[OUTS] = {
	[OUT_MEAN] = "mean_s",
	[OUT_P50] = "p50_s",
	[OUT_P99] = "p99_s",
	[OUT_P999] = "p999_s",
	[OUT_IDEAL] = "ideal_s",
	[OUT_T_INJ] = "t_inj_s",
	[OUT_CHUNKS] = "chunks",
	[OUT_P_CHUNK] = "p_chunk",
	[OUT_PARITY] = "parity_chunks",
	[OUT_BASE] = "base_s",
	[OUT_P_EC] = "p_ec",
	[OUT_P_FALLBACK] = "p_fallback",
	[OUT_FAILURES] = "e_failures",
	[OUT_BOUND] = "lower_bound_s",
	[OUT_STEP] = "step_mean_s",
	[OUT_COVER] = "cover",
	[OUT_ROUNDS] = "rounds",
	[OUT_MODEL_MEAN] = "model_mean_s",
	[OUT_MEAN_DIFF] = "mean_diff",
	[OUT_SPEEDUP_MEAN] = "speedup_mean",
	[OUT_SPEEDUP_P999] = "speedup_p999",
	[OUT_SAMPLES] = "samples",
	[OUT_SEED] = "seed",
};

void model_columns(struct columns *c, const struct model_rows *rows, const struct model_opt *opt)
{
	bool drawn = opt->cmd == MODEL_SIMULATE || opt->cmd == MODEL_ALLREDUCE,
	     coll = opt->cmd == MODEL_ALLREDUCE;

	c->n = 0;
	for (int i = 0; i < OUTS; i++) {
		if (i == MODEL_DROP ||
		    (i >= MODEL_CORE && i < MODEL_FIELDS && !(rows->given >> i & 1)))
			continue;
		if (i >= OUT_QUANTILE && i < OUT_IDEAL && i - OUT_QUANTILE >= (int)opt->nquantiles)
			continue;
		if ((i == OUT_MODEL_MEAN || i == OUT_MEAN_DIFF) && opt->cmd != MODEL_SIMULATE)
			continue;
		if ((i == OUT_SAMPLES || i == OUT_SEED) && !drawn)
			continue;
		if ((i == OUT_ROUNDS || i == OUT_SPEEDUP_MEAN || i == OUT_SPEEDUP_P999) && !coll)
			continue;
		c->col[c->n].what = i;
		if (i >= OUT_QUANTILE && i < OUT_IDEAL)
			snprintf(c->col[c->n].name, TOOL_NUMBER, "q%.12g_s",
				 opt->quantile[i - OUT_QUANTILE]);
		else
			snprintf(c->col[c->n].name, TOOL_NUMBER, "%s",
				 i < MODEL_FIELDS ? model_column((enum model_field)i) : names[i]);
		c->n++;
	}
}

enum out_unit model_cell_unit(int what)
{
	switch (what) {
	case MODEL_ID:
	case MODEL_SCHEME:
	case MODEL_UNIT:
	case MODEL_DECODE:
	case MODEL_RESEND:
	case MODEL_OBJECTIVE:
	case MODEL_COLLECTIVE:
		return OUT_TEXT;
	case MODEL_BANDWIDTH:
		return OUT_BPS;
	case MODEL_RTT:
	case MODEL_COMPUTE:
	case OUT_T_INJ:
	case OUT_BASE:
	case OUT_BOUND:
	case OUT_STEP:
	case OUT_MODEL_MEAN:
		return OUT_SECONDS;
	case MODEL_MTU:
	case MODEL_CHUNK:
	case MODEL_SIZE:
	case MODEL_COVER:
		return OUT_BYTES;
	}
	return what >= OUT_MEAN && what <= OUT_IDEAL ? OUT_SECONDS : OUT_PLAIN;
}

static bool cell_is_ec(const struct model_row *r)
{
	return r->point.scheme == SDR_MODEL_EC_MDS || r->point.scheme == SDR_MODEL_EC_XOR;
}

/* A field as it holds for the row.  False: the scheme does not look at it and it was not given. */
static bool cell_field(const struct model_row *r, enum model_field f, bool named, const char **text,
		       double *v)
{
	const struct sdr_model_point *p = &r->point;
	struct sdr_model_point at_one;
	bool hybrid = p->scheme == SDR_MODEL_HYBRID;

	switch (f) {
	case MODEL_ID:
		*text = r->id;
		break;
	case MODEL_SCHEME:
		*text = sdr_model_scheme_name(p->scheme);
		break;
	case MODEL_BANDWIDTH:
		*v = p->bandwidth_bps;
		break;
	case MODEL_RTT:
		*v = p->rtt_s;
		break;
	case MODEL_RTO:
		at_one = *p;
		at_one.rtt_s = 1;
		*v = sdr_model_rto(&at_one); /* in RTTs, to the last digit */
		return named || p->scheme != SDR_MODEL_IDEAL;
	case MODEL_BETA:
		*v = p->beta;
		return named || cell_is_ec(r);
	case MODEL_P:
		*v = p->p_packet;
		break;
	case MODEL_MTU:
		*v = p->mtu_bytes;
		break;
	case MODEL_CHUNK:
		*v = p->chunk_bytes;
		break;
	case MODEL_K:
		*v = hybrid && !p->k ? r->derived.k : p->k;
		return named || cell_is_ec(r) || hybrid;
	case MODEL_M:
		*v = hybrid && !p->k ? r->derived.m : p->m;
		return named || cell_is_ec(r) || hybrid;
	case MODEL_NODES:
		*v = r->nodes;
		return named || r->coll;
	case MODEL_UNIT:
		*text = p->flags & SDR_MODEL_F_PACKETS ? "packet" : "chunk";
		break;
	case MODEL_DECODE:
		*text = p->flags & SDR_MODEL_F_ROWS ? "row" : "chunk";
		return named || cell_is_ec(r);
	case MODEL_RESEND:
		*text = p->flags & SDR_MODEL_F_MISSING ? "missing" : "all";
		return named || cell_is_ec(r);
	case MODEL_BURST:
		*v = p->burst_packets;
		return named || hybrid;
	case MODEL_COVER:
		*v = p->cover_bytes;
		return named || hybrid;
	case MODEL_OBJECTIVE:
		*text = p->objective == SDR_OBJECTIVE_MEAN  ? "mean"
			: p->objective == SDR_OBJECTIVE_P99 ? "p99"
							    : "p999";
		return named || hybrid;
	case MODEL_OVERHEAD:
		*v = p->max_overhead;
		return named || hybrid;
	case MODEL_COLLECTIVE:
		*text = sdr_model_coll_name(r->kind);
		return r->coll;
	case MODEL_COMPUTE:
		*v = r->compute_s;
		return r->coll;
	default:
		return false;
	}
	return true;
}

/* What the model found on the way to a result.  False: there is none. */
static bool cell_derived(const struct model_row *r, int what, double *v)
{
	const struct sdr_model_derived *d = &r->derived;
	bool coded = cell_is_ec(r) || (r->point.scheme == SDR_MODEL_HYBRID && d->k);

	if (r->links && what >= OUT_T_INJ && what < OUT_BOUND)
		return false; /* every link has its own */
	switch (what) {
	case OUT_IDEAL:
		*v = d->ideal_s;
		return true;
	case OUT_T_INJ:
		*v = d->t_inj_s;
		return d->t_inj_s > 0;
	case OUT_CHUNKS:
		*v = (double)d->chunks;
		return d->chunks > 0;
	case OUT_P_CHUNK:
		*v = d->p_chunk;
		return r->point.scheme != SDR_MODEL_IDEAL;
	case OUT_PARITY:
		*v = (double)d->parity_chunks;
		return coded;
	case OUT_BASE:
		*v = d->base_s;
		return coded;
	case OUT_P_EC:
		*v = d->p_ec;
		return coded;
	case OUT_P_FALLBACK:
		*v = d->p_fallback;
		return coded;
	case OUT_FAILURES:
		*v = d->e_failures;
		return coded;
	case OUT_COVER:
		*v = d->cover;
		return r->point.scheme == SDR_MODEL_HYBRID;
	}
	return false;
}

/* A result.  False: there is none. */
static bool cell_result(const struct model_row *r, int what, const struct model_opt *opt, double *v)
{
	if (what >= OUT_QUANTILE && what < OUT_IDEAL) {
		*v = r->quantile[what - OUT_QUANTILE];
		return true;
	}
	switch (what) {
	case OUT_MEAN:
		*v = r->times.mean_s;
		return true;
	case OUT_P50:
		*v = r->times.p50_s;
		return true;
	case OUT_P99:
		*v = r->times.p99_s;
		return true;
	case OUT_P999:
		*v = r->times.p999_s;
		return true;
	case OUT_BOUND:
		*v = r->bound_s;
		return r->coll;
	case OUT_STEP:
		*v = r->step_s;
		return r->coll;
	case OUT_ROUNDS:
		*v = r->rounds;
		return r->coll;
	case OUT_MODEL_MEAN:
		*v = r->model_mean_s;
		return !r->coll;
	case OUT_MEAN_DIFF:
		*v = r->times.mean_s / r->model_mean_s - 1;
		return !r->coll;
	case OUT_SPEEDUP_MEAN:
		*v = r->speedup_mean;
		return r->compared;
	case OUT_SPEEDUP_P999:
		*v = r->speedup_p999;
		return r->compared;
	case OUT_SAMPLES:
		*v = (double)opt->samples;
		return r->sampled;
	case OUT_SEED:
		*v = (double)opt->seed;
		return r->sampled;
	}
	return cell_derived(r, what, v);
}

const char *model_cell(const struct model_rows *rows, const struct model_opt *opt,
		       const struct model_row *r, int what, bool human)
{
	static char buf[sizeof("allreduce_") + TOOL_NUMBER];
	const char *text = NULL;
	double v = 0;
	bool there, named = rows->file && what < MODEL_FIELDS && (r->given >> what & 1);

	if (what == MODEL_SIZE || what == OUT_CHUNKS || what == OUT_PARITY || what == OUT_SEED) {
		uint64_t u = what == MODEL_SIZE	  ? r->point.msg_bytes
			     : what == OUT_CHUNKS ? r->derived.chunks
			     : what == OUT_PARITY ? r->derived.parity_chunks
						  : opt->seed;

		there = what == MODEL_SIZE || cell_result(r, what, opt, &v);
		if (human && what == MODEL_SIZE)
			tool_human_bytes(u, buf);
		else
			snprintf(buf, sizeof(buf), "%" PRIu64, u);
		return there ? buf : "";
	}
	there = what < MODEL_FIELDS ? cell_field(r, (enum model_field)what, named, &text, &v)
				    : cell_result(r, what, opt, &v);
	if (!there)
		return "";
	if (text && what == MODEL_SCHEME && r->coll) {
		snprintf(buf, sizeof(buf), "allreduce_%s", text);
		return buf;
	}
	if (text)
		return text;
	if (!isfinite(v))
		return "";
	if (!human)
		tool_number(v, buf);
	else if (model_cell_unit(what) == OUT_SECONDS)
		tool_human_s(v, buf);
	else if (model_cell_unit(what) == OUT_BYTES)
		tool_human_bytes((uint64_t)v, buf);
	else if (model_cell_unit(what) == OUT_BPS)
		tool_human_bps(v, buf);
	else
		snprintf(buf, sizeof(buf), v == floor(v) && v < 1e15 ? "%.0f" : "%.5g", v);
	return buf;
}
