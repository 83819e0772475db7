/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Registered memory: a region that the engine knows, so that sends and receives inside it need no
 * registration of their own.  The context counts them and is not destroyed before the last is gone.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sdr_assert.h"
#include "sdr_mr.h"
#include "sdr_context.h"

struct sdr_mr *sdr_mr_reg(struct sdr_context *ctx, void *addr, size_t length, uint64_t flags)
{
	struct sdr_mr *mr = NULL;
	int err = -EINVAL;

	if (!ctx || !addr || !length || flags || (uintptr_t)addr > UINTPTR_MAX - length)
		goto out;
	err = -ENOMEM;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		goto out;
	err = ctx->uc->ops->mr_reg(ctx->uc, addr, length, NULL, &mr->uc_mr);
	if (err)
		goto out_mr;
	mr->ctx = ctx;
	mr->addr = (uintptr_t)addr;
	mr->len = length;
	ctx->nmrs++;
	return mr;

out_mr:
	free(mr);
out:
	errno = -err;
	return NULL;
}

int sdr_mr_dereg(struct sdr_mr *mr)
{
	if (!mr)
		return -EINVAL;
	SDR_ASSERT(mr->ctx->nmrs > 0);
	mr->ctx->uc->ops->mr_dereg(mr->ctx->uc, mr->uc_mr);
	mr->ctx->nmrs--;
	free(mr);
	return 0;
}

bool sdr_mr_covers(const struct sdr_mr *mr, const struct sdr_context *ctx, const void *addr,
		   uint64_t len)
{
	uintptr_t a = (uintptr_t)addr;

	if (!mr)
		return true;
	return mr->ctx == ctx && a >= mr->addr && a - mr->addr <= mr->len &&
	       len <= mr->len - (a - mr->addr);
}
