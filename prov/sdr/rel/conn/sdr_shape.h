/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The shape of a connection's data, see sdr_shape.c.
 */
#ifndef SDR_SHAPE_H
#define SDR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* maximum bytes of one transmission entry */
#define SDR_RUN_BYTES	 65536u
#define SDR_RUN_PKTS_MAX 64u
/* maximum data packets between two data acknowledgements */
#define SDR_DACK_PKTS	  64u
#define SDR_DACK_PKTS_MIN 4u /* ... however small our buffer is */

struct sdr_conn;
struct sdr_qp;
struct sdr_uc_addr;

/*
 * What follows from the size of packets; made beside what is in force, and then taken, or dropped.
 */
struct sdr_conn_shape {
	uint32_t mtu; /* bytes per data packet, both directions */
	uint32_t chunk_pkts, run_pkts;
	uint32_t dack_pkts; /* maximum packets that a DACK waits for */
	uint64_t seg_bytes; /* of one SDR message, both directions: the QP's max_msg */
	struct sdr_qp *qp;  /* NULL: there is none */
	uint32_t ntx;	    /* transfers of ours that are numbered on it */
};

/* 0 or -ENOMEM. */
int sdr_shape_make(struct sdr_conn *c, uint32_t mtu, struct sdr_conn_shape *s);
/* s is what is numbered from now on; nothing was, on the one before, which is gone. */
void sdr_shape_take(struct sdr_conn *c, const struct sdr_conn_shape *s);
/* Both. */
int sdr_shape_qp_make(struct sdr_conn *c, uint32_t mtu);
void sdr_shape_drop(struct sdr_conn_shape *s); /* with its QP */
void sdr_shape_free(struct sdr_conn *c);       /* all */
/* That which c->shape is not. */
struct sdr_conn_shape *sdr_shape_other(struct sdr_conn *c);
/* All numbers that come next lie on one shape, and nothing is open on another. */
bool sdr_shape_alone(const struct sdr_conn *c);
/*
 * The one before goes: if nothing is open on it any more, in either direction, and what is on its
 * way to it has had time to come; or at once.
 */
void sdr_shape_reap(struct sdr_conn *c, bool at_once);

/* What the peer has numbered so. */
struct sdr_conn_shape *sdr_shape_of_rx(const struct sdr_conn *c, uint32_t msn);
/*
 * All numbers of the peer's below are decided; it may use as many from there on as a QP has IDs,
 * whatever shape they lie on.
 */
uint32_t sdr_shape_rx_base(const struct sdr_conn *c);

/* Of all QPs: where they send to, what they may send, and how long their IP packets may be. */
void sdr_shape_readdress(struct sdr_conn *c, const struct sdr_uc_addr *to);
void sdr_shape_limit_set(struct sdr_conn *c, uint32_t msn_limit);
/*
 * The QP of a new shape, and those of all, have the ways of all paths: those that are not proved
 * here may be over there, and what comes by them is known.
 */
void sdr_shape_ways(const struct sdr_conn *c, const struct sdr_conn_shape *s);
void sdr_shape_ways_all(const struct sdr_conn *c);

/* Packets of so many bytes. */
static inline uint32_t sdr_shape_pkts(const struct sdr_conn_shape *s, uint64_t len)
{
	return (uint32_t)((len + s->mtu - 1) / s->mtu);
}

#endif /* SDR_SHAPE_H */
