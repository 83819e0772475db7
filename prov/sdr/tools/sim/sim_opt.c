/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_sim.
 *
 * Options that are fields of a question have the names and the texts of sdr_model's and are read by
 * its rules (model_row.c); what only a simulation has (runs, seeds, impairments, workload) is read
 * here, into the plan.  What makes no sense ends the program before anything is run or printed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"
#include "sim_jobs.h"
#include "sim_work.h"
#include "tools/common/tool_opt.h"

enum {
	OPT_BATCH = MODEL_FIELDS,
	OPT_LOSS,
	OPT_REVERSE,
	OPT_JITTER,
	OPT_REORDER,
	OPT_QUEUE,
	OPT_CROSS,
	OPT_PATH_MTU,
	OPT_PATHS,
	OPT_LANE,
	OPT_CC,
	OPT_HEADERS,
	OPT_RUNS,
	OPT_WARM,
	OPT_SEED,
	OPT_JOBS,
	OPT_MESSAGES,
	OPT_WINDOW,
	OPT_PAUSE,
	OPT_TICK,
	OPT_VERIFY,
	OPT_TRACE,
	OPT_TRACE_MAX,
	OPT_FORMAT,
	OPT_HELP,
	OPT_VERSION
};

static const struct tool_option table[] = {
	{ "scheme", "LIST", MODEL_SCHEME, 1,
	  "ideal, sr_rto, sr_nack, ec_mds, ec_xor, hybrid; sr, ec, auto" },
	{ "schemes", "LIST", MODEL_SCHEME, 1, NULL },
	{ "bandwidth", "LIST", MODEL_BANDWIDTH, 1, "bits a second that data get (400e9)" },
	{ "rtt", "LIST", MODEL_RTT, 1, "round trip, seconds (25e-3)" },
	{ "drop-packet", "LIST", MODEL_P, 1, "share of packets lost, 0 to 0.9 (0)" },
	{ "drop", "LIST", MODEL_DROP, 1, "share of chunks lost, instead" },
	{ "burst", "LIST", MODEL_BURST, 1, "mean packets lost in a row (1)" },
	{ "mtu", "LIST", MODEL_MTU, 1, "payload of a packet, 256 to 8192 (4096)" },
	{ "chunk", "LIST", MODEL_CHUNK, 1, "chunk (64K)" },
	{ "size", "LIST", MODEL_SIZE, 1, "message, or buffer of an allreduce, up to 1T (128M)" },
	{ "k", "LIST", MODEL_K, 1, "ec: data chunks of a submessage (32)" },
	{ "m", "LIST", MODEL_M, 1, "ec: parity chunks of it, k + m <= 256 (8)" },
	{ "rto-rtts", "LIST", MODEL_RTO, 1, "sr_rto: retransmission timeout, RTTs (3)" },
	{ "beta", "LIST", MODEL_BETA, 1, "written back; the transport has its own rule" },
	{ "unit", "WORD", MODEL_UNIT, 1,
	  "taken as sdr_model takes it, without effect: packets are sent again" },
	{ "resend", "WORD", MODEL_RESEND, 1, "the same: what is missing is sent again" },
	{ "cover", "BYTES", MODEL_COVER, 1, "the same: hybrid chooses" },
	{ "decode", "WORD", MODEL_DECODE, 1,
	  "codewords of chunks or of packet rows (ec_mds, ec_xor chunk; else row)" },
	{ "objective", "WORD", MODEL_OBJECTIVE, 1,
	  "hybrid, auto: make mean, p99 or p999 small (p99)" },
	{ "max-overhead", "LIST", MODEL_OVERHEAD, 1,
	  "hybrid, auto: maximum parity per data (0.25)" },
	{ "nodes", "LIST", MODEL_NODES, 1, "of an allreduce, 2 to 1024 (4)" },
	{ "collective", "NAME", MODEL_COLLECTIVE, 1, "ring is all there is" },
	{ "compute", "SECONDS", MODEL_COMPUTE, 1, "0 is all there is" },
	{ "batch", "FILE", OPT_BATCH, 1, "cells from a CSV, - is standard input" },
	{ "loss", "MODEL", OPT_LOSS, 1, "iid:P or ge:SHARE:BURST, for --drop-packet and --burst" },
	{ "reverse-loss", "WHAT", OPT_REVERSE, 1, "on the way back: none, same or a share (none)" },
	{ "jitter", "SECONDS", OPT_JITTER, 1,
	  "further delay of each packet, uniform up to this (0)" },
	{ "reorder", "P:SECONDS", OPT_REORDER, 1,
	  "share of packets that are so much later (none)" },
	{ "queue", "BYTES", OPT_QUEUE, 1,
	  "of the bottleneck, then the tail drops; 0 has no end (0)" },
	{ "cross", "BPS[:BYTES]", OPT_CROSS, 1,
	  "Poisson traffic on the same line, packets of BYTES (1500)" },
	{ "path-mtu", "BYTES[:icmp]", OPT_PATH_MTU, 1,
	  "largest IP packet, 576 to 65535; icmp: senders are told (no limit)" },
	{ "paths", "N", OPT_PATHS, 1,
	  "of a connection, each as the one that is described, 1 to 16 (1)" },
	{ "lane", "K:KEY=VALUE,...", OPT_LANE, 1,
	  "path K (from 0) has its own bandwidth, rtt, loss, reverse-loss, jitter, queue, dead=FROM:TO" },
	{ "cc", "NAME", OPT_CC, 1, "fixed: the sender knows the rate; bbr: it finds out (fixed)" },
	{ "headers", NULL, OPT_HEADERS, 1, "the bandwidth has to carry the headers too" },
	{ "messages", "N", OPT_MESSAGES, 1, "of a stream, 1 to 65536 (64)" },
	{ "window", "N", OPT_WINDOW, 1, "of them under way at a time, 1 to 4096 (4)" },
	{ "runs", "N", OPT_RUNS, 1, "of a cell, 1 to 1000000 (1000)" },
	{ "warm", "N", OPT_WARM, 1,
	  "runs before each shard of them, 1 to 1000000 (2; more where a scheme learns)" },
	{ "seed", "N", OPT_SEED, 1, "of everything random (1)" },
	{ "jobs", "N", OPT_JOBS, 1, "processes, 1 to 256 (processors); changes no result" },
	{ "pause", "SECONDS", OPT_PAUSE, 1, "longest pause between two runs (1e-3)" },
	{ "tick", "SECONDS", OPT_TICK, 1, "packets wait so long to be handled together (5e-6)" },
	{ "verify", NULL, OPT_VERIFY, 1, "packets carry bytes, and each is looked at" },
	{ "trace", "FILE", OPT_TRACE, 1, "what happened, JSON lines" },
	{ "trace-max", "LINES", OPT_TRACE_MAX, 1, "maximum (1000000)" },
	{ "format", "NAME", OPT_FORMAT, 1, "table, csv or json (table; with --batch csv)" },
	{ "help", NULL, OPT_HELP, 1, "this text" },
	{ "version", NULL, OPT_VERSION, 1, "the version" },
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static const char *const modes[] = { "message", "stream", "allreduce", NULL };

struct sim_asked {
	enum sim_mode mode;
	const char *text[MODEL_FIELDS], *batch;
	char loss[2][TOOL_NUMBER]; /* --loss, taken to pieces */
	bool formatted;
};

static void opt_help(void)
{
	printf("usage: sdr_sim message|stream|allreduce [--batch FILE] [OPTION]...\n"
	       "       sdr_sim share [OPTION]...\n"
	       "Times of transfers between simulated nodes that run the real transport, in virtual time;\n"
	       "share: flows at one bottleneck, see sdr_sim share --help.\n"
	       "Options (defaults); lists are a,b,c, ranges lo:hi:xN and lo:hi:+step:\n");
	tool_opt_help(table, OPTIONS, 0, 22);
	printf("Bytes take the suffixes K, M, G, T, powers of 1024. See sdr_sim(1).\n"
	       "Exit status: 0 done, 1 failed, 2 wrong usage or input.\n");
	exit(TOOL_OK);
}

static void opt_unknown(const char *name, const char *s)
{
	tool_bad("--%s: \"%.64s\" is none of what it takes; see sdr_sim --help", name, s);
}

static int opt_word(const char *name, const char *s, const char *const *words)
{
	int w = tool_word(s, words);

	if (w < 0)
		opt_unknown(name, s);
	return w;
}

/* "iid:P", "ge:SHARE:BURST": becomes the two fields. */
static void opt_loss(struct sim_asked *a, const char *s)
{
	const char *colon = strchr(s, ':'), *burst = "1", *end;
	bool ge = strncmp(s, "ge:", 3) == 0;
	double v;

	if (strncmp(s, "iid:", 4) != 0 && !ge)
		tool_bad("--loss: \"%.64s\" is neither iid:P nor ge:SHARE:BURST", s);
	end = strchr(colon + 1, ':');
	if (ge != (end != NULL))
		tool_bad("--loss: \"%.64s\" is neither iid:P nor ge:SHARE:BURST", s);
	if (ge)
		burst = end + 1;
	else
		end = s + strlen(s);
	snprintf(a->loss[0], sizeof(a->loss[0]), "%.*s", (int)(end - colon - 1), colon + 1);
	snprintf(a->loss[1], sizeof(a->loss[1]), "%s", burst);
	if (tool_real(a->loss[0], &v) || tool_real(a->loss[1], &v))
		tool_bad("--loss: \"%.64s\" has no numbers behind its name", s);
	a->text[MODEL_P] = a->loss[0];
	a->text[MODEL_BURST] = a->loss[1];
}

static void opt_impairments(struct sim_plan *p, struct sim_asked *a, int what, const char *name,
			    const char *arg)
{
	const char *rest;

	switch (what) {
	case OPT_LOSS:
		opt_loss(a, arg);
		break;
	case OPT_REVERSE:
		p->reverse_p = strcmp(arg, "none") == 0	  ? 0
			       : strcmp(arg, "same") == 0 ? -1
							  : tool_opt_real(name, arg, 0, 0.9);
		break;
	case OPT_JITTER:
		p->jitter_s = tool_opt_real(name, arg, 0, 10);
		break;
	case OPT_REORDER:
		p->reorder_p = tool_opt_pair(name, arg, 0, 1, &rest);
		if (!rest)
			tool_bad("--reorder: \"%.64s\" is not P:SECONDS", arg);
		p->reorder_s = tool_opt_real(name, rest, 0, 10);
		break;
	case OPT_QUEUE:
		p->queue_bytes = tool_opt_whole(name, arg, 0, 1ull << 50);
		break;
	case OPT_CROSS:
		p->cross_bps = tool_opt_pair(name, arg, 0, 1e13, &rest);
		if (rest)
			p->cross_bytes = (uint32_t)tool_opt_whole(name, rest, 64, 65536);
		break;
	case OPT_PATH_MTU:
		p->path_mtu = (uint32_t)tool_opt_pair(name, arg, 576, 65535, &rest);
		p->path_icmp = rest != NULL;
		if (rest && strcmp(rest, "icmp") != 0)
			opt_unknown(name, arg);
		break;
	case OPT_PATHS:
		p->paths = (uint32_t)tool_opt_whole(name, arg, 1, SDR_PATHS_MAX);
		break;
	case OPT_LANE:
		sim_lane_read(p->lane, arg);
		p->lanes = true;
		break;
	case OPT_CC:
		p->cc = sdr_cc_find(arg);
		if (!p->cc)
			opt_unknown(name, arg);
		break;
	}
}

static void opt_set(struct sim_plan *p, struct sim_asked *a, int what, const char *name,
		    const char *arg)
{
	static const char *const formats[] = { "table", "csv", "json", NULL };

	switch (what) {
	case OPT_BATCH:
		a->batch = arg;
		break;
	case OPT_HEADERS:
		p->headers = true;
		break;
	case OPT_RUNS:
		p->runs = (uint32_t)tool_opt_whole(name, arg, 1, SIM_RUNS_MAX);
		break;
	case OPT_WARM:
		p->warm = (uint32_t)tool_opt_whole(name, arg, 1, SIM_RUNS_MAX);
		break;
	case OPT_SEED:
		p->seed = tool_opt_whole(name, arg, 0, UINT64_MAX);
		break;
	case OPT_JOBS:
		p->jobs = (uint32_t)tool_opt_whole(name, arg, 1, SIM_JOBS_MAX);
		break;
	case OPT_MESSAGES:
		p->messages = (uint32_t)tool_opt_whole(name, arg, 1, SIM_MESSAGES_MAX);
		break;
	case OPT_WINDOW:
		p->window = (uint32_t)tool_opt_whole(name, arg, 1, SIM_WINDOW_MAX);
		break;
	case OPT_PAUSE:
		p->pause_s = tool_opt_real(name, arg, 0, 10);
		break;
	case OPT_TICK:
		p->tick_s = tool_opt_real(name, arg, 0, 1e-3);
		break;
	case OPT_VERIFY:
		p->verify = true;
		break;
	case OPT_TRACE:
		p->trace_file = arg;
		break;
	case OPT_TRACE_MAX:
		p->trace_max = tool_opt_whole(name, arg, 1, 1ull << 40);
		break;
	case OPT_FORMAT:
		p->format = (enum tool_format)opt_word(name, arg, formats);
		a->formatted = true;
		break;
	default:
		if (what < MODEL_FIELDS)
			a->text[what] = arg;
		else
			opt_impairments(p, a, what, name, arg);
	}
}

static void opt_parse(struct sim_plan *p, struct sim_asked *a, int argc, char **argv)
{
	const struct tool_option *o;

	while ((o = tool_opt_next(table, OPTIONS, argc, argv, "sdr_sim --help"))) {
		if (o->what == OPT_HELP)
			opt_help();
		if (o->what == OPT_VERSION) {
			printf("sdr_sim (sdr) %s\n", PACKAGE_VERSION);
			exit(TOOL_OK);
		}
		opt_set(p, a, o->what, o->name, optarg);
	}
	if (optind < argc)
		tool_bad("\"%.64s\" is no option", argv[optind]);
}

static void opt_lanes_check(const struct sim_plan *p)
{
	for (uint32_t k = 0; k < SDR_PATHS_MAX; k++) {
		if (p->lane[k].given && k >= p->paths)
			tool_bad("--lane: there is no path %u of %u; see --paths", k, p->paths);
		if (sim_lane_has(&p->lane[k], SIM_LANE_BANDWIDTH) && p->cc->provisioned)
			tool_bad(
				"--lane: --cc %s is told one rate; another bandwidth needs --cc auto or bbr",
				p->cc->name);
	}
}

void sim_options(struct sim_plan *p, struct sim_cells *cells, int argc, char **argv)
{
	struct sim_asked a = { .batch = NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t samples = 0;

	*p = (struct sim_plan){
		.runs = 1000,
		.jobs = cpus < 1		    ? 1
			: cpus > (long)SIM_JOBS_MAX ? SIM_JOBS_MAX
						    : (uint32_t)cpus,
		.warm = SIM_WARM_AUTO,
		.seed = 1,
		.messages = 64,
		.window = 4,
		.pause_s = 1e-3,
		.tick_s = 5e-6,
		.cross_bytes = 1500,
		.paths = 1,
		.cc = &sdr_cc_fixed,
		.trace_max = SIM_TRACE_MAX,
		.progress = isatty(STDERR_FILENO),
	};
	if (argc < 2)
		tool_bad("message, stream, allreduce or share is missing; see sdr_sim --help");
	if (argv[1][0] == '-') {
		if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
			opt_help();
		if (strcmp(argv[1], "--version") == 0)
			opt_parse(p, &a, 3, (char *[]){ argv[0], argv[0], argv[1], NULL });
	}
	if (tool_word(argv[1], modes) < 0)
		tool_bad(
			"\"%.64s\" is none of message, stream, allreduce, share; see sdr_sim --help",
			argv[1]);
	a.mode = (enum sim_mode)tool_word(argv[1], modes);
	opt_parse(p, &a, argc, argv);
	if (a.text[MODEL_P] && a.text[MODEL_DROP])
		tool_bad("%s and --drop exclude each other",
			 a.text[MODEL_P] == a.loss[0] ? "--loss" : "--drop-packet");
	opt_lanes_check(p);
	if (p->window > p->messages)
		p->window = p->messages;
	if (p->trace_file)
		p->jobs = 1; /* one writer at a time, in order */
	if (a.batch && !a.formatted)
		p->format = TOOL_CSV;
	sim_cells_read(p, cells, a.mode, a.text, a.batch);
	for (uint32_t i = 0; i < cells->n; i++)
		samples += (uint64_t)p->runs * sim_cell_samples(p, &cells->cell[i]);
	if (samples > SIM_SAMPLES_MAX)
		tool_bad("%llu times of %u cells: %u can be kept; fewer --runs or --messages",
			 (unsigned long long)samples, cells->n, SIM_SAMPLES_MAX);
}
