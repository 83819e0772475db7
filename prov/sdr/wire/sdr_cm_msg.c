/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages that make connections of FI_EP_MSG: their bytes (sdr_cm_msg.h).  What is decoded has a
 * known kind and exactly the data that it says.  No state, no threads.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_endian.h"
#include "sdr_cm_msg.h"

size_t sdr_cm_encode(uint8_t *p, const struct sdr_cm_msg *m)
{
	SDR_ASSERT(m->kind && m->kind < SDR_CM_KINDS && m->len <= SDR_CM_DATA_MAX);
	p[0] = m->kind;
	p[1] = 0;
	sdr_put_le16(p + 2, m->len);
	sdr_put_le64(p + 4, m->call);
	if (m->len)
		memcpy(p + SDR_CM_HDR, m->data, m->len);
	return SDR_CM_HDR + (size_t)m->len;
}

int sdr_cm_decode(const uint8_t *p, size_t len, struct sdr_cm_msg *m)
{
	if (len < SDR_CM_HDR || len > SDR_CM_MSG_MAX)
		return -EBADMSG;
	m->kind = p[0];
	m->len = sdr_get_le16(p + 2);
	m->call = sdr_get_le64(p + 4);
	m->data = p + SDR_CM_HDR;
	return m->kind && m->kind < SDR_CM_KINDS && !p[1] && m->len == len - SDR_CM_HDR ? 0
											: -EBADMSG;
}
