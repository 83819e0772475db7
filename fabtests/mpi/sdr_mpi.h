/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Shared pieces of the MPI program: the run's parameters, the check counters, a byte pattern that
 * is different for every (key, offset), and buffers with guard zones on both sides. A section is
 * a function that every rank calls; it gets a communicator of its own in mt.comm and reports
 * through MT_CHECK. Nothing here knows libfabric: the program must run over any MPI.
 */
#ifndef SDR_MPI_H
#define SDR_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_GUARD       64u /* bytes before and behind every buffer */
#define MT_GUARD_BYTE  0xa5
#define MT_EMPTY_BYTE  0x5a /* what a receive buffer holds before the receive */
#define MT_MAX_REPORTS 6    /* failure lines printed a section and rank */

struct mt_run {
	int rank;
	int size;      /* ranks */
	MPI_Comm comm; /* of the section that runs */
	uint64_t seed;
	bool quick;
	const char *section;
	uint64_t checks; /* of the section */
	uint64_t fails;
};

struct mt_buf {
	uint8_t *base; /* of the allocation */
	uint8_t *p;    /* first usable byte */
	size_t len;
};

struct mt_rng {
	uint64_t state;
};

extern struct mt_run mt;

bool mt_report(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define MT_CHECK(cond, ...) mt_report((cond), __FILE__, __LINE__, __VA_ARGS__)
#define MT_MPI(call)                                                                        \
	do {                                                                                \
		int rc_ = (call);                                                           \
		mt_report(rc_ == MPI_SUCCESS, __FILE__, __LINE__, "%s: rc %d", #call, rc_); \
	} while (0)

uint64_t mt_rng_next(struct mt_rng *rng);
/* uniform in [0, bound) */
uint64_t mt_rng_below(struct mt_rng *rng, uint64_t bound);
void mt_rng_shuffle(struct mt_rng *rng, int *v, int n);
/* a message size, most often small, at times up to max */
size_t mt_rng_size(struct mt_rng *rng, size_t max);

/* one key per message: everything that could be mixed up goes in */
uint64_t mt_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void mt_fill(void *buf, size_t len, uint64_t key);
/* true when len bytes at buf are those of key */
bool mt_verify(const void *buf, size_t len, uint64_t key, const char *what);

/* set to MT_EMPTY_BYTE; aborts the job when memory is out */
struct mt_buf mt_buf_new(size_t len);
/* guards are whole, and the bytes from used to the end were not written */
void mt_buf_check(const struct mt_buf *b, size_t used, const char *what);
void mt_buf_reset(struct mt_buf *b);
void mt_buf_free(struct mt_buf *b);

/* sections */
void mt_sizes(void);
void mt_modes(void);
void mt_wildcard(void);
void mt_probe(void);
void mt_unexpected(void);
void mt_truncate(void);
void mt_storm(void);
void mt_order(void);
void mt_ring(void);
void mt_persistent(void);
void mt_cancel(void);
void mt_self(void);
void mt_datatypes(void);
void mt_coll_rooted(void);
void mt_coll_all(void);
void mt_coll_v(void);
void mt_coll_nonblocking(void);
void mt_comms(void);
void mt_osc_fence(void);
void mt_osc_lock(void);
void mt_osc_atomic(void);
void mt_osc_pscw(void);

#endif
