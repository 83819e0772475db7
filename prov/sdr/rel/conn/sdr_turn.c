/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Turns of an endpoint's connections under the ceiling that it shares (path/sdr_ceiling.c).
 *
 * The endpoint takes a quantum of the ceiling's rate at a time; when connections wait for it they
 * have it one after the other, in the order in which they began to wait.  One that comes while
 * others wait queues behind them.  Data and records wait; everything else leaves at once and is
 * paid for by what comes next.  The clock that the ceiling's sharers have in common is the
 * engine's.  Without a ceiling nobody waits and nothing is counted.
 *
 * Invariant: a live connection is on rel->turns while it waits, and then has no timer for its
 * pacer.  No timer of its own: the endpoint's deadline is that of the turn.
 */
#include "sdr_path_mtu.h"
#include "sdr_turn.h"

void sdr_turns_open(struct sdr_rel *rel)
{
	const struct sdr_rel_cfg *cfg = &rel->cfg;

	sdr_list_init(&rel->turns.wait);
	if (cfg->rate_max_bps)
		sdr_ceiling_init(&rel->turns.ceiling, cfg->ceiling ? cfg->ceiling : &rel->turns.own,
				 cfg->rate_max_bps);
}

uint64_t sdr_turns_deadline(const struct sdr_rel *rel)
{
	return sdr_list_empty(&rel->turns.wait) ? NEVER : sdr_ceiling_next(&rel->turns.ceiling);
}

struct sdr_conn *sdr_turns_next(struct sdr_rel *rel)
{
	struct sdr_conn *c;

	rel->turns.who = NULL;
	if (sdr_list_empty(&rel->turns.wait) || !sdr_ceiling_allow(&rel->turns.ceiling, rel->now))
		return NULL;
	c = sdr_container(sdr_list_pop(&rel->turns.wait), struct sdr_conn, turn);
	rel->turns.who = c;
	rel->turns.left = (int64_t)rel->turns.ceiling.quantum;
	return c;
}

uint64_t sdr_turn_allow(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	uint64_t n = 0;

	if (!rel->turns.ceiling.word)
		return UINT64_MAX;
	if (sdr_list_empty(&rel->turns.wait) || (rel->turns.who == c && rel->turns.left > 0))
		n = sdr_ceiling_allow(&rel->turns.ceiling, rel->now);
	if (!n && !sdr_turn_waits(c))
		sdr_list_add_tail(&c->turn, &rel->turns.wait);
	return n;
}

void sdr_turn_sent(struct sdr_rel *rel, uint64_t bytes)
{
	rel->turns.left -= (int64_t)bytes;
	sdr_ceiling_sent(&rel->turns.ceiling, bytes, rel->now);
}

void sdr_turn_sent_data(struct sdr_conn *c, const struct sdr_path *p, uint32_t pkts, uint32_t mtu)
{
	uint32_t over = c->rel->info.data_over, room = mtu, pieces = 1;

	if (!c->rel->turns.ceiling.word)
		return;
	if (sdr_path_mtu_size(c, p) > over)
		room = sdr_path_mtu_size(c, p) - over;
	if (room < mtu)
		pieces = (mtu + room - 1) / room;
	sdr_turn_sent(c->rel, (uint64_t)pkts * (mtu + pieces * over));
}

void sdr_turn_end(struct sdr_conn *c)
{
	sdr_list_del(&c->turn);
	if (c->rel->turns.who == c)
		c->rel->turns.who = NULL;
}
