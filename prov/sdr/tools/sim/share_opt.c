/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of `sdr_sim share`.  What makes no sense ends the program before anything runs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "share.h"
#include "sim_jobs.h"
#include "tools/common/tool.h"
#include "tools/common/tool_opt.h"

enum {
	OPT_FLOWS = 1,
	OPT_RIVAL,
	OPT_RIVAL_ECN,
	OPT_RATE,
	OPT_RTT,
	OPT_START,
	OPT_QUEUE,
	OPT_QUEUE_BDP,
	OPT_NIC,
	OPT_LOSS,
	OPT_REVERSE,
	OPT_JITTER,
	OPT_REORDER,
	OPT_CODEL,
	OPT_MARK,
	OPT_AT,
	OPT_MTU,
	OPT_SIZE,
	OPT_WINDOW,
	OPT_MESSAGES,
	OPT_WARM,
	OPT_PAUSE,
	OPT_TEACH,
	OPT_GREET,
	OPT_PROBE,
	OPT_RANKS,
	OPT_INCAST,
	OPT_PATHS,
	OPT_CC,
	OPT_SCHEME,
	OPT_SECONDS,
	OPT_SETTLE,
	OPT_SAMPLE,
	OPT_SERIES,
	OPT_TICK,
	OPT_CLOCKS,
	OPT_STALL,
	OPT_RUNS,
	OPT_SEED,
	OPT_JOBS,
	OPT_FORMAT,
	OPT_HELP,
	OPT_VERSION
};

static const struct tool_option table[] = {
	{ "flows", "N", OPT_FLOWS, 1, "of sdr, 0 to 64 (2)" },
	{ "rival", "LIST", OPT_RIVAL, 1, "NAME[:N]: cubic, reno, bbr, bbr3, so many (none)" },
	{ "rival-ecn", NULL, OPT_RIVAL_ECN, 1, "their packets may be marked" },
	{ "rate", "BPS", OPT_RATE, 1, "of the line, wire bits a second (1e9)" },
	{ "rtt", "LIST", OPT_RTT, 1, "of each flow without the queue, seconds (25e-3)" },
	{ "start", "LIST", OPT_START, 1, "of each flow, seconds (0)" },
	{ "queue", "BYTES", OPT_QUEUE, 1, "in front of the line, then the tail drops; 0 no end" },
	{ "queue-bdp", "X", OPT_QUEUE_BDP, 1, "the same, in rate times the first RTT (1)" },
	{ "nic", "BPS", OPT_NIC, 1, "line of each sender in front of it; 0 infinitely fast (0)" },
	{ "loss", "MODEL", OPT_LOSS, 1, "behind the queue: iid:P, ge:SHARE:BURST, gep:... (none)" },
	{ "reverse-loss", "P", OPT_REVERSE, 1, "on the way back (0)" },
	{ "jitter", "S", OPT_JITTER, 1, "up to so much more delay of each packet, both ways (0)" },
	{ "reorder", "P:S", OPT_REORDER, 1, "share of packets that are so much later, both ways" },
	{ "codel", "S[:S]", OPT_CODEL, 1, "CoDel: target and interval, seconds (none; :0.1)" },
	{ "mark", "SECONDS", OPT_MARK, 1, "packets that waited longer are marked (none)" },
	{ "at", "S:rate=BPS", OPT_AT, 1, "the line's rate from then on; may be repeated" },
	{ "mtu", "BYTES", OPT_MTU, 1, "largest IP packet, 576 to 9216 (9000)" },
	{ "size", "BYTES", OPT_SIZE, 1, "of a message (8M)" },
	{ "window", "N", OPT_WINDOW, 1, "messages posted at a time, 1 to 4096 (8)" },
	{ "messages", "N", OPT_MESSAGES, 1, "of a flow, one at a time, 1 to 1000000 (a window)" },
	{ "warm", "N", OPT_WARM, 1, "of them, whose times do not count (0)" },
	{ "pause", "S", OPT_PAUSE, 1, "longest time from one of them to the next (0)" },
	{ "teach", "BYTES", OPT_TEACH, 1,
	  "a message before, from which only the path is known (none)" },
	{ "greet", NULL, OPT_GREET, 1,
	  "a message of a few bytes before, so that the connection is open; of ranks one of each" },
	{ "probe", NULL, OPT_PROBE, 1, "handshakes ask what the path carries, as over sockets" },
	{ "ranks", "N", OPT_RANKS, 1,
	  "senders of which each sends to all receivers, together (each flow its own)" },
	{ "incast", NULL, OPT_INCAST, 1, "all flows end at one node" },
	{ "paths", "N", OPT_PATHS, 1, "of each sdr flow, all through the line, 1 to 16 (1)" },
	{ "cc", "NAME", OPT_CC, 1, "rate control, see FI_SDR_CC (the default)" },
	{ "scheme", "NAME", OPT_SCHEME, 1, "repair of losses, see FI_SDR_SCHEME (the default)" },
	{ "seconds", "S", OPT_SECONDS, 1, "of a run (10)" },
	{ "settle", "S", OPT_SETTLE, 1, "after the last start, before what counts apart (1)" },
	{ "sample", "S", OPT_SAMPLE, 1, "mean time between looks at the queue (1e-3)" },
	{ "series", "S", OPT_SERIES, 1, "a line for each flow and so many seconds, of one run" },
	{ "tick", "S", OPT_TICK, 1, "packets wait so long to be handled together (5e-6)" },
	{ "clocks", "S", OPT_CLOCKS, 1, "hosts' clocks are so far apart, 0 to 1000 (1e-3)" },
	{ "stall", "S:EVERY", OPT_STALL, 1,
	  "hosts of sdr stop so long, every so often, means (never)" },
	{ "runs", "N", OPT_RUNS, 1, "with seeds of their own, 1 to 100000 (1)" },
	{ "seed", "N", OPT_SEED, 1, "of everything random (1)" },
	{ "jobs", "N", OPT_JOBS, 1, "processes, 1 to 256 (processors); changes no result" },
	{ "format", "NAME", OPT_FORMAT, 1, "table, csv or json (table)" },
	{ "help", NULL, OPT_HELP, 1, "this text" },
	{ "version", NULL, OPT_VERSION, 1, "the version" },
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static void share_help(void)
{
	printf("usage: sdr_sim share [OPTION]...\n"
	       "Flows that share a bottleneck, in virtual time: who gets what, and what it costs.\n"
	       "Options (defaults); lists are a,b,c, their last value holds for the other flows:\n");
	tool_opt_help(table, OPTIONS, 0, 22);
	printf("Bytes take the suffixes K, M, G, T, powers of 1024. See sdr_sim(1).\n"
	       "Exit status: 0 done, 1 failed, 2 wrong usage.\n");
	exit(TOOL_OK);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void share_list(const char *name, const char *s, double min, double max,
		       double out[SHARE_FLOWS_MAX])
{
	struct tool_list l;
	char why[256];

	if (tool_list_read(&l, s, false, why, sizeof(why)))
		tool_bad("--%s: %.200s", name, why);
	if (!l.n || l.n > SHARE_FLOWS_MAX)
		tool_bad("--%s: %zu values: 1 to %u", name, l.n, SHARE_FLOWS_MAX);
	for (size_t i = 0; i < SHARE_FLOWS_MAX; i++)
		out[i] = tool_opt_real(name, l.text[i < l.n ? i : l.n - 1], min, max);
	tool_list_free(&l);
}

/* "cubic:2,bbr" */
static void share_rivals(struct share_cfg *cfg, const char *s)
{
	char name[TOOL_NUMBER];

	for (cfg->rivals = 0; *s;) {
		size_t len = strcspn(s, ","), n = strcspn(s, ":,");
		const struct sdr_cc_ops *cc;
		uint64_t many = 1;

		snprintf(name, sizeof(name), "%.*s", (int)n, s);
		cc = rival_find(name);
		if (!cc)
			tool_bad("--rival: there is no \"%s\": cubic, reno, bbr, bbr3", name);
		if (n < len) {
			snprintf(name, sizeof(name), "%.*s", (int)(len - n - 1), s + n + 1);
			many = tool_opt_whole("rival", name, 0, SHARE_FLOWS_MAX);
		}
		if (cfg->rivals + many > SHARE_FLOWS_MAX)
			tool_bad("--rival: more than %u", SHARE_FLOWS_MAX);
		while (many--)
			cfg->rival[cfg->rivals++] = cc;
		s += len + (s[len] == ',');
	}
}

static void share_loss(struct share_cfg *cfg, const char *s)
{
	const char *rest;

	if (strncmp(s, "iid:", 4) == 0) {
		cfg->loss = tool_opt_real("loss", s + 4, 0, 0.9);
		return;
	}
	cfg->ge_packets = strncmp(s, "gep:", 4) == 0;
	if (strncmp(s, "ge:", 3) != 0 && !cfg->ge_packets)
		tool_bad("--loss: \"%.64s\" is neither iid:P nor ge:SHARE:BURST", s);
	cfg->ge_loss = tool_opt_pair("loss", strchr(s, ':') + 1, 0, 0.9, &rest);
	if (!rest)
		tool_bad("--loss: \"%.64s\" is neither iid:P nor ge:SHARE:BURST", s);
	cfg->ge_burst = tool_opt_real("loss", rest, 1, 1e6);
}

static void share_at(struct share_cfg *cfg, const char *s)
{
	struct share_change *c = &cfg->change[cfg->changes];
	const char *rest;

	if (cfg->changes == SHARE_CHANGES_MAX)
		tool_bad("--at: more than %u changes", SHARE_CHANGES_MAX);
	c->at_s = tool_opt_pair("at", s, 0, 1e6, &rest);
	if (!rest || strncmp(rest, "rate=", 5) != 0)
		tool_bad("--at: \"%.64s\" is not SECONDS:rate=BPS", s);
	c->rate_bps = tool_opt_real("at", rest + 5, 1e4, 1e13);
	if (cfg->changes && c[-1].at_s > c->at_s)
		tool_bad("--at: \"%.64s\" comes before the one in front of it", s);
	cfg->changes++;
}

/* ---- the command line ------------------------------------------------------------------------ */

static void share_line_option(struct share_cfg *cfg, int what, const char *name, const char *arg)
{
	const char *rest;

	switch (what) {
	case OPT_RATE:
		cfg->rate_bps = tool_opt_real(name, arg, 1e4, 1e13);
		break;
	case OPT_RTT:
		share_list(name, arg, 0, 10, cfg->rtt_s);
		break;
	case OPT_QUEUE:
		cfg->queue_bytes = tool_opt_whole(name, arg, 0, 1ull << 50);
		cfg->queue_bdp = -1;
		break;
	case OPT_QUEUE_BDP:
		cfg->queue_bdp = tool_opt_real(name, arg, 0, 1e6);
		break;
	case OPT_NIC:
		cfg->nic_bps = tool_opt_real(name, arg, 0, 1e13);
		break;
	case OPT_LOSS:
		share_loss(cfg, arg);
		break;
	case OPT_REVERSE:
		cfg->reverse_loss = tool_opt_real(name, arg, 0, 0.9);
		break;
	case OPT_JITTER:
		cfg->jitter_s = tool_opt_real(name, arg, 0, 10);
		break;
	case OPT_REORDER:
		cfg->reorder = tool_opt_pair(name, arg, 0, 1, &rest);
		if (!rest)
			tool_bad("--reorder: \"%.64s\" is not P:SECONDS", arg);
		cfg->reorder_s = tool_opt_real(name, rest, 0, 10);
		break;
	case OPT_CODEL:
		cfg->codel_target_s = tool_opt_pair(name, arg, 0, 10, &rest);
		cfg->codel_interval_s = rest ? tool_opt_real(name, rest, 1e-6, 10) : 0.1;
		break;
	case OPT_MARK:
		cfg->mark_s = tool_opt_real(name, arg, 0, 10);
		break;
	case OPT_AT:
		share_at(cfg, arg);
		break;
	case OPT_MTU:
		cfg->path_mtu = (uint32_t)tool_opt_whole(name, arg, 576, 9216);
		break;
	}
}

static void share_flow_option(struct share_cfg *cfg, int what, const char *name, const char *arg)
{
	const char *rest;

	switch (what) {
	case OPT_FLOWS:
		cfg->flows = (uint32_t)tool_opt_whole(name, arg, 0, SHARE_FLOWS_MAX);
		break;
	case OPT_RIVAL:
		share_rivals(cfg, arg);
		break;
	case OPT_RIVAL_ECN:
		cfg->rival_ecn = true;
		break;
	case OPT_START:
		share_list(name, arg, 0, 1e6, cfg->start_s);
		break;
	case OPT_SIZE:
		cfg->size = tool_opt_whole(name, arg, 1, 1ull << 40);
		break;
	case OPT_WINDOW:
		cfg->window = (uint32_t)tool_opt_whole(name, arg, 1, 4096);
		break;
	case OPT_MESSAGES:
		cfg->messages = (uint32_t)tool_opt_whole(name, arg, 1, 1000000);
		break;
	case OPT_WARM:
		cfg->warm = (uint32_t)tool_opt_whole(name, arg, 0, 1000000);
		break;
	case OPT_GREET:
		cfg->greets = true;
		break;
	case OPT_PROBE:
		cfg->probes = true;
		break;
	case OPT_RANKS:
		cfg->ranks = (uint32_t)tool_opt_whole(name, arg, 1, SHARE_FLOWS_MAX);
		break;
	case OPT_TEACH:
		cfg->teach_bytes = tool_opt_whole(name, arg, 0, 1ull << 40);
		break;
	case OPT_PAUSE:
		cfg->pause_s = tool_opt_real(name, arg, 0, 1e3);
		break;
	case OPT_CLOCKS:
		cfg->clocks_s = tool_opt_real(name, arg, 0, 1e3);
		break;
	case OPT_STALL:
		cfg->stall_s = tool_opt_pair(name, arg, 0, 10, &rest);
		if (!rest)
			tool_bad("--stall: \"%.64s\" is not SECONDS:EVERY", arg);
		cfg->stall_every_s = tool_opt_real(name, rest, 1e-6, 1e3);
		break;
	case OPT_INCAST:
		cfg->incast = true;
		break;
	case OPT_PATHS:
		cfg->paths = (uint32_t)tool_opt_whole(name, arg, 1, SDR_PATHS_MAX);
		break;
	case OPT_CC:
		cfg->cc = sdr_cc_find(arg);
		if (!cfg->cc)
			tool_bad("--cc: there is no \"%.64s\"", arg);
		break;
	case OPT_SCHEME:
		cfg->scheme = sdr_scheme_find(arg);
		if (!cfg->scheme)
			tool_bad("--scheme: there is no \"%.64s\"", arg);
		break;
	default:
		share_line_option(cfg, what, name, arg);
	}
}

static void share_option(struct share_plan *p, int what, const char *name, const char *arg)
{
	static const char *const formats[] = { "table", "csv", "json", NULL };

	switch (what) {
	case OPT_SECONDS:
		p->cfg.seconds = tool_opt_real(name, arg, 1e-3, 1e6);
		break;
	case OPT_SETTLE:
		p->cfg.settle_s = tool_opt_real(name, arg, 0, 1e6);
		break;
	case OPT_SAMPLE:
		p->cfg.sample_s = tool_opt_real(name, arg, 1e-6, 1e3);
		break;
	case OPT_SERIES:
		p->cfg.series_s = tool_opt_real(name, arg, 1e-4, 1e6);
		break;
	case OPT_TICK:
		p->cfg.tick_s = tool_opt_real(name, arg, 0, 1e-3);
		break;
	case OPT_RUNS:
		p->runs = (uint32_t)tool_opt_whole(name, arg, 1, 100000);
		break;
	case OPT_SEED:
		p->seed = tool_opt_whole(name, arg, 0, UINT64_MAX);
		break;
	case OPT_JOBS:
		p->jobs = (uint32_t)tool_opt_whole(name, arg, 1, SIM_JOBS_MAX);
		break;
	case OPT_FORMAT:
		p->format = tool_word(arg, formats);
		if (p->format < 0)
			tool_bad("--format: \"%.64s\" is none of table, csv, json", arg);
		break;
	default:
		share_flow_option(&p->cfg, what, name, arg);
	}
}

/* Whether the flows can be an all-to-all. */
static void share_ranks_check(const struct share_cfg *cfg)
{
	if (!cfg->ranks)
		return;
	if (!cfg->messages || cfg->teach_bytes || cfg->incast)
		tool_bad("--ranks goes with --messages, and with neither --teach nor --incast");
	if (!cfg->flows || cfg->flows % cfg->ranks)
		tool_bad("--ranks: %u flows cannot come from %u senders alike", cfg->flows,
			 cfg->ranks);
	for (uint32_t i = 1; i < cfg->flows; i++)
		if (cfg->rtt_s[i] != cfg->rtt_s[0] || cfg->start_s[i] != cfg->start_s[0])
			tool_bad("--ranks: all flows have one --rtt and one --start");
}

void share_options(struct share_plan *p, int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct tool_option *o;

	*p = (struct share_plan){
		.runs = 1,
		.jobs = cpus < 1		    ? 1
			: cpus > (long)SIM_JOBS_MAX ? SIM_JOBS_MAX
						    : (uint32_t)cpus,
		.seed = 1,
	};
	share_cfg_init(&p->cfg);
	while ((o = tool_opt_next(table, OPTIONS, argc, argv, "sdr_sim share --help"))) {
		if (o->what == OPT_HELP)
			share_help();
		if (o->what == OPT_VERSION) {
			printf("sdr_sim (sdr) %s\n", PACKAGE_VERSION);
			exit(TOOL_OK);
		}
		share_option(p, o->what, o->name, optarg);
	}
	if (optind < argc)
		tool_bad("\"%.64s\" is no option", argv[optind]);
	if (!(p->cfg.flows + p->cfg.rivals) || p->cfg.flows + p->cfg.rivals > SHARE_FLOWS_MAX)
		tool_bad("%u flows and %u rivals: 1 to %u in all", p->cfg.flows, p->cfg.rivals,
			 SHARE_FLOWS_MAX);
	if (p->cfg.teach_bytes && p->cfg.incast)
		tool_bad("--teach is for flows with receivers of their own, not for --incast");
	share_ranks_check(&p->cfg);
	if (p->cfg.series_s > 0 && p->runs != 1)
		tool_bad("--series is of one run");
}
