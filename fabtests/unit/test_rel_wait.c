/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Every wait ends: a peer that answers probes, and nothing else that is due, is given up; one that
 * is slow, that has no room, or whose application takes its time is waited for.
 */
#include "test_rel_liar.h"

#define WAIT_MS 3000u
#define LEN	100000u
#define HUGE	(3u << 20) /* parked where no receive is posted */

static struct bed *patient(uint32_t ms0, uint32_t ms1)
{
	struct bed *b = bed_new(2);

	b->cfg[0].timeout_ms = ms0;
	b->cfg[1].timeout_ms = ms1;
	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

/* ---- operations that cannot end well --------------------------------------------------------- */

enum op_kind { INLINE, TAGGED, BULK, RENDEZVOUS, WRITE_INLINE, WRITE_BULK, READ_INLINE, READ_BULK };
#define OP_KINDS (READ_BULK + 1u)

/* At node 0; what node 1 has to do for it is done, or may fail. */
static struct bed_op *op_post(struct bed *b, enum op_kind kind)
{
	uint8_t *p = bed_buf(b, HUGE, 1), *q = bed_buf(b, HUGE, 2);
	uint32_t key = 100 + kind;

	bed_region_add(b, 1, key, q, HUGE, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	switch (kind) {
	case INLINE:
		return bed_send(b, 0, 1, p, 1000, 0);
	case TAGGED:
		bed_trecv(b, 1, 5, 0, q, LEN)->expect = -1;
		return bed_tsend(b, 0, 1, 5, p, LEN);
	case BULK:
		bed_recv(b, 1, q, LEN)->expect = -1;
		return bed_send(b, 0, 1, p, LEN, SDR_REL_F_DELIVERY);
	case RENDEZVOUS:
		bed_trecv(b, 1, 6, 0, q, HUGE)->expect = -1;
		return bed_tsend(b, 0, 1, 6, p, HUGE);
	case WRITE_INLINE:
		return bed_rma(b, 0, 1, SDR_REL_WRITE, p, 1000, 0, key, 0);
	case WRITE_BULK:
		return bed_rma(b, 0, 1, SDR_REL_WRITE, p, LEN, 0, key, 0);
	case READ_INLINE:
		return bed_rma(b, 0, 1, SDR_REL_READ, p, 1000, 0, key, 0);
	default:
		return bed_rma(b, 0, 1, SDR_REL_READ, p, LEN, 0, key, 0);
	}
}

static void assert_stalled(const struct bed_op *op, uint64_t t0)
{
	char text[SDR_REL_ERR_TEXT];

	assert_int_equal(op->n, 1);
	assert_int_equal(sdr_rel_err_kind(op->e.prov_err), SDR_REL_ERR_STALLED);
	assert_int_equal(op->e.err, -ETIMEDOUT);
	assert_in_range(op->at - t0, (WAIT_MS - 100) * MS, (WAIT_MS + 500) * MS);
	sdr_rel_err_text(op->e.prov_err, text, sizeof(text));
	assert_non_null(strstr(text, "nothing large arrives"));
	assert_non_null(strstr(text, "FI_SDR_MTU"));
	assert_in_range(op->e.prov_err >> 8, 600, 9000); /* the size to try */
}

/* One kind after the other, and all at once. */
static void each_stalls(bool (*filter)(struct bed *b, struct sdr_sim_packet *p, uint32_t what))
{
	struct bed_op *op[OP_KINDS];
	struct bed *b;
	uint64_t t0;

	for (uint32_t k = 0; k <= OP_KINDS; k++) {
		b = patient(WAIT_MS, 30000);
		b->filter = filter;
		t0 = bed_now(b);
		for (uint32_t i = 0; i < OP_KINDS; i++)
			op[i] = i == k || k == OP_KINDS ? op_post(b, (enum op_kind)i) : NULL;
		bed_run(b, (WAIT_MS + 1000) * MS);
		for (uint32_t i = 0; i < OP_KINDS; i++)
			if (op[i])
				assert_stalled(op[i], t0);
		assert_int_equal(b->node[0].ep->rel->nconns, 0);
		bed_close(b);
	}
}

static bool up_to_600(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)what;
	return p->wire <= 600;
}

static bool up_to_600_there(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)what;
	/* A READ has its bytes come back. */
	return p->wire <= 600 || (p->src == 1 && !(what & (BED_DATA | BED_READ_RSP)));
}

static bool probes_alone(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)p;
	return !(what & (BED_REC | BED_DATA));
}

static void stalled__on_a_path_that_carries_nothing_above_600_bytes(void **state)
{
	(void)state;
	each_stalls(up_to_600);
}

static void stalled__in_one_direction(void **state)
{
	(void)state;
	each_stalls(up_to_600_there);
}

static void stalled__by_a_peer_that_answers_probes_and_swallows_the_rest(void **state)
{
	(void)state;
	each_stalls(probes_alone);
}

static bool no_data(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)p;
	return !(what & BED_DATA);
}

/*
 * The peer says each round trip that nothing came: not all of it goes again each time, and when the
 * path carries it the rest is soon there.
 */
static void stalled__data_go_again_in_fewer_packets(void **state)
{
	struct bed *b = patient(WAIT_MS, 30000);
	uint64_t seen, begun;
	struct bed_op *s;

	(void)state;
	b->filter = no_data;
	s = op_post(b, BULK);
	begun = bed_now(b);
	bed_run(b, 20 * BED_RTT);
	seen = bed_seen(b, 0, BED_DATA);
	assert_in_range(seen, LEN / SDR_MTU_DEFAULT, 8 * LEN / SDR_MTU_DEFAULT);
	bed_run(b, 80 * BED_RTT);
	assert_in_range(bed_seen(b, 0, BED_DATA) - seen, 10, 160);
	b->filter = NULL;
	begun = bed_now(b);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	assert_in_range(s->at - begun, 0, 8 * BED_RTT);
	bed_close(b);
}

/* The question is acknowledged, and that is all. */
static void stalled__a_read_whose_server_never_answers(void **state)
{
	struct bed *b = patient(WAIT_MS, 30000);
	struct bed_op *op[2];
	struct bed_rule *d = bed_drop(b, 1, BED_READ_RSP, 0, UINT64_MAX / 2);
	uint64_t t0 = bed_now(b);

	(void)state;
	op[0] = op_post(b, READ_INLINE);
	op[1] = op_post(b, READ_BULK);
	bed_run(b, 1500 * MS);
	assert_true(sdr_ring_empty(&bed_conn(b, 0, 1)->rec.ring));
	assert_int_equal(bed_conn(b, 0, 1)->msg->nasked, 2);
	bed_run(b, (WAIT_MS - 1000) * MS);
	assert_true(d->hit > 0);
	assert_stalled(op[0], t0);
	assert_stalled(op[1], t0);
	bed_close(b);
}

static void stalled__a_write_whose_answer_never_comes(void **state)
{
	struct bed *b = patient(WAIT_MS, 30000);
	struct bed_op *op;
	uint64_t t0 = bed_now(b);

	(void)state;
	bed_drop(b, 1, BED_DONE, 0, UINT64_MAX / 2);
	op = op_post(b, WRITE_INLINE);
	bed_run(b, (WAIT_MS + 500) * MS);
	assert_stalled(op, t0);
	bed_close(b);
}

/* The receiver's end of a transfer, too; its sender is told nothing. */
static void stalled__a_receive_whose_bytes_never_come(void **state)
{
	struct bed *b = patient(30000, WAIT_MS);
	struct bed_op *r, *s;
	uint64_t t0 = bed_now(b);

	(void)state;
	bed_drop(b, 0, BED_DATA, 5, UINT64_MAX / 2);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
	bed_run(b, (WAIT_MS + 500) * MS);
	assert_stalled(r, t0);
	bed_wait(b, s, 35 * BED_SEC); /* its peer does not know the connection any more */
	assert_int_not_equal(s->e.err, 0);
	bed_close(b);
}

/* What came before its turn does not wait for ever for the one in front. */
static void stalled__messages_before_their_turn_go(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	uint32_t mseq = bed_conn(b, 0, 1)->rec.rx_mseq;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_SEND,
						 .flags = SDR_REC_F_ORDER,
						 .mseq = mseq + 1 + i },
			 NULL);
	liar_say(&l);
	assert_true(b->node[0].ep->rel->unexp_bytes > 0);
	bed_run(b, 40 * BED_SEC); /* node 1 answers all the time */
	assert_null(bed_conn(b, 0, 1));
	assert_int_equal(b->node[0].ep->rel->unexp_bytes, 0);
	liar_close(&l);
}

/* ---- what is waited for ---------------------------------------------------------------------- */

/* No room for what nobody has asked for: longer than the timeout, then all of it arrives. */
static void waits__for_room_as_long_as_it_is_promised(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *r[60], *s[60];
	uint8_t *p[60];

	(void)state;
	b->cfg[0].timeout_ms = b->cfg[1].timeout_ms = 2000;
	b->cfg[1].unexp_max = 20000;
	bed_boot(b);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 60; i++)
		s[i] = bed_send(b, 0, 1, bed_buf(b, 1000, i + 1), 1000, 0);
	bed_run(b, 30 * BED_SEC);
	assert_true(bed_stats(b, 1).rec_refused > 10);
	assert_true(bed_seen(b, 1, BED_HELD) > 10);
	assert_int_equal(s[59]->n, 0);
	for (uint32_t i = 0; i < 60; i++) {
		p[i] = bed_buf(b, 1000, 0);
		r[i] = bed_recv(b, 1, p[i], 1000);
		if (i == 30)
			bed_run(b, 10 * BED_SEC);
	}
	for (uint32_t i = 0; i < 60; i++) {
		bed_wait(b, r[i], 5 * BED_SEC);
		bed_wait(b, s[i], 5 * BED_SEC);
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_true(bed_same(p[i], 1000, i + 1));
	}
	bed_close(b);
}

static bool no_held(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)p;
	return !(what & BED_HELD);
}

/* Who does not say so is given up: it could as well have swallowed them. */
static void stalled__by_a_peer_that_refuses_and_does_not_say_so(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *s = NULL;

	(void)state;
	b->cfg[0].timeout_ms = WAIT_MS;
	b->cfg[1].unexp_max = 20000;
	bed_boot(b);
	bed_warm(b, 0, 1);
	b->filter = no_held;
	for (uint32_t i = 0; i < 60; i++) {
		s = bed_send(b, 0, 1, bed_buf(b, 1000, i + 1), 1000, 0);
		s->expect = -1;
	}
	bed_run(b, 2 * WAIT_MS * MS);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->e.err, -ETIMEDOUT);
	bed_close(b);
}

/* Credit is used up, everything that left is acknowledged, nobody receives. */
static void waits__for_credit(void **state)
{
	enum { N = 3300 };
	struct bed *b = patient(2000, 2000);
	struct bed_op *s[N], *r;
	uint8_t *p = bed_buf(b, 8, 0), *q = bed_buf(b, 4000, 1);

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		s[i] = bed_send(b, 0, 1, q, 4000, 0);
		bed_run(b, MS);
	}
	bed_run(b, 30 * BED_SEC);
	assert_int_equal(s[N - 1]->n, 0);
	assert_int_equal(bed_stats(b, 1).rec_refused, 0);
	assert_int_equal(bed_conn(b, 0, 1)->pto.due_since, 0);
	for (uint32_t i = 0; i < N; i++) {
		r = bed_recv(b, 1, p, 8);
		r->expect = -1; /* truncated */
		if (i % 64 == 63)
			bed_run(b, BED_SEC);
	}
	for (uint32_t i = 0; i < N; i++) {
		bed_wait(b, s[i], 5 * BED_SEC);
		bed_assert_ok(s[i]);
	}
	bed_close(b);
}

/* One data packet in two thirds of the timeout. */
static uint64_t slow_next;

static bool slowly(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)p;
	if (!(what & BED_DATA))
		return true;
	if (bed_now(b) < slow_next)
		return false;
	slow_next = bed_now(b) + 2 * BED_SEC;
	return true;
}

static void waits__for_a_transfer_that_is_slow_and_moves(void **state)
{
	static const enum op_kind kinds[] = { BULK, WRITE_BULK, READ_BULK };

	(void)state;
	for (uint32_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct bed *b = patient(WAIT_MS, WAIT_MS);
		struct bed_op *op;

		slow_next = 0;
		b->filter = slowly;
		op = op_post(b, kinds[k]);
		bed_wait(b, op, 200 * BED_SEC);
		bed_assert_ok(op);
		assert_true(op->at > 40 * BED_SEC);
		bed_close(b);
	}
}

/* The announcement met no receive; both ends wait for the application. */
static void waits__for_a_receive_behind_a_rendezvous(void **state)
{
	struct bed *b = patient(2000, 2000);
	struct bed_op *s[2], *r;

	(void)state;
	for (int i = 0; i < 2; i++) { /* the second is announced alone */
		s[i] = bed_tsend(b, 0, 1, 7, bed_buf(b, HUGE, 1), HUGE);
		bed_run(b, 20 * BED_SEC);
		assert_int_equal(s[i]->n, 0);
		assert_int_equal(bed_conn(b, 0, 1)->pto.due_since, 0);
	}
	for (int i = 0; i < 2; i++) {
		r = bed_trecv(b, 1, 7, 0, bed_buf(b, HUGE, 0), HUGE);
		bed_wait(b, r, 2 * BED_SEC);
		bed_wait(b, s[i], 2 * BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s[i]);
	}
	bed_close(b);
}

/* The clock begins with what is due, however long the connection was silent before. */
static void waits__from_the_beginning_after_an_idle_time(void **state)
{
	struct bed *b = patient(WAIT_MS, WAIT_MS); /* more than a second, SDR_RTO_MAX_NS, longer */
	struct bed_op *s, *r;
	uint64_t end;

	(void)state;
	bed_run(b, 100 * BED_SEC);
	end = bed_now(b) + 1900 * MS;
	sdr_sim_blackout_both(b->w, 0, 1, bed_now(b), end);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
	bed_wait(b, s, 4 * BED_SEC);
	bed_assert_ok(s);
	bed_wait(b, r, BED_SEC);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stalled__on_a_path_that_carries_nothing_above_600_bytes),
		cmocka_unit_test(stalled__in_one_direction),
		cmocka_unit_test(stalled__by_a_peer_that_answers_probes_and_swallows_the_rest),
		cmocka_unit_test(stalled__data_go_again_in_fewer_packets),
		cmocka_unit_test(stalled__a_read_whose_server_never_answers),
		cmocka_unit_test(stalled__a_write_whose_answer_never_comes),
		cmocka_unit_test(stalled__a_receive_whose_bytes_never_come),
		cmocka_unit_test(stalled__messages_before_their_turn_go),
		cmocka_unit_test(stalled__by_a_peer_that_refuses_and_does_not_say_so),
		cmocka_unit_test(waits__for_room_as_long_as_it_is_promised),
		cmocka_unit_test(waits__for_credit),
		cmocka_unit_test(waits__for_a_transfer_that_is_slow_and_moves),
		cmocka_unit_test(waits__for_a_receive_behind_a_rendezvous),
		cmocka_unit_test(waits__from_the_beginning_after_an_idle_time),
	};

	return cmocka_run_group_tests_name("rel wait", tests, NULL, NULL);
}
