/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_perf.
 *
 * What there is, and who may give it for what, says sdr_perf_table.c.  What is run is the client's
 * to say: an option of that kind given to a server is an error, not a silent nothing, and so is one
 * of another mode than the one that is run (the drop-rate probe, the SDK).  Each error names the
 * option as the user wrote it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "sdr_perf.h"
#include "sdr_perf_table.h"
#include "sdr_perf_value.h"

#define DEFAULT_SIZE	 65536u
#define DEFAULT_SIZE_LAT 8u
#define DEFAULT_DURATION 2.0 /* s, of a size */
#define DEFAULT_RATE	 1e9 /* bit/s, of the probe */

const char *const perf_op_name[PERF_OPS] = { "write", "send", "tagged", "read", "lat" };

static void payloads(struct probe_opt *probe, int c, const char *list)
{
	char text[256], *at, *save, *item;
	unsigned int i;
	uint32_t v;

	if (strlen(list) >= sizeof(text) || !*list || strstr(list, ",,") || *list == ',' ||
	    list[strlen(list) - 1] == ',')
		perf_usage("%s: \"%.60s\" is not a list of up to %u sizes with commas between them",
			   perf_shown(c), list, PROBE_SIZES_MAX);
	snprintf(text, sizeof(text), "%s", list);
	probe->sizes = 0;
	for (at = text; (item = strtok_r(at, ",", &save)) != NULL; at = NULL) {
		v = (uint32_t)perf_number(perf_shown(c), item, PROBE_PAYLOAD_MIN,
					  PROBE_PAYLOAD_MAX);
		for (i = 0; i < probe->sizes; i++) {
			if (probe->payload[i] == v)
				perf_usage("%s: %u is there twice", perf_shown(c), v);
		}
		if (probe->sizes == PROBE_SIZES_MAX)
			perf_usage("%s: more than %u sizes", perf_shown(c), PROBE_SIZES_MAX);
		probe->payload[probe->sizes++] = v;
	}
}

/* What the plan that both sides follow says.  False: no option of it. */
static bool plan_option(struct perf_plan *plan, int c, const char *arg)
{
	static const char *const waits[] = { "auto", "poll", "sleep" };

	switch (c) {
	case OPT_OP:
		plan->op = perf_word(perf_shown(c), arg, perf_op_name, PERF_OPS,
				     "write, send, tagged, read, lat");
		break;
	case 's':
		plan->size_min = plan->size_max = perf_number(perf_shown(c), arg, 1, PERF_SIZE_MAX);
		break;
	case 'a':
		plan->size_min = PERF_ALL_MIN;
		plan->size_max = PERF_ALL_MAX;
		break;
	case 'n':
		plan->iters = perf_number(perf_shown(c), arg, 1, PERF_ITERS_MAX);
		break;
	case 'D':
		plan->duration_ns = perf_seconds(perf_shown(c), arg);
		break;
	case 'Q':
		plan->in_flight = (uint32_t)perf_number(perf_shown(c), arg, 1, PERF_SLOTS_MAX);
		break;
	case 'b':
		plan->flags |= PERF_F_BIDIR;
		break;
	case OPT_VERIFY:
		plan->flags |= PERF_F_VERIFY;
		break;
	case OPT_WAIT:
		plan->flags &= ~(3 * PERF_F_WAIT);
		plan->flags |= PERF_F_WAIT * perf_word(perf_shown(c), arg, waits, PERF_WAITS,
						       "auto, poll, sleep");
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
		perf_word(perf_shown('e'), opt->setting[PERF_ENGINE], engines, 3,
			  "soft, verbs, auto");
	if (mtu && perf_number(perf_shown('m'), mtu, 0, 8192) &&
	    (perf_number(perf_shown('m'), mtu, 256, 8192) & 3))
		perf_usage("%s: %s is not a multiple of 4", perf_shown('m'), mtu);
	if (opt->setting[PERF_CHUNK])
		perf_number(perf_shown('c'), opt->setting[PERF_CHUNK], 256, 1 << 30);
	if (opt->setting[PERF_CHANNELS])
		perf_number(perf_shown('C'), opt->setting[PERF_CHANNELS], 1, 16);
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
		sdk->rounds = (unsigned int)perf_number(perf_shown(c), arg, 1, SDK_ROUNDS_MAX);
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
		probe->rate = perf_rate(perf_shown(c), arg);
		break;
	case OPT_WHOLE:
		probe->no_fragment = true;
		break;
	case OPT_PLOT:
		probe->plot = arg;
		break;
	case OPT_FLOWS:
		probe->flows = (unsigned int)perf_number(perf_shown(c), arg, 1, PROBE_FLOWS_MAX);
		break;
	case OPT_TRIALS:
		probe->trials = (unsigned int)perf_number(perf_shown(c), arg, 1, PROBE_TRIALS_MAX);
		break;
	case OPT_EVERY:
		probe->every_s = perf_interval(perf_shown(c), arg);
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
		opt->port = (uint16_t)perf_number(perf_shown(c), arg, 1, 65534);
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
		opt->format = (enum perf_format)perf_word(perf_shown(c), arg, formats, 3,
							  "table, csv, json");
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
static bool given[PERF_OPTIONS];

static bool is_given(const char *name)
{
	size_t i;

	for (i = 0; i < PERF_OPTIONS; i++) {
		if (given[i] && strcmp(perf_option[i].name, name) == 0)
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
	for (i = 0; i < PERF_OPTIONS; i++) {
		int who = perf_option[i].who;

		if (!given[i])
			continue;
		if (!(who & mode) && mode == RUN)
			perf_usage("%s needs %s%s%s", perf_shown(perf_option[i].c),
				   who & PROBE ? "--probe-loss" : "",
				   who & PROBE && who & SDK ? " or " : "",
				   who & SDK ? "--sdk" : "");
		if (!(who & mode))
			perf_usage("%s is not for %s", perf_shown(perf_option[i].c),
				   mode == PROBE ? "--probe-loss" : "--sdk");
		if (mode == SDK && perf_option[i].c < 256 && strchr(plans, perf_option[i].c))
			who &= ~SERVER;
		if (!(who & side))
			perf_usage("%s is for the %s%s", perf_shown(perf_option[i].c),
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
	struct option longs[PERF_OPTIONS + 1];
	char shorts[2 * PERF_OPTIONS + 2] = ":", why[PERF_WHY];
	size_t i, n = 1;
	int c;

	memset(longs, 0, sizeof(longs));
	for (i = 0; i < PERF_OPTIONS; i++) {
		longs[i].name = perf_option[i].name;
		longs[i].has_arg = perf_option[i].value ? required_argument : no_argument;
		longs[i].val = perf_option[i].c;
		if (perf_option[i].c >= 256)
			continue;
		shorts[n++] = (char)perf_option[i].c;
		if (perf_option[i].value)
			shorts[n++] = ':';
	}
	opt->port = PERF_PORT;
	opt->probe.rate = DEFAULT_RATE;
	opt->probe.flows = 1;
	opt->sdk.rounds = 1;
	opt->probe.every_s = PROBE_EVERY;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == 'h')
			perf_option_help();
		if (c == '?')
			perf_usage("there is no option \"%s\"", argv[optind - 1]);
		if (c == ':')
			perf_usage("%s: a value is missing", perf_shown(optopt));
		i = perf_option_row(c);
		if (i == PERF_OPTIONS)
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
