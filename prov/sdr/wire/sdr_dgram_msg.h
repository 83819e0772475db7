/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagram endpoints (class SDR_CLASS_DGRAM), little-endian: messages of the application, and what
 * announces writes into the other side's memory.
 */
#ifndef SDR_DGRAM_MSG_H
#define SDR_DGRAM_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sdr_class.h"
#include "sdr_qp_info.h"

enum sdr_dgram_type {
	SDR_DGRAM_PLAIN = 0, /* the message */
	SDR_DGRAM_DATA = 1,  /* 8 bytes of remote CQ data, then the message */
	/* a link: a queue pair in one direction, over which one side writes */
	SDR_DGRAM_OPEN = 2,
	SDR_DGRAM_ACCEPT = 3,
	SDR_DGRAM_REFUSE = 4,
	SDR_DGRAM_GONE = 5, /* the answer to what names a link that is not, or not any more */
	/* a write */
	SDR_DGRAM_WRITE = 6,	 /* begins: its packets follow */
	SDR_DGRAM_WRITE_ALL = 7, /* all of it: its bytes stand behind the fields */
	SDR_DGRAM_SENT = 8,	 /* all of its packets were sent */
};

/*
 * All of a link and its writes begin with whom they are for: the addressee's queue pair and root
 * key, which show that the sender has heard of them (OPEN: the sender's own).
 *
 *   0        4      8      12
 *  +--------+------+------+
 *  | class  | qpn  | rkey |  OPEN, ACCEPT: QP info of the sender (160)
 *  +--------+------+------+  REFUSE: status(1), enum sdr_wire_status;  GONE: nothing
 *                            SENT: msn(4)
 *			      WRITE, WRITE_ALL:
 *   12      16       20      28      36     44
 *  +-------+--------+-------+-------+------+------+---------------------------+
 *  | msn   | flags  | key   | addr  | len  | data | WRITE_ALL: len bytes      |
 *  +-------+--------+-------+-------+------+------+---------------------------+
 */
struct sdr_dgram_to {
	uint32_t qpn, rkey;
};
#define SDR_DGRAM_TO_LEN    8u
#define SDR_DGRAM_INFO_LEN  (SDR_CLASS_LEN + SDR_DGRAM_TO_LEN + SDR_QP_INFO_LEN)
#define SDR_DGRAM_SENT_LEN  (SDR_CLASS_LEN + SDR_DGRAM_TO_LEN + 4u)
#define SDR_DGRAM_WRITE_LEN (SDR_CLASS_LEN + SDR_DGRAM_TO_LEN + 40u)

#define SDR_DGRAM_F_DATA 0x1u /* data is valid */
struct sdr_dgram_write {
	uint32_t msn;
	uint32_t flags; /* SDR_DGRAM_F_* */
	uint64_t key, addr, len, data;
	const uint8_t *bytes; /* WRITE_ALL, decode: into the datagram, len bytes */
};

/* With the class header; they return the datagram's length (write_all: without its bytes). */
size_t sdr_dgram_info_encode(uint8_t *p, uint8_t type, const struct sdr_dgram_to *to,
			     const uint8_t info[SDR_QP_INFO_LEN]);
size_t sdr_dgram_refuse_encode(uint8_t *p, const struct sdr_dgram_to *to, uint8_t status);
size_t sdr_dgram_gone_encode(uint8_t *p, const struct sdr_dgram_to *to);
size_t sdr_dgram_sent_encode(uint8_t *p, const struct sdr_dgram_to *to, uint32_t msn);
size_t sdr_dgram_write_encode(uint8_t *p, const struct sdr_dgram_to *to,
			      const struct sdr_dgram_write *w, bool all);

/* p,len: behind the class header.  0 or -EBADMSG. */
int sdr_dgram_to_decode(const uint8_t *p, size_t len, struct sdr_dgram_to *to);
/* The bytes of the info, which are not looked at; NULL: it is too short, or too long. */
const uint8_t *sdr_dgram_info_decode(const uint8_t *p, size_t len);
int sdr_dgram_refuse_decode(const uint8_t *p, size_t len, uint8_t *status);
int sdr_dgram_sent_decode(const uint8_t *p, size_t len, uint32_t *msn);
int sdr_dgram_write_decode(const uint8_t *p, size_t len, bool all, struct sdr_dgram_write *w);

#endif /* SDR_DGRAM_MSG_H */
