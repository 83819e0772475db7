/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The heap of one endpoint, counted.
 *
 * malloc, calloc, realloc and free of the whole program come here (the linker's --wrap, so it works
 * beneath a sanitizer's own).  What is allocated while the owner is set belongs to that endpoint
 * until it is freed; sizes are those requested.  While the owner is set a block of more than
 * LIAR_HEAP_BLOCK bytes is refused, as a machine without that much memory would.
 */
#ifndef LIAR_HEAP_H
#define LIAR_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define LIAR_HEAP_BLOCK (1ull << 30) /* bytes */

/* From here on allocations are the endpoint's, or not counted.  Returns what it was before. */
bool liar_heap_own(bool on);
uint64_t liar_heap_live(void); /* bytes of the endpoint that were not freed yet */
uint64_t liar_heap_peak(void); /* the most there were since the last reset */
/* For failures: these blocks have no owner any more. */
void liar_heap_reset(void);

#endif /* LIAR_HEAP_H */
