/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The operations and records that sdr knows: a line for each.  See sdr_op_kind.h. */
#include "sdr_op_kind.h"

const struct sdr_op_table sdr_op_table = {
	.op = {
		[SDR_REL_SEND] = &sdr_op_send,
		[SDR_REL_TSEND] = &sdr_op_tsend,
		[SDR_REL_WRITE] = &sdr_op_write,
		[SDR_REL_READ] = &sdr_op_read,
		[SDR_REL_ATOMIC] = &sdr_op_atomic,
		[SDR_REL_FETCH_ATOMIC] = &sdr_op_fetch_atomic,
		[SDR_REL_CALL] = &sdr_op_call,
	},
	.rec = {
		[SDR_REC_SEND] = &sdr_rec_kind_send,
		[SDR_REC_TSEND] = &sdr_rec_kind_send,
		[SDR_REC_WRITE] = &sdr_rec_kind_write,
		[SDR_REC_READ] = &sdr_rec_kind_read,
		[SDR_REC_READ_RSP] = &sdr_rec_kind_read_rsp,
		[SDR_REC_BIND] = &sdr_rec_kind_bind,
		[SDR_REC_CTS] = &sdr_rec_kind_cts,
		[SDR_REC_PARK] = &sdr_rec_kind_park,
		[SDR_REC_DONE] = &sdr_rec_kind_done,
		[SDR_REC_ATOMIC] = &sdr_rec_kind_atomic,
		[SDR_REC_ATOMIC_RSP] = &sdr_rec_kind_atomic_rsp,
		[SDR_REC_ATOMIC_END] = &sdr_rec_kind_atomic_end,
		[SDR_REC_CALL] = &sdr_rec_kind_call,
		[SDR_REC_BERTH] = &sdr_rec_kind_berth,
	},
};
