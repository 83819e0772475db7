/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Berths: keys of an rkeyed engine that its peers have before they send (rel/bulk/sdr_berth_rx.c).
 * What they save, what may happen to them on the way, how many there are, and that nothing is
 * written where one was.
 *
 * Node 1 is the device; node 0, a socket, sends.
 */
#include "test_rel_berth_liar.h"

#define LEN  200000u
#define KEYS 3u /* engines: none, and the two kinds that are rkeyed */

static struct bed *berth_new(uint8_t key)
{
	struct bed *b = bed_new(3);

	b->na[1].rkeyed = key;
	for (uint32_t i = 0; i < 3; i++)
		b->cfg[i].berths = SDR_REL_BERTHS;
	return b;
}

static void berth_send(struct bed *b, uint32_t from, size_t len, uint32_t seed)
{
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *r = bed_rr(
		b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 1, from) }, p,
		len);
	struct bed_op *s = bed_send(b, from, 1, bed_buf(b, len, seed), len, 0);

	bed_wait(b, r, 5 * BED_SEC);
	bed_wait(b, s, 5 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, seed));
}

/* Node 0 has sent something of this size, and so it has the keys for more. */
static struct bed *berth_open(uint8_t key, size_t len)
{
	struct bed *b = berth_new(key);

	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	berth_send(b, 0, len, 11);
	bed_run(b, 3 * BED_RTT);
	return b;
}

static struct sdr_conn_berths *berths(struct bed *b, uint32_t of)
{
	return &bed_conn(b, 1, of)->bulk->rx.berths;
}

static uint32_t keys(struct bed *b, uint32_t of)
{
	return bed_conn(b, of, 1)->bulk->tx.nkeys;
}

/* ---- what they save -------------------------------------------------------------------------- */

static struct bed_op *recv_parts(struct bed *b, uint8_t *p, size_t len)
{
	struct bed_op *op = bed_op(b, 1, 1);
	struct sdr_rel_iov iov[2] = { { p, 1000 }, { p + 1000, len - 1000 } };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 2, .iov = iov, .ctx = op };

	assert_int_equal(sdr_rel_recv(b->node[1].ep->rel, &rr), 0);
	return op;
}

static void berth__every_kind_of_transfer_waits_for_no_key(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = berth_open(key, LEN);
		uint8_t *wr = bed_buf(b, LEN, 0), *p[4];
		uint64_t cts = bed_seen(b, 1, BED_CTS), t0;
		struct bed_op *op[10];
		int n = 0;

		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		for (int i = 0; i < 4; i++)
			p[i] = bed_buf(b, LEN, 0);
		/* one at a time, as many as there are keys now: another follows each */
		for (int i = 0; i < 5; i++) {
			t0 = bed_now(b);
			if (i == 0) {
				op[n++] = bed_recv(b, 1, p[0], LEN);
				op[n++] = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN,
						   SDR_REL_F_DELIVERY);
			} else if (i == 1) {
				op[n++] = bed_trecv(b, 1, 5, 0, p[1], LEN);
				op[n++] = bed_tsend(b, 0, 1, 5, bed_buf(b, LEN, 2), LEN);
			} else if (i == 2) {
				op[n++] = recv_parts(b, p[2], LEN);
				op[n++] = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
			} else if (i == 3) {
				op[n++] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN,
						  0, 2, 0);
			} else { /* unexpected */
				op[n++] = bed_tsend(b, 0, 1, 6, bed_buf(b, LEN, 5), LEN);
			}
			bed_wait(b, op[n - 1], BED_SEC);
			assert_in_range(bed_now(b) - t0, BED_RTT, BED_RTT * 5 / 4);
			bed_run(b, 2 * BED_RTT);
		}
		op[n++] = bed_trecv(b, 1, 6, 0, p[3], LEN);
		bed_wait_all(b, BED_SEC);
		for (int i = 0; i < n; i++)
			bed_assert_ok(op[i]);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(bed_same(p[i], LEN, i + 1));
		assert_true(bed_same(wr, LEN, 4) && bed_same(p[3], LEN, 5));
		assert_int_equal(bed_seen(b, 1, BED_CTS), cts);
		assert_int_equal(bed_stats(b, 0).berths_tx, 5);
		assert_int_equal(bed_stats(b, 1).berths_rx, 5);
		assert_int_equal(berths(b, 0)->n, SDR_BERTHS_FIRST);
		assert_int_equal(bed_grants_open(b, 1), SDR_BERTHS_FIRST);
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* Between two devices, both ways. */
static void berth__between_two_devices(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = berth_new(key);
		uint8_t *p = bed_buf(b, LEN, 0);
		struct bed_op *r, *s;

		b->na[0].rkeyed = (uint8_t)(KEYS - key);
		bed_boot(b);
		bed_warm(b, 0, 1);
		for (uint32_t i = 0; i < 2; i++) {
			r = bed_recv(b, 0, p, LEN);
			s = bed_send(b, 1, 0, bed_buf(b, LEN, 20 + i), LEN, 0);
			berth_send(b, 0, LEN, i + 1);
			bed_wait_all(b, BED_SEC);
			bed_assert_ok(r);
			bed_assert_ok(s);
			assert_true(bed_same(p, LEN, 20 + i));
			bed_run(b, 2 * BED_RTT);
		}
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(bed_stats(b, i).berths_tx, 1);
		bed_close(b);
	}
}

/* Several segments lie in one, one behind the other. */
static void berth__a_transfer_of_several_segments(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = berth_new(key);
		const size_t len = (3u << 20) + 12345; /* 4 segments */
		uint64_t cts;

		for (uint32_t i = 0; i < 2; i++) {
			b->cfg[i].mtu = 256;
			b->cfg[i].split = (struct sdr_imm_split){ 12, 12, 8 };
		}
		bed_boot(b);
		bed_warm(b, 0, 1);
		assert_int_equal(bed_conn(b, 0, 1)->shape->seg_bytes, 1u << 20);
		berth_send(b, 0, len, 1);
		bed_run(b, 2 * BED_RTT);
		cts = bed_seen(b, 1, BED_CTS);
		bed_drop(b, BED_ANY, BED_DATA, 9000, 10);
		berth_send(b, 0, len, 2);
		assert_int_equal(bed_seen(b, 1, BED_CTS), cts);
		bed_close(b);
	}
}

/* A peer of another version, a near one, one that knows no heads and sends too much: as ever. */
static void berth__none_for_those_that_do_without(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		struct bed *b = berth_new(SDR_SIM_RKEYED_MR);
		size_t len = how == 2 ? SDR_BERTH_MAX + 1 : LEN;

		if (how == 1)
			b->link.delay_ns = SDR_BERTH_RTT_NS / 4;
		if (how == 3)
			b->cfg[1].berths = 0;
		bed_boot(b);
		if (how == 0)
			b->node[0].ep->rel->features &= ~SDR_FEATURE_BERTH;
		if (how == 2)
			b->node[0].ep->rel->features &= ~SDR_FEATURE_HEAD;
		bed_warm(b, 0, 1);
		berth_send(b, 0, len, 1);
		bed_run(b, 2 * BED_RTT);
		berth_send(b, 0, len, 2);
		assert_int_equal(keys(b, 0), 0);
		assert_int_equal(bed_grants_open(b, 1), 0);
		assert_int_equal(bed_grants(b, 1), 2);
		bed_close(b);
	}
}

/* ---- late, lost, twice ----------------------------------------------------------------------- */

/* A packet that comes after its transfer has ended finds no key, and what is there stays. */
static void berth__late_packets_touch_nothing(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = berth_open(key, LEN);
		uint8_t *p = bed_buf(b, LEN, 0), *q = bed_buf(b, LEN, 0);
		struct bed_op *r, *s;

		/* so late that they were sent again meanwhile */
		bed_late(b, 0, BED_DATA, 5, 3, 40 * BED_RTT);
		r = bed_recv(b, 1, p, LEN);
		s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		bed_wait(b, r, 5 * BED_SEC);
		bed_wait(b, s, 5 * BED_SEC);
		bed_assert_ok(r);
		assert_int_equal(bed_stats(b, 0).berths_tx, 1);
		bed_fill(p, LEN, 9);
		/* the same memory, under another key, has the next one's bytes meanwhile */
		r = bed_recv(b, 1, q, LEN);
		bed_late(b, 0, BED_DATA, 0, 40, 38 * BED_RTT);
		s = bed_send(b, 0, 1, bed_buf(b, LEN, 2), LEN, 0);
		bed_wait(b, r, 5 * BED_SEC);
		bed_wait(b, s, 5 * BED_SEC);
		assert_true(bed_same(q, LEN, 2));
		bed_run(b, 60 * BED_RTT);
		assert_true(bed_same(p, LEN, 9) && bed_same(q, LEN, 2));
		assert_true(bed_stats(b, 1).pkts_late >= 3);
		bed_close(b);
	}
}

/* Whatever is lost: keys, the record that names one, data, its report. */
static void berth__any_one_datagram_may_be_lost(void **state)
{
	static const struct {
		uint32_t src, what;
	} drop[] = {
		{ 1, BED_REC },	 { 0, BED_SEND }, { 0, BED_WRITE },
		{ 0, BED_DATA }, { 0, BED_END },  { 1, BED_COMPLETE },
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(drop) / sizeof(*drop); i++) {
		struct bed *b = berth_open((uint8_t)(1 + i % 2), LEN);
		uint8_t *wr = bed_buf(b, LEN, 0);
		struct bed_rule *rule = bed_drop(b, drop[i / 2].src, drop[i / 2].what, 0, 1);
		struct bed_op *op;

		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		op = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		for (uint32_t k = 0; k < 4; k++)
			berth_send(b, 0, LEN, k + 1);
		bed_wait_all(b, 5 * BED_SEC);
		bed_assert_ok(op);
		assert_int_equal(rule->hit, 1);
		assert_true(bed_same(wr, LEN, 4));
		assert_true(bed_stats(b, 1).berths_rx >= 2);
		bed_close(b);
	}
}

/* ---- taken back ------------------------------------------------------------------------------ */

/* While a message that names it is under way: it is parked, requested, and comes once. */
static void revoke__a_key_that_is_under_way_already(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2 * (KEYS - 1) * 3; i++) {
		uint8_t key = (uint8_t)(1 + i % 2);
		bool write = i / 2 % 2;
		struct bed *b = berth_open(key, LEN);
		uint8_t *p = bed_buf(b, LEN, 0);
		struct bed_op *r = NULL, *s;

		bed_region_add(b, 1, 2, p, LEN, SDR_REL_ACCESS_WRITE);
		if (!write && i / 4 != 1)
			r = bed_recv(b, 1, p, LEN);
		s = write ? bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0)
			  : bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);
		/* its records overtake each other: CTS comes before PARK */
		if (i / 4 == 2)
			bed_late(b, 1, BED_PARK, 0, 1, BED_RTT);
		sdr_berths_recall(bed_conn(b, 1, 0));
		berths(b, 0)->want = 0;
		b->node[1].ep->dirty = true;
		bed_run(b, 3 * BED_RTT);
		if (!r && !write)
			r = bed_recv(b, 1, p, LEN);
		bed_wait_all(b, 5 * BED_SEC);
		bed_assert_ok(s);
		if (r)
			bed_assert_ok(r);
		assert_true(bed_same(p, LEN, 4));
		assert_int_equal(bed_stats(b, 1).msgs_parked, 1);
		assert_true(bed_seen(b, 0, BED_BIND) >= 2); /* and the first of all */
		assert_int_equal(bed_stats(b, 1).berths_rx, 0);
		/* and it goes on: the next one is asked for its key, then there are some again */
		for (uint32_t k = 0; k < 3; k++) {
			berth_send(b, 0, LEN, k);
			bed_run(b, 2 * BED_RTT);
		}
		assert_true(bed_stats(b, 1).berths_rx >= 1);
		bed_close(b);
	}
}

/* Those that lie idle make way for another peer's; fresh ones do not. */
static void revoke__idle_ones_make_way(void **state)
{
	struct bed *b = bed_new(6);
	uint64_t cts;

	(void)state;
	b->na[1].rkeyed = SDR_SIM_RKEYED_ROOT;
	b->cfg[1].berths = 4 * (256u << 10); /* a quarter of it each: one */
	bed_boot(b);
	for (uint32_t i = 0; i < 6; i++) {
		if (i == 1)
			continue;
		bed_warm(b, i, 1);
		berth_send(b, i, LEN, i);
		bed_run(b, 2 * BED_RTT);
		assert_int_equal(keys(b, i), i < 5);
	}
	bed_run(b, SDR_BERTH_OLD_NS / MS * MS + BED_SEC);
	berth_send(b, 5, LEN, 5);
	bed_run(b, 2 * BED_RTT);
	for (uint32_t i = 0; i < 6; i++)
		if (i != 1)
			assert_int_equal(keys(b, i), i != 0);
	cts = bed_seen(b, 1, BED_CTS);
	berth_send(b, 5, LEN, 6);
	berth_send(b, 2, LEN, 7);
	assert_int_equal(bed_seen(b, 1, BED_CTS), cts);
	berth_send(b, 0, LEN, 8);
	assert_int_equal(bed_seen(b, 1, BED_CTS), cts + 1);
	assert_true(b->node[1].ep->rel->bulk->berths.room.used <= 4 * (256u << 10));
	bed_close(b);
}

/* Longer transfers want longer ones: those that are too short are replaced. */
static void revoke__short_ones_for_longer(void **state)
{
	struct bed *b = berth_open(SDR_SIM_RKEYED_MR, LEN);
	uint64_t cts;

	(void)state;
	berth_send(b, 0, 4 * LEN, 1);
	bed_run(b, 2 * BED_RTT);
	cts = bed_seen(b, 1, BED_CTS);
	berth_send(b, 0, 4 * LEN, 2);
	berth_send(b, 0, LEN, 3);
	assert_int_equal(bed_seen(b, 1, BED_CTS), cts);
	bed_run(b, 2 * BED_RTT);
	assert_int_equal(keys(b, 0), berths(b, 0)->n);
	bed_close(b);
}

/* A region that is closed: no byte reaches it that lies in a berth of ours. */
static void revoke__the_region_of_a_write(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		const size_t len = 1u << 20;
		struct bed *b = berth_new(key);
		struct bed_node *nd = &b->node[1];
		uint8_t *p = bed_buf(b, len, 0), *was;
		struct bed_op *op;

		b->cfg[0].rate_bps = 1000000000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		berth_send(b, 0, len, 1);
		bed_run(b, 2 * BED_RTT);
		bed_region_add(b, 1, 2, p, len, SDR_REL_ACCESS_WRITE);
		op = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, len, 4), len, 0, 2, 0);
		bed_run(b, BED_RTT / 2 + 6 * MS);
		nd->region[0].key = UINT64_MAX;
		assert_int_equal(sdr_rel_mr_revoke(nd->ep->rel, &nd->region[0]), 1);
		was = malloc(len);
		assert_non_null(was);
		memcpy(was, p, len);
		assert_false(bed_same(p, len, 0)); /* the first half has come */
		bed_wait(b, op, BED_SEC);
		bed_assert_err(op, SDR_REL_ERR_KEY);
		bed_run(b, 4 * BED_RTT);
		assert_memory_equal(was, p, len);
		assert_int_equal(berths(b, 0)->n, SDR_BERTHS_FIRST);
		free(was);
		berth_send(b, 0, len, 6);
		bed_close(b);
	}
}

/* ---- bounds, and lies ------------------------------------------------------------------------ */

/* Who has many under way at a time gets more, doubling, up to the limit of a peer. */
static void bound__as_many_as_are_missed(void **state)
{
	struct bed *b = berth_open(SDR_SIM_RKEYED_MR, LEN);
	struct bed_op *s[40];

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		for (uint32_t i = 0; i < 40; i++) {
			bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
			s[i] = bed_send(b, 0, 1, bed_buf(b, LEN, i), LEN, 0);
		}
		bed_wait_all(b, 5 * BED_SEC);
		for (uint32_t i = 0; i < 40; i++)
			bed_assert_ok(s[i]);
		bed_run(b, 2 * BED_RTT);
		assert_int_equal(berths(b, 0)->n, SDR_BERTHS_PEER);
		assert_int_equal(keys(b, 0), SDR_BERTHS_PEER);
	}
	assert_true(bed_stats(b, 1).berths_rx >= 2 * SDR_BERTHS_PEER);
	/* a send that comes to nothing before it left has used none */
	sdr_rel_shutdown(b->node[1].ep->rel);
	assert_int_equal(bed_grants_open(b, 1), 0);
	bed_close(b);
}

static bool zeros(const uint8_t *p, uint64_t n)
{
	while (n && !p[n - 1])
		n--;
	return !n;
}

/* A device may say that a packet has come which it did not write: what is there then is nothing. */
static void lies__memory_of_others(void **state)
{
	struct bed *b = berth_open(SDR_SIM_RKEYED_MR, LEN);
	uint8_t *was[SDR_BERTHS_FIRST] = { NULL };
	struct sdr_list *l;
	uint32_t n = 0, again = 0;
	bool used = false;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		berth_send(b, 0, LEN, i + 1);
	bed_run(b, 2 * BED_RTT);
	sdr_list_each(l, &berths(b, 0)->idle) {
		const struct sdr_berth *t = sdr_container(l, struct sdr_berth, link);

		was[n++] = t->buf;
		used |= !zeros(t->buf, t->len); /* what this peer itself left */
		assert_true(zeros(t->buf, 16));
	}
	assert_int_equal(n, SDR_BERTHS_FIRST);
	assert_true(used);
	berths(b, 0)->want = 0;
	sdr_berths_recall(bed_conn(b, 1, 0));
	berth_send(b, 2, LEN, 9);
	bed_run(b, 2 * BED_RTT);
	sdr_list_each(l, &berths(b, 2)->idle) {
		const struct sdr_berth *t = sdr_container(l, struct sdr_berth, link);

		assert_true(zeros(t->buf, t->len));
		for (uint32_t i = 0; i < n; i++)
			again += t->buf == was[i];
	}
	assert_int_equal(again, SDR_BERTHS_FIRST);
	bed_close(b);
}

static struct liar liar_open(uint8_t key)
{
	return liar_in(berth_open(key, LEN), 1);
}

static struct sdr_frame_rec named(const struct liar *l, uint32_t berth, uint64_t len)
{
	return (struct sdr_frame_rec){
		.op = SDR_REC_SEND,
		.flags = SDR_REC_F_ORDER | SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_BERTH,
		.id = 77,
		.mseq = l->c->rec.rx_mseq,
		.msn = l->c->bulk->rx.seen,
		.len = len,
		.berth = berth,
	};
}

static void bad__berths_that_cannot_be_named(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_MR);
		uint32_t next = l.c->bulk->rx.berths.next;
		uint64_t before = bed_stats(l.b, 1).pkts_bad;

		if (how == 0) /* never handed out */
			say_rec(&l, named(&l, next, LEN));
		else if (how == 1) /* longer than it is */
			say_rec(&l, named(&l, next - 1, l.c->bulk->rx.berths.size + 1));
		else { /* not in force */
			l.c->hs.features &= ~SDR_FEATURE_BERTH;
			say_rec(&l, named(&l, next - 1, LEN));
		}
		assert_true(bed_stats(l.b, 1).pkts_bad > before);
		assert_true(bed_conn(l.b, 1, 0) != l.c);
		assert_int_equal(bed_grants_open(l.b, 1), 0);
		bed_close(l.b);
	}
}

/* One that was used is not there any more, for whoever names it again. */
static void bad__a_berth_that_is_named_twice(void **state)
{
	struct liar l = liar_open(SDR_SIM_RKEYED_ROOT);
	uint32_t next = l.c->bulk->rx.berths.next;
	uint8_t *p = bed_buf(l.b, LEN, 0), *q = bed_buf(l.b, LEN, 0);
	struct bed_op *r[2];

	(void)state;
	r[0] = bed_recv(l.b, 1, p, LEN);
	r[1] = bed_recv(l.b, 1, q, LEN);
	say_rec(&l, named(&l, next - 1, LEN));
	assert_int_equal(bed_stats(l.b, 1).berths_rx, 1);
	say_rec(&l, named(&l, next - 1, LEN));
	assert_int_equal(bed_stats(l.b, 1).berths_rx, 1);
	assert_int_equal(bed_stats(l.b, 1).msgs_parked, 1);
	assert_true(bed_conn(l.b, 1, 0) == l.c);
	bed_crash(l.b, 0);
	bed_wait(l.b, r[0], 60 * BED_SEC);
	bed_wait(l.b, r[1], 60 * BED_SEC);
	assert_true(bed_same(p, LEN, 0) && bed_same(q, LEN, 0));
	assert_int_equal(bed_grants_open(l.b, 1), 0);
	bed_close(l.b);
}

/* Keys from who has none to give; the same number twice; more than anybody keeps; no key at all. */
static void bad__keys_that_cannot_be(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		uint32_t victim = how ? 0 : 1;
		struct liar l = liar_in(berth_open(SDR_SIM_RKEYED_MR, LEN), victim);
		struct sdr_frame_rec f = {
			.op = SDR_REC_BERTH,
			.flags = SDR_REC_F_LEN | (how == 3 ? 0 : SDR_REC_F_KEY),
			.len = 1000,
		};

		for (uint32_t i = 0;
		     i < SDR_BERTH_KEYS_MAX && bed_conn(l.b, victim, !victim) == l.c; i++) {
			f.id = how == 1 ? 1000 : 1000 + i;
			say_rec(&l, f);
			assert_true(how == 2 || i <= 1);
		}
		assert_true(bed_conn(l.b, victim, !victim) != l.c);
		bed_close(l.b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(berth__every_kind_of_transfer_waits_for_no_key),
		cmocka_unit_test(berth__between_two_devices),
		cmocka_unit_test(berth__a_transfer_of_several_segments),
		cmocka_unit_test(berth__none_for_those_that_do_without),
		cmocka_unit_test(berth__late_packets_touch_nothing),
		cmocka_unit_test(berth__any_one_datagram_may_be_lost),
		cmocka_unit_test(revoke__a_key_that_is_under_way_already),
		cmocka_unit_test(revoke__idle_ones_make_way),
		cmocka_unit_test(revoke__short_ones_for_longer),
		cmocka_unit_test(revoke__the_region_of_a_write),
		cmocka_unit_test(bound__as_many_as_are_missed),
		cmocka_unit_test(lies__memory_of_others),
		cmocka_unit_test(bad__berths_that_cannot_be_named),
		cmocka_unit_test(bad__a_berth_that_is_named_twice),
		cmocka_unit_test(bad__keys_that_cannot_be),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
