/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets by themselves, with nothing of the rooms above: log, acknowledgement, loss, probe, copy.
 */
#include <stdlib.h>
#include "../bed/bed_room.h"
#include "rel/conn/sdr_multipath.h"

/* n packets of one record each; returns the number of the first. */
static uint32_t send_some(struct room *r, uint32_t n)
{
	uint32_t first = r->c->tx.pn, rseq;
	struct room_pkt p;

	for (uint32_t i = 0; i < n; i++) {
		sdr_done_send(r->c, i, SDR_REL_OK);
		room_pass(r, 0);
		assert_true(room_hear(r, &p));
		assert_int_equal(p.pn, first + i);
		assert_int_equal(room_recs(&p, &rseq), 1);
	}
	return first;
}

static void pkt__is_in_flight_until_it_is_acknowledged(void **state)
{
	struct room r;
	uint32_t pn;

	(void)state;
	room_meet(&r);
	pn = send_some(&r, 3);
	assert_int_equal(r.c->tx.live, 3);
	assert_true(r.c->inflight > 0);
	r.net->now += 10 * ROOM_MS;
	room_ack(&r, pn, pn);
	assert_int_equal(r.c->tx.live, 2);
	room_ack(&r, pn, pn + 2);
	assert_int_equal(r.c->tx.live, 0);
	assert_int_equal(r.c->inflight, 0);
	assert_int_equal(r.c->rec.n, 0);
	assert_int_equal(r.c->st.rec_rtx, 0);
	room_close(&r);
}

static void pkt__one_that_was_never_sent_is_not_acknowledged(void **state)
{
	uint64_t bad;
	struct room r;
	uint32_t pn;

	(void)state;
	room_meet(&r);
	pn = send_some(&r, 1);
	bad = r.c->st.pkts_bad;
	room_ack(&r, pn, pn + 5);
	assert_int_equal(r.c->st.pkts_bad, bad + 1);
	assert_int_equal(r.c->tx.live, 1);
	room_close(&r);
}

/* What lies far behind a packet that arrived is lost; its records go again, under their numbers. */
static void pkt__lost_records_go_again(void **state)
{
	uint32_t pn, first = 0, rseq, again = 0;
	struct room_pkt p;
	struct room r;

	(void)state;
	room_meet(&r);
	rseq = r.c->rec.ring.tail;
	pn = send_some(&r, 1);
	r.net->now += 300 * ROOM_MS;
	send_some(&r, 3);
	r.net->now += 300 * ROOM_MS;
	room_ack(&r, pn + 1, pn + 3);
	while (room_hear(&r, &p))
		if (room_recs(&p, &first)) {
			again = p.pn;
			assert_int_equal(first, rseq);
		}
	assert_true(again > pn + 3);
	assert_int_equal(r.c->st.rec_rtx, 1);
	assert_int_equal(r.c->tx.live, 1);
	room_ack(&r, pn, pn); /* it had arrived after all */
	assert_int_equal(r.c->rec.n, 0);
	assert_int_equal(r.c->st.rtx_spurious, 1);
	room_ack(&r, again, again);
	assert_int_equal(r.c->inflight, 0);
	room_close(&r);
}

static void pkt__a_probe_sends_the_oldest_and_the_next_again(void **state)
{
	uint32_t rseq, n = 0;
	struct sdr_frame f;
	struct room_pkt p;
	bool ping = false;
	struct room r;

	(void)state;
	room_meet(&r);
	send_some(&r, 4);
	sdr_pkt_probe(r.c);
	assert_int_equal(r.c->tx.live, 2);
	sdr_conn_kick(r.c);
	room_pass(&r, 0);
	while (room_hear(&r, &p)) {
		ping |= room_frame(&p, SDR_FRAME_PING, &f);
		n += room_recs(&p, &rseq);
	}
	assert_true(ping);
	assert_int_equal(n, 2);
	assert_int_equal(r.c->tx.live, 3);
	room_ack(&r, 0, r.c->tx.pn - 1);
	assert_int_equal(r.c->rec.n, 0);
	room_close(&r);
}

/* A second path, which leads to where the first one does. */
static void path_add(struct sdr_conn *c)
{
	struct sdr_path *p = calloc(1, sizeof(*p));

	c->multi = calloc(1, sizeof(*c->multi));
	assert_true(p && c->multi);
	*p = (struct sdr_path){ .index = 1, .addr = c->addr, .proved = true, .next_ns = NEVER };
	p->rack.timer = NEVER;
	sdr_rtt_init(&p->rtt, c->main.rtt.srtt);
	sdr_cc_init(&p->cc, &c->rel->cfg, c->shape->mtu, c->main.cc.rx_window, p->rtt.srtt, NULL,
		    c->rel->now);
	c->more = p;
	c->npaths = 2;
}

/* What the packet asks leaves by the other path as well, and that says nothing of its records. */
static void pkt__what_another_path_asks_is_no_copy_of_records(void **state)
{
	struct room_pkt p, aside;
	struct sdr_frame f;
	struct room r;
	uint32_t rseq;

	(void)state;
	room_meet(&r);
	path_add(r.c);
	r.c->pto.count = 1; /* nothing was heard: all paths ask */
	r.c->tx.ping_due = true;
	sdr_done_send(r.c, 1, SDR_REL_OK);
	room_pass(&r, 0);
	assert_true(room_hear(&r, &p) && room_hear(&r, &aside));
	assert_int_equal(room_recs(&p, &rseq), 1);
	assert_true(room_frame(&p, SDR_FRAME_PING, &f));
	assert_int_equal(room_recs(&aside, &rseq), 0);
	assert_true(room_frame(&aside, SDR_FRAME_PING, &f));
	room_ack(&r, aside.pn, aside.pn);
	assert_int_equal(r.c->rec.n, 1);
	room_ack(&r, p.pn, p.pn);
	assert_int_equal(r.c->rec.n, 0);
	assert_int_equal(r.c->tx.live, 0);
	room_close(&r);
}

/* Either of the two will do. */
static void pkt__a_copy_stands_for_the_packet(void **state)
{
	struct room_pkt p, copy;
	uint32_t a, b;
	struct room r;

	(void)state;
	room_meet(&r);
	r.above.repeats = true;
	sdr_done_send(r.c, 1, SDR_REL_OK);
	room_pass(&r, 0);
	assert_true(room_hear(&r, &p) && room_hear(&r, &copy));
	assert_int_equal(room_recs(&p, &a), 1);
	assert_int_equal(room_recs(&copy, &b), 1);
	assert_int_equal(a, b);
	assert_int_equal(r.c->tx.live, 2);
	r.above.repeats = false;
	room_ack(&r, copy.pn, copy.pn);
	assert_int_equal(r.c->rec.n, 0);
	room_ack(&r, p.pn, copy.pn);
	assert_int_equal(r.c->inflight, 0);
	room_close(&r);
}

static void pkt__numbers_are_never_used_twice(void **state)
{
	uint32_t next, first;
	struct room_pkt p;
	struct room r;

	(void)state;
	room_meet(&r);
	next = r.c->tx.pn;
	for (uint32_t i = 0; i < 20; i++) {
		sdr_done_send(r.c, i, SDR_REL_OK);
		sdr_pkt_probe(r.c);
		room_pass(&r, ROOM_MS);
		while (room_hear(&r, &p)) {
			assert_int_equal(p.pn, next++);
			(void)room_recs(&p, &first);
		}
	}
	assert_true(sdr_pkt_farewell(r.c));
	room_pass(&r, 0);
	assert_true(room_hear(&r, &p));
	assert_int_equal(p.pn, next);
	room_close(&r);
}

static void pkt__a_packet_counts_once(void **state)
{
	struct sdr_frame_rec f = { .op = SDR_REC_DONE, .id = 7, .flags = SDR_REC_F_STATUS };
	uint8_t dgram[SDR_CTL_MAX];
	struct room r;
	size_t n;

	(void)state;
	room_meet(&r);
	n = stranger_rec(&r.s, r.frames, sizeof(r.frames), f, NULL);
	n = stranger_packet(&r.s, dgram, r.frames, n);
	for (uint32_t i = 0; i < 3; i++)
		room_input(&r, 1, dgram, n);
	assert_int_equal(r.above.records, 1);
	assert_int_equal(r.above.last.id, 7);
	assert_int_equal(r.c->st.pkts_dup, 2);
	room_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pkt__is_in_flight_until_it_is_acknowledged),
		cmocka_unit_test(pkt__one_that_was_never_sent_is_not_acknowledged),
		cmocka_unit_test(pkt__lost_records_go_again),
		cmocka_unit_test(pkt__a_probe_sends_the_oldest_and_the_next_again),
		cmocka_unit_test(pkt__what_another_path_asks_is_no_copy_of_records),
		cmocka_unit_test(pkt__a_copy_stands_for_the_packet),
		cmocka_unit_test(pkt__numbers_are_never_used_twice),
		cmocka_unit_test(pkt__a_packet_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
