/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Congestion controllers and their pacers at one bottleneck, packet by packet in virtual time: a
 * rate, a queue that drops or marks, losses behind it, propagation there and back, and receivers
 * that acknowledge as those of sdr do (every so many packets, or after a share of the round trip).
 *
 * Senders learn of losses from gaps in the acknowledgements and send new data instead, so that all
 * that counts is what arrived.  There is no way back that loses or queues, and no noise of hosts:
 * what depends on those is for the simulator (tools/sim) to show.  A run is a function of its path,
 * flows and seed.  One thread; needs rel/path and what is below it only.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "bed_flows.h"

#define BED_FLOWS_SEED	    88172645463325252ull
#define BED_FLOWS_RX_WINDOW (8u << 20)
#define BED_FLOWS_ACK_PKTS  16u
#define BED_FLOWS_ACK_SHARE 8u /* of the round trip: the longest that a receiver waits */
#define BED_FLOWS_ACK_MIN   50000ull
#define BED_FLOWS_ACK_MAX   1000000ull
#define BED_FLOWS_TICK	    500000ull /* ns between two looks at the queue */
#define BED_FLOWS_RTO	    100000000ull
#define NS_PER_S	    1e9

struct bed_flows *bed_flows_new(const struct bed_flows_path *path)
{
	struct bed_flows *b = calloc(1, sizeof(*b));

	SDR_ASSERT(b && path->rate && path->rtt && path->pkt);
	b->path = *path;
	b->seed = BED_FLOWS_SEED;
	b->now = b->marked_at = b->tick = 12345;
	return b;
}

void bed_flows_free(struct bed_flows *b)
{
	uint32_t i;

	for (i = 0; i < b->n; i++)
		free(b->f[i]);
	free(b);
}

struct bed_flow *bed_flows_add(struct bed_flows *b, const struct sdr_cc_ops *ops, uint64_t start,
			       const struct sdr_cc_known *known)
{
	struct bed_flow *f = calloc(1, sizeof(*f));

	SDR_ASSERT(f && b->n < BED_FLOWS);
	f->ops = ops;
	f->start = start;
	if (known)
		f->known = *known;
	f->min_rtt = f->min_cwnd = UINT64_MAX;
	b->f[b->n++] = f;
	return f;
}

static uint64_t flows_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How long what leaves now waits at the bottleneck, ns. */
static uint64_t flows_queue(const struct bed_flows *b)
{
	return b->free_at > b->now ? b->free_at - b->now : 0;
}

static uint64_t flows_ack_delay(const struct bed_flows *b)
{
	uint64_t ns = b->path.rtt / BED_FLOWS_ACK_SHARE;

	ns = ns > BED_FLOWS_ACK_MIN ? ns : BED_FLOWS_ACK_MIN;
	return flows_min(ns, BED_FLOWS_ACK_MAX);
}

/* ---- a packet -------------------------------------------------------------------------------- */

static void flow_send(struct bed_flows *b, struct bed_flow *f)
{
	struct bed_flow_pkt *p = &f->p[f->snd % BED_FLOWS_RING];
	uint32_t pkt = b->path.pkt;
	double queue = (double)flows_queue(b) / NS_PER_S * (double)b->path.rate;

	SDR_ASSERT(f->snd - f->una < BED_FLOWS_RING);
	sdr_cc_sent(&f->cc, b->now, pkt, 0, f->inflight, &p->snap);
	if (!f->inflight)
		f->progress = b->now;
	f->snd++;
	f->inflight += pkt;
	f->sent++;
	p->tx = b->now;
	p->lost = false;
	p->marked = b->path.mark && queue > (double)b->path.mark;
	p->dropped = queue > 0 && queue + pkt > (double)b->path.queue;
	if (p->dropped) {
		f->dropped++;
	} else {
		b->free_at = b->now + flows_queue(b) + pkt * (uint64_t)NS_PER_S / b->path.rate;
		p->lost = b->path.loss > 0 && sdr_rand_unit(&b->seed) < b->path.loss;
		f->lost += p->lost;
	}
	p->arrive = b->free_at + b->path.rtt / 2;
}

static void flow_ack(const struct bed_flows *b, struct bed_flow *f)
{
	struct bed_flow_ack *a = &f->a[f->acks_tail++ % BED_FLOWS_RING];

	SDR_ASSERT(f->acks_tail - f->acks_head < BED_FLOWS_RING);
	a->at = b->now + b->path.rtt - b->path.rtt / 2;
	a->upto = f->newest;
	a->delay = b->now - f->newest_at;
	f->unacked = 0;
}

static void flow_arrivals(const struct bed_flows *b, struct bed_flow *f)
{
	const struct bed_flow_pkt *p;

	for (; f->rcv < f->snd; f->rcv++) {
		p = &f->p[f->rcv % BED_FLOWS_RING];
		if (p->arrive > b->now)
			break;
		if (p->dropped || p->lost)
			continue;
		f->newest = f->rcv + 1;
		f->newest_at = b->now;
		if (!f->unacked++)
			f->first_at = b->now;
		if (f->unacked >= BED_FLOWS_ACK_PKTS)
			flow_ack(b, f);
	}
	if (f->unacked && b->now >= f->first_at + flows_ack_delay(b))
		flow_ack(b, f);
}

static void flow_acked(const struct bed_flows *b, struct bed_flow *f)
{
	const struct bed_flow_ack *in = &f->a[f->acks_head++ % BED_FLOWS_RING];
	struct sdr_cc_ack ack = { .now = b->now, .delay = in->delay };
	const struct bed_flow_pkt *p;

	for (; f->una < in->upto; f->una++) {
		p = &f->p[f->una % BED_FLOWS_RING];
		f->inflight -= b->path.pkt;
		if (p->dropped || p->lost) {
			ack.lost += b->path.pkt;
			continue;
		}
		ack.bytes += b->path.pkt;
		ack.ce += p->marked ? b->path.pkt : 0;
		ack.snap = &p->snap;
		ack.snap_tx_ns = p->tx;
		ack.rtt = ack.rtt_full = b->now - p->tx - in->delay;
	}
	if (ack.rtt)
		f->min_rtt = flows_min(f->min_rtt, ack.rtt);
	f->good += ack.bytes;
	f->progress = b->now;
	ack.inflight = f->inflight;
	ack.min_rtt = f->min_rtt;
	sdr_cc_acked(&f->cc, &ack);
}

/* ---- a flow at a moment ---------------------------------------------------------------------- */

static uint64_t flow_rto(const struct bed_flows *b)
{
	return BED_FLOWS_RTO + 2 * b->path.rtt +
	       (uint64_t)((double)b->path.queue / (double)b->path.rate * NS_PER_S);
}

static void flow_timeout(const struct bed_flows *b, struct bed_flow *f)
{
	if (!f->inflight || b->now < f->progress + flow_rto(b))
		return;
	f->inflight = 0;
	f->una = f->rcv = f->newest = f->snd;
	f->unacked = 0;
	f->acks_head = f->acks_tail;
	f->progress = b->now;
	sdr_cc_timeout(&f->cc, b->now);
}

/* Sends what may leave; when more may, ns. */
static uint64_t flow_sends(struct bed_flows *b, struct bed_flow *f)
{
	f->min_cwnd = flows_min(f->min_cwnd, f->cc.cwnd);
	while (f->inflight + b->path.pkt <= f->cc.cwnd) {
		if (f->paused) {
			sdr_cc_app_limited(&f->cc, f->inflight);
			break;
		}
		if (!sdr_pacer_allow(&f->cc.pacer, b->now))
			return sdr_pacer_next(&f->cc.pacer, b->now);
		flow_send(b, f);
	}
	return UINT64_MAX;
}

static uint64_t flow_next(const struct bed_flows *b, const struct bed_flow *f)
{
	uint64_t next = UINT64_MAX;

	if (f->rcv < f->snd)
		next = flows_min(next, f->p[f->rcv % BED_FLOWS_RING].arrive);
	if (f->unacked)
		next = flows_min(next, f->first_at + flows_ack_delay(b));
	if (f->acks_head < f->acks_tail)
		next = flows_min(next, f->a[f->acks_head % BED_FLOWS_RING].at);
	if (f->inflight)
		next = flows_min(next, f->progress + flow_rto(b));
	return next;
}

/* All that is due now; when the next thing is, ns. */
static uint64_t flow_step(struct bed_flows *b, struct bed_flow *f)
{
	const struct sdr_rel_cfg cfg = { .cc = f->ops };
	uint64_t next;

	if (b->now < f->start)
		return f->start;
	if (!f->on) {
		sdr_cc_init(&f->cc, &cfg, b->path.pkt, BED_FLOWS_RX_WINDOW, 0, &f->known, b->now);
		f->on = true;
	}
	flow_arrivals(b, f);
	while (f->acks_head < f->acks_tail && f->a[f->acks_head % BED_FLOWS_RING].at <= b->now)
		flow_acked(b, f);
	flow_timeout(b, f);
	next = flow_sends(b, f);
	return flows_min(next, flow_next(b, f));
}

static void flows_look(struct bed_flows *b)
{
	uint64_t bin = flows_queue(b) / BED_FLOWS_BIN_NS;

	b->bin[bin < BED_FLOWS_BINS ? bin : BED_FLOWS_BINS - 1]++;
	b->ticks++;
	b->tick += BED_FLOWS_TICK;
}

void bed_flows_run(struct bed_flows *b, uint64_t ns)
{
	uint64_t end = b->now + ns, next;
	uint32_t i;

	while (b->now < end) {
		if (b->now >= b->tick)
			flows_look(b);
		next = b->tick;
		for (i = 0; i < b->n; i++)
			next = flows_min(next, flow_step(b, b->f[i]));
		b->now = flows_min(next > b->now ? next : b->now + 1, end);
	}
}

/* ---- what came of it ------------------------------------------------------------------------- */

void bed_flows_mark(struct bed_flows *b)
{
	uint32_t i;

	for (i = 0; i < b->n; i++)
		b->f[i]->good = b->f[i]->sent = b->f[i]->dropped = b->f[i]->lost = 0;
	memset(b->bin, 0, sizeof(b->bin));
	b->ticks = 0;
	b->marked_at = b->now;
}

double bed_flow_use(const struct bed_flows *b, const struct bed_flow *f)
{
	return (double)f->good * NS_PER_S / (double)(b->now - b->marked_at) / (double)b->path.rate;
}

double bed_flows_use(const struct bed_flows *b)
{
	double use = 0;
	uint32_t i;

	for (i = 0; i < b->n; i++)
		use += bed_flow_use(b, b->f[i]);
	return use;
}

double bed_flows_jain(const struct bed_flows *b)
{
	double sum = 0, squares = 0, x;
	uint32_t i;

	for (i = 0; i < b->n; i++) {
		x = (double)b->f[i]->good;
		sum += x;
		squares += x * x;
	}
	return squares > 0 ? sum * sum / (b->n * squares) : 0;
}

double bed_flows_drops(const struct bed_flows *b)
{
	uint64_t sent = 0, dropped = 0;
	uint32_t i;

	for (i = 0; i < b->n; i++) {
		sent += b->f[i]->sent;
		dropped += b->f[i]->dropped;
	}
	return sent ? (double)dropped / (double)sent : 0;
}

uint64_t bed_flows_delay(const struct bed_flows *b, double share)
{
	double seen = 0;
	uint32_t i;

	for (i = 0; i < BED_FLOWS_BINS - 1; i++) {
		seen += (double)b->bin[i];
		if (seen >= share * (double)b->ticks)
			break;
	}
	return (i + 1) * BED_FLOWS_BIN_NS;
}
