/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What connects two endpoints of FI_EP_MSG: the payload of a record CALL.
 *
 *     0      1      2      4          12
 *    +------+------+------+----------+-----------+
 *    | kind | zero | len  | call     | data ...  |
 *    +------+------+------+----------+-----------+
 *
 * Little-endian.  REQUEST goes to a listening endpoint; call is a random number of the requesting
 * one's (16 bits of it its process's), by which it knows the answer: ACCEPT, which the accepting
 * endpoint sends to where the REQUEST came from, and which makes its sender the other end of the
 * connection, or REJECT, from the listening one.  data are the application's, len bytes up to the
 * end of the record.
 */
#ifndef SDR_CM_MSG_H
#define SDR_CM_MSG_H

#include <stddef.h>
#include <stdint.h>

#define SDR_CM_HDR	12u
#define SDR_CM_DATA_MAX 256u /* bytes of the application's */
#define SDR_CM_MSG_MAX	(SDR_CM_HDR + SDR_CM_DATA_MAX)

enum sdr_cm_kind {
	SDR_CM_REQUEST = 1,
	SDR_CM_ACCEPT = 2,
	SDR_CM_REJECT = 3,
	SDR_CM_KINDS,
};

struct sdr_cm_msg {
	uint8_t kind; /* enum sdr_cm_kind */
	uint16_t len; /* bytes of data */
	uint64_t call;
	const uint8_t *data;
};

/* Bytes; p has room for SDR_CM_MSG_MAX. */
size_t sdr_cm_encode(uint8_t *p, const struct sdr_cm_msg *m);
/* The data stay where they are.  0 or -EBADMSG. */
int sdr_cm_decode(const uint8_t *p, size_t len, struct sdr_cm_msg *m);

#endif /* SDR_CM_MSG_H */
