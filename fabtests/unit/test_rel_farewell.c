/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The last words of a side that ends with its last completion (sdr_farewell.c): node 1 says
 * farewell between two rounds, as soon as what it waits for is there, and from then on is dead to
 * the network.
 */
#include "../bed/bed.h"

struct end {
	struct bed_op *last; /* node 1 ends when this has */
	bool speaks;
	bool gone;
	bool lossy;
};

static void end_app(struct bed *b, uint32_t node)
{
	struct end *e = b->user;

	if (node != 1 || e->gone || !e->last || !e->last->n)
		return;
	e->gone = true;
	if (e->speaks) {
		assert_true(sdr_rel_farewell(b->node[1].ep->rel));
		assert_true(sdr_rel_farewell(b->node[1].ep->rel)); /* once is enough */
	}
	sdr_sim_node_kill(b->w, 1, true);
}

static struct bed *bed_ends(struct end *e)
{
	struct bed *b = bed_new(2);

	b->cfg[0].timeout_ms = b->cfg[1].timeout_ms = 2000;
	bed_boot(b);
	bed_warm(b, 0, 1);
	if (e->lossy)
		bed_conn(b, 1, 0)->main.rack.lossy = true;
	b->user = e;
	b->app = end_app;
	return b;
}

static void end_close(struct bed *b, struct bed_op *s, bool well)
{
	bed_wait(b, s, 5 * BED_SEC);
	if (well)
		bed_assert_ok(s);
	else
		bed_assert_err(s, SDR_REL_ERR_STOPPED);
	bed_close(b);
}

/* len bytes to node 1, which then ends. */
static void message(struct end *e, size_t len, uint16_t flags, uint32_t drop, uint64_t nth,
		    bool well)
{
	struct bed *b = bed_ends(e);
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *s;

	e->last = bed_recv(b, 1, p, len);
	if (drop)
		bed_drop(b, 1, drop, nth, 1);
	s = bed_send(b, 0, 1, bed_buf(b, len, 3), len, flags);
	bed_wait(b, e->last, 5 * BED_SEC);
	assert_true(bed_same(p, len, 3));
	end_close(b, s, well);
}

static void farewell__acknowledges(void **state)
{
	static const size_t len[] = { 0, 100, 4000, 100000, 4 << 20 };

	(void)state;
	message(&(struct end){ 0 }, 100, 0, 0, 0, false); /* without it the peer does not know */
	for (int i = 0; i < 5; i++) {
		message(&(struct end){ .speaks = true }, len[i], 0, 0, 0, true);
		message(&(struct end){ .speaks = true }, len[i], SDR_REL_F_DELIVERY, 0, 0, true);
		message(&(struct end){ .speaks = true, .lossy = true }, len[i], 0, 0, 0, true);
	}
}

/* Once lost it cannot be requested again: where losses were seen it is sent twice. */
static void farewell__twice_on_a_path_that_loses(void **state)
{
	(void)state;
	message(&(struct end){ .speaks = true }, 100, 0, BED_PACKET, 0, false);
	message(&(struct end){ .speaks = true, .lossy = true }, 100, 0, BED_PACKET, 0, true);
	message(&(struct end){ .speaks = true, .lossy = true }, 100000, 0, BED_PACKET, 0, true);
	/* What the peer waits for was said in the round before. */
	message(&(struct end){ .lossy = true }, 100, SDR_REL_F_DELIVERY, BED_DONE, 0, false);
	message(&(struct end){ .speaks = true, .lossy = true }, 100, SDR_REL_F_DELIVERY, BED_DONE,
		0, true);
	message(&(struct end){ .speaks = true, .lossy = true }, 100000, SDR_REL_F_DELIVERY,
		BED_DONE, 0, true);
}

/*
 * It comes so late that the peer has probed meanwhile, in a packet that is not read any more: what
 * is acknowledged is the packet before that, and it is enough.
 */
static void farewell__of_a_slow_process(void **state)
{
	static const uint64_t late[] = { 60 * MS, 300 * MS, 800 * MS };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct end e = { .speaks = true };
		struct bed *b = bed_ends(&e);
		struct bed_op *s;

		e.last = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
		bed_late(b, 1, BED_PACKET, 0, 1, late[i]);
		s = bed_send(b, 0, 1, bed_buf(b, 100, 3), 100, 0);
		bed_wait(b, e.last, BED_SEC);
		bed_run(b, late[i]);
		assert_true(bed_stats(b, 0).rec_rtx > 0);
		end_close(b, s, true);
	}
}

/* The answers of writes too; and reads are over for their server when the reader has said so. */
static void farewell__answers_a_write(void **state)
{
	struct end e = { .speaks = true, .lossy = true };
	struct bed *b = bed_ends(&e);
	uint8_t *to = bed_buf(b, 100, 0);
	struct bed_op *s, *w;

	(void)state;
	bed_region_add(b, 1, 7, to, 100, SDR_REL_ACCESS_WRITE);
	bed_drop(b, 1, BED_DONE, 0, 1);
	e.last = bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 100, 3), 100, 0, 7, 0);
	s = bed_send(b, 0, 1, "done now", 8, 0);
	bed_wait(b, w, 5 * BED_SEC);
	bed_assert_ok(w);
	assert_true(bed_same(to, 100, 3));
	end_close(b, s, true);
}

/* Nothing is owed: nothing is said, however many peers there are. */
static void farewell__is_silent_when_nothing_is_owed(void **state)
{
	struct bed *b = bed_open(3);
	uint64_t seen;

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	bed_run(b, BED_SEC);
	seen = bed_seen(b, 1, BED_ALL);
	assert_true(sdr_rel_farewell(b->node[1].ep->rel));
	assert_int_equal(bed_seen(b, 1, BED_ALL), seen);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(farewell__acknowledges),
		cmocka_unit_test(farewell__twice_on_a_path_that_loses),
		cmocka_unit_test(farewell__of_a_slow_process),
		cmocka_unit_test(farewell__answers_a_write),
		cmocka_unit_test(farewell__is_silent_when_nothing_is_owed),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
