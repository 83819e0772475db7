/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_perf --sdk prints: a table for people, CSV and JSON for programs.
 *
 * CSV and JSON have the same names; what was not run is empty, or left out.  JSON is printed when
 * all is done, so that what is printed is whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sdk.h"
#include "sdr_perf.h"

static struct sdk_row rows[SDK_POINTS_MAX];
static unsigned int nrows;

static double seconds(const struct sdk_row *row)
{
	return (double)row->ns / 1e9;
}

static double lost(const struct sdk_row *row)
{
	return row->packets ? (double)(row->packets - row->r.packets) / (double)row->packets : 0;
}

static void table_begin(const struct perf_opt *opt)
{
	printf("# sdr_perf --sdk%s%s%s; medians of %u\n",
	       opt->sdk.loopback ? ", both sides in this process" : "",
	       opt->sdk.plain ? ", beside plain writes of the same engine" : "",
	       opt->plan.flags & PERF_F_VERIFY ? ", every byte verified" : "", opt->sdk.rounds);
	printf("%10s %6s %9s %4s %4s %4s %10s %10s %8s %8s %10s %9s %9s", "bytes", "packet",
	       "chunk", "chan", "work", "fly", "messages", "MB/s", "Gbit/s", "Mpps", "chunks/s",
	       "repost ns", "lost");
	printf(opt->sdk.plain ? " %10s %6s\n" : "%s%s\n", opt->sdk.plain ? "plain MB/s" : "",
	       opt->sdk.plain ? "ratio" : "");
}

static void table_row(const struct sdk_row *row)
{
	const struct sdk_point *at = &row->at;

	printf("%10" PRIu64 " %6u %9u %4u %4u %4u %10" PRIu64 " %10.2f %8.3f %8.4f %10.0f %9" PRIu64
	       " %9.2e",
	       at->size, at->mtu, at->chunk, at->channels, at->workers, at->in_flight,
	       row->messages, row->rate / 1e6, row->rate * 8 / 1e9,
	       (double)row->r.packets / seconds(row) / 1e6, (double)row->r.chunks / seconds(row),
	       row->r.repost_ns, lost(row));
	if (row->plain > 0)
		printf(" %10.2f %6.3f", row->plain / 1e6, row->rate / row->plain);
	putchar('\n');
}

static void csv_begin(void)
{
	printf("engine,peer_engine,verified,bytes,packet_bytes,chunk_bytes,channels,workers,in_flight,messages,seconds,"
	       "bw_avg_MBps,bw_avg_Gbps,msg_rate_Mpps,packet_rate_Mpps,packets,packets_lost,loss,packets_late,"
	       "packets_dup,messages_incomplete,chunks,chunk_rate_Mps,repost_ns,cpu_s,peer_cpu_s,plain_MBps,ratio\n");
}

static void csv_row(const struct perf_opt *opt, const struct sdk_row *row)
{
	const struct sdk_point *at = &row->at;
	const struct sdk_result *r = &row->r;

	printf("%s,%s,%d,%" PRIu64 ",%u,%u,%u,%u,%u,%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f",
	       row->engine, row->peer_engine, !!(opt->plan.flags & PERF_F_VERIFY), at->size,
	       at->mtu, at->chunk, at->channels, at->workers, at->in_flight, row->messages,
	       seconds(row), row->rate / 1e6, row->rate * 8 / 1e9,
	       (double)r->messages / seconds(row) / 1e6, (double)r->packets / seconds(row) / 1e6);
	printf(",%" PRIu64 ",%" PRIu64 ",%.9g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
	       ",%.6f,%" PRIu64 ",%.6f,%.6f",
	       row->packets, row->packets - r->packets, lost(row), r->late, r->dups, r->incomplete,
	       r->chunks, (double)r->chunks / seconds(row) / 1e6, row->r.repost_ns,
	       (double)row->cpu_ns / 1e9, (double)r->cpu_ns / 1e9);
	if (row->plain > 0)
		printf(",%.6f,%.4f\n", row->plain / 1e6, row->rate / row->plain);
	else
		printf(",,\n");
}

static void json_row(const struct sdk_row *row)
{
	const struct sdk_point *at = &row->at;
	const struct sdk_result *r = &row->r;

	printf("{\"engine\":\"%s\",\"peer_engine\":\"%s\",\"bytes\":%" PRIu64
	       ",\"packet_bytes\":%u,\"chunk_bytes\":%u,\"channels\":%u,\"workers\":%u,"
	       "\"in_flight\":%u,\"messages\":%" PRIu64 ",\"seconds\":%.6f",
	       row->engine, row->peer_engine, at->size, at->mtu, at->chunk, at->channels,
	       at->workers, at->in_flight, row->messages, seconds(row));
	printf(",\"bw_avg_MBps\":%.6f,\"bw_avg_Gbps\":%.6f,\"msg_rate_Mpps\":%.6f,"
	       "\"packet_rate_Mpps\":%.6f,\"packets\":%" PRIu64 ",\"packets_lost\":%" PRIu64
	       ",\"loss\":%.9g,\"packets_late\":%" PRIu64 ",\"packets_dup\":%" PRIu64,
	       row->rate / 1e6, row->rate * 8 / 1e9, (double)r->messages / seconds(row) / 1e6,
	       (double)r->packets / seconds(row) / 1e6, row->packets, row->packets - r->packets,
	       lost(row), r->late, r->dups);
	printf(",\"messages_incomplete\":%" PRIu64 ",\"chunks\":%" PRIu64
	       ",\"chunk_rate_Mps\":%.6f,\"repost_ns\":%" PRIu64
	       ",\"cpu_s\":%.6f,\"peer_cpu_s\":%.6f",
	       r->incomplete, r->chunks, (double)r->chunks / seconds(row) / 1e6, row->r.repost_ns,
	       (double)row->cpu_ns / 1e9, (double)r->cpu_ns / 1e9);
	if (row->plain > 0)
		printf(",\"plain_MBps\":%.6f,\"ratio\":%.4f", row->plain / 1e6,
		       row->rate / row->plain);
	putchar('}');
}

void sdk_out_begin(const struct perf_opt *opt)
{
	if (opt->format == PERF_TABLE)
		table_begin(opt);
	else if (opt->format == PERF_CSV)
		csv_begin();
	fflush(stdout);
}

void sdk_out_row(const struct perf_opt *opt, const struct sdk_row *row)
{
	perf_out_clear();
	if (opt->format == PERF_TABLE)
		table_row(row);
	else if (opt->format == PERF_CSV)
		csv_row(opt, row);
	else if (nrows < SDK_POINTS_MAX)
		rows[nrows++] = *row;
	fflush(stdout);
}

void sdk_out_end(const struct perf_opt *opt)
{
	unsigned int i;

	if (opt->format == PERF_JSON) {
		printf("{\"op\":\"sdk\",\"verified\":%s,\"loopback\":%s,\"rounds\":%u,\"results\":[",
		       opt->plan.flags & PERF_F_VERIFY ? "true" : "false",
		       opt->sdk.loopback ? "true" : "false", opt->sdk.rounds);
		for (i = 0; i < nrows; i++) {
			printf(i ? ",\n" : "\n");
			json_row(&rows[i]);
		}
		printf("]}\n");
	}
	if (fflush(stdout) || ferror(stdout))
		perf_die("the result could not be written");
}
