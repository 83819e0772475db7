/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The datagrams of a reliable endpoint that open and reset a connection, and the header of its
 * packets.
 *
 * Layout behind the class header, little-endian:
 *
 *    HELLO, HELLO_ACK   see struct sdr_hello
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
#include "base/sdr_rand.h"
#include "sdr_hello.h"
#include "sdr_record.h"
#include "sdr_tlv.h"

#define SDR_HELLO_BODY	(SDR_HELLO_LEN - SDR_CLASS_LEN)
#define SDR_HELLO_QP	64u /* offset of the QP info */
#define SDR_HELLO_CODES (SDR_HELLO_QP + SDR_QP_INFO_LEN)
#define SDR_RETRY_BODY	(SDR_RETRY_LEN - SDR_CLASS_LEN)
#define SDR_PACKET_BODY (SDR_PACKET_HDR - SDR_CLASS_LEN)

/* ---- addresses ------------------------------------------------------------------------------- */

/* Bytes of the address, or -1: no such family. */
static int sdr_hello_family_len(uint8_t family)
{
	return family == 0 ? 0 : family == 4 ? 4 : family == 6 ? 16 : -1;
}

int sdr_hello_addr_next(const uint8_t **p, const uint8_t *end, struct sdr_hello_addr *a)
{
	const uint8_t *q = *p;
	int n;

	if (q == end)
		return 0;
	n = sdr_hello_family_len(q[0]);
	if (n < 0 || end - q < 3 + n)
		return -EBADMSG;
	memset(a, 0, sizeof(*a));
	a->family = q[0];
	a->port = sdr_get_be16(q + 1);
	memcpy(a->ip, q + 3, (size_t)n);
	if (!a->port)
		return -EBADMSG;
	*p = q + 3 + n;
	return 1;
}

size_t sdr_hello_addr_put(uint8_t *p, size_t room, const struct sdr_hello_addr *a)
{
	int n = sdr_hello_family_len(a->family);

	if (n < 0 || room < 3 + (size_t)n)
		return 0;
	p[0] = a->family;
	sdr_put_be16(p + 1, a->port);
	memcpy(p + 3, a->ip, (size_t)n);
	return 3 + (size_t)n;
}

uint64_t sdr_hello_check(uint64_t theirs, uint64_t cid)
{
	static const char what[] = "same";
	uint8_t key[SDR_SIPHASH_KEY];
	uint64_t h;

	sdr_put_le64(key, theirs);
	sdr_put_le64(key + 8, cid);
	h = sdr_siphash(what, sizeof(what) - 1, key);
	return h ? h : 1;
}

/* ---- HELLO ----------------------------------------------------------------------------------- */

size_t sdr_hello_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_hello *h)
{
	sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)type);
	p += SDR_CLASS_LEN;
	sdr_put_le64(p, h->instance);
	sdr_put_le64(p + 8, h->cid);
	sdr_put_le64(p + 16, h->echo);
	sdr_put_le64(p + 24, h->cookie);
	p[32] = h->version_min;
	p[33] = h->version_max;
	sdr_put_le16(p + 34, h->status);
	sdr_put_le32(p + 36, h->ctl_max);
	sdr_put_le64(p + 40, h->features);
	sdr_put_le32(p + 48, h->seg_bytes);
	sdr_put_le32(p + 52, h->msn_limit);
	sdr_put_le32(p + 56, h->mseq_limit);
	sdr_put_le32(p + 60, h->ts_us);
	sdr_wire_qp_info_encode(p + SDR_HELLO_QP, &h->qp);
	p += SDR_HELLO_CODES;
	p[0] = h->codes;
	p[1] = 0;
	sdr_put_le16(p + 2, h->code_syms);
	sdr_put_le32(p + 4, h->code_chunk);
	if (h->ext_len)
		memcpy(p + 8, h->ext, h->ext_len);
	return SDR_HELLO_LEN + h->ext_len;
}

static int sdr_hello_addrs_check(const uint8_t *p, const uint8_t *end, uint32_t max)
{
	struct sdr_hello_addr a;
	uint32_t n = 0;
	int ret;

	while ((ret = sdr_hello_addr_next(&p, end, &a)) > 0)
		if (++n > max)
			return -EBADMSG;
	return ret;
}

/* One address, with its family. */
static int sdr_hello_observed(const struct sdr_tlv *t, struct sdr_hello_addr *a)
{
	const uint8_t *p = t->value, *end = t->value + t->len;

	return sdr_hello_addr_next(&p, end, a) == 1 && p == end && a->family ? 0 : -EBADMSG;
}

static int sdr_hello_ext_decode(const uint8_t *p, size_t len, struct sdr_hello *h)
{
	const uint8_t *end = p + len;
	struct sdr_tlv t;
	int ret;

	h->ext = p;
	h->ext_len = (uint32_t)len;
	h->ext_unknown = 0;
	h->addrs = NULL;
	h->addrs_len = 0;
	h->sources = NULL;
	h->sources_len = 0;
	h->probe_max = 0;
	h->seen = 0;
	h->observed = (struct sdr_hello_addr){ .port = 0 };
	h->check = 0;
	h->came_us = 0;
	h->has_came = false;
	while ((ret = sdr_tlv_next(&p, end, &t)) > 0) {
		switch (t.type) {
		case SDR_HELLO_ADDRESSES:
			if (h->addrs ||
			    sdr_hello_addrs_check(t.value, t.value + t.len, SDR_HELLO_ADDRS_MAX))
				return -EBADMSG;
			h->addrs = t.value;
			h->addrs_len = t.len;
			break;
		case SDR_HELLO_SOURCES:
			if (h->sources || !t.len ||
			    sdr_hello_addrs_check(t.value, t.value + t.len, SDR_PATHS_MAX - 1))
				return -EBADMSG;
			h->sources = t.value;
			h->sources_len = t.len;
			break;
		case SDR_HELLO_PROBE_MAX:
			if (h->probe_max || t.len != 4 || sdr_get_le32(t.value) < SDR_CTL_MIN)
				return -EBADMSG;
			h->probe_max = sdr_get_le32(t.value);
			break;
		case SDR_HELLO_SEEN:
			if (h->seen || t.len != 4 || !sdr_get_le32(t.value))
				return -EBADMSG;
			h->seen = sdr_get_le32(t.value);
			break;
		case SDR_HELLO_OBSERVED:
			if (h->observed.port || sdr_hello_observed(&t, &h->observed))
				return -EBADMSG;
			break;
		case SDR_HELLO_CHECK:
			if (h->check || t.len != 8 || !sdr_get_le64(t.value))
				return -EBADMSG;
			h->check = sdr_get_le64(t.value);
			break;
		case SDR_HELLO_CAME:
			if (h->has_came || t.len != 4)
				return -EBADMSG;
			h->came_us = sdr_get_le32(t.value);
			h->has_came = true;
			break;
		default:
			h->ext_unknown++;
		}
	}
	return ret;
}

static int sdr_hello_codes_decode(const uint8_t *p, struct sdr_hello *h)
{
	/* Kinds of later versions are as good as none. */
	h->codes = p[0] & SDR_WIRE_CODE_KINDS;
	h->code_syms = sdr_get_le16(p + 2);
	h->code_chunk = sdr_get_le32(p + 4);
	if (!p[0])
		return h->code_syms || h->code_chunk ? -EBADMSG : 0;
	if (h->code_syms < 2 || h->code_syms > SDR_CODE_SYMS_MAX || !h->code_chunk)
		return -EBADMSG;
	if (!h->codes) {
		h->code_syms = 0;
		h->code_chunk = 0;
	}
	return 0;
}

int sdr_hello_decode(const uint8_t *p, size_t len, struct sdr_hello *h)
{
	int ret, bad;

	if (len < SDR_HELLO_BODY || len > SDR_HELLO_BODY + SDR_HELLO_EXT_MAX)
		return -EBADMSG;
	h->instance = sdr_get_le64(p);
	h->cid = sdr_get_le64(p + 8);
	h->echo = sdr_get_le64(p + 16);
	h->cookie = sdr_get_le64(p + 24);
	h->version_min = p[32];
	h->version_max = p[33];
	if (!h->version_min || h->version_min > h->version_max)
		return -EBADMSG;
	if (SDR_WIRE_VERSION < h->version_min || SDR_WIRE_VERSION > h->version_max)
		return -EPROTONOSUPPORT;
	if (p[SDR_HELLO_CODES + 1] ||
	    sdr_hello_ext_decode(p + SDR_HELLO_BODY, len - SDR_HELLO_BODY, h))
		return -EBADMSG;
	h->status = sdr_get_le16(p + 34);
	h->ctl_max = sdr_get_le32(p + 36);
	h->features = sdr_get_le64(p + 40);
	h->seg_bytes = sdr_get_le32(p + 48);
	h->msn_limit = sdr_get_le32(p + 52);
	h->mseq_limit = sdr_get_le32(p + 56);
	h->ts_us = sdr_get_le32(p + 60);
	ret = sdr_wire_qp_info_decode(p + SDR_HELLO_QP, SDR_QP_INFO_LEN, &h->qp) ? -EBADMSG : 0;
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
