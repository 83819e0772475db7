/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_perf.
 *
 * One table: what getopt takes, what --help prints, who may give it.  What is run is the client's to say: an
 * option of that kind given to a server is an error, not a silent nothing.  Each error names the option as
 * the user wrote it.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_perf.h"

#define DEFAULT_SIZE	 65536u
#define DEFAULT_SIZE_LAT 8u
#define DEFAULT_DURATION 2.0	 /* s, of a size */
#define DURATION_MAX	 86400.0 /* s */

enum { CLIENT = 1, SERVER = 2, BOTH = 3 };
enum { OPT_OP = 256, OPT_VERIFY, OPT_FORMAT, OPT_LOOP, OPT_WAIT };

static const struct {
	int c; /* the short option's letter, if it is one */
	const char *name, *value;
	int who;
	const char *help;
} table[] = {
	{ 'p', "port", "PORT", BOTH, "UDP port of the server, which also needs the next one (default 18516)" },
	{ 'A', "address", "ADDR", SERVER, "local address to listen on (default: all IPv4 addresses)" },
	{ OPT_LOOP, "loop", NULL, SERVER, "serve one client after another, for ever" },
	{ OPT_OP, "op", "NAME", CLIENT,
	  "write, send, tagged, read: bandwidth; lat: latency of messages (default write)" },
	{ 's', "size", "BYTES", CLIENT, "bytes of a message, 1 to 1g; suffixes k, m, g (default 64k; lat: 8)" },
	{ 'a', "all", NULL, CLIENT, "sizes 2, 4, 8 ... 8m instead of one" },
	{ 'n', "iters", "N", CLIENT, "messages of each size (default: as many as fit into --duration)" },
	{ 'D', "duration", "SECONDS", CLIENT, "seconds for each size, 0.01 to 86400 (default 2)" },
	{ 'Q', "in-flight", "N", CLIENT, "operations in flight, 1 to 256 (default 16; lat: 1)" },
	{ 'b', "bidirectional", NULL, CLIENT, "both sides send; the bandwidth is the sum (not with lat)" },
	{ OPT_VERIFY, "verify", NULL, CLIENT, "fill and check every byte (costs time)" },
	{ OPT_WAIT, "wait", "HOW", CLIENT,
	  "for completions: poll, sleep, or auto: poll for 20 us, then sleep (default auto)" },
	{ 'd', "domain", "NAME", BOTH,
	  "interface or RDMA device of this side, as fi_info shows it (default: by address)" },
	{ 'e', "engine", "NAME", BOTH,
	  "soft, verbs or auto (FI_SDR_ENGINE; default auto); a server's own choice wins" },
	{ 'm', "mtu", "BYTES", BOTH, "payload of a packet, 0 for what the path carries (FI_SDR_MTU; default 0)" },
	{ 'c', "chunk", "BYTES", BOTH,
	  "bytes of a bit in the chunk bitmap; k, m, g (FI_SDR_CHUNK_SIZE; default 64k)" },
	{ 'C', "channels", "N", BOTH,
	  "internal queue pairs of a generation, 1 to 16 (FI_SDR_CHANNELS; default 1)" },
	{ OPT_FORMAT, "format", "NAME", CLIENT, "table, csv or json (default table)" },
	{ 'q', "quiet", NULL, BOTH, "no progress line, no word of what a server does" },
	{ 'h', "help", NULL, BOTH, "this text" },
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

const char *const perf_op_name[PERF_OPS] = { "write", "send", "tagged", "read", "lat" };

static void help(void)
{
	char left[48];
	size_t i;

	printf("usage: sdr_perf [options]         server: serves one client\n"
	       "       sdr_perf [options] HOST    client: says what is run, prints the result\n"
	       "Bandwidth and latency of the sdr provider. Options (S: for the server only, C: for the client "
	       "only):\n");
	for (i = 0; i < OPTIONS; i++) {
		if (table[i].c < 256)
			snprintf(left, sizeof(left), "-%c, --%s %s", table[i].c, table[i].name,
				 table[i].value ? table[i].value : "");
		else
			snprintf(left, sizeof(left), "    --%s %s", table[i].name,
				 table[i].value ? table[i].value : "");
		printf("  %-25s %s %s\n", left,
		       table[i].who == SERVER	? "S"
		       : table[i].who == CLIENT ? "C"
						: " ",
		       table[i].help);
	}
	printf("MB are 10^6 bytes. Exit status: 0 done, 1 failed, 2 wrong usage.\n");
	exit(PERF_EXIT_OK);
}

static const char *shown(int c)
{
	static char text[64];
	size_t i;

	for (i = 0; i < OPTIONS && table[i].c != c; i++)
		;
	if (c < 256)
		snprintf(text, sizeof(text), "-%c (--%s)", c, table[i].name);
	else
		snprintf(text, sizeof(text), "--%s", table[i].name);
	return text;
}

static uint64_t number(int c, const char *s, uint64_t min, uint64_t max)
{
	unsigned long long v;
	unsigned int shift = 0;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || errno)
		perf_usage("%s: \"%s\" is not a number", shown(c), s);
	switch (*end) {
	case 'g':
	case 'G':
		shift = 30;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'k':
	case 'K':
		shift = 10;
		break;
	}
	if (end[shift ? 1 : 0])
		perf_usage("%s: \"%s\" is not a number", shown(c), s);
	if (v > UINT64_MAX >> shift || v << shift < min || v << shift > max)
		perf_usage("%s: %s is out of range (%llu to %llu)", shown(c), s, (unsigned long long)min,
			   (unsigned long long)max);
	return v << shift;
}

static uint64_t seconds(int c, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !isfinite(v) || v < 0.01 || v > DURATION_MAX)
		perf_usage("%s: \"%s\" is not a time from 0.01 to %.0f seconds", shown(c), s, DURATION_MAX);
	return (uint64_t)(v * (double)PERF_SEC);
}

static unsigned int word(int c, const char *s, const char *const *words, unsigned int n, const char *allowed)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strcmp(s, words[i]) == 0)
			return i;
	}
	perf_usage("%s: \"%s\" is not one of %s", shown(c), s, allowed);
}

static void option(struct perf_opt *opt, int c, const char *arg)
{
	static const char *const formats[] = { "table", "csv", "json" };
	static const char *const waits[] = { "auto", "poll", "sleep" };
	static const char *const engines[] = { "soft", "verbs", "auto" };
	struct perf_plan *plan = &opt->plan;

	switch (c) {
	case 'p':
		opt->port = (uint16_t)number(c, arg, 1, 65534);
		break;
	case 'A':
		opt->address = arg;
		break;
	case 'd':
		opt->domain = arg;
		break;
	case OPT_LOOP:
		opt->loop = true;
		break;
	case OPT_OP:
		plan->op = word(c, arg, perf_op_name, PERF_OPS, "write, send, tagged, read, lat");
		break;
	case 's':
		plan->size_min = plan->size_max = number(c, arg, 1, PERF_SIZE_MAX);
		break;
	case 'a':
		plan->size_min = PERF_ALL_MIN;
		plan->size_max = PERF_ALL_MAX;
		break;
	case 'n':
		plan->iters = number(c, arg, 1, PERF_ITERS_MAX);
		break;
	case 'D':
		plan->duration_ns = seconds(c, arg);
		break;
	case 'Q':
		plan->in_flight = (uint32_t)number(c, arg, 1, PERF_SLOTS_MAX);
		break;
	case 'b':
		plan->flags |= PERF_F_BIDIR;
		break;
	case OPT_VERIFY:
		plan->flags |= PERF_F_VERIFY;
		break;
	case OPT_WAIT:
		plan->flags &= ~(3 * PERF_F_WAIT);
		plan->flags |= PERF_F_WAIT * word(c, arg, waits, PERF_WAITS, "auto, poll, sleep");
		break;
	case 'e':
		word(c, arg, engines, 3, "soft, verbs, auto");
		opt->setting[PERF_ENGINE] = arg;
		break;
	/* the provider knows the ranges of these; here it is said which option they came from */
	case 'm':
		if (number(c, arg, 0, 8192) && (number(c, arg, 256, 8192) & 3))
			perf_usage("%s: %s is not a multiple of 4", shown(c), arg);
		opt->setting[PERF_MTU] = arg;
		break;
	case 'c':
		number(c, arg, 256, 1 << 30);
		opt->setting[PERF_CHUNK] = arg;
		break;
	case 'C':
		number(c, arg, 1, 16);
		opt->setting[PERF_CHANNELS] = arg;
		break;
	case OPT_FORMAT:
		opt->format = (enum perf_format)word(c, arg, formats, 3, "table, csv, json");
		break;
	case 'q':
		opt->quiet = true;
		break;
	}
}

/* What was given at all, by place in the table. */
static bool given[OPTIONS];

static void exclude(const char *one, const char *other)
{
	size_t i, a = OPTIONS, b = OPTIONS;

	for (i = 0; i < OPTIONS; i++) {
		if (given[i] && strcmp(table[i].name, one) == 0)
			a = i;
		if (given[i] && strcmp(table[i].name, other) == 0)
			b = i;
	}
	if (a < OPTIONS && b < OPTIONS)
		perf_usage("--%s and --%s exclude each other", one, other);
}

static void defaults(struct perf_opt *opt)
{
	struct perf_plan *plan = &opt->plan;

	if (!plan->size_min)
		plan->size_min = plan->size_max = plan->op == PERF_LAT ? DEFAULT_SIZE_LAT : DEFAULT_SIZE;
	if (!plan->in_flight)
		plan->in_flight = plan->op == PERF_LAT ? 1 : 16;
	if (!plan->iters && !plan->duration_ns)
		plan->duration_ns = (uint64_t)(DEFAULT_DURATION * (double)PERF_SEC);
}

void perf_options(struct perf_opt *opt, int argc, char **argv)
{
	struct option longs[OPTIONS + 1];
	char shorts[2 * OPTIONS + 2] = ":", why[PERF_WHY];
	size_t i, n = 1;
	int c;

	memset(longs, 0, sizeof(longs));
	for (i = 0; i < OPTIONS; i++) {
		longs[i].name = table[i].name;
		longs[i].has_arg = table[i].value ? required_argument : no_argument;
		longs[i].val = table[i].c;
		if (table[i].c >= 256)
			continue;
		shorts[n++] = (char)table[i].c;
		if (table[i].value)
			shorts[n++] = ':';
	}
	opt->port = PERF_PORT;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == 'h')
			help();
		if (c == '?')
			perf_usage("there is no option \"%s\"", argv[optind - 1]);
		if (c == ':')
			perf_usage("%s: a value is missing", shown(optopt));
		for (i = 0; i < OPTIONS && table[i].c != c; i++)
			;
		given[i] = true;
		option(opt, c, optarg);
	}
	if (argc - optind > 1)
		perf_usage("one HOST, not \"%s\" too", argv[optind + 1]);
	opt->host = argv[optind];
	for (i = 0; i < OPTIONS; i++) {
		if (given[i] && !(table[i].who & (opt->host ? CLIENT : SERVER)))
			perf_usage("%s is for the %s%s", shown(table[i].c), opt->host ? "server" : "client",
				   opt->host ? "" : ", which says what is run");
	}
	exclude("size", "all");
	exclude("iters", "duration");
	defaults(opt);
	if (opt->host && !perf_plan_ok(&opt->plan, why))
		perf_usage("%s", why);
}
