/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Paths that do not carry everything: what is dropped where, who is told, and packets in pieces.
 */
#include "test_sim_util.h"

#define MS   1000000ull
#define PKTS 64u

static uint8_t src[PKTS * PAIR_MTU], dst[PKTS * PAIR_MTU];

static void fill(void)
{
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (uint8_t)(i * 11 + i / 253);
	memset(dst, 0xee, sizeof(dst));
}

static void bind1(struct pair *t, size_t len)
{
	assert_int_equal(t->uc[1]->ops->slot_bind(t->qp[1], 0, 0, dst, len, NULL), 0);
}

static void post1(struct pair *t, uint32_t first, uint32_t len)
{
	struct sdr_uc_tx tx = pair_write(t, 0, 0, 0, first, src + first * PAIR_MTU, len);

	assert_int_equal(t->uc[0]->ops->post(t->uc[0], &tx, 1), 1);
}

static void probe(struct pair *t, uint32_t len)
{
	static uint8_t buf[SDR_PROBE_MAX + 1];
	struct sdr_uc_tx tx = {
		.kind = SDR_UC_TX_CTL, .flags = SDR_UC_F_PROBE, .len = len, .buf = buf
	};

	tx.to = &t->addr[1];
	assert_int_equal(t->uc[0]->ops->post(t->uc[0], &tx, 1), 1);
}

static struct sdr_sim_link_stats link_stats(struct pair *t)
{
	struct sdr_sim_link_stats st;

	sdr_sim_link_stats(t->w, 0, 1, &st);
	return st;
}

/* The only event there is: the way to node 1 carries that much. */
static void told(struct pair *t, uint32_t bytes)
{
	assert_int_equal(pair_poll(t, 0), 1);
	assert_int_equal(t->ev[0].kind, SDR_UC_EV_PATH);
	assert_int_equal(t->ev[0].path.bytes, bytes);
	assert_true(sdr_uc_addr_equal(t->ev[0].path.to, &t->addr[1]));
	assert_int_equal(t->uc[0]->ops->path_mtu(t->uc[0], &t->addr[1]), bytes);
}

/* ---- links and routes ------------------------------------------------------------------------ */

static void path__info_agrees_with_the_wire(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .mtu = PAIR_WIRE } };
	struct sdr_uc_info ui;
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->info(t.uc[0], &ui);
	assert_true(ui.cuts);
	assert_true(ui.probe_max + ui.ctl_over >= SDR_MTU_MAX + ui.data_over);
	assert_int_equal(ui.data_over + PAIR_MTU, PAIR_WIRE);
	bind1(&t, sizeof(dst));
	post1(&t, 0, PAIR_MTU);
	assert_int_equal(pair_ctl(&t, 0, src, PAIR_WIRE - ui.ctl_over), 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 2);
	assert_int_equal(sdr_sim_link_mtu(t.w, 0, 1, PAIR_WIRE - 1, false), 0);
	post1(&t, 0, PAIR_MTU);
	assert_int_equal(pair_ctl(&t, 0, src, PAIR_WIRE - ui.ctl_over), 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(link_stats(&t).drop_mtu, 2);
	assert_int_equal(pair_stats(&t, 0).tx_lost, 0);
	assert_int_equal(t.uc[0]->ops->path_mtu(t.uc[0], &t.addr[1]), 0);
	pair_close(&t);
}

static void path__changes_at_its_time(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .delay_ns = 0 } };
	struct pair t;
	uint64_t t0;
	int got = 0;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	assert_int_equal(sdr_sim_link_mtu_at(t.w, t0 + 10 * MS, 0, 1, 600, false), 0);
	assert_int_equal(sdr_sim_link_mtu_at(t.w, t0 + 20 * MS, 0, 1, 0, false), 0);
	bind1(&t, sizeof(dst));
	for (int i = 0; i < 30; i++) {
		post1(&t, 0, PAIR_MTU);
		sdr_sim_world_run_until(t.w, t0 + (uint64_t)(i + 1) * MS);
		got += pair_poll(&t, 1);
	}
	assert_int_equal(got, 20);
	assert_int_equal(link_stats(&t).drop_mtu, 10);
	pair_close(&t);
}

/* The answer comes after half of the way there and half of the way back, and not with each drop. */
static void path__icmp_comes_from_the_middle(void **state)
{
	struct sdr_sim_world_attr wa = { .link = {
						 .delay_ns = 10 * MS, .mtu = 700, .icmp = true } };
	struct pair t;
	uint64_t t0;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	bind1(&t, sizeof(dst));
	post1(&t, 0, 5 * PAIR_MTU);
	assert_int_equal(sdr_sim_world_next(t.w), t0 + 10 * MS);
	pair_drain(&t);
	told(&t, 700);
	assert_int_equal(pair_poll(&t, 0) + pair_poll(&t, 1), 0);
	assert_int_equal(link_stats(&t).drop_mtu, 5);
	assert_int_equal(link_stats(&t).icmp, 1);
	/* a probe is answered as well, and a smaller number replaces a larger one only */
	sdr_sim_link_mtu(t.w, 0, 1, 650, true);
	probe(&t, 2000);
	pair_drain(&t);
	told(&t, 650);
	sdr_sim_link_mtu(t.w, 0, 1, 800, true);
	probe(&t, 2000);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 0), 1);
	assert_int_equal(t.ev[0].path.bytes, 800);
	assert_int_equal(t.uc[0]->ops->path_mtu(t.uc[0], &t.addr[1]), 650);
	/* the host acts on none of it, and forgets */
	sdr_sim_link_mtu(t.w, 0, 1, 0, false);
	post1(&t, 0, 3 * PAIR_MTU);
	sdr_sim_world_run_until(t.w, sdr_sim_world_now(t.w) + 700000 * MS);
	assert_int_equal(pair_poll(&t, 1), 3);
	assert_int_equal(t.uc[0]->ops->path_mtu(t.uc[0], &t.addr[1]), 0);
	pair_close(&t);
}

static void path__icmp_may_be_lost(void **state)
{
	struct sdr_sim_world_attr wa = {
		.link = { .delay_ns = MS, .mtu = 700, .icmp = true, .loss = 0.5 }
	};
	struct pair t;
	int got = 0;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	for (int i = 0; i < 400; i++) {
		probe(&t, 2000);
		pair_drain(&t);
		got += pair_poll(&t, 0);
	}
	assert_in_range(got, 150, 250);
	assert_int_equal(sdr_sim_blackout(t.w, 1, 0, 0, sdr_sim_world_now(t.w) + 50 * MS), 0);
	sdr_sim_world_run_until(t.w, sdr_sim_world_now(t.w) + MS);
	for (int i = 0; i < 20; i++) { /* the way back is down */
		probe(&t, 2000);
		sdr_sim_world_run_until(t.w, sdr_sim_world_now(t.w) + 2 * MS);
	}
	assert_int_equal(pair_poll(&t, 0), 0);
	pair_close(&t);
}

static void path__own_route_refuses_at_once(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .delay_ns = MS } };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	sdr_sim_node_route(t.w, 0, 900);
	assert_int_equal(t.uc[0]->ops->path_mtu(t.uc[0], &t.addr[1]), 900);
	bind1(&t, sizeof(dst));
	probe(&t, 2000); /* without a word */
	assert_false(sdr_sim_node_pending(t.w, 0));
	post1(&t, 0, 3 * PAIR_MTU);
	assert_true(sdr_sim_node_pending(t.w, 0));
	told(&t, 900);
	assert_int_equal(link_stats(&t).data, 4); /* the first was lost, the others are cut */
	assert_int_equal(pair_stats(&t, 0).tx_lost, 2);
	assert_int_equal(pair_stats(&t, 0).tx_toobig, 2);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 2);
	assert_memory_equal(dst + PAIR_MTU, src + PAIR_MTU, 2 * PAIR_MTU);
	pair_close(&t);
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void probe__as_long_as_both_ends_take(void **state)
{
	struct sdr_sim_node_attr na = { .ctl_max = 1024, .probe_max = 3000 };
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_info ui;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->info(t.uc[0], &ui);
	probe(&t, ui.probe_max);
	probe(&t, ui.probe_max + 1);
	assert_int_equal(pair_ctl(&t, 0, src, ui.ctl_max + 1), 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].len, ui.probe_max);
	t.uc[1]->ops->qp_destroy(t.qp[1]);
	t.uc[1]->ops->close(t.uc[1]);
	t.qp[1] = NULL;
	assert_int_equal(sdr_sim_node_open(t.w, 1, &na, &t.uc[1]), 0);
	t.uc[1]->ops->info(t.uc[1], &ui);
	assert_int_equal(ui.probe_max, 3000);
	probe(&t, 3000);
	probe(&t, 3001);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].len, 3000);
	assert_int_equal(pair_stats(&t, 1).pkts_bad, 1);
	t.uc[1]->ops->close(t.uc[1]);
	na.no_probe = true;
	assert_int_equal(sdr_sim_node_open(t.w, 1, &na, &t.uc[1]), 0);
	t.uc[1]->ops->info(t.uc[1], &ui);
	assert_int_equal(ui.probe_max, 0);
	pair_close(&t);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Every length over every path is placed, with no datagram longer than that. */
static void piece__every_length_fits(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	for (uint32_t mtu = SDR_SIM_DATA_OVER + 64; mtu <= PAIR_WIRE; mtu += 37) {
		sdr_sim_link_mtu(t.w, 0, 1, mtu, false);
		t.uc[0]->ops->qp_path(t.qp[0], mtu);
		for (uint32_t len = 0; len <= 2 * PAIR_MTU; len += len % PAIR_MTU ? 131 : 1) {
			uint32_t pkts = len ? (len + PAIR_MTU - 1) / PAIR_MTU : 1;
			uint32_t bytes = 0;

			fill();
			bind1(&t, len);
			post1(&t, 0, len);
			pair_drain(&t);
			assert_int_equal(pair_poll(&t, 1), pkts);
			for (uint32_t i = 0; i < pkts; i++) {
				assert_int_equal(t.ev[i].kind, SDR_UC_EV_PLACED);
				bytes += t.ev[i].len;
			}
			assert_int_equal(bytes, len);
			if (len)
				assert_memory_equal(dst, src, len);
			assert_int_equal(dst[len], 0xee);
		}
	}
	assert_int_equal(link_stats(&t).drop_mtu, 0);
	assert_int_equal(pair_stats(&t, 0).pieces_tx, pair_stats(&t, 1).pieces_rx);
	assert_int_equal(pair_stats(&t, 0).pkts_tx, pair_stats(&t, 1).pkts_rx);
	assert_int_equal(pair_stats(&t, 0).bytes_tx, pair_stats(&t, 1).bytes_rx);
	assert_int_equal(pair_stats(&t, 1).pkts_bad, 0);
	pair_close(&t);
}

/* Drops the pieces at multiples of the packets' length that `lose` has bits for. */
struct lose {
	struct pair t;
	uint32_t lose;
};

static bool lose_some(void *user, struct sdr_sim_packet *p)
{
	const struct lose *s = user;

	return !(p->piece && s->lose >> (p->va % PAIR_MTU / p->piece) & 1);
}

/* A lost piece loses its packet; the next time the missing one is enough, if it is cut alike. */
static void piece__lost_ones(void **state)
{
	struct lose s = { .lose = 2 };
	struct sdr_sim_world_attr wa = { .seed = 1, .filter = lose_some, .user = &s };
	uint32_t size = SDR_SIM_DATA_OVER + 400;

	(void)state;
	fill();
	pair_open(&s.t, &wa, NULL);
	s.t.uc[0]->ops->qp_path(s.t.qp[0], size);
	bind1(&s.t, sizeof(dst));
	post1(&s.t, 0, PAIR_MTU);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 0);
	s.lose = 5;
	post1(&s.t, 0, PAIR_MTU);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 1);
	assert_int_equal(s.t.ev[0].len, PAIR_MTU);
	assert_memory_equal(dst, src, PAIR_MTU);
	/* cut otherwise: all anew */
	post1(&s.t, 0, PAIR_MTU);
	s.t.uc[0]->ops->qp_path(s.t.qp[0], size + 4);
	s.lose = 2;
	post1(&s.t, 0, PAIR_MTU);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 0);
	/* bound anew: likewise */
	s.lose = 5;
	bind1(&s.t, sizeof(dst));
	post1(&s.t, 0, PAIR_MTU);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 0);
	s.lose = 2;
	post1(&s.t, 0, PAIR_MTU);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 1);
	pair_close(&s.t);
}

/*
 * Each piece has a fate of its own: lost, late, twice; no byte is wrong and none is reported early.
 */
static void piece__weather(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 9,
					 .link = { .delay_ns = MS,
						   .loss = 0.1,
						   .dup = 0.1,
						   .jitter_ns = MS,
						   .corrupt = 0.02,
						   .mtu = 500 } };
	struct pair t;
	bool have[PKTS] = { false };
	uint32_t n = 0, rounds = 0;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->qp_path(t.qp[0], 500);
	bind1(&t, sizeof(dst));
	for (; n < PKTS && rounds < 100; rounds++) {
		for (uint32_t i = 0; i < PKTS; i++)
			if (!have[i])
				post1(&t, i, PAIR_MTU);
		pair_drain(&t);
		for (int got; (got = pair_poll(&t, 1)) > 0;) {
			for (int k = 0; k < got; k++) {
				struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
				uint32_t i = sdr_imm_off(&split, t.ev[k].p.imm);

				assert_int_equal(t.ev[k].len, PAIR_MTU);
				assert_memory_equal(dst + i * PAIR_MTU, src + i * PAIR_MTU,
						    PAIR_MTU);
				n += !have[i];
				have[i] = true;
			}
		}
	}
	assert_int_equal(n, PKTS);
	assert_in_range(rounds, 2, 10);
	assert_true(link_stats(&t).dup && link_stats(&t).lost);
	pair_close(&t);
}

/* A queue of the sender's own takes a packet whole or not at all. */
static void piece__own_queue(void **state)
{
	struct sdr_sim_world_attr wa = {
		.link = { .rate_bps = 1000000000, .queue_bytes = 1000, .block = true }
	};
	struct pair t;
	int got = 0;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->qp_path(t.qp[0], 300);
	bind1(&t, sizeof(dst));
	struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, 8 * PAIR_MTU);

	while (!t.uc[0]->ops->post(t.uc[0], &tx, 1)) {
		assert_true(tx.buf == src + tx.w.first * PAIR_MTU);
		sdr_sim_world_run_until(t.w, t.uc[0]->ops->deadline(t.uc[0]));
		got += pair_poll(&t, 1);
	}
	pair_drain(&t);
	got += pair_poll(&t, 1);
	assert_int_equal(got, 8);
	assert_memory_equal(dst, src, 8 * PAIR_MTU);
	assert_int_equal(link_stats(&t).dropped, 0);
	pair_close(&t);
}

/* A device neither cuts nor puts together; a piece for a slot that has gone is late. */
static void piece__where_it_does_not_belong(void **state)
{
	struct sdr_sim_node_attr na = { .rkeyed = SDR_SIM_RKEYED_ROOT };
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_info ui;
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->qp_path(t.qp[0], 300);
	bind1(&t, PAIR_MTU - 1);
	post1(&t, 0, PAIR_MTU); /* one byte too long: no piece of it is placed */
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(dst[0], 0xee);
	t.uc[1]->ops->slot_unbind(t.qp[1], 0);
	post1(&t, 0, PAIR_MTU);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(pair_stats(&t, 1).pkts_late, 5);
	assert_int_equal(dst[0], 0xee);
	pair_close(&t);

	wa = (struct sdr_sim_world_attr){ .seed = 1 };
	pair_open(&t, &wa, &na);
	t.uc[0]->ops->info(t.uc[0], &ui);
	assert_false(ui.cuts);
	t.uc[0]->ops->qp_path(t.qp[0], 300);
	post1(&t, 0, PAIR_MTU);
	assert_int_equal(link_stats(&t).data, 1);
	pair_close(&t);
}

/* With nothing too long for it a limit changes no number that is drawn, and no packet's time. */
static uint64_t weather_hash(uint32_t mtu, bool icmp)
{
	struct sdr_sim_world_attr wa = { .seed = 4,
					 .link = { .delay_ns = MS,
						   .loss = 0.1,
						   .dup = 0.1,
						   .jitter_ns = MS,
						   .mtu = mtu,
						   .icmp = icmp } };
	struct pair t;
	uint64_t hash;

	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->qp_path(t.qp[0], mtu);
	bind1(&t, sizeof(dst));
	for (uint32_t i = 0; i < 10; i++) {
		post1(&t, 0, PKTS * PAIR_MTU);
		pair_drain(&t);
		pair_poll(&t, 0);
		while (pair_poll(&t, 1) > 0)
			;
	}
	hash = t.hash;
	pair_close(&t);
	return hash;
}

static void path__same_seed_same_trace(void **state)
{
	(void)state;
	fill();
	assert_true(weather_hash(0, false) == weather_hash(PAIR_WIRE, true));
	assert_true(weather_hash(500, true) == weather_hash(500, true));
	assert_true(weather_hash(500, true) != weather_hash(0, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path__info_agrees_with_the_wire),
		cmocka_unit_test(path__changes_at_its_time),
		cmocka_unit_test(path__icmp_comes_from_the_middle),
		cmocka_unit_test(path__icmp_may_be_lost),
		cmocka_unit_test(path__own_route_refuses_at_once),
		cmocka_unit_test(probe__as_long_as_both_ends_take),
		cmocka_unit_test(piece__every_length_fits),
		cmocka_unit_test(piece__lost_ones),
		cmocka_unit_test(piece__weather),
		cmocka_unit_test(piece__own_queue),
		cmocka_unit_test(piece__where_it_does_not_belong),
		cmocka_unit_test(path__same_seed_same_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
