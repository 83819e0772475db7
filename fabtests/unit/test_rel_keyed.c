/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rkey-addressed engines: transfers to a device, whose receiver must grant each buffer before a
 * byte may go there. Between two devices, from a socket to a device and back; what it costs, what
 * may be lost, how it ends.
 */
#include "../bed/bed.h"

#define LEN  200000u
#define KEYS 3u /* SDR_SIM_RKEYED_NONE, _MR, _ROOT */

static struct bed *rkeyed_open(uint8_t k0, uint8_t k1)
{
	struct bed *b = bed_new(2);

	b->na[0].rkeyed = k0;
	b->na[1].rkeyed = k1;
	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

static struct bed_op *recv_parts(struct bed *b, uint8_t *p, size_t len)
{
	struct bed_op *op = bed_op(b, 1, 1);
	struct sdr_rel_iov iov[3] = { { p, 1000 },
				      { p + 1000, 50000 },
				      { p + 51000, len - 51000 } };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 3, .iov = iov, .ctx = op };

	assert_int_equal(sdr_rel_recv(b->node[1].ep->rel, &rr), 0);
	return op;
}

static struct bed_op *read_parts(struct bed *b, uint8_t *p, size_t len)
{
	struct bed_op *op = bed_op(b, 0, 1);
	struct sdr_rel_iov iov[2] = { { p, 333 }, { p + 333, len - 333 } };
	struct sdr_rel_wr wr = { .kind = SDR_REL_READ,
				 .niov = 2,
				 .iov = iov,
				 .peer = bed_peer(b, 0, 1),
				 .rma_key = 1,
				 .ctx = op };

	assert_int_equal(sdr_rel_post(b->node[0].ep->rel, &wr), 0);
	b->node[0].ep->dirty = true;
	return op;
}

static void keyed__every_kind_of_transfer_between_every_kind_of_engine(void **state)
{
	(void)state;
	for (uint8_t k = 0; k < KEYS * KEYS; k++) {
		uint8_t k0 = k / KEYS, k1 = k % KEYS;
		struct bed *b = rkeyed_open(k0, k1);
		uint8_t *rd = bed_buf(b, LEN, 7), *wr = bed_buf(b, LEN, 0), *p[6];
		struct bed_op *op[12];
		int n = 0;

		bed_region_add(b, 1, 1, rd, LEN, SDR_REL_ACCESS_READ);
		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		for (int i = 0; i < 6; i++)
			p[i] = bed_buf(b, LEN, 0);
		op[n++] = bed_recv(b, 1, p[0], LEN);
		op[n++] = recv_parts(b, p[1], LEN);
		op[n++] = bed_trecv(b, 1, 5, 0, p[2], LEN);
		op[n++] = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		op[n++] = bed_send(b, 0, 1, bed_buf(b, LEN, 2), LEN, SDR_REL_F_DELIVERY);
		op[n++] = bed_tsend(b, 0, 1, 5, bed_buf(b, LEN, 3), LEN);
		op[n++] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		op[n++] = bed_rma(b, 0, 1, SDR_REL_READ, p[3], LEN, 0, 1, 0);
		op[n++] = read_parts(b, p[4], LEN);
		op[n++] =
			bed_tsend(b, 0, 1, 6, bed_buf(b, LEN, 6), LEN); /* no receive for it yet */
		bed_run(b, 5 * BED_RTT);
		op[n++] = bed_trecv(b, 1, 6, 0, p[5], LEN);
		bed_wait_all(b, 5 * BED_SEC);
		for (int i = 0; i < n; i++)
			bed_assert_ok(op[i]);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(bed_same(p[i], LEN, i + 1));
		assert_true(bed_same(wr, LEN, 4));
		assert_true(bed_same(p[3], LEN, 7));
		assert_true(bed_same(p[4], LEN, 7));
		assert_true(bed_same(p[5], LEN, 6));
		assert_int_equal(bed_grants(b, 0), k0 ? 2 : 0); /* the reads */
		assert_int_equal(bed_grants(b, 1), k1 ? 5 : 0);
		assert_int_equal(bed_grants_open(b, 0) + bed_grants_open(b, 1), 0);
		/* a bulk of this size is kept unasked */
		assert_int_equal(bed_seen(b, 1, BED_CTS) > 0, k1 > 0);
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* Several SDR messages lie in one grant, one behind the other, and each finds its part of it. */
static void keyed__a_transfer_of_several_segments(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = bed_new(2);
		const size_t len = (5u << 20) + 12345; /* 6 segments */
		uint8_t *p, *q;
		struct bed_op *op[3];

		for (uint32_t i = 0; i < 2; i++) {
			b->na[i].rkeyed = key;
			b->cfg[i].mtu = 256;
			b->cfg[i].split = (struct sdr_imm_split){ 12, 12, 8 };
		}
		bed_boot(b);
		bed_warm(b, 0, 1);
		assert_int_equal(bed_conn(b, 0, 1)->shape->seg_bytes, 1u << 20);
		p = bed_buf(b, len, 0);
		q = bed_buf(b, len, 0);
		bed_region_add(b, 1, 1, bed_buf(b, len, 7), len, SDR_REL_ACCESS_READ);
		bed_drop(b, BED_ANY, BED_DATA, 9000, 10);
		op[0] = bed_recv(b, 1, p, len);
		op[1] = bed_send(b, 0, 1, bed_buf(b, len, 1), len, 0);
		op[2] = bed_rma(b, 0, 1, SDR_REL_READ, q, len, 0, 1, 0);
		bed_wait_all(b, 5 * BED_SEC);
		for (int i = 0; i < 3; i++)
			bed_assert_ok(op[i]);
		assert_true(bed_same(p, len, 1) && bed_same(q, len, 7));
		assert_int_equal(bed_grants(b, 0), 1);
		assert_int_equal(bed_grants(b, 1), 1);
		bed_close(b);
	}
}

static uint64_t time_of(uint8_t k0, uint8_t k1, uint8_t kind)
{
	struct bed *b = rkeyed_open(k0, k1);
	uint8_t *p = bed_buf(b, LEN, 0);
	uint64_t t0 = bed_now(b), t;
	struct bed_op *r = NULL, *s;

	bed_region_add(b, 1, 1, p, LEN, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	if (kind == SDR_REL_SEND)
		r = bed_recv(b, 1, p, LEN);
	s = kind == SDR_REL_SEND ? bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0)
				 : bed_rma(b, 0, 1, kind, bed_buf(b, LEN, 1), LEN, 0, 1, 0);
	bed_wait_all(b, 5 * BED_SEC);
	bed_assert_ok(s);
	t = (r ? r->at : s->at) - t0;
	bed_assert_no_repair(b);
	bed_close(b);
	return t;
}

static void keyed__a_round_trip_more_for_what_is_sent_and_none_for_a_read(void **state)
{
	const uint64_t slack = MS; /* packets that wait for their turn; a round trip is 10 ms */

	(void)state;
	for (uint8_t k0 = 0; k0 < KEYS; k0++) {
		uint64_t send = time_of(k0, 0, SDR_REL_SEND), write = time_of(k0, 0, SDR_REL_WRITE);
		uint64_t read = time_of(0, 0, SDR_REL_READ);

		for (uint8_t k1 = 1; k1 < KEYS; k1++) {
			assert_in_range(time_of(k0, k1, SDR_REL_SEND), send + BED_RTT - slack,
					send + BED_RTT + slack);
			assert_in_range(time_of(k0, k1, SDR_REL_WRITE), write + BED_RTT - slack,
					write + BED_RTT + slack);
			assert_in_range(time_of(k0, k1, SDR_REL_READ), read - slack, read + slack);
		}
	}
}

/*
 * What every transfer needs, lost once: it is sent again, and everything still ends and is right.
 */
static void keyed__any_one_datagram_may_be_lost(void **state)
{
	static const struct {
		uint32_t src, what;
	} drop[] = {
		{ 0, BED_SEND },     { 1, BED_CTS },   { 0, BED_BIND }, { 0, BED_DATA },
		{ 0, BED_END },	     { 1, BED_DACK },  { 0, BED_READ }, { 1, BED_READ_RSP },
		{ 1, BED_COMPLETE }, { 0, BED_WRITE }, { 1, BED_DATA },
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(drop) / sizeof(*drop); i++) {
		uint8_t key = i & 1 ? SDR_SIM_RKEYED_MR : SDR_SIM_RKEYED_ROOT;
		struct bed *b = rkeyed_open(key, key);
		uint8_t *rd = bed_buf(b, LEN, 7), *wr = bed_buf(b, LEN, 0), *p = bed_buf(b, LEN, 0);
		uint8_t *q = bed_buf(b, LEN, 0);
		struct bed_rule *rule = bed_drop(b, drop[i / 2].src, drop[i / 2].what, 0, 1);
		struct bed_op *op[4];

		bed_region_add(b, 1, 1, rd, LEN, SDR_REL_ACCESS_READ);
		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		op[0] = bed_recv(b, 1, p, LEN);
		op[1] = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		op[2] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		op[3] = bed_rma(b, 0, 1, SDR_REL_READ, q, LEN, 0, 1, 0);
		bed_wait_all(b, 5 * BED_SEC);
		for (int k = 0; k < 4; k++)
			bed_assert_ok(op[k]);
		assert_int_equal(rule->hit, 1);
		assert_true(bed_same(p, LEN, 1) && bed_same(wr, LEN, 4) && bed_same(q, LEN, 7));
		assert_int_equal(bed_grants_open(b, 0) + bed_grants_open(b, 1), 0);
		bed_close(b);
	}
}

/*
 * A packet that comes after its receive has ended finds no grant, and the buffer stays the owner's.
 */
static void keyed__late_packets_touch_nothing(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = rkeyed_open(SDR_SIM_RKEYED_NONE, key);
		uint8_t *p = bed_buf(b, LEN, 0);
		struct bed_op *r, *s;
		uint64_t t0 = bed_now(b);

		/* so late that they were sent again meanwhile */
		bed_late(b, 0, BED_DATA, 5, 3, 40 * BED_RTT);
		r = bed_recv(b, 1, p, LEN);
		s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		bed_wait(b, r, 5 * BED_SEC);
		bed_wait(b, s, 5 * BED_SEC);
		bed_assert_ok(r);
		assert_in_range(r->at, t0, t0 + 20 * BED_RTT);
		assert_int_equal(bed_grants_open(b, 1), 0);
		bed_fill(p, LEN, 9);
		bed_run(b, 60 * BED_RTT);
		assert_true(bed_same(p, LEN, 9));
		assert_true(bed_stats(b, 1).pkts_late >= 3);
		bed_close(b);
	}
}

/* ---- ends that are not completions ----------------------------------------------------------- */

static void keyed__a_sender_that_dies_before_its_data(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = bed_new(2);
		uint8_t *p = bed_buf(b, LEN, 0), *wr = bed_buf(b, LEN, 0);
		struct bed_op *r;

		b->na[1].rkeyed = key;
		b->cfg[1].timeout_ms = 3000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		r = bed_recv(b, 1, p, LEN);
		bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		bed_run(b, BED_RTT * 3 / 4); /* both are announced, the CTS is on its way */
		assert_int_equal(bed_grants_open(b, 1), 2);
		assert_false(sdr_list_empty(&b->node[1].ep->rel->msg->remotes));
		bed_crash(b, 0);
		bed_wait(b, r, 4 * BED_SEC);
		bed_assert_err(r, SDR_REL_ERR_STOPPED);
		assert_int_equal(bed_grants_open(b, 1), 0);
		assert_true(sdr_list_empty(&b->node[1].ep->rel->msg->remotes));
		assert_true(bed_same(p, LEN, 0) && bed_same(wr, LEN, 0));
		bed_close(b);
	}
}

/* In the middle of the data the receiver aborts: what is under way then goes nowhere. */
static void keyed__a_shutdown_takes_the_grants_along(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = bed_new(2);
		size_t len = 4u << 20;
		uint8_t *p, *q;
		struct bed_op *r, *rd, *s;

		b->na[0].rkeyed = b->na[1].rkeyed = key;
		b->cfg[0].rate_bps = b->cfg[1].rate_bps = 1000000000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		p = bed_buf(b, len, 0);
		q = bed_buf(b, len, 0);
		bed_region_add(b, 0, 1, bed_buf(b, len, 2), len, SDR_REL_ACCESS_READ);
		r = bed_recv(b, 1, p, len);
		s = bed_send(b, 0, 1, bed_buf(b, len, 1), len, 0);
		rd = bed_rma(b, 1, 0, SDR_REL_READ, q, len, 0, 1, 0);
		s->expect = -1;
		bed_run(b, 3 * BED_RTT);
		assert_int_equal(r->n + rd->n, 0);
		assert_int_equal(bed_grants_open(b, 1), 2);
		sdr_rel_shutdown(b->node[1].ep->rel);
		bed_assert_err(r, SDR_REL_ERR_CANCELED);
		bed_assert_err(rd, SDR_REL_ERR_CANCELED);
		assert_int_equal(bed_grants_open(b, 1), 0);
		bed_fill(p, len, 9);
		bed_fill(q, len, 9);
		b->node[1].ep->dirty = true;
		bed_run(b, 10 * BED_RTT);
		assert_true(bed_same(p, len, 9) && bed_same(q, len, 9));
		bed_close(b);
	}
}

static void keyed__no_grant_left_is_an_error_that_says_so(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		struct bed *b = bed_new(2);
		uint8_t *p[2], *wr = bed_buf(b, LEN, 0), *rd = bed_buf(b, LEN, 7),
			       *q = bed_buf(b, LEN, 0);
		struct bed_op *r[2], *s[2], *w, *d[2];

		b->na[0].rkeyed = b->na[1].rkeyed = key;
		b->na[0].grants_max = b->na[1].grants_max = 1;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_region_add(b, 1, 1, rd, LEN, SDR_REL_ACCESS_READ);
		bed_region_add(b, 1, 2, wr, LEN, SDR_REL_ACCESS_WRITE);
		for (uint32_t i = 0; i < 2; i++) {
			p[i] = bed_buf(b, LEN, 0);
			r[i] = bed_recv(b, 1, p[i], LEN);
			s[i] = bed_send(b, 0, 1, bed_buf(b, LEN, i + 1), LEN, 0);
		}
		w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		d[0] = bed_rma(b, 0, 1, SDR_REL_READ, q, LEN, 0, 1, 0);
		d[1] = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, LEN, 0), LEN, 0, 1, 0);
		bed_assert_err(d[1], SDR_REL_ERR_REG); /* at once: it is our own device */
		bed_wait_all(b, 5 * BED_SEC);
		bed_assert_ok(r[0]);
		bed_assert_ok(s[0]);
		bed_assert_ok(d[0]);
		bed_assert_err(r[1], SDR_REL_ERR_REG);
		bed_assert_err(s[1], SDR_REL_ERR_REG);
		bed_assert_err(w, SDR_REL_ERR_REG);
		assert_int_equal(r[1]->e.err, -ENOMEM);
		assert_non_null(
			strstr(sdr_rel_strerror(SDR_REL_ERR_REG), "no more memory registrations"));
		assert_true(bed_same(p[0], LEN, 1) && bed_same(p[1], LEN, 0) &&
			    bed_same(wr, LEN, 0));
		assert_int_equal(bed_grants_open(b, 0) + bed_grants_open(b, 1), 0);
		/* now there is one */
		w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 2, 0);
		bed_wait(b, w, 5 * BED_SEC);
		bed_assert_ok(w);
		assert_true(bed_same(wr, LEN, 4));
		bed_close(b);
	}
}

/*
 * Reads that wait for the handshake and then find no grant end one after the other, not one inside
 * the other.
 */
static void keyed__many_reads_that_cannot_start(void **state)
{
	struct bed *b = bed_new(2);
	uint8_t *p = bed_buf(b, LEN, 0);
	uint32_t failed = 0, n = 5000;
	struct bed_op **op = calloc(n, sizeof(*op));

	(void)state;
	assert_non_null(op);
	b->na[0].rkeyed = SDR_SIM_RKEYED_MR;
	b->na[0].grants_max = 1;
	bed_boot(b);
	bed_region_add(b, 1, 1, bed_buf(b, LEN, 7), LEN, SDR_REL_ACCESS_READ);
	for (uint32_t i = 0; i < n; i++)
		op[i] = bed_rma(b, 0, 1, SDR_REL_READ, p, LEN, 0, 1, 0);
	bed_wait_all(b, 5 * BED_SEC);
	bed_assert_ok(op[0]);
	for (uint32_t i = 1; i < n; i++)
		failed += op[i]->n == 1 && op[i]->e.prov_err == SDR_REL_ERR_REG;
	assert_int_equal(failed, n - 1);
	assert_true(bed_same(p, LEN, 7));
	free(op);
	bed_close(b);
}

/* A message too long for its receive, an unknown key: nothing is granted for what is refused. */
static void keyed__what_is_refused_gets_no_grant(void **state)
{
	struct bed *b = rkeyed_open(SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_MR);
	struct bed_op *r, *s, *w;

	(void)state;
	r = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
	w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 4), LEN, 0, 99, 0);
	bed_wait_all(b, 5 * BED_SEC);
	bed_assert_err(r, SDR_REL_ERR_TRUNC);
	bed_assert_ok(s);
	bed_assert_err(w, SDR_REL_ERR_KEY);
	assert_int_equal(bed_grants(b, 1), 0);
	assert_int_equal(bed_seen(b, 0, BED_DATA), 0);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keyed__every_kind_of_transfer_between_every_kind_of_engine),
		cmocka_unit_test(keyed__a_transfer_of_several_segments),
		cmocka_unit_test(keyed__a_round_trip_more_for_what_is_sent_and_none_for_a_read),
		cmocka_unit_test(keyed__any_one_datagram_may_be_lost),
		cmocka_unit_test(keyed__late_packets_touch_nothing),
		cmocka_unit_test(keyed__a_sender_that_dies_before_its_data),
		cmocka_unit_test(keyed__a_shutdown_takes_the_grants_along),
		cmocka_unit_test(keyed__no_grant_left_is_an_error_that_says_so),
		cmocka_unit_test(keyed__many_reads_that_cannot_start),
		cmocka_unit_test(keyed__what_is_refused_gets_no_grant),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
