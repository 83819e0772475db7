/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers that are RDMA devices: UDP port 4791, their ICRC (sdr_soft_nic.c).
 */
#ifndef SDR_SOFT_NIC_H
#define SDR_SOFT_NIC_H

#include "sdr_soft_qp.h"
#include "sdr_soft_rx.h"
#include "sdr_soft_tx.h"

/* ICRC seeds kept a direction; a peer uses few lengths and ports */
#define SDR_SOFT_NIC_SEEDS 8u

/* What an ICRC over true headers begins with, for one length of packet and one source port. */
struct sdr_soft_seed {
	uint32_t len; /* bytes of UDP payload; 0: empty */
	uint32_t seed;
	uint32_t back; /* received over IPv4: sdr_icrc_v4_back(len) */
	uint16_t port; /* the source's, host order */
};

/* A peer that is an RDMA device. */
struct sdr_soft_nic {
	/* IP addresses, 4 or 16 bytes: the device's, and ours as it sees it */
	uint8_t peer[16], local[16];
	struct sdr_soft_seed tx[SDR_SOFT_NIC_SEEDS], rx[SDR_SOFT_NIC_SEEDS];
	uint32_t tpn[]; /* the device's numbers, by transport QP */
};

/* UDP port 4791 of an engine with peers that are devices. */
struct sdr_soft_port {
	int fd; /* -1: it is the engine's own */
	/* what rx holds may be placed: the control datagrams before it were reported */
	bool ready;
	uint32_t age; /* polls for which it has not been */
	struct sdr_soft_inlet inlet;
	/* what the IPv4 identification changes in a seed, by segment of a train */
	uint32_t id[SDR_SOFT_GSO_SEGS];
	struct sdr_soft_rx rx;
};

/*
 * Makes the QP's peer a device at addr: opens port 4791 if need be.  On failure the QP is as it
 * was.
 */
int sdr_soft_nic_connect(struct sdr_soft_qp *q, const struct sdr_wire_qp_info *p,
			 const struct sdr_uc_addr *addr);
int sdr_soft_nic_readdress(struct sdr_soft_qp *q, const struct sdr_uc_addr *addr);
/*
 * Seed for the segment'th packet of a train that leaves from this socket with len bytes of UDP
 * payload.
 */
uint32_t sdr_soft_nic_seed(struct sdr_soft_qp *q, uint8_t sock, uint32_t len, uint32_t segment);
/*
 * The packet came from the QP's device and its ICRC is right; pkt, len as the decoders have checked
 * them.
 */
bool sdr_soft_nic_check(struct sdr_soft_qp *q, const struct sockaddr_storage *from,
			const uint8_t *pkt, size_t len);
/* Poll of an engine with a socket for port 4791 beside its own. */
int sdr_soft_nic_poll(struct sdr_soft *s, struct sdr_uc_ev *ev, int max);
void sdr_soft_nic_close(struct sdr_soft *s);

#endif /* SDR_SOFT_NIC_H */
