/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The options of sdr_perf: a row each, of which getopt's tables and --help are made.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sdr_perf.h"
#include "sdr_perf_table.h"

const struct perf_option perf_option[] = {
	{ 'p', "port", "PORT", BOTH | ANY,
	  "UDP port of the server, which also needs the next one (default 18516)" },
	{ 'A', "address", "ADDR", SERVER | ANY,
	  "local address to listen on (default: all IPv4 addresses)" },
	{ OPT_LOOP, "loop", NULL, SERVER | ANY, "serve one client after another, for ever" },
	{ OPT_OP, "op", "NAME", CLIENT | RUN,
	  "write, send, tagged, read: bandwidth; lat: latency of messages (default write)" },
	{ 's', "size", "BYTES", CLIENT | RUNS,
	  "bytes of a message, 1 to 1g; suffixes k, m, g (default 64k; lat: 8)" },
	{ 'a', "all", NULL, CLIENT | RUNS, "sizes 2, 4, 8 ... 8m instead of one" },
	{ 'n', "iters", "N", CLIENT | ANY,
	  "messages (probe: packets) of each size (default: as many as fit into --duration)" },
	{ 'D', "duration", "SECONDS", CLIENT | ANY,
	  "seconds for each size, 0.01 to 86400 (default 2)" },
	{ 'Q', "in-flight", "N", CLIENT | RUNS,
	  "operations in flight, 1 to 256 (default 16; lat: 1)" },
	{ 'b', "bidirectional", NULL, CLIENT | RUN,
	  "both sides send; the bandwidth is the sum (not with lat)" },
	{ OPT_VERIFY, "verify", NULL, CLIENT | RUNS, "fill and check every byte (costs time)" },
	{ OPT_WAIT, "wait", "HOW", CLIENT | RUNS,
	  "for completions: poll, sleep, or auto: poll for 20 us, then sleep (default auto)" },
	{ OPT_TIMES, "times", "FILE", CLIENT | RUN,
	  "CSV of every message: when it was posted, and how long it took" },
	{ OPT_MEMORY, "memory", "WHERE", BOTH | RUN,
	  "where this side's buffers lie: host, cuda, cuda:N (N from 0; default host)" },
	{ 'd', "domain", "NAME", BOTH | RUNS,
	  "interface or RDMA device of this side, as fi_info shows it (default: by address)" },
	{ 'e', "engine", "NAME", BOTH | RUNS,
	  "soft, verbs or auto (FI_SDR_ENGINE; default auto); a server's own choice wins" },
	{ 'm', "mtu", "BYTES", BOTH | RUNS,
	  "payload of a packet, 0 for what the path carries (FI_SDR_MTU; default 0)" },
	{ 'c', "chunk", "BYTES", BOTH | RUNS,
	  "bytes of a bit in the chunk bitmap; k, m, g (FI_SDR_CHUNK_SIZE; default 64k)" },
	{ 'C', "channels", "N", BOTH | RUNS,
	  "internal queue pairs of a generation, 1 to 16 (FI_SDR_CHANNELS; default 1)" },
	{ OPT_SDK, "sdk", NULL, BOTH | ANY,
	  "measure the SDK without reliable endpoints: bitmaps polled, nothing sent twice (both sides)" },
	{ OPT_LOOPBACK, "loopback", NULL, CLIENT | SDK,
	  "both sides in this process, over the loopback interface" },
	{ OPT_SWEEP, "sweep", "WHAT", CLIENT | SDK,
	  "WHAT[=LIST]: a row for each size, chunk, mtu, in-flight, channels or workers" },
	{ OPT_WORKERS, "workers", "N", CLIENT | SDK,
	  "receive workers of the server's context, 0: its own thread (default 0)" },
	{ OPT_PLAIN, "plain", NULL, CLIENT | SDK,
	  "also plain writes of the same engine, without the SDK, and the ratio" },
	{ OPT_ROUNDS, "rounds", "N", CLIENT | SDK,
	  "runs of each, in turn, of which the median counts, 1 to 99 (default 1)" },
	{ OPT_PROBE, "probe-loss", NULL, BOTH | ANY,
	  "measure the drop rate of UDP packets instead, with no part of the provider (both sides)" },
	{ OPT_PAYLOAD, "payload", "LIST", CLIENT | PROBE,
	  "UDP payload sizes, 64 to 65000 (default 256,512,1024,1400,2048,4096,8192)" },
	{ OPT_RATE, "rate", "RATE", CLIENT | PROBE | SDK,
	  "bit/s to send at, 1k to 1t; suffixes k, m, g (probe: default 1g)" },
	{ OPT_WHOLE, "no-fragment", NULL, CLIENT | PROBE,
	  "forbid fragments (DF), and leave out what needs them" },
	{ OPT_FLOWS, "flows", "N", CLIENT | PROBE,
	  "source ports that packets leave from in turn, 1 to 16 (default 1)" },
	{ OPT_TRIALS, "trials", "N", CLIENT | PROBE,
	  "repeat it until --append has N trials, up to 100000" },
	{ OPT_EVERY, "every", "TIME", CLIENT | PROBE,
	  "from the beginning of a trial to the next, 1s to 24h; suffixes s, m, h (default 10m)" },
	{ OPT_APPEND, "append", "FILE", CLIENT | PROBE,
	  "CSV of all trials; one that has some already is gone on with" },
	{ OPT_PLOT, "plot", "FILE", CLIENT | PROBE,
	  "also a picture, .svg or .png (needs gnuplot)" },
	{ OPT_FORMAT, "format", "NAME", CLIENT | ANY, "table, csv or json (default table)" },
	{ 'q', "quiet", NULL, BOTH | ANY, "no progress line, no messages of what a server does" },
	{ 'h', "help", NULL, BOTH | ANY, "this text" },
};
_Static_assert(sizeof(perf_option) / sizeof(perf_option[0]) == PERF_OPTIONS, "a row each");

void perf_option_help(void)
{
	char left[48];
	size_t i;

	printf("usage: sdr_perf [options]         server: serves one client\n"
	       "       sdr_perf [options] HOST    client: says what is run, prints the result\n"
	       "Bandwidth and latency of the sdr provider; with --sdk on both sides of the SDK below it, with\n"
	       "--probe-loss the drop rate of UDP packets between them. Options (S: for the server only, C: for the client "
	       "only):\n");
	for (i = 0; i < PERF_OPTIONS; i++) {
		if (perf_option[i].c < 256)
			snprintf(left, sizeof(left), "-%c, --%s %s", perf_option[i].c,
				 perf_option[i].name,
				 perf_option[i].value ? perf_option[i].value : "");
		else
			snprintf(left, sizeof(left), "    --%s %s", perf_option[i].name,
				 perf_option[i].value ? perf_option[i].value : "");
		printf("  %-25s %s %s\n", left,
		       (perf_option[i].who & BOTH) == SERVER   ? "S"
		       : (perf_option[i].who & BOTH) == CLIENT ? "C"
							       : " ",
		       perf_option[i].help);
	}
	printf("MB are 10^6 bytes. Exit status: 0 done, 1 failed, 2 wrong usage.\n");
	exit(PERF_EXIT_OK);
}

size_t perf_option_row(int c)
{
	size_t i;

	for (i = 0; i < PERF_OPTIONS && perf_option[i].c != c; i++)
		;
	return i;
}

const char *perf_shown(int c)
{
	static char text[64];
	size_t i = perf_option_row(c);

	if (i == PERF_OPTIONS)
		return "?";
	if (c < 256)
		snprintf(text, sizeof(text), "-%c (--%s)", c, perf_option[i].name);
	else
		snprintf(text, sizeof(text), "--%s", perf_option[i].name);
	return text;
}
