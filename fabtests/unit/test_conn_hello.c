/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Handshake, peers, unsolicited peers, credit and seal by themselves, with nothing of the rooms
 * above.
 */
#include "../bed/bed_room.h"

/* A HELLO from a node, and what came back. */
static enum stranger_event hello(struct room *r, struct stranger *s, uint8_t node)
{
	struct stranger_news news;
	uint8_t p[SDR_CTL_MAX];
	struct room_pkt got;

	room_input(r, node, p, stranger_hello(s, p));
	return room_hear(r, &got) ? stranger_input(s, got.buf, got.len, &news) : STRANGER_NOTHING;
}

static void say_ping(struct room *r, struct stranger *s, uint8_t node)
{
	uint8_t f[16], p[SDR_CTL_MAX];

	room_input(r, node, p, stranger_packet(s, p, f, sdr_frame_ping_encode(f, sizeof(f))));
	loop_drop_all(r->net);
}

static void hello__opens_and_a_packet_validates(void **state)
{
	struct room r;

	(void)state;
	room_open(&r);
	assert_int_equal(hello(&r, &r.s, 1), STRANGER_OPEN);
	r.c = r.peer->conn;
	assert_true(r.c->hs.passive && r.c->hs.peer_known && !r.c->hs.validated);
	assert_int_equal(r.rel.nunvalidated, 1);
	assert_ptr_equal(sdr_conn_by_cid(&r.rel, r.s.peer_cid), r.c);
	say_ping(&r, &r.s, 1);
	assert_true(r.c->hs.validated);
	assert_int_equal(r.rel.nunvalidated, 0);
	assert_int_equal(r.above.opened, 2);
	room_close(&r);
}

static void hello__again_has_the_same_answer(void **state)
{
	uint64_t cid;
	struct room r;

	(void)state;
	room_open(&r);
	assert_int_equal(hello(&r, &r.s, 1), STRANGER_OPEN);
	cid = r.s.peer_cid;
	r.s.peer_cid = 0;
	assert_int_equal(hello(&r, &r.s, 1), STRANGER_OPEN);
	assert_int_equal(r.s.peer_cid, cid);
	assert_int_equal(r.rel.nconns, 1);
	room_close(&r);
}

/* Another instance at the address of a connection has to show that it is there. */
static void hello__takes_a_place_with_a_cookie_only(void **state)
{
	struct stranger other;
	struct room r;

	(void)state;
	room_meet(&r);
	stranger_init(&other, 2);
	assert_int_equal(hello(&r, &other, 1), STRANGER_AGAIN);
	assert_int_equal(r.rel.nconns, 1);
	other.cookie ^= 1; /* not the one we gave */
	assert_int_equal(hello(&r, &other, 1), STRANGER_AGAIN);
	assert_ptr_equal(r.peer->conn, r.c);
	assert_int_equal(hello(&r, &other, 1), STRANGER_OPEN);
	assert_true(r.peer->conn->hs.validated);
	assert_int_equal(r.rel.nconns, 1);
	room_close(&r);
}

static void hello__with_larger_packets_is_refused(void **state)
{
	struct room r;

	(void)state;
	room_open(&r);
	r.rel.mtu = SDR_MTU_DEFAULT / 2;
	assert_int_equal(hello(&r, &r.s, 1), STRANGER_REFUSED);
	assert_int_equal(r.s.status, SDR_HELLO_REFUSED_GEOMETRY);
	assert_int_equal(r.rel.nconns, 0);
	room_close(&r);
}

static void reset__answers_who_has_no_connection(void **state)
{
	struct room_pkt p;
	uint8_t f[16];
	struct room r;

	(void)state;
	room_open(&r);
	r.s.peer_cid = 99;
	room_say(&r, f, sdr_frame_ping_encode(f, sizeof(f)));
	assert_true(room_hear(&r, &p));
	assert_int_equal(p.type, SDR_REL_RESET);
	room_close(&r);
}

static void peers__are_counted_by_who_names_them(void **state)
{
	struct sdr_peer *p;
	struct room r;

	(void)state;
	room_meet(&r);
	assert_int_equal(r.rel.npeers_named, 1);
	assert_int_equal(r.rel.nstrangers, 0);
	p = sdr_rel_peer(&r.rel, sdr_peer_addr(r.peer));
	assert_ptr_equal(p, r.peer);
	sdr_rel_peer_put(p);
	assert_int_equal(r.rel.npeers_named, 1);
	sdr_rel_peer_put(p);
	room_pass(&r, 0);
	assert_int_equal(r.rel.npeers_named, 0);
	assert_int_equal(r.rel.nstrangers, 1);
	sdr_conn_fail(r.c, SDR_REL_ERR_STOPPED);
	room_pass(&r, 0);
	assert_int_equal(r.rel.nstrangers, 0);
	assert_int_equal(r.rel.ngone, 1); /* its address was validated: it is remembered */
	p = sdr_rel_peer(&r.rel, sdr_peer_addr(r.peer));
	assert_ptr_equal(p, r.peer);
	assert_int_equal(r.rel.ngone, 0);
	room_close(&r);
}

/* One more takes the place of who has been silent longest, and comes with a cookie then. */
static void strangers__are_so_many_and_no_more(void **state)
{
	struct stranger s[2];
	struct room r;

	(void)state;
	room_meet(&r);
	sdr_rel_peer_put(r.peer);
	r.rel.cfg.strangers_max = 1;
	for (uint32_t i = 0; i < 2; i++) {
		stranger_init(&s[i], 10 + i);
		assert_int_equal(hello(&r, &s[i], (uint8_t)(2 + i)), STRANGER_AGAIN);
		r.above.owned = true; /* something of ours is under way with all */
		assert_int_equal(hello(&r, &s[i], (uint8_t)(2 + i)), STRANGER_REFUSED);
		assert_int_equal(s[i].status, SDR_HELLO_REFUSED_LIMIT);
		r.above.owned = false;
		loop_drop_all(r.net);
		assert_int_equal(r.rel.nconns, 1);
		r.net->now += 2000 * ROOM_MS;
		room_input(&r, (uint8_t)(2 + i), r.frames, stranger_hello(&s[i], r.frames));
		loop_drop_all(r.net); /* BYE to the other, and the answer */
		assert_int_equal(r.rel.nstrangers, 1);
		assert_int_equal(r.rel.nconns, 1);
	}
	room_close(&r);
}

static void credit__stops_where_memory_ends(void **state)
{
	uint32_t granted;
	struct room r;

	(void)state;
	room_meet(&r);
	granted = r.c->credit.mseq_granted;
	assert_int_equal(sdr_conn_mseq_limit(r.c), SDR_MSEQ_CREDIT);
	assert_true(sdr_unexp_room(r.c, 100, false));
	r.rel.cfg.unexp_max = 1000;
	assert_true(sdr_unexp_room(r.c, 1000, false));
	assert_false(sdr_unexp_room(r.c, 1001, false));
	assert_false(sdr_unexp_room(r.c, 751, true)); /* three quarters, before its turn */
	r.rel.unexp_bytes = 900;
	assert_int_equal(sdr_conn_mseq_limit(r.c), granted); /* stands still */
	r.rel.unexp_bytes = 0;
	r.c->rec.rx_mseq = SDR_MSEQ_CREDIT / 2;
	assert_true(sdr_credit_due(r.c));
	sdr_conn_kick(r.c);
	room_pass(&r, 0);
	assert_int_equal(r.c->credit.mseq_granted, SDR_MSEQ_CREDIT / 2 + SDR_MSEQ_CREDIT);
	assert_false(sdr_credit_due(r.c));
	room_close(&r);
}

/* A tag takes its room from every datagram, and is not looked at behind it. */
static void seal__leaves_room_for_a_tag(void **state)
{
	uint8_t f[16], p[SDR_CTL_MAX];
	uint64_t bad;
	struct room r;
	size_t n;

	(void)state;
	room_meet(&r);
	r.rel.tag_len = 16;
	assert_int_equal(sdr_seal_room(&r.rel, r.c->ctl_max), r.c->ctl_max - 16);
	n = stranger_packet(&r.s, p, f, sdr_frame_ping_encode(f, sizeof(f)));
	memset(p + n, 0xee, 16);
	bad = r.c->st.pkts_bad;
	room_input(&r, 1, p, n + 16);
	assert_int_equal(r.c->st.pkts_bad, bad);
	bad = r.rel.closed.pkts_bad;
	room_input(&r, 1, p, SDR_CLASS_LEN + 15);
	assert_int_equal(r.rel.closed.pkts_bad, bad + 1);
	for (uint32_t i = 0; i < 400; i++)
		sdr_done_send(r.c, i, SDR_REL_OK);
	room_pass(&r, 0);
	for (uint32_t i = 0; i < r.net->npkts; i++)
		assert_true(r.net->pkts[i]->len <= r.c->ctl_max);
	room_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello__opens_and_a_packet_validates),
		cmocka_unit_test(hello__again_has_the_same_answer),
		cmocka_unit_test(hello__takes_a_place_with_a_cookie_only),
		cmocka_unit_test(hello__with_larger_packets_is_refused),
		cmocka_unit_test(reset__answers_who_has_no_connection),
		cmocka_unit_test(peers__are_counted_by_who_names_them),
		cmocka_unit_test(strangers__are_so_many_and_no_more),
		cmocka_unit_test(credit__stops_where_memory_ends),
		cmocka_unit_test(seal__leaves_room_for_a_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
