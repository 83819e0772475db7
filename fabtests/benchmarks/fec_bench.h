/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the parts of sdr_fec_bench share: fec_bench_out.c prints, fec_bench_work.c is what is
 * measured.
 */
#ifndef FEC_BENCH_H
#define FEC_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "fec/sdr_fec.h"

#define CHUNK  65536u
#define PACKET 4096u
#define SYMS   SDR_FEC_SYMS_MAX

enum format { TABLE, CSV, JSON };

struct row {
	const char *test;
	uint32_t k, m, piece, threads, lost;
	const char *what;
	double value;
	const char *unit, *ref;
	double ratio;		  /* 0: none */
	double at_least, at_most; /* bars; 0: none */
};

void row_print(enum format format, const struct row *r);
void rows_end(enum format format);
bool row_missed(void); /* a bar was missed */

/* What a turn does, over and over: submessage s of the buffer. */
struct work {
	struct sdr_fec *f;
	struct sdr_fec_plan *plan;
	uint8_t *tbl; /* ISA-L's */
	uint32_t k, m;
	uint32_t piece; /* bytes of a call */
	uint32_t lost;	/* chunks, for decode */
	uint32_t group; /* chunks that enter parity in one pass, for update; 0: one */
	bool copy;	/* sums: and a copy, as the kernel makes of what is sent */
	uint32_t sum;	/* so that it is not optimised away */
	uint8_t *data, *par;
	uint64_t subs; /* of the buffer */
	uint8_t turn;
};
typedef void work_fn(struct work *w, uint8_t *const *src, uint8_t *const *par);

void check(bool ok, const char *what); /* exits */
double now(clockid_t id);	       /* seconds */
struct work work_open(uint8_t *data, uint8_t *par, size_t buffer, uint32_t k, uint32_t m,
		      uint32_t piece, uint32_t lost);
void work_close(struct work *w);
/* Seconds for a submessage, mean of `limit` of them, or of fewer when they take `cap` seconds. */
double turn_run(struct work *w, work_fn *fn, clockid_t clock, uint64_t first, uint64_t limit,
		double cap);

work_fn do_sdr_encode, do_isal_encode, do_sdr_update, do_isal_update, do_xor_loop, do_decode,
	do_paper_xor, do_sums, do_apart, do_fused;

#endif /* FEC_BENCH_H */
