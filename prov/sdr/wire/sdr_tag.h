/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The authentication of a control datagram.  Reserved: nothing here has a key yet.
 *
 * A datagram whose class byte has SDR_CLASS_SEALED ends with a trailer; the class header in front
 * stays in the clear, what lies between the two may be encrypted:
 *
 *    class header(4)  body ...  nonce(12)  tag(16)  key(4)
 *
 * `key` is the number of the key among those that both sides have, and with it the algorithm.  Who
 * has no such key drops the datagram and counts it: what cannot be checked is not believed.
 */
#ifndef SDR_TAG_H
#define SDR_TAG_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "sdr_class.h"

#define SDR_TAG_NONCE 12u
#define SDR_TAG_BYTES 16u
#define SDR_TAG_LEN   (SDR_TAG_NONCE + SDR_TAG_BYTES + 4u)

struct sdr_tag {
	uint8_t nonce[SDR_TAG_NONCE];
	uint8_t tag[SDR_TAG_BYTES];
	uint32_t key;
};

static inline size_t sdr_tag_put(uint8_t *p, const struct sdr_tag *t)
{
	memcpy(p, t->nonce, SDR_TAG_NONCE);
	memcpy(p + SDR_TAG_NONCE, t->tag, SDR_TAG_BYTES);
	sdr_put_le32(p + SDR_TAG_NONCE + SDR_TAG_BYTES, t->key);
	return SDR_TAG_LEN;
}

/* p,len: a whole sealed datagram.  *body: bytes between class header and trailer. */
static inline int sdr_tag_get(const uint8_t *p, size_t len, struct sdr_tag *t, size_t *body)
{
	if (len < SDR_CLASS_LEN + SDR_TAG_LEN)
		return -EBADMSG;
	*body = len - SDR_CLASS_LEN - SDR_TAG_LEN;
	p += SDR_CLASS_LEN + *body;
	memcpy(t->nonce, p, SDR_TAG_NONCE);
	memcpy(t->tag, p + SDR_TAG_NONCE, SDR_TAG_BYTES);
	t->key = sdr_get_le32(p + SDR_TAG_NONCE + SDR_TAG_BYTES);
	return 0;
}

#endif /* SDR_TAG_H */
