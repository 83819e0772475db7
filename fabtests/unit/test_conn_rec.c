/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Records by themselves, with nothing of the rooms above: numbers, window, credit, exactly once.
 */
#include "../bed/bed_room.h"

/* Takes all that waits: records in it, whose numbers must follow each other from next on. */
static uint32_t hear_recs(struct room *r, uint32_t next, uint32_t *last_pn)
{
	uint32_t n, all = 0, first;
	struct room_pkt p;

	while (room_hear(r, &p)) {
		n = room_recs(&p, &first);
		if (!n)
			continue;
		assert_int_equal(first, next + all);
		all += n;
		*last_pn = p.pn;
	}
	return all;
}

static void rec__numbers_follow_and_the_window_holds(void **state)
{
	uint32_t all = SDR_REL_CTL_WINDOW + 10, got, pn = 0;
	struct room r;

	(void)state;
	room_meet(&r);
	for (uint32_t i = 0; i < all; i++)
		sdr_done_send(r.c, i, SDR_REL_OK);
	assert_int_equal(r.c->rec.n, all);
	for (got = 0; got < SDR_REL_CTL_WINDOW;) {
		room_pass(&r, ROOM_MS);
		got += hear_recs(&r, got, &pn);
	}
	assert_int_equal(got, SDR_REL_CTL_WINDOW);
	assert_int_equal(sdr_ring_len(&r.c->rec.ring), SDR_REL_CTL_WINDOW);
	assert_false(sdr_rec_sendable(r.c));
	room_ack(&r, 0, pn);
	assert_int_equal(r.c->rec.n, 10);
	room_pass(&r, ROOM_MS);
	assert_int_equal(hear_recs(&r, got, &pn), 10);
	room_ack(&r, 0, pn);
	assert_int_equal(r.c->rec.n, 0);
	assert_int_equal(r.c->inflight, 0);
	assert_true(sdr_ring_empty(&r.c->rec.ring));
	room_close(&r);
}

static void rec__messages_wait_for_credit(void **state)
{
	struct sdr_frame_credit cr = { STRANGER_MSEQ_GRANT, STRANGER_MSEQ_GRANT + 1 };
	struct sdr_rec *rec;
	struct room_pkt p;
	uint32_t first;
	struct room r;

	(void)state;
	room_meet(&r);
	rec = sdr_rec_new(r.c, SDR_REC_SEND, 1);
	rec->f.flags = SDR_REC_F_ORDER;
	rec->f.mseq = STRANGER_MSEQ_GRANT;
	sdr_rec_queue(r.c, rec);
	room_pass(&r, ROOM_MS);
	assert_false(room_hear(&r, &p));
	room_say(&r, r.frames, sdr_frame_credit_encode(r.frames, sizeof(r.frames), &cr));
	assert_true(room_hear(&r, &p));
	assert_int_equal(room_recs(&p, &first), 1);
	cr.mseq_limit = 5; /* never moves back */
	room_say(&r, r.frames, sdr_frame_credit_encode(r.frames, sizeof(r.frames), &cr));
	assert_int_equal(r.c->credit.mseq_limit, STRANGER_MSEQ_GRANT + 1);
	room_ack(&r, p.pn, p.pn);
	room_close(&r);
}

/* In any order, each once, within the window. */
static void rec__is_taken_once(void **state)
{
	struct room r;

	(void)state;
	room_meet(&r);
	assert_false(sdr_rec_seen(r.c, 2));
	assert_true(sdr_rec_accept(r.c, 2));
	assert_true(sdr_rec_seen(r.c, 2));
	assert_false(sdr_rec_accept(r.c, 2));
	assert_int_equal(r.c->rec.rx_next, 0);
	assert_true(sdr_rec_accept(r.c, 0));
	assert_true(sdr_rec_accept(r.c, 1));
	assert_int_equal(r.c->rec.rx_next, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_false(sdr_rec_accept(r.c, i));
	assert_true(sdr_rec_room(r.c, 2 + SDR_REL_CTL_WINDOW));
	assert_false(sdr_rec_room(r.c, 3 + SDR_REL_CTL_WINDOW));
	assert_false(sdr_rec_accept(r.c, 3 + SDR_REL_CTL_WINDOW));
	assert_true(sdr_rec_accept(r.c, 2 + SDR_REL_CTL_WINDOW));
	room_close(&r);
}

/* Once in a packet, whatever becomes of it, it is not sent again. */
static void rec__detached_is_forgotten(void **state)
{
	struct sdr_rec own = { .op = (void *)(uintptr_t)8 }; /* not looked at here */
	struct room_pkt p;
	uint32_t first;
	struct room r;

	(void)state;
	room_meet(&r);
	own.f.op = SDR_REC_WRITE;
	own.f.flags = SDR_REC_F_RMA;
	own.f.payload_len = 3;
	sdr_list_init(&own.link);
	sdr_rec_queue(r.c, &own);
	room_pass(&r, 0);
	assert_int_equal(r.above.written, 1);
	assert_true(room_hear(&r, &p));
	assert_int_equal(room_recs(&p, &first), 1);
	assert_ptr_equal(sdr_rec_by_rseq(r.c, first), &own);
	sdr_rec_detach(r.c, &own);
	sdr_rec_detach(r.c, &own); /* harmless */
	assert_null(sdr_rec_by_rseq(r.c, first));
	sdr_pkt_probe(r.c);
	sdr_conn_kick(r.c);
	room_pass(&r, ROOM_MS);
	while (room_hear(&r, &p))
		assert_int_equal(room_recs(&p, &first), 0);
	assert_int_equal(r.above.acked, 0);
	room_close(&r);
}

/* Those with an owner are its to free. */
static void rec__its_owner_hears_once(void **state)
{
	struct sdr_rec own = { .op = (void *)(uintptr_t)8 };
	struct room_pkt p;
	struct room r;

	(void)state;
	room_meet(&r);
	own.f.op = SDR_REC_WRITE;
	own.f.flags = SDR_REC_F_RMA;
	sdr_list_init(&own.link);
	sdr_rec_queue(r.c, &own);
	room_pass(&r, 0);
	assert_true(room_hear(&r, &p));
	room_ack(&r, p.pn, p.pn);
	room_ack(&r, p.pn, p.pn);
	assert_int_equal(r.above.acked, 1);
	assert_true(own.acked);
	room_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rec__numbers_follow_and_the_window_holds),
		cmocka_unit_test(rec__messages_wait_for_credit),
		cmocka_unit_test(rec__is_taken_once),
		cmocka_unit_test(rec__detached_is_forgotten),
		cmocka_unit_test(rec__its_owner_hears_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
