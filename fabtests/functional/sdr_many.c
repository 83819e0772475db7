/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_many: several endpoints of one process that send as fast as they may, all to one more of it.
 *
 * Says what each has brought there: `many MBps=... share=LEAST`, the least of them in parts of an
 * equal share.  How much all of it is on the wire is for others to count.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../benchmarks/bench_ep.h"

#define TAG	  0x3a11ull
#define MOST	  64u
#define MSG_BYTES (1u << 20)
#define DEPTH	  4u /* messages of each endpoint at a time */

struct sender {
	struct bench_ep b;
	fi_addr_t to;
	struct bench_op op[DEPTH];
	uint64_t bytes; /* that have arrived */
};

static struct many {
	struct bench_ep sink;
	struct bench_op recv[MOST * DEPTH];
	struct sender s[MOST];
	uint8_t *out, *in;
} m;

static void endpoint(struct bench_ep *b, const char *node)
{
	struct bench_attr attr = {
		.prov = "sdr",
		.node = node,
		.caps = FI_TAGGED | FI_MSG,
		.threading = FI_THREAD_SAFE,
		.progress = FI_PROGRESS_AUTO,
		.peers = MOST,
		.cq_size = 2 * MOST * DEPTH,
	};

	bench_open(b, &attr);
}

static void recv_post(struct bench_op *op)
{
	BENCH_POST(&m.sink, fi_trecv(m.sink.ep, m.in + (size_t)op->index * MSG_BYTES, MSG_BYTES,
				     NULL, FI_ADDR_UNSPEC, TAG, 0, op));
}

static void received(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	recv_post(op);
}

static void send_post(struct bench_op *op)
{
	struct sender *s = op->arg;
	struct iovec iov = { m.out, MSG_BYTES };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = s->to, .tag = TAG, .context = op
	};

	BENCH_POST(&s->b, fi_tsendmsg(s->b.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
}

static void arrived(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	struct sender *s = op->arg;

	(void)e;
	s->bytes += MSG_BYTES;
	send_post(op);
}

static int run(uint32_t n, double seconds, const char *node)
{
	uint64_t sum = 0, least = UINT64_MAX;
	double start, until;

	m.out = calloc(1, MSG_BYTES);
	m.in = calloc((size_t)n * DEPTH, MSG_BYTES);
	if (!m.out || !m.in)
		bench_die("memory", -FI_ENOMEM);
	endpoint(&m.sink, node);
	for (uint32_t i = 0; i < n * DEPTH; i++) {
		m.recv[i] = (struct bench_op){ .done = received, .index = i };
		recv_post(&m.recv[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		endpoint(&m.s[i].b, node);
		m.s[i].to = bench_peer(&m.s[i].b, &m.sink.name);
		for (uint32_t k = 0; k < DEPTH; k++) {
			m.s[i].op[k] = (struct bench_op){ .done = arrived, .arg = &m.s[i] };
			send_post(&m.s[i].op[k]);
		}
	}
	printf("sending\n");
	fflush(stdout);
	start = bench_now();
	until = start + seconds;
	while (bench_now() < until) {
		int got = bench_progress(&m.sink);

		for (uint32_t i = 0; i < n; i++)
			got += bench_progress(&m.s[i].b);
		if (!got)
			usleep(50);
	}
	for (uint32_t i = 0; i < n; i++) {
		sum += m.s[i].bytes;
		if (m.s[i].bytes < least)
			least = m.s[i].bytes;
	}
	printf("many MBps=%.1f share=%.3f\n", (double)sum / 1e6 / (bench_now() - start),
	       sum ? (double)least * n / (double)sum : 0);
	fflush(stdout);
	_exit(0); /* what is under way does not matter */
}

static void usage(FILE *f)
{
	fprintf(f, "usage: sdr_many [-n endpoints] [-T seconds] ADDR\n"
		   "  -n N  endpoints that send, 1 to 64 (default 4)\n"
		   "  -T S  for how long (default 5)\n");
}

int main(int argc, char **argv)
{
	double seconds = 5;
	long n = 4;
	int c;

	while ((c = getopt(argc, argv, "n:T:h")) != -1) {
		switch (c) {
		case 'n':
			n = strtol(optarg, NULL, 10);
			break;
		case 'T':
			seconds = atof(optarg);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (argc - optind != 1 || n < 1 || n > (long)MOST || seconds <= 0) {
		usage(stderr);
		return 2;
	}
	return run((uint32_t)n, seconds, argv[optind]);
}
