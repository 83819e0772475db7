/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The small messages that are not a reliable endpoint's: the class header in front of every control
 * datagram, the SDK's clear-to-send and keys, and the QP info that two users of the SDK exchange by
 * themselves.
 *
 * Decides whether bytes are one of these, of this version, with every field inside its range; the
 * ranges are such that what is computed from a QP info later (QPNs, slot * stride, packets a
 * message) cannot overflow. It does not decide whether the values fit the local side: the engine
 * and the SDK compare.  A decoder writes its output only when it succeeds.  No state, no timers;
 * any thread.
 */
#include "sdr_wire.h"

#include <errno.h>
#include <string.h>

/* ---- class ----------------------------------------------------------------------------------- */

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

/* ---- clear to send --------------------------------------------------------------------------- */

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

/* ---- keys ------------------------------------------------------------------------------------ */

size_t sdr_wire_keys_encode(uint8_t *p, const struct sdr_wire_keys *k)
{
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_KEYS);
	p += SDR_CLASS_LEN;
	sdr_put_le32(p, k->qpn);
	sdr_put_le32(p + 4, k->rkey);
	sdr_put_le32(p + 8, k->posted);
	sdr_put_le32(p + 12, k->first);
	sdr_put_le16(p + 16, k->n);
	sdr_put_le16(p + 18, 0);
	return SDR_WIRE_KEYS_HDR + (size_t)k->n * SDR_WIRE_KEY_LEN;
}

void sdr_wire_key_put(uint8_t entry[SDR_WIRE_KEY_LEN], const struct sdr_wire_key *key)
{
	sdr_put_le64(entry, key->va);
	sdr_put_le32(entry + 8, key->rkey);
	entry[12] = key->state;
}

void sdr_wire_key_get(const struct sdr_wire_keys *k, uint32_t i, struct sdr_wire_key *key)
{
	const uint8_t *entry = k->entry + (size_t)i * SDR_WIRE_KEY_LEN;

	key->va = sdr_get_le64(entry);
	key->rkey = sdr_get_le32(entry + 8);
	key->state = entry[12];
}

static bool sdr_wire_key_ok(const struct sdr_wire_key *key)
{
	return key->state == SDR_KEY_LIVE || (key->state == SDR_KEY_VOID && !key->va && !key->rkey);
}

int sdr_wire_keys_decode(const uint8_t *p, size_t len, struct sdr_wire_keys *out)
{
	const size_t head = SDR_WIRE_KEYS_HDR - SDR_CLASS_LEN;
	struct sdr_wire_keys k;
	struct sdr_wire_key key;
	uint32_t i;

	if (len < head)
		return -EBADMSG;
	k.qpn = sdr_get_le32(p);
	k.rkey = sdr_get_le32(p + 4);
	k.posted = sdr_get_le32(p + 8);
	k.first = sdr_get_le32(p + 12);
	k.n = sdr_get_le16(p + 16);
	k.entry = p + head;
	if (k.qpn > SDR_QPN_MASK || sdr_get_le16(p + 18))
		return -EBADMSG;
	if (!k.n || k.n > SDR_WIRE_KEYS_MAX || len != head + (size_t)k.n * SDR_WIRE_KEY_LEN)
		return -EBADMSG;
	if ((int32_t)(k.posted - k.first) < (int32_t)k.n)
		return -EBADMSG;
	for (i = 0; i < k.n; i++) {
		sdr_wire_key_get(&k, i, &key);
		if (!sdr_wire_key_ok(&key))
			return -EBADMSG;
	}
	*out = k;
	return 0;
}

/* ---- QP info --------------------------------------------------------------------------------- */

#define SDR_QP_INFO_ADDR  40u /* offset of addr */
#define SDR_QP_INFO_FLAGS 59u
#define SDR_QP_INFO_CTL	  60u
#define SDR_QP_INFO_NTPS  63u
#define SDR_QP_INFO_TPN	  64u

void sdr_wire_qp_info_encode(uint8_t p[SDR_QP_INFO_LEN], const struct sdr_wire_qp_info *i)
{
	uint8_t addr_len = i->addr_len <= SDR_QP_INFO_ADDR_MAX ? i->addr_len : 0;
	uint32_t k;

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
	p[SDR_QP_INFO_FLAGS] = i->flags;
	sdr_put_le24(p + SDR_QP_INFO_CTL, i->ctl_qpn);
	p[SDR_QP_INFO_NTPS] = i->ntps <= SDR_QP_INFO_TPS_MAX ? i->ntps : 0;
	for (k = 0; k < p[SDR_QP_INFO_NTPS]; k++)
		sdr_put_le24(p + SDR_QP_INFO_TPN + 3 * k, i->tpn[k]);
}

static bool sdr_qp_info_zero(const uint8_t *p, size_t from, size_t end)
{
	while (from < end)
		if (p[from++])
			return false;
	return true;
}

static bool sdr_qp_info_ok(const struct sdr_wire_qp_info *i)
{
	uint32_t k;

	if (!i->channels || i->channels > SDR_CHANNELS_MAX)
		return false;
	if (!i->generations || i->generations > SDR_GENERATIONS_MAX)
		return false;
	if (sdr_imm_split_check(&i->split))
		return false;
	if (i->qpn < SDR_QPN_MIN ||
	    i->qpn > SDR_QPN_MASK - (i->ntps ? 0u : i->channels * i->generations - 1u))
		return false;
	if (i->flags & ~(SDR_QP_F_KEYED | SDR_QP_F_NIC))
		return false;
	if (i->ntps && (i->ntps != i->channels * i->generations || i->ntps > SDR_QP_INFO_TPS_MAX))
		return false;
	for (k = 0; k < i->ntps; k++)
		if (i->tpn[k] < SDR_QPN_MIN)
			return false;
	if (i->ntps && i->tpn[0] != i->qpn)
		return false;
	if (i->psn > SDR_PSN_MASK)
		return false;
	if (i->mtu < SDR_MTU_MIN || i->mtu > SDR_MTU_MAX)
		return false;
	if (!i->chunk || i->chunk % i->mtu)
		return false;
	if (!i->max_msg || i->max_msg % i->mtu ||
	    i->max_msg > (uint64_t)i->mtu << i->split.off_bits)
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
	i.flags = p[SDR_QP_INFO_FLAGS];
	i.ctl_qpn = sdr_get_le24(p + SDR_QP_INFO_CTL);
	i.ntps = p[SDR_QP_INFO_NTPS];
	for (k = 0; k < i.ntps && k < SDR_QP_INFO_TPS_MAX; k++)
		i.tpn[k] = sdr_get_le24(p + SDR_QP_INFO_TPN + 3 * k);
	if (!sdr_qp_info_ok(&i) ||
	    !sdr_qp_info_zero(p, SDR_QP_INFO_ADDR + i.addr_len,
			      SDR_QP_INFO_ADDR + SDR_QP_INFO_ADDR_MAX) ||
	    !sdr_qp_info_zero(p, SDR_QP_INFO_TPN + 3u * i.ntps, SDR_QP_INFO_LEN))
		return -EBADMSG;
	memcpy(i.addr, p + SDR_QP_INFO_ADDR, i.addr_len);
	*out = i;
	return 0;
}
