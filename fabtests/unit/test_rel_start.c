/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a connection starts: what it finds out about the path with its first messages, and what it
 * has been told by those before it.
 */
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "../bed/bed.h"

#define KIB  1024u
#define GBIT 1000000000ull
#define RTT  (25 * MS)

/* A controller that sends a window at once. */
static void burst_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	(void)now;
	cc->cwnd = 1024 * KIB;
	cc->pacing_Bps = 0;
}

static void burst_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			const struct sdr_cc_rate *rate)
{
	(void)cc;
	(void)ack;
	(void)rate;
}

static void burst_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)cc;
	(void)now;
}

static const struct sdr_cc_ops burst = {
	.name = "burst",
	.init = burst_init,
	.acked = burst_acked,
	.timeout = burst_timeout,
};

/* One that sends a third of a gigabit, but for what is to show more. */
static void slow_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	burst_init(cc, cfg, now);
	cc->pacing_Bps = GBIT / 8 / 3;
}

static const struct sdr_cc_ops slow = {
	.name = "slow",
	.trains = true,
	.init = slow_init,
	.acked = burst_acked,
	.timeout = burst_timeout,
};

/* ... and asks for a train when so many bytes were delivered; 0: not. */
static uint64_t ask_at;

static void curious_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			  const struct sdr_cc_rate *rate)
{
	(void)ack;
	(void)rate;
	if (!ask_at || cc->delivered < ask_at)
		return;
	ask_at = 0;
	cc->train_asked = SDR_CC_TRAIN;
}

static const struct sdr_cc_ops curious = {
	.name = "curious",
	.trains = true,
	.init = slow_init,
	.acked = curious_acked,
	.timeout = burst_timeout,
};

/* The same, beaten down to two packets in a round trip. */
static void starved_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	burst_init(cc, cfg, now);
	cc->cwnd = 2 * cc->mtu;
	cc->pacing_Bps = 2 * cc->mtu * (BED_SEC / RTT);
}

static const struct sdr_cc_ops starved = {
	.name = "starved",
	.trains = true,
	.init = starved_init,
	.acked = curious_acked,
	.timeout = burst_timeout,
};

/* Nodes far apart, each behind a line of that rate. */
static struct bed *far_new(uint32_t nodes, uint64_t rate_bps, const struct sdr_cc_ops *cc)
{
	struct bed *b = bed_new(nodes);

	b->link.delay_ns = RTT / 2;
	b->link.rate_bps = rate_bps;
	for (uint32_t i = 0; i < nodes; i++) {
		b->cfg[i].scheme = &sdr_scheme_sr;
		b->cfg[i].cc = cc;
	}
	return b;
}

static struct bed *far_pair(uint64_t rate_bps, const struct sdr_cc_ops *cc)
{
	struct bed *b = far_new(2, rate_bps, cc);

	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

static void move_from(struct bed *b, uint32_t from, uint32_t to, uint32_t len)
{
	struct bed_op *r = bed_recv(b, to, bed_buf(b, len, 0), len),
		      *s = bed_send(b, from, to, bed_buf(b, len, 7), len, 0);

	bed_wait(b, r, 60 * BED_SEC);
	bed_wait(b, s, 60 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
}

static void move(struct bed *b, uint32_t len)
{
	move_from(b, 0, 1, len);
}

static const struct sdr_cc *cc_of(struct bed *b)
{
	return &bed_conn(b, 0, 1)->main.cc;
}

/* Of the rate of the line: what is payload. */
static double share(const struct bed *b, uint64_t Bps)
{
	return (double)Bps * 8 / (double)b->link.rate_bps;
}

/* One message, none of which fills the path: what arrives tells how fast it is. */
static void start__one_small_message_tells_the_rate(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t kib;
	} rows[] = {
		{ GBIT / 100, 64 }, { GBIT / 100, 256 }, { GBIT / 10, 128 },  { GBIT, 128 },
		{ GBIT, 256 },	    { GBIT, 1024 },	 { 10 * GBIT, 1024 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bed *b = far_pair(rows[i].rate, &burst);

		move(b, rows[i].kib * KIB);
		assert_true(share(b, cc_of(b)->train.rate_Bps) > 0.95);
		assert_true(share(b, cc_of(b)->train.rate_Bps) < 1.01);
		assert_true(cc_of(b)->train.err <= 0.05);
		bed_close(b);
	}
}

/*
 * Who sends nothing but reports asks for the round trip: its reports wait by it.  The first answer
 * comes behind the sender's data; a few more are asked for, not one with each report.
 */
static void start__who_only_receives_learns_the_round_trip(void **state)
{
	static const uint64_t trips[] = { MS / 5, RTT };

	(void)state;
	for (uint32_t i = 0; i < sizeof(trips) / sizeof(trips[0]); i++) {
		struct bed *b = far_new(2, GBIT, &burst);
		const struct sdr_rtt *rtt;

		b->link.delay_ns = trips[i] / 2;
		bed_boot(b);
		for (uint32_t n = 0; n < 2; n++) {
			move(b, 1024 * KIB);
			bed_run(b, 2 * RTT);
		}
		rtt = &bed_conn(b, 1, 0)->main.rtt;
		assert_in_range(rtt->samples, 2, 3);
		assert_in_range(sdr_rtt_min(rtt), trips[i], trips[i] * 3 / 2);
		for (uint32_t n = 0; n < 50; n++)
			move(b, 1024 * KIB);
		bed_run(b, 2 * RTT);
		assert_in_range(rtt->samples, 4, 5);
		bed_close(b);
	}
}

/* Also one that is paced more slowly, by what leaves at once. */
static void start__a_train_tells_a_slow_sender(void **state)
{
	struct bed *b = far_pair(GBIT, &slow);

	(void)state;
	move(b, 256 * KIB);
	assert_true(share(b, cc_of(b)->train.rate_Bps) > 0.95);
	assert_true(share(b, cc_of(b)->train.rate_Bps) < 1.01);
	assert_in_range(cc_of(b)->trains, 1, 3);
	bed_close(b);
}

/* In the middle of a flight, when it is asked for, however many trains there were before. */
static void start__a_train_that_is_asked_for(void **state)
{
	struct bed *b = far_pair(GBIT, &curious);
	const struct sdr_train *t = &cc_of(b)->train;

	(void)state;
	ask_at = 0;
	for (uint32_t i = 0; i < 24; i++) {
		move(b, 64 * KIB);
		bed_run(b, 2 * RTT);
	}
	assert_int_equal(t->owns, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		ask_at = cc_of(b)->delivered + 4096 * KIB;
		move(b, 8192 * KIB);
		assert_int_equal(t->owns, i);
		assert_true(share(b, t->own_Bps) > 0.85 && share(b, t->own_Bps) < 1.01);
	}
	bed_close(b);
}

/* It is not for the window to say how long that is, nor is it lost when all else has arrived. */
static void start__a_train_beyond_the_window(void **state)
{
	struct bed *b = far_pair(GBIT, &starved);
	const struct sdr_cc *cc = cc_of(b);
	uint64_t most = 0;
	struct bed_op *s;

	(void)state;
	ask_at = cc->delivered + 64 * KIB;
	bed_recv(b, 1, bed_buf(b, 1024 * KIB, 0), 1024 * KIB);
	s = bed_send(b, 0, 1, bed_buf(b, 1024 * KIB, 7), 1024 * KIB, 0);
	while (!s->n) {
		bed_run(b, MS);
		assert_true(sdr_cc_window(cc) == cc->cwnd || cc->train_own);
		if (bed_conn(b, 0, 1)->inflight > most)
			most = bed_conn(b, 0, 1)->inflight;
	}
	assert_int_equal(cc->train.owns, 1);
	assert_true(share(b, cc->train.own_Bps) > 0.85 && share(b, cc->train.own_Bps) < 1.01);
	assert_in_range(most, SDR_CC_TRAIN, SDR_CC_TRAIN + cc->cwnd);
	bed_close(b);
}

/*
 * What that takes is reports in small parts: of each train at first, of every fourth later.
 */
static void start__reports_of_trains(void **state)
{
	struct bed *b = far_pair(GBIT, &burst);
	uint64_t acks[24], few = 0, many = 0; /* reports */

	(void)state;
	for (uint32_t i = 0; i < 24; i++) {
		uint64_t before = bed_seen(b, 1, BED_DACK);

		move(b, 512 * KIB);
		bed_run(b, 2 * RTT);
		acks[i] = bed_seen(b, 1, BED_DACK) - before;
	}
	for (uint32_t i = 0; i < 24; i++) {
		many += acks[i] >= 16;
		few += acks[i] <= 10;
	}
	assert_int_equal(many, 16 + 2);
	assert_int_equal(few, 6);
	bed_close(b);
}

/* Paced more slowly than the path takes it: at least that. */
static void start__a_slow_sender_knows_the_least(void **state)
{
	struct bed *b = far_pair(GBIT, &sdr_cc_bbr);

	(void)state;
	move(b, 256 * KIB);
	assert_int_equal(cc_of(b)->train.rate_Bps, 0);
	assert_true(share(b, cc_of(b)->capacity_least) > 0.05);
	assert_true(share(b, cc_of(b)->capacity_least) < 1);
	bed_close(b);
}

/* ---- the memory of paths --------------------------------------------------------------------- */

/* Node 0 begins anew: another endpoint of its process. */
static void again(struct bed *b)
{
	bed_crash(b, 0);
	bed_boot_node(b, 0);
	bed_run(b, 100 * MS);
	bed_warm(b, 0, 1);
}

static struct bed *pair_with_memory(struct sdr_path_mem *m)
{
	struct bed *b = far_new(2, GBIT, &sdr_cc_bbr);

	b->paths[0] = m;
	bed_boot(b);
	bed_warm(b, 0, 1);
	assert_int_equal(cc_of(b)->known.rate_Bps, 0);
	return b;
}

/* Both sides: the one that opens, and the one that is called. */
static void start__the_next_connection_knows(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1), *other = sdr_path_mem_new(2);
	struct bed *b = far_new(2, GBIT, &sdr_cc_bbr);
	const struct sdr_cc *cc;

	(void)state;
	b->paths[0] = m;
	b->paths[1] = other;
	bed_boot(b);
	bed_warm(b, 0, 1);
	move(b, 16384 * KIB);
	move_from(b, 1, 0, 16384 * KIB);
	again(b);
	for (uint32_t i = 0; i < 2; i++) {
		cc = &bed_conn(b, i, 1 - i)->main.cc;
		assert_true(share(b, cc->known.rate_Bps) > 0.9);
		assert_true(share(b, cc->known.rate_Bps) < 1.1);
		assert_in_range(cc->known.rtt_ns, RTT, RTT + 2 * MS);
		assert_true(cc->known.age_ns < 1 * BED_SEC);
	}
	move(b, 1024 * KIB);
	bed_close(b);
	sdr_path_mem_free(m);
	sdr_path_mem_free(other);
}

/* One that has ended takes no share, however long it moved data. */
static void start__the_one_before_takes_no_share(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = pair_with_memory(m);

	(void)state;
	while (bed_now(b) < 2300 * MS)
		move(b, 16384 * KIB);
	again(b);
	assert_true(share(b, cc_of(b)->known.rate_Bps) > 0.9);
	assert_true(share(b, cc_of(b)->known.rate_Bps) < 1.1);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* What small messages have shown is as good. */
static void start__small_messages_are_remembered(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = far_new(2, GBIT, &burst);

	(void)state;
	b->paths[0] = m;
	bed_boot(b);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 4; i++)
		move(b, 256 * KIB);
	again(b);
	assert_true(share(b, cc_of(b)->known.rate_Bps) > 0.9);
	assert_true(share(b, cc_of(b)->known.rate_Bps) < 1.1);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* What was lost on the way is known to the next as well. */
static void start__losses_are_remembered(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = pair_with_memory(m);
	double loss;

	(void)state;
	bed_drop(b, 0, BED_DATA, 200, 1);
	bed_drop(b, 0, BED_DATA, 700, 1);
	move(b, 16384 * KIB);
	loss = sdr_loss_est_mean(&bed_conn(b, 0, 1)->peer->loss);
	again(b);
	assert_true(bed_conn(b, 0, 1)->peer->loss.lost >= 1);
	assert_true(sdr_loss_est_mean(&bed_conn(b, 0, 1)->peer->loss) > 0.9 * loss);
	assert_true(sdr_loss_est_mean(&bed_conn(b, 0, 1)->peer->loss) < 1.1 * loss);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* The size that passes a narrow path: found with rounds of probes, then with the handshake. */
static void start__the_size_of_packets_is_remembered(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = far_new(2, GBIT, &sdr_cc_bbr);
	uint32_t size;

	(void)state;
	b->paths[0] = m;
	b->link.mtu = 3000;
	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].no_probe = false;
		b->na[i].mtu = SDR_MTU_MAX;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	assert_true(bed_conn(b, 0, 1)->main.pmtu.size < 2500);
	for (uint32_t i = 0; i < 4; i++)
		move(b, 1024 * KIB);
	size = bed_conn(b, 0, 1)->main.pmtu.size;
	assert_in_range(size, 2800, 3000);
	bed_crash(b, 0);
	bed_boot_node(b, 0);
	bed_run(b, 100 * MS);
	bed_send(b, 0, 1, bed_buf(b, 8, 1), 8, 0);
	bed_run(b, RTT + 2 * MS);
	assert_in_range(bed_conn(b, 0, 1)->main.pmtu.size, size - 4, size);
	/* it was only tried: a path that has become narrower does not take it */
	bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	bed_wait_all(b, BED_SEC);
	bed_crash(b, 0);
	sdr_sim_link_mtu(b->w, 0, 1, 1500, false);
	bed_boot_node(b, 0);
	bed_run(b, 100 * MS);
	bed_warm(b, 0, 1);
	assert_true(bed_conn(b, 0, 1)->main.pmtu.size <= 1500);
	move(b, 1024 * KIB);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* The path has become another one: what was known of it says nothing. */
static void start__another_round_trip_is_another_path(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = pair_with_memory(m);

	(void)state;
	move(b, 16384 * KIB);
	b->link.delay_ns = 2 * RTT;
	for (uint32_t i = 0; i < 2; i++)
		sdr_sim_link_set(b->w, i, 1 - i, &b->link);
	again(b);
	assert_int_equal(cc_of(b)->known.rate_Bps, 0);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* Three connections that open at once do not each send with all of it. */
static void start__those_that_open_at_once_share(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = far_new(4, GBIT, &sdr_cc_bbr);
	uint64_t all = 0;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		b->paths[i] = m;
	bed_boot(b);
	bed_warm(b, 0, 3);
	move_from(b, 0, 3, 16384 * KIB);
	bed_crash(b, 0);
	bed_boot_node(b, 0);
	bed_run(b, 3 * BED_SEC);
	for (uint32_t i = 0; i < 3; i++) {
		bed_recv(b, 3, bed_buf(b, 8, 0), 8);
		bed_send(b, i, 3, bed_buf(b, 8, 1), 8, 0);
	}
	bed_wait_all(b, 2 * BED_SEC);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t rate = bed_conn(b, i, 3)->main.cc.known.rate_Bps;

		assert_true(rate > 0 && share(b, rate) < 0.37);
		all += rate;
	}
	assert_true(share(b, all) > 0.9 && share(b, all) < 1.1);
	bed_close(b);
	sdr_path_mem_free(m);
}

/* Small messages leave for others, which have to be opened for it. */
static void open_others(struct bed *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		bed_recv(b, i, bed_buf(b, 8, 0), 8);
		bed_send(b, 0, i, bed_buf(b, 8, 1), 8, 0);
	}
}

/*
 * One that was open already, and has moved next to nothing, is one of those that begin together,
 * whether they begin to open before its first flight or while that leaves.  One that knows its path
 * is not.
 */
static void start__who_was_open_shares_with_those_that_open(void **state)
{
	static const struct {
		uint32_t moved;		/* bytes, by then */
		uint32_t before, later; /* of the others */
		uint32_t together;
		uint64_t least, most; /* bytes, in the first round trip */
	} rows[] = {
		{ 0, 0, 0, 0, 220 * KIB, 260 * KIB },
		{ 0, 3, 0, 4, 90 * KIB, 110 * KIB },
		{ 0, 1, 2, 4, 100 * KIB, 160 * KIB },
		{ 0, 0, 3, 4, 100 * KIB, 190 * KIB },
		{ 256 * KIB, 3, 0, 0, 2000 * KIB, 4096 * KIB },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sdr_path_mem *m = sdr_path_mem_new(1);
		struct bed *b = far_new(5, GBIT, &sdr_cc_auto);

		b->paths[0] = m;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_run(b, BED_SEC);
		if (rows[i].moved)
			move(b, rows[i].moved);
		open_others(b, 2, 1 + rows[i].before);
		bed_recv(b, 1, bed_buf(b, 4096 * KIB, 0), 4096 * KIB);
		bed_send(b, 0, 1, bed_buf(b, 4096 * KIB, 1), 4096 * KIB, 0);
		bed_run(b, 2 * MS);
		open_others(b, 2 + rows[i].before, 1 + rows[i].before + rows[i].later);
		bed_run(b, RTT - 4 * MS);
		assert_int_equal(cc_of(b)->known.together, rows[i].together);
		assert_in_range(bed_conn(b, 0, 1)->main.inflight, rows[i].least, rows[i].most);
		bed_wait_all(b, 10 * BED_SEC);
		bed_close(b);
		sdr_path_mem_free(m);
	}
}

/* Who has only been sent to, and answers long after it was opened, is nobody's other half. */
static void start__who_answers_late_is_alone(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = far_new(2, GBIT, &sdr_cc_auto);
	const struct sdr_cc *cc;

	(void)state;
	b->paths[1] = m;
	bed_boot(b);
	move_from(b, 0, 1, 128 * 1024 * KIB);
	assert_true(bed_now(b) > BED_SEC);
	bed_recv(b, 0, bed_buf(b, 4096 * KIB, 0), 4096 * KIB);
	bed_send(b, 1, 0, bed_buf(b, 4096 * KIB, 1), 4096 * KIB, 0);
	bed_run(b, RTT - 4 * MS);
	cc = &bed_conn(b, 1, 0)->main.cc;
	assert_in_range(cc->known.together, 0, 1);
	assert_in_range(bed_conn(b, 1, 0)->main.inflight, 220 * KIB, 260 * KIB);
	bed_wait_all(b, 10 * BED_SEC);
	bed_close(b);
	sdr_path_mem_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__one_small_message_tells_the_rate),
		cmocka_unit_test(start__who_only_receives_learns_the_round_trip),
		cmocka_unit_test(start__a_train_tells_a_slow_sender),
		cmocka_unit_test(start__a_train_that_is_asked_for),
		cmocka_unit_test(start__a_train_beyond_the_window),
		cmocka_unit_test(start__reports_of_trains),
		cmocka_unit_test(start__a_slow_sender_knows_the_least),
		cmocka_unit_test(start__the_next_connection_knows),
		cmocka_unit_test(start__the_one_before_takes_no_share),
		cmocka_unit_test(start__small_messages_are_remembered),
		cmocka_unit_test(start__losses_are_remembered),
		cmocka_unit_test(start__the_size_of_packets_is_remembered),
		cmocka_unit_test(start__another_round_trip_is_another_path),
		cmocka_unit_test(start__those_that_open_at_once_share),
		cmocka_unit_test(start__who_was_open_shares_with_those_that_open),
		cmocka_unit_test(start__who_answers_late_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
