/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Changes of settings: those that hold from the start, those of a schedule, and those that a
 * command asks for.
 *
 * Several changes of one moment are one change: a queue in bandwidth-delay products is computed
 * when all of them are known, from the rate of its own direction and the delays of both.  A
 * change that makes no sense changes nothing.  No I/O.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "wan.h"

static bool wan_change_hits(const struct wan_change *c, int group, int path)
{
	return (c->group < 0 || c->group == group) && (c->path < 0 || c->path == path);
}

static uint64_t wan_rtt(const struct wan_net *net, const struct wan_link *to, uint32_t i)
{
	uint32_t back = i;

	if (net->shape == WAN_TWO_SIDES)
		back = i < net->paths ? i + net->paths : i - net->paths;
	return to[i].delay_ns + to[back].delay_ns;
}

int wan_change_apply(struct wan_net *net, const struct wan_plan *plan, uint64_t now,
		     const struct wan_change *c, uint32_t n, char why[WAN_WHY])
{
	const uint32_t paths = net->paths, lines = net->groups * paths;
	struct wan_link *to = calloc(lines, sizeof(*to));
	struct wan_ask *ask = calloc(lines, sizeof(*ask));
	int ret = -1;

	SDR_ASSERT(paths);
	if (!to || !ask) {
		snprintf(why, WAN_WHY, "no memory");
		goto out;
	}
	for (uint32_t i = 0; i < lines; i++) {
		to[i] = net->line[i].cfg;
		to[i].slot_bytes = plan->mtu + to[i].overhead;
		for (uint32_t k = 0; k < n; k++) {
			if (wan_change_hits(&c[k], (int)(i / paths), (int)(i % paths)) &&
			    wan_link_sets(&to[i], &ask[i], c[k].text, why))
				goto out;
		}
		to[i].slot_bytes = plan->mtu + to[i].overhead;
	}
	for (uint32_t i = 0; i < lines; i++) {
		if (wan_link_queue(&to[i], &ask[i], wan_rtt(net, to, i), why))
			goto out;
	}
	for (uint16_t g = 0; g < net->groups; g++) {
		for (uint16_t k = 0; k < paths; k++)
			wan_net_set(net, now, g, k, &to[(uint32_t)g * paths + k]);
	}
	ret = 0;
out:
	free(to);
	free(ask);
	return ret;
}
