/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Insides of the soft engine, shared by its files only.
 *
 *   sdr_soft.c	     open, close, the table of operations, the MTU
 *   sdr_soft_sock.c sockets: options, buffers, what the kernel can do
 *   sdr_soft_qp.c   QPs, the QPN table, slots
 *   sdr_soft_tx.c   post: frames, trains, system calls
 *   sdr_soft_rx.c   poll: system calls, splitting trains, checks, placement
 *   sdr_soft_nic.c  peers that are RDMA devices: port 4791, their ICRC
 *
 * One thread at a time; no locks.  Memory of an engine: SDR_SOFT_RX_BUFS receive buffers and one
 * header arena, both allocated and touched at open; then a QP table that grows with the QPs, and
 * for each QP pages of slots as they are bound.  With the first peer that is a device: receive
 * buffers for port 4791, and a struct a QP.
 */
#ifndef SDR_SOFT_IMPL_H
#define SDR_SOFT_IMPL_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "uc/sdr_uc_addr.h"
#include "sdr_soft.h"

#define SDR_SOFT_RX_BUFS    8u	   /* datagrams (GRO trains) a receive call may bring */
#define SDR_SOFT_RX_BUF_LEN 65536u /* bytes; no UDP datagram is longer */
#define SDR_SOFT_TX_MSGS    64u	   /* messages a send call takes */
#define SDR_SOFT_TX_IOVS    1024u  /* pieces of those messages together */
/* bytes of headers, trailers and short payloads of those messages */
#define SDR_SOFT_TX_ARENA 65536u
/* payload bytes after which a call is made: check-summed bytes stay in cache */
#define SDR_SOFT_TX_BATCH  131072u
#define SDR_SOFT_PACK_MAX  1024u  /* payload bytes up to which copying beats a further iovec */
#define SDR_SOFT_GSO_SEGS  64u	  /* packets a train, the kernel's UDP_MAX_SEGMENTS */
#define SDR_SOFT_GSO_BYTES 65000u /* bytes a train; IP ends at 65507 */
#define SDR_SOFT_SLOT_PAGE 64u	  /* slots a page of the slot table */
/* bits of a QPN that index the QP table; those above are random */
#define SDR_SOFT_QPN_BITS 18u
/* lowest index: QPNs 0 and 1 are special in every RoCE network */
#define SDR_SOFT_QPN_FIRST 16u
#define SDR_SOFT_QKEY	   0x80010000u /* of control datagrams: the well-known key of QPN 1 */

/* ICRC seeds kept a direction; a peer uses few lengths and ports */
#define SDR_SOFT_NIC_SEEDS  8u
#define SDR_SOFT_REASON_LEN 320u /* bytes of sdr_soft_reason */

/* UDP payload of one packet on the wire. */
#define SDR_SOFT_PKT_MAX (SDR_DATA_OVERHEAD + SDR_MTU_MAX)

struct sdr_soft_slot {
	uint8_t *buf;
	uint64_t len;  /* bytes */
	uint32_t rkey; /* of its lap */
	uint8_t gen;
	bool bound;
};

struct sdr_soft_dest {
	struct sockaddr_storage sa;
	socklen_t len; /* 0: not connected */
};

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

struct sdr_soft_qp {
	struct sdr_uc_qp qp;
	struct sdr_soft *s;
	void *cookie;
	/* own: base QPN, key and first PSN that the peer uses towards us */
	uint32_t qpn, rkey, psn0;
	uint32_t ntp; /* transport QPs: channels * generations */
	uint8_t channels, generations;
	struct sdr_imm_split split;
	uint32_t mtu;	  /* bytes */
	uint64_t max_msg; /* bytes */
	/* 1 << id_bits slots, SDR_SOFT_SLOT_PAGE a page, NULL until bound */
	struct sdr_soft_slot **pages;
	uint32_t nslots;
	uint32_t peer_qpn, peer_rkey;
	struct sdr_soft_dest dest; /* of data */
	struct sdr_soft_nic *nic;  /* NULL: the peer is a soft engine */
	uint32_t psn[];		   /* next PSN of each transport QP towards the peer */
};

/* One message of a send call: a train, or a single packet. */
struct sdr_soft_msg {
	uint32_t niov, seg, nseg; /* pieces; bytes a full segment; segments */
	uint32_t bytes;		  /* of all segments */
	/* where to resume if this message does not go: index into post()'s array, */
	int desc;
	uint32_t desc_pkt; /* packets of that descriptor in earlier messages, */
	uint32_t npkts;	   /* data packets in this one, */
	uint32_t nctl;	   /* control datagrams, */
	uint64_t payload;  /* and bytes of data payload */
	uint8_t sock;
	bool closed; /* a short segment ended it, or it must stay alone */
};

struct sdr_soft_tx {
	struct mmsghdr hdr[SDR_SOFT_TX_MSGS];
	struct sdr_soft_msg msg[SDR_SOFT_TX_MSGS];
	union {
		char buf[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} cmsg[SDR_SOFT_TX_MSGS];
	struct sdr_soft_dest dest[SDR_SOFT_TX_MSGS];
	struct iovec iov[SDR_SOFT_TX_IOVS];
	uint32_t nmsg, niov, arena_len;
	uint64_t bytes;	 /* payload in the batch */
	uint32_t single; /* segments still to be sent one by one after a refused train */
	uint8_t *arena;
};

struct sdr_soft_rx {
	struct mmsghdr hdr[SDR_SOFT_RX_BUFS];
	struct iovec iov[SDR_SOFT_RX_BUFS];
	struct sockaddr_storage from[SDR_SOFT_RX_BUFS];
	struct sdr_uc_addr addr[SDR_SOFT_RX_BUFS]; /* of control events */
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} cmsg[SDR_SOFT_RX_BUFS];
	uint32_t nmsg, cur; /* received, and the one being split */
	uint32_t off, seg;  /* in it: byte offset of the next packet; segment size, 0 = not begun */
	bool have_addr;	    /* addr[cur] is filled */
	bool many;	    /* the last call brought something: ask for all there is */
	/* it did not bring all that it asked for: nothing older is in the socket */
	bool drained;
	bool nic;      /* read from port 4791: devices may be heard here */
	bool nic_only; /* and nobody else: the socket is there for them */
	uint8_t *bufs;
};

/* UDP port 4791 of an engine with peers that are devices. */
struct sdr_soft_port {
	int fd; /* -1: it is the engine's own */
	/* what rx holds may be placed: the control datagrams before it were reported */
	bool ready;
	uint32_t age; /* polls for which it has not been */
	/* what the IPv4 identification changes in a seed, by segment of a train */
	uint32_t id[SDR_SOFT_GSO_SEGS];
	struct sdr_soft_rx rx;
};

struct sdr_soft {
	struct sdr_uc uc;
	int fd[SDR_CHANNELS_MAX];
	int nfd;
	uint16_t port[SDR_CHANNELS_MAX]; /* theirs, host order */
	int epfd;			 /* -1: there is one socket and never more */
	int next;			 /* socket that is read first in the next poll */
	int family;
	bool gso, gro;
	bool any;			  /* bound to all addresses */
	uint32_t mtu, ctl_max, rx_window; /* bytes */
	uint32_t rcvbuf;		  /* bytes asked for */
	uint32_t icrc_seed;
	uint32_t ctl_qpn; /* that control datagrams say they come from */
	uint32_t ctl_psn;
	struct sdr_uc_addr addr;
	struct sdr_soft_qp **qpn; /* by index bits of the QPN */
	uint32_t qpn_cap, qpn_next;
	struct sdr_uc_stats st;
	struct sdr_soft_stats xst;
	struct sdr_soft_tx tx;
	struct sdr_soft_rx rx;
	struct sdr_soft_port *roce; /* NULL until a peer is a device */
	char reason[SDR_SOFT_REASON_LEN];
};

static inline struct sdr_soft *sdr_soft_of(struct sdr_uc *uc)
{
	return (struct sdr_soft *)uc;
}

/* Receiver's side of a transport QP number; NULL when it is nobody's. */
static inline struct sdr_soft_qp *sdr_soft_qp_find(struct sdr_soft *s, uint32_t qpn)
{
	uint32_t i = qpn & ((1u << SDR_SOFT_QPN_BITS) - 1);
	struct sdr_soft_qp *q = i < s->qpn_cap ? s->qpn[i] : NULL;

	return q && ((qpn - q->qpn) & SDR_QPN_MASK) < q->ntp ? q : NULL;
}

static inline struct sdr_soft_slot *sdr_soft_slot_find(struct sdr_soft_qp *q, uint32_t slot)
{
	struct sdr_soft_slot *page = slot < q->nslots ? q->pages[slot / SDR_SOFT_SLOT_PAGE] : NULL;

	return page ? &page[slot % SDR_SOFT_SLOT_PAGE] : NULL;
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

/* Socket: bound, non-blocking, with buffers.  Returns the descriptor or a negative errno. */
int sdr_soft_sock_open(const struct sockaddr *sa, socklen_t len, uint32_t rcvbuf, uint32_t sndbuf,
		       const char **what);
/* Turns the feature on or tells that it is not there. */
bool sdr_soft_sock_gro(int fd);
bool sdr_soft_sock_gso(int fd);
/* IPv6: takes datagrams without a check sum too, which devices send.  0 or a negative errno. */
int sdr_soft_sock_no_check(int fd, int family);
/* Bytes of payload that the socket's receive queue holds at least, in packets of mtu bytes. */
uint32_t sdr_soft_sock_window(int fd, uint32_t mtu);

int sdr_soft_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *attr, struct sdr_uc_qp **qp);
void sdr_soft_qp_destroy(struct sdr_uc_qp *qp);
void sdr_soft_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out);
int sdr_soft_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
			const struct sdr_uc_addr *addr);
void sdr_soft_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr);
int sdr_soft_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
		       void *mr);
void sdr_soft_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot);

/* Where data for this address go.  0 or a negative errno. */
int sdr_soft_dest_make(const struct sdr_soft *s, const struct sdr_uc_addr *addr,
		       struct sdr_soft_dest *out);

int sdr_soft_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n);
int sdr_soft_tx_init(struct sdr_soft *s);
void sdr_soft_tx_free(struct sdr_soft *s);

int sdr_soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
int sdr_soft_rx_init(struct sdr_soft_rx *rx);
void sdr_soft_rx_free(struct sdr_soft_rx *rx);
void sdr_soft_rx_reset(struct sdr_soft_rx *rx);
/*
 * One call on one socket, into the buffers behind those in use.  Messages received, 0 or a negative
 * errno.
 */
int sdr_soft_rx_call(struct sdr_soft *s, struct sdr_soft_rx *rx, int fd);
/* Makes events of what was received; *ctl: control datagrams were among them. */
int sdr_soft_rx_split(struct sdr_soft *s, struct sdr_soft_rx *rx, struct sdr_uc_ev *ev, int max,
		      bool *ctl);
/* One round over the engine's own sockets.  *drained: what had come before the call is reported. */
int sdr_soft_rx_own(struct sdr_soft *s, struct sdr_uc_ev *ev, int max, bool *ctl, bool *drained);
static inline bool sdr_soft_rx_left(const struct sdr_soft_rx *rx)
{
	return rx->cur < rx->nmsg;
}

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

#endif /* SDR_SOFT_IMPL_H */
