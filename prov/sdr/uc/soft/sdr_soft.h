/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine: RoCEv2 UC in an ordinary UDP socket, no privileges.  One socket carries data
 * packets (UC RDMA WRITE Only with Immediate) and control datagrams (UD SEND Only to QPN 1);
 * further sockets are further source ports (channels), so that routers which hash ports spread the
 * load.  Segmentation and aggregation by the kernel (UDP_SEGMENT, UDP_GRO) are used where they
 * exist.
 *
 * A peer may be an RDMA device (QP info with SDR_QP_F_NIC): its data go to, and come in on, UDP
 * port 4791 with the ICRC that devices check.  An engine that is bound to another port opens that
 * one too with its first such peer.
 * Addresses: sdr_uc_addr.h.
 */
#ifndef SDR_SOFT_H
#define SDR_SOFT_H

#include <sys/socket.h>
#include "uc/sdr_uc_engine.h"

#define SDR_SOFT_RCVBUF \
	(8u << 20) /* bytes requested of the kernel for the receive queue of a socket */
#define SDR_SOFT_SNDBUF (4u << 20) /* bytes requested for its send queue */

#define SDR_SOFT_NO_GSO	 0x1 /* sdr_soft_attr.off */
#define SDR_SOFT_NO_GRO	 0x2
#define SDR_SOFT_NO_ECN	 0x4
#define SDR_SOFT_NO_BARE 0x8 /* an ICRC in packets to peers of this host, too */
/* all workers may send, however few processors there are */
#define SDR_SOFT_NO_SPARE 0x10
/* a ring with the first packet to a peer of this host */
#define SDR_SOFT_NO_DELAY 0x20

struct sdr_soft_net;

struct sdr_soft_attr {
	/* AF_INET or AF_INET6; port 0: any; address 0: all of the family */
	struct sockaddr_storage bind;
	/* NULL: the kernel's UDP */
	const struct sdr_soft_net *net;
	uint16_t port_lo, port_hi; /* as in sdr_uc_open_attr, */
	const struct sockaddr_storage *more;
	uint8_t nmore;
	/*
	 * payload bytes per packet, and a bound of everything that is sent; 0: 8192, 4096, or what
	 * the device carries
	 */
	uint32_t mtu;
	uint32_t rcvbuf, sndbuf; /* bytes; 0: the defaults above */
	uint8_t channels;	 /* sockets; 0: 1 */
	uint8_t workers;	 /* threads that place and send packets, each with a socket */
	uint8_t off;		 /* SDR_SOFT_NO_* */
	uint8_t dscp;		 /* of everything that is sent, 0..63 */
	uint64_t shm;		 /* as in sdr_uc_open_attr */
	char *err;		 /* as in sdr_uc_open_attr */
	size_t err_len;
};

/* Its rows of the registry: over UDP, and over rings in this process's memory. */
extern const struct sdr_uc_engine sdr_soft_engine;
extern const struct sdr_uc_engine sdr_soft_mem_engine;

int sdr_soft_open(const struct sdr_soft_attr *attr, struct sdr_uc **uc);

/* What the engine does that sdr_uc_stats has no place for; all u64, monotonic. */
struct sdr_soft_stats {
	/* messages sent again in single packets because the device cannot segment */
	uint64_t tx_gso_off;
	uint64_t rx_err;   /* errors that a receive call reported (ICMP and the like); ignored */
	uint64_t rx_trunc; /* datagrams longer than any of ours */
	/* trains that workers sent; and that the kernel refused them, which its owner sent */
	uint64_t tx_shared, tx_back;
};
/* All zero of an engine that is not soft. */
void sdr_soft_stats_get(struct sdr_uc *uc, struct sdr_soft_stats *out);
/* What each worker has placed, and sent. */
struct sdr_soft_worker_stats {
	uint64_t pkts_rx, bytes_rx;
	uint64_t pkts_tx, bytes_tx;
};
/* Fills up to max of out; returns how many workers there are.  0 of an engine that is not soft. */
uint32_t sdr_soft_worker_stats_get(struct sdr_uc *uc, struct sdr_soft_worker_stats *out,
				   uint32_t max);
/*
 * Engine "mem": what is sent from then on to its workers, or to itself where it has none, stays in
 * the rings: packets that are prepared for a measurement.  Until it is played, so many times, 1 or
 * more: the rings are read over and over, and whoever receives sees each packet so often, stamped a
 * second later each time.  Nothing may be sent there before all of that was received.
 */
void sdr_soft_mem_hold(struct sdr_uc *uc);
void sdr_soft_mem_play(struct sdr_uc *uc, uint32_t times);
/*
 * For an engine that uses this one as its socket: where control datagrams say that answers may go.
 */
void sdr_soft_ctl_qpn_set(struct sdr_uc *uc, uint32_t qpn);

#endif /* SDR_SOFT_H */
