/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Memory for buffers of tests, used again from one test to the next, see bed_pool.c. */
#ifndef BED_POOL_H
#define BED_POOL_H

#include <stddef.h>

/* len bytes of any value, aligned to 64; NULL: no memory.  Thread-safe, as the others are. */
void *bed_pool_get(size_t len);
void *bed_pool_zeros(size_t len);
void bed_pool_put(void *p); /* NULL: nothing */

#endif /* BED_POOL_H */
