/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Marks of congestion of a connection, both ways.  See sdr_conn_ecn.c. */
#ifndef SDR_CONN_ECN_H
#define SDR_CONN_ECN_H

#include "sdr_conn.h"

/* Marks are counted for each path by itself. */
bool sdr_conn_ecn_by_path(const struct sdr_conn *c);
/* A path begins: the peer is known, its controller chosen. */
void sdr_conn_ecn_begin(struct sdr_conn *c, struct sdr_path *p);
/* The path leads somewhere else. */
void sdr_conn_ecn_moved(struct sdr_conn *c, struct sdr_path *p);
/* A probe timeout, the c->pto.count-th in a row, or one of the scheme's. */
void sdr_conn_ecn_timeout(struct sdr_conn *c);
/* Nothing is answered on this path, while others answer; what is lost is under way still. */
void sdr_conn_ecn_silent(struct sdr_conn *c, struct sdr_path *p);

/* A packet of the peer's that is acknowledged from now on: the control datagram in hand. */
void sdr_conn_ecn_came(struct sdr_conn *c, uint32_t path);
/* Packets that came by it, SDR_UC_ECNS counters. */
const uint64_t *sdr_conn_ecn_rx(const struct sdr_conn *c, uint32_t path);
/* What our acknowledgement says besides, and what is said behind it. */
void sdr_conn_ecn_put(const struct sdr_conn *c, struct sdr_frame_ack *f);
size_t sdr_conn_ecn_put_more(const struct sdr_conn *c, uint8_t *p, size_t room);

/* The peer's counts, after all frames of their packet: the first path's, and m's. */
void sdr_conn_ecn_heard(struct sdr_conn *c, const struct sdr_frame_ecn *f,
			const struct sdr_frame_marks *m);
/* Fills ca->ce, and the statistics. */
void sdr_conn_ecn_bytes(struct sdr_path *p, struct sdr_cc_ack *ca);

#endif /* SDR_CONN_ECN_H */
