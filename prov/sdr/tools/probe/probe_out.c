/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the drop-rate probe prints: a table for people, CSV and JSON for programs.
 *
 * The columns of the CSV are read by `sdr_model advise --probe`: names and order stay.  A size of
 * which nothing was sent, or whose counts never came, has no line; a round-trip time that was not
 * measured is empty in CSV and left out in JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "probe.h"

static void table(const struct probe_out *o)
{
	const struct probe_row *r;
	unsigned int i;

	printf("# drop rate of UDP packets to %s, %.6g Mbit/s, %.1f s%s; 95 %% confidence\n",
	       o->peer, o->opt->probe.rate / 1e6, o->seconds,
	       o->interrupted ? " (not all was sent)" : "");
	printf("%7s %7s %10s %9s %10s %10s %10s %8s %9s %8s %9s %9s %9s\n", "payload", "wire",
	       "sent", "lost", "loss", "from", "to", "burst", "reordered", "twice", "min ms",
	       "median ms", "Mbit/s");
	for (i = 0; i < o->rows; i++) {
		r = &o->row[i];
		if (!r->known)
			continue;
		printf("%7u %7u %10" PRIu64 " %9" PRIu64 " %10.3e %10.3e %10.3e %8.2f %9" PRIu64
		       " %8" PRIu64,
		       r->payload, r->wire, r->tally.sent, r->tally.sent - r->tally.received,
		       r->loss.loss, r->loss.low, r->loss.high, r->loss.burst, r->tally.reordered,
		       r->tally.duplicates);
		if (r->rtt_min > 0)
			printf(" %9.3f %9.3f", r->rtt_min * 1e3, r->rtt_median * 1e3);
		else
			printf(" %9s %9s", "-", "-");
		printf(" %9.2f\n", r->rate / 1e6);
	}
}

const char probe_columns[] =
	"payload_bytes,wire_bytes,sent,received,lost,loss,loss_low,loss_high,burst_packets,reordered,"
	"duplicates,rtt_min_s,rtt_median_s,rate_bps";

static void csv(const struct probe_out *o)
{
	const struct probe_row *r;
	unsigned int i;

	printf("%s\n", probe_columns);
	for (i = 0; i < o->rows; i++) {
		r = &o->row[i];
		if (!r->known)
			continue;
		printf("%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g,%.6g,%" PRIu64
		       ",%" PRIu64,
		       r->payload, r->wire, r->tally.sent, r->tally.received,
		       r->tally.sent - r->tally.received, r->loss.loss, r->loss.low, r->loss.high,
		       r->loss.burst, r->tally.reordered, r->tally.duplicates);
		if (r->rtt_min > 0)
			printf(",%.9f,%.9f", r->rtt_min, r->rtt_median);
		else
			printf(",,");
		printf(",%.0f\n", r->rate);
	}
}

static void json(const struct probe_out *o)
{
	const struct probe_row *r;
	const char *comma = "";
	unsigned int i, j;

	printf("{\"peer\":\"%s\",\"port\":%u,\"asked_rate_bps\":%.0f,\"seconds\":%.6f,\"complete\":%s,"
	       "\"dropped_at_server_socket\":%" PRIu64 ",\"results\":[",
	       o->peer, o->opt->port, o->opt->probe.rate, o->seconds,
	       o->interrupted ? "false" : "true", o->overflow);
	for (i = 0; i < o->rows; i++) {
		r = &o->row[i];
		if (!r->known)
			continue;
		printf("%s\n{\"payload_bytes\":%u,\"wire_bytes\":%u,\"sent\":%" PRIu64
		       ",\"received\":%" PRIu64 ",\"lost\":%" PRIu64
		       ",\"loss\":%.9g,\"loss_low\":%.9g,\"loss_high\":%.9g,\"burst_packets\":%.6g,"
		       "\"reordered\":%" PRIu64 ",\"duplicates\":%" PRIu64,
		       comma, r->payload, r->wire, r->tally.sent, r->tally.received,
		       r->tally.sent - r->tally.received, r->loss.loss, r->loss.low, r->loss.high,
		       r->loss.burst, r->tally.reordered, r->tally.duplicates);
		if (r->rtt_min > 0)
			printf(",\"rtt_min_s\":%.9f,\"rtt_median_s\":%.9f", r->rtt_min,
			       r->rtt_median);
		printf(",\"rate_bps\":%.0f,\"longest_burst\":%" PRIu64
		       ",\"bursts_from_2_to_the\":[",
		       r->rate, r->tally.longest);
		for (j = 0; j < PROBE_HIST; j++)
			printf("%s%" PRIu64, j ? "," : "", r->tally.hist[j]);
		printf("]}");
		comma = ",";
	}
	printf("]}\n");
}

void probe_out(const struct probe_out *o)
{
	if (o->opt->format == PERF_TABLE)
		table(o);
	else if (o->opt->format == PERF_CSV)
		csv(o);
	else
		json(o);
	if (fflush(stdout) || ferror(stdout))
		perf_die("the result could not be written; is the disk full, or the reader gone?");
}
