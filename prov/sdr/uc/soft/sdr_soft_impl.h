/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Inside of the soft engine: the engine itself (sdr_soft.c).  Beside it a header for each object:
 *
 *   sdr_soft_net.h   what carries datagrams: UDP, or rings in memory
 *   sdr_soft_sock.h  sockets: options, buffers, what the kernel can do
 *   sdr_soft_source.h the engine's sockets: channels, and the sources of paths
 *   sdr_soft_range.h which of a range of ports a socket gets
 *   sdr_soft_qp.h    QPs, the QPN table, slots
 *   sdr_soft_via.h   further ways to a QP's peer
 *   sdr_soft_piece.h data packets in pieces
 *   sdr_soft_path.h  what was learned of the ways to peers
 *   sdr_soft_tx.h    post: trains, system calls
 *   sdr_soft_frame.h post: frames of a train
 *   sdr_soft_rx.h    poll: system calls, splitting trains
 *   sdr_soft_merge.h poll of several sources
 *   sdr_soft_place.h checks and placement of a data packet
 *   sdr_soft_crew.h  workers: threads that place from ports of their own,
 *   sdr_soft_share.h and send from there
 *   sdr_soft_near.h  peers of this host: rings in shared memory (sdr_soft_ring.h)
 *   sdr_soft_nic.h   peers that are RDMA devices: port 4791, their ICRC
 *
 * One thread at a time, the owner, but for what sdr_soft_crew.c says of workers; no locks.  Memory
 * of an engine: SDR_SOFT_RX_BUFS receive buffers and one header arena, both allocated and touched
 * at open; then a QP table that grows with the QPs, and for each QP pages of slots as they are
 * bound, and a word a packet of a bound buffer that pieces come for.  With the first peer that is a
 * device: receive buffers for port 4791, and a struct a QP.  What peers of this host take is in
 * sdr_soft_near.c.
 */
#ifndef SDR_SOFT_IMPL_H
#define SDR_SOFT_IMPL_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "uc/sdr_uc_addr.h"
#include "sdr_soft.h"
#include "sdr_soft_crew.h"
#include "sdr_soft_net.h"
#include "sdr_soft_nic.h"
#include "sdr_soft_path.h"
#include "sdr_soft_place.h"
#include "sdr_soft_qp.h"
#include "sdr_soft_range.h"
#include "sdr_soft_rx.h"
#include "sdr_soft_sock.h"
#include "sdr_soft_source.h"
#include "sdr_soft_tx.h"

#define SDR_SOFT_QKEY 0x80010000u /* of control datagrams: the well-known key of QPN 1 */

#define SDR_SOFT_REASON_LEN 320u /* bytes of a text */

struct sdr_soft {
	struct sdr_uc uc;
	const struct sdr_soft_net *net;
	/* sockets: of the channels, which are source 0 together, then one of each further source */
	int fd[SDR_SOFT_SOCKS];
	struct sdr_soft_inlet inlet[SDR_SOFT_SOCKS];
	int nfd;
	uint8_t channels, sources;
	uint16_t port[SDR_CHANNELS_MAX]; /* of the channels, host order */
	uint32_t pin[SDR_PATHS_MAX];	 /* device that a source sends by; 0: as routing says */
	int epfd;			 /* -1: there is one socket and never more */
	bool hushed;			 /* the sockets' events do not reach epfd */
	int next;			 /* socket that is read first in the next poll */
	int family;
	uint8_t off; /* SDR_SOFT_NO_* */
	bool gso, gro, ecn;
	uint8_t tos;			  /* of what leaves; its lower two bits (ECN) are 0 */
	bool any;			  /* bound to all addresses */
	uint64_t clock;			  /* the engine's time as it was asked for last, ns */
	uint32_t mtu, ctl_max, rx_window; /* bytes */
	uint32_t probe_max;		  /* bytes */
	uint32_t rcvbuf, sndbuf;	  /* bytes requested */
	uint32_t rcvbuf_got, sndbuf_got;  /* bytes granted, of the socket that has least */
	uint32_t icrc_seed;
	uint64_t host;	  /* sdr_soft_host_id; 0: packets have an ICRC, whoever the peer is */
	uint32_t ctl_qpn; /* that control datagrams say they come from */
	uint32_t ctl_psn;
	struct sdr_uc_addr addr;
	struct sdr_soft_qp **qpn; /* by index bits of the QPN */
	uint32_t qpn_cap, qpn_next;
	uint64_t knocks; /* that came to the owner */
	struct sdr_uc_stats st;
	struct sdr_soft_stats xst;
	struct sdr_soft_tx tx;
	struct sdr_soft_rx rx;
	struct sdr_soft_paths paths;
	struct sdr_soft_port *roce; /* NULL until a peer is a device */
	struct sdr_soft_crew *crew; /* NULL: no workers */
	struct sdr_soft_near *near; /* NULL: no shared memory */
	bool drained;		    /* the last poll took all there was in the engine's sockets */
	char reason[SDR_SOFT_REASON_LEN], note[SDR_SOFT_REASON_LEN];
};

static inline struct sdr_soft *sdr_soft_of(struct sdr_uc *uc)
{
	return (struct sdr_soft *)uc;
}

/* Of a source but the first. */
static inline uint8_t sdr_soft_source_sock(const struct sdr_soft *s, uint32_t source)
{
	return (uint8_t)(s->channels + source - 1);
}

/* Receiver's side of a transport QP number; NULL when it belongs to no QP. */
static inline struct sdr_soft_qp *sdr_soft_qp_find(struct sdr_soft *s, uint32_t qpn)
{
	/* the table grows; a larger one is there before its size is */
	uint32_t i = qpn & ((1u << SDR_SOFT_QPN_BITS) - 1);
	uint32_t cap = __atomic_load_n(&s->qpn_cap, __ATOMIC_ACQUIRE);
	struct sdr_soft_qp **tab = __atomic_load_n(&s->qpn, __ATOMIC_ACQUIRE);
	struct sdr_soft_qp *q = i < cap ? __atomic_load_n(&tab[i], __ATOMIC_SEQ_CST) : NULL;

	return q && ((qpn - q->qpn) & SDR_QPN_MASK) < q->ntp ? q : NULL;
}

/*
 * ICRC state from a seed over a packet's first len bytes, BTH first.  The byte that the network may
 * change is masked in place and put back: one call, where a masked copy needs two and a copy (40 ns
 * a packet).
 */
static inline uint32_t sdr_soft_icrc(uint32_t seed, uint8_t *pkt, size_t len)
{
	uint8_t fecn = pkt[4];
	uint32_t state;

	pkt[4] = 0xff;
	state = sdr_icrc_update(seed, pkt, len);
	pkt[4] = fecn;
	return state;
}

/* len: ICRC included, as the decoders have checked it. */
static inline bool sdr_soft_icrc_check(const struct sdr_soft *s, uint8_t *pkt, size_t len)
{
	len -= SDR_ICRC_LEN;
	return sdr_icrc_final(sdr_soft_icrc(s->icrc_seed, pkt, len)) == sdr_get_le32(pkt + len);
}

#endif /* SDR_SOFT_IMPL_H */
