/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_model.
 *
 * One table: what getopt takes, which commands know it, what --help prints.  Options that are
 * fields of a question are kept as texts, which the row reads (model_row.c); the others are read
 * here.  What a command does not know is an error and not a silent nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "model_tool.h"
#include "tools/common/tool_opt.h"

#define SAMPLES_DEFAULT 100000u
#define JOBS_MAX	256u

enum {
	PRE = 1 << MODEL_PREDICT,
	SWE = 1 << MODEL_SWEEP,
	SIM = 1 << MODEL_SIMULATE,
	ALL = 1 << MODEL_ALLREDUCE,
	ADV = 1 << MODEL_ADVISE,
	PLO = 1 << MODEL_PLOT,
	ROW = PRE | SWE | SIM | ALL,
	ANY = ROW | ADV | PLO
};

/* Values of the options that are no fields. */
enum {
	OPT_FORMAT = MODEL_FIELDS,
	OPT_SEED,
	OPT_SAMPLES,
	OPT_JOBS,
	OPT_QUANTILE,
	OPT_BATCH,
	OPT_LINKS,
	OPT_STATS,
	OPT_PEER,
	OPT_PROBE,
	OPT_X,
	OPT_Y,
	OPT_SERIES,
	OPT_LOG,
	OPT_TITLE,
	OPT_OUTPUT,
	OPT_HELP,
	OPT_VERSION
};

static const struct tool_option table[] = {
	{ "scheme", "NAME", MODEL_SCHEME, ROW,
	  "ideal, sr_rto, sr_nack, ec_mds, ec_xor, hybrid, or several with commas (all that can lose)" },
	{ "schemes", "LIST", MODEL_SCHEME, ROW, "the same" },
	{ "bandwidth", "BPS", MODEL_BANDWIDTH, ROW | ADV, "bits per second (400e9)" },
	{ "rtt", "SECONDS", MODEL_RTT, ROW | ADV, "round trip (25e-3)" },
	{ "drop-packet", "P", MODEL_P, ROW | ADV,
	  "share of packets lost, 0 <= P < 1 (0; advise 1e-4)" },
	{ "drop", "P", MODEL_DROP, ROW, "share of chunks lost, instead" },
	{ "mtu", "BYTES", MODEL_MTU, ROW | ADV, "payload of a packet (4096)" },
	{ "chunk", "BYTES", MODEL_CHUNK, ROW | ADV, "chunk (64K)" },
	{ "size", "BYTES", MODEL_SIZE, ROW | ADV, "message, or buffer of a collective (128M)" },
	{ "k", "N", MODEL_K, ROW,
	  "data chunks of a submessage; hybrid: packets (32; hybrid: chosen)" },
	{ "m", "N", MODEL_M, ROW, "parity of it, k + m <= 256 (8; hybrid: chosen)" },
	{ "rto-rtts", "X", MODEL_RTO, ROW | ADV,
	  "retransmission timeout, RTTs (3; sr_nack and hybrid 1)" },
	{ "beta", "X", MODEL_BETA, ROW | ADV, "fallback timeout of erasure coding, RTTs (1)" },
	{ "unit", "WORD", MODEL_UNIT, ROW,
	  "what selective repeat sends again: chunk, packet (chunk)" },
	{ "decode", "WORD", MODEL_DECODE, ROW,
	  "what a codeword is made of: chunk, row of packets (chunk)" },
	{ "resend", "WORD", MODEL_RESEND, ROW,
	  "what the fallback sends again: all, missing (all)" },
	{ "burst", "X", MODEL_BURST, ROW | ADV, "hybrid: mean packets lost in a row (1)" },
	{ "cover", "BYTES", MODEL_COVER, ROW,
	  "hybrid with --k: bytes at the end that have parity (0: all)" },
	{ "objective", "WORD", MODEL_OBJECTIVE, ROW | ADV,
	  "what a choice makes small: mean, p99, p999 (p99)" },
	{ "max-overhead", "X", MODEL_OVERHEAD, ROW | ADV,
	  "maximum parity per data of a choice (0.25)" },
	{ "nodes", "N", MODEL_NODES, ROW, "nodes of a collective (allreduce: 4)" },
	{ "collective", "NAME", MODEL_COLLECTIVE, ROW,
	  "ring, tree, reduce_scatter, allgather (ring)" },
	{ "compute", "SECONDS", MODEL_COMPUTE, ROW, "of each step of a collective (0)" },
	{ "links", "FILE", OPT_LINKS, ALL,
	  "CSV: from,to,rtt_s,bandwidth_bps,p_packet of links that differ" },
	{ "batch", "FILE", OPT_BATCH, PRE | SIM, "rows from a CSV, - is standard input" },
	{ "samples", "N", OPT_SAMPLES, ROW,
	  "drawn for a row that is drawn, 1 to 100000000 (100000)" },
	{ "seed", "N", OPT_SEED, ROW, "of them (1)" },
	{ "jobs", "N", OPT_JOBS, ROW, "threads, 1 to 256 (processors); changes no result" },
	{ "quantile", "Q", OPT_QUANTILE, ROW, "one more column, 0 <= Q < 1; up to 8 times" },
	{ "stats", "FILE", OPT_STATS, ADV, "link from what FI_SDR_STATS wrote" },
	{ "peer", "ADDR", OPT_PEER, ADV, "the line of it that counts (total)" },
	{ "probe", "FILE", OPT_PROBE, ADV, "loss from what sdr_perf --probe-loss wrote as CSV" },
	{ "x", "COLUMN", OPT_X, PLO, "of the CSV (what was swept)" },
	{ "y", "COLUMN", OPT_Y, PLO, "the same, or A/B: one column over another (mean_s)" },
	{ "series", "COLUMN", OPT_SERIES, PLO, "a curve for each value of it (scheme)" },
	{ "log", "AXES", OPT_LOG, PLO, "x, y, xy or none (where values spread over two decades)" },
	{ "title", "TEXT", OPT_TITLE, PLO, "above the picture" },
	{ "output", "FILE", OPT_OUTPUT, PLO, "picture: .svg or .png" },
	{ "format", "NAME", OPT_FORMAT, ROW | ADV, "table, csv or json (table; with --batch csv)" },
	{ "help", NULL, OPT_HELP, ANY, "this text" },
	{ "version", NULL, OPT_VERSION, ANY, "the version" },
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static const struct {
	const char *name, *args, *help;
} commands[MODEL_CMDS] = {
	[MODEL_PREDICT] = { "predict", "[--batch FILE] [OPTION]...",
			    "mean and quantiles of a transfer's time" },
	[MODEL_SWEEP] = { "sweep", "[OPTION]...",
			  "the same for all combinations of lists a,b,c and ranges lo:hi:xN, lo:hi:+step" },
	[MODEL_SIMULATE] = { "simulate", "[--batch FILE] [OPTION]...",
			     "the same by drawing transfers, and how far off the model's mean is" },
	[MODEL_ALLREDUCE] = { "allreduce", "[OPTION]...", "time of a collective of several nodes" },
	[MODEL_ADVISE] = { "advise", "[--stats FILE | --probe FILE] [OPTION]...",
			   "which scheme for a link, with what, and why" },
	[MODEL_PLOT] = { "plot", "--x COLUMN --y COLUMN --output FILE [OPTION]... [CSV]",
			 "a picture of a CSV, by gnuplot" },
};

static void opt_help(int cmd)
{
	if (cmd < 0) {
		printf("usage: sdr_model COMMAND [OPTION]...\n"
		       "Completion times of reliability schemes over long, lossy links. Commands:\n");
		for (int i = 0; i < MODEL_CMDS; i++)
			printf("  %-10s %s\n", commands[i].name, commands[i].help);
		printf("sdr_model COMMAND --help lists the options of one, sdr_model --version says the version.\n"
		       "Exit status: 0 done, 1 failed, 2 wrong usage or input.\n");
		exit(TOOL_OK);
	}
	printf("usage: sdr_model %s %s\n%c%s. Options (defaults):\n", commands[cmd].name,
	       commands[cmd].args, commands[cmd].help[0] - 'a' + 'A', commands[cmd].help + 1);
	tool_opt_help(table, OPTIONS, cmd, 20);
	printf("Bytes take the suffixes K, M, G, T, powers of 1024. See sdr_model(1).\n");
	exit(TOOL_OK);
}

static uint64_t opt_whole(const char *name, const char *s, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (tool_whole(s, false, &v) || v < min || v > max)
		tool_bad("--%s: \"%.64s\" is no whole number from %llu to %llu", name, s,
			 (unsigned long long)min, (unsigned long long)max);
	return v;
}

static void opt_quantile(struct model_opt *opt, const char *s)
{
	double v;

	if (opt->nquantiles == MODEL_QUANTILES)
		tool_bad("--quantile: more than %u of them", MODEL_QUANTILES);
	if (tool_real(s, &v) || !(v >= 0 && v < 1))
		tool_bad("--quantile: \"%.64s\" is no number with 0 <= Q < 1", s);
	for (unsigned int i = 0; i < opt->nquantiles; i++) {
		if (opt->quantile[i] == v)
			tool_bad("--quantile: %s is there twice", s);
	}
	opt->quantile[opt->nquantiles++] = v;
}

static void opt_set(struct model_opt *opt, int what, const char *name, const char *arg,
		    bool *formatted)
{
	static const char *const formats[] = { "table", "csv", "json", NULL };
	int w;

	switch (what) {
	case OPT_FORMAT:
		w = tool_word(arg, formats);
		if (w < 0)
			tool_bad("--format: \"%.64s\" is none of table, csv, json", arg);
		opt->format = (enum tool_format)w;
		*formatted = true;
		break;
	case OPT_SEED:
		opt->seed = opt_whole(name, arg, 0, UINT64_MAX);
		break;
	case OPT_SAMPLES:
		opt->samples = (size_t)opt_whole(name, arg, 1, MODEL_SAMPLES_MAX);
		break;
	case OPT_JOBS:
		opt->jobs = (unsigned int)opt_whole(name, arg, 1, JOBS_MAX);
		break;
	case OPT_QUANTILE:
		opt_quantile(opt, arg);
		break;
	case OPT_BATCH:
		opt->batch = arg;
		break;
	case OPT_LINKS:
		opt->links = arg;
		break;
	case OPT_STATS:
		opt->stats = arg;
		break;
	case OPT_PEER:
		opt->peer = arg;
		break;
	case OPT_PROBE:
		opt->probe = arg;
		break;
	case OPT_X:
		opt->x = arg;
		break;
	case OPT_Y:
		opt->y = arg;
		break;
	case OPT_SERIES:
		opt->series = arg;
		break;
	case OPT_LOG:
		opt->log = arg;
		break;
	case OPT_TITLE:
		opt->title = arg;
		break;
	case OPT_OUTPUT:
		opt->output = arg;
		break;
	default:
		opt->text[what] = arg;
	}
}

static int opt_command(const char *s)
{
	for (int i = 0; i < MODEL_CMDS; i++) {
		if (strcmp(s, commands[i].name) == 0)
			return i;
	}
	return -1;
}

static void opt_version(void)
{
	printf("sdr_model (sdr) %s\n", PACKAGE_VERSION);
	exit(TOOL_OK);
}

static void opt_together(const struct model_opt *opt)
{
	if (opt->text[MODEL_P] && opt->text[MODEL_DROP])
		tool_bad("--drop-packet and --drop exclude each other");
	if (opt->peer && !opt->stats)
		tool_bad("--peer says which line of --stats counts: that is missing");
	if (opt->stats && opt->probe)
		tool_bad("--stats and --probe exclude each other");
	if (opt->cmd == MODEL_PLOT && !opt->output)
		tool_bad("--output is missing: the picture's file, .svg or .png");
}

void model_options(struct model_opt *opt, int argc, char **argv)
{
	const struct tool_option *o;
	bool formatted = false;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char help[48];
	int cmd;

	if (argc < 2)
		tool_bad("a command is missing; sdr_model --help lists them");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		opt_help(-1);
	if (strcmp(argv[1], "--version") == 0)
		opt_version();
	cmd = opt_command(argv[1]);
	if (cmd < 0)
		tool_bad("there is no command \"%.64s\"; sdr_model --help lists them", argv[1]);
	opt->cmd = (enum model_cmd)cmd;
	opt->seed = 1;
	opt->samples = SAMPLES_DEFAULT;
	opt->jobs = cpus < 1 ? 1 : cpus > (long)JOBS_MAX ? JOBS_MAX : (unsigned int)cpus;
	snprintf(help, sizeof(help), "sdr_model %s --help", argv[1]);
	while ((o = tool_opt_next(table, OPTIONS, argc, argv, help))) {
		if (o->what == OPT_HELP)
			opt_help(cmd);
		if (o->what == OPT_VERSION)
			opt_version();
		if (!(o->cmds >> cmd & 1))
			tool_bad("--%s is no option of sdr_model %s", o->name, argv[1]);
		opt_set(opt, o->what, o->name, optarg, &formatted);
	}
	if (opt->cmd == MODEL_PLOT && optind < argc)
		opt->input = argv[optind++];
	if (optind < argc)
		tool_bad("\"%.64s\" is no option", argv[optind]);
	if (opt->batch && !formatted)
		opt->format = TOOL_CSV;
	opt_together(opt);
}
