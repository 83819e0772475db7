/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many packets per second the whole receive path takes, by receive workers: frame and ICRC
 * checked, placed, packet and chunk bit set, counted, and seen by the receiver.
 *
 *   sdr_workers_bench [-r ROUNDS] [-m MTU] [-w WORKERS] [--min RATIO]
 *
 * The engine is "mem": rings in this process with no kernel in between, so that two cores can show
 * two workers.  A round: some messages are posted and sent, and stay in the receiver's rings,
 * prepared; then the rings are let go and the clock runs until the receiver has counted all
 * packets, which it looks for once in a while as an application would that sleeps.  Bytes are
 * compared outside of the time.  Packets of 64 bytes and of 4 KiB; without workers (the receiver's
 * own thread does it all), with one and with two, in turn each round; the best and the median of
 * the rounds are printed, and the ratio of two workers to one in the median of each.
 *
 * Exit status 1 when --min RATIO is given and that ratio is below it for one of the sizes.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc_open.h"
#include "uc/soft/sdr_soft.h"

#define MSGS	   4u
#define LEN	   (8u << 20) /* bytes of a message */
#define RING	   (256u << 20)
#define WORKERS	   3 /* 0, 1, 2 */
#define ROUNDS_MAX 99
#define NAP_NS	   200000

struct side {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
	struct sdr_uc *uc;
};

static uint8_t *src, *dst;

static void die(const char *what, int err)
{
	fprintf(stderr, "sdr_workers_bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void progress(struct side *s)
{
	int ret = sdr_context_progress(s->ctx);

	if (ret < 0)
		die("progress", ret);
}

static void side_open(struct side *s, uint8_t workers)
{
	struct sdr_uc_open_attr a = { .workers = workers, .rcvbuf = RING };
	const uint64_t rand[2] = { 0x1234567 + workers, 0x89abcdef };
	int ret = sdr_uc_open("mem", &a, &s->uc);

	if (ret)
		die("mem", ret);
	s->ctx = sdr_context_create_on(s->uc, NULL, rand);
	if (!s->ctx)
		die("context", errno);
}

static void sides_open(struct side s[2], uint8_t workers, uint32_t mtu)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .mtu = mtu,
				    .max_msg = LEN,
				    .flags = SDR_QP_NUMBERED,
				    .id_bits = 4,
				    .off_bits = 28 };
	uint8_t info[2][SDR_QP_INFO_SIZE];
	int i, ret;

	for (i = 0; i < 2; i++) {
		side_open(&s[i], i ? workers : 0);
		s[i].qp = sdr_qp_create(s[i].ctx, &attr);
		if (!s[i].qp)
			die("queue pair", errno);
		sdr_qp_info_get(s[i].qp, info[i]);
	}
	for (i = 0; i < 2; i++) {
		ret = sdr_qp_connect(s[i].qp, info[!i]);
		if (ret)
			die("connect", ret);
	}
	/* ports of workers answer */
	for (uint64_t t = now_ns() + 20000000; now_ns() < t;)
		for (i = 0; i < 2; i++)
			progress(&s[i]);
}

static void sides_close(struct side s[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		sdr_qp_destroy(s[i].qp);
		sdr_context_destroy(s[i].ctx);
	}
}

static bool all_in(struct sdr_rcv_handle *r[MSGS])
{
	uint32_t i;

	for (i = 0; i < MSGS; i++) {
		const struct sdr_rcv_state *st = sdr_recv_state(r[i]);

		if (st->got < st->npkts)
			return false;
	}
	return true;
}

/* Packets per second. */
static double round_of(uint8_t workers, uint32_t mtu)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	struct sdr_rcv_handle *r[MSGS];
	struct sdr_snd_handle *h[MSGS];
	struct sdr_stats st = { .size = sizeof(st) };
	struct side s[2];
	uint64_t from, ns;
	uint32_t i;
	int ret;

	sides_open(s, workers, mtu);
	sdr_soft_mem_hold(s[1].uc, true);
	sdr_qp_limit_set(s[0].qp, MSGS);
	memset(dst, 0, (size_t)MSGS * LEN);
	for (i = 0; i < MSGS; i++) {
		struct sdr_rcv_wr rw = { .addr = dst + (size_t)i * LEN, .length = LEN };
		struct sdr_start_wr sw = { .length = LEN };
		struct sdr_continue_wr part = { .addr = src, .length = LEN };

		ret = sdr_recv_post_at(s[1].qp, i, &rw, NULL, &r[i]);
		if (!ret)
			ret = sdr_send_stream_start_at(s[0].qp, i, &sw, &h[i]);
		if (ret)
			die("post", ret);
		while ((ret = sdr_send_stream_continue(h[i], &part)) == -EAGAIN)
			progress(&s[0]);
		if (!ret)
			ret = sdr_send_stream_end(h[i]);
		if (ret)
			die("send", ret);
		while (!(ret = sdr_send_poll(h[i])))
			progress(&s[0]);
		if (ret < 0)
			die("send", ret);
	}
	from = now_ns();
	sdr_soft_mem_hold(s[1].uc, false);
	while (!all_in(r)) {
		progress(&s[1]);
		if (workers)
			nanosleep(&nap, NULL);
		if (now_ns() - from > 20000000000u)
			die("packets are missing", ETIMEDOUT);
	}
	ns = now_ns() - from;
	for (i = 0; i < MSGS; i++)
		if (memcmp(dst + (size_t)i * LEN, src, LEN) != 0)
			die("bytes", EBADMSG);
	sdr_context_stats(s[1].ctx, &st);
	if (st.pkts_rx != (uint64_t)MSGS * (LEN / mtu))
		die("packets", EBADMSG);
	sides_close(s);
	return (double)MSGS * (LEN / mtu) * 1e9 / (double)ns;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: sdr_workers_bench [-r ROUNDS] [-m MTU] [-w WORKERS] [--min RATIO]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "min", required_argument, NULL, 'x' },
					       { NULL, 0, NULL, 0 } };
	static double v[WORKERS][ROUNDS_MAX], two[ROUNDS_MAX];
	uint32_t mtus[] = { 64, 4096 }, i, n = 2;
	int rounds = 9, c, w, k, only = -1;
	double min = 0;
	bool low = false;

	while ((c = getopt_long(argc, argv, "r:m:w:", longs, NULL)) != -1) {
		if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 'm')
			mtus[0] = (uint32_t)atoi(optarg), n = 1;
		else if (c == 'w')
			only = atoi(optarg);
		else if (c == 'x')
			min = atof(optarg);
		else
			usage();
	}
	if (optind != argc || rounds < 1 || rounds > ROUNDS_MAX || only >= WORKERS ||
	    mtus[0] < 64 || LEN % mtus[0])
		usage();
	src = malloc(LEN);
	dst = malloc((size_t)MSGS * LEN);
	if (!src || !dst)
		die("memory", ENOMEM);
	for (i = 0; i < LEN; i++)
		src[i] = (uint8_t)(i * 2654435761u >> 13);
	printf("%-10s %8s %12s %12s %12s %8s\n", "packet", "workers", "best Mpps", "median Mpps",
	       "median GB/s", "2 : 1");
	for (i = 0; i < n; i++) {
		for (k = 0; k < rounds; k++) {
			for (w = 0; w < WORKERS; w++)
				if (only < 0 || w == only)
					v[w][k] = round_of((uint8_t)w, mtus[i]);
			two[k] = v[1][k] > 0 ? v[2][k] / v[1][k] : 0;
		}
		qsort(two, (size_t)rounds, sizeof(two[0]), by_value);
		for (w = 0; w < WORKERS; w++) {
			double *a = v[w];

			if (only >= 0 && w != only)
				continue;
			qsort(a, (size_t)rounds, sizeof(a[0]), by_value);
			printf("%-10u %8d %12.2f %12.2f %12.2f", mtus[i], w, a[rounds - 1] / 1e6,
			       a[rounds / 2] / 1e6, a[rounds / 2] * mtus[i] / 1e9);
			if (w == 2 && only < 0)
				printf(" %8.2f", two[rounds / 2]);
			printf("\n");
		}
		low |= only < 0 && two[rounds / 2] < min;
	}
	free(src);
	free(dst);
	return low;
}
