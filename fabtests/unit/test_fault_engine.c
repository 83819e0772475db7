/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fault injection over an engine without network and with a clock of the test's own: which packets
 * are hit, when the others leave, and that the decisions do not depend on how they were posted.
 */
#include "test_fault_util.h"

#define N 20000u

/* |hits - n p| within five standard deviations; a fixed seed makes it one outcome anyway. */
static void binomial_check(uint64_t hits, double n, double p)
{
	double sd = sqrt(n * p * (1 - p));

	if (fabs((double)hits - n * p) > 5 * sd)
		fail_msg("%llu hits of %g at %g: outside of %g +- %g", (unsigned long long)hits, n,
			 p, n * p, 5 * sd);
}

/* Posts n packets in runs of `run`. */
static void send_runs(struct bad_net *b, const uint8_t *buf, uint32_t n, uint32_t run)
{
	uint32_t i;

	for (i = 0; i < n; i += run) {
		struct sdr_uc_tx t = bad_net_write(b, buf, i, n - i < run ? n - i : run);

		assert_int_equal(b->f->ops->post(b->f, &t, 1), 1);
	}
}

static void fault__nothing_asked(void **state)
{
	uint8_t *buf = numbered(100);
	struct sdr_uc_tx v[3];
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "");
	v[0] = bad_net_write(&b, buf, 0, 50);
	v[1] = bad_net_ctl(&b, "ctl", 3);
	v[2] = bad_net_write(&b, buf, 50, 50);
	v[2].len -= 7;
	assert_int_equal(b.f->ops->post(b.f, v, 3), 3);
	assert_int_equal(b.r.n, 101);
	assert_int_equal(b.r.descs, 3);
	assert_int_equal(b.r.posts, 1);
	assert_int_equal(b.r.pkt[50].kind, SDR_UC_TX_CTL);
	assert_int_equal(b.r.pkt[100].len, REC_MTU - 7);
	for (i = 0; i < 101; i++) {
		if (i != 50)
			assert_int_equal(b.r.pkt[i].head, i < 50 ? i : i - 1);
	}
	bad_net_close(&b);
	free(buf);
}

static void fault__drop_rate(void **state)
{
	uint8_t *buf = numbered(N);
	struct bad_net b;

	(void)state;
	bad_net_open(&b, "drop=0.01,seed=3");
	send_runs(&b, buf, N, 64);
	assert_int_equal(b.r.n, N - bad_net_stats(&b).fault_drop);
	binomial_check(N - b.r.n, N, 0.01);
	bad_net_close(&b);
	bad_net_open(&b, "drop=1");
	send_runs(&b, buf, 1000, 64);
	assert_int_equal(b.r.n, 0);
	bad_net_close(&b);
	free(buf);
}

static void fault__drop_in_bursts(void **state)
{
	uint32_t n = 400000, i, lost = 0, runs = 0, prev = UINT32_MAX, rec = 0;
	uint8_t *buf = numbered(1);
	struct bad_net b;
	double mean;

	(void)state;
	/* One buffer for all: the offset says which packet it was. */
	bad_net_open(&b, "drop=0.02,burst=8,seed=5");
	for (i = 0; i < n; i++) {
		struct sdr_uc_tx t = bad_net_write(&b, buf, 0, 1);

		t.w.first = i;
		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	for (i = 0; i < n; i++) {
		if (rec < b.r.n && b.r.pkt[rec].first == i) {
			rec++;
			continue;
		}
		lost++;
		runs += prev == UINT32_MAX || prev + 1 != i;
		prev = i;
	}
	assert_int_equal(rec, b.r.n);
	mean = (double)lost / runs;
	/*
	 * 1000 bursts expected; the length is geometric with mean 8: the mean of 1000 has a
	 * deviation of 0.24.
	 */
	assert_true(runs > 800 && runs < 1200);
	assert_true(mean > 7 && mean < 9);
	assert_true(lost > 6400 && lost < 9600);
	bad_net_close(&b);
	free(buf);
}

static void fault__dup_and_corrupt(void **state)
{
	uint8_t *buf = numbered(N);
	uint32_t i, dup = 0, bad = 0;
	struct bad_net b;

	(void)state;
	bad_net_open(&b, "dup=0.02,corrupt=0.01,seed=9");
	send_runs(&b, buf, N, 64);
	for (i = 0; i < b.r.n; i++) {
		bool again = i && b.r.pkt[i].first == b.r.pkt[i - 1].first;

		assert_int_equal(b.r.pkt[i].head, b.r.pkt[i].first);
		dup += again;
		bad += (b.r.pkt[i].flags & SDR_UC_F_CORRUPT) && !again;
		if (i && !again)
			assert_int_equal(b.r.pkt[i].first, b.r.pkt[i - 1].first + 1);
	}
	assert_int_equal(b.r.n, N + dup);
	binomial_check(dup, N, 0.02);
	binomial_check(bad, N, 0.01);
	assert_int_equal(bad_net_stats(&b).fault_dup, dup);
	assert_int_equal(bad_net_stats(&b).fault_corrupt, bad);
	bad_net_close(&b);
	free(buf);
}

/* Collects which packets came out. */
static uint8_t *fates(const char *spec, uint32_t run, int64_t allow)
{
	uint8_t *buf = numbered(2000), *out = calloc(1, 2000);
	struct bad_net b;
	uint32_t i;

	bad_net_open(&b, spec);
	for (i = 0; i < 2000; i += run) {
		struct sdr_uc_tx t = bad_net_write(&b, buf, i, 2000 - i < run ? 2000 - i : run);

		b.r.allow = allow;
		while (b.f->ops->post(b.f, &t, 1) != 1)
			b.r.allow = allow;
	}
	bad_net_run(&b, UINT64_MAX - 1);
	for (i = 0; i < b.r.n; i++) {
		assert_int_equal(b.r.pkt[i].head, b.r.pkt[i].first);
		out[b.r.pkt[i].first] =
			(uint8_t)(out[b.r.pkt[i].first] + 1 + b.r.pkt[i].flags * 16);
	}
	bad_net_close(&b);
	free(buf);
	return out;
}

/* The same packets are hit whatever the runs and however often the network below is full. */
static void fault__same_seed_same_fate(void **state)
{
	static const char spec[] = "drop=0.05,burst=3,dup=0.05,corrupt=0.05,seed=11";
	static const struct {
		uint32_t run;
		int64_t allow;
	} way[] = { { 1, -1 }, { 64, -1 },   { 7, -1 }, { 2000, -1 },
		    { 64, 5 }, { 2000, 13 }, { 64, 1 } };
	uint8_t *ref = fates(spec, 64, -1),
		*held = fates("drop=0.05,burst=3,dup=0.05,corrupt=0.05,delay=5ms,seed=11", 64, -1);
	uint8_t *other = fates("drop=0.05,burst=3,dup=0.05,corrupt=0.05,seed=12", 64, -1);
	size_t i;
	uint32_t k;

	(void)state;
	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		uint8_t *out = fates(spec, way[i].run, way[i].allow);

		/* A double whose original went just before the network was full may be missing. */
		for (k = 0; k < 2000; k++) {
			if (out[k] != ref[k] &&
			    !(way[i].allow > 0 &&
			      out[k] == (ref[k] & 0xf) / 2 + (ref[k] >> 4) / 2 * 16))
				fail_msg("way %zu packet %u: %x, not %x", i, k, out[k], ref[k]);
		}
		free(out);
	}
	assert_memory_equal(held, ref, 2000);
	assert_memory_not_equal(other, ref, 2000);
	free(ref);
	free(held);
	free(other);
}

/* Turning one fault on does not move the others. */
static void fault__independent_streams(void **state)
{
	uint8_t *a = fates("drop=0.05,seed=2", 64, -1),
		*b = fates("drop=0.05,dup=0.1,corrupt=0.1,seed=2", 64, -1);
	uint32_t k;

	(void)state;
	for (k = 0; k < 2000; k++)
		assert_int_equal(!a[k], !b[k]);
	free(a);
	free(b);
}

static void fault__full_network(void **state)
{
	uint8_t *buf = numbered(300);
	struct sdr_uc_tx v[3];
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "corrupt=0.2,seed=4");
	v[0] = bad_net_write(&b, buf, 0, 100);
	v[1] = bad_net_ctl(&b, "ctl", 3);
	v[2] = bad_net_write(&b, buf, 100, 200);
	b.r.allow = 30;
	assert_int_equal(b.f->ops->post(b.f, v, 3), 0);
	assert_int_equal(v[0].w.first, 30);
	assert_int_equal(v[0].len, 70 * REC_MTU);
	assert_ptr_equal(v[0].buf, buf + 30 * REC_MTU);
	b.r.allow = 71;
	assert_int_equal(b.f->ops->post(b.f, v, 3), 2);
	b.r.allow = 0;
	assert_int_equal(b.f->ops->post(b.f, v + 2, 1), 0);
	assert_int_equal(v[2].w.first, 100);
	b.r.allow = -1;
	assert_int_equal(b.f->ops->post(b.f, v + 2, 1), 1);
	assert_int_equal(b.r.n, 301);
	for (i = 0; i < 301; i++) {
		if (i != 100)
			assert_int_equal(b.r.pkt[i].head, i < 100 ? i : i - 1);
	}
	bad_net_close(&b);
	free(buf);
}

static void fault__delay(void **state)
{
	uint8_t *buf = numbered(200);
	uint64_t t0;
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "delay=12.5ms");
	t0 = b.r.now;
	send_runs(&b, buf, 100, 100);
	memset(buf, 0xff, 100 * REC_MTU); /* the bytes were read during post */
	assert_int_equal(b.r.n, 0);
	assert_true(b.f->ops->deadline(b.f) == t0 + 12500000);
	b.r.now = t0 + 12499999;
	b.f->ops->poll(b.f, NULL, 0);
	assert_int_equal(b.r.n, 0);
	b.r.now = t0 + 5 * MS;
	{
		struct sdr_uc_tx t = bad_net_ctl(&b, "late", 4);

		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	bad_net_run(&b, t0 + 13 * MS);
	assert_int_equal(b.r.n, 100);
	assert_true(b.r.descs <= 3); /* merged again */
	for (i = 0; i < 100; i++) {
		assert_true(b.r.pkt[i].at == t0 + 12500000);
		assert_int_equal(b.r.pkt[i].head, i);
	}
	bad_net_run(&b, t0 + 100 * MS);
	assert_int_equal(b.r.n, 101);
	assert_true(b.r.pkt[100].at == t0 + 17500000);
	assert_memory_equal(&b.r.pkt[100].head, "late", 4);
	assert_true(b.f->ops->deadline(b.f) == UINT64_MAX);
	bad_net_close(&b);
	free(buf);
}

static void fault__jitter_keeps_order(void **state)
{
	uint8_t *buf = numbered(1000);
	uint64_t t0, spread = 0;
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "delay=10ms,jitter=4ms,seed=6");
	for (i = 0; i < 1000; i++) {
		struct sdr_uc_tx t = bad_net_write(&b, buf, i, 1);

		t0 = 1000 * MS + i * 20 * MS;
		bad_net_run(&b, t0);
		b.r.now = t0;
		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n, 1000);
	for (i = 0; i < 1000; i++) {
		uint64_t d = b.r.pkt[i].at - (1000 * MS + i * 20 * MS);

		assert_int_equal(b.r.pkt[i].head, i);
		assert_true(d >= 10 * MS && d <= 14 * MS);
		spread = d - 10 * MS > spread ? d - 10 * MS : spread;
	}
	assert_true(spread > 3900000);
	bad_net_close(&b);
	/* All at once: order is kept although each draws its own jitter. */
	bad_net_open(&b, "jitter=4ms,seed=6");
	send_runs(&b, buf, 1000, 50);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(b.r.pkt[i].head, i);
	bad_net_close(&b);
	free(buf);
}

static void fault__rate(void **state)
{
	/* 100 Mbit/s: 80 ns a byte; a packet of 1000 is 1064 on the wire: 85.12 us. */
	uint8_t *buf = numbered(1000);
	struct sdr_uc_tx t;
	uint64_t t0;
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "rate=100mbit,delay=1ms");
	t0 = b.r.now;
	send_runs(&b, buf, 1000, 100);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n, 1000);
	for (i = 0; i < 1000; i++) {
		uint64_t want = t0 + MS + (uint64_t)((i + 1) * 85120.0);

		assert_int_equal(b.r.pkt[i].head, i);
		assert_true(b.r.pkt[i].at + 2 >= want && b.r.pkt[i].at <= want + 2);
	}
	/* Idle time is not saved up. */
	b.r.now += 1000 * MS;
	t0 = b.r.now;
	t = bad_net_ctl(&b, "1234", 4);
	assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_true(b.r.pkt[1000].at == t0 + MS + (4 + 24 + 28) * 80);
	bad_net_close(&b);
	free(buf);
}

static void fault__queue_overflows(void **state)
{
	uint8_t *buf = numbered(200);
	struct bad_net b;
	uint32_t i;

	(void)state;
	/* 10640 bytes: ten packets of 1064. */
	bad_net_open(&b, "rate=100mbit,queue=10640,drop=0");
	send_runs(&b, buf, 100, 100);
	bad_net_run(&b, b.r.now + 5 * 85120);
	assert_int_equal(bad_net_stats(&b).fault_drop, 90);
	send_runs(&b, buf, 100, 100); /* five have left */
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n, 15);
	for (i = 0; i < 15; i++)
		assert_int_equal(b.r.pkt[i].head, i < 10 ? i : i - 10);
	assert_int_equal(bad_net_stats(&b).fault_drop, 185);
	bad_net_close(&b);
	free(buf);
}

/* What is lost on the way has used the link. */
static void fault__loss_is_behind_the_link(void **state)
{
	uint8_t *buf = numbered(1000);
	struct bad_net b;
	uint64_t t0;

	(void)state;
	bad_net_open(&b, "rate=100mbit,drop=0.5,seed=1");
	t0 = b.r.now;
	send_runs(&b, buf, 1000, 100);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_true(b.r.n < 600);
	assert_true(b.r.pkt[b.r.n - 1].at >=
		    t0 + (uint64_t)((b.r.pkt[b.r.n - 1].head + 1) * 85120.0) - 2);
	bad_net_close(&b);
	free(buf);
}

static void fault__reorder(void **state)
{
	uint8_t *buf = numbered(N), *seen = calloc(N, 1);
	uint32_t i, k, behind = 0, high = 0;
	struct bad_net b;

	(void)state;
	bad_net_open(&b, "reorder=0.01,seed=8");
	for (i = 0; i < N; i += 10) {
		struct sdr_uc_tx t = bad_net_write(&b, buf, i, 10);

		bad_net_run(&b, 1000 * MS + (i / 10 + 1) * 20000);
		b.r.now = 1000 * MS + (i / 10 + 1) * 20000;
		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n, N);
	for (i = 0; i < N; i++) {
		k = b.r.pkt[i].head;
		assert_int_equal(b.r.pkt[i].first, k);
		assert_int_equal(seen[k], 0);
		seen[k] = 1;
		if (k >= high) {
			high = k + 1;
		} else {
			uint64_t sent = 1000 * MS + (k / 10 + 1) * 20000;

			behind++;
			assert_true(b.r.pkt[i].at >= sent + 100000 &&
				    b.r.pkt[i].at <= sent + 1000000);
		}
	}
	assert_true(behind + 10 >= bad_net_stats(&b).fault_reorder);
	binomial_check(bad_net_stats(&b).fault_reorder, N, 0.01);
	bad_net_close(&b);
	free(buf);
	free(seen);
}

static void fault__blackout(void **state)
{
	static const char *const spec[] = { "blackout=2s+10s", "blackout=2s+10s,delay=1ms" };
	uint8_t *buf = numbered(100);
	struct bad_net b;
	uint64_t t0;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		bad_net_open(&b, spec[i]);
		t0 = b.r.now;
		send_runs(&b, buf, 10, 10);
		b.r.now = t0 + 2000 * MS - 1;
		send_runs(&b, buf, 10, 10);
		b.r.now = t0 + 2000 * MS;
		send_runs(&b, buf, 10, 10);
		b.r.now = t0 + 12000 * MS - 1;
		send_runs(&b, buf, 10, 10);
		b.r.now = t0 + 12000 * MS;
		send_runs(&b, buf, 10, 10);
		bad_net_run(&b, UINT64_MAX - 1);
		assert_int_equal(b.r.n, 30);
		assert_int_equal(bad_net_stats(&b).fault_drop, 20);
		bad_net_close(&b);
	}
	free(buf);
}

/* The network below is full while packets are due: nothing is lost, nothing changes places. */
static void fault__held_and_full(void **state)
{
	uint8_t *buf = numbered(1000);
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "delay=1ms");
	send_runs(&b, buf, 1000, 100);
	b.r.allow = 0;
	b.r.now += 2 * MS;
	b.f->ops->poll(b.f, NULL, 0);
	assert_int_equal(b.r.n, 0);
	assert_true(b.f->ops->deadline(b.f) > b.r.now);
	assert_true(b.f->ops->deadline(b.f) <= b.r.now + MS);
	while (b.r.n < 1000) {
		uint32_t before = b.r.n;

		b.r.allow = 7;
		b.r.now = b.f->ops->deadline(b.f);
		b.f->ops->poll(b.f, NULL, 0);
		assert_true(b.r.n > before && b.r.n <= before + 7);
	}
	for (i = 0; i < 1000; i++)
		assert_int_equal(b.r.pkt[i].head, i);
	bad_net_close(&b);
	free(buf);
}

static void fault__qp_gone_while_held(void **state)
{
	struct sdr_uc_qp_attr a = { .channels = 1, .generations = 1, .mtu = REC_MTU };
	uint8_t *buf = numbered(400);
	struct sdr_uc_qp *second;
	struct sdr_uc_tx t;
	struct bad_net b;
	uint32_t i;

	(void)state;
	bad_net_open(&b, "delay=1ms,reorder=0.3");
	assert_int_equal(b.f->ops->qp_create(b.f, &a, &second), 0);
	for (i = 0; i < 400; i++) {
		t = bad_net_write(&b, buf, i, 1);
		if (i % 2)
			t.w.qp = second;
		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	t = bad_net_ctl(&b, "ctl", 3);
	assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	/* Some are on their way into a full network. */
	b.r.now += MS;
	b.r.allow = 11;
	b.f->ops->poll(b.f, NULL, 0);
	assert_int_equal(b.r.n, 11);
	b.f->ops->qp_destroy(second);
	b.r.allow = -1;
	bad_net_run(&b, UINT64_MAX - 1);
	for (i = 11; i < b.r.n; i++)
		assert_true(b.r.pkt[i].kind == SDR_UC_TX_CTL || b.r.pkt[i].head % 2 == 0);
	assert_true(b.r.n >= 200 && b.r.n < 220);
	bad_net_close(&b);
	free(buf);
}

/*
 * Rkey-addressed packets: each keeps its message's key, whatever is done to it, and messages that
 * lie one behind the other in memory are not joined into one run.  What is held was copied: the
 * registration is not passed on.
 */
static void fault__keys(void **state)
{
	static const char *const specs[] = { "drop=0.2,dup=0.2,corrupt=0.1",
					     "delay=1ms,dup=0.2,corrupt=0.1",
					     "delay=1ms,jitter=1ms,reorder=0.3", "rate=1gbit" };
	enum { MSGS = 40, PKTS = 10 };
	uint8_t *buf = numbered(MSGS * PKTS);
	static const int mr;
	struct sdr_uc_tx t;
	struct bad_net b;
	uint32_t k, i, m;

	(void)state;
	for (k = 0; k < sizeof(specs) / sizeof(specs[0]); k++) {
		bad_net_open(&b, specs[k]);
		for (m = 0; m < MSGS; m++) {
			t = bad_net_write(&b, buf, m * PKTS, PKTS);
			t.flags = SDR_UC_F_RKEYED;
			t.w.first = m / 2 * PKTS; /* the even ones run on in number too */
			t.w.va = 0x10000 + m;
			t.w.rkey = m / 3;
			t.mr = (void *)(uintptr_t)&mr;
			assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
		}
		bad_net_run(&b, UINT64_MAX - 1);
		assert_true(b.r.n > MSGS * PKTS / 2);
		for (i = 0; i < b.r.n; i++) {
			const struct rec_pkt *p = &b.r.pkt[i];

			m = p->head / PKTS;
			assert_true(p->flags & SDR_UC_F_RKEYED);
			assert_true(p->va == 0x10000 + m && p->rkey == m / 3);
			assert_int_equal(p->first, m / 2 * PKTS + p->head % PKTS);
			if (k)
				assert_null(p->mr);
			else
				assert_ptr_equal(p->mr, &mr);
		}
		bad_net_close(&b);
	}
	free(buf);
}

static void fault__close_delivers_what_was_sent(void **state)
{
	uint8_t *buf = numbered(10);
	struct sdr_uc_tx t;
	struct bad_net b;
	int i;

	(void)state;
	bad_net_open(&b, "delay=1s");
	t = bad_net_ctl(&b, "bye", 3);
	assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	send_runs(&b, buf, 10, 10);
	b.q->uc->ops->qp_destroy(b.q);
	b.f->ops->close(b.f);
	assert_int_equal(b.r.n, 1);
	assert_memory_equal(&b.r.pkt[0].head, "bye", 3);
	free(b.r.pkt);
	/* And when the network is full nothing leaks. */
	bad_net_open(&b, "delay=1s,reorder=0.1");
	for (i = 0; i < 300; i++) {
		t = bad_net_ctl(&b, "bye", 3);
		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	b.r.allow = 5;
	b.r.now += 1000 * MS;
	b.f->ops->poll(b.f, NULL, 0);
	assert_int_equal(b.r.n, 5);
	b.r.allow = 3;
	bad_net_close(&b);
	free(buf);
}

/* Memory is bounded: what does not fit is lost as in a full queue. */
static void fault__pool_is_bounded(void **state)
{
	uint32_t n = 300000, i;
	uint8_t *buf = numbered(1000);
	struct bad_net b;

	(void)state;
	bad_net_open(&b, "delay=1s");
	for (i = 0; i < n; i += 1000) {
		struct sdr_uc_tx t = bad_net_write(&b, buf, 0, 1000);

		assert_int_equal(b.f->ops->post(b.f, &t, 1), 1);
	}
	assert_true(bad_net_stats(&b).fault_drop > 0);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n + bad_net_stats(&b).fault_drop, n);
	assert_true(b.r.n > 200000);
	/* It is all free again. */
	send_runs(&b, buf, 1000, 100);
	bad_net_run(&b, UINT64_MAX - 1);
	assert_int_equal(b.r.n + bad_net_stats(&b).fault_drop, n + 1000);
	bad_net_close(&b);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault__nothing_asked),
		cmocka_unit_test(fault__drop_rate),
		cmocka_unit_test(fault__drop_in_bursts),
		cmocka_unit_test(fault__dup_and_corrupt),
		cmocka_unit_test(fault__same_seed_same_fate),
		cmocka_unit_test(fault__independent_streams),
		cmocka_unit_test(fault__full_network),
		cmocka_unit_test(fault__delay),
		cmocka_unit_test(fault__jitter_keeps_order),
		cmocka_unit_test(fault__rate),
		cmocka_unit_test(fault__queue_overflows),
		cmocka_unit_test(fault__loss_is_behind_the_link),
		cmocka_unit_test(fault__reorder),
		cmocka_unit_test(fault__blackout),
		cmocka_unit_test(fault__held_and_full),
		cmocka_unit_test(fault__qp_gone_while_held),
		cmocka_unit_test(fault__keys),
		cmocka_unit_test(fault__close_delivers_what_was_sent),
		cmocka_unit_test(fault__pool_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
