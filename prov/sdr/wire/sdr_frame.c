/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The frames of a packet, one after the other.  Layout of the small ones, little-endian, the type
 * first; the others' stand in sdr_ack.c and sdr_record.c:
 *
 *    PAD     0
 *    CREDIT  3  msn_limit(4)  mseq_limit(4)
 *    PING    4
 *    END     5  msn(4)
 *    CLOSE   7  reason(2)
 *
 * and, with a length in front, from SDR_FRAME_LONG on:
 *
 *    PADDING         0x80  len(2)  bytes
 *    PATH_RESPONSE   0x81  len(2)  path(1)  data(8)
 *    HELD            0x82  len(2)  bytes of later versions
 *    ASIDE           0x84  len(2)  bytes of later versions
 *    DROPS           0x83  len(2)  count(4)
 *    MARKS           0x85  len(2)  see struct sdr_frame_marks
 *    FAN             0x86  len(2)  in(2)  in_win(4)  out_win(4)
 *    PATH_CHALLENGE  0xc0  len(2)  path(1)  data(8)
 *    SHAPE           0xc1  len(2)  see struct sdr_frame_shape
 *    any other       type  len(2)  bytes
 *
 * No state, no threads.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "sdr_frame_impl.h"

size_t sdr_frame_credit_encode(uint8_t *p, size_t room, const struct sdr_frame_credit *f)
{
	if (room < 9)
		return 0;
	p[0] = SDR_FRAME_CREDIT;
	sdr_put_le32(p + 1, f->msn_limit);
	sdr_put_le32(p + 5, f->mseq_limit);
	return 9;
}

size_t sdr_frame_ping_encode(uint8_t *p, size_t room)
{
	if (room < 1)
		return 0;
	p[0] = SDR_FRAME_PING;
	return 1;
}

size_t sdr_frame_end_encode(uint8_t *p, size_t room, const struct sdr_frame_end *f)
{
	if (room < 5)
		return 0;
	p[0] = SDR_FRAME_END;
	sdr_put_le32(p + 1, f->msn);
	return 5;
}

size_t sdr_frame_close_encode(uint8_t *p, size_t room, const struct sdr_frame_close *f)
{
	if (room < 3)
		return 0;
	p[0] = SDR_FRAME_CLOSE;
	sdr_put_le16(p + 1, f->reason);
	return 3;
}

/* ---- with a length --------------------------------------------------------------------------- */

size_t sdr_frame_long_encode(uint8_t *p, size_t room, uint8_t type, const void *bytes, uint16_t len)
{
	if (!(type & SDR_FRAME_LONG) || room < SDR_FRAME_LONG_HDR + (size_t)len)
		return 0;
	p[0] = type;
	sdr_put_le16(p + 1, len);
	if (bytes)
		memcpy(p + SDR_FRAME_LONG_HDR, bytes, len);
	else
		memset(p + SDR_FRAME_LONG_HDR, 0, len);
	return SDR_FRAME_LONG_HDR + (size_t)len;
}

size_t sdr_frame_path_encode(uint8_t *p, size_t room, enum sdr_frame_type type,
			     const struct sdr_frame_path *f)
{
	uint8_t b[1 + SDR_FRAME_PATH_DATA];

	b[0] = f->path;
	memcpy(b + 1, f->data, SDR_FRAME_PATH_DATA);
	return sdr_frame_long_encode(p, room, (uint8_t)type, b, sizeof(b));
}

size_t sdr_frame_held_encode(uint8_t *p, size_t room)
{
	return sdr_frame_long_encode(p, room, SDR_FRAME_HELD, NULL, 0);
}

size_t sdr_frame_aside_encode(uint8_t *p, size_t room)
{
	return sdr_frame_long_encode(p, room, SDR_FRAME_ASIDE, NULL, 0);
}

size_t sdr_frame_drops_encode(uint8_t *p, size_t room, const struct sdr_frame_drops *f)
{
	uint8_t b[4];

	sdr_put_le32(b, f->count);
	return sdr_frame_long_encode(p, room, SDR_FRAME_DROPS, b, sizeof(b));
}

size_t sdr_frame_fan_encode(uint8_t *p, size_t room, const struct sdr_frame_fan *f)
{
	uint8_t b[SDR_FRAME_FAN_LEN];

	sdr_put_le16(b, f->in);
	sdr_put_le32(b + 2, f->in_win);
	sdr_put_le32(b + 6, f->out_win);
	return sdr_frame_long_encode(p, room, SDR_FRAME_FAN, b, sizeof(b));
}

static bool sdr_shape_has_info(uint8_t what)
{
	return what == SDR_SHAPE_OFFER || what == SDR_SHAPE_USE;
}

size_t sdr_frame_shape_encode(uint8_t *p, size_t room, const struct sdr_frame_shape *f)
{
	uint8_t b[SDR_FRAME_SHAPE_HEAD + SDR_QP_INFO_LEN];
	uint16_t len = SDR_FRAME_SHAPE_HEAD;

	b[0] = f->what;
	b[1] = f->n;
	sdr_put_le16(b + 2, f->gen);
	sdr_put_le32(b + 4, f->limit);
	sdr_put_le32(b + 8, f->mtu);
	sdr_put_le32(b + 12, f->seg_bytes);
	sdr_put_le32(b + 16, f->msn);
	if (sdr_shape_has_info(f->what)) {
		memcpy(b + SDR_FRAME_SHAPE_HEAD, f->info, SDR_QP_INFO_LEN);
		len = sizeof(b);
	}
	return sdr_frame_long_encode(p, room, SDR_FRAME_SHAPE, b, len);
}

static bool sdr_shape_mtu_ok(uint32_t mtu)
{
	return mtu >= SDR_EP_MTU_MIN && mtu <= SDR_MTU_MAX;
}

static bool sdr_frame_shape_decode(const uint8_t *p, uint16_t len, struct sdr_frame_shape *f)
{
	bool info = len && sdr_shape_has_info(p[0]);

	if (len != SDR_FRAME_SHAPE_HEAD + (info ? SDR_QP_INFO_LEN : 0) || p[0] > SDR_SHAPE_REFUSE)
		return false;
	f->what = p[0];
	f->n = p[1];
	f->gen = sdr_get_le16(p + 2);
	f->limit = sdr_get_le32(p + 4);
	f->mtu = sdr_get_le32(p + 8);
	f->seg_bytes = sdr_get_le32(p + 12);
	f->msn = sdr_get_le32(p + 16);
	f->info = info ? p + SDR_FRAME_SHAPE_HEAD : NULL;
	if (!sdr_shape_mtu_ok(f->limit) || (!info && f->seg_bytes) ||
	    (f->what != SDR_SHAPE_USE && f->msn))
		return false;
	return f->what == SDR_SHAPE_LIMIT ? !f->mtu : sdr_shape_mtu_ok(f->mtu);
}

static const uint8_t *sdr_frame_long_decode(const uint8_t *p, const uint8_t *end,
					    struct sdr_frame *f)
{
	uint16_t len;

	if (end - p < 2)
		return NULL;
	len = sdr_get_le16(p);
	p += 2;
	if (len > end - p)
		return NULL;
	switch (f->type) {
	case SDR_FRAME_PATH_RESPONSE:
	case SDR_FRAME_PATH_CHALLENGE:
		if (len != 1 + SDR_FRAME_PATH_DATA)
			return NULL;
		f->path.path = p[0];
		memcpy(f->path.data, p + 1, SDR_FRAME_PATH_DATA);
		break;
	case SDR_FRAME_DROPS:
		if (len != 4)
			return NULL;
		f->drops.count = sdr_get_le32(p);
		break;
	case SDR_FRAME_FAN:
		if (len != SDR_FRAME_FAN_LEN)
			return NULL;
		f->fan.in = sdr_get_le16(p);
		f->fan.in_win = sdr_get_le32(p + 2);
		f->fan.out_win = sdr_get_le32(p + 6);
		break;
	case SDR_FRAME_MARKS:
		if (!sdr_frame_marks_decode(p, p + len, &f->marks))
			return NULL;
		break;
	case SDR_FRAME_SHAPE:
		if (!sdr_frame_shape_decode(p, len, &f->shape))
			return NULL;
		break;
	default:
		f->other.len = len;
		f->other.bytes = p;
	}
	return p + len;
}

/* ---- any ------------------------------------------------------------------------------------- */

int sdr_frame_next(const uint8_t **p, const uint8_t *end, struct sdr_frame *out)
{
	const uint8_t *q = *p;

	while (q < end && *q == SDR_FRAME_PAD)
		q++;
	if (q >= end) {
		*p = end;
		return 0;
	}
	out->type = *q++;
	switch (out->type) {
	case SDR_FRAME_ACK:
		q = sdr_frame_ack_decode(q, end, &out->ack);
		break;
	case SDR_FRAME_DACK:
		q = sdr_frame_dack_decode(q, end, &out->dack);
		break;
	case SDR_FRAME_CREDIT:
		if (end - q < 8)
			return -EBADMSG;
		out->credit.msn_limit = sdr_get_le32(q);
		out->credit.mseq_limit = sdr_get_le32(q + 4);
		q += 8;
		break;
	case SDR_FRAME_PING:
		break;
	case SDR_FRAME_END:
		if (end - q < 4)
			return -EBADMSG;
		out->end.msn = sdr_get_le32(q);
		q += 4;
		break;
	case SDR_FRAME_REC:
		q = sdr_frame_rec_decode(q, end, &out->rec);
		break;
	case SDR_FRAME_CLOSE:
		if (end - q < 2)
			return -EBADMSG;
		out->close.reason = sdr_get_le16(q);
		q += 2;
		break;
	default:
		if (!(out->type & SDR_FRAME_LONG))
			return -EBADMSG;
		q = sdr_frame_long_decode(q, end, out);
	}
	if (!q)
		return -EBADMSG;
	*p = q;
	return 1;
}
