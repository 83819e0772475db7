/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is said to open a connection, and to those who are refused.  See sdr_hello_tx.c.
 */
#ifndef SDR_HELLO_TX_H
#define SDR_HELLO_TX_H

#include "sdr_conn.h"

#define SDR_COOKIE_LIFE_NS (10000 * MS)
/* HELLOs without an answer from which on each is followed by one of version 1 */
#define SDR_HELLO_TRIES_ASK 2u

bool sdr_cookie_ok(const struct sdr_rel *rel, const struct sdr_uc_addr *from, uint64_t cookie);
void sdr_hello_send(struct sdr_conn *c, enum sdr_rel_type type);
/* To who sent `in`; mtu: the largest that would do. */
void sdr_hello_refuse(struct sdr_rel *rel, const struct sdr_uc_addr *to, const struct sdr_hello *in,
		      enum sdr_hello_status status, uint32_t mtu);
/* A cookie, for the HELLO of that connection. */
void sdr_retry_send(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid);
/* There is no such connection here. */
void sdr_reset_send(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid);

#endif /* SDR_HELLO_TX_H */
