/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of a GPU, for who has buffers there: see tool_cuda.c.
 */
#ifndef SDR_TOOL_CUDA_H
#define SDR_TOOL_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#define TOOL_CUDA_WHY 160u /* room for a reason */

/*
 * Loads the driver, and makes the device's context the thread's.  0; else the reason, and -ENODEV:
 * there is no driver or no such device, -EIO: there is one and it fails.
 */
int tool_cuda_open(int device, char why[TOOL_CUDA_WHY]);
/* After that. */
int tool_cuda_devices(void);
void *tool_cuda_alloc(size_t len); /* NULL: there is none */
bool tool_cuda_free(void *p);
bool tool_cuda_put(void *far, const void *near, size_t n);
bool tool_cuda_get(void *near, const void *far, size_t n);

#endif /* SDR_TOOL_CUDA_H */
