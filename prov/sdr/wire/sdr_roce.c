/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RoCEv2 packets: a data packet is a UC RDMA WRITE Only with Immediate (BTH, RETH, ImmDt), a
 * control datagram a UD SEND Only (BTH, DETH).
 *
 * Decides whether bytes from the network have exactly the shape of one of the two; everything that
 * follows (ICRC, key, slot, bounds) is the engine's.  Invariant: after a successful decode header,
 * payload, pad and ICRC fill the given length to the byte, so no layer above has to look at a
 * length again.  No state, no timers; any thread.
 */
#include "sdr_wire.h"

#include <errno.h>

#define SDR_BTH_MIGREQ	     0x40u /* byte 1; what every implementation sends */
#define SDR_BTH_PAD_SHIFT    4
#define SDR_BTH_PAD_MASK     3u
#define SDR_BTH_VERSION_MASK 0x0fu /* transport header version, 0 */
#define SDR_PKEY_DEFAULT     0xffffu
/* the top bit says full or limited member: both are of the partition */
#define SDR_PKEY_MASK 0x7fffu

static void sdr_bth_encode(uint8_t *p, uint8_t opcode, uint32_t payload_len, uint32_t qpn,
			   uint32_t psn)
{
	p[0] = opcode;
	p[1] = (uint8_t)(SDR_BTH_MIGREQ | sdr_wire_pad(payload_len) << SDR_BTH_PAD_SHIFT);
	sdr_put_be16(p + 2, SDR_PKEY_DEFAULT);
	sdr_put_be32(p + 4, qpn & SDR_QPN_MASK);
	sdr_put_be32(p + 8, psn & SDR_PSN_MASK);
}

/*
 * Payload bytes of a packet whose headers and ICRC take `overhead`, or -EBADMSG.  The length must
 * be a multiple of four: then any pad count that leaves a payload is the right one for it.
 */
static ssize_t sdr_bth_decode(const uint8_t *p, size_t len, uint8_t opcode, size_t overhead,
			      size_t max)
{
	size_t pad, n;

	if (len < overhead || len % 4 || p[0] != opcode || p[1] & SDR_BTH_VERSION_MASK)
		return -EBADMSG;
	if ((sdr_get_be16(p + 2) & SDR_PKEY_MASK) != (SDR_PKEY_DEFAULT & SDR_PKEY_MASK))
		return -EBADMSG;
	pad = p[1] >> SDR_BTH_PAD_SHIFT & SDR_BTH_PAD_MASK;
	n = len - overhead;
	if (n < pad || n - pad > max)
		return -EBADMSG;
	return (ssize_t)(n - pad);
}

void sdr_wire_data_encode(uint8_t *hdr, const struct sdr_wire_data *d)
{
	uint8_t *reth = hdr + SDR_BTH_LEN;

	sdr_bth_encode(hdr, SDR_OP_UC_WRITE_ONLY_IMM, d->len, d->qpn, d->psn);
	sdr_put_be64(reth, d->va);
	sdr_put_be32(reth + 8, d->rkey);
	sdr_put_be32(reth + 12, d->piece ? (uint32_t)d->piece << 16 | d->whole : d->len);
	sdr_put_be32(reth + SDR_RETH_LEN, d->imm);
}

/* What RETH says of a piece, against the n bytes that are there. */
static bool sdr_wire_piece_is(const struct sdr_wire_data *d, uint32_t n)
{
	return d->piece % 4 == 0 && d->whole > d->piece && d->whole <= SDR_MTU_MAX && n &&
	       (n == d->piece || n == d->whole % d->piece);
}

int sdr_wire_data_decode(const uint8_t *pkt, size_t len, struct sdr_wire_data *d,
			 const uint8_t **payload)
{
	const uint8_t *reth = pkt + SDR_BTH_LEN;
	ssize_t n =
		sdr_bth_decode(pkt, len, SDR_OP_UC_WRITE_ONLY_IMM, SDR_DATA_OVERHEAD, SDR_MTU_MAX);

	uint32_t said;

	if (n < 0)
		return -EBADMSG;
	said = sdr_get_be32(reth + 12);
	d->piece = (uint16_t)(said >> 16);
	d->whole = d->piece ? (uint16_t)said : 0;
	if (d->piece ? !sdr_wire_piece_is(d, (uint32_t)n) : said != (uint32_t)n)
		return -EBADMSG;
	d->qpn = sdr_get_be32(pkt + 4) & SDR_QPN_MASK;
	d->psn = sdr_get_be32(pkt + 8) & SDR_PSN_MASK;
	d->va = sdr_get_be64(reth);
	d->rkey = sdr_get_be32(reth + 8);
	d->len = (uint32_t)n;
	d->imm = sdr_get_be32(reth + SDR_RETH_LEN);
	*payload = pkt + SDR_DATA_HDR;
	return 0;
}

void sdr_wire_ctl_encode(uint8_t *hdr, const struct sdr_wire_ctl *c, size_t payload_len)
{
	uint8_t *deth = hdr + SDR_BTH_LEN;

	sdr_bth_encode(hdr, SDR_OP_UD_SEND_ONLY, (uint32_t)payload_len, SDR_QPN_CTL, c->psn);
	sdr_put_be32(deth, c->qkey);
	sdr_put_be32(deth + 4, c->src_qpn & SDR_QPN_MASK);
}

int sdr_wire_ctl_decode(const uint8_t *pkt, size_t len, struct sdr_wire_ctl *c,
			const uint8_t **payload, size_t *payload_len)
{
	const uint8_t *deth = pkt + SDR_BTH_LEN;
	ssize_t n = sdr_bth_decode(pkt, len, SDR_OP_UD_SEND_ONLY, SDR_CTL_OVERHEAD, SDR_PROBE_MAX);

	if (n < 0 || (sdr_get_be32(pkt + 4) & SDR_QPN_MASK) != SDR_QPN_CTL)
		return -EBADMSG;
	c->qkey = sdr_get_be32(deth);
	c->psn = sdr_get_be32(pkt + 8) & SDR_PSN_MASK;
	c->src_qpn = sdr_get_be32(deth + 4) & SDR_QPN_MASK;
	*payload = pkt + SDR_CTL_HDR;
	*payload_len = (size_t)n;
	return 0;
}
