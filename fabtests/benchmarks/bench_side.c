/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bench_side.h.  Both processes spin on their CQ; what goes by pipe is what cannot go by the
 * endpoint: addresses before it is known, and the end.
 */
#include "bench_side.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SYNC_TAG UINT64_C(0x100000000)

struct bench_opt opt = {
	.prov = "sdr",
	.node = "127.0.0.1",
	.tests = "write_bw,lat,rate,tagged_bw",
	.threading = FI_THREAD_DOMAIN,
	.seconds = 2,
	.window = 32,
	.rate_window = 64,
	.write_size = 1 << 20,
	.timeout = 120,
};

struct side side;

void side_wrong(const char *what, uint64_t n)
{
	fprintf(stderr, "%s: wrong data (message %llu)\n", what, (unsigned long long)n);
	_exit(1);
}

/* ---- completions ------------------------------------------------------------------------ */

static void side_op_release(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	side.free[side.nfree++] = op->index;
}

void side_op_flag(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	*(bool *)op->arg = true;
}

void side_ops_reset(uint32_t n)
{
	side.nfree = 0;
	for (uint32_t i = n; i-- > 0;) {
		side.op[i].index = i;
		side.op[i].done = side_op_release;
		side.free[side.nfree++] = i;
	}
}

struct bench_op *side_op_take(void)
{
	while (side.nfree == 0)
		bench_progress(&side.b);
	return &side.op[side.free[--side.nfree]];
}

void side_ops_wait(uint32_t n)
{
	while (side.nfree < n)
		bench_progress(&side.b);
}

/* ---- the two processes in step ------------------------------------------------------------ */

uint64_t side_sync(uint64_t mine)
{
	static struct {
		uint64_t tx, rx;
	} * v;
	static struct fid_mr *mr;
	struct bench_op s = { .done = side_op_flag }, r = { .done = side_op_flag };
	bool sent = false, got = false;
	uint64_t tag = SYNC_TAG + side.syncs++;

	if (!v) {
		v = calloc(1, 4096);
		mr = bench_mr(&side.b, v, sizeof(*v), FI_SEND | FI_RECV, LOCAL_KEY + 1);
	}
	s.arg = &sent;
	r.arg = &got;
	v->tx = mine;
	BENCH_POST(&side.b,
		   fi_trecv(side.b.ep, &v->rx, 8, bench_desc(&side.b, mr), side.peer, tag, 0, &r));
	BENCH_POST(&side.b,
		   fi_tsend(side.b.ep, &v->tx, 8, bench_desc(&side.b, mr), side.peer, tag, &s));
	while (!sent || !got)
		bench_progress(&side.b);
	return v->rx;
}

void side_sync_pipe(void)
{
	struct pollfd p = { .fd = side.in, .events = POLLIN };
	char c = 'x';

	bench_write_all(side.out, &c, 1);
	while (poll(&p, 1, 0) == 0)
		bench_progress(&side.b);
	bench_read_all(side.in, &c, 1);
}

/* ---- results -------------------------------------------------------------------------------- */

void side_result(const char *test, size_t size, uint32_t window, double value, const char *unit)
{
	static int rows;

	switch (opt.format) {
	case FORMAT_CSV:
		if (!rows++)
			printf("prov,test,size_bytes,window,value,unit\n");
		printf("%s,%s,%zu,%u,%.4f,%s\n", opt.prov, test, size, window, value, unit);
		break;
	case FORMAT_JSON:
		printf("%s{\"prov\":\"%s\",\"test\":\"%s\",\"size_bytes\":%zu,\"window\":%u,"
		       "\"value\":%.4f,\"unit\":\"%s\"}",
		       rows++ ? ",\n " : "[", opt.prov, test, size, window, value, unit);
		break;
	default:
		if (!rows++)
			printf("%-14s %-10s %9s %6s %14s\n", "provider", "test", "bytes", "window",
			       "value");
		printf("%-14s %-10s %9zu %6u %14.2f %s\n", opt.prov, test, size, window, value,
		       unit);
	}
	fflush(stdout);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void side_result_times(const char *test, size_t size, double *v, uint64_t n, double scale_us)
{
	char name[32];

	qsort(v, n, sizeof(*v), compare_double);
	snprintf(name, sizeof(name), "%s_p99", test);
	side_result(test, size, 1, v[n / 2] * scale_us, "us");
	side_result(name, size, 1, v[n - n / 100 - 1] * scale_us, "us");
}
