/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_honest: the endpoint that strangers contact, and a client of it that wants its service all
 * the same.
 *
 * The server does what a server does: it has receives posted for its clients' tag, reads its
 * completion queue and posts each receive anew, also where its client is gone in the middle of a
 * message.  What comes with another tag, or without, is nobody's, and it looks at none of it.  The
 * client connects anew with each call, sends, and measures until the server has the bytes: one
 * small message (`once`), or large ones for some seconds (`stream`), with the longest time in
 * which nothing got there.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../benchmarks/bench_ep.h"

#define TAG	  0x600dc11e47ull
#define RECVS	  16u
#define MSG_BYTES (1u << 20)
#define DEPTH	  4u /* messages of a stream at a time */

static struct {
	const char *node, *port;
	const char *from; /* address of a client; NULL: the server's */
	double seconds;
	bool idle;    /* the server sleeps between two looks */
	size_t bytes; /* of the message of once */
} opt = { .node = "127.0.0.1", .seconds = 50, .bytes = 8 };

static struct honest {
	struct bench_ep b;
	struct bench_op op[RECVS];
	uint8_t *buf;
	uint64_t msgs, bytes;
	double last, gap; /* s: of the last one that got there; the longest without */
} h;

static void setup(const char *node, const char *port)
{
	struct bench_attr attr = {
		.prov = "sdr",
		.node = node,
		.service = port,
		.caps = FI_TAGGED | FI_MSG,
		.threading = FI_THREAD_DOMAIN,
		.progress = FI_PROGRESS_MANUAL,
		.peers = 16,
		.cq_size = 4 * RECVS,
	};

	bench_open(&h.b, &attr);
	h.buf = calloc(RECVS, MSG_BYTES);
	if (!h.buf)
		bench_die("memory", -FI_ENOMEM);
}

static void recv_post(struct bench_op *op)
{
	BENCH_POST(&h.b, fi_trecv(h.b.ep, h.buf + (size_t)op->index * MSG_BYTES, MSG_BYTES, NULL,
				  FI_ADDR_UNSPEC, TAG, 0, op));
}

static void received(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	h.msgs++;
	h.bytes += e->len;
	recv_post(op);
}

static int serve(void)
{
	double until = bench_now() + opt.seconds;

	setup(opt.node, opt.port);
	for (uint32_t i = 0; i < RECVS; i++) {
		h.op[i] = (struct bench_op){ .done = received, .failed = recv_post, .index = i };
		recv_post(&h.op[i]);
	}
	printf("serving\n");
	fflush(stdout);
	while (bench_now() < until)
		if (!bench_progress(&h.b) && opt.idle)
			usleep(100);
	printf("served msgs=%" PRIu64 " bytes=%" PRIu64 "\n", h.msgs, h.bytes);
	bench_close(&h.b);
	return 0;
}

static void arrived(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	double now = bench_now();

	(void)e;
	op->index = 0; /* free */
	h.msgs++;
	if (now - h.last > h.gap)
		h.gap = now - h.last;
	h.last = now;
}

static void send_post(fi_addr_t to, struct bench_op *op, size_t len)
{
	struct iovec iov = { h.buf, len };
	struct fi_msg_tagged m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .tag = TAG, .context = op
	};

	op->done = arrived;
	op->index = 1;
	BENCH_POST(&h.b, fi_tsendmsg(h.b.ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
}

static fi_addr_t server(void)
{
	struct bench_name name = { 0 };
	struct fi_info *info;
	fi_addr_t to;

	BENCH_CHECK(fi_getinfo(FI_VERSION(1, 17), opt.node, opt.port, 0, h.b.info, &info));
	name.len = info->dest_addrlen;
	memcpy(name.bytes, info->dest_addr,
	       name.len < sizeof(name.bytes) ? name.len : sizeof(name.bytes));
	to = bench_peer(&h.b, &name);
	fi_freeinfo(info);
	return to;
}

static int once(void)
{
	double start = bench_now();

	setup(opt.from ? opt.from : opt.node, NULL);
	h.last = start = bench_now();
	send_post(server(), &h.op[0], opt.bytes);
	while (!h.msgs)
		bench_progress(&h.b);
	printf("once ms=%.2f\n", (bench_now() - start) * 1e3);
	fflush(stdout);
	bench_close(&h.b);
	return 0;
}

static int stream(void)
{
	double start, until;
	fi_addr_t to;

	setup(opt.from ? opt.from : opt.node, NULL);
	to = server();
	send_post(to, &h.op[0], 8);
	while (!h.msgs)
		bench_progress(&h.b);
	printf("streaming\n");
	fflush(stdout);
	h.gap = 0;
	h.msgs = 0;
	start = h.last = bench_now();
	until = start + opt.seconds;
	while (bench_now() < until) {
		for (uint32_t i = 0; i < DEPTH; i++)
			if (!h.op[i].index)
				send_post(to, &h.op[i], MSG_BYTES);
		bench_progress(&h.b);
	}
	if (bench_now() - h.last > h.gap)
		h.gap = bench_now() - h.last;
	printf("stream MBps=%.1f gap_ms=%.1f\n",
	       (double)h.msgs * MSG_BYTES / 1e6 / (bench_now() - start), h.gap * 1e3);
	fflush(stdout);
	_exit(0); /* what is under way does not matter */
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_honest [-T seconds] [-i] [-b addr] [-s bytes] serve|once|stream ADDR PORT\n"
		"  -T S  how long to serve or to stream (default 50)\n"
		"  -i    the server sleeps when there is nothing to do\n"
		"  -b A  a client's own address (default: the server's)\n"
		"  -s N  bytes of the message of once (default 8, at most 1 MiB)\n");
}

int main(int argc, char **argv)
{
	const char *what;
	int c;

	while ((c = getopt(argc, argv, "T:ib:s:h")) != -1) {
		switch (c) {
		case 'T':
			opt.seconds = atof(optarg);
			break;
		case 'i':
			opt.idle = true;
			break;
		case 'b':
			opt.from = optarg;
			break;
		case 's':
			opt.bytes = strtoul(optarg, NULL, 10);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (argc - optind != 3 || opt.bytes > MSG_BYTES) {
		usage(stderr);
		return 2;
	}
	what = argv[optind];
	opt.node = argv[optind + 1];
	opt.port = argv[optind + 2];
	if (!strcmp(what, "serve"))
		return serve();
	if (!strcmp(what, "once"))
		return once();
	if (!strcmp(what, "stream"))
		return stream();
	usage(stderr);
	return 2;
}
