/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Codec of knocks, see sdr_knock.h.  No state; any thread. */
#include <errno.h>
#include <string.h>

#include "sdr_knock.h"
#include "sdr_wire.h"

void sdr_wire_knock_encode(uint8_t p[SDR_KNOCK_LEN], const struct sdr_wire_knock *k)
{
	memset(p, 0, SDR_KNOCK_LEN);
	p[0] = k->kind;
	p[1] = k->index;
	sdr_put_le32(p + 4, k->qpn);
	sdr_put_le32(p + 8, k->from_qpn);
	sdr_put_le32(p + 12, k->rkey);
	sdr_put_le64(p + 16, k->nonce);
}

int sdr_wire_knock_decode(const uint8_t *p, size_t len, struct sdr_wire_knock *k)
{
	if (len != SDR_KNOCK_LEN || (p[0] != SDR_KNOCK_ASK && p[0] != SDR_KNOCK_ANSWER) ||
	    p[1] >= SDR_QP_INFO_PORTS_MAX || p[2] || p[3])
		return -EBADMSG;
	k->kind = p[0];
	k->index = p[1];
	k->qpn = sdr_get_le32(p + 4);
	k->from_qpn = sdr_get_le32(p + 8);
	k->rkey = sdr_get_le32(p + 12);
	k->nonce = sdr_get_le64(p + 16);
	if (k->qpn > SDR_QPN_MASK || k->from_qpn > SDR_QPN_MASK)
		return -EBADMSG;
	return 0;
}
