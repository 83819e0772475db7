/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A packet of control frames leaves: see sdr_pkt_out.c. */
#ifndef SDR_PKT_OUT_H
#define SDR_PKT_OUT_H

#include "sdr_pkt.h"

/* Header of the next packet, by that path (NULL: one of the peer's), at p: bytes. */
size_t sdr_pkt_begin(const struct sdr_conn *c, const struct sdr_path *path, uint8_t *p);
/* The packet of n bytes at p, which is that of sdr_seal_begin; wants: an answer. */
void sdr_pkt_out(struct sdr_conn *c, struct sdr_path *path, const uint8_t *p, size_t n, bool wants);
/* It wants one, and has just left: pkt, the spare one of the log, is the last in it from now on. */
void sdr_pkt_log(struct sdr_conn *c, struct sdr_pkt *pkt, size_t n);

#endif /* SDR_PKT_OUT_H */
