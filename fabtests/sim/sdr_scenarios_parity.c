/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Scenarios of transfers with parity: every order of arrival of a tiny one, completion times where
 * Selective Repeat pays a round trip, parity that comes and goes with the loss, and paths that lose
 * in every way there is.
 */
#include "scenarios.h"
#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "wire/sdr_wire.h"

/* ---- every order of arrival ------------------------------------------------------------------ */

#define TINY_DATA  4u /* packets; k 2, m 1: two codewords with a parity packet each */
#define TINY_PKTS  6u
#define TINY_MTU   1024u
#define TINY_LEN   (TINY_DATA * TINY_MTU - 100)
#define TINY_FATES (1 + TINY_PKTS * 4)

/* What becomes of one packet beside the order. */
enum fate { FATE_LOST, FATE_TWICE, FATE_LATE, FATE_REUSED };

struct tiny {
	struct simnet sn;
	uint8_t order[TINY_PKTS]; /* place in the order of arrival, by packet */
	uint32_t sent;		  /* packets of the transfer seen */
	uint32_t victim;
	enum fate fate;
	uint32_t hit;
};

static bool tiny_filter(void *user, struct sdr_sim_packet *p)
{
	struct tiny *t = user;
	uint32_t i;

	if (p->kind != SDR_SIM_DATA || p->src != 0 || t->sent >= TINY_PKTS)
		return true;
	i = t->sent++;
	/*
	 * All in the planned order, behind the record; repairs come a round trip later, on their
	 * own.
	 */
	p->extra_ns = MS_NS + t->order[i] * 100 * US_NS;
	if (i != t->victim)
		return true;
	t->hit++;
	switch (t->fate) {
	case FATE_LOST:
		return false;
	case FATE_TWICE: /* once more behind all others of the transfer */
		sdr_sim_replay(t->sn.w, p, WAN_DELAY + MS_NS + TINY_PKTS * 100 * US_NS);
		return true;
	case FATE_LATE: /* when the transfer is over, and the next ones are under way */
		p->extra_ns = 3 * WAN_RTT;
		return true;
	case FATE_REUSED: /* when its number has been used again: 16 IDs, two a transfer */
		p->extra_ns = 14 * WAN_RTT;
		return true;
	}
	return true;
}

/* The receiver uses its buffer for something else at once. */
static void tiny_done(void *user, struct simnet_op *op)
{
	(void)user;
	if (!simnet_is_recv(op->kind) || op->cqe.err)
		return;
	simnet_parts_set(op, SIMNET_USED);
	simnet_op_seal(op);
}

static void tiny_open(struct tiny *t, struct simnet_cfg *c)
{
	wan(c, 1, 0);
	c->virtual_payload = false;
	c->node.mtu = TINY_MTU;
	c->link.rate_bps = 0;
	c->rel.rate_bps = 10 * GBIT;
	c->rel.scheme = &sdr_scheme_ec;
	c->rel.ec_code = SDR_CODE_MDS;
	c->rel.ec_k = 2;
	c->rel.ec_m = 1;
	c->rel.chunk = TINY_MTU;
	c->rel.split = (struct sdr_imm_split){ 4, 24, 4 };
	c->filter = tiny_filter;
	c->user = t;
	c->on_done = tiny_done;
	t->sent = TINY_PKTS;
	start(&t->sn, c);
	warm(&t->sn);
}

/* The next order in the sense of the dictionary; false: that was the last. */
static bool order_next(uint8_t *o)
{
	uint32_t i = TINY_PKTS - 1, k = TINY_PKTS - 1;
	uint8_t x;

	while (i && o[i - 1] >= o[i])
		i--;
	if (!i)
		return false;
	while (o[k] <= o[i - 1])
		k--;
	x = o[i - 1], o[i - 1] = o[k], o[k] = x;
	for (k = TINY_PKTS - 1; i < k; i++, k--)
		x = o[i], o[i] = o[k], o[k] = x;
	return true;
}

/* All 720 orders with one fate of one packet, one transfer behind the other on the same numbers. */
static uint64_t tiny_orders(uint32_t fate)
{
	static struct tiny t;
	struct sdr_rel_stats st;
	struct simnet_cfg c;
	uint32_t n = 0;

	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i < TINY_PKTS; i++)
		t.order[i] = (uint8_t)i;
	t.victim = fate ? (fate - 1) / 4 : TINY_PKTS;
	t.fate = (enum fate)((fate - 1) % 4);
	tiny_open(&t, &c);
	do {
		struct simnet_op *r = simnet_recv(&t.sn, 1, 0, TINY_LEN), *s;

		t.sent = 0;
		s = simnet_send(&t.sn, 0, 1, TINY_LEN, 0);
		simnet_run_op(&t.sn, r, 5 * S_NS);
		simnet_run_op(&t.sn, s, 5 * S_NS);
		must(&t.sn);
		if (!simnet_op_ok(r) || !simnet_op_ok(s) || t.sent < TINY_PKTS)
			fail_msg("fate %u, order %u: %u packets sent, errors %d and %d", fate, n,
				 t.sent, r->cqe.err, s->cqe.err);
		if (++n % 32 == 0)
			simnet_check_memory(&t.sn, 1);
	} while (order_next(t.order));
	assert_int_equal(n, 720);
	assert_int_equal(t.hit, fate ? n : 0);
	simnet_run_for(&t.sn, 20 * WAN_RTT); /* what is still late */
	simnet_stats(&t.sn, &st);
	simnet_check_end(&t.sn);
	done(&t.sn);
	return st.chunks_fec;
}

static void orders__each_with_each_packet_lost_twice_or_late(void **state)
{
	uint64_t decoded = 0, plain = 0;

	(void)state;
	for (uint32_t f = 0; f < TINY_FATES; f++) {
		uint64_t d = tiny_orders(f);

		decoded += d;
		plain = f ? plain : d;
	}
	say("orders: %llu chunks decoded, %llu of them without any loss\n",
	    (unsigned long long)decoded, (unsigned long long)plain);
	/*
	 * Parity in front of data that it makes up for is used; of each lost data packet one chunk
	 * is decoded.
	 */
	assert_true(plain > 0);
	assert_true(decoded >= 3 * TINY_DATA * 720 / 2);
}

/* ---- completion times ------------------------------------------------------------------------ */

/* Those with parity; the first two with as much as the settings say. */
static const struct sdr_scheme_ops *const coded[] = { &sdr_scheme_ec_sr, &sdr_scheme_ec,
						      &sdr_scheme_hybrid, &sdr_scheme_auto };
#define CODED 4

static void lossy(struct simnet_cfg *c, uint64_t seed, const struct sdr_scheme_ops *scheme)
{
	wan(c, seed, 10 * GBIT);
	c->rel.scheme = scheme;
	c->rel.ec_code = SDR_CODE_MDS;
	c->rel.ec_k = 32;
	c->rel.ec_m = 8;
	c->rel.objective = SDR_OBJECTIVE_P99;
	c->rel.max_overhead = 1;
}

/* Transfers one behind the other; sorted times over ideal. */
static void times(struct simnet_cfg *c, const struct sdr_sim_link *bad, uint32_t warmup, double *x,
		  uint32_t n, uint64_t len, struct sdr_rel_stats *st)
{
	static struct simnet sn;
	uint64_t ideal;

	start(&sn, c);
	warm(&sn);
	sdr_sim_link_set_both(sn.w, 0, 1, bad);
	ideal = ideal_ns(&sn, len);
	for (uint32_t i = 0; i < warmup; i++)
		transfer(&sn, len, 60 * S_NS);
	for (uint32_t i = 0; i < n; i++) {
		double t = (double)transfer(&sn, len, 60 * S_NS) / (double)ideal;
		uint32_t k = i;

		for (; k && x[k - 1] > t; k--)
			x[k] = x[k - 1];
		x[k] = t;
	}
	simnet_stats(&sn, st);
	done(&sn);
}

static void wan_1e2__parity_beats_repetition(void **state)
{
	static const struct sdr_scheme_ops *const s[] = { &sdr_scheme_hybrid, &sdr_scheme_auto,
							  &sdr_scheme_ec, &sdr_scheme_sr };
	struct sdr_rel_stats st;
	struct simnet_cfg c;
	double x[20] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct sdr_sim_link bad;

		lossy(&c, 7, s[i]);
		bad = c.link;
		bad.loss = 1e-2;
		times(&c, &bad, 4, x, 20, 16 * MB, &st);
		say("wan_1e2 scheme %s: x ideal min %.3f median %.3f max %.3f; parity %llu repair %llu of %llu\n",
		    s[i]->name, x[0], x[10], x[19], (unsigned long long)st.parity_tx,
		    (unsigned long long)st.repair_tx, (unsigned long long)st.pkts_tx);
		if (s[i] == &sdr_scheme_sr)
			assert_true(x[10] > 1.3);
		else if (s[i] == &sdr_scheme_ec) /* a quarter more bytes: 13.4 of 39 ms */
			assert_true(x[19] <= 1.25);
		else
			assert_true(x[19] <= 1.1);
	}
}

/* ---- parity on demand of the path ------------------------------------------------------------ */

static uint64_t parity_of(struct simnet *sn, uint32_t transfers, uint64_t len)
{
	struct sdr_rel_stats a, b;

	simnet_stats(sn, &a);
	for (uint32_t i = 0; i < transfers; i++)
		transfer(sn, len, 60 * S_NS);
	simnet_stats(sn, &b);
	return b.parity_tx - a.parity_tx;
}

static void auto__parity_comes_and_goes_with_the_loss(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_sim_link bad;
	uint64_t clean, loss, again, left;

	(void)state;
	lossy(&c, 3, &sdr_scheme_auto);
	bad = c.link;
	bad.loss = 1e-2;
	start(&sn, &c);
	warm(&sn);
	clean = parity_of(&sn, 8, 16 * MB);
	left = parity_of(&sn, 8, 16 * MB); /* 32768 packets without a loss are known by now */
	sdr_sim_link_set_both(sn.w, 0, 1, &bad);
	parity_of(&sn, 4, 16 * MB);
	loss = parity_of(&sn, 4, 16 * MB);
	sdr_sim_link_set_both(sn.w, 0, 1, &c.link);
	parity_of(&sn, 60, 16 * MB);
	again = parity_of(&sn, 8, 16 * MB);
	say("auto: parity packets of 8 transfers: clean %llu, then %llu; of 4 with loss %llu; after it %llu\n",
	    (unsigned long long)clean, (unsigned long long)left, (unsigned long long)loss,
	    (unsigned long long)again);
	assert_true(left * 50 <= 8 * 4096);
	assert_true(loss * 20 >= 4 * 4096);
	assert_true(again * 50 <= 8 * 4096);
	done(&sn);
}

/* ---- hard impairments ----------------------------------------------------------------------- */

struct hard {
	const char *name;
	double loss, ge_loss, ge_burst, reorder, back;
	uint64_t jitter, reorder_ns;
	const struct sdr_cc_ops *cc; /* NULL: fixed */
	uint64_t len;
	double most; /* packets sent for one of data */
};

static const struct hard hards[] = {
	{ .name = "loss 0.3", .loss = 0.3, .back = 0.3, .len = MB, .most = 4 },
	{ .name = "bursts", .ge_loss = 0.01, .ge_burst = 64, .len = 4 * MB, .most = 3 },
	{ .name = "reorder",
	  .reorder = 0.1,
	  .reorder_ns = 5 * MS_NS,
	  .jitter = 2 * MS_NS,
	  .len = 4 * MB,
	  .most = 3 },
	{ .name = "reorder and loss",
	  .loss = 0.01,
	  .reorder = 0.1,
	  .reorder_ns = 5 * MS_NS,
	  .len = 4 * MB,
	  .most = 3 },
	{ .name = "acks only", .back = 0.3, .len = 4 * MB, .most = 3 },
	{ .name = "bbr", .loss = 0.01, .back = 0.01, .cc = &sdr_cc_bbr, .len = 4 * MB, .most = 3 },
};

static void hard_run(const struct hard *h, const struct sdr_scheme_ops *scheme,
		     enum sdr_code_kind code, bool chunks)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_sim_link there, back;
	struct sdr_rel_stats st;
	uint64_t t = 0, pkts;

	lossy(&c, 5, scheme);
	c.virtual_payload = false;
	c.rel.ec_code = (uint8_t)code;
	c.rel.ec_chunk_decode = chunks;
	if (h->cc) {
		c.rel.cc = h->cc;
		c.rel.rate_bps = 0;
	}
	there = back = c.link;
	there.loss = h->loss;
	there.ge_loss = h->ge_loss;
	there.ge_burst = h->ge_burst;
	there.reorder = h->reorder;
	there.reorder_ns = h->reorder_ns;
	there.jitter_ns = h->jitter;
	back.loss = h->back;
	start(&sn, &c);
	warm(&sn);
	sdr_sim_link_set(sn.w, 0, 1, &there);
	sdr_sim_link_set(sn.w, 1, 0, &back);
	for (int i = 0; i < 3; i++)
		t += transfer(&sn, h->len, 60 * S_NS);
	sdr_sim_link_set_both(sn.w, 0, 1, &c.link);
	simnet_run_for(&sn, S_NS);
	simnet_stats(&sn, &st);
	pkts = 3 * (h->len / SDR_MTU_DEFAULT);
	say("%s, scheme %s code %d chunks %d: %.1f ms a transfer, %.2f packets for one, decoded %llu\n",
	    h->name, scheme->name, (int)code, chunks, ms(t / 3), (double)st.pkts_tx / (double)pkts,
	    (unsigned long long)st.chunks_fec);
	if ((double)st.pkts_tx > h->most * (double)pkts)
		fail_msg("%s, scheme %s code %d: %llu packets sent for %llu", h->name, scheme->name,
			 (int)code, (unsigned long long)st.pkts_tx, (unsigned long long)pkts);
	simnet_check_end(&sn);
	done(&sn);
}

static void hard__every_scheme_and_code_completes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hards) / sizeof(*hards); i++) {
		for (int s = 0; s < 2; s++) {
			hard_run(&hards[i], coded[s], SDR_CODE_MDS, false);
			hard_run(&hards[i], coded[s], SDR_CODE_MDS, true);
			hard_run(&hards[i], coded[s], SDR_CODE_XOR, false);
		}
		hard_run(&hards[i], &sdr_scheme_hybrid, SDR_CODE_MDS, false);
		hard_run(&hards[i], &sdr_scheme_auto, SDR_CODE_MDS, false);
	}
}

/* ---- the path goes away, and changes --------------------------------------------------------- */

static void blackout__three_seconds_inside_a_coded_transfer(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	uint64_t t0, t;

	(void)state;
	for (int s = 0; s < CODED; s++) {
		lossy(&c, 9, coded[s]);
		c.link.rate_bps = c.rel.rate_bps = GBIT;
		start(&sn, &c);
		warm(&sn);
		t0 = simnet_now(&sn);
		sdr_sim_blackout_both(sn.w, 0, 1, t0 + 60 * MS_NS, t0 + 3060 * MS_NS);
		t = transfer(&sn, 32 * MB, 20 * S_NS);
		say("blackout scheme %s: %.3f s, ideal %.3f\n", coded[s]->name, ms(t) / 1e3,
		    ms(ideal_ns(&sn, 32 * MB)) / 1e3);
		/* the longest pause between probes, and what was in flight twice */
		assert_in_range(t, 0, 2 * ideal_ns(&sn, 32 * MB) + 4500 * MS_NS);
		done(&sn);
	}
}

static void path__changes_inside_a_coded_transfer(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_sim_link l;
	uint64_t t0;

	(void)state;
	for (int s = 0; s < CODED; s++) {
		lossy(&c, 11, coded[s]);
		c.virtual_payload = false;
		c.link.rate_bps = c.rel.rate_bps = GBIT;
		start(&sn, &c);
		warm(&sn);
		t0 = simnet_now(&sn);
		l = c.link;
		l.loss = 0.01;
		l.delay_ns = 3 * WAN_DELAY;
		sdr_sim_link_set_at(sn.w, t0 + 20 * MS_NS, 0, 1, &l);
		l.delay_ns = WAN_DELAY / 4; /* shorter: what comes now overtakes what left before */
		sdr_sim_link_set_at(sn.w, t0 + 60 * MS_NS, 0, 1, &l);
		transfer(&sn, 8 * MB, 20 * S_NS);
		transfer(&sn, 8 * MB, 20 * S_NS);
		simnet_check_end(&sn);
		done(&sn);
	}
}

/*
 * ---- several peers, and rkeyed ones -----------------------------------------------------------
 */

static void peers__all_to_all_with_parity(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;

	(void)state;
	lossy(&c, 13, &sdr_scheme_ec);
	c.nodes = 4;
	c.virtual_payload = false;
	c.link.loss = 0.01;
	c.rel.ec_scratch = 4 * MB; /* less than all want at a time */
	start(&sn, &c);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < 4; k++) {
			for (uint32_t n = 0; i != k && n < 3; n++) {
				simnet_recv(&sn, i, k, 2 * MB);
				simnet_send(&sn, k, i, 2 * MB, 0);
			}
		}
	}
	simnet_run_all(&sn, 60 * S_NS);
	must(&sn);
	simnet_check_end(&sn);
	done(&sn);
}

/* A device sends and gets parity; without berths it gets none. */
static void keyed__receives_parity_in_berths_and_sends_it(void **state)
{
	static const uint8_t how[] = { SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_ROOT };
	static struct simnet sn;
	struct sdr_rel_stats st[2];
	struct simnet_cfg c;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		lossy(&c, 17, &sdr_scheme_ec);
		c.virtual_payload = false;
		c.rkeyed[1] = how[i & 1];
		if (i & 2)
			c.rel.berths = 0;
		c.link.loss = 0.01;
		start(&sn, &c);
		for (int n = 0; n < 3; n++) {
			simnet_recv(&sn, 1, 0, 4 * MB);
			simnet_send(&sn, 0, 1, 4 * MB, 0);
			simnet_recv(&sn, 0, 1, 4 * MB);
			simnet_send(&sn, 1, 0, 4 * MB, 0);
			simnet_run_all(&sn, 60 * S_NS);
			must(&sn);
		}
		simnet_node_stats(&sn, 0, &st[0]);
		simnet_node_stats(&sn, 1, &st[1]);
		if (i & 2)
			assert_int_equal(st[0].parity_tx + st[0].repair_tx, 0);
		else
			assert_true(st[0].parity_tx > 0 && st[0].chunks_fec > 0);
		assert_true(st[1].parity_tx > 0 && st[1].chunks_fec > 0);
		simnet_check_end(&sn);
		done(&sn);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders__each_with_each_packet_lost_twice_or_late),
		cmocka_unit_test(wan_1e2__parity_beats_repetition),
		cmocka_unit_test(auto__parity_comes_and_goes_with_the_loss),
		cmocka_unit_test(hard__every_scheme_and_code_completes),
		cmocka_unit_test(blackout__three_seconds_inside_a_coded_transfer),
		cmocka_unit_test(path__changes_inside_a_coded_transfer),
		cmocka_unit_test(peers__all_to_all_with_parity),
		cmocka_unit_test(keyed__receives_parity_in_berths_and_sends_it),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
