/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Keys that are missing, unasked for or out of place: a peer that knows nothing of them, or lies.
 * The operation or the connection fails with a cause; no byte of memory changes and no grant stays.
 *
 * Node 0 is the victim; packets come in node 1's name, numbered ahead of the real ones.
 */
#include "../bed/bed.h"

#define LEN 200000u

struct liar {
	struct bed *b;
	struct sdr_conn *c; /* the victim's */
	uint32_t pn;
};

static struct liar liar_open(uint8_t k0, uint8_t k1)
{
	struct liar l = { .b = bed_new(2), .pn = 1000 };

	l.b->na[0].rkeyed = k0;
	l.b->na[1].rkeyed = k1;
	bed_boot(l.b);
	bed_warm(l.b, 0, 1);
	l.c = bed_conn(l.b, 0, 1);
	return l;
}

static void say_rec(struct liar *l, struct sdr_frame_rec f)
{
	static const uint8_t bytes[64];
	uint8_t buf[256];
	size_t n;

	f.rseq = l->c->rec.rx_next;
	f.payload = bytes;
	n = sdr_frame_rec_encode(buf, sizeof(buf), &f);
	assert_true(n > 0);
	bed_forge(l->b, 1, 0, l->c->id.cid, l->pn++, buf, n);
	bed_run(l->b, 1000);
}

static uint64_t bad(const struct liar *l)
{
	return bed_stats(l->b, 0).pkts_bad;
}

static uint32_t first_op(const struct liar *l)
{
	assert_false(sdr_list_empty(&l->c->msg->ops));
	return sdr_container(l->c->msg->ops.next, struct sdr_op, link)->wire_id;
}

/* The peer's engine is rkeyed and its CTS has no key, or it is not and the CTS has one. */
static void bad__cts_with_the_wrong_idea_of_keys(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool rkeyed = i & 1, write = i & 2;
		struct liar l = liar_open(SDR_SIM_RKEYED_NONE,
					  rkeyed ? SDR_SIM_RKEYED_MR : SDR_SIM_RKEYED_NONE);
		uint64_t before = bad(&l);
		struct bed_op *s;

		if (!rkeyed && write) {
			bed_close(l.b); /* such a write is never announced alone */
			continue;
		}
		bed_drop(l.b, 1, BED_ALL, 0, UINT64_MAX / 2);
		l.c->msg->rnr_mode = true;
		s = write ? bed_rma(l.b, 0, 1, SDR_REL_WRITE, bed_buf(l.b, LEN, 1), LEN, 0, 1, 0)
			  : bed_send(l.b, 0, 1, bed_buf(l.b, LEN, 1), LEN, 0);
		bed_run(l.b, 2 * BED_RTT);
		say_rec(&l, (struct sdr_frame_rec){ .op = SDR_REC_CTS,
						    .id = first_op(&l),
						    .flags = rkeyed ? 0 : SDR_REC_F_KEY,
						    .va = 0x1000,
						    .rkey = 7 });
		bed_assert_err(s, SDR_REL_ERR_PROTO);
		assert_int_equal(bad(&l), before + 1);
		assert_int_equal(bed_seen(l.b, 0, BED_DATA), 0);
		assert_non_null(strstr(sdr_rel_strerror(s->e.prov_err), "same version"));
		bed_close(l.b);
	}
}

/*
 * A CTS that comes again, while its first BIND is under way or after, and one for what was never
 * announced.
 */
static void bad__cts_that_nobody_is_owed(void **state)
{
	struct liar l = liar_open(SDR_SIM_RKEYED_NONE, SDR_SIM_RKEYED_MR);
	struct sdr_frame_rec cts = {
		.op = SDR_REC_CTS, .flags = SDR_REC_F_KEY, .va = 0x1000, .rkey = 7
	};
	struct bed_op *s;

	(void)state;
	bed_drop(l.b, 1, BED_ALL, 0, UINT64_MAX / 2);
	s = bed_send(l.b, 0, 1, bed_buf(l.b, LEN, 1), LEN, 0);
	s->expect = -1;
	bed_run(l.b, 2 * BED_RTT);
	cts.id = first_op(&l);
	say_rec(&l, cts);
	bed_run(l.b, BED_RTT);
	assert_true(bed_seen(l.b, 0, BED_DATA) > 0);
	assert_int_equal(l.c->bulk->tx.msn, 1);
	for (int i = 0; i < 3; i++)
		say_rec(&l, cts);
	assert_int_equal(l.c->bulk->tx.msn, 1); /* its BIND is not acknowledged: no second one */
	say_rec(&l, (struct sdr_frame_rec){
			    .op = SDR_REC_PARK, .id = cts.id, .flags = SDR_REC_F_BULK });
	/* it asked for them itself */
	assert_non_null(sdr_container(l.c->msg->ops.next, struct sdr_op, link)->btx);
	bed_close(l.b);
}

/*
 * An rkeyed peer reads more than a datagram holds and does not say where it may go; or has no keys
 * and gives one.
 */
static void bad__read_with_the_wrong_idea_of_keys(void **state)
{
	(void)state;
	for (int rkeyed = 0; rkeyed < 2; rkeyed++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_NONE,
					  rkeyed ? SDR_SIM_RKEYED_ROOT : SDR_SIM_RKEYED_NONE);
		uint64_t before = bad(&l), data = bed_seen(l.b, 0, BED_DATA);
		struct sdr_frame_rec f = { .op = SDR_REC_READ,
					   .flags = SDR_REC_F_RMA | SDR_REC_F_LEN,
					   .id = 99,
					   .len = LEN,
					   .key = 1 };

		bed_region_add(l.b, 0, 1, bed_buf(l.b, LEN, 3), LEN, SDR_REL_ACCESS_READ);
		if (!rkeyed)
			f.flags |= SDR_REC_F_KEY;
		say_rec(&l, f);
		assert_int_equal(bad(&l), before + 1);
		bed_run(l.b, 2 * BED_RTT);
		assert_int_equal(bed_seen(l.b, 0, BED_READ_RSP), 1); /* an answer, and no data */
		assert_int_equal(bed_seen(l.b, 0, BED_DATA), data);
		assert_int_equal(l.c->credit.nserve, 0);
		f.flags = SDR_REC_F_RMA | SDR_REC_F_LEN;
		f.len = 100; /* fits: needs no key */
		say_rec(&l, f);
		assert_int_equal(bad(&l), before + 1);
		bed_run(l.b, 2 * BED_RTT);
		assert_int_equal(bed_seen(l.b, 0, BED_READ_RSP), 2);
		bed_close(l.b);
	}
}

/* Data numbered at once, as for an engine without keys: the peer is none of ours. */
static void bad__data_that_did_not_wait(void **state)
{
	static const uint8_t op[] = { SDR_REC_SEND, SDR_REC_TSEND, SDR_REC_WRITE };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_NONE);
		uint8_t *p = bed_buf(l.b, LEN, 0);
		struct bed_op *r = i < 2 ? bed_op(l.b, 0, -1) : NULL, *s;
		uint64_t made = bed_grants(l.b, 0);

		bed_region_add(l.b, 0, 1, p, LEN, SDR_REL_ACCESS_WRITE);
		if (i == 0)
			r = bed_recv(l.b, 0, p, LEN);
		if (i == 1)
			r = bed_trecv(l.b, 0, 0, UINT64_MAX, p, LEN);
		s = bed_send(l.b, 0, 1, bed_buf(l.b, LEN, 1), LEN, 0);
		say_rec(&l,
			(struct sdr_frame_rec){ .op = op[i],
						.id = 5,
						.mseq = l.c->rec.rx_mseq,
						.flags = SDR_REC_F_LEN | SDR_REC_F_BULK |
							 (i < 2 ? SDR_REC_F_ORDER : SDR_REC_F_RMA),
						.len = LEN,
						.key = 1 });
		bed_assert_err(s, SDR_REL_ERR_PROTO); /* the connection is over */
		assert_null(bed_conn(l.b, 0, 1));
		assert_int_equal(bed_grants(l.b, 0), made);
		bed_run(l.b, 5 * BED_RTT);
		assert_true(bed_same(p, LEN, 0));
		if (r) {
			r->expect = -1; /* still posted: it matched nothing */
			assert_int_equal(r->n, 0);
		}
		bed_close(l.b);
	}
}

/*
 * A second answer to one READ, and a bulk answer to a READ that fits a datagram and so has no place
 * for one.
 */
static void bad__read_answers_that_were_not_asked_for(void **state)
{
	(void)state;
	for (int fits = 0; fits < 2; fits++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_ROOT, SDR_SIM_RKEYED_NONE);
		size_t len = fits ? 100 : LEN;
		uint8_t *p = bed_buf(l.b, len, 0);
		struct sdr_frame_rec rsp = { .op = SDR_REC_READ_RSP,
					     .flags = SDR_REC_F_LEN | SDR_REC_F_BULK,
					     .len = len };
		struct bed_op *r;

		bed_drop(l.b, 1, BED_ALL, 0, UINT64_MAX / 2);
		r = bed_rma(l.b, 0, 1, SDR_REL_READ, p, len, 0, 1, 0);
		bed_run(l.b, 2 * BED_RTT);
		assert_int_equal(bed_grants_open(l.b, 0), !fits);
		rsp.id = first_op(&l);
		if (!fits)
			say_rec(&l, rsp);
		assert_int_equal(r->n, 0);
		say_rec(&l, rsp);
		bed_assert_err(r, SDR_REL_ERR_PROTO);
		assert_int_equal(bed_grants_open(l.b, 0), 0);
		assert_true(bed_same(p, len, 0));
		bed_close(l.b);
	}
}

/*
 * An answer inside its record although a bulk was expected: taken when it is whole, and the grant
 * goes.
 */
static void bad__refusals_end_the_grant_of_a_read(void **state)
{
	struct liar l = liar_open(SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_MR);
	struct bed_op *r = bed_rma(l.b, 0, 1, SDR_REL_READ, bed_buf(l.b, LEN, 0), LEN, 0, 99, 0);

	(void)state;
	assert_int_equal(bed_grants_open(l.b, 0), 1);
	bed_wait(l.b, r, BED_SEC);
	bed_assert_err(r, SDR_REL_ERR_KEY);
	assert_int_equal(bed_grants_open(l.b, 0), 0);
	r = bed_rma(l.b, 0, 1, SDR_REL_READ, bed_buf(l.b, LEN, 0), LEN, 0, 99, 0);
	bed_drop(l.b, 1, BED_ALL, 0, UINT64_MAX / 2);
	say_rec(&l,
		(struct sdr_frame_rec){
			.op = SDR_REC_READ_RSP, .id = first_op(&l), .payload_len = 10, .len = 10 });
	assert_int_equal(r->n, 1);
	assert_true(r->e.err < 0); /* ten bytes are no answer */
	assert_int_equal(bed_grants_open(l.b, 0), 0);
	bed_close(l.b);
}

/* KEY where it means nothing: the whole packet is refused. */
static void bad__keys_in_other_records(void **state)
{
	static const uint8_t op[] = { SDR_REC_SEND, SDR_REC_TSEND, SDR_REC_WRITE, SDR_REC_READ_RSP,
				      SDR_REC_BIND, SDR_REC_PARK,  SDR_REC_DONE };
	struct liar l = liar_open(SDR_SIM_RKEYED_NONE, SDR_SIM_RKEYED_MR);

	(void)state;
	for (uint32_t i = 0; i < sizeof(op); i++) {
		uint32_t rseq = l.c->rec.rx_next;
		uint64_t before = bad(&l);

		say_rec(&l, (struct sdr_frame_rec){ .op = op[i],
						    .id = 5,
						    .mseq = l.c->rec.rx_mseq,
						    .flags = SDR_REC_F_KEY | SDR_REC_F_LEN |
							     SDR_REC_F_BULK | SDR_REC_F_ORDER |
							     SDR_REC_F_RMA,
						    .len = LEN,
						    .va = 1,
						    .rkey = 2 });
		assert_int_equal(l.c->rec.rx_next, rseq);
		assert_int_equal(bad(&l), before + 1);
	}
	bed_close(l.b);
}

/*
 * A peer that announces writes for ever and sends none of them does not take every registration
 * there is.
 */
static void bad__writes_announced_without_end(void **state)
{
	struct liar l = liar_open(SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_NONE);
	uint8_t *p = bed_buf(l.b, LEN, 0);
	uint64_t most = 0;

	(void)state;
	bed_region_add(l.b, 0, 1, p, LEN, SDR_REL_ACCESS_WRITE);
	for (uint32_t i = 0; i < 2 * SDR_CONN_SERVES_MAX && bed_conn(l.b, 0, 1) == l.c; i++) {
		say_rec(&l, (struct sdr_frame_rec){ .op = SDR_REC_WRITE,
						    .id = i,
						    .flags = SDR_REC_F_LEN | SDR_REC_F_RMA,
						    .len = LEN,
						    .key = 1 });
		most = bed_grants_open(l.b, 0) > most ? bed_grants_open(l.b, 0) : most;
	}
	assert_int_equal(most, SDR_CONN_SERVES_MAX);
	assert_true(bed_same(p, LEN, 0));
	bed_close(l.b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad__cts_with_the_wrong_idea_of_keys),
		cmocka_unit_test(bad__cts_that_nobody_is_owed),
		cmocka_unit_test(bad__read_with_the_wrong_idea_of_keys),
		cmocka_unit_test(bad__data_that_did_not_wait),
		cmocka_unit_test(bad__read_answers_that_were_not_asked_for),
		cmocka_unit_test(bad__refusals_end_the_grant_of_a_read),
		cmocka_unit_test(bad__keys_in_other_records),
		cmocka_unit_test(bad__writes_announced_without_end),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
