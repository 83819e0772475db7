/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Data packets in pieces, the soft engine's part: the size in which a QP cuts, and the memory for
 * what came.  The arithmetic, and when a packet is whole, is sdr_uc_piece.c.
 *
 * Sending: all packets of a QP that take one way are cut in one size, so that their pieces go into
 * trains together.  A train needs segments of one length: sizes that divide the packet evenly are
 * preferred, as long as that costs at most a third more pieces (8192 bytes over a path of 1500:
 * eight of 1024 in one train with those of the next packets, rather than six of which the last
 * ends the train).
 *
 * Receiving: 4 bytes a packet of the bound buffer, allocated with the first piece that comes for a
 * slot and freed when it is bound anew or unbound; so a peer can make us allocate 1/64 of what
 * lies open for it at most (packets of 256 bytes), and of an honest one 1/2048.  No memory: the
 * piece is lost.  A peer that is an RDMA device neither sends pieces nor gets them.  No timers.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_net.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_piece.h"

static uint32_t sdr_soft_piece_size(uint32_t mtu, uint32_t room)
{
	uint32_t most = sdr_uc_piece_size(mtu, room), n = (mtu - 1) / most + 1, k;

	for (k = n; k <= n + n / 3 && k <= SDR_UC_PIECES_MAX; k++)
		if (mtu % (4 * k) == 0)
			return mtu / k;
	return ((mtu + n - 1) / n + 3) & ~3u;
}

void sdr_soft_piece_limit(const struct sdr_soft_qp *q, struct sdr_soft_cut *cut, uint32_t bytes)
{
	uint32_t over = sdr_uc_head((sa_family_t)q->s->family) + SDR_DATA_OVERHEAD;
	uint32_t room = bytes > over ? (bytes - over) & ~3u : 0;

	cut->path = bytes;
	cut->whole = UINT32_MAX;
	if (!bytes || q->nic || room >= q->mtu)
		return;
	cut->piece = sdr_soft_piece_size(q->mtu, room);
	/* Too small a path for the pieces that there may be: they are lost, but are pieces. */
	cut->whole = room > cut->piece ? room : cut->piece;
}

bool sdr_soft_piece_of(const struct sdr_soft_qp *q, const struct sdr_wire_data *d, uint64_t start,
		       struct sdr_uc_piece *p)
{
	p->off = d->va - start;
	p->len = d->len;
	p->whole = d->whole;
	p->size = d->piece;
	return !q->nic && sdr_uc_piece_check(p, q->mtu);
}

bool sdr_soft_piece_enter(const struct sdr_soft_qp *q, struct sdr_soft_slot *e, uint32_t off,
			  const struct sdr_uc_piece *p)
{
	if (!e->pieces) {
		e->pieces = calloc((e->len + q->mtu - 1) / q->mtu, sizeof(e->pieces[0]));
		if (!e->pieces)
			return false;
	}
	SDR_ASSERT((uint64_t)off * q->mtu < e->len);
	return sdr_uc_piece_take(&e->pieces[off], p) == SDR_UC_PIECE_WHOLE;
}

void sdr_soft_piece_forget(struct sdr_soft_slot *e)
{
	free(e->pieces);
	e->pieces = NULL;
}
