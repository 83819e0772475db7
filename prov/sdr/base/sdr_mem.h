/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory that the CPU may not reach: a device's, which only its driver can copy.
 *
 * Who has a pointer has beside it a struct sdr_mem, or NULL where the CPU may follow the pointer.
 * The layers that move bytes know no more than that: they copy through these calls, or put memory
 * of their own in between.  What a kind of memory is stands behind the table (hmem/).
 *
 * A copy is over when its call returns, and may take as long as the device does.  Any thread.
 */
#ifndef SDR_MEM_H
#define SDR_MEM_H

#include <stddef.h>
#include <string.h>

struct sdr_mem;

struct sdr_mem_ops {
	const char *name;
	/* n > 0 bytes out of it, and into it; 0 or a negative errno */
	int (*get)(const struct sdr_mem *m, void *to, const void *from, size_t n);
	int (*put)(const struct sdr_mem *m, void *to, const void *from, size_t n);
};

struct sdr_mem {
	const struct sdr_mem_ops *ops;
};

/* n bytes at from, in m, to memory of ours. */
static inline int sdr_mem_get(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	if (!n)
		return 0;
	if (m)
		return m->ops->get(m, to, from, n);
	memcpy(to, from, n);
	return 0;
}

/* n bytes of ours to `to`, in m. */
static inline int sdr_mem_put(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	if (!n)
		return 0;
	if (m)
		return m->ops->put(m, to, from, n);
	memcpy(to, from, n);
	return 0;
}

#endif /* SDR_MEM_H */
