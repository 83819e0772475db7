/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices for test_fi_hmem: of drivers without devices (far_fake.c, over fake_mem), or of
 * a GPU that is there (far_cuda.c, test_fi_gpu).
 */
#ifndef FAR_MEM_H
#define FAR_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct far_stats {
	uint64_t copies, largest; /* that drivers made; bytes of one copy */
	uint64_t pinned;	  /* ranges of host memory, now */
};

/* 0; else why there is nothing to be tested on. */
const char *far_open(void);
/* Which device's memory is to be had of a driver (libfabric's enum fi_hmem_iface). */
unsigned int far_iface(unsigned int wanted);
int far_device(void);	   /* one that there is */
int far_device_none(void); /* one that there is not */
void *far_alloc(unsigned int iface, size_t len);
void far_free(void *p);
void far_write(void *to, const void *from, size_t n);
void far_read(void *to, const void *from, size_t n);
/*
 * What only drivers of ours do: the copies after the next n fail, negative: none.  False: these
 * do not.
 */
bool far_fail(int n);
bool far_stats(struct far_stats *out); /* false: nobody counts */

#endif /* FAR_MEM_H */
