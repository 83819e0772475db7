/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Losses in coded transfers: what parity covers costs no round trip, what it does not costs one,
 * and what travels again is exactly what the scheme says.  1 MiB with 8 + 2 chunks of 16 packets:
 * two submessages, 32 codewords of 8 packets and two rows of parity.
 */
#include <math.h>
#include "test_rel_code_util.h"

#define PKTS   (MIB / SDR_MTU_DEFAULT)
#define PARITY (PKTS / 4)
#define CWS    32u
#define SLACK  (2 * MS)

/* ---- which packets are lost ------------------------------------------------------------------ */

static bool of_data(struct lab *l, struct pk *k) /* x positions of every codeword, from y on */
{
	return !k->parity && !k->nth && k->pos - l->y < l->x;
}

static bool of_parity(struct lab *l, struct pk *k)
{
	return k->parity && !k->nth && k->pos - l->y < l->x;
}

static bool one_of_each(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->nth && k->pos == 1;
}

static bool of_one_codeword(struct lab *l, struct pk *k) /* x data packets of codeword y */
{
	return !k->parity && !k->nth && k->cw == l->y && k->pos < l->x;
}

static bool no_parity(struct lab *l, struct pk *k)
{
	return k->parity || of_one_codeword(l, k);
}

/* x data packets of codeword y, and the first repair of each round trip's parity on demand. */
static bool repair_too(struct lab *l, struct pk *k)
{
	return of_one_codeword(l, k) || (k->parity && k->pos >= 2 && k->pos < 4);
}

static bool everything_once(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->nth;
}

/* ---- what parity repairs --------------------------------------------------------------------- */

static void code__losses_within_parity_cost_nothing(void **state)
{
	static const struct {
		bool (*lose)(struct lab *l, struct pk *k);
		uint32_t x, y;
		uint64_t lost, data; /* packets, of them data */
	} cases[] = {
		{ of_data, 1, 0, CWS, CWS },	       { of_data, 1, 7, CWS, CWS },
		{ of_data, 2, 0, 2 * CWS, 2 * CWS },   { of_data, 2, 5, 2 * CWS, 2 * CWS },
		{ one_of_each, 0, 0, 2 * CWS, CWS },   { of_parity, 1, 0, CWS, 0 },
		{ of_parity, 2, 0, 2 * CWS, 0 },       { of_one_codeword, 1, 0, 1, 1 },
		{ of_one_codeword, 2, CWS - 1, 2, 2 }, { NULL, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct lab *l = lab_open(i & 1 ? &sdr_scheme_ec_sr : &sdr_scheme_ec);
		uint64_t sender, t, wire = lab_wire(l, PKTS + PARITY);
		struct sdr_rel_stats st;

		l->lose = cases[i / 2].lose;
		l->x = cases[i / 2].x;
		l->y = cases[i / 2].y;
		t = lab_move(l, 0, MIB, 3, &sender);
		assert_int_equal(l->lost, cases[i / 2].lost);
		assert_int_equal(l->lost_data, cases[i / 2].data);
		if (t > wire + BED_DELAY + SLACK || sender > wire + BED_RTT + SLACK)
			fail_msg("case %zu: receiver after %.2f ms, sender %.2f", i / 2,
				 (double)t / 1e6, (double)sender / 1e6);
		st = bed_stats(l->b, 0);
		assert_int_equal(lab_rtx(l, 0) + st.repair_tx + l->data_again + l->parity_again, 0);
		assert_int_equal(st.choice_parity, 1);
		assert_int_equal(st.chunks_fec > 0, cases[i / 2].data > 0);
		assert_int_equal(st.chunks_fec + st.chunks_direct, PKTS / 16);
		assert_int_equal(st.chunks_rtx, 0);
		lab_close(l);
	}
}

/* Two more than parity repairs: the two are requested, as parity, and nothing else. */
static void code__one_more_round_trip_brings_parity_on_demand(void **state)
{
	(void)state;
	for (uint32_t more = 1; more <= 3; more++) {
		struct lab *l = lab_open(&sdr_scheme_ec);
		uint64_t wire = lab_wire(l, PKTS + PARITY), t;
		struct sdr_rel_stats st;

		l->lose = of_one_codeword;
		l->x = 2 + more;
		l->y = 17;
		t = lab_move(l, 0, MIB, 3, NULL);
		assert_int_equal(l->lost_data, 2 + more);
		assert_in_range(t, BED_DELAY + BED_RTT, wire + BED_DELAY + BED_RTT + SLACK);
		st = bed_stats(l->b, 0);
		assert_int_equal(lab_rtx(l, 0) + l->data_again + l->parity_again, 0);
		assert_in_range(st.repair_tx, more, more + 8);
		assert_int_equal(st.chunks_fec, 2 + more);
		lab_close(l);
	}
}

static void code__parity_on_demand_may_be_lost_too(void **state)
{
	struct lab *l = lab_open(&sdr_scheme_ec);
	uint64_t t;

	(void)state;
	l->lose = repair_too;
	l->x = 4;
	l->y = 9;
	t = lab_move(l, 0, MIB, 3, NULL);
	assert_true(l->lost > 4);
	assert_in_range(t, BED_DELAY + BED_RTT,
			BED_DELAY + 3 * BED_RTT + lab_wire(l, PKTS + PARITY) + SLACK);
	assert_int_equal(l->data_again, 0);
	lab_close(l);
}

/*
 * Codewords that lost everything: rows on demand are as many as the field has, then data go again;
 * it ends.
 */
static void code__everything_lost_once(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_ec, &sdr_scheme_ec_sr,
								&sdr_scheme_hybrid,
								&sdr_scheme_auto };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct lab *l = lab_open(schemes[i]);
		uint64_t t;

		l->lose = everything_once;
		t = lab_move(l, 0, MIB, 3, NULL);
		assert_true(l->lost >= PKTS);
		assert_in_range(t, 0, BED_DELAY + 4 * BED_RTT);
		lab_close(l);
	}
}

/* ---- what travels again as data -------------------------------------------------------------- */

static void code__data_again_are_exactly_the_missing(void **state)
{
	static const struct {
		const struct sdr_scheme_ops *scheme;
		uint8_t code;
		bool (*lose)(struct lab *l, struct pk *k);
		uint32_t x; /* data packets of a codeword that are lost */
	} cases[] = {
		/* the receiver has no room for parity */
		{ &sdr_scheme_ec, SDR_CODE_MDS, no_parity, 3 },
		{ &sdr_scheme_ec_sr, SDR_CODE_MDS, no_parity, 1 }, /* the same */
		/* one more than parity repairs */
		{ &sdr_scheme_ec_sr, SDR_CODE_MDS, of_one_codeword, 3 },
		{ &sdr_scheme_ec_sr, SDR_CODE_MDS, of_one_codeword, 8 }, /* all of it */
		{ &sdr_scheme_ec_sr, SDR_CODE_XOR, of_one_codeword, 2 },
		/* XOR has no more parity to give */
		{ &sdr_scheme_ec, SDR_CODE_XOR, of_one_codeword, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lab *l = lab_new(cases[i].scheme);
		struct sdr_rel_stats st;
		uint64_t t;

		l->b->cfg[0].ec_code = cases[i].code;
		lab_boot(l);
		l->lose = cases[i].lose;
		l->x = cases[i].x;
		l->y = 20;
		t = lab_move(l, 0, MIB, 3, NULL);
		assert_int_equal(l->lost_data, l->x);
		assert_in_range(t, BED_DELAY + BED_RTT,
				lab_wire(l, PKTS + PARITY) + BED_DELAY + BED_RTT + SLACK);
		st = bed_stats(l->b, 0);
		assert_int_equal(l->data_again, l->x);
		assert_int_equal(lab_rtx(l, 0), l->x);
		assert_int_equal(st.repair_tx + l->parity_again, 0);
		assert_int_equal(st.chunks_rtx, l->x);
		lab_close(l);
	}
}

/* Each group of XOR repairs one. */
static void code__xor_repairs_one_of_a_group(void **state)
{
	struct lab *l = lab_new(&sdr_scheme_ec);
	uint64_t t;

	(void)state;
	l->b->cfg[0].ec_code = SDR_CODE_XOR;
	lab_boot(l);
	l->lose = of_data; /* position 2 of every codeword of four: a quarter of all */
	l->x = 1;
	l->y = 2;
	t = lab_move(l, 0, MIB, 3, NULL);
	assert_int_equal(l->lost, PKTS / 4);
	assert_in_range(t, 0, lab_wire(l, PKTS + PARITY) + BED_DELAY + SLACK);
	assert_int_equal(lab_rtx(l, 0) + l->data_again, 0);
	lab_close(l);
}

/*
 * Packets 1, 2, 3 ... of the first x chunks of submessage 0: as many rows lose one each, as many
 * chunks too.
 */
static bool a_diagonal(struct lab *l, struct pk *k)
{
	const struct sdr_code *g = k->s->grp ? &k->s->grp->code : NULL;
	uint32_t chunk = k->off / 16;

	return g && !k->parity && !k->nth && chunk % g->nsub == 0 && chunk / g->nsub < l->x &&
	       k->off % 16 == 1 + chunk / g->nsub;
}

/* The paper's decoder counts chunks; packet rows are worth more. */
static void code__a_chunk_counts_whole_for_the_papers_decoder(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		bool by_chunk = i & 1, much = i & 2;
		struct lab *l = lab_new(&sdr_scheme_ec_sr);
		uint64_t t;

		l->b->cfg[0].ec_chunk_decode = by_chunk;
		lab_boot(l);
		l->lose = a_diagonal;
		l->x = much ? 3 : 2;
		t = lab_move(l, 0, MIB, 3, NULL);
		assert_int_equal(l->lost, l->x);
		assert_int_equal(l->data_again, by_chunk && much ? 3 : 0);
		if (by_chunk && much)
			assert_in_range(t, BED_DELAY + BED_RTT, BED_DELAY + BED_RTT + 4 * SLACK);
		else
			assert_in_range(t, 0, BED_DELAY + 2 * SLACK);
		lab_close(l);
	}
}

/*
 * It has everything it needs and cannot decode (out of memory): it gets a few ENDs, then
 * the data.
 */
static void deaf(struct bed *b, uint32_t node)
{
	struct sdr_conn *c = bed_conn(b, node, 1 - node);
	struct sdr_list *l, *m;

	if (node == 0 || !c)
		return;
	sdr_list_each(l, &c->bulk->rx.brx) {
		sdr_list_each(m, &sdr_container(l, struct sdr_bulk_rx, link)->segs) {
			struct sdr_seg_rx *s = sdr_container(m, struct sdr_seg_rx, link);

			if (s->grp)
				s->grp->dead = true;
		}
	}
}

static void code__a_receiver_that_cannot_decode_gets_data(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_ec, &sdr_scheme_ec_sr,
								&sdr_scheme_hybrid };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct lab *l = lab_open(schemes[i]);

		l->lose = of_one_codeword;
		l->x = 1;
		l->y = 0;
		l->b->app = deaf;
		lab_move(l, 0, MIB, 3, NULL);
		assert_int_equal(l->lost, 1);
		assert_int_equal(l->data_again, 1);
		lab_close(l);
	}
}

/* ---- hybrid ---------------------------------------------------------------------------------- */

static bool of_the_front(struct lab *l, struct pk *k)
{
	(void)l;
	return k->cw == NO_CW && !k->nth && k->s->msn == 0 && k->off >= 100 && k->off < 103;
}

/*
 * A long transfer has parity over its end only: what is lost before is sent again at once, not
 * after the end.
 */
static void code__hybrid_repairs_the_front_while_it_sends(void **state)
{
	struct lab *l = lab_new(&sdr_scheme_hybrid);
	uint64_t t, len = 32 * MIB - 5;
	struct sdr_rel_stats st;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		l->b->cfg[i].rate_bps = 1000000000;
	lab_boot(l);
	l->lose = of_the_front;
	t = lab_move(l, 0, len, 3, NULL);
	st = bed_stats(l->b, 0);
	assert_int_equal(l->lost, 3);
	assert_true(st.parity_tx > 0 && st.choice_parity == 1);
	assert_in_range(st.code_cover_ppm, 1000, 900000);
	assert_int_equal(l->data_again, 3);
	assert_int_equal(st.repair_tx, 0);
	assert_in_range(t, 0, lab_wire(l, l->data) + lab_wire(l, l->parity) + BED_DELAY + SLACK);
	lab_close(l);
}

/* ---- control packets ------------------------------------------------------------------------- */

static bool two_holes(struct lab *l, struct pk *k) /* that parity repairs */
{
	(void)l;
	return !k->parity && !k->nth && (k->off == 3 || k->off == 200);
}

static void code__control_packets_may_be_lost(void **state)
{
	static const struct {
		const char *name;
		uint32_t src, what;
		uint64_t first, n;
		double rtts, sender; /* as in test_rel_bulk.c */
	} cases[] = {
		{ "the announcement", 0, BED_SEND, 0, 1, 1.3, 1.3 },
		{ "the announcement and its copy", 0, BED_SEND, 0, 2, 2.5, 2.5 },
		{ "END", 0, BED_END, 0, 1, 0.1, 0.2 },
		{ "COMPLETE", 1, BED_COMPLETE, 0, 1, 0.1, 0.4 },
		{ "COMPLETE twice", 1, BED_COMPLETE, 0, 2, 0.1, 2.8 },
		{ "the first reports", 1, BED_DACK, 0, 3, 0.1, 2.8 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct lab *l = lab_open(&sdr_scheme_ec);
		uint64_t wire = lab_wire(l, PKTS + PARITY), t, sender;
		struct bed_rule *d = bed_drop(l->b, cases[i / 2].src, cases[i / 2].what,
					      cases[i / 2].first, cases[i / 2].n);

		l->lose = i & 1 ? two_holes : NULL;
		t = lab_move(l, 0, MIB, 5, &sender);
		if (t > wire + BED_DELAY + (uint64_t)(cases[i / 2].rtts * BED_RTT) ||
		    sender > wire + BED_RTT + (uint64_t)(cases[i / 2].sender * BED_RTT))
			fail_msg("%s lost: receiver %+.2f, sender %+.2f RTT", cases[i / 2].name,
				 ((double)t - (double)wire - BED_DELAY) / BED_RTT,
				 ((double)sender - (double)wire - BED_RTT) / BED_RTT);
		assert_true(d->hit > 0);
		lab_close(l);
	}
}

/*
 * The lost record travelled once more behind the data: COMPLETE says that it came, nothing waits
 * for its packet.
 */
static void code__a_lost_record_does_not_delay_the_sender(void **state)
{
	struct lab *l = lab_open(&sdr_scheme_ec);
	struct bed_rule *d = bed_drop(l->b, 0, BED_SEND, 0, 1);
	uint64_t sender, t = lab_move(l, 0, 64 * KIB, 5, &sender);

	(void)state;
	assert_int_equal(d->hit, 1);
	assert_in_range(sender, t, t + BED_DELAY + SLACK);
	lab_close(l);
}

/* Every datagram of a transfer lost in turn. */
static void code__any_one_datagram_may_be_lost(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_ec,
								&sdr_scheme_hybrid };
	uint64_t n[2];

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t src = k & 1;

		n[src] = 1;
		for (uint64_t i = 0; i < n[src]; i++) {
			struct lab *l = lab_open(schemes[k / 2]);
			struct bed_rule *d = bed_drop(l->b, src, BED_ALL, i, 1);

			lab_move(l, 0, 150000, 3, NULL);
			if (!i)
				n[src] = d->seen < 70 ? d->seen : 70;
			lab_close(l);
		}
		assert_true(n[0] > 30);
	}
}

/* ---- what comes late ------------------------------------------------------------------------- */

/*
 * Data packets that were skipped and computed come at last, when the buffer belongs to something
 * else.
 */
static void code__late_packets_touch_nothing(void **state)
{
	(void)state;
	for (int with_repair = 0; with_repair < 2; with_repair++) {
		struct lab *l = lab_open(&sdr_scheme_ec);
		struct bed *b = l->b;
		uint8_t *p = bed_buf(b, MIB, 0);
		struct bed_op *r = bed_recv(b, 1, p, MIB),
			      *s = bed_send(b, 0, 1, bed_buf(b, MIB, 4), MIB, 0);
		uint64_t late;

		l->lose = with_repair ? of_one_codeword : of_data;
		l->x = with_repair ? 5 : 2;
		l->late = 300 * MS;
		bed_wait(b, r, BED_DELAY + 3 * BED_RTT);
		assert_true(bed_same(p, MIB, 4));
		bed_fill(p, MIB, 77);
		bed_wait(b, s, 10 * BED_RTT);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_int_equal(l->lost, with_repair ? 5 : 2 * CWS);
		late = bed_stats(b, 1).pkts_late;
		bed_run(b, BED_SEC);
		assert_int_equal(bed_stats(b, 1).pkts_late - late, l->lost);
		assert_true(bed_same(p, MIB, 77));
		lab_close(l);
	}
}

/*
 * They come a little late, among the parity: whatever the order, bytes are right and nothing is
 * asked for.
 */
static void code__data_and_parity_may_change_places(void **state)
{
	(void)state;
	for (uint64_t late = 50000; late < 4 * MS; late += 150000) {
		struct lab *l = lab_open(&sdr_scheme_ec);

		l->lose = of_data;
		l->x = 4; /* more than parity repairs: some of them must come */
		l->late = late;
		lab_move(l, 0, MIB, 6, NULL);
		assert_int_equal(l->lost, 4 * CWS);
		lab_close(l);
	}
}

/* ---- no loss --------------------------------------------------------------------------------- */

static void code__nothing_lost_nothing_decoded(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_ec, &sdr_scheme_ec_sr,
								&sdr_scheme_hybrid,
								&sdr_scheme_auto };
	static const size_t len[] = { 4096, 4097, 65536, 100001, MIB, 5 * MIB + 1 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct lab *l = lab_open(schemes[k]);

		for (size_t i = 0; i < 6; i++)
			lab_move(l, i & 1, len[i], 1 + (uint32_t)i, NULL);
		bed_run(l->b, BED_SEC);
		bed_assert_no_repair(l->b);
		for (uint32_t i = 0; i < 2; i++) {
			struct sdr_rel_stats st = bed_stats(l->b, i);

			assert_int_equal(st.repair_tx + st.chunks_fec + st.chunks_rtx, 0);
			if (k < 2)
				assert_true(st.parity_tx > 0);
		}
		lab_close(l);
	}
}

static void code__auto_sends_no_parity_to_the_near(void **state)
{
	struct lab *l = lab_new(&sdr_scheme_auto);

	(void)state;
	l->b->link.delay_ns = 100000;
	lab_boot(l);
	for (int i = 0; i < 5; i++)
		lab_move(l, 0, MIB, 3, NULL);
	assert_int_equal(l->parity, 0);
	assert_int_equal(bed_stats(l->b, 0).code_why, SDR_CHOICE_NEAR + 1);
	assert_int_equal(bed_stats(l->b, 0).choice_sr, 5);
	lab_close(l);
}

/* What is known when parity is to leave decides, not what was when the transfer was asked for. */
static bool learns_meanwhile(struct lab *l, struct pk *k)
{
	if (!l->x++)
		sdr_loss_est_arrived(&bed_conn(l->b, 0, 1)->peer->loss, 0, 10000000);
	return !k->parity && !k->nth && k->off == l->y;
}

static void code__parity_is_asked_for_again(void **state)
{
	struct sdr_rel_stats st;
	struct lab *l;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		l = lab_open(&sdr_scheme_hybrid);
		l->lose = i ? learns_meanwhile : NULL;
		l->y = i == 2 ? 5 : PKTS; /* nothing, a packet is lost after all */
		lab_move(l, 0, MIB, 3, NULL);
		st = bed_stats(l->b, 0);
		assert_int_equal(st.choice_parity, 1);
		assert_int_equal(l->parity > 0, i == 0);
		assert_int_equal(st.parity_tx > 0, i == 0);
		assert_int_equal(l->data_again, i == 2);
		lab_close(l);
	}
}

static bool of_one_codeword_and_late_again(struct lab *l, struct pk *k)
{
	bool its = !k->parity && k->cw == l->y && k->pos < l->x;

	l->late = k->nth ? 5 * MS : 0;
	return its && (!k->nth || k->pos);
}

/* Decoded while what was lost is on its way again: it was lost once. */
static void code__what_travels_again_was_lost_once(void **state)
{
	struct lab *l = lab_open(&sdr_scheme_ec_sr);

	(void)state;
	l->lose = of_one_codeword_and_late_again;
	l->x = 3;
	l->y = 3;
	lab_move(l, 0, MIB, 3, NULL);
	assert_int_equal(l->data_again, 3);
	assert_true(fabs(bed_conn(l->b, 0, 1)->peer->loss.lost - 3) < 0.5);
	lab_close(l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code__losses_within_parity_cost_nothing),
		cmocka_unit_test(code__one_more_round_trip_brings_parity_on_demand),
		cmocka_unit_test(code__parity_on_demand_may_be_lost_too),
		cmocka_unit_test(code__everything_lost_once),
		cmocka_unit_test(code__data_again_are_exactly_the_missing),
		cmocka_unit_test(code__xor_repairs_one_of_a_group),
		cmocka_unit_test(code__a_chunk_counts_whole_for_the_papers_decoder),
		cmocka_unit_test(code__a_receiver_that_cannot_decode_gets_data),
		cmocka_unit_test(code__hybrid_repairs_the_front_while_it_sends),
		cmocka_unit_test(code__control_packets_may_be_lost),
		cmocka_unit_test(code__a_lost_record_does_not_delay_the_sender),
		cmocka_unit_test(code__any_one_datagram_may_be_lost),
		cmocka_unit_test(code__late_packets_touch_nothing),
		cmocka_unit_test(code__data_and_parity_may_change_places),
		cmocka_unit_test(code__nothing_lost_nothing_decoded),
		cmocka_unit_test(code__auto_sends_no_parity_to_the_near),
		cmocka_unit_test(code__parity_is_asked_for_again),
		cmocka_unit_test(code__what_travels_again_was_lost_once),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
