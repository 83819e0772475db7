/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A connection by itself, frame by frame: what it acknowledges, when it repeats a record, what it
 * takes only once.
 */
#include "../bed/bed_conn.h"

static void message(struct bed_conn *b, char *byte, uint16_t flags)
{
	struct sdr_rel_iov iov = { byte, 1 };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_SEND, .flags = flags, .niov = 1, .iov = &iov, .peer = b->peer
	};

	assert_int_equal(sdr_rel_post(b->rel, &wr), 0);
	bed_conn_pass(b, 0);
}

static void conn__opens_and_rests(void **state)
{
	struct bed_conn b;

	(void)state;
	bed_conn_open(&b, NULL);
	bed_conn_pass(&b, 100 * BED_CONN_MS);
	assert_int_equal(b.net->npkts, 0); /* nobody wants anything */
	assert_int_equal(b.c->inflight, 0);
	bed_conn_close(&b);
}

static void conn__a_ping_is_acknowledged_once(void **state)
{
	struct bed_conn_pkt p;
	struct sdr_frame f;
	struct bed_conn b;
	uint32_t pn;

	(void)state;
	bed_conn_open(&b, NULL);
	pn = bed_conn_say(&b, b.frames, sdr_frame_ping_encode(b.frames, sizeof(b.frames)));
	bed_conn_pass(&b, 2 * BED_CONN_MS);
	assert_true(bed_conn_hear(&b, &p));
	assert_true(bed_conn_frame(&p, SDR_FRAME_ACK, &f));
	assert_int_equal(f.ack.r[0].hi, pn);
	assert_false(bed_conn_hear(&b, &p));
	bed_conn_pass(&b, 100 * BED_CONN_MS);
	assert_false(bed_conn_hear(&b, &p));
	bed_conn_close(&b);
}

/* A peer cannot have done what it was never asked: a message behind a fence waits as before. */
static void conn__nobody_does_what_was_not_sent(void **state)
{
	struct sdr_frame_rec f = { .op = SDR_REC_DONE };
	struct bed_conn_pkt p;
	struct sdr_frame g;
	struct bed_conn b;
	char byte = 'a';

	(void)state;
	bed_conn_open(&b, NULL);
	message(&b, &byte, 0);
	message(&b, &byte, SDR_REL_F_FENCE);
	assert_true(bed_conn_hear(&b, &p));
	f.id = sdr_container(b.c->msg->deferred.next, struct sdr_op, link)->wire_id;
	bed_conn_say(&b, b.frames, stranger_rec(&b.s, b.frames, sizeof(b.frames), f, NULL));
	assert_int_equal(b.c->st.pkts_bad, 1);
	assert_int_equal(b.done, 0);
	loop_drop_all(b.net);
	bed_conn_ack(&b, p.pn);
	assert_int_equal(b.done, 1);
	bed_conn_pass(&b, BED_CONN_MS);
	assert_true(bed_conn_hear(&b, &p) && bed_conn_frame(&p, SDR_FRAME_REC, &g));
	bed_conn_ack(&b, p.pn);
	assert_int_equal(b.done, 2);
	loop_drop_all(b.net);
	bed_conn_close(&b);
}

/* Without an acknowledgement it comes again in a packet of its own number. */
static void conn__a_record_is_repeated_until_it_is_acknowledged(void **state)
{
	struct bed_conn_pkt p, again;
	struct sdr_frame f, g;
	struct bed_conn b;
	char byte = 'a';

	(void)state;
	bed_conn_open(&b, NULL);
	message(&b, &byte, 0);
	assert_true(bed_conn_hear(&b, &p) && bed_conn_frame(&p, SDR_FRAME_REC, &f));
	assert_int_equal(f.rec.op, SDR_REC_SEND);
	assert_int_equal(b.done, 0);
	for (uint32_t ms = 0; !b.net->npkts && ms < 1000; ms++)
		bed_conn_pass(&b, BED_CONN_MS);
	assert_true(bed_conn_hear(&b, &again) && bed_conn_frame(&again, SDR_FRAME_REC, &g));
	assert_int_equal(g.rec.rseq, f.rec.rseq);
	assert_true((int32_t)(again.pn - p.pn) > 0);
	assert_int_equal(b.done, 0);
	bed_conn_ack(&b, p.pn); /* the first one had arrived after all */
	assert_int_equal(b.done, 1);
	assert_int_equal(b.last.err, 0);
	loop_drop_all(b.net);
	bed_conn_ack(&b, again.pn);
	bed_conn_pass(&b, 2000 * BED_CONN_MS);
	assert_int_equal(b.done, 1);
	assert_int_equal(b.c->inflight, 0);
	bed_conn_close(&b);
}

/* A write has no place in an order that would show a second one: its number alone does. */
static void conn__a_record_counts_once_however_often_it_comes(void **state)
{
	struct sdr_frame_rec rec = {
		.op = SDR_REC_WRITE, .flags = SDR_REC_F_RMA, .len = 1, .payload_len = 1
	};
	struct bed_conn b;
	size_t n;

	(void)state;
	bed_conn_open(&b, NULL);
	rec.key = BED_CONN_KEY;
	rec.addr = 3;
	n = stranger_rec(&b.s, b.frames, sizeof(b.frames), rec, "x");
	for (uint32_t i = 0; i < 3; i++)
		bed_conn_say(&b, b.frames, n);
	assert_int_equal(b.done, 1);
	assert_int_equal(b.last.kind, SDR_REL_REMOTE_WRITE);
	assert_int_equal(b.region[3], 'x');
	rec.id = 1;
	n = stranger_rec(&b.s, b.frames, sizeof(b.frames), rec, "y");
	bed_conn_say(&b, b.frames, n);
	assert_int_equal(b.done, 2);
	assert_int_equal(b.region[3], 'y');
	bed_conn_close(&b);
}

/* The later record waits for the earlier one: matching is in the order sent. */
static void conn__records_that_overtake_wait(void **state)
{
	char got[4] = { 0 };
	struct sdr_rel_iov iov = { got, 1 };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &iov };
	struct sdr_frame_rec rec = {
		.op = SDR_REC_SEND, .flags = SDR_REC_F_ORDER, .len = 1, .payload_len = 1
	};
	uint8_t first[64], second[64];
	struct bed_conn b;
	size_t n, m;

	(void)state;
	bed_conn_open(&b, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		iov.buf = &got[i];
		assert_int_equal(sdr_rel_recv(b.rel, &rr), 0);
	}
	n = stranger_rec(&b.s, first, sizeof(first), rec, "1");
	rec.id = rec.mseq = 1;
	m = stranger_rec(&b.s, second, sizeof(second), rec, "2");
	bed_conn_say(&b, second, m);
	assert_int_equal(b.done, 0);
	bed_conn_say(&b, first, n);
	assert_int_equal(b.done, 2);
	assert_string_equal(got, "12");
	bed_conn_close(&b);
}

/* The answer stands until the peer has it, and no longer. */
static void conn__a_read_is_served_once(void **state)
{
	struct sdr_frame_rec rec = { .op = SDR_REC_READ,
				     .flags = SDR_REC_F_RMA | SDR_REC_F_LEN,
				     .len = 5 };
	struct bed_conn_pkt p;
	struct sdr_frame f;
	struct bed_conn b;
	size_t n;

	(void)state;
	bed_conn_open(&b, NULL);
	memcpy(b.region, "bytes", 5);
	rec.key = BED_CONN_KEY;
	n = stranger_rec(&b.s, b.frames, sizeof(b.frames), rec, NULL);
	bed_conn_say(&b, b.frames, n);
	bed_conn_say(&b, b.frames, n);
	assert_int_equal(b.c->credit.nserve, 1);
	assert_true(bed_conn_hear(&b, &p) && bed_conn_frame(&p, SDR_FRAME_REC, &f));
	assert_int_equal(f.rec.op, SDR_REC_READ_RSP);
	assert_int_equal(f.rec.payload_len, 5);
	assert_memory_equal(f.rec.payload, "bytes", 5);
	loop_drop_all(b.net);
	bed_conn_ack(&b, p.pn);
	assert_int_equal(b.c->credit.nserve, 0);
	bed_conn_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conn__opens_and_rests),
		cmocka_unit_test(conn__a_ping_is_acknowledged_once),
		cmocka_unit_test(conn__nobody_does_what_was_not_sent),
		cmocka_unit_test(conn__a_record_is_repeated_until_it_is_acknowledged),
		cmocka_unit_test(conn__a_record_counts_once_however_often_it_comes),
		cmocka_unit_test(conn__records_that_overtake_wait),
		cmocka_unit_test(conn__a_read_is_served_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
