/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Marks of congestion from end to end: what may be marked, what becomes of the marks, peers and
 * engines without them, and paths that bleach, mangle or drop what has ECN bits.
 */
#include "rel/path/sdr_cc_ops.h"
#include "../bed/bed.h"

#define LIMIT (20000 * MS)

/* What the controller of the bed was told. */
static uint64_t told_ce, told_bytes;

static void told_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		       const struct sdr_cc_rate *rate)
{
	told_ce += ack->ce;
	told_bytes += ack->bytes;
	sdr_cc_fixed.acked(cc, ack, rate);
}

static struct sdr_cc_ops answers;

/* What the path does, and what it has seen. */
struct way {
	uint32_t mark_every; /* of what may be marked; 0: none */
	bool bleaches, drops;
	bool loses_acks; /* two of five of node 1's */
	uint64_t acks;
	uint64_t n[SDR_UC_ECNS]; /* packets from node 0, as it sent them */
	uint64_t marked;
	uint32_t wrong; /* packets that must not be marked, and could be */
};

static bool way_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	const uint32_t asking = BED_PING | BED_END | BED_REC | BED_DATA | BED_CLOSE | BED_SHAPE |
				BED_PATH_CHALLENGE;
	struct way *w = b->user;

	if (p->src == 0)
		w->n[p->ecn]++;
	if (w->loses_acks && p->src == 1 && what & (BED_ACK | BED_DACK) && w->acks++ % 5 < 2)
		return false;
	if (p->ecn == SDR_UC_NOT_ECT)
		return true;
	w->wrong += p->ecn != SDR_UC_ECT0 || !(what & asking);
	if (w->drops)
		return false;
	if (w->bleaches) {
		p->ecn = SDR_UC_NOT_ECT;
	} else if (p->src == 0 && w->mark_every && w->n[SDR_UC_ECT0] % w->mark_every == 0) {
		p->ecn = SDR_UC_CE;
		w->marked++;
	}
	return true;
}

static struct bed *way_new(struct way *w)
{
	struct bed *b = bed_new(2);

	answers = sdr_cc_fixed;
	answers.acked = told_acked;
	answers.marks = true;
	told_ce = told_bytes = 0;
	memset(w, 0, sizeof(*w));
	b->user = w;
	b->filter = way_filter;
	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].ecn = true;
		b->cfg[i].cc = &answers;
		b->cfg[i].rate_bps = 10000000000;
	}
	return b;
}

static struct bed *way_open(struct way *w)
{
	struct bed *b = way_new(w);

	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	return b;
}

/* A message of len bytes from node 0 to 1, wherever that is now. */
static void carry_to(struct bed *b, struct sdr_peer *peer, size_t len)
{
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND };
	uint8_t *to = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1, to, len), *s;

	s = bed_post_to(b, 0, peer, wr, bed_buf(b, len, 7), len);
	bed_wait(b, r, LIMIT);
	bed_wait(b, s, LIMIT);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(to, len, 7));
}

static void carry(struct bed *b, size_t len)
{
	carry_to(b, bed_peer(b, 0, 1), len);
}

static const struct sdr_ecn *ecn_of(struct bed *b)
{
	return &bed_conn(b, 0, 1)->main.ecn;
}

static void ecn__marks_reach_the_controller(void **state)
{
	struct sdr_rel_stats st[2];
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	w.mark_every = 10;
	carry(b, 8 << 20);
	carry(b, 8 << 20);
	bed_run(b, 10 * BED_RTT);
	for (uint32_t i = 0; i < 2; i++)
		st[i] = bed_stats(b, i);
	assert_int_equal(w.wrong, 0);
	assert_true(w.marked > 300);
	assert_int_equal(st[0].ect_tx, w.n[SDR_UC_ECT0]);
	assert_int_equal(st[0].ce_tx, w.marked);
	assert_int_equal(st[1].ce_rx, w.marked);
	assert_int_equal(st[1].ect_rx, w.n[SDR_UC_ECT0]);
	assert_int_equal(st[0].ecn_off + st[1].ecn_off, 0);
	/* a tenth of all bytes, but for what the small packets of control weigh */
	assert_in_range(told_ce, told_bytes * 95 / 1000, told_bytes * 105 / 1000);
	bed_close(b);
}

/* The first flight may be marked; nothing of the handshake, and no bare acknowledgement. */
static void ecn__from_the_first_packet(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	carry(b, 100000);
	assert_true(ecn_of(b)->sent > 10);
	assert_int_equal(ecn_of(b)->plain, 0);
	assert_int_equal(w.wrong, 0);
	bed_close(b);
}

/* Acknowledgements that get lost delay what they say. */
static void ecn__lost_acknowledgements(void **state)
{
	struct sdr_rel_stats st;
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	w.mark_every = 5;
	bed_warm(b, 0, 1);
	w.loses_acks = true;
	for (uint32_t i = 0; i < 8; i++)
		carry(b, 1 << 20);
	w.loses_acks = false;
	carry(b, 1000);
	bed_run(b, 10 * BED_RTT);
	st = bed_stats(b, 0);
	assert_int_equal(st.ce_tx, bed_stats(b, 1).ce_rx);
	assert_true(st.ce_tx >= w.marked * 9 / 10 && st.ce_tx <= w.marked);
	assert_int_equal(st.ecn_off, 0);
	bed_close(b);
}

static void nothing_was_marked(struct bed *b, const struct way *w)
{
	assert_int_equal(w->n[SDR_UC_ECT0] + w->n[SDR_UC_ECT1] + w->n[SDR_UC_CE], 0);
	assert_int_equal(bed_stats(b, 0).ect_tx + bed_stats(b, 1).ect_tx, 0);
	assert_int_equal(told_ce, 0);
}

static void ecn__not_without_both(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct way w;
		struct bed *b = way_new(&w);

		if (i == 2)
			b->cfg[1].no_ecn = true; /* set off, over there */
		else if (i == 3)
			answers.marks = false; /* a controller that ignores marks */
		else
			b->na[i].ecn = false; /* an engine that does not see them */
		bed_boot(b);
		carry(b, 1 << 20);
		nothing_was_marked(b, &w);
		bed_close(b);
	}
}

static void path__bleaches(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);
	uint64_t sent;

	(void)state;
	w.bleaches = true;
	for (uint32_t i = 0; i < 4; i++)
		carry(b, 1 << 20);
	assert_int_equal(ecn_of(b)->why, SDR_ECN_BLEACHED);
	assert_int_equal(bed_stats(b, 0).ecn_off, 1);
	sent = w.n[SDR_UC_ECT0];
	carry(b, 1 << 20);
	assert_int_equal(w.n[SDR_UC_ECT0], sent);
	bed_close(b);
}

static void path__mangles(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	w.mark_every = 1;
	for (uint32_t i = 0; i < 8; i++) {
		carry(b, 1 << 20);
		bed_run(b, SDR_ECN_MANGLED_NS / 4);
	}
	assert_int_equal(ecn_of(b)->why, SDR_ECN_MANGLED);
	assert_int_equal(bed_stats(b, 0).ecn_off, 1);
	bed_close(b);
}

static void path__drops(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	w.drops = true;
	carry(b, 1 << 20);
	carry(b, 1 << 20);
	assert_int_equal(ecn_of(b)->why, SDR_ECN_DROPPED);
	assert_int_equal(bed_stats(b, 0).ecn_off, 1);
	assert_true(w.n[SDR_UC_ECT0] < 300); /* the first message */
	bed_close(b);
}

/* Nothing but the weather: half of all packets in both directions are lost for a while. */
static void path__bad_weather(void **state)
{
	struct way w;
	struct bed *b = way_new(&w);

	(void)state;
	b->link.loss = 0.2;
	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	for (uint32_t i = 0; i < 20; i++)
		carry(b, i % 2 ? 1000 : 300000);
	assert_int_equal(bed_stats(b, 0).ecn_off, 0);
	assert_true(ecn_of(b)->ect);
	bed_close(b);
}

/* The path that bleached is left: the next is tried. */
static void path__change(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);
	const struct sdr_conn *c;
	uint8_t *to;

	(void)state;
	w.bleaches = true;
	for (uint32_t i = 0; i < 4; i++)
		carry(b, 1 << 20);
	c = bed_conn(b, 0, 1);
	assert_int_equal(c->main.ecn.why, SDR_ECN_BLEACHED);
	w.bleaches = false;
	w.mark_every = 10;
	assert_int_equal(sdr_sim_node_rebind(b->w, 1, 200), 0);
	to = bed_buf(b, 1 << 20, 0);
	bed_recv(b, 0, to, 1 << 20);
	bed_send(b, 1, 0, bed_buf(b, 1 << 20, 3), 1 << 20, 0);
	bed_wait_all(b, LIMIT);
	assert_int_equal(c->st.moves, 1);
	carry_to(b, c->peer, 1 << 20);
	carry_to(b, c->peer, 1 << 20);
	assert_int_equal(c->main.ecn.why, SDR_ECN_FINE);
	assert_true(c->main.ecn.ect);
	assert_true(c->main.ecn.ce > 10);
	bed_close(b);
}

/* Parity, decoded packets and losses: none of it looks like a path that bleaches. */
static void path__with_parity(void **state)
{
	struct way w;
	struct bed *b = way_new(&w);

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		b->cfg[i].scheme = sdr_scheme_find("ec");
	b->link.loss = 0.05;
	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	w.mark_every = 20;
	for (uint32_t i = 0; i < 10; i++)
		carry(b, 4 << 20);
	assert_int_equal(bed_stats(b, 0).ecn_off, 0);
	assert_true(bed_stats(b, 0).ce_tx > 100);
	bed_close(b);
}

/* ---- peers that lie -------------------------------------------------------------------------- */

static void liar_says(struct bed *b, struct sdr_frame_ecn ecn)
{
	struct sdr_conn *c = bed_conn(b, 0, 1), *peer = bed_conn(b, 1, 0);
	struct sdr_frame_ack f = { .flags = SDR_ACK_ECN, .n = 1, .ecn = ecn };
	uint8_t buf[64];

	f.r[0].hi = c->tx.pn - 1;
	f.r[0].lo = f.r[0].hi;
	bed_forge(b, 1, 0, c->id.cid, peer->tx.pn + 1, buf,
		  sdr_frame_ack_encode(buf, sizeof(buf), &f));
	bed_run(b, BED_RTT);
}

static void liar__cannot_invent_packets(void **state)
{
	struct sdr_frame_ecn ecn = { 0 };
	struct way w;
	struct bed *b = way_open(&w);

	(void)state;
	carry(b, 1 << 20);
	ecn = ecn_of(b)->heard;
	ecn.ce = 1u << 30;
	told_ce = 0;
	liar_says(b, ecn);
	assert_int_equal(ecn_of(b)->why, SDR_ECN_MANGLED);
	carry(b, 1 << 20);
	assert_int_equal(told_ce, 0);
	bed_close(b);
}

static void liar__cannot_go_back(void **state)
{
	struct way w;
	struct bed *b = way_open(&w);
	uint64_t counted;

	(void)state;
	carry(b, 1 << 20);
	counted = ecn_of(b)->counted;
	liar_says(b, (struct sdr_frame_ecn){ 1, 0, 0 });
	assert_int_equal(ecn_of(b)->counted, counted);
	assert_true(ecn_of(b)->ect);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ecn__marks_reach_the_controller),
		cmocka_unit_test(ecn__from_the_first_packet),
		cmocka_unit_test(ecn__lost_acknowledgements),
		cmocka_unit_test(ecn__not_without_both),
		cmocka_unit_test(path__bleaches),
		cmocka_unit_test(path__mangles),
		cmocka_unit_test(path__drops),
		cmocka_unit_test(path__bad_weather),
		cmocka_unit_test(path__change),
		cmocka_unit_test(path__with_parity),
		cmocka_unit_test(liar__cannot_invent_packets),
		cmocka_unit_test(liar__cannot_go_back),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
