/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * post: frames, trains, system calls (sdr_soft_tx.c).
 */
#ifndef SDR_SOFT_TX_H
#define SDR_SOFT_TX_H

#include <sys/socket.h>
#include <sys/uio.h>
#include "sdr_soft_via.h"

#define SDR_SOFT_TX_MSGS 64u   /* messages a send call takes */
#define SDR_SOFT_TX_IOVS 1024u /* pieces of those messages together */
/* bytes of headers, trailers and short payloads of those messages */
#define SDR_SOFT_TX_ARENA 65536u
/* payload bytes after which a call is made: check-summed bytes stay in cache */
#define SDR_SOFT_TX_BATCH  131072u
#define SDR_SOFT_LINE	   64u	  /* bytes of a cache line */
#define SDR_SOFT_PACK_MAX  1024u  /* payload bytes up to which copying beats a further iovec */
#define SDR_SOFT_GSO_BYTES 65000u /* bytes per train; IP ends at 65507 */
#define SDR_SOFT_GSO_SEGS  64u	  /* packets per train, the kernel's UDP_MAX_SEGMENTS */

/* One message of a send call: a train, or a single packet. */
struct sdr_soft_msg {
	uint32_t niov, seg, nseg; /* pieces; bytes a full segment; segments */
	uint32_t bytes;		  /* of all segments */
	/* where to resume if this message does not go: index into post()'s array, */
	int desc;
	uint32_t desc_pkt; /* packets of that descriptor in earlier messages, */
	/* piece that it begins with, of the packet, and the size of that packet's pieces, */
	uint32_t first, size;
	uint32_t npkts;	  /* data packets in this one, */
	uint32_t nctl;	  /* control datagrams, */
	uint32_t npieces; /* pieces of packets, the last of which counts as the packet, */
	uint64_t payload; /* and bytes of data payload */
	uint8_t sock;
	struct sdr_soft_near_tx *near; /* the ring that it goes into; NULL: the socket */
	bool ect;		       /* all of its packets: leaves as ECT(0) */
	bool closed;		       /* a short segment ended it, or it must stay alone */
};

/* A packet of which the kernel took some pieces: where it goes on when it is posted again. */
struct sdr_soft_rest {
	const struct sdr_uc_qp *qp; /* NULL: none */
	uint32_t slot, epoch, off, size;
	uint32_t piece; /* the first that was not taken */
	uint8_t gen;
};

struct sdr_soft_tx {
	struct mmsghdr hdr[SDR_SOFT_TX_MSGS];
	struct sdr_soft_msg msg[SDR_SOFT_TX_MSGS];
	union {
		/* UDP_SEGMENT, and IP_TOS or IPV6_TCLASS */
		char buf[CMSG_SPACE(sizeof(uint16_t)) + CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} cmsg[SDR_SOFT_TX_MSGS];
	struct sdr_soft_dest dest[SDR_SOFT_TX_MSGS];
	struct iovec iov[SDR_SOFT_TX_IOVS];
	uint32_t nmsg, niov, arena_len;
	uint64_t bytes;	 /* payload in the batch */
	uint32_t single; /* segments still to be sent one by one after a refused train */
	uint32_t nobufs; /* times in a row that the kernel had no memory for the first message */
	struct sdr_soft_rest rest;
	int tos_level, tos_type; /* IP_TOS or IPV6_TCLASS */
	int tos_ect;		 /* of messages that may be marked */
	uint8_t *arena;
};

/* How far building is: packets of v[d] that are in messages already. */
struct sdr_soft_cur {
	struct sdr_uc_tx *v;
	int d;
	uint32_t pkt;
};

static inline struct sdr_soft_qp *sdr_soft_tx_qp(const struct sdr_uc_tx *t)
{
	return (struct sdr_soft_qp *)t->w.qp;
}

static inline uint32_t sdr_soft_tx_pkts(const struct sdr_uc_tx *t)
{
	uint32_t mtu;

	if (t->kind != SDR_UC_TX_WRITE || !t->len)
		return 1;
	mtu = sdr_soft_tx_qp(t)->mtu;
	return (uint32_t)(((uint64_t)t->len + mtu - 1) / mtu);
}

/* Where to, and through which transport QP. */
static inline bool sdr_soft_tx_valid(const struct sdr_uc_tx *t)
{
	const struct sdr_soft_qp *q = sdr_soft_tx_qp(t);

	return q->dest.len && t->gen < q->generations && t->channel < q->channels &&
	       t->w.slot < q->nslots && (!t->via || sdr_soft_via_find(q, t->via));
}

/*
 * Sends the batch.  False: the kernel is full, or packets must be built anew; the cursor says
 * where.
 */
bool sdr_soft_flush(struct sdr_soft *s, struct sdr_soft_cur *c, int n, bool *full);
int sdr_soft_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n);
/* Likewise, by the calling thread alone. */
int sdr_soft_post_own(struct sdr_soft *s, struct sdr_uc_tx *v, int n);
int sdr_soft_tx_init(const struct sdr_soft *s, struct sdr_soft_tx *tx);
void sdr_soft_tx_free(struct sdr_soft_tx *tx);

#endif /* SDR_SOFT_TX_H */
