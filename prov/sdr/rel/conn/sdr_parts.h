/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets that are longer than the path carries.  See sdr_parts.c. */
#ifndef SDR_PARTS_H
#define SDR_PARTS_H

#include "sdr_conn.h"

/* Sends a packet (class header, cid, pn, frames: len bytes) in parts that fit the path. */
void sdr_parts_send(struct sdr_conn *c, const struct sdr_path *path, const uint8_t *packet,
		    size_t len);
/*
 * A PART came in.  With the one that makes its packet whole: the packet, behind its class header,
 * *n bytes, valid until the next call; else NULL.
 */
const uint8_t *sdr_parts_take(struct sdr_rel *rel, const uint8_t *p, size_t len, size_t *n);
void sdr_parts_close(struct sdr_rel *rel);

#endif /* SDR_PARTS_H */
