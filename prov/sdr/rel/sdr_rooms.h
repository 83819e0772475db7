/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The rooms above the connection's, see sdr_rooms.c. */
#ifndef SDR_ROOMS_H
#define SDR_ROOMS_H

#include "conn/sdr_conn_ops.h"

extern const struct sdr_conn_ops sdr_rooms;

#endif /* SDR_ROOMS_H */
