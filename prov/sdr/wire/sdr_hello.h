/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the reliable endpoint (class SDR_CLASS_REL), little-endian, behind the class header.
 *
 * Seven types: HELLO and HELLO_ACK open a connection (either side may start, both may at once),
 * RETRY hands out a cookie under load, PACKET carries frames, RESET says that a connection id is
 * unknown here (the process restarted), VERSION that a HELLO speaks another version
 * (sdr_version.h), PART is a piece of a PACKET that is longer than the path carries (sdr_part.h). A
 * PACKET is
 *
 *     0               8       12
 *    +---------------+-------+-----------------------+
 *    | connection id | pn    | frames ...            |
 *    +---------------+-------+-----------------------+
 *
 * The connection id is the receiver's, 64 random bits that it chose in its HELLO: it identifies the
 * peer's address, which may change.  pn counts the sender's packets modulo 2^32; no pn is used
 * twice, a lost packet's records travel again under a new one.
 */
#ifndef SDR_HELLO_H
#define SDR_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sdr_class.h"
#include "sdr_limits.h"
#include "sdr_qp_info.h"
#include "sdr_status.h"

enum sdr_rel_type {
	SDR_REL_HELLO = 1,
	SDR_REL_HELLO_ACK = 2,
	SDR_REL_RETRY = 3,
	SDR_REL_PACKET = 4,
	SDR_REL_RESET = 5,
	SDR_REL_VERSION = 6, /* struct sdr_version */
	SDR_REL_PART = 7,    /* struct sdr_part */
};

/* ---- handshake ------------------------------------------------------------------------------- */

/*
 * HELLO and HELLO_ACK have the same form: a fixed part, then extensions (sdr_tlv.h).  At most
 * SDR_CTL_MIN bytes fit every path; a longer HELLO, filled up with zeros, is a probe of the path at
 * the same time, and so is a longer HELLO_ACK, which counts as the PACKET of pn 0.  An answer has
 * at most three times the bytes of the question.  A refusal may come
 * with a bad QP info or bad bounds of parity (what is bad then reads all zero).
 *
 *     0          8     16     24       32    33    34       36        40         48
 *    +----------+-----+------+--------+-----+-----+--------+---------+----------+-----------+
 *    | instance | cid | echo | cookie | min | max | status | ctl_max | features | seg_bytes |
 *    +----------+-----+------+--------+-----+-----+--------+---------+----------+-----------+
 *     52          56           60      64        224     225    226         228          232
 *    +-----------+------------+-------+---------+-------+------+-----------+------------+-----
 *    | msn_limit | mseq_limit | ts_us | qp info | codes | zero | code_syms | code_chunk | ...
 *    +-----------+------------+-------+---------+-------+------+-----------+------------+-----
 *
 * From 232 on: extensions.
 */
#define SDR_HELLO_LEN	  (SDR_CLASS_LEN + 232u)	  /* without extensions */
#define SDR_HELLO_EXT_MAX (SDR_PROBE_MAX - SDR_HELLO_LEN) /* it may be a probe */
#define SDR_HELLO_HEAD	  34u /* bytes behind the class header that are the same in all versions */

/*
 * What may be used between the two: a bit that both sides set is in force from the handshake on,
 * any other is as if it were not there.
 */
#define SDR_FEATURE_PATHS  (1ull << 0) /* PATH_CHALLENGE is answered */
#define SDR_FEATURE_ECN	   (1ull << 1) /* acknowledgements count marks */
#define SDR_FEATURE_PROBE  (1ull << 2) /* PROBE_MAX is obeyed */
#define SDR_FEATURE_PIECES (1ull << 3) /* data packets and control datagrams may come in pieces */
#define SDR_FEATURE_SHAPE  (1ull << 4) /* the size of packets may change (SDR_FRAME_SHAPE) */
#define SDR_FEATURE_ATOMIC (1ull << 5) /* ATOMIC is carried out (sdr_atomic.h) */
#define SDR_FEATURE_ORDER  (1ull << 6) /* records may lead and follow (SDR_REC_F_TURN) */
#define SDR_FEATURE_CALL   (1ull << 7) /* somebody takes calls (SDR_REC_CALL) */
/*
 * Packets and data of a connection may travel by several paths: from any of the sender's SOURCES
 * that has answered a PATH_CHALLENGE
 */
#define SDR_FEATURE_MULTIPATH (1ull << 8)
/*
 * Berths: keys that an rkeyed side hands out ahead of the messages that will use them
 * (SDR_REC_BERTH, SDR_REC_F_BERTH)
 */
#define SDR_FEATURE_BERTH (1ull << 9)
/*
 * With ECN and MULTIPATH: marks are counted for each path by itself (SDR_FRAME_MARKS), so packets
 * on all of them may be marked; without it those on the first one
 */
#define SDR_FEATURE_MARKS (1ull << 10)
/*
 * With PROBE, PIECES and MULTIPATH: a path that carries smaller packets than the first is one
 * nevertheless, once a challenge as long as every path should carry was answered
 */
#define SDR_FEATURE_SIZES (1ull << 11)
/* The head of a transfer may come to a berth before the rest has its key (SDR_REC_F_HEAD) */
#define SDR_FEATURE_HEAD (1ull << 12)

/* Extensions; unknown ones are passed over. */
enum sdr_hello_ext {
	/*
	 * Addresses and ports besides that of the HELLO at which its sender takes datagrams, each
	 * family(1: 0, 4 or 6) port(2, network order) address(0, 4 or 16): family 0 is another port
	 * at the address of the HELLO.  The first is its name: what it tells others to reach it by.
	 */
	SDR_HELLO_ADDRESSES = 1,
	/*
	 * bytes(4): of the largest control payload that its sender takes, beyond ctl_max, from a
	 * probe of the path.
	 */
	SDR_HELLO_PROBE_MAX = 2,
	/*
	 * HELLO_ACK: bytes(4) of the control payload with the HELLO that it answers.
	 */
	SDR_HELLO_SEEN = 3,
	/*
	 * HELLO_ACK: the address that the HELLO came from, one entry as in ADDRESSES, where that is
	 * not the name in it: an address translator lies between.
	 */
	SDR_HELLO_OBSERVED = 4,
	/*
	 * HELLO: 8 bytes that only the two ends of a connection can know (sdr_hello_check).
	 * Whoever has that connection answers SDR_HELLO_SAME and opens none.
	 */
	SDR_HELLO_CHECK = 5,
	/*
	 * HELLO_ACK: us(4) of its sender's clock at which its host had the HELLO that it answers.
	 */
	SDR_HELLO_CAME = 6,
	/*
	 * Addresses and ports besides that of the HELLO that its sender sends from and takes
	 * datagrams at: paths of the connection may lead there (SDR_FEATURE_MULTIPATH).  Entries as
	 * in ADDRESSES, in the order of the sender's sources, 1..SDR_PATHS_MAX - 1 of them.
	 */
	SDR_HELLO_SOURCES = 7,
};
#define SDR_HELLO_ADDRS_MAX 32u
struct sdr_hello_addr {
	uint8_t family; /* 0: that of the HELLO */
	uint16_t port;	/* not 0 */
	uint8_t ip[16]; /* network order; 4 or 16 bytes by family */
};

struct sdr_hello {
	/* random, one per endpoint incarnation: another one means the peer restarted */
	uint64_t instance;
	uint64_t cid;	 /* the sender's connection id: to be put into packets to it */
	uint64_t echo;	 /* HELLO_ACK: the cid of the HELLO it answers; HELLO: 0 */
	uint64_t cookie; /* HELLO: from RETRY, 0 at first */
	/* versions that the sender speaks; SDR_WIRE_VERSION is among them */
	uint8_t version_min, version_max;
	uint16_t status;    /* enum sdr_hello_status */
	uint64_t features;  /* SDR_FEATURE_* that the sender knows, and bits of later versions */
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
	uint16_t code_syms;  /* maximum k + m of a submessage, 2..SDR_CODE_SYMS_MAX */
	uint32_t code_chunk; /* maximum bytes per chunk, > 0 */
	/* Extensions. */
	const uint8_t *ext;   /* all of them, as they travel; decode: into the datagram */
	uint32_t ext_len;     /* bytes, <= SDR_HELLO_EXT_MAX */
	uint32_t ext_unknown; /* decode: passed over */
	const uint8_t *addrs; /* decode: ADDRESSES, NULL without */
	uint32_t addrs_len;
	const uint8_t *sources; /* decode: SOURCES, NULL without */
	uint32_t sources_len;
	uint32_t probe_max;		/* decode: PROBE_MAX, 0 without */
	uint32_t seen;			/* decode: SEEN, 0 without */
	struct sdr_hello_addr observed; /* decode: OBSERVED, port 0 without */
	uint64_t check;			/* decode: CHECK, 0 without */
	uint32_t came_us;		/* decode: CAME; has_came: valid */
	bool has_came;
};
/* Writes the versions that are spoken here; everything else is 0. */
static inline void sdr_hello_init(struct sdr_hello *h)
{
	*h = (struct sdr_hello){ .version_min = SDR_WIRE_VERSION_MIN,
				 .version_max = SDR_WIRE_VERSION_MAX };
}
/* class header included; SDR_HELLO_LEN + ext_len bytes */
size_t sdr_hello_encode(uint8_t *p, enum sdr_rel_type type, const struct sdr_hello *h);
/*
 * p behind the class header.  -EPROTONOSUPPORT: its versions do not include this one; head and cid
 * are valid.  -EBADMSG.
 */
int sdr_hello_decode(const uint8_t *p, size_t len, struct sdr_hello *h);

/* Advances *p through h->addrs.  1; 0: at the end; -EBADMSG. */
int sdr_hello_addr_next(const uint8_t **p, const uint8_t *end, struct sdr_hello_addr *a);
/*
 * CHECK of a HELLO with this cid: that the receiver has a connection with its sender, which it
 * calls by the number theirs.  Never 0, and tells neither number.
 */
uint64_t sdr_hello_check(uint64_t theirs, uint64_t cid);
/* Bytes written, 0 when room is too small. */
size_t sdr_hello_addr_put(uint8_t *p, size_t room, const struct sdr_hello_addr *a);

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

#endif /* SDR_HELLO_H */
