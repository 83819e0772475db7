/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* When a peer that does not answer is asked, and how often at a time.  See sdr_probe.c. */
#ifndef SDR_PROBE_H
#define SDR_PROBE_H

#include "sdr_conn.h"

/* probes that follow each other at the same distance before it doubles */
#define SDR_PROBE_PATIENT 10u
/* ns: a distance below that doubles at once: so near, it is the host that is busy */
#define SDR_PROBE_NEAR_NS (10 * MS)
/* copies that a probe has more than the one before, and at most */
#define SDR_PROBE_COPIES_STEP 2u
#define SDR_PROBE_COPIES_MAX  16u
/* pings of a round that are answered one by one */
#define SDR_PROBE_ANSWERS (SDR_PROBE_COPIES_MAX + 1)
/* packets beyond the doubling that an endpoint may send at once, and ns until it may one more */
#define SDR_PROBE_BUDGET    256u
#define SDR_PROBE_BUDGET_NS (1 * MS)
/* of the first timeout: silence after which congestion control begins anew */
#define SDR_PROBE_RESTART 15u

/* ns from the last transmission, or progress, to the next probe. */
uint64_t sdr_probe_rto(const struct sdr_conn *c);
/* One is sent in this round: what it has with it, and how far away the next one is. */
void sdr_probe_due(struct sdr_conn *c);
/* So long a silence that nothing is known of the path; true once. */
bool sdr_probe_forgets(struct sdr_conn *c);
/* Something new was acknowledged. */
void sdr_probe_answered(struct sdr_conn *c);

#endif /* SDR_PROBE_H */
