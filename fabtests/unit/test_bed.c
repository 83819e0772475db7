/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The beds themselves: what they promise to notice, they notice.
 */
#include "../bed/bed.h"

/* ---- memory ---------------------------------------------------------------------------------- */

static void mem__one_byte_beside_is_found(void **state)
{
	uint8_t *p = bed_mem_new(100);

	(void)state;
	assert_true(bed_mem_ok(p, 100));
	for (int i = -(int)BED_GUARD; i < 100 + (int)BED_GUARD; i++) {
		uint8_t was = p[i];

		p[i] ^= 1;
		assert_int_equal(bed_mem_ok(p, 100), i >= 0 && i < 100);
		p[i] = was;
	}
	bed_mem_free(p);
}

static void mem__patterns_tell_bytes_apart(void **state)
{
	uint8_t p[1000];

	(void)state;
	bed_fill(p, sizeof(p), 7);
	assert_int_equal(bed_differs(p, sizeof(p), 7), sizeof(p));
	assert_true(bed_differs(p, sizeof(p), 8) < 4);
	p[999] ^= 0x80;
	assert_int_equal(bed_differs(p, sizeof(p), 7), 999);
	bed_fill(p, 10, 0);
	assert_int_equal(p[9], BED_FRESH);
	for (size_t n = 0; n < 40; n++) { /* whole words and what is left of one */
		memset(p, 0x11, sizeof(p));
		bed_fill(p, n, 9);
		assert_int_equal(bed_differs(p, n, 9), n);
		assert_int_equal(p[n], 0x11);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(p[i], bed_pattern(9, i));
			p[i] ^= 1;
			assert_int_equal(bed_differs(p, n, 9), i);
			p[i] ^= 1;
		}
	}
}

/* ---- the unit tests' bed --------------------------------------------------------------------- */

/* The example of README.md. */
static void bed__a_named_loss_is_repaired(void **state)
{
	struct bed *b = bed_pair();
	struct bed_rule *lost = bed_drop(b, 0, BED_DATA, 3, 1); /* the 4th data packet of node 0 */
	struct bed_op *r = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, 100000, 7), 100000, 0);

	(void)state;
	bed_wait(b, s, 10 * BED_RTT);
	bed_wait(b, r, 10 * BED_RTT);
	bed_assert_ok(s);
	assert_int_equal(lost->hit, 1);
	bed_close(b);
}

/* Nodes have sources, and a rule may be about one lane. */
static void bed__lanes(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_rule *none, *all;
	struct sdr_uc_addr addr;
	struct bed_op *s;

	(void)state;
	bed_paths(b, 3);
	assert_int_equal(b->cfg[1].paths, 3);
	bed_boot(b);
	sdr_sim_node_addr(b->w, SDR_SIM_LANE(1, 2), &addr);
	assert_int_equal(addr.len, 7);
	sdr_sim_node_addr(b->w, SDR_SIM_LANE(1, 3), &addr);
	assert_int_equal(addr.len, 0);
	none = bed_drop(b, BED_ANY, BED_ALL, 0, UINT64_MAX / 2);
	none->lane = SDR_PATHS_MAX - 1; /* that no packet takes */
	all = bed_late(b, BED_ANY, BED_ALL, 0, UINT64_MAX / 2, 1);
	bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	s = bed_send(b, 0, 1, bed_buf(b, 100, 7), 100, 0);
	bed_wait(b, s, 10 * BED_RTT);
	bed_assert_ok(s);
	assert_int_equal(none->seen, 0);
	assert_true(all->hit > 0);
	assert_true(b->node[0].sent[0] > 0);
	assert_int_equal(b->node[0].sent[SDR_PATHS_MAX - 1], 0);
	bed_close(b);
}

/* ---- endpoints and their clock --------------------------------------------------------------- */

struct lab {
	struct sim_eps eps;
	struct sdr_rel_cfg cfg;
	uint64_t trace;
	bool busy, idle; /* what node 0 does in place of progress: always more, nothing */
	uint32_t fails, done;
};

static int lab_progress(void *user, struct sim_ep *ep)
{
	struct lab *l = user;

	return ep->idx || (!l->busy && !l->idle) ? sdr_rel_progress(ep->rel) : l->busy;
}

static void lab_fail(void *user, const char *why)
{
	struct lab *l = user;

	assert_non_null(why);
	l->fails++;
}

static void lab_trace(void *user, uint64_t now, enum sdr_sim_what what,
		      const struct sdr_sim_packet *p)
{
	struct lab *l = user;

	sim_hash_packet(&l->trace, now, what, p, what == SDR_SIM_T_SENT);
}

static void lab_done(void *user, const struct sdr_rel_cqe *e)
{
	struct lab *l = user;

	l->done += !e->err;
}

static void lab_boot(struct lab *l, uint32_t node)
{
	static const struct sdr_rel_cbs cbs = { .done = lab_done };
	struct sim_ep_attr attr = { .rel = { .cfg = &l->cfg, .cbs = &cbs, .user = l },
				    .node = { .no_probe = true } };

	sim_ep_identity(&l->eps.ep[node], &attr);
	assert_int_equal(sim_ep_boot(&l->eps.ep[node], &attr), 0);
}

static void lab_open(struct lab *l)
{
	struct sim_eps_attr attr = {
		.world = { .seed = 3,
			   .nodes = 2,
			   .link = { .delay_ns = MS, .loss = 0.1 },
			   .user = l,
			   .trace = lab_trace },
		.most = { .rounds = 100, .idle = 8, .wakes = 1000 },
		.user = l,
		.progress = lab_progress,
		.fail = lab_fail,
	};

	memset(l, 0, sizeof(*l));
	sdr_rel_cfg_init(&l->cfg);
	assert_int_equal(sim_eps_open(&l->eps, &attr), 0);
	lab_boot(l, 0);
	lab_boot(l, 1);
}

/* A message from node 0 to node 1. */
static void lab_message(struct lab *l, void *tx, void *rx, size_t len)
{
	struct sdr_rel_iov in = { rx, len }, out = { tx, len };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &in };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &out };

	wr.peer = sim_ep_peer(&l->eps.ep[0], 1);
	assert_int_equal(sdr_rel_recv(l->eps.ep[1].rel, &rr), 0);
	assert_int_equal(sdr_rel_post(l->eps.ep[0].rel, &wr), 0);
	l->eps.ep[0].dirty = l->eps.ep[1].dirty = true;
}

static uint64_t lab_run(struct lab *l)
{
	static uint8_t tx[50000], rx[sizeof(tx)];
	uint64_t start;

	lab_open(l);
	start = sim_eps_now(&l->eps);
	bed_fill(tx, sizeof(tx), 5);
	bed_fill(rx, sizeof(rx), 0);
	lab_message(l, tx, rx, sizeof(tx));
	sim_eps_run(&l->eps, BED_SEC);
	assert_int_equal(l->done, 2);
	assert_int_equal(bed_differs(rx, sizeof(rx), 5), sizeof(rx));
	assert_int_equal(sim_eps_now(&l->eps), start + BED_SEC);
	assert_false(l->eps.failed);
	sim_eps_close(&l->eps);
	return l->trace;
}

static void eps__the_same_run_has_the_same_trace(void **state)
{
	struct lab l;
	uint64_t trace = lab_run(&l);

	(void)state;
	assert_int_not_equal(trace, 0);
	assert_int_equal(lab_run(&l), trace);
}

static void eps__a_node_that_never_rests_fails_the_run(void **state)
{
	struct lab l;
	uint64_t start;

	(void)state;
	lab_open(&l);
	start = sim_eps_now(&l.eps);
	l.busy = true;
	sim_eps_run(&l.eps, BED_SEC);
	assert_true(l.eps.failed);
	assert_int_equal(l.fails, 1);
	assert_non_null(strstr(l.eps.why, "always has more to do"));
	assert_true(l.eps.rounds <= 101);
	sim_eps_run(&l.eps, BED_SEC); /* nothing moves any more */
	assert_int_equal(sim_eps_now(&l.eps), start);
	assert_int_equal(l.fails, 1);
	sim_eps_close(&l.eps);
}

static void eps__a_deadline_that_nobody_serves_fails_the_run(void **state)
{
	uint8_t tx[8] = { 0 }, rx[8];
	struct lab l;

	(void)state;
	lab_open(&l);
	l.idle = true;
	lab_message(&l, tx, rx, sizeof(tx));
	sim_eps_run(&l.eps, BED_SEC);
	assert_int_equal(l.fails, 1);
	assert_non_null(strstr(l.eps.why, "its deadline is"));
	sim_eps_close(&l.eps);
}

static void eps__a_crashed_node_comes_back_as_another(void **state)
{
	struct sim_ep_attr one = { 0 }, two = { 0 };
	struct lab l;

	(void)state;
	lab_open(&l);
	sim_ep_identity(&l.eps.ep[0], &one);
	sim_ep_crash(&l.eps.ep[0]);
	assert_null(l.eps.ep[0].rel);
	sim_eps_run(&l.eps, MS); /* one node is enough */
	lab_boot(&l, 0);
	sim_ep_identity(&l.eps.ep[0], &two);
	assert_int_equal(l.eps.ep[0].boots, 2);
	assert_memory_not_equal(one.rel.rand, two.rel.rand, sizeof(one.rel.rand));
	assert_memory_not_equal(one.context, two.context, sizeof(one.context));
	sim_eps_close(&l.eps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mem__one_byte_beside_is_found),
		cmocka_unit_test(mem__patterns_tell_bytes_apart),
		cmocka_unit_test(bed__a_named_loss_is_repaired),
		cmocka_unit_test(bed__lanes),
		cmocka_unit_test(eps__the_same_run_has_the_same_trace),
		cmocka_unit_test(eps__a_node_that_never_rests_fails_the_run),
		cmocka_unit_test(eps__a_deadline_that_nobody_serves_fails_the_run),
		cmocka_unit_test(eps__a_crashed_node_comes_back_as_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
