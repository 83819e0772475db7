/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Parts of packets: encoding and decoding.  No state, no threads; see sdr_part.h. */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_endian.h"
#include "sdr_part.h"

#define SDR_PART_BODY (SDR_PART_HDR - SDR_CLASS_LEN)

static void sdr_part_place(struct sdr_part *h)
{
	uint32_t size = sdr_part_size(h->total, h->of), at = h->part * size;

	h->at = (uint16_t)at;
	h->len = (uint16_t)(h->total - at < size ? h->total - at : size);
}

size_t sdr_part_encode(uint8_t *p, const struct sdr_part *h, const uint8_t *frames)
{
	struct sdr_part v = *h;

	SDR_ASSERT(v.of >= 2 && v.of <= SDR_PARTS_OF && v.part < v.of && v.total >= v.of);
	sdr_part_place(&v);
	sdr_class_encode(p, SDR_CLASS_REL, SDR_REL_PART);
	p += SDR_CLASS_LEN;
	sdr_put_le64(p, v.cid);
	sdr_put_le32(p + 8, v.pn);
	sdr_put_le16(p + 12, v.total);
	p[14] = v.part;
	p[15] = v.of;
	memcpy(p + SDR_PART_BODY, frames + v.at, v.len);
	return SDR_PART_HDR + v.len;
}

int sdr_part_decode(const uint8_t *p, size_t len, struct sdr_part *h)
{
	if (len < SDR_PART_BODY)
		return -EBADMSG;
	h->cid = sdr_get_le64(p);
	h->pn = sdr_get_le32(p + 8);
	h->total = sdr_get_le16(p + 12);
	h->part = p[14];
	h->of = p[15];
	if (h->of < 2 || h->of > SDR_PARTS_OF || h->part >= h->of ||
	    h->total > SDR_PART_TOTAL_MAX ||
	    /* none is empty */
	    (h->of - 1u) * sdr_part_size(h->total, h->of) >= h->total)
		return -EBADMSG;
	sdr_part_place(h);
	if (len != SDR_PART_BODY + h->len)
		return -EBADMSG;
	h->bytes = p + SDR_PART_BODY;
	return 0;
}
