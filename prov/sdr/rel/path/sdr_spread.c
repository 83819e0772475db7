/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How fast a flight left, and how fast it arrived: what passed of it beside others.
 *
 * The dispersion of packets that leave at once is the bottleneck's (sdr_train.c), whoever else is
 * there: those of others come before them or behind.  Over a whole flight it is what passes of
 * ours: n who start together measure the whole path each, and a n-th of it here, some milliseconds
 * later, when what waited in front of it is counted in.  A flight that arrives more slowly than it
 * left says nothing about where; its caller knows what the path passes.
 *
 * Both are of the newest packet that acknowledgements tell of.  No clock, no timers, no threads, no
 * allocation.
 */
#include <math.h>
#include "base/sdr_assert.h"
#include "sdr_spread.h"

#define SDR_SPREAD_NS_PER_S 1e9

void sdr_spread_begin(struct sdr_spread *s, uint64_t rx, uint64_t tx)
{
	SDR_ASSERT(rx);
	*s = (struct sdr_spread){ .rx = rx, .rx_last = rx, .tx = tx, .tx_last = tx };
}

void sdr_spread_acked(struct sdr_spread *s, uint64_t rx, uint64_t tx, uint64_t bytes)
{
	s->bytes += (double)bytes;
	if (rx > s->rx_last)
		s->rx_last = rx;
	if (tx > s->tx_last)
		s->tx_last = tx;
}

double sdr_spread_arrived(const struct sdr_spread *s)
{
	if (s->rx_last == s->rx)
		return 0;
	return s->bytes / (double)(s->rx_last - s->rx) * SDR_SPREAD_NS_PER_S;
}

double sdr_spread_left(const struct sdr_spread *s)
{
	if (s->tx_last == s->tx)
		return HUGE_VAL;
	return s->bytes / (double)(s->tx_last - s->tx) * SDR_SPREAD_NS_PER_S;
}
