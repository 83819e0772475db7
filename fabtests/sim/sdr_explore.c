/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Exhaustive explorer of the message table: every interleaving of a small world, run through the
 * real SDK.
 *
 * The world: 2 message IDs, 2 generations, messages of 2 packets (a chunk is 1 or 2 of them), 5 or
 * 6 messages, so that every ID and every generation is used again.  The receiver posts the next
 * buffer whenever it may and completes a receive at any time, whole or not.  The sender learns of
 * posted buffers late, out of order or never, and sends as soon as it may, or (lazy) at any later
 * time.  The network delivers each packet never, once or twice, each copy at any time after it was
 * sent: that is every drop, one duplication of every packet, and every order. On hardware the
 * completion event is a step of its own, taken at any time after the bytes were written.
 *
 * A small model says what each step should change; the depth-first search runs each step of each
 * reachable model state once on the real code (the path to the state is replayed for that), and
 * compares:
 *   - bytes of a completed buffer never change; bytes around a buffer never change; a buffer holds
 *     at each packet's place nothing or that packet, so no message sees bytes of another;
 *   - packet bits and chunk bits are exactly those of the packets that came while the receive was
 *     posted; a set bit means that the bytes are in place; got, cum and high agree;
 *   - the window's base is the lowest number that is not completed.
 *
 * The known limit: a packet that is late by generations * IDs = 4 messages passes for the packet of
 * a newer message.  With the network bounded to less, no step fails; without the bound the failing
 * steps are exactly those that deliver a packet of message m while message m + 4 is posted, all of
 * them and no others. Rkey-addressed worlds (each message has a grant of its own): the sender
 * learns of each message's key by itself, at any time or never, also after the receive was
 * completed, and then may learn that it is void.  Bytes are written under a living grant only; of a
 * packet that comes later nothing is seen ("mr", "mw"), or it is reported although nothing was
 * written ("root").  So no delivery can fail there, however late.  An event can: an event that is
 * taken when message m + 4 is posted sets that message's bit, and those are, without the bound,
 * exactly the failing steps.
 *
 * Hardware with one key for all generations (LOOP_HW_1KEY) must fail: the generation check saves
 * the bitmap there, not the bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore.h"

#define DEPTH_MAX 64u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

const struct world *w;

void die(const char *what)
{
	printf("%s: the explorer itself failed: %s\n", w->name, what);
	exit(2);
}

/* ---- set of states --------------------------------------------------------------------------- */

static struct key *set;
static uint64_t set_cap, set_len;

static bool set_add(struct key k)
{
	uint64_t h = (k.a * 0x9e3779b97f4a7c15u ^ k.b * 0xc2b2ae3d27d4eb4fu), i;

	if (set_len * 2 >= set_cap) {
		struct key *old = set;
		uint64_t n = set_cap;

		set_cap = n ? 2 * n : 1 << 16;
		set = calloc(set_cap, sizeof(*set));
		if (!set)
			abort();
		set_len = 0;
		for (i = 0; i < n; i++)
			if (old[i].b)
				set_add(old[i]);
		free(old);
	}
	k.b |= 1ull << 63; /* never the empty entry */
	for (i = (h ^ h >> 29) % set_cap; set[i].b; i = (i + 1) % set_cap)
		if (set[i].a == k.a && set[i].b == k.b)
			return false;
	set[i] = k;
	set_len++;
	return true;
}

/* ---- search ---------------------------------------------------------------------------------- */

static struct {
	struct act path[DEPTH_MAX];
	uint32_t depth, deepest;
	uint64_t steps, replayed, failed, aliases;
	bool dirty; /* the real thing is not where the path ends */
} search;

static void path_print(void)
{
	static const char *const names[] = { "post", "complete", "cts",	    "key",
					     "seen", "send",	 "deliver", "event" };
	uint32_t i;

	for (i = 0; i < search.depth; i++) {
		const struct act *a = &search.path[i];

		printf(" %s(%u", names[a->kind], a->m);
		if (a->kind == ACT_KEY || a->kind == ACT_DELIVER || a->kind == ACT_EVENT)
			printf(",%u", a->p);
		printf(")");
	}
	printf("\n");
}

static void replay(void)
{
	struct model s = { 0 };
	uint32_t i;

	real_reset();
	for (i = 0; i < search.depth; i++) {
		struct model n = s;

		model_step(&n, search.path[i]);
		if (!real_step(&s, &n, search.path[i])) {
			printf("%s: %s\n", w->name, why);
			die("a step that worked before fails when replayed");
		}
		s = n;
	}
	search.replayed += search.depth;
	search.dirty = false;
}

/*
 * A packet that is exactly BOUND messages late meets a posted message of its slot and generation.
 */
static bool is_alias(const struct model *s, struct act a)
{
	if (a.kind != ACT_DELIVER && a.kind != ACT_EVENT)
		return false;
	if (world_rkeyed() &&
	    (a.kind == ACT_DELIVER || (a.m + BOUND < w->msgs && s->p[a.m + BOUND][a.p].bit)))
		return false; /* written elsewhere or nowhere; no bit that was not set */
	return a.m + BOUND < w->msgs && s->rx[a.m + BOUND] == RX_LIVE;
}

/* True when everything below may be searched. */
static bool step_check(const struct model *s, struct act a, bool ok)
{
	bool alias = is_alias(s, a);

	search.aliases += alias;
	if (ok) {
		/*
		 * An event alone may find its bit set already by an alias's bytes: those were
		 * refused before.
		 */
		if (alias) {
			printf("%s: late by %u messages and not noticed:", w->name, BOUND);
			path_print();
			die("the bound is not exact");
		}
		return true;
	}
	search.failed++;
	if (w->must_fail && (alias || w->mode == LOOP_HW_1KEY)) {
		if (search.failed == 1) {
			printf("%s: as expected: %s, by", w->name, why);
			path_print();
		}
		return false;
	}
	printf("%s: FAILED: %s, by", w->name, why);
	path_print();
	exit(1);
}

static void explore(const struct model *s)
{
	struct act acts[ACTS_MAX];
	uint32_t n = model_acts(s, acts), i;

	if (search.depth == DEPTH_MAX)
		die("too deep");
	for (i = 0; i < n; i++) {
		struct model next = *s;
		bool ok;

		if (search.dirty)
			replay();
		model_step(&next, acts[i]);
		search.path[search.depth++] = acts[i];
		if (search.depth > search.deepest)
			search.deepest = search.depth;
		search.steps++;
		search.dirty = true;
		ok = real_step(s, &next, acts[i]) && real_check(&next);
		if (step_check(s, acts[i], ok) && set_add(model_key(&next))) {
			search.dirty = false;
			explore(&next);
			search.dirty = true;
		}
		search.depth--;
	}
}

static void world_run(const struct world *world)
{
	struct model s = { 0 };
	struct timespec t0, t1;

	w = world;
	memset(&search, 0, sizeof(search));
	set_cap = set_len = 0;
	set = NULL;
	clock_gettime(CLOCK_MONOTONIC, &t0);
	real_open();
	set_add(model_key(&s));
	replay();
	explore(&s);
	real_close();
	clock_gettime(CLOCK_MONOTONIC, &t1);
	printf("%-34s %8llu states %9llu steps, depth %2u, %llu failing, %.1f s\n", w->name,
	       (unsigned long long)set_len, (unsigned long long)search.steps, search.deepest,
	       (unsigned long long)search.failed,
	       (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
	fflush(stdout);
	if (w->must_fail && !search.failed)
		die("a world that must fail did not");
	if (w->must_fail && w->mode != LOOP_HW_1KEY && search.failed != search.aliases)
		die("failures and aliases differ");
	free(set);
}

int main(int argc, char **argv)
{
	static const struct world worlds[] = {
		{ "soft, chunk of 1 packet", LOOP_SOFT, 1, 5, 0, true, 2, 0, 1, false, false },
		{ "soft, chunk of 2, numbers wrap", LOOP_SOFT, 2, 5, 0xfffffffc, true, 2, 0, 1,
		  false, false },
		{ "soft, sender in no hurry", LOOP_SOFT, 1, 5, 0, true, 2, 0, 1, true, false },
		{ "soft, the same, 6 messages", LOOP_SOFT, 2, 6, 0xfffffffc, true, 1, 0, 0, true,
		  false },
		{ "soft, 6 messages, no duplicates", LOOP_SOFT, 2, 6, 0, true, 1, 0, 0, false,
		  false },
		{ "soft, 6 messages", LOOP_SOFT, 2, 6, 0xfffffff8, true, 2, 0, 2, false, false },
		{ "hardware, 4 messages", LOOP_HW, 1, 4, 0xfffffffc, true, 2, 1, 1, false, false },
		{ "hardware, no duplicates, 2 events", LOOP_HW, 2, 5, 0, true, 1, 2, 0, false,
		  false },
		{ "hardware, 2 events", LOOP_HW, 1, 5, 0, true, 2, 2, 2, false, false },
		{ "soft, without the bound", LOOP_SOFT, 1, 5, 0, false, 1, 0, 0, false, true },
		{ "soft, without the bound, duplicates", LOOP_SOFT, 2, 5, 0, false, 2, 0, 2, false,
		  true },
		{ "hardware, without the bound", LOOP_HW, 2, 5, 0xfffffffc, false, 1, 1, 0, false,
		  true },
		{ "rkeyed, 3 messages", LOOP_RKEYED, 1, 3, 0xfffffffe, true, 1, 2, 0, false,
		  false },
		{ "rkeyed, 3 messages, reported", LOOP_RKEYED_ROOT, 1, 3, 0, true, 1, 2, 0, false,
		  false },
		{ "rkeyed, 4 messages", LOOP_RKEYED, 2, 4, 0xfffffffc, true, 1, 1, 1, false,
		  false },
		{ "rkeyed, 4 messages, reported", LOOP_RKEYED_ROOT, 2, 4, 0, true, 1, 1, 1, false,
		  false },
		{ "rkeyed, sender in no hurry", LOOP_RKEYED_ROOT, 1, 3, 0xfffffffe, true, 1, 1, 1,
		  true, false },
		{ "rkeyed, duplicates", LOOP_RKEYED, 1, 3, 0xfffffffe, true, 2, 2, 2, false,
		  false },
		{ "rkeyed, duplicates, reported", LOOP_RKEYED_ROOT, 1, 3, 0, true, 2, 2, 2, false,
		  false },
		{ "rkeyed, 5 messages", LOOP_RKEYED, 2, 5, 0xfffffffc, true, 1, 1, 2, false,
		  false },
		{ "rkeyed, 5 messages, reported", LOOP_RKEYED_ROOT, 2, 5, 0xfffffffc, true, 1, 1, 2,
		  false, false },
		{ "rkeyed, without the bound", LOOP_RKEYED, 2, 5, 0, false, 1, 1, 2, false, true },
		{ "rkeyed, the same, reported", LOOP_RKEYED_ROOT, 2, 5, 0xfffffffc, false, 1, 1, 2,
		  false, true },
		{ "hardware, one key for all", LOOP_HW_1KEY, 2, 3, 0, true, 2, 2, 0, false, true },
	};
	bool deep = argc == 2 && !strcmp(argv[1], "--deep");
	uint32_t i, depth = deep ? 2 : SANITIZED ? 0 : 1;

	if (argc > 2 || (argc == 2 && !deep)) {
		fprintf(stderr, "usage: sdr_explore [--deep]\n");
		return 2;
	}
	for (i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		if (worlds[i].depth <= depth)
			world_run(&worlds[i]);
	printf("ok - every interleaving keeps the laws; the bound of %u messages is exact\n",
	       BOUND);
	return 0;
}
