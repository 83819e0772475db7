/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How many flows share a connection's path, as far as both ends see: see sdr_conn_fan.c. */
#ifndef SDR_CONN_FAN_H
#define SDR_CONN_FAN_H

#include "sdr_conn.h"

/* Data leave for the peer. */
void sdr_conn_fan_sends(struct sdr_conn *c);
/* What the peer is to know, behind reports of data that came, or without.  Bytes written. */
size_t sdr_conn_fan_put(struct sdr_conn *c, uint8_t *p, size_t room, bool reports);
/* The peer says that. */
void sdr_conn_fan_said(struct sdr_conn *c, const struct sdr_frame_fan *f);
/* Flows on the path of late, and what they begin with, for the controller. */
void sdr_conn_fan_tell(const struct sdr_conn *c, struct sdr_cc_ack *ca);
void sdr_conn_fan_open(struct sdr_conn *c);
void sdr_conn_fan_end(struct sdr_conn *c);

#endif /* SDR_CONN_FAN_H */
