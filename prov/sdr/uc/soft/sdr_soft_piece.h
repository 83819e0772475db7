/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Data packets in pieces: how a QP cuts them, and what came of a slot's (sdr_soft_piece.c).
 */
#ifndef SDR_SOFT_PIECE_H
#define SDR_SOFT_PIECE_H

#include "uc/sdr_uc_piece.h"
#include "sdr_soft_qp.h"

/*
 * From now on no IP packet of this QP, or of a way of it, is longer than that; 0: as long as the
 * device carries.
 */
void sdr_soft_piece_limit(const struct sdr_soft_qp *q, struct sdr_soft_cut *cut, uint32_t bytes);
/*
 * A piece of the packet that begins at start in the table; false: it is none, or of a peer that
 * sends none.
 */
bool sdr_soft_piece_of(const struct sdr_soft_qp *q, const struct sdr_wire_data *d, uint64_t start,
		       struct sdr_uc_piece *p);
/* Enters a piece of packet `off` that was placed in the slot.  True: now the packet is whole. */
bool sdr_soft_piece_enter(const struct sdr_soft_qp *q, struct sdr_soft_slot *e, uint32_t off,
			  const struct sdr_uc_piece *p);
/* Forgets what came of the slot's packets. */
void sdr_soft_piece_forget(struct sdr_soft_slot *e);

#endif /* SDR_SOFT_PIECE_H */
