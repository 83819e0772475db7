/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Peers, see sdr_peer.c. */
#ifndef SDR_PEER_H
#define SDR_PEER_H

#include "rel/path/sdr_loss_est.h"
#include "sdr_endpoint.h"

struct sdr_conn;

struct sdr_peer {
	struct sdr_hnode hnode;
	struct sdr_rel *rel;
	struct sdr_uc_addr addr;
	uint64_t user;
	/* holds of the caller's, and directed receives: without any it is a stranger */
	uint32_t names;
	uint32_t nconns;       /* open, or dead and not freed yet */
	uint32_t nunexp;       /* unexpected and early messages from it */
	struct sdr_list unexp; /* those that receives may meet, in order */
	/* their inline bytes, with what keeps them: beyond SDR_REL_UNEXP_PEER credit stops */
	uint64_t unexp_bytes;
	struct sdr_list gone; /* rel->gone: nothing needs it, it is remembered */
	bool validated;	      /* its address was its own, once */
	bool direct;	      /* and it answered from there itself */
	/* an alias (sdr_alias.c): the peer that it is another word for, and the connection by which
	 * that came */
	struct sdr_peer *same;
	struct sdr_conn *came;
	uint32_t ncame;		   /* connections that came by this address and are not freed yet */
	struct sdr_conn *conn;	   /* NULL: none open */
	struct sdr_rel_stats past; /* of earlier connections */
	/* how losses are repaired on connections that open from now on; NULL: by the settings */
	const struct sdr_scheme_ops *scheme;
	struct sdr_loss_est loss; /* what the path to it loses */
	uint64_t srtt;		  /* ns, of the last connection; 0 unknown */
	uint32_t noted;		  /* the decision that was reported last; 0: none */
	bool used;
	uint8_t bond; /* SDR_BOND_* */
};

struct sdr_peer *sdr_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
/* Finds or creates.  What is not used afterwards is to be released. */
struct sdr_peer *sdr_peer_make(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
void sdr_peer_release(struct sdr_peer *p); /* frees it if nothing needs it any more */
void sdr_peer_name(struct sdr_peer *p);
void sdr_peer_unname(struct sdr_peer *p); /* and releases it */
void sdr_peer_conn_add(struct sdr_peer *p, struct sdr_conn *c);
void sdr_peer_conn_del(struct sdr_peer *p, struct sdr_conn *c); /* and releases it */
/* c, which came by its peer's address, is to's from now on, which that is an alias of. */
void sdr_peer_conn_move(struct sdr_conn *c, struct sdr_peer *to);
void sdr_peers_destroy(struct sdr_rel *rel);

/* The one that is meant by an alias; any other peer is itself. */
static inline struct sdr_peer *sdr_peer_real(struct sdr_peer *p)
{
	return p && p->same ? p->same : p;
}

#endif /* SDR_PEER_H */
