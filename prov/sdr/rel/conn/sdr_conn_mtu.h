/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The size of what a connection sends follows the path.  See sdr_conn_mtu.c. */
#ifndef SDR_CONN_MTU_H
#define SDR_CONN_MTU_H

#include "sdr_conn.h"
#include "sdr_path_mtu.h"

/* Nothing is known: of a connection that opens. */
void sdr_conn_mtu_init(struct sdr_conn *c);
/*
 * It is open: features, QP and ctl_agreed are known.  probe_max: bytes of the largest control
 * payload that the peer takes as a probe; 0: as its others.
 */
void sdr_conn_mtu_opened(struct sdr_conn *c, uint32_t probe_max);
/* Bytes of control payload of a HELLO of full size; 0: there is nothing to find out. */
uint32_t sdr_conn_mtu_hello(const struct sdr_conn *c);
/* And of one as long as passed before, as far as is remembered; 0: nothing is. */
uint32_t sdr_conn_mtu_hello_known(const struct sdr_conn *c);
/* One of this many bytes of control payload was answered. */
void sdr_conn_mtu_seen(struct sdr_conn *c, uint32_t bytes);
/*
 * The peer opens this connection with a HELLO of so many bytes of control payload: bytes of an
 * answer in full size, whose arrival shows that the way back carries as much; 0: there is nothing
 * to find out.  And: it has left.
 */
uint32_t sdr_conn_mtu_echo(const struct sdr_conn *c, uint32_t bytes);
void sdr_conn_mtu_echoed(struct sdr_conn *c, uint32_t len);
/* Probes are on their way; packets [lo, hi] were acknowledged. */
bool sdr_conn_mtu_asked(const struct sdr_conn *c);
void sdr_conn_mtu_acked(struct sdr_conn *c, uint32_t lo, uint32_t hi);
/*
 * n packets of that many IP bytes that left by that path at tx_ns were lost; or one has arrived.
 */
void sdr_conn_mtu_lost(struct sdr_conn *c, struct sdr_path *p, uint32_t n, uint32_t bytes,
		       uint64_t tx_ns);
void sdr_conn_mtu_passed(struct sdr_path *p, uint32_t bytes, uint64_t tx_ns);
/* Asks this host what it knows of the way: after a timeout. */
void sdr_conn_mtu_ask(struct sdr_conn *c);
/* The peer is somewhere else now: nothing is known of the way. */
void sdr_conn_mtu_moved(struct sdr_conn *c);
/* Sends the probes that are due. */
void sdr_conn_mtu_send(struct sdr_conn *c);
/* ns; NEVER while nothing is under way. */
uint64_t sdr_conn_mtu_deadline(const struct sdr_conn *c);
/* This host says what the way to an address carries (the SDK's call). */
void sdr_conn_mtu_told(void *rel, const struct sdr_uc_addr *to, uint32_t bytes);

/* IP bytes of a packet as it left by that path: control payload, and data of len bytes each. */
static inline uint32_t sdr_conn_mtu_ctl(const struct sdr_conn *c, const struct sdr_path *p,
					uint32_t bytes)
{
	uint32_t ip = bytes + c->rel->info.ctl_over, size = sdr_path_mtu_size(c, p);

	return ip < size ? ip : size; /* in parts */
}

static inline uint32_t sdr_conn_mtu_data(const struct sdr_conn *c, const struct sdr_path *p,
					 uint64_t len)
{
	uint64_t ip = len + c->rel->info.data_over;
	uint32_t size = sdr_path_mtu_size(c, p);

	return ip < size ? (uint32_t)ip : size; /* in pieces */
}

#endif /* SDR_CONN_MTU_H */
