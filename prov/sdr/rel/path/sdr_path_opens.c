/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who began to open a connection of late, along one path.
 *
 * Those that began within the last one and a quarter to two and a half round trips are counted, in
 * spans, so that each finds all the others when its handshake is over.  A connection that has been
 * open for longer drops out by itself: nobody says that it has opened.
 *
 * Paths of which nothing is known have no entry that could count (sdr_path_keys.c): a table of
 * SDR_PATH_NEW does, in which a new one takes the place of the oldest.
 *
 * No clock, no allocation; the caller has the lock.
 */
#include <string.h>
#include "sdr_path_opens.h"

#define PATH_SPAN_NS 2000000ull /* besides one and a quarter round trips */
#define PATH_NEW_NS  50000000u	/* the round trip, as long as it is unknown */

/* Of two spans the time since the last one began is at least one, at most two. */
static uint64_t path_span_ns(uint64_t rtt_ns)
{
	return rtt_ns + rtt_ns / 4 + PATH_SPAN_NS;
}

static void path_span(struct sdr_path_opens *o, uint64_t len, uint64_t now)
{
	uint64_t age = now > o->span_ns ? now - o->span_ns : 0;

	if (age < len)
		return;
	o->before = age < 2 * len ? o->now : 0;
	o->now = 0;
	o->span_ns = age < 2 * len ? o->span_ns + len : now;
}

void sdr_path_opens_add(struct sdr_path_opens *o, uint64_t rtt_ns, uint64_t now)
{
	path_span(o, path_span_ns(rtt_ns), now);
	o->now++;
}

uint32_t sdr_path_opens_count(struct sdr_path_opens *o, uint64_t rtt_ns, uint64_t now,
			      uint64_t opened)
{
	uint64_t len = path_span_ns(rtt_ns);

	path_span(o, len, now);
	return o->now + o->before + (opened + len < o->span_ns);
}

/* NULL: nobody has begun to open there of late. */
static struct sdr_path_new *path_new_find(struct sdr_path_new *fresh, const struct sdr_path_key *k)
{
	for (uint32_t i = 0; i < SDR_PATH_NEW; i++)
		if (k->len && fresh[i].key.len == k->len && !memcmp(fresh[i].key.b, k->b, k->len))
			return &fresh[i];
	return NULL;
}

/* In place of the one that is the oldest. */
static struct sdr_path_new *path_new_make(struct sdr_path_new *fresh, const struct sdr_path_key *k,
					  uint64_t now)
{
	struct sdr_path_new *n = &fresh[0];

	for (uint32_t i = 1; i < SDR_PATH_NEW && n->key.len; i++)
		if (!fresh[i].key.len || fresh[i].opens.span_ns < n->opens.span_ns)
			n = &fresh[i];
	*n = (struct sdr_path_new){ .key = *k, .opens.span_ns = now };
	return n;
}

void sdr_path_new_add(struct sdr_path_new *fresh, const struct sdr_path_key *k, uint64_t now)
{
	struct sdr_path_new *n;

	if (!k->len)
		return;
	n = path_new_find(fresh, k);
	n = n ? n : path_new_make(fresh, k, now);
	sdr_path_opens_add(&n->opens, PATH_NEW_NS, now);
}

uint32_t sdr_path_new_count(struct sdr_path_new *fresh, const struct sdr_path_key *k, uint64_t now,
			    uint64_t opened)
{
	struct sdr_path_new *n = path_new_find(fresh, k);

	return n ? sdr_path_opens_count(&n->opens, PATH_NEW_NS, now, opened) : 0;
}
