/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_perf says, how it ends, and its clock (sdr_perf_say.c): below all its files and those of
 * the probe.
 */
#ifndef SDR_PERF_SAY_H
#define SDR_PERF_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_WHY 320u	       /* bytes of a sentence that says what is wrong */
#define PERF_SEC 1000000000ull /* ns */

enum { PERF_EXIT_OK = 0, PERF_EXIT_FAILED = 1, PERF_EXIT_USAGE = 2, PERF_EXIT_CLIENT = 3 };

extern char perf_doing[96]; /* for messages */
extern bool perf_serving;   /* a client is known: its failure is not the server's */
uint64_t perf_now(void);    /* ns, monotonic */
void perf_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void perf_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* fills `why`; returns -1 */
int perf_why(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* text from the network as a line that does no harm to a terminal */
void perf_clean(char *text, size_t size);
extern bool perf_looping; /* a process of its own serves each client */

#endif /* SDR_PERF_SAY_H */
