/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether a flow has had its path to itself for long.
 *
 * What leaves with one wake-up of the sender is a burst in the bottleneck's queue.  A short queue
 * may not hold it, and others see it as noise in their round trips; but a wake-up costs a sender as
 * much as ten packets.  Who is calm, SDR_CALM_ROUNDS round trips in a row without losses, marks,
 * others, or a queue but its own, sends half as much again with each (sdr_cc.c), until one of them
 * comes.
 *
 * A loss or mark of who is calm may be the burst's: a loss counts as the flow's own, no parity is
 * to be sent for it, and the next time it takes twice as long to be calm.  So a queue that does not
 * hold bursts loses few packets to them, the logarithm of the time; and a path that loses now and
 * then by itself has as many losses too few in the estimate, which is as little.
 *
 * No clock, no timers, no threads, no allocation.
 */
#include "base/sdr_assert.h"
#include "sdr_calm.h"

void sdr_calm_init(struct sdr_calm *c)
{
	*c = (struct sdr_calm){ .after = SDR_CALM_ROUNDS };
}

bool sdr_calm_round(struct sdr_calm *c, const struct sdr_calm_round *r)
{
	bool own = r->lost && sdr_calm_is(c);

	SDR_ASSERT(c->rounds <= c->after && c->after <= SDR_CALM_MOST);
	if (own && c->after < SDR_CALM_MOST)
		c->after *= 2;
	if (r->met || r->lost)
		c->rounds = 0;
	else if (!r->limited && c->rounds < c->after)
		c->rounds++;
	return own;
}
