/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_SDR_CACHE: a file that remembers paths from process to process (sdr_cache.c).
 */
#ifndef SDR_CACHE_H
#define SDR_CACHE_H

#include "rel/path/sdr_path_mem.h"

/*
 * What the file knows and is newer goes to m.  0, also when there is none; or a negative errno,
 * after a warning.
 */
int sdr_cache_read(const char *name, struct sdr_path_mem *m);
/* And the file knows what m does.  Likewise. */
int sdr_cache_write(const char *name, struct sdr_path_mem *m);

#endif /* SDR_CACHE_H */
