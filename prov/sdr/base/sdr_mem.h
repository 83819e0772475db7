/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory that the CPU may not reach: a device's, which only its driver can copy.
 *
 * Who has a pointer has beside it a struct sdr_mem, or NULL where the CPU may follow the pointer.
 * The layers that move bytes know no more than that: they copy through these calls, or put memory
 * of their own in between.  What a kind of memory is stands behind the table (hmem/).
 *
 * An RDMA device may reach it where both drivers agree on it: by a dma-buf, the kernel's name for
 * such memory.  Then bytes come and go that nobody copies, and flush says when they are there.
 *
 * A copy is over when its call returns, and may take as long as the device does.  Any thread.
 */
#ifndef SDR_MEM_H
#define SDR_MEM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sdr_mem;

/* Memory of a device as the kernel names it. */
struct sdr_dmabuf {
	int fd;	      /* whose close is no end of the memory; -1: there is none */
	uint64_t off; /* bytes from its beginning to the memory that is meant */
};

struct sdr_mem_ops {
	const char *name;
	/* n > 0 bytes out of it, and into it; 0 or a negative errno */
	int (*get)(const struct sdr_mem *m, void *to, const void *from, size_t n);
	int (*put)(const struct sdr_mem *m, void *to, const void *from, size_t n);
	/*
	 * The n > 0 bytes at p, in it, as *out: a descriptor for the caller to close.  0 or a
	 * negative errno: -EOPNOTSUPP where it has no such thing at all, others where these bytes
	 * have none, now.  May be NULL: none at all.
	 */
	int (*dmabuf)(const struct sdr_mem *m, const void *p, size_t n, struct sdr_dmabuf *out);
	/*
	 * What others than its device wrote there until now, the device sees from now on; 0 or a
	 * negative errno.  May be NULL: it does anyway.
	 */
	int (*flush)(const struct sdr_mem *m);
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

/* m is some device's. */
static inline int sdr_mem_dmabuf(const struct sdr_mem *m, const void *p, size_t n,
				 struct sdr_dmabuf *out)
{
	out->fd = -1;
	return m->ops->dmabuf ? m->ops->dmabuf(m, p, n, out) : -EOPNOTSUPP;
}

static inline int sdr_mem_flush(const struct sdr_mem *m)
{
	return m->ops->flush ? m->ops->flush(m) : 0;
}

#endif /* SDR_MEM_H */
