/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a peer may say that no honest peer says, one lie a test (test_rel_liar.h). */
#include "test_rel_liar.h"

static void forged__cts_twice_for_one_message(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	struct bed_op *s[3];

	(void)state;
	c->credit.msn_limit = c->bulk->tx.msn; /* no credit: what got a CTS waits in the queue */
	c->msg->rnr_mode = true;
	for (int i = 0; i < 3; i++) {
		s[i] = bed_send(l.b, 0, 1, bed_buf(l.b, 100000, 1), 100000, 0);
		s[i]->expect = -1;
	}
	bed_run(l.b, BED_RTT);
	for (int k = 0; k < 3; k++) {
		struct sdr_list *o;
		uint32_t n = 0;

		sdr_list_each(o, &c->msg->ops) {
			liar_rec(&l,
				 (struct sdr_frame_rec){
					 .op = SDR_REC_CTS,
					 .id = sdr_container(o, struct sdr_op, link)->wire_id },
				 NULL);
			if (k)
				break; /* the first once more */
		}
		liar_say(&l);
		/* The queue must still be a list of three. */
		for (o = c->msg->cts_wait.next; o != &c->msg->cts_wait && n < 100; o = o->next)
			n++;
		assert_int_equal(n, 3);
	}
	for (int i = 0; i < 3; i++)
		assert_true(s[i]->n <= 1);
	liar_close(&l);
}

static void forged__cts_for_an_inline_message(void **state)
{
	static const size_t len[] = { 0, 10 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct liar l = liar_open();
		struct sdr_conn *c = bed_conn(l.b, 0, 1);
		struct bed_op *s;
		uint64_t data;

		bed_drop(l.b, 1, BED_ALL, 0, UINT64_MAX / 2); /* the real peer says nothing */
		s = bed_send(l.b, 0, 1, bed_buf(l.b, len[i], 1), len[i], SDR_REL_F_DELIVERY);
		s->expect = -1;
		data = bed_seen(l.b, 0, BED_DATA);
		liar_rec(&l,
			 (struct sdr_frame_rec){
				 .op = SDR_REC_CTS,
				 .id = sdr_container(c->msg->ops.next, struct sdr_op, link)
					       ->wire_id },
			 NULL);
		liar_say(&l);
		bed_run(l.b, 100 * MS);
		/* its bytes travel in the record alone */
		assert_int_equal(bed_seen(l.b, 0, BED_DATA), data);
		assert_int_equal(bed_seen(l.b, 0, BED_BIND), 0);
		liar_close(&l);
	}
}

/* Ordered records beyond the credit that was given must not fill memory. */
static void forged__messages_beyond_the_credit(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	uint32_t mseq = c->rec.rx_mseq + 1; /* the next one never comes: all are early */
	uint8_t *p = bed_buf(l.b, 1000, 1);

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_SEND,
						 .flags = SDR_REC_F_ORDER,
						 .id = i,
						 .mseq = mseq + i,
						 .payload_len = 1000,
						 .len = 1000 },
			 p);
	liar_say(&l);
	assert_true(l.b->node[0].ep->rel->msg->unexp_pool.used <= SDR_MSEQ_CREDIT);
	liar_close(&l);
}

/* Credit that goes around the number space would end behind what was sent under it. */
static void forged__credit_around_the_number_space(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	uint32_t limit = c->credit.mseq_limit;

	(void)state;
	for (uint32_t i = 1; i < 8; i++) {
		struct sdr_frame_credit f = { c->credit.msn_limit, c->rec.mseq + (i << 29) };

		l.n = sdr_frame_credit_encode(l.buf, sizeof(l.buf), &f);
		liar_say(&l);
		assert_true((int32_t)(c->credit.mseq_limit - limit) >= 0);
	}
	assert_true(c->st.pkts_bad > 0);
	limit = c->credit.msn_limit;
	for (uint32_t i = 1; i < 8; i++) {
		struct sdr_frame_credit f = { sdr_msn_out(c) + (i << 29), c->credit.mseq_limit };

		l.n = sdr_frame_credit_encode(l.buf, sizeof(l.buf), &f);
		liar_say(&l);
		assert_true((int32_t)(c->credit.msn_limit - limit) >= 0);
	}
	liar_close(&l);
}

/* Announcements without bytes cost memory too, and a peer may not pile them up without end. */
static void forged__announcements_without_end(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	uint32_t mseq = c->rec.rx_mseq, sent = 0;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		c = bed_conn(l.b, 0, 1);
		if (!c || !sdr_seq_lt(mseq + sent, c->credit.mseq_granted))
			break; /* within the credit, as an honest peer */
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_SEND,
						 .flags = SDR_REC_F_ORDER | SDR_REC_F_LEN,
						 .id = i,
						 .mseq = mseq + sent,
						 .len = 100000 },
			 NULL);
		sent++;
		if (i % 64 == 63)
			liar_say(&l);
	}
	liar_say(&l);
	assert_true((uint64_t)l.b->node[0].ep->rel->msg->unexp_pool.used *
			    sizeof(struct sdr_unexp) <=
		    SDR_REL_UNEXP_PEER + SDR_MSEQ_CREDIT * sizeof(struct sdr_unexp));
	liar_close(&l);
}

/*
 * READs whose answers are never acknowledged: bounded, and the victim's own operations still find
 * room.
 */
static void forged__reads_that_are_never_taken(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;

	(void)state;
	bed_region_add(b, 0, 5, bed_buf(b, 1000, 1), 1000, SDR_REL_ACCESS_READ);
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX / 2);
	for (uint32_t i = 0; i < 100000; i++)
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_READ,
						 .flags = SDR_REC_F_RMA | SDR_REC_F_LEN,
						 .id = i,
						 .len = 1000,
						 .key = 5 },
			 NULL);
	liar_say(&l);
	assert_true(b->node[0].ep->rel->msg->op_pool.used <= 16384);
	liar_close(&l);
}

/* WRITEs whose answers are never acknowledged. */
static void forged__answers_that_are_never_taken(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;

	(void)state;
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX / 2);
	for (uint32_t i = 0; i < 100000; i++)
		liar_rec(&l,
			 (struct sdr_frame_rec){
				 .op = SDR_REC_WRITE, .flags = SDR_REC_F_RMA, .id = i, .key = 99 },
			 NULL);
	liar_say(&l);
	assert_true(b->node[0].ep->rel->rec_pool.used <= 16384);
	liar_close(&l);
}

static void forged__ends_without_end(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);

	(void)state;
	sdr_sim_link_set(
		l.b->w, 0, 1,
		&(struct sdr_sim_link){ .block = true, .rate_bps = 1000, .queue_bytes = 3000 });
	for (uint32_t i = 0; i < 100000; i++) {
		l.n += sdr_frame_end_encode(l.buf + l.n, sizeof(l.buf) - l.n,
					    &(struct sdr_frame_end){ .msn = 0u - 1 - i % 7 });
		if (l.n > 2000)
			liar_say(&l);
	}
	liar_say(&l);
	assert_true(c->bulk->rx.comp[0].cap <= 8192);
	sdr_sim_link_set(l.b->w, 0, 1, &l.b->link);
	liar_close(&l);
}

static void forged__acknowledgement_of_what_was_never_sent(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	struct sdr_frame_ack a = { .n = 1, .r = { { c->tx.pn + 5, c->tx.pn } } };
	uint64_t bad = c->st.pkts_bad, cwnd = c->main.cc.cwnd;
	struct bed_op *s, *r;

	(void)state;
	l.n = sdr_frame_ack_encode(l.buf, sizeof(l.buf), &a);
	liar_say(&l);
	assert_int_equal(c->st.pkts_bad, bad + 1);
	assert_int_equal(c->main.cc.cwnd, cwnd);
	r = bed_recv(l.b, 1, bed_buf(l.b, 10, 0), 10);
	s = bed_send(l.b, 0, 1, "x", 1, 0);
	bed_wait(l.b, s, BED_SEC);
	bed_wait(l.b, r, BED_SEC);
	bed_assert_ok(s);
	liar_close(&l);
}

static void forged__dack_beyond_what_was_sent(void **state)
{
	struct liar l = liar_open();
	struct bed_op *r, *s;
	struct sdr_frame_dack f = { .flags = SDR_DACK_COMPLETE };
	uint8_t *p = bed_buf(l.b, 30 << 20, 0);
	struct sdr_conn *c;

	(void)state;
	r = bed_recv(l.b, 1, p, 30 << 20);
	s = bed_send(l.b, 0, 1, bed_buf(l.b, 30 << 20, 5), 30 << 20, 0);
	bed_run(l.b, BED_DELAY);
	c = bed_conn(l.b, 0, 1);
	f.msn = c->bulk->tx.msn - 1;
	l.n = sdr_frame_dack_encode(l.buf, sizeof(l.buf), &f, NULL, 0);
	liar_say(&l);
	assert_int_equal(s->n, 0); /* not everything had been sent */
	assert_true(c->st.pkts_bad > 0);
	bed_wait(l.b, s, BED_SEC);
	bed_wait(l.b, r, BED_SEC);
	bed_assert_ok(s);
	assert_true(bed_same(p, 30 << 20, 5));
	liar_close(&l);
}

/* Records that name operations of others, or none. */
static void forged__records_of_operations_that_are_not_its_own(void **state)
{
	static const uint8_t ops[] = { SDR_REC_CTS, SDR_REC_PARK, SDR_REC_DONE, SDR_REC_READ_RSP,
				       SDR_REC_BIND };
	struct liar l = liar_open();
	struct bed_op *s[3];
	struct sdr_conn *c2;

	(void)state;
	/* operations of node 0 to node 2, all waiting */
	s[0] = bed_send(l.b, 0, 2, bed_buf(l.b, 3 << 20, 1), 3 << 20, 0);
	s[1] = bed_send(l.b, 0, 2, bed_buf(l.b, 10, 1), 10, SDR_REL_F_DELIVERY);
	bed_drop(l.b, 0, BED_READ, 0, UINT64_MAX / 2);
	s[2] = bed_rma(l.b, 0, 2, SDR_REL_READ, bed_buf(l.b, 10, 0), 10, 0, 1, 0);
	s[2]->expect = -1;
	bed_run(l.b, 5 * BED_RTT);
	c2 = bed_conn(l.b, 0, 2);
	for (uint32_t k = 0; k < 5; k++) {
		struct sdr_list *o;

		sdr_list_each(o, &c2->msg->ops) {
			uint32_t id = sdr_container(o, struct sdr_op, link)->wire_id;

			for (uint32_t v = 0; v < 3; v++)
				liar_rec(&l,
					 (struct sdr_frame_rec){
						 .op = ops[k],
						 .id = v == 1	? id + 1
						       : v == 2 ? ~id
								: id,
						 .flags = ops[k] == SDR_REC_BIND ||
									  ops[k] == SDR_REC_PARK
								  ? SDR_REC_F_BULK | SDR_REC_F_LEN
								  : 0,
						 .msn = 5,
						 .len = 1000 },
					 NULL);
		}
	}
	liar_say(&l);
	for (int i = 0; i < 3; i++)
		assert_int_equal(s[i]->n, 0);
	bed_recv(l.b, 2, bed_buf(l.b, 3 << 20, 0), 3 << 20);
	bed_recv(l.b, 2, bed_buf(l.b, 10, 0), 10);
	bed_wait(l.b, s[0], BED_SEC);
	bed_wait(l.b, s[1], BED_SEC);
	bed_assert_ok(s[0]);
	bed_assert_ok(s[1]);
	liar_close(&l);
}

/* Only a message may be parked: who parks its own WRITE or READ gets it all the same. */
static void forged__only_messages_can_be_parked(void **state)
{
	static const uint8_t kinds[] = { SDR_REL_WRITE, SDR_REL_READ };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct liar l = liar_open();
		uint32_t owner = kinds[i] == SDR_REL_WRITE ? 0 : 1; /* who sends the data */
		uint8_t *mem = bed_buf(l.b, 4 << 20, 1), *mine = bed_buf(l.b, 4 << 20, 2);
		struct sdr_conn *c = bed_conn(l.b, owner, 1 - owner);
		struct sdr_op *op;
		struct bed_op *s;
		uint8_t buf[200];
		size_t n;

		bed_region_add(l.b, 1, 7, mem, 4 << 20, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
		s = bed_rma(l.b, 0, 1, kinds[i], mine, 4 << 20, 0, 7, 0);
		while (sdr_list_empty(&c->msg->ops) || !c->bulk->tx.msn ||
		       sdr_list_empty(&c->bulk->tx.segs))
			bed_run(l.b, MS / 10);
		op = sdr_container(c->msg->ops.next, struct sdr_op, link);
		n = sdr_frame_rec_encode(buf, sizeof(buf),
					 &(struct sdr_frame_rec){ .op = SDR_REC_PARK,
								  .rseq = c->rec.rx_next,
								  .id = op->id,
								  .flags = SDR_REC_F_BULK,
								  .msn = op->btx->msn });
		bed_forge(l.b, 1 - owner, owner, c->id.cid, 5000, buf, n);
		bed_wait(l.b, s, 10 * BED_SEC);
		bed_assert_ok(s);
		assert_int_equal(memcmp(mem, mine, 4 << 20), 0);
		assert_int_equal(c->st.pkts_bad, 1);
		liar_close(&l);
	}
}

/* A read's answer with other sizes than requested writes nowhere else. */
static void forged__read_answer_of_another_size(void **state)
{
	static const uint32_t len[] = { 0, 1, 99, 101, 1500 };
	static uint8_t junk[2000];

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct liar l = liar_open();
		struct sdr_conn *c = bed_conn(l.b, 0, 1);
		struct bed_op *s;

		bed_drop(l.b, 0, BED_READ, 0, UINT64_MAX / 2);
		s = bed_rma(l.b, 0, 1, SDR_REL_READ, bed_buf(l.b, 100, 0), 100, 0, 1, 0);
		liar_rec(
			&l,
			(struct sdr_frame_rec){
				.op = SDR_REC_READ_RSP,
				.id = sdr_container(c->msg->ops.next, struct sdr_op, link)->wire_id,
				.payload_len = len[i],
				.len = len[i] },
			junk);
		liar_say(&l);
		assert_int_equal(s->n, 1);
		assert_true(s->e.err < 0);
		liar_close(&l);
	}
}

/* ---- work ------------------------------------------------------------------------------------ */

#define STEPS_MIN  3000u /* of any packet, with what the round behind it does */
#define STEPS_BYTE 2u	 /* and for each byte of it */

/* The victim's steps for what is said now, a packet or several. */
static void say_cheaply(struct liar *l)
{
	struct sdr_rel *rel = l->b->node[0].ep->rel;
	uint64_t before = rel->steps, bytes = l->n;

	liar_say(l);
	if (rel->steps - before > STEPS_MIN + STEPS_BYTE * bytes)
		fail_msg("%llu steps for %llu bytes", (unsigned long long)(rel->steps - before),
			 (unsigned long long)bytes);
}

/* WRITEs with a wrong key, each of as many messages as there can be. */
static void work__refused_transfers_of_a_million_numbers(void **state)
{
	(void)state;
	for (uint32_t live = 0; live < 2; live++) {
		struct liar l = liar_open();
		struct sdr_conn *c = bed_conn(l.b, 0, 1);
		uint64_t len = (uint64_t)c->shape->seg_bytes << 19;
		uint32_t at = sdr_qp_recv_base(c->shape->qp);

		bed_region_add(l.b, 0, 5, bed_buf(l.b, 100000, 0), 100000, SDR_REL_ACCESS_WRITE);
		if (live) /* one that stays open, so that the window cannot move on */
			liar_write(&l, 0, at++, 100000, 5);
		liar_say(&l);
		for (uint32_t k = 0; k < 200; k++) {
			for (uint32_t i = 0; i < 60 && l.n < 1800; i++, at += 1u << 19)
				liar_rec(&l,
					 (struct sdr_frame_rec){ .op = SDR_REC_WRITE,
								 .flags = SDR_REC_F_RMA |
									  SDR_REC_F_LEN |
									  SDR_REC_F_BULK,
								 .id = i,
								 .msn = at,
								 .len = len,
								 .key = 99 },
					 NULL);
			say_cheaply(&l);
			if (!bed_conn(l.b, 0, 1))
				break;
		}
		/* more than the window, twice: no correct peer does that */
		assert_int_equal(!bed_conn(l.b, 0, 1), live);
		liar_close(&l);
	}
}

/* Numbers that were not granted, or that are over. */
static void work__numbers_outside_of_the_window_end_the_connection(void **state)
{
	static const uint32_t off[] = { 0u - 1, 0u - 1000, 1u << 31, 1024, 1u << 20 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct liar l = liar_open();
		struct sdr_conn *c = bed_conn(l.b, 0, 1);
		struct bed_op *s = bed_send(l.b, 0, 1, bed_buf(l.b, 3 << 20, 1), 3 << 20, 0);

		liar_write(&l, 0, sdr_qp_recv_base(c->shape->qp) + off[i], 100000, 99);
		liar_say(&l);
		bed_assert_err(s, SDR_REL_ERR_PROTO);
		liar_close(&l);
	}
}

/* Two transfers under the same numbers: the second finds no transfer. */
static void work__numbers_that_are_taken_are_refused(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	struct sdr_conn *c = bed_conn(b, 0, 1);
	uint32_t at = sdr_qp_recv_base(c->shape->qp);

	(void)state;
	bed_region_add(b, 0, 5, bed_buf(b, 100000, 0), 100000, SDR_REL_ACCESS_WRITE);
	for (uint32_t i = 0; i < 3000; i++)
		liar_write(&l, i, at, 100000, 5);
	liar_say(&l);
	assert_int_equal(b->node[0].ep->rel->bulk->brx_pool.used, 1);
	liar_close(&l);
}

/* As many open transfers as there are numbers, and a packet full of questions about them. */
static void work__ends_of_many_open_transfers(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	struct sdr_conn *c = bed_conn(b, 0, 1);
	uint32_t at = sdr_qp_recv_base(c->shape->qp);

	(void)state;
	bed_region_add(b, 0, 5, bed_buf(b, 100000, 0), 100000, SDR_REL_ACCESS_WRITE);
	for (uint32_t i = 0; i < 1024; i++)
		liar_write(&l, i, at + i, 100000, 5);
	liar_say(&l);
	assert_int_equal(b->node[0].ep->rel->bulk->brx_pool.used, 1024);
	for (uint32_t k = 0; k < 50; k++) {
		for (uint32_t i = 0; l.n < 1900; i++)
			l.n += sdr_frame_end_encode(
				l.buf + l.n, sizeof(l.buf) - l.n,
				&(struct sdr_frame_end){ .msn = at + i * 7 % 1024 });
		say_cheaply(&l);
	}
	liar_close(&l);
}

/* One acknowledgement a packet: the walk over what is unanswered cannot be triggered 200 times. */
static void work__many_acknowledgements_in_a_packet(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	struct sdr_frame_ack a = { .n = 1, .r = { { 0, 0 } } };
	uint64_t bad = c->st.pkts_bad;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		l.n += sdr_frame_ack_encode(l.buf + l.n, sizeof(l.buf) - l.n, &a);
	liar_say(&l);
	assert_int_equal(c->st.pkts_bad, bad + 1);
	liar_close(&l);
}

/* RTS that got a CTS, and BINDs for none of them. */
static void work__binds_of_many_announced_messages(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	uint32_t mseq = bed_conn(b, 0, 1)->rec.rx_mseq;

	(void)state;
	for (uint32_t i = 0; i < 900; i++)
		bed_rr(b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 0, 1) },
		       bed_buf(b, 5000, 0), 5000)
			->expect = -1;
	for (uint32_t i = 0; i < 900; i++)
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_SEND,
						 .flags = SDR_REC_F_ORDER | SDR_REC_F_LEN,
						 .id = i,
						 .mseq = mseq + i,
						 .len = 5000 },
			 NULL);
	liar_say(&l);
	assert_int_equal(b->node[0].ep->rel->bulk->brx_pool.used, 900);
	for (uint32_t k = 0; k < 20; k++) {
		while (l.n < 1900)
			liar_rec(&l,
				 (struct sdr_frame_rec){ .op = SDR_REC_BIND,
							 .id = 100000,
							 .flags = SDR_REC_F_LEN | SDR_REC_F_BULK |
								  SDR_REC_F_STATUS,
							 .status = SDR_REL_ERR_NOMEM },
				 NULL);
		say_cheaply(&l);
	}
	liar_close(&l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged__cts_twice_for_one_message),
		cmocka_unit_test(forged__cts_for_an_inline_message),
		cmocka_unit_test(forged__messages_beyond_the_credit),
		cmocka_unit_test(forged__credit_around_the_number_space),
		cmocka_unit_test(forged__announcements_without_end),
		cmocka_unit_test(forged__reads_that_are_never_taken),
		cmocka_unit_test(forged__answers_that_are_never_taken),
		cmocka_unit_test(forged__ends_without_end),
		cmocka_unit_test(forged__acknowledgement_of_what_was_never_sent),
		cmocka_unit_test(forged__dack_beyond_what_was_sent),
		cmocka_unit_test(forged__records_of_operations_that_are_not_its_own),
		cmocka_unit_test(forged__only_messages_can_be_parked),
		cmocka_unit_test(forged__read_answer_of_another_size),
		cmocka_unit_test(work__refused_transfers_of_a_million_numbers),
		cmocka_unit_test(work__numbers_outside_of_the_window_end_the_connection),
		cmocka_unit_test(work__numbers_that_are_taken_are_refused),
		cmocka_unit_test(work__ends_of_many_open_transfers),
		cmocka_unit_test(work__many_acknowledgements_in_a_packet),
		cmocka_unit_test(work__binds_of_many_announced_messages),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
