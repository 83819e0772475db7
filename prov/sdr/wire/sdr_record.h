/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reliable records: the frame REC, which carries operations and their answers.  Each is processed
 * exactly once, however often and in whatever order its packets come.
 */
#ifndef SDR_RECORD_H
#define SDR_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_status.h"

/*
 * A reliable record.  Processed exactly once (rseq); SEND and TSEND in the order of mseq.  The
 * decoder demands ORDER of SEND and TSEND, RMA of WRITE, READ and ATOMIC, RMA, LEN and TAG of
 * ATOMIC_END, BULK of BIND, LEN of BERTH, and takes none of an atomic; fields that are not present
 * read 0 (len: payload_len).
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
	/*
	 * Only where SDR_FEATURE_ATOMIC is in force.  Changes elements of (addr, key) as its
	 * payload says (sdr_atomic.h), LEN: of so many bytes, in several records of this number;
	 * DONE answers, or ATOMIC_RSP
	 */
	SDR_REC_ATOMIC = 10,
	SDR_REC_ATOMIC_RSP = 11, /* the old values of ATOMIC `id` */
	/* all ATOMICs that an operation was, `id` the last, were answered; tag: sdr_atomic_form */
	SDR_REC_ATOMIC_END = 12,
	SDR_REC_LAST = SDR_REC_ATOMIC_END, /* all up to here have a meaning */
	/*
	 * a few bytes for whoever stands above the peer's endpoint, answered with DONE; only where
	 * SDR_FEATURE_CALL is in force
	 */
	SDR_REC_CALL = 16,
	/*
	 * memory of its sender's, LEN bytes at KEY, for one transfer of the other side's, which
	 * names it by `id`; with a status: taken back.  Only where SDR_FEATURE_BERTH is in force
	 */
	SDR_REC_BERTH = 17,
	/*
	 * From here to 255: kept for tests and experiments.  No version gives one of them a
	 * meaning, and the decoder requires none of their fields.
	 */
	SDR_REC_TEST = 240,
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
#define SDR_REC_F_CODE 0x200u
/*
 * Turns, where SDR_FEATURE_ORDER is in force, of what begins an operation: turn present.  LEAD: it
 * has that turn, the next of its sender's, and others may have to follow it.  FOLLOW: it has no
 * effect before all turns below that are over.
 */
#define SDR_REC_F_LEAD	 0x400u
#define SDR_REC_F_FOLLOW 0x800u
#define SDR_REC_F_TURN	 (SDR_REC_F_LEAD | SDR_REC_F_FOLLOW)
/*
 * With BULK and without payload only: the berth of that number is used.  SEND, TSEND, WRITE: the
 * bytes lie there, and the parity behind them; BIND, READ_RSP: the parity, with CODE only
 */
#define SDR_REC_F_BERTH 0x1000u
/*
 * With BERTH, and less than len: so many bytes are what BULK brings, the rest waits for CTS.  CTS:
 * they are there or under way, and KEY is of the rest
 */
#define SDR_REC_F_HEAD	 0x2000u
#define SDR_REC_F_FIELDS 0x3fffu
/* turns that are not over, from the oldest on: no sender runs further ahead; power of two */
#define SDR_REC_TURNS 1024u
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
#define SDR_CODE_SYMS_MAX  256u
#define SDR_FRAME_CODE_LEN 24u
struct sdr_frame_code {
	uint8_t kind;	/* enum sdr_wire_code */
	uint8_t flags;	/* SDR_WIRE_CODE_F_* */
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
	uint64_t va; /* KEY: READ, CTS and BERTH only, whose sender's engine is rkeyed (sdr_uc.h) */
	uint32_t rkey;
	int32_t status; /* STATUS: enum sdr_wire_status; CTS: enum sdr_wire_cts_status */
	struct sdr_frame_code code; /* CODE */
	uint32_t turn;		    /* LEAD, FOLLOW */
	uint32_t berth;		    /* BERTH */
	uint64_t head;		    /* HEAD: bytes */
	uint32_t payload_len;	    /* inline bytes, <= SDR_CTL_MAX */
	const uint8_t *payload;
};

/* Bytes that its BULK brings. */
static inline uint64_t sdr_rec_bulk(const struct sdr_frame_rec *f)
{
	return f->flags & SDR_REC_F_HEAD ? f->head : f->len;
}

/* header bytes of a record with payload, which has neither BULK, KEY nor CODE */
#define SDR_REC_HDR_MAX 64u

/*
 * Header and payload (payload may be NULL: the caller writes payload_len bytes behind the returned
 * header length itself).
 */
size_t sdr_frame_rec_encode(uint8_t *p, size_t room, const struct sdr_frame_rec *f);
size_t sdr_frame_rec_size(const struct sdr_frame_rec *f);

#endif /* SDR_RECORD_H */
