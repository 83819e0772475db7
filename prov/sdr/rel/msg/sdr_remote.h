/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What peers do to our memory, see sdr_remote.c.
 */
#ifndef SDR_REMOTE_H
#define SDR_REMOTE_H

#include "sdr_op.h"

/* Where a region of mr_get lies, which was asked for with SDR_REL_ACCESS_COPY. */
const struct sdr_mem *sdr_remote_mem(const struct sdr_rel *rel, void *region);
/* From here to its end it belongs to this region. */
void sdr_remote_write(struct sdr_bulk_rx *b, void *region);
/*
 * Answers a READ by an operation of this kind, under this region.  False: no memory, or too many of
 * them.
 */
bool sdr_remote_serve(struct sdr_conn *c, const struct sdr_op_kind *kind,
		      const struct sdr_frame_rec *f, void *va, void *region);
/* The peer's READ gets no bytes (any more): err is enum sdr_rel_err. */
void sdr_remote_read_refuse(struct sdr_conn *c, uint32_t id, int err);

/* To the application, if it wants to know: kind is REMOTE_READ or REMOTE_WRITE. */
void sdr_remote_report(struct sdr_conn *c, uint8_t kind, const struct sdr_frame_rec *f, void *va);

#endif /* SDR_REMOTE_H */
