/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Scenarios of the path: loss, delay, outages, reordering, damage and repetition, each with a bound
 * on the completion time or on a count.
 */
#include "scenarios.h"
#include "rel/bulk/sdr_scheme.h"

#define SEEDS 11 /* a median is taken over so many */

static uint64_t rtx_of(const struct sdr_rel_stats *st)
{
	return st->rtx_rack + st->rtx_nack + st->rtx_tlp + st->rtx_rto;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Median over seeds of (time - ideal) in RTTs. */
static double median_excess(const char *name, const struct simnet_cfg *base,
			    const struct sdr_sim_link *back, uint64_t len, uint64_t limit_ns)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_rel_stats st;
	uint64_t t[SEEDS], ideal = 0;
	double rtt = (double)(2 * base->link.delay_ns), med;
	struct sdr_sim_link clean = { .rate_bps = base->link.rate_bps,
				      .delay_ns = base->link.delay_ns };

	for (uint64_t s = 0; s < SEEDS; s++) {
		c = *base;
		c.seed = 100 + s;
		c.link = clean;
		start(&sn, &c);
		warm(&sn);
		sdr_sim_link_set(sn.w, 0, 1, &base->link);
		if (back)
			sdr_sim_link_set(sn.w, 1, 0, back);
		t[s] = transfer(&sn, len, limit_ns);
		ideal = ideal_ns(&sn, len);
		if (!s) {
			simnet_stats(&sn, &st);
			say("%s: ideal %.2f ms; rack %llu nack %llu tlp %llu rto %llu spurious %llu\n",
			    name, ms(ideal), (unsigned long long)st.rtx_rack,
			    (unsigned long long)st.rtx_nack, (unsigned long long)st.rtx_tlp,
			    (unsigned long long)st.rtx_rto, (unsigned long long)st.rtx_spurious);
		}
		done(&sn);
	}
	qsort(t, SEEDS, sizeof(*t), by_value);
	med = ((double)t[SEEDS / 2] - (double)ideal) / rtt;
	say("%s: excess over ideal in RTT: min %.2f median %.2f max %.2f\n", name,
	    ((double)t[0] - (double)ideal) / rtt, med,
	    ((double)t[SEEDS - 1] - (double)ideal) / rtt);
	return med;
}

/* ---- clean networks -------------------------------------------------------------------------- */

static void handshake__first_message_within_two_rtts(void **state)
{
	static struct simnet sn;
	const uint64_t delays[] = { 10 * US_NS, MS_NS, WAN_DELAY, 150 * MS_NS, 300 * MS_NS };
	struct simnet_cfg c;
	struct simnet_op *r;

	(void)state;
	for (size_t i = 0; i < sizeof(delays) / sizeof(*delays); i++) {
		simnet_cfg_default(&c);
		c.link.delay_ns = delays[i];
		start(&sn, &c);
		uint64_t t0 = simnet_now(&sn);

		r = simnet_recv(&sn, 1, 0, 100);
		simnet_send(&sn, 0, 1, 100, 0);
		simnet_run_all(&sn, 10 * S_NS);
		must(&sn);
		say("handshake: RTT %.3f ms, first message after %.2f RTT\n", ms(2 * delays[i]),
		    (double)(r->done_ns - t0) / (double)(2 * delays[i]));
		assert_in_range(r->done_ns - t0, 0, 4 * delays[i]);
		simnet_run_for(&sn, S_NS);
		simnet_check_no_repair(&sn);
		done(&sn);
	}
}

static void longrtt__no_spurious_retransmission(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t;

	(void)state;
	wan(&c, 1, GBIT);
	c.link.delay_ns = 300 * MS_NS;
	start(&sn, &c);
	warm(&sn);
	t = transfer(&sn, 16 * MB, 10 * S_NS);
	say("longrtt: %.2f ms, ideal %.2f\n", ms(t), ms(ideal_ns(&sn, 16 * MB)));
	assert_in_range(t, 0, ideal_ns(&sn, 16 * MB) + 600 * MS_NS * 3 / 10);
	simnet_check_no_repair(&sn);
	done(&sn);
}

static void clean_run(uint64_t rate, const struct sdr_scheme_ops *scheme,
		      const struct sdr_cc_ops *cc, double bound_rtts)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t, ideal;

	wan(&c, 1, rate);
	c.rel.scheme = scheme;
	c.rel.cc = cc;
	start(&sn, &c);
	warm(&sn);
	t = transfer(&sn, 64 * MB, 60 * S_NS);
	ideal = ideal_ns(&sn, 64 * MB);
	say("wan_clean %llu Gbit/s scheme %s cc %s: %.3f ms, ideal %.3f, excess %.2f RTT\n",
	    (unsigned long long)(rate / GBIT), scheme->name, cc->name, ms(t), ms(ideal),
	    ((double)t - (double)ideal) / WAN_RTT);
	simnet_run_for(&sn, S_NS);
	simnet_check_no_repair(&sn);
	must(&sn);
	assert_in_range(t, ideal - WAN_RTT / 100, ideal + (uint64_t)(bound_rtts * WAN_RTT));
	done(&sn);
}

static void wan_clean__within_0_3_rtt_and_nothing_sent_twice(void **state)
{
	(void)state;
	clean_run(10 * GBIT, &sdr_scheme_sr, &sdr_cc_fixed, 0.3);
	clean_run(GBIT, &sdr_scheme_sr, &sdr_cc_fixed, 0.3);
	clean_run(10 * GBIT, &sdr_scheme_sr_nack, &sdr_cc_fixed, 0.3);
	clean_run(10 * GBIT, &sdr_scheme_sr_rto, &sdr_cc_fixed, 0.3);
}

static void wan_clean__bbr_sends_nothing_twice(void **state)
{
	(void)state;
	clean_run(10 * GBIT, &sdr_scheme_sr, &sdr_cc_bbr, 14);
	clean_run(GBIT, &sdr_scheme_sr, &sdr_cc_bbr, 12);
}

static void wan_clean__many_messages_of_all_sizes(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.virtual_payload = false;
	start(&sn, &c);
	for (uint32_t i = 0; i < 300; i++)
		simnet_recv(&sn, 1, SIMNET_NOBODY, 70000);
	for (uint32_t i = 0; i < 300; i++) {
		simnet_send(&sn, 0, 1, i * 233 % 70000, i & 1 ? SDR_REL_F_DELIVERY : 0);
		if (i % 16 == 0)
			simnet_run_for(&sn, 100 * US_NS);
	}
	simnet_run_all(&sn, 2 * S_NS);
	simnet_run_for(&sn, S_NS);
	simnet_check_end(&sn);
	simnet_check_no_repair(&sn);
	done(&sn);
}

/* ---- loss ------------------------------------------------------------------------------------ */

static void loss_run(const char *name, double loss, double burst, uint64_t rate, double bound_rtts)
{
	struct simnet_cfg c;

	wan(&c, 1, rate);
	if (burst > 1) {
		c.link.ge_loss = loss;
		c.link.ge_burst = burst;
	} else {
		c.link.loss = loss;
	}
	struct sdr_sim_link back = c.link;
	double med = median_excess(name, &c, &back, 64 * MB, 120 * S_NS);

	if (med > bound_rtts)
		fail_msg("%s: median %.2f RTT over ideal, bound %.2f", name, med, bound_rtts);
}

static void wan_1e5__median(void **state)
{
	(void)state;
	loss_run("wan_1e5 10G", 1e-5, 0, 10 * GBIT, 1.5);
}

static void wan_1e3__median(void **state)
{
	(void)state;
	loss_run("wan_1e3 10G", 1e-3, 0, 10 * GBIT, 2.5);
	loss_run("wan_1e3 1G", 1e-3, 0, GBIT, 2.5);
}

static void wan_1e2__median(void **state)
{
	(void)state;
	loss_run("wan_1e2 10G", 1e-2, 0, 10 * GBIT, 3.5);
	loss_run("wan_1e2 1G", 1e-2, 0, GBIT, 3.5);
}

static void burst_64__median(void **state)
{
	(void)state;
	loss_run("burst_64", 1e-2, 64, 10 * GBIT, 3.5);
}

static void schemes__sr_is_not_worse_than_the_plain_ones(void **state)
{
	struct simnet_cfg c;
	double sr, nack, rto;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.link.loss = 1e-3;
	sr = median_excess("sr", &c, &c.link, 16 * MB, 120 * S_NS);
	c.rel.scheme = &sdr_scheme_sr_nack;
	nack = median_excess("sr_nack", &c, &c.link, 16 * MB, 120 * S_NS);
	c.rel.scheme = &sdr_scheme_sr_rto;
	rto = median_excess("sr_rto", &c, &c.link, 16 * MB, 120 * S_NS);
	assert_true(sr <= nack + 0.3);
	assert_true(nack < rto);
	assert_true(rto >= 2.5); /* a chunk lost waits three RTTs */
}

struct tail {
	struct simnet *sn;
	uint64_t from, to; /* DATA packets of link 0 -> 1 dropped, by number */
	uint64_t base;
};

static bool tail_filter(void *user, struct sdr_sim_packet *p)
{
	struct tail *t = user;

	return !(p->kind == SDR_SIM_DATA && p->src == 0 && p->nth > t->base + t->from &&
		 p->nth <= t->base + t->to);
}

static bool comb_filter(void *user, struct sdr_sim_packet *p)
{
	struct tail *t = user;
	uint64_t nth = p->nth - t->base;

	return !(p->kind == SDR_SIM_DATA && p->src == 0 && p->nth > t->base && nth <= t->to &&
		 nth % 100 == 0);
}

static void sr_rto__each_packet_of_a_flight_waits_its_own_time(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct tail t = { 0 };
	struct sdr_sim_link_stats st;
	uint64_t dt, n = 4096;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.rel.scheme = &sdr_scheme_sr_rto;
	c.filter = comb_filter;
	c.user = &t;
	start(&sn, &c);
	warm(&sn);
	sdr_sim_link_stats(sn.w, 0, 1, &st);
	t.base = st.data;
	t.to = n;
	dt = transfer(&sn, n * 4096, 10 * S_NS);
	assert_in_range(dt, ideal_ns(&sn, n * 4096) + 2.8 * WAN_RTT,
			ideal_ns(&sn, n * 4096) + 3.1 * WAN_RTT);
	done(&sn);
}

static void tail_loss__costs_two_rtts_at_most(void **state)
{
	static struct simnet sn;
	const uint64_t lost[] = { 1, 10, 100 };
	struct simnet_cfg c;
	struct tail t = { 0 };
	struct sdr_sim_link_stats st;
	uint64_t dt, ideal, n = 4096;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		wan(&c, 1, 10 * GBIT);
		c.filter = tail_filter;
		c.user = &t;
		t.from = t.to = 0;
		start(&sn, &c);
		warm(&sn);
		sdr_sim_link_stats(sn.w, 0, 1, &st);
		t.base = st.data;
		t.from = n - lost[i];
		t.to = n;
		dt = transfer(&sn, n * 4096, 10 * S_NS);
		ideal = ideal_ns(&sn, n * 4096);
		say("tail_loss of %llu: excess %.2f RTT\n", (unsigned long long)lost[i],
		    ((double)dt - (double)ideal) / WAN_RTT);
		assert_in_range(dt, 0, ideal + 2 * WAN_RTT);
		done(&sn);
	}
}

static void ack_loss__half_of_the_acknowledgements(void **state)
{
	struct simnet_cfg c;
	struct sdr_sim_link back;
	double med;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	back = c.link;
	back.loss = 0.5;
	med = median_excess("ack_loss", &c, &back, 64 * MB, 60 * S_NS);
	assert_true(med <= 2.5); /* so is the report of the end: a probe and its answer */
}

static void blackhole__five_seconds_on_two_off(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t0, t, ideal;

	(void)state;
	wan(&c, 1, GBIT / 10);
	start(&sn, &c);
	warm(&sn);
	t0 = simnet_now(&sn);
	for (uint64_t i = 0; i < 20; i++)
		sdr_sim_blackout_both(sn.w, 0, 1, t0 + i * 7 * S_NS + 5 * S_NS,
				      t0 + i * 7 * S_NS + 7 * S_NS);
	t = transfer(&sn, 256 * MB, 120 * S_NS);
	ideal = ideal_ns(&sn, 256 * MB);
	say("blackhole: %.2f s, ideal without outages %.2f\n", ms(t) / 1e3, ms(ideal) / 1e3);
	/*
	 * 4 or 5 outages of 2 s, each with at most the longest probe interval (1 s) and what was in
	 * flight
	 */
	assert_in_range(t, 0, ideal + 6 * 3200 * MS_NS);
	done(&sn);
}

static void blackout_10s__finishes_soon_after(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t0, t, ideal;

	(void)state;
	wan(&c, 1, GBIT);
	start(&sn, &c);
	warm(&sn);
	t0 = simnet_now(&sn);
	sdr_sim_blackout_both(sn.w, 0, 1, t0 + 200 * MS_NS, t0 + 10200 * MS_NS);
	t = transfer(&sn, 64 * MB, 20 * S_NS);
	ideal = ideal_ns(&sn, 64 * MB);
	say("blackout_10s: %.3f s, ideal %.3f\n", ms(t) / 1e3, ms(ideal) / 1e3);
	assert_in_range(t, 0, ideal + 11500 * MS_NS);
	done(&sn);
}

/* ---- order, damage, repetition --------------------------------------------------------------- */

static void reorder_spray__adapts(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_rel_stats a, b;
	uint64_t t;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.link.jitter_ns = 4 * MS_NS; /* +- 2 ms, each packet for itself */
	start(&sn, &c);
	warm(&sn);
	for (int i = 0; i < 3; i++)
		transfer(&sn, 16 * MB, 20 * S_NS);
	simnet_node_stats(&sn, 0, &a);
	t = transfer(&sn, 64 * MB, 20 * S_NS);
	simnet_node_stats(&sn, 0, &b);
	say("reorder_spray: first 48 MiB: %llu sent again; then 64 MiB: %llu of %llu packets, %llu for nothing, "
	    "excess %.2f RTT\n",
	    (unsigned long long)rtx_of(&a), (unsigned long long)(rtx_of(&b) - rtx_of(&a)),
	    (unsigned long long)(b.pkts_tx - a.pkts_tx),
	    (unsigned long long)(b.rtx_spurious - a.rtx_spurious),
	    ((double)t - (double)ideal_ns(&sn, 64 * MB)) / WAN_RTT);
	/*
	 * Data that overtake the record which announces them land nowhere and must be sent again:
	 * at most what leaves within the spread.  Nothing that arrived is sent again.
	 */
	assert_in_range(rtx_of(&b) - rtx_of(&a), 0,
			4 * MS_NS * (10 * GBIT / 8 / 1000) / 1000000 / 4096);
	assert_in_range(b.rtx_spurious - a.rtx_spurious, 0, 4);
	assert_in_range(t, 0, ideal_ns(&sn, 64 * MB) + WAN_RTT);
	done(&sn);
}

static void corrupt__no_wrong_byte(void **state)
{
	static struct simnet sn;
	const double rates[] = { 0.02, 0.3 };
	struct simnet_cfg c;
	struct sdr_rel_stats st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		wan(&c, 1, GBIT);
		c.virtual_payload = false;
		c.link.corrupt = rates[i];
		start(&sn, &c);
		transfer(&sn, 8 * MB, 60 * S_NS);
		simnet_stats(&sn, &st);
		assert_true(st.pkts_bad > 10);
		simnet_check_end(&sn);
		done(&sn);
	}
}

struct replay {
	struct simnet *sn;
	double p;
	uint64_t delay_ns;
	uint64_t n;
};

static bool replay_filter(void *user, struct sdr_sim_packet *p)
{
	struct replay *r = user;

	if (r->p > 0 && simnet_chance(r->sn, r->p)) {
		sdr_sim_replay(r->sn->w, p, r->delay_ns + simnet_below(r->sn, r->delay_ns));
		r->n++;
	}
	return true;
}

static void stream_messages(struct simnet *sn, uint32_t n, uint64_t len, uint32_t window)
{
	struct simnet_op **r = calloc(n, sizeof(*r)), **s = calloc(n, sizeof(*s));
	uint32_t done_n = 0, sent = 0;
	uint64_t end = simnet_now(sn) + 120 * S_NS;

	while (done_n < n && !sn->failed && simnet_now(sn) < end) {
		while (sent < n && sent - done_n < window) {
			r[sent] = simnet_recv(sn, 1, 0, len);
			s[sent] = simnet_send(sn, 0, 1, len, SDR_REL_F_DATA);
			if (!r[sent] || !s[sent])
				break;
			sent++;
		}
		simnet_advance(sn, end);
		while (done_n < sent && simnet_op_done(r[done_n]) && simnet_op_done(s[done_n]))
			done_n++;
	}
	free(r);
	free(s);
	if (done_n < n)
		simnet_fail(sn, "only %u of %u messages arrived", done_n, n);
}

static void dup_replay__old_packets_touch_nothing(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct replay r = { .sn = &sn, .p = 0.05, .delay_ns = 10 * S_NS };

	(void)state;
	wan(&c, 1, GBIT);
	c.virtual_payload = false;
	c.rel.split = (struct sdr_imm_split){ 4, 24, 4 };
	c.rel.generations = 16;
	c.link.dup = 0.05;
	c.filter = replay_filter;
	c.user = &r;
	start(&sn, &c);
	for (int i = 0; i < 8; i++) { /* slots wrap 12 times in all, generations do not */
		stream_messages(&sn, 24, 20000, 4);
		simnet_run_for(&sn, 2 * S_NS);
		simnet_check_memory(&sn, 1);
	}
	assert_true(r.n > 50);
	r.p = 0;
	simnet_run_for(&sn, 25 * S_NS);
	simnet_check_end(&sn);
	done(&sn);
}

/*
 * Small bulk messages as fast as they go: 16 slots wrap every 0.2 ms, generations every 3.5 ms, and
 * packets come again 0.3 to 0.6 ms later, when their slot belongs to another message.
 */
static void wrap__late_packets_never_reach_newer_messages(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct replay r = { .sn = &sn, .p = 0.05, .delay_ns = 300 * US_NS };
	struct sdr_uc_stats st;
	struct sdr_uc *uc;
	uint64_t t0;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.link.delay_ns = 50 * US_NS;
	c.virtual_payload = false;
	c.rel.split = (struct sdr_imm_split){ 4, 24, 4 };
	c.rel.generations = 16;
	c.link.reorder = 0.01;
	c.link.reorder_ns = 400 * US_NS;
	c.filter = replay_filter;
	c.user = &r;
	start(&sn, &c);
	t0 = simnet_now(&sn);
	stream_messages(&sn, 6000, 5000, 8);
	must(&sn);
	uc = sdr_context_uc(sdr_rel_context(sn.nodes[1].ep->rel));
	uc->ops->stats(uc, &st);
	say("wrap: 6000 messages in %.3f ms, %llu packets came late\n", ms(simnet_now(&sn) - t0),
	    (unsigned long long)st.pkts_late);
	assert_true(st.pkts_late > 300);
	simnet_run_for(&sn, S_NS);
	simnet_check_end(&sn);
	done(&sn);
}

static void wrap__many_tiny_messages(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct replay r = { .sn = &sn, .p = 0.01, .delay_ns = 3 * MS_NS };

	(void)state;
	wan(&c, 1, GBIT);
	c.link.delay_ns = 50 * US_NS;
	c.virtual_payload = false;
	c.link.loss = 0.002;
	c.link.dup = 0.01;
	c.filter = replay_filter;
	c.user = &r;
	start(&sn, &c);
	stream_messages(&sn, 10000, 24, 128);
	simnet_check_memory(&sn, 1);
	done(&sn);
}

/* ---- determinism ----------------------------------------------------------------------------- */

static void trace__same_seed_same_trace(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t hash[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		wan(&c, i < 2 ? 5 : 6, GBIT);
		c.link.loss = 0.02;
		c.link.dup = 0.01;
		c.link.jitter_ns = MS_NS;
		start(&sn, &c);
		transfer(&sn, 8 * MB, 20 * S_NS);
		hash[i] = sn.trace;
		done(&sn);
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handshake__first_message_within_two_rtts),
		cmocka_unit_test(longrtt__no_spurious_retransmission),
		cmocka_unit_test(wan_clean__within_0_3_rtt_and_nothing_sent_twice),
		cmocka_unit_test(wan_clean__bbr_sends_nothing_twice),
		cmocka_unit_test(wan_clean__many_messages_of_all_sizes),
		cmocka_unit_test(wan_1e5__median),
		cmocka_unit_test(wan_1e3__median),
		cmocka_unit_test(wan_1e2__median),
		cmocka_unit_test(burst_64__median),
		cmocka_unit_test(schemes__sr_is_not_worse_than_the_plain_ones),
		cmocka_unit_test(sr_rto__each_packet_of_a_flight_waits_its_own_time),
		cmocka_unit_test(tail_loss__costs_two_rtts_at_most),
		cmocka_unit_test(ack_loss__half_of_the_acknowledgements),
		cmocka_unit_test(blackhole__five_seconds_on_two_off),
		cmocka_unit_test(blackout_10s__finishes_soon_after),
		cmocka_unit_test(reorder_spray__adapts),
		cmocka_unit_test(corrupt__no_wrong_byte),
		cmocka_unit_test(dup_replay__old_packets_touch_nothing),
		cmocka_unit_test(wrap__late_packets_never_reach_newer_messages),
		cmocka_unit_test(wrap__many_tiny_messages),
		cmocka_unit_test(trace__same_seed_same_trace),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
