/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A coded segment: one SDR message of data (the segment) and one of parity, and which packet of
 * either belongs to which codeword.  Pure geometry and bytes: both sides compute the same from the
 * parameters in the record.
 *
 *   data packets    0 ......... first ................................................ npkts not
 *                   covered  chunk 0    chunk 1    chunk 2 ...  (chunk_pkts packets each, the last
 *                   may be short)
 *
 * The covered chunks are spread over L = ceil(chunks / k) submessages, as evenly as possible: chunk
 * i belongs to submessage i mod L at position i / L (INTERLEAVE), or the submessages are blocks one
 * behind the other.  Each submessage has m' = ceil(kmax * m / k) parity chunks, kmax being the
 * largest number of data chunks of one: with short submessages the overhead stays what (k, m)
 * promised (the paper's ceil(M m / k), rounded up once).
 *
 * A codeword is what is decoded by itself.  Row decoding: packet r of all chunks of a submessage,
 * since parity is byte-wise (symbol: a packet).  CHUNK: the paper's decoder, a chunk counts only
 * when all its packets are there (symbol: a chunk).  XOR(k, m): parity i is the XOR of the data
 * chunks j with j mod m = i, so each submessage is m' codewords (kmax, if that is less) with one
 * parity symbol each; MDS: one codeword with m' rows, and m' / 2 + 8 more on demand, as far as the
 * field and parity_max reach: both sides size the parity message by that.
 *
 *   codeword      = (submessage * groups + group) * rpc + row
 *   parity packet = ((group + j) * L + submessage) * chunk_pkts + packet in the chunk
 *
 *   groups: m' for XOR, 1 for MDS; rpc: rows of packets, 1; j: parity row of the codeword
 *
 * so parity packets that follow each other belong to different submessages as soon as a chunk ends,
 * and rows on demand lie behind the planned ones.  Data that do not exist (behind a short last
 * chunk) count as zeros that are there.  Row 0 and k' = 1 is plain repetition.
 */
#ifndef SDR_CODE_H
#define SDR_CODE_H

#include "sdr_fec.h"

enum sdr_code_kind {
	SDR_CODE_NONE = 0,
	SDR_CODE_XOR = 1,
	SDR_CODE_MDS = 2,
};
#define SDR_CODE_F_INTERLEAVE 0x1
#define SDR_CODE_F_CHUNK      0x2 /* symbols are chunks */
#define SDR_CODE_FLAGS	      0x3

struct sdr_code_attr {
	uint8_t kind;  /* enum sdr_code_kind, not NONE */
	uint8_t flags; /* SDR_CODE_F_* */
	/* chunks of a submessage, parity chunks sent unasked; k + m <= SDR_FEC_SYMS_MAX */
	uint16_t k, m;
	uint32_t mtu;	     /* bytes per packet */
	uint32_t chunk_pkts; /* packets per chunk, >= 1 */
	uint64_t len;	     /* bytes of the segment, > 0 */
	uint32_t first;	     /* first covered packet, < npkts */
	uint64_t parity_max; /* bytes that the parity message may have: rows on demand end there */
};

struct sdr_code {
	struct sdr_code_attr a;
	uint32_t npkts;	    /* of the segment */
	uint32_t chunks;    /* covered */
	uint32_t nsub;	    /* L */
	uint32_t kmax;	    /* data chunks of the largest submessage */
	uint32_t groups;    /* codewords side by side in a submessage: XOR m', MDS 1 */
	uint32_t plan;	    /* parity rows of a codeword sent unasked: XOR 1, MDS m' */
	uint32_t rows;	    /* that exist in all: XOR 1, MDS >= plan */
	uint32_t sym_pkts;  /* packets of a symbol */
	uint32_t rpc;	    /* symbols of a chunk: chunk_pkts / sym_pkts */
	uint32_t cws;	    /* codewords: nsub * groups * rpc */
	uint32_t plan_pkts; /* parity packets sent unasked */
	uint32_t par_pkts;  /* that exist in all: the parity message is par_pkts * mtu bytes */
	uint32_t big;	    /* submessages with kmax chunks; the others have one less */
	uint32_t k_cw;	    /* data positions of the largest codeword: kmax / groups, rounded up */
};

/* Of the parity message. */
static inline uint64_t sdr_code_parity_bytes(const struct sdr_code *g)
{
	return (uint64_t)g->par_pkts * g->a.mtu;
}

/*
 * -EINVAL: the attributes make no sense (k = 0, m = 0, k + m > 256, chunk_pkts = 0, len = 0, first
 * beyond the end, unknown kind or flag, planned parity does not fit parity_max or 2^31 packets).  A
 * segment with a single covered chunk that is short gets chunk_pkts = its packets.
 */
int sdr_code_init(struct sdr_code *g, const struct sdr_code_attr *attr);

/*
 * Codeword and position of a covered data packet (symbol of it); and of a parity packet, pos = its
 * row.
 */
void sdr_code_of_data(const struct sdr_code *g, uint32_t pkt, uint32_t *cw, uint32_t *pos);
void sdr_code_of_parity(const struct sdr_code *g, uint32_t pkt, uint32_t *cw, uint32_t *row);
/*
 * First packet of a symbol: of data position pos (>= npkts: does not exist), of parity row `row`.
 */
uint32_t sdr_code_data_pkt(const struct sdr_code *g, uint32_t cw, uint32_t pos);
uint32_t sdr_code_parity_pkt(const struct sdr_code *g, uint32_t cw, uint32_t row);
uint32_t sdr_code_positions(const struct sdr_code *g, uint32_t cw); /* k' of the codeword */

/*
 * What is missing.  Bitmaps are words of 64 packets, as the SDK's; a bit set: the packet is there.
 * struct sdr_code_scratch is scratch that keeps its memory; one user at a time.
 */
struct sdr_code_scratch {
	uint16_t *miss, *have; /* by codeword: data symbols missing, parity symbols there */
	/* codewords with miss > 0, in ascending order after sdr_code_count */
	uint32_t *touched;
	uint32_t ntouched;
	uint32_t cap;	/* codewords it has room for */
	uint64_t *mark; /* a bit a codeword; the other arrays lie behind it */
	struct sdr_fec_plan *plan;
	/* and its size: another code may come to lie at the address */
	const struct sdr_fec *plan_of;
	uint32_t plan_k, plan_rows;
	/* SDR_CODE_APART bytes in which symbols are made, once that was wanted; and is it now? */
	uint8_t *own;
	bool apart;
};
#define SDR_CODE_APART (256u << 10)
void sdr_code_scratch_destroy(struct sdr_code_scratch *w);
/*
 * Fills w: for each codeword with missing data symbols (touched) miss and have.  Returns the number
 * of codewords that cannot be decoded (miss > have), or -ENOMEM.  Cost: packets / 64, and the
 * missing symbols.
 */
int sdr_code_count(const struct sdr_code *g, struct sdr_code_scratch *w, const uint64_t *data,
		   const uint64_t *parity);
/*
 * Cheap test between two counts: *stuck_cw is a codeword that could not be decoded (UINT32_MAX at
 * first); true as long as it still cannot.  Otherwise counts, and keeps another stuck_cw or returns
 * false: everything can be decoded.
 */
bool sdr_code_lacking(const struct sdr_code *g, struct sdr_code_scratch *w, const uint64_t *data,
		      const uint64_t *parity, uint32_t *stuck_cw);

/*
 * Bytes.  base: the segment; par: the parity message (par_pkts * mtu bytes, of which plan_pkts *
 * mtu are written by encode).  A short last packet counts as followed by zeros.
 */
/*
 * Makes the planned parity of one submessage (< nsub) from the data in one pass over memory.
 * Submessages in any order, by any number of threads.
 */
void sdr_code_encode(const struct sdr_code *g, const struct sdr_fec *f, const uint8_t *base,
		     uint8_t *par, uint32_t sub);
/* Makes one parity packet, planned or on demand, from the data. */
void sdr_code_make(const struct sdr_code *g, const struct sdr_fec *f, const uint8_t *base,
		   uint8_t *par, uint32_t pkt);
/*
 * Writes every missing covered data packet into base, and nothing else: call when nothing is
 * lacking.  Returns the packets written, or -ENOMEM (some may have been written: right bytes all
 * the same).
 *
 * The place of a missing packet is where it is summed up, source after source; apart: that is done
 * in memory of w, and the place only ever gets what it has been made to be, right bytes.  That is
 * for a base to which others may write missing packets meanwhile.
 */
int sdr_code_decode(const struct sdr_code *g, const struct sdr_fec *f, struct sdr_code_scratch *w,
		    uint8_t *base, const uint8_t *par, const uint64_t *data, const uint64_t *parity,
		    bool apart);
/*
 * The same in pieces, for who has others to look after meanwhile, or may be told to stop.  begin: 0
 * or -ENOMEM; then w is of this decoding until it has ended.  The bits of the data must not change
 * from there on; what parity comes later may be set or not.  work: bytes of sources by symbols that
 * are made of them, of all that can be decoded.
 */
int sdr_code_decode_begin(const struct sdr_code *g, const struct sdr_fec *f,
			  struct sdr_code_scratch *w, const uint64_t *data, const uint64_t *parity,
			  bool apart);
uint64_t sdr_code_decode_work(const struct sdr_code *g, const struct sdr_code_scratch *w);
/*
 * In a process that has w as a thread of another had left it in the middle of a step (fork): what
 * that has kept in w is not relied on.  Goes on with zeros in at.
 */
void sdr_code_decode_again(struct sdr_code_scratch *w);
struct sdr_code_at { /* how far it is; zeros at first */
	uint32_t i, row;
};
/*
 * Decodes what one call of the code can: rows of packets that follow each other and miss the same,
 * a millisecond's work of them at most.  Returns the packets written; 0: that was all.
 */
uint32_t sdr_code_decode_step(const struct sdr_code *g, const struct sdr_code_scratch *w,
			      uint8_t *base, const uint8_t *par, const uint64_t *data,
			      const uint64_t *parity, struct sdr_code_at *at);

#endif /* SDR_CODE_H */
