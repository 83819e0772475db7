/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_sim prints: CSV and JSON with the columns of sdr_model and the simulation's own behind
 * them, and a table for people.
 *
 * Inputs come first, as they were taken; a cell is empty (in JSON: not there) where the scheme has
 * no such thing.  The last two columns tell how fast the simulation was and are the only ones that
 * another run does not repeat.
 */
#include <inttypes.h>
#include <string.h>

#include "fec/sdr_code.h"
#include "sim.h"

enum {
	OUT_MEAN = MODEL_FIELDS,
	OUT_P50,
	OUT_P99,
	OUT_P999,
	OUT_IDEAL,
	OUT_RUNS,
	OUT_MIN,
	OUT_MAX,
	OUT_PACKETS,
	OUT_PARITY,
	OUT_RTX,
	OUT_OVERHEAD,
	OUT_GOODPUT,
	OUT_SPEED,
	OUT_RSS,
	OUTS
};

static const char *const names[OUTS] = {
	[OUT_MEAN] = "mean_s",	       [OUT_P50] = "p50_s",	   [OUT_P99] = "p99_s",
	[OUT_P999] = "p999_s",	       [OUT_IDEAL] = "ideal_s",	   [OUT_RUNS] = "runs",
	[OUT_MIN] = "min_s",	       [OUT_MAX] = "max_s",	   [OUT_PACKETS] = "packets",
	[OUT_PARITY] = "parity_pkts",  [OUT_RTX] = "rtx_pkts",	   [OUT_OVERHEAD] = "overhead",
	[OUT_GOODPUT] = "goodput_bps", [OUT_SPEED] = "mpkt_per_s", [OUT_RSS] = "rss_kib",
};

#define OUT_BIG 64u /* room for a scheme's name */

static const char *out_name(int what)
{
	if (what < MODEL_FIELDS)
		return model_column((enum model_field)what);
	/* cppcheck-suppress arrayIndexOutOfBoundsCond ; what < OUTS, as for every column */
	return names[what];
}

static bool out_shown(const struct sim_cells *cells, int what)
{
	if (what >= MODEL_FIELDS || what < MODEL_CORE)
		return true;
	for (uint32_t i = 0; what != MODEL_DROP && i < cells->n; i++)
		if (cells->cell[i].row.given >> what & 1)
			return true;
	return false;
}

/* True: *v; false: the text, which is empty when there is no such thing. */
static bool out_field(const struct sim_cell *c, enum model_field f, double *v, char text[OUT_BIG])
{
	const struct sdr_model_point *p = &c->row.point;
	struct sdr_model_point at_one;
	bool ec = c->scheme.code != SDR_CODE_NONE, named = c->row.given >> f & 1;

	text[0] = 0;
	switch (f) {
	case MODEL_SCHEME:
		snprintf(text, OUT_BIG, "%s%s", c->mode == SIM_ALLREDUCE ? SIM_PREFIX : "",
			 c->scheme.name);
		return false;
	case MODEL_BANDWIDTH:
		*v = p->bandwidth_bps;
		return true;
	case MODEL_RTT:
		*v = p->rtt_s;
		return true;
	case MODEL_RTO:
		at_one = *p;
		at_one.rtt_s = 1;
		*v = sdr_model_rto(&at_one); /* in RTTs, to the last digit */
		return named || !c->scheme.lossless;
	case MODEL_BETA:
		*v = p->beta;
		return named || ec;
	case MODEL_P:
		*v = p->p_packet;
		return true;
	case MODEL_MTU:
		*v = p->mtu_bytes;
		return true;
	case MODEL_CHUNK:
		*v = p->chunk_bytes;
		return true;
	case MODEL_K:
		*v = p->k;
		return named || ec;
	case MODEL_M:
		*v = p->m;
		return named || ec;
	case MODEL_NODES:
		*v = c->row.nodes;
		return named || c->mode == SIM_ALLREDUCE;
	case MODEL_BURST:
		*v = p->burst_packets;
		return true;
	case MODEL_OVERHEAD:
		*v = p->max_overhead;
		return true;
	case MODEL_COVER:
		*v = p->cover_bytes;
		return named;
	case MODEL_COMPUTE:
		*v = c->row.compute_s;
		return named;
	case MODEL_UNIT:
		snprintf(text, OUT_BIG, "%s", p->flags & SDR_MODEL_F_PACKETS ? "packet" : "chunk");
		return false;
	case MODEL_RESEND:
		snprintf(text, OUT_BIG, "%s", p->flags & SDR_MODEL_F_MISSING ? "missing" : "all");
		return false;
	case MODEL_DECODE:
		snprintf(text, OUT_BIG, "%s", sim_cell_chunk_decode(c) ? "chunk" : "row");
		return false;
	case MODEL_OBJECTIVE:
		snprintf(text, OUT_BIG, "%s",
			 p->objective == SDR_OBJECTIVE_MEAN  ? "mean"
			 : p->objective == SDR_OBJECTIVE_P99 ? "p99"
							     : "p999");
		return false;
	default:
		return false;
	}
}

static double out_result(const struct sim_result *r, int what)
{
	switch (what) {
	case OUT_MEAN:
		return r->times.mean_s;
	case OUT_P50:
		return r->times.p50_s;
	case OUT_P99:
		return r->times.p99_s;
	case OUT_P999:
		return r->times.p999_s;
	case OUT_IDEAL:
		return r->ideal_s;
	case OUT_RUNS:
		return r->runs;
	case OUT_MIN:
		return r->min_s;
	case OUT_MAX:
		return r->max_s;
	case OUT_PACKETS:
		return (double)r->packets;
	case OUT_PARITY:
		return (double)r->parity;
	case OUT_RTX:
		return (double)r->rtx;
	case OUT_OVERHEAD:
		return r->overhead;
	case OUT_GOODPUT:
		return r->goodput_bps;
	case OUT_SPEED:
		return r->mpkt_per_s;
	default:
		return (double)r->rss_kib;
	}
}

static void out_cell(const struct sim_cell *c, const struct sim_result *r, int what, bool json,
		     bool *first)
{
	char text[OUT_BIG], number[TOOL_NUMBER];
	const char *s = text;
	bool is_number = true;
	double v = 0;

	if (what == MODEL_ID) {
		s = c->row.id;
		is_number = false;
	} else if (what == MODEL_SIZE) {
		snprintf(number, sizeof(number), "%" PRIu64, c->row.point.msg_bytes);
		s = number;
	} else if (what >= MODEL_FIELDS || out_field(c, (enum model_field)what, &v, text)) {
		if (what >= MODEL_FIELDS)
			v = out_result(r, what);
		tool_number(v, number);
		s = number;
	} else {
		is_number = false;
	}
	if (!json) {
		printf("%s", *first ? "" : ",");
		tool_csv_text(stdout, s);
		*first = false;
	} else if (*s) {
		printf("%s\"%s\":", *first ? "" : ",", out_name(what));
		if (is_number)
			fputs(s, stdout);
		else
			tool_json_text(stdout, s);
		*first = false;
	}
}

void sim_out_begin(const struct sim_plan *plan, const struct sim_cells *cells)
{
	bool first = true;

	switch (plan->format) {
	case TOOL_TABLE:
		printf("%-4s %-18s %10s %7s %5s %11s %11s %11s %11s %11s %7s %8s %8s %11s %6s\n",
		       "id", "scheme", "size", "loss", "burst", "mean", "p50", "p99", "p99.9",
		       "ideal", "mean/id", "parity%", "rtx%", "goodput", "Mpkt/s");
		break;
	case TOOL_CSV:
		for (int i = 0; i < OUTS; i++) {
			if (!out_shown(cells, i))
				continue;
			printf("%s%s", first ? "" : ",", out_name(i));
			first = false;
		}
		putchar('\n');
		break;
	case TOOL_JSON:
		putchar('[');
		break;
	}
	fflush(stdout);
}

static void out_table(const struct sim_plan *plan, const struct sim_cell *c,
		      const struct sim_result *r)
{
	char t[5][TOOL_NUMBER], size[TOOL_NUMBER], rate[TOOL_NUMBER], name[OUT_BIG];
	double data = (double)sim_cell_packets(c, plan) * r->runs, v;

	tool_human_s(r->times.mean_s, t[0]);
	tool_human_s(r->times.p50_s, t[1]);
	tool_human_s(r->times.p99_s, t[2]);
	tool_human_s(r->times.p999_s, t[3]);
	tool_human_s(r->ideal_s, t[4]);
	tool_human_bytes(c->row.point.msg_bytes, size);
	tool_human_bps(r->goodput_bps, rate);
	(void)out_field(c, MODEL_SCHEME, &v, name);
	printf("%-4s %-18s %10s %7.3g %5.3g %11s %11s %11s %11s %11s %7.4g %8.4g %8.4g %11s %6.2f\n",
	       c->row.id, name, size, c->row.point.p_packet, c->row.point.burst_packets, t[0], t[1],
	       t[2], t[3], t[4], r->times.mean_s / r->ideal_s, 100 * (double)r->parity / data,
	       100 * (double)r->rtx / data, rate, r->mpkt_per_s);
}

void sim_out_row(const struct sim_plan *plan, const struct sim_cells *cells, uint32_t i,
		 const struct sim_result *r, bool first_row)
{
	const struct sim_cell *c = &cells->cell[i];
	bool first = true;

	if (plan->format == TOOL_TABLE) {
		out_table(plan, c, r);
		fflush(stdout);
		return;
	}
	if (plan->format == TOOL_JSON)
		printf("%s\n{", first_row ? "" : ",");
	for (int k = 0; k < OUTS; k++) {
		if (out_shown(cells, k))
			out_cell(c, r, k, plan->format == TOOL_JSON, &first);
	}
	fputs(plan->format == TOOL_JSON ? "}" : "\n", stdout);
	fflush(stdout);
}

void sim_out_end(const struct sim_plan *plan)
{
	if (plan->format == TOOL_JSON)
		printf("\n]\n");
}
