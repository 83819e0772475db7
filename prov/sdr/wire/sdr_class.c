/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The small messages that are not a reliable endpoint's: the class header in front of every control
 * datagram, the SDK's clear-to-send, and the QP info that two users of the SDK exchange by themselves.
 *
 * Decides whether bytes are one of these, of this version, with every field inside its range; the ranges are
 * such that what is computed from a QP info later (QPNs, slot * stride, packets a message) cannot overflow.
 * It does not decide whether the values fit the local side: the engine and the SDK compare.  A decoder
 * writes its output only when it succeeds.  No state, no timers; any thread.
 */
#include "sdr_wire.h"

#include <errno.h>
#include <string.h>

/* ---- class ----------------------------------------------------------------------------------------- */

void sdr_class_encode(uint8_t *p, enum sdr_class c, uint8_t type)
{
	p[0] = SDR_CLASS_MAGIC;
	p[1] = SDR_WIRE_VERSION;
	p[2] = (uint8_t)c;
	p[3] = type;
}

int sdr_class_decode(const uint8_t *p, size_t len, uint8_t *type)
{
	if (len < SDR_CLASS_LEN || p[0] != SDR_CLASS_MAGIC)
		return -EBADMSG;
	if (p[1] != SDR_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	switch (p[2]) {
	case SDR_CLASS_SDK:
	case SDR_CLASS_REL:
	case SDR_CLASS_DGRAM:
		*type = p[3];
		return p[2];
	default:
		return -EBADMSG;
	}
}

/* ---- clear to send --------------------------------------------------------------------------------- */

size_t sdr_wire_cts_encode(uint8_t *p, const struct sdr_wire_cts *c)
{
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_CTS);
	p += SDR_CLASS_LEN;
	sdr_put_le32(p, c->qpn);
	sdr_put_le32(p + 4, c->rkey);
	sdr_put_le32(p + 8, c->posted);
	return SDR_WIRE_CTS_LEN;
}

int sdr_wire_cts_decode(const uint8_t *p, size_t len, struct sdr_wire_cts *c)
{
	if (len != SDR_WIRE_CTS_LEN - SDR_CLASS_LEN || sdr_get_le32(p) > SDR_QPN_MASK)
		return -EBADMSG;
	c->qpn = sdr_get_le32(p);
	c->rkey = sdr_get_le32(p + 4);
	c->posted = sdr_get_le32(p + 8);
	return 0;
}

/* ---- QP info --------------------------------------------------------------------------------------- */

#define SDR_QP_INFO_ADDR 40u /* offset of addr */

void sdr_wire_qp_info_encode(uint8_t p[SDR_QP_INFO_LEN], const struct sdr_wire_qp_info *i)
{
	uint8_t addr_len = i->addr_len <= SDR_QP_INFO_ADDR_MAX ? i->addr_len : 0;

	memset(p, 0, SDR_QP_INFO_LEN);
	p[0] = SDR_QP_INFO_MAGIC;
	p[1] = SDR_WIRE_VERSION;
	p[2] = i->channels;
	p[3] = i->generations;
	p[4] = i->split.id_bits;
	p[5] = i->split.off_bits;
	p[6] = i->split.user_bits;
	p[7] = addr_len;
	sdr_put_le32(p + 8, i->qpn);
	sdr_put_le32(p + 12, i->rkey);
	sdr_put_le32(p + 16, i->psn);
	sdr_put_le32(p + 20, i->mtu);
	sdr_put_le32(p + 24, i->chunk);
	sdr_put_le32(p + 28, i->rx_window);
	sdr_put_le64(p + 32, i->max_msg);
	memcpy(p + SDR_QP_INFO_ADDR, i->addr, addr_len);
}

static bool sdr_qp_info_ok(const struct sdr_wire_qp_info *i)
{
	if (!i->channels || i->channels > SDR_CHANNELS_MAX)
		return false;
	if (!i->generations || i->generations > SDR_GENERATIONS_MAX)
		return false;
	if (sdr_imm_split_check(&i->split))
		return false;
	if (i->qpn < SDR_QPN_MIN || i->qpn > SDR_QPN_MASK - (i->channels * i->generations - 1u))
		return false;
	if (i->psn > SDR_PSN_MASK)
		return false;
	if (i->mtu < SDR_MTU_MIN || i->mtu > SDR_MTU_MAX)
		return false;
	if (!i->chunk || i->chunk % i->mtu)
		return false;
	if (!i->max_msg || i->max_msg % i->mtu || i->max_msg > (uint64_t)i->mtu << i->split.off_bits)
		return false;
	return i->addr_len <= SDR_QP_INFO_ADDR_MAX;
}

int sdr_wire_qp_info_decode(const uint8_t *p, size_t len, struct sdr_wire_qp_info *out)
{
	struct sdr_wire_qp_info i;
	size_t k;

	if (len != SDR_QP_INFO_LEN || p[0] != SDR_QP_INFO_MAGIC)
		return -EBADMSG;
	if (p[1] != SDR_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	memset(&i, 0, sizeof(i));
	i.channels = p[2];
	i.generations = p[3];
	i.split.id_bits = p[4];
	i.split.off_bits = p[5];
	i.split.user_bits = p[6];
	i.addr_len = p[7];
	i.qpn = sdr_get_le32(p + 8);
	i.rkey = sdr_get_le32(p + 12);
	i.psn = sdr_get_le32(p + 16);
	i.mtu = sdr_get_le32(p + 20);
	i.chunk = sdr_get_le32(p + 24);
	i.rx_window = sdr_get_le32(p + 28);
	i.max_msg = sdr_get_le64(p + 32);
	if (!sdr_qp_info_ok(&i))
		return -EBADMSG;
	memcpy(i.addr, p + SDR_QP_INFO_ADDR, i.addr_len);
	for (k = SDR_QP_INFO_ADDR + i.addr_len; k < SDR_QP_INFO_LEN; k++)
		if (p[k])
			return -EBADMSG;
	*out = i;
	return 0;
}
