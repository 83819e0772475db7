/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the buffers of a run lie, and what is in them: see sdr_perf_mem.c.
 */
#ifndef SDR_PERF_MEM_H
#define SDR_PERF_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fi_domain.h>

struct perf_mem_kind;

struct perf_mem {
	const struct perf_mem_kind *kind;
	int device; /* of those that the driver has */
};

/* "host", "cuda" or "cuda:N", of the option --memory; NULL: host. */
int perf_mem_open(struct perf_mem *m, const char *name, char *why);
/* NULL, and the reason; all zeros. */
uint8_t *perf_mem_new(const struct perf_mem *m, size_t len, char *why);
void perf_mem_free(const struct perf_mem *m, uint8_t *p, size_t len); /* p: NULL is none */
/* Memory of a device, which the provider has to be asked for (FI_HMEM). */
bool perf_mem_far(const struct perf_mem *m);
/* As --memory has it. */
void perf_mem_name(const struct perf_mem *m, char *name, size_t size);
/* What a registration has to say of it. */
void perf_mem_attr(const struct perf_mem *m, struct fi_mr_attr *attr);

/* Message n has bytes of its own, different at each end. */
void perf_mem_fill(const struct perf_mem *m, uint8_t *p, size_t len, uint64_t n, bool client);
bool perf_mem_filled(const struct perf_mem *m, const uint8_t *p, size_t len, uint64_t n,
		     bool client);
void perf_mem_wipe(const struct perf_mem *m, uint8_t *p, size_t len);

#endif /* SDR_PERF_MEM_H */
