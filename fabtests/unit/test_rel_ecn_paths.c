/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Marks of congestion where a connection has several paths: each has its own, the controller of
 * that path hears of them and no other, and a path that bleaches, mangles or drops the bits ends
 * them there alone.  Peers without the feature, packets late, twice and by another path than they
 * were sent again by, and peers that lie.
 */
#include "../bed/bed.h"
#include "rel/conn/sdr_conn_ecn.h"
#include "rel/conn/sdr_multipath.h"
#include "rel/path/sdr_cc_ops.h"

#define MB    (1u << 20)
#define BIG   (8 * MB)
#define RATE  500000000ull /* bits per second, of each lane and path */
#define LIMIT (30 * BED_SEC)
#define LANES 4u

/* What each controller was told. */
struct ear {
	const struct sdr_cc *cc;
	uint64_t ce, bytes;
};
static struct ear ears[32];

static struct ear *ear_of(const struct sdr_cc *cc)
{
	uint32_t i = 0;

	while (ears[i].cc && ears[i].cc != cc)
		i++;
	assert_true(i < 31);
	ears[i].cc = cc;
	return &ears[i];
}

static void ear_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		      const struct sdr_cc_rate *rate)
{
	struct ear *e = ear_of(cc);

	e->ce += ack->ce;
	e->bytes += ack->bytes;
	sdr_cc_fixed.acked(cc, ack, rate);
}

static struct sdr_cc_ops answers;

/* What the lanes do with packets of node 0, and what was seen of them. */
struct lane {
	uint32_t mark_every; /* of what may be marked; 0: none */
	bool bleaches, drops;
	uint64_t ect, marked; /* packets as they were sent; as they were changed */
};
struct lanes {
	struct lane lane[SDR_PATHS_MAX];
	bool back;	/* and with those of node 1 */
	uint64_t said;	/* frames MARKS, of either */
	uint32_t wrong; /* packets that must not be marked, and could be */
};

static uint64_t marks_in(const struct sdr_sim_packet *p)
{
	const uint8_t *at = sdr_sim_packet_payload(p) + SDR_PACKET_HDR,
		      *end = sdr_sim_packet_payload(p) + p->len;
	struct sdr_frame f;
	uint64_t n = 0;

	while (sdr_frame_next(&at, end, &f) > 0)
		n += f.type == SDR_FRAME_MARKS;
	return n;
}

static bool lanes_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	const uint32_t asking = BED_PING | BED_END | BED_REC | BED_DATA | BED_CLOSE | BED_SHAPE |
				BED_PATH_CHALLENGE;
	struct lanes *w = b->user;
	struct lane *l = &w->lane[p->lane];

	if (what & BED_PACKET)
		w->said += marks_in(p);
	if (p->ecn == SDR_UC_NOT_ECT)
		return true;
	w->wrong += p->ecn != SDR_UC_ECT0 || !(what & asking);
	if (p->src && !w->back)
		return true;
	l->ect++;
	if (l->drops)
		return false;
	if (l->bleaches) {
		p->ecn = SDR_UC_NOT_ECT;
	} else if (l->mark_every && l->ect % l->mark_every == 0) {
		p->ecn = SDR_UC_CE;
		l->marked++;
	}
	return true;
}

static struct bed *lanes_new(struct lanes *w, uint32_t n)
{
	struct bed *b = bed_new(2);

	answers = sdr_cc_fixed;
	answers.acked = ear_acked;
	answers.marks = true;
	memset(ears, 0, sizeof(ears));
	memset(w, 0, sizeof(*w));
	b->user = w;
	b->filter = lanes_filter;
	bed_paths(b, n);
	b->link.rate_bps = RATE;
	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].ecn = true;
		b->na[i].no_probe = false;
		b->cfg[i].cc = &answers;
		b->cfg[i].rate_bps = RATE * 9 / 10;
		b->cfg[i].timeout_ms = 10000;
	}
	return b;
}

static void move(struct bed *b, uint32_t from, size_t len)
{
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1 - from, p, len), *s;

	s = bed_send(b, from, 1 - from, bed_buf(b, len, 7), len, 0);
	bed_wait(b, r, LIMIT);
	bed_wait(b, s, LIMIT);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, 7));
}

static void lanes_boot(struct bed *b)
{
	bed_boot(b);
	for (uint32_t k = 1; k < SDR_PATHS_MAX; k++) /* else they would be set with lane 0 */
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &b->link);
	bed_warm(b, 0, 1);
	move(b, 0, MB);
	move(b, 1, MB);
}

static struct bed *lanes_open(struct lanes *w, uint32_t n)
{
	struct bed *b = lanes_new(w, n);

	lanes_boot(b);
	assert_int_equal(bed_conn(b, 0, 1)->npaths, n);
	return b;
}

static const struct sdr_path *path_of(struct bed *b, uint32_t node, uint32_t i)
{
	return sdr_conn_path_of(bed_conn(b, node, 1 - node), i);
}

static const struct sdr_ecn *ecn_of(struct bed *b, uint32_t i)
{
	return &path_of(b, 0, i)->ecn;
}

/* Nothing is wrong on any path of node 0, and each knows all that was marked there. */
static void assert_all_known(struct bed *b, const struct lanes *w, uint32_t n)
{
	bed_run(b, 10 * BED_RTT);
	move(b, 0, 1000);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(ecn_of(b, i)->why, SDR_ECN_FINE);
		assert_true(ecn_of(b, i)->ect);
		if (ecn_of(b, i)->ce != w->lane[i].marked)
			fail_msg("path %u: %llu marks known of %llu", i,
				 (unsigned long long)ecn_of(b, i)->ce,
				 (unsigned long long)w->lane[i].marked);
	}
	assert_int_equal(w->wrong, 0);
	assert_int_equal(bed_stats(b, 0).ecn_off, 0);
}

/* ---- to whom they go ------------------------------------------------------------------------- */

static void marks__reach_their_own_controller(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < LANES; k++) {
		struct lanes w;
		struct bed *b = lanes_open(&w, LANES);

		w.lane[k].mark_every = 10;
		memset(ears, 0, sizeof(ears));
		for (uint32_t n = 0; n < 3; n++)
			move(b, 0, BIG);
		assert_true(w.lane[k].marked > 100);
		for (uint32_t i = 0; i < LANES; i++) {
			struct ear *e = ear_of(&path_of(b, 0, i)->cc);

			assert_true(e->bytes > BIG / 4);
			if (i == k)
				assert_in_range(e->ce, e->bytes * 9 / 100, e->bytes * 11 / 100);
			else
				assert_int_equal(e->ce, 0);
		}
		assert_all_known(b, &w, LANES);
		assert_int_equal(bed_stats(b, 0).ce_tx, w.lane[k].marked);
		assert_int_equal(bed_stats(b, 1).ce_rx, w.lane[k].marked);
		bed_close(b);
	}
}

/* All lanes at once, each with its own share, in both directions. */
static void marks__of_all_lanes_and_both_ways(void **state)
{
	struct lanes w;
	struct bed *b = lanes_open(&w, LANES);

	(void)state;
	for (uint32_t k = 0; k < LANES; k++)
		w.lane[k].mark_every = 5 + 3 * k;
	for (uint32_t n = 0; n < 3; n++)
		move(b, 0, BIG);
	assert_all_known(b, &w, LANES);
	for (uint32_t k = 0; k < LANES; k++)
		w.lane[k] = (struct lane){ .mark_every = 5 + 3 * k };
	w.back = true;
	for (uint32_t n = 0; n < 3; n++) {
		move(b, 1, BIG);
		move(b, 0, MB);
	}
	for (uint32_t i = 0; i < LANES; i++) {
		assert_int_equal(path_of(b, 1, i)->ecn.why, SDR_ECN_FINE);
		assert_true(path_of(b, 1, i)->ecn.ce > 20);
	}
	assert_int_equal(bed_stats(b, 0).ecn_off + bed_stats(b, 1).ecn_off, 0);
	bed_close(b);
}

/* However the sources of the two are paired: who receives knows every path. */
static void marks__whoever_has_the_sources(void **state)
{
	static const uint32_t n[][2] = { { 4, 1 }, { 1, 4 }, { 4, 2 }, { 2, 4 }, { 3, 5 } };

	(void)state;
	for (uint32_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, 4);
		uint64_t marked = 0, ce = 0;

		for (uint32_t k = 0; k < 2; k++) {
			b->cfg[k].paths = n[i][k];
			b->na[k].sources = (uint8_t)n[i][k];
		}
		lanes_boot(b);
		for (uint32_t k = 0; k < SDR_PATHS_MAX; k++)
			w.lane[k].mark_every = 7;
		for (uint32_t k = 0; k < 3; k++)
			move(b, 0, BIG);
		bed_run(b, 10 * BED_RTT);
		move(b, 0, 1000);
		for (uint32_t k = 0; k < SDR_PATHS_MAX; k++)
			marked += w.lane[k].marked;
		for (uint32_t k = 0; k < bed_conn(b, 0, 1)->npaths; k++) {
			assert_int_equal(ecn_of(b, k)->why, SDR_ECN_FINE);
			assert_true(ecn_of(b, k)->ce > 20);
			ce += ecn_of(b, k)->ce;
		}
		assert_int_equal(ce, marked);
		bed_close(b);
	}
}

/* Our end of it has proved nothing: what comes by it is known all the same. */
static void marks__by_a_path_that_is_proved_one_way(void **state)
{
	struct lanes w;
	struct bed *b = lanes_new(&w, 3);

	(void)state;
	bed_drop(b, 1, BED_PATH_CHALLENGE, 0, UINT64_MAX / 2);
	lanes_boot(b);
	w.lane[2].mark_every = 10;
	for (uint32_t n = 0; n < 4; n++)
		move(b, 0, BIG);
	for (uint32_t k = 1; k < 3; k++) {
		assert_int_equal(path_of(b, 0, k)->state, SDR_PATH_ALIVE);
		assert_int_equal(path_of(b, 1, k)->state, SDR_PATH_UNPROVED);
	}
	assert_true(w.lane[2].marked > 100);
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(ecn_of(b, k)->why, SDR_ECN_FINE);
		assert_true((ecn_of(b, k)->ce > 100) == (k == 2));
	}
	bed_close(b);
}

/*
 * A queue that marks on the second of two rails: what `auto` sends by the first is what it was, and
 * what waits on the second is less.
 */
static void queue_of(struct bed *b, uint64_t mark_ns, uint64_t w[2], struct sdr_sim_line_stats *st)
{
	const struct sdr_sim_line cfg = { .rate_bps = RATE, .mark_ns = mark_ns };
	uint32_t line[2];

	for (uint32_t k = 0; k < 2; k++) {
		b->cfg[k].cc = &sdr_cc_auto;
		b->cfg[k].rate_bps = 0;
	}
	b->link.rate_bps = 0;
	bed_boot(b);
	for (uint32_t k = 0; k < 2; k++) {
		struct sdr_sim_line one = cfg;

		one.mark_ns = k ? mark_ns : 0;
		line[k] = (uint32_t)sdr_sim_line_add(b->w, &one);
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &b->link);
		assert_int_equal(sdr_sim_link_line(b->w, SDR_SIM_LANE(0, k), 1, line[k]), 0);
	}
	bed_warm(b, 0, 1);
	move(b, 0, MB);
	move(b, 1, MB);
	for (uint32_t n = 0; n < 8; n++)
		move(b, 0, 2 * BIG);
	memcpy(w, b->node[0].sent, 2 * sizeof(w[0]));
	for (uint32_t n = 0; n < 8; n++)
		move(b, 0, 2 * BIG);
	for (uint32_t k = 0; k < 2; k++)
		w[k] = b->node[0].sent[k] - w[k];
	sdr_sim_line_stats(b->w, line[1], st);
}

static void marks__of_a_queue_slow_its_own_path(void **state)
{
	struct sdr_sim_line_stats st[2];
	uint64_t sent[2][2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, 2);

		queue_of(b, i ? MS / 2 : 0, sent[i], &st[i]);
		assert_int_equal(ecn_of(b, 0)->ce, 0);
		assert_true(ecn_of(b, 0)->ect && ecn_of(b, 1)->ect);
		assert_int_equal(ecn_of(b, 1)->ce, st[i].marked);
		assert_true((st[i].marked > 100) == (i == 1));
		bed_close(b);
	}
	if (sent[1][0] < sent[0][0] * 9 / 10)
		fail_msg("the first lane has %llu packets, and %llu beside marks",
			 (unsigned long long)sent[0][0], (unsigned long long)sent[1][0]);
	assert_true(sent[1][1] > sent[0][1] / 2);
}

/* ---- lanes that do not carry them ------------------------------------------------------------ */

static void ends__there_alone(void **state)
{
	static const uint8_t why[] = { SDR_ECN_BLEACHED, SDR_ECN_MANGLED, SDR_ECN_DROPPED };

	(void)state;
	for (uint32_t i = 0; i < 3 * 3; i++) {
		uint32_t k = i / 3; /* the lane */
		struct lanes w;
		struct bed *b = lanes_new(&w, 3);
		uint64_t ect;

		/* marks on everything are queues, once one came without */
		w.lane[k].mark_every = i % 3 == 1;
		lanes_boot(b);
		w.lane[k].bleaches = i % 3 == 0;
		w.lane[k].drops = i % 3 == 2;
		for (uint32_t n = 0; n < 40 && ecn_of(b, k)->why == SDR_ECN_FINE; n++) {
			move(b, 0, BIG);
			bed_run(b, SDR_ECN_MANGLED_NS / 4);
		}
		assert_int_equal(ecn_of(b, k)->why, why[i % 3]);
		assert_int_equal(bed_stats(b, 0).ecn_off, 1);
		bed_run(b, BED_SEC); /* one that dropped answers again */
		ect = w.lane[k].ect;
		memset(b->node[0].sent, 0, sizeof(b->node[0].sent));
		for (uint32_t n = 0; n < 4; n++)
			move(b, 0, BIG);
		assert_int_equal(w.lane[k].ect, ect);
		for (uint32_t l = 0; l < 3; l++) {
			if (b->node[0].sent[l] < 500)
				fail_msg("%u: lane %u carried %llu packets", i, l,
					 (unsigned long long)b->node[0].sent[l]);
			assert_true(ecn_of(b, l)->ect == (l != k));
		}
		assert_int_equal(bed_stats(b, 0).ecn_off, 1);
		bed_close(b);
	}
}

/* From the first packet on: the handshake goes as ever. */
static void ends__from_the_beginning(void **state)
{
	struct lanes w;
	struct bed *b = lanes_new(&w, 3);

	(void)state;
	w.lane[1].drops = w.lane[2].bleaches = true;
	lanes_boot(b);
	for (uint32_t n = 0; n < 6; n++) {
		move(b, 0, BIG);
		bed_run(b, 500 * MS);
	}
	assert_int_equal(ecn_of(b, 0)->why, SDR_ECN_FINE);
	assert_int_equal(ecn_of(b, 1)->why, SDR_ECN_DROPPED);
	assert_int_equal(ecn_of(b, 2)->why, SDR_ECN_BLEACHED);
	assert_int_equal(bed_conn(b, 0, 1)->more[0].state, SDR_PATH_ALIVE);
	bed_close(b);
}

/* Wherever they go: then no other path shows which of them is to blame. */
static void ends__on_all(void **state)
{
	struct lanes w;
	struct bed *b = lanes_open(&w, 3);

	(void)state;
	for (uint32_t k = 0; k < 3; k++)
		w.lane[k].drops = true;
	for (uint32_t n = 0; n < 8; n++) {
		move(b, 0, BIG);
		bed_run(b, 500 * MS);
	}
	for (uint32_t k = 0; k < 3; k++)
		if (ecn_of(b, k)->why != SDR_ECN_DROPPED)
			fail_msg("path %u: %s", k, sdr_ecn_why_text(ecn_of(b, k)->why));
	bed_close(b);
}

/* The others are dead: nobody answers. */
static void ends__on_the_last_that_is_left(void **state)
{
	struct lanes w;
	struct bed *b = lanes_open(&w, 2);
	struct bed_rule *r = bed_drop(b, BED_ANY, BED_ALL, 0, UINT64_MAX / 2);

	(void)state;
	r->lane = 0;
	move(b, 0, BIG);
	assert_int_equal(path_of(b, 0, 0)->state, SDR_PATH_SILENT);
	w.lane[1].drops = true;
	for (uint32_t n = 0; n < 4; n++) {
		move(b, 0, BIG);
		bed_run(b, 100 * MS);
	}
	assert_int_equal(ecn_of(b, 1)->why, SDR_ECN_DROPPED);
	bed_close(b);
}

/* ---- weather --------------------------------------------------------------------------------- */

/* Losses, order and lanes of several lengths, with parity and without: none of it is a fault. */
static void fine__in_bad_weather(void **state)
{
	static const char *const scheme[] = { "sr", "ec", "hybrid", "auto" };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, 3);

		for (uint32_t k = 0; k < 2; k++)
			b->cfg[k].scheme = sdr_scheme_find(scheme[i]);
		bed_boot(b);
		for (uint32_t k = 0; k < 3; k++) {
			struct sdr_sim_link l = { .rate_bps = RATE,
						  .delay_ns = (2 + 6 * k) * MS,
						  .loss = k == 1 ? 0.05 : 0.002,
						  .dup = 0.01,
						  .reorder = 0.01,
						  .reorder_ns = 3 * MS };

			sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
			w.lane[k].mark_every = 20;
		}
		bed_warm(b, 0, 1);
		for (uint32_t n = 0; n < 12; n++)
			move(b, n & 1, n % 3 ? BIG : 300000);
		for (uint32_t k = 0; k < 3; k++) {
			if (ecn_of(b, k)->why != SDR_ECN_FINE)
				fail_msg("%s, path %u: %s", scheme[i], k,
					 sdr_ecn_why_text(ecn_of(b, k)->why));
			assert_true(ecn_of(b, k)->ce > 10);
		}
		assert_int_equal(bed_stats(b, 0).ecn_off + bed_stats(b, 1).ecn_off, 0);
		bed_close(b);
	}
}

/*
 * A lane is slow all at once, and what is under way there is sent by the others: all of it comes,
 * by the one before it comes by the other, or after.
 */
static void fine__late_by_one_and_again_by_another(void **state)
{
	static const uint64_t late[] = { 9 * MS, 60 * MS, 120 * MS, 400 * MS };

	(void)state;
	for (uint32_t i = 0; i < 4 * 3; i++) {
		struct lanes w;
		struct bed *b = lanes_open(&w, 3);
		struct bed_rule *r;

		for (uint32_t n = 0; n < 6; n++) {
			r = bed_late(b, 0, BED_ALL, 0, UINT64_MAX / 2, late[i / 3]);
			r->lane = i % 3;
			r->first = r->seen + 200;
			r->n = 400;
			move(b, 0, BIG);
			r->n = 0;
			bed_run(b, BED_SEC);
		}
		for (uint32_t k = 0; k < 3; k++)
			if (ecn_of(b, k)->why != SDR_ECN_FINE)
				fail_msg("lane %u late by %llu ms, path %u: %s", i % 3,
					 (unsigned long long)(late[i / 3] / MS), k,
					 sdr_ecn_why_text(ecn_of(b, k)->why));
		bed_close(b);
	}
}

/*
 * A lane is longer all at once, so that what is under way there goes by the other, too, and arrives
 * by the first nevertheless: it counts for that, and is acknowledged for the other.
 */
static void fine__longer_all_at_once(void **state)
{
	static const uint64_t by[] = { 160 * MS, 180 * MS, 220 * MS };

	(void)state;
	for (uint32_t i = 0; i < 3 * 2; i++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, 2);
		struct bed_rule *r;

		b->link.delay_ns = 50 * MS;
		lanes_boot(b);
		move(b, 0, 2 * BIG);
		r = bed_late(b, 0, BED_ALL, 400, UINT64_MAX / 2, by[i / 2]);
		r->lane = i % 2;
		move(b, 0, 4 * BIG);
		assert_true(bed_stats(b, 0).paths_down > 0);
		move(b, 0, 2 * BIG);
		for (uint32_t k = 0; k < 2; k++)
			if (ecn_of(b, k)->why != SDR_ECN_FINE)
				fail_msg("lane %u by %llu ms, path %u: %s", i % 2,
					 (unsigned long long)(by[i / 2] / MS), k,
					 sdr_ecn_why_text(ecn_of(b, k)->why));
		bed_close(b);
	}
}

/* A lane that is dark for a while carries marks again when it answers. */
static void fine__dark_for_a_while(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct lanes w;
		struct bed *b = lanes_open(&w, 2);

		for (uint32_t n = 0; n < 3; n++) {
			sdr_sim_blackout_both(b->w, SDR_SIM_LANE(0, k), 1, bed_now(b) + 30 * MS,
					      bed_now(b) + 600 * MS);
			for (uint32_t j = 0; j < 4; j++) {
				move(b, 0, 2 * BIG);
				bed_run(b, 300 * MS);
			}
		}
		assert_true(bed_stats(b, 0).paths_down > 0);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(ecn_of(b, i)->why, SDR_ECN_FINE);
			assert_true(ecn_of(b, i)->ect);
		}
		bed_close(b);
	}
}

/* ---- who knows nothing of it ----------------------------------------------------------------- */

/* As it was: the first path alone. */
static void old__a_peer_without_the_feature(void **state)
{
	(void)state;
	for (uint32_t old = 0; old < 2; old++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, 3);

		bed_boot(b);
		b->node[old].ep->rel->features &= ~SDR_FEATURE_MARKS;
		bed_warm(b, 0, 1);
		for (uint32_t k = 0; k < 3; k++)
			w.lane[k].mark_every = 10;
		for (uint32_t n = 0; n < 3; n++) {
			move(b, 0, BIG);
			move(b, 1, BIG);
		}
		assert_int_equal(bed_conn(b, 0, 1)->npaths, 3);
		for (uint32_t i = 0; i < 2; i++) {
			assert_true(path_of(b, i, 0)->ecn.ect && path_of(b, i, 0)->ecn.sent > 500);
			for (uint32_t k = 1; k < 3; k++)
				assert_false(path_of(b, i, k)->ecn.on ||
					     path_of(b, i, k)->ecn.sent);
		}
		for (uint32_t k = 0; k < 3; k++) {
			struct ear *e = ear_of(&path_of(b, 0, k)->cc);

			assert_true((w.lane[k].ect > 0) == (k == 0));
			assert_true((e->ce > 0) == (k == 0));
		}
		assert_int_equal(w.said, 0);
		assert_int_equal(w.wrong, 0);
		assert_int_equal(bed_stats(b, 0).frames_skipped, 0);
		bed_close(b);
	}
}

/* One path says nothing more than it did, and so do several where nothing may be marked. */
static void old__nothing_more_is_said(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct lanes w;
		struct bed *b = lanes_new(&w, i ? 3 : 1);

		if (i == 1)
			answers.marks = false;
		if (i == 2)
			b->na[1].ecn = false;
		lanes_boot(b);
		move(b, 0, BIG);
		move(b, 1, BIG);
		assert_int_equal(w.said, 0);
		bed_close(b);
	}
}

/* ---- peers that lie -------------------------------------------------------------------------- */

static void liar_says(struct bed *b, const struct sdr_frame_marks *m)
{
	struct sdr_conn *c = bed_conn(b, 0, 1), *peer = bed_conn(b, 1, 0);
	struct sdr_frame_ack f = { .flags = SDR_ACK_ECN, .n = 1, .ecn = c->main.ecn.heard };
	uint8_t buf[256];
	size_t n;

	f.r[0].hi = c->tx.pn - 1;
	f.r[0].lo = f.r[0].hi;
	n = sdr_frame_ack_encode(buf, sizeof(buf), &f);
	n += sdr_frame_marks_encode(buf + n, sizeof(buf) - n, m);
	bed_forge(b, 1, 0, c->id.cid, peer->tx.pn + 1, buf, n);
	bed_run(b, BED_RTT);
}

static void liar__invents_packets_of_one_path(void **state)
{
	struct sdr_frame_marks m = { .n = 1 };
	struct lanes w;
	struct bed *b = lanes_open(&w, 3);

	(void)state;
	m.v[0].path = 2;
	m.v[0].ecn = ecn_of(b, 2)->heard;
	m.v[0].ecn.ce = 1u << 30;
	memset(ears, 0, sizeof(ears));
	liar_says(b, &m);
	assert_int_equal(ecn_of(b, 2)->why, SDR_ECN_MANGLED);
	assert_true(ecn_of(b, 0)->ect && ecn_of(b, 1)->ect);
	move(b, 0, BIG);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ear_of(&path_of(b, 0, i)->cc)->ce, 0);
	assert_int_equal(bed_stats(b, 0).ecn_off, 1);
	bed_close(b);
}

static void liar__names_paths_that_are_not(void **state)
{
	struct sdr_frame_marks m = { .n = 3 };
	struct lanes w;
	struct bed *b = lanes_open(&w, 2);
	uint64_t bad = bed_stats(b, 0).pkts_bad;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		m.v[i].path = (uint8_t)(1 + 7 * i);
		m.v[i].ecn = ecn_of(b, 1)->heard;
	}
	liar_says(b, &m);
	assert_int_equal(bed_stats(b, 0).pkts_bad, bad + 1);
	move(b, 0, BIG);
	assert_true(ecn_of(b, 0)->ect && ecn_of(b, 1)->ect);
	bed_close(b);
}

static void liar__goes_back(void **state)
{
	struct sdr_frame_marks m = { .n = 1, .v = { { 1, { 1, 0, 0 } } } };
	struct lanes w;
	struct bed *b = lanes_open(&w, 2);
	uint64_t counted;

	(void)state;
	move(b, 0, BIG);
	counted = ecn_of(b, 1)->counted;
	assert_true(counted > 10);
	liar_says(b, &m);
	assert_int_equal(ecn_of(b, 1)->counted, counted);
	assert_true(ecn_of(b, 1)->ect);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks__reach_their_own_controller),
		cmocka_unit_test(marks__of_all_lanes_and_both_ways),
		cmocka_unit_test(marks__whoever_has_the_sources),
		cmocka_unit_test(marks__by_a_path_that_is_proved_one_way),
		cmocka_unit_test(marks__of_a_queue_slow_its_own_path),
		cmocka_unit_test(ends__there_alone),
		cmocka_unit_test(ends__from_the_beginning),
		cmocka_unit_test(ends__on_all),
		cmocka_unit_test(ends__on_the_last_that_is_left),
		cmocka_unit_test(fine__in_bad_weather),
		cmocka_unit_test(fine__late_by_one_and_again_by_another),
		cmocka_unit_test(fine__longer_all_at_once),
		cmocka_unit_test(fine__dark_for_a_while),
		cmocka_unit_test(old__a_peer_without_the_feature),
		cmocka_unit_test(old__nothing_more_is_said),
		cmocka_unit_test(liar__invents_packets_of_one_path),
		cmocka_unit_test(liar__names_paths_that_are_not),
		cmocka_unit_test(liar__goes_back),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
