/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Every struct that crosses the network and every limit that both sides must agree on.
 *
 * Three layers share one UDP port:
 *
 *   RoCEv2 frames   the soft engine's packets (IBTA vol. 1, 9.2-9.4 and annex A17): a data packet
 *                   is a UC RDMA WRITE Only with Immediate, a control datagram is a UD SEND Only.
 *   control class   the first four bytes of a control datagram's payload say who it is for: the
 *                   SDK, the reliable endpoint, a raw datagram of the application.
 *   frames          a reliable endpoint's datagram is a header and a sequence of frames
 *                   (acknowledgements, bitmaps, records).
 *
 * RoCE headers are big-endian as IBTA says; everything of ours is little-endian.  Decoders never
 * read past the length they are given, and refuse what they do not understand with -EBADMSG.  No
 * state, no threads.
 */
#ifndef SDR_WIRE_H
#define SDR_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/sdr_endian.h"

/* ---- limits ---------------------------------------------------------------------------------- */

#define SDR_WIRE_VERSION 1     /* of everything below RoCE; a peer with another one is refused */
#define SDR_MTU_MIN	 256u  /* payload bytes a packet */
#define SDR_MTU_MAX	 8192u /* more than RoCE's 4096: soft engine only */
#define SDR_MTU_DEFAULT	 4096u
/* bytes of a control datagram's payload at the most, path MTU permitting */
#define SDR_CTL_MAX	    4096u
#define SDR_CTL_MIN	    1024u /* every path carries control payloads of this size */
#define SDR_CHANNELS_MAX    16u
#define SDR_GENERATIONS_MAX 16u
#define SDR_IMM_ID_BITS_MAX 12u

/* ---- RoCEv2 (big-endian) --------------------------------------------------------------------- */

#define SDR_ROCE_PORT 4791
#define SDR_BTH_LEN   12u
#define SDR_RETH_LEN  16u
#define SDR_IMM_LEN   4u
#define SDR_DETH_LEN  8u
#define SDR_ICRC_LEN  4u
#define SDR_DATA_HDR  (SDR_BTH_LEN + SDR_RETH_LEN + SDR_IMM_LEN) /* 32, before the payload */
/* 36 bytes a data packet, plus pad */
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
 */
struct sdr_wire_data {
	uint32_t qpn; /* 24 bits: identifies connection, generation and channel at the receiver */
	uint32_t psn; /* 24 bits, counts the sender's packets a channel; never used to drop */
	uint64_t va;  /* slot * max_msg + byte offset */
	uint32_t rkey;
	uint32_t len; /* payload bytes, 0..MTU, without pad */
	uint32_t imm;
};

struct sdr_wire_ctl {
	uint32_t qkey;
	uint32_t psn; /* 24 bits */
	uint32_t src_qpn;
};

/*
 * Encoders write SDR_DATA_HDR or SDR_CTL_HDR bytes; the pad count is derived from the length.
 * Decoders check opcode, header version, partition (the default one), lengths against each other
 * and against SDR_MTU_MAX or SDR_CTL_MAX, and for control the destination QPN.  They ignore what
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

/* ---- ICRC (RoCEv2 annex A17.3; crc32 of Ethernet, least significant byte first) -------------- */

/*
 * The register after the masked pseudo-header.  `roce` seeds cover the IP and UDP headers as a NIC
 * does; the `masked` seed counts both as all ones, so that address translation and a moving peer do
 * not break a soft-to-soft connection.  Which one is used is a property of the engine's peer.
 *
 * Ports and ip_id are in host order, addresses as they stand in the header.  udp_payload_len counts
 * from BTH to ICRC inclusive.  A state is always a finished CRC of what it has seen, so the three
 * kinds of call chain in any cut.
 */
uint32_t sdr_icrc_seed_masked(void);
uint32_t sdr_icrc_seed_v4(const uint8_t src[4], const uint8_t dst[4], uint16_t sport,
			  uint16_t dport, uint16_t ip_id, bool df, size_t udp_payload_len);
uint32_t sdr_icrc_seed_v6(const uint8_t src[16], const uint8_t dst[16], uint16_t sport,
			  uint16_t dport, size_t udp_payload_len);
/*
 * Continues over headers (BTH first and whole: its byte 4 is masked by this call, hdr is not
 * written; cheapest up to 64 bytes) and then over further bytes, pad included.
 */
uint32_t sdr_icrc_headers(uint32_t seed, const uint8_t *hdr, size_t len);
uint32_t sdr_icrc_update(uint32_t state, const void *buf, size_t len);
/* Final value, to be stored with sdr_put_le32. */
uint32_t sdr_icrc_final(uint32_t state);
/*
 * Whole packet from BTH to ICRC: true when the trailer is right; false when there is no room for
 * the two.
 */
bool sdr_icrc_check(uint32_t seed, const uint8_t *pkt, size_t len);
/*
 * The same for a packet from a device over IPv4, whose identification a socket does not tell: true
 * when there is one with which the trailer is right, which is then *id.  seed: sdr_icrc_seed_v4
 * with ip_id 0.  back: what sdr_icrc_v4_back says for this length (some 1 us; the caller keeps it;
 * 16 bytes at the least).  Of damaged packets one in 65536 passes.
 */
uint32_t sdr_icrc_v4_back(size_t udp_payload_len);
bool sdr_icrc_check_v4_any_id(uint32_t seed, uint32_t back, const uint8_t *pkt, size_t len,
			      uint16_t *id);

/*
 * Soft and simulated engines: the R_Key of a message is the root key moved on with each lap of the
 * message numbers through all IDs and generations, so that a packet of an earlier lap is told from
 * its successor in the same slot and generation however late it comes.  Hardware keeps the root
 * key: there the generations are all there is.
 */
#define SDR_RKEY_LAP	 0x9e3779b1u /* odd: a bijection of laps */
#define SDR_RKEY_LAP_INV 0xe8b2f51u  /* its inverse modulo 2^32 */
/* laps behind or ahead that count as late and not as forged */
#define SDR_RKEY_LAPS_NEAR (1u << 16)
static inline uint32_t sdr_rkey_of_lap(uint32_t root, uint32_t lap)
{
	return root + lap * SDR_RKEY_LAP;
}
static inline uint32_t sdr_rkey_lap(uint32_t root, uint32_t rkey)
{
	return (rkey - root) * SDR_RKEY_LAP_INV;
}
static inline bool sdr_rkey_near(uint32_t root, uint32_t rkey, uint32_t lap)
{
	uint32_t d = sdr_rkey_lap(root, rkey) - lap + SDR_RKEY_LAPS_NEAR;

	return d <= 2 * SDR_RKEY_LAPS_NEAR;
}

/* ---- immediate: message ID, packet offset, fragment of the user's immediate ------------------ */

/*
 *   31            22 21                        4 3    0
 *  +----------------+---------------------------+------+
 *  | message ID 10  | packet offset 18          | user |     default split 10+18+4
 *  +----------------+---------------------------+------+
 * The user's 32-bit immediate travels as 32/user_bits fragments; packet `off` carries fragment off
 * mod that. A message of fewer packets sends empty packets at the offsets behind its last one.
 */
struct sdr_imm_split {
	uint8_t id_bits;   /* 1..SDR_IMM_ID_BITS_MAX */
	uint8_t off_bits;  /* 1..30 */
	uint8_t user_bits; /* 0, 1, 2, 4, 8; sum of the three = 32 */
};
#define SDR_IMM_SPLIT_DEFAULT \
	{                     \
		10, 18, 4     \
	}

/* "10+18+4" -> split; 0 or -EINVAL. */
int sdr_imm_split_parse(const char *s, struct sdr_imm_split *out);
int sdr_imm_split_check(const struct sdr_imm_split *s);

static inline uint32_t sdr_imm_frags(const struct sdr_imm_split *s)
{
	return s->user_bits ? 32u / s->user_bits : 0;
}
static inline uint32_t sdr_imm_frag(const struct sdr_imm_split *s, uint32_t user_imm, uint32_t off)
{
	uint32_t n = sdr_imm_frags(s);

	return n ? (user_imm >> ((off % n) * s->user_bits)) & ((1u << s->user_bits) - 1) : 0;
}
static inline uint32_t sdr_imm_pack(const struct sdr_imm_split *s, uint32_t id, uint32_t off,
				    uint32_t frag)
{
	return id << (32 - s->id_bits) | off << s->user_bits | frag;
}
static inline uint32_t sdr_imm_id(const struct sdr_imm_split *s, uint32_t imm)
{
	return imm >> (32 - s->id_bits);
}
static inline uint32_t sdr_imm_off(const struct sdr_imm_split *s, uint32_t imm)
{
	return (imm >> s->user_bits) & ((1u << s->off_bits) - 1);
}
static inline uint32_t sdr_imm_user(const struct sdr_imm_split *s, uint32_t imm)
{
	return imm & ((1u << s->user_bits) - 1);
}

/* ---- control class (little-endian from here on) ---------------------------------------------- */

/*
 *   0        1         2       3
 *  +--------+---------+-------+-------+
 *  | 0x5d   | version | class | type  |
 *  +--------+---------+-------+-------+
 */
#define SDR_CLASS_LEN	4u
#define SDR_CLASS_MAGIC 0x5d
enum sdr_class {
	SDR_CLASS_SDK = 1, /* types: enum sdr_sdk_type */
	SDR_CLASS_REL = 2, /* types: enum sdr_rel_type */
	/* type 0: the datagram's bytes follow; type 1: 8 bytes of CQ data, then the bytes */
	SDR_CLASS_DGRAM = 3,
};
void sdr_class_encode(uint8_t *p, enum sdr_class c, uint8_t type);
/*
 * Returns the class (> 0) and *type; -EBADMSG (short, magic, class) or -EPROTONOSUPPORT (version).
 */
int sdr_class_decode(const uint8_t *p, size_t len, uint8_t *type);

/* ---- SDK: clear to send ---------------------------------------------------------------------- */

enum sdr_sdk_type {
	SDR_SDK_CTS = 1,
	/* same layout: the answer to a CTS that brought nothing new, and to every KEYS */
	SDR_SDK_CTS_SEEN = 2,
	SDR_SDK_KEYS = 3, /* instead of CTS, where messages need a grant (SDR_QP_F_KEYED) */
};
/*
 * Sent by a receive side for its QP: messages below `posted` may be sent.  A state, not an event:
 * repeating, reordering and losing it is harmless.
 *
 *   0        4       8      12
 *  +--------+-------+------+--------+
 *  | class  | qpn   | rkey | posted |
 *  +--------+-------+------+--------+
 */
struct sdr_wire_cts {
	uint32_t qpn;	 /* the addressee's base QPN */
	uint32_t rkey;	 /* the addressee's root key: proves that the sender saw its qp_info */
	uint32_t posted; /* message sequence number, exclusive, modulo 2^32 */
};
#define SDR_WIRE_CTS_LEN (SDR_CLASS_LEN + 12u)
/* class header included: SDR_WIRE_CTS_LEN */
size_t sdr_wire_cts_encode(uint8_t *p, const struct sdr_wire_cts *c);
/* p,len: behind the class header, SDR_WIRE_CTS_LEN - SDR_CLASS_LEN bytes. */
int sdr_wire_cts_decode(const uint8_t *p, size_t len, struct sdr_wire_cts *c);

/*
 * A keyed receiver's CTS: `posted` as there, and where the messages [first, first + n) lie.  A
 * message's state only grows (unknown, live, void), and it has one key for good: repeating,
 * reordering and losing these is harmless too.
 *
 *   0        4       8      12       16      20  22  24
 *  +--------+-------+------+--------+-------+---+---+------------------------------+
 *  | class  | qpn   | rkey | posted | first | n | 0 | n times: va(8) rkey(4) state |     13 bytes
 *           an entry
 *  +--------+-------+------+--------+-------+---+---+------------------------------+
 */
#define SDR_WIRE_KEYS_HDR 24u /* class header included */
#define SDR_WIRE_KEY_LEN  13u
#define SDR_WIRE_KEYS_MAX ((SDR_CTL_MAX - SDR_WIRE_KEYS_HDR) / SDR_WIRE_KEY_LEN)
enum sdr_wire_key_state {
	SDR_KEY_LIVE = 1, /* may be sent, to va under rkey; a message of no bytes has 0 in both */
	SDR_KEY_VOID = 2, /* completed or skipped: not to be sent any more; va and rkey are 0 */
};
struct sdr_wire_key {
	uint64_t va;
	uint32_t rkey;
	uint8_t state; /* enum sdr_wire_key_state */
};
struct sdr_wire_keys {
	uint32_t qpn, rkey, posted; /* as in struct sdr_wire_cts */
	uint32_t first;		    /* message sequence number */
	uint16_t n;		    /* 1..SDR_WIRE_KEYS_MAX; first + n is not above posted */
	const uint8_t *entry;	    /* decode: into the datagram, n entries that are well formed */
};
/* The entries that follow are the caller's to put.  Returns the length of the whole datagram. */
size_t sdr_wire_keys_encode(uint8_t *p, const struct sdr_wire_keys *k);
void sdr_wire_key_put(uint8_t entry[SDR_WIRE_KEY_LEN], const struct sdr_wire_key *key);
/* p,len: behind the class header. */
int sdr_wire_keys_decode(const uint8_t *p, size_t len, struct sdr_wire_keys *k);
/* i < k->n */
void sdr_wire_key_get(const struct sdr_wire_keys *k, uint32_t i, struct sdr_wire_key *key);

/* ---- QP info: what qp_info_get hands out, opaque to the user --------------------------------- */

/*
 *  0      1         2          3             4         5          6           7
 *  +------+---------+----------+-------------+---------+----------+-----------+----------+
 *  | 0x51 | version | channels | generations | id_bits | off_bits | user_bits | addr_len |
 *  +------+---------+----------+-------------+---------+----------+-----------+----------+
 *  8 qpn, 12 rkey, 16 psn, 20 mtu, 24 chunk, 28 rx_window, 32 max_msg (8 bytes), 40 addr (19), 59
 *  flags,
 *  60 ctl_qpn (3 bytes), 63 ntps, 64 tpn (3 bytes each, 32 of them)
 *
 * The decoder demands: SDR_QP_INFO_LEN bytes; all fields in the ranges below; zeros where nothing
 * stands. -EPROTONOSUPPORT for another version, -EBADMSG for the rest.  What addr says is the
 * engine's to check.
 */
#define SDR_QP_INFO_LEN	     160u
#define SDR_QP_INFO_MAGIC    0x51
#define SDR_QPN_MIN	     2u /* 0 and 1 are the managers' */
#define SDR_QP_INFO_ADDR_MAX 19u
#define SDR_QP_INFO_TPS_MAX  32u /* channels * generations of a device at the most */
/*
 * The owner's messages need a grant: each has an address and a key of its own, told by its
 * receiver.
 */
#define SDR_QP_F_KEYED 0x1
/*
 * The owner is an RDMA device: data goes to UDP port 4791, with the ICRC that devices check and no
 * lap keys.
 */
#define SDR_QP_F_NIC 0x2
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
	/* payload bytes a packet the owner can receive, SDR_MTU_MIN..SDR_MTU_MAX */
	uint32_t mtu;
	uint32_t chunk; /* bytes a chunk bit, a multiple of mtu and not 0 */
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

#endif /* SDR_WIRE_H */
