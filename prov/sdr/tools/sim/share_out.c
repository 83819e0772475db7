/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_sim share prints.  CSV and JSON have a row for each run and flow, and one for the whole
 * of a run (flow "all"); the table has means and the worst over the runs.  The columns of a row are
 * one table, so that the formats cannot differ.
 */
#include <math.h>
#include <stdlib.h>

#include "share.h"
#include "tools/common/tool.h"

struct out_row {
	uint32_t run;
	const char *flow;
	double v[32];
};

/* Columns of a row; a flow has no value in those of the whole. */
enum {
	COL_START,
	COL_GOODPUT,
	COL_SHARE,
	COL_TO_SHARE,
	COL_JAIN,
	COL_UTIL,
	COL_DELAY50,
	COL_DELAY95,
	COL_DELAYMAX,
	COL_OFFERED,
	COL_DROPPED,
	COL_DROP,
	COL_DROP_SETTLED,
	COL_LOST,
	COL_MARKED,
	COL_PARITY,
	COL_PARITY_SETTLED,
	COL_RTX,
	COL_MESSAGES,
	COL_TIME_MEAN,
	COL_TIME_P50,
	COL_TIME_P99,
	COL_TIME_MAX,
	COL_CPU,
	COLS
};

static const char *const columns[COLS] = {
	[COL_START] = "start_s",
	[COL_GOODPUT] = "goodput_bps",
	[COL_SHARE] = "share",
	[COL_TO_SHARE] = "to_share_s",
	[COL_JAIN] = "jain",
	[COL_UTIL] = "utilisation",
	[COL_DELAY50] = "delay_p50_s",
	[COL_DELAY95] = "delay_p95_s",
	[COL_DELAYMAX] = "delay_max_s",
	[COL_OFFERED] = "offered_pkts",
	[COL_DROPPED] = "dropped_pkts",
	[COL_DROP] = "drop",
	[COL_DROP_SETTLED] = "drop_settled",
	[COL_LOST] = "lost_pkts",
	[COL_MARKED] = "marked_pkts",
	[COL_PARITY] = "parity",
	[COL_PARITY_SETTLED] = "parity_settled",
	[COL_RTX] = "rtx",
	[COL_MESSAGES] = "messages",
	[COL_TIME_MEAN] = "time_mean_s",
	[COL_TIME_P50] = "time_p50_s",
	[COL_TIME_P99] = "time_p99_s",
	[COL_TIME_MAX] = "time_max_s",
	[COL_CPU] = "cpu_s",
};

static double out_ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void out_flow(const struct share_result *r, uint32_t i, double sum, struct out_row *o)
{
	const struct share_flow_result *f = &r->flow[i];

	o->flow = f->name;
	for (int c = 0; c < COLS; c++)
		o->v[c] = NAN;
	o->v[COL_START] = f->start_s;
	o->v[COL_GOODPUT] = f->goodput_bps;
	o->v[COL_SHARE] = sum > 0 ? f->goodput_bps / sum : 0;
	o->v[COL_TO_SHARE] = f->to_share_s < 0 ? NAN : f->to_share_s;
	o->v[COL_OFFERED] = (double)f->all.offered;
	o->v[COL_DROPPED] = (double)f->all.dropped;
	o->v[COL_DROP] = out_ratio(f->all.dropped, f->all.offered);
	o->v[COL_DROP_SETTLED] = out_ratio(f->settled.dropped, f->settled.offered);
	o->v[COL_LOST] = (double)f->all.lost;
	o->v[COL_MARKED] = (double)f->all.marked;
	o->v[COL_PARITY] = out_ratio(f->all.parity, f->all.data);
	o->v[COL_PARITY_SETTLED] = out_ratio(f->settled.parity, f->settled.data);
	o->v[COL_RTX] = out_ratio(f->all.rtx, f->all.data);
}

static int out_less(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Times of messages that were sent one at a time. */
static void out_times(const struct share_result *r, struct out_row *o)
{
	static float t[SHARE_TIMES_MAX];
	double sum = 0;

	if (!r->times)
		return;
	for (uint32_t i = 0; i < r->times; i++) {
		t[i] = r->time_s[i];
		sum += (double)t[i];
	}
	qsort(t, r->times, sizeof(*t), out_less);
	o->v[COL_MESSAGES] = r->times;
	o->v[COL_TIME_MEAN] = sum / r->times;
	o->v[COL_TIME_P50] = (double)t[(r->times - 1) / 2];
	o->v[COL_TIME_P99] = (double)t[(uint32_t)ceil(r->times * 0.99) - 1];
	o->v[COL_TIME_MAX] = (double)t[r->times - 1];
}

static void out_all(const struct share_result *r, double sum, struct out_row *o)
{
	struct share_count a = { 0 };

	for (uint32_t i = 0; i < r->flows; i++) {
		a.offered += r->flow[i].all.offered;
		a.dropped += r->flow[i].all.dropped;
		a.lost += r->flow[i].all.lost;
		a.marked += r->flow[i].all.marked;
		a.data += r->flow[i].all.data;
		a.parity += r->flow[i].all.parity;
		a.rtx += r->flow[i].all.rtx;
	}
	o->flow = "all";
	for (int c = 0; c < COLS; c++)
		o->v[c] = NAN;
	o->v[COL_GOODPUT] = sum;
	o->v[COL_JAIN] = r->jain;
	o->v[COL_UTIL] = r->utilisation;
	o->v[COL_DELAY50] = r->delay_p50_s;
	o->v[COL_DELAY95] = r->delay_p95_s;
	o->v[COL_DELAYMAX] = r->delay_max_s;
	o->v[COL_OFFERED] = (double)a.offered;
	o->v[COL_DROPPED] = (double)a.dropped;
	o->v[COL_DROP] = r->drop_all;
	o->v[COL_DROP_SETTLED] = r->drop_settled;
	o->v[COL_LOST] = (double)a.lost;
	o->v[COL_MARKED] = (double)a.marked;
	o->v[COL_PARITY] = out_ratio(a.parity, a.data);
	o->v[COL_PARITY_SETTLED] = r->parity_settled;
	o->v[COL_RTX] = out_ratio(a.rtx, a.data);
	o->v[COL_CPU] = r->cpu_s;
	out_times(r, o);
}

static double out_sum(const struct share_result *r)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->flows; i++)
		sum += r->flow[i].goodput_bps;
	return sum;
}

/* Row i of a run: a flow, or behind the last one the whole. */
static void out_row_get(const struct share_result *r, uint32_t run, uint32_t i, struct out_row *o)
{
	double sum = out_sum(r);

	o->run = run;
	if (i < r->flows)
		out_flow(r, i, sum, o);
	else
		out_all(r, sum, o);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void out_csv(const struct share_plan *p, const struct share_result *res)
{
	char text[TOOL_NUMBER];
	struct out_row o;

	printf("run,flow");
	for (int c = 0; c < COLS; c++)
		printf(",%s", columns[c]);
	printf("\n");
	for (uint32_t run = 0; run < p->runs; run++) {
		for (uint32_t i = 0; i <= res[run].flows; i++) {
			out_row_get(&res[run], run, i, &o);
			printf("%u,%s", o.run, o.flow);
			for (int c = 0; c < COLS; c++) {
				text[0] = 0;
				if (!isnan(o.v[c]))
					tool_number(o.v[c], text);
				printf(",%s", text);
			}
			printf("\n");
		}
	}
}

static void out_json(const struct share_plan *p, const struct share_result *res)
{
	const char *sep = "[\n";
	char text[TOOL_NUMBER];
	struct out_row o;

	for (uint32_t run = 0; run < p->runs; run++) {
		for (uint32_t i = 0; i <= res[run].flows; i++) {
			out_row_get(&res[run], run, i, &o);
			printf("%s{\"run\":%u,\"flow\":\"%s\"", sep, o.run, o.flow);
			sep = ",\n";
			for (int c = 0; c < COLS; c++) {
				if (isnan(o.v[c]))
					continue;
				tool_number(o.v[c], text);
				printf(",\"%s\":%s", columns[c], text);
			}
			printf("}");
		}
	}
	printf("\n]\n");
}

/* Of a column over all runs; NAN: no run has it. */
struct out_stat {
	double mean, min, max;
};

static struct out_stat out_over(const struct share_plan *p, const struct share_result *res,
				uint32_t i, int col)
{
	struct out_stat s = { 0, INFINITY, -INFINITY };
	struct out_row o;
	uint32_t n = 0;

	for (uint32_t run = 0; run < p->runs; run++) {
		out_row_get(&res[run], run, i, &o);
		if (isnan(o.v[col]))
			continue;
		s.mean += o.v[col];
		s.min = fmin(s.min, o.v[col]);
		s.max = fmax(s.max, o.v[col]);
		n++;
	}
	if (!n)
		return (struct out_stat){ NAN, NAN, NAN };
	s.mean /= n;
	return s;
}

static void out_table(const struct share_plan *p, const struct share_result *res)
{
	uint32_t flows = res[0].flows;

	printf("%u runs of %g s; line %g Mbit/s, queue %llu bytes (%.3g ms); from %.3g s on, means over the runs\n",
	       p->runs, p->cfg.seconds, p->cfg.rate_bps / 1e6,
	       (unsigned long long)share_queue_bytes(&p->cfg),
	       (double)share_queue_bytes(&p->cfg) * 8e3 / p->cfg.rate_bps, res[0].from_s);
	printf("%-8s %9s %7s %9s %9s %8s %8s %8s %8s\n", "flow", "Mbit/s", "share", "min", "max",
	       "drop %", "all %", "parity %", "to share");
	for (uint32_t i = 0; i < flows; i++) {
		struct out_stat g = out_over(p, res, i, COL_GOODPUT),
				t = out_over(p, res, i, COL_TO_SHARE);

		printf("%-8s %9.2f %6.1f%% %9.2f %9.2f %8.3f %8.3f %8.3f ", res[0].flow[i].name,
		       g.mean / 1e6, out_over(p, res, i, COL_SHARE).mean * 100, g.min / 1e6,
		       g.max / 1e6, out_over(p, res, i, COL_DROP_SETTLED).mean * 100,
		       out_over(p, res, i, COL_DROP).mean * 100,
		       out_over(p, res, i, COL_PARITY_SETTLED).mean * 100);
		if (isnan(t.mean))
			printf("%8s\n", "never");
		else
			printf("%7.2fs\n", t.mean);
	}
	printf("%-14s %10s %10s %10s\n", "", "mean", "min", "max");
	for (int c = 0; c < COLS; c++) {
		struct out_stat s;

		if (c == COL_START || c == COL_SHARE || c == COL_TO_SHARE)
			continue;
		s = out_over(p, res, flows, c);
		if (!isnan(s.mean))
			printf("%-14s %10.5g %10.5g %10.5g\n", columns[c], s.mean, s.min, s.max);
	}
}

void share_out(const struct share_plan *p, const struct share_result *res)
{
	if (p->format == TOOL_CSV)
		out_csv(p, res);
	else if (p->format == TOOL_JSON)
		out_json(p, res);
	else
		out_table(p, res);
}

/* ---- the series ------------------------------------------------------------------------------ */

static void out_tick(void *user, uint32_t flow, const struct share_tick *t)
{
	const struct share_plan *p = user;

	printf(p->format == TOOL_TABLE
		       ? "%9.4f %4u %9.2f %9.2f %8.3f %9.3f %9.1f %9.2f %8.3f %8.3f %8.4f\n"
		       : "%.6f,%u,%.5f,%.5f,%.6f,%.6f,%.3f,%.5f,%.6f,%.6f,%.6f\n",
	       t->t_s, flow, t->rate_bps / 1e6, t->goodput_bps / 1e6, t->drop * 100,
	       t->delay_s * 1e3, t->cwnd_bytes / 1024, t->pacing_bps / 1e6, t->srtt_s * 1e3,
	       t->min_rtt_s * 1e3, t->loss * 100);
}

bool share_out_series(struct share_plan *p, uint64_t seed)
{
	struct share_result *r = tool_alloc(NULL, 1, sizeof(*r));
	bool ok;

	if (p->format == TOOL_TABLE)
		printf("%9s %4s %9s %9s %8s %9s %9s %9s %8s %8s %8s\n", "s", "flow", "Mbit/s",
		       "goodput", "drop %", "queue ms", "cwnd KiB", "pace", "srtt ms", "min ms",
		       "loss %");
	else
		printf("t_s,flow,mbps,goodput_mbps,drop_pct,queue_ms,cwnd_kib,pacing_mbps,srtt_ms,"
		       "min_rtt_ms,loss_pct\n");
	share_run(&p->cfg, seed, r, out_tick, p);
	ok = !r->failed;
	if (!ok)
		tool_warn("%s", r->why);
	else if (p->format == TOOL_TABLE)
		share_out(p, r);
	free(r);
	return ok;
}
