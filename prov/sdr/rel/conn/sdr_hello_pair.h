/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a pair of long HELLOs tells of the path: see sdr_hello_pair.c. */
#ifndef SDR_HELLO_PAIR_H
#define SDR_HELLO_PAIR_H

#include "sdr_conn.h"

/* A gap between the two that is shorter is a host's, ns. */
#define SDR_HELLO_PAIR_LEAST_NS 1300000u

/* A long HELLO and a short one have left twice, back to back; bytes of control payload of each. */
void sdr_hello_pair_left(struct sdr_conn *c, uint32_t longer, uint32_t shorter);
/* One was answered. */
void sdr_hello_pair_answered(struct sdr_conn *c, const struct sdr_hello *h);
/*
 * One with this ts_us and so many bytes of control payload came from the peer, which has opened c
 * or tries to.
 */
void sdr_hello_pair_came(struct sdr_conn *c, uint32_t ts_us, uint32_t bytes);
/* Data may leave: congestion control begins with what is known so far. */
void sdr_hello_pair_begin(struct sdr_conn *c);
/* What came was another peer's. */
void sdr_hello_pair_forget(struct sdr_conn *c);

#endif /* SDR_HELLO_PAIR_H */
