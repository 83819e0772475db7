/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Scenarios of paths that carry less than their ends: from the start or from some time on, with and
 * without a word of the network, in one direction or both, and less than anything works with.
 */
#include "scenarios.h"

#define LONG_MSG  (64 * MB)
#define LIMIT_NS  (60 * S_NS)
#define V4_1500	  (1500 - SDR_SIM_DATA_OVER) /* payload of a device of 1500 bytes */
#define V4_9000	  SDR_MTU_MAX		     /* and of one of 9000 */
#define ICMP_RTTS 2			     /* that a first message may take longer */
#define HOLE_RTTS 6			     /* when only probes say so */

/* Ends of that payload, and a middle of that many bytes; 0: it carries everything. */
static void narrow(struct simnet_cfg *c, uint32_t mtu, uint32_t middle, bool icmp)
{
	wan(c, 1, GBIT);
	c->node.mtu = mtu;
	c->node.no_probe = false;
	c->link.mtu = middle;
	c->link.icmp = icmp;
}

static void both(struct simnet *sn, uint32_t middle, bool icmp)
{
	sdr_sim_link_mtu(sn->w, 0, 1, middle, icmp);
	sdr_sim_link_mtu(sn->w, 1, 0, middle, icmp);
}

static void both_at(struct simnet *sn, uint64_t when, uint32_t middle, bool icmp)
{
	sdr_sim_link_mtu_at(sn->w, when, 0, 1, middle, icmp);
	sdr_sim_link_mtu_at(sn->w, when, 1, 0, middle, icmp);
}

static uint64_t too_long(struct simnet *sn)
{
	struct sdr_sim_link_stats there, back;

	sdr_sim_link_stats(sn->w, 0, 1, &there);
	sdr_sim_link_stats(sn->w, 1, 0, &back);
	return there.drop_mtu + back.drop_mtu;
}

static const struct ends {
	uint32_t mtu, middle;
} ends[] = {
	{ V4_1500, 1420 },
	{ V4_1500, 1280 },
	{ V4_9000, 1500 },
	{ 4096, 1500 },
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* ---- from the start -------------------------------------------------------------------------- */

/* From the post of an endpoint's first message until both sides know that it has arrived. */
static uint64_t first_message(uint32_t mtu, uint32_t middle, bool icmp, uint64_t len)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t;

	narrow(&c, mtu, middle, icmp);
	c.virtual_payload = false;
	start(&sn, &c);
	t = transfer(&sn, len, LIMIT_NS);
	simnet_run_for(&sn, S_NS);
	must(&sn);
	done(&sn);
	return t;
}

static void start__the_first_message_is_little_later(void **state)
{
	static const uint64_t len[] = { 1, 1300, 9000, 64 * KB, MB };

	(void)state;
	for (uint32_t e = 0; e < ENDS; e++) {
		for (uint32_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
			uint64_t wide = first_message(ends[e].mtu, 0, false, len[i]);
			uint64_t told = first_message(ends[e].mtu, ends[e].middle, true, len[i]);
			uint64_t hole = first_message(ends[e].mtu, ends[e].middle, false, len[i]);

			say("first message of %llu, %u through %u: %.2f ms, %+.2f RTT with ICMP, %+.2f without\n",
			    (unsigned long long)len[i], ends[e].mtu, ends[e].middle, ms(wide),
			    ((double)told - (double)wide) / WAN_RTT,
			    ((double)hole - (double)wide) / WAN_RTT);
			assert_in_range(told, 0, wide + ICMP_RTTS * WAN_RTT);
			assert_in_range(hole, 0, wide + HOLE_RTTS * WAN_RTT);
		}
	}
}

/* The sender's own route is the narrow one: nothing is sent that its host refuses. */
static void start__own_route(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t, wide = first_message(4096, 0, false, MB);

	(void)state;
	narrow(&c, 4096, 0, false);
	start(&sn, &c);
	sdr_sim_node_route(sn.w, 0, 1420);
	sdr_sim_node_route(sn.w, 1, 1420);
	t = transfer(&sn, MB, LIMIT_NS);
	say("own route of 1420: %.2f ms, %.2f without\n", ms(t), ms(wide));
	assert_in_range(t, 0, wide + ICMP_RTTS * WAN_RTT);
	done(&sn);
}

/* Time of a long message, after a first small one. */
static uint64_t long_message(uint32_t mtu, uint32_t middle, bool icmp)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t;

	narrow(&c, mtu, middle, icmp);
	start(&sn, &c);
	warm(&sn);
	t = transfer(&sn, LONG_MSG, LIMIT_NS);
	done(&sn);
	return t;
}

static void start__goodput_of_the_right_size(void **state)
{
	(void)state;
	for (uint32_t e = 0; e < ENDS; e++) {
		uint64_t right = long_message(ends[e].middle - SDR_SIM_DATA_OVER, 0, false);
		uint64_t told = long_message(ends[e].mtu, ends[e].middle, true);
		uint64_t hole = long_message(ends[e].mtu, ends[e].middle, false);

		say("64 MiB, %u through %u: %.2f ms with the right size, %.3f of it with ICMP, %.3f without\n",
		    ends[e].mtu, ends[e].middle, ms(right), (double)right / (double)told,
		    (double)right / (double)hole);
		assert_in_range(told, 0, right * 10 / 9);
		assert_in_range(hole, 0, right * 10 / 9);
	}
}

/* Only one way is narrow, or each is in its own manner. */
static void start__each_direction_for_itself(void **state)
{
	static const uint32_t way[][2] = {
		{ 1420, 0 }, { 0, 1420 }, { 1280, 1500 }, { 9000, 1100 }
	};
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t;

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(way) / sizeof(way[0]); i++) {
		narrow(&c, V4_9000, 0, false);
		c.virtual_payload = false;
		start(&sn, &c);
		sdr_sim_link_mtu(sn.w, 0, 1, way[i / 2][0], i & 1);
		sdr_sim_link_mtu(sn.w, 1, 0, way[i / 2][1], i & 1);
		t = transfer(&sn, MB, LIMIT_NS);
		simnet_recv(&sn, 0, 1, MB); /* and the other way round */
		simnet_send(&sn, 1, 0, MB, 0);
		simnet_run_all(&sn, LIMIT_NS);
		must(&sn);
		say("%u there, %u back, %s: %.2f ms\n", way[i / 2][0], way[i / 2][1],
		    i & 1 ? "ICMP" : "no word", ms(t));
		assert_in_range(t, 0, ideal_ns(&sn, MB) + (1 + HOLE_RTTS) * WAN_RTT);
		done(&sn);
	}
}

/* Every length around what packets hold, as the field trial's ping-pong went. */
static void start__every_length_arrives(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;

	(void)state;
	for (uint32_t e = 0; e < ENDS; e++) {
		narrow(&c, ends[e].mtu, ends[e].middle, e & 1);
		c.virtual_payload = false;
		start(&sn, &c);
		for (uint64_t len = 1; len < 9100; len += len < 1000 || len > 1600 ? 97 : 7) {
			simnet_recv(&sn, 1, 0, len);
			simnet_send(&sn, 0, 1, len, 0);
			simnet_recv(&sn, 0, 1, len);
			simnet_send(&sn, 1, 0, len, 0);
		}
		simnet_run_all(&sn, LIMIT_NS);
		simnet_check_memory(&sn, 1);
		must(&sn);
		done(&sn);
	}
}

/* ---- in mid-transfer ------------------------------------------------------------------------- */

static uint64_t narrowing(uint32_t mtu, uint32_t middle, bool icmp, bool there, bool back)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t, when;

	narrow(&c, mtu, 0, false);
	start(&sn, &c);
	warm(&sn);
	when = simnet_now(&sn) + 200 * MS_NS;
	if (there)
		sdr_sim_link_mtu_at(sn.w, when, 0, 1, middle, icmp);
	if (back)
		sdr_sim_link_mtu_at(sn.w, when, 1, 0, middle, icmp);
	t = transfer(&sn, LONG_MSG, LIMIT_NS);
	assert_true(!there || too_long(&sn));
	done(&sn);
	return t;
}

static void later__a_narrow_middle_appears(void **state)
{
	(void)state;
	for (uint32_t e = 0; e < ENDS; e++) {
		uint64_t right = long_message(ends[e].middle - SDR_SIM_DATA_OVER, 0, false);
		uint64_t told = narrowing(ends[e].mtu, ends[e].middle, true, true, true);
		uint64_t hole = narrowing(ends[e].mtu, ends[e].middle, false, true, true);
		uint64_t there = narrowing(ends[e].mtu, ends[e].middle, false, true, false);
		uint64_t back = narrowing(ends[e].mtu, ends[e].middle, false, false, true);

		say("%u, then %u: %.2f ms with that size; with ICMP %+.2f RTT, without %+.2f, there only %+.2f, back only %+.2f\n",
		    ends[e].mtu, ends[e].middle, ms(right),
		    ((double)told - (double)right) / WAN_RTT,
		    ((double)hole - (double)right) / WAN_RTT,
		    ((double)there - (double)right) / WAN_RTT,
		    ((double)back - (double)right) / WAN_RTT);
		assert_in_range(told, 0, right + 4 * WAN_RTT);
		assert_in_range(hole, 0, right + 12 * WAN_RTT);
		assert_in_range(there, 0, right + 12 * WAN_RTT);
		assert_in_range(back, 0, right + 12 * WAN_RTT);
	}
}

/* It comes and goes, faster than it can be followed: slow, but nothing is lost. */
static void later__flapping(void **state)
{
	static const uint64_t period[] = { 30 * MS_NS, 100 * MS_NS, 300 * MS_NS, S_NS };
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t, when;

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(period) / sizeof(period[0]); i++) {
		narrow(&c, V4_9000, 0, false);
		start(&sn, &c);
		warm(&sn);
		when = simnet_now(&sn);
		for (uint32_t k = 0; k < 40; k++)
			both_at(&sn, when += period[i / 2], k & 1 ? 0 : 1420, i & 1);
		t = transfer(&sn, LONG_MSG, LIMIT_NS);
		say("1420 and 9000 in turn, each for %.0f ms, %s: %.2f ms, %llu too long\n",
		    ms(period[i / 2]), i & 1 ? "ICMP" : "no word", ms(t),
		    (unsigned long long)too_long(&sn));
		assert_in_range(t, 0, ideal_ns(&sn, LONG_MSG) + 40 * period[i / 2] + S_NS);
		done(&sn);
	}
}

/* Loss and reordering beside it: neither hides the narrow middle nor looks like one. */
static void later__with_loss_and_reordering(void **state)
{
	static struct simnet sn;
	struct sdr_sim_link bad = { .rate_bps = GBIT,
				    .delay_ns = WAN_DELAY,
				    .loss = 0.01,
				    .jitter_ns = 200 * US_NS,
				    .dup = 0.001 };
	struct simnet_cfg c;
	uint64_t t;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		narrow(&c, V4_9000, i & 1 ? 0 : 1420, false);
		c.virtual_payload = false;
		start(&sn, &c);
		warm(&sn);
		bad.mtu = c.link.mtu;
		sdr_sim_link_set_both(sn.w, 0, 1, &bad);
		if (i & 2)
			both_at(&sn, simnet_now(&sn) + 100 * MS_NS, i & 1 ? 1500 : 0, false);
		t = transfer(&sn, 32 * MB, LIMIT_NS);
		say("1 %% lost, %u%s: %.2f ms, ideal %.2f\n", c.link.mtu,
		    i & 2 ? ", then another" : "", ms(t), ms(ideal_ns(&sn, 32 * MB)));
		assert_in_range(t, 0, 2 * ideal_ns(&sn, 32 * MB) + 20 * WAN_RTT);
		done(&sn);
	}
}

/* ---- what nothing works with ----------------------------------------------------------------- */

/* Less than the least: an error in time, and one that says what it is. */
static void least__below_it_is_an_error(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_wr w = { .kind = SDR_REL_SEND, .peer = 1, .len = MB, .may_fail = true };
	struct simnet_wr r = { .kind = SDR_REL_RECV, .len = MB, .may_fail = true };
	struct simnet_op *op;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		narrow(&c, i & 1 ? V4_9000 : V4_1500, i & 2 ? 0 : 600, false);
		c.rel.timeout_ms = 5000;
		start(&sn, &c);
		if (i & 2) {
			warm(&sn);
			both(&sn, 600, false);
		}
		simnet_post(&sn, 1, &r);
		op = simnet_post(&sn, 0, &w);
		simnet_run_op(&sn, op, 6 * S_NS);
		must(&sn);
		say("600 bytes, %s: %s after %.2f s\n", i & 2 ? "later" : "from the start",
		    sdr_rel_strerror(op->cqe.prov_err),
		    (double)(op->done_ns - op->posted_ns) / 1e9);
		assert_int_not_equal(op->cqe.err, 0);
		assert_int_equal(op->cqe.prov_err & 0xff, SDR_REL_ERR_STALLED);
		done(&sn);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__the_first_message_is_little_later),
		cmocka_unit_test(start__own_route),
		cmocka_unit_test(start__goodput_of_the_right_size),
		cmocka_unit_test(start__each_direction_for_itself),
		cmocka_unit_test(start__every_length_arrives),
		cmocka_unit_test(later__a_narrow_middle_appears),
		cmocka_unit_test(later__flapping),
		cmocka_unit_test(later__with_loss_and_reordering),
		cmocka_unit_test(least__below_it_is_an_error),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
