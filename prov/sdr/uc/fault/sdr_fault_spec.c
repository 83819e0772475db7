/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The text of a fault specification.  Numbers are read here and not by the C library, whose decimal
 * point depends on the locale of the program that loaded us.  Every refusal names the token and
 * what would do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sdr_fault.h"

#define SDR_FAULT_TOKEN_MAX 64u	 /* bytes of a key=value */
#define SDR_FAULT_TIME_MAX  1e15 /* ns: 1e6 s */
#define SDR_FAULT_RATE_MAX  1e13 /* bits per second */
#define SDR_FAULT_SIZE_MAX  1e12 /* bytes */
#define SDR_FAULT_BURST_MAX 1e6	 /* packets */

struct sdr_fault_unit {
	const char *name;
	double mul;
};
static const struct sdr_fault_unit sdr_fault_times[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 }
};
static const struct sdr_fault_unit sdr_fault_rates[] = { { "", 1 },	  { "bit", 1 },
							 { "kbit", 1e3 }, { "mbit", 1e6 },
							 { "gbit", 1e9 }, { NULL, 0 } };
static const struct sdr_fault_unit sdr_fault_sizes[] = { { "", 1 },	      { "b", 1 },
							 { "k", 1024 },	      { "m", 1048576 },
							 { "g", 1073741824 }, { NULL, 0 } };

static inline bool sdr_fault_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 10^n; exact up to 22, which is all that sensible numbers need. */
static double sdr_fault_pow10(int n)
{
	double v = 1;

	for (; n > 0 && v < 1e300; n--)
		v *= 10;
	return v;
}

/*
 * digits[.digits][e[+-]digits], at least one digit in front of the exponent; NULL when it is not a
 * number.
 */
static const char *sdr_fault_number(const char *s, double *out)
{
	int digits = 0, exp = 0, exp10 = 0, sign = 1;
	double v = 0;

	for (; sdr_fault_digit(*s); s++, digits++)
		v = v * 10 + (*s - '0');
	if (*s == '.') {
		for (s++; sdr_fault_digit(*s); s++, digits++) {
			v = v * 10 + (*s - '0');
			exp10--;
		}
	}
	if (!digits)
		return NULL;
	if ((*s == 'e' || *s == 'E') &&
	    (sdr_fault_digit(s[1]) || ((s[1] == '-' || s[1] == '+') && sdr_fault_digit(s[2])))) {
		s++;
		if (*s == '-' || *s == '+')
			sign = *s++ == '-' ? -1 : 1;
		for (; sdr_fault_digit(*s); s++)
			exp = exp < 1000 ? exp * 10 + (*s - '0') : exp;
	}
	exp10 += sign * exp;
	/*
	 * Division by a power that is exact gives the nearest double; multiplying by 0.001 would
	 * not.
	 */
	*out = exp10 < 0 ? v / sdr_fault_pow10(-exp10) : v * sdr_fault_pow10(exp10);
	return s;
}

static bool sdr_fault_quantity(const char *s, size_t len, const struct sdr_fault_unit *units,
			       double max, uint64_t *out)
{
	const char *end;
	double v;
	size_t rest;

	end = sdr_fault_number(s, &v);
	if (!end || end > s + len)
		return false;
	rest = (size_t)(s + len - end);
	if (!rest && v == 0) {
		*out = 0;
		return true;
	}
	for (; units->name; units++) {
		if (strlen(units->name) == rest && !strncasecmp(units->name, end, rest)) {
			v *= units->mul;
			if (!(v <= max))
				return false;
			*out = (uint64_t)(v + 0.5);
			return true;
		}
	}
	return false;
}

static bool sdr_fault_fraction(const char *s, double *out)
{
	const char *end = sdr_fault_number(s, out);

	return end && !*end && *out <= 1;
}

static bool sdr_fault_seed(const char *s, uint64_t *out)
{
	uint64_t v = 0, base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	if (!*s)
		return false;
	for (; *s; s++) {
		char c = *s >= 'A' && *s <= 'F' ? (char)(*s + 32) : *s;
		uint64_t d;

		if (sdr_fault_digit(c))
			d = (uint64_t)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			d = (uint64_t)(c - 'a') + 10;
		else
			return false;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
			return false;
	}
	*out = v;
	return true;
}

static bool sdr_fault_time(const char *s, size_t len, uint64_t *out)
{
	return sdr_fault_quantity(s, len, sdr_fault_times, SDR_FAULT_TIME_MAX, out);
}

static bool sdr_fault_burst(const char *s, double *out)
{
	const char *end = sdr_fault_number(s, out);

	return end && !*end && *out >= 1 && *out <= SDR_FAULT_BURST_MAX;
}

static bool sdr_fault_blackout(const char *s, uint64_t *start, uint64_t *len)
{
	const char *plus = strchr(s, '+');

	return plus && sdr_fault_time(s, (size_t)(plus - s), start) &&
	       sdr_fault_time(plus + 1, strlen(plus + 1), len);
}

/* NULL when the value was taken, else what was expected. */
static const char *sdr_fault_set(struct sdr_fault_spec *o, const char *key, const char *val)
{
	const char *want = "drop, burst, dup, reorder, corrupt, delay, jitter, rate, queue, "
			   "blackout or seed before the =";
	static const char frac[] = "a fraction from 0 to 1, such as 0.01 or 1e-3";
	static const char time[] = "a time with its unit (ns, us, ms, s), such as 12.5ms";
	size_t len = strlen(val);
	bool ok = false;

	if (!strcmp(key, "drop")) {
		want = frac;
		ok = sdr_fault_fraction(val, &o->drop);
	} else if (!strcmp(key, "dup")) {
		want = frac;
		ok = sdr_fault_fraction(val, &o->dup);
	} else if (!strcmp(key, "reorder")) {
		want = frac;
		ok = sdr_fault_fraction(val, &o->reorder);
	} else if (!strcmp(key, "corrupt")) {
		want = frac;
		ok = sdr_fault_fraction(val, &o->corrupt);
	} else if (!strcmp(key, "burst")) {
		want = "a mean number of packets, 1 or more";
		ok = sdr_fault_burst(val, &o->burst);
	} else if (!strcmp(key, "delay")) {
		want = time;
		ok = sdr_fault_time(val, len, &o->delay_ns);
	} else if (!strcmp(key, "jitter")) {
		want = time;
		ok = sdr_fault_time(val, len, &o->jitter_ns);
	} else if (!strcmp(key, "rate")) {
		want = "bits per second (bit, kbit, mbit, gbit), such as 1gbit";
		ok = sdr_fault_quantity(val, len, sdr_fault_rates, SDR_FAULT_RATE_MAX,
					&o->rate_bps);
	} else if (!strcmp(key, "queue")) {
		want = "bytes (k, m, g), such as 4m";
		ok = sdr_fault_quantity(val, len, sdr_fault_sizes, SDR_FAULT_SIZE_MAX,
					&o->queue_bytes);
	} else if (!strcmp(key, "blackout")) {
		want = "START+DURATION, such as 2s+10s";
		ok = sdr_fault_blackout(val, &o->blackout_ns, &o->blackout_len_ns);
	} else if (!strcmp(key, "seed")) {
		want = "a whole number below 2^64, decimal or 0x...";
		ok = sdr_fault_seed(val, &o->seed);
		o->has_seed = true;
	}
	return ok ? NULL : want;
}

int sdr_fault_parse(const char *s, struct sdr_fault_spec *out, char *err, size_t err_len)
{
	char token[SDR_FAULT_TOKEN_MAX];
	const char *want, *end;
	char *eq;
	size_t n;

	memset(out, 0, sizeof(*out));
	if (!s || !*s)
		return 0;
	for (;; s = end + 1) {
		end = strchrnul(s, ',');
		n = (size_t)(end - s);
		want = "key=value";
		snprintf(token, sizeof(token), "%.*s",
			 n < sizeof(token) ? (int)n : (int)sizeof(token) - 1, s);
		eq = n < sizeof(token) ? strchr(token, '=') : NULL;
		if (eq) {
			*eq = 0;
			want = sdr_fault_set(out, token, eq + 1);
			*eq = '=';
		}
		if (want)
			goto bad;
		if (!*end)
			break;
	}
	if (out->burst > 1 && out->drop < 1 && out->drop / (1 - out->drop) > out->burst) {
		snprintf(token, sizeof(token), "burst=%g", out->burst);
		want = "a longer burst: such a high loss cannot come in bursts that short";
		goto bad;
	}
	return 0;
bad:
	if (err && err_len)
		snprintf(err, err_len, "fault \"%s\": expected %s", token, want);
	return -EINVAL;
}
