/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The drivers, each a file of its own, and what their files share: finding calls by name, and a
 * device's memory once for all who use it.
 */
#ifndef SDR_HMEM_ROWS_H
#define SDR_HMEM_ROWS_H

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include "sdr_hmem.h"

#define SDR_HMEM_DEVICES 64u /* of one driver */

extern const struct sdr_hmem_ops sdr_hmem_cuda; /* sdr_hmem_cuda.c */
extern const struct sdr_hmem_ops sdr_hmem_rocr; /* sdr_hmem_rocr.c */
extern const struct sdr_hmem_ops sdr_hmem_ze;	/* sdr_hmem_ze.c */

/* *call, a pointer to a function, becomes lib's of this name.  0 or -ENOSYS. */
static inline int sdr_hmem_call(void *lib, const char *name, void *call)
{
	void *p = dlsym(lib, name);

	memcpy(call, &p, sizeof(p));
	return p ? 0 : -ENOSYS;
}

#endif /* SDR_HMEM_ROWS_H */
