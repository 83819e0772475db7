/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers for parity of both directions, for what a device's memory sends and gets (sdr_stage.c),
 * and for messages that cannot land where they belong (msg/sdr_msg.h): four sizes an octave from
 * SDR_SCRATCH_MIN bytes, kept for reuse, never more than the limit in all and `keep` while nobody
 * has them.  Fresh memory is untouched (rows on demand that were not needed cost no page).
 *
 * Alone: what is longer than the limit is given all the same, when nothing else is out; it is not
 * kept.
 */
#ifndef SDR_SCRATCH_H
#define SDR_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_SCRATCH_MIN	    4096u
#define SDR_SCRATCH_CLASSES 128u
#define SDR_SCRATCH_ALIGN   64u /* a cache line, and what the kernels of fec/ like */

/* Where buffers come from; without: the heap. */
struct sdr_scratch_src {
	void *(*alloc)(void *user, uint64_t bytes); /* aligned to a cache line; NULL: no memory */
	void (*release)(void *user, void *p, uint64_t bytes);
	void *user;
};

struct sdr_scratch {
	uint64_t limit, held, used; /* bytes: allowed, allocated, given out */
	uint64_t keep;		    /* of what is not given out, at most; at first the limit */
	bool alone;		    /* see above */
	bool no_bytes;		    /* counts, and hands out an address that is not read */
	void *idle[SDR_SCRATCH_CLASSES];
	struct sdr_scratch_src src; /* alloc NULL: the heap; set before the first get */
};

void sdr_scratch_init(struct sdr_scratch *s, uint64_t limit, bool no_bytes);
void sdr_scratch_destroy(struct sdr_scratch *s);
/* NULL: the limit, or no memory. */
uint8_t *sdr_scratch_get(struct sdr_scratch *s, uint64_t bytes);
void sdr_scratch_put(struct sdr_scratch *s, uint8_t *p, uint64_t bytes); /* NULL: nothing */

/* Of a buffer for so many bytes: what it counts in used and held. */
uint64_t sdr_scratch_charge(uint64_t bytes);
/* Of the buffers kept for reuse.  Looks at all of them. */
uint64_t sdr_scratch_idle(const struct sdr_scratch *s);

#endif /* SDR_SCRATCH_H */
