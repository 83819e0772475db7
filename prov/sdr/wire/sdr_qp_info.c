/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The QP info that two users of the SDK exchange by themselves, and reliable endpoints in HELLO.
 *
 * Decides whether bytes are one, of this version, with every field inside its range; the ranges are
 * such that what is computed from a QP info later (QPNs, slot * stride, packets per message) cannot
 * overflow.  It does not decide whether the values fit the local side: the engine and the SDK
 * compare.  The decoder writes its output only when it succeeds.  No state, no timers; any thread.
 */
#include "sdr_wire.h"
#include "sdr_tlv.h"

#include <errno.h>
#include <string.h>

#define SDR_QP_INFO_ADDR  40u /* offset of addr */
#define SDR_QP_INFO_FLAGS 59u
#define SDR_QP_INFO_CTL	  60u
#define SDR_QP_INFO_NTPS  63u
#define SDR_QP_INFO_TPN	  64u

/*
 * Room for them all there is with few numbers in tpn: devices, which have many, have one port and
 * no neighbours.
 */
static void sdr_qp_info_ext_put(uint8_t *p, const uint8_t *end, const struct sdr_wire_qp_info *i)
{
	uint8_t b[2 * SDR_QP_INFO_PORTS_MAX];
	uint32_t k;

	if (i->nports && i->nports <= SDR_QP_INFO_PORTS_MAX) {
		for (k = 0; k < i->nports; k++)
			sdr_put_be16(b + 2 * k, i->port[k]);
		p += sdr_tlv_put(p, (size_t)(end - p), SDR_QP_INFO_PORTS, b,
				 (uint16_t)(2 * i->nports));
	}
	if (i->host) {
		sdr_put_le64(b, i->host);
		sdr_tlv_put(p, (size_t)(end - p), SDR_QP_INFO_HOST, b, sizeof(i->host));
	}
}

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
	sdr_qp_info_ext_put(p + SDR_QP_INFO_TPN + 3 * k, p + SDR_QP_INFO_LEN, i);
}

static bool sdr_qp_info_ports_get(const struct sdr_tlv *t, struct sdr_wire_qp_info *i)
{
	if (i->nports || !t->len || t->len % 2 || t->len / 2 > SDR_QP_INFO_PORTS_MAX)
		return false;
	for (; i->nports < t->len / 2; i->nports++) {
		i->port[i->nports] = sdr_get_be16(t->value + 2 * i->nports);
		if (!i->port[i->nports])
			return false;
	}
	return true;
}

static bool sdr_qp_info_host_get(const struct sdr_tlv *t, struct sdr_wire_qp_info *i)
{
	if (i->host || t->len != sizeof(i->host))
		return false;
	i->host = sdr_get_le64(t->value);
	return i->host;
}

/* Extensions of a whole info; those that are known go into *i. */
static int sdr_qp_info_ext_get(const uint8_t *p, const uint8_t *end, struct sdr_wire_qp_info *i)
{
	struct sdr_tlv t;
	int ret;

	while ((ret = sdr_tlv_next(&p, end, &t)) > 0)
		if ((t.type == SDR_QP_INFO_PORTS && !sdr_qp_info_ports_get(&t, i)) ||
		    (t.type == SDR_QP_INFO_HOST && !sdr_qp_info_host_get(&t, i)))
			return -EBADMSG;
	return ret;
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
	if (i->flags & ~(SDR_QP_F_RKEYED | SDR_QP_F_NIC))
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
	    sdr_qp_info_ext_get(p + SDR_QP_INFO_TPN + 3u * i.ntps, p + SDR_QP_INFO_LEN, &i))
		return -EBADMSG;
	memcpy(i.addr, p + SDR_QP_INFO_ADDR, i.addr_len);
	*out = i;
	return 0;
}
