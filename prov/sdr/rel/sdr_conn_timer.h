/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a connection does in time, see sdr_conn_timer.c. */
#ifndef SDR_CONN_TIMER_H
#define SDR_CONN_TIMER_H

#include "conn/sdr_conn.h"

#define SDR_LINGER_TRIES 6u /* BYE repeats */
/* what a shut down endpoint has promised is abandoned after this */
#define SDR_LINGER_NS (3000 * MS)

/* The earliest of all its deadlines. */
void sdr_conn_rearm(struct sdr_conn *c);
/*
 * This endpoint ran no round for so long, ns, although it had something to do: it did not listen
 * either, so that is no silence of the peer's.
 */
void sdr_conn_was_away(struct sdr_conn *c, uint64_t ns);
/* Runs whatever is due; sending happens later in the round. */
void sdr_conn_timer(struct sdr_conn *c);
bool sdr_conn_busy(const struct sdr_conn *c); /* we wait for the peer to answer */
/* Nothing under way in either direction that we promised. */
bool sdr_conn_idle(const struct sdr_conn *c);

#endif /* SDR_CONN_TIMER_H */
