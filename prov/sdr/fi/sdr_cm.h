/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The connection of an endpoint of type FI_EP_MSG (sdr_cm.c), and what such an endpoint and a
 * passive one (sdr_pep.c) do with calls of peers.
 */
#ifndef SDR_CM_H
#define SDR_CM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include "wire/sdr_cm_msg.h"

struct sdr_ep;
struct sdr_peer;
struct sdr_rel_cqe;

/* Under ep->lock, from inside a round or a post. */
struct sdr_cm_ops {
	int (*call)(struct sdr_ep *ep, struct sdr_peer *peer, const struct sdr_cm_msg *m);
	void (*done)(struct sdr_ep *ep, const struct sdr_rel_cqe *e);
	void (*gone)(struct sdr_ep *ep, struct sdr_peer *peer, int err);
};

extern const struct sdr_cm_ops sdr_cm_ops;

/* handle: of the info that the endpoint is opened with; may be NULL.  0 or FI error. */
int sdr_cm_open(struct sdr_ep *ep, struct fid *handle);
/* The endpoint closes: leave comes first, without locks; shut under ep->lock; free at the end. */
void sdr_cm_leave(struct sdr_ep *ep);
void sdr_cm_shut(struct sdr_ep *ep);
void sdr_cm_free(struct sdr_ep *ep);
/* Sends a message to a peer; buf has room for SDR_CM_MSG_MAX and stays until it is done.  Under
 * ep->lock.  0 or FI error. */
int sdr_cm_post(struct sdr_ep *ep, struct sdr_peer *to, const struct sdr_cm_msg *m, uint8_t *buf,
		void *ctx);
/* The application's data, cut to what fits. */
static inline uint16_t sdr_cm_len(const void *param, size_t len)
{
	return !param ? 0 : len < SDR_CM_DATA_MAX ? (uint16_t)len : SDR_CM_DATA_MAX;
}

/* Calls of one process have this part of their number in common. */
static inline uint16_t sdr_cm_caller(uint64_t call)
{
	return (uint16_t)(call >> 48);
}

int sdr_cm_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen);
int sdr_cm_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int sdr_cm_shutdown(struct fid_ep *ep, uint64_t flags);
int sdr_cm_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);

#endif /* SDR_CM_H */
