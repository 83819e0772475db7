/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames of a reliable endpoint's packet, little-endian, behind the packet's header (sdr_hello.h).
 * The records among them stand in sdr_record.h.
 */
#ifndef SDR_FRAME_H
#define SDR_FRAME_H

#include <stdbool.h>
#include "sdr_wire.h"
#include "sdr_hello.h"
#include "sdr_record.h"

/*
 * Types below SDR_FRAME_LONG have a form of their own; an unknown one invalidates its packet, so a
 * new one needs a new version.  All others are followed by a length, type(1) len(2) and len bytes,
 * and a receiver that does not know them skips them.  Whether one wants an acknowledgement of its
 * packet stands in the type, so that both sides agree about it whatever they know.
 */
#define SDR_FRAME_LONG	   0x80u
#define SDR_FRAME_WANTS	   0x40u /* of those: wants an acknowledgement */
#define SDR_FRAME_LONG_HDR 3u	 /* bytes of type and length */
enum sdr_frame_type {
	SDR_FRAME_PAD = 0, /* one byte */
	SDR_FRAME_ACK = 1,
	SDR_FRAME_DACK = 2,
	SDR_FRAME_CREDIT = 3,
	SDR_FRAME_PING = 4, /* wants an ACK */
	SDR_FRAME_END = 5,  /* wants an ACK, and the DACK of a message */
	SDR_FRAME_REC = 6,
	SDR_FRAME_CLOSE = 7,
	SDR_FRAME_PADDING = 0x80,	/* any bytes, with no meaning */
	SDR_FRAME_PATH_RESPONSE = 0x81, /* struct sdr_frame_path: the data of a challenge */
	/*
	 * A record of the other side's came for which there was no room: its packet is not
	 * acknowledged, and it will be taken when there is.  No bytes that mean anything yet.
	 */
	SDR_FRAME_HELD = 0x82,
	SDR_FRAME_DROPS = 0x83, /* struct sdr_frame_drops */
	/*
	 * First in its packet, which leaves by another path than its sender's others do: who
	 * answers it does not follow (feature MULTIPATH).  No bytes that mean anything yet.
	 */
	SDR_FRAME_ASIDE = 0x84,
	SDR_FRAME_MARKS = 0x85, /* struct sdr_frame_marks */
	SDR_FRAME_FAN = 0x86,	/* struct sdr_frame_fan */
	SDR_FRAME_PATH_CHALLENGE = 0xc0,
	SDR_FRAME_SHAPE = 0xc1, /* struct sdr_frame_shape */
};

/*
 * What both acknowledgements may say besides: which path they speak of, and how many packets came
 * over it (data and control, each once, when it is new: those that are acknowledged) with each
 * mark, since the connection was opened, modulo 2^32.  Without PATH: path 0, which without MARKS
 * (below) is all packets.  PATH is reserved: decoded, not sent, not used yet; ECN travels in the
 * ACK, see sdr_conn_ecn.c.
 */
struct sdr_frame_ecn {
	uint32_t ect0, ect1, ce;
};

/*
 * Packets received: inclusive ranges in descending order, r[0].hi is the largest.  At least one
 * packet is missing between two ranges, all lie within half the number space.
 */
#define SDR_ACK_RANGES 24u
#define SDR_ACK_PATH   0x20u /* path is present */
#define SDR_ACK_ECN    0x40u /* ecn is present */
struct sdr_frame_ack {
	uint8_t flags;		  /* SDR_ACK_* */
	uint8_t path;		  /* PATH, else 0 */
	uint32_t delay_us;	  /* since the largest arrived */
	uint32_t n;		  /* 1..SDR_ACK_RANGES */
	struct sdr_frame_ecn ecn; /* ECN, else 0 */
	struct {
		uint32_t hi, lo;
	} r[SDR_ACK_RANGES];
};

/*
 * Data acknowledgement: the packet bitmap of message msn.  Packets below cum are in place.  In
 * [base, end) missing and received packets alternate as run lengths, the first run is missing (of
 * length 0 when base itself is in place, which happens when a long bitmap is reported in several
 * frames).  Nothing is said of packets behind end.
 */
#define SDR_DACK_COMPLETE 0x1 /* all packets in place; no runs */
#define SDR_DACK_GAP	  0x2 /* sent because of a gap: the receiver's NACK */
/* with COMPLETE only: dec_pkts, dec_chunks present, 0 < dec_chunks <= dec_pkts */
#define SDR_DACK_DECODED 0x4
#define SDR_DACK_PATH	 0x8  /* path is present: the one over which `echo` came */
#define SDR_DACK_ECN	 0x10 /* ecn is present */
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
	uint8_t path;		  /* PATH, else 0 */
	struct sdr_frame_ecn ecn; /* ECN, else 0 */
	uint32_t runs_len;	  /* bytes of runs */
	const uint8_t *runs;	  /* decode: into the datagram; varints (LEB128, <= 5 bytes each) */
};
/*
 * Encodes into at most room bytes, describing as much of the bitmap from f->base on as fits (sets
 * end and runs_len in *f; bits: word bitmap, limit: 1 + highest packet seen).  Returns the bytes
 * written, 0 if not even the fixed part (32 bytes, and 8 for DECODED, 1 PATH, 12 ECN) fits.
 * COMPLETE: base and end become cum, bits is not read.
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

struct sdr_frame_close {
	uint16_t reason; /* enum sdr_close_reason */
};

/*
 * Is its sender where the datagram comes from?  The response goes back over the same path.  The
 * path gets its number by the challenge: its sender counts the paths that it opens from 0.
 * Reserved: decoded, not answered yet.
 */
#define SDR_FRAME_PATH_DATA 8u
struct sdr_frame_path {
	uint8_t path;
	uint8_t data[SDR_FRAME_PATH_DATA]; /* unpredictable */
};

/*
 * Datagrams that reached the sender of this and found its receive buffer full, from whomever they
 * came, since the connection was opened: losses of its own and not of the path.  State, not event:
 * the largest value wins (modulo 2^32).
 */
struct sdr_frame_drops {
	uint32_t count;
};

/*
 * Who shares the path.  State, not event: the latest counts, for a round trip.
 */
#define SDR_FRAME_FAN_LEN 10u /* bytes */
struct sdr_frame_fan {
	/*
	 * Peers in the network of the one that this goes to, that one included, that sent data to
	 * the sender of this within a round trip; 0: it says nothing of that.
	 */
	uint16_t in;
	/* bytes; what those begin with that said so, as a mean; 0: nobody did */
	uint32_t in_win;
	/* bytes with which the sender of this begins, as one of many; 0: it is not found to be */
	uint32_t out_win;
};

/*
 * The size of data packets changes (feature SHAPE).  State, not event: what its sender has to say
 * stands in front of the records of every packet until one that carried it is acknowledged.
 * Generation 0 is that of the handshake; each OFFER is for the next one, which is in force when
 * both sides have said USE, or is as the one before when the other says REFUSE.
 *
 *     what(1)  n(1)  gen(2)  limit(4)  mtu(4)  seg_bytes(4)  msn(4)  [qp info(160)]
 *
 * The decoder demands: the length that `what` has; zeros where nothing stands; limit and mtu in
 * SDR_EP_MTU_MIN..SDR_MTU_MAX.  What the info says is the QP's to check.  The receiver takes a
 * frame that is newer than all before, by n, which counts what the sender has said, from 1, modulo
 * 2^8.
 */
enum sdr_shape_what {
	SDR_SHAPE_LIMIT = 0,  /* nothing but limit; gen is the one in force */
	SDR_SHAPE_OFFER = 1,  /* a QP for packets of mtu: mtu, seg_bytes, info */
	SDR_SHAPE_USE = 2,    /* likewise, and what has number msn or a higher one goes there */
	SDR_SHAPE_REFUSE = 3, /* of an offer: mtu is its */
};
#define SDR_FRAME_SHAPE_HEAD 20u
struct sdr_frame_shape {
	uint8_t what; /* enum sdr_shape_what */
	uint8_t n;
	uint16_t gen;
	uint32_t limit;	    /* the largest packets that its sender wants */
	uint32_t mtu;	    /* bytes of payload; LIMIT: 0 */
	uint32_t seg_bytes; /* OFFER, USE, else 0: of one SDR message, as in HELLO */
	uint32_t msn;	    /* USE, else 0 */
	/* OFFER, USE: SDR_QP_INFO_LEN bytes, decode: in the datagram; else NULL */
	const uint8_t *info;
};

/*
 * Behind the ACK of its packet, and with it: the same counts as its ECN, of paths beside the first
 * (feature MARKS).  A path has the number that both sides know it by: from source i of one to
 * source i of the other, each modulo how many it has.
 *
 *     { path(1)  ect0[v]  ect1[v]  ce[v] }  once or more, paths ascending from 1
 */
#define SDR_FRAME_MARKS_MAX (SDR_PATHS_MAX - 1) /* entries */
struct sdr_frame_marks {
	uint32_t n; /* 1..SDR_FRAME_MARKS_MAX */
	struct {
		uint8_t path; /* 1..SDR_PATHS_MAX - 1, more than the one before */
		struct sdr_frame_ecn ecn;
	} v[SDR_FRAME_MARKS_MAX];
};

/* A frame of a type from SDR_FRAME_LONG on that is not known here. */
struct sdr_frame_other {
	uint16_t len;
	const uint8_t *bytes; /* decode: into the datagram */
};

struct sdr_frame {
	uint8_t type;
	union {
		struct sdr_frame_ack ack;
		struct sdr_frame_dack dack;
		struct sdr_frame_credit credit;
		struct sdr_frame_end end;
		struct sdr_frame_rec rec;
		struct sdr_frame_close close;
		struct sdr_frame_path path; /* PATH_CHALLENGE, PATH_RESPONSE */
		struct sdr_frame_shape shape;
		struct sdr_frame_drops drops;
		struct sdr_frame_fan fan;
		struct sdr_frame_marks marks;
		struct sdr_frame_other other; /* PADDING, HELD, ASIDE, and all that are not known */
	};
};

/* Encoders return the bytes written, or 0 when room is too small. */
size_t sdr_frame_ack_encode(uint8_t *p, size_t room, const struct sdr_frame_ack *f);
size_t sdr_frame_credit_encode(uint8_t *p, size_t room, const struct sdr_frame_credit *f);
size_t sdr_frame_ping_encode(uint8_t *p, size_t room);
size_t sdr_frame_end_encode(uint8_t *p, size_t room, const struct sdr_frame_end *f);
size_t sdr_frame_close_encode(uint8_t *p, size_t room, const struct sdr_frame_close *f);
size_t sdr_frame_held_encode(uint8_t *p, size_t room);
size_t sdr_frame_aside_encode(uint8_t *p, size_t room);
size_t sdr_frame_drops_encode(uint8_t *p, size_t room, const struct sdr_frame_drops *f);
size_t sdr_frame_fan_encode(uint8_t *p, size_t room, const struct sdr_frame_fan *f);
/* As many of its entries as there is room for. */
size_t sdr_frame_marks_encode(uint8_t *p, size_t room, const struct sdr_frame_marks *f);
/* type: PATH_CHALLENGE or PATH_RESPONSE */
size_t sdr_frame_path_encode(uint8_t *p, size_t room, enum sdr_frame_type type,
			     const struct sdr_frame_path *f);
size_t sdr_frame_shape_encode(uint8_t *p, size_t room, const struct sdr_frame_shape *f);
/* Any type from SDR_FRAME_LONG on; bytes NULL: zeros. */
size_t sdr_frame_long_encode(uint8_t *p, size_t room, uint8_t type, const void *bytes,
			     uint16_t len);

/* Of whatever type: does the packet that carries it want an acknowledgement? */
static inline bool sdr_frame_wants(uint8_t type, uint16_t close_reason)
{
	if (type & SDR_FRAME_LONG)
		return type & SDR_FRAME_WANTS;
	return type == SDR_FRAME_PING || type == SDR_FRAME_END || type == SDR_FRAME_REC ||
	       (type == SDR_FRAME_CLOSE && close_reason != SDR_CLOSE_BYE_ACK);
}

/*
 * Decodes the frame at *p, advances *p; PAD is passed over in silence.  1: a frame; 0: end;
 * -EBADMSG: the rest of the packet is unusable.  A DACK's runs are checked here too, so walking
 * them afterwards cannot fail.  A type from SDR_FRAME_LONG on that is not known here is a frame
 * like others, in `other`.
 */
int sdr_frame_next(const uint8_t **p, const uint8_t *end, struct sdr_frame *out);

#endif /* SDR_FRAME_H */
