/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames into a packet: see sdr_pkt_put.c.  Each call returns the bytes that it has written at p,
 * of room; 0: nothing was due, or fits.
 */
#ifndef SDR_PKT_PUT_H
#define SDR_PKT_PUT_H

#include "sdr_conn.h"

/*
 * Bitmaps of transfers, the acknowledgement of packets, credit.  more: bitmaps are left, for which
 * there was no room, and the acknowledgement goes with the last of them.
 */
size_t sdr_pkt_put_acks(struct sdr_conn *c, uint8_t *p, size_t room, bool *more);
/*
 * Records that stand alone answer the peer's: those that it has not acknowledged, once more or for
 * the first time; not logged, not awaited.
 */
size_t sdr_pkt_put_answers(struct sdr_conn *c, uint8_t *p, size_t room);
size_t sdr_pkt_put_bye(struct sdr_conn *c, uint8_t *p, size_t room);
size_t sdr_pkt_put_bye_ack(struct sdr_conn *c, uint8_t *p, size_t room);

#endif /* SDR_PKT_PUT_H */
