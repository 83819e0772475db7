/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which parity a transfer gets: none, or (k, m) over its last packets.
 *
 * Packets that leave earlier than some round trips before the end are repaired by selective repeat in time; only
 * those behind need parity.  There, codewords of k packets (one symbol each, spread as far apart as possible) get
 * the smallest m with which the whole transfer needs no further round trip but with probability (1 - q) / 50 (q
 * the objective's quantile; for the mean: with which the expected time is smallest), within max_overhead.  If that
 * does not allow as much, what it allows is sent; parity that would fail more often than not is not sent at all.
 *
 * m comes from a table by loss rate, burst length and failure probability, filled lazily (sdr_choice_table.h): sums
 * of probabilities are computed once for an entry, never again on the send path.
 */
#ifndef SDR_CHOICE_H
#define SDR_CHOICE_H

#include "sdr_loss.h"
#include "sdr_rel_cfg.h"

#define SDR_CHOICE_K	   128u		/* packets of a codeword at the most */
#define SDR_CHOICE_SYMS	   200u		/* k + m at the most: the rows left are for repairs */
#define SDR_CHOICE_RTT_MIN (1000000ull) /* ns: nearer peers get no parity under auto: a repair costs less */

struct sdr_choice_in {
	enum sdr_rel_scheme scheme; /* HYBRID, AUTO */
	uint8_t objective;	    /* enum sdr_objective */
	double max_overhead;
	uint64_t npkts;	   /* of the transfer, > 0 */
	uint64_t seg_pkts; /* of a segment: codewords do not reach beyond it; 0: one segment */
	uint64_t rtt_ns;   /* smoothed */
	double pkts_ns;	   /* packets per ns at the current rate; 0: unlimited */
	const struct sdr_loss *loss;
};

enum sdr_choice_why {
	SDR_CHOICE_PARITY,   /* (k, m) is given */
	SDR_CHOICE_NEAR,     /* auto: repairs are cheap */
	SDR_CHOICE_CLEAN,    /* no loss to be expected within the objective; mean: parity would cost more time */
	SDR_CHOICE_OVERHEAD, /* what is needed is more than max_overhead allows; (k, m) is what it allows, or 0 */
	SDR_CHOICE_HOPELESS, /* so much loss that no parity suffices */
};

struct sdr_choice {
	enum sdr_choice_why why;
	uint16_t k, m;	/* packets of a codeword, parity packets; 0: none */
	uint64_t cover; /* packets at the end of the transfer that get parity: npkts, or some round trips' worth */
	double fail;	/* predicted probability of a further round trip, from above */
};

struct sdr_choice_table; /* one an endpoint; not thread-safe */
struct sdr_choice_table *sdr_choice_table_create(void);
void sdr_choice_table_destroy(struct sdr_choice_table *t);

double sdr_choice_quantile(uint8_t objective); /* 1 - q of enum sdr_objective; the mean's: as p99's */

void sdr_choose(struct sdr_choice_table *t, const struct sdr_choice_in *in, struct sdr_choice *out);
/*
 * Packets to send on demand so that `deficit` of them arrive, but with probability eps: deficit + a margin.
 * deficit: 1..255, more is answered with as many; the answer is <= max(255, deficit).
 */
uint32_t sdr_choice_repair(struct sdr_choice_table *t, const struct sdr_loss *loss, uint32_t deficit, double eps);
const char *sdr_choice_text(enum sdr_choice_why why); /* a reason in words, for the log */

#endif /* SDR_CHOICE_H */
