/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Control datagrams: the UD queue pair of an engine, and the peers it has heard of
 * (sdr_verbs_ctl.c).
 */
#ifndef SDR_VERBS_CTL_H
#define SDR_VERBS_CTL_H

#include "sdr_verbs_pd.h"

struct sdr_verbs;

#define SDR_VERBS_UD_RX 512u	    /* control datagrams that wait unread */
#define SDR_VERBS_UD_TX 128u	    /* control datagrams under way */
#define SDR_VERBS_QKEY	0x5d725d72u /* below 0x80000000: no privilege is needed */
/* a peer not heard of for longer is met at its socket, ns */
#define SDR_VERBS_FRESH_NS 1000000000ull
/* bytes before a UD payload (IBTA 9.6; RoCEv2 IPv4: its last 20) */
#define SDR_VERBS_GRH 40u

/* Where a peer's control datagrams go: a connected one's, or one that was heard of. */
struct sdr_verbs_peer {
	struct sdr_verbs_peer *next;
	struct sdr_uc_addr addr;
	struct ibv_ah *ah; /* made when something is to be sent; NULL */
	uint32_t qpn;
	uint32_t refs;	/* connections; 0: it may be forgotten */
	uint64_t heard; /* ns */
};

struct sdr_verbs_ud {
	struct ibv_qp *qp;
	struct ibv_cq *rcq, *scq;
	struct sdr_verbs_mr *mr;
	uint8_t *buf; /* receive slots of rx_size bytes, then send slots of v->ctl_max */
	uint32_t rx_size;
	uint32_t rx_need, tx_head, tx_tail;
	uint32_t refill[SDR_VERBS_UD_RX]; /* receive slots to post again */
	struct ibv_wc wc[64];
	uint32_t nwc, pos;	     /* [pos, nwc) are not reported yet */
	struct sdr_uc_addr from[64]; /* of what the last poll reported */
};

/*
 * Looks for control datagrams, by number: the last, and of each place that they come to the last
 * that took all that were there.
 */
struct sdr_verbs_looks {
	uint32_t n, ud, sock;
	bool sock_next; /* the socket was to be read, and was not: it is first */
};

int sdr_verbs_ud_open(struct sdr_verbs *v);
void sdr_verbs_ud_close(struct sdr_verbs *v);
/* Sends one control datagram: true when it was taken (or is lost), false: full. */
bool sdr_verbs_ctl_post(struct sdr_verbs *v, struct sdr_uc_tx *t);
/* A look, v->looks.n: control datagrams of devices, or of the socket if that is to be read. */
int sdr_verbs_ctl_poll(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max, bool socket);
/* The last look that has left none of those that were there; socket: nor any of the socket. */
uint32_t sdr_verbs_ctl_seen(const struct sdr_verbs *v, bool socket);
/* Completions of the UD pair taken in: true when something is there to report. */
bool sdr_verbs_ud_fetch(struct sdr_verbs *v);
struct sdr_verbs_peer *sdr_verbs_peer_get(struct sdr_verbs *v, const struct sdr_uc_addr *addr,
					  uint32_t qpn);
void sdr_verbs_peer_put(struct sdr_verbs *v, struct sdr_verbs_peer *p);
void sdr_verbs_peers_free(struct sdr_verbs *v);

#endif /* SDR_VERBS_CTL_H */
