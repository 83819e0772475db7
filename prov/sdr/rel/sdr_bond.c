/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bonds: an endpoint that means one peer, and wants to know when it has lost it.
 *
 * A bond is two bits of a peer that the caller holds.  WATCH has the idle connection asked for a
 * sign of life (sdr_conn_timer.c); HEAR lets the peer do more than call (msg/sdr_rec_input.c).  It
 * belongs to the peer's connection: when that fails the bond is over at once, so that whoever comes
 * from the same address afterwards has none, and the caller hears of it at the end of the round,
 * behind the reports of what was posted.  A caller who hangs up hears nothing, and what the peer
 * still says is taken until it is over.  No timer of its own, no allocation.
 */
#include "base/sdr_assert.h"
#include "conn/sdr_conn_ops.h"
#include "msg/sdr_match.h"
#include "msg/sdr_op.h"
#include "sdr_bond.h"
#include "sdr_conn_timer.h"

void sdr_rel_bond(struct sdr_peer *peer, uint8_t bond)
{
	SDR_ASSERT(peer->names && peer->rel->cbs->gone);
	peer->bond = bond;
	if (peer->conn)
		sdr_conn_rearm(peer->conn);
}

void sdr_bond_failed(struct sdr_conn *c)
{
	/* Of two connections of a peer the bond is with the one that carries what is posted. */
	if (!c->peer->bond || c->peer->conn)
		return;
	c->peer->bond = 0;
	c->lost = !c->close.wanted;
}

struct sdr_peer *sdr_bond_lost(const struct sdr_conn *c, int *err)
{
	*err = c->err;
	/* Who has let go of the peer meanwhile does not ask. */
	return c->lost && c->peer->names ? c->peer : NULL;
}

void sdr_rel_hangup(struct sdr_peer *peer)
{
	struct sdr_conn *c = peer->conn;

	/* What it says until it knows is no reason to end worse than in order. */
	peer->bond = c ? peer->bond & SDR_BOND_HEAR : 0;
	if (!c)
		return;
	c->close.wanted = true;
	sdr_ops_end(c, SDR_OPS_UNPROMISED, SDR_REL_ERR_CANCELED);
	sdr_conn_kick(c);
	sdr_conn_wake(c);
}

void sdr_rel_recv_cancel(struct sdr_rel *rel)
{
	sdr_match_cancel_all(rel);
}
