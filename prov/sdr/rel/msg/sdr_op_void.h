/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Operations that come to nothing on this side, see sdr_op_void.c. */
#ifndef SDR_OP_VOID_H
#define SDR_OP_VOID_H

#include <stdbool.h>

struct sdr_op;

void sdr_op_landing_abort(struct sdr_op *op); /* a READ: its bytes do not land any more */
/*
 * It cannot be sent for a reason that lies here (enum sdr_rel_err).  The peer does not wait for it.
 */
void sdr_op_abandon(struct sdr_op *op, int err);
/* Its record has arrived, and it came to nothing.  False: the connection failed. */
bool sdr_op_take_back(struct sdr_op *op);

#endif /* SDR_OP_VOID_H */
