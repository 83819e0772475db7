/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a connection ends: in order, with promises kept; by silence; not by a silence that is short
 * enough.
 */
#include "../bed/bed.h"

#define LEN    (4u << 20)
#define INJECT (SDR_REL_F_INJECT | SDR_REL_F_EARLY)

/* ---- in order -------------------------------------------------------------------------------- */

static void shutdown_case(uint32_t drop_what, uint64_t first, uint64_t n, bool cold)
{
	struct bed *b = cold ? bed_open(2) : bed_pair();
	struct bed_rule *d = drop_what ? bed_drop(b, BED_ANY, drop_what, first, n) : NULL;
	struct bed_op *r[20], *s;
	uint8_t *p[20], *src = bed_buf(b, 100, 0);

	bed_recvs(b, r, p, 20);
	for (uint32_t i = 0; i < 20; i++) {
		bed_fill(src, 100, i + 1);
		s = bed_send(b, 0, 1, src, 100, INJECT);
		bed_fill(src, 100, 0);
		bed_assert_ok(s); /* promised */
	}
	bed_shut(b, 0);
	for (uint32_t i = 0; i < 20; i++) {
		bed_wait(b, r[i], 5 * BED_SEC);
		bed_assert_ok(r[i]);
		assert_true(bed_same(p[i], 100, i + 1));
	}
	bed_run(b, 5 * BED_SEC);
	if (d)
		assert_int_equal(d->hit, n);
	assert_true(sdr_rel_quiet(b->node[0].ep->rel));
	assert_null(bed_conn(b, 1, 0));
	bed_close(b);
}

static void shutdown__injected_data_is_still_delivered(void **state)
{
	(void)state;
	shutdown_case(0, 0, 0, false);
	shutdown_case(0, 0, 0, true); /* even when the connection is not open yet */
	shutdown_case(BED_SEND, 0, 3, false);
	shutdown_case(BED_HELLO, 0, 1, true);
	shutdown_case(BED_HELLO_ACK, 0, 1, true);
}

static void shutdown__bye_and_its_answer_may_be_lost(void **state)
{
	(void)state;
	shutdown_case(BED_BYE, 0, 2, false);
	shutdown_case(BED_BYE_ACK, 0, 1, false);
	shutdown_case(BED_BYE | BED_BYE_ACK, 0, 3, false);
}

static void shutdown__gives_up_after_some_tries_when_nobody_answers(void **state)
{
	struct bed *b = bed_pair();

	(void)state;
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX / 2);
	bed_shut(b, 0);
	bed_run(b, 10 * BED_SEC);
	assert_true(sdr_rel_quiet(b->node[0].ep->rel));
	assert_true(bed_seen(b, 0, BED_BYE) <= SDR_LINGER_TRIES);
	bed_close(b);
}

static void shutdown__cancels_what_is_not_promised_once(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *r, *s[4];

	(void)state;
	r = bed_recv(b, 0, bed_buf(b, 10, 0), 10);
	bed_drop(b, 0, BED_SEND | BED_WRITE | BED_READ, 0, UINT64_MAX / 2);
	s[0] = bed_send(b, 0, 1, bed_buf(b, 10, 0), 10, 0);
	s[1] = bed_send(b, 0, 1, bed_buf(b, 100000, 0), 100000, 0);
	s[2] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 10, 0), 10, 0, 1, 0);
	s[3] = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, 100000, 0), 100000, 0, 1, SDR_REL_F_FENCE);
	bed_shut(b, 0);
	bed_assert_err(r, SDR_REL_ERR_CANCELED);
	for (int i = 0; i < 4; i++) {
		bed_wait(b, s[i], BED_SEC);
		bed_assert_err(s[i], SDR_REL_ERR_CANCELED);
	}
	bed_run(b, 5 * BED_SEC);
	assert_true(sdr_rel_quiet(b->node[0].ep->rel));
	assert_int_equal(
		sdr_rel_post(b->node[0].ep->rel, &(struct sdr_rel_wr){ .kind = SDR_REL_SEND,
								       .peer = bed_peer(b, 0, 1) }),
		-EIO);
	bed_close(b);
}

/*
 * A message that is cancelled has its place in the order; the injected one behind it is promised
 * and must not wait for it for ever.
 */
static void shutdown__injected_behind_a_cancelled_message_is_delivered(void **state)
{
	static const size_t len[] = { 50, 500000 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bed *b = bed_pair();
		struct bed_op *s, *e, *r[2];
		struct bed_rule *d = bed_drop(b, 0, BED_SEND, 0, 1);
		uint8_t *p[2];

		bed_recvs(b, r, p, 2);
		r[0]->expect = r[1]->expect = -1;
		s = bed_send(b, 0, 1, bed_buf(b, len[i], 1), len[i], 0);
		bed_run(b, 10000);
		assert_int_equal(d->hit, 1);
		e = bed_send(b, 0, 1, bed_buf(b, 100, 2), 100, INJECT);
		bed_assert_ok(e);
		bed_shut(b, 0);
		bed_run(b, 5 * BED_SEC);
		assert_true(sdr_rel_quiet(b->node[0].ep->rel));
		assert_int_equal(s->n, 1);
		/*
		 * the first receive may get the cancelled one, whole or as an error; one of the two
		 * got the injected
		 */
		if (r[0]->n && !r[0]->e.err && r[0]->e.len == 100)
			assert_true(bed_same(p[0], 100, 2));
		else
			assert_true(r[1]->n == 1 && !r[1]->e.err && bed_same(p[1], 100, 2));
		bed_close(b);
	}
}

static void shutdown__peer_with_operations_under_way_hears_of_it(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *s[3];

	(void)state;
	s[0] = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 0), 3 << 20, 0); /* parked */
	s[1] = bed_send(b, 0, 1, bed_buf(b, 10, 0), 10, SDR_REL_F_DELIVERY);
	bed_run(b, 5 * BED_RTT);
	s[2] = bed_send(b, 0, 1, bed_buf(b, 10, 0), 10, SDR_REL_F_FENCE);
	bed_shut(b, 1);
	for (int i = 0; i < 3; i++) {
		bed_wait(b, s[i], BED_SEC);
		bed_assert_err(s[i], SDR_REL_ERR_CLOSED);
	}
	bed_run(b, BED_SEC);
	assert_true(sdr_rel_quiet(b->node[1].ep->rel));
	bed_close(b);
}

static void shutdown__of_both_sides_at_once(void **state)
{
	struct bed *b = bed_pair();

	(void)state;
	bed_shut(b, 0);
	bed_shut(b, 1);
	bed_run(b, BED_SEC);
	assert_true(sdr_rel_quiet(b->node[0].ep->rel));
	assert_true(sdr_rel_quiet(b->node[1].ep->rel));
	bed_close(b);
}

static void close__without_shutdown_ends_everything_once(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *op[4];

	(void)state;
	op[0] = bed_recv(b, 0, bed_buf(b, 10, 0), 10);
	op[1] = bed_send(b, 0, 1, bed_buf(b, 100000, 0), 100000, 0);
	op[2] = bed_recv(b, 0, bed_buf(b, 200000, 0), 200000);
	op[3] = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, 100000, 0), 100000, 0, 1, 0);
	bed_drop(b, 1, BED_DATA, 1, UINT64_MAX / 2);
	bed_send(b, 1, 0, bed_buf(b, 10, 0), 10, 0)->expect = -1;
	bed_send(b, 1, 0, bed_buf(b, 200000, 0), 200000, 0)->expect = -1;
	bed_run(b, BED_DELAY + MS);
	sdr_rel_close(b->node[0].ep->rel);
	b->node[0].ep->rel = NULL;
	bed_assert_ok(op[0]);
	for (int i = 1; i < 4; i++)
		bed_assert_err(op[i], SDR_REL_ERR_CANCELED);
	bed_close(b);
}

/* ---- operations behind a fence --------------------------------------------------------------- */

enum fence_end { FENCE_SHUTDOWN, FENCE_PEER_CLOSES, FENCE_PEER_GONE, FENCE_CLOSE, FENCE_ENDS };

/*
 * Something under way that is never received, a fence behind it, and more behind the fence: as soon
 * as the first ends, the others may start, while the call that ended it is still going through
 * them.
 */
static void fence_case(enum fence_end how, uint32_t under_way, uint16_t flags)
{
	struct bed *b = bed_pair();
	struct bed_op *s[12];
	uint32_t n = 0, k;

	for (k = 0; k < under_way; k++)
		s[n++] = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 1), 3 << 20, 0);
	s[n++] = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, SDR_REL_F_FENCE | flags);
	s[n++] = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, flags);
	s[n++] = bed_send(b, 0, 1, bed_buf(b, 2 << 20, 1), 2 << 20, 0);
	s[n++] = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, SDR_REL_F_FENCE);
	s[n++] = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, 100, 0), 100, 0, 9, 0);
	bed_run(b, 5 * BED_RTT);
	assert_false(sdr_list_empty(&bed_conn(b, 0, 1)->msg->deferred));
	switch (how) {
	case FENCE_SHUTDOWN:
		bed_shut(b, 0);
		break;
	case FENCE_PEER_CLOSES:
		bed_shut(b, 1);
		break;
	case FENCE_PEER_GONE:
		bed_crash(b, 1);
		break;
	default:
		sdr_rel_close(b->node[0].ep->rel);
		b->node[0].ep->rel = NULL;
		break;
	}
	bed_run(b, 40 * BED_SEC);
	for (k = 0; k < n; k++)
		assert_int_equal(s[k]->n, 1);
	assert_int_not_equal(s[n - 1]->e.err, 0);
	bed_close(b);
}

static void fence__every_way_to_end_ends_what_waits_behind_it_once(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < FENCE_ENDS; how++)
		for (uint32_t under_way = 1; under_way <= 3; under_way += 2) {
			fence_case(how, under_way, 0);
			fence_case(how, under_way, INJECT);
		}
}

/* ---- silence --------------------------------------------------------------------------------- */

static struct bed *impatient(uint32_t ms)
{
	struct bed *b = bed_new(2);

	b->cfg[0].timeout_ms = b->cfg[1].timeout_ms = ms;
	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

static void silence__peer_vanishes_with_everything_under_way(void **state)
{
	struct bed *b = impatient(2000);
	struct bed_op *op[8];
	uint64_t t0;

	(void)state;
	bed_drop(b, BED_ANY, BED_DATA, 3, UINT64_MAX / 2);
	bed_drop(b, 0, BED_WRITE, 0, UINT64_MAX / 2);
	op[0] = bed_recv(b, 0, bed_buf(b, 500000, 0), 500000); /* matched, bytes missing */
	bed_send(b, 1, 0, bed_buf(b, 500000, 0), 500000, 0);
	bed_run(b, BED_RTT);
	op[1] = bed_send(b, 0, 1, bed_buf(b, 10, 0), 10, SDR_REL_F_DELIVERY);
	op[2] = bed_send(b, 0, 1, bed_buf(b, 500000, 0), 500000, 0);
	op[3] = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 0), 3 << 20, 0); /* parked */
	op[4] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 10, 0), 10, 0, 1, 0);
	bed_run(b, BED_DELAY);
	t0 = bed_now(b);
	bed_crash(b, 1);
	op[5] = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, 10, 0), 10, 0, 1, 0);
	op[6] = bed_send(b, 0, 1, bed_buf(b, 10, 0), 10, SDR_REL_F_FENCE);
	op[7] = bed_recv(b, 0, bed_buf(b, 10, 0), 10); /* matched by nothing: stays */
	for (int i = 0; i < 7; i++) {
		bed_wait(b, op[i], 3 * BED_SEC);
		bed_assert_err(op[i], SDR_REL_ERR_STOPPED);
		assert_in_range(op[i]->at, t0 + 1900 * MS, t0 + 2100 * MS);
	}
	bed_run(b, 10 * BED_SEC);
	assert_int_equal(op[7]->n, 0);
	assert_int_equal(sdr_rel_cancel(b->node[0].ep->rel, op[7]), 0);
	assert_int_equal(b->node[0].ep->rel->nconns, 0);
	bed_close(b);
}

static void silence__nobody_ever_answered(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *s, *silent;

	(void)state;
	b->cfg[0].timeout_ms = 2000;
	bed_boot(b);
	bed_crash(b, 1);
	s = bed_send(b, 0, 1, "x", 1, 0);
	silent = bed_send(b, 0, 1, "x", 1, SDR_REL_F_INJECT | SDR_REL_F_SILENT);
	silent->expect = 1; /* errors are reported all the same */
	bed_wait(b, s, 3 * BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_NO_ANSWER);
	bed_assert_err(silent, SDR_REL_ERR_NO_ANSWER);
	assert_in_range(s->at, 1900 * MS, 2100 * MS);
	bed_close(b);
}

static void silence__ten_seconds_are_survived(void **state)
{
	static const uint8_t kinds[] = { SDR_REL_SEND, SDR_REL_WRITE, SDR_REL_READ };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct bed *b = bed_pair();
		struct bed_op *r = NULL, *s;
		uint8_t *p = bed_buf(b, 2 << 20, 0), *q = bed_buf(b, 2 << 20, 3);
		uint64_t end;

		bed_region_add(b, 1, 7, kinds[k] == SDR_REL_READ ? q : p, 2 << 20,
			       SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
		if (kinds[k] == SDR_REL_SEND)
			r = bed_recv(b, 1, p, 2 << 20);
		if (kinds[k] == SDR_REL_SEND)
			s = bed_send(b, 0, 1, q, 2 << 20, 0);
		else
			s = bed_rma(b, 0, 1, kinds[k], kinds[k] == SDR_REL_READ ? p : q, 2 << 20, 0,
				    7, 0);
		bed_run(b, MS / 2 + (kinds[k] == SDR_REL_READ ? BED_DELAY : 0));
		end = bed_now(b) + 10 * BED_SEC;
		assert_int_equal(sdr_sim_blackout_both(b->w, 0, 1, bed_now(b), end), 0);
		bed_wait(b, s, 13 * BED_SEC);
		bed_assert_ok(s);
		if (r)
			bed_wait(b, r, BED_SEC);
		assert_in_range(s->at, end, end + 1200 * MS);
		assert_true(bed_same(p, 2 << 20, 3));
		/* at most a probe a second and what the first ones sent (sdr_probe.c) */
		assert_true(bed_stats(b, 0).ctl_tx + bed_stats(b, 1).ctl_tx < 300);
		bed_close(b);
	}
}

static void silence__an_idle_connection_neither_probes_nor_dies(void **state)
{
	struct bed *b = impatient(2000);
	uint64_t sent = bed_seen(b, 0, BED_ALL) + bed_seen(b, 1, BED_ALL);

	(void)state;
	bed_run(b, 100 * BED_SEC);
	assert_int_equal(bed_seen(b, 0, BED_ALL) + bed_seen(b, 1, BED_ALL), sent);
	assert_non_null(bed_conn(b, 0, 1));
	bed_warm(b, 0, 1);
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 1);
	bed_close(b);
}

static void keepalive__waits_for_a_parked_message_for_ever_while_the_peer_lives(void **state)
{
	struct bed *b = impatient(3000);
	struct bed_op *s, *r;
	uint64_t before;

	(void)state;
	s = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 1), 3 << 20, 0);
	bed_run(b, BED_SEC);
	before = bed_seen(b, 0, BED_ALL);
	bed_run(b, 60 * BED_SEC);
	assert_int_equal(s->n, 0);
	assert_in_range(bed_seen(b, 0, BED_ALL) - before, 50, 150); /* a probe a second */
	r = bed_recv(b, 1, bed_buf(b, 3 << 20, 0), 3 << 20);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_close(b);
}

static void keepalive__finds_a_dead_peer_behind_a_parked_message(void **state)
{
	struct bed *b = impatient(3000);
	struct bed_op *s;
	uint64_t t0;

	(void)state;
	s = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 1), 3 << 20, 0);
	bed_run(b, 20 * BED_SEC);
	t0 = bed_now(b);
	bed_crash(b, 1);
	bed_wait(b, s, 4 * BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	assert_in_range(s->at - t0, 1900 * MS, 3100 * MS);
	bed_close(b);
}

static void keepalive__receiver_of_a_matched_message_finds_its_sender_dead(void **state)
{
	struct bed *b = impatient(3000);
	struct bed_op *r;
	uint64_t t0;

	(void)state;
	bed_drop(b, 0, BED_DATA, 1, UINT64_MAX / 2);
	r = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
	bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
	bed_run(b, BED_DELAY + MS);
	t0 = bed_now(b);
	bed_crash(b, 0);
	bed_wait(b, r, 4 * BED_SEC);
	bed_assert_err(r, SDR_REL_ERR_STOPPED);
	assert_in_range(r->at - t0, 2900 * MS, 3100 * MS);
	bed_close(b);
}

static void silence__new_operations_open_a_new_connection(void **state)
{
	struct bed *b = impatient(1000);
	struct bed_op *s, *r;
	uint64_t end;

	(void)state;
	/*
	 * both sides alive, the path is cut longer than node 0's give-up time; node 1 saw nothing
	 * of it
	 */
	end = bed_now(b) + 5 * BED_SEC;
	sdr_sim_blackout_both(b->w, 0, 1, bed_now(b), end);
	s = bed_send(b, 0, 1, bed_buf(b, 10, 1), 10, 0);
	bed_wait(b, s, 2 * BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	bed_run(b, 5 * BED_SEC);
	r = bed_recv(b, 1, bed_buf(b, 10, 0), 10);
	s = bed_send(b, 0, 1, bed_buf(b, 10, 1), 10, 0);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	assert_int_equal(b->node[1].ep->rel->nconns, 1);
	bed_close(b);
}

/* ---- in one place ---------------------------------------------------------------------------- */

/*
 * A connection that has failed ends with the round.  Data that its queue pair still takes in it
 * bring nothing back to life.
 */
static void fail__data_of_the_same_round_are_ignored(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_rel *rel = b->node[1].ep->rel;
	struct bed_op *r, *s;
	struct sdr_conn *c;

	(void)state;
	bed_warm(b, 0, 1);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
	c = bed_conn(b, 1, 0);
	while (sdr_list_empty(&c->bulk->rx.brx))
		bed_run(b, MS / 10);
	c->rx.heard_ns = 0; /* silent for long: what comes moves it to the end of the silent */
	sdr_conn_fail(c, SDR_REL_ERR_RESTARTED);
	assert_int_equal(sdr_rel_deadline(rel), rel->now);
	sdr_sim_world_run_until(b->w, bed_now(b) + MS); /* packets of data wait for the round */
	bed_wait(b, r, BED_SEC);
	assert_int_equal(r->e.prov_err, SDR_REL_ERR_RESTARTED);
	assert_true(sdr_list_empty(&rel->dead) && sdr_list_empty(&rel->conn_list));
	bed_wait(b, s, 60 * BED_SEC);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shutdown__injected_data_is_still_delivered),
		cmocka_unit_test(shutdown__bye_and_its_answer_may_be_lost),
		cmocka_unit_test(shutdown__gives_up_after_some_tries_when_nobody_answers),
		cmocka_unit_test(shutdown__cancels_what_is_not_promised_once),
		cmocka_unit_test(shutdown__injected_behind_a_cancelled_message_is_delivered),
		cmocka_unit_test(shutdown__peer_with_operations_under_way_hears_of_it),
		cmocka_unit_test(shutdown__of_both_sides_at_once),
		cmocka_unit_test(close__without_shutdown_ends_everything_once),
		cmocka_unit_test(fence__every_way_to_end_ends_what_waits_behind_it_once),
		cmocka_unit_test(silence__peer_vanishes_with_everything_under_way),
		cmocka_unit_test(silence__nobody_ever_answered),
		cmocka_unit_test(silence__ten_seconds_are_survived),
		cmocka_unit_test(silence__an_idle_connection_neither_probes_nor_dies),
		cmocka_unit_test(silence__new_operations_open_a_new_connection),
		cmocka_unit_test(
			keepalive__waits_for_a_parked_message_for_ever_while_the_peer_lives),
		cmocka_unit_test(keepalive__finds_a_dead_peer_behind_a_parked_message),
		cmocka_unit_test(keepalive__receiver_of_a_matched_message_finds_its_sender_dead),
		cmocka_unit_test(fail__data_of_the_same_round_are_ignored),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
