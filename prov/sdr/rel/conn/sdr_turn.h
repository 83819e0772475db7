/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Whose turn it is under the endpoint's ceiling, see sdr_turn.c. */
#ifndef SDR_TURN_H
#define SDR_TURN_H

#include "sdr_conn.h"

void sdr_turns_open(struct sdr_rel *rel);
/* ns at which the next has its turn; NEVER: nobody waits. */
uint64_t sdr_turns_deadline(const struct sdr_rel *rel);
/* The one whose turn it is now, until this is called again; NULL: nobody's. */
struct sdr_conn *sdr_turns_next(struct sdr_rel *rel);

/*
 * Bytes that it may send now, as sdr_ceiling_allow; 0: it waits for its turn.  To be asked when
 * nothing else keeps it from sending.
 */
uint64_t sdr_turn_allow(struct sdr_conn *c);
/* So many bytes leave, headers included: whatever they are, and whoever sends them. */
void sdr_turn_sent(struct sdr_rel *rel, uint64_t bytes);
/* So many data packets, in pieces where the path does not carry them whole. */
void sdr_turn_sent_data(struct sdr_conn *c, const struct sdr_path *p, uint32_t pkts, uint32_t mtu);
void sdr_turn_end(struct sdr_conn *c); /* it waits no more */
static inline bool sdr_turn_waits(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->turn);
}

#endif /* SDR_TURN_H */
