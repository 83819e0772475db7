/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fault injection over the soft engine, as the provider uses it: what the receiver sees, and the
 * engine's own clock.  Times are only ever checked from below.
 */
#include <math.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

#define ROUNDS 100u
#define PKTS   64u

/* Sends rounds * 64 packets; returns how many were placed, counting repeats. */
static uint32_t storm(struct pair *p, uint32_t rounds)
{
	uint8_t *src = malloc(PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	uint32_t i, got = 0;
	int k, n;

	fill(src, PAIR_MSG, 17);
	assert_int_equal(p->b->ops->slot_bind(p->qb, 0, 0, dst, PAIR_MSG, NULL), 0);
	for (i = 0; i < rounds; i++) {
		pair_post(p, pair_write(p, 0, 0, src, 0, PAIR_MSG));
		while ((n = p->b->ops->poll(p->b, p->ev, PAIR_EVS)) > 0) {
			for (k = 0; k < n; k++)
				got += p->ev[k].kind == SDR_UC_EV_PLACED;
		}
	}
	for (i = 0; i < PAIR_MSG; i++)
		assert_true(dst[i] == src[i] || dst[i] == 0);
	p->b->ops->slot_unbind(p->qb, 0);
	free(src);
	free(dst);
	return got;
}

static void soft__loss_and_doubles_and_corruption(void **state)
{
	struct sdr_uc_stats a, b;
	struct pair p;
	uint32_t got;

	(void)state;
	pair_open(&p,
		  &(struct pair_opt){ .fault = "drop=0.05,burst=4,dup=0.03,corrupt=0.02,seed=21" });
	got = storm(&p, ROUNDS);
	a = pair_stats(p.a);
	b = pair_stats(p.b);
	assert_int_equal(got, b.pkts_rx);
	assert_int_equal(b.pkts_rx + b.pkts_bad, ROUNDS * PKTS - a.fault_drop + a.fault_dup);
	/* Both copies of a doubled packet are spoilt. */
	assert_true(b.pkts_bad >= a.fault_corrupt && b.pkts_bad <= a.fault_corrupt * 2);
	assert_true(fabs((double)a.fault_drop - 320) < 200);
	assert_true(fabs((double)a.fault_dup - 0.03 * 6080) < 70);
	assert_true(fabs((double)a.fault_corrupt - 0.02 * 6080) < 60);
	assert_int_equal(b.pkts_late, 0);
	pair_close(&p);
}

static void soft__control_too(void **state)
{
	struct pair p;
	int i, got = 0, n;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .fault = "drop=0.5,corrupt=0.2,seed=3" });
	for (i = 0; i < 1000; i++) {
		pair_post(&p, pair_ctl(&p.ib.addr, "hello", 5));
		while ((n = p.b->ops->poll(p.b, p.ev, PAIR_EVS)) > 0)
			got += n;
	}
	assert_int_equal(got + pair_stats(p.b).pkts_bad, 1000 - pair_stats(p.a).fault_drop);
	assert_int_equal(pair_stats(p.b).pkts_bad, pair_stats(p.a).fault_corrupt);
	assert_true(got > 300 && got < 500);
	pair_close(&p);
}

/* Polls both sides until b has n events; a's clock when the last one came. */
static uint64_t drive(struct pair *p, int n)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	int got = 0, k, i;
	uint64_t now;

	for (;;) {
		p->a->ops->poll(p->a, ev, SDR_UC_POLL_MIN);
		k = p->b->ops->poll(p->b, ev, SDR_UC_POLL_MIN);
		for (i = 0; i < k && got < PAIR_EVS; i++)
			p->ev[got++] = ev[i];
		now = p->a->ops->now(p->a);
		if (got >= n)
			return now;
		if (p->a->ops->deadline(p->a) == UINT64_MAX && !k) {
			assert_int_equal(pair_wait(p->b, p->ev + got, n - got), n - got);
			return now;
		}
	}
}

static void soft__delay_on_the_engines_clock(void **state)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t *src = malloc(PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	uint64_t t0, t1;
	struct pair p;
	uint32_t i;

	(void)state;
	fill(src, PAIR_MSG, 1);
	pair_open(&p, &(struct pair_opt){ .fault = "delay=20ms" });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, PAIR_MSG, NULL), 0);
	t0 = p.a->ops->now(p.a);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, PAIR_MSG));
	pair_post(&p, pair_ctl(&p.ib.addr, "end", 3));
	assert_true(p.a->ops->deadline(p.a) >= t0 + 20000000);
	pair_quiet(p.b);
	t1 = drive(&p, PKTS + 1);
	assert_true(t1 >= t0 + 20000000);
	for (i = 0; i < PKTS; i++) {
		assert_int_equal(p.ev[i].kind, SDR_UC_EV_PLACED);
		assert_int_equal(sdr_imm_off(&split, p.ev[i].p.imm), i);
	}
	assert_int_equal(p.ev[PKTS].kind, SDR_UC_EV_CTL);
	assert_memory_equal(src, dst, PAIR_MSG);
	/* Trains survive the delay. */
	assert_true(pair_stats(p.a).sys_tx <= 4);
	pair_close(&p);
	free(src);
	free(dst);
}

/*
 * Closing sends what was sent before, and not before its time: the other side would measure a path
 * that is not there.
 */
static void soft__close_keeps_the_delay(void **state)
{
	static const char *const how[] = { "delay=40ms",
					   "delay=20ms,jitter=20ms,reorder=0.5,seed=2" };
	struct pair p;
	uint64_t t0;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		pair_open(&p, &(struct pair_opt){ .fault = how[i] });
		t0 = p.b->ops->now(p.b);
		pair_post(&p, pair_ctl(&p.ib.addr, "first", 5));
		pair_post(&p, pair_ctl(&p.ib.addr, "last", 4));
		pair_quiet(p.b);
		p.a->ops->qp_destroy(p.qa);
		p.a->ops->close(p.a);
		assert_true(p.b->ops->now(p.b) >= t0 + (i ? 20000000 : 40000000));
		assert_int_equal(pair_wait(p.b, p.ev, 2), 2);
		p.b->ops->qp_destroy(p.qb);
		p.b->ops->close(p.b);
	}
}

static void soft__rate_on_the_engines_clock(void **state)
{
	uint8_t *src = calloc(1, PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	uint64_t t0, t1;
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .fault = "rate=50mbit" });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, PAIR_MSG, NULL), 0);
	t0 = p.a->ops->now(p.a);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, PAIR_MSG));
	t1 = drive(&p, PKTS);
	/* 64 packets of 1024 + 64 bytes at 50 Mbit/s: 11.1 ms. */
	assert_true(t1 - t0 >= 64 * (1024 + 64) * 160ull);
	pair_close(&p);
	free(src);
	free(dst);
}

static void soft__reordered_all_arrive(void **state)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t *src = malloc(PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	uint32_t i, late = 0;
	struct pair p;

	(void)state;
	fill(src, PAIR_MSG, 9);
	pair_open(&p, &(struct pair_opt){ .fault = "reorder=0.2,seed=5" });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, PAIR_MSG, NULL), 0);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, PAIR_MSG));
	drive(&p, PKTS);
	assert_memory_equal(src, dst, PAIR_MSG);
	for (i = 1; i < PKTS; i++)
		late += sdr_imm_off(&split, p.ev[i].p.imm) < sdr_imm_off(&split, p.ev[i - 1].p.imm);
	assert_true(late > 0);
	assert_true(pair_stats(p.a).fault_reorder > 4);
	pair_close(&p);
	free(src);
	free(dst);
}

static void soft__everything_passes_through(void **state)
{
	struct sdr_uc_addr addr;
	struct pair p;
	void *mr;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .fault = "drop=0" });
	assert_string_equal(p.ia.name, "soft");
	assert_true(p.a->ops->fd(p.a) >= 0);
	p.a->ops->sockname(p.a, &addr);
	assert_true(sdr_uc_addr_equal(&addr, &p.ia.addr));
	assert_int_equal(p.a->ops->mr_reg(p.a, &p, sizeof(p), NULL, &mr), 0);
	p.a->ops->mr_dereg(p.a, mr);
	assert_true(p.a->ops->deadline(p.a) == UINT64_MAX);
	p.a->ops->qp_readdress(p.qa, &p.ib.addr);
	assert_int_equal(storm(&p, 3), 3 * PKTS);
	/* It receives as well, into slots bound through the wrapper. */
	{
		uint8_t src[16] = "to the wrapper", dst[16] = "";
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = sizeof(src), .buf = src };

		t.w.qp = p.qb;
		assert_int_equal(p.qa->uc->ops->slot_bind(p.qa, 1, 0, dst, sizeof(dst), NULL), 0);
		assert_int_equal(p.b->ops->post(p.b, &t, 1), 1);
		pair_quiet(p.a); /* slot 0 is not bound */
		t.w.slot = 1;
		assert_int_equal(p.b->ops->post(p.b, &t, 1), 1);
		assert_int_equal(pair_wait(p.a, p.ev, 1), 1);
		assert_ptr_equal(p.ev[0].p.cookie, &p);
		assert_memory_equal(src, dst, sizeof(src));
		p.qa->uc->ops->slot_unbind(p.qa, 1);
	}
	pair_close(&p);
}

static void soft__bad_text_is_refused_at_open(void **state)
{
	char err[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_open_attr oa = { .fault = "drop=0.1,delay=10",
				       .err = err,
				       .err_len = sizeof(err) };
	struct sdr_uc *uc;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), -EINVAL);
	assert_non_null(strstr(err, "delay=10"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft__loss_and_doubles_and_corruption),
		cmocka_unit_test(soft__control_too),
		cmocka_unit_test(soft__delay_on_the_engines_clock),
		cmocka_unit_test(soft__close_keeps_the_delay),
		cmocka_unit_test(soft__rate_on_the_engines_clock),
		cmocka_unit_test(soft__reordered_all_arrive),
		cmocka_unit_test(soft__everything_passes_through),
		cmocka_unit_test(soft__bad_text_is_refused_at_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
