/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Nothing comes back: how often a peer that is silent is asked, what is said twice so that nobody
 * has to ask, and what that costs where nobody is there.
 */
#include "base/sdr_rand.h"
#include "../bed/bed.h"
#include "rel/conn/sdr_probe.h"

#define KIB	1024u
#define RTT	(25 * MS)
#define MTU	4096u
#define SPARSE	(64 * KIB)
#define SHARE	1e-2 /* of the packets that bursts take */
#define BURST	8.0  /* packets of a burst, on average */
#define SEEDS	50u
#define SENDS	100u
#define LONGEST 12.0  /* RTTs */
#define TAIL	2000u /* messages of a tail */

/* ---- bursts ---------------------------------------------------------------------------------- */

/* Gilbert-Elliott, a step for each packet of a direction: a quiet flow is in a burst for long. */
struct bursts {
	uint64_t rng;
	bool bad[2];
	uint64_t lost;
};

static bool burst_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct bursts *g = b->user;
	double leave = 1 / BURST, enter = SHARE / (1 - SHARE) / BURST;
	double x = (double)(sdr_rand64(&g->rng) >> 11) * 0x1p-53;

	(void)what;
	g->bad[p->src] = g->bad[p->src] ? x >= leave : x < enter;
	g->lost += g->bad[p->src];
	return !g->bad[p->src];
}

static struct bed *probe_new(const struct sdr_scheme_ops *scheme)
{
	struct bed *b = bed_new(2);

	b->link.delay_ns = RTT / 2;
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = scheme;
		b->cfg[i].max_overhead = 0.25;
	}
	return b;
}

/* A message; RTTs until both sides know that it is there. */
static double send_one(struct bed *b, size_t len)
{
	static uint8_t from[4 * SPARSE], to[4 * SPARSE];
	uint64_t t0 = bed_now(b);
	struct bed_op *r = bed_recv(b, 1, to, len), *s = bed_send(b, 0, 1, from, len, 0);

	bed_wait(b, r, 60 * BED_SEC);
	bed_wait(b, s, 60 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	return (double)(bed_now(b) - t0) / RTT;
}

/* Booted, and the estimate of the round trip has settled. */
static void probe_boot(struct bed *b)
{
	bed_boot(b);
	for (uint32_t i = 0; i < 16; i++)
		bed_warm(b, 0, 1);
}

/* The longest of sparse messages, in RTTs. */
static double sparse(uint64_t seed, bool packets)
{
	struct bursts g = { .rng = seed };
	struct bed *b = probe_new(&sdr_scheme_auto);
	double most = 0, t;

	b->user = &g;
	b->link.rate_bps = 1000000000ull;
	if (!packets) {
		b->link.ge_loss = SHARE;
		b->link.ge_burst = BURST;
	}
	probe_boot(b);
	b->filter = packets ? burst_filter : NULL;
	for (uint32_t i = 0; i < SENDS; i++) {
		t = send_one(b, SPARSE);
		most = t > most ? t : most;
		bed_run(b, RTT + sdr_rand64(&g.rng) % (8 * RTT));
	}
	b->filter = NULL;
	bed_close(b);
	return most;
}

/* Bursts that are counted in packets, and such that are counted in time. */
static void bursts__a_quiet_flow(void **state)
{
	(void)state;
	for (int packets = 0; packets < 2; packets++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			double t = sparse(seed * 7919, packets);

			if (t > LONGEST)
				fail_msg("bursts in %s, seed %u: %.2f RTT",
					 packets ? "packets" : "time", (unsigned)seed, t);
		}
	}
}

static bool nothing(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	(void)b;
	(void)p;
	(void)what;
	return false;
}

/* Nothing passes for a while: it goes on with the first probe behind that. */
static void bursts__of_a_time(void **state)
{
	static const uint64_t ns[] = { 20 * MS, 60 * MS, 130 * MS, 200 * MS, 280 * MS };

	(void)state;
	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
		struct bed *b = probe_new(&sdr_scheme_auto);
		struct bed_op *s;
		uint64_t t0;

		probe_boot(b);
		bed_recv(b, 1, bed_buf(b, SPARSE, 0), SPARSE);
		t0 = bed_now(b);
		b->filter = nothing;
		s = bed_send(b, 0, 1, bed_buf(b, SPARSE, 3), SPARSE, 0);
		bed_run(b, ns[i]);
		b->filter = NULL;
		bed_wait(b, s, 10 * BED_SEC);
		bed_assert_ok(s);
		/* until a probe, its answer, the data */
		assert_in_range(s->at - t0, ns[i], ns[i] + RTT * 35 / 10);
		bed_close(b);
	}
}

/* ---- who does not answer at all -------------------------------------------------------------- */

/* Packets that node 0 sends within that time. */
static uint64_t sent_in(struct bed *b, uint64_t ns)
{
	uint64_t before = bed_seen(b, 0, BED_PACKET);

	bed_run(b, ns);
	return bed_seen(b, 0, BED_PACKET) - before;
}

static void silence__is_asked_often_and_then_less(void **state)
{
	struct bed *b = probe_new(&sdr_scheme_auto);
	struct sdr_conn *c;
	struct bed_op *s;
	uint64_t n, t0;

	(void)state;
	b->cfg[0].timeout_ms = b->cfg[1].timeout_ms = 30000;
	probe_boot(b);
	c = bed_conn(b, 0, 1);
	b->filter = nothing;
	t0 = bed_now(b);
	s = bed_send(b, 0, 1, bed_buf(b, SPARSE, 3), SPARSE, 0);
	n = sent_in(b, 13 * RTT);
	assert_in_range(c->pto.count, 9, SDR_PROBE_PATIENT + 1);
	assert_in_range(n, 9, SDR_PROBE_PATIENT * (SDR_PROBE_COPIES_MAX + 2));
	bed_run(b, 2 * BED_SEC - 13 * RTT);
	/* as any sender that hears nothing: about one a second, and what goes with it */
	n = sent_in(b, 20 * BED_SEC);
	assert_in_range(n, 20, 60);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	assert_in_range(s->at - t0, 30 * BED_SEC, 31 * BED_SEC);
	b->filter = NULL;
	bed_close(b);
}

/* Ten thousand connections of an endpoint whose peers are gone: what exceeds their doubling. */
static void silence__of_many_is_paid_from_one_budget(void **state)
{
	struct sdr_rel rel = { .now = 10 * BED_SEC };
	struct sdr_conn *c = calloc(1, sizeof(*c));
	uint32_t extra = 0, doubled = 0;

	(void)state;
	assert_non_null(c);
	c->rel = &rel;
	c->npaths = 1;
	for (uint32_t i = 0; i < 10000; i++) {
		sdr_rtt_init(&c->main.rtt, RTT);
		sdr_probe_answered(c);
		while (c->pto.count < 8) {
			sdr_probe_due(c);
			extra += c->pto.shift ? 0 : c->pto.copies + 1;
		}
		doubled += c->pto.shift == 8;
	}
	assert_in_range(extra, SDR_PROBE_BUDGET / 2, SDR_PROBE_BUDGET);
	assert_true(doubled > 9900);
	/* And it comes back, slowly. */
	rel.now += 20 * SDR_PROBE_BUDGET_NS;
	sdr_probe_answered(c);
	while (c->pto.count < 8)
		sdr_probe_due(c);
	assert_in_range(c->pto.shift, 1, 7);
	free(c);
}

/* Next door a silence of milliseconds is a busy host: it is not asked more often than before. */
static void silence__of_a_near_peer(void **state)
{
	struct sdr_rel rel = { .now = 10 * BED_SEC };
	struct sdr_conn *c = calloc(1, sizeof(*c));
	uint64_t last = 0;

	(void)state;
	assert_non_null(c);
	c->rel = &rel;
	c->npaths = 1;
	sdr_rtt_init(&c->main.rtt, MS / 20);
	while (sdr_probe_rto(c) < SDR_PROBE_NEAR_NS) {
		assert_true(sdr_probe_rto(c) > last);
		last = sdr_probe_rto(c);
		sdr_probe_due(c);
		assert_int_equal(c->pto.copies, 0);
	}
	assert_in_range(c->pto.count, 2, 5);
	free(c);
}

/* ---- away ------------------------------------------------------------------------------------ */

#define TIMEOUT (30 * BED_SEC) /* of the defaults */

/* Two applications compute for longer than the timeout behind a message, and come back in turn. */
static void away__both_compute(void **state)
{
	for (uint32_t first = 0; first < 2; first++) {
		struct bed *b = probe_new(&sdr_scheme_auto);
		struct bed_op *r, *s;
		uint64_t back;

		(void)state;
		probe_boot(b);
		back = bed_now(b) + 3 * TIMEOUT;
		r = bed_recv(b, 1, bed_buf(b, SPARSE, 0), SPARSE);
		s = bed_send(b, 0, 1, bed_buf(b, SPARSE, 3), SPARSE, 0);
		bed_rounds(b); /* it leaves */
		sdr_sim_node_stall(b->w, first, back);
		sdr_sim_node_stall(b->w, !first, back + TIMEOUT / 2);
		bed_run(b, 4 * TIMEOUT);
		bed_assert_ok(r);
		bed_assert_ok(s);
		bed_close(b);
	}
}

/* The peer has gone meanwhile: it is asked, for as long as if we had been there. */
static void away__the_peer_is_gone(void **state)
{
	struct bed *b = probe_new(&sdr_scheme_auto);
	uint64_t back;
	struct bed_op *s;

	(void)state;
	probe_boot(b);
	s = bed_send(b, 0, 1, bed_buf(b, SPARSE, 3), SPARSE, 0);
	bed_rounds(b);
	bed_crash(b, 1);
	back = bed_now(b) + 3 * TIMEOUT;
	sdr_sim_node_stall(b->w, 0, back);
	bed_run(b, 3 * TIMEOUT + TIMEOUT / 2);
	assert_int_equal(s->n, 0);
	bed_run(b, TIMEOUT / 2 + BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	bed_close(b);
}

/* Who looks only now and then does not wait for ever, either. */
static void away__again_and_again(void **state)
{
	struct bed *b = probe_new(&sdr_scheme_auto);
	struct bed_op *s;
	uint32_t looks;

	(void)state;
	probe_boot(b);
	s = bed_send(b, 0, 1, bed_buf(b, SPARSE, 3), SPARSE, 0);
	bed_rounds(b);
	bed_crash(b, 1);
	for (looks = 0; !s->n && looks < 100; looks++) {
		sdr_sim_node_stall(b->w, 0, bed_now(b) + 10 * BED_SEC);
		bed_run(b, 10 * BED_SEC + MS);
	}
	assert_in_range(looks, 10, 32);
	bed_assert_err(s, SDR_REL_ERR_STOPPED);
	bed_close(b);
}

/* ---- said twice ------------------------------------------------------------------------------ */

/* Node 0 knows that its path loses, or that it does not. */
static void path_known(struct bed *b, bool loses)
{
	struct sdr_loss_est *l = &bed_conn(b, 0, 1)->peer->loss;

	for (uint32_t i = 0; i < 1000; i++) {
		sdr_loss_est_arrived(l, bed_now(b), 100);
		if (loses)
			sdr_loss_est_lost(l, bed_now(b), 1);
	}
}

/* A message of one packet: the only acknowledgement is lost. */
static void twice__the_answer_to_a_lone_packet(void **state)
{
	struct bed *b = probe_new(&sdr_scheme_auto);

	(void)state;
	probe_boot(b);
	path_known(b, true);
	for (uint32_t i = 0; i < 20; i++) {
		struct bed_rule *d = bed_drop(b, 1, BED_PACKET, 0, 1);
		double t = send_one(b, 100);

		assert_int_equal(d->hit, 1);
		b->nrules = 0;
		assert_true(t < 1.1);
		bed_run(b, 3 * RTT);
	}
	assert_int_equal(bed_stats(b, 0).rtx_tlp + bed_stats(b, 0).rec_rtx, 0);
	bed_close(b);
}

/*
 * Answers alone are lost: who gave them hears of it by being asked, and from then on says twice
 * what nobody has to ask for.
 */
static void twice__after_the_first_question(void **state)
{
	static const size_t len[] = { 100, SPARSE };

	(void)state;
	for (size_t i = 0; i < sizeof(len) / sizeof(*len); i++) {
		struct bed *b = probe_new(&sdr_scheme_sr);

		probe_boot(b);
		for (uint32_t k = 0; k < 10; k++) {
			struct bed_rule *d;
			double t;

			d = bed_drop(b, 1, i ? BED_COMPLETE : BED_PACKET, 0, 1);
			t = send_one(b, len[i]);
			assert_int_equal(d->hit, 1);
			b->nrules = 0;
			assert_true(k ? t < 1.15 : t > 2);
			bed_run(b, 3 * RTT);
		}
		bed_close(b);
	}
}

/* Where nothing is lost one packet is answered with one. */
static void twice__not_where_nothing_is_lost(void **state)
{
	struct bed *b = probe_new(&sdr_scheme_auto);
	uint64_t before;

	(void)state;
	probe_boot(b);
	path_known(b, false);
	bed_run(b, BED_SEC);
	before = bed_seen(b, 1, BED_PACKET);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(send_one(b, 100) < 1.05);
		bed_run(b, 3 * RTT);
	}
	assert_int_equal(bed_seen(b, 1, BED_PACKET) - before, 20);
	bed_close(b);
}

/* Every datagram of the answers to a message with parity, lost in turn. */
static void twice__any_answer_to_a_message_with_parity(void **state)
{
	static const size_t len[] = { MTU, 2 * MTU, 5 * MTU, SPARSE };

	(void)state;
	for (size_t i = 0; i < sizeof(len) / sizeof(*len); i++) {
		uint64_t n = 1;

		for (uint64_t k = 0; k < n; k++) {
			struct bed *b = probe_new(&sdr_scheme_hybrid);
			struct bed_rule *d;
			double t;

			probe_boot(b);
			path_known(b, true);
			d = bed_drop(b, 1, BED_ALL, k, 1);
			t = send_one(b, len[i]);
			n = k ? n : d->seen;
			if (t > 1.15)
				fail_msg("%zu bytes, answer %u: %.2f RTT", len[i], (unsigned)k, t);
			bed_close(b);
		}
	}
}

/*
 * Losses both ways at 400 Gbit/s: of a thousand messages at most one takes 1.1 of what it has to
 * when its path is known.
 */
static void twice__the_tail_of_small_messages(void **state)
{
	static const size_t len[] = { MTU, 4 * MTU, 7 * MTU, SPARSE, 2 * SPARSE, 4 * SPARSE };
	static const double loss[] = { 1e-3, 1e-2 };

	(void)state;
	for (int l = 0; l < 2; l++) {
		uint32_t late = 0, all = 0;

		for (size_t i = 0; i < sizeof(len) / sizeof(*len); i++) {
			struct bed *b = probe_new(&sdr_scheme_auto);

			b->link.loss = loss[l];
			b->link.rate_bps = b->cfg[0].rate_bps = b->cfg[1].rate_bps =
				400000000000ull;
			probe_boot(b);
			for (uint32_t k = 0; k < 1000 + TAIL; k++) {
				double t = send_one(b, len[i]);

				all += k >= 1000;
				late += k >= 1000 && t > 1.1;
				bed_run(b, MS);
			}
			bed_close(b);
		}
		if (late > all / 1000)
			fail_msg("loss %g: %u of %u messages are late", loss[l], late, all);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts__a_quiet_flow),
		cmocka_unit_test(bursts__of_a_time),
		cmocka_unit_test(silence__is_asked_often_and_then_less),
		cmocka_unit_test(silence__of_many_is_paid_from_one_budget),
		cmocka_unit_test(silence__of_a_near_peer),
		cmocka_unit_test(away__both_compute),
		cmocka_unit_test(away__the_peer_is_gone),
		cmocka_unit_test(away__again_and_again),
		cmocka_unit_test(twice__the_answer_to_a_lone_packet),
		cmocka_unit_test(twice__after_the_first_question),
		cmocka_unit_test(twice__not_where_nothing_is_lost),
		cmocka_unit_test(twice__any_answer_to_a_message_with_parity),
		cmocka_unit_test(twice__the_tail_of_small_messages),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
