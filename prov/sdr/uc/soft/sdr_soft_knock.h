/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which ports of a peer's workers answer (sdr_soft_knock.c).
 */
#ifndef SDR_SOFT_KNOCK_H
#define SDR_SOFT_KNOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "sdr_soft.h"

struct sdr_soft;
struct sdr_soft_qp;

/* Asks the ports that have not answered, where it is time to. */
void sdr_soft_knock(struct sdr_soft_qp *q);
/* A control datagram with SDR_KNOCK_QKEY came to the engine's own socket.  False: a bad one. */
bool sdr_soft_knock_answered(struct sdr_soft *s, const uint8_t *payload, size_t len);
/*
 * A worker's thread, at work: a whole packet, ICRC included, that is no data packet came to its
 * socket.  False: not a question that is to be answered.
 */
bool sdr_soft_knock_asked(struct sdr_soft *s, int fd, uint8_t *pkt, size_t len,
			  const struct sockaddr_storage *from, socklen_t from_len);

#endif /* SDR_SOFT_KNOCK_H */
