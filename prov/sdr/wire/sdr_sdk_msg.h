/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the receive side of a queue pair tells the send side (class SDR_CLASS_SDK), little-endian:
 * how many messages may be sent and, where each needs a grant, to where.
 */
#ifndef SDR_SDK_MSG_H
#define SDR_SDK_MSG_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_class.h"
#include "sdr_limits.h"

enum sdr_sdk_type {
	SDR_SDK_CTS = 1,
	/* same layout: the answer to a CTS that brought nothing new, and to every KEYS */
	SDR_SDK_CTS_SEEN = 2,
	SDR_SDK_KEYS = 3, /* instead of CTS, where messages need a grant (SDR_QP_F_RKEYED) */
	SDR_SDK_APP = 4,  /* bytes of the application */
};
/*
 * Sent by a receive side for its QP: messages below `posted` may be sent.  A state, not an event:
 * repeating, reordering and losing it is harmless.
 *
 *   0        4       8      12
 *  +--------+-------+------+--------+
 *  | class  | qpn   | rkey | posted |
 *  +--------+-------+------+--------+
 */
struct sdr_wire_cts {
	uint32_t qpn;	 /* the addressee's base QPN */
	uint32_t rkey;	 /* the addressee's root key: shows that the sender saw its qp_info */
	uint32_t posted; /* message sequence number, exclusive, modulo 2^32 */
};
#define SDR_WIRE_CTS_LEN (SDR_CLASS_LEN + 12u)
/* class header included: SDR_WIRE_CTS_LEN */
size_t sdr_wire_cts_encode(uint8_t *p, const struct sdr_wire_cts *c);
/* p,len: behind the class header, SDR_WIRE_CTS_LEN - SDR_CLASS_LEN bytes. */
int sdr_wire_cts_decode(const uint8_t *p, size_t len, struct sdr_wire_cts *c);

/*
 * An rkeyed receiver's CTS: `posted` as there, and where the messages [first, first + n) lie.  A
 * message's state only grows (unknown, live, void), and it has one key for good: repeating,
 * reordering and losing these is harmless too.
 *
 *   0        4       8      12       16      20  22  24
 *  +--------+-------+------+--------+-------+---+---+------------------------------+
 *  | class  | qpn   | rkey | posted | first | n | 0 | n times: va(8) rkey(4) state |     13 bytes
 *           an entry
 *  +--------+-------+------+--------+-------+---+---+------------------------------+
 */
#define SDR_WIRE_KEYS_HDR 24u /* class header included */
#define SDR_WIRE_KEY_LEN  13u
#define SDR_WIRE_KEYS_MAX ((SDR_CTL_MAX - SDR_WIRE_KEYS_HDR) / SDR_WIRE_KEY_LEN)
enum sdr_wire_key_state {
	SDR_KEY_LIVE = 1, /* may be sent, to va under rkey; a message of no bytes has 0 in both */
	SDR_KEY_VOID = 2, /* completed or skipped: not to be sent any more; va and rkey are 0 */
};
struct sdr_wire_key {
	uint64_t va;
	uint32_t rkey;
	uint8_t state; /* enum sdr_wire_key_state */
};
struct sdr_wire_keys {
	uint32_t qpn, rkey, posted; /* as in struct sdr_wire_cts */
	uint32_t first;		    /* message sequence number */
	uint16_t n;		    /* 1..SDR_WIRE_KEYS_MAX; first + n is not above posted */
	const uint8_t *entry;	    /* decode: into the datagram, n entries that are well formed */
};
/* The entries that follow are the caller's to put.  Returns the length of the whole datagram. */
size_t sdr_wire_keys_encode(uint8_t *p, const struct sdr_wire_keys *k);
void sdr_wire_key_put(uint8_t entry[SDR_WIRE_KEY_LEN], const struct sdr_wire_key *key);
/* p,len: behind the class header. */
int sdr_wire_keys_decode(const uint8_t *p, size_t len, struct sdr_wire_keys *k);
/* i < k->n */
void sdr_wire_key_get(const struct sdr_wire_keys *k, uint32_t i, struct sdr_wire_key *key);

/*
 * Bytes from an application to that of the addressee, which alone knows what they say.
 *
 *   0        4       8      12
 *  +--------+-------+------+---------+
 *  | class  | qpn   | rkey | bytes   |
 *  +--------+-------+------+---------+
 */
#define SDR_WIRE_APP_HDR (SDR_CLASS_LEN + 8u) /* class header included */
struct sdr_wire_app {
	uint32_t qpn, rkey;   /* as in struct sdr_wire_cts */
	const uint8_t *bytes; /* decode: into the datagram */
	size_t len;	      /* likewise: of bytes */
};
/* All but the bytes, which are the caller's to put behind SDR_WIRE_APP_HDR. */
void sdr_wire_app_encode(uint8_t *p, const struct sdr_wire_app *a);
/* p,len: behind the class header. */
int sdr_wire_app_decode(const uint8_t *p, size_t len, struct sdr_wire_app *a);

#endif /* SDR_SDK_MSG_H */
