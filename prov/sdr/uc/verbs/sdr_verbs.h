/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine: UC queue pairs of an RDMA device (RoCEv2), and what a provider needs to know
 * before it opens one.
 *
 * libibverbs is loaded when the first of these calls needs it, never linked; a machine without it,
 * without /dev/infiniband or without a port that is up has no devices, and nothing else changes.
 * All calls but those of an engine are thread-safe.
 *
 * Addresses: sdr_uc_addr.h.  The IP address is one of the device's GIDs; the UDP port is an
 * ordinary socket of the kernel on which the engine meets peers for the first time and talks to
 * those that have no device.
 *
 * Protection against late packets (law 2), `late`:
 *   "root"  one indirect key whose entries point at granted buffers, and at the NULL memory region
 *           when a grant ends (mlx5): a late packet completes and writes nothing
 *   "mw"    a type 1 memory window for each grant, unbound at its end: a late packet is dropped by
 *           the device
 *   "mr"    a registration for each grant, released at its end: likewise, and releasing waits for a
 *           write that is being placed, on every device
 * By itself: root where the device has it; else mr on rxe, whose windows neither check their bounds
 * nor wait for the responder; else mw where the device has type 1 windows; else mr.
 */
#ifndef SDR_VERBS_H
#define SDR_VERBS_H

#include "uc/sdr_uc_engine.h"

/* Its row of the registry. */
extern const struct sdr_uc_engine sdr_verbs_engine;

/*
 * probe of the row, but for the engine: one entry for each RoCEv2 GID of each port that is active,
 * whose MTU is the port's active one (256..4096).  Errors: no permission on
 * /dev/infiniband/uverbs0, libibverbs without a driver for it.
 */
int sdr_verbs_list(struct sdr_uc_dev **v, unsigned int *n, char *err, size_t err_len);

struct sdr_verbs_attr {
	const char *device; /* NULL: the one that has the address */
	/* a GID of the device; address 0: all of the family; port 0: any */
	struct sockaddr_storage bind;
	uint16_t port_lo, port_hi; /* as in sdr_uc_open_attr */
	uint32_t mtu;		   /* payload bytes per packet; 0: the port's active MTU */
	const char *late;	   /* "root", "mw", "mr"; NULL or "auto": by itself */
	uint32_t rx_depth;	   /* receives posted a transport QP; 0: SDR_VERBS_RX_DEPTH */
	uint8_t dscp;		   /* as in sdr_uc_open_attr */
	uint32_t tx_depth;	   /* sends a transport QP; 0: SDR_VERBS_TX_DEPTH */
	uint8_t workers;	   /* threads that read receive queues, 0..SDR_WORKERS_MAX */
	/* reason of a failure as text, with the limit and the remedy; may be NULL */
	char *err;
	size_t err_len;
};
#define SDR_VERBS_RX_DEPTH 1024u
#define SDR_VERBS_TX_DEPTH 256u

/* 0, or -ENODEV, -EADDRNOTAVAIL, -EINVAL, -EACCES, -ENOMEM ... */
int sdr_verbs_open(const struct sdr_verbs_attr *attr, struct sdr_uc **uc);

/* What came through each worker's queues; of that, what the owner has reported in its place. */
struct sdr_verbs_worker_stats {
	uint64_t pkts_rx, bytes_rx;
	uint64_t pkts_helped;
};
/* Fills up to max of out; returns how many workers there are.  0 of an engine that is not verbs. */
uint32_t sdr_verbs_worker_stats_get(struct sdr_uc *uc, struct sdr_verbs_worker_stats *out,
				    uint32_t max);

/* mem_reg and mem_dereg of the row. */
int sdr_verbs_mem_reg(const char *device, void *buf, size_t len, const struct sdr_mem *far,
		      const struct sdr_dmabuf *dmabuf, struct sdr_uc_mem **mem, char *err,
		      size_t err_len);
void sdr_verbs_mem_dereg(struct sdr_uc_mem *mem);

#endif /* SDR_VERBS_H */
