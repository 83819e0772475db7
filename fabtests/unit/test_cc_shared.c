/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What every congestion controller gets before it is asked: what was known of the path, pauses,
 * what the bottleneck passes.  The controller here notes what it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "rel/path/sdr_cc_ops.h"

#define MS  1000000ull
#define S   1000000000ull
#define PKT 4096u

struct notes {
	struct sdr_cc_known known; /* as init saw it */
	uint32_t resumed;
	uint64_t idle_ns;
	struct sdr_cc_rate rate; /* the last */
};

static void note_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	struct notes *n = (void *)cc->state;

	(void)cfg;
	(void)now;
	n->known = cc->known;
	cc->cwnd = cc->first_win;
	cc->pacing_Bps = 1000000;
}

static void note_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		       const struct sdr_cc_rate *rate)
{
	struct notes *n = (void *)cc->state;

	(void)ack;
	n->rate = *rate;
}

static void note_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)cc;
	(void)now;
}

static void note_resumed(struct sdr_cc *cc, uint64_t now, uint64_t idle_ns)
{
	struct notes *n = (void *)cc->state;

	(void)now;
	n->resumed++;
	n->idle_ns = idle_ns;
	cc->pacing_Bps = 2000000;
}

static const struct sdr_cc_ops note = {
	.name = "note",
	.init = note_init,
	.acked = note_acked,
	.timeout = note_timeout,
	.resumed = note_resumed,
};

static const struct notes *notes_of(const struct sdr_cc *cc)
{
	return (const void *)cc->state;
}

static void shared__what_is_known_is_there_before_init(void **state)
{
	const struct sdr_cc_known known = { .rate_Bps = 125000000, .rtt_ns = 25 * MS, .age_ns = S };
	struct sdr_rel_cfg cfg = { .cc = &note };
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, PKT, 0, 0, NULL, 1 * S);
	assert_true(!cc.known.rate_Bps && !cc.learnt.rate_Bps);
	sdr_cc_init(&cc, &cfg, PKT, 0, 0, &known, 1 * S);
	assert_memory_equal(&notes_of(&cc)->known, &known, sizeof(known));
	assert_memory_equal(&cc.known, &known, sizeof(known));
	assert_true(!cc.learnt.rate_Bps);
}

static void send_one(struct sdr_cc *cc, uint64_t now, uint64_t inflight, struct sdr_cc_snap *snap)
{
	sdr_cc_sent(cc, now, PKT, 0, inflight, snap);
}

static void ack_one(struct sdr_cc *cc, uint64_t now, const struct sdr_cc_snap *snap)
{
	const struct sdr_cc_ack ack = {
		.now = now, .bytes = PKT, .rtt = 25 * MS, .snap = snap, .snap_tx_ns = now - 25 * MS
	};

	sdr_cc_acked(cc, &ack);
}

static void shared__a_pause_is_told_once_and_by_its_length(void **state)
{
	struct sdr_rel_cfg cfg = { .cc = &note };
	const struct sdr_cc_ack nothing = { .now = 5 * S };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
	/* the first transmission of all ends no pause */
	send_one(&cc, 3 * S, 0, &snap);
	assert_int_equal(notes_of(&cc)->resumed, 0);
	ack_one(&cc, 3 * S + 25 * MS, &snap);
	/* within a round trip: no pause either */
	send_one(&cc, 3 * S + 50 * MS, 0, &snap);
	/* what is in flight is no pause, however long it is */
	send_one(&cc, 4 * S, PKT, &snap);
	assert_int_equal(notes_of(&cc)->resumed, 0);
	ack_one(&cc, 4 * S + 25 * MS, &snap);
	assert_true(cc.pacer.rate_Bps == 1000000);
	/* an acknowledgement of nothing does not end one */
	sdr_cc_acked(&cc, &nothing);
	send_one(&cc, 6 * S, 0, &snap);
	assert_int_equal(notes_of(&cc)->resumed, 1);
	assert_true(notes_of(&cc)->idle_ns == 2 * S - 25 * MS);
	assert_true(cc.pacer.rate_Bps == 2000000);
	send_one(&cc, 6 * S, PKT, &snap);
	assert_int_equal(notes_of(&cc)->resumed, 1);
}

/* Packets that leave together arrive one by one: so fast is the path. */
static void shared__capacity_by_dispersion(void **state)
{
	const uint64_t gap = 80000; /* ns: 4096 bytes at 51.2 MB/s */
	struct sdr_rel_cfg cfg = { .cc = &note };
	struct sdr_cc_snap snap[32];
	struct sdr_cc cc;
	uint64_t now = 1 * S;
	uint32_t i;

	(void)state;
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, now);
	for (i = 0; i < 32; i++)
		send_one(&cc, now, i * PKT, &snap[i]);
	for (i = 0; i < 32; i++) {
		const struct sdr_cc_ack ack = { .now = now + 25 * MS + (i + 1) * gap,
						.bytes = PKT,
						.inflight = (31 - i) * PKT,
						.min_rtt = 25 * MS,
						.snap = &snap[i],
						.snap_tx_ns = now };

		sdr_cc_acked(&cc, &ack);
		if (i == 0) { /* one packet in a round trip: at least that */
			assert_true(notes_of(&cc)->rate.capacity_least);
			assert_in_range(notes_of(&cc)->rate.capacity_Bps, PKT * 39, PKT * 40);
		}
	}
	assert_false(notes_of(&cc)->rate.capacity_least);
	assert_in_range(notes_of(&cc)->rate.capacity_Bps, 51000000, 51400000);
	assert_true(notes_of(&cc)->rate.capacity_err < 0.05);
}

/* The head of a flight leaves at once while that is not known, and only then, and only far away. */
static void shared__trains_leave_at_once(void **state)
{
	struct sdr_cc_known known = { .rate_Bps = 1000000, .rtt_ns = 25 * MS };
	struct sdr_cc_ops ops = note;
	struct sdr_rel_cfg cfg = { .cc = &ops };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;
	double credit;
	uint32_t i;

	(void)state;
	ops.trains = true;
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
	credit = cc.pacer.credit;
	for (i = 0; i < cc.cwnd / 2 / PKT && i < SDR_CC_TRAIN / PKT; i++) {
		send_one(&cc, 1 * S, i * PKT, &snap);
		assert_true(cc.pacer.credit == credit);
	}
	send_one(&cc, 1 * S, i * PKT, &snap);
	assert_true(cc.pacer.credit < credit && cc.pacer.credit >= credit - PKT);
	/* enough is enough */
	for (i = 1; i < 20; i++)
		send_one(&cc, (i + 1) * S, 0, &snap);
	assert_int_equal(cc.trains, 16);
	/* a near path, one that is known, a controller that does not want it */
	sdr_cc_init(&cc, &cfg, PKT, 0, MS / 2, NULL, 1 * S);
	send_one(&cc, 1 * S, 0, &snap);
	assert_int_equal(cc.trains, 0);
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, &known, 1 * S);
	send_one(&cc, 1 * S, 0, &snap);
	assert_int_equal(cc.trains, 0);
	ops.trains = false;
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
	send_one(&cc, 1 * S, 0, &snap);
	assert_int_equal(cc.trains, 0);
}

/* A fifth of the window while the handshake is to tell more; then what it tells. */
static void note_joined(struct sdr_cc *cc)
{
	cc->pacing_Bps = 3000000 / cc->known.together;
}

/* Others begin, too: told while it starts, when they are more. */
static void shared__others_begin_as_well(void **state)
{
	struct sdr_cc_ops ops = note;
	struct sdr_rel_cfg cfg = { .cc = &ops };
	struct sdr_cc cc;

	(void)state;
	ops.joined = note_joined;
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
	sdr_cc_joined(&cc, 3, 1 * S);
	assert_true(!cc.known.together && cc.pacing_Bps == 1000000);
	cc.starting = true;
	sdr_cc_joined(&cc, 3, 1 * S);
	assert_true(cc.known.together == 3 && cc.pacer.rate_Bps == 1000000);
	sdr_cc_joined(&cc, 2, 1 * S);
	assert_int_equal(cc.known.together, 3);
	sdr_cc_joined(&cc, 6, 1 * S + MS);
	assert_true(cc.known.together == 6 && cc.pacer.rate_Bps == 500000);
	ops.joined = NULL;
	sdr_cc_joined(&cc, 7, 1 * S + MS);
	assert_true(cc.known.together == 7 && cc.pacer.rate_Bps == 500000);
}

static void note_pair(struct sdr_cc *cc)
{
	cc->cwnd = cc->pair.waits ? 5 * PKT : 25 * PKT;
	if (cc->pair.most_Bps)
		cc->cwnd = 8 * PKT;
}

static void shared__a_handshake_tells_of_slow_paths(void **state)
{
	struct sdr_cc_ops ops = note;
	struct sdr_rel_cfg cfg = { .cc = &ops };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;
	uint32_t i;

	(void)state;
	ops.trains = true;
	/* a controller that does not ask does not wait */
	assert_false(sdr_cc_pair_asks(&cfg));
	sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
	sdr_cc_pair_waits(&cc, 1 * S);
	sdr_cc_pair_told(&cc, 1000, 1 * S);
	assert_true(!cc.pair.waits && !cc.pair.most_Bps && cc.cwnd == cc.first_win);
	ops.pair = note_pair;
	assert_true(sdr_cc_pair_asks(&cfg));
	for (i = 0; i < 2; i++) {
		sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
		sdr_cc_pair_waits(&cc, 1 * S);
		assert_true(cc.pair.waits && cc.cwnd == 5 * PKT);
		/* what may leave leaves at once, and counts as part of the train */
		send_one(&cc, 1 * S, 0, &snap);
		assert_int_equal(cc.train_left, 4 * PKT);
		send_one(&cc, 1 * S, PKT, &snap);
		sdr_cc_pair_told(&cc, i ? 1000000 : 0, 1 * S + MS);
		assert_true(!cc.pair.waits && cc.pair.most_Bps == i * 1000000);
		assert_int_equal(cc.cwnd, i ? 8 * PKT : 25 * PKT);
		assert_int_equal(cc.train_left, cc.cwnd / 2 - 2 * PKT);
		/* once */
		sdr_cc_pair_told(&cc, 5000, 1 * S + MS);
		assert_int_equal(cc.pair.most_Bps, i * 1000000);
	}
	/* data that arrive, or a timeout, end it: the answers were lost */
	for (i = 0; i < 2; i++) {
		sdr_cc_init(&cc, &cfg, PKT, 0, 25 * MS, NULL, 1 * S);
		sdr_cc_pair_waits(&cc, 1 * S);
		send_one(&cc, 1 * S, 0, &snap);
		if (i)
			sdr_cc_timeout(&cc, 2 * S);
		else
			ack_one(&cc, 1 * S + 25 * MS, &snap);
		assert_false(cc.pair.waits);
		/* nor does it begin behind the first transmission */
		sdr_cc_pair_waits(&cc, 2 * S);
		assert_false(cc.pair.waits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared__what_is_known_is_there_before_init),
		cmocka_unit_test(shared__a_pause_is_told_once_and_by_its_length),
		cmocka_unit_test(shared__capacity_by_dispersion),
		cmocka_unit_test(shared__trains_leave_at_once),
		cmocka_unit_test(shared__others_begin_as_well),
		cmocka_unit_test(shared__a_handshake_tells_of_slow_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
