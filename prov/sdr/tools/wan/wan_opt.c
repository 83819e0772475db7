/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of a run.  All of it is checked before anything is made, changes of the schedule
 * included: they are tried, in order, on a network that carries nothing.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool_opt.h"
#include "tools/common/tool.h"
#include "wan.h"

enum {
	OPT_LINK, /* a setting of links, by its name */
	OPT_SET,
	OPT_AT,
	OPT_HOSTS,
	OPT_SWITCH,
	OPT_PATHS,
	OPT_MULTIHOMED,
	OPT_MTU,
	OPT_RUN,
	OPT_SERVE,
	OPT_JSON,
	OPT_SERIES,
	OPT_EVERY,
	OPT_LIMIT,
	OPT_SEED,
	OPT_NO_GSO,
	OPT_ORDINARY,
	OPT_QUIET,
	OPT_HELP,
	OPT_VERSION
};

static const struct tool_option table[] = {
	{ "rtt", "TIME", OPT_LINK, 1, "round trip, half of it each way: 25ms (0)" },
	{ "delay", "TIME", OPT_LINK, 1, "the same, one way" },
	{ "rate", "RATE", OPT_LINK, 1, "of the bottleneck: 1gbit, 300mbit (no limit)" },
	{ "queue", "SIZE", OPT_LINK, 1, "in front of it: 64k, 5ms or 0.5bdp (no end)" },
	{ "loss", "MODEL", OPT_LINK, 1, "1e-3, 1%, or bursts in time: ge:SHARE:PACKETS (0)" },
	{ "aqm", "NAME", OPT_LINK, 1,
	  "tail, codel[:TARGET[:INTERVAL]][:ecn], step:TIME, which marks (tail)" },
	{ "jitter", "TIME", OPT_LINK, 1, "further delay, uniform; TIME:ordered keeps the order" },
	{ "reorder", "SHARE:TIME", OPT_LINK, 1, "share of packets that are so much later" },
	{ "dup", "SHARE", OPT_LINK, 1, "of packets arrive twice" },
	{ "ecn", "WORD", OPT_LINK, 1, "pass, bleach (to 0) or mangle (all marked)" },
	{ "overhead", "BYTES", OPT_LINK, 1, "that each packet has on the line beside IP (0)" },
	{ "set", "[WHERE:]LIST", OPT_SET, 1,
	  "settings of a direction and path: ab:rate=1gbit,queue=1bdp  /2:delay=40ms" },
	{ "at", "TIME:[WHERE:]LIST", OPT_AT, 1, "the same, at that time: 5s:rate=500mbit" },
	{ "hosts", "N[:M]", OPT_HOSTS, 1, "a1..aN and b1..bM, 1 to 64 each (1:1)" },
	{ "switch", NULL, OPT_SWITCH, 1,
	  "no sides: a line in front of each host, as a switch's port" },
	{ "paths", "N", OPT_PATHS, 1, "1 to 16, by the hash of addresses and ports (1)" },
	{ "multihomed", NULL, OPT_MULTIHOMED, 1,
	  "hosts have an interface for each path, which what leaves by it takes" },
	{ "mtu", "BYTES", OPT_MTU, 1, "576 to 65535 (9000)" },
	{ "run", "HOST:COMMAND", OPT_RUN, 1, "a shell's command in a host; may be repeated" },
	{ "serve", "HOST:COMMAND", OPT_SERVE, 1, "the same, ended when the others have ended" },
	{ "json", "FILE", OPT_JSON, 1, "of the result (standard output)" },
	{ "series", "FILE", OPT_SERIES, 1, "CSV, a row every ..." },
	{ "every", "TIME", OPT_EVERY, 1, "... 1ms to 60s (100ms)" },
	{ "limit", "TIME", OPT_LIMIT, 1, "ends the commands after that (never)" },
	{ "seed", "N", OPT_SEED, 1, "of everything random (1)" },
	{ "no-gso", NULL, OPT_NO_GSO, 1, "devices without offloads" },
	{ "ordinary", NULL, OPT_ORDINARY, 1, "no priority for the emulator" },
	{ "quiet", NULL, OPT_QUIET, 1, "no result unless --json says where" },
	{ "help", NULL, OPT_HELP, 1, "this text" },
	{ "version", NULL, OPT_VERSION, 1, "the version" },
};
#define OPTIONS	     (sizeof(table) / sizeof(table[0]))
#define WAN_TEXT_MAX 256u

static void opt_help(void)
{
	printf("usage: sdr_wan [OPTION]... [--serve HOST:COMMAND]... [--run HOST:COMMAND]... [-- COMMAND...]\n"
	       "       sdr_wan exec HOST COMMAND...   in a run: a command in a host\n"
	       "       sdr_wan set [WHERE:]LIST       in a run: other settings from now on\n"
	       "       sdr_wan phase NAME             in a run: counters from zero, under a name\n"
	       "       sdr_wan ping [OPTION]... ADDRESS   in a host; see sdr_wan ping --help\n"
	       "       sdr_wan --self-test [--no-times]   the emulator against its own arithmetic\n"
	       "A WAN between hosts that are network namespaces, for as long as the commands run. Hosts a1, a2, ... \n"
	       "(10.77.1.1, ...) and b1, ... (10.77.2.1, ...); a and b are a1 and b1.\n"
	       "Options (defaults); settings hold for both directions:\n");
	tool_opt_help(table, OPTIONS, 0, 22);
	printf("WHERE is ab or ba (of a switch the host, a3), /PATH from 1, or both: ab/2.\n"
	       "--set also takes link=up and link=down. See sdr_wan(1).\n"
	       "Exit status: that of the first command that failed; 1 failed, 2 wrong usage, 77 no namespaces here.\n");
	exit(TOOL_OK);
}

static uint64_t opt_time(const char *name, const char *s, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (wan_read_time(s, &v) || v < min || v > max)
		tool_bad("--%s: \"%.64s\" is no time from %g to %g s, as in 250ms", name, s,
			 (double)min * 1e-9, (double)max * 1e-9);
	return v;
}

/* ---- changes ------------------------------------------------------------------------------- */

/* "ab", "ba", "a3" of a switch; -1: none. */
static int wan_group_find(const struct wan_plan *plan, const char *s)
{
	if (plan->shape == WAN_SWITCH)
		return wan_net_host_find(&plan->names, s);
	return strcmp(s, "ab") == 0 ? 0 : strcmp(s, "ba") == 0 ? 1 : -1;
}

int wan_change_read(struct wan_change *c, const struct wan_plan *plan, const char *text,
		    char why[WAN_WHY])
{
	const char *colon = strchr(text, ':'), *is = strchr(text, '=');
	char where[WAN_NAME_MAX], *slash;
	uint64_t path;
	int group;

	c->group = c->path = -1;
	c->text = text;
	if (!colon || (is && is < colon))
		return 0;
	snprintf(where, sizeof(where), "%.*s", (int)(colon - text), text);
	slash = strchr(where, '/');
	if (slash) {
		*slash++ = 0;
		if (tool_whole(slash, false, &path) || path < 1 || path > plan->paths) {
			snprintf(why, WAN_WHY, "path \"%s\": there are 1 to %u", slash,
				 plan->paths);
			return -1;
		}
		c->path = (int16_t)(path - 1);
	}
	if (*where) {
		group = wan_group_find(plan, where);
		if (group < 0) {
			snprintf(why, WAN_WHY, "\"%s\": %s", where,
				 plan->shape == WAN_SWITCH ? "there is no such host"
							   : "a direction is ab or ba");
			return -1;
		}
		c->group = (int16_t)group;
	}
	c->text = colon + 1;
	return 0;
}

static struct wan_change *opt_change(struct wan_plan *plan)
{
	if (plan->nchanges == WAN_CHANGES_MAX)
		tool_bad("more than %u settings", WAN_CHANGES_MAX);
	return &plan->change[plan->nchanges++];
}

static void opt_at(struct wan_plan *plan, char *arg)
{
	struct wan_change *c = opt_change(plan);
	char *colon = strchr(arg, ':');

	if (!colon)
		tool_bad("--at: \"%.64s\" is no TIME:SETTINGS, as in 5s:rate=500mbit", arg);
	*colon = 0;
	c->at_ns = opt_time("at", arg, 0, 86400 * WAN_NS);
	c->text = colon + 1;
}

/* The WHERE of each change, once sides and paths are known. */
static void opt_scopes(struct wan_plan *plan)
{
	char why[WAN_WHY];

	for (uint32_t i = 0; i < plan->nchanges; i++) {
		if (wan_change_read(&plan->change[i], plan, plan->change[i].text, why))
			tool_bad("--%s: %s", plan->change[i].at_ns ? "at" : "set", why);
	}
}

static int opt_earlier(const void *a, const void *b)
{
	const struct wan_change *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns ? 1 : x < y ? -1 : 1;
}

/* Puts them in order and tries them all. */
static void opt_try(struct wan_plan *plan)
{
	struct wan_net net;
	char why[WAN_WHY];

	for (uint32_t i = 1; i < plan->nchanges; i++) { /* stable, and there are few */
		struct wan_change c = plan->change[i];
		uint32_t k = i;

		for (; k && opt_earlier(&c, &plan->change[k - 1]) < 0 &&
		       c.at_ns < plan->change[k - 1].at_ns;
		     k--)
			plan->change[k] = plan->change[k - 1];
		plan->change[k] = c;
	}
	while (plan->nstart < plan->nchanges && !plan->change[plan->nstart].at_ns)
		plan->nstart++;
	if (wan_net_init(&net, plan->shape, &plan->names, plan->paths, 0))
		tool_die("no memory for the network; fewer hosts");
	if (wan_change_apply(&net, plan, 0, plan->change, plan->nstart, why))
		tool_bad("%s", why);
	for (uint32_t i = plan->nstart; i < plan->nchanges; i++) {
		if (wan_change_apply(&net, plan, 0, &plan->change[i], 1, why))
			tool_bad("--at: %s", why);
	}
	wan_net_free(&net);
}

/* ---- the rest ------------------------------------------------------------------------------ */

static struct wan_command *opt_command(struct wan_plan *plan)
{
	if (plan->ncommands == WAN_COMMANDS_MAX)
		tool_bad("more than %u commands", WAN_COMMANDS_MAX);
	return &plan->command[plan->ncommands++];
}

static void opt_run(struct wan_plan *plan, const char *name, char *arg, bool server)
{
	struct wan_command *c = opt_command(plan);

	c->text = strchr(arg, ':');
	if (!c->text)
		tool_bad("--%s: \"%.64s\" is no HOST:COMMAND, as in a1:'ls -l'", name, arg);
	c->server = server;
	c->argv = NULL;
	*strchr(arg, ':') = 0;
	c->text++;
	/* which host it is is found when it is known how many there are: opt_hosts_find */
	c->argv = (char **)tool_alloc(NULL, 1, sizeof(char *));
	c->argv[0] = arg;
}

static void opt_hosts_find(struct wan_plan *plan)
{
	for (uint32_t i = 0; i < plan->ncommands; i++) {
		struct wan_command *c = &plan->command[i];

		c->host = -1;
		if (!c->text)
			continue;
		c->host = wan_net_host_find(&plan->names, c->argv[0]);
		if (c->host < 0)
			tool_bad(
				"--%s: there is no host \"%.32s\"; --hosts says how many there are",
				c->server ? "serve" : "run", c->argv[0]);
		free(c->argv);
		c->argv = NULL;
	}
}

static void opt_hosts(struct wan_plan *plan, char *arg)
{
	char *colon = strchr(arg, ':');

	if (colon)
		*colon++ = 0;
	plan->names.n[0] = (uint16_t)tool_opt_whole("hosts", arg, 1, WAN_HOSTS_MAX);
	plan->names.n[1] = (uint16_t)tool_opt_whole("hosts", colon ? colon : "1", colon ? 0 : 1,
						    WAN_HOSTS_MAX);
}

static void opt_one(struct wan_plan *plan, const struct tool_option *o, char *arg)
{
	char *text;

	switch (o->what) {
	case OPT_LINK:
		text = tool_alloc(NULL, 1, WAN_TEXT_MAX);
		snprintf(text, WAN_TEXT_MAX, "%s=%.200s", o->name, arg);
		opt_change(plan)->text = text;
		break;
	case OPT_SET:
		opt_change(plan)->text = arg;
		break;
	case OPT_AT:
		opt_at(plan, arg);
		break;
	case OPT_HOSTS:
		opt_hosts(plan, arg);
		break;
	case OPT_SWITCH:
		plan->shape = WAN_SWITCH;
		break;
	case OPT_PATHS:
		plan->paths = (uint16_t)tool_opt_whole(o->name, arg, 1, WAN_PATHS_MAX);
		break;
	case OPT_MULTIHOMED:
		plan->names.ifs = 1;
		break;
	case OPT_MTU:
		plan->mtu = (uint32_t)tool_opt_whole(o->name, arg, 576, 65535);
		break;
	case OPT_RUN:
	case OPT_SERVE:
		opt_run(plan, o->name, arg, o->what == OPT_SERVE);
		break;
	case OPT_JSON:
		plan->json = arg;
		break;
	case OPT_SERIES:
		plan->series = arg;
		break;
	case OPT_EVERY:
		plan->every_ns = opt_time(o->name, arg, 1000000, 60 * WAN_NS);
		break;
	case OPT_LIMIT:
		plan->limit_ns = opt_time(o->name, arg, 1000000, 86400 * WAN_NS);
		break;
	case OPT_SEED:
		plan->seed = tool_opt_whole(o->name, arg, 0, UINT64_MAX);
		break;
	case OPT_NO_GSO:
		plan->no_offload = true;
		break;
	case OPT_ORDINARY:
		plan->ordinary = true;
		break;
	case OPT_QUIET:
		plan->quiet = true;
		break;
	case OPT_HELP:
		opt_help();
		break;
	case OPT_VERSION:
		printf("sdr_wan %s\n", PACKAGE_VERSION);
		exit(TOOL_OK);
	}
}

void wan_options(struct wan_plan *plan, int argc, char **argv)
{
	const struct tool_option *o;
	struct wan_command *c;

	memset(plan, 0, sizeof(*plan));
	plan->names.n[0] = plan->names.n[1] = 1;
	plan->paths = 1;
	plan->mtu = 9000;
	plan->seed = 1;
	plan->every_ns = 100000000;
	while ((o = tool_opt_next(table, OPTIONS, argc, argv, "sdr_wan --help")) != NULL)
		opt_one(plan, o, optarg);
	if (optind < argc) {
		c = opt_command(plan);
		c->argv = argv + optind;
	}
	if (plan->names.ifs)
		plan->names.ifs = (uint8_t)plan->paths;
	if (plan->shape == WAN_TWO_SIDES && !plan->names.n[1])
		tool_bad("--hosts: without --switch there are hosts on both sides");
	opt_hosts_find(plan);
	opt_scopes(plan);
	opt_try(plan);
	for (uint32_t i = 0; i < plan->ncommands; i++) {
		if (!plan->command[i].server)
			return;
	}
	tool_bad("nothing to run: give --run HOST:COMMAND, or -- COMMAND; see sdr_wan --help");
}
