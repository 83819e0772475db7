/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive worker kernel: what is done once for every packet that an engine reports.
 *
 * From (generation, immediate, length) it finds the message, checks the generation, sets the
 * packet's bit and, when that was the last packet of its chunk, the chunk's bit.  Free-standing: no
 * allocation, no globals, no calls, no knowledge of QPs; the structs below are its whole world, so
 * it can run on a NIC's cores or on several threads at once.
 *
 * Order (law 3).  A chunk bit is set only by a worker that has seen all packet bits of the chunk
 * set, and every packet bit is set after its bytes were placed; both with release, read with
 * acquire.  So a reader of a chunk bit with acquire finds the bytes.  Two workers that set the
 * last two bits of a chunk in different words see each other because bits are set and looked at
 * with sequential consistency: at least one finds the chunk whole, and the fetch-or on the chunk
 * word tells which of them was first.
 *
 * The owner (one control thread) opens a slot by storing its word after the engine has bound the
 * buffer, and closes it by storing 0 before the engine unbinds it.  A worker may still hold a
 * message that was open when it looked: the owner may reuse a closed message only when every worker
 * has finished the packet it was at. With one thread that is at once.
 */
#ifndef SDR_RXK_H
#define SDR_RXK_H

#include <stdbool.h>

#include "wire/sdr_wire.h"

#define SDR_RXK_SLAB 64u /* messages a slab */

struct sdr_rxk_msg {
	uint64_t *pkt_bits;
	uint64_t *chunk_bits;
	uint32_t npkts; /* >= 1 */
	uint32_t tail;	/* bytes of the last packet, 0..mtu */
	uint64_t uimm;	/* low half: the user's immediate so far; bit 32 + f: fragment f has come */
};

struct sdr_rxk {
	uint32_t *slots;    /* 1 << id_bits words: 0 idle, else sdr_rxk_word() */
	void *const *slabs; /* message i is element i % SDR_RXK_SLAB of slab i / SDR_RXK_SLAB */
	uint32_t stride;    /* bytes from one message to the next in a slab */
	uint32_t mtu;	    /* bytes */
	uint32_t ppc;	    /* packets per chunk */
	uint32_t ppc_shift;
	uint64_t ppc_mul; /* off / ppc == off * ppc_mul >> ppc_shift for off < 2^30 */
	struct sdr_imm_split split;
};

enum sdr_rxk_res {
	SDR_RXK_LATE,  /* no message there, or one of another generation */
	SDR_RXK_BAD,   /* behind the message's end, or not of the length that its place has */
	SDR_RXK_DUP,   /* the bit was set */
	SDR_RXK_UIMM,  /* an empty packet behind the end, for its fragment of the immediate only */
	SDR_RXK_NEW,   /* packet bit set */
	SDR_RXK_CHUNK, /* packet bit set, and with it the chunk's */
};

struct sdr_rxk_out {
	struct sdr_rxk_msg *msg; /* valid unless LATE */
	uint32_t off;		 /* packet offset */
};

/* Word of an open slot: bit 31 set, generation in 30..27, message index below; sealed: 31 clear */
#define SDR_RXK_OPEN	  (1u << 31)
#define SDR_RXK_GEN_SHIFT 27
#define SDR_RXK_INDEX_MAX ((1u << SDR_RXK_GEN_SHIFT) - 1)

static inline uint32_t sdr_rxk_word(uint8_t gen, uint32_t index)
{
	return SDR_RXK_OPEN | (uint32_t)gen << SDR_RXK_GEN_SHIFT | index;
}

static inline struct sdr_rxk_msg *sdr_rxk_msg_at(const struct sdr_rxk *k, uint32_t word)
{
	uint32_t i = word & SDR_RXK_INDEX_MAX;

	return (struct sdr_rxk_msg *)(void *)((uint8_t *)k->slabs[i / SDR_RXK_SLAB] +
					      (size_t)(i % SDR_RXK_SLAB) * k->stride);
}

/* ppc: 1..2^30 */
void sdr_rxk_chunk_set(struct sdr_rxk *k, uint32_t ppc);
void sdr_rxk_open(struct sdr_rxk *k, uint32_t slot, uint8_t gen, uint32_t index);
void sdr_rxk_close(struct sdr_rxk *k, uint32_t slot);
/* Open no more, of no generation; its message is found by the word as before. */
void sdr_rxk_seal(struct sdr_rxk *k, uint32_t slot);
/* The worker: any thread, any number of them. */
enum sdr_rxk_res sdr_rxk_packet(const struct sdr_rxk *k, uint8_t gen, uint32_t imm, uint32_t len,
				struct sdr_rxk_out *out);

/* What a run of packets was. */
struct sdr_rxk_run {
	struct sdr_rxk_msg *msg; /* NULL: there was no message of theirs */
	uint32_t fresh, dups;	 /* packets whose bit was not set, or was */
	uint32_t chunks;	 /* whose bits were set with them */
};

/*
 * The same for n packets of one message with consecutive offsets, imm[i] of each, that all have mtu
 * bytes but the last, which has len: one access to a word for all that lie in it.  True: they were
 * taken, or *run says that they are late; false: nothing was done, they are a case for
 * sdr_rxk_packet.
 */
bool sdr_rxk_run(const struct sdr_rxk *k, uint8_t gen, const uint32_t *imm, uint32_t n,
		 uint32_t len, struct sdr_rxk_run *run);

#endif /* SDR_RXK_H */
