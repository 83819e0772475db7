/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of a device that is not there: pages that nobody may touch but the copies of the fake
 * drivers beside this.  Whatever else reads or writes it ends the process with SIGSEGV.
 */
#ifndef FAKE_MEM_H
#define FAKE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_DEVICES 2

/* Of a fake driver (any number), on its device; aborts where there is no memory. */
void *fake_alloc(int driver, int device, size_t len);
void fake_free(void *p);
/* The driver and device of a pointer; false: it is none of ours. */
bool fake_owner(const void *p, int *driver, int *device);
/*
 * [p, p + n) as a dma-buf: a new descriptor of the file behind the allocation.  Its position is
 * where the buffer begins in the file: at p (whole false), or with the allocation, then *off is
 * where p is.  False: it is none of ours, or fake_dmabufs said that there are none.
 */
bool fake_dmabuf(const void *p, size_t n, bool whole, int *fd, uint64_t *off);
void fake_dmabufs(bool on); /* true at first */
void fake_flush(void);	    /* what others wrote is flushed; counted */
/* The allocation of a pointer that is ours. */
void fake_range(const void *p, void **base, size_t *len);
/* As a driver copies: either end may be ours.  False: fake_fail said so, or it is out of bounds. */
bool fake_copy(void *to, const void *from, size_t n);
/* For tests, never failing. */
void fake_write(void *to, const void *from, size_t n);
void fake_read(void *to, const void *from, size_t n);
/* The copies of a driver after the next n fail; negative: none. */
void fake_fail(int n);

struct fake_stats {
	uint64_t copies, bytes, largest; /* largest: bytes of one copy */
	uint64_t pinned;		 /* ranges of host memory, now */
	uint64_t dmabufs, flushes;	 /* handed out; made */
};
void fake_stats(struct fake_stats *out);
void fake_pin(bool on); /* one more, one less */

#endif /* FAKE_MEM_H */
