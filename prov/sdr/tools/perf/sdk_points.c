/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which points are run: the one that the options describe, or, with --sweep, that one with one of
 * its numbers changed from point to point.  What can be swept is a row of a table.
 *
 * A number has the suffixes k, m, g; a size of a chunk may be in packets ("16p"), so that a sweep
 * over packet sizes can keep the work of a receiver the same.  No state, no exit.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk_points.h"
#include "sdr_perf_say.h"

#define LIST_MAX 512u /* bytes of a list of values */

const char sdk_sweep_names[] = "size, chunk, mtu, in-flight, channels, workers";

static void size_set(struct sdk_point *p, uint64_t v, bool packets)
{
	(void)packets;
	p->size = v;
}

static void mtu_set(struct sdk_point *p, uint64_t v, bool packets)
{
	(void)packets;
	p->mtu = (uint32_t)v;
}

static void chunk_set(struct sdk_point *p, uint64_t v, bool packets)
{
	p->chunk = packets ? 0 : (uint32_t)v;
	p->chunk_pkts = packets ? (uint32_t)v : 0;
}

static void in_flight_set(struct sdk_point *p, uint64_t v, bool packets)
{
	(void)packets;
	p->in_flight = (uint32_t)v;
}

static void channels_set(struct sdk_point *p, uint64_t v, bool packets)
{
	(void)packets;
	p->channels = (uint32_t)v;
}

static void workers_set(struct sdk_point *p, uint64_t v, bool packets)
{
	(void)packets;
	p->workers = (uint32_t)v;
}

static const struct field {
	const char *name;
	const char *values; /* of a sweep without a list */
	uint64_t min, max;
	bool packets; /* may be in packets */
	void (*set)(struct sdk_point *p, uint64_t v, bool packets);
} fields[] = {
	{ "size", "4k,16k,64k,256k,1m,4m,16m", 1, PERF_SIZE_MAX, false, size_set },
	{ "chunk", "1p,2p,4p,8p,16p,32p,64p", 1, SDK_CHUNK_MAX, true, chunk_set },
	{ "mtu", "64,128,256,512,1024,2048,4096,0", 0, SDK_MTU_MAX, false, mtu_set },
	{ "in-flight", "1,2,4,8,16,32,64", 1, PERF_SLOTS_MAX, false, in_flight_set },
	{ "channels", "1,2,4,8,16", 1, SDK_CHANNELS_MAX, false, channels_set },
	{ "workers", "0,1,2,4,8,16", 0, 16, false, workers_set },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* "64k", "16p" where that is a unit; -1 with why. */
static int value(const struct field *f, const char *s, uint64_t *v, bool *packets, char *why)
{
	static const struct {
		char suffix;
		unsigned int shift;
	} unit[] = { { 'k', 10 }, { 'm', 20 }, { 'g', 30 } };
	unsigned long long n;
	unsigned int shift = 0;
	char *end;
	size_t i;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || errno)
		return perf_why(why, "%s: \"%.40s\" is not a number", f->name, s);
	*packets = f->packets && *end == 'p';
	end += *packets;
	for (i = 0; !*packets && i < sizeof(unit) / sizeof(unit[0]); i++) {
		if ((*end | 32) == unit[i].suffix) {
			shift = unit[i].shift;
			end++;
			break;
		}
	}
	if (*end)
		return perf_why(why, "%s: \"%.40s\" is not a number", f->name, s);
	if (n > UINT64_MAX >> shift || n << shift < f->min || n << shift > f->max)
		return perf_why(why, "%s: %.40s is out of range (%llu to %llu)", f->name, s,
				(unsigned long long)f->min, (unsigned long long)f->max);
	*v = (uint64_t)n << shift;
	return 0;
}

static const struct field *field_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	}
	return NULL;
}

/* One option of the command line, if it was given. */
static int field_apply(struct sdk_point *p, const char *name, const char *text, char *why)
{
	const struct field *f = field_find(name, strlen(name));
	uint64_t v = 0;
	bool packets = false;

	if (!text)
		return 0;
	if (value(f, text, &v, &packets, why))
		return -1;
	f->set(p, v, packets);
	return 0;
}

int sdk_point_split(uint64_t npkts, uint32_t in_flight, uint8_t bits[3])
{
	static const uint8_t split[][3] = { { 10, 18, 4 }, { 8, 22, 2 }, { 6, 26, 0 } };
	size_t i;

	for (i = 0; i < sizeof(split) / sizeof(split[0]); i++) {
		if (npkts <= 1ull << split[i][1] && in_flight <= 1u << split[i][0]) {
			memcpy(bits, split[i], sizeof(split[i]));
			return 0;
		}
	}
	return -1;
}

int sdk_point_check(const struct sdk_point *p, char *why)
{
	uint8_t bits[3];

	if (!p->size || p->size > PERF_SIZE_MAX || !p->in_flight || p->in_flight > PERF_SLOTS_MAX ||
	    p->chunk > SDK_CHUNK_MAX || p->chunk_pkts > SDK_CHUNK_MAX || !p->channels ||
	    p->channels > SDK_CHANNELS_MAX)
		return perf_why(why, "the plan makes no sense");
	if (p->mtu && (p->mtu < SDK_MTU_MIN || p->mtu > SDK_MTU_MAX || p->mtu % 4))
		return perf_why(why, "mtu: %u is neither 0 nor a multiple of 4 from %u to %u",
				p->mtu, SDK_MTU_MIN, SDK_MTU_MAX);
	if (p->chunk && p->mtu && p->chunk % p->mtu)
		return perf_why(why,
				"chunk: %u bytes are no multiple of packets of %u; in packets: %up",
				p->chunk, p->mtu, p->chunk / p->mtu ? p->chunk / p->mtu : 1);
	if (p->size > PERF_ROOM_MAX / p->in_flight)
		return perf_why(
			why, "size: %u messages of %llu bytes in flight are more than %llu bytes",
			p->in_flight, (unsigned long long)p->size, PERF_ROOM_MAX);
	if (p->workers > SDK_WORKERS_MAX)
		return perf_why(why, "workers: %u: expected 0 to %u", p->workers, SDK_WORKERS_MAX);
	if (p->mtu && sdk_point_split((p->size + p->mtu - 1) / p->mtu, p->in_flight, bits))
		return perf_why(
			why,
			"mtu: %u messages of %llu bytes in packets of %u have no room in the "
			"immediate: larger packets, or fewer in flight",
			p->in_flight, (unsigned long long)p->size, p->mtu);
	return 0;
}

static int points_sweep(const char *sweep, const struct sdk_point *one, struct sdk_point *v,
			char *why)
{
	size_t len = strcspn(sweep, "=");
	const struct field *f = field_find(sweep, len);
	char text[LIST_MAX], *at, *save, *item;
	const char *list;
	uint64_t number = 0;
	bool packets = false;
	int n = 0;

	if (!f)
		return perf_why(why, "sweep: \"%.40s\" is not one of %s", sweep, sdk_sweep_names);
	list = sweep[len] ? sweep + len + 1 : f->values;
	if (!*list || strlen(list) >= sizeof(text) || strstr(list, ",,") || *list == ',' ||
	    list[strlen(list) - 1] == ',')
		return perf_why(
			why, "sweep: \"%.60s\" is not a list with commas between its values", list);
	snprintf(text, sizeof(text), "%s", list);
	for (at = text; (item = strtok_r(at, ",", &save)) != NULL; at = NULL) {
		if (n == (int)SDK_POINTS_MAX)
			return perf_why(why, "sweep: more than %u values", SDK_POINTS_MAX);
		if (value(f, item, &number, &packets, why))
			return -1;
		v[n] = *one;
		f->set(&v[n++], number, packets);
	}
	return n;
}

int sdk_points(const struct perf_opt *opt, struct sdk_point *v, char *why)
{
	const struct perf_plan *plan = &opt->plan;
	struct sdk_point one = { .size = plan->size_min,
				 .channels = 1,
				 .in_flight = plan->in_flight };
	int n = 1, i;

	if (field_apply(&one, "mtu", opt->setting[PERF_MTU], why) ||
	    field_apply(&one, "chunk", opt->setting[PERF_CHUNK], why) ||
	    field_apply(&one, "channels", opt->setting[PERF_CHANNELS], why) ||
	    field_apply(&one, "workers", opt->sdk.workers, why))
		return -1;
	v[0] = one;
	if (opt->sdk.sweep) {
		n = points_sweep(opt->sdk.sweep, &one, v, why);
	} else {
		for (; v[n - 1].size <= plan->size_max / 2; n++) {
			v[n] = one;
			v[n].size = 2 * v[n - 1].size;
		}
	}
	for (i = 0; i < n; i++) {
		if (sdk_point_check(&v[i], why))
			return -1;
	}
	return n;
}
