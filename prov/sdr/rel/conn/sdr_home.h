/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets that were lost at one of the two ends, see sdr_home.c. */
#ifndef SDR_HOME_H
#define SDR_HOME_H

#include "sdr_conn.h"

#define SDR_HOME_SAYS 3u /* packets that tell a peer of the same drops: one may be lost */

void sdr_home_open(struct sdr_conn *c);
/* n packets to the peer are lost, next in the order of sending. */
void sdr_home_lost(struct sdr_conn *c, uint64_t n);
/* And n of those that counted as arrived were lost, too. */
void sdr_home_recount(struct sdr_conn *c, uint64_t n);
/*
 * An acknowledgement event, or losses found without one, goes to the controller; losses that it
 * puts on the own rate say nothing of the path: no parity is sent against them.  What is in flight
 * after it, and whether packets overtake each other, is filled in here.
 */
void sdr_home_acked(struct sdr_conn *c, struct sdr_acks *as);
/*
 * This host has refused to send (a firewall of its own), since then at the latest look: asked with
 * each timeout, it is right to that.
 */
bool sdr_home_denies(struct sdr_rel *rel, uint64_t since);
/* Something is missing in what comes: did this host drop it? */
void sdr_home_missed(struct sdr_rel *rel);
/* Tells the peer, if there is anything new; returns bytes. */
size_t sdr_home_put(struct sdr_conn *c, uint8_t *p, size_t room);
/* The peer tells us. */
void sdr_home_said(struct sdr_conn *c, const struct sdr_frame_drops *f);

#endif /* SDR_HOME_H */
