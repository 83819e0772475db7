/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RoCEv2 packets (IBTA vol. 1, 9.2-9.4 and annex A17), big-endian: a data packet is a UC RDMA WRITE
 * Only with Immediate, a control datagram a UD SEND Only.  And the R_Keys of successive epochs.
 */
#ifndef SDR_ROCE_H
#define SDR_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "sdr_limits.h"

#define SDR_ROCE_PORT 4791
#define SDR_BTH_LEN   12u
#define SDR_RETH_LEN  16u
#define SDR_IMM_LEN   4u
#define SDR_DETH_LEN  8u
#define SDR_ICRC_LEN  4u
#define SDR_DATA_HDR  (SDR_BTH_LEN + SDR_RETH_LEN + SDR_IMM_LEN) /* 32, before the payload */
/* 36 bytes per data packet, plus pad */
#define SDR_DATA_OVERHEAD (SDR_DATA_HDR + SDR_ICRC_LEN)
#define SDR_CTL_HDR	  (SDR_BTH_LEN + SDR_DETH_LEN) /* 20 */
#define SDR_CTL_OVERHEAD  (SDR_CTL_HDR + SDR_ICRC_LEN)
#define SDR_QPN_CTL	  1u /* destination QPN of control datagrams (the GSI's number) */
#define SDR_QPN_MASK	  0xffffffu
#define SDR_PSN_MASK	  0xffffffu

#define SDR_OP_UC_WRITE_ONLY_IMM 0x2bu
#define SDR_OP_UD_SEND_ONLY	 0x64u

/*
 *  BTH    0       1               2-3     4       5-7      8        9-11
 *       +--------+---------------+-------+-------+--------+--------+--------+
 *       | opcode |S M pad(2) ver | P_Key | resv  | QPN    |A resv  | PSN    |
 *       +--------+---------------+-------+-------+--------+--------+--------+
 *  RETH   0-7 virtual address, 8-11 R_Key, 12-15 length        ImmDt 0-3        DETH 0-3 Q_Key, 5-7
 *         source QPN
 *
 * In the soft engine the virtual address is slot * max_msg + offset (the paper's zero-based root
 * key), and the R_Key is the connection's random root key.
 *
 * A piece of a data packet (sdr_uc_piece.h) is the same, but for RETH: the virtual address of its
 * first byte, and as length the payload bytes of the whole packet in the low half, the size of the
 * packet's pieces in the high half.
 */
struct sdr_wire_data {
	uint32_t qpn; /* 24 bits: identifies connection, generation and channel at the receiver */
	uint32_t psn; /* 24 bits, counts the sender's packets per channel; never used to drop */
	uint64_t va;  /* slot * max_msg + byte offset */
	uint32_t rkey;
	uint32_t len; /* payload bytes, 0..MTU, without pad */
	uint32_t imm;
	uint16_t piece; /* bytes of its packet's pieces but the last; 0: it is no piece */
	uint16_t whole; /* a piece: payload bytes of its packet */
};

struct sdr_wire_ctl {
	uint32_t qkey;
	uint32_t psn; /* 24 bits */
	uint32_t src_qpn;
};

/*
 * Encoders write SDR_DATA_HDR or SDR_CTL_HDR bytes; the pad count is derived from the length.
 * Decoders check opcode, header version, partition (the default one), lengths against each other
 * and against SDR_MTU_MAX or SDR_PROBE_MAX, and for control the destination QPN.  They ignore what
 * the network may change (FECN, BECN) and what a receiver must ignore (reserved bits, solicited
 * event, AckReq).  The ICRC is a call of its own.
 */
void sdr_wire_data_encode(uint8_t *hdr, const struct sdr_wire_data *d);
/*
 * pkt,len: from BTH to ICRC inclusive.  On 0 *payload points into pkt and d->len bytes follow.
 * -EBADMSG otherwise.
 */
int sdr_wire_data_decode(const uint8_t *pkt, size_t len, struct sdr_wire_data *d,
			 const uint8_t **payload);
void sdr_wire_ctl_encode(uint8_t *hdr, const struct sdr_wire_ctl *c, size_t payload_len);
int sdr_wire_ctl_decode(const uint8_t *pkt, size_t len, struct sdr_wire_ctl *c,
			const uint8_t **payload, size_t *payload_len);
/* Opcode of a packet, or -1 when too short. */
static inline int sdr_wire_opcode(const uint8_t *pkt, size_t len)
{
	return len >= SDR_BTH_LEN ? pkt[0] : -1;
}
static inline uint32_t sdr_wire_pad(uint32_t len)
{
	return (0u - len) & 3u;
}

/*
 * ---- keys of epochs ----------------------------------------------------------------------------
 */

/*
 * Soft and simulated engines: the R_Key of a message is the root key moved on with each epoch of
 * the message numbers through all IDs and generations, so that a packet of an earlier epoch differs
 * from its successor in the same slot and generation however late it comes.  Hardware keeps the
 * root key: there the generations are all there is.
 */
#define SDR_RKEY_EPOCH	 0x9e3779b1u /* odd: a bijection of epochs */
#define SDR_RKEY_LAP_INV 0xe8b2f51u  /* its inverse modulo 2^32 */
/* epochs behind or ahead that count as late and not as forged */
#define SDR_RKEY_EPOCHS_NEAR (1u << 16)
static inline uint32_t sdr_rkey_of_epoch(uint32_t root, uint32_t epoch)
{
	return root + epoch * SDR_RKEY_EPOCH;
}
static inline uint32_t sdr_rkey_epoch(uint32_t root, uint32_t rkey)
{
	return (rkey - root) * SDR_RKEY_LAP_INV;
}
static inline bool sdr_rkey_near(uint32_t root, uint32_t rkey, uint32_t epoch)
{
	uint32_t d = sdr_rkey_epoch(root, rkey) - epoch + SDR_RKEY_EPOCHS_NEAR;

	return d <= 2 * SDR_RKEY_EPOCHS_NEAR;
}

#endif /* SDR_ROCE_H */
