/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One run of flows at a shared bottleneck: time, the looks at the queue, the counters.
 *
 * The queue is looked at after times that are exponentially distributed, as a ping would meet it
 * that knows nothing of the flows.  What is "settled" begins a while after the last flow has
 * started; all of it is a difference of two counts.  A flow's share of the line is smoothed over
 * SHARE_SMOOTH_S, and is what "time to its share" is read from.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "share.h"

#define SHARE_SAMPLES_MAX 1000000u
#define SHARE_LOOK_S	  0.02 /* the flows' rates are looked at so often */
#define SHARE_SMOOTH_S	  0.2
#define SHARE_ADAPTED	  0.9
#define SHARE_SHARE	  0.8 /* of an equal share: what a late-comer is to have */

struct share_clock {
	struct share_bed *b;
	uint64_t end_ns, settled_ns, sample_ns, look_ns, series_ns;
	bool settled;
	float *delay_s;
	uint32_t samples, room;
	double delay_sum; /* of the line of the series */
	uint32_t delay_n;
	uint64_t look_bytes[SHARE_FLOWS_MAX];
	uint64_t stall_ns[2 * SHARE_FLOWS_MAX]; /* the next of each node */
	void (*say)(void *user, uint32_t flow, const struct share_tick *t);
	void *user;
};

static uint64_t share_ns(double s)
{
	return (uint64_t)(s * SHARE_NS);
}

static double share_ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static double share_uniform(struct share_bed *b)
{
	return (double)((share_rand(b) >> 11) + 1) * 0x1p-53; /* (0, 1] */
}

static uint64_t share_drawn(struct share_bed *b, double mean_s)
{
	return share_ns(-log(share_uniform(b)) * mean_s) + 1;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void share_sample(struct share_clock *c)
{
	struct share_bed *b = c->b;
	double s = (double)sdr_sim_line_wait(b->eps.w, (uint32_t)b->line) / SHARE_NS;

	c->sample_ns += share_drawn(b, b->cfg->sample_s);
	c->delay_sum += s;
	c->delay_n++;
	if (c->settled && c->samples < c->room)
		c->delay_s[c->samples++] = (float)s;
}

/* All flows together have so many bits a second: do they use what the line has become? */
static void share_adapted(struct share_clock *c, double sum)
{
	const struct share_cfg *cfg = c->b->cfg;
	double now = share_now(c->b);
	const struct share_change *last;

	if (!cfg->changes || c->b->res->adapt_s >= 0)
		return;
	last = &cfg->change[cfg->changes - 1];
	if (now < last->at_s + SHARE_SMOOTH_S)
		return;
	if (sum >= SHARE_ADAPTED * last->rate_bps)
		c->b->res->adapt_s = now - last->at_s;
}

static void share_stalls(struct share_clock *c)
{
	struct share_bed *b = c->b;
	uint64_t now = sim_eps_now(&b->eps), ns;

	for (uint32_t i = 0; i < 2 * b->cfg->flows; i++) {
		if (now < c->stall_ns[i])
			continue;
		ns = share_drawn(b, b->cfg->stall_s);
		sdr_sim_node_stall(b->eps.w, i, now + ns);
		c->stall_ns[i] = now + ns + share_drawn(b, b->cfg->stall_every_s);
	}
}

/* The flows' rates on the line, and who has reached a share. */
static void share_look(struct share_clock *c)
{
	struct share_bed *b = c->b;
	double keep = exp(-SHARE_LOOK_S / SHARE_SMOOTH_S), sum = 0;
	struct sdr_sim_link_stats l;
	uint32_t running = 0;

	c->look_ns += share_ns(SHARE_LOOK_S);
	for (uint32_t i = 0; i < b->flows; i++) {
		struct share_flow *f = &b->flow[i];

		sdr_sim_link_stats(b->eps.w, f->from, f->to, &l);
		f->share_bps =
			keep * f->share_bps +
			(1 - keep) * (double)(l.line_bytes - c->look_bytes[i]) * 8 / SHARE_LOOK_S;
		c->look_bytes[i] = l.line_bytes;
		sum += f->share_bps;
		running += f->started;
	}
	share_adapted(c, sum);
	for (uint32_t i = 0; i < b->flows; i++) {
		struct share_flow *f = &b->flow[i];

		if (f->started && f->res->to_share_s < 0 &&
		    f->share_bps * running >= SHARE_SHARE * sum)
			f->res->to_share_s =
				(double)(sim_eps_now(&b->eps) - f->start_ns) / SHARE_NS;
	}
}

static void share_series(struct share_clock *c)
{
	struct share_bed *b = c->b;
	double span = b->cfg->series_s;

	c->series_ns += share_ns(span);
	for (uint32_t i = 0; i < b->flows; i++) {
		struct share_flow *f = &b->flow[i];
		struct share_count n, *o = &f->tick;
		struct share_tick t = { .t_s = share_now(b) };

		share_flow_count(f, &n);
		t.rate_bps = (double)(n.line_bytes - o->line_bytes) * 8 / span;
		t.goodput_bps = (double)(n.bytes - o->bytes) * 8 / span;
		t.drop = share_ratio(n.dropped - o->dropped, n.offered - o->offered);
		t.delay_s = c->delay_n ? c->delay_sum / c->delay_n : 0;
		share_flow_state(f, &t);
		c->say(c->user, i, &t);
		*o = n;
	}
	c->delay_sum = 0;
	c->delay_n = 0;
}

static void share_settle(struct share_clock *c)
{
	struct share_bed *b = c->b;

	c->settled = true;
	for (uint32_t i = 0; i < b->flows; i++)
		share_flow_count(&b->flow[i], &b->flow[i].mark);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* When the run itself has something to do. */
static uint64_t share_next(const struct share_clock *c)
{
	uint64_t t = c->end_ns, now = sim_eps_now(&c->b->eps);

	if (!c->settled && c->settled_ns < t)
		t = c->settled_ns;
	t = c->sample_ns < t ? c->sample_ns : t;
	t = c->look_ns < t ? c->look_ns : t;
	if (c->say && c->series_ns < t)
		t = c->series_ns;
	for (uint32_t i = 0; c->b->cfg->stall_s > 0 && i < 2 * c->b->cfg->flows; i++)
		t = c->stall_ns[i] < t ? c->stall_ns[i] : t;
	for (uint32_t i = 0; i < c->b->flows; i++) {
		const struct share_flow *f = &c->b->flow[i];
		uint64_t own = f->started ? f->next_ns : f->start_ns;

		if (own > now && own < t)
			t = own;
	}
	return t;
}

static void share_due(struct share_clock *c)
{
	struct share_bed *b = c->b;
	uint64_t now = sim_eps_now(&b->eps);

	if (!c->settled && now >= c->settled_ns)
		share_settle(c);
	if (now >= c->sample_ns)
		share_sample(c);
	if (now >= c->look_ns)
		share_look(c);
	if (b->cfg->stall_s > 0)
		share_stalls(c);
	if (c->say && now >= c->series_ns)
		share_series(c);
	for (uint32_t i = 0; i < b->flows; i++)
		if (now >= b->flow[i].start_ns)
			b->flow[i].started = true;
}

static void share_move(struct share_clock *c)
{
	struct share_bed *b = c->b;
	uint64_t tick = share_ns(b->cfg->tick_s), next, due, own;

	while (!b->eps.failed && sim_eps_now(&b->eps) < c->end_ns && b->left) {
		share_due(c);
		for (uint32_t i = 0; i < b->flows; i++)
			if (b->flow[i].started)
				share_flow_post(&b->flow[i]);
		sim_eps_work(&b->eps);
		next = sdr_sim_world_next(b->eps.w);
		next = next < UINT64_MAX - tick ? next + tick : next;
		due = sim_eps_due(&b->eps);
		own = share_next(c);
		next = due < next ? due : next;
		sdr_sim_world_run_until(b->eps.w, next < own ? next : own);
	}
	if (c->say && sim_eps_now(&b->eps) >= c->series_ns)
		share_series(c);
}

/* ---- the result ------------------------------------------------------------------------------ */

static struct share_count share_minus(const struct share_count *a, const struct share_count *b)
{
	return (struct share_count){
		.bytes = a->bytes - b->bytes,
		.messages = a->messages - b->messages,
		.offered = a->offered - b->offered,
		.dropped = a->dropped - b->dropped,
		.lost = a->lost - b->lost,
		.marked = a->marked - b->marked,
		.line_bytes = a->line_bytes - b->line_bytes,
		.data = a->data - b->data,
		.parity = a->parity - b->parity,
		.rtx = a->rtx - b->rtx,
		.acks = a->acks - b->acks,
	};
}

static int share_less(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Bits that the line could carry between two times. */
static double share_capacity(const struct share_cfg *cfg, double from_s, double to_s)
{
	double bits = 0, rate = cfg->rate_bps, at = 0;

	for (uint32_t i = 0; i <= cfg->changes; i++) {
		double end = i < cfg->changes ? cfg->change[i].at_s : to_s;
		double lo = at > from_s ? at : from_s, hi = end < to_s ? end : to_s;

		if (hi > lo)
			bits += (hi - lo) * rate;
		if (i < cfg->changes) {
			at = end;
			rate = cfg->change[i].rate_bps;
		}
	}
	return bits;
}

static void share_finish(struct share_clock *c, struct share_result *r)
{
	struct share_bed *b = c->b;
	struct share_count all = { 0 }, settled = { 0 };
	double sum = 0, squares = 0, from;

	from = (double)(c->settled_ns - b->begin_ns) / SHARE_NS;
	if (sim_eps_now(&b->eps) < c->end_ns) /* the messages have all been sent */
		c->end_ns = sim_eps_now(&b->eps);
	if (c->settled_ns >= c->end_ns)
		from = 0; /* it never came so far: all of the run, then */
	r->from_s = from;
	r->settled_s = (double)(c->end_ns - b->begin_ns) / SHARE_NS - from;
	for (uint32_t i = 0; i < b->flows; i++) {
		struct share_flow_result *f = &r->flow[i];

		share_flow_count(&b->flow[i], &f->all);
		f->settled = share_minus(&f->all, &b->flow[i].mark);
		f->goodput_bps = (double)f->settled.bytes * 8 / r->settled_s;
		sum += f->goodput_bps;
		squares += f->goodput_bps * f->goodput_bps;
		all.offered += f->all.offered;
		all.dropped += f->all.dropped;
		settled.offered += f->settled.offered;
		settled.dropped += f->settled.dropped;
		settled.line_bytes += f->settled.line_bytes;
		settled.data += f->settled.data;
		settled.parity += f->settled.parity;
		r->packets += f->all.offered + f->all.acks;
	}
	r->jain = squares > 0 ? sum * sum / (b->flows * squares) : 0;
	r->utilisation =
		(double)settled.line_bytes * 8 / share_capacity(b->cfg, from, from + r->settled_s);
	r->drop_all = share_ratio(all.dropped, all.offered);
	r->drop_settled = share_ratio(settled.dropped, settled.offered);
	r->parity_settled = share_ratio(settled.parity, settled.data);
	if (c->samples) {
		qsort(c->delay_s, c->samples, sizeof(*c->delay_s), share_less);
		r->delay_p50_s = (double)c->delay_s[c->samples / 2];
		r->delay_p95_s = (double)c->delay_s[(uint64_t)c->samples * 95 / 100];
		r->delay_max_s = (double)c->delay_s[c->samples - 1];
	}
}

static double share_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / SHARE_NS;
}

static void share_begin(struct share_clock *c, struct share_result *r)
{
	struct share_bed *b = c->b;
	const struct share_cfg *cfg = b->cfg;
	uint64_t now = sim_eps_now(&b->eps);
	double last = 0, room = cfg->seconds / cfg->sample_s * 2 + 1000;

	b->res = r;
	b->left = cfg->messages ? cfg->flows : 1;
	r->adapt_s = -1;
	r->flows = b->flows;
	for (uint32_t i = 0; i < b->flows; i++) {
		struct share_flow *f = &b->flow[i];

		f->res = &r->flow[i];
		f->res->start_s = (double)(f->start_ns - now) / SHARE_NS;
		f->res->to_share_s = -1;
		snprintf(f->res->name, sizeof(f->res->name), "%.8s%u",
			 f->rival ? cfg->rival[i - cfg->flows]->name : "sdr",
			 f->rival ? i - cfg->flows : i);
		last = cfg->start_s[i] > last ? cfg->start_s[i] : last;
	}
	for (uint32_t i = 0; cfg->stall_s > 0 && i < 2 * cfg->flows; i++)
		c->stall_ns[i] = now + share_drawn(b, cfg->stall_every_s);
	c->end_ns = now + share_ns(cfg->seconds);
	c->settled_ns = now + share_ns(last + cfg->settle_s);
	if (c->settled_ns > c->end_ns)
		c->settled_ns = c->end_ns;
	c->sample_ns = now;
	c->look_ns = now + share_ns(SHARE_LOOK_S);
	c->series_ns = now + share_ns(cfg->series_s);
	c->room = room < SHARE_SAMPLES_MAX ? (uint32_t)room : SHARE_SAMPLES_MAX;
	c->delay_s = calloc(c->room, sizeof(*c->delay_s));
	if (!c->delay_s)
		sim_eps_fail(&b->eps, "no memory for the looks at the queue");
}

void share_run(const struct share_cfg *cfg, uint64_t seed, struct share_result *r,
	       void (*say)(void *user, uint32_t flow, const struct share_tick *t), void *user)
{
	struct share_bed *b = calloc(1, sizeof(*b));
	struct share_clock c = { .b = b, .say = cfg->series_s > 0 ? say : NULL, .user = user };

	memset(r, 0, sizeof(*r));
	if (!b) {
		r->failed = true;
		snprintf(r->why, sizeof(r->why), "no memory for the flows");
		r->ended = true;
		return;
	}
	if (share_bed_open(b, cfg, seed)) {
		share_begin(&c, r);
		share_move(&c);
		if (!b->eps.failed)
			share_finish(&c, r);
	}
	r->failed = b->eps.failed;
	memcpy(r->why, b->eps.why, sizeof(r->why));
	share_bed_close(b);
	free(c.delay_s);
	free(b);
	r->cpu_s = share_cpu();
	r->ended = true;
}
