/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * VERSION, and the few datagrams of other versions that are understood.
 *
 * HELLO and HELLO_ACK of version 1, behind the class header:
 *
 *    0 instance(8)  8 cid(8)  16 echo(8)  24 cookie(8)  32 status  36 seg_bytes  40 msn_limit
 *    44 mseq_limit  48 ctl_max  52 ts_us  56 qp_info(160)  216 codes(1) zero(1) code_syms(2)
 *    code_chunk(4); 224 bytes exactly
 *
 * RETRY of version 1: 0 cid(8)  8 cookie(8).  No state, no threads.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "sdr_hello.h"
#include "sdr_version.h"

#define SDR_VERSION_BODY (SDR_VERSION_LEN - SDR_CLASS_LEN)
#define SDR_V1		 1u
#define SDR_V1_ECHO	 16u /* offsets behind the class header */
#define SDR_V1_STATUS	 32u
#define SDR_V1_SEG	 36u
#define SDR_V1_MIN	 40u /* msn_limit: in a refusal of version 1 it is 0 */
#define SDR_V1_MAX	 44u /* mseq_limit, likewise */
#define SDR_V1_CTL_MAX	 48u
#define SDR_V1_QP	 56u
#define SDR_V1_RETRY_LEN (SDR_CLASS_LEN + 16u)

size_t sdr_version_encode(uint8_t *p, const struct sdr_version *v)
{
	sdr_class_encode(p, SDR_CLASS_REL, SDR_REL_VERSION);
	p += SDR_CLASS_LEN;
	memset(p, 0, SDR_VERSION_BODY);
	sdr_put_le64(p, v->cid);
	p[8] = v->min;
	p[9] = v->max;
	return SDR_VERSION_LEN;
}

int sdr_version_decode(const uint8_t *p, size_t len, struct sdr_version *v)
{
	/* What is zero now may mean something to later versions. */
	if (len != SDR_VERSION_BODY || !p[8] || p[8] > p[9])
		return -EBADMSG;
	v->cid = sdr_get_le64(p);
	v->min = p[8];
	v->max = p[9];
	return 0;
}

static int sdr_v1_decode(const uint8_t *p, size_t len, uint8_t type, struct sdr_foreign *f)
{
	uint32_t min = SDR_V1, max = SDR_V1;

	if (type == SDR_REL_HELLO && len == SDR_V1_HELLO_LEN - SDR_CLASS_LEN) {
		f->kind = SDR_FOREIGN_ASKS;
		f->v.cid = sdr_get_le64(p + 8);
		return 0;
	}
	f->kind = SDR_FOREIGN_SAYS;
	if (type == SDR_REL_RETRY && len == SDR_V1_RETRY_LEN - SDR_CLASS_LEN) {
		f->v.cid = sdr_get_le64(p);
	} else if (type == SDR_REL_HELLO_ACK && len == SDR_V1_HELLO_LEN - SDR_CLASS_LEN) {
		f->v.cid = sdr_get_le64(p + SDR_V1_ECHO);
		if (sdr_get_le32(p + SDR_V1_MIN)) {
			min = sdr_get_le32(p + SDR_V1_MIN);
			max = sdr_get_le32(p + SDR_V1_MAX);
		}
	} else {
		return -EBADMSG;
	}
	if (min > max || max > UINT8_MAX)
		return -EBADMSG;
	f->v.min = (uint8_t)min;
	f->v.max = (uint8_t)max;
	return 0;
}

int sdr_foreign_decode(const uint8_t *p, size_t len, struct sdr_foreign *f)
{
	if (len < SDR_CLASS_LEN || p[0] != SDR_CLASS_MAGIC || p[2] != SDR_CLASS_REL)
		return -EBADMSG;
	memset(f, 0, sizeof(*f));
	f->version = p[1];
	if (p[1] == SDR_V1)
		return sdr_v1_decode(p + SDR_CLASS_LEN, len - SDR_CLASS_LEN, p[3], f);
	if (!p[1])
		return -EBADMSG;
	if (p[3] == SDR_REL_VERSION) {
		f->kind = SDR_FOREIGN_SAYS;
		return sdr_version_decode(p + SDR_CLASS_LEN, len - SDR_CLASS_LEN, &f->v);
	}
	if (p[3] != SDR_REL_HELLO || len < SDR_CLASS_LEN + SDR_HELLO_HEAD)
		return -EBADMSG;
	f->kind = SDR_FOREIGN_ASKS;
	f->v.cid = sdr_get_le64(p + SDR_CLASS_LEN + 8);
	return 0;
}

static uint8_t *sdr_v1_begin(uint8_t *p, enum sdr_rel_type type)
{
	memset(p, 0, SDR_V1_HELLO_LEN);
	sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)type);
	p[1] = SDR_V1;
	return p + SDR_CLASS_LEN;
}

size_t sdr_v1_hello_encode(uint8_t *p, uint64_t instance, uint64_t cid)
{
	/*
	 * The largest payload, and segments that fit no payload: too large for most, and where it
	 * is not the two do not go together.
	 */
	const struct sdr_wire_qp_info qp = { .channels = 1,
					     .generations = 1,
					     .split = SDR_IMM_SPLIT_DEFAULT,
					     .qpn = SDR_QPN_MIN,
					     .mtu = SDR_MTU_MAX,
					     .chunk = SDR_MTU_MAX,
					     .max_msg = SDR_MTU_MAX };
	uint8_t *q = sdr_v1_begin(p, SDR_REL_HELLO);

	sdr_put_le64(q, instance);
	sdr_put_le64(q + 8, cid);
	sdr_put_le32(q + SDR_V1_SEG, 1);
	sdr_put_le32(q + SDR_V1_CTL_MAX, SDR_CTL_MIN);
	sdr_wire_qp_info_encode(q + SDR_V1_QP, &qp);
	q[SDR_V1_QP + 1] = SDR_V1;
	return SDR_V1_HELLO_LEN;
}

size_t sdr_v1_refusal_encode(uint8_t *p, const struct sdr_version *v)
{
	uint8_t *q = sdr_v1_begin(p, SDR_REL_HELLO_ACK);

	sdr_put_le64(q + SDR_V1_ECHO, v->cid);
	sdr_put_le32(q + SDR_V1_STATUS, SDR_HELLO_REFUSED_GEOMETRY);
	sdr_put_le32(q + SDR_V1_SEG, 1);
	sdr_put_le32(q + SDR_V1_MIN, v->min);
	sdr_put_le32(q + SDR_V1_MAX, v->max);
	sdr_put_le32(q + SDR_V1_CTL_MAX, SDR_CTL_MIN);
	return SDR_V1_HELLO_LEN;
}
