/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * --times: a row of CSV for each message of a client, in the order in which they completed.
 *
 * Times are of CLOCK_MONOTONIC, which other programs of the host have, too: what happened to the
 * network meanwhile can be laid beside them.  Rows wait in a buffer of stdio, so a disk is met once
 * in some hundred messages; that the file is whole is known when it was closed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sdr_perf.h"

static FILE *times;

void perf_times_open(const char *file)
{
	if (!file)
		return;
	times = fopen(file, "w");
	if (!times)
		perf_die("%s cannot be written: %s", file, strerror(errno));
	fprintf(times, "bytes,message,begin_s,seconds\n");
}

bool perf_times_wanted(void)
{
	return times;
}

void perf_times_row(uint64_t size, uint64_t n, uint64_t begin_ns, uint64_t ns)
{
	fprintf(times, "%" PRIu64 ",%" PRIu64 ",%.9f,%.9f\n", size, n, (double)begin_ns / 1e9,
		(double)ns / 1e9);
}

void perf_times_close(void)
{
	bool bad = times && ferror(times);

	if (times && (fclose(times) || bad))
		perf_die("the times could not be written");
	times = NULL;
}
