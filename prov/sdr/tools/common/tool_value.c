/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Texts and values: numbers, names, lists and ranges, and numbers for people.
 *
 * A text is taken whole or not at all: nothing behind a number, no blank in front, no nan, no
 * infinity and no hexadecimals.  What a value means and its bounds are the row's (model_row.c).
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

int tool_real(const char *s, double *v)
{
	/* the sign is read, so that the caller's bounds can refuse it */
	const char *d = *s == '-' ? s + 1 : s;
	char *end;

	if (!isdigit((unsigned char)*d) && !(*d == '.' && isdigit((unsigned char)d[1])))
		return -1;
	if (d[0] == '0' && (d[1] == 'x' || d[1] == 'X'))
		return -1;
	*v = strtod(s, &end);
	return *end || !isfinite(*v) ? -1 : 0;
}

static int value_shift(char c)
{
	switch (c) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	case 't':
	case 'T':
		return 40;
	}
	return 0;
}

int tool_whole(const char *s, bool size, uint64_t *v)
{
	char digits[TOOL_NUMBER], *end;
	size_t n = strlen(s);
	int shift = size && n ? value_shift(s[n - 1]) : 0;
	double x;

	if (shift)
		n--;
	if (!n || n >= sizeof(digits))
		return -1;
	memcpy(digits, s, n);
	digits[n] = 0;
	errno = 0;
	*v = strtoull(digits, &end, 10);
	if (isdigit((unsigned char)*digits) && !*end && !errno) {
		if (*v > UINT64_MAX >> shift)
			return -1;
		*v <<= shift;
		return 0;
	}
	if (tool_real(digits, &x))
		return -1;
	x = ldexp(x, shift);
	if (!(x >= 0 && x < 0x1p64) || x != floor(x))
		return -1;
	*v = (uint64_t)x;
	return 0;
}

int tool_word(const char *s, const char *const *words)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(s, words[i]) == 0)
			return i;
	}
	return -1;
}

void tool_number(double v, char out[TOOL_NUMBER])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, TOOL_NUMBER, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			return;
	}
}

void tool_human_s(double s, char out[TOOL_NUMBER])
{
	if (s >= 1 || s == 0)
		snprintf(out, TOOL_NUMBER, "%.5g s", s);
	else if (s >= 1e-3)
		snprintf(out, TOOL_NUMBER, "%.5g ms", s * 1e3);
	else if (s >= 1e-6)
		snprintf(out, TOOL_NUMBER, "%.5g us", s * 1e6);
	else
		snprintf(out, TOOL_NUMBER, "%.5g ns", s * 1e9);
}

void tool_human_bytes(uint64_t v, char out[TOOL_NUMBER])
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double x = (double)v;
	int i = 0;

	for (; x >= 1024 && i < 6; i++)
		x /= 1024;
	snprintf(out, TOOL_NUMBER, "%.*g %s", x >= 1000 ? 6 : 5, x, unit[i]);
}

void tool_human_bps(double v, char out[TOOL_NUMBER])
{
	static const char *const unit[] = { "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };
	int i = 0;

	for (; v >= 1000 && i < 4; i++)
		v /= 1000;
	snprintf(out, TOOL_NUMBER, "%.5g %s", v, unit[i]);
}

/* ---- lists and ranges ---- */

static int list_add(struct tool_list *l, const char *text)
{
	if (l->n == TOOL_LIST_MAX)
		return -1;
	if ((l->n & (l->n - 1)) == 0)
		l->text = tool_alloc(l->text, l->n ? 2 * l->n : 1, sizeof(*l->text));
	l->text[l->n] = strdup(text);
	if (!l->text[l->n])
		tool_die("no memory for a list");
	l->n++;
	return 0;
}

void tool_list_free(struct tool_list *l)
{
	while (l->n)
		free(l->text[--l->n]);
	free(l->text);
	l->text = NULL;
}

static int list_bound(const char *s, bool whole, double *v)
{
	uint64_t u;

	if (!whole)
		return tool_real(s, v);
	if (tool_whole(s, true, &u))
		return -1;
	*v = (double)u;
	return 0;
}

static int list_point(struct tool_list *l, double v, bool whole)
{
	char text[TOOL_NUMBER];

	/* twelve digits: a decade of a range is 0.0001 and not 0.000099999999999999 */
	snprintf(text, sizeof(text), whole ? "%.0f" : "%.12g", whole ? nearbyint(v) : v);
	if (l->n && strcmp(text, l->text[l->n - 1]) == 0)
		return 0; /* neighbours that are the same whole number */
	return list_add(l, text);
}

/* "lo:hi:xN" or "lo:hi:+step"; s is taken to pieces. */
static int list_range(struct tool_list *l, char *s, bool whole, char *why, size_t why_len)
{
	char *hi_s = strchr(s, ':'), *how;
	double lo, hi, step;
	uint64_t i, n;

	*hi_s++ = 0;
	how = strchr(hi_s, ':');
	if (!how) {
		snprintf(why, why_len, "a range is lo:hi:xN or lo:hi:+step");
		return -1;
	}
	*how++ = 0;
	if (list_bound(s, whole, &lo) || list_bound(hi_s, whole, &hi) || !(lo <= hi)) {
		snprintf(why, why_len, "the range from \"%s\" to \"%s\" is none", s, hi_s);
		return -1;
	}
	if (*how == 'x') {
		if (tool_whole(how + 1, false, &n) || n < 2 || n > TOOL_LIST_MAX || !(lo > 0)) {
			snprintf(why, why_len, "\"%s\": N of lo:hi:xN is 2 to %u, and lo above 0",
				 how, TOOL_LIST_MAX);
			return -1;
		}
		for (i = 0; i < n; i++) {
			if (list_point(l,
				       i == n - 1 ? hi
						  : lo * pow(hi / lo, (double)i / (double)(n - 1)),
				       whole))
				goto too_long;
		}
		return 0;
	}
	if (*how != '+' || list_bound(how + 1, whole, &step) || !(step > 0)) {
		snprintf(why, why_len, "\"%s\" is neither xN nor +step", how);
		return -1;
	}
	for (i = 0; lo + (double)i * step <= hi + step * 1e-9; i++) {
		if (i == TOOL_LIST_MAX || list_point(l, lo + (double)i * step, whole))
			goto too_long;
	}
	return 0;
too_long:
	snprintf(why, why_len, "more than %u values", TOOL_LIST_MAX);
	return -1;
}

int tool_list_read(struct tool_list *l, const char *s, bool whole, char *why, size_t why_len)
{
	char *copy = strdup(s), *at = copy, *item;
	int ret = -1;

	if (!copy)
		tool_die("no memory for a list");
	*l = (struct tool_list){ 0 };
	while ((item = strsep(&at, ","))) {
		if (!*item) {
			snprintf(why, why_len, "an element of the list is empty");
			goto out;
		}
		if (strchr(item, ':')) {
			if (list_range(l, item, whole, why, why_len))
				goto out;
		} else if (list_add(l, item)) {
			snprintf(why, why_len, "more than %u values", TOOL_LIST_MAX);
			goto out;
		}
	}
	ret = 0;
out:
	if (ret)
		tool_list_free(l);
	free(copy);
	return ret;
}
