/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much a new congestion control is: one with a constant window, no pacing, and the window
 * halved for good by a timeout, with its tests on the simulated network.  To be chosen by name it
 * would be a row of sdr_cc_table more; here the settings name it directly.
 */
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "../bed/bed.h"

#define WINDOW_BYTES (64u * 1024)

/* ---- the controller -------------------------------------------------------------------------- */

struct cc_window {
	uint64_t bytes;		    /* the window */
	uint64_t delivered, lost;   /* bytes it was told of */
	uint32_t samples, timeouts; /* valid rate samples */
};

_Static_assert(sizeof(struct cc_window) <= SDR_CC_STATE_MAX, "the state must fit into sdr_cc");

static void window_set(struct sdr_cc *cc, uint64_t bytes)
{
	struct cc_window *w = (void *)cc->state;
	uint64_t least = (uint64_t)SDR_CC_MIN_PKTS * cc->mtu;

	w->bytes = bytes > least ? bytes : least;
	cc->cwnd = w->bytes;
	cc->pacing_Bps = 0;
}

static void window_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	(void)now;
	window_set(cc, WINDOW_BYTES);
}

static void window_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			 const struct sdr_cc_rate *rate)
{
	struct cc_window *w = (void *)cc->state;

	w->delivered += ack->bytes;
	w->lost += ack->lost;
	w->samples += rate->bw > 0;
}

static void window_timeout(struct sdr_cc *cc, uint64_t now)
{
	struct cc_window *w = (void *)cc->state;

	(void)now;
	w->timeouts++;
	window_set(cc, w->bytes / 2);
}

static const struct sdr_cc_ops cc_window = {
	.name = "window",
	.init = window_init,
	.acked = window_acked,
	.timeout = window_timeout,
};

/* ---- its tests ------------------------------------------------------------------------------- */

#define LEN (1u << 20)

static const struct cc_window *window_of(struct bed *b)
{
	return (const void *)bed_conn(b, 0, 1)->main.cc.state;
}

static struct bed *pair(void)
{
	struct bed *b = bed_new(2);

	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = &sdr_scheme_sr;
		b->cfg[i].cc = &cc_window;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	assert_ptr_equal(bed_conn(b, 0, 1)->main.cc.ops, &cc_window);
	return b;
}

/* A control packet may go on top of a window that data have filled. */
static void never_more(struct bed *b, uint32_t node)
{
	struct sdr_conn *c = bed_conn(b, node, 1 - node);

	if (c && c->state == SDR_CONN_OPEN)
		assert_true(c->inflight <= c->main.cc.cwnd + c->shape->mtu);
}

/* One message 0 -> 1: ns until the receiver has it. */
static uint64_t move(struct bed *b)
{
	uint64_t t0 = bed_now(b);
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *r = bed_recv(b, 1, p, LEN),
		      *s = bed_send(b, 0, 1, bed_buf(b, LEN, 7), LEN, 0);

	bed_wait(b, r, 60 * BED_SEC);
	bed_wait(b, s, 60 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, LEN, 7));
	return r->at - t0;
}

/* The link has no rate: what a window a round trip gives is all there is. */
static void window__sends_its_window_a_round_trip(void **state)
{
	struct bed *b = pair();
	uint64_t t;

	(void)state;
	b->app = never_more;
	t = move(b);
	assert_in_range(t, (LEN / WINDOW_BYTES - 1) * BED_RTT, (LEN / WINDOW_BYTES + 3) * BED_RTT);
	assert_true(window_of(b)->delivered >= LEN && window_of(b)->samples > 0);
	assert_true(window_of(b)->lost == 0 && window_of(b)->timeouts == 0);
	bed_assert_no_repair(b);
	bed_close(b);
}

static void window__hears_of_losses_and_keeps_its_window(void **state)
{
	struct bed *b = pair();

	(void)state;
	b->app = never_more;
	bed_drop(b, 0, BED_DATA, 20, 5);
	move(b);
	assert_int_equal(window_of(b)->lost, 5 * SDR_MTU_DEFAULT);
	assert_int_equal(bed_conn(b, 0, 1)->main.cc.cwnd, WINDOW_BYTES);
	bed_close(b);
}

/* Seconds without an acknowledgement. */
static void window__is_halved_by_a_timeout(void **state)
{
	struct bed *b = pair();

	(void)state;
	bed_drop(b, BED_ANY, BED_DATA | BED_ACK | BED_DACK, 40, 200);
	move(b);
	assert_int_equal(window_of(b)->timeouts, 1);
	assert_int_equal(bed_conn(b, 0, 1)->main.cc.cwnd, WINDOW_BYTES / 2);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window__sends_its_window_a_round_trip),
		cmocka_unit_test(window__hears_of_losses_and_keeps_its_window),
		cmocka_unit_test(window__is_halved_by_a_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
