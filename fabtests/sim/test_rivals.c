/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rivals do what their laws say: in virtual time, at a bottleneck of 1 Gbit/s and 25 ms.
 *
 * The bounds are wide where a law leaves room, and each of them is one that the law's failure would
 * break: a window that is never reduced fills the queue, one that is reduced twice a round does not
 * fill the line, a model without its drain phases keeps the queue.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/sim/share.h"

#define GOODPUT (8948.0 / 9000) /* of the line's bits */

static struct share_result *res;

static void runs(const struct sdr_cc_ops *a, const struct sdr_cc_ops *b, double bdp, double loss,
		 double seconds)
{
	struct share_cfg cfg;

	share_cfg_init(&cfg);
	cfg.flows = 0;
	cfg.queue_bdp = bdp;
	cfg.loss = loss;
	cfg.seconds = seconds;
	cfg.rival[cfg.rivals++] = a;
	if (b)
		cfg.rival[cfg.rivals++] = b;
	share_run(&cfg, 1, res, NULL, NULL);
	assert_string_equal(res->why, "");
	assert_false(res->failed);
}

static double share_of(uint32_t i)
{
	return res->flow[i].goodput_bps / (GOODPUT * 1e9);
}

/* With a queue of a BDP a window that falls to 0.7 of two BDP still fills the line. */
static void rival__cubic_fills_the_line(void **state)
{
	(void)state;
	runs(&rival_cubic, NULL, 1, 0, 20);
	assert_true(res->utilisation > 0.98);
	assert_true(res->drop_settled < 1e-3);
	assert_true(res->delay_p50_s > 5e-3); /* and keeps the queue, as it does */
}

/* RFC 9438: at a random loss p the window is 1.054 (RTT / p)^(3/4) C^(1/4) packets. */
static void rival__cubic_answers_to_losses_as_its_formula(void **state)
{
	double bound;

	(void)state;
	runs(&rival_cubic, NULL, 1, 1e-3, 60);
	/* (0.4 * 3.7 / 1.2)^(1/4) RTT^(3/4) / p^(3/4) = 11.8 packets; Reno's law gives as many */
	bound = 1.054 * 0.0629 / 0.00562 * 8948 * 8 / 25e-3;
	assert_true(res->flow[0].goodput_bps > 0.5 * bound);
	assert_true(res->flow[0].goodput_bps < 6 * bound);
	assert_true(res->utilisation < 0.2);
}

static void rival__two_of_a_kind_share(void **state)
{
	(void)state;
	for (size_t i = 0; rival_table[i]; i++) {
		runs(rival_table[i], rival_table[i], 1, 0, 30);
		assert_true(res->jain > 0.85);
		assert_true(res->utilisation > 0.93);
	}
}

/* Below the BDP a Reno window leaves the line idle: 0.75 of the way from half of it. */
static void rival__reno_halves(void **state)
{
	(void)state;
	runs(&rival_reno, NULL, 0.1, 0, 60);
	assert_true(res->utilisation > 0.5 && res->utilisation < 0.85);
}

static void rival__bbr_keeps_no_queue_alone(void **state)
{
	const struct sdr_cc_ops *const all[] = { &rival_bbr, &rival_bbr3 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		runs(all[i], NULL, 1, 0, 20);
		assert_true(res->utilisation > 0.95);
		assert_true(res->delay_p50_s < 3e-3);
		assert_true(res->drop_settled < 1e-3);
	}
}

/* The published difference: the first version answers to no loss, the third to more than 2 %. */
static void rival__bbr_and_loss(void **state)
{
	(void)state;
	runs(&rival_bbr, NULL, 1, 0.01, 20);
	assert_true(share_of(0) > 0.9);
	runs(&rival_bbr3, NULL, 1, 0.05, 20);
	assert_true(share_of(0) < 0.5);
	runs(&rival_bbr, &rival_bbr, 0.1, 0, 20);
	assert_true(res->drop_settled > 0.03);
	runs(&rival_bbr3, &rival_bbr3, 0.1, 0, 20);
	assert_true(res->drop_settled < 0.02);
}

/* In a shallow queue the first version takes all, in a deep one CUBIC most. */
static void rival__bbr_beside_cubic(void **state)
{
	(void)state;
	runs(&rival_cubic, &rival_bbr, 0.1, 0, 30);
	assert_true(share_of(1) > 0.8);
	runs(&rival_cubic, &rival_bbr, 8, 0, 60);
	assert_true(share_of(0) > 0.5);
}

static void rival__same_seed_same_run(void **state)
{
	struct share_result first;

	(void)state;
	runs(&rival_bbr, &rival_cubic, 1, 1e-3, 3);
	first = *res;
	runs(&rival_bbr, &rival_cubic, 1, 1e-3, 3);
	first.cpu_s = res->cpu_s;
	assert_memory_equal(&first, res, sizeof(first));
}

/* When all is lost the timeout brings it back. */
static void rival__comes_back_from_silence(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .nodes = 2 };
	struct sdr_sim_link l = { .rate_bps = 100000000, .delay_ns = 5000000 };
	struct rival_attr a = { .from = 0, .to = 1, .path_mtu = 1500, .cc = &rival_cubic };
	struct rival_stats before, after;
	struct rival *r;
	uint64_t t0;

	(void)state;
	a.world = sdr_sim_world_create(&wa);
	assert_non_null(a.world);
	t0 = sdr_sim_world_now(a.world);
	assert_int_equal(sdr_sim_link_set_both(a.world, 0, 1, &l), 0);
	assert_int_equal(sdr_sim_blackout_both(a.world, 0, 1, t0 + 500000000, t0 + 1500000000), 0);
	assert_int_equal(rival_open(&a, &r), 0);
	rival_start(r);
	sdr_sim_world_run_until(a.world, t0 + 1500000000);
	rival_stats_get(r, &before);
	assert_true(before.timeouts >= 1);
	sdr_sim_world_run_until(a.world, t0 + 5000000000);
	rival_stats_get(r, &after);
	assert_true(after.delivered > before.delivered + 10000);
	sdr_sim_world_destroy(a.world);
	rival_close(r);
}

static int setup(void **state)
{
	(void)state;
	res = calloc(1, sizeof(*res));
	return res ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(res);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rival__cubic_fills_the_line),
		cmocka_unit_test(rival__cubic_answers_to_losses_as_its_formula),
		cmocka_unit_test(rival__two_of_a_kind_share),
		cmocka_unit_test(rival__reno_halves),
		cmocka_unit_test(rival__bbr_keeps_no_queue_alone),
		cmocka_unit_test(rival__bbr_and_loss),
		cmocka_unit_test(rival__bbr_beside_cubic),
		cmocka_unit_test(rival__same_seed_same_run),
		cmocka_unit_test(rival__comes_back_from_silence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
