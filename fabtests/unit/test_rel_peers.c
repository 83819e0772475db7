/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who is known here, for how long, and who has to go when there are too many.  Node 0 is the
 * endpoint that others come to; it names them only where a test says so.
 */
#include "../bed/bed.h"

static uint32_t known(struct bed *b)
{
	return b->node[0].ep->rel->peers.n - b->node[0].ep->rel->ngone;
}

static void visit(struct bed *b, uint32_t from)
{
	struct bed_op *r = bed_recv(b, 0, bed_buf(b, 8, 0), 8);
	struct bed_op *s = bed_send(b, from, 0, "in", 2, 0);

	bed_wait(b, r, 10 * BED_SEC);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	bed_run(b, BED_SEC);
}

static void leave(struct bed *b, uint32_t node)
{
	sdr_rel_shutdown(b->node[node].ep->rel);
	b->node[node].ep->dirty = true;
	bed_run(b, BED_SEC);
	assert_true(sdr_rel_quiet(b->node[node].ep->rel));
	sdr_rel_close(b->node[node].ep->rel);
	bed_boot_node(b, node);
}

static void strangers__go_with_their_connection(void **state)
{
	struct bed *b = bed_open(4);
	uint64_t rx;

	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		visit(b, 1 + i % 3);
		if (i >= 2)
			leave(b, 1 + (i + 1) % 3);
		assert_true(known(b) <= 3);
	}
	rx = bed_stats(b, 0).msgs_rx;
	for (uint32_t i = 1; i < 4; i++)
		if (bed_conn(b, 0, i))
			leave(b, i);
	assert_int_equal(known(b), 0);
	assert_int_equal(b->node[0].ep->rel->nstrangers, 0);
	assert_int_equal(bed_stats(b, 0).msgs_rx, rx); /* what they did still counts */
	assert_int_equal(rx, 30);
	bed_close(b);
}

/*
 * What is known of a path is of use to who comes back; of those who do not, only so many are
 * remembered.
 */
static void strangers__the_last_who_went_are_remembered(void **state)
{
	struct bed *b = bed_open(2);
	struct sdr_rel *rel = b->node[0].ep->rel;
	struct sdr_uc_addr addr = { .len = 4 };
	struct sdr_rel_stats st;
	struct sdr_peer *p;

	(void)state;
	visit(b, 1);
	leave(b, 1);
	sdr_sim_node_addr(b->w, 1, &addr);
	p = sdr_rel_peer_find(rel, &addr);
	assert_non_null(p);
	sdr_rel_stats_get(rel, p, &st);
	assert_int_equal(st.msgs_rx, 1);
	visit(b, 1);
	assert_ptr_equal(bed_conn(b, 0, 1)->peer, p);
	assert_int_equal(rel->ngone, 0);
	leave(b, 1);
	for (uint32_t i = 0; i < 3 * SDR_REL_PEERS_GONE; i++) {
		addr.b[1] = (uint8_t)(i + 1);
		addr.b[2] = (uint8_t)(1 + i / 255);
		p = sdr_rel_peer(rel, &addr);
		assert_non_null(p);
		p->validated = i % 2; /* who never proved himself is not remembered */
		sdr_rel_peer_put(p);
		assert_true(rel->peers.n <= SDR_REL_PEERS_GONE);
	}
	assert_int_equal(rel->ngone, SDR_REL_PEERS_GONE);
	assert_int_equal(bed_stats(b, 0).msgs_rx, 2); /* of who is forgotten, too */
	bed_close(b);
}

static void names__a_hold_keeps_a_peer_until_it_is_put_back(void **state)
{
	struct bed *b = bed_open(2);
	struct sdr_peer *p;

	(void)state;
	visit(b, 1);
	assert_int_equal(b->node[0].ep->rel->nstrangers, 1);
	p = bed_peer(b, 0, 1);
	assert_int_equal(b->node[0].ep->rel->nstrangers, 0);
	assert_ptr_equal(bed_peer(b, 0, 1), p);
	leave(b, 1);
	assert_int_equal(known(b), 1);
	sdr_rel_peer_put(p);
	assert_int_equal(known(b), 1);
	sdr_rel_peer_put(p);
	assert_int_equal(known(b), 0);
	bed_close(b);
}

static void names__given_back_while_connected(void **state)
{
	struct bed *b = bed_open(2);

	(void)state;
	bed_peer(b, 0, 1);
	visit(b, 1);
	sdr_rel_peer_put(bed_conn(b, 0, 1)->peer);
	assert_int_equal(known(b), 1);
	assert_int_equal(b->node[0].ep->rel->nstrangers, 1);
	visit(b, 1);
	leave(b, 1);
	assert_int_equal(known(b), 0);
	bed_close(b);
}

/* A message that nobody has received yet, and a receive for one peer only, know who is meant. */
static void names__unexpected_messages_and_directed_receives_keep_a_peer(void **state)
{
	struct bed *b = bed_open(2);
	struct sdr_uc_addr addr;
	struct bed_op *s, *r;

	(void)state;
	sdr_sim_node_addr(b->w, 1, &addr);
	s = bed_send(b, 1, 0, bed_buf(b, 100, 3), 100, 0);
	bed_wait(b, s, BED_SEC);
	leave(b, 1);
	assert_int_equal(known(b), 1);
	r = bed_recv(b, 0, bed_buf(b, 100, 0), 100);
	bed_assert_ok(r);
	assert_int_equal(known(b), 0);

	r = bed_rr(b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 0, 1) },
		   bed_buf(b, 8, 0), 8);
	sdr_rel_peer_put(sdr_rel_peer_find(b->node[0].ep->rel, &addr));
	assert_int_equal(known(b), 1);
	s = bed_send(b, 1, 0, "x", 1, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_run(b, BED_SEC);
	leave(b, 1);
	assert_int_equal(known(b), 0);
	bed_close(b);
}

/* Discarded, with nobody else who knows its sender. */
static void names__a_discarded_message_takes_its_peer_along(void **state)
{
	(void)state;
	for (uint32_t claim = 0; claim < 2; claim++) {
		struct bed *b = bed_open(2);
		struct sdr_rel_rr rr = { .kind = SDR_REL_RECV,
					 .flags = SDR_REL_R_PEEK |
						  (claim ? SDR_REL_R_CLAIM : SDR_REL_R_DISCARD) };
		struct bed_op *s, *k;

		s = bed_send(b, 1, 0, bed_buf(b, 100, 3), 100, 0);
		bed_wait(b, s, BED_SEC);
		leave(b, 1);
		k = bed_rr(b, 0, rr, NULL, 0);
		bed_assert_ok(k);
		if (claim) {
			rr.flags = SDR_REL_R_CLAIM | SDR_REL_R_DISCARD;
			rr.ctx = k;
			k->expect = 2;
			bed_rr(b, 0, rr, NULL, 0);
			assert_int_equal(k->n, 2);
		}
		assert_int_equal(known(b), 0);
		bed_close(b);
	}
}

/* ---- too many -------------------------------------------------------------------------------- */

static void crowd__the_stranger_who_was_silent_longest_goes(void **state)
{
	struct bed *b = bed_new(4);

	(void)state;
	b->cfg[0].strangers_max = 2;
	bed_boot(b);
	visit(b, 1);
	visit(b, 2);
	visit(b, 1); /* now 2 is the silent one */
	visit(b, 3);
	assert_non_null(bed_conn(b, 0, 1));
	assert_null(bed_conn(b, 0, 2));
	assert_non_null(bed_conn(b, 0, 3));
	assert_null(bed_conn(b, 2, 0)); /* it was told, */
	visit(b, 2);			/* and may come back */
	assert_null(bed_conn(b, 0, 1));
	assert_int_equal(b->node[0].ep->rel->nstrangers, 2);
	bed_close(b);
}

/*
 * Its good-bye is lost: it hears of it when it speaks again, and the next operation opens a new
 * connection.
 */
static void crowd__a_good_bye_may_be_lost(void **state)
{
	struct bed *b = bed_new(3);
	struct bed_op *s;

	(void)state;
	b->cfg[0].strangers_max = 1;
	bed_boot(b);
	visit(b, 1);
	bed_drop(b, 0, BED_BYE, 0, 1);
	visit(b, 2);
	assert_non_null(bed_conn(b, 1, 0));
	s = bed_send(b, 1, 0, "x", 1, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	visit(b, 1);
	bed_close(b);
}

static void crowd__who_has_a_name_or_is_busy_stays(void **state)
{
	struct bed *b = bed_new(4);
	struct bed_op *s, *r, *t;

	(void)state;
	b->cfg[0].strangers_max = 1;
	bed_boot(b);
	bed_peer(b, 0, 1);
	visit(b, 1);
	/* a transfer that takes long: node 2 is not idle */
	r = bed_recv(b, 0, bed_buf(b, 8 << 20, 0), 8 << 20);
	sdr_sim_link_set(b->w, 2, 0,
			 &(struct sdr_sim_link){ .delay_ns = BED_DELAY, .rate_bps = 20000000 });
	b->cfg[2].rate_bps = 20000000;
	s = bed_send(b, 2, 0, bed_buf(b, 8 << 20, 5), 8 << 20, 0);
	bed_run(b, 500 * MS);
	t = bed_send(b, 3, 0, "in", 2, 0);
	bed_wait(b, t, BED_SEC);
	bed_assert_err(t, SDR_REL_ERR_NOMEM); /* a clear no, since nobody can go */
	assert_non_null(bed_conn(b, 0, 1));
	bed_wait(b, r, 20 * BED_SEC);
	bed_wait(b, s, 20 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	bed_close(b);
}

/* One to whom something of ours is under way stays, too. */
static void crowd__whom_we_talk_to_stays(void **state)
{
	struct bed *b = bed_new(3);
	struct bed_op *s;

	(void)state;
	b->cfg[0].strangers_max = 1;
	bed_boot(b);
	visit(b, 1);
	/* ours to it is under way, and it takes nothing */
	bed_send(b, 0, 1, bed_buf(b, 8 << 20, 5), 8 << 20, 0)->expect = -1;
	sdr_rel_peer_put(bed_conn(b, 0, 1)->peer);
	bed_run(b, 100 * MS);
	s = bed_send(b, 2, 0, "x", 1, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_NOMEM);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers__go_with_their_connection),
		cmocka_unit_test(strangers__the_last_who_went_are_remembered),
		cmocka_unit_test(names__a_hold_keeps_a_peer_until_it_is_put_back),
		cmocka_unit_test(names__given_back_while_connected),
		cmocka_unit_test(names__unexpected_messages_and_directed_receives_keep_a_peer),
		cmocka_unit_test(names__a_discarded_message_takes_its_peer_along),
		cmocka_unit_test(crowd__the_stranger_who_was_silent_longest_goes),
		cmocka_unit_test(crowd__a_good_bye_may_be_lost),
		cmocka_unit_test(crowd__who_has_a_name_or_is_busy_stays),
		cmocka_unit_test(crowd__whom_we_talk_to_stays),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
