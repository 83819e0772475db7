/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages, exits and the clock of sdr_perf.
 *
 * Whatever is wrong ends the process with one sentence on stderr.  The server with --loop serves
 * each client in a child; one that fails because of its client says so by its exit status.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sdr_perf_say.h"

char perf_doing[96] = "starting";
bool perf_serving;
bool perf_looping;

uint64_t perf_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PERF_SEC + (uint64_t)t.tv_nsec;
}

static void perf_say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%ssdr_perf: ", isatty(STDERR_FILENO) ? "\r\033[K" : "");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void perf_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	perf_say(fmt, ap);
	va_end(ap);
	exit(perf_looping && perf_serving ? PERF_EXIT_CLIENT : PERF_EXIT_FAILED);
}

void perf_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	perf_say(fmt, ap);
	va_end(ap);
	fprintf(stderr, "sdr_perf --help lists the options\n");
	exit(PERF_EXIT_USAGE);
}

int perf_why(char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, PERF_WHY, fmt, ap);
	va_end(ap);
	return -1;
}

void perf_clean(char *text, size_t size)
{
	size_t i;

	text[size - 1] = 0;
	for (i = 0; text[i]; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
}
