/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The values of options: numbers, times, rates, words.  What is none ends the process, with the
 * option as the user wrote it.  No state.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_perf_opt.h"
#include "sdr_perf_say.h"
#include "sdr_perf_value.h"

#define DURATION_MAX 86400.0 /* s */
#define RATE_MIN     1e3     /* bit/s */
#define RATE_MAX     1e12

uint64_t perf_number(const char *option, const char *s, uint64_t min, uint64_t max)
{
	unsigned long long v;
	unsigned int shift = 0;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || errno)
		perf_usage("%s: \"%s\" is not a number", option, s);
	switch (*end) {
	case 'g':
	case 'G':
		shift = 30;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'k':
	case 'K':
		shift = 10;
		break;
	}
	if (end[shift ? 1 : 0])
		perf_usage("%s: \"%s\" is not a number", option, s);
	if (v > UINT64_MAX >> shift || v << shift < min || v << shift > max)
		perf_usage("%s: %s is out of range (%llu to %llu)", option, s,
			   (unsigned long long)min, (unsigned long long)max);
	return v << shift;
}

uint64_t perf_seconds(const char *option, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !isfinite(v) || v < 0.01 || v > DURATION_MAX)
		perf_usage("%s: \"%s\" is not a time from 0.01 to %.0f seconds", option, s,
			   DURATION_MAX);
	return (uint64_t)(v * (double)PERF_SEC);
}

double perf_rate(const char *option, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	switch (*end) {
	case 'g':
	case 'G':
		v *= 1e9;
		end++;
		break;
	case 'm':
	case 'M':
		v *= 1e6;
		end++;
		break;
	case 'k':
	case 'K':
		v *= 1e3;
		end++;
		break;
	}
	if (strcmp(end, "bit") == 0)
		end += 3;
	if (*s < '0' || *s > '9' || *end || !(v >= RATE_MIN && v <= RATE_MAX))
		perf_usage("%s: \"%s\" is not a rate from 1k to 1000g bit/s, such as 500m or 2.5g",
			   option, s);
	return v;
}

unsigned int perf_word(const char *option, const char *s, const char *const *words, unsigned int n,
		       const char *allowed)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strcmp(s, words[i]) == 0)
			return i;
	}
	perf_usage("%s: \"%s\" is not one of %s", option, s, allowed);
}

unsigned int perf_interval(const char *option, const char *arg)
{
	static const struct {
		char suffix;
		unsigned int s;
	} unit[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
	char text[16];
	size_t n = strlen(arg), i;
	unsigned int s = 1;

	if (n >= sizeof(text))
		perf_usage("%s: \"%.60s\" is not a time such as 30s, 10m or 2h", option, arg);
	snprintf(text, sizeof(text), "%s", arg);
	for (i = 0; n && i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (text[n - 1] == unit[i].suffix) {
			s = unit[i].s;
			text[n - 1] = 0;
			break;
		}
	}
	return s * (unsigned int)perf_number(option, text, 1, PROBE_EVERY_MAX / s);
}
