/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a queue does to a packet that has waited: see wan_aqm.c. */
#ifndef SDR_TOOLS_WAN_AQM_H
#define SDR_TOOLS_WAN_AQM_H

#include "wan_link.h"

enum wan_fate { WAN_PASS, WAN_MARK, WAN_DROP };

struct wan_aqm {
	uint64_t above_ns; /* CoDel: when it has been above its target for an interval; 0: is not */
	uint64_t next_ns;  /*	of the next drop */
	uint32_t count, last;
	bool dropping;
};

/*
 * Of a packet that leaves the queue at now after sojourn ns, with so many bytes behind it; ect: it
 * may be marked.  Times do not go back.
 */
enum wan_fate wan_aqm_leave(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			    uint64_t sojourn, uint64_t behind, bool ect);

#endif /* SDR_TOOLS_WAN_AQM_H */
