/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Extensions: type(1) len(2) and len bytes, one behind the other, little-endian.  They stand behind
 * the fixed part of HELLO and of the queue pair info; what is not known is passed over, the order
 * is free, and what is known may stand there once.
 */
#ifndef SDR_TLV_H
#define SDR_TLV_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/sdr_endian.h"

#define SDR_TLV_HDR 3u /* bytes of type and length */
#define SDR_TLV_END 0u /* type: nothing follows but zeros */

struct sdr_tlv {
	uint8_t type;
	uint16_t len;
	const uint8_t *value; /* into the datagram */
};

/* Advances *p.  1; 0: at the end; -EBADMSG: cut short, or something behind SDR_TLV_END. */
static inline int sdr_tlv_next(const uint8_t **p, const uint8_t *end, struct sdr_tlv *t)
{
	const uint8_t *q = *p;

	if (q < end && *q == SDR_TLV_END) {
		while (q < end)
			if (*q++)
				return -EBADMSG;
	}
	if (q == end) {
		*p = end;
		return 0;
	}
	if (end - q < (ptrdiff_t)SDR_TLV_HDR)
		return -EBADMSG;
	t->type = q[0];
	t->len = sdr_get_le16(q + 1);
	t->value = q + SDR_TLV_HDR;
	if (t->len > end - t->value)
		return -EBADMSG;
	*p = t->value + t->len;
	return 1;
}

/* Bytes written, 0 when room is too small. */
static inline size_t sdr_tlv_put(uint8_t *p, size_t room, uint8_t type, const void *value,
				 uint16_t len)
{
	if (room < SDR_TLV_HDR + (size_t)len)
		return 0;
	p[0] = type;
	sdr_put_le16(p + 1, len);
	if (len)
		memcpy(p + SDR_TLV_HDR, value, len);
	return SDR_TLV_HDR + (size_t)len;
}

#endif /* SDR_TLV_H */
