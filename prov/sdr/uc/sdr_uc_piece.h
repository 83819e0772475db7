/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Data packets in pieces: how one is cut, and what came of one so far (sdr_uc_piece.c). */
#ifndef SDR_UC_PIECE_H
#define SDR_UC_PIECE_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_UC_PIECES_MAX 16u /* of a packet */

/* A piece, as its datagram says. */
struct sdr_uc_piece {
	uint64_t off;	/* of its first byte in the packet */
	uint32_t len;	/* payload bytes of it */
	uint32_t whole; /* of the packet */
	uint32_t size;	/* of all pieces of the packet but the last, which may be shorter */
};

enum sdr_uc_piece_now {
	SDR_UC_PIECE_MORE,  /* others are missing */
	SDR_UC_PIECE_WHOLE, /* with this one all have come */
};

/*
 * Size of the pieces of a packet of len bytes, where a datagram has room for that many bytes of
 * payload.  More than room when it would take too many pieces: such datagrams are lost on the path.
 */
uint32_t sdr_uc_piece_size(uint32_t len, uint32_t room);
/* It is a piece of a packet of at most mtu bytes.  To be asked before anything else of it. */
bool sdr_uc_piece_check(const struct sdr_uc_piece *p, uint32_t mtu);
/*
 * Enters a piece that was placed.  *state: of its packet, 0 at first, and again when it is whole.
 */
enum sdr_uc_piece_now sdr_uc_piece_take(uint32_t *state, const struct sdr_uc_piece *p);

#endif /* SDR_UC_PIECE_H */
