/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets that are longer than the path carries.  See sdr_parts.c. */
#ifndef SDR_PARTS_H
#define SDR_PARTS_H

#include "sdr_conn.h"

/* Sends a packet (class header, cid, pn, frames: len bytes) in parts that fit c->ctl_max. */
void sdr_parts_send(struct sdr_conn *c, const uint8_t *packet, size_t len);
/* A PART came in; the one that makes its packet whole leads to sdr_pkt_input. */
void sdr_parts_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		     size_t len);
void sdr_parts_close(struct sdr_rel *rel);

#endif /* SDR_PARTS_H */
