/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_fec_bench: what is measured.  A work is a code over a buffer that is cut into submessages of
 * k chunks, taken in turn; its function is called with the chunks and parity chunks of one
 * submessage after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <isa-l/erasure_code.h>

#include "fec_bench.h"
#include "wire/sdr_icrc.h"

double now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void check(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "sdr_fec_bench: %s\n", what);
		exit(2);
	}
}

struct work work_open(uint8_t *data, uint8_t *par, size_t buffer, uint32_t k, uint32_t m,
		      uint32_t piece, uint32_t lost)
{
	struct work w = { .k = k, .m = m, .piece = piece, .lost = lost, .data = data, .par = par };
	uint8_t *coef = malloc((size_t)k * m);
	uint32_t i;

	w.tbl = malloc((size_t)k * m * 32);
	check(coef && w.tbl && !sdr_fec_create(k, m, &w.f) && !sdr_fec_plan_create(w.f, &w.plan),
	      "out of memory");
	for (i = 0; i < k * m; i++)
		coef[i] = sdr_fec_coef(i / k, i % k);
	ec_init_tables((int)k, (int)m, coef, w.tbl);
	free(coef);
	w.subs = buffer / CHUNK / k;
	check(w.subs > 0, "--mib is less than a submessage");
	return w;
}

void work_close(struct work *w)
{
	sdr_fec_plan_destroy(w->plan);
	sdr_fec_destroy(w->f);
	free(w->tbl);
}

static const uint8_t *const *in(uint8_t *const *v)
{
	return (const uint8_t *const *)v;
}

void do_sdr_encode(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	sdr_fec_encode(w->f, w->k, in(src), CHUNK, 0, w->m, par);
}

void do_isal_encode(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	ec_encode_data(CHUNK, (int)w->k, (int)w->m, w->tbl, (uint8_t **)(uintptr_t)src,
		       (uint8_t **)(uintptr_t)par);
}

/* Chunks [j, j + n) enter the parity, a piece of each at a time. */
static void chunks_enter(struct work *w, uint8_t *const *src, uint8_t *const *par, uint32_t j,
			 uint32_t n)
{
	const uint8_t *s[SYMS];
	uint8_t *p[SYMS];
	uint32_t at, i;

	for (at = 0; at < CHUNK; at += w->piece) {
		for (i = 0; i < n; i++)
			s[i] = src[j + i] + at;
		for (i = 0; i < w->m; i++)
			p[i] = par[i] + at;
		sdr_fec_update(w->f, j, n, s, w->piece, 0, w->m, p, j == 0);
	}
}

void do_sdr_update(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	uint32_t group = w->group ? w->group : 1, n, j;

	for (j = 0; j < w->k; j += n) {
		n = w->k - j < group ? w->k - j : group;
		chunks_enter(w, src, par, j, n);
	}
}

/* Adds to what is there, also with the first chunk. */
void do_isal_update(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	uint8_t *p[SYMS];
	uint32_t at, i, j;

	for (j = 0; j < w->k; j++) {
		for (at = 0; at < CHUNK; at += w->piece) {
			for (i = 0; i < w->m; i++)
				p[i] = par[i] + at;
			ec_encode_data_update((int)w->piece, (int)w->k, (int)w->m, (int)j, w->tbl,
					      src[j] + at, p);
		}
	}
}

/* The plainest loop: 64 bytes at a time, all chunks side by side. */
void do_xor_loop(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	typedef uint64_t vec __attribute__((vector_size(16), aligned(1), may_alias));
	uint32_t at, j;

	for (at = 0; at < CHUNK; at += 64) {
		vec a = { 0 }, b = a, c = a, d = a;

		for (j = 0; j < w->k; j++) {
			const vec *s = (const vec *)(const void *)(src[j] + at);

			a ^= s[0];
			b ^= s[1];
			c ^= s[2];
			d ^= s[3];
		}
		((vec *)(void *)(par[0] + at))[0] = a;
		((vec *)(void *)(par[0] + at))[1] = b;
		((vec *)(void *)(par[0] + at))[2] = c;
		((vec *)(void *)(par[0] + at))[3] = d;
	}
}

/* What a chunk costs besides when it leaves: the check sums of its packets, and the copy. */
static void chunk_leaves(struct work *w, const uint8_t *src)
{
	static _Thread_local uint8_t kernel[CHUNK];
	uint32_t at;

	for (at = 0; at < CHUNK; at += PACKET) {
		w->sum += sdr_icrc_update(w->sum, src + at, PACKET);
		if (w->copy)
			memcpy(kernel + at, src + at, PACKET);
	}
	__asm__ volatile("" : : "r"(kernel) : "memory");
}

void do_sums(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	uint32_t j;

	(void)par;
	for (j = 0; j < w->k; j++)
		chunk_leaves(w, src[j]);
}

/* As the sender does: chunks leave, and the submessage is encoded by itself. */
void do_apart(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	do_sums(w, src, par);
	do_sdr_encode(w, src, par);
}

/* What has just left enters the parity while it is in a cache. */
void do_fused(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	uint32_t i, j, n;

	for (j = 0; j < w->k; j += n) {
		n = w->k - j < w->group ? w->k - j : w->group;
		for (i = 0; i < n; i++)
			chunk_leaves(w, src[j + i]);
		chunks_enter(w, src, par, j, n);
	}
}

/*
 * Lost chunks: another pattern each time, so that it is set anew; the last rows, so that nothing is
 * a plain XOR.
 */
void do_decode(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	uint8_t missing[SYMS], rows[SYMS], *out[SYMS];
	const uint8_t *s[SYMS], *p[SYMS];
	uint32_t at, i, shift = w->turn++ % (w->k - w->lost + 1);

	for (i = 0; i < w->lost; i++) {
		missing[i] = (uint8_t)(shift + i);
		rows[i] = (uint8_t)(w->m - w->lost + i);
	}
	for (at = 0; at < CHUNK; at += w->piece) {
		for (i = 0; i < w->k; i++)
			s[i] = i - shift < w->lost ? NULL : src[i] + at;
		for (i = 0; i < w->lost; i++) {
			p[i] = par[rows[i]] + at;
			out[i] = src[missing[i]] + at; /* in place, as in a transfer */
		}
		sdr_fec_plan_set(w->plan, w->k, w->lost, missing, rows);
		sdr_fec_plan_run(w->plan, s, p, w->piece, out);
	}
}

double turn_run(struct work *w, work_fn *fn, clockid_t clock, uint64_t first, uint64_t limit,
		double cap)
{
	double from = now(clock), took = 0;
	uint64_t n = 0, s = first;
	uint32_t i;

	for (; n < limit && took < cap; n++, s = (s + 1) % w->subs) {
		uint8_t *src[SYMS], *par[SYMS];

		for (i = 0; i < w->k; i++)
			src[i] = w->data + (s * w->k + i) * CHUNK;
		for (i = 0; i < w->m; i++)
			par[i] = w->par + (s * w->m + i) * CHUNK;
		fn(w, src, par);
		took = now(clock) - from;
	}
	return took / (double)n;
}

/* XOR(k, m) of the paper: parity i is the sum of the chunks j with j mod m = i. */
void do_paper_xor(struct work *w, uint8_t *const *src, uint8_t *const *par)
{
	const uint8_t *s[SYMS];
	uint32_t i, j, n;

	for (i = 0; i < w->m; i++) {
		for (j = i, n = 0; j < w->k; j += w->m)
			s[n++] = src[j];
		sdr_fec_encode(w->f, n, s, CHUNK, 0, 1, par + i);
	}
}
