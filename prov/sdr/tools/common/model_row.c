/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A row: one question, field by field.
 *
 * Fields come as texts, from the command line or from the cells of a batch, and are read here and
 * nowhere else, so both know the same numbers and names.  What makes no sense by itself is refused
 * when it is set, what makes none together (k + m, a collective of one node) by model_row_check,
 * on which the model decides.  A refusal names the field as the batch does;
 * model_row_bad adds where it is.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "model_row.h"

#define COLL_PREFIX "allreduce_"
#define NODES_MAX   1024u

enum kind { TEXT, WORD, REAL, WHOLE, BYTES };

static const struct {
	const char *column; /* of a batch */
	const char *flag;   /* of the command line: the option's name in the tables of both tools */
	enum kind kind;
} fields[MODEL_FIELDS] = {
	[MODEL_ID] = { "id", "id", TEXT },
	[MODEL_SCHEME] = { "scheme", "--scheme", WORD },
	[MODEL_BANDWIDTH] = { "bandwidth_bps", "--bandwidth", REAL },
	[MODEL_RTT] = { "rtt_s", "--rtt", REAL },
	[MODEL_RTO] = { "rto_rtts", "--rto-rtts", REAL },
	[MODEL_BETA] = { "beta", "--beta", REAL },
	[MODEL_P] = { "p_packet", "--drop-packet", REAL },
	[MODEL_MTU] = { "mtu_bytes", "--mtu", BYTES },
	[MODEL_CHUNK] = { "chunk_bytes", "--chunk", BYTES },
	[MODEL_SIZE] = { "msg_bytes", "--size", BYTES },
	[MODEL_K] = { "k", "--k", WHOLE },
	[MODEL_M] = { "m", "--m", WHOLE },
	[MODEL_NODES] = { "n_dc", "--nodes", WHOLE },
	[MODEL_UNIT] = { "unit", "--unit", WORD },
	[MODEL_DECODE] = { "decode", "--decode", WORD },
	[MODEL_RESEND] = { "resend", "--resend", WORD },
	[MODEL_BURST] = { "burst_packets", "--burst", REAL },
	[MODEL_COVER] = { "cover_bytes", "--cover", BYTES },
	[MODEL_OBJECTIVE] = { "objective", "--objective", WORD },
	[MODEL_OVERHEAD] = { "max_overhead", "--max-overhead", REAL },
	[MODEL_COLLECTIVE] = { "collective", "--collective", WORD },
	[MODEL_COMPUTE] = { "compute_s", "--compute", REAL },
	[MODEL_DROP] = { "drop", "--drop", REAL },
};

const char *model_column(enum model_field f)
{
	return fields[f].column;
}

const char *model_flag(enum model_field f)
{
	return fields[f].flag;
}

int model_column_find(const char *name)
{
	for (int f = 0; f < MODEL_DROP; f++) {
		if (strcmp(fields[f].column, name) == 0)
			return f;
	}
	return -1;
}

bool model_field_whole(enum model_field f)
{
	return fields[f].kind == WHOLE || fields[f].kind == BYTES;
}

/* Field of a name in struct sdr_model_error, or MODEL_FIELDS. */
static enum model_field row_blamed(const char *name)
{
	int f;

	if (strcmp(name, "drop") == 0)
		return MODEL_DROP;
	if (strcmp(name, "nodes") == 0)
		return MODEL_NODES;
	if (strcmp(name, "buffer_bytes") == 0)
		return MODEL_SIZE;
	if (strcmp(name, "kind") == 0)
		return MODEL_COLLECTIVE;
	f = model_column_find(name);
	return f < 0 ? MODEL_FIELDS : (enum model_field)f;
}

int model_row_refuse(struct model_row *r, enum model_field f, const char *fmt, ...)
{
	va_list ap;

	r->err.field = fields[f].column;
	va_start(ap, fmt);
	vsnprintf(r->err.text, sizeof(r->err.text), fmt, ap);
	va_end(ap);
	r->ret = -EINVAL;
	return -1;
}

void model_row_init(struct model_row *r, bool coll)
{
	memset(r, 0, sizeof(*r));
	sdr_model_point_init(&r->point);
	r->drop = -1;
	r->coll = coll;
	r->nodes = coll ? 4 : 0;
}

static int row_scheme(struct model_row *r, const char *s)
{
	size_t n = strlen(COLL_PREFIX);

	if (strncmp(s, COLL_PREFIX, n) == 0) {
		r->coll = true;
		s += n;
	}
	if (sdr_model_scheme_parse(s, &r->point.scheme))
		return model_row_refuse(
			r, MODEL_SCHEME,
			"there is no scheme \"%.40s\": ideal, sr_rto, sr_nack, ec_mds, ec_xor, hybrid, or "
			"one of them behind " COLL_PREFIX,
			s);
	return 0;
}

static int row_word(struct model_row *r, enum model_field f, const char *s)
{
	static const char *const unit[] = { "chunk", "packet", NULL }, *const decode[] = { "chunk",
											   "row",
											   NULL };
	static const char *const resend[] = { "all", "missing", NULL };
	static const char *const objective[] = { "mean", "p99", "p999", NULL };
	static const struct {
		enum model_field field;
		uint32_t flag;
		const char *const *words;
		const char *shown;
	} list[] = {
		{ MODEL_UNIT, SDR_MODEL_F_PACKETS, unit, "chunk, packet" },
		{ MODEL_DECODE, SDR_MODEL_F_ROWS, decode, "chunk, row" },
		{ MODEL_RESEND, SDR_MODEL_F_MISSING, resend, "all, missing" },
		{ MODEL_OBJECTIVE, 0, objective, "mean, p99, p999" },
	};
	int w;

	if (f == MODEL_SCHEME)
		return row_scheme(r, s);
	if (f == MODEL_COLLECTIVE) {
		for (w = 0; w < SDR_MODEL_COLLECTIVES; w++) {
			if (strcmp(s, sdr_model_coll_name((enum sdr_model_collective)w)) == 0) {
				r->kind = (enum sdr_model_collective)w;
				return 0;
			}
		}
		return model_row_refuse(
			r, f, "\"%.40s\" is none of ring, tree, reduce_scatter, allgather", s);
	}
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (list[i].field != f)
			continue;
		w = tool_word(s, list[i].words);
		if (w < 0)
			return model_row_refuse(r, f, "\"%.40s\" is none of %s", s, list[i].shown);
		if (f == MODEL_OBJECTIVE)
			r->point.objective = (enum sdr_objective)w;
		else
			r->point.flags = (r->point.flags & ~list[i].flag) | (w ? list[i].flag : 0);
	}
	return 0;
}

static void row_real(struct model_row *r, enum model_field f, double v)
{
	struct sdr_model_point *p = &r->point;

	switch (f) {
	case MODEL_BANDWIDTH:
		p->bandwidth_bps = v;
		break;
	case MODEL_RTT:
		p->rtt_s = v;
		break;
	case MODEL_RTO:
		p->rto_rtts = v;
		break;
	case MODEL_BETA:
		p->beta = v;
		break;
	case MODEL_P:
		p->p_packet = v;
		r->drop = -1;
		break;
	case MODEL_BURST:
		p->burst_packets = v;
		break;
	case MODEL_OVERHEAD:
		p->max_overhead = v;
		break;
	case MODEL_COMPUTE:
		r->compute_s = v;
		break;
	case MODEL_DROP:
		r->drop = v;
		break;
	default:
		break;
	}
}

static void row_whole(struct model_row *r, enum model_field f, uint64_t v)
{
	struct sdr_model_point *p = &r->point;

	switch (f) {
	case MODEL_MTU:
		p->mtu_bytes = (uint32_t)v;
		break;
	case MODEL_CHUNK:
		p->chunk_bytes = (uint32_t)v;
		break;
	case MODEL_SIZE:
		p->msg_bytes = v;
		break;
	case MODEL_K:
		p->k = (uint32_t)v;
		break;
	case MODEL_M:
		p->m = (uint32_t)v;
		break;
	case MODEL_NODES:
		r->nodes = (uint32_t)v;
		break;
	case MODEL_COVER:
		p->cover_bytes = (double)v;
		break;
	default:
		break;
	}
}

int model_row_set(struct model_row *r, enum model_field f, const char *text)
{
	bool big = f == MODEL_SIZE || f == MODEL_COVER;
	uint64_t u;
	double v;
	char *end;

	r->given |= 1u << f;
	switch (fields[f].kind) {
	case TEXT:
		free(r->id);
		r->id = strdup(text);
		if (!r->id)
			tool_die("no memory for a row");
		return 0;
	case WORD:
		return row_word(r, f, text);
	case REAL:
		if (tool_real(text, &v))
			return model_row_refuse(r, f, "\"%.40s\" is no number", text);
		if (v < 0)
			return model_row_refuse(r, f, "%.40s is negative", text);
		row_real(r, f, v);
		return 0;
	case WHOLE:
	case BYTES:
		if (strtod(text, &end) >= 0x1p64 && end != text)
			return model_row_refuse(r, f, "%.40s is above %s", text,
						big ? "2^63" : "2^32 - 1");
		if (tool_whole(text, fields[f].kind == BYTES, &u))
			return model_row_refuse(
				r, f, "\"%.40s\" is no whole number from 0 on%s", text,
				fields[f].kind == BYTES ? " (K, M, G, T may be behind it)" : "");
		if (u > (big ? SDR_MODEL_BYTES_MAX : UINT32_MAX))
			return model_row_refuse(r, f, "%.40s is above %s", text,
						big ? "2^63" : "2^32 - 1");
		row_whole(r, f, u);
		return 0;
	}
	return 0;
}

static bool row_given(const struct model_row *r, enum model_field f)
{
	return r->given >> f & 1;
}

int model_row_check(struct model_row *r)
{
	struct sdr_model_point *p = &r->point;

	if (p->scheme == SDR_MODEL_HYBRID && !row_given(r, MODEL_K) && !row_given(r, MODEL_M))
		p->k = p->m = 0; /* the model chooses */
	if (r->drop >= 0) {
		if (!(r->drop < 1))
			return model_row_refuse(r, MODEL_DROP, "a loss of %g: 0 <= p < 1", r->drop);
		if (p->chunk_bytes && p->mtu_bytes)
			p->p_packet = sdr_model_p_packet(r->drop,
							 p->chunk_bytes / p->mtu_bytes +
								 !!(p->chunk_bytes % p->mtu_bytes));
	}
	r->ret = sdr_model_point_check(p, &r->err);
	if (r->ret)
		return -1;
	if (!r->coll)
		return 0;
	if (r->nodes < 2 || r->nodes > NODES_MAX)
		return model_row_refuse(r, MODEL_NODES, "a collective of %u nodes: 2 to %u",
					r->nodes, NODES_MAX);
	return 0;
}

void model_row_bad(const struct model_row *r, const char *file,
		   const char *const text[MODEL_FIELDS], bool several)
{
	enum model_field f = row_blamed(r->err.field);
	char where[64] = "";

	if (r->ret != -EINVAL)
		tool_die("%s", strerror(-r->ret));
	if (file)
		tool_bad("%s: line %zu, id \"%.64s\": %s: %s", file, r->line, r->id ? r->id : "",
			 r->err.field, r->err.text);
	if (several)
		snprintf(where, sizeof(where), "row %s: ", r->id ? r->id : "?");
	if (f == MODEL_P && text[MODEL_DROP])
		f = MODEL_DROP;
	if (f == MODEL_FIELDS)
		tool_bad("%s%s: %s", where, r->err.field, r->err.text);
	tool_bad("%s%s (%s): %s", where, model_flag(f), r->err.field, r->err.text);
}
