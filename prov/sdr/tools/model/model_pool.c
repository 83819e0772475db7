/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Threads that share numbered pieces of work, and the line that says how far they are.
 *
 * Every piece is done once, by the thread that takes it next, and writes to a place of its own:
 * what comes out does not depend on the number of threads.  The caller works too; a thread that
 * cannot be made is done without.  The caller alone writes the progress line, at most twice a
 * second and only to a terminal.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "model_tool.h"

#define JOBS_MAX 256u
#define SHOW_NS	 500000000ull

struct pool {
	void (*fn)(void *ctx, size_t i);
	void *ctx;
	size_t n;
	atomic_size_t next;
};

static uint64_t pool_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void *pool_thread(void *arg)
{
	struct pool *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
		p->fn(p->ctx, i);
	return NULL;
}

void model_pool(unsigned int jobs, size_t n, void (*fn)(void *ctx, size_t i), void *ctx,
		const char *what)
{
	/* over several calls: many short ones show progress as one long one does */
	static uint64_t last;
	struct pool p = { .fn = fn, .ctx = ctx, .n = n };
	bool terminal = what && isatty(STDERR_FILENO);
	pthread_t thread[JOBS_MAX];
	unsigned int started = 0;
	size_t i;

	if (!last)
		last = pool_now();
	while (started + 1 < jobs && started + 1 < n && started < JOBS_MAX &&
	       pthread_create(&thread[started], NULL, pool_thread, &p) == 0)
		started++;
	while ((i = atomic_fetch_add(&p.next, 1)) < n) {
		fn(ctx, i);
		if (terminal && pool_now() - last > SHOW_NS) {
			tool_progress("sdr_model: %s, %zu of %zu done", what, i + 1, n);
			last = pool_now();
		}
	}
	while (started)
		pthread_join(thread[--started], NULL);
}
