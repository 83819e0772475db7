/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages meet receives, see sdr_match.c.
 */
#ifndef SDR_MATCH_H
#define SDR_MATCH_H

#include "sdr_msg.h"
#include "rel/bulk/sdr_bulk_rx.h"

void sdr_match_input(struct sdr_conn *c, const struct sdr_frame_rec *f); /* in order of mseq */
/* Can it be taken now?  And the bytes that it costs at most to keep it. */
bool sdr_match_room(struct sdr_conn *c, const struct sdr_frame_rec *f);
uint64_t sdr_match_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_released(struct sdr_conn *c); /* those that were held have their turn */
void sdr_match_bind(struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_conn_gone(struct sdr_conn *c, int err);
void sdr_match_destroy(struct sdr_rel *rel);
void sdr_match_cancel_all(struct sdr_rel *rel);

#endif /* SDR_MATCH_H */
