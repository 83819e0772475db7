/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fault injection: an engine over any other engine that impairs what is sent through it, data and
 * control, packet by packet as they would appear on the wire.  Nothing received is touched: a round
 * trip sees the sum of what both sides do.
 *
 *   drop=1e-3	     packets lost, a fraction	     burst=8	mean length of a burst of losses,
 *   packets (Gilbert-Elliott)
 *   dup=1e-4	     packets sent twice		     reorder=1e-3	packets held back beyond
 *   their turn
 *   corrupt=1e-4    packets with a flipped bit
 *   delay=12.5ms    one-way delay		     jitter=1ms	added, uniform, order is kept
 *   rate=1gbit	     bits per second (bit, kbit, mbit, gbit), wire headers counted
 *   queue=4m	     bytes before that rate's queue overflows (b, k, m, g; powers of 1024)
 *   blackout=2s+10s nothing sent passes from 2 s to 12 s after the engine was opened
 *   seed=7	     of the random numbers: the same text makes the same decisions
 *
 * Any subset, separated by commas.  Times need a unit (ns, us, ms, s) unless they are 0.
 */
#ifndef SDR_FAULT_H
#define SDR_FAULT_H

#include "uc/sdr_uc.h"

#define SDR_FAULT_DRAIN_NS 5000000000ull /* closing waits this long for what is held back */

struct sdr_fault_spec {
	double drop, dup, reorder, corrupt; /* probabilities, 0..1 */
	double burst;			    /* packets, >= 1; 0 or 1: losses are independent */
	uint64_t delay_ns, jitter_ns;
	uint64_t rate_bps;		       /* 0: no limit */
	uint64_t queue_bytes;		       /* 0: max(4 MiB, twice 25 ms at the rate) */
	uint64_t blackout_ns, blackout_len_ns; /* start after open; length 0: none */
	uint64_t seed;
	bool has_seed;
};

/*
 * 0, or -EINVAL and a text at err (may be NULL) that names the bad token and what was expected.  An
 * empty text is a specification without faults.
 */
int sdr_fault_parse(const char *s, struct sdr_fault_spec *out, char *err, size_t err_len);

/*
 * Wraps inner and owns it from then on (closed together; what is held back leaves first, at its
 * time, if that is within SDR_FAULT_DRAIN_NS, else at once); on failure inner stays the caller's.
 * seed: used when the text has none.
 */
int sdr_fault_open(struct sdr_uc *inner, const char *spec, uint64_t seed, struct sdr_uc **uc,
		   char *err, size_t err_len);
int sdr_fault_open_spec(struct sdr_uc *inner, const struct sdr_fault_spec *spec,
			struct sdr_uc **uc);

#endif /* SDR_FAULT_H */
