/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * How long a round of an endpoint is held up by decoding: messages with parity over the loopback,
 * delayed by DELAY and a share of their packets lost on purpose (FI_SDR_FAULT), received by a
 * thread that polls.
 *
 *   sdr_decode_bench [--rounds N] [--csv]
 *
 * Each case once with nothing lost, and then, in turns, decoded in the round (FI_SDR_EC_THREADS=0)
 * and by a thread (1).  Of each message, and then the median of all:
 *
 *   round    the longest fi_cq_read of the receiver: CPU time of its thread, so that other programs
 *            and the thread that decodes do not count
 *   message  from the send to the receive, on the clock
 *   other    the longest that another small message of the same sender took to be acknowledged
 *            meanwhile, on the clock
 *
 * Nothing is judged.  At most a minute.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_ep.h"

#define ROUNDS_MAX 31
#define DELAY	   "2ms" /* one way: nearby no thread decodes */
#define LIMIT_S	   50	 /* no case begins later */
#define TAG_BIG	   1u
#define TAG_SMALL  2u

struct how {
	const char *k, *m, *mtu, *lost; /* lost: share of the packets */
	size_t len;			/* bytes */
};

struct took { /* seconds */
	double round, message, other;
};

static struct bench_ep tx, rx;
static fi_addr_t to;
static uint8_t *out, *in;
static size_t most = 64u << 20;
static atomic_bool go, over, through, quit;
static _Atomic double sent_at, other_max;

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct flag {
	struct bench_op op;
	bool done;
};

static void flag_set(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	*(bool *)op->arg = true;
}

static void flag_init(struct flag *f)
{
	f->done = false;
	f->op.done = flag_set;
	f->op.arg = &f->done;
}

/* The sender: the message, and small ones one after the other until it has been received. */
static void *sender(void *arg)
{
	const struct how *h = arg;
	struct flag big, small;
	double from, s;

	while (!atomic_load(&quit)) {
		if (!atomic_exchange(&go, false)) {
			bench_progress(&tx);
			continue;
		}
		flag_init(&big);
		atomic_store(&sent_at, bench_now());
		BENCH_POST(&tx, fi_tsend(tx.ep, out, h->len, NULL, to, TAG_BIG, &big.op));
		while (!big.done || !atomic_load(&over)) {
			flag_init(&small);
			from = bench_now();
			BENCH_POST(&tx, fi_tsend(tx.ep, out, 8, NULL, to, TAG_SMALL, &small.op));
			while (!small.done)
				bench_progress(&tx);
			s = bench_now() - from;
			if (s > atomic_load(&other_max))
				atomic_store(&other_max, s);
		}
		atomic_store(&through, true);
	}
	return NULL;
}

static struct flag small_in;

static void small_post(void)
{
	flag_init(&small_in);
	BENCH_POST(&rx,
		   fi_trecv(rx.ep, in + most, 8, NULL, FI_ADDR_UNSPEC, TAG_SMALL, 0, &small_in.op));
}

/* One message. */
static struct took receive(const struct how *h)
{
	struct took t = { 0, 0, 0 };
	struct flag big;
	double from, s;

	flag_init(&big);
	BENCH_POST(&rx, fi_trecv(rx.ep, in, h->len, NULL, FI_ADDR_UNSPEC, TAG_BIG, 0, &big.op));
	atomic_store(&other_max, 0);
	atomic_store(&over, false);
	atomic_store(&through, false);
	atomic_store(&go, true);
	while (!big.done) {
		from = cpu_now();
		bench_progress(&rx);
		s = cpu_now() - from;
		t.round = s > t.round ? s : t.round;
		if (small_in.done)
			small_post();
	}
	t.message = bench_now() - atomic_load(&sent_at);
	t.other = atomic_load(&other_max);
	atomic_store(&over, true);
	while (!atomic_load(&through)) { /* small ones that are still coming */
		bench_progress(&rx);
		if (small_in.done)
			small_post();
	}
	if (memcmp(in, out, h->len))
		bench_die("the bytes that came are others", -FI_EOTHER);
	return t;
}

static void pair_open(const struct how *h, const char *lost, const char *threads)
{
	struct bench_attr a = { .prov = "sdr",
				.node = "127.0.0.1",
				.caps = FI_TAGGED,
				.threading = FI_THREAD_SAFE,
				.progress = FI_PROGRESS_MANUAL,
				.peers = 1,
				.cq_size = 1024 };
	char fault[64];

	snprintf(fault, sizeof(fault), "drop=%s,seed=4,delay=%s", lost, DELAY);
	setenv("FI_SDR_RELIABILITY", "ec", 1);
	setenv("FI_SDR_EC_K", h->k, 1);
	setenv("FI_SDR_EC_M", h->m, 1);
	setenv("FI_SDR_MTU", h->mtu, 1);
	setenv("FI_SDR_CHUNK_SIZE", "64k", 1);
	setenv("FI_SDR_EC_THREADS", threads, 1);
	setenv("FI_SDR_FAULT", fault, 1);
	bench_open(&rx, &a);
	bench_open(&tx, &a);
	to = bench_peer(&tx, &rx.name);
}

/* Messages over a pair of endpoints; the first does not count. */
static void run(struct how *h, const char *lost, const char *threads, struct took *t, int rounds)
{
	pthread_t id;
	int i;

	pair_open(h, lost, threads);
	small_post();
	atomic_store(&quit, false);
	if (pthread_create(&id, NULL, sender, h))
		bench_die("pthread_create", -FI_ENOMEM);
	(void)receive(h);
	for (i = 0; i < rounds; i++)
		t[i] = receive(h);
	atomic_store(&quit, true);
	pthread_join(id, NULL);
	bench_close(&tx);
	bench_close(&rx);
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const struct took *t, int n, size_t at)
{
	double v[ROUNDS_MAX] = { 0 };

	for (int i = 0; i < n; i++)
		memcpy(&v[i], (const char *)&t[i] + at, sizeof(*v));
	qsort(v, (size_t)n, sizeof(*v), double_cmp);
	return v[n / 2];
}

static void print(const struct how *h, const char *lost, const char *who, const struct took *t,
		  int n, bool csv)
{
	printf(csv ? "%s,%s,%s,%zu,%s,%s,%.3f,%.3f,%.3f\n"
		   : "(%3s,%2s) %6s %5zu MiB %6s  %-8s %8.2f %9.2f %8.2f\n",
	       h->k, h->m, h->mtu, h->len >> 20, lost, who,
	       median(t, n, offsetof(struct took, round)) * 1e3,
	       median(t, n, offsetof(struct took, message)) * 1e3,
	       median(t, n, offsetof(struct took, other)) * 1e3);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct how cases[] = {
		{ "32", "8", "8192", "0.02", 8u << 20 },   { "32", "8", "8192", "0.1", 8u << 20 },
		{ "32", "8", "8192", "0.1", 32u << 20 },   { "64", "16", "8192", "0.1", 32u << 20 },
		{ "128", "32", "8192", "0.1", 32u << 20 }, { "32", "8", "1408", "0.1", 32u << 20 },
	};
	static const struct option opts[] = {
		{ "rounds", 1, NULL, 'r' }, { "csv", 0, NULL, 'c' }, { "help", 0, NULL, 'h' }, { 0 }
	};
	struct took none[ROUNDS_MAX], here[ROUNDS_MAX], there[ROUNDS_MAX];
	double from = bench_now();
	int rounds = 7, c;
	bool csv = false;

	while ((c = getopt_long(argc, argv, "h", opts, NULL)) >= 0) {
		if (c == 'r')
			rounds = atoi(optarg);
		csv |= c == 'c';
		if (c == 'h' || c == '?' || rounds < 1 || rounds > ROUNDS_MAX) {
			fprintf(c == 'h' ? stdout : stderr,
				"usage: sdr_decode_bench [--rounds 1..%d] [--csv]\n", ROUNDS_MAX);
			return c == 'h' ? 0 : 2;
		}
	}
	out = malloc(most);
	in = malloc(most + 8);
	if (!out || !in)
		bench_die("malloc", -FI_ENOMEM);
	for (size_t i = 0; i < most; i++)
		out[i] = (uint8_t)(i * 2654435761u >> 23);
	memset(in, 0, most);
	printf(csv ? "k,m,packet,mib,lost,decoded,round_ms,message_ms,other_ms\n"
		   : "(k,m)    packet   message   lost  decoded  round ms  message ms  other ms\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct how *h = &cases[i];

		if (bench_now() - from > LIMIT_S)
			break;
		run(h, "0", "1", none, rounds);
		for (int r = 0; r < 2; r++) {
			int half = r ? rounds / 2 : rounds - rounds / 2;
			int at = r ? rounds - rounds / 2 : 0;

			if (half) {
				run(h, h->lost, "0", here + at, half);
				run(h, h->lost, "1", there + at, half);
			}
		}
		print(h, "0", "-", none, rounds, csv);
		print(h, h->lost, "round", here, rounds, csv);
		print(h, h->lost, "thread", there, rounds, csv);
	}
	free(out);
	free(in);
	return 0;
}
