/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What this process knows of paths, for all its domains (sdr_paths.c).
 */
#ifndef SDR_PATHS_H
#define SDR_PATHS_H

struct sdr_path_mem;
struct sdr_paths;

/*
 * That of the process, and of this file (the value of FI_SDR_CACHE; "" and "-": of none), which is
 * read by the first who asks.  NULL: no memory.
 */
struct sdr_paths *sdr_paths_get(const char *cache);
/* As often as it was got.  The last one writes the file. */
void sdr_paths_put(struct sdr_paths *p);
struct sdr_path_mem *sdr_paths_mem(struct sdr_paths *p);
/* The process ends: those that were not put back write their files. */
void sdr_paths_exit(void);

#endif /* SDR_PATHS_H */
