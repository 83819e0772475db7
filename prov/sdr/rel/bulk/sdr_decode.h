/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Decoding of a segment, here or by a thread that the caller lends, see sdr_decode.c.
 */
#ifndef SDR_DECODE_H
#define SDR_DECODE_H

#include "fec/sdr_code.h"
#include "rel/conn/sdr_endpoint.h"

/*
 * Default of cfg decode_lend, bytes of sources by symbols made of them: above it a round is held up
 * longer than a thread takes to wake (0.1 ms and more at 5 to 50 GB/s of these).
 */
#define SDR_DECODE_LEND (4ull << 20)
/* no step of any was done for so long: nobody does them (a forked child has no such threads) */
#define SDR_DECODE_PATIENCE_NS (100 * 1000000ull)

/*
 * What is decoded.  All of it stays as it is until that has ended; bits: of what has come.  Apart:
 * but for packets that a device writes late, and their bits.
 */
struct sdr_decode_of {
	const struct sdr_code *code;
	const struct sdr_fec *fec;
	uint8_t *base;
	const uint8_t *parity;
	const uint64_t *data_bits;
	const uint64_t *parity_bits;
	bool apart;
};

struct sdr_decode {	      /* zeros: none is under way */
	struct sdr_list link; /* bulk->decodes: lent */
	struct sdr_job job;
	struct sdr_rel *rel;
	struct sdr_decode_of of; /* bits that may change: as they were */
	struct sdr_code_scratch w;
	uint64_t *copy; /* of those: of the parity's, and, apart, of the data's behind them */
	/* the thread's, who has taken it */
	atomic_uint state; /* enum, see sdr_decode.c */
	atomic_bool stop;
	atomic_uint steps; /* done so far */
	uint32_t seen;	   /* of them, at the last look */
};

static inline bool sdr_decode_lent(const struct sdr_decode *d)
{
	return d->rel != NULL;
}
/*
 * Is this worth a thread, and is there one?  Then it has it, and rounds ask sdr_decode_over.  d is
 * not moved meanwhile.  False: nothing has happened.
 */
bool sdr_decode_lend(struct sdr_decode *d, struct sdr_rel *rel, const struct sdr_decode_of *of);
/* In a round, of one that is lent: all is in place, it has ended. */
bool sdr_decode_over(struct sdr_decode *d);
/* Nothing is written any more; what was is right.  Not lent: nothing. */
void sdr_decode_stop(struct sdr_decode *d);
/* ns: when rounds must look even if nobody wakes them; UINT64_MAX: never. */
uint64_t sdr_decode_deadline(const struct sdr_rel *rel);

#endif /* SDR_DECODE_H */
