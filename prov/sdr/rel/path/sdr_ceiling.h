/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A rate that all who share it keep together, see sdr_ceiling.c.
 */
#ifndef SDR_CEILING_H
#define SDR_CEILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What one takes at a time: what the rate gives in 200 us, within these bounds. */
#define SDR_CEILING_QUANTUM_NS	200000ull
#define SDR_CEILING_QUANTUM_MIN (10u * 1024) /* bytes; a packet of any size */
#define SDR_CEILING_QUANTUM_MAX (256u * 1024)
/* Who waited and came late (timer slack) earns as much of it back. */
#define SDR_CEILING_CATCHUP_NS 2000000ull
/* A word so far ahead is not one that waiting senders have made. */
#define SDR_CEILING_FAR_NS (60 * 1000000000ull)

/*
 * Shared by endpoints, by processes when it lies in memory that they share: ns of one clock until
 * which the rate is given away.  0 at first.
 */
struct sdr_ceiling_word {
	_Atomic uint64_t given;
};

/* One who shares it. */
struct sdr_ceiling {
	struct sdr_ceiling_word *word; /* NULL: there is no ceiling */
	uint64_t rate_Bps;
	uint64_t quantum; /* bytes */
	int64_t credit;	  /* bytes taken and not sent; negative: sent and not taken */
	uint64_t at;	  /* ns: credit may be used from then on */
	uint64_t used;	  /* ns: sent last */
	bool waited;	  /* when it was taken, or what was before, that was in the future */
};

/* rate_bps: bits per second, at least 8; now on the clock of all who share the word. */
void sdr_ceiling_init(struct sdr_ceiling *c, struct sdr_ceiling_word *word, uint64_t rate_bps);
/*
 * Bytes that may leave now (UINT64_MAX without a ceiling); > 0: at least one packet, the debt is
 * returned.  0: wait until sdr_ceiling_next; the turn is reserved.  To be asked last, by who would
 * send.
 */
uint64_t sdr_ceiling_allow(struct sdr_ceiling *c, uint64_t now);
/* So many bytes left: those that were allowed, and those that nobody asks for. */
void sdr_ceiling_sent(struct sdr_ceiling *c, uint64_t bytes, uint64_t now);
/* ns; when allow has said 0. */
static inline uint64_t sdr_ceiling_next(const struct sdr_ceiling *c)
{
	return c->at;
}

#endif /* SDR_CEILING_H */
