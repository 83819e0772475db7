/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices, by their makers' drivers, see sdr_hmem.c.
 */
#ifndef SDR_HMEM_H
#define SDR_HMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/sdr_mem.h"

/* Whose devices; libfabric has the same numbers (enum fi_hmem_iface). */
enum sdr_hmem_iface {
	SDR_HMEM_CUDA = 1,
	SDR_HMEM_ROCR = 2,
	SDR_HMEM_ZE = 3,
	SDR_HMEM_IFACES, /* how many there are, with 0, the CPU's */
};

#define SDR_HMEM_ANY_DEVICE UINT64_MAX /* the one that a pointer says */

/* One driver is a row.  Its calls but load come after load was right, from any thread. */
struct sdr_hmem_ops {
	const char *name;
	const char *lib; /* to be found by dlopen */
	/* Finds its calls in lib, and starts the driver; 0, or a negative errno: no device. */
	int (*load)(void *lib);
	/*
	 * The memory of a device, numbered as libfabric does; ptr lies there, and says which where
	 * the number is SDR_HMEM_ANY_DEVICE.  Lives as long as the process.  0 or a negative errno.
	 */
	int (*mem)(uint64_t device, const void *ptr, const struct sdr_mem **out);
	/* ptr lies in memory that only this driver copies. */
	bool (*mine)(const void *ptr);
	/* From now to unpin its devices copy faster from and to here; failing costs no more. */
	int (*pin)(void *p, size_t len);
	void (*unpin)(void *p);
};

/* The rows, by interface; NULL: none. */
extern const struct sdr_hmem_ops *const sdr_hmem_table[SDR_HMEM_IFACES];

/*
 * The driver is there and has a device.  The first call loads it, and may take a second; *why, if
 * not NULL: what is missing, as text that stays.
 */
bool sdr_hmem_usable(unsigned int iface, const char **why);
bool sdr_hmem_any(void); /* one of them is */
/* As the row's mem.  -ENOSYS: the driver is not there. */
int sdr_hmem_mem(unsigned int iface, uint64_t device, const void *ptr, const struct sdr_mem **out);
/*
 * *out: where ptr lies, as drivers that were loaded say; NULL: where the CPU reaches it.  0, or a
 * negative errno: on a device that cannot be used.
 */
int sdr_hmem_find(const void *ptr, const struct sdr_mem **out);

/* Memory of ours, aligned to a page, that devices of all loaded drivers copy from and to fast. */
void *sdr_hmem_host_alloc(size_t len);
void sdr_hmem_host_free(void *p, size_t len);

#endif /* SDR_HMEM_H */
