/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections of strangers, see sdr_stranger.c.
 */
#ifndef SDR_STRANGER_H
#define SDR_STRANGER_H

#include "sdr_conn.h"

void sdr_conn_heard(struct sdr_conn *c); /* something valid came */
/* one more stranger takes the place of another */
bool sdr_conn_crowded(const struct sdr_rel *rel);
bool sdr_conn_admit(struct sdr_rel *rel); /* one more stranger; may dismiss another one */

#endif /* SDR_STRANGER_H */
