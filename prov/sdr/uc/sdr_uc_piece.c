/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Data packets in pieces, for every engine that cuts them: the size of the pieces, whether what
 * came is one, and when a packet is whole.
 *
 * A packet that is longer than its path carries travels as up to 16 datagrams, cut at multiples of
 * one size.  What came of it is 32 bits at the receiver: the size in the upper half, a bit for each
 * piece that came in the lower; nothing came: 0.  Pieces come in any order and more than once.  A
 * piece of another size is of a later sending, after the path had changed: the packet begins anew,
 * and what was placed of it before counts no more (the bytes are the same ones).  When it is whole
 * the bits are cleared, so that one sent again is put together and reported again, as a packet in
 * one datagram is.  The engine keeps the bits, forgets them when the slot is bound, and has checked
 * key, slot and bounds; nothing here reads payload.
 */
#include "wire/sdr_limits.h"
#include "sdr_uc_piece.h"

#define SDR_UC_PIECE_ALIGN 4u /* bytes: pieces need no pad, but for the last */

uint32_t sdr_uc_piece_size(uint32_t len, uint32_t room)
{
	uint32_t least = (len + SDR_UC_PIECES_MAX - 1) / SDR_UC_PIECES_MAX;
	uint32_t size = room - room % SDR_UC_PIECE_ALIGN;

	least += (SDR_UC_PIECE_ALIGN - least % SDR_UC_PIECE_ALIGN) % SDR_UC_PIECE_ALIGN;
	return size > least ? size : least;
}

bool sdr_uc_piece_check(const struct sdr_uc_piece *p, uint32_t mtu)
{
	uint64_t rest;

	if (!p->size || p->size % SDR_UC_PIECE_ALIGN || p->size > SDR_MTU_MAX || p->whole > mtu ||
	    p->whole <= p->size || (p->whole - 1) / p->size >= SDR_UC_PIECES_MAX)
		return false;
	if (p->off >= p->whole || p->off % p->size)
		return false;
	rest = p->whole - p->off;
	return p->len == (rest < p->size ? rest : p->size);
}

enum sdr_uc_piece_now sdr_uc_piece_take(uint32_t *state, const struct sdr_uc_piece *p)
{
	uint32_t all = (2u << ((p->whole - 1) / p->size)) - 1;

	if (*state >> 16 != p->size)
		*state = p->size << 16;
	*state |= 1u << (p->off / p->size);
	if ((*state & 0xffff & all) != all)
		return SDR_UC_PIECE_MORE;
	*state = 0;
	return SDR_UC_PIECE_WHOLE;
}
