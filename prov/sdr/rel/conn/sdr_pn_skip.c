/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packet numbers that are left out for a while, so that who acknowledges what he has not received
 * is found out: sooner or later he acknowledges one of these.  Such an acknowledgement counts for
 * nothing, and ends nothing either, since it may be another's than the peer's.
 *
 * A gap would stand in every acknowledgement from then on.  So it is filled as soon as an
 * acknowledgement has shown it: a packet without a meaning gets the number, and only then the next
 * number is chosen that will be left out.  At most one is missing at a time.  Loss detection goes
 * by the order of transmissions (tx.seq) and sees nothing of all this.  No timers, no allocation.
 */
#include "sdr_pn_skip.h"
#include "sdr_seal.h"

static void skip_draw(struct sdr_conn *c)
{
	c->tx.skipped = false;
	c->tx.skip =
		c->tx.pn + SDR_PN_SKIP_MIN + (uint32_t)(sdr_rel_rand(c->rel) % SDR_PN_SKIP_SPREAD);
}

void sdr_pn_skip_init(struct sdr_conn *c)
{
	skip_draw(c);
}

bool sdr_pn_skip_lied(const struct sdr_conn *c, const struct sdr_frame_ack *f)
{
	if (!c->tx.skipped)
		return false;
	for (uint32_t i = 0; i < f->n; i++) {
		sdr_rel_step(c->rel);
		if (c->tx.skip - f->r[i].lo <= f->r[i].hi - f->r[i].lo)
			return true;
	}
	return false;
}

void sdr_pn_skip_fill(struct sdr_conn *c, const struct sdr_frame_ack *f)
{
	uint8_t *p;
	size_t n;

	if (!c->tx.skipped || !sdr_seq_lt(c->tx.skip, f->r[0].hi))
		return;
	p = sdr_seal_begin(c->rel);
	if (!p)
		return; /* the next acknowledgement shows it again */
	n = sdr_packet_encode(p, c->id.peer_cid, c->tx.skip);
	p[n++] = SDR_FRAME_PAD;
	sdr_seal_send(c, n);
	c->rel->activity++;
	skip_draw(c);
}
