/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Messages meet receives: order, wildcards, truncation, peek and claim, cancel, multi-receive. */
#include "../bed/bed.h"

#define BIG (3u << 20) /* bytes: parks when nobody asks for it */

static struct bed_op *claim(struct bed *b, struct bed_op *peek, uint16_t flags, void *buf,
			    size_t len)
{
	return bed_rr(b, 1,
		      (struct sdr_rel_rr){ .kind = SDR_REL_TRECV,
					   .flags = SDR_REL_R_CLAIM | flags,
					   .ctx = peek },
		      buf, len);
}

static struct bed_op *peek(struct bed *b, uint16_t flags, uint64_t tag, uint64_t ignore)
{
	return bed_rr(b, 1,
		      (struct sdr_rel_rr){ .kind = SDR_REL_TRECV,
					   .flags = SDR_REL_R_PEEK | flags,
					   .tag = tag,
					   .ignore = ignore },
		      NULL, 0);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void match__messages_keep_their_order_across_lost_records(void **state)
{
	static const size_t len[] = { 8, 3000, 0, 100000, 100, 9000, 40, 70000 };
	struct bed *b = bed_pair();
	struct bed_op *r[8];
	uint8_t *p[8];

	(void)state;
	bed_drop(b, 0, BED_SEND, 0, 1);
	bed_drop(b, 0, BED_SEND, 2, 2);
	for (uint32_t i = 0; i < 8; i++) {
		p[i] = bed_buf(b, 100000, 0);
		r[i] = bed_recv(b, 1, p[i], 100000);
	}
	for (uint32_t i = 0; i < 8; i++) {
		bed_send(b, 0, 1, bed_buf(b, len[i], i + 1), len[i], 0);
		bed_run(b, 100000);
	}
	bed_wait_all(b, BED_SEC);
	for (uint32_t i = 0; i < 8; i++) {
		bed_assert_ok(r[i]);
		assert_int_equal(r[i]->e.len, len[i]);
		assert_true(bed_same(p[i], len[i], i + 1));
		assert_true(bed_same(p[i] + len[i], 100000 - len[i], 0));
	}
	assert_true(bed_stats(b, 0).rec_rtx >= 3);
	bed_close(b);
}

static void match__a_message_that_overtakes_waits_for_its_turn(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r[3];

	(void)state;
	bed_late(b, 0, BED_SEND, 0, 1, 3 * MS);
	for (uint32_t i = 0; i < 3; i++)
		r[i] = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	for (uint32_t i = 0; i < 3; i++)
		bed_send(b, 0, 1, bed_buf(b, 10 + i, i + 1), 10 + i, 0);
	bed_wait_all(b, BED_SEC);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(r[i]->e.len, 10 + i);
		assert_true(r[i]->at >= r[0]->at);
	}
	bed_close(b);
}

static void match__directed_and_wildcard_receives(void **state)
{
	struct bed *b = bed_open(3);
	struct bed_op *from2, *any, *from0;

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	from2 = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 1, 2) },
		       bed_buf(b, 8, 0), 8);
	any = bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	from0 = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 1, 0) },
		       bed_buf(b, 8, 0), 8);
	bed_send(b, 0, 1, "a", 1, 0);
	bed_send(b, 0, 1, "bb", 2, 0);
	bed_run(b, BED_RTT);
	assert_int_equal(from2->n, 0);
	bed_send(b, 2, 1, "ccc", 3, 0);
	bed_wait_all(b, BED_SEC);
	assert_int_equal(any->e.len, 1);
	assert_ptr_equal(any->e.peer, bed_peer(b, 1, 0));
	assert_int_equal(from0->e.len, 2);
	assert_int_equal(from2->e.len, 3);
	assert_ptr_equal(from2->e.peer, bed_peer(b, 1, 2));
	bed_close(b);
}

static void match__directed_receive_of_an_unexpected_message_passes_over_others(void **state)
{
	struct bed *b = bed_open(3);
	struct bed_op *r0, *r2;

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	bed_send(b, 0, 1, "a", 1, 0);
	bed_run(b, BED_RTT);
	bed_send(b, 2, 1, "ccc", 3, 0);
	bed_run(b, BED_RTT);
	r2 = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 1, 2) },
		    bed_buf(b, 8, 0), 8);
	assert_int_equal(r2->n, 1);
	assert_int_equal(r2->e.len, 3);
	r0 = bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	assert_int_equal(r0->e.len, 1);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

static void match__tags_with_ignore_bits(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *exact, *low, *all, *untagged;

	(void)state;
	exact = bed_trecv(b, 1, 0x1234, 0, bed_buf(b, 8, 0), 8);
	low = bed_trecv(b, 1, 0x5600, 0xff, bed_buf(b, 8, 0), 8);
	untagged = bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	bed_tsend(b, 0, 1, 0x5699, "a", 1);
	bed_tsend(b, 0, 1, 0x1235, "bb", 2);
	bed_tsend(b, 0, 1, 0x1234, "ccc", 3);
	bed_send(b, 0, 1, "dddd", 4, 0);
	bed_wait_all(b, BED_SEC);
	assert_int_equal(low->e.tag, 0x5699);
	assert_int_equal(exact->e.len, 3);
	assert_int_equal(untagged->e.len, 4);
	all = bed_trecv(b, 1, 77, UINT64_MAX, bed_buf(b, 8, 0), 8);
	assert_int_equal(all->n, 1);
	assert_int_equal(all->e.tag, 0x1235);
	bed_close(b);
}

static void match__zero_length_everything(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r[4];

	(void)state;
	r[0] = bed_recv(b, 1, NULL, 0);
	r[1] = bed_trecv(b, 1, 5, 0, NULL, 0);
	r[2] = bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	bed_send(b, 0, 1, NULL, 0, 0);
	bed_tsend(b, 0, 1, 5, NULL, 0);
	bed_post(b, 0, 1,
		 (struct sdr_rel_wr){ .kind = SDR_REL_SEND,
				      .flags = SDR_REL_F_DATA | SDR_REL_F_DELIVERY,
				      .data = 0xdeadbeefcafe },
		 NULL, 0);
	bed_send(b, 0, 1, NULL, 0, SDR_REL_F_INJECT);
	bed_run(b, 2 * BED_RTT);
	r[3] = bed_recv(b, 1, NULL, 0);
	bed_wait_all(b, BED_SEC);
	for (int i = 0; i < 4; i++) {
		bed_assert_ok(r[i]);
		assert_int_equal(r[i]->e.len, 0);
	}
	assert_true(r[2]->e.has_data);
	assert_int_equal(r[2]->e.data, 0xdeadbeefcafe);
	bed_close(b);
}

/* ---- truncation ------------------------------------------------------------------------------ */

static void trunc_case(size_t len, size_t room, bool expected, uint16_t flags)
{
	struct bed *b = bed_pair();
	uint8_t *p = bed_buf(b, room, 0);
	struct bed_op *r = NULL, *s, *r2, *s2;

	if (expected)
		r = bed_recv(b, 1, p, room);
	s = bed_send(b, 0, 1, bed_buf(b, len, 3), len, flags);
	if (!expected) {
		bed_run(b, 5 * BED_RTT);
		r = bed_recv(b, 1, p, room);
	}
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_err(r, SDR_REL_ERR_TRUNC);
	assert_int_equal(r->e.len + r->e.olen, len);
	assert_true(r->e.len <= room);
	assert_true(bed_same(p, r->e.len, 3));
	bed_assert_ok(s);
	/* and the connection goes on */
	r2 = bed_recv(b, 1, bed_buf(b, 50000, 0), 50000);
	s2 = bed_send(b, 0, 1, bed_buf(b, 50000, 3), 50000, 0);
	bed_wait(b, r2, BED_SEC);
	bed_wait(b, s2, BED_SEC);
	bed_assert_ok(r2);
	bed_run(b, BED_SEC);
	bed_close(b);
}

static void match__truncation_is_one_error_at_the_receiver(void **state)
{
	(void)state;
	for (int expected = 0; expected < 2; expected++) {
		for (int d = 0; d < 2; d++) {
			uint16_t f = d ? SDR_REL_F_DELIVERY : 0;

			trunc_case(100, 10, expected, f);      /* inline */
			trunc_case(100000, 5000, expected, f); /* bulk, or bounce */
			trunc_case(BIG, 5000, expected, f);    /* bulk, or parked */
			trunc_case(100, 0, expected, f);
			trunc_case(100000, 0, expected, f);
		}
	}
}

static void match__truncation_of_a_message_that_is_only_announced(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r, *s, *first;

	(void)state;
	first = bed_send(b, 0, 1, bed_buf(b, BIG, 1), BIG, 0);
	bed_run(b, 5 * BED_RTT);
	assert_true(bed_conn(b, 0, 1)->msg->rnr_mode);
	bed_recv(b, 1, bed_buf(b, BIG, 0), BIG);
	r = bed_recv(b, 1, bed_buf(b, 10000, 0), 10000);
	s = bed_send(b, 0, 1, bed_buf(b, 2 * BIG, 2), 2 * BIG, 0); /* no data before CTS */
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, first, BED_SEC);
	bed_assert_err(r, SDR_REL_ERR_TRUNC);
	assert_int_equal(r->e.olen, 2 * BIG);
	bed_assert_ok(s);
	bed_assert_ok(first);
	bed_close(b);
}

/* ---- unexpected ------------------------------------------------------------------------------ */

static void unexpected__inline_bounce_and_parked_are_received_later(void **state)
{
	static const size_t len[] = { 10, 100000, 1 << 20, (1 << 20) + 1, BIG };
	struct bed *b = bed_pair();

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		uint8_t *p = bed_buf(b, len[i], 0);
		struct bed_op *r, *s = bed_send(b, 0, 1, bed_buf(b, len[i], i + 1), len[i], 0);

		bed_run(b, 10 * BED_RTT);
		/* small ones are buffered there */
		assert_int_equal(s->n, len[i] <= SDR_REL_UNEXP_BULK);
		r = bed_recv(b, 1, p, len[i]);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(p, len[i], i + 1));
	}
	assert_int_equal(bed_stats(b, 1).msgs_unexp, 5);
	assert_int_equal(b->node[1].ep->rel->unexp_bytes, 0);
	assert_int_equal(bed_peer(b, 1, 0)->unexp_bytes, 0);
	bed_close(b);
}

/* Bounce buffers are used again, and of what nobody has, no more than a bound is kept. */
static void unexpected__bounce_buffers_stay(void **state)
{
	enum { ALL = 2 * SDR_REL_BOUNCE_KEEP / SDR_REL_UNEXP_BULK }; /* 64 */
	struct bed *b = bed_pair();
	struct sdr_scratch *bounce = &b->node[1].ep->rel->msg->bounce;
	uint8_t *src = bed_buf(b, 1 << 20, 1), *dst = bed_buf(b, 1 << 20, 0);
	struct bed_op *s[ALL], *r;

	(void)state;
	for (int n = 1; n <= ALL; n *= 8) {
		for (int i = 0; i < n; i++)
			s[i] = bed_send(b, 0, 1, src, 1 << 20, 0);
		for (int i = 0; i < n; i++)
			bed_wait(b, s[i], BED_SEC);
		assert_int_equal(bounce->used, (uint64_t)n << 20);
		assert_int_equal(bounce->held, (uint64_t)n << 20);
		for (int i = 0; i < n; i++) {
			memset(dst, 0, 1 << 20);
			r = bed_recv(b, 1, dst, 1 << 20);
			bed_wait(b, r, BED_SEC);
			bed_assert_ok(r);
			assert_true(bed_same(dst, 1 << 20, 1));
		}
		assert_int_equal(bounce->used, 0);
		assert_int_equal(bounce->held, n < ALL ? (uint64_t)n << 20 : SDR_REL_BOUNCE_KEEP);
	}
	bed_close(b);
}

static void unexpected__bounce_matched_while_it_arrives(void **state)
{
	struct bed *b = bed_pair();
	uint8_t *p = bed_buf(b, 1 << 20, 0);
	struct bed_op *r, *s;
	struct bed_rule *d = bed_drop(b, 0, BED_DATA, 3, 50);

	(void)state;
	s = bed_send(b, 0, 1, bed_buf(b, 1 << 20, 6), 1 << 20, SDR_REL_F_DELIVERY);
	bed_run(b, BED_DELAY + MS / 2);
	assert_int_equal(d->hit, 50);
	r = bed_recv(b, 1, p, 1 << 20);
	assert_int_equal(r->n, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	assert_true(bed_same(p, 1 << 20, 6));
	bed_close(b);
}

/* A long message whose receive is posted later, and so many packets of one kind are lost. */
static struct bed *late_receive(uint32_t src, uint32_t what, uint32_t lost, uint64_t later)
{
	struct bed *b = bed_pair();
	struct bed_rule *d = bed_drop(b, src, what, 0, lost);
	uint8_t *p = bed_buf(b, BIG, 0);
	struct bed_op *r, *s = bed_send(b, 0, 1, bed_buf(b, BIG, 6), BIG, 0);

	bed_run(b, later);
	r = bed_recv(b, 1, p, BIG);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	assert_int_equal(d->hit, lost);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, BIG, 6));
	return b;
}

static void unexpected__park_lost(void **state)
{
	(void)state;
	bed_close(late_receive(1, BED_PARK, 1, 10 * BED_RTT));
}

static void unexpected__cts_overtakes_park(void **state)
{
	struct bed *b;

	(void)state;
	b = late_receive(1, BED_PARK, 1, BED_DELAY + MS); /* CTS leaves before PARK is repeated */
	assert_int_equal(bed_seen(b, 1, BED_PARK), 2);
	bed_close(b);
}

static void unexpected__bind_lost(void **state)
{
	(void)state;
	bed_close(late_receive(0, BED_BIND, 2, 10 * BED_RTT));
}

static void unexpected__cts_lost(void **state)
{
	(void)state;
	bed_close(late_receive(1, BED_CTS, 2, 10 * BED_RTT));
}

static void unexpected__after_a_park_the_next_waits_and_a_posted_receive_ends_that(void **state)
{
	struct bed *b = bed_pair();
	uint64_t before;
	struct bed_op *s[3], *r[3];

	(void)state;
	s[0] = bed_send(b, 0, 1, bed_buf(b, BIG, 1), BIG, 0);
	bed_run(b, 10 * BED_RTT);
	before = bed_seen(b, 0, BED_DATA);
	s[1] = bed_send(b, 0, 1, bed_buf(b, BIG, 2), BIG, 0);
	bed_run(b, 10 * BED_RTT);
	assert_int_equal(bed_seen(b, 0, BED_DATA), before); /* announced only */
	for (int i = 0; i < 2; i++)
		r[i] = bed_recv(b, 1, bed_buf(b, BIG, 0), BIG);
	r[2] = bed_recv(b, 1, bed_buf(b, BIG, 0), BIG);
	s[2] = bed_send(b, 0, 1, bed_buf(b, BIG, 3), BIG, 0);
	bed_wait_all(b, BED_SEC);
	for (int i = 0; i < 3; i++) {
		bed_assert_ok(s[i]);
		bed_assert_ok(r[i]);
	}
	assert_false(bed_conn(b, 0, 1)->msg->rnr_mode);
	bed_close(b);
}

static void unexpected__delivery_is_reported_when_matched(void **state)
{
	static const size_t len[] = { 10, 100000, BIG };
	struct bed *b = bed_pair();

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct bed_op *r,
			*s = bed_send(b, 0, 1, bed_buf(b, len[i], 1), len[i], SDR_REL_F_DELIVERY);

		bed_run(b, 10 * BED_RTT);
		assert_int_equal(s->n, 0);
		bed_drop(b, 1, BED_DONE, 0, 1);
		r = bed_recv(b, 1, bed_buf(b, len[i], 0), len[i]);
		bed_wait(b, s, BED_SEC);
		assert_int_equal(r->n, 1);
		assert_true(s->at >= r->at + BED_DELAY);
		bed_assert_ok(s);
	}
	bed_close(b);
}

static void unexpected__complete_messages_outlive_their_connection(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r[2];
	uint8_t *p[2];

	(void)state;
	bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
	bed_send(b, 0, 1, bed_buf(b, 100000, 2), 100000, 0);
	bed_wait_all(b, BED_SEC);
	sdr_rel_shutdown(b->node[0].ep->rel);
	b->node[0].ep->dirty = true;
	bed_run(b, BED_SEC);
	assert_null(bed_conn(b, 1, 0));
	for (int i = 0; i < 2; i++) {
		p[i] = bed_buf(b, 100000, 0);
		r[i] = bed_recv(b, 1, p[i], 100000);
		bed_assert_ok(r[i]);
		assert_ptr_equal(r[i]->e.peer, bed_peer(b, 1, 0));
	}
	assert_true(bed_same(p[0], 100, 1));
	assert_true(bed_same(p[1], 100000, 2));
	bed_close(b);
}

/* ---- peek, claim, discard -------------------------------------------------------------------- */

static void peek__finds_claims_and_discards(void **state)
{
	static const size_t len[] = { 10, 100000, BIG };
	struct bed *b = bed_pair();
	struct bed_op *k, *c, *r, *s;
	uint8_t *p;

	(void)state;
	k = peek(b, 0, 1, 0);
	bed_assert_err(k, SDR_REL_ERR_NOMSG);
	for (uint32_t i = 0; i < 3; i++) {
		s = bed_tsend(b, 0, 1, 0x10 + i, bed_buf(b, len[i], i + 1), len[i]);
		bed_run(b, 10 * BED_RTT);
		k = peek(b, 0, 0x10, 0xf);
		bed_assert_ok(k);
		assert_int_equal(k->e.len, len[i]);
		assert_int_equal(k->e.tag, 0x10 + i);
		c = peek(b, SDR_REL_R_CLAIM, 0x10, 0xf);
		bed_assert_ok(c);
		k = peek(b, 0, 0x10, 0xf);
		bed_assert_err(k, SDR_REL_ERR_NOMSG); /* reserved */
		p = bed_buf(b, len[i], 0);
		r = bed_trecv(b, 1, 0x10, 0xf, bed_buf(b, 10, 0), 10);
		assert_int_equal(r->n, 0);
		r->expect = 1;
		c->expect = 2;
		claim(b, c, 0, p, len[i]);
		bed_wait(b, c, BED_SEC);
		bed_wait(b, s, BED_SEC);
		assert_int_equal(c->e.err, 0);
		assert_int_equal(c->e.len, len[i]);
		assert_true(bed_same(p, len[i], i + 1));
		assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, r), 0);
		bed_assert_err(r, SDR_REL_ERR_CANCELED);
	}
	bed_close(b);
}

/*
 * Open MPI's MPI_Mrecv claims with an address of its own: the context says which message, and
 * nothing else does.
 */
static void claim__heeds_no_address(void **state)
{
	struct bed *b = bed_open(3);
	uint8_t *p = bed_buf(b, 3000, 0);
	struct bed_op *c;

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	bed_tsend(b, 0, 1, 1, bed_buf(b, 3000, 1), 3000);
	bed_tsend(b, 2, 1, 1, bed_buf(b, 3000, 2), 3000);
	bed_run(b, 10 * BED_RTT);
	c = bed_rr(b, 1,
		   (struct sdr_rel_rr){ .kind = SDR_REL_TRECV,
					.flags = SDR_REL_R_PEEK | SDR_REL_R_CLAIM,
					.tag = 1,
					.peer = bed_peer(b, 1, 0) },
		   NULL, 0);
	bed_assert_ok(c);
	c->expect = 2;
	bed_rr(b, 1,
	       (struct sdr_rel_rr){ .kind = SDR_REL_TRECV,
				    .flags = SDR_REL_R_CLAIM,
				    .tag = 7,
				    .ctx = c,
				    .peer = bed_peer(b, 1, 2) },
	       p, 3000);
	bed_wait(b, c, BED_SEC);
	assert_int_equal(c->e.err, 0);
	assert_true(bed_same(p, 3000, 1));
	assert_int_equal(bed_trecv(b, 1, 1, 0, p, 3000)->n, 1); /* the other's is still there */
	assert_true(bed_same(p, 3000, 2));
	bed_close(b);
}

static void discard_case(size_t len, bool claimed, uint16_t flags, uint64_t after)
{
	struct bed *b = bed_pair();
	struct bed_op *k, *s, *r;

	s = bed_post(b, 0, 1,
		     (struct sdr_rel_wr){ .kind = SDR_REL_TSEND, .tag = 9, .flags = flags },
		     bed_buf(b, len, 1), len);
	bed_run(b, after);
	if (claimed) {
		k = peek(b, SDR_REL_R_CLAIM, 9, 0);
		bed_assert_ok(k);
		k->expect = 2;
		claim(b, k, SDR_REL_R_DISCARD, NULL, 0);
		assert_int_equal(k->n, 2);
		assert_int_equal(k->e.err, 0);
	} else {
		k = peek(b, SDR_REL_R_DISCARD, 9, 0);
		bed_assert_ok(k);
	}
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	k = peek(b, 0, 9, 0);
	bed_assert_err(k, SDR_REL_ERR_NOMSG);
	r = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
	s = bed_send(b, 0, 1, bed_buf(b, 100000, 2), 100000, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	assert_int_equal(b->node[1].ep->rel->unexp_bytes, 0);
	assert_int_equal(b->node[1].ep->rel->msg->unexp_pool.used, 0);
	bed_close(b);
}

static void peek__discarded_messages_end_well_at_the_sender(void **state)
{
	static const size_t len[] = { 0, 10, 100000, BIG };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		for (int f = 0; f < 4; f++) {
			discard_case(len[i], f & 1, f & 2 ? SDR_REL_F_DELIVERY : 0, 10 * BED_RTT);
			if (len[i] > 10) /* while it arrives */
				discard_case(len[i], f & 1, f & 2 ? SDR_REL_F_DELIVERY : 0,
					     BED_DELAY + MS / 20);
		}
	}
}

/* DONE (discarded) overtakes PARK: the sender must not go to sleep on the late PARK. */
static void peek__discard_of_a_parked_message_whose_park_is_lost(void **state)
{
	struct bed *b = bed_pair();
	struct bed_rule *d = bed_drop(b, 1, BED_PARK, 0, 1);
	struct bed_op *s, *k;

	(void)state;
	s = bed_tsend(b, 0, 1, 9, bed_buf(b, BIG, 1), BIG);
	bed_run(b, BED_DELAY + MS);
	assert_int_equal(d->hit, 1);
	k = peek(b, SDR_REL_R_DISCARD, 9, 0);
	bed_assert_ok(k);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_ok(s);
	bed_close(b);
}

/* ---- cancel and multi-receive ---------------------------------------------------------------- */

static void cancel__only_what_is_not_matched(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		r[i] = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, r[1]), 0);
	bed_assert_err(r[1], SDR_REL_ERR_CANCELED);
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, r[1]), -ENOENT);
	bed_drop(b, 0, BED_DATA, 0, 5);
	bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
	bed_run(b, BED_DELAY + MS);
	assert_int_equal(r[0]->n, 0);
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, r[0]),
			 -ENOENT); /* its bytes are coming */
	bed_send(b, 0, 1, "x", 1, 0);
	bed_wait_all(b, BED_SEC);
	bed_assert_ok(r[0]);
	bed_assert_ok(r[2]);
	assert_int_equal(r[2]->e.len, 1);
	bed_close(b);
}

static struct bed_op *multi(struct bed *b, uint8_t *p, size_t len, uint64_t min)
{
	return bed_rr(b, 1,
		      (struct sdr_rel_rr){
			      .kind = SDR_REL_RECV, .flags = SDR_REL_R_MULTI, .min_multi = min },
		      p, len);
}

/* The completions of an operation in the order they came. */
static uint32_t log_of(const struct bed *b, const struct bed_op *op, const struct sdr_rel_cqe **out,
		       uint32_t max)
{
	const struct bed_node *nd = &b->node[op->node];
	uint32_t n = 0;

	for (uint32_t i = 0; i < nd->nlog && n < max; i++)
		if (nd->log[i].ctx == op)
			out[n++] = &nd->log[i];
	return n;
}

static void multi__fills_one_buffer_and_releases_it_once(void **state)
{
	struct bed *b = bed_pair();
	const struct sdr_rel_cqe *e[32];
	uint8_t *p = bed_buf(b, 1000, 0);
	struct bed_op *m = multi(b, p, 1000, 150);
	uint64_t off = 0;
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		bed_send(b, 0, 1, bed_buf(b, 100, i + 1), 100, 0);
	bed_wait_all(b, BED_SEC);
	bed_run(b, BED_RTT);
	/* 900 used, 100 left < 150: released with the ninth */
	n = log_of(b, m, e, 32);
	assert_int_equal(n, 9);
	for (uint32_t i = 0; i < 9; i++) {
		assert_ptr_equal(e[i]->buf, p + off);
		assert_int_equal(e[i]->len, 100);
		assert_true(bed_same(p + off, 100, i + 1));
		assert_int_equal(e[i]->multi_last, i == 8);
		off += 100;
	}
	assert_int_equal(b->node[1].ep->rel->msg->nrx, 0);
	bed_close(b);
}

static void multi__unexpected_ones_first_then_a_truncated_last(void **state)
{
	struct bed *b = bed_pair();
	const struct sdr_rel_cqe *e[8];
	uint8_t *p = bed_buf(b, 250, 0);
	struct bed_op *m;

	(void)state;
	bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
	bed_run(b, 2 * BED_RTT);
	m = multi(b, p, 250, 1);
	assert_int_equal(m->n, 1);
	bed_send(b, 0, 1, bed_buf(b, 100, 2), 100, 0);
	bed_send(b, 0, 1, bed_buf(b, 100, 3), 100, 0);
	bed_wait_all(b, BED_SEC);
	bed_run(b, BED_RTT);
	assert_int_equal(log_of(b, m, e, 8), 3);
	assert_int_equal(e[2]->prov_err, SDR_REL_ERR_TRUNC);
	assert_int_equal(e[2]->len, 50);
	assert_int_equal(e[2]->olen, 50);
	assert_true(e[2]->multi_last && !e[1]->multi_last);
	assert_true(bed_same(p, 100, 1) && bed_same(p + 100, 100, 2) && bed_same(p + 200, 50, 3));
	bed_close(b);
}

static void multi__bulk_into_it_and_release_with_the_last_transfer(void **state)
{
	struct bed *b = bed_pair();
	const struct sdr_rel_cqe *e[8];
	uint8_t *p = bed_buf(b, 300000, 0);
	struct bed_op *m = multi(b, p, 300000, 50000);
	uint32_t last = 0;

	(void)state;
	bed_drop(b, 0, BED_DATA, 2, 8); /* the first message is late */
	bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
	bed_send(b, 0, 1, bed_buf(b, 160000, 2), 160000, 0); /* retires the buffer */
	bed_wait_all(b, BED_SEC);
	bed_run(b, BED_RTT);
	assert_int_equal(log_of(b, m, e, 8), 2);
	assert_int_equal(e[0]->len, 160000);
	assert_int_equal(e[1]->len, 100000);
	for (int i = 0; i < 2; i++)
		last += e[i]->multi_last;
	assert_int_equal(last, 1);
	assert_true(e[1]->multi_last);
	assert_true(bed_same(p, 100000, 1) && bed_same(p + 100000, 160000, 2));
	assert_true(bed_same(p + 260000, 40000, 0));
	bed_close(b);
}

static void multi__cancel_with_transfers_under_way(void **state)
{
	struct bed *b = bed_pair();
	const struct sdr_rel_cqe *e[8];
	uint8_t *p = bed_buf(b, 300000, 0);
	struct bed_op *m = multi(b, p, 300000, 1), *r;

	(void)state;
	bed_drop(b, 0, BED_DATA, 2, 8);
	bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
	bed_run(b, BED_DELAY + MS);
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, m), 0);
	assert_int_equal(m->n, 0);
	r = bed_recv(b, 1, bed_buf(b, 10, 0), 10);
	bed_send(b, 0, 1, "x", 1, 0);
	bed_wait_all(b, BED_SEC);
	bed_assert_ok(r);
	assert_int_equal(log_of(b, m, e, 8), 2);
	assert_int_equal(e[0]->len, 100000);
	assert_false(e[0]->multi_last);
	assert_int_equal(e[1]->prov_err, SDR_REL_ERR_CANCELED);
	assert_true(e[1]->multi_last && e[1]->multi_only);
	assert_true(bed_same(p, 100000, 1));
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, m), -ENOENT);
	bed_close(b);
}

static void multi__cancel_of_an_idle_one_and_shutdown_with_transfers(void **state)
{
	struct bed *b = bed_pair();
	const struct sdr_rel_cqe *e[8];
	struct bed_op *m = multi(b, bed_buf(b, 1000, 0), 1000, 1), *s;

	(void)state;
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, m), 0);
	assert_int_equal(log_of(b, m, e, 8), 1);
	assert_true(e[0]->multi_last && e[0]->multi_only);
	m = multi(b, bed_buf(b, 300000, 0), 300000, 1);
	bed_drop(b, 0, BED_DATA, 2, UINT64_MAX / 2);
	s = bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
	bed_run(b, BED_DELAY + MS);
	sdr_rel_shutdown(b->node[1].ep->rel);
	b->node[1].ep->dirty = true;
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_CLOSED);
	assert_int_equal(log_of(b, m, e, 8), 2);
	assert_true(e[0]->err && !e[0]->multi_last);
	assert_true(e[1]->multi_last && e[1]->multi_only);
	bed_close(b);
}

/* Gathered sends and scattered receives, inline and bulk. */
static void match__iovs_on_both_sides(void **state)
{
	struct bed *b = bed_pair();

	(void)state;
	for (size_t unit = 10; unit <= 100000; unit *= 100) {
		for (int late = 0; late < 2; late++) {
			uint8_t *src = bed_buf(b, 8 * unit, 5), *dst[3];
			struct sdr_rel_iov siov[8], riov[3];
			struct bed_op *s, *r;
			size_t off = 0;

			for (size_t i = 0; i < 8; i++)
				siov[i] = (struct sdr_rel_iov){ src + i * unit, unit };
			for (size_t i = 0; i < 3; i++) {
				riov[i].len = i == 1 ? 3 : 4 * unit;
				riov[i].buf = dst[i] = bed_buf(b, riov[i].len, 0);
			}
			s = NULL;
			if (late) {
				s = bed_post(b, 0, 1,
					     (struct sdr_rel_wr){
						     .kind = SDR_REL_SEND, .niov = 8, .iov = siov },
					     NULL, 0);
				bed_run(b, 5 * BED_RTT);
			}
			r = bed_rr(
				b, 1,
				(struct sdr_rel_rr){ .kind = SDR_REL_RECV, .niov = 3, .iov = riov },
				NULL, 0);
			if (!s)
				s = bed_post(b, 0, 1,
					     (struct sdr_rel_wr){
						     .kind = SDR_REL_SEND, .niov = 8, .iov = siov },
					     NULL, 0);
			bed_wait(b, r, BED_SEC);
			bed_wait(b, s, BED_SEC);
			bed_assert_ok(r);
			for (size_t i = 0; i < 3; i++) {
				size_t n =
					8 * unit - off < riov[i].len ? 8 * unit - off : riov[i].len;

				assert_memory_equal(dst[i], src + off, n);
				off += n;
			}
		}
	}
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(match__messages_keep_their_order_across_lost_records),
		cmocka_unit_test(match__a_message_that_overtakes_waits_for_its_turn),
		cmocka_unit_test(match__directed_and_wildcard_receives),
		cmocka_unit_test(
			match__directed_receive_of_an_unexpected_message_passes_over_others),
		cmocka_unit_test(match__tags_with_ignore_bits),
		cmocka_unit_test(match__zero_length_everything),
		cmocka_unit_test(match__truncation_is_one_error_at_the_receiver),
		cmocka_unit_test(match__truncation_of_a_message_that_is_only_announced),
		cmocka_unit_test(match__iovs_on_both_sides),
		cmocka_unit_test(unexpected__inline_bounce_and_parked_are_received_later),
		cmocka_unit_test(unexpected__bounce_buffers_stay),
		cmocka_unit_test(unexpected__bounce_matched_while_it_arrives),
		cmocka_unit_test(unexpected__park_lost),
		cmocka_unit_test(unexpected__cts_overtakes_park),
		cmocka_unit_test(unexpected__bind_lost),
		cmocka_unit_test(unexpected__cts_lost),
		cmocka_unit_test(
			unexpected__after_a_park_the_next_waits_and_a_posted_receive_ends_that),
		cmocka_unit_test(unexpected__delivery_is_reported_when_matched),
		cmocka_unit_test(unexpected__complete_messages_outlive_their_connection),
		cmocka_unit_test(peek__finds_claims_and_discards),
		cmocka_unit_test(claim__heeds_no_address),
		cmocka_unit_test(peek__discarded_messages_end_well_at_the_sender),
		cmocka_unit_test(peek__discard_of_a_parked_message_whose_park_is_lost),
		cmocka_unit_test(cancel__only_what_is_not_matched),
		cmocka_unit_test(multi__fills_one_buffer_and_releases_it_once),
		cmocka_unit_test(multi__unexpected_ones_first_then_a_truncated_last),
		cmocka_unit_test(multi__bulk_into_it_and_release_with_the_last_transfer),
		cmocka_unit_test(multi__cancel_with_transfers_under_way),
		cmocka_unit_test(multi__cancel_of_an_idle_one_and_shutdown_with_transfers),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
