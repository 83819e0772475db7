/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Marks of congestion of a connection, both ways.  See sdr_conn_ecn.c. */
#ifndef SDR_CONN_ECN_H
#define SDR_CONN_ECN_H

#include "sdr_conn.h"

/* The peer is known, its controller chosen. */
void sdr_conn_ecn_open(struct sdr_conn *c);
/* The peer is somewhere else. */
void sdr_conn_ecn_moved(struct sdr_conn *c);
/* A probe timeout, the c->pto.count-th in a row, or one of the scheme's. */
void sdr_conn_ecn_timeout(struct sdr_conn *c);

/* A packet of the peer's that is acknowledged from now on: the control datagram in hand. */
void sdr_conn_ecn_came(struct sdr_conn *c);
/* What our acknowledgement says besides. */
void sdr_conn_ecn_put(const struct sdr_conn *c, struct sdr_frame_ack *f);

/* The peer's counts, after all frames of their packet. */
void sdr_conn_ecn_heard(struct sdr_conn *c, const struct sdr_frame_ecn *f);
/* Fills ca->ce, and the statistics. */
void sdr_conn_ecn_bytes(struct sdr_conn *c, struct sdr_cc_ack *ca);

#endif /* SDR_CONN_ECN_H */
