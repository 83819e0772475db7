/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Registered memory (sdr_mr.c).
 */
#ifndef SDR_MR_H
#define SDR_MR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_context;

struct sdr_mr {
	struct sdr_context *ctx;
	void *uc_mr;
	uintptr_t addr;
	size_t len;
};

/* Without a registration everything is covered. */
bool sdr_mr_covers(const struct sdr_mr *mr, const struct sdr_context *ctx, const void *addr,
		   uint64_t len);

#endif /* SDR_MR_H */
