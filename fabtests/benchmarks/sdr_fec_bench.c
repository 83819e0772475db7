/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_fec_bench: what the code of prov/sdr/fec costs beside bare ISA-L and beside XOR.
 *
 *   sdr_fec_bench [--csv | --json] [--quick] [--check] [--passes] [--mib N] [--threads N]
 *
 * A buffer larger than the caches is cut into submessages of k chunks, which are taken in turn, so
 * data come from memory as they do in a transfer.  Rates are bytes of data a second.  What is
 * compared goes over the same submessages in turns (A B C A B C ...), 128 MiB or 0.2 s a turn.
 * Printed are the median of all turns, the median of the ratios to the reference in the same round,
 * and the project's bar where there is one.
 *
 *   encode   whole submessages, each kernel beside ec_encode_data on the same buffers
 *   update   a chunk, or a packet, at a time into all rows, beside ec_encode_data_update (the
 *            sender encodes whole submessages)
 *   xor      m = 1 beside a loop that XORs the same chunks
 *   decode   n chunks of a submessage lost: by chunk (one pattern, 64 KiB) and by row (the pattern
 *            set again for each 4 KiB); the ratio is that of the times, row by chunk
 *   plan     time to set a pattern that was not set
 *   scaling  encode by threads, beside one
 *   figure   XOR(32,8) and MDS(32,8) by threads: 128 MiB in chunks of 64 KiB (the paper's figure)
 *
 * --passes: these alone, for each kernel that this processor has, in half a minute:
 *   passes   1 .. 16 chunks that enter all rows in one pass, and a whole submessage (all), beside
 *            ec_encode_data
 *   fused    chunks leave (check sums of 4 KiB packets; with a copy, as the kernel makes one) and
 *            the submessage is encoded by itself, as the sender does; beside: so many chunks leave
 *            and enter the parity at once, while they are in a cache
 *
 * Time is CPU time of the thread (of the slowest, with several): other programs' load counts only
 * as far as it takes memory away.  With more threads than CPUs it is the clock on the wall.
 * --check: exit status 1 when a bar is missed.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fec_bench.h"

#define ROUNDS_MAX  15u
#define KINDS_MAX   8u
#define THREADS_MAX 64u

static enum format format;
static size_t buffer = 128u << 20;
static uint32_t rounds = 9, threads_max, cpus;
static double cap = 0.2; /* seconds of a turn */
static const char *const kernels[] = { "base", "isal", "gfni" };

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of one value a round, or of its ratio to another. */
static double median(const double *v, const double *by)
{
	double x[ROUNDS_MAX] = { 0 };
	uint32_t r;

	for (r = 0; r < rounds; r++)
		x[r] = by ? v[r] / by[r] : v[r];
	qsort(x, rounds, sizeof(*x), double_cmp);
	return rounds & 1 ? x[rounds / 2] : (x[rounds / 2 - 1] + x[rounds / 2]) / 2;
}

struct kind {
	const char *what, *kernel; /* kernel NULL: does not matter */
	work_fn *fn;
	struct work *w;
	double v[ROUNDS_MAX]; /* seconds, by round */
};

static void kinds_run(struct kind *kinds, uint32_t n)
{
	uint32_t r, i;

	for (r = 0; r < rounds; r++) {
		for (i = 0; i < n; i++) {
			sdr_fec_kernel_set(kinds[i].kernel);
			kinds[i].v[r] =
				turn_run(kinds[i].w, kinds[i].fn, CLOCK_THREAD_CPUTIME_ID,
					 kinds[i].w->subs * r / rounds, kinds[i].w->subs, cap);
		}
	}
}

static double rate(const struct work *w, double seconds)
{
	return (double)w->k * CHUNK / seconds / 1e9;
}

/* Kinds beside the first. */
static void kinds_print(const char *test, struct kind *kinds, uint32_t n, bool bars)
{
	const struct work *w = kinds->w;
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct row r = { test,
				 w->k,
				 w->m,
				 w->piece,
				 1,
				 0,
				 kinds[i].what,
				 rate(w, median(kinds[i].v, NULL)),
				 "GB/s",
				 kinds[0].what,
				 i ? median(kinds[0].v, kinds[i].v) : 0,
				 0,
				 0 };

		if (bars && i && strcmp(kinds[i].what, "base"))
			r.at_least = w->m > 1 && !strcmp(kinds[i].what, "gfni") ? 2 : 0.95;
		row_print(format, &r);
	}
}

static uint32_t kinds_kernels(struct kind *kinds, uint32_t n, struct work *w, work_fn *fn,
			      bool base)
{
	uint32_t i;

	for (i = base ? 0 : 1; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (sdr_fec_kernel_set(kernels[i]))
			kinds[n++] = (struct kind){
				.what = kernels[i], .kernel = kernels[i], .fn = fn, .w = w
			};
	return n;
}

static void bench_encode(uint8_t *data, uint8_t *par)
{
	static const uint8_t codes[][2] = { { 32, 8 },	{ 32, 2 },  { 32, 4 },	{ 32, 16 },
					    { 10, 4 },	{ 64, 2 },  { 64, 16 }, { 128, 4 },
					    { 128, 8 }, { 128, 32 } };
	uint32_t c, n;

	for (c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
		struct work w = work_open(data, par, buffer, codes[c][0], codes[c][1], CHUNK, 0);
		struct kind kinds[KINDS_MAX] = {
			{ .what = "ISA-L", .fn = do_isal_encode, .w = &w }
		};

		n = kinds_kernels(kinds, 1, &w, do_sdr_encode, c == 0);
		kinds_run(kinds, n);
		kinds_print("encode", kinds, n, c == 0);
		work_close(&w);
	}
}

static void bench_update(uint8_t *data, uint8_t *par)
{
	static const uint8_t codes[][2] = {
		{ 32, 1 }, { 64, 2 }, { 128, 4 }, { 32, 8 }, { 32, 16 }
	};
	uint32_t c, n, p;

	for (c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
		for (p = 0; p < 2; p++) {
			struct work w = work_open(data, par, buffer, codes[c][0], codes[c][1],
						  p ? PACKET : CHUNK, 0);
			struct kind kinds[KINDS_MAX] = {
				{ .what = "ISA-L", .fn = do_isal_update, .w = &w }
			};

			n = kinds_kernels(kinds, 1, &w, do_sdr_update, false);
			kinds_run(kinds, n);
			kinds_print("update", kinds, n, false);
			work_close(&w);
		}
	}
}

static const uint32_t groups[] = { 1, 2, 4, 8, 16 };
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

/* Kinds of one code beside the first, with works and names of their own. */
static void groups_run(const char *test, struct kind *kinds, struct work *works, uint32_t n,
		       char (*names)[24])
{
	uint32_t i;

	kinds_run(kinds, n);
	for (i = 0; i < n; i++) {
		struct row r = { test, works[i].k, works[i].m, works[i].piece, 1,
				 0,    names[i],   0,	       "GB/s",	       names[0],
				 0,    0,	   0 };

		r.value = rate(&works[i], median(kinds[i].v, NULL));
		r.ratio = i ? median(kinds[0].v, kinds[i].v) : 0;
		row_print(format, &r);
		work_close(&works[i]);
	}
}

static void bench_passes(uint8_t *data, uint8_t *par, const char *kernel)
{
	static const uint8_t codes[][2] = { { 32, 4 }, { 32, 8 }, { 64, 16 }, { 128, 8 } };
	char names[2 + GROUPS][24];
	struct kind kinds[2 + GROUPS];
	struct work works[2 + GROUPS];
	uint32_t c, i;

	for (c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
		for (i = 0; i < 2 + GROUPS; i++) {
			works[i] = work_open(data, par, buffer, codes[c][0], codes[c][1], CHUNK, 0);
			works[i].group = i < 2 ? 0 : groups[i - 2];
			kinds[i] = (struct kind){ .what = names[i],
						  .kernel = kernel,
						  .fn = i > 1 ? do_sdr_update
							: i   ? do_sdr_encode
							      : do_isal_encode,
						  .w = &works[i] };
			if (i > 1)
				snprintf(names[i], sizeof(names[i]), "%s x%u", kernel,
					 works[i].group);
			else
				snprintf(names[i], sizeof(names[i]), i ? "%s all" : "ISA-L",
					 kernel);
		}
		groups_run("passes", kinds, works, i, names);
	}
}

static void bench_fused(uint8_t *data, uint8_t *par, const char *kernel)
{
	static const uint32_t some[] = { 0, 1, 8, 16 }; /* 0: apart */
	static const uint8_t codes[][2] = { { 32, 8 }, { 128, 8 } };
	char names[5][24];
	struct kind kinds[5];
	struct work works[5];
	uint32_t c, i;

	for (c = 0; c < 2 * sizeof(codes) / sizeof(codes[0]); c++) {
		for (i = 0; i < 5; i++) {
			works[i] = work_open(data, par, buffer, codes[c / 2][0], codes[c / 2][1],
					     CHUNK, 0);
			works[i].copy = c & 1;
			works[i].group = i < 4 ? some[i] : 0;
			kinds[i] = (struct kind){ .what = names[i],
						  .kernel = kernel,
						  .fn = i == 4 ? do_sums
							: i    ? do_fused
							       : do_apart,
						  .w = &works[i] };
			if (i == 4 || !i)
				snprintf(names[i], sizeof(names[i]), "%s%s%s", kernel,
					 i ? " no parity" : " apart", works[i].copy ? " copy" : "");
			else
				snprintf(names[i], sizeof(names[i]), "%s x%u%s", kernel,
					 works[i].group, works[i].copy ? " copy" : "");
		}
		groups_run("fused", kinds, works, i, names);
	}
}

static void bench_xor(uint8_t *data, uint8_t *par)
{
	static const uint8_t ks[] = { 8, 32, 128 };
	uint32_t c, n;

	for (c = 0; c < sizeof(ks); c++) {
		struct work w = work_open(data, par, buffer, ks[c], 1, CHUNK, 0);
		struct kind kinds[KINDS_MAX] = {
			{ .what = "XOR loop", .fn = do_xor_loop, .w = &w }
		};

		n = kinds_kernels(kinds, 1, &w, do_sdr_encode, false);
		kinds_run(kinds, n);
		kinds_print("xor", kinds, n, true);
		work_close(&w);
	}
}

static void bench_decode(uint8_t *data, uint8_t *par)
{
	static const uint8_t lost[] = { 1, 2, 4, 8 };
	uint32_t c, q;

	for (q = 1; q < sizeof(kernels) / sizeof(kernels[0]); q++) {
		for (c = 0; c < sizeof(lost) && sdr_fec_kernel_set(kernels[q]); c++) {
			struct work chunk = work_open(data, par, buffer, 32, 8, CHUNK, lost[c]);
			struct work by_row = work_open(data, par, buffer, 32, 8, PACKET, lost[c]);
			struct kind kinds[] = {
				{ .kernel = kernels[q], .fn = do_decode, .w = &chunk },
				{ .kernel = kernels[q], .fn = do_decode, .w = &by_row }
			};
			struct row r = { "decode", 32,	   8,	    CHUNK, 1, lost[c], kernels[q],
					 0,	   "GB/s", "chunk", 0,	   0, 0 };

			kinds_run(kinds, 2);
			r.value = rate(&chunk, median(kinds[0].v, NULL));
			row_print(format, &r);
			r.piece = PACKET;
			r.value = rate(&by_row, median(kinds[1].v, NULL));
			r.ratio = median(kinds[1].v, kinds[0].v);
			r.at_most = 1.1;
			row_print(format, &r);
			work_close(&chunk);
			work_close(&by_row);
		}
	}
}

static void bench_plan(void)
{
	static const uint8_t cases[][3] = {
		{ 32, 8, 1 }, { 32, 8, 2 }, { 32, 8, 8 }, { 128, 32, 32 }, { 200, 56, 56 }
	};
	uint32_t c, r, i, t;

	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		uint32_t k = cases[c][0], m = cases[c][1], n = cases[c][2], turns = 20000 / n;
		struct row row = { "plan", k, m, 0, 1, n, "set", 0, "us", "", 0, 0, 0 };
		uint8_t missing[2][SYMS], rows[SYMS];
		struct sdr_fec_plan *plan;
		double v[ROUNDS_MAX];
		struct sdr_fec *f;

		check(!sdr_fec_create(k, m, &f) && !sdr_fec_plan_create(f, &plan), "out of memory");
		for (i = 0; i < n; i++) {
			missing[0][i] = (uint8_t)i;
			missing[1][i] = (uint8_t)(k - n + i);
			rows[i] = (uint8_t)(m - n + i);
		}
		for (r = 0; r < rounds; r++) {
			double from = now(CLOCK_THREAD_CPUTIME_ID);

			for (t = 0; t < turns; t++)
				sdr_fec_plan_set(plan, k, n, missing[t & 1], rows);
			v[r] = (now(CLOCK_THREAD_CPUTIME_ID) - from) / turns;
		}
		row.value = median(v, NULL) * 1e6;
		row_print(format, &row);
		sdr_fec_plan_destroy(plan);
		sdr_fec_destroy(f);
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

struct crew {
	struct work w;
	work_fn *fn;
	pthread_barrier_t *gate;
	clockid_t clock;
	uint64_t first, subs; /* its share of the buffer */
	double from, to;      /* seconds */
};

static void *crew_run(void *arg)
{
	struct crew *c = arg;

	pthread_barrier_wait(c->gate);
	c->from = now(c->clock);
	if (c->subs) /* else: more threads than submessages */
		turn_run(&c->w, c->fn, c->clock, c->first, c->subs, 1e9);
	c->to = now(c->clock);
	return NULL;
}

/* Seconds to go over the buffer once with so many threads. */
static double crew_time(const struct work *w, work_fn *fn, uint32_t threads)
{
	struct crew crew[THREADS_MAX];
	pthread_t id[THREADS_MAX];
	pthread_barrier_t gate;
	double from = 1e18, to = 0, took = 0;
	uint32_t i;

	pthread_barrier_init(&gate, NULL, threads);
	for (i = 0; i < threads; i++) {
		crew[i] = (struct crew){
			.w = *w, .fn = fn, .gate = &gate, .first = w->subs * i / threads
		};
		crew[i].subs = w->subs * (i + 1) / threads - crew[i].first;
		crew[i].clock = threads > cpus ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
		check(!pthread_create(&id[i], NULL, crew_run, &crew[i]), "no thread");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(id[i], NULL);
		from = crew[i].from < from ? crew[i].from : from;
		to = crew[i].to > to ? crew[i].to : to;
		took = crew[i].to - crew[i].from > took ? crew[i].to - crew[i].from : took;
	}
	pthread_barrier_destroy(&gate);
	return threads > cpus ? to - from : took;
}

static void bench_threads(uint8_t *data, uint8_t *par, const char *test, const char *what,
			  const char *kernel, work_fn *fn, bool bar)
{
	struct work w = work_open(data, par, buffer, 32, 8, CHUNK, 0);
	double v[THREADS_MAX + 1][ROUNDS_MAX];
	uint32_t t, r;

	sdr_fec_kernel_set(kernel);
	for (r = 0; r < rounds; r++)
		for (t = 1; t <= threads_max; t *= 2)
			v[t][r] = crew_time(&w, fn, t);
	for (t = 1; t <= threads_max; t *= 2) {
		double s = median(v[t], NULL) / (double)w.subs;
		struct row row = { test,	32,	8,	    CHUNK, t, 0, what,
				   rate(&w, s), "GB/s", "1 thread", 0,	   0, 0 };

		row.ratio = t > 1 ? median(v[1], v[t]) : 0;
		row.at_least = bar && t == 2 ? 1.8 : 0;
		row_print(format, &row);
	}
	sdr_fec_kernel_set(NULL);
	work_close(&w);
}

static void usage(FILE *f)
{
	fprintf(f, "usage: sdr_fec_bench [options]\n"
		   "  --csv, --json   instead of a table\n"
		   "  --quick         fewer and shorter turns: for a look, not for a report\n"
		   "  --check         exit status 1 when a bar is missed\n"
		   "  --passes        only how many chunks enter parity at a time, by kernel\n"
		   "  --mib N         size of the buffer, 16 .. 4096 (default 128)\n"
		   "  --threads N     most threads, 1 .. 64 (default: the CPUs)\n");
}

static bool options_read(int argc, char **argv, bool *fail, bool *passes)
{
	static const struct option opts[] = {
		{ "csv", 0, NULL, 'c' },   { "json", 0, NULL, 'j' },   { "quick", 0, NULL, 'q' },
		{ "check", 0, NULL, 'k' }, { "mib", 1, NULL, 'm' },    { "threads", 1, NULL, 't' },
		{ "help", 0, NULL, 'h' },  { "passes", 0, NULL, 'p' }, { NULL, 0, NULL, 0 },
	};
	long v;
	int c;

	while ((c = getopt_long(argc, argv, "h", opts, NULL)) >= 0) {
		switch (c) {
		case 'c':
			format = CSV;
			break;
		case 'j':
			format = JSON;
			break;
		case 'q':
			rounds = 3;
			cap = 0.02;
			break;
		case 'k':
			*fail = true;
			break;
		case 'p':
			*passes = true;
			rounds = 5;
			cap = 0.05;
			break;
		case 'm':
			v = atol(optarg);
			if (v < 16 || v > 4096)
				return false;
			buffer = (size_t)v << 20;
			break;
		case 't':
			v = atol(optarg);
			if (v < 1 || v > (long)THREADS_MAX)
				return false;
			threads_max = (uint32_t)v;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	uint8_t *data, *par;
	bool fail = false, passes = false;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t i;

	cpus = online < 1 ? 1 : online > (long)THREADS_MAX ? THREADS_MAX : (uint32_t)online;
	threads_max = cpus;
	if (!options_read(argc, argv, &fail, &passes)) {
		usage(stderr);
		return 2;
	}
	data = aligned_alloc(2u << 20, buffer);
	par = aligned_alloc(2u << 20, buffer); /* no code here has more parity than data */
	check(data && par, "out of memory");
	for (i = 0; i < buffer; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 23);
	memset(par, 0, buffer);
	for (i = 1; passes && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (!sdr_fec_kernel_set(kernels[i]))
			continue;
		bench_passes(data, par, kernels[i]);
		bench_fused(data, par, kernels[i]);
	}
	if (passes)
		goto out;
	bench_encode(data, par);
	bench_update(data, par);
	bench_xor(data, par);
	bench_decode(data, par);
	bench_plan();
	bench_threads(data, par, "scaling", "isal", "isal", do_sdr_encode, true);
	if (sdr_fec_kernel_set("gfni"))
		bench_threads(data, par, "scaling", "gfni", "gfni", do_sdr_encode, true);
	bench_threads(data, par, "figure", "XOR", NULL, do_paper_xor, false);
	bench_threads(data, par, "figure", "MDS", NULL, do_sdr_encode, false);
out:
	rows_end(format);
	free(data);
	free(par);
	return fail && row_missed();
}
