/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The emulated WAN in virtual time: the line and its queue, active queue management, losses, and
 * the network made of them.  Packets and their cutting are test_wan_pkt.c.
 */
#include <math.h>

#include "test_wan_util.h"

#define GBIT 1000000000ull

static struct wan_pool pool;

static struct wan_pkt *make(uint32_t len, uint8_t ecn)
{
	return pkt_of(&pool, &one_each, len, ecn, 1, 1000);
}

/* 1 Gbit/s, packets of 1250 bytes: 10 us each. */
static const struct wan_link ten_us = { .rate_bps = GBIT, .slot_bytes = 1250 };

/* ---- the line ------------------------------------------------------------------------------ */

/* Departures follow from arrivals, whenever somebody looks. */
static void line_late(void **state)
{
	static const uint64_t in[] = { 0, 1000, 2000, 60000, 61000 };
	static const uint64_t end_us[] = { 10, 20, 30, 70, 80 };
	static const uint64_t waited[] = { 0, 9000, 18000, 0, 9000 };
	struct wan_left left;
	struct wan_line l;
	struct wan_pkt *p;
	unsigned int out;

	(void)state;
	/* as soon as it can be known, and a second late */
	for (unsigned int late = 0; late < 2; late++) {
		wan_line_init(&l, &ten_us, 1);
		out = 0;
		for (unsigned int i = 0; i <= 5; i++) {
			while ((!late || i == 5) &&
			       (p = wan_line_leave(&l, i < 5 ? in[i] : WAN_NS, &left))) {
				assert_int_equal(left.end_ps, end_us[out] * US * 1000);
				assert_int_equal(left.sojourn_ns, waited[out++]);
				wan_pkt_put(&pool, p);
			}
			if (i < 5)
				assert_true(wan_line_put(&l, in[i], make(1250, 0)));
		}
		assert_int_equal(out, 5);
		assert_int_equal(l.bytes, 0);
		assert_int_equal(wan_line_next(&l), UINT64_MAX);
	}
}

/* Nothing leaves before its time. */
static void line_early(void **state)
{
	struct wan_line l;
	struct wan_left left;

	(void)state;
	wan_line_init(&l, &ten_us, 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(wan_line_put(&l, 0, make(1250, 0)));
	wan_pkt_put(&pool, wan_line_leave(&l, 0, &left)); /* goes on the line at once */
	assert_null(wan_line_leave(&l, 10 * US - 1, &left));
	assert_int_equal(wan_line_wait(&l, 4 * US), 26 * US);
	assert_int_equal(wan_line_backlog(&l, 4 * US), 2500 + 750);
	wan_pkt_put(&pool, wan_line_leave(&l, 10 * US, &left));
	assert_int_equal(left.sojourn_ns, 10 * US);
	wan_pkt_put(&pool, wan_line_leave(&l, 20 * US, &left));
	assert_int_equal(left.end_ps, 30 * US * 1000);
}

/* The tail: what waits and what is left of the packet on the line, and not a byte more. */
static void line_tail(void **state)
{
	struct wan_link c = ten_us;
	struct wan_left left;
	struct wan_line l;
	struct wan_pkt *p;

	(void)state;
	c.queue_bytes = 5000;
	wan_line_init(&l, &c, 1);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(wan_line_put(&l, 0, make(1250, 0)));
	p = make(1250, 0);
	assert_false(wan_line_put(&l, 0, p));
	wan_pkt_put(&pool, wan_line_leave(&l, 0, &left));
	assert_false(wan_line_put(&l, 10 * US - 8, p)); /* one byte is still to be sent */
	assert_true(wan_line_put(&l, 10 * US, p));
	while ((p = wan_line_leave(&l, WAN_NS, &left)))
		wan_pkt_put(&pool, p);
	/* a packet larger than the queue goes when nothing else is there */
	c.queue_bytes = 600;
	l.cfg = c;
	assert_true(wan_line_put(&l, 2 * WAN_NS, make(1250, 0)));
	wan_pkt_put(&pool, wan_line_leave(&l, 3 * WAN_NS, &left));
}

static void line_rate_change(void **state)
{
	struct wan_left left;
	struct wan_line l;

	(void)state;
	wan_line_init(&l, &ten_us, 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(wan_line_put(&l, 0, make(1250, 0)));
	wan_pkt_put(&pool, wan_line_leave(&l, 0, &left));
	l.cfg.rate_bps = GBIT / 2; /* at 5 us: the first keeps its 10 us */
	wan_pkt_put(&pool, wan_line_leave(&l, WAN_NS, &left));
	assert_int_equal(left.start_ps, 10 * US * 1000);
	assert_int_equal(left.end_ps, 30 * US * 1000);
	wan_pkt_put(&pool, wan_line_leave(&l, WAN_NS, &left));
	assert_int_equal(left.end_ps, 50 * US * 1000);
}

static void line_overhead(void **state)
{
	struct wan_link c = ten_us;
	struct wan_left left;
	struct wan_line l;

	(void)state;
	c.overhead = 38;
	wan_line_init(&l, &c, 1);
	assert_true(wan_line_put(&l, 0, make(1212, 0)));
	assert_int_equal(l.bytes, 1250);
	wan_pkt_put(&pool, wan_line_leave(&l, 0, &left));
	assert_int_equal(left.end_ps, 10 * US * 1000);
}

static void line_due(void **state)
{
	struct wan_link c = { .delay_ns = MS, .jitter_ns = MS };
	uint64_t due, last = 0, least = UINT64_MAX, most = 0;
	unsigned int back = 0, late = 0;
	struct wan_line l;

	(void)state;
	wan_line_init(&l, &c, 7);
	for (unsigned int i = 0; i < 10000; i++) {
		due = wan_line_due(&l, 0);
		back += due < last;
		last = due;
		least = due < least ? due : least;
		most = due > most ? due : most;
	}
	assert_in_range(back, 4500, 5500);
	assert_in_range(least, MS, MS + 5 * US);
	assert_in_range(most, 2 * MS - 5 * US, 2 * MS);
	c.jitter_ordered = true;
	wan_line_init(&l, &c, 7);
	for (unsigned int i = 0; i < 10000; i++) {
		due = wan_line_due(&l, i * US * 1000);
		assert_true(!i || due >= last);
		last = due;
	}
	c = (struct wan_link){ .delay_ns = MS, .reorder = 0.1, .reorder_ns = MS };
	wan_line_init(&l, &c, 7);
	for (unsigned int i = 0; i < 10000; i++)
		late += wan_line_due(&l, 0) == 2 * MS;
	assert_in_range(late, 900, 1100);
}

/* ---- active queue management --------------------------------------------------------------- */

static void step_marks(void **state)
{
	struct wan_link c = ten_us;
	struct wan_left left;
	struct wan_line l;
	struct wan_pkt *p;

	(void)state;
	c.aqm = WAN_STEP;
	c.target_ns = 20 * US;
	wan_line_init(&l, &c, 1);
	for (unsigned int i = 0; i < 6; i++)
		assert_true(wan_line_put(&l, 0, make(1250, i == 4 ? WAN_NOT_ECT : WAN_ECT_0)));
	for (unsigned int i = 0; i < 6; i++) {
		p = wan_line_leave(&l, WAN_NS, &left);
		/* the third waited 20 us, which is not more; the fifth cannot be marked */
		assert_int_equal(left.fate, i == 3 || i == 5 ? WAN_MARK : WAN_PASS);
		assert_int_equal(wan_pkt_ecn(p), i == 4		    ? WAN_NOT_ECT
						 : i == 3 || i == 5 ? WAN_CE
								    : WAN_ECT_0);
		assert_int_equal(folded(sum_of(p->hdr, 20, 0)), 0xffff);
		wan_pkt_put(&pool, p);
	}
}

/* A queue that stands at 10 ms: the first after an interval, then closer and closer. */
static void codel_law(void **state)
{
	struct wan_link c = {
		.aqm = WAN_CODEL, .target_ns = 5 * MS, .interval_ns = 100 * MS, .slot_bytes = 1500
	};
	uint64_t at[5] = { 0 }, gap;
	struct wan_aqm a = { 0 };
	unsigned int n = 0;

	(void)state;
	for (uint64_t now = MS; n < 5; now += MS / 10) {
		assert_true(now < WAN_NS);
		if (wan_aqm_leave(&a, &c, now, 10 * MS, 100000, true) == WAN_DROP)
			at[n++] = now;
	}
	assert_in_range(at[0], 101 * MS, 101 * MS + MS / 10);
	for (unsigned int i = 1; i < 5; i++) {
		gap = (uint64_t)(100e6 / sqrt(i));
		assert_in_range(at[i] - at[i - 1], gap - MS / 5, gap + MS / 5);
	}
	/* it ends as soon as the queue is short, or holds no more than a packet */
	assert_int_equal(wan_aqm_leave(&a, &c, 600 * MS, 4 * MS, 100000, true), WAN_PASS);
	assert_false(a.dropping);
	memset(&a, 0, sizeof(a));
	for (uint64_t now = MS; now < WAN_NS; now += MS)
		assert_int_equal(wan_aqm_leave(&a, &c, now, 10 * MS, 1500, true), WAN_PASS);
	c.aqm_marks = true;
	memset(&a, 0, sizeof(a));
	wan_aqm_leave(&a, &c, MS, 10 * MS, 100000, true);
	assert_int_equal(wan_aqm_leave(&a, &c, 101 * MS, 10 * MS, 100000, true), WAN_MARK);
	assert_int_equal(wan_aqm_leave(&a, &c, 201 * MS, 10 * MS, 100000, false), WAN_DROP);
}

/* ---- losses -------------------------------------------------------------------------------- */

static void loss_shares(void **state)
{
	struct wan_link c = {
		.rate_bps = GBIT, .slot_bytes = 1250, .ge_loss = 0.01, .ge_burst = 8
	};
	struct wan_link iid = { .loss = 0.01 };
	struct wan_loss s = { .rng = 1 }, t = { .rng = 2 };
	unsigned int lost = 0, bursts = 0, plain = 0, n = 4000000;
	bool was = false, hit;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		hit = wan_loss_hit(&s, &c, i * 10ull * US * 1000);
		lost += hit;
		bursts += hit && !was;
		was = hit;
		plain += wan_loss_hit(&t, &iid, 0);
	}
	assert_in_range(lost, n / 100 * 95 / 100, n / 100 * 105 / 100);
	assert_in_range(100 * lost / bursts, 760, 840);
	assert_in_range(plain, n / 100 * 97 / 100, n / 100 * 103 / 100);
}

/* Bursts are time on the line: packets of a tenth see ten times as many in one. */
static void loss_in_time(void **state)
{
	struct wan_link c = {
		.rate_bps = GBIT, .slot_bytes = 1250, .ge_loss = 0.01, .ge_burst = 8
	};
	struct wan_loss s = { .rng = 1 };
	unsigned int lost = 0, bursts = 0, n = 8000000;
	bool was = false, hit;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		hit = wan_loss_hit(&s, &c, i * US * 1000);
		lost += hit;
		bursts += hit && !was;
		was = hit;
	}
	assert_in_range(lost, n / 100 * 90 / 100, n / 100 * 110 / 100);
	assert_in_range(lost / bursts, 70, 85); /* -10 / ln(7 / 8) is 75 */
}

/* ---- the network --------------------------------------------------------------------------- */

static void net_make(struct wan_net *net, enum wan_shape shape, uint16_t a, uint16_t b,
		     uint16_t paths, const struct wan_link *cfg)
{
	struct wan_names names = { .n = { a, b } };

	assert_int_equal(wan_net_init(net, shape, &names, paths, 1), 0);
	for (uint16_t g = 0; g < net->groups; g++) {
		for (uint16_t k = 0; k < paths; k++)
			wan_net_set(net, 0, g, k, cfg);
	}
}

static void net_put(struct wan_net *net, uint64_t now, uint16_t src, uint8_t to, uint16_t port)
{
	wan_net_put(net, now, src, pkt_of(&net->pool, &net->names, 1250, 0, to, port));
}

/* Hosts of a side share the line; what it lost, dropped and delivered adds up. */
static void net_two_sides(void **state)
{
	struct wan_link c = ten_us;
	const struct wan_count *n;
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due, last = 0, now = 0;
	unsigned int out = 0;

	(void)state;
	c.delay_ns = 10 * MS;
	c.queue_bytes = 12500;
	c.loss = 0.1;
	net_make(&net, WAN_TWO_SIDES, 2, 2, 1, &c);
	assert_int_equal(wan_net_next(&net), UINT64_MAX);
	/* twice the rate: half of it finds no room */
	for (unsigned int i = 0; i < 20000; i++, now += 5 * US) {
		net_put(&net, now, i & 1, 1 + (i >> 1 & 1), 1000);
		while ((p = wan_net_take(&net, now, &due))) {
			assert_true(due >= last && due <= now);
			assert_true(due >= 10 * MS + 10 * US);
			last = due;
			out++;
			assert_int_equal(p->dst, 2 + (p->hdr[19] == 2));
			wan_pkt_put(&net.pool, p);
		}
	}
	while (wan_net_next(&net) != UINT64_MAX) {
		p = wan_net_take(&net, wan_net_next(&net), &due);
		if (p) {
			out++;
			wan_pkt_put(&net.pool, p);
		}
	}
	n = &net.now->group[0].c;
	assert_int_equal(n->in, 20000);
	assert_int_equal(n->out, out);
	assert_int_equal(n->out + n->queue_drops + n->lost, 20000);
	assert_in_range(n->queue_drops, 9900, 10010);
	assert_in_range(n->lost, 900, 1100);
	assert_in_range(n->busy_ps / 1000, 99 * MS, 101 * MS);
	assert_int_equal(n->late_drops, 0);
	assert_in_range(n->peak_bytes, 12500 - 1250, 12500);
	assert_int_equal(net.now->pair[0 * 4 + 2].in, 5000);
	assert_int_equal(net.now->pair[1 * 4 + 3].in, 5000);
	assert_in_range(wan_hist_at(&net.now->group[0].wait, 0.5), 85 * US, 101 * US);
	assert_int_equal(net.pool.packets, 0);
	wan_net_free(&net);
}

/* A late caller finds the same network. */
static void net_late(void **state)
{
	struct wan_link c = ten_us;
	struct wan_count count[2];
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due, sum[2] = { 0 };

	(void)state;
	c.delay_ns = MS;
	c.queue_bytes = 20000;
	c.aqm = WAN_CODEL;
	c.target_ns = 50 * US;
	c.interval_ns = MS;
	c.loss = 0.01;
	for (unsigned int late = 0; late < 2; late++) {
		net_make(&net, WAN_TWO_SIDES, 1, 1, 1, &c);
		for (unsigned int i = 0; i < 5000; i++) {
			net_put(&net, i * 9ull * US, 0, 1, 1000);
			while (!late && (p = wan_net_take(&net, i * 9ull * US, &due))) {
				sum[0] += due;
				wan_pkt_put(&net.pool, p);
			}
		}
		while ((p = wan_net_take(&net, WAN_NS, &due))) {
			sum[late] += due;
			wan_pkt_put(&net.pool, p);
		}
		count[late] = net.now->group[0].c;
		wan_net_free(&net);
	}
	assert_int_equal(sum[0], sum[1]);
	assert_memory_equal(&count[0], &count[1], sizeof(count[0]));
	assert_true(count[0].aqm_drops > 5 && count[0].lost > 20);
}

static void net_paths(void **state)
{
	struct wan_link c = { .delay_ns = MS };
	unsigned int on[4] = { 0 };
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due;

	(void)state;
	net_make(&net, WAN_TWO_SIDES, 1, 1, 4, &c);
	for (uint16_t k = 0; k < 4; k++) {
		c.delay_ns = (k + 1) * MS;
		wan_net_set(&net, 0, 0, k, &c);
	}
	for (uint16_t port = 1; port <= 1000; port++) {
		net_put(&net, 0, 0, 1, port);
		net_put(&net, 0, 0, 1, port); /* the same way as the first */
	}
	while ((p = wan_net_take(&net, WAN_NS, &due))) {
		on[due / MS - 1]++;
		assert_int_equal(due / MS - 1, p->hash % 4);
		wan_pkt_put(&net.pool, p);
	}
	for (unsigned int k = 0; k < 4; k++) {
		assert_in_range(on[k], 400, 600);
		assert_int_equal(on[k] % 2, 0);
	}
	wan_net_free(&net);
}

/* With an interface for each path the one that it left by says which, and the address where to. */
static void net_interfaces(void **state)
{
	struct wan_names names = { .n = { 1, 1 }, .ifs = 3 };
	struct wan_link c = { 0 };
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due;

	(void)state;
	assert_int_equal(wan_net_init(&net, WAN_TWO_SIDES, &names, 3, 1), 0);
	for (uint16_t k = 0; k < 3; k++) {
		c.delay_ns = (k + 1) * MS;
		wan_net_set(&net, 0, 0, k, &c);
	}
	for (uint8_t k = 0; k < 3; k++) {
		p = pkt_of(&net.pool, &net.names, 1250, 0, 1, k);
		assert_int_equal(p->dst, 1);
		assert_int_equal(p->dst_if, 0); /* 10.77 */
		p->src_if = k;
		wan_net_put(&net, 0, 0, p);
	}
	for (uint16_t k = 0; k < 3; k++) {
		p = wan_net_take(&net, WAN_NS, &due);
		assert_non_null(p);
		assert_int_equal(p->src_if, k);
		assert_int_equal(due, (k + 1) * MS);
		wan_pkt_put(&net.pool, p);
		assert_int_equal(net.now->path[k].in, 1);
		assert_int_equal(net.now->path[k].out_bytes, 1250);
	}
	wan_net_free(&net);
}

/* A port of a switch is shared by who sends to it, and by nobody else. */
static void net_switch(void **state)
{
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due;

	(void)state;
	net_make(&net, WAN_SWITCH, 2, 2, 1, &ten_us);
	net_put(&net, 0, 0, 1, 1);
	net_put(&net, 0, 1, 1, 1);
	net_put(&net, 0, 1, 2, 1);
	for (unsigned int i = 0; i < 3; i++) {
		p = wan_net_take(&net, WAN_NS, &due);
		assert_non_null(p);
		assert_int_equal(due, i < 2 ? 10 * US : 20 * US);
		wan_pkt_put(&net.pool, p);
	}
	assert_int_equal(net.now->group[2].c.out, 2);
	assert_int_equal(net.now->group[3].c.out, 1);
	wan_net_free(&net);
}

static void net_strange(void **state)
{
	struct wan_link c = { .delay_ns = MS, .down = true };
	struct wan_net net;
	uint64_t due;

	(void)state;
	net_make(&net, WAN_TWO_SIDES, 2, 1, 1, &c);
	net_put(&net, 0, 0, 9, 1); /* nobody */
	assert_int_equal(net.strange, 1);
	net_put(&net, 0, 2, 1, 1); /* from itself */
	assert_int_equal(net.strange, 2);
	net_put(&net, 0, 0, 1, 1); /* the link is down */
	assert_int_equal(net.now->group[0].c.down, 1);
	assert_null(wan_net_take(&net, WAN_NS, &due));
	assert_int_equal(net.pool.packets, 0);
	wan_net_free(&net);
}

static void net_ecn(void **state)
{
	struct wan_link c = { .ecn = WAN_ECN_BLEACH };
	static const uint8_t then[] = { WAN_NOT_ECT, WAN_CE };
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		c.ecn = i ? WAN_ECN_MANGLE : WAN_ECN_BLEACH;
		net_make(&net, WAN_TWO_SIDES, 1, 1, 1, &c);
		wan_net_put(&net, 0, 0, pkt_of(&net.pool, &one_each, 100, WAN_ECT_0, 1, 1));
		wan_net_put(&net, 0, 0, pkt_of(&net.pool, &one_each, 100, WAN_NOT_ECT, 1, 1));
		p = wan_net_take(&net, 0, &due);
		assert_int_equal(wan_pkt_ecn(p), then[i]);
		wan_pkt_put(&net.pool, p);
		p = wan_net_take(&net, 0, &due);
		assert_int_equal(wan_pkt_ecn(p), WAN_NOT_ECT);
		wan_pkt_put(&net.pool, p);
		wan_net_free(&net);
	}
}

static void net_phases(void **state)
{
	struct wan_net net;
	struct wan_pkt *p;
	uint64_t due;

	(void)state;
	net_make(&net, WAN_TWO_SIDES, 1, 1, 1, &ten_us);
	net_put(&net, 0, 0, 1, 1);
	assert_int_equal(wan_net_phase(&net, MS, "later"), 0);
	net_put(&net, 2 * MS, 0, 1, 1);
	while ((p = wan_net_take(&net, WAN_NS, &due)))
		wan_pkt_put(&net.pool, p);
	assert_string_equal(net.first->name, "start");
	assert_int_equal(net.first->end_ns, MS);
	assert_int_equal(net.first->group[0].c.in, 1);
	assert_int_equal(net.now->group[0].c.in, 1);
	assert_int_equal(net.now->group[0].c.first_ns, 2 * MS);
	assert_string_equal(net.now->name, "later");
	wan_net_free(&net);
}

static void net_names(void **state)
{
	struct wan_names names = { .n = { 3, 2 } };

	(void)state;
	assert_int_equal(wan_net_host_find(&names, "a"), 0);
	assert_int_equal(wan_net_host_find(&names, "a3"), 2);
	assert_int_equal(wan_net_host_find(&names, "b"), 3);
	assert_int_equal(wan_net_host_find(&names, "b2"), 4);
	assert_int_equal(wan_net_host_find(&names, "b3"), -1);
	assert_int_equal(wan_net_host_find(&names, "a0"), -1);
	assert_int_equal(wan_net_host_find(&names, "a1x"), -1);
	assert_int_equal(wan_net_host_find(&names, "c1"), -1);
	assert_int_equal(wan_net_host_find(&names, ""), -1);
}

/* ---- settings and histograms --------------------------------------------------------------- */

static void settings(void **state)
{
	static const char *const bad[] = {
		"rate",
		"rate=",
		"rate=-1",
		"rate=1xbit",
		"rate=101gbit",
		"delay=61s",
		"queue=1x",
		"queue=-1bdp",
		"loss=2",
		"loss=ge:0.1",
		"loss=ge:0.1:0.5",
		"loss=ge:0.1:8:9",
		"loss=nan",
		"aqm=red",
		"aqm=step",
		"aqm=tail:1ms",
		"aqm=codel:0",
		"jitter=1ms:x",
		"reorder=0.1",
		"ecn=x",
		"link=x",
		"overhead=1001",
		"speed=1",
		"rate=1gbit,",
		"",
	};
	struct wan_link l = { 0 }, was;
	struct wan_ask ask = { 0 };
	char why[WAN_WHY];

	(void)state;
	assert_int_equal(
		wan_link_sets(&l, &ask,
			      "rate=1gbit,rtt=25ms,queue=0.5bdp,loss=1%,aqm=codel:2ms:50ms:ecn,"
			      "jitter=10us:ordered,reorder=1e-3:2ms,dup=0.5,ecn=bleach,link=down,"
			      "overhead=38",
			      why),
		0);
	assert_int_equal(l.rate_bps, GBIT);
	assert_int_equal(l.delay_ns, 12500 * US);
	assert_true(fabs(l.loss - 0.01) < 1e-12 && l.reorder == 1e-3 && l.dup == 0.5);
	assert_true(l.aqm == WAN_CODEL && l.aqm_marks && l.target_ns == 2 * MS &&
		    l.interval_ns == 50 * MS && l.jitter_ordered && l.down);
	assert_int_equal(l.overhead, 38);
	assert_int_equal(wan_link_queue(&l, &ask, 25 * MS, why), 0);
	assert_int_equal(l.queue_bytes, 1562500);
	assert_int_equal(wan_link_sets(&l, &ask, "queue=5ms,rate=500mbit", why), 0);
	assert_int_equal(wan_link_queue(&l, &ask, 0, why), 0);
	assert_int_equal(l.queue_bytes, 312500);
	assert_int_equal(wan_link_sets(&l, &ask, "queue=64k,loss=ge:1e-2:8", why), 0);
	assert_int_equal(wan_link_queue(&l, &ask, 0, why), 0);
	assert_int_equal(l.queue_bytes, 65536);
	assert_true(l.ge_loss == 0.01 && l.ge_burst == 8);
	was = l;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*why = 0;
		assert_int_equal(wan_link_sets(&l, &ask, bad[i], why), -1);
		if (!strchr(bad[i], ',')) /* of several, those in front of the bad one are set */
			assert_memory_equal(&l, &was, sizeof(l));
		was = l;
		assert_true(*why);
	}
	l.rate_bps = 0;
	ask = (struct wan_ask){ .given = true, .bdp = 1 };
	assert_int_equal(wan_link_queue(&l, &ask, MS, why), -1);
}

static void histogram(void **state)
{
	static struct wan_hist h, g;

	(void)state;
	assert_int_equal(wan_hist_at(&h, 0.5), 0);
	for (uint64_t v = 1; v <= 1000000; v++)
		wan_hist_add(&h, v);
	assert_in_range(wan_hist_at(&h, 0.5), 500000 * 98 / 100, 500000 * 102 / 100);
	assert_in_range(wan_hist_at(&h, 0.95), 950000 * 98 / 100, 950000 * 102 / 100);
	assert_in_range(wan_hist_at(&h, 0.00001), 9, 12);
	assert_int_equal(wan_hist_at(&h, 1), 1000000);
	wan_hist_add(&g, UINT64_MAX >> 1);
	wan_hist_merge(&g, &h);
	assert_int_equal(g.n, 1000001);
	assert_int_equal(g.max, UINT64_MAX >> 1);
	assert_int_equal(wan_hist_at(&g, 0), 1);
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(pool.packets, 0);
	wan_pool_free(&pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_late),	 cmocka_unit_test(line_early),
		cmocka_unit_test(line_tail),	 cmocka_unit_test(line_rate_change),
		cmocka_unit_test(line_overhead), cmocka_unit_test(line_due),
		cmocka_unit_test(step_marks),	 cmocka_unit_test(codel_law),
		cmocka_unit_test(loss_shares),	 cmocka_unit_test(loss_in_time),
		cmocka_unit_test(net_two_sides), cmocka_unit_test(net_late),
		cmocka_unit_test(net_paths),	 cmocka_unit_test(net_interfaces),
		cmocka_unit_test(net_switch),	 cmocka_unit_test(net_strange),
		cmocka_unit_test(net_ecn),	 cmocka_unit_test(net_phases),
		cmocka_unit_test(net_names),	 cmocka_unit_test(settings),
		cmocka_unit_test(histogram),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
