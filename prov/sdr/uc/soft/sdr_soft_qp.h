/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs, the table of their numbers, slots (sdr_soft_qp.c).
 */
#ifndef SDR_SOFT_QP_H
#define SDR_SOFT_QP_H

#include <sys/socket.h>
#include "sdr_soft.h"

struct sdr_soft;
struct sdr_soft_nic;
struct sdr_soft_via;

#define SDR_SOFT_SLOT_PAGE 64u /* slots a page of the slot table */
/* bits of a QPN that index the QP table; those above are random */
#define SDR_SOFT_QPN_BITS 18u
/* lowest index: QPNs 0 and 1 are special in every RoCE network */
#define SDR_SOFT_QPN_FIRST 16u

struct sdr_soft_slot {
	uint8_t *buf;
	uint64_t len;	  /* bytes */
	uint32_t *pieces; /* what came of each packet in pieces; NULL: no piece came */
	uint32_t rkey;	  /* of its epoch */
	/*
	 * the use (sdr_uc.h) that it was bound for last, plus 1; 0: it never was.  Set after bound
	 */
	uint32_t use;
	uint8_t gen;
	bool bound; /* the others are set before, and stay while it is */
};

static inline bool sdr_soft_slot_bound(const struct sdr_soft_slot *e)
{
	return __atomic_load_n(&e->bound, __ATOMIC_SEQ_CST);
}

/* How long data packets may be, and in what they are cut (sdr_soft_piece.c). */
struct sdr_soft_cut {
	uint32_t path;	/* bytes of the longest IP packet; 0: the device's */
	uint32_t whole; /* payload bytes up to which a packet goes in one datagram, */
	uint32_t piece; /* and the size in which longer ones are cut */
};

struct sdr_soft_dest {
	struct sockaddr_storage sa;
	socklen_t len; /* 0: not connected */
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
	struct sdr_soft_cut cut; /* of what goes to the peer, by whichever way */
	/* bit of a way: a piece came marked by it, and no packet has been reported since */
	uint32_t piece_ce;
	bool neighbour; /* the peer is of this host: data packets with 0 for an ICRC are its own */
	bool bare;	/* and ours to it go so, as its address is one of this host, too */
	uint32_t near_sent; /* bytes of data to a peer of this host, up to SDR_SOFT_NEAR_MIN */
	struct sdr_soft_dest dest;	/* of data */
	struct sdr_soft_spread *spread; /* ports of the peer's workers; NULL: it has none */
	struct sdr_soft_via *via;	/* by tx.via, SDR_PATHS_MAX of them; NULL: none was set */
	uint64_t nonce;			/* of the questions that they are asked */
	struct sdr_soft_nic *nic;	/* NULL: the peer is a soft engine */
	uint32_t psn[];			/* next PSN of each transport QP towards the peer */
};

static inline struct sdr_soft_slot *sdr_soft_slot_find(struct sdr_soft_qp *q, uint32_t slot)
{
	struct sdr_soft_slot *page = NULL;

	if (slot < q->nslots)
		page = __atomic_load_n(&q->pages[slot / SDR_SOFT_SLOT_PAGE], __ATOMIC_ACQUIRE);
	return page ? &page[slot % SDR_SOFT_SLOT_PAGE] : NULL;
}

int sdr_soft_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *attr, struct sdr_uc_qp **qp);
void sdr_soft_qp_destroy(struct sdr_uc_qp *qp);
void sdr_soft_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out);
int sdr_soft_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
			const struct sdr_uc_addr *addr);
void sdr_soft_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr);
void sdr_soft_qp_path(struct sdr_uc_qp *qp, uint32_t bytes);
int sdr_soft_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
		       void *mr);
void sdr_soft_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot);

/* Where data for this address go, from our own.  0 or a negative errno. */
int sdr_soft_dest_make(const struct sdr_soft *s, const struct sdr_uc_addr *own,
		       const struct sdr_uc_addr *addr, struct sdr_soft_dest *out);

#endif /* SDR_SOFT_QP_H */
