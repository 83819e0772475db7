/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Two ends that speak different versions of the wire, and how they find out.
 *
 * What never changes, whatever the version:
 *
 *   the class header (sdr_class.h): magic, version, class, type;
 *   HELLO from version 2 on: 0 instance(8) 8 cid(8) 16 echo(8) 24 cookie(8) 32 min(1) 33 max(1)
 *   VERSION: 0 cid(8)  8 min(1)  9 max(1)  10 zero(6)
 *
 * A HELLO in a version that its receiver does not speak, or that names none of those, is answered
 * with VERSION: the cid of that HELLO, and the versions that the answering side speaks.  The answer
 * is no longer than the question, nothing is stored for it, and nothing answers it.
 *
 * Version 1 knew none of this: it dropped what was of another version in silence.  It is recognised
 * by the form of its datagrams, and spoken to in it: a refusal of version 1 answers its HELLO, and
 * a HELLO of version 1 that cannot be accepted finds out whether a silent peer speaks it.
 */
#ifndef SDR_VERSION_H
#define SDR_VERSION_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_class.h"
#include "sdr_limits.h"

struct sdr_version {
	uint64_t cid;	  /* of the HELLO that this answers */
	uint8_t min, max; /* versions that the sender speaks, 1 <= min <= max */
};
#define SDR_VERSION_LEN (SDR_CLASS_LEN + 16u)
/* class header included */
size_t sdr_version_encode(uint8_t *p, const struct sdr_version *v);
/* p behind the class header, of whatever version that is */
int sdr_version_decode(const uint8_t *p, size_t len, struct sdr_version *v);

/* A datagram of a reliable endpoint in another version. */
enum sdr_foreign_kind {
	SDR_FOREIGN_ASKS = 1, /* a HELLO: to be answered */
	SDR_FOREIGN_SAYS = 2, /* which versions it speaks; v is valid */
};
struct sdr_foreign {
	enum sdr_foreign_kind kind;
	uint8_t version;      /* that its class header names */
	struct sdr_version v; /* ASKS: cid alone */
};
/* p,len: with the class header.  0; -EBADMSG: nothing that can be understood. */
int sdr_foreign_decode(const uint8_t *p, size_t len, struct sdr_foreign *f);

/* Version 1: HELLO and HELLO_ACK are of this length. */
#define SDR_V1_HELLO_LEN (SDR_CLASS_LEN + 224u)
/* Well formed, and refused by every endpoint of version 1 without a trace. */
size_t sdr_v1_hello_encode(uint8_t *p, uint64_t instance, uint64_t cid);
/*
 * The refusal that version 1 understands; it says "the same version of sdr" to its user.  Where
 * version 1 itself has zeros it names the versions that are spoken here.
 */
size_t sdr_v1_refusal_encode(uint8_t *p, const struct sdr_version *v);

#endif /* SDR_VERSION_H */
