/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which parity a transfer gets: none, or (k, m) over its last packets.
 *
 * Packets that leave earlier than some round trips before the end are repaired by selective repeat
 * in time; only those behind need parity.  There, codewords of k packets (one symbol each, spread
 * as far apart as possible) get the smallest m with which the whole transfer needs no further round
 * trip but with probability (1 - q) / 50, or / 10 where that takes less time (q the objective's
 * quantile; for the mean: with which the expected time is smallest), within max_overhead.  If that
 * does not allow as much, what it allows is sent; parity that would fail more often than not is not
 * sent at all.
 *
 * rel/ makes a choice for each transfer with what it has learned about the path
 * (sdr_loss_est_known), the model's hybrid scheme with a loss that is given (sdr_choice_loss_of):
 * the same code decides.
 *
 * m comes from a table by loss rate, burst length and failure probability, filled lazily
 * (sdr_choice_table.h): sums of probabilities are computed once for an entry, never again on the
 * send path.
 */
#ifndef SDR_CHOICE_H
#define SDR_CHOICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sdr/model.h>

#pragma GCC visibility push(hidden)

#define SDR_CHOICE_K	128u /* maximum packets per codeword */
#define SDR_CHOICE_SYMS 200u /* maximum k + m: the rows left are for repairs */
/* maximum bytes per segment: what rel/ cuts transfers into */
#define SDR_CHOICE_SEG (64ull << 20)
/* a lone packet is sent twice if lost with more than the quantile's 1 - q over this */
#define SDR_CHOICE_REPEAT 10.0
/* probability that a round of parity on demand fails, each codeword */
#define SDR_CHOICE_REPAIR_EPS 1e-4
/* ns: nearer peers get no parity under auto: a repair costs less */
#define SDR_CHOICE_RTT_MIN (1000000ull)

/*
 * What is known of the path's loss.  The rate of bursts is Gamma(events, pkts), unless the path
 * loses nothing.
 */
struct sdr_choice_loss {
	double upper;	     /* bound of the packets' loss rate, 0..1 */
	double burst;	     /* mean packets lost in a row, >= 1 */
	double events, pkts; /* shape, >= 0, and rate, packets, > 0 */
	double lossy;	     /* probability that the path loses at all */
	bool seen;	     /* a loss is remembered */
};

struct sdr_choice_in {
	bool far_only;	   /* auto: no parity for near peers */
	uint8_t objective; /* enum sdr_objective */
	double max_overhead;
	uint64_t npkts;	   /* of the transfer, > 0 */
	uint64_t seg_pkts; /* of a segment: codewords do not reach beyond it; 0: one segment */
	uint64_t rtt_ns;   /* smoothed */
	double pkts_ns;	   /* packets per ns at the current rate; 0: unlimited */
	const struct sdr_choice_loss *loss;
};

enum sdr_choice_why {
	SDR_CHOICE_PARITY, /* (k, m) is given */
	SDR_CHOICE_NEAR,   /* auto: repairs are cheap */
	/* no loss to be expected within the objective; mean: parity would cost more time */
	SDR_CHOICE_CLEAN,
	/* what is needed is more than max_overhead allows; (k, m) is what it allows, or 0 */
	SDR_CHOICE_OVERHEAD,
	SDR_CHOICE_HOPELESS, /* so much loss that no parity suffices */
};

struct sdr_choice {
	enum sdr_choice_why why;
	uint16_t k, m; /* packets of a codeword, parity packets; 0: none */
	/* packets at the end of the transfer that get parity: npkts, or some round trips' worth */
	uint64_t cover;
	double fail; /* predicted probability of a further round trip, from above */
};

struct sdr_choice_table; /* one per endpoint; not thread-safe */
struct sdr_choice_table *sdr_choice_table_create(void);
void sdr_choice_table_destroy(struct sdr_choice_table *t);

/* A loss that is known exactly: p of the packets, 0 <= p < 1, in bursts of this mean length. */
void sdr_choice_loss_of(struct sdr_choice_loss *l, double p, double burst);
/* Probability that the next n packets lose at least one. */
double sdr_choice_any(const struct sdr_choice_loss *l, double n);

/* 1 - q of enum sdr_objective; the mean's: as p99's */
double sdr_choice_quantile(uint8_t objective);

void sdr_choose(struct sdr_choice_table *t, const struct sdr_choice_in *in, struct sdr_choice *out);
/*
 * Packets to send on demand so that `deficit` of them arrive, but with probability eps: deficit + a
 * margin. deficit: 1..255, more is answered with as many; the answer is <= max(255, deficit).
 */
uint32_t sdr_choice_repair(struct sdr_choice_table *t, const struct sdr_choice_loss *loss,
			   uint32_t deficit, double eps);
const char *sdr_choice_text(enum sdr_choice_why why); /* a reason as text, for the log */

#pragma GCC visibility pop

#endif /* SDR_CHOICE_H */
