/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The operations that sdr knows: a line for each.  See sdr_op_kind.h. */
#include "sdr_op_kind.h"

const struct sdr_op_table sdr_op_table = {
	.op = {
		[SDR_REL_SEND] = &sdr_op_send,
		[SDR_REL_TSEND] = &sdr_op_tsend,
		[SDR_REL_WRITE] = &sdr_op_write,
		[SDR_REL_READ] = &sdr_op_read,
	},
};
