/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The option --lane of sdr_sim: what one path of several has of its own.
 *
 * Keys have the names, the values and the bounds of the options that say the same of all paths;
 * what a lane does not name it has from them.  "dead" is a lane's alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_lane.h"
#include "tools/common/tool.h"
#include "tools/common/tool_opt.h"

#define LANE "lane"

static const struct {
	const char *name;
	double min, max;
} keys[SIM_LANE_KEYS] = {
	[SIM_LANE_BANDWIDTH] = { "bandwidth", 1e6, 1e13 },
	[SIM_LANE_RTT] = { "rtt", 0, 10 },
	[SIM_LANE_LOSS] = { "loss", 0, 0.9 },
	[SIM_LANE_REVERSE] = { "reverse-loss", 0, 0.9 },
	[SIM_LANE_JITTER] = { "jitter", 0, 10 },
	[SIM_LANE_QUEUE] = { "queue", 0, 1e15 },
	[SIM_LANE_DEAD] = { "dead", 0, 1e6 },
};

/* "iid:P", "ge:SHARE:BURST", or "P" alone. */
static void lane_loss(struct sim_lane *l, const char *s)
{
	bool ge = strncmp(s, "ge:", 3) == 0;
	const char *rest;

	if (ge || strncmp(s, "iid:", 4) == 0)
		s = strchr(s, ':') + 1;
	l->value[SIM_LANE_LOSS] = tool_opt_pair(LANE, s, 0, keys[SIM_LANE_LOSS].max, &rest);
	if (ge != (rest != NULL))
		tool_bad("--lane: loss=%.64s is neither iid:P nor ge:SHARE:BURST", s);
	l->burst = ge ? tool_opt_real(LANE, rest, 1, 1e6) : 0;
}

static void lane_key(struct sim_lane *l, enum sim_lane_key key, const char *s)
{
	const char *rest;

	l->given |= 1u << key;
	switch (key) {
	case SIM_LANE_LOSS:
		lane_loss(l, s);
		break;
	case SIM_LANE_QUEUE:
		l->value[key] = (double)tool_opt_whole(LANE, s, 0, (uint64_t)keys[key].max);
		break;
	case SIM_LANE_DEAD:
		l->value[key] = tool_opt_pair(LANE, s, 0, keys[key].max, &rest);
		if (!rest)
			tool_bad("--lane: dead=%.64s is not FROM:TO, seconds", s);
		l->dead_to_s = tool_opt_real(LANE, rest, l->value[key], keys[key].max);
		break;
	default:
		l->value[key] = tool_opt_real(LANE, s, keys[key].min, keys[key].max);
	}
}

static void lane_pair(struct sim_lane *l, const char *s, size_t len)
{
	char text[TOOL_NUMBER], *is;

	if (len >= sizeof(text))
		tool_bad("--lane: \"%.64s\" is none of what it takes; see sdr_sim --help", s);
	snprintf(text, sizeof(text), "%.*s", (int)len, s);
	is = strchr(text, '=');
	if (!is)
		tool_bad("--lane: \"%s\" is not KEY=VALUE", text);
	*is++ = 0;
	for (unsigned int k = 0; k < SIM_LANE_KEYS; k++) {
		if (strcmp(text, keys[k].name) == 0) {
			lane_key(l, (enum sim_lane_key)k, is);
			return;
		}
	}
	tool_bad(
		"--lane: there is no \"%s\": bandwidth, rtt, loss, reverse-loss, jitter, queue, dead",
		text);
}

void sim_lane_read(struct sim_lane lane[SDR_PATHS_MAX], const char *s)
{
	const char *rest;
	uint32_t k = (uint32_t)tool_opt_pair(LANE, s, 0, SDR_PATHS_MAX - 1, &rest);
	size_t len;

	if (!rest)
		tool_bad("--lane: \"%.64s\" is not K:KEY=VALUE,...", s);
	for (; *rest; rest += len + (rest[len] == ',')) {
		len = strcspn(rest, ",");
		lane_pair(&lane[k], rest, len);
	}
}

static void lane_loss_set(struct sdr_sim_link *link, double loss, double burst)
{
	link->loss = burst > 1 ? 0 : loss;
	link->ge_loss = burst > 1 ? loss : 0;
	link->ge_burst = burst;
}

void sim_lane_links(const struct sim_lane *l, double wire, bool lossless, struct sim_bed_lane *out)
{
	struct sdr_sim_link *both[2] = { &out->forward, &out->backward };

	for (int i = 0; i < 2; i++) {
		struct sdr_sim_link *k = both[i];

		if (sim_lane_has(l, SIM_LANE_BANDWIDTH))
			k->rate_bps = (uint64_t)llround(l->value[SIM_LANE_BANDWIDTH] * wire);
		if (sim_lane_has(l, SIM_LANE_RTT))
			k->delay_ns = (uint64_t)llround(l->value[SIM_LANE_RTT] / 2 * SIM_NS);
		if (lossless)
			continue;
		if (sim_lane_has(l, SIM_LANE_JITTER))
			k->jitter_ns = (uint64_t)llround(l->value[SIM_LANE_JITTER] * SIM_NS);
		if (sim_lane_has(l, SIM_LANE_QUEUE))
			k->queue_bytes = (uint64_t)l->value[SIM_LANE_QUEUE];
	}
	if (lossless)
		return;
	if (sim_lane_has(l, SIM_LANE_LOSS))
		lane_loss_set(&out->forward, l->value[SIM_LANE_LOSS], l->burst);
	if (sim_lane_has(l, SIM_LANE_REVERSE))
		lane_loss_set(&out->backward, l->value[SIM_LANE_REVERSE], 0);
	if (sim_lane_has(l, SIM_LANE_DEAD)) {
		out->dead_from_ns = (uint64_t)llround(l->value[SIM_LANE_DEAD] * SIM_NS);
		out->dead_to_ns = (uint64_t)llround(l->dead_to_s * SIM_NS);
	}
}
