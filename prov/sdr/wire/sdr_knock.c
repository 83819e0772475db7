/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Codec of knocks, see sdr_knock.h.  No state; any thread. */
#include <errno.h>
#include <string.h>

#include "sdr_knock.h"
#include "sdr_wire.h"

static size_t sdr_wire_knock_len(uint8_t kind)
{
	return kind == SDR_KNOCK_RING ? SDR_KNOCK_MAX : SDR_KNOCK_LEN;
}

size_t sdr_wire_knock_encode(uint8_t p[SDR_KNOCK_MAX], const struct sdr_wire_knock *k)
{
	memset(p, 0, SDR_KNOCK_MAX);
	p[0] = k->kind;
	p[1] = k->index;
	sdr_put_le32(p + 4, k->qpn);
	sdr_put_le32(p + 8, k->from_qpn);
	sdr_put_le32(p + 12, k->rkey);
	sdr_put_le64(p + 16, k->nonce);
	if (k->kind == SDR_KNOCK_RING) {
		sdr_put_le32(p + 24, k->pid);
		sdr_put_le32(p + 28, k->fd);
	}
	return sdr_wire_knock_len(k->kind);
}

int sdr_wire_knock_decode(const uint8_t *p, size_t len, struct sdr_wire_knock *k)
{
	if (!len || p[0] < SDR_KNOCK_ASK || p[0] > SDR_KNOCK_BELL ||
	    len != sdr_wire_knock_len(p[0]) || p[1] >= SDR_QP_INFO_PORTS_MAX || p[2] || p[3])
		return -EBADMSG;
	k->kind = p[0];
	k->index = p[1];
	k->qpn = sdr_get_le32(p + 4);
	k->from_qpn = sdr_get_le32(p + 8);
	k->rkey = sdr_get_le32(p + 12);
	k->nonce = sdr_get_le64(p + 16);
	k->pid = k->fd = 0;
	if (k->kind == SDR_KNOCK_RING) {
		k->pid = sdr_get_le32(p + 24);
		k->fd = sdr_get_le32(p + 28);
	}
	if (k->qpn > SDR_QPN_MASK || k->from_qpn > SDR_QPN_MASK || k->pid > INT32_MAX ||
	    k->fd > INT32_MAX)
		return -EBADMSG;
	return 0;
}
