/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The client adds 1 to a word of the server's, which does nothing but make progress.  One at a time
 * each old value is the one before and 1; of many at once each lies below what was posted, and when
 * all have completed the word is their number.
 */
#include "bench_atomic.h"
#include "bench_side.h"

#include <stdlib.h>

#include <rdma/fi_atomic.h>

#define FETCH_WARM	 500u /* round trips */
#define FETCH_SAMPLES	 400000u
#define FETCH_WINDOW_MIN 64u

/* flags: FI_MORE, if another follows at once. */
static void fetch_post(uint64_t *old, struct bench_op *op, uint64_t flags)
{
	void *desc = bench_desc(&side.b, side.tx_mr);
	struct fi_ioc in = { side.tx, 1 }, out = { old, 1 };
	struct fi_rma_ioc at = { .addr = side.remote, .count = 1, .key = side.rkey };
	struct fi_msg_atomic msg = {
		.msg_iov = &in,
		.desc = &desc,
		.iov_count = 1,
		.addr = side.peer,
		.rma_iov = &at,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = FI_SUM,
		.context = op,
	};

	BENCH_POST(&side.b,
		   fi_fetch_atomicmsg(side.b.ep, &msg, &out, &desc, 1, flags | FI_COMPLETION));
}

/* The server's word, and the client's operand, before both begin. */
static void fetch_begin(void)
{
	uint64_t *v = (uint64_t *)(void *)(side.client ? side.tx : side.rx);

	*v = side.client;
	side_sync(0);
}

/* The client says how many it has added; the server has seen them all. */
static void fetch_end(const char *test, uint64_t added)
{
	const uint64_t *word = (const uint64_t *)(const void *)side.rx;
	uint64_t n = side_sync(added);

	if (!side.client && __atomic_load_n(word, __ATOMIC_ACQUIRE) != n)
		side_wrong(test, n);
	side_sync_pipe();
}

/* n of them, from `from` on; samples (seconds) may be NULL */
static void fetch_each(uint64_t from, uint64_t n, double *samples)
{
	uint64_t *old = (uint64_t *)(void *)side.tx + 1;
	bool done = false;
	struct bench_op op = { .done = side_op_flag, .arg = &done };
	double last = bench_now();

	for (uint64_t i = 0; i < n; i++) {
		done = false;
		fetch_post(old, &op, 0);
		while (!done)
			bench_progress(&side.b);
		if (*old != from + i)
			side_wrong("fetch", from + i);
		if (samples) {
			double now = bench_now();

			samples[i] = now - last;
			last = now;
		}
	}
}

void bench_fetch(void)
{
	uint64_t n = 0;
	double *v, start;

	fetch_begin();
	if (side.client) {
		fetch_each(0, FETCH_WARM, NULL);
		start = bench_now();
		fetch_each(FETCH_WARM, FETCH_WARM, NULL);
		n = (uint64_t)(opt.seconds / (bench_now() - start) * FETCH_WARM);
		n = n > FETCH_SAMPLES ? FETCH_SAMPLES : n < 100 ? 100 : n;
		v = calloc(n, sizeof(*v));
		if (!v)
			bench_die("calloc", -FI_ENOMEM);
		fetch_each(2 * FETCH_WARM, n, v);
		side_result_times("fetch", sizeof(uint64_t), v, n, 1e6);
		free(v);
	}
	fetch_end("fetch", 2 * FETCH_WARM + n);
}

static uint64_t posted;

static void fetch_done(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	const uint64_t *old = op->arg;

	(void)e;
	if (*old >= posted)
		side_wrong("fetch_rate", *old);
	side.free[side.nfree++] = op->index;
}

/* seconds for n of them */
static double fetch_many(uint64_t n)
{
	uint64_t *old = (uint64_t *)(void *)side.tx + 1;
	double start = bench_now();

	side_ops_reset(opt.rate_window);
	for (uint64_t i = 0; i < n; i++) {
		struct bench_op *op = side_op_take();

		op->done = fetch_done;
		op->arg = old + op->index;
		posted++;
		fetch_post(op->arg, op, side.nfree && i + 1 < n ? FI_MORE : 0);
	}
	side_ops_wait(opt.rate_window);
	return bench_now() - start;
}

void bench_fetch_rate(void)
{
	uint64_t count = 4 * (uint64_t)opt.rate_window;
	double t;

	posted = 0;
	fetch_begin();
	if (side.client) {
		fetch_many(count);
		for (int i = 0; i < 2; i++) {
			double want = (i ? opt.seconds : opt.seconds / 20) / fetch_many(count) *
				      (double)count;

			count = want > MAX_COUNT	  ? MAX_COUNT
				: want < FETCH_WINDOW_MIN ? FETCH_WINDOW_MIN
							  : (uint64_t)want;
		}
		t = fetch_many(count);
		side_result("fetch_rate", sizeof(uint64_t), opt.rate_window,
			    (double)count / t / 1e3, "kop/s");
	}
	fetch_end("fetch_rate", posted);
}
