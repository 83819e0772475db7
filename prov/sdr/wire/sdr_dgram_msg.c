/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What datagram endpoints say of links and writes.  Decides whether bytes are one of these, with
 * every field inside its range; whether the values fit the local side is for the endpoint to
 * decide.  A decoder writes its output only when it succeeds.  No state, no timers; any thread.
 */
#include <errno.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "base/sdr_endian.h"

#include "sdr_dgram_msg.h"

static uint8_t *to_encode(uint8_t *p, uint8_t type, const struct sdr_dgram_to *to)
{
	SDR_ASSERT(to->qpn <= SDR_QPN_MASK);
	sdr_class_encode(p, SDR_CLASS_DGRAM, type);
	sdr_put_le32(p + SDR_CLASS_LEN, to->qpn);
	sdr_put_le32(p + SDR_CLASS_LEN + 4, to->rkey);
	return p + SDR_CLASS_LEN + SDR_DGRAM_TO_LEN;
}

int sdr_dgram_to_decode(const uint8_t *p, size_t len, struct sdr_dgram_to *to)
{
	if (len < SDR_DGRAM_TO_LEN || sdr_get_le32(p) > SDR_QPN_MASK)
		return -EBADMSG;
	to->qpn = sdr_get_le32(p);
	to->rkey = sdr_get_le32(p + 4);
	return 0;
}

size_t sdr_dgram_info_encode(uint8_t *p, uint8_t type, const struct sdr_dgram_to *to,
			     const uint8_t info[SDR_QP_INFO_LEN])
{
	SDR_ASSERT(type == SDR_DGRAM_OPEN || type == SDR_DGRAM_ACCEPT);
	memcpy(to_encode(p, type, to), info, SDR_QP_INFO_LEN);
	return SDR_DGRAM_INFO_LEN;
}

const uint8_t *sdr_dgram_info_decode(const uint8_t *p, size_t len)
{
	return len == SDR_DGRAM_TO_LEN + SDR_QP_INFO_LEN ? p + SDR_DGRAM_TO_LEN : NULL;
}

size_t sdr_dgram_refuse_encode(uint8_t *p, const struct sdr_dgram_to *to, uint8_t status)
{
	*to_encode(p, SDR_DGRAM_REFUSE, to) = status;
	return SDR_CLASS_LEN + SDR_DGRAM_TO_LEN + 1;
}

int sdr_dgram_refuse_decode(const uint8_t *p, size_t len, uint8_t *status)
{
	if (len != SDR_DGRAM_TO_LEN + 1)
		return -EBADMSG;
	*status = p[SDR_DGRAM_TO_LEN];
	return 0;
}

size_t sdr_dgram_gone_encode(uint8_t *p, const struct sdr_dgram_to *to)
{
	return (size_t)(to_encode(p, SDR_DGRAM_GONE, to) - p);
}

size_t sdr_dgram_sent_encode(uint8_t *p, const struct sdr_dgram_to *to, uint32_t msn)
{
	sdr_put_le32(to_encode(p, SDR_DGRAM_SENT, to), msn);
	return SDR_DGRAM_SENT_LEN;
}

int sdr_dgram_sent_decode(const uint8_t *p, size_t len, uint32_t *msn)
{
	if (len != SDR_DGRAM_SENT_LEN - SDR_CLASS_LEN)
		return -EBADMSG;
	*msn = sdr_get_le32(p + SDR_DGRAM_TO_LEN);
	return 0;
}

size_t sdr_dgram_write_encode(uint8_t *p, const struct sdr_dgram_to *to,
			      const struct sdr_dgram_write *w, bool all)
{
	uint8_t *q = to_encode(p, all ? SDR_DGRAM_WRITE_ALL : SDR_DGRAM_WRITE, to);

	sdr_put_le32(q, w->msn);
	sdr_put_le32(q + 4, w->flags);
	sdr_put_le64(q + 8, w->key);
	sdr_put_le64(q + 16, w->addr);
	sdr_put_le64(q + 24, w->len);
	sdr_put_le64(q + 32, w->data);
	return SDR_DGRAM_WRITE_LEN;
}

int sdr_dgram_write_decode(const uint8_t *p, size_t len, bool all, struct sdr_dgram_write *w)
{
	const size_t head = SDR_DGRAM_WRITE_LEN - SDR_CLASS_LEN;
	const uint8_t *q = p + SDR_DGRAM_TO_LEN;
	uint64_t bytes;

	if (len < head || sdr_get_le32(q + 4) & ~SDR_DGRAM_F_DATA)
		return -EBADMSG;
	bytes = sdr_get_le64(q + 24);
	if (all ? bytes != len - head : !bytes || len != head)
		return -EBADMSG;
	w->msn = sdr_get_le32(q);
	w->flags = sdr_get_le32(q + 4);
	w->key = sdr_get_le64(q + 8);
	w->addr = sdr_get_le64(q + 16);
	w->len = bytes;
	w->data = sdr_get_le64(q + 32);
	w->bytes = all ? p + head : NULL;
	return 0;
}
