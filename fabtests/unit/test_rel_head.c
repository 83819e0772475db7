/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What heads save (rel/bulk/sdr_head_rx.c), and what of head and rest may be lost, late or come
 * twice.
 */
#include "rel/msg/sdr_view.h"
#include "test_rel_head.h"

/* ---- what it saves --------------------------------------------------------------------------- */

/* 16 MiB over 25 ms at 1 Gbit/s, warm: ns. */
static uint64_t long_ns(uint8_t key, enum way way, bool heads)
{
	struct bed *b = head_new(key, SDR_REL_BERTHS);
	uint64_t t0;

	b->link.delay_ns = 12500000;
	b->cfg[0].rate_bps = 1000000000;
	bed_boot(b);
	if (!heads)
		b->node[0].ep->rel->features &= ~SDR_FEATURE_HEAD;
	bed_warm(b, 0, 1);
	move(b, way, 16 * MIB, 1);
	bed_run(b, 100 * MS);
	t0 = bed_now(b);
	move(b, way, 16 * MIB, 2);
	t0 = bed_now(b) - t0;
	assert_int_equal(bed_stats(b, 0).berths_tx, heads && key);
	bed_close(b);
	return t0;
}

static void long__takes_no_round_trip_more_than_to_a_socket(void **state)
{
	const uint64_t rtt = 25 * MS;

	(void)state;
	for (enum way way = SEND; way < WAYS; way++) {
		uint64_t soft = long_ns(0, way, true);

		for (uint8_t key = 1; key < KEYS; key++) {
			assert_true(long_ns(key, way, true) < soft + soft / 100);
			assert_true(long_ns(key, way, false) > soft + rtt * 9 / 10);
		}
	}
}

/* 6 MiB each over that path, so many in flight: ns a message. */
static uint64_t stream_ns(bool heads, uint32_t flying)
{
	enum { LEN_EACH = 6 * MIB, WARM = 4, ALL = 16 };
	struct bed *b = head_new(SDR_SIM_RKEYED_ROOT, SDR_REL_BERTHS);
	struct bed_op *op[ALL][2];
	uint64_t t0 = 0;

	b->link.delay_ns = 12500000;
	b->cfg[0].rate_bps = 1000000000;
	bed_boot(b);
	if (!heads)
		b->node[0].ep->rel->features &= ~SDR_FEATURE_HEAD;
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < ALL + flying; i++) {
		if (i >= flying) {
			bed_wait(b, op[i - flying][0], 5 * BED_SEC);
			bed_assert_ok(op[i - flying][0]);
		}
		if (i == WARM + flying)
			t0 = bed_now(b);
		if (i < ALL)
			begin(b, SEND, bed_buf(b, LEN_EACH, 0), LEN_EACH, i + 1, op[i]);
	}
	t0 = bed_now(b) - t0;
	bed_wait_all(b, BED_SEC);
	bed_close(b);
	return t0 / (ALL - WARM - 1);
}

/* One at a time waits for no key; where others leave meanwhile nothing waits, nothing is slower. */
static void stream__is_never_slower(void **state)
{
	(void)state;
	for (uint32_t flying = 1; flying <= 8; flying *= 2) {
		uint64_t with = stream_ns(true, flying), without = stream_ns(false, flying);

		assert_true(with < without + without / 100);
		assert_true(flying > 1 || with < without - 20 * MS);
	}
}

static void head__every_transfer_and_both_directions(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = head_open(key);

		for (uint32_t i = 0; i < 6; i++) {
			uint64_t cts = ctses(b);

			move(b, i % WAYS, LEN + i, i + 1);
			assert_int_equal(ctses(b), cts + 1);
			assert_int_equal(bed_stats(b, 0).berths_tx, i + 1);
			assert_int_equal(bed_stats(b, 1).berths_rx, i + 1);
			bed_run(b, 2 * BED_RTT);
		}
		bed_assert_no_repair(b);
		head_close(b);
		/* between two devices, at the same time */
		b = head_new(key, ROOM);
		b->na[0].rkeyed = (uint8_t)(KEYS - key);
		bed_boot(b);
		bed_warm(b, 0, 1);
		for (uint32_t i = 0; i < 3; i++) {
			uint8_t *p = bed_buf(b, LEN, 0);
			struct bed_op *r = bed_recv(b, 0, p, LEN);
			struct bed_op *s = bed_send(b, 1, 0, bed_buf(b, LEN, 20 + i), LEN, 0);

			move(b, i % WAYS, LEN, i + 1);
			bed_wait_all(b, BED_SEC);
			bed_assert_ok(r);
			bed_assert_ok(s);
			assert_true(bed_same(p, LEN, 20 + i));
			bed_run(b, 2 * BED_RTT);
		}
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(bed_stats(b, i).berths_tx, 2);
		bed_close(b);
	}
}

/* Either side of an earlier build: as ever, a key for all of it. */
static void head__peers_without(void **state)
{
	(void)state;
	for (uint32_t who = 0; who < 2; who++) {
		struct bed *b = head_new(SDR_SIM_RKEYED_MR, SDR_REL_BERTHS);

		bed_boot(b);
		b->node[who].ep->rel->features &= ~SDR_FEATURE_HEAD;
		bed_warm(b, 0, 1);
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t len = i % 2 ? SDR_BERTH_MAX + 1 : BERTH / 2, cts = ctses(b);

			move(b, i / 2, len, i + 1);
			bed_run(b, 2 * BED_RTT);
			assert_true(!i || ctses(b) == cts + i % 2);
		}
		bed_close(b);
	}
}

static bool is_ctx(const void *arg, const void *ctx, uint64_t uflags)
{
	(void)uflags;
	return arg == ctx;
}

/* What is said to be in place is: first of the head, then of both. */
static void head__can_be_seen_as_it_comes(void **state)
{
	struct bed *b = head_new(SDR_SIM_RKEYED_MR, ROOM);
	uint64_t got = 0, heads = 0, rests = 0;
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *op[2];

	(void)state;
	b->cfg[0].rate_bps = 200000000;
	bed_boot(b);
	bed_warm(b, 0, 1);
	move(b, SEND, LEN, 1);
	bed_run(b, 3 * BED_RTT);
	bed_drop(b, 0, BED_DATA, 3, 2);
	begin(b, SEND, p, LEN, 2, op);
	while (!op[1]->n) {
		struct sdr_rel_view v = { .unit = 1000 };
		int ret = sdr_rel_view(b->node[1].ep->rel, is_ctx, op[1], &v);

		assert_true(ret == -EAGAIN ? !got : !ret);
		if (!ret) {
			assert_true(v.len == LEN && v.got >= got && v.front <= v.got);
			assert_int_equal(bed_differs(p, v.front, 2), v.front);
			heads += v.got && v.got < BERTH;
			rests += v.got > BERTH;
			got = v.got;
		}
		bed_run(b, MS / 2);
	}
	finish(b, op);
	assert_true(heads > 5 && rests > 5);
	head_close(b);
}

/* ---- late, lost, twice ----------------------------------------------------------------------- */

static void lost__any_one_datagram(void **state)
{
	static const struct {
		uint32_t src, what, nth, n;
	} drop[] = {
		{ 0, BED_SEND | BED_WRITE, 0, 1 }, /* the announcement, and so all of the head */
		{ 0, BED_DATA, 0, 1 },
		{ 0, BED_DATA, 20, 30 },
		{ 0, BED_DATA, 60, 10 }, /* the end of the head, the beginning of the rest */
		{ 0, BED_DATA, 140, 10 },
		{ 1, BED_CTS, 0, 1 },
		{ 0, BED_BIND, 0, 1 },
		{ 0, BED_END, 0, 1 },
		{ 0, BED_END, 1, 1 },
		{ 1, BED_DACK, 0, 1 },
		{ 1, BED_COMPLETE, 0, 1 },
		{ 1, BED_COMPLETE, 1, 1 },
		{ 1, BED_REC, 0, 3 },
		{ BED_ANY, BED_REC, 0, 4 },
	};

	(void)state;
	for (uint32_t i = 0; i < 4 * sizeof(drop) / sizeof(*drop); i++) {
		struct bed *b = head_open((uint8_t)(1 + i % 2));
		uint32_t k = i / 4;
		struct bed_rule *rule =
			bed_drop(b, drop[k].src, drop[k].what, drop[k].nth, drop[k].n);

		for (uint32_t m = 0; m < 2; m++) {
			uint8_t *p = move(b, i / 2 % 2, LEN, m + 1);

			/* whatever is still under way finds no key */
			bed_fill(p, LEN, 9);
			bed_run(b, 4 * BED_RTT);
			assert_true(bed_same(p, LEN, 9));
		}
		assert_true(rule->hit > 0);
		assert_int_equal(bed_stats(b, 1).berths_rx, 2);
		head_close(b);
	}
}

/* So late that they were sent again: those of the head, those of the rest, the CTS. */
static void late__packets_touch_nothing(void **state)
{
	static const struct {
		uint32_t src, what, first, n;
	} late[] = { { 0, BED_DATA, 5, 4 },
		     { 0, BED_DATA, 62, 4 },
		     { 0, BED_DATA, 120, 4 },
		     { 0, BED_BIND, 0, 1 },
		     { 1, BED_CTS, 0, 1 } };

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(late) / sizeof(*late); i++) {
		struct bed *b = head_open((uint8_t)(1 + i % 2));
		uint32_t k = i / 2;
		uint8_t *p, *q;

		bed_late(b, late[k].src, late[k].what, late[k].first, late[k].n, 40 * BED_RTT);
		p = move(b, SEND, LEN, 1);
		bed_fill(p, LEN, 9);
		/* the same memory, under another key, has the next one's bytes meanwhile */
		q = move(b, WRITE, LEN, 2);
		bed_run(b, 60 * BED_RTT);
		assert_true(bed_same(p, LEN, 9) && bed_same(q, LEN, 2));
		head_close(b);
	}
}

/*
 * Into memory that the CPU does not reach (every byte inverted there): the head goes there as it
 * comes, while the rest waits for room between there and the network; or when a receive is there.
 */
static int far_copy(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	(void)m;
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t) ~((const uint8_t *)from)[i];
	return 0;
}

static void head__into_memory_of_a_device(void **state)
{
	static const struct sdr_mem_ops ops = { .name = "inverted",
						.get = far_copy,
						.put = far_copy };
	static const struct sdr_mem far = { &ops };

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct bed *b = head_new((uint8_t)(1 + i % 2), ROOM);
		uint8_t *p[2] = { bed_buf(b, LEN, 0), bed_buf(b, LEN, 0) };
		uint8_t *from = bed_buf(b, LEN, 5);
		struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .mem = &far };
		struct bed_op *s[2], *r[2];

		b->cfg[1].stage = i / 2 % 2 ? LEN : 0; /* for one at a time */
		bed_boot(b);
		bed_warm(b, 0, 1);
		for (uint32_t k = 0; k < 3; k++)
			move(b, SEND, LEN, 11);
		bed_run(b, 3 * BED_RTT);
		for (uint32_t k = 0; k < 2; k++) {
			if (i < 4)
				r[k] = bed_rr(b, 1, rr, p[k], LEN);
			s[k] = bed_send(b, 0, 1, from, LEN, SDR_REL_F_DELIVERY);
		}
		bed_run(b, i < 6 ? BED_RTT / 2 + 100000 : 4 * BED_RTT);
		for (uint32_t k = 0; k < 2 && i >= 4; k++)
			r[k] = bed_rr(b, 1, rr, p[k], LEN);
		bed_wait_all(b, 5 * BED_SEC);
		for (uint32_t k = 0; k < 2; k++) {
			bed_assert_ok(r[k]);
			bed_assert_ok(s[k]);
			far_copy(&far, p[k], p[k], LEN);
			assert_true(bed_same(p[k], LEN, 5));
		}
		assert_true(bed_stats(b, 1).berths_rx >= 2);
		head_close(b);
	}
}

/* What must follow a write has its effect when head and rest of it are there. */
static void order__what_follows_waits_for_both(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct bed *b = head_new((uint8_t)(1 + i % 2), ROOM);
		uint8_t *p, *q = bed_buf(b, 100, 0);
		struct bed_op *op[2], *r, *s;

		for (uint32_t k = 0; k < 2; k++)
			for (int o = 0; o < (int)SDR_ORDER_CLASSES; o++)
				b->cfg[k].orders.after[o] = SDR_ORDER_BIT(SDR_ORDER_WRITE);
		bed_boot(b);
		bed_warm(b, 0, 1);
		move(b, WRITE, LEN, 11);
		bed_run(b, 3 * BED_RTT);
		p = bed_buf(b, LEN, 0);
		if (i / 2 == 1)
			bed_late(b, 0, BED_DATA, 20, 3, 8 * BED_RTT);
		if (i / 2 == 2)
			bed_late(b, 0, BED_DATA, 100, 3, 8 * BED_RTT);
		if (i / 2 == 3)
			bed_drop(b, 1, BED_CTS, 0, 1);
		r = bed_recv(b, 1, q, 100);
		begin(b, WRITE, p, LEN, 5, op);
		s = bed_send(b, 0, 1, bed_buf(b, 100, 6), 100, 0);
		bed_wait(b, r, 5 * BED_SEC);
		assert_true(bed_same(p, LEN, 5) && bed_same(q, 100, 6));
		finish(b, op);
		bed_wait(b, s, BED_SEC);
		assert_int_equal(bed_stats(b, 1).berths_rx, 1);
		head_close(b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long__takes_no_round_trip_more_than_to_a_socket),
		cmocka_unit_test(stream__is_never_slower),
		cmocka_unit_test(head__every_transfer_and_both_directions),
		cmocka_unit_test(head__peers_without),
		cmocka_unit_test(head__can_be_seen_as_it_comes),
		cmocka_unit_test(lost__any_one_datagram),
		cmocka_unit_test(late__packets_touch_nothing),
		cmocka_unit_test(head__into_memory_of_a_device),
		cmocka_unit_test(order__what_follows_waits_for_both),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
