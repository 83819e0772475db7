/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections of several paths: which open, what they carry, lanes that die and come back, and what
 * a peer without the feature makes of it.  The books are kept at every step, by the bed.
 */
#include "../bed/bed.h"
#include "rel/conn/sdr_multipath.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "uc/sim/sdr_sim_addr.h"

#define MB	  (1u << 20)
#define BIG	  (16 * MB)
#define RATE	  250000000ull /* bits per second, of each lane and path */
#define DEAD	  (UINT64_MAX / 2)
#define ALL_LANES BED_ANY

static struct sdr_sim_link lane_of(uint64_t delay, double loss)
{
	return (struct sdr_sim_link){ .rate_bps = RATE, .delay_ns = delay, .loss = loss };
}

static struct bed *paths_new(uint32_t n)
{
	struct bed *b = bed_new(2);

	bed_paths(b, n);
	b->link.rate_bps = RATE;
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].rate_bps = RATE;
		b->na[i].no_probe = false;
		b->cfg[i].timeout_ms = 5000;
	}
	return b;
}

/* len bytes from one node to the other: the time until both sides know. */
static uint64_t move(struct bed *b, uint32_t from, size_t len)
{
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1 - from, p, len), *s;
	uint64_t t0 = bed_now(b);

	s = bed_send(b, from, 1 - from, bed_buf(b, len, 7), len, 0);
	bed_wait(b, r, 30 * BED_SEC);
	bed_wait(b, s, 30 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, 7));
	return (r->at > s->at ? r->at : s->at) - t0;
}

/* Open, with a message each way by which paths are proved. */
static void paths_boot(struct bed *b)
{
	bed_boot(b);
	for (uint32_t k = 1; k < SDR_PATHS_MAX; k++) /* else they would be set with lane 0 */
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &b->link);
	bed_warm(b, 0, 1);
	move(b, 0, MB);
	move(b, 1, MB);
}

static struct bed *paths_open(uint32_t n)
{
	struct bed *b = paths_new(n);

	paths_boot(b);
	return b;
}

static uint32_t alive(struct bed *b, uint32_t node)
{
	const struct sdr_conn *c = bed_conn(b, node, 1 - node);
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->npaths; i++)
		n += sdr_conn_path_of(c, i)->state == SDR_PATH_ALIVE;
	return n;
}

/* Everything that a node sends by a lane is dropped from now on, until rule->n is 0. */
static struct bed_rule *lane_dies(struct bed *b, uint32_t node, uint32_t lane)
{
	struct bed_rule *r = bed_drop(b, node, BED_ALL, 0, DEAD);

	r->lane = lane;
	return r;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void open__by_either_side_or_both(void **state)
{
	/* sources of each, paths; a lane is that of the source, or, from source 0, of the other */
	static const struct {
		uint32_t n[2], paths, lanes[2];
	} w[] = {
		{ { 4, 4 }, 4, { 4, 4 } },    { { 4, 1 }, 4, { 4, 4 } },
		{ { 1, 4 }, 4, { 4, 4 } },    { { 4, 2 }, 4, { 4, 3 } },
		{ { 2, 4 }, 4, { 3, 4 } },    { { 16, 16 }, 16, { 16, 16 } },
		{ { 3, 16 }, 16, { 8, 16 } }, { { 1, 1 }, 1, { 1, 1 } },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
		struct bed *b = paths_new(4);

		for (uint32_t k = 0; k < 2; k++) {
			b->cfg[k].paths = w[i].n[k];
			b->na[k].sources = (uint8_t)w[i].n[k];
		}
		paths_boot(b);
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t used = 0;

			assert_int_equal(bed_conn(b, k, 1 - k)->npaths, w[i].paths);
			assert_int_equal(alive(b, k), w[i].paths);
			memset(b->node[k].sent, 0, sizeof(b->node[k].sent));
			move(b, k, BIG);
			for (uint32_t l = 0; l < SDR_PATHS_MAX; l++)
				used += b->node[k].sent[l] > 100;
			if (used != w[i].lanes[k])
				fail_msg("%u and %u sources: node %u uses %u lanes", w[i].n[0],
					 w[i].n[1], k, used);
			assert_int_equal(bed_stats(b, k).pkts_late, 0);
			assert_int_equal(bed_stats(b, k).paths_down, 0);
		}
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* The engine has one source: the setting alone makes no path. */
static void open__settings_do_not_make_sources(void **state)
{
	struct bed *b = paths_new(4);

	(void)state;
	b->na[0].sources = b->na[1].sources = 1;
	paths_boot(b);
	assert_int_equal(bed_conn(b, 0, 1)->npaths, 1);
	assert_null(bed_conn(b, 0, 1)->multi);
	assert_int_equal(bed_stats(b, 0).path_asks, 0);
	bed_close(b);
}

static void open__a_peer_without_the_feature(void **state)
{
	struct bed *b;

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		b = paths_new(4);
		bed_boot(b);
		b->node[k].ep->rel->features &= ~SDR_FEATURE_MULTIPATH;
		bed_warm(b, 0, 1);
		move(b, 0, BIG);
		move(b, 1, BIG);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(bed_conn(b, i, 1 - i)->npaths, 1);
			assert_int_equal(bed_stats(b, i).path_asks, 0);
			for (uint32_t l = 1; l < 4; l++)
				assert_int_equal(b->node[i].sent[l], 0);
		}
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* Four lanes carry nearly four times what one does. */
static void data__all_lanes_together(void **state)
{
	struct bed *one = paths_open(1), *four = paths_open(4);
	uint64_t t1 = move(one, 0, BIG), t4 = move(four, 0, BIG);

	(void)state;
	if (t4 > t1 / 3)
		fail_msg("%.2f ms by one lane, %.2f by four", (double)t1 / 1e6, (double)t4 / 1e6);
	bed_close(one);
	bed_close(four);
}

/*
 * Messages one at a time, with default settings: each lane gets what it passes, from the first on
 * and after a hundred.  The first packets of each meet no queue, whatever the others do; and on a
 * near path a packet's own time is as long as a queue.
 */
static void data__one_message_at_a_time(void **state)
{
	static const struct {
		uint64_t rtt; /* ns */
		size_t len;
		uint32_t mtu;
	} row[] = { { MS, MB, 4096 }, { MS / 5, 4 * MB, 8192 } };

	(void)state;
	for (uint32_t r = 0; r < sizeof(row) / sizeof(row[0]); r++) {
		uint64_t ideal = row[r].rtt + row[r].len * 8 * BED_SEC / (4 * RATE), sum, t,
			 longest;
		struct bed *b = paths_new(4);

		b->link.delay_ns = row[r].rtt / 2;
		for (uint32_t i = 0; i < 2; i++) {
			b->na[i].mtu = b->cfg[i].mtu = row[r].mtu;
			b->cfg[i].rate_bps = 0;
		}
		paths_boot(b);
		for (uint32_t n = 0; n < 3; n++) {
			for (uint32_t i = 0; i < 40; i++)
				move(b, 0, row[r].len);
			sum = longest = 0;
			for (uint32_t i = 0; i < 20; i++) {
				t = move(b, 0, row[r].len);
				sum += t;
				longest = t > longest ? t : longest;
			}
			if (sum / 20 > ideal * 11 / 10 || longest > ideal * 5 / 4)
				fail_msg("%zu: %.2f ms, at most %.2f; ideal %.2f", row[r].len,
					 (double)sum / 20e6, (double)longest / 1e6,
					 (double)ideal / 1e6);
		}
		bed_close(b);
	}
}

/* Lanes of different delay: what announces data comes before them. */
static void data__never_before_their_announcement(void **state)
{
	static const uint64_t delay[4] = { 5 * MS, 2 * MS, 9 * MS, 30 * MS };

	(void)state;
	for (uint32_t turn = 0; turn < 4; turn++) {
		struct bed *b = paths_new(4);

		bed_boot(b);
		for (uint32_t k = 0; k < 4; k++) {
			struct sdr_sim_link l = lane_of(delay[(k + turn) % 4], 0);

			sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
		}
		bed_warm(b, 0, 1);
		for (uint32_t i = 0; i < 20; i++)
			move(b, i % 2, i < 10 ? 100000 : MB);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(alive(b, i), 4);
			assert_int_equal(bed_stats(b, i).pkts_late, 0);
			assert_int_equal(bed_stats(b, i).paths_down, 0);
		}
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* ---- every kind of operation ----------------------------------------------------------------- */

static void data__every_scheme_and_controller(void **state)
{
	static const struct sdr_scheme_ops *const scheme[] = {
		&sdr_scheme_sr,	   &sdr_scheme_sr_nack, &sdr_scheme_sr_rto, &sdr_scheme_ec,
		&sdr_scheme_ec_sr, &sdr_scheme_hybrid,	&sdr_scheme_auto,
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(scheme) / sizeof(scheme[0]); i++) {
		struct bed *b = paths_new(4);

		for (uint32_t k = 0; k < 2; k++) {
			b->cfg[k].scheme = scheme[i / 2];
			b->cfg[k].max_overhead = 0.25;
			if (i & 1) {
				b->cfg[k].cc = &sdr_cc_bbr;
				b->cfg[k].rate_bps = 0;
			}
		}
		bed_boot(b);
		for (uint32_t k = 0; k < 4; k++) {
			struct sdr_sim_link l = lane_of((3 + k) * MS, k & 1 ? 0.01 : 0);

			sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
		}
		bed_warm(b, 0, 1);
		for (uint32_t n = 0; n < 6; n++)
			move(b, n & 1, n < 2 ? 10000 : 4 * MB);
		assert_int_equal(alive(b, 0), 4);
		bed_close(b);
	}
}

static void data__reads_writes_and_tags(void **state)
{
	struct bed *b = paths_open(4);
	uint8_t *there = bed_buf(b, BIG, 3), *here = bed_buf(b, BIG, 0), *t = bed_buf(b, MB, 0);
	struct bed_op *op[5];

	(void)state;
	bed_region_add(b, 1, 9, there, BIG, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	op[0] = bed_rma(b, 0, 1, SDR_REL_READ, here, BIG, 0, 9, 0);
	op[1] = bed_trecv(b, 1, 5, 0, t, MB);
	op[2] = bed_tsend(b, 0, 1, 5, bed_buf(b, MB, 4), MB);
	for (uint32_t i = 0; i < 3; i++)
		bed_wait(b, op[i], 10 * BED_SEC);
	assert_true(bed_same(here, BIG, 3));
	assert_true(bed_same(t, MB, 4));
	op[3] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, BIG, 6), BIG, 0, 9, 0);
	bed_wait(b, op[3], 10 * BED_SEC);
	op[4] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 0, 6), 0, 0, 9, SDR_REL_F_DELIVERY);
	bed_wait(b, op[4], 10 * BED_SEC);
	for (uint32_t i = 0; i < 5; i++)
		bed_assert_ok(op[i]);
	assert_true(bed_same(there, BIG, 6));
	bed_close(b);
}

/* ---- lanes that die -------------------------------------------------------------------------- */

struct death {
	uint32_t lane, src; /* src: node whose packets die, or BED_ANY */
};

/* In mid-transfer, and it comes back afterwards. */
static void dies__in_mid_transfer(void **state)
{
	static const struct death d[] = {
		{ 0, 0 }, { 0, 1 }, { 0, BED_ANY }, { 2, 0 }, { 2, 1 }, { 2, BED_ANY },
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(d) / sizeof(d[0]); i++) {
		struct bed *b = paths_open(4);
		uint32_t from = i & 1;
		uint64_t alone = move(b, from, BIG), t0, seen = 0;
		struct bed_op *r, *s;
		struct bed_rule *dead;
		uint8_t *p = bed_buf(b, BIG, 0);

		r = bed_recv(b, 1 - from, p, BIG);
		t0 = bed_now(b);
		s = bed_send(b, from, 1 - from, bed_buf(b, BIG, 9), BIG, 0);
		bed_run(b, alone / 3);
		dead = lane_dies(b, d[i / 2].src, d[i / 2].lane);
		t0 = bed_now(b);
		while (!r->n || !s->n) {
			bed_run(b, MS);
			assert_true(bed_now(b) < t0 + 5 * BED_SEC);
			if (!seen && bed_stats(b, from).paths_down)
				seen = bed_now(b) - t0;
		}
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(p, BIG, 9));
		/*
		 * One whose acknowledgements alone came by it may go on.  Without any, since they
		 * come by lane 0, a timeout has to find the other way first.
		 */
		if (d[i / 2].src != 1 - from &&
		    (!seen || seen > (d[i / 2].lane || d[i / 2].src != BED_ANY ? 4 : 20) * BED_RTT +
					      10 * MS))
			fail_msg("way %u: noticed after %.2f ms", i, (double)seen / 1e6);
		if (bed_now(b) - t0 >
		    alone + (d[i / 2].lane || d[i / 2].src != BED_ANY ? 10 : 20) * BED_RTT)
			fail_msg("way %u: %.2f ms, %.2f before", i, (double)(bed_now(b) - t0) / 1e6,
				 (double)alone / 1e6);
		dead->n = 0;
		bed_run(b, 2 * BED_SEC);
		for (uint32_t n = 0; n < 6;
		     n++) { /* it is asked for while there is something to do */
			move(b, from, BIG);
			move(b, 1 - from, BIG);
		}
		assert_int_equal(alive(b, 0), 4);
		assert_int_equal(alive(b, 1), 4);
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(bed_stats(b, k).paths_up, 3 + bed_stats(b, k).paths_down);
		bed_close(b);
	}
}

/* While nothing happens: the next message is hardly late. */
static void dies__while_idle(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct bed *b = paths_open(4);
		size_t len = i & 4 ? BIG : 100;
		uint64_t alone = move(b, 0, len), took;

		bed_run(b, BED_SEC);
		lane_dies(b, i & 2 ? BED_ANY : 0, i & 1 ? 0 : 3);
		took = move(b, 0, len);
		if (took > alone + alone / 2 + 6 * BED_RTT)
			fail_msg("way %u: %.2f ms, %.2f before", i, (double)took / 1e6,
				 (double)alone / 1e6);
		move(b, 1, len);
		bed_close(b);
	}
}

/* Requests and answers of one packet, with the path dead that they leave by. */
static void dies__small_messages_find_another(void **state)
{
	struct bed *b = paths_open(4);
	uint64_t took;

	(void)state;
	bed_run(b, BED_SEC);
	lane_dies(b, BED_ANY, 0);
	for (uint32_t i = 0; i < 10; i++) {
		took = move(b, i & 1, 64);
		if (i > 3 && took > 2 * BED_RTT)
			fail_msg("message %u took %.2f ms", i, (double)took / 1e6);
	}
	assert_int_not_equal(bed_conn(b, 0, 1)->ctl, 0);
	assert_int_not_equal(bed_conn(b, 1, 0)->ctl, 0);
	bed_close(b);
}

static void dies__all_of_them(void **state)
{
	struct bed *b = paths_open(4);
	struct bed_op *r, *s;
	uint64_t t0;

	(void)state;
	r = bed_recv(b, 1, bed_buf(b, BIG, 0), BIG);
	s = bed_send(b, 0, 1, bed_buf(b, BIG, 1), BIG, 0);
	bed_run(b, 50 * MS);
	lane_dies(b, BED_ANY, ALL_LANES);
	t0 = bed_now(b);
	bed_wait(b, s, 7 * BED_SEC);
	assert_in_range(s->at - t0, 5 * BED_SEC - 100 * MS, 5 * BED_SEC + 200 * MS);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	bed_wait(b, r, 7 * BED_SEC);
	assert_int_equal(r->n, 1);
	bed_close(b);
}

/* All die, and one of them, not the first, comes back before the time is over. */
static void dies__all_but_one_that_comes_back(void **state)
{
	struct bed *b = paths_open(4);
	struct bed_op *r, *s;
	struct bed_rule *dead[4];

	(void)state;
	r = bed_recv(b, 1, bed_buf(b, BIG, 0), BIG);
	s = bed_send(b, 0, 1, bed_buf(b, BIG, 1), BIG, 0);
	bed_run(b, 50 * MS);
	for (uint32_t k = 0; k < 4; k++)
		dead[k] = lane_dies(b, BED_ANY, k);
	bed_run(b, 2 * BED_SEC);
	dead[2]->n = 0;
	bed_wait(b, s, 6 * BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	bed_close(b);
}

static void dies__and_the_peer_says_farewell(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct bed *b = paths_open(4);

		lane_dies(b, BED_ANY, 0);
		if (i)
			move(b, 0, MB);
		bed_shut(b, 0);
		bed_run(b, 2 * BED_SEC);
		assert_null(bed_conn(b, 1, 0));
		bed_close(b);
	}
}

/* ---- lanes that carry less ------------------------------------------------------------------- */

static void narrow__carries_no_data(void **state)
{
	struct bed *b = paths_new(4);
	uint64_t before;

	(void)state;
	bed_boot(b);
	sdr_sim_link_mtu(b->w, SDR_SIM_LANE(0, 2), 1, 600, false);
	bed_warm(b, 0, 1);
	move(b, 0, BIG);
	move(b, 1, BIG);
	assert_int_equal(alive(b, 0), 3);
	before = b->node[0].sent[2];
	move(b, 0, BIG);
	assert_in_range(b->node[0].sent[2] - before, 0, 20);
	bed_assert_no_repair(b);
	bed_close(b);
}

/* It becomes so while data and packets leave by it. */
static void narrow__in_mid_transfer(void **state)
{
	(void)state;
	for (uint32_t lane = 0; lane < 4; lane += 2) {
		struct bed *b = paths_open(4);
		uint64_t alone = move(b, 0, BIG), took;

		sdr_sim_link_mtu_at(b->w, bed_now(b) + alone / 3, SDR_SIM_LANE(0, lane), 1, 600,
				    false);
		took = move(b, 0, BIG);
		if (took > alone + alone / 2 + 20 * BED_RTT)
			fail_msg("lane %u: %.2f ms, %.2f before", lane, (double)took / 1e6,
				 (double)alone / 1e6);
		move(b, 0, 1000); /* a record longer than it carries */
		bed_close(b);
	}
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Those of one lane lower no other's rate, and repairs avoid it. */
static void loss__of_one_lane_is_its_own(void **state)
{
	struct bed *b = paths_new(4);
	struct sdr_sim_link l = lane_of(BED_DELAY, 0.02);
	uint64_t w[4];

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		b->cfg[k].cc = &sdr_cc_bbr;
		b->cfg[k].rate_bps = 0;
	}
	bed_boot(b);
	sdr_sim_link_set(b->w, SDR_SIM_LANE(0, 3), 1, &l);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 6; i++)
		move(b, 0, BIG);
	memcpy(w, b->node[0].sent, sizeof(w));
	for (uint32_t i = 0; i < 6; i++)
		move(b, 0, BIG);
	for (uint32_t k = 0; k < 4; k++)
		w[k] = b->node[0].sent[k] - w[k];
	for (uint32_t k = 1; k < 3; k++)
		if (w[k] < w[0] * 9 / 10 || w[k] > w[0] * 11 / 10)
			fail_msg("lanes carried %llu %llu %llu %llu packets",
				 (unsigned long long)w[0], (unsigned long long)w[1],
				 (unsigned long long)w[2], (unsigned long long)w[3]);
	assert_int_equal(bed_stats(b, 0).paths_down, 0);
	bed_close(b);
}

/* The packets that one lane loses go by another, where one has room. */
static bool again_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	uint64_t *seen = b->user;

	if (p->src || !(what & BED_DATA))
		return true;
	if (p->lane == 1 && seen[0] < 10) {
		seen[1 + seen[0]++] = p->va;
		return false;
	}
	for (uint32_t i = 0; i < seen[0]; i++)
		if (p->va == seen[1 + i]) {
			seen[20]++;
			seen[21] += p->lane == 1;
		}
	return true;
}

static void loss__repairs_go_by_another_lane(void **state)
{
	struct bed *b = paths_open(4);
	uint64_t seen[24] = { 0 };

	(void)state;
	b->user = seen;
	b->filter = again_filter;
	move(b, 0, BIG);
	assert_int_equal(seen[0], 10);
	assert_true(seen[20] >= 10);
	assert_in_range(seen[21], 0, 3);
	bed_close(b);
}

/*
 * Parity goes by another path than what it repairs, though that is a little longer: the second lane
 * by a quarter of a millisecond, in which the first one could send message and parity.
 */
#define CODED_LEN (64u << 10)

struct coded {
	uint32_t data, lane[2]; /* packets of data still to come; of parity, by lane */
	uint32_t on;		/* lane of the data */
};

static bool coded_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct coded *k = b->user;

	if (p->src || !(what & BED_DATA) || !k)
		return true;
	if (k->data) {
		k->data--;
		k->on = p->lane;
	} else {
		k->lane[p->lane]++;
	}
	return true;
}

static void loss__parity_goes_by_another_lane(void **state)
{
	struct bed *b = paths_new(2);
	struct sdr_sim_link l = { .rate_bps = 40 * RATE };

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		b->cfg[k].scheme = &sdr_scheme_ec;
		b->cfg[k].max_overhead = 0.25;
		b->cfg[k].rate_bps = l.rate_bps;
	}
	bed_boot(b);
	for (uint32_t k = 0; k < 2; k++) {
		l.delay_ns = BED_DELAY + k * (MS / 4);
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
	}
	bed_warm(b, 0, 1);
	move(b, 0, MB);
	move(b, 1, MB);
	b->filter = coded_filter;
	for (uint32_t i = 0; i < 5; i++) {
		struct coded k = { .data = CODED_LEN / bed_conn(b, 0, 1)->shape->mtu };

		b->user = &k;
		move(b, 0, CODED_LEN);
		assert_int_equal(k.data, 0);
		assert_true(k.lane[!k.on]);
		assert_int_equal(k.lane[k.on], 0);
		b->user = NULL;
	}
	bed_close(b);
}

/* ---- what is remembered ---------------------------------------------------------------------- */

/* Rails: source 1 of each node is another host's address, on a line of its own. */
static void rails_bind(struct bed *b)
{
	for (uint32_t node = 0; node < 2; node++)
		assert_int_equal(sdr_sim_node_rebind(b->w, SDR_SIM_LANE(node, 1),
						     1u << 24 | b->w->nodes[node].addr),
				 0);
}

static void rails_boot(struct bed *b)
{
	bed_boot(b);
	rails_bind(b);
	for (uint32_t k = 0; k < 2; k++) {
		struct sdr_sim_link l = { .rate_bps = (1 + 7 * k) * RATE, .delay_ns = BED_DELAY };

		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
	}
	bed_warm(b, 0, 1);
}

static struct bed *rails_new(struct sdr_path_mem *mem)
{
	struct bed *b = paths_new(2);

	for (uint32_t k = 0; k < 2; k++) {
		b->cfg[k].cc = &sdr_cc_auto;
		b->cfg[k].rate_bps = 0;
		b->name[k] = k + 1;
	}
	b->paths[0] = mem;
	return b;
}

struct rates {
	uint32_t n;
	uint64_t slow, fast; /* bits per second, the most that two sorts of keys have */
};

static void rates_see(void *user, const struct sdr_path_key *key, const struct sdr_path_facts *f,
		      uint64_t age_ns)
{
	struct rates *r = user;
	uint64_t bps = f->rate_Bps * 8;

	(void)key;
	(void)age_ns;
	r->n++;
	if (bps < 2 * RATE)
		r->slow = bps > r->slow ? bps : r->slow;
	else
		r->fast = bps > r->fast ? bps : r->fast;
}

/*
 * Each rail is remembered by itself, and the next connection begins with what each of them carries:
 * its first long message is not the one that finds out.
 */
static void memory__of_each_rail(void **state)
{
	struct sdr_path_mem *mem = sdr_path_mem_new(1);
	struct rates seen = { 0, 0, 0 };
	uint64_t bare, cold, warm;
	struct bed *b;

	(void)state;
	b = rails_new(NULL);
	rails_boot(b);
	bare = move(b, 0, BIG);
	bed_close(b);
	b = rails_new(mem);
	rails_boot(b);
	cold = move(b, 0, BIG);
	assert_int_equal(cold, bare); /* nobody else is taken for there */
	for (uint32_t i = 0; i < 20; i++)
		move(b, 0, BIG);
	assert_int_equal(alive(b, 0), 2);
	bed_close(b);
	sdr_path_mem_walk(mem, 0, &seen, rates_see);
	assert_int_equal(seen.n, 4); /* hosts and networks */
	assert_in_range(seen.slow, RATE * 9 / 10, RATE * 11 / 10);
	/* what came by it is told by the way of the other one, in clumps */
	assert_in_range(seen.fast, 8 * RATE * 4 / 5, 8 * RATE * 5 / 4);
	b = rails_new(mem);
	rails_boot(b);
	warm = move(b, 0, BIG);
	bed_close(b);
	if (warm > cold * 4 / 5)
		fail_msg("%.2f ms cold, %.2f warm", (double)cold / 1e6, (double)warm / 1e6);
	sdr_path_mem_free(mem);
}

/* Ports more between the same hosts have no memory beside the first path's. */
static void memory__of_ports_is_one(void **state)
{
	struct sdr_path_mem *mem = sdr_path_mem_new(1);
	struct rates seen = { 0, 0, 0 };
	struct bed *b = rails_new(mem);

	(void)state;
	paths_boot(b);
	for (uint32_t i = 0; i < 10; i++)
		move(b, 0, BIG);
	assert_int_equal(alive(b, 0), 2);
	bed_close(b);
	sdr_path_mem_walk(mem, 0, &seen, rates_see);
	assert_int_equal(seen.n, 2);
	sdr_path_mem_free(mem);
}

/* Where a peer has only named somebody, nobody opens: who does is alone there. */
static void memory__of_who_is_named_has_no_part(void **state)
{
	const struct sdr_sim_link nobody = { .loss = 1 };
	struct sdr_path_mem *mem = sdr_path_mem_new(1);
	struct sdr_path_ends e = { .host.len = 1 };
	struct bed *b = rails_new(mem);
	const struct sdr_path *p;
	struct sdr_uc_addr from;

	(void)state;
	bed_boot(b);
	rails_bind(b);
	sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, 1), 1, &nobody);
	bed_warm(b, 0, 1);
	assert_int_equal(alive(b, 0), 1);
	p = sdr_conn_path_of(bed_conn(b, 0, 1), 1);
	sdr_sim_addr_make(1u << 24 | 1, &from);
	e.host.len += sdr_uc_addr_where(&from, true, e.host.b + e.host.len);
	e.host.len += sdr_uc_addr_where(&p->addr, false, e.host.b + e.host.len);
	sdr_path_mem_open(mem, &e, bed_now(b));
	assert_int_equal(sdr_path_mem_together(mem, &e, bed_now(b), bed_now(b)), 1);
	bed_close(b);
	sdr_path_mem_free(mem);
}

/* ---- the rest of a life ---------------------------------------------------------------------- */

static void life__idle_has_no_timer(void **state)
{
	struct bed *b = paths_open(4);

	(void)state;
	lane_dies(b, BED_ANY, 2); /* one that is silent is not asked for nothing */
	move(b, 0, BIG);
	bed_run(b, 5 * BED_SEC);
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t asks = bed_stats(b, k).path_asks;

		assert_int_equal(sdr_multipath_deadline(bed_conn(b, k, 1 - k)), UINT64_MAX);
		bed_run(b, 5 * BED_SEC);
		assert_int_equal(bed_stats(b, k).path_asks, asks);
	}
	bed_close(b);
}

static void life__the_peer_restarts(void **state)
{
	struct bed *b = paths_open(4);
	struct bed_op *s;

	(void)state;
	bed_crash(b, 1);
	bed_boot_node(b, 1);
	s = bed_send(b, 0, 1, bed_buf(b, MB, 1), MB, 0);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	bed_run(b, BED_SEC);
	move(b, 0, BIG);
	move(b, 1, BIG);
	assert_int_equal(alive(b, 0), 4);
	bed_close(b);
}

/* ---- who names others ------------------------------------------------------------------------ */

/*
 * A peer names fifteen addresses that are not his, and keeps the connection busy for a minute: each
 * of them gets a few short packets, and then nothing.
 */
static void named__others_get_a_few_short_challenges(void **state)
{
	const struct sdr_sim_link nobody = { .loss = 1 };
	struct bed *b = paths_new(16);

	(void)state;
	b->na[0].sources = 1;
	b->cfg[0].paths = 1;
	bed_boot(b);
	for (uint32_t k = 1; k < SDR_PATHS_MAX; k++)
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &nobody);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 60; i++) {
		move(b, i & 1, 300000);
		bed_run(b, BED_SEC);
	}
	assert_int_equal(alive(b, 0), 1);
	for (uint32_t k = 1; k < SDR_PATHS_MAX; k++)
		assert_in_range(b->node[0].sent[k], 1, SDR_MULTIPATH_TRIES);
	bed_close(b);
}

/* What comes from an address that is only named has no effect, whatever is in it. */
static void named__counts_for_nothing_until_it_has_answered(void **state)
{
	struct bed *b = paths_new(4);
	struct sdr_conn *c;
	uint64_t rx, bad;
	uint8_t pkt[64];
	size_t n;

	(void)state;
	bed_boot(b);
	for (uint32_t k = 1; k < 4; k++)
		lane_dies(b, BED_ANY, k);
	bed_warm(b, 0, 1);
	c = bed_conn(b, 1, 0);
	assert_int_equal(c->npaths, 4);
	assert_int_equal(sdr_multipath_who(c, &c->more[1].addr), SDR_MULTIPATH_NAMED);
	rx = c->st.ctl_rx;
	bad = c->rec.rx_next;
	n = sdr_packet_encode(pkt, c->id.cid, 1000);
	n += sdr_frame_ping_encode(pkt + n, sizeof(pkt) - n);
	assert_int_equal(
		sdr_sim_inject_ctl(b->w, sdr_sim_addr_number(&c->more[1].addr), 1, 1, pkt, n), 0);
	bed_run(b, BED_SEC);
	assert_int_equal(c->st.ctl_rx, rx);
	assert_int_equal(c->rec.rx_next, bad);
	assert_int_equal(alive(b, 1), 1);
	move(b, 0, MB);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__by_either_side_or_both),
		cmocka_unit_test(open__settings_do_not_make_sources),
		cmocka_unit_test(open__a_peer_without_the_feature),
		cmocka_unit_test(data__all_lanes_together),
		cmocka_unit_test(data__one_message_at_a_time),
		cmocka_unit_test(data__never_before_their_announcement),
		cmocka_unit_test(data__every_scheme_and_controller),
		cmocka_unit_test(data__reads_writes_and_tags),
		cmocka_unit_test(dies__in_mid_transfer),
		cmocka_unit_test(dies__while_idle),
		cmocka_unit_test(dies__small_messages_find_another),
		cmocka_unit_test(dies__all_of_them),
		cmocka_unit_test(dies__all_but_one_that_comes_back),
		cmocka_unit_test(dies__and_the_peer_says_farewell),
		cmocka_unit_test(narrow__carries_no_data),
		cmocka_unit_test(narrow__in_mid_transfer),
		cmocka_unit_test(loss__of_one_lane_is_its_own),
		cmocka_unit_test(loss__repairs_go_by_another_lane),
		cmocka_unit_test(loss__parity_goes_by_another_lane),
		cmocka_unit_test(memory__of_each_rail),
		cmocka_unit_test(memory__of_ports_is_one),
		cmocka_unit_test(memory__of_who_is_named_has_no_part),
		cmocka_unit_test(life__idle_has_no_timer),
		cmocka_unit_test(life__the_peer_restarts),
		cmocka_unit_test(named__others_get_a_few_short_challenges),
		cmocka_unit_test(named__counts_for_nothing_until_it_has_answered),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
