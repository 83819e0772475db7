/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packet numbers that are left out for a while.  See sdr_pn_skip.c.
 */
#ifndef SDR_PN_SKIP_H
#define SDR_PN_SKIP_H

#include "base/sdr_seq.h"
#include "sdr_conn.h"

/* numbers from one that is left out to the next: from MIN on, at random within SPREAD */
#define SDR_PN_SKIP_MIN	   64u
#define SDR_PN_SKIP_SPREAD 192u

void sdr_pn_skip_init(struct sdr_conn *c);
/*
 * Before a packet is given its number.  Probes, challenges and copies take theirs without asking:
 * when one of them had the number that was drawn, the next one is left out instead.
 */
static inline void sdr_pn_skip(struct sdr_conn *c)
{
	if (c->tx.skipped || sdr_seq_lt(c->tx.pn, c->tx.skip))
		return;
	c->tx.skipped = true;
	c->tx.skip = c->tx.pn++;
}
/* An acknowledgement of packets that all were sent: of one, too, that was not? */
bool sdr_pn_skip_lied(const struct sdr_conn *c, const struct sdr_frame_ack *f);
/* After an acknowledgement in which the gap shows: fills it. */
void sdr_pn_skip_fill(struct sdr_conn *c, const struct sdr_frame_ack *f);

#endif /* SDR_PN_SKIP_H */
