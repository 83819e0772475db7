/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many packets per second the receive worker kernel takes: completion -> generation check ->
 * packet bit -> chunk bit, on one core and on two.
 *
 *   sdr_rx_bench [ROUNDS]
 *
 * 16 messages of 16 MiB in packets of 4 KiB are in flight.  Workers run the real kernel
 * (prov/sdr/sdk/sdr_rxk.c) over arrays of completions prepared before; bitmaps are cleared between
 * rounds, outside the time.  With two workers the completions are divided in two ways: each worker
 * has its own messages (a channel group carries a message), or every run of 15 packets goes to the
 * next worker (channels taken in turn, all bitmap words shared). Reported is the best round of
 * ROUNDS; linearity is the rate of two over twice the rate of one.  The goal is 15 Mpps per core;
 * the last column is the ratio to that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sdr_bitmap.h"
#include "sdk/sdr_rxk.h"

#define MSGS	    16u
#define PKTS	    4096u /* a message */
#define RUN	    15u	  /* packets of a GSO train of 4 KiB packets */
#define PASSES	    8u	  /* over all messages in a round */
#define GOAL_MPPS   15.0
#define WORKERS_MAX 2
#define MTU	    4096u

enum how { INORDER, SHUFFLED };
enum split { BY_MESSAGE, BY_RUN };

struct comp {
	uint32_t imm;
	uint8_t gen;
};

struct worker {
	pthread_t thread;
	struct comp *v;
	uint32_t n;
	uint64_t news, chunks;
	uint64_t from, to; /* ns */
};

static struct sdr_rxk kernel;
static uint32_t slots[1024];
static struct sdr_rxk_msg msgs[SDR_RXK_SLAB];
static void *slabs[1] = { msgs };
static uint64_t *bits;
static int gate; /* workers still to come; spun on, so that all start together */
static int rounds = 15;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "sdr_rx_bench: %s\n", what);
		exit(1);
	}
}

static void messages_clear(uint32_t words)
{
	uint32_t m;

	memset(bits, 0, sizeof(*bits) * 2 * words * MSGS);
	for (m = 0; m < MSGS; m++) {
		msgs[m].pkt_bits = bits + (size_t)m * 2 * words;
		msgs[m].chunk_bits = msgs[m].pkt_bits + words;
		msgs[m].npkts = PKTS;
		msgs[m].tail = MTU;
		msgs[m].uimm = 0;
		sdr_rxk_open(&kernel, m, 1, m);
	}
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	uint64_t news = 0, chunks = 0;
	struct sdr_rxk_out out;
	uint32_t i;

	__atomic_sub_fetch(&gate, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
		;
	w->from = now_ns();
	for (i = 0; i < w->n; i++) {
		switch (sdr_rxk_packet(&kernel, w->v[i].gen, w->v[i].imm, MTU, &out)) {
		case SDR_RXK_CHUNK:
			chunks++;
			/* fall through */
		case SDR_RXK_NEW:
			news++;
			break;
		default:
			break;
		}
	}
	w->to = now_ns();
	w->news = news;
	w->chunks = chunks;
	return NULL;
}

static uint32_t rnd(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32);
}

static void completions_make(struct worker *w, int nworkers, enum how how, enum split split)
{
	uint32_t m, p, i, j;

	for (i = 0; i < (uint32_t)nworkers; i++)
		w[i].n = 0;
	for (m = 0; m < MSGS; m++) {
		for (p = 0; p < PKTS; p++) {
			struct worker *x =
				&w[(split == BY_MESSAGE ? m : p / RUN) % (uint32_t)nworkers];

			x->v[x->n].imm = sdr_imm_pack(&kernel.split, m, p, p & 15);
			x->v[x->n++].gen = 1;
		}
	}
	for (i = 0; how == SHUFFLED && i < (uint32_t)nworkers; i++) {
		for (j = 0; j + 64 < w[i].n; j++) {
			uint32_t k = j + rnd() % 64;
			struct comp t = w[i].v[j];

			w[i].v[j] = w[i].v[k];
			w[i].v[k] = t;
		}
	}
}

/* Best rate of all rounds, packets per second. */
static double measure(int nworkers, uint32_t ppc, enum how how, enum split split)
{
	struct worker w[WORKERS_MAX];
	uint32_t words = sdr_bitmap_words(PKTS);
	double best = 0;
	int r, i;

	memset(w, 0, sizeof(w));
	sdr_rxk_chunk_set(&kernel, ppc);
	for (i = 0; i < nworkers; i++) {
		w[i].v = malloc(sizeof(*w[i].v) * MSGS * PKTS);
		check(w[i].v != NULL, "out of memory");
	}
	completions_make(w, nworkers, how, split);
	for (r = 0; r < rounds; r++) {
		uint64_t ns = 0, news = 0, chunks = 0, pass;

		for (pass = 0; pass < PASSES; pass++) {
			uint64_t from = UINT64_MAX, to = 0;

			messages_clear(words);
			gate = nworkers;
			for (i = 1; i < nworkers; i++)
				check(!pthread_create(&w[i].thread, NULL, worker_run, &w[i]),
				      "no thread");
			worker_run(&w[0]);
			for (i = 1; i < nworkers; i++)
				pthread_join(w[i].thread, NULL);
			for (i = 0; i < nworkers; i++) {
				from = w[i].from < from ? w[i].from : from;
				to = w[i].to > to ? w[i].to : to;
				news += w[i].news;
				chunks += w[i].chunks;
			}
			ns += to - from; /* first start to last end */
		}
		check(news == (uint64_t)PASSES * MSGS * PKTS, "packets are missing");
		check(chunks == (uint64_t)PASSES * MSGS * ((PKTS - 1) / ppc + 1),
		      "chunks are missing");
		if ((double)news * 1e9 / (double)ns > best)
			best = (double)news * 1e9 / (double)ns;
	}
	for (i = 0; i < nworkers; i++)
		free(w[i].v);
	return best / 1e6;
}

static void row(const char *name, int nworkers, double mpps, double one)
{
	printf("%-44s %5d %9.1f %9.1f", name, nworkers, mpps, mpps / nworkers);
	if (one > 0)
		printf(" %9.2f", mpps / (nworkers * one));
	else
		printf(" %9s", "-");
	printf(" %9.1f\n", mpps / nworkers / GOAL_MPPS);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint32_t ppc;
		enum how how;
	} cases[] = {
		{ "in order, chunk of 16 packets", 16, INORDER },
		{ "in order, chunk of 1 packet", 1, INORDER },
		{ "in order, chunk of 47 packets (1408 B mtu)", 47, INORDER },
		{ "shuffled over 64, chunk of 16 packets", 16, SHUFFLED },
		{ "shuffled over 64, chunk of 256 packets", 256, SHUFFLED },
	};
	uint32_t i;

	if (argc == 2)
		rounds = atoi(argv[1]);
	if (argc > 2 || rounds < 1) {
		fprintf(stderr, "usage: sdr_rx_bench [ROUNDS]\n");
		return 2;
	}
	kernel.slots = slots;
	kernel.slabs = slabs;
	kernel.stride = sizeof(msgs[0]);
	kernel.mtu = MTU;
	kernel.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	bits = malloc(sizeof(*bits) * 2 * sdr_bitmap_words(PKTS) * MSGS);
	check(bits != NULL, "out of memory");
	printf("%-44s %5s %9s %9s %9s %9s\n", "receive worker", "cores", "Mpps", "per core",
	       "linearity", "of goal");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double one = measure(1, cases[i].ppc, cases[i].how, BY_MESSAGE);

		row(cases[i].name, 1, one, 0);
		row("  a message to a worker", 2,
		    measure(2, cases[i].ppc, cases[i].how, BY_MESSAGE), one);
		row("  a run of 15 packets to a worker", 2,
		    measure(2, cases[i].ppc, cases[i].how, BY_RUN), one);
	}
	free(bits);
	return 0;
}
