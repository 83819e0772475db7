/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Knocks: does a port of a peer's receive worker answer?  And what two engines of one host have to
 * say to each other.  Control datagrams between engines, with a Q_Key of their own; little-endian.
 *
 *  0      1       2-3     4-7   8-11       12-15   16-23   24-27  28-31
 *  +------+-------+-------+-----+----------+-------+-------+------+-----+
 *  | kind | index | zero  | qpn | from qpn | rkey  | nonce | pid  | fd  |  the last two: RING
 *  +------+-------+-------+-----+----------+-------+-------+------+-----+
 *
 * ASK goes to port number `index` of a QP's info, names that QP (qpn) with its root key, and the QP
 * that asks.  ANSWER comes from there to where ASK came from: qpn is the one that asked, from qpn
 * the one that was, rkey 0, nonce that of ASK.  Both are 24 bytes: no answer is longer than what it
 * answers, and none is given to who does not know the key.
 *
 * RING names a ring in shared memory (the soft engine's sdr_soft_ring.h) in the same way, from the
 * process and the descriptor that it is there; what comes next is in it.  BELL says that something
 * is in such a ring, to who sleeps; it means nothing by itself.  Neither is answered.
 */
#ifndef SDR_KNOCK_H
#define SDR_KNOCK_H

#include <stddef.h>
#include <stdint.h>

#define SDR_KNOCK_LEN  24u /* bytes, but of RING */
#define SDR_KNOCK_MAX  32u
#define SDR_KNOCK_QKEY 0x80010001u /* of its DETH */

enum sdr_knock_kind {
	SDR_KNOCK_ASK = 1,
	SDR_KNOCK_ANSWER = 2,
	SDR_KNOCK_RING = 3,
	SDR_KNOCK_BELL = 4,
};

struct sdr_wire_knock {
	uint8_t kind;  /* enum sdr_knock_kind */
	uint8_t index; /* 0..SDR_QP_INFO_PORTS_MAX - 1 */
	uint32_t qpn, from_qpn;
	uint32_t rkey;
	uint64_t nonce;
	uint32_t pid, fd; /* RING */
};

/* Returns the bytes that it has. */
size_t sdr_wire_knock_encode(uint8_t p[SDR_KNOCK_MAX], const struct sdr_wire_knock *k);
/* 0, or -EBADMSG: length, kind, index, or what must be zero. */
int sdr_wire_knock_decode(const uint8_t *p, size_t len, struct sdr_wire_knock *k);

#endif /* SDR_KNOCK_H */
