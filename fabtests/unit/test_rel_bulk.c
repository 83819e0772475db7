/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bulk data: what is lost is repaired in a bounded number of round trips, what is only late is not
 * repaired for ever, what comes too late touches nothing, and any number of segments fits any
 * window of message IDs.
 */
#include "rel/path/sdr_cc_ops.h"
#include "../bed/bed.h"

#define MIB  (1u << 20)
#define PKTS (MIB / SDR_MTU_DEFAULT) /* data packets of 1 MiB */

static struct bed *pair_with(const struct sdr_scheme_ops *scheme, const struct sdr_imm_split *split,
			     uint32_t mtu)
{
	struct bed *b = bed_new(2);

	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = scheme;
		if (split)
			b->cfg[i].split = *split;
		b->cfg[i].mtu = mtu;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

static struct bed *pair(void)
{
	return pair_with(&sdr_scheme_sr, NULL, 0);
}

/* One message 0 -> 1 of len bytes, receive posted before: the time until the receiver has it. */
static uint64_t move_between(struct bed *b, uint8_t *from, uint8_t *to, size_t len, uint32_t seed,
			     uint64_t limit, uint64_t *sender)
{
	uint64_t t0 = bed_now(b);
	struct bed_op *r = bed_recv(b, 1, to, len), *s = bed_send(b, 0, 1, from, len, 0);

	bed_wait(b, r, limit);
	bed_wait(b, s, limit);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(to, len, seed));
	if (sender)
		*sender = s->at - t0;
	return r->at - t0;
}

static uint64_t move(struct bed *b, size_t len, uint32_t seed, uint64_t limit, uint64_t *sender)
{
	return move_between(b, bed_buf(b, len, seed), bed_buf(b, len, 0), len, seed, limit, sender);
}

/* ---- losses ---------------------------------------------------------------------------------- */

struct loss {
	const char *name;
	uint32_t src, what;
	uint64_t first, n;
	double rtts;   /* bound of the receiver's time beyond half a round trip and the bytes */
	double sender; /* and of the sender's beyond one */
};

static void bulk__losses_cost_a_bounded_number_of_round_trips(void **state)
{
	static const struct loss cases[] = {
		{ "nothing", 0, BED_DATA, 0, 0, 0.05, 0.15 },
		{ "the first", 0, BED_DATA, 0, 1, 1.3, 1.3 },
		{ "one in the middle", 0, BED_DATA, 100, 1, 1.3, 1.3 },
		{ "the last", 0, BED_DATA, PKTS - 1, 1, 1.3, 1.3 },
		{ "the last ten", 0, BED_DATA, PKTS - 10, 10, 1.3, 1.3 },
		{ "the first half", 0, BED_DATA, 0, PKTS / 2, 1.3, 1.3 },
		{ "all", 0, BED_DATA, 0, PKTS, 1.3, 1.3 },
		{ "the first repair too", 0, BED_DATA, PKTS - 1, 2, 2.5, 2.5 },
		{ "END", 0, BED_END, 0, 1, 0.05, 0.15 },
		{ "all and END", 0, BED_DATA | BED_END, 0, PKTS + 1, 4.5, 4.5 },
		{ "COMPLETE", 1, BED_COMPLETE, 0, 1, 0.05, 2.7 },
		{ "COMPLETE thrice", 1, BED_COMPLETE, 0, 3, 0.05, 16 },
		{ "the announcement", 0, BED_SEND, 0, 1, 2.5, 2.5 },
		{ "the announcement and its repeat", 0, BED_SEND, 0, 2, 6, 6 },
		{ "the first report", 1, BED_DACK, 0, 1, 0.05, 0.3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed *b = pair();
		struct bed_rule *d =
			bed_drop(b, cases[i].src, cases[i].what, cases[i].first, cases[i].n);
		uint64_t bytes = MIB * 8ull / 10 + MIB / 64, sender, t; /* ns at 10 Gbit/s */

		t = move(b, MIB, 5, BED_SEC, &sender);
		assert_int_equal(d->hit, cases[i].n);
		if (t > bytes + BED_DELAY + (uint64_t)(cases[i].rtts * BED_RTT) ||
		    sender > bytes + BED_RTT + (uint64_t)(cases[i].sender * BED_RTT))
			fail_msg("%s lost: receiver %+.2f, sender %+.2f RTT", cases[i].name,
				 ((double)t - (double)bytes - BED_DELAY) / BED_RTT,
				 ((double)sender - (double)bytes - BED_RTT) / BED_RTT);
		bed_close(b);
	}
}

/*
 * A repair is followed by an END of its own, before the first one is answered: that answer must
 * still tell of the tail.
 */
static void bulk__a_lost_tail_does_not_wait_for_earlier_repairs(void **state)
{
	static const uint32_t tails[] = { 1, 3, 10 };

	(void)state;
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		struct bed *b = pair();
		struct bed_rule *middle = bed_drop(b, 0, BED_DATA, 100, 1);
		struct bed_rule *tail = bed_drop(b, 0, BED_DATA, PKTS - tails[i], tails[i]);
		uint64_t bytes = MIB * 8ull / 10 + MIB / 64, t = move(b, MIB, 5, BED_SEC, NULL);

		assert_true(middle->hit == 1 && tail->hit == tails[i]);
		if (t > bytes + BED_DELAY + (uint64_t)(1.3 * BED_RTT))
			fail_msg("%u lost: %+.2f RTT", tails[i],
				 ((double)t - (double)bytes - BED_DELAY) / BED_RTT);
		bed_close(b);
	}
}

static void bulk__nothing_lost_nothing_sent_twice(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_sr, &sdr_scheme_sr_nack,
								&sdr_scheme_sr_rto };
	static const size_t len[] = { 4096, 4097, 65536, 100001, MIB, 5 * MIB + 1 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct bed *b = pair_with(schemes[k], NULL, 0);

		for (size_t i = 0; i < 6; i++)
			move(b, len[i], 1 + (uint32_t)i, BED_SEC, NULL);
		bed_run(b, BED_SEC);
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* Every single packet and every single control datagram of a transfer lost in turn. */
static void bulk__any_one_datagram_may_be_lost(void **state)
{
	uint64_t n[2] = { 0, 0 };

	(void)state;
	for (uint32_t src = 0; src < 2; src++) {
		for (uint64_t i = 0; !i || i < n[src]; i++) {
			struct bed *b = pair();
			struct bed_rule *d = bed_drop(b, src, BED_ALL, i, 1);

			move(b, 150000, 3, BED_SEC, NULL);
			if (!i)
				n[src] = d->seen < 60 ? d->seen : 60;
			bed_close(b);
		}
	}
	assert_true(n[0] > 30 && n[1] > 1);
}

static void bulk__plain_schemes_repair_too(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		bool nack = k == 0;
		struct bed *b = pair_with(nack ? &sdr_scheme_sr_nack : &sdr_scheme_sr_rto, NULL, 0);
		struct bed_rule *d = bed_drop(b, 0, BED_DATA, 7, 3);
		uint64_t t;
		struct sdr_rel_stats st;

		bed_drop(b, 0, BED_DATA, PKTS - 1, 1);
		t = move(b, MIB, 5, BED_SEC, NULL);
		assert_int_equal(d->hit, 3);
		st = bed_stats(b, 0);
		if (nack) {
			assert_true(st.rtx_nack >= 3);
			assert_in_range(t, 0, BED_DELAY + 3 * BED_RTT);
		} else {
			assert_true(st.rtx_rto >= 3);
			assert_int_equal(st.rtx_nack + st.rtx_rack, 0);
			assert_in_range(t, BED_DELAY + 3 * BED_RTT, BED_DELAY + 5 * BED_RTT);
		}
		bed_close(b);
	}
}

static void bulk__rto_factor_is_the_configured_one(void **state)
{
	uint64_t t[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bed *b = bed_new(2);

		for (int k = 0; k < 2; k++) {
			b->cfg[k].scheme = &sdr_scheme_sr_rto;
			b->cfg[k].rto_rtts = i ? 10 : 3;
		}
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_drop(b, 0, BED_DATA, 7, 1);
		t[i] = move(b, MIB, 5, BED_SEC, NULL);
		bed_close(b);
	}
	assert_in_range(t[1] - t[0], 6 * BED_RTT, 8 * BED_RTT);
}

/* ---- reordering ------------------------------------------------------------------------------ */

static uint64_t rtx_of(struct bed *b)
{
	struct sdr_rel_stats st = bed_stats(b, 0);

	return st.rtx_rack + st.rtx_nack + st.rtx_tlp + st.rtx_rto;
}

/* Data packets only: one that overtakes its announcement lands nowhere and is lost in earnest. */
static bool jitter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	if (what & BED_DATA)
		p->extra_ns += sdr_sim_world_random(b->w) % (2 * MS);
	return true;
}

static void bulk__reordering_is_learned(void **state)
{
	struct bed *b = pair();

	(void)state;
	b->filter = jitter;
	for (int i = 0; i < 20; i++)
		move(b, MIB, 5, BED_SEC, NULL);
	assert_true(bed_conn(b, 0, 1)->main.rack.reo_mult > 0);
	/* at most a round trip's worth while it is learned, a few per mille afterwards */
	assert_in_range(rtx_of(b), 0, PKTS + 20 * PKTS / 200);
	assert_true(bed_stats(b, 0).rtx_spurious <= rtx_of(b));
	bed_close(b);
}

static uint32_t watched, overtaken, blind; /* losses found by a timer, ... */
static bool overtakes;

static void watch_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			const struct sdr_cc_rate *rate)
{
	overtakes |= ack->overtakes;
	if (ack->lost && !ack->bytes) {
		watched++;
		overtaken += ack->overtakes;
		blind += overtakes && !ack->overtakes;
	}
	sdr_cc_bbr.acked(cc, ack, rate);
}

/* Whoever is told of losses is told whether packets overtake, also by a timer. */
static void bulk__reordering_is_told_with_every_loss(void **state)
{
	struct sdr_cc_ops watch = sdr_cc_bbr;
	struct bed *b = bed_new(2);

	(void)state;
	watch.acked = watch_acked;
	watched = overtaken = blind = 0;
	overtakes = false;
	b->cfg[0].scheme = b->cfg[1].scheme = &sdr_scheme_sr;
	b->cfg[0].cc = &watch;
	b->link.loss = 0.03;
	bed_boot(b);
	bed_warm(b, 0, 1);
	b->filter = jitter;
	for (int i = 0; i < 20; i++)
		move(b, MIB, 5, BED_SEC, NULL);
	assert_true(watched > 0 && overtaken > 0);
	assert_int_equal(blind, 0);
	bed_close(b);
}

/* Messages one at a time, with default settings: their mean time at the sender, ns. */
static uint64_t one_at_a_time(const struct sdr_sim_link *l, size_t len, uint32_t first, uint32_t n,
			      uint64_t pause)
{
	struct bed *b = bed_new(2);
	uint64_t sum = 0, sender;
	uint8_t *from, *to;

	b->link = *l;
	for (uint32_t k = 0; k < 2; k++) {
		b->na[k].mtu = b->cfg[k].mtu = 8192;
		b->cfg[k].rate_bps = 0;
		b->cfg[k].scheme = &sdr_scheme_auto;
		b->cfg[k].max_overhead = 0.25;
	}
	bed_boot(b);
	from = bed_buf(b, len, 5);
	to = bed_buf(b, len, 0);
	for (uint32_t i = 0; i < first; i++)
		move(b, 100, 5, BED_SEC, &sender);
	for (uint32_t i = 0; i < 2 * n; i++) {
		memset(to, 0, len);
		move_between(b, from, to, len, 5, BED_SEC, &sender);
		sum += i < n ? 0 : sender;
		bed_run(b, pause);
	}
	bed_close(b);
	return sum / n;
}

/*
 * However fast a path is, a message leaves at that rate: by what has passed of those before, where
 * trains are over before their times can be told apart.
 */
static void bulk__of_a_fast_path(void **state)
{
	static const struct {
		uint64_t rtt, bps;
		size_t len;
		double loss;	 /* with it the next leaves as soon as one is there */
		uint64_t jitter; /* ns */
	} row[] = {
		{ MS, 10, 1 << 18, 0, 0 },
		{ MS, 100, MIB, 0, 0 },
		{ 25 * MS, 10, 1 << 16, 0, 0 },
		{ 25 * MS, 10, MIB, 0, 0 },
		{ 25 * MS, 100, MIB, 0, 0 },
		{ 25 * MS, 100, 4 * MIB, 0, 0 },
		{ 100 * MS, 10, 1 << 18, 0, 0 },
		{ 100 * MS, 10, MIB, 1e-2, 0 },
		{ 100 * MS, 100, MIB, 0, 0 },
		{ 100 * MS, 100, 16 * MIB, 1e-3, 0 },
		{ 100 * MS, 10, 16 * MIB, 1e-2, 50 * 1000 },
		/* two and three packets */
		{ MS, 10, 16384, 0, 0 },
		{ MS, 10, 24576, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sdr_sim_link l = { .delay_ns = row[i].rtt / 2,
					  .rate_bps = row[i].bps * BED_SEC,
					  .loss = row[i].loss,
					  .jitter_ns = row[i].jitter };
		uint64_t ideal = row[i].rtt + row[i].len * 8 / row[i].bps;
		uint64_t t = one_at_a_time(&l, row[i].len, 0, 20, row[i].loss > 0 ? 0 : 20 * MS);

		if (t > ideal * 104 / 100)
			fail_msg("row %zu: %.3f ms, ideal %.3f", i, (double)t / 1e6,
				 (double)ideal / 1e6);
	}
}

/*
 * A queue that is short beside the path takes what leaves together, and messages that are longer
 * than a round trip find out how much it is, without asking for more with each.
 */
static void bulk__into_a_short_queue(void **state)
{
	static const struct {
		uint64_t rtt, bps;
		size_t len;
		uint64_t queue; /* bytes */
		double most;	/* of the ideal */
	} row[] = {
		{ 100 * MS, 10, MIB, 1 << 18, 1.05 },
		{ 5 * MS, 1, 4 * MIB, 1 << 17, 1.015 },
		{ 10 * MS, 10, 16 * MIB, 1 << 20, 1.08 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sdr_sim_link l = { .delay_ns = row[i].rtt / 2,
					  .rate_bps = row[i].bps * BED_SEC,
					  .queue_bytes = row[i].queue };
		double ideal = (double)(row[i].rtt + row[i].len * 8 / row[i].bps);
		double t = (double)one_at_a_time(&l, row[i].len, 0, 50, MS);

		if (t > row[i].most * ideal)
			fail_msg("row %zu: %.3f of the ideal", i, t / ideal);
	}
}

/*
 * Messages one at a time, with default settings, where packets overtake each other by little: a
 * short one waits behind its record for no longer than that, and a chance is not taken for the rate
 * of the path.
 */
static void bulk__reordering_costs_what_packets_overtake_by(void **state)
{
	static const struct {
		uint64_t rtt; /* ns */
		size_t len;
		uint64_t jitter; /* ns */
		double loss;
		uint32_t before; /* short messages */
		double most;	 /* of the ideal */
	} row[] = {
		{ 25 * MS, 1 << 16, 50 * 1000, 0, 0, 1.05 },
		{ 25 * MS, 1 << 16, MS / 2, 0, 0, 1.05 },
		{ 25 * MS, 1 << 16, MS / 2, 0.01, 0, 1.05 },
		{ 25 * MS, MIB, MS / 2, 0, 0, 1.05 },
		{ 25 * MS, MIB, MS / 2, 0.01, 2, 1.05 },
		{ 25 * MS, MIB, MS / 2, 0.01, 3, 1.05 },
		/* a packet or two */
		{ 10 * MS, 6000, MS / 5, 0, 0, 1.01 },
		{ 10 * MS, 1 << 14, MS / 5, 0, 0, 1.03 },
		{ MS / 5, MIB, MS / 2, 0, 0, 1.2 },
		{ MS / 5, 4 * MIB, MS, 0, 0, 1.2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sdr_sim_link l = { .delay_ns = row[i].rtt / 2,
					  .rate_bps = BED_SEC,
					  .jitter_ns = row[i].jitter,
					  .loss = row[i].loss };
		uint64_t ideal = row[i].rtt + row[i].len * 8 + 2 * row[i].jitter;
		uint64_t t = one_at_a_time(&l, row[i].len, row[i].before, 50, 20 * MS);

		if ((double)t > (double)ideal * row[i].most)
			fail_msg("row %zu: %.2f ms, ideal %.2f", i, (double)t / 1e6,
				 (double)ideal / 1e6);
	}
}

/* One packet comes long after its message is complete and its buffer is used for something else. */
static void bulk__late_packets_touch_nothing(void **state)
{
	struct bed *b = pair();
	struct bed_rule *d = bed_late(b, 0, BED_DATA, 10, 20, 400 * MS);
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB),
		      *s = bed_send(b, 0, 1, bed_buf(b, MIB, 4), MIB, 0);
	uint64_t late;

	(void)state;
	bed_wait(b, r, 100 * MS);
	bed_wait(b, s, 100 * MS);
	assert_int_equal(d->hit, 20);
	assert_true(bed_same(p, MIB, 4));
	bed_fill(p, MIB, 77);
	late = bed_stats(b, 1).pkts_late;
	bed_run(b, BED_SEC);
	assert_int_equal(bed_stats(b, 1).pkts_late - late, 20);
	assert_true(bed_same(p, MIB, 77));
	bed_close(b);
}

static void bulk__late_packets_touch_nothing_after_a_failure(void **state)
{
	struct bed *b = pair();
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r, *s;

	(void)state;
	bed_late(b, 0, BED_DATA, 10, 20, 400 * MS);
	bed_drop(b, 0, BED_DATA, 30, UINT64_MAX / 2);
	r = bed_recv(b, 1, p, MIB);
	s = bed_send(b, 0, 1, bed_buf(b, MIB, 4), MIB, 0);
	bed_run(b, 2 * BED_RTT);
	sdr_rel_shutdown(b->node[0].ep->rel);
	b->node[0].ep->dirty = true;
	bed_wait(b, r, 100 * MS);
	bed_assert_err(r, SDR_REL_ERR_CLOSED);
	bed_assert_err(s, SDR_REL_ERR_CANCELED);
	bed_fill(p, MIB, 77);
	bed_run(b, BED_SEC);
	assert_true(bed_same(p, MIB, 77));
	bed_close(b);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* 4096 IDs of 1 MiB at 256 bytes per packet */
static const struct sdr_imm_split SEG_1M = { 12, 12, 8 };

static void segments__a_message_of_several(void **state)
{
	static const size_t len[] = { MIB - 1, MIB, MIB + 1, 5 * MIB + 77 };
	struct bed *b = pair_with(&sdr_scheme_sr, &SEG_1M, 256);

	(void)state;
	assert_int_equal(bed_conn(b, 0, 1)->shape->seg_bytes, MIB);
	for (size_t i = 0; i < 4; i++)
		move(b, len[i], 1 + (uint32_t)i, BED_SEC, NULL);
	bed_drop(b, 0, BED_DATA, 4090, 10); /* across a border */
	bed_drop(b, 0, BED_END, 0, 2);
	move(b, 3 * MIB, 9, BED_SEC, NULL);
	bed_close(b);
}

/*
 * 16 IDs, and segments made small (128 KiB): a layout that no split of 32 bits gives, set before
 * anything is sent.
 */
#define IDS 16u
#define SEG (128u << 10)

static const struct sdr_imm_split FEW_IDS = { 4, 20, 8 };

static struct bed *few_ids(void)
{
	return pair_with(&sdr_scheme_sr, &FEW_IDS, 0);
}

static void small_segments(struct bed *b)
{
	for (uint32_t i = 0; i < 2; i++)
		bed_conn(b, i, 1 - i)->shape->seg_bytes = SEG;
}

static void segments__more_than_the_window_of_ids(void **state)
{
	struct bed *b = few_ids();
	uint8_t *p = bed_buf(b, 50 * SEG + 9, 0), *q = bed_buf(b, 50 * SEG + 9, 0);
	struct bed_op *s;

	(void)state;
	small_segments(b);
	assert_int_equal(sdr_qp_ids(bed_conn(b, 0, 1)->shape->qp), IDS);
	for (int i = 0; i < 2; i++)
		move(b, 50 * SEG + 9, 3, 5 * BED_SEC, NULL);
	bed_drop(b, 0, BED_DATA, 15 * (SEG / 4096), 70);
	bed_drop(b, 1, BED_CREDIT, 0, 2);
	move(b, 50 * SEG + 9, 4, 5 * BED_SEC, NULL);
	bed_region_add(b, 1, 7, p, 50 * SEG + 9, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	bed_fill(q, 50 * SEG + 9, 6);
	s = bed_rma(b, 0, 1, SDR_REL_WRITE, q, 50 * SEG + 9, 0, 7, 0);
	bed_wait(b, s, 5 * BED_SEC);
	bed_assert_ok(s);
	assert_true(bed_same(p, 50 * SEG + 9, 6));
	bed_fill(q, 50 * SEG + 9, 0);
	s = bed_rma(b, 0, 1, SDR_REL_READ, q, 50 * SEG + 9, 0, 7, 0);
	bed_wait(b, s, 5 * BED_SEC);
	bed_assert_ok(s);
	assert_true(bed_same(q, 50 * SEG + 9, 6));
	bed_close(b);
}

/* What is refused, parked or truncated leaves the window although it is longer than it. */
static void segments__refused_messages_leave_the_window(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		struct bed *b = few_ids();
		size_t len = 40 * SEG;
		struct bed_op *s, *r = NULL;

		small_segments(b);
		if (how == 0) { /* parked, then taken */
			s = bed_send(b, 0, 1, bed_buf(b, len, 3), len, 0);
			bed_run(b, 10 * BED_RTT);
			r = bed_recv(b, 1, bed_buf(b, len, 0), len);
		} else if (how == 1) { /* parked, discarded */
			s = bed_tsend(b, 0, 1, 1, bed_buf(b, len, 3), len);
			bed_run(b, 10 * BED_RTT);
			r = bed_rr(
				b, 1,
				(struct sdr_rel_rr){ .kind = SDR_REL_TRECV,
						     .tag = 1,
						     .flags = SDR_REL_R_PEEK | SDR_REL_R_DISCARD },
				NULL, 0);
		} else if (how == 2) { /* too long for its receive */
			r = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
			s = bed_send(b, 0, 1, bed_buf(b, len, 3), len, 0);
		} else { /* no such key */
			s = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, len, 3), len, 0, 99, 0);
		}
		bed_wait(b, s, 5 * BED_SEC);
		if (r)
			bed_wait(b, r, 5 * BED_SEC);
		assert_int_equal(s->e.prov_err, how == 3 ? SDR_REL_ERR_KEY : SDR_REL_OK);
		for (int i = 0; i < 3; i++)
			move(b, 20 * SEG, 5, 5 * BED_SEC, NULL);
		bed_close(b);
	}
}

/* The same for a short message whose numbers lie across the end of the window. */
static void segments__refused_across_the_end_of_the_window(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		struct bed *b = few_ids();
		struct bed_op *r[2], *s[3];

		small_segments(b);
		/*
		 * 14 segments that stay unfinished, then 4 more that are refused: two inside, two
		 * beyond
		 */
		bed_drop(b, 0, BED_DATA, 1, 1);
		bed_drop(b, 0, BED_DATA, 14 * (SEG / 4096), 40);
		r[0] = bed_recv(b, 1, bed_buf(b, 14 * SEG, 0), 14 * SEG);
		s[0] = bed_send(b, 0, 1, bed_buf(b, 14 * SEG, 3), 14 * SEG, 0);
		if (how)
			r[1] = bed_recv(b, 1, bed_buf(b, 10, 0), 10);
		s[1] = bed_send(b, 0, 1, bed_buf(b, 4 * SEG + MIB, 4), 4 * SEG + MIB, 0);
		bed_run(b, 10 * BED_RTT);
		if (!how)
			r[1] = bed_recv(b, 1, bed_buf(b, 4 * SEG + MIB, 0), 4 * SEG + MIB);
		bed_wait_all(b, 5 * BED_SEC);
		bed_assert_ok(r[0]);
		bed_assert_ok(s[0]);
		bed_assert_ok(s[1]);
		assert_int_equal(r[1]->e.prov_err, how ? SDR_REL_ERR_TRUNC : SDR_REL_OK);
		for (int i = 0; i < 3; i++)
			move(b, 20 * SEG, 5, 5 * BED_SEC, NULL);
		bed_close(b);
	}
}

/*
 * Refused ones whose records overtake each other: the later, longer than the window, is voided
 * first.
 */
static void segments__refused_out_of_order_leave_the_window(void **state)
{
	struct bed *b = few_ids();
	struct bed_op *s[2];
	struct bed_rule *d;

	(void)state;
	small_segments(b);
	d = bed_drop(b, 0, BED_WRITE, 0, 1);
	s[0] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 5 * SEG, 3), 5 * SEG, 0, 99, 0);
	bed_rounds(b);
	s[1] = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 40 * SEG, 3), 40 * SEG, 0, 99, 0);
	for (int i = 0; i < 2; i++) {
		bed_wait(b, s[i], 5 * BED_SEC);
		bed_assert_err(s[i], SDR_REL_ERR_KEY);
	}
	assert_int_equal(d->hit, 1);
	for (int i = 0; i < 3; i++)
		move(b, 20 * SEG, 5, 5 * BED_SEC, NULL);
	bed_close(b);
}

/*
 * What a peer does not take lands nowhere, and it says so.  Its own data are waiting for the pacer
 * and the window: the refusal does not, since an END that is acknowledged before it would mean that
 * all of it is lost.
 */
static void refused__nothing_is_sent_again(void **state)
{
	static const size_t len[] = { 5000, 65536, MIB + 1 };

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t to = i % 2; /* 0: itself */
		bool park = i / 2 % 2;
		size_t n = park ? MIB + 1 + len[i / 4] : len[i / 4];
		struct bed *b = bed_new(2);
		struct bed_op *s, *r = NULL;

		for (uint32_t k = 0; k < 2; k++)
			b->cfg[k].rate_bps = 1000000000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_recv(b, 0, bed_buf(b, 8 * MIB, 0), 8 * MIB);
		bed_send(b, to, 0, bed_buf(b, 8 * MIB, 5), 8 * MIB, 0);
		bed_run(b, 2 * BED_RTT);
		s = park ? bed_tsend(b, 0, to, 1, bed_buf(b, n, 3), n)
			 : bed_rma(b, 0, to, SDR_REL_WRITE, bed_buf(b, n, 3), n, 0, 99, 0);
		bed_run(b, 10 * BED_RTT);
		if (park)
			r = bed_trecv(b, to, 1, 0, bed_buf(b, n, 0), n);
		bed_wait_all(b, 5 * BED_SEC);
		if (r)
			bed_assert_ok(r);
		if (park)
			bed_assert_ok(s);
		else
			bed_assert_err(s, SDR_REL_ERR_KEY);
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bulk__losses_cost_a_bounded_number_of_round_trips),
		cmocka_unit_test(bulk__a_lost_tail_does_not_wait_for_earlier_repairs),
		cmocka_unit_test(bulk__nothing_lost_nothing_sent_twice),
		cmocka_unit_test(bulk__any_one_datagram_may_be_lost),
		cmocka_unit_test(bulk__plain_schemes_repair_too),
		cmocka_unit_test(bulk__rto_factor_is_the_configured_one),
		cmocka_unit_test(bulk__reordering_is_learned),
		cmocka_unit_test(bulk__reordering_is_told_with_every_loss),
		cmocka_unit_test(bulk__of_a_fast_path),
		cmocka_unit_test(bulk__into_a_short_queue),
		cmocka_unit_test(bulk__reordering_costs_what_packets_overtake_by),
		cmocka_unit_test(bulk__late_packets_touch_nothing),
		cmocka_unit_test(bulk__late_packets_touch_nothing_after_a_failure),
		cmocka_unit_test(segments__a_message_of_several),
		cmocka_unit_test(segments__refused_out_of_order_leave_the_window),
		cmocka_unit_test(segments__more_than_the_window_of_ids),
		cmocka_unit_test(segments__refused_messages_leave_the_window),
		cmocka_unit_test(segments__refused_across_the_end_of_the_window),
		cmocka_unit_test(refused__nothing_is_sent_again),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
