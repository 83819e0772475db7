/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets that go once more: see sdr_pkt_copy.c.  frames: len bytes, of a packet that has left. */
#ifndef SDR_PKT_COPY_H
#define SDR_PKT_COPY_H

#include "sdr_pkt.h"

/*
 * A ping that was not answered before goes several times over (sdr_probe.c): the same frames, of
 * which each packet is answered for itself.
 */
void sdr_pkt_copy_ping(struct sdr_conn *c, const uint8_t *frames, size_t len);
/*
 * What was asked by the packet that has just left is asked by each other path as well, where data
 * are under way, or all of them when nothing is heard: an answer says something of what was sent
 * before on its own path alone.
 */
void sdr_pkt_copy_asked(struct sdr_conn *c, const uint8_t *frames, size_t len);
/*
 * The packet just sent is alone on its way: nothing behind it would show its loss before a timeout,
 * and nothing but its own bytes pays for a copy.  Where losses are to be expected its records
 * travel twice, as a message of one packet under parity does.
 */
void sdr_pkt_repeat(struct sdr_conn *c);

#endif /* SDR_PKT_COPY_H */
