/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a record of the peer means, see sdr_rec_input.c. */
#ifndef SDR_REC_INPUT_H
#define SDR_REC_INPUT_H

#include "sdr_msg.h"

/* Once for each record, in whatever order they come. */
void sdr_rec_input(struct sdr_conn *c, const struct sdr_frame_rec *f);
/* Of one that sdr_rec_needs_room: can it be taken now?  And the bytes that it costs at most. */
bool sdr_rec_input_room(struct sdr_conn *c, const struct sdr_frame_rec *f);
uint64_t sdr_rec_input_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f);

#endif /* SDR_REC_INPUT_H */
