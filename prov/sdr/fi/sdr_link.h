/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Links of datagram endpoints, over which one side writes into the memory of the other
 * (sdr_link.c, sdr_link_ask.c).  All under the endpoint's lock.
 */
#ifndef SDR_LINK_H
#define SDR_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sdr_htab.h"
#include "base/sdr_list.h"
#include "base/sdr_slab.h"
#include "sdk/sdr_sdk.h"
#include "wire/sdr_dgram_msg.h"

struct fi_sdr_notify;
struct sdr_ep;
struct sdr_link;
struct sdr_region;

/* links from peers; beyond it the one that was silent longest goes */
#define SDR_LINKS_MAX 4096u
/* of them, those whose peer has not shown yet that it hears us */
#define SDR_LINKS_UNPROVED 64u
/* writes on one link that are not over, at the target */
#define SDR_LINK_ID_BITS 6u
#define SDR_LINK_WINDOW	 (1u << SDR_LINK_ID_BITS)
/* bytes of the longest write */
#define SDR_LINK_WRITE_MAX (1ull << 30)

struct sdr_link {
	struct sdr_hnode by_name; /* address, and of one from a peer its queue pair */
	struct sdr_hnode by_qpn;  /* ours */
	/* links->out or in; out: those that are not open first; in: silent longest first */
	struct sdr_list all;
	struct sdr_list busy; /* links->busy */
	struct sdr_ep *ep;
	struct sdr_uc_addr addr; /* the peer */
	struct sdr_qp *qp;
	struct sdr_dgram_to me, peer; /* peer: once it is open */
	uint32_t mtu;		      /* bytes of data a packet */
	bool in;		      /* the peer writes; else we do */
	bool open;		      /* both know the other's queue pair */
	bool proved;		      /* in: the peer hears us */
	bool broken;		      /* the engine says so of its queue pair */
	int err;		      /* out: enum sdr_rel_err, there will be none */
	/* out, not open: ns of the engine's clock: wanted, next OPEN, and the pause behind it */
	uint64_t since, due, wait;
	struct sdr_list ops;	  /* out: sdr_put, in order; in: sdr_write, those that are bound */
	uint32_t msn;		  /* out: of the next write; in: behind the highest seen */
	struct sdr_snd_handle *h; /* out: the first of ops is being sent */
	uint32_t owed;		  /* out: SENT of write msn - 1, so often */
};

struct sdr_links { /* of an endpoint */
	struct sdr_htab names, qpns;
	uint64_t key; /* of the hashes */
	struct sdr_list out, in, busy;
	uint32_t nin, nunproved;
	/* of those above (sdr_write_in.c): what comes in by it ends; before its queue pair goes */
	void (*gone)(struct sdr_link *l);
	void (*received)(void *link, struct sdr_rcv_handle *h);
	/* nothing is written to this region any more */
	void (*revoke)(struct sdr_ep *ep, const struct sdr_region *region);
	/* sdr_put.c, after a round: sends what can be, ends what is sent, or has waited too long */
	void (*run)(struct sdr_ep *ep);
	/* ns of the engine's clock at which it must; UINT64_MAX: not before something happens */
	uint64_t (*due)(const struct sdr_ep *ep);
	/* out: puts (sdr_put.c); in: writes (sdr_write_in.c) */
	struct sdr_slab puts, writes;
	struct sdr_htab ids;  /* of writes */
	struct sdr_list told; /* writes that are over, and still to be told of */
	uint64_t made, bits;  /* writes so far; bytes of bitmaps */
	uint64_t how;	      /* FI_SDR_TELL_*, of writes that begin */
	void *context;
	uint64_t st_puts, st_in, st_whole, st_part, st_lost, st_refused, st_twice;
};

int sdr_links_open(struct sdr_ep *ep);
void sdr_links_close(struct sdr_ep *ep);

/* What a link is known by besides its own queue pair. */
struct sdr_link_name {
	struct sdr_uc_addr addr;
	struct sdr_dgram_to peer; /* of a link from there; 0: of ours */
};

/* peer: of a link from there, else NULL */
struct sdr_link_name sdr_link_name_of(const struct sdr_uc_addr *addr,
				      const struct sdr_dgram_to *peer);
/* NULL: there is none; *hash: where it would be. */
struct sdr_link *sdr_link_named(const struct sdr_links *s, bool in,
				const struct sdr_link_name *name, uint64_t *hash);
/* Without a queue pair yet; NULL: no memory. */
struct sdr_link *sdr_link_new(struct sdr_ep *ep, bool in, const struct sdr_link_name *name,
			      uint64_t hash);
/* mtu: bytes, at most what the context has.  0, or a negative errno. */
int sdr_link_qp_make(struct sdr_link *l, uint32_t mtu, uint8_t info[SDR_QP_INFO_LEN]);
/* And what is sent or received by it. */
void sdr_link_qp_drop(struct sdr_link *l);

/* That to this address, which is opened if need be; NULL: no memory. */
struct sdr_link *sdr_link_to(struct sdr_ep *ep, const struct sdr_uc_addr *addr);
/* There is something to send by it. */
void sdr_link_kick(struct sdr_link *l);
/* Ended, and freed. */
void sdr_link_drop(struct sdr_link *l);
/* A new queue pair, and asks for another on the other side. */
void sdr_link_again(struct sdr_link *l);
/* By which it names one of ours; NULL: there is none, and its sender is told. */
struct sdr_link *sdr_link_of(struct sdr_ep *ep, const struct sdr_uc_addr *from, bool in,
			     const struct sdr_dgram_to *to);
/* in: its peer hears us. */
void sdr_link_prove(struct sdr_link *l);
/* OPEN, ACCEPT, REFUSE, GONE. */
void sdr_link_input(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
		    const uint8_t *p, size_t len);
/* Somebody opens one to an endpoint that takes no writes. */
void sdr_link_refuse(struct sdr_ep *ep, const struct sdr_uc_addr *from, const uint8_t *p,
		     size_t len);
/* Asks again, where it is time. */
void sdr_links_run(struct sdr_ep *ep);
/* ns of the engine's clock at which that is due; UINT64_MAX: nothing. */
uint64_t sdr_links_due(const struct sdr_ep *ep);

#endif /* SDR_LINK_H */
