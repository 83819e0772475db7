/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What has come of a receive, or of a read, that is under way, see sdr_view.c.
 */
#ifndef SDR_VIEW_H
#define SDR_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_peer;
struct sdr_rel;

struct sdr_rel_view {
	/* in */
	uint32_t nth;	/* passes over so many transfers of the same context */
	uint64_t unit;	/* bytes a bit; 0: a packet's; out: what it is */
	uint64_t first; /* the bit that is bit 0 of bits; a multiple of 64 */
	uint64_t *bits; /* the caller's; NULL: only sums */
	uint64_t words; /* of bits; what lies behind the last bit is zero */
	/* out */
	uint8_t kind;	 /* RECV, TRECV, READ */
	const void *buf; /* where its first byte lies */
	uint64_t len;	 /* bytes */
	uint64_t nbits;	 /* of all of it */
	uint64_t got;	 /* bytes in place */
	uint64_t front;	 /* of them, without a hole before them */
	uint64_t tag;	 /* TRECV */
	struct sdr_peer *peer;
};

/* Is this the context that is meant?  ctx and uflags as posted. */
typedef bool (*sdr_view_is)(const void *arg, const void *ctx, uint64_t uflags);

/*
 * 0; -EAGAIN: posted, and nothing has come that could be told; -ENODATA: its bytes come elsewhere
 * first, none is in place before its report; -ENOENT: none of them is posted or under way.
 */
int sdr_rel_view(struct sdr_rel *rel, sdr_view_is is, const void *arg, struct sdr_rel_view *v);

#endif /* SDR_VIEW_H */
