/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bytes of an operation: put together out of its pieces, wherever these lie, put back into
 * them, or copied, where they must outlive the caller's, or be in one piece.  A copy is freed with
 * the operation.  No state.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_op.h"

int sdr_op_fetch(const struct sdr_op *op, uint8_t *p)
{
	size_t n = 0;

	if (op->copy) {
		memcpy(p, op->copy, op->len);
		return SDR_REL_OK;
	}
	for (int i = 0; i < op->niov; i++) {
		if (sdr_mem_get(op->mem, p + n, op->iov[i].buf, op->iov[i].len))
			return SDR_REL_ERR_MEM;
		n += op->iov[i].len;
	}
	return SDR_REL_OK;
}

/* A device's bytes have a copy before any of them is written into a packet (sdr_op_start). */
size_t sdr_op_gather(const struct sdr_op *op, uint8_t *p)
{
	int err = sdr_op_fetch(op, p);

	SDR_ASSERT(!err && (!op->mem || op->copy || !op->len));
	(void)err;
	return op->len;
}

int sdr_op_scatter(struct sdr_op *op, const uint8_t *p, uint64_t n)
{
	for (int i = 0; i < op->niov && n; i++) {
		size_t k = op->iov[i].len < n ? op->iov[i].len : n;

		if (sdr_mem_put(op->mem, op->iov[i].buf, p, k))
			return SDR_REL_ERR_MEM;
		p += k;
		n -= k;
	}
	return SDR_REL_OK;
}

int sdr_op_copy(struct sdr_op *op)
{
	struct sdr_rel *rel = op->peer->rel;
	struct sdr_slab *pool = op->len <= rel->cfg.inject_max ? &rel->msg->buf_pool : NULL;
	uint8_t *to;
	int err;

	if (op->copy)
		return SDR_REL_OK;
	to = pool ? sdr_slab_alloc(pool) : malloc(op->len);
	if (!to)
		return SDR_REL_ERR_NOMEM;
	err = sdr_op_fetch(op, to);
	if (err && pool)
		sdr_slab_free(pool, to);
	else if (err)
		free(to);
	if (err)
		return err;
	op->copy = to;
	op->copy_pool = pool;
	return SDR_REL_OK;
}

int sdr_op_base(struct sdr_op *op, const uint8_t **base, const struct sdr_mem **mem)
{
	int err = op->niov == 1 ? SDR_REL_OK : sdr_op_copy(op);

	*base = op->copy ? op->copy : op->iov[0].buf;
	*mem = op->copy ? NULL : op->mem;
	return err;
}
