/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the reliable endpoint (class SDR_CLASS_REL), little-endian, behind the class header.
 *
 * Five types: HELLO and HELLO_ACK open a connection (either side may start, both may at once),
 * RETRY hands out a cookie under load, PACKET carries frames, RESET says that a connection id is
 * unknown here (the process restarted).  A PACKET is
 *
 *     0               8       12
 *    +---------------+-------+-----------------------+
 *    | connection id | pn    | frames ...            |
 *    +---------------+-------+-----------------------+
 *
 * The connection id is the receiver's, 64 random bits that it chose in its HELLO: it stands for the
 * peer's address, which may change.  pn counts the sender's packets modulo 2^32; no pn is used
 * twice, a lost packet's records travel again under a new one.
 */
#ifndef SDR_FRAME_H
#define SDR_FRAME_H

#include "sdr_wire.h"

enum sdr_rel_type {
	SDR_REL_HELLO = 1,
	SDR_REL_HELLO_ACK = 2,
	SDR_REL_RETRY = 3,
	SDR_REL_PACKET = 4,
	SDR_REL_RESET = 5,
};

/* ---- handshake ------------------------------------------------------------------------------- */

/*
 * HELLO and HELLO_ACK have the same form and size, so an answer is never larger than the question.
 * Lengths are exact; a refusal may come with a bad QP info or bad bounds of parity (what is bad
 * then reads all zero).
 */
#define SDR_HELLO_LEN (SDR_CLASS_LEN + 224u)
enum sdr_hello_status {
	SDR_HELLO_OK = 0,
	SDR_HELLO_REFUSED_GEOMETRY = 1, /* HELLO_ACK only: mtu, split, channels ... do not agree */
	SDR_HELLO_REFUSED_LIMIT = 2,	/* too many peers here */
	/* the engine here cannot reach the other's device, or socket */
	SDR_HELLO_REFUSED_PATH = 3,
};
struct sdr_hello {
	/* random, one per endpoint incarnation: another one means the peer restarted */
	uint64_t instance;
	uint64_t cid;	    /* the sender's connection id: to be put into packets to it */
	uint64_t echo;	    /* HELLO_ACK: the cid of the HELLO it answers; HELLO: 0 */
	uint64_t cookie;    /* HELLO: from RETRY, 0 at first */
	uint32_t status;    /* enum sdr_hello_status */
	uint32_t seg_bytes; /* bytes of one SDR message in bulk transfers to the sender of this */
	uint32_t msn_limit; /* first credit, see CREDIT */
	uint32_t mseq_limit;
	uint32_t ctl_max; /* bytes of the largest control payload the sender takes */
	/* sender's clock; HELLO_ACK: that of the HELLO, for the first RTT sample */
	uint32_t ts_us;
	struct sdr_wire_qp_info qp;
	/* Parity that the sender of this can decode. */
	/* bit n: code of kind n (struct sdr_frame_code); 0: none, and the other two are 0 */
	uint8_t codes;
	uint16_t code_syms;  /* k + m of a submessage at the most, 2..SDR_CODE_SYMS_MAX */
	uint32_t code_chunk; /* bytes of a chunk at the most, > 0 */
};
/* class header included */
size_t sdr_hello_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_hello *h);
/* p behind the class header */
int sdr_hello_decode(const uint8_t *p, size_t len, struct sdr_hello *h);

struct sdr_retry {
	uint64_t cid; /* the HELLO's */
	uint64_t cookie;
};
#define SDR_RETRY_LEN (SDR_CLASS_LEN + 16u)
size_t sdr_retry_encode(uint8_t *p, enum sdr_rel_type type,
			const struct sdr_retry *r); /* RETRY; RESET with cookie 0 */
int sdr_retry_decode(const uint8_t *p, size_t len, struct sdr_retry *r);

/* ---- packet ---------------------------------------------------------------------------------- */

#define SDR_PACKET_HDR (SDR_CLASS_LEN + 12u)
/* class header included: SDR_PACKET_HDR */
size_t sdr_packet_encode(uint8_t *p, uint64_t cid, uint32_t pn);
int sdr_packet_decode(const uint8_t *p, size_t len, uint64_t *cid,
		      uint32_t *pn); /* behind the class header; 12 bytes */

enum sdr_frame_type {
	SDR_FRAME_PAD = 0, /* one byte */
	SDR_FRAME_ACK = 1,
	SDR_FRAME_DACK = 2,
	SDR_FRAME_CREDIT = 3,
	SDR_FRAME_PING = 4, /* wants an ACK */
	SDR_FRAME_END = 5,  /* wants an ACK, and the DACK of a message */
	SDR_FRAME_REC = 6,
	SDR_FRAME_CLOSE = 7,
};

/*
 * Packets received: inclusive ranges in descending order, r[0].hi is the largest.  At least one
 * packet is missing between two ranges, all lie within half the number space.
 */
#define SDR_ACK_RANGES 24u
struct sdr_frame_ack {
	uint32_t delay_us; /* since the largest arrived */
	uint32_t n;	   /* 1..SDR_ACK_RANGES */
	struct {
		uint32_t hi, lo;
	} r[SDR_ACK_RANGES];
};

/*
 * Data acknowledgement: the packet bitmap of message msn.  Packets below cum are in place.  In
 * [base, end) missing and received packets alternate as run lengths, the first run is missing (of
 * length 0 when base itself is in place, which happens when a long bitmap is told in several
 * frames).  Nothing is said of packets behind end.
 */
#define SDR_DACK_COMPLETE 0x1 /* all packets in place; no runs */
#define SDR_DACK_GAP	  0x2 /* sent because of a gap: the receiver's NACK */
/* with COMPLETE only: dec_pkts, dec_chunks present, 0 < dec_chunks <= dec_pkts */
#define SDR_DACK_DECODED 0x4
struct sdr_frame_dack {
	uint8_t flags;
	uint32_t msn;
	uint32_t cum;		/* packets */
	uint32_t base, end;	/* packets, cum <= base <= end */
	uint32_t echo;		/* packet placed last; ~0: none */
	uint32_t echo_delay_us; /* since then */
	uint32_t dups;		/* packets that came more than once, total of the message */
	uint32_t dec_pkts;	/* DECODED: packets that came out of parity, */
	/* and chunks (of the receiver's bitmap) with such packets; without: 0 */
	uint32_t dec_chunks;
	uint32_t runs_len;   /* bytes of runs */
	const uint8_t *runs; /* decode: into the datagram; varints (LEB128, <= 5 bytes each) */
};
/*
 * Encodes into at most room bytes, describing as much of the bitmap from f->base on as fits (sets
 * end and runs_len in *f; bits: word bitmap, limit: 1 + highest packet seen).  Returns the bytes
 * written, 0 if not even the fixed part (32 bytes, DECODED: 40) fits.  COMPLETE: base and end
 * become cum, bits is not read.
 */
size_t sdr_frame_dack_encode(uint8_t *p, size_t room, struct sdr_frame_dack *f,
			     const uint64_t *bits, uint32_t limit);
/*
 * Walks runs: *it starts at 0; returns 1 and [*first, *first + *n) missing, 0 at the end, -EBADMSG.
 */
struct sdr_dack_iter {
	uint32_t off; /* bytes of runs consumed */
	uint32_t pkt; /* next packet */
};
int sdr_frame_dack_next(const struct sdr_frame_dack *f, struct sdr_dack_iter *it, uint32_t *first,
			uint32_t *n);

/* State, not event: the largest value wins (modulo 2^32). */
struct sdr_frame_credit {
	uint32_t msn_limit;  /* SDR messages below may be sent */
	uint32_t mseq_limit; /* ordered records below may be sent */
};

struct sdr_frame_end {
	uint32_t msn;
};

#define SDR_CLOSE_BYE	  1 /* endpoint closed in order */
#define SDR_CLOSE_BYE_ACK 2 /* seen */
struct sdr_frame_close {
	uint16_t reason;
};

/*
 * A reliable record.  Processed exactly once (rseq); SEND and TSEND in the order of mseq.  The
 * decoder demands ORDER of SEND and TSEND, RMA of WRITE and READ, BULK of BIND; fields that are not
 * present read 0 (len: payload_len).
 */
enum sdr_rec_op {
	SDR_REC_SEND =
		/*
		 * message: inline payload, bulk, or waiting for CTS; with a status: void, it meets
		 * no receive
		 */
	1,
	SDR_REC_TSEND = 2,
	SDR_REC_WRITE = 3,    /* into (addr, key): inline or bulk */
	SDR_REC_READ = 4,     /* wants len bytes of (addr, key) */
	SDR_REC_READ_RSP = 5, /* answer to READ `id`: inline or bulk, or a status */
	SDR_REC_BIND =
		/*
		 * bulk of the earlier SEND, TSEND or WRITE `id` starts now at msn; a status: it
		 * will not come
		 */
	6,
	SDR_REC_CTS = 7, /* the peer's SEND, TSEND or WRITE `id` has its buffer: BIND and send */
	/* the peer's SEND `id` found no receive: stop, its msns are void, wait for CTS */
	SDR_REC_PARK = 8,
	/* the peer's operation `id` ended with status (delivery report or refusal) */
	SDR_REC_DONE = 9,
};
#define SDR_REC_F_LEN  0x001u /* field present */
#define SDR_REC_F_TAG  0x002u
#define SDR_REC_F_DATA 0x004u
/* msn present: the bytes come as SDR messages msn, msn + 1, ... */
#define SDR_REC_F_BULK	   0x008u
#define SDR_REC_F_RMA	   0x010u /* addr, key present */
#define SDR_REC_F_STATUS   0x020u
#define SDR_REC_F_ORDER	   0x040u /* mseq present */
#define SDR_REC_F_DELIVERY 0x080u /* answer with DONE when the bytes lie in the matched buffer */
/* va, rkey present: where the bytes that this record asks for may be written */
#define SDR_REC_F_KEY 0x100u
/* with BULK and without payload only: the bytes come with parity */
#define SDR_REC_F_CODE	 0x200u
#define SDR_REC_F_FIELDS 0x3ffu
/*
 * Parity of a bulk: its bytes come in data segments of seg bytes (the last may be short); each
 * segment that ends behind `from` is coded (prov/sdr/fec/sdr_code.h) and followed by a message of
 * parity.  Messages: the segments that are not coded have msn, msn + 1, ...; then each coded one
 * takes two, data and parity.
 *
 *    kind(1) flags(1) k(2) m(2) zero(2) chunk(4) seg(4) from(8): 24 bytes
 *
 * The decoder demands: kind 1 or 2, no unknown flag, 1 <= k, 1 <= m, k + m <= SDR_CODE_SYMS_MAX,
 * zero 0, chunk > 0, seg > 0 and a multiple of chunk, from a multiple of chunk.
 */
#define SDR_CODE_SYMS_MAX    256u
#define SDR_FRAME_CODE_LEN   24u
#define SDR_FRAME_CODE_KINDS 0x6u /* bit n: kind n has a meaning; HELLO's codes has no other bit */
#define SDR_FRAME_CODE_FLAGS 0x3u
struct sdr_frame_code {
	uint8_t kind;	/* enum sdr_code_kind: 1 XOR, 2 MDS */
	uint8_t flags;	/* SDR_CODE_F_* */
	uint16_t k, m;	/* chunks of a submessage, parity chunks sent unasked */
	uint32_t chunk; /* bytes, a multiple of the mtu */
	uint32_t seg;	/* bytes of a data segment, a multiple of chunk */
	uint64_t from;	/* bytes of the operation in front of the parity, a multiple of chunk */
};
struct sdr_frame_rec {
	uint8_t op;
	uint16_t flags;
	uint32_t rseq;
	uint32_t id;
	uint32_t mseq; /* ORDER */
	uint64_t len;  /* LEN: bytes of the whole operation; without: payload_len */
	uint64_t tag;
	uint64_t data;
	uint32_t msn;	    /* BULK */
	uint64_t addr, key; /* RMA */
	uint64_t va;	    /* KEY: READ and CTS only, whose sender's engine is keyed (sdr_uc.h) */
	uint32_t rkey;
	int32_t status;		    /* STATUS: enum sdr_rel_err; 16 bits on the wire */
	struct sdr_frame_code code; /* CODE */
	uint32_t payload_len;	    /* inline bytes, <= SDR_CTL_MAX */
	const uint8_t *payload;
};
/* header bytes of a record with payload, which has neither KEY nor CODE */
#define SDR_REC_HDR_MAX 64u

struct sdr_frame {
	uint8_t type;
	union {
		struct sdr_frame_ack ack;
		struct sdr_frame_dack dack;
		struct sdr_frame_credit credit;
		struct sdr_frame_end end;
		struct sdr_frame_rec rec;
		struct sdr_frame_close close;
	};
};

/* Encoders return the bytes written, or 0 when room is too small. */
size_t sdr_frame_ack_encode(uint8_t *p, size_t room, const struct sdr_frame_ack *f);
size_t sdr_frame_credit_encode(uint8_t *p, size_t room, const struct sdr_frame_credit *f);
size_t sdr_frame_ping_encode(uint8_t *p, size_t room);
size_t sdr_frame_end_encode(uint8_t *p, size_t room, const struct sdr_frame_end *f);
size_t sdr_frame_close_encode(uint8_t *p, size_t room, const struct sdr_frame_close *f);
/*
 * Header and payload (payload may be NULL: the caller writes payload_len bytes behind the returned
 * header length itself).
 */
size_t sdr_frame_rec_encode(uint8_t *p, size_t room, const struct sdr_frame_rec *f);
size_t sdr_frame_rec_size(const struct sdr_frame_rec *f);

/*
 * Decodes the frame at *p, advances *p; PAD is passed over in silence.  1: a frame; 0: end;
 * -EBADMSG: the rest of the packet is unusable.  A DACK's runs are checked here too, so walking
 * them afterwards cannot fail.
 */
int sdr_frame_next(const uint8_t **p, const uint8_t *end, struct sdr_frame *out);

#endif /* SDR_FRAME_H */
