/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loss at home is not loss on the path: packets that the own engine did not send, and those that
 * the peer's host had no room for, are repaired and counted, and say nothing of the path.
 */
#include "../bed/bed.h"
#include "rel/conn/sdr_home.h"

#define LEN (4u << 20)

static struct sdr_loss_est *est(struct bed *b, uint32_t node, uint32_t to)
{
	return &bed_conn(b, node, to)->peer->loss;
}

static uint64_t home(struct bed *b, uint32_t node)
{
	return bed_stats(b, node).lost_home;
}

/* Node 0 sends LEN bytes, which arrive whatever becomes of packets. */
static void transfer(struct bed *b)
{
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *r = bed_recv(b, 1, p, LEN),
		      *s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);

	bed_wait(b, s, 20 * BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	assert_true(bed_same(p, LEN, 1));
	bed_run(b, BED_SEC);
}

/* ---- the engine did not send ----------------------------------------------------------------- */

static const struct sdr_uc_ops *real;
static struct sdr_uc_ops fake;
/* packets, datagrams: what the counters say beyond the truth */
static uint64_t unsent, full, denied;

static void fake_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	real->stats(uc, out);
	out->tx_lost += unsent;
	out->rx_full += full;
	out->tx_denied += denied;
}

static struct sdr_uc *fake_begin(struct bed *b)
{
	struct sdr_uc *uc = b->node[0].ep->rel->uc;

	real = uc->ops;
	fake = *real;
	fake.stats = fake_stats;
	uc->ops = &fake;
	unsent = 0;
	return uc;
}

/* Every hundredth packet with data, and some without. */
static bool some_unsent(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	if (p->src != 0 || !(what & (BED_DATA | BED_SEND)) || p->nth % 100 != 50)
		return true;
	unsent++;
	return false;
}

/* A firewall of node 0's host, as long as it is up. */
static bool firewall;
static bool none_leaves(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)what;
	if (p->src != 0 || !firewall)
		return true;
	denied++;
	return false;
}

/* Before the first answer, and later; for a while it costs nothing. */
static void denied__the_error_says_whose_fault_it_is(void **state)
{
	(void)state;
	for (uint32_t later = 0; later < 3; later++) {
		struct bed *b = bed_new(2);
		struct bed_op *op;
		struct sdr_uc *uc;

		for (uint32_t i = 0; i < 2; i++)
			b->cfg[i].timeout_ms = 3000;
		b->filter = none_leaves;
		denied = 0;
		bed_boot(b);
		uc = fake_begin(b);
		bed_peer(b, 0, 1);
		bed_peer(b, 1, 0);
		if (later)
			bed_warm(b, 0, 1);
		firewall = true;
		op = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
		bed_run(b, 1500 * MS);
		firewall = later < 2;
		if (firewall) {
			bed_wait(b, op, 4000 * MS);
			bed_assert_err(op, SDR_REL_ERR_DENIED);
		} else {
			bed_recv(b, 1, bed_buf(b, 100, 0), 100);
			bed_wait_all(b, 4000 * MS);
			bed_assert_ok(op);
		}
		firewall = false;
		uc->ops = real;
		bed_close(b);
	}
}

static bool some_lost(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	bool pass = some_unsent(b, p, what);

	unsent = 0;
	return pass;
}

static void unsent__is_repaired_and_no_loss_of_the_path(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_uc *uc = fake_begin(b);
	struct sdr_rel_stats st;

	(void)state;
	b->filter = some_unsent;
	transfer(b);
	st = bed_stats(b, 0);
	assert_true(unsent > 5);
	assert_int_equal(st.lost_home, unsent);
	assert_true(st.rtx_rack + st.rtx_nack + st.rtx_tlp >= unsent);
	assert_false(sdr_loss_est_seen(est(b, 0, 1)));
	uc->ops = real;
	bed_close(b);
}

/* The same packets, and the engine knows nothing of it. */
static void unsent__what_was_sent_is_loss_of_the_path(void **state)
{
	struct bed *b = bed_pair();

	(void)state;
	b->filter = some_lost;
	transfer(b);
	assert_int_equal(home(b, 0), 0);
	assert_true(sdr_loss_est_seen(est(b, 0, 1)));
	assert_true(sdr_loss_est_mean(est(b, 0, 1)) > 0.002);
	bed_close(b);
}

/* One thing and the other: what is forgiven is no more than what stayed at home. */
static bool some_of_each(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	if (p->src == 0 && (what & BED_DATA) && p->nth % 100 == 0)
		return false;
	return some_unsent(b, p, what);
}

static void unsent__real_losses_beside_it_count(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_uc *uc = fake_begin(b);
	double mean;

	(void)state;
	b->filter = some_of_each;
	for (int i = 0; i < 8; i++)
		transfer(b);
	assert_int_equal(home(b, 0), unsent);
	mean = sdr_loss_est_mean(est(b, 0, 1));
	assert_true(mean > 0.006 && mean < 0.015);
	uc->ops = real;
	bed_close(b);
}

/* The engine's counter is read where something is missing, and nowhere else. */
static uint32_t looks;

static void count_looks(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	looks++;
	real->stats(uc, out);
}

static void unsent__a_clean_path_never_asks_the_engine(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_uc *uc = fake_begin(b);

	(void)state;
	fake.stats = count_looks;
	looks = 0;
	transfer(b);
	assert_int_equal(looks, 0);
	uc->ops = real;
	bed_close(b);
}

/* ---- the peer's host had no room ------------------------------------------------------------- */

/* Node 1 does not read for a while, again and again, and its buffer is small. */
static void stalls(struct bed *b)
{
	if (bed_now(b) / (50 * MS) % 2)
		sdr_sim_node_stall(b->w, 1, bed_now(b) + 20 * MS);
}

static bool stalling(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	static uint64_t n;

	if (p->src == 0 && (what & BED_DATA) && n++ % 300 == 299)
		stalls(b);
	return true;
}

static bool stalling_in_secret(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	stalling(b, p, what);
	return p->src == 0 || !(what & BED_DROPS);
}

static struct bed *small_buffer(bool (*filter)(struct bed *b, struct sdr_sim_packet *p,
					       uint32_t what))
{
	struct bed *b = bed_new(2);

	b->na[1].rx_window = 256 << 10;
	bed_boot(b);
	bed_warm(b, 0, 1);
	b->filter = filter;
	for (int i = 0; i < 6; i++)
		transfer(b);
	return b;
}

static void drops__of_the_receivers_buffer_are_told_and_forgiven(void **state)
{
	struct bed *b = small_buffer(stalling);
	uint64_t dropped = sdr_sim_node_rcvbuf_drops(b->w, 1);

	(void)state;
	assert_true(dropped > 20);
	assert_true(bed_seen(b, 1, BED_DROPS) > 0);
	assert_true(home(b, 0) > dropped / 2 && home(b, 0) <= dropped);
	/* those of the last ones that came before the first word of it */
	assert_true(sdr_loss_est_mean(est(b, 0, 1)) < (double)dropped / 6 / 1024 / 4);
	bed_close(b);
}

static void drops__of_one_that_says_nothing_are_loss(void **state)
{
	struct bed *b = small_buffer(stalling_in_secret);

	(void)state;
	assert_true(sdr_sim_node_rcvbuf_drops(b->w, 1) > 20);
	assert_int_equal(home(b, 0), 0);
	assert_true(sdr_loss_est_seen(est(b, 0, 1)));
	bed_close(b);
}

/* What was dropped before a connection was there is none of its business. */
static void drops__count_from_the_opening_of_the_connection(void **state)
{
	struct bed *b = bed_new(3);
	struct bed_rule *lost;
	struct sdr_uc *uc;
	struct bed_op *r, *s;

	(void)state;
	bed_boot(b);
	uc = fake_begin(b);
	full = 1000;
	bed_warm(b, 2, 0);
	lost = bed_drop(b, 2, BED_DATA, 3, 1);
	for (uint64_t i = 0; i < 2; i++) {
		r = bed_recv(b, 0, bed_buf(b, 100000, 0), 100000);
		s = bed_send(b, 2, 0, bed_buf(b, 100000, 1), 100000, 0);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_run(b, 5 * BED_RTT);
		assert_int_equal(lost->hit, 1);
		assert_int_equal(bed_conn(b, 2, 0)->home.heard, i * 10);
		if (i) /* no more often than it says it does */
			assert_in_range(bed_seen(b, 0, BED_DROPS), 1, SDR_HOME_SAYS);
		else
			assert_int_equal(bed_seen(b, 0, BED_DROPS), 0);
		full += 10;
		lost = bed_drop(b, 2, BED_DATA, 3, 1);
	}
	full = 0;
	uc->ops = real;
	bed_close(b);
}

/* A peer that makes them up harms nobody's estimate but its own, and that within bounds. */
static void drops__made_up_are_bounded(void **state)
{
	struct bed *b = bed_open(3);
	uint32_t count = 0, pn = 1000;
	uint8_t frame[16];

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 0, 2);
	for (uint32_t i = 0; i < 100; i++) {
		size_t n;

		count += i % 2 ? 0x7fffffffu : 1;
		n = sdr_frame_drops_encode(frame, sizeof(frame),
					   &(struct sdr_frame_drops){ count });
		bed_forge(b, 1, 0, bed_conn(b, 0, 1)->id.cid, pn++, frame, n);
		bed_run(b, MS);
		assert_true(est(b, 0, 1)->home.n <= SDR_LOSS_FORGIVE_MAX);
	}
	assert_true(est(b, 0, 1)->home.n > 0);
	assert_int_equal(est(b, 0, 2)->home.n, 0);
	/* An older count says nothing. */
	bed_run(b, 10 * BED_SEC);
	bed_forge(b, 1, 0, bed_conn(b, 0, 1)->id.cid, pn++, frame,
		  sdr_frame_drops_encode(frame, sizeof(frame),
					 &(struct sdr_frame_drops){ count - 5 }));
	bed_run(b, MS);
	assert_int_equal(bed_conn(b, 0, 1)->home.heard, count);
	b->filter = some_lost;
	transfer(b);
	assert_true(sdr_loss_est_seen(est(b, 0, 1)));
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied__the_error_says_whose_fault_it_is),
		cmocka_unit_test(unsent__is_repaired_and_no_loss_of_the_path),
		cmocka_unit_test(unsent__what_was_sent_is_loss_of_the_path),
		cmocka_unit_test(unsent__real_losses_beside_it_count),
		cmocka_unit_test(unsent__a_clean_path_never_asks_the_engine),
		cmocka_unit_test(drops__of_the_receivers_buffer_are_told_and_forgiven),
		cmocka_unit_test(drops__of_one_that_says_nothing_are_loss),
		cmocka_unit_test(drops__count_from_the_opening_of_the_connection),
		cmocka_unit_test(drops__made_up_are_bounded),
	};

	return cmocka_run_group_tests_name("rel drops", tests, NULL, NULL);
}
