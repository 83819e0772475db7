/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One of the two processes of sdr_bench: its endpoint and memory, operations that are free, the
 * steps in which both go, and how results are printed.  One of it in a process, no threads.
 */
#ifndef SDR_BENCH_SIDE_H
#define SDR_BENCH_SIDE_H

#include <stdbool.h>
#include "bench_ep.h"

#define MAX_WINDOW 256u
#define MAX_COUNT  (UINT64_C(1) << 32)
#define LOCAL_KEY  0x5d5e /* for providers that want registered local buffers */

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

struct bench_opt {
	const char *prov;
	const char *node;
	const char *tests;
	enum format format;
	enum fi_threading threading;
	enum fi_progress progress;
	double seconds;	 /* a test */
	uint32_t window; /* operations in flight; of rate: rate_window */
	uint32_t rate_window;
	size_t write_size; /* bytes */
	uint32_t timeout;  /* s, for the whole run */
};
extern struct bench_opt opt;

struct side {
	struct bench_ep b;
	bool client;
	int in, out; /* pipes */
	fi_addr_t peer;
	uint8_t *tx, *rx; /* slots of the size of the test */
	size_t room;	  /* bytes of tx and of rx */
	struct fid_mr *tx_mr, *rx_mr;
	uint64_t remote, rkey; /* of the peer's rx */
	uint64_t syncs;	       /* done so far */
	struct bench_op op[2 * MAX_WINDOW];
	uint32_t free[2 * MAX_WINDOW], nfree;
};
extern struct side side;

void side_wrong(const char *what, uint64_t n) __attribute__((noreturn));

/* Operations: n of them free; one of these, when there is one; when n are free again. */
void side_ops_reset(uint32_t n);
struct bench_op *side_op_take(void);
void side_ops_wait(uint32_t n);
/* bench_op.done that sets the bool to which arg points */
void side_op_flag(struct bench_op *op, const struct fi_cq_tagged_entry *e);

/* Each sends the other a number, by message; returns the other's. */
uint64_t side_sync(uint64_t mine);
/* By pipe: the other side needs no more progress from this one, which makes some all the same. */
void side_sync_pipe(void);

void side_result(const char *test, size_t size, uint32_t window, double value, const char *unit);
/* Results NAME and NAME_p99 of n > 0 times in seconds, which it sorts: median, 99th percentile. */
void side_result_times(const char *test, size_t size, double *v, uint64_t n, double scale_us);

#endif
