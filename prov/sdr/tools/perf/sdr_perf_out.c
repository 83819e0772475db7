/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a client prints: a table for people, CSV and JSON for programs, and while a size runs for
 * more than two seconds a progress line on stderr, if that is a terminal.
 *
 * CSV and JSON have the same names, whatever is run; what does not apply is empty, or left out.
 * JSON is printed when all is done, so that what is printed is whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdr_perf.h"

#define ROWS_MAX      32u /* sizes of a run: powers of two */
#define PROGRESS_FROM (2 * PERF_SEC)

static struct perf_result rows[ROWS_MAX];
static unsigned int nrows;
static struct perf_end near_end, far_end;
static bool shown; /* a progress line is on the screen */

static bool is_lat(const struct perf_opt *opt)
{
	return opt->plan.op == PERF_LAT;
}

static void end_show(const struct perf_end *end)
{
	printf("engine %s, domain %s", end->engine, end->domain);
	if (strcmp(end->memory, "host") != 0)
		printf(", memory %s", end->memory);
}

static void table_begin(const struct perf_opt *opt)
{
	printf("# sdr_perf %s%s: ", perf_op_name[opt->plan.op],
	       opt->plan.flags & PERF_F_BIDIR ? ", both ways" : "");
	end_show(&near_end);
	printf(", to ");
	end_show(&far_end);
	printf("; %u in flight%s\n", opt->plan.in_flight,
	       opt->plan.flags & PERF_F_VERIFY ? ", every byte verified" : "");
	if (is_lat(opt))
		printf("%10s %12s %11s %11s %11s %11s %10s\n", "bytes", "round trips", "min us",
		       "median us", "p99 us", "max us", "sent again");
	else
		printf("%10s %12s %11s %11s %11s %11s %10s\n", "bytes", "iterations", "peak MB/s",
		       "avg MB/s", "Gbit/s", "Mpps", "sent again");
}

static void table_row(const struct perf_opt *opt, const struct perf_result *r)
{
	printf("%10" PRIu64 " %12" PRIu64, r->size, r->iters);
	if (is_lat(opt))
		printf(" %11.2f %11.2f %11.2f %11.2f", r->lat_min, r->lat_p50, r->lat_p99,
		       r->lat_max);
	else
		printf(" %11.2f %11.2f %11.4f %11.6f", r->peak / 1e6, r->rate / 1e6,
		       r->rate * 8 / 1e9, r->msgs / 1e6);
	printf(" %10" PRIu64 "\n", r->rtx + r->rec_rtx);
}

static void csv_begin(void)
{
	printf("op,engine,domain,peer_engine,peer_domain,bidirectional,verified,in_flight,bytes,iterations,seconds,"
	       "bw_peak_MBps,bw_avg_MBps,bw_avg_Gbps,msg_rate_Mpps,lat_min_us,lat_median_us,lat_p99_us,lat_max_us,"
	       "packets,packets_retransmitted,records_retransmitted,srtt_us,cpu_s,peer_cpu_s,memory,peer_memory\n");
}

static void csv_row(const struct perf_opt *opt, const struct perf_result *r)
{
	printf("%s,%s,%s,%s,%s,%d,%d,%u,%" PRIu64 ",%" PRIu64 ",%.6f", perf_op_name[opt->plan.op],
	       near_end.engine, near_end.domain, far_end.engine, far_end.domain,
	       !!(opt->plan.flags & PERF_F_BIDIR), !!(opt->plan.flags & PERF_F_VERIFY),
	       opt->plan.in_flight, r->size, r->iters, (double)r->ns / 1e9);
	if (is_lat(opt))
		printf(",,,,,%.3f,%.3f,%.3f,%.3f", r->lat_min, r->lat_p50, r->lat_p99, r->lat_max);
	else
		printf(",%.6f,%.6f,%.6f,%.6f,,,,", r->peak / 1e6, r->rate / 1e6, r->rate * 8 / 1e9,
		       r->msgs / 1e6);
	printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%.6f,%.6f,%s,%s\n", r->pkts, r->rtx,
	       r->rec_rtx, (double)r->srtt_ns / 1e3, (double)r->cpu_ns / 1e9,
	       (double)r->peer_cpu_ns / 1e9, near_end.memory, far_end.memory);
}

/* Names of domains come from the system: nothing in them is trusted to be a string of JSON. */
static void json_text(const char *name, const char *text)
{
	printf("\"%s\":\"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar((unsigned char)*text < ' ' ? '?' : *text);
	}
	printf("\",");
}

static void json_end(const struct perf_opt *opt)
{
	const struct perf_result *r;
	unsigned int i;

	putchar('{');
	json_text("op", perf_op_name[opt->plan.op]);
	json_text("engine", near_end.engine);
	json_text("domain", near_end.domain);
	json_text("peer_engine", far_end.engine);
	json_text("peer_domain", far_end.domain);
	json_text("memory", near_end.memory);
	json_text("peer_memory", far_end.memory);
	printf("\"bidirectional\":%s,\"verified\":%s,\"in_flight\":%u,\"results\":[",
	       opt->plan.flags & PERF_F_BIDIR ? "true" : "false",
	       opt->plan.flags & PERF_F_VERIFY ? "true" : "false", opt->plan.in_flight);
	for (i = 0; i < nrows; i++) {
		r = &rows[i];
		printf("%s\n{\"bytes\":%" PRIu64 ",\"iterations\":%" PRIu64 ",\"seconds\":%.6f",
		       i ? "," : "", r->size, r->iters, (double)r->ns / 1e9);
		if (is_lat(opt))
			printf(",\"lat_min_us\":%.3f,\"lat_median_us\":%.3f,\"lat_p99_us\":%.3f,\"lat_max_us\":%."
			       "3f",
			       r->lat_min, r->lat_p50, r->lat_p99, r->lat_max);
		else
			printf(",\"bw_peak_MBps\":%.6f,\"bw_avg_MBps\":%.6f,\"bw_avg_Gbps\":%.6f,"
			       "\"msg_rate_Mpps\":%.6f",
			       r->peak / 1e6, r->rate / 1e6, r->rate * 8 / 1e9, r->msgs / 1e6);
		printf(",\"packets\":%" PRIu64 ",\"packets_retransmitted\":%" PRIu64
		       ",\"records_retransmitted\":%" PRIu64
		       ",\"srtt_us\":%.3f,\"cpu_s\":%.6f,\"peer_cpu_s\":%.6f}",
		       r->pkts, r->rtx, r->rec_rtx, (double)r->srtt_ns / 1e3,
		       (double)r->cpu_ns / 1e9, (double)r->peer_cpu_ns / 1e9);
	}
	printf("]}\n");
}

void perf_out_clear(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = false;
}

void perf_out_begin(const struct perf_opt *opt, const struct perf_end *mine,
		    const struct perf_end *theirs)
{
	near_end = *mine;
	far_end = *theirs;
	if (opt->format == PERF_TABLE)
		table_begin(opt);
	else if (opt->format == PERF_CSV)
		csv_begin();
	fflush(stdout);
}

void perf_out_row(const struct perf_opt *opt, const struct perf_result *r)
{
	perf_out_clear();
	if (opt->format == PERF_TABLE)
		table_row(opt, r);
	else if (opt->format == PERF_CSV)
		csv_row(opt, r);
	else if (nrows < ROWS_MAX)
		rows[nrows++] = *r;
	fflush(stdout);
}

void perf_out_end(const struct perf_opt *opt)
{
	if (opt->format == PERF_JSON)
		json_end(opt);
	if (fflush(stdout) || ferror(stdout))
		perf_die("the result could not be written");
}

void perf_out_progress(const struct perf_opt *opt, uint64_t size, uint64_t ns, uint64_t bytes,
		       double share)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || opt->quiet || ns < PROGRESS_FROM)
		return;
	fprintf(stderr, "\r\033[K%" PRIu64 " bytes: %.0f s, %.0f %%, %.1f MB/s", size,
		(double)ns / 1e9, share * 100, (double)bytes * 1e3 / (double)ns);
	shown = true;
}
