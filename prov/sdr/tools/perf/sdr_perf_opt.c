/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_perf.
 *
 * One table: what getopt takes, what --help prints, who may give it and for what.  What is run is
 * the client's to say: an option of that kind given to a server is an error, not a silent nothing,
 * and so is one of another mode than the one that is run (the drop-rate probe, the SDK).  Each
 * error names the option as the user wrote it.
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

enum { CLIENT = 1, SERVER = 2, BOTH = 3, RUN = 4, PROBE = 8, SDK = 16, RUNS = 20, ANY = 28 };
enum {
	OPT_OP = 256,
	OPT_VERIFY,
	OPT_FORMAT,
	OPT_LOOP,
	OPT_WAIT,
	OPT_TIMES,
	OPT_MEMORY,
	OPT_PROBE,
	OPT_PAYLOAD,
	OPT_RATE,
	OPT_WHOLE,
	OPT_PLOT,
	OPT_FLOWS,
	OPT_TRIALS,
	OPT_EVERY,
	OPT_APPEND,
	OPT_SDK,
	OPT_LOOPBACK,
	OPT_WORKERS,
	OPT_SWEEP,
	OPT_PLAIN,
	OPT_ROUNDS
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
#define OPTIONS (sizeof(table) / sizeof(table[0]))

const char *const perf_op_name[PERF_OPS] = { "write", "send", "tagged", "read", "lat" };

static void help(void)
{
	char left[48];
	size_t i;

	printf("usage: sdr_perf [options]         server: serves one client\n"
	       "       sdr_perf [options] HOST    client: says what is run, prints the result\n"
	       "Bandwidth and latency of the sdr provider; with --sdk on both sides of the SDK below it, with\n"
	       "--probe-loss the drop rate of UDP packets between them. Options (S: for the server only, C: for the client "
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
 * Settings of the provider, or of the SDK: what they may be says setting_check(), sdk_points().
 * False: no option for one.
 */
static bool setting_option(struct perf_opt *opt, int c, const char *arg)
{
	static const struct {
		int c;
		enum perf_setting setting;
	} of[] = {
		{ 'e', PERF_ENGINE }, { 'm', PERF_MTU }, { 'c', PERF_CHUNK }, { 'C', PERF_CHANNELS }
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (of[i].c == c) {
			opt->setting[of[i].setting] = arg;
			return true;
		}
	}
	return false;
}

/* Of the provider, which knows their ranges; here it is said which option they came from. */
static void setting_check(const struct perf_opt *opt)
{
	static const char *const engines[] = { "soft", "verbs", "auto" };
	const char *mtu = opt->setting[PERF_MTU];

	if (opt->setting[PERF_ENGINE])
		perf_word(shown('e'), opt->setting[PERF_ENGINE], engines, 3, "soft, verbs, auto");
	if (mtu && perf_number(shown('m'), mtu, 0, 8192) &&
	    (perf_number(shown('m'), mtu, 256, 8192) & 3))
		perf_usage("%s: %s is not a multiple of 4", shown('m'), mtu);
	if (opt->setting[PERF_CHUNK])
		perf_number(shown('c'), opt->setting[PERF_CHUNK], 256, 1 << 30);
	if (opt->setting[PERF_CHANNELS])
		perf_number(shown('C'), opt->setting[PERF_CHANNELS], 1, 16);
}

/* False: no option of the SDK alone. */
static bool sdk_option(struct sdk_opt *sdk, int c, const char *arg)
{
	switch (c) {
	case OPT_SDK:
		sdk->on = true;
		break;
	case OPT_LOOPBACK:
		sdk->loopback = true;
		break;
	case OPT_SWEEP:
		sdk->sweep = arg;
		break;
	case OPT_WORKERS:
		sdk->workers = arg;
		break;
	case OPT_PLAIN:
		sdk->plain = true;
		break;
	case OPT_ROUNDS:
		sdk->rounds = (unsigned int)perf_number(shown(c), arg, 1, SDK_ROUNDS_MAX);
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
	    probe_option(&opt->probe, c, arg) || sdk_option(&opt->sdk, c, arg))
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
	case OPT_TIMES:
		opt->times = arg;
		break;
	case OPT_MEMORY:
		opt->memory = arg;
		break;
	case 'q':
		opt->quiet = true;
		break;
	}
}

/* What was given at all, by place in the table. */
static bool given[OPTIONS];

static bool is_given(const char *name)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		if (given[i] && strcmp(table[i].name, name) == 0)
			return true;
	}
	return false;
}

static void exclude(const char *one, const char *other)
{
	if (is_given(one) && is_given(other))
		perf_usage("--%s and --%s exclude each other", one, other);
}

static int mode_of(const struct perf_opt *opt)
{
	return opt->probe.on ? PROBE : opt->sdk.on ? SDK : RUN;
}

/* Each option is for what is run, and for the side that this is. */
static void who_check(const struct perf_opt *opt)
{
	/* with the SDK these are the client's to say; endpoints have settings of their own */
	static const char plans[] = "mcC";
	int mode = mode_of(opt), side = opt->host ? CLIENT : SERVER;
	size_t i;

	if (opt->sdk.loopback)
		side = BOTH;
	for (i = 0; i < OPTIONS; i++) {
		int who = table[i].who;

		if (!given[i])
			continue;
		if (!(who & mode) && mode == RUN)
			perf_usage("%s needs %s%s%s", shown(table[i].c),
				   who & PROBE ? "--probe-loss" : "",
				   who & PROBE && who & SDK ? " or " : "",
				   who & SDK ? "--sdk" : "");
		if (!(who & mode))
			perf_usage("%s is not for %s", shown(table[i].c),
				   mode == PROBE ? "--probe-loss" : "--sdk");
		if (mode == SDK && table[i].c < 256 && strchr(plans, table[i].c))
			who &= ~SERVER;
		if (!(who & side))
			perf_usage("%s is for the %s%s", shown(table[i].c),
				   side == CLIENT ? "server" : "client",
				   side == CLIENT ? "" : ", which says what is run");
	}
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
	opt->sdk.rounds = 1;
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
	who_check(opt);
	exclude("size", "all");
	exclude("iters", "duration");
	exclude("sdk", "probe-loss");
	exclude("sweep", "all");
	exclude("plain", "rate");
	exclude("loopback", "loop");
	if (opt->host && opt->sdk.loopback)
		perf_usage("--loopback needs no HOST: both sides are this process");
	if (mode_of(opt) == SDK && is_given("rate"))
		opt->sdk.rate_bps = (uint64_t)opt->probe.rate;
	if (!opt->probe.append != !opt->probe.trials)
		perf_usage(
			"--trials and --append need each other: how many trials, and the file that keeps them");
	defaults(opt);
	if (mode_of(opt) != RUN)
		return;
	setting_check(opt);
	if (opt->host && !perf_plan_ok(&opt->plan, why))
		perf_usage("%s", why);
}
