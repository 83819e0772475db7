/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The datagrams of a reliable endpoint that open and reset a connection, and the header of its
 * packets.
 *
 * Layout behind the class header, little-endian:
 *
 *    HELLO, HELLO_ACK   0 instance(8)  8 cid(8)  16 echo(8)  24 cookie(8)  32 status  36 seg_bytes
 *                       40 msn_limit 44 mseq_limit  48 ctl_max  52 ts_us  56 qp_info(160) 216
 *                       codes(1)  217 zero(1)  218 code_syms(2)  220 code_chunk(4); 224 bytes
 *                       exactly
 *    RETRY, RESET       0 cid(8)  8 cookie(8); 16 bytes exactly
 *    PACKET             0 cid(8)  8 pn(4)  12 frames
 *
 * Decides only whether the bytes are well formed; whether a cookie or a cid is right, and whether
 * the two sides' geometry agrees, is the endpoint's business.  A refusal (status not OK) is
 * accepted with a QP info or bounds of parity that are not: it says why and nothing else counts.
 * No state, no threads.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "sdr_hello.h"
#include "sdr_record.h"

#define SDR_HELLO_BODY	(SDR_HELLO_LEN - SDR_CLASS_LEN)
#define SDR_HELLO_QP	56u /* offset of the QP info */
#define SDR_HELLO_CODES (SDR_HELLO_QP + SDR_QP_INFO_LEN)
#define SDR_RETRY_BODY	(SDR_RETRY_LEN - SDR_CLASS_LEN)
#define SDR_PACKET_BODY (SDR_PACKET_HDR - SDR_CLASS_LEN)

size_t sdr_hello_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_hello *h)
{
	sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)type);
	p += SDR_CLASS_LEN;
	sdr_put_le64(p, h->instance);
	sdr_put_le64(p + 8, h->cid);
	sdr_put_le64(p + 16, h->echo);
	sdr_put_le64(p + 24, h->cookie);
	sdr_put_le32(p + 32, h->status);
	sdr_put_le32(p + 36, h->seg_bytes);
	sdr_put_le32(p + 40, h->msn_limit);
	sdr_put_le32(p + 44, h->mseq_limit);
	sdr_put_le32(p + 48, h->ctl_max);
	sdr_put_le32(p + 52, h->ts_us);
	sdr_wire_qp_info_encode(p + SDR_HELLO_QP, &h->qp);
	p += SDR_HELLO_CODES;
	p[0] = h->codes;
	p[1] = 0;
	sdr_put_le16(p + 2, h->code_syms);
	sdr_put_le32(p + 4, h->code_chunk);
	return SDR_HELLO_LEN;
}

static int sdr_hello_codes_decode(const uint8_t *p, struct sdr_hello *h)
{
	h->codes = p[0];
	h->code_syms = sdr_get_le16(p + 2);
	h->code_chunk = sdr_get_le32(p + 4);
	if (h->codes & ~SDR_WIRE_CODE_KINDS)
		return -EBADMSG;
	if (!h->codes)
		return h->code_syms || h->code_chunk ? -EBADMSG : 0;
	if (h->code_syms < 2 || h->code_syms > SDR_CODE_SYMS_MAX || !h->code_chunk)
		return -EBADMSG;
	return 0;
}

int sdr_hello_decode(const uint8_t *p, size_t len, struct sdr_hello *h)
{
	int ret, bad;

	if (len != SDR_HELLO_BODY || p[SDR_HELLO_CODES + 1])
		return -EBADMSG;
	h->instance = sdr_get_le64(p);
	h->cid = sdr_get_le64(p + 8);
	h->echo = sdr_get_le64(p + 16);
	h->cookie = sdr_get_le64(p + 24);
	h->status = sdr_get_le32(p + 32);
	h->seg_bytes = sdr_get_le32(p + 36);
	h->msn_limit = sdr_get_le32(p + 40);
	h->mseq_limit = sdr_get_le32(p + 44);
	h->ctl_max = sdr_get_le32(p + 48);
	h->ts_us = sdr_get_le32(p + 52);
	ret = sdr_wire_qp_info_decode(p + SDR_HELLO_QP, SDR_QP_INFO_LEN, &h->qp);
	if (!ret && (!h->seg_bytes || h->ctl_max < SDR_CTL_MIN || h->ctl_max > SDR_CTL_MAX))
		ret = -EBADMSG;
	bad = sdr_hello_codes_decode(p + SDR_HELLO_CODES, h);
	if (h->status == SDR_HELLO_OK)
		return ret ? ret : bad;
	if (ret)
		memset(&h->qp, 0, sizeof(h->qp));
	if (bad) {
		h->codes = 0;
		h->code_syms = 0;
		h->code_chunk = 0;
	}
	return 0;
}

size_t sdr_retry_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_retry *r)
{
	sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)type);
	sdr_put_le64(p + SDR_CLASS_LEN, r->cid);
	sdr_put_le64(p + SDR_CLASS_LEN + 8, r->cookie);
	return SDR_RETRY_LEN;
}

int sdr_retry_decode(const uint8_t *p, size_t len, struct sdr_retry *r)
{
	if (len != SDR_RETRY_BODY)
		return -EBADMSG;
	r->cid = sdr_get_le64(p);
	r->cookie = sdr_get_le64(p + 8);
	return 0;
}

size_t sdr_packet_encode(uint8_t *p, uint64_t cid, uint32_t pn)
{
	sdr_class_encode(p, SDR_CLASS_REL, SDR_REL_PACKET);
	sdr_put_le64(p + SDR_CLASS_LEN, cid);
	sdr_put_le32(p + SDR_CLASS_LEN + 8, pn);
	return SDR_PACKET_HDR;
}

int sdr_packet_decode(const uint8_t *p, size_t len, uint64_t *cid, uint32_t *pn)
{
	if (len < SDR_PACKET_BODY)
		return -EBADMSG;
	*cid = sdr_get_le64(p);
	*pn = sdr_get_le32(p + 8);
	return 0;
}
