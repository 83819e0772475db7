/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers behind address translation, see sdr_alias.c.
 */
#ifndef SDR_ALIAS_H
#define SDR_ALIAS_H

#include "sdr_conn.h"
#include "wire/sdr_hello.h"

/* connections that may claim one name at a time; further claims are refused */
#define SDR_ALIAS_CLAIMS_MAX 4u
/* A name is silent when it answers none of so many HELLOs, and not before. */
#define SDR_ALIAS_HELLOS      3u
#define SDR_ALIAS_PATIENCE_NS (100 * MS)
#define SDR_ALIAS_EXT_MAX     44u /* bytes of the extensions of a HELLO that are written here */

/* Extensions of a HELLO or HELLO_ACK of c's; returns bytes. */
size_t sdr_alias_put(const struct sdr_conn *c, enum sdr_rel_type type, uint8_t *p, size_t room);

/* The connection that has this address: that of its peer, or of the peer whose alias it is. */
struct sdr_conn *sdr_alias_conn(struct sdr_rel *rel, const struct sdr_uc_addr *from,
				const struct sdr_hello *h);
/* One whose handshake this HELLO repeats, wherever it came from; NULL: it is a new one. */
struct sdr_conn *sdr_alias_known(struct sdr_rel *rel, const struct sdr_uc_addr *from,
				 const struct sdr_hello *h);
/* Its sender asks whether we are the peer of a connection that it has: we are. */
bool sdr_alias_same(struct sdr_rel *rel, const struct sdr_uc_addr *from, const struct sdr_hello *h);

/* A HELLO or its answer has become part of c. */
void sdr_alias_said(struct sdr_conn *c, const struct sdr_uc_addr *from, const struct sdr_hello *h);
void sdr_alias_validated(struct sdr_conn *c); /* c's peer is where c's packets go */
/* An answer to c's HELLO is from the peer of another connection: what belongs to it is done. */
bool sdr_alias_answered(struct sdr_conn *c, const struct sdr_hello *h);
void sdr_alias_opened(struct sdr_conn *c); /* c will try the name of its peer */
/* Something on this side names the peer: who claims to be it? */
void sdr_alias_named(struct sdr_peer *p);
void sdr_alias_failed(struct sdr_conn *c); /* c is dead */

/* c tries a name that another connection claims: it does not wait longer than that. */
static inline uint64_t sdr_alias_deadline(const struct sdr_conn *c)
{
	return c->alias.until;
}
void sdr_alias_silent(struct sdr_conn *c); /* that time has come */

#endif /* SDR_ALIAS_H */
