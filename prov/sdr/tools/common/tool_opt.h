/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Options as a table: what --help prints and the command line is read by (tool_opt.c).
 */
#ifndef SDR_TOOL_OPT_H
#define SDR_TOOL_OPT_H

#include <stddef.h>
#include <stdint.h>

#define TOOL_OPTIONS_MAX 128u /* rows of a table */

struct tool_option {
	const char *name;
	const char *value; /* its name in --help; NULL: takes none */
	int what;	   /* the program's number of it */
	int cmds;	   /* commands that have it, a bit each */
	const char *help;  /* NULL: another name, not shown */
};

/* A line for each option of the command, `width` columns in front of its help. */
void tool_opt_help(const struct tool_option *table, size_t n, int cmd, int width);
/*
 * The next option of the command line, its value in optarg: a row of the table, or NULL at the end.
 * -h is the option "help".  Exits with TOOL_USAGE at one that is not there or lacks its value, and
 * names `help` ("sdr_sim --help").  Starts at argv[2].
 */
const struct tool_option *tool_opt_next(const struct tool_option *table, size_t n, int argc,
					char **argv, const char *help);

/* The value of option --name; exits with TOOL_USAGE where it is none from min to max. */
uint64_t tool_opt_whole(const char *name, const char *s, uint64_t min, uint64_t max);
double tool_opt_real(const char *name, const char *s, double min, double max);
/* The first part of "P:SECONDS"; *rest is the second, NULL: there is none. */
double tool_opt_pair(const char *name, const char *s, double min, double max, const char **rest);

#endif /* SDR_TOOL_OPT_H */
