/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opening a connection, see sdr_handshake.c.
 */
#ifndef SDR_HANDSHAKE_H
#define SDR_HANDSHAKE_H

#include "sdr_conn.h"

/* connections whose peer's address is unvalidated; beyond: cookies */
#define SDR_CONN_UNVALIDATED_MAX 64u
#define SDR_CONN_UNVALIDATED_NS	 (5000 * MS) /* they are dropped after this */

void sdr_conn_validate(struct sdr_conn *c); /* the peer's address is really its own */
void sdr_hello_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len);
void sdr_retry_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		     size_t len);
int sdr_reset_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		    size_t len);

#endif /* SDR_HANDSHAKE_H */
