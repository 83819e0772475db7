/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the reliable endpoint (class SDR_CLASS_REL), little-endian, behind the class header.
 *
 * Five types: HELLO and HELLO_ACK open a connection (either side may start, both may at once),
 * RETRY hands out a cookie under load, PACKET carries frames, RESET says that a connection id is
 * unknown here (the process restarted).  A PACKET is
 *
 *     0               8       12
 *    +---------------+-------+-----------------------+
 *    | connection id | pn    | frames ...            |
 *    +---------------+-------+-----------------------+
 *
 * The connection id is the receiver's, 64 random bits that it chose in its HELLO: it identifies the
 * peer's address, which may change.  pn counts the sender's packets modulo 2^32; no pn is used
 * twice, a lost packet's records travel again under a new one.
 */
#ifndef SDR_HELLO_H
#define SDR_HELLO_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_class.h"
#include "sdr_limits.h"
#include "sdr_qp_info.h"
#include "sdr_status.h"

enum sdr_rel_type {
	SDR_REL_HELLO = 1,
	SDR_REL_HELLO_ACK = 2,
	SDR_REL_RETRY = 3,
	SDR_REL_PACKET = 4,
	SDR_REL_RESET = 5,
};

/* ---- handshake ------------------------------------------------------------------------------- */

/*
 * HELLO and HELLO_ACK have the same form and size, so an answer is never larger than the question.
 * Lengths are exact; a refusal may come with a bad QP info or bad bounds of parity (what is bad
 * then reads all zero).
 */
#define SDR_HELLO_LEN (SDR_CLASS_LEN + 224u)
struct sdr_hello {
	/* random, one per endpoint incarnation: another one means the peer restarted */
	uint64_t instance;
	uint64_t cid;	    /* the sender's connection id: to be put into packets to it */
	uint64_t echo;	    /* HELLO_ACK: the cid of the HELLO it answers; HELLO: 0 */
	uint64_t cookie;    /* HELLO: from RETRY, 0 at first */
	uint32_t status;    /* enum sdr_hello_status */
	uint32_t seg_bytes; /* bytes of one SDR message in bulk transfers to the sender of this */
	uint32_t msn_limit; /* first credit, see CREDIT */
	uint32_t mseq_limit;
	uint32_t ctl_max; /* bytes of the largest control payload the sender takes */
	/* sender's clock; HELLO_ACK: that of the HELLO, for the first RTT sample */
	uint32_t ts_us;
	struct sdr_wire_qp_info qp;
	/* Parity that the sender of this can decode. */
	/* bit n: code of kind n (struct sdr_frame_code); 0: none, and the other two are 0 */
	uint8_t codes;
	uint16_t code_syms;  /* maximum k + m of a submessage, 2..SDR_CODE_SYMS_MAX */
	uint32_t code_chunk; /* maximum bytes per chunk, > 0 */
};
/* class header included */
size_t sdr_hello_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_hello *h);
/* p behind the class header */
int sdr_hello_decode(const uint8_t *p, size_t len, struct sdr_hello *h);

struct sdr_retry {
	uint64_t cid; /* the HELLO's */
	uint64_t cookie;
};
#define SDR_RETRY_LEN (SDR_CLASS_LEN + 16u)
size_t sdr_retry_encode(uint8_t *p, enum sdr_rel_type type,
			const struct sdr_retry *r); /* RETRY; RESET with cookie 0 */
int sdr_retry_decode(const uint8_t *p, size_t len, struct sdr_retry *r);

/* ---- packet ---------------------------------------------------------------------------------- */

#define SDR_PACKET_HDR (SDR_CLASS_LEN + 12u)
/* class header included: SDR_PACKET_HDR */
size_t sdr_packet_encode(uint8_t *p, uint64_t cid, uint32_t pn);
int sdr_packet_decode(const uint8_t *p, size_t len, uint64_t *cid,
		      uint32_t *pn); /* behind the class header; 12 bytes */

#endif /* SDR_HELLO_H */
