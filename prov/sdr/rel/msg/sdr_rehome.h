/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What goes with a connection to another peer, see sdr_rehome.c. */
#ifndef SDR_REHOME_H
#define SDR_REHOME_H

#include "sdr_msg.h"

/* Operations that wait for the handshake of `from` wait with those of `to` now. */
void sdr_rehome_held(struct sdr_conn *from, struct sdr_conn *to);
/* c was that peer's, and is c->peer's now. */
void sdr_rehome(struct sdr_conn *c, struct sdr_peer *from);

#endif /* SDR_REHOME_H */
