/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Queue pair info: what two ends of a queue pair must know about each other, little-endian.  The
 * SDK hands it out, opaque to its user; a reliable endpoint puts it into HELLO.
 */
#ifndef SDR_QP_INFO_H
#define SDR_QP_INFO_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_imm.h"
#include "sdr_limits.h"
#include "sdr_roce.h"

/*
 *  0      1         2          3             4         5          6           7
 *  +------+---------+----------+-------------+---------+----------+-----------+----------+
 *  | 0x51 | version | channels | generations | id_bits | off_bits | user_bits | addr_len |
 *  +------+---------+----------+-------------+---------+----------+-----------+----------+
 *  8 qpn, 12 rkey, 16 psn, 20 mtu, 24 chunk, 28 rx_window, 32 max_msg (8 bytes), 40 addr (19), 59
 *  flags,
 *  60 ctl_qpn (3 bytes), 63 ntps, 64 tpn (3 bytes each, ntps of them), then extensions (sdr_tlv.h)
 *
 * The decoder demands: SDR_QP_INFO_LEN bytes; all fields in the ranges below; zeros where nothing
 * stands; extensions that are well formed. -EPROTONOSUPPORT for another version, -EBADMSG for the
 * rest.  What addr says is the engine's to check.
 */
#define SDR_QP_INFO_LEN	     160u
#define SDR_QP_INFO_MAGIC    0x51
#define SDR_QPN_MIN	     2u /* 0 and 1 are the managers' */
#define SDR_QP_INFO_ADDR_MAX 19u
#define SDR_QP_INFO_TPS_MAX  32u /* maximum channels * generations of a device */
/*
 * The owner's messages need a grant: each has an address and a key of its own, sent by its
 * receiver.
 */
#define SDR_QP_F_RKEYED 0x1
/*
 * The owner is an RDMA device: data goes to UDP port 4791, with the ICRC that devices check and no
 * epoch keys.
 */
#define SDR_QP_F_NIC 0x2
/* Extensions of the info; unknown ones are passed over. */
enum sdr_qp_info_ext {
	/*
	 * n times port(2, network order): UDP ports besides the one of addr at which the owner
	 * takes data packets of large messages, at the same address: of its receive workers.
	 */
	SDR_QP_INFO_PORTS = 1,
	/*
	 * host(8), not 0: the owner's kernel and network namespace.  Who finds its own number here
	 * takes data packets with 0 in place of the ICRC for sound, and may send such packets to an
	 * address of this host.
	 */
	SDR_QP_INFO_HOST = 2,
};
#define SDR_QP_INFO_PORTS_MAX SDR_WORKERS_MAX
struct sdr_wire_qp_info {
	uint32_t
		/*
		 * base; generation g, channel c is qpn + g * channels + c, or tpn[that];
		 * SDR_QPN_MIN..SDR_QPN_MASK
		 */
		qpn;
	uint32_t rkey; /* root key of the message table */
	uint32_t psn;  /* first PSN, 24 bits */
	uint8_t channels, generations;
	struct sdr_imm_split split;
	/* payload bytes per packet the owner can receive, SDR_MTU_MIN..SDR_MTU_MAX */
	uint32_t mtu;
	uint32_t chunk; /* bytes per chunk bit, a multiple of mtu and not 0 */
	/* stride of the message table, bytes: a multiple of mtu, mtu..mtu << off_bits */
	uint64_t max_msg;
	/* bytes the owner's socket or receive queue takes in without reading; 0 unknown */
	uint32_t rx_window;
	uint8_t addr_len; /* 0: use the address it came from */
	uint8_t addr
		/* engine address: family(1: 4 or 6), port(2, network order), address(4 or 16) */
		[SDR_QP_INFO_ADDR_MAX];
	uint8_t flags; /* SDR_QP_F_* */
	/* UD QP of a device that takes control datagrams (24 bits); 0: its UDP port only */
	uint32_t ctl_qpn;
	uint8_t ntps; /* numbers in tpn: 0 (they are consecutive) or channels * generations */
	uint32_t tpn[SDR_QP_INFO_TPS_MAX]; /* SDR_QPN_MIN..SDR_QPN_MASK; tpn[0] = qpn */
	uint8_t nports;			   /* PORTS; 0: without that extension */
	uint16_t port[SDR_QP_INFO_PORTS_MAX];
	uint64_t host; /* HOST; 0: without that extension */
};
void sdr_wire_qp_info_encode(uint8_t p[SDR_QP_INFO_LEN], const struct sdr_wire_qp_info *i);
int sdr_wire_qp_info_decode(const uint8_t *p, size_t len, struct sdr_wire_qp_info *i);

/* Number of a transport QP of an SDR QP. */
static inline uint32_t sdr_wire_tpn(const struct sdr_wire_qp_info *i, uint32_t gen,
				    uint32_t channel)
{
	uint32_t k = gen * i->channels + channel;

	return i->ntps ? i->tpn[k] : (i->qpn + k) & SDR_QPN_MASK;
}

#endif /* SDR_QP_INFO_H */
