/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What getopt takes, what --help prints, who may give it and for what (sdr_perf_table.c).
 */
#ifndef SDR_PERF_TABLE_H
#define SDR_PERF_TABLE_H

#include <stddef.h>

/* who gives it; and for which of what is run */
enum { CLIENT = 1, SERVER = 2, BOTH = 3, RUN = 4, PROBE = 8, SDK = 16, RUNS = 20, ANY = 28 };
/* long options without a letter */
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

#define PERF_OPTIONS 37u

struct perf_option {
	int c; /* the short option's letter, if it is one */
	const char *name, *value;
	int who;
	const char *help;
};
extern const struct perf_option perf_option[PERF_OPTIONS];

/* Prints all of them, and ends the process. */
void perf_option_help(void);
/* The row of an option; PERF_OPTIONS: there is none, which getopt_long() never returns. */
size_t perf_option_row(int c);
/* As the user writes it, for errors; lasts until the next call. */
const char *perf_shown(int c);

#endif /* SDR_PERF_TABLE_H */
