/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Worlds in which sdr flows share a line: what is counted is what happened, and happens again.
 *
 * Flows here run at a fixed rate, so that what comes of them is arithmetic and no controller's.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/sim/share.h"

/* payload of a packet over its bytes on the wire */
#define PART (8192.0 / (8192 + SDR_SIM_DATA_OVER))

static struct share_result *res;

static void one(struct share_cfg *cfg)
{
	share_cfg_init(cfg);
	cfg->flows = 1;
	cfg->cc = &sdr_cc_fixed;
	cfg->seconds = 3;
	cfg->size = 1u << 20;
	cfg->window = 64;
}

static void run(const struct share_cfg *cfg)
{
	share_run(cfg, 1, res, NULL, NULL);
	assert_string_equal(res->why, "");
	assert_false(res->failed);
}

static bool near(double a, double b, double by)
{
	return fabs(a - b) <= by * b;
}

static void share__one_flow_has_the_line(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	run(&cfg);
	assert_true(near(res->utilisation, 1, 0.02));
	assert_true(near(res->flow[0].goodput_bps, PART * 1e9 * res->utilisation, 0.01));
	assert_true(res->drop_all == 0 && res->parity_settled == 0);
	assert_true(res->jain == 1);
	assert_true(res->delay_p95_s < 1e-3);
}

/* Two that do not care, of 100 % each: half of it is dropped, and the queue is full. */
static void share__two_that_do_not_care(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.flows = 2;
	run(&cfg);
	assert_true(res->drop_settled > 0.45 && res->drop_settled < 0.55);
	assert_true(res->utilisation > 0.99);
	assert_true(near(res->delay_p50_s, 25e-3, 0.02));
	assert_true(res->flow[0].settled.offered + res->flow[1].settled.offered > 0);
	for (int i = 0; i < 2; i++)
		assert_true(res->flow[i].all.dropped <= res->flow[i].all.offered);
}

static void share__loss_is_counted_apart(void **state)
{
	const struct share_count *c = &res->flow[0].all;
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.loss = 0.02;
	run(&cfg);
	assert_int_equal(c->dropped, 0);
	assert_true(near((double)c->lost / (double)c->offered, 0.02, 0.15));
	assert_true(c->parity > 0);
}

/* A message takes RTT + bytes / rate, and as many as asked for are timed. */
static void share__messages_one_at_a_time(void **state)
{
	struct share_cfg cfg;
	double ideal;

	(void)state;
	one(&cfg);
	cfg.size = 1u << 20;
	cfg.messages = 20;
	cfg.warm = 5;
	cfg.pause_s = 5e-3;
	cfg.greets = true;
	run(&cfg);
	assert_int_equal(res->times, 15);
	assert_int_equal(res->flow[0].all.messages, 20);
	ideal = 25e-3 + (double)cfg.size * 8 / PART / 1e9;
	for (uint32_t i = 0; i < res->times; i++)
		assert_true((double)res->time_s[i] > 0.999 * ideal &&
			    (double)res->time_s[i] < 1.05 * ideal);
}

static void share__ends_close_and_open_again(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.messages = 2;
	cfg.teach_bytes = 4u << 20;
	cfg.greets = true;
	run(&cfg);
	assert_int_equal(res->times, 2);
	assert_int_equal(res->flow[0].all.messages,
			 2); /* those that do not count are not counted */
}

/* The capacity of a run whose line changes is what it was in each part. */
static void share__the_line_changes(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.rate_bps = 2e9; /* the flow's rate */
	cfg.change[cfg.changes++] = (struct share_change){ 1.5, 1e9 };
	cfg.settle_s = 0;
	run(&cfg);
	assert_true(near(res->utilisation, 1, 0.05));
	assert_true(res->adapt_s >= 0 && res->adapt_s < 0.5);
	assert_true(res->drop_all > 0.2); /* 1 of 2 Gbit/s, half of the time, less the queue */
}

static void share__a_late_comer_is_timed_from_its_start(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.start_s[0] = 1;
	cfg.rival[cfg.rivals++] = &rival_reno; /* gives way to one that does not care */
	run(&cfg);
	assert_true(res->flow[0].start_s >= 1 && res->flow[0].start_s < 1.03);
	assert_true(res->flow[0].to_share_s > 0.02 && res->flow[0].to_share_s < 0.5);
	assert_true(near(res->from_s, 2, 1e-6) && near(res->settled_s, 1, 1e-6));
	assert_string_equal(res->flow[0].name, "sdr0");
	assert_string_equal(res->flow[1].name, "reno0");
}

static void share__incast_ends_at_one_node(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.flows = 3;
	cfg.incast = true;
	cfg.nic_bps = 1e9;
	for (int i = 0; i < 3; i++)
		cfg.rtt_s[i] = 0.2e-3;
	cfg.queue_bdp = -1;
	cfg.queue_bytes = 128 << 10;
	cfg.seconds = 0.5;
	cfg.settle_s = 0.1;
	run(&cfg);
	assert_true(res->utilisation > 0.99);
	assert_true(res->drop_settled > 0.3);
	for (int i = 0; i < 3; i++)
		assert_true(res->flow[i].all.messages > 0);
}

/* Of the controllers that find out for themselves, with everything random switched on. */
static void share__same_seed_same_run(void **state)
{
	struct share_result *first = malloc(sizeof(*first));
	struct share_cfg cfg;

	(void)state;
	assert_non_null(first);
	share_cfg_init(&cfg);
	cfg.flows = 2;
	cfg.seconds = 2;
	cfg.loss = 1e-3;
	cfg.ge_loss = 1e-3;
	cfg.ge_burst = 8;
	cfg.codel_target_s = 5e-3;
	cfg.codel_interval_s = 0.1;
	cfg.stall_s = 1e-4;
	cfg.stall_every_s = 1e-2;
	cfg.rival[cfg.rivals++] = &rival_cubic;
	run(&cfg);
	*first = *res;
	run(&cfg);
	first->cpu_s = res->cpu_s;
	assert_memory_equal(first, res, sizeof(*first));
	share_run(&cfg, 2, res, NULL, NULL);
	assert_int_not_equal(first->packets, res->packets);
	free(first);
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

/* Two senders, two receivers: nobody begins the next message before all are done with the last. */
static void share__ranks_wait_for_each_other(void **state)
{
	struct share_cfg cfg;

	(void)state;
	one(&cfg);
	cfg.flows = 4;
	cfg.ranks = 2;
	cfg.messages = 3;
	cfg.queue_bdp = 100;
	run(&cfg);
	assert_int_equal(res->times, 4 * 3);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(res->flow[i].all.messages, 3);
	/* a round trip between any two, which the line is not used in */
	assert_true(res->settled_s > 3 * (4 * 8.39e-3 + 25e-3));
	assert_true(res->settled_s < 3 * (4 * 8.39e-3 + 25e-3) + 50e-3);
	/* a pause makes it longer, by itself */
	cfg.pause_s = 0.5;
	run(&cfg);
	assert_true(res->settled_s > 0.4 && res->settled_s < 1.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share__one_flow_has_the_line),
		cmocka_unit_test(share__two_that_do_not_care),
		cmocka_unit_test(share__loss_is_counted_apart),
		cmocka_unit_test(share__messages_one_at_a_time),
		cmocka_unit_test(share__ends_close_and_open_again),
		cmocka_unit_test(share__the_line_changes),
		cmocka_unit_test(share__a_late_comer_is_timed_from_its_start),
		cmocka_unit_test(share__incast_ends_at_one_node),
		cmocka_unit_test(share__same_seed_same_run),
		cmocka_unit_test(share__ranks_wait_for_each_other),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
