/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reads the value of an option (sdr_perf_value.c); `option` is its name for messages.
 */
#ifndef SDR_PERF_VALUE_H
#define SDR_PERF_VALUE_H

#include <stdint.h>

/* min to max, with the suffixes k, m, g: powers of 1024 */
uint64_t perf_number(const char *option, const char *s, uint64_t min, uint64_t max);
/* "0.5": ns */
uint64_t perf_seconds(const char *option, const char *s);
/* As FI_SDR_RATE has it: decimal suffixes, and "bit" if one likes.  bit/s */
double perf_rate(const char *option, const char *s);
/* The number of the word among n; allowed: all of them, for people. */
unsigned int perf_word(const char *option, const char *s, const char *const *words, unsigned int n,
		       const char *allowed);
/* "90", "90s", "10m", "2h": seconds. */
unsigned int perf_interval(const char *option, const char *s);

#endif /* SDR_PERF_VALUE_H */
