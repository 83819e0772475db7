/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Settings of a path, from text: the same words in options, in a schedule and in `sdr_wan set`.
 *
 * A table has the words, each with the function that reads its value.  Units are part of values:
 * rates are bits a second in decimal steps (1gbit), times carry theirs (25ms; without, seconds),
 * sizes are bytes in steps of 1024 (64k).  A value that makes no sense leaves the record as it was.
 * No state, no I/O.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/common/tool.h"
#include "wan_link.h"

static const char *const aqm_names[] = { "tail", "codel", "step", NULL };
static const char *const ecn_names[] = { "pass", "bleach", "mangle", NULL };

const char *wan_aqm_name(uint8_t aqm)
{
	return aqm_names[aqm];
}

/* ---- numbers ------------------------------------------------------------------------------- */

struct wan_unit {
	const char *name;
	double by;
};

/* A number and one of the units behind it (the last has no name). */
static int wan_read_unit(const char *s, const struct wan_unit *unit, double *v)
{
	char digits[TOOL_NUMBER];
	size_t n = strlen(s), m = 0;

	for (; unit->name; unit++) {
		m = strlen(unit->name);
		if (n > m && strcasecmp(s + n - m, unit->name) == 0)
			break;
		m = 0;
	}
	if (n - m >= sizeof(digits))
		return -1;
	memcpy(digits, s, n - m);
	digits[n - m] = 0;
	if (tool_real(digits, v))
		return -1;
	*v *= unit->by;
	return 0;
}

static int wan_read_bounded(const char *s, const struct wan_unit *unit, double max, uint64_t *out)
{
	double v;

	if (wan_read_unit(s, unit, &v) || !(v >= 0 && v <= max))
		return -1;
	*out = (uint64_t)(v + 0.5);
	return 0;
}

int wan_read_rate(const char *s, uint64_t *bps)
{
	static const struct wan_unit unit[] = { { "gbit", 1e9 }, { "mbit", 1e6 }, { "kbit", 1e3 },
						{ "bit", 1 },	 { "g", 1e9 },	  { "m", 1e6 },
						{ "k", 1e3 },	 { NULL, 1 } };

	return wan_read_bounded(s, unit, (double)WAN_RATE_MAX, bps);
}

int wan_read_time(const char *s, uint64_t *ns)
{
	static const struct wan_unit unit[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 1e9 }
	};

	return wan_read_bounded(s, unit, 86400e9, ns);
}

int wan_read_share(const char *s, double *p)
{
	static const struct wan_unit unit[] = { { "%", 0.01 }, { NULL, 1 } };

	return wan_read_unit(s, unit, p) || !(*p >= 0 && *p <= 1) ? -1 : 0;
}

/* "A:B:C" in place; number of parts, at most max. */
static int wan_split(char *s, char **part, int max)
{
	int n = 0;

	for (;;) {
		part[n++] = s;
		s = strchr(s, ':');
		if (!s || n == max)
			return s ? max + 1 : n;
		*s++ = 0;
	}
}

/* ---- settings ------------------------------------------------------------------------------ */

struct wan_setter {
	const char *key;
	/* text may be taken to pieces; -1: it makes no sense */
	int (*set)(struct wan_link *l, struct wan_ask *ask, char *text);
	const char *takes;
};

static int wan_set_rate(struct wan_link *l, struct wan_ask *ask, char *s)
{
	(void)ask;
	return wan_read_rate(s, &l->rate_bps);
}

static int wan_set_delay(struct wan_link *l, struct wan_ask *ask, char *s)
{
	uint64_t ns;

	(void)ask;
	if (wan_read_time(s, &ns) || ns > WAN_DELAY_MAX)
		return -1;
	l->delay_ns = ns;
	return 0;
}

static int wan_set_rtt(struct wan_link *l, struct wan_ask *ask, char *s)
{
	uint64_t ns;

	(void)ask;
	if (wan_read_time(s, &ns) || ns / 2 > WAN_DELAY_MAX)
		return -1;
	l->delay_ns = ns / 2;
	return 0;
}

static int wan_set_queue(struct wan_link *l, struct wan_ask *ask, char *s)
{
	static const struct wan_unit bdp[] = { { "bdp", 1 }, { NULL, -1 } };
	struct wan_ask a = { .given = true };
	size_t n = strlen(s);
	double v;

	(void)l;
	if (wan_read_unit(s, bdp, &v))
		v = -1;
	if (v > 0 && v <= 1000)
		a.bdp = v;
	else if (n && s[n - 1] == 's') {
		if (wan_read_time(s, &a.ns) || !a.ns)
			return -1;
	} else if (tool_whole(s, true, &a.bytes) || a.bytes > WAN_QUEUE_MAX)
		return -1;
	*ask = a;
	return 0;
}

/* "1e-3", "1%", "iid:P", "ge:SHARE:BURST", "iid:P:ge..." is not there: both have words. */
static int wan_set_loss(struct wan_link *l, struct wan_ask *ask, char *s)
{
	double share, burst;
	char *part[3];
	int n;

	(void)ask;
	if (strncmp(s, "ge:", 3) == 0) {
		n = wan_split(s, part, 3);
		if (n != 3 || wan_read_share(part[1], &share) || share > 0.9 ||
		    tool_real(part[2], &burst) || !(burst >= 1 && burst <= 1e6))
			return -1;
		l->ge_loss = share;
		l->ge_burst = burst;
		return 0;
	}
	if (strncmp(s, "iid:", 4) == 0)
		s += 4;
	if (wan_read_share(s, &share))
		return -1;
	l->loss = share;
	if (share == 0)
		l->ge_loss = 0;
	return 0;
}

static int wan_set_jitter(struct wan_link *l, struct wan_ask *ask, char *s)
{
	char *part[2];
	uint64_t ns;
	int n = wan_split(s, part, 2);

	(void)ask;
	if (n > 2 || (n == 2 && strcmp(part[1], "ordered") != 0) || wan_read_time(part[0], &ns) ||
	    ns > WAN_DELAY_MAX)
		return -1;
	l->jitter_ns = ns;
	l->jitter_ordered = n == 2;
	return 0;
}

static int wan_set_reorder(struct wan_link *l, struct wan_ask *ask, char *s)
{
	char *part[2];
	uint64_t ns = 0;
	double p;
	int n = wan_split(s, part, 2);

	(void)ask;
	if (n > 2 || wan_read_share(part[0], &p) || (n == 2 && wan_read_time(part[1], &ns)) ||
	    ns > WAN_DELAY_MAX || (p > 0 && !ns))
		return -1;
	l->reorder = p;
	l->reorder_ns = ns;
	return 0;
}

static int wan_set_dup(struct wan_link *l, struct wan_ask *ask, char *s)
{
	(void)ask;
	return wan_read_share(s, &l->dup);
}

/* "tail", "codel[:TARGET[:INTERVAL[:ecn]]]", "step:TIME" */
static int wan_set_aqm(struct wan_link *l, struct wan_ask *ask, char *s)
{
	uint64_t target = WAN_CODEL_NS, interval = WAN_CODEL_SPAN;
	char *part[4];
	int n = wan_split(s, part, 4), kind = tool_word(part[0], aqm_names);
	bool marks = n > 1 && n < 5 && strcmp(part[n - 1], "ecn") == 0;

	(void)ask;
	n -= marks;
	if (kind < 0 || (kind != WAN_CODEL && marks) || n > 3 || (kind == WAN_TAIL && n > 1) ||
	    (kind == WAN_STEP && n != 2))
		return -1;
	if (n > 1 && (wan_read_time(part[1], &target) || !target))
		return -1;
	if (n > 2 && (wan_read_time(part[2], &interval) || !interval))
		return -1;
	l->aqm = (uint8_t)kind;
	l->aqm_marks = marks;
	l->target_ns = target;
	l->interval_ns = interval;
	return 0;
}

static int wan_set_ecn(struct wan_link *l, struct wan_ask *ask, char *s)
{
	int w = tool_word(s, ecn_names);

	(void)ask;
	if (w < 0)
		return -1;
	l->ecn = (uint8_t)w;
	return 0;
}

static int wan_set_link(struct wan_link *l, struct wan_ask *ask, char *s)
{
	static const char *const words[] = { "up", "down", NULL };
	int w = tool_word(s, words);

	(void)ask;
	if (w < 0)
		return -1;
	l->down = w == 1;
	return 0;
}

static int wan_set_overhead(struct wan_link *l, struct wan_ask *ask, char *s)
{
	uint64_t v;

	(void)ask;
	if (tool_whole(s, true, &v) || v > 1000)
		return -1;
	l->overhead = (uint32_t)v;
	return 0;
}

static const struct wan_setter setters[] = {
	{ "rate", wan_set_rate, "bits a second up to 100gbit, 0 for no limit, as in 1gbit" },
	{ "delay", wan_set_delay, "a time one way up to 60s, as in 12.5ms" },
	{ "rtt", wan_set_rtt, "a time, half of it each way, as in 25ms" },
	{ "queue", wan_set_queue, "bytes (64k), a time of the rate (5ms), or 0.5bdp; 0: no end" },
	{ "loss", wan_set_loss, "a share (1e-3, 1%), iid:SHARE or ge:SHARE:BURST" },
	{ "jitter", wan_set_jitter, "TIME or TIME:ordered" },
	{ "reorder", wan_set_reorder, "SHARE:TIME" },
	{ "dup", wan_set_dup, "a share" },
	{ "aqm", wan_set_aqm, "tail, codel[:TARGET[:INTERVAL]][:ecn] or step:TIME" },
	{ "ecn", wan_set_ecn, "pass, bleach or mangle" },
	{ "link", wan_set_link, "up or down" },
	{ "overhead", wan_set_overhead, "bytes up to 1000" },
};

int wan_link_set(struct wan_link *l, struct wan_ask *ask, const char *key, const char *value,
		 char why[WAN_WHY])
{
	struct wan_link was = *l;
	char text[128];

	for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++) {
		if (strcmp(key, setters[i].key) != 0)
			continue;
		if (strlen(value) < sizeof(text)) {
			memcpy(text, value, strlen(value) + 1);
			if (!setters[i].set(l, ask, text))
				return 0;
		}
		*l = was;
		snprintf(why, WAN_WHY, "%s: \"%.64s\" is none; it takes %s", key, value,
			 setters[i].takes);
		return -1;
	}
	snprintf(why, WAN_WHY,
		 "there is no setting \"%.64s\": rate, delay, rtt, queue, loss, jitter, reorder, "
		 "dup, aqm, ecn, link, overhead are all",
		 key);
	return -1;
}

int wan_link_sets(struct wan_link *l, struct wan_ask *ask, const char *text, char why[WAN_WHY])
{
	char copy[512], *s = copy, *end, *is;

	if (strlen(text) >= sizeof(copy)) {
		snprintf(why, WAN_WHY, "\"%.32s...\" is too long", text);
		return -1;
	}
	memcpy(copy, text, strlen(text) + 1);
	for (; s; s = end) {
		end = strchr(s, ',');
		if (end)
			*end++ = 0;
		is = strchr(s, '=');
		if (!is) {
			snprintf(why, WAN_WHY, "\"%.64s\" is no setting: NAME=VALUE", s);
			return -1;
		}
		*is++ = 0;
		if (wan_link_set(l, ask, s, is, why))
			return -1;
	}
	return 0;
}

int wan_link_queue(struct wan_link *l, const struct wan_ask *ask, uint64_t rtt_ns,
		   char why[WAN_WHY])
{
	double bytes = (double)ask->bytes, ns = (double)ask->ns + ask->bdp * (double)rtt_ns;

	if (!ask->given)
		return 0;
	if (ask->bdp > 0 || ask->ns) {
		if (!l->rate_bps || (ask->bdp > 0 && !rtt_ns)) {
			snprintf(why, WAN_WHY, "queue: %s needs a rate%s; give bytes, or those",
				 ask->bdp > 0 ? "a bandwidth-delay product" : "a time",
				 ask->bdp > 0 ? " and a delay" : "");
			return -1;
		}
		bytes = ns * 1e-9 * (double)l->rate_bps / 8;
		if (bytes < WAN_LINK_LEAST)
			bytes = WAN_LINK_LEAST;
		if (bytes > (double)WAN_QUEUE_MAX) {
			snprintf(why, WAN_WHY, "queue: %.3g bytes is more than %llu", bytes,
				 (unsigned long long)WAN_QUEUE_MAX);
			return -1;
		}
	}
	l->queue_bytes = (uint64_t)(bytes + 0.5);
	return 0;
}
