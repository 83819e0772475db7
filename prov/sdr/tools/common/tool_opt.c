/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Options as a table.  One command line per process: getopt_long() keeps where it is.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"
#include "tool_opt.h"

void tool_opt_help(const struct tool_option *table, size_t n, int cmd, int width)
{
	char left[48];

	for (size_t i = 0; i < n; i++) {
		if (!table[i].help || !(table[i].cmds >> cmd & 1))
			continue;
		snprintf(left, sizeof(left), "--%s %s", table[i].name,
			 table[i].value ? table[i].value : "");
		printf("  %-*s %s\n", width, left, table[i].help);
	}
}

const struct tool_option *tool_opt_next(const struct tool_option *table, size_t n, int argc,
					char **argv, const char *help)
{
	static struct option longs[TOOL_OPTIONS_MAX + 1];
	int c, at = 0;

	if (!longs[0].name) {
		if (n > TOOL_OPTIONS_MAX)
			tool_die("too many options");
		for (size_t i = 0; i < n; i++) {
			longs[i].name = table[i].name;
			longs[i].has_arg = table[i].value ? required_argument : no_argument;
		}
		opterr = 0;
		optind = 2;
	}
	c = getopt_long(argc, argv, ":h", longs, &at);
	if (c == -1)
		return NULL;
	if (c == ':')
		tool_bad("%.64s: its value is missing", argv[optind - 1]);
	if (c == '?' && optopt > ' ')
		tool_bad("there is no option -%c; %s lists them", optopt, help);
	if (c == '?')
		tool_bad("there is no option \"%.64s\"; %s lists them", argv[optind - 1], help);
	if (c == 'h') {
		while (strcmp(table[at].name, "help") != 0)
			at++;
	}
	return &table[at];
}

uint64_t tool_opt_whole(const char *name, const char *s, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (tool_whole(s, true, &v) || v < min || v > max)
		tool_bad("--%s: \"%.64s\" is no whole number from %llu to %llu", name, s,
			 (unsigned long long)min, (unsigned long long)max);
	return v;
}

double tool_opt_real(const char *name, const char *s, double min, double max)
{
	double v;

	if (tool_real(s, &v) || !(v >= min && v <= max))
		tool_bad("--%s: \"%.64s\" is no number from %g to %g", name, s, min, max);
	return v;
}

double tool_opt_pair(const char *name, const char *s, double min, double max, const char **rest)
{
	const char *colon = strchr(s, ':');
	char first[TOOL_NUMBER];

	snprintf(first, sizeof(first), "%.*s", (int)(colon ? colon - s : (int)strlen(s)), s);
	*rest = colon ? colon + 1 : NULL;
	return tool_opt_real(name, first, min, max);
}
