/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bulk room with nothing above it: schemes and their plans, segments out and their books,
 * reports of what came in, numbers that are refused.
 */
#include <stdlib.h>
#include "../bed/bed_bulk.h"

#define MTU  SDR_MTU_DEFAULT
#define PKTS 200u
#define LEN  (PKTS * (uint64_t)MTU)

static uint8_t from[LEN], to[LEN];

static void fill(void)
{
	for (uint64_t i = 0; i < LEN; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 13);
	memset(to, 0, LEN);
}

static struct sdr_rel_cfg cfg_of(const struct sdr_scheme_ops *scheme)
{
	struct sdr_rel_cfg cfg;

	sdr_rel_cfg_init(&cfg);
	cfg.scheme = scheme;
	cfg.ec_k = 8;
	cfg.ec_m = 2;
	cfg.chunk = MTU;
	return cfg;
}

/* ---- schemes --------------------------------------------------------------------------------- */

/* No settings: the first of the table. */
static void scheme__default(void **state)
{
	struct sdr_rel_cfg cfg = cfg_of(NULL);
	struct bed_bulk b;

	(void)state;
	bed_bulk_open(&b, &cfg);
	assert_ptr_equal(b.tx->rel->cfg.scheme, sdr_scheme_table[0]);
	bed_bulk_close(&b);
}

/* What each scheme plans for a peer that takes every code, and for one that takes none. */
static void scheme__plans(void **state)
{
	const struct sdr_scheme_ops *const *ops;

	(void)state;
	for (ops = sdr_scheme_table; *ops; ops++) {
		struct sdr_rel_cfg cfg = cfg_of(*ops);
		struct sdr_plan plan;
		struct bed_bulk b;

		bed_bulk_open(&b, &cfg);
		assert_int_equal(sdr_policy_plan(b.tx, LEN, &plan), SDR_REL_OK);
		assert_int_equal(plan.len, LEN);
		if ((*ops)->fixed_code) {
			assert_int_equal(plan.code.kind, SDR_CODE_MDS);
			assert_int_equal(plan.code.k, 8);
			assert_int_equal(plan.code.m, 2);
			assert_int_equal(plan.code.from, 0);
		}
		if (!(*ops)->plan)
			assert_false(plan.code.kind || b.tx->bulk->chosen);
		assert_int_equal(b.tx->st.choice_parity, plan.code.kind != 0);
		b.tx->codes.kinds = 0;
		assert_int_equal(sdr_policy_plan(b.tx, LEN, &plan), SDR_REL_OK);
		assert_false(plan.code.kind || b.tx->bulk->chosen);
		bed_bulk_close(&b);
	}
}

/* Timeouts of their own: one round trip and its variance; so many round trips. */
static void scheme__timeouts(void **state)
{
	struct bed_bulk b;
	struct sdr_rel_cfg cfg = cfg_of(&sdr_scheme_sr_rto);

	(void)state;
	cfg.rto_rtts = 7;
	bed_bulk_open(&b, &cfg);
	assert_int_equal(sdr_scheme_sr_nack.rto(b.tx), sdr_conn_rto(b.tx, 0));
	assert_int_equal(sdr_scheme_sr_rto.rto(b.tx), 7 * b.tx->main.rtt.srtt);
	b.tx->pto.rto_shift = 2;
	assert_int_equal(sdr_scheme_sr_nack.rto(b.tx), sdr_conn_rto(b.tx, 2));
	assert_int_equal(sdr_bulk_loss_deadline(b.tx), UINT64_MAX); /* nothing in flight */
	bed_bulk_close(&b);
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void counts(const struct bed_bulk *b)
{
	uint64_t inflight = 0;
	struct sdr_list *l;

	sdr_list_each(l, &b->tx->bulk->tx.segs) {
		const struct sdr_seg_tx *s = sdr_container(l, struct sdr_seg_tx, link);

		assert_true(sdr_seg_tx_counts(s));
		inflight += (uint64_t)s->inflight * MTU;
	}
	assert_int_equal(b->tx->inflight, inflight);
}

/*
 * Every 10th packet is dropped once, with each scheme: a round trip later, or a timeout later, all
 * bytes are there, and the sender knows.
 */
static void transfer__repairs_with_each_scheme(void **state)
{
	const struct sdr_scheme_ops *const *ops;

	(void)state;
	for (ops = sdr_scheme_table; *ops; ops++) {
		struct sdr_rel_cfg cfg = cfg_of(*ops);
		struct sdr_plan plan;
		struct bed_bulk b;
		uint32_t dropped = 0;

		fill();
		bed_bulk_open(&b, &cfg);
		assert_int_equal(sdr_policy_plan(b.tx, LEN, &plan), SDR_REL_OK);
		bed_bulk_start(&b, from, to, LEN, &plan);
		for (uint32_t round = 0; round < 300 && !b.sent; round++) {
			uint32_t n = bed_bulk_send(&b);

			counts(&b);
			for (uint32_t i = n; i-- && dropped < PKTS / 10;)
				if (i % 10 == 3) {
					loop_drop(b.net, i);
					dropped++;
				}
			bed_bulk_pass(&b, 25 * BED_BULK_MS);
			bed_bulk_arrive(&b);
			bed_bulk_pass(&b, 25 * BED_BULK_MS);
			bed_bulk_report(&b);
			counts(&b);
			if (!b.sent && !n) { /* what the timers above would do */
				struct sdr_acks acks = { 0 };

				sdr_bulk_detect_lost(b.tx, false, &acks);
				sdr_bulk_arrive_end(b.rx, 0);
			}
		}
		if (b.sent != 1 || b.arrived != 1 || memcmp(from, to, LEN) != 0)
			fail_msg("%s: %u sent, %u arrived", (*ops)->name, b.sent, b.arrived);
		assert_int_equal(dropped, PKTS / 10);
		bed_bulk_close(&b);
	}
}

/* Ended in the middle: nothing is left in the books of either side. */
static void transfer__is_aborted(void **state)
{
	struct sdr_rel_cfg cfg = cfg_of(&sdr_scheme_ec);
	struct sdr_bulk_tx *t;
	struct sdr_plan plan;
	struct bed_bulk b;

	(void)state;
	fill();
	bed_bulk_open(&b, &cfg);
	assert_int_equal(sdr_policy_plan(b.tx, LEN, &plan), SDR_REL_OK);
	t = bed_bulk_start(&b, from, to, LEN, &plan);
	assert_true(bed_bulk_send(&b) > 0);
	assert_true(b.tx->inflight > 0);
	sdr_bulk_tx_abort(t);
	assert_int_equal(b.tx->inflight, 0);
	sdr_bulk_rx_abort(sdr_container(b.rx->bulk->rx.brx.next, struct sdr_bulk_rx, link));
	bed_bulk_close(&b);
}

/* ---- reports and numbers --------------------------------------------------------------------- */

/* A gap is reported at once, unless the scheme ignores gaps: then it waits as any report. */
static void report__of_a_gap(void **state)
{
	static const struct {
		const struct sdr_scheme_ops *scheme;
		bool now;
	} cases[] = { { &sdr_scheme_sr, true },
		      { &sdr_scheme_sr_nack, true },
		      { &sdr_scheme_sr_rto, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sdr_rel_cfg cfg = cfg_of(cases[i].scheme);
		struct sdr_bulk_tx *t;
		struct sdr_plan plan;
		struct bed_bulk b;

		fill();
		bed_bulk_open(&b, &cfg);
		assert_int_equal(sdr_policy_plan(b.tx, 3 * MTU, &plan), SDR_REL_OK);
		t = bed_bulk_start(&b, from, to, 3 * MTU, &plan);
		assert_int_equal(bed_bulk_send(&b), 3);
		loop_drop(b.net, 1);
		bed_bulk_arrive(&b);
		assert_int_equal(sdr_report_due(b.rx), cases[i].now);
		assert_true(sdr_report_deadline(b.rx) <= b.rx->rel->now + SDR_ACK_DELAY_MAX_NS);
		bed_bulk_pass(&b, SDR_ACK_DELAY_MAX_NS);
		assert_true(sdr_report_due(b.rx));
		sdr_bulk_tx_abort(t);
		sdr_bulk_rx_abort(sdr_container(b.rx->bulk->rx.brx.next, struct sdr_bulk_rx, link));
		bed_bulk_close(&b);
	}
}

/* The messages that the next packet of reports says to be complete. */
static uint32_t completes(struct sdr_conn *c, uint32_t *msn)
{
	uint8_t buf[256];
	const uint8_t *p = buf;
	bool more;
	size_t len = sdr_report_write(c, buf, sizeof(buf), &more);
	struct sdr_frame f;
	uint32_t n = 0;

	assert_false(more);
	while (sdr_frame_next(&p, buf + len, &f) > 0) {
		assert_int_equal(f.type, SDR_FRAME_DACK);
		assert_true(f.dack.flags & SDR_DACK_COMPLETE);
		msn[n++] = f.dack.msn;
	}
	return n;
}

/*
 * One that was asked for three times goes in three packets, and nothing behind it waits for that:
 * its END is acknowledged with the first of them, and without a report all of it would be lost.
 */
static void report__asked_for_several_times(void **state)
{
	static const uint32_t asked[] = { 0, 0, 0, 1, 1, 2 };
	uint32_t msn[6];
	struct bed_bulk b;

	(void)state;
	bed_bulk_open(&b, NULL);
	sdr_msn_skip_range(b.rx, 0, 3);
	for (uint32_t i = 0; i < 6; i++)
		sdr_report_complete(b.rx, &(struct sdr_complete){ .msn = asked[i], .echo = ~0u });
	assert_true(sdr_report_waits(b.rx, 1));
	assert_false(sdr_report_waits(b.rx, 3));
	assert_int_equal(completes(b.rx, msn), 3);
	assert_true(msn[0] == 0 && msn[1] == 1 && msn[2] == 2);
	assert_int_equal(completes(b.rx, msn), 2);
	assert_true(msn[0] == 0 && msn[1] == 1);
	assert_int_equal(completes(b.rx, msn), 1);
	assert_int_equal(msn[0], 0);
	assert_false(sdr_report_due(b.rx));
	assert_false(sdr_report_waits(b.rx, 1));
	bed_bulk_close(&b);
}

/* What was refused is over, but never complete; ranges beyond the window wait for it. */
static void msn__refused(void **state)
{
	struct bed_bulk b;
	uint32_t ids;

	(void)state;
	bed_bulk_open(&b, NULL);
	ids = sdr_qp_ids(b.rx->shape->qp);
	assert_false(sdr_msn_beyond(b.rx, 0, ids));
	assert_true(sdr_msn_beyond(b.rx, 0, ids + 1));
	sdr_msn_skip(b.rx, 0);
	assert_false(sdr_msn_complete(b.rx, 0));
	assert_false(sdr_msn_beyond(b.rx, 1, ids));
	sdr_msn_skip_range(b.rx, 1, 1 + 3 * ids);
	while (b.rx->bulk->rx.skip_lo != b.rx->bulk->rx.skip_hi)
		sdr_msn_skip_on(b.rx);
	assert_int_equal(sdr_qp_recv_base(b.rx->shape->qp), 1 + 3 * ids);
	assert_false(sdr_msn_complete(b.rx, 3 * ids));
	bed_bulk_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scheme__default),
		cmocka_unit_test(scheme__plans),
		cmocka_unit_test(scheme__timeouts),
		cmocka_unit_test(transfer__repairs_with_each_scheme),
		cmocka_unit_test(transfer__is_aborted),
		cmocka_unit_test(report__of_a_gap),
		cmocka_unit_test(report__asked_for_several_times),
		cmocka_unit_test(msn__refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
