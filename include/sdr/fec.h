/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Erasure codes over packets of a message: which parity packets to make, and how to get missing
 * data packets back from what has come.
 *
 * A message of len bytes is cut into packets of mtu bytes, and its packets into chunks.  Chunks are
 * spread over submessages of k each, and each submessage gets m parity chunks: packet r of all its
 * chunks and packet r of its parity chunks are a codeword of their own, so a codeword survives when
 * any k of its k + m packets come (SDR_CODEC_MDS).  Parity packets are numbered in the order in
 * which they should leave; they are a message of their own of sdr_codec_parity_bytes.
 *
 * The two sides make the same codec from the same attributes: carry these to the other side.
 * Bitmaps have bit i % 64 of word i / 64 for packet i: those of sdr_recv_state.  A codec has memory
 * of its own, one thread at a time; sdr_codec_encode alone may run in several threads at once.
 * Nothing is sent or received here.
 */
#ifndef SDR_FEC_PUBLIC_H
#define SDR_FEC_PUBLIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sdr_codec_kind {
	/* m parity chunks, each the XOR of every m-th data chunk: one loss in each of m groups */
	SDR_CODEC_XOR = 1,
	SDR_CODEC_MDS = 2, /* Cauchy code over GF(2^8): any m losses */
};

struct sdr_codec_attr {
	size_t size;	     /* sizeof(struct sdr_codec_attr) */
	uint64_t len;	     /* bytes of the message, > 0 */
	uint32_t mtu;	     /* bytes of a packet: the QP's */
	uint32_t chunk_pkts; /* packets of a chunk; 0: 1 */
	uint32_t k, m;	     /* data and parity chunks of a submessage, 1 or more; k + m <= 256 */
	uint32_t kind;	     /* enum sdr_codec_kind; 0: MDS */
	/*
	 * The first packet that is protected, 0 for all: what comes early in a message can be sent
	 * again in time.
	 */
	uint32_t first;
	/*
	 * MDS: bytes of parity, spare packets included, which are made when they are asked for:
	 * half as many as belong to m and 8 a codeword, or what fits here; 0: none are spare
	 */
	uint64_t parity_max;
};

struct sdr_codec;

/* NULL with errno EINVAL (attributes), ENOMEM. */
struct sdr_codec *sdr_codec_create(const struct sdr_codec_attr *attr);
void sdr_codec_destroy(struct sdr_codec *c); /* NULL: nothing */

/* Packets of the message, parity packets that belong to m, and of these and the spare ones. */
uint32_t sdr_codec_packets(const struct sdr_codec *c);
uint32_t sdr_codec_parity_packets(const struct sdr_codec *c);
uint32_t sdr_codec_parity_most(const struct sdr_codec *c);
/* mtu times the latter: what a buffer of parity needs. */
uint64_t sdr_codec_parity_bytes(const struct sdr_codec *c);
/* Submessages: how often sdr_codec_encode is to be called. */
uint32_t sdr_codec_submessages(const struct sdr_codec *c);

/*
 * Makes the parity packets of submessage sub from the data, at their places in parity.  0, or
 * -EINVAL.
 */
int sdr_codec_encode(const struct sdr_codec *c, const void *data, void *parity, uint32_t sub);
/* Makes parity packet pkt alone, below sdr_codec_parity_most.  0, or -EINVAL. */
int sdr_codec_make(const struct sdr_codec *c, const void *data, void *parity, uint32_t pkt);

/*
 * Codewords that cannot be decoded from what the bitmaps say is there: 0, all data can be had;
 * -ENOMEM.  The bitmaps have a word for each 64 packets begun, zero behind the last one.
 */
int sdr_codec_lacking(struct sdr_codec *c, const uint64_t *data_bits, const uint64_t *parity_bits);
/*
 * Which spare parity packets would help: writes at most n of them, and returns how many there are
 * in all: as many as each codeword lacks, and has left.  -EINVAL, -ENOMEM.
 */
int sdr_codec_wanted(struct sdr_codec *c, const uint64_t *data_bits, const uint64_t *parity_bits,
		     uint32_t *pkt, uint32_t n);
/*
 * Writes the data packets that are missing, and no other byte.  Returns how many; -EAGAIN: some
 * codeword lacks too much, and nothing was written; -EINVAL, -ENOMEM.  A missing packet that comes
 * meanwhile, and is written to its place by a device or another thread, does no harm.
 */
int sdr_codec_decode(struct sdr_codec *c, void *data, const void *parity, const uint64_t *data_bits,
		     const uint64_t *parity_bits);

#ifdef __cplusplus
}
#endif
#endif /* SDR_FEC_PUBLIC_H */
