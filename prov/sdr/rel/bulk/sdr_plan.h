/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a transfer is laid out in SDR messages: data segments of equal size (the last may be short),
 * and behind each segment that ends beyond code.from the message with its parity.  Message i of the
 * transfer has number msn + i.
 *
 *   segment    0   1   2   3          with from inside segment 2:
 *   message    0   1   2   4          parity: messages 3 and 5
 */
#ifndef SDR_PLAN_H
#define SDR_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "fec/sdr_code.h"
#include "wire/sdr_frame.h"

struct sdr_plan {
	uint64_t len;		    /* bytes of the transfer, > 0 */
	uint64_t seg;		    /* bytes of a data segment */
	uint32_t nsegs;		    /* data segments */
	uint32_t first_coded;	    /* of them; nsegs: no parity */
	uint32_t nmsgs;		    /* messages in all */
	struct sdr_frame_code code; /* kind 0: no parity */
	/*
	 * Parity comes to a berth: of coded segment i at par_at + i * par_each, bytes; par_each 0:
	 * it does not.
	 */
	uint64_t par_at, par_each;
};

struct sdr_plan_msg { /* message i */
	uint32_t seg;
	bool parity, coded; /* coded: a data segment whose parity is the next message */
	uint64_t off, len;  /* of the segment in the transfer, bytes */
};

/*
 * code NULL: no parity, segments of seg bytes; else seg is code's.  -EINVAL: more than 2^20
 * messages.
 */
int sdr_plan_init(struct sdr_plan *p, uint64_t len, uint64_t seg,
		  const struct sdr_frame_code *code);
/*
 * Its parity comes to a berth of len bytes, behind the data if they do too.  -EINVAL: there is no
 * room.
 */
int sdr_plan_berth(struct sdr_plan *p, uint32_t mtu, uint64_t len, bool data);
void sdr_plan_msg(const struct sdr_plan *p, uint32_t i, struct sdr_plan_msg *m);
/*
 * Geometry of segment m (coded); parity_max: the longest message, bytes.  -EINVAL: it cannot
 * decode this.
 */
int sdr_plan_geometry(const struct sdr_plan *p, const struct sdr_plan_msg *m, uint32_t mtu,
		      uint64_t parity_max, struct sdr_code *g);
/* Every coded segment has a geometry, and nothing is longer than max: else -EINVAL. */
int sdr_plan_check(const struct sdr_plan *p, uint32_t mtu, uint64_t max);

#endif /* SDR_PLAN_H */
