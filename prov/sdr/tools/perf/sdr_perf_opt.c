/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_perf.
 *
 * One table: what getopt takes, what --help prints, who may give it and for what.  What is run is
 * the client's to say: an option of that kind given to a server is an error, not a silent nothing,
 * and so is one of the drop-rate probe without --probe-loss, or one of a run with it.  Each error
 * names the option as the user wrote it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_perf.h"
#include "sdr_perf_value.h"

#define DEFAULT_SIZE	 65536u
#define DEFAULT_SIZE_LAT 8u
#define DEFAULT_DURATION 2.0 /* s, of a size */
#define DEFAULT_RATE	 1e9 /* bit/s, of the probe */

enum { CLIENT = 1, SERVER = 2, BOTH = 3, RUN = 4, PROBE = 8, ANY = 12 };
enum {
	OPT_OP = 256,
	OPT_VERIFY,
	OPT_FORMAT,
	OPT_LOOP,
	OPT_WAIT,
	OPT_PROBE,
	OPT_PAYLOAD,
	OPT_RATE,
	OPT_WHOLE,
	OPT_PLOT,
	OPT_FLOWS,
	OPT_TRIALS,
	OPT_EVERY,
	OPT_APPEND
};

static const struct {
	int c; /* the short option's letter, if it is one */
	const char *name, *value;
	int who;
	const char *help;
} table[] = {
	{ 'p', "port", "PORT", BOTH | ANY,
	  "UDP port of the server, which also needs the next one (default 18516)" },
	{ 'A', "address", "ADDR", SERVER | ANY,
	  "local address to listen on (default: all IPv4 addresses)" },
	{ OPT_LOOP, "loop", NULL, SERVER | ANY, "serve one client after another, for ever" },
	{ OPT_OP, "op", "NAME", CLIENT | RUN,
	  "write, send, tagged, read: bandwidth; lat: latency of messages (default write)" },
	{ 's', "size", "BYTES", CLIENT | RUN,
	  "bytes of a message, 1 to 1g; suffixes k, m, g (default 64k; lat: 8)" },
	{ 'a', "all", NULL, CLIENT | RUN, "sizes 2, 4, 8 ... 8m instead of one" },
	{ 'n', "iters", "N", CLIENT | ANY,
	  "messages (probe: packets) of each size (default: as many as fit into --duration)" },
	{ 'D', "duration", "SECONDS", CLIENT | ANY,
	  "seconds for each size, 0.01 to 86400 (default 2)" },
	{ 'Q', "in-flight", "N", CLIENT | RUN,
	  "operations in flight, 1 to 256 (default 16; lat: 1)" },
	{ 'b', "bidirectional", NULL, CLIENT | RUN,
	  "both sides send; the bandwidth is the sum (not with lat)" },
	{ OPT_VERIFY, "verify", NULL, CLIENT | RUN, "fill and check every byte (costs time)" },
	{ OPT_WAIT, "wait", "HOW", CLIENT | RUN,
	  "for completions: poll, sleep, or auto: poll for 20 us, then sleep (default auto)" },
	{ 'd', "domain", "NAME", BOTH | RUN,
	  "interface or RDMA device of this side, as fi_info shows it (default: by address)" },
	{ 'e', "engine", "NAME", BOTH | RUN,
	  "soft, verbs or auto (FI_SDR_ENGINE; default auto); a server's own choice wins" },
	{ 'm', "mtu", "BYTES", BOTH | RUN,
	  "payload of a packet, 0 for what the path carries (FI_SDR_MTU; default 0)" },
	{ 'c', "chunk", "BYTES", BOTH | RUN,
	  "bytes of a bit in the chunk bitmap; k, m, g (FI_SDR_CHUNK_SIZE; default 64k)" },
	{ 'C', "channels", "N", BOTH | RUN,
	  "internal queue pairs of a generation, 1 to 16 (FI_SDR_CHANNELS; default 1)" },
	{ OPT_PROBE, "probe-loss", NULL, BOTH | ANY,
	  "measure the drop rate of UDP packets instead, with no part of the provider (both sides)" },
	{ OPT_PAYLOAD, "payload", "LIST", CLIENT | PROBE,
	  "UDP payload sizes, 64 to 65000 (default 256,512,1024,1400,2048,4096,8192)" },
	{ OPT_RATE, "rate", "RATE", CLIENT | PROBE,
	  "bit/s to send at, 1k to 1t; suffixes k, m, g (default 1g)" },
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
#define OPTIONS (sizeof(table) / sizeof(table[0]))

const char *const perf_op_name[PERF_OPS] = { "write", "send", "tagged", "read", "lat" };

static void help(void)
{
	char left[48];
	size_t i;

	printf("usage: sdr_perf [options]         server: serves one client\n"
	       "       sdr_perf [options] HOST    client: says what is run, prints the result\n"
	       "Bandwidth and latency of the sdr provider; with --probe-loss on both sides the drop rate of UDP\n"
	       "packets between them. Options (S: for the server only, C: for the client "
	       "only):\n");
	for (i = 0; i < OPTIONS; i++) {
		if (table[i].c < 256)
			snprintf(left, sizeof(left), "-%c, --%s %s", table[i].c, table[i].name,
				 table[i].value ? table[i].value : "");
		else
			snprintf(left, sizeof(left), "    --%s %s", table[i].name,
				 table[i].value ? table[i].value : "");
		printf("  %-25s %s %s\n", left,
		       (table[i].who & BOTH) == SERVER	 ? "S"
		       : (table[i].who & BOTH) == CLIENT ? "C"
							 : " ",
		       table[i].help);
	}
	printf("MB are 10^6 bytes. Exit status: 0 done, 1 failed, 2 wrong usage.\n");
	exit(PERF_EXIT_OK);
}

/* The row of an option; OPTIONS: there is none, which getopt_long() never returns. */
static size_t option_row(int c)
{
	size_t i;

	for (i = 0; i < OPTIONS && table[i].c != c; i++)
		;
	return i;
}

static const char *shown(int c)
{
	static char text[64];
	size_t i = option_row(c);

	if (i == OPTIONS)
		return "?";
	if (c < 256)
		snprintf(text, sizeof(text), "-%c (--%s)", c, table[i].name);
	else
		snprintf(text, sizeof(text), "--%s", table[i].name);
	return text;
}

static void payloads(struct probe_opt *probe, int c, const char *list)
{
	char text[256], *at, *save, *item;
	unsigned int i;
	uint32_t v;

	if (strlen(list) >= sizeof(text) || !*list || strstr(list, ",,") || *list == ',' ||
	    list[strlen(list) - 1] == ',')
		perf_usage("%s: \"%.60s\" is not a list of up to %u sizes with commas between them",
			   shown(c), list, PROBE_SIZES_MAX);
	snprintf(text, sizeof(text), "%s", list);
	probe->sizes = 0;
	for (at = text; (item = strtok_r(at, ",", &save)) != NULL; at = NULL) {
		v = (uint32_t)perf_number(shown(c), item, PROBE_PAYLOAD_MIN, PROBE_PAYLOAD_MAX);
		for (i = 0; i < probe->sizes; i++) {
			if (probe->payload[i] == v)
				perf_usage("%s: %u is there twice", shown(c), v);
		}
		if (probe->sizes == PROBE_SIZES_MAX)
			perf_usage("%s: more than %u sizes", shown(c), PROBE_SIZES_MAX);
		probe->payload[probe->sizes++] = v;
	}
}

/* What the plan that both sides follow says.  False: no option of it. */
static bool plan_option(struct perf_plan *plan, int c, const char *arg)
{
	static const char *const waits[] = { "auto", "poll", "sleep" };

	switch (c) {
	case OPT_OP:
		plan->op = perf_word(shown(c), arg, perf_op_name, PERF_OPS,
				     "write, send, tagged, read, lat");
		break;
	case 's':
		plan->size_min = plan->size_max = perf_number(shown(c), arg, 1, PERF_SIZE_MAX);
		break;
	case 'a':
		plan->size_min = PERF_ALL_MIN;
		plan->size_max = PERF_ALL_MAX;
		break;
	case 'n':
		plan->iters = perf_number(shown(c), arg, 1, PERF_ITERS_MAX);
		break;
	case 'D':
		plan->duration_ns = perf_seconds(shown(c), arg);
		break;
	case 'Q':
		plan->in_flight = (uint32_t)perf_number(shown(c), arg, 1, PERF_SLOTS_MAX);
		break;
	case 'b':
		plan->flags |= PERF_F_BIDIR;
		break;
	case OPT_VERIFY:
		plan->flags |= PERF_F_VERIFY;
		break;
	case OPT_WAIT:
		plan->flags &= ~(3 * PERF_F_WAIT);
		plan->flags |= PERF_F_WAIT *
			       perf_word(shown(c), arg, waits, PERF_WAITS, "auto, poll, sleep");
		break;
	default:
		return false;
	}
	return true;
}

/*
 * Settings of the provider, which knows their ranges; here it is said which option they came from.
 * False: no option for one.
 */
static bool setting_option(struct perf_opt *opt, int c, const char *arg)
{
	static const char *const engines[] = { "soft", "verbs", "auto" };

	switch (c) {
	case 'e':
		perf_word(shown(c), arg, engines, 3, "soft, verbs, auto");
		opt->setting[PERF_ENGINE] = arg;
		break;
	case 'm':
		if (perf_number(shown(c), arg, 0, 8192) &&
		    (perf_number(shown(c), arg, 256, 8192) & 3))
			perf_usage("%s: %s is not a multiple of 4", shown(c), arg);
		opt->setting[PERF_MTU] = arg;
		break;
	case 'c':
		perf_number(shown(c), arg, 256, 1 << 30);
		opt->setting[PERF_CHUNK] = arg;
		break;
	case 'C':
		perf_number(shown(c), arg, 1, 16);
		opt->setting[PERF_CHANNELS] = arg;
		break;
	default:
		return false;
	}
	return true;
}

/* False: no option of the probe. */
static bool probe_option(struct probe_opt *probe, int c, const char *arg)
{
	switch (c) {
	case OPT_PROBE:
		probe->on = true;
		break;
	case OPT_PAYLOAD:
		payloads(probe, c, arg);
		break;
	case OPT_RATE:
		probe->rate = perf_rate(shown(c), arg);
		break;
	case OPT_WHOLE:
		probe->no_fragment = true;
		break;
	case OPT_PLOT:
		probe->plot = arg;
		break;
	case OPT_FLOWS:
		probe->flows = (unsigned int)perf_number(shown(c), arg, 1, PROBE_FLOWS_MAX);
		break;
	case OPT_TRIALS:
		probe->trials = (unsigned int)perf_number(shown(c), arg, 1, PROBE_TRIALS_MAX);
		break;
	case OPT_EVERY:
		probe->every_s = perf_interval(shown(c), arg);
		break;
	case OPT_APPEND:
		probe->append = arg;
		break;
	default:
		return false;
	}
	return true;
}

static void option(struct perf_opt *opt, int c, const char *arg)
{
	static const char *const formats[] = { "table", "csv", "json" };

	if (plan_option(&opt->plan, c, arg) || setting_option(opt, c, arg) ||
	    probe_option(&opt->probe, c, arg))
		return;
	switch (c) {
	case 'p':
		opt->port = (uint16_t)perf_number(shown(c), arg, 1, 65534);
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
	case OPT_FORMAT:
		opt->format =
			(enum perf_format)perf_word(shown(c), arg, formats, 3, "table, csv, json");
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
		plan->size_min = plan->size_max =
			plan->op == PERF_LAT ? DEFAULT_SIZE_LAT : DEFAULT_SIZE;
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
	opt->probe.rate = DEFAULT_RATE;
	opt->probe.flows = 1;
	opt->probe.every_s = PROBE_EVERY;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == 'h')
			help();
		if (c == '?')
			perf_usage("there is no option \"%s\"", argv[optind - 1]);
		if (c == ':')
			perf_usage("%s: a value is missing", shown(optopt));
		i = option_row(c);
		if (i == OPTIONS)
			perf_usage("there is no option \"%s\"", argv[optind - 1]);
		given[i] = true;
		option(opt, c, optarg);
	}
	if (argc - optind > 1)
		perf_usage("one HOST, not \"%s\" too", argv[optind + 1]);
	opt->host = argv[optind];
	for (i = 0; i < OPTIONS; i++) {
		if (given[i] && !(table[i].who & (opt->probe.on ? PROBE : RUN)))
			perf_usage("%s %s --probe-loss", shown(table[i].c),
				   opt->probe.on ? "is not for" : "needs");
		if (given[i] && !(table[i].who & (opt->host ? CLIENT : SERVER)))
			perf_usage("%s is for the %s%s", shown(table[i].c),
				   opt->host ? "server" : "client",
				   opt->host ? "" : ", which says what is run");
	}
	exclude("size", "all");
	exclude("iters", "duration");
	if (!opt->probe.append != !opt->probe.trials)
		perf_usage(
			"--trials and --append need each other: how many trials, and the file that keeps them");
	defaults(opt);
	if (opt->host && !opt->probe.on && !perf_plan_ok(&opt->plan, why))
		perf_usage("%s", why);
}
