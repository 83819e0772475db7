/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Active queue management: a law is a row of a table, asked for each packet that leaves the queue.
 *
 * tail: none; the end of the queue drops what has no room (wan_line.c).
 * step: what may be marked is marked when it waited longer than a threshold.
 * codel: RFC 8289, packet by packet; with marks, what may be marked is marked where it would have
 * been dropped.  A dropped packet takes no time on the line, so that the next one is asked about
 * at the same time, as in the loop of the RFC.
 *
 * Time is a parameter; no randomness.
 */
#include <math.h>

#include "wan_aqm.h"

typedef enum wan_fate (*wan_law)(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
				 uint64_t sojourn, uint64_t behind, bool ect);

static enum wan_fate wan_tail(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			      uint64_t sojourn, uint64_t behind, bool ect)
{
	(void)a, (void)cfg, (void)now, (void)sojourn, (void)behind, (void)ect;
	return WAN_PASS;
}

static enum wan_fate wan_step(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			      uint64_t sojourn, uint64_t behind, bool ect)
{
	(void)a, (void)now, (void)behind;
	return ect && sojourn > cfg->target_ns ? WAN_MARK : WAN_PASS;
}

static uint64_t wan_codel_next(const struct wan_link *cfg, uint64_t t, uint32_t count)
{
	return t + (uint64_t)((double)cfg->interval_ns / sqrt((double)count));
}

/* Above the target for a whole interval. */
static bool wan_codel_above(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			    uint64_t sojourn, uint64_t behind)
{
	if (sojourn < cfg->target_ns || behind <= cfg->slot_bytes) {
		a->above_ns = 0;
		return false;
	}
	if (!a->above_ns) {
		a->above_ns = now + cfg->interval_ns;
		return false;
	}
	return now >= a->above_ns;
}

static enum wan_fate wan_codel(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			       uint64_t sojourn, uint64_t behind, bool ect)
{
	bool above = wan_codel_above(a, cfg, now, sojourn, behind);
	uint32_t delta;

	if (a->dropping) {
		if (!above) {
			a->dropping = false;
			return WAN_PASS;
		}
		if (now < a->next_ns)
			return WAN_PASS;
		a->count++;
		a->next_ns = wan_codel_next(cfg, a->next_ns, a->count);
	} else {
		if (!above)
			return WAN_PASS;
		a->dropping = true;
		delta = a->count - a->last;
		a->count = delta > 1 && now - a->next_ns < 16 * cfg->interval_ns ? delta : 1;
		a->next_ns = wan_codel_next(cfg, now, a->count);
		a->last = a->count;
	}
	return cfg->aqm_marks && ect ? WAN_MARK : WAN_DROP;
}

enum wan_fate wan_aqm_leave(struct wan_aqm *a, const struct wan_link *cfg, uint64_t now,
			    uint64_t sojourn, uint64_t behind, bool ect)
{
	static const wan_law laws[WAN_AQMS] = {
		[WAN_TAIL] = wan_tail, [WAN_CODEL] = wan_codel, [WAN_STEP] = wan_step
	};

	return laws[cfg->aqm](a, cfg, now, sojourn, behind, ect);
}
