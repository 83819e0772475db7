/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A case of the bars as a set-up, and what is measured of its runs.
 *
 * Rates, delays and shares are judged by their mean over the seeds; times of messages by those of
 * all seeds together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "share_bars.h"

#define BUSY_S	     100e-6
#define BUSY_EVERY_S 1e-3

static const char *const names[BAR_METRICS] = {
	[BAR_NONE] = "",
	[BAR_DROP] = "drop",
	[BAR_DROP_SETTLED] = "drop_settled",
	[BAR_JAIN] = "jain",
	[BAR_UTIL] = "util",
	[BAR_DELAY50] = "delay_p50",
	[BAR_DELAY95] = "delay_p95",
	[BAR_SHARE] = "share",
	[BAR_SHARE_LEAST] = "share_least",
	[BAR_FIRST] = "share_first",
	[BAR_LATE] = "late_s",
	[BAR_PARITY] = "parity",
	[BAR_LEAVES] = "leaves",
	[BAR_ADAPT] = "adapt_s",
	[BAR_MEAN] = "mean",
	[BAR_P99] = "p99",
	[BAR_LONGEST] = "longest_rtts",
};

const char *bar_metric_name(enum bar_metric m)
{
	return names[m];
}

static void bar_cfg(const struct bar_case *c, const struct sdr_cc_ops *cc, struct share_cfg *cfg)
{
	double rtt = c->rtt_s > 0 ? c->rtt_s : 25e-3;

	share_cfg_init(cfg);
	cfg->flows = c->flows;
	cfg->cc = cc;
	cfg->rate_bps = c->rate_bps > 0 ? c->rate_bps : 1e9;
	for (uint32_t i = 0; i < SHARE_FLOWS_MAX; i++)
		cfg->rtt_s[i] = rtt;
	cfg->queue_bdp = c->queue_bytes ? -1 : c->queue_bdp > 0 ? c->queue_bdp : 1;
	cfg->queue_bytes = c->queue_bytes;
	cfg->path_mtu = c->mtu ? c->mtu : 9000;
	cfg->loss = c->loss;
	cfg->ge_loss = c->ge_loss;
	cfg->ge_burst = c->ge_burst;
	cfg->jitter_s = c->jitter_s;
	cfg->reorder = c->reorder;
	cfg->reorder_s = c->reorder_s;
	cfg->ge_packets = c->ge_packets;
	cfg->reverse_loss = c->loss; /* as an emulator's has it */
	cfg->incast = c->incast;
	cfg->probes = c->probes;
	if (c->size)
		cfg->size = c->size;
	if (c->window)
		cfg->window = c->window;
	cfg->messages = c->messages;
	cfg->warm = c->warm;
	cfg->pause_s = c->pause_s;
	cfg->teach_bytes = c->teach_bytes;
	cfg->ranks = c->ranks;
	cfg->greets = c->greets || (c->messages && !c->ranks);
	cfg->seconds = c->seconds > 0 ? c->seconds : c->messages ? 3600 : 10;
	cfg->mark_s = c->mark_s;
	cfg->codel_target_s = c->codel_s;
	cfg->codel_interval_s = c->codel_s > 0 ? 0.1 : 0;
	if (c->rival)
		cfg->rival[cfg->rivals++] = c->rival;
	if (c->other)
		cfg->rival[cfg->rivals++] = c->other;
	if (c->late_s > 0)
		cfg->start_s[cfg->flows - 1] = c->late_s;
	for (uint32_t i = 0; i < cfg->flows && c->apart_s > 0; i++)
		cfg->start_s[i] = i * c->apart_s;
	if (c->clocks_s > 0)
		cfg->clocks_s = c->clocks_s;
	cfg->stall_s = c->stall_s;
	cfg->stall_every_s = c->stall_every_s;
	if (c->at_s > 0)
		cfg->change[cfg->changes++] = (struct share_change){ c->at_s, c->at_rate_bps };
}

void bar_run(const struct bar_case *c, const struct sdr_cc_ops *cc, bool busy, uint64_t seed,
	     struct bar_run *r)
{
	struct share_cfg cfg;

	bar_cfg(c, cc, &cfg);
	if (busy && !(cfg.stall_s > 0)) {
		cfg.stall_s = BUSY_S;
		cfg.stall_every_s = BUSY_EVERY_S;
	}
	if (c->ref) {
		struct share_cfg other = cfg;

		other.flows = 0;
		other.rival[0] = c->rival;
		other.rival[1] = c->ref;
		other.rivals = 2;
		share_run(&other, seed, &r->res, NULL, NULL);
		r->ref_bps = r->res.flow[0].goodput_bps;
		if (r->res.failed)
			return;
	}
	share_run(&cfg, seed, &r->res, NULL, NULL);
}

/* ---- one run --------------------------------------------------------------------------------- */

static double bar_share(const struct bar_case *c, const struct share_result *r, enum bar_metric m)
{
	double sum = 0, own = 0, min = INFINITY;

	for (uint32_t i = 0; i < r->flows; i++) {
		sum += r->flow[i].goodput_bps;
		own += i < c->flows ? r->flow[i].goodput_bps : 0;
		min = fmin(min, r->flow[i].goodput_bps);
	}
	if (m != BAR_SHARE)
		own = m == BAR_FIRST ? r->flow[0].goodput_bps : min;
	return sum > 0 ? own / sum : 0;
}

static double bar_value(const struct bar_case *c, enum bar_metric m, const struct bar_run *run)
{
	const struct share_result *r = &run->res;
	double late;

	switch (m) {
	case BAR_DROP:
		return r->drop_all;
	case BAR_DROP_SETTLED:
		return r->drop_settled;
	case BAR_JAIN:
		return r->jain;
	case BAR_UTIL:
		return r->utilisation;
	case BAR_DELAY50:
		return r->delay_p50_s;
	case BAR_DELAY95:
		return r->delay_p95_s;
	case BAR_SHARE:
	case BAR_SHARE_LEAST:
	case BAR_FIRST:
		return bar_share(c, r, m);
	case BAR_LATE:
		late = r->flow[c->flows - 1].to_share_s;
		return late < 0 ? INFINITY : late;
	case BAR_PARITY:
		return r->parity_settled;
	case BAR_LEAVES:
		return run->ref_bps > 0 ? r->flow[c->flows].goodput_bps / run->ref_bps : INFINITY;
	case BAR_ADAPT:
		return r->adapt_s < 0 ? INFINITY : r->adapt_s;
	default:
		return NAN;
	}
}

/* ---- times of messages ----------------------------------------------------------------------- */

static int bar_less(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double bar_times(const struct bar_case *c, enum bar_metric m, const struct bar_run *r,
			uint32_t seeds)
{
	double rtt = c->rtt_s > 0 ? c->rtt_s : 25e-3, rate = c->rate_bps > 0 ? c->rate_bps : 1e9;
	double ideal = rtt + (double)c->size * 8 / rate, sum = 0, v;
	float *t = calloc((size_t)seeds * SHARE_TIMES_MAX, sizeof(*t));
	size_t n = 0;

	if (!t)
		return NAN;
	for (uint32_t i = 0; i < seeds; i++) {
		memcpy(t + n, r[i].res.time_s, r[i].res.times * sizeof(*t));
		n += r[i].res.times;
	}
	qsort(t, n, sizeof(*t), bar_less);
	for (size_t i = 0; i < n; i++)
		sum += (double)t[i];
	if (!n)
		v = INFINITY;
	else if (m == BAR_MEAN)
		v = sum / (double)n / ideal;
	else if (m == BAR_P99)
		v = (double)t[(size_t)ceil((double)n * 0.99) - 1] / ideal;
	else
		v = (double)t[n - 1] / rtt;
	free(t);
	return v;
}

void bar_judge(const struct bar_case *c, const struct bar_must *m, const struct bar_run *r,
	       uint32_t seeds, struct bar_verdict *v)
{
	double x, sum = 0, worst = NAN;

	if (m->metric >= BAR_MEAN) {
		v->mean = v->worst = bar_times(c, m->metric, r, seeds);
	} else {
		for (uint32_t i = 0; i < seeds; i++) {
			x = bar_value(c, m->metric, &r[i]);
			sum += x;
			worst = m->sense == BAR_LEAST ? fmin(worst, x) : fmax(worst, x);
		}
		v->mean = sum / seeds;
		v->worst = worst;
	}
	v->held = m->sense == BAR_SAY ||
		  (m->sense == BAR_MOST ? v->mean <= m->bound : v->mean >= m->bound);
}
