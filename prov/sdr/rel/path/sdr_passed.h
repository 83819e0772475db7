/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a path has passed of a burst.  See sdr_passed.c.
 */
#ifndef SDR_PASSED_H
#define SDR_PASSED_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was sent yet. */
struct sdr_passed {
	uint64_t begun_ns; /* when the burst that leaves began */
	uint64_t begun;	   /* count of bytes delivered from which on they are of that burst */
	uint64_t bytes;	   /* of it that have left */
};

/*
 * bytes are sent, with inflight in front of them and delivered so far.  fresh: there was nothing to
 * send in front of them.
 */
void sdr_passed_sent(struct sdr_passed *p, uint64_t now, uint64_t bytes, uint64_t delivered,
		     uint64_t inflight, bool fresh);
/*
 * delivered bytes are, the newest of which left at tx_ns, and waited_ns longer than the path is
 * empty: bytes per second that have passed at least, pkt being one packet's; 0: it says nothing.
 */
uint64_t sdr_passed_acked(const struct sdr_passed *p, uint64_t tx_ns, uint64_t waited_ns,
			  uint64_t delivered, uint32_t pkt);

#endif /* SDR_PASSED_H */
