/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clear to send where messages need a grant, both sides (sdr_keys.c).
 */
#ifndef SDR_KEYS_H
#define SDR_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_context;
struct sdr_qp;

/* Receiver: sends the keys of [from, next). */
void sdr_keys_tell(struct sdr_qp *qp, uint32_t from);
/*
 * False: not a KEYS for a QP of ours.  *informed: the QP, if any, whose receiver is to learn that
 * the numbers below snd_known are understood.
 */
bool sdr_keys_input(struct sdr_context *ctx, const uint8_t *buf, size_t len,
		    struct sdr_qp **informed);

#endif /* SDR_KEYS_H */
