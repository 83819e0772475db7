/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which ports of a peer's workers answer, and whom (sdr_soft_knock.c).
 */
#ifndef SDR_SOFT_KNOCK_H
#define SDR_SOFT_KNOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "sdr_soft.h"

#include "wire/sdr_knock.h"

struct sdr_soft;
struct sdr_soft_qp;

/* Questions so far, and when the next is due. */
struct sdr_soft_tries {
	uint32_t n;
	uint64_t next_ns;
};

#define SDR_SOFT_KNOCK_BOX 64u /* answers that wait for the owner; power of two */

/* Answers that came to a worker's socket: it puts them in, the owner takes them out. */
struct sdr_soft_knock_box {
	struct sdr_wire_knock k[SDR_SOFT_KNOCK_BOX];
	_Alignas(64) uint32_t in; /* free-running */
	_Alignas(64) uint32_t out;
};

/* Asks the ports that have not answered, where it is time to. */
void sdr_soft_knock(struct sdr_soft_qp *q);
/*
 * Asks, from the sockets of the workers that may send, the ports that have answered the owner.
 */
void sdr_soft_knock_from_workers(struct sdr_soft_qp *q);
/* Takes what has come of that. */
void sdr_soft_knock_collect(struct sdr_soft *s);
/* A control datagram with SDR_KNOCK_QKEY came to the engine's own socket.  False: a bad one. */
bool sdr_soft_knock_own(struct sdr_soft *s, const uint8_t *payload, size_t len,
			const struct sockaddr_storage *from);
/* One datagram; what becomes of it the answer says, or its absence. */
void sdr_soft_knock_send(const struct sdr_soft *s, int fd, const struct sdr_wire_knock *k,
			 const struct sockaddr_storage *to, socklen_t len);
/* It is time to ask again; the next time is twice as far. */
bool sdr_soft_knock_time(struct sdr_soft_tries *t, uint64_t now);
/*
 * A worker's thread, at work: a whole packet, ICRC included, that is no data packet came to its
 * socket.  False: neither a question that is to be answered, nor an answer.
 */
bool sdr_soft_knock_come(struct sdr_soft *s, int fd, uint8_t *pkt, size_t len,
			 const struct sockaddr_storage *from, socklen_t from_len,
			 struct sdr_soft_knock_box *box);

#endif /* SDR_SOFT_KNOCK_H */
