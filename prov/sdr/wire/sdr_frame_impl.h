/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Decoders of single frames, for sdr_frame_next: p is behind the type; what is behind the frame, or
 * NULL when it is malformed.
 */
#ifndef SDR_FRAME_IMPL_H
#define SDR_FRAME_IMPL_H

#include "sdr_frame.h"

const uint8_t *sdr_frame_ack_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_ack *f);
const uint8_t *sdr_frame_dack_decode(const uint8_t *p, const uint8_t *end,
				     struct sdr_frame_dack *f);
/* What lies behind its length. */
bool sdr_frame_marks_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_marks *f);
const uint8_t *sdr_frame_rec_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_rec *f);

#endif /* SDR_FRAME_IMPL_H */
