/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * An MPI program that verifies every byte: the driver. It runs the sections of the table below
 * one after the other, each on its own duplicate of MPI_COMM_WORLD, and prints one line per
 * section (checks, seconds) and at the end "N passed, N failed", N being sections, on rank 0.
 * Errors are returned by MPI, never fatal, so that a section that fails does not end the run; a
 * hang is the caller's to bound (run.sh uses timeout). All randomness comes from --seed, and all
 * ranks draw from the same streams, so each knows what every other sends.
 */
#include "sdr_mpi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mt_run mt;

static const struct {
	const char *name;
	void (*fn)(void);
} sections[] = {
	{ "sizes", mt_sizes },
	{ "modes", mt_modes },
	{ "wildcard", mt_wildcard },
	{ "probe", mt_probe },
	{ "unexpected", mt_unexpected },
	{ "storm", mt_storm },
	{ "order", mt_order },
	{ "ring", mt_ring },
	{ "persistent", mt_persistent },
	{ "cancel", mt_cancel },
	{ "self", mt_self },
	{ "datatypes", mt_datatypes },
	{ "coll_rooted", mt_coll_rooted },
	{ "coll_all", mt_coll_all },
	{ "coll_v", mt_coll_v },
	{ "coll_nonblocking", mt_coll_nonblocking },
	{ "comms", mt_comms },
	{ "osc_fence", mt_osc_fence },
	{ "osc_lock", mt_osc_lock },
	{ "osc_atomic", mt_osc_atomic },
	{ "osc_pscw", mt_osc_pscw },
	{ "truncate", mt_truncate }, /* last: where it hangs, all else is known */
};

#define NSECTIONS ((int)(sizeof(sections) / sizeof(sections[0])))

bool mt_report(bool ok, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	mt.checks++;
	if (ok)
		return true;
	if (mt.fails++ < MT_MAX_REPORTS) {
		char text[256];

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		fprintf(stderr, "rank %d, %s, %s:%d: %s\n", mt.rank, mt.section, file, line, text);
		fflush(stderr);
	}
	return false;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t mt_rng_next(struct mt_rng *rng)
{
	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(rng->state);
}

uint64_t mt_rng_below(struct mt_rng *rng, uint64_t bound)
{
	return mt_rng_next(rng) % bound;
}

void mt_rng_shuffle(struct mt_rng *rng, int *v, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)mt_rng_below(rng, (uint64_t)i + 1);
		int t = v[i];

		v[i] = v[j];
		v[j] = t;
	}
}

size_t mt_rng_size(struct mt_rng *rng, size_t max)
{
	uint64_t kind = mt_rng_below(rng, 16);
	size_t cap = kind < 6 ? 64 : kind < 11 ? 4096 : kind < 15 ? 40000 : max;

	return (size_t)mt_rng_below(rng, (cap < max ? cap : max) + 1);
}

uint64_t mt_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return mix(mix(mix(mix(mt.seed + a) + b) + c) + d);
}

void mt_fill(void *buf, size_t len, uint64_t key)
{
	uint8_t *p = buf;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t w = mix(key + i);

		memcpy(p + i, &w, len - i < 8 ? len - i : 8);
	}
}

bool mt_verify(const void *buf, size_t len, uint64_t key, const char *what)
{
	const uint8_t *p = buf;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t w = mix(key + i);

		if (memcmp(p + i, &w, len - i < 8 ? len - i : 8))
			return MT_CHECK(false, "%s: wrong byte within 8 of %zu of %zu", what, i,
					len);
	}
	return MT_CHECK(true, "%s", what);
}

struct mt_buf mt_buf_new(size_t len)
{
	struct mt_buf b = { .len = len };

	b.base = malloc(len + 2 * MT_GUARD);
	if (!b.base) {
		fprintf(stderr, "rank %d: no memory for %zu bytes\n", mt.rank, len);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	b.p = b.base + MT_GUARD;
	mt_buf_reset(&b);
	return b;
}

void mt_buf_reset(struct mt_buf *b)
{
	memset(b->base, MT_GUARD_BYTE, MT_GUARD);
	memset(b->p, MT_EMPTY_BYTE, b->len);
	memset(b->p + b->len, MT_GUARD_BYTE, MT_GUARD);
}

static bool all_are(const uint8_t *p, size_t len, int byte)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

void mt_buf_check(const struct mt_buf *b, size_t used, const char *what)
{
	MT_CHECK(all_are(b->base, MT_GUARD, MT_GUARD_BYTE), "%s: written before the buffer", what);
	MT_CHECK(all_are(b->p + b->len, MT_GUARD, MT_GUARD_BYTE), "%s: written behind the buffer",
		 what);
	MT_CHECK(used >= b->len || all_are(b->p + used, b->len - used, MT_EMPTY_BYTE),
		 "%s: written behind the message", what);
}

void mt_buf_free(struct mt_buf *b)
{
	free(b->base);
	b->base = NULL;
}

/* returns whether the section passed on every rank */
static bool section_run(int i)
{
	uint64_t mine[2], sum[2] = { 0, 0 };
	double start;

	mt.section = sections[i].name;
	mt.checks = 0;
	mt.fails = 0;
	MT_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &mt.comm));
	MPI_Comm_set_errhandler(mt.comm, MPI_ERRORS_RETURN);
	MT_MPI(MPI_Barrier(mt.comm));
	start = MPI_Wtime();
	sections[i].fn();
	MT_MPI(MPI_Barrier(mt.comm));
	mine[0] = mt.checks;
	mine[1] = mt.fails;
	if (MPI_Allreduce(mine, sum, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
		sum[1] = 1;
	if (mt.rank == 0) {
		printf("%-4s %-18s %9llu checks %8.3f s\n", sum[1] ? "FAIL" : "ok", mt.section,
		       (unsigned long long)sum[0], MPI_Wtime() - start);
		fflush(stdout);
	}
	MPI_Comm_free(&mt.comm);
	return sum[1] == 0 && mt.fails == 0;
}

static int usage(void)
{
	if (mt.rank == 0)
		fprintf(stderr,
			"usage: sdr_mpi [--seed N] [--quick] [--only NAMES] [--skip NAMES]\n");
	MPI_Finalize();
	return 2;
}

/* whether name is in a list with commas */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, len) && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *only = NULL, *skip = NULL;
	int passed = 0, failed = 0, provided;

	/* osc pt2pt of Open MPI 4.1 refuses MPI_THREAD_MULTIPLE */
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	mt.seed = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			mt.quick = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			mt.seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--skip") && i + 1 < argc)
			skip = argv[++i];
		else
			return usage();
	}
	if (mt.size < 2) {
		fprintf(stderr, "sdr_mpi needs two ranks or more\n");
		MPI_Finalize();
		return 2;
	}
	if (mt.rank == 0)
		printf("sdr_mpi: %d ranks, seed %llu%s\n", mt.size, (unsigned long long)mt.seed,
		       mt.quick ? ", quick" : "");
	for (int i = 0; i < NSECTIONS; i++) {
		if ((only && !listed(only, sections[i].name)) || listed(skip, sections[i].name))
			continue;
		if (section_run(i))
			passed++;
		else
			failed++;
	}
	if (mt.rank == 0)
		printf("%d passed, %d failed\n", passed, failed);
	MPI_Finalize();
	return failed || !passed ? 1 : 0;
}
