/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Workers: large messages that threads place, and send, over real sockets of this machine and over
 * rings in memory.
 *
 * The laws of the charter under real concurrency (and ThreadSanitizer): the bytes are right, no
 * byte is written after a receive was completed, in whatever state it was, however much of it is
 * still on its way; sums agree with the bitmap in the end; QPs come and go; a receiver that sleeps
 * is woken; strangers' packets cost a counter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc_open.h"
#include "uc/soft/sdr_soft.h"
#include "wire/sdr_wire.h"

#define MTU    1024u
#define CHUNK  (16u * 1024)
#define LEN    (512u * 1024 + 100) /* bytes of a message: one that is large */
#define DEPTH  4		   /* messages in flight */
#define ROUNDS 60

#ifdef __SANITIZE_THREAD__
#define WORK 3 /* of all that is below, one in so many */
#else
#define WORK 1
#endif

struct side {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
};

static uint8_t *src, *dst;
static const char *engine = "soft:127.0.0.1";

static int setup(void **state)
{
	uint32_t i;

	(void)state;
	src = malloc(LEN);
	dst = malloc(DEPTH * LEN);
	if (!src || !dst)
		return -1;
	for (i = 0; i < LEN; i++)
		src[i] = (uint8_t)(i * 2654435761u >> 13);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(src);
	free(dst);
	return 0;
}

/* Its workers send as well, on a machine with few processors, too. */
static void side_open(struct side *s, uint8_t workers, const char *fault)
{
	struct sdr_uc_open_attr a = { .workers = workers,
				      .fault = fault,
				      .off = SDR_SOFT_NO_SPARE };
	static uint64_t no;
	const uint64_t rand[2] = { (no + 1) * 0x9e3779b97f4a7c15u, no };
	struct sdr_uc *uc;

	no++;
	assert_int_equal(sdr_uc_open(engine, &a, &uc), 0);
	s->ctx = sdr_context_create_on(uc, NULL, rand);
	assert_non_null(s->ctx);
}

static void sides_join(struct side s[2], uint8_t channels)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .chunk = CHUNK,
				    .mtu = MTU,
				    .channels = channels,
				    .max_msg = 1 << 20,
				    .id_bits = 6,
				    .off_bits = 22,
				    .user_bits = 4,
				    .generations = 4 };
	uint8_t info[2][SDR_QP_INFO_SIZE];
	int i;

	for (i = 0; i < 2; i++) {
		s[i].qp = sdr_qp_create(s[i].ctx, &attr);
		assert_non_null(s[i].qp);
		assert_int_equal(sdr_qp_info_get(s[i].qp, info[i]), 0);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_qp_connect(s[i].qp, info[!i]), 0);
}

static void sides_part(struct side s[2])
{
	int i;

	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_qp_destroy(s[i].qp), 0);
}

static void sides_close(struct side s[2])
{
	int i;

	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_context_destroy(s[i].ctx), 0);
}

static void step(struct side s[2])
{
	int a = sdr_context_progress(s[0].ctx), b = sdr_context_progress(s[1].ctx);
	struct pollfd p[2];
	int i;

	assert_true(a >= 0 && b >= 0);
	if (a || b)
		return;
	for (i = 0; i < 2; i++) {
		p[i] = (struct pollfd){ .fd = sdr_context_fd(s[i].ctx), .events = POLLIN };
		if (!sdr_context_timeout(s[i].ctx))
			return;
	}
	poll(p, 2, 1);
}

static bool untouched(const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != 0xee)
			return false;
	return true;
}

/* Chunks of a message, as one post. */
static void send_part(struct side s[2], struct sdr_snd_handle *h, uint32_t chunk, uint32_t n)
{
	struct sdr_continue_wr c = { .addr = src + (size_t)chunk * CHUNK,
				     .offset = (uint64_t)chunk * CHUNK,
				     .length = (uint64_t)n * CHUNK };
	int ret;

	if (c.length > LEN - c.offset)
		c.length = LEN - c.offset;
	while ((ret = sdr_send_stream_continue(h, &c)) == -EAGAIN)
		step(s);
	assert_int_equal(ret, 0);
}

/* One chunk of a message that its receiver misses, again. */
static void resend(struct side s[2], struct sdr_snd_handle *h, uint32_t chunk)
{
	send_part(s, h, chunk, 1);
}

static bool chunk_is_there(struct sdr_rcv_handle *r, uint32_t chunk)
{
	const uint8_t *bits;
	size_t n;

	assert_int_equal(sdr_recv_bitmap_get(r, &bits, &n), 0);
	assert_true(chunk / 8 < n);
	return __atomic_load_n(&bits[chunk / 8], __ATOMIC_ACQUIRE) >> (chunk % 8) & 1;
}

static uint32_t missing(struct sdr_rcv_handle *r)
{
	uint32_t i, n = 0;

	for (i = 0; i < (LEN + CHUNK - 1) / CHUNK; i++)
		n += !chunk_is_there(r, i);
	return n;
}

/*
 * DEPTH messages at once.  Those with an odd number are completed when a part of them is there, the
 * others when they are whole; each buffer is the test's again after that, and stays as it is.
 */
static void round_of(struct side s[2], uint32_t at)
{
	struct sdr_start_wr sw = { .length = LEN };
	const uint32_t chunks = (LEN + CHUNK - 1) / CHUNK;
	struct sdr_rcv_handle *r[DEPTH];
	struct sdr_snd_handle *h[DEPTH];
	const struct sdr_rcv_state *st;
	uint32_t i, k, tries;

	for (i = 0; i < DEPTH; i++) {
		struct sdr_rcv_wr rw = { .addr = dst + (size_t)i * LEN, .length = LEN };
		int ret;

		while ((ret = sdr_recv_post(s[1].qp, &rw, &r[i])) == -EAGAIN)
			step(s);
		assert_int_equal(ret, 0);
		while ((ret = sdr_send_stream_start(s[0].qp, &sw, &h[i])) == -EAGAIN)
			step(s);
		assert_int_equal(ret, 0);
		/* in parts too small to be shared, and whole */
		for (k = 0; k < chunks; k += at % 2 ? chunks : 1)
			send_part(s, h[i], k, at % 2 ? chunks : 1);
	}
	for (i = 1; i < DEPTH; i += 2) {
		for (k = 0; k < 1 + at % 7; k++)
			step(s);
		assert_int_equal(sdr_recv_complete(r[i]), 0);
		memset(dst + (size_t)i * LEN, 0xee, LEN);
	}
	for (i = 0; i < DEPTH; i += 2) {
		for (tries = 0; missing(r[i]); tries++) {
			assert_true(tries < 20000);
			poll(NULL, 0, tries > 100);
			for (k = 0; k < chunks && tries && !(tries % 8); k++)
				if (!chunk_is_there(r[i], k))
					resend(s, h[i], k);
			step(s);
		}
		assert_memory_equal(dst + (size_t)i * LEN, src, LEN);
		/* what is counted may be behind the bits, as long as a worker gets no processor */
		st = sdr_recv_state(r[i]);
		for (tries = 0; st->got < st->npkts && tries < 10000; tries++) {
			step(s);
			poll(NULL, 0, tries > 100);
		}
		assert_int_equal(st->got, st->npkts);
		assert_int_equal(st->cum, st->npkts);
		assert_int_equal(st->high, st->npkts);
		assert_int_equal(sdr_recv_complete(r[i]), 0);
		memset(dst + (size_t)i * LEN, 0xee, LEN);
	}
	for (i = 0; i < DEPTH; i++) {
		assert_int_equal(sdr_send_stream_end(h[i]), 0);
		while (sdr_send_poll(h[i]) != 1)
			step(s);
	}
	for (i = 0; i < DEPTH; i++)
		assert_true(untouched(dst + (size_t)i * LEN, LEN));
}

/* Bytes that workers have placed, or sent, all of them. */
static uint64_t by_workers(struct sdr_context *ctx, bool sent)
{
	struct sdr_soft_worker_stats w[SDR_WORKERS_MAX];
	uint64_t n = 0;
	uint32_t i, k = sdr_soft_worker_stats_get(sdr_context_uc(ctx), w, SDR_WORKERS_MAX);

	for (i = 0; i < k; i++)
		n += sent ? w[i].bytes_tx : w[i].bytes_rx;
	return n;
}

static void storm(uint8_t from, uint8_t workers, uint8_t channels, const char *fault)
{
	struct sdr_stats st = { .size = sizeof(st) };
	struct side s[2];
	uint32_t i;

	side_open(&s[0], from, fault);
	side_open(&s[1], workers, NULL);
	sides_join(s, channels);
	/* on a busy machine workers begin late */
	for (i = 0; i < ROUNDS / WORK || (from && i < 300 && !by_workers(s[0].ctx, true)); i++)
		round_of(s, i);
	if (from)
		assert_true(by_workers(s[0].ctx, true) > 0);
	assert_int_equal(sdr_context_stats(s[1].ctx, &st), 0);
	assert_true(st.pkts_rx >= (uint64_t)(ROUNDS / WORK) * (DEPTH / 2) * (LEN / MTU));
	sides_part(s);
	sides_close(s);
}

static void storm__one(void **state)
{
	(void)state;
	storm(0, 1, 1, NULL);
}

static void storm__two(void **state)
{
	(void)state;
	storm(0, 2, 1, NULL);
}

static void storm__four_with_channels_and_faults(void **state)
{
	(void)state;
	storm(0, 4, 3, "drop=0.01,dup=0.05,reorder=0.05,corrupt=0.005,seed=3");
}

/* The same without a kernel in between: packets come faster than a worker can be scheduled. */
static void storm__in_memory(void **state)
{
	(void)state;
	engine = "mem";
	storm(0, 1, 1, NULL);
	storm(0, 4, 2, "dup=0.05,reorder=0.05,seed=4");
}

/* Workers at both ends: those of the sender send, with none between them and with a kernel. */
static void storm__both_ends(void **state)
{
	(void)state;
	storm(1, 1, 1, NULL);
	storm(4, 2, 2, NULL);
	engine = "mem";
	storm(1, 1, 1, NULL);
	storm(2, 4, 3, NULL);
}

/* What was prepared comes as often as it is played, and each time it is placed and counted. */
static void prepared__is_played(void **state)
{
	struct sdr_rcv_wr rw = { .addr = dst, .length = LEN };
	struct sdr_start_wr sw = { .length = LEN };
	const struct sdr_rcv_state *st;
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *h;
	struct side s[2];
	uint32_t tries, plays;

	(void)state;
	engine = "mem";
	side_open(&s[0], 0, NULL);
	side_open(&s[1], 2, NULL);
	sides_join(s, 1);
	round_of(s, 0);
	for (plays = 1; plays < 40; plays += 13) {
		while (sdr_recv_post(s[1].qp, &rw, &r) == -EAGAIN)
			step(s);
		while (sdr_send_stream_start(s[0].qp, &sw, &h) == -EAGAIN)
			step(s);
		sdr_soft_mem_hold(sdr_context_uc(s[1].ctx));
		send_part(s, h, 0, (LEN + CHUNK - 1) / CHUNK);
		assert_int_equal(sdr_send_stream_end(h), 0);
		while (sdr_send_poll(h) != 1)
			step(s);
		poll(NULL, 0, 2);
		step(s);
		st = sdr_recv_state(r);
		assert_int_equal(st->got, 0);
		sdr_soft_mem_play(sdr_context_uc(s[1].ctx), plays);
		for (tries = 0; st->got + st->dups < plays * st->npkts; tries++) {
			assert_true(tries < 20000);
			poll(NULL, 0, tries > 100);
			step(s);
		}
		assert_int_equal(st->got, st->npkts);
		assert_int_equal(st->cum, st->npkts);
		poll(NULL, 0, 2);
		step(s);
		assert_int_equal(st->dups, (plays - 1) * st->npkts);
		assert_memory_equal(dst, src, LEN);
		assert_int_equal(sdr_recv_complete(r), 0);
		/* of nothing there is nothing more */
		sdr_soft_mem_hold(sdr_context_uc(s[1].ctx));
		sdr_soft_mem_play(sdr_context_uc(s[1].ctx), plays);
	}
	memset(dst, 0xee, LEN);
	round_of(s, 1);
	sides_part(s);
	sides_close(s);
}

static int on_sockets(void **state)
{
	(void)state;
	engine = "soft:127.0.0.1";
	return 0;
}

/* The table of QPs grows, and QPs go, while packets for them and others arrive. */
static void qps__come_and_go(void **state)
{
	struct sdr_start_wr sw = { .length = LEN };
	struct sdr_rcv_wr rw = { .length = LEN };
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *h;
	struct side s[2], t[150];
	uint32_t i, k;

	(void)state;
	side_open(&s[0], 2, NULL);
	side_open(&s[1], 2, NULL);
	for (i = 0; i < 150; i++) {
		t[i] = s[0];
		sides_join(s, 1);
		rw.addr = i % 3 ? dst : dst + LEN;
		assert_int_equal(sdr_recv_post(s[1].qp, &rw, &r), 0);
		assert_int_equal(sdr_send_stream_start(s[0].qp, &sw, &h), 0);
		if (i % 2)
			send_part(s, h, 0, LEN / CHUNK);
		for (k = 0; i % 2 == 0 && k < LEN / CHUNK / WORK; k++)
			resend(s, h, k);
		if (i % 3) {
			sides_part(s);
			memset(dst, 0xee, LEN);
			assert_true(untouched(dst, LEN));
			continue;
		}
		assert_int_equal(sdr_qp_destroy(s[0].qp), 0);
		t[i].qp = s[1].qp; /* stays, with its receive */
	}
	for (i = 0; i < 150; i += 3)
		assert_int_equal(sdr_qp_destroy(t[i].qp), 0);
	memset(dst, 0xee, 2 * LEN);
	for (i = 0; i < 20; i++)
		step(s);
	assert_true(untouched(dst, 2 * LEN));
	sides_close(s);
}

/* Nobody polls the receiver before its descriptor says so. */
static void sleeper__is_woken(void **state)
{
	struct sdr_snd_wr sw = { .addr = src, .length = LEN };
	struct sdr_rcv_wr rw = { .addr = dst, .length = LEN };
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *h;
	struct side s[2];
	uint32_t i, naps, slept = 0;

	(void)state;
	side_open(&s[0], 0, NULL);
	side_open(&s[1], 2, NULL);
	sides_join(s, 1);
	for (i = 0; i < 20; i++) {
		assert_int_equal(sdr_recv_post(s[1].qp, &rw, &r), 0);
		/* CTS is told, and what is to be read is read */
		for (naps = 0; naps < 5; naps++)
			step(s);
		assert_int_equal(sdr_send_post(s[0].qp, &sw, &h), 0);
		while (sdr_send_poll(h) != 1)
			assert_true(sdr_context_progress(s[0].ctx) >= 0);
		for (naps = 0; missing(r); naps++) {
			struct pollfd p = { .fd = sdr_context_fd(s[1].ctx), .events = POLLIN };
			uint64_t t = sdr_context_timeout(s[1].ctx);

			assert_true(naps < 10000);
			if (t)
				slept += poll(&p, 1,
					      t < 1000000000u ? (int)(t / 1000000) + 1 : 1000);
			assert_true(sdr_context_progress(s[1].ctx) >= 0);
			assert_true(sdr_context_progress(s[0].ctx) >= 0);
		}
		assert_memory_equal(dst, src, LEN);
		assert_int_equal(sdr_recv_complete(r), 0);
	}
	assert_true(slept);
	sides_part(s);
	sides_close(s);
}

/* What is no data packet of a QP's has no business at a worker's port. */
static void strangers__cost_a_counter(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sdr_stats st = { .size = sizeof(st) };
	uint8_t raw[SDR_QP_INFO_SIZE], junk[2000];
	struct sdr_wire_qp_info info;
	struct side s[2];
	uint32_t i, k;
	int fd;

	(void)state;
	side_open(&s[0], 0, NULL);
	side_open(&s[1], 2, NULL);
	sides_join(s, 1);
	assert_int_equal(sdr_qp_info_get(s[1].qp, raw), 0);
	assert_int_equal(sdr_wire_qp_info_decode(raw, sizeof(raw), &info), 0);
	assert_int_equal(info.nports, 2);
	assert_int_equal(sdr_qp_info_get(s[0].qp, raw), 0);
	assert_int_equal(sdr_wire_qp_info_decode(raw, sizeof(raw), &info) || info.nports, 0);
	assert_int_equal(sdr_qp_info_get(s[1].qp, raw), 0);
	assert_int_equal(sdr_wire_qp_info_decode(raw, sizeof(raw), &info), 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	for (i = 0; i < 256; i++) {
		for (k = 0; k < sizeof(junk); k++)
			junk[k] = (uint8_t)(i * 31 + k * 7);
		/* data, control, and anything else */
		junk[0] = i % 3 == 0 ? 0x2b : i % 3 == 1 ? 0x64 : (uint8_t)i;
		to.sin_port = htons(info.port[i % 2]);
		assert_true(sendto(fd, junk, 1 + i * 7 % sizeof(junk), 0, (void *)&to, sizeof(to)) >
			    0);
	}
	for (i = 0; i < 10000 && st.pkts_bad < 256; i++) {
		step(s);
		poll(NULL, 0, i > 100);
		assert_int_equal(sdr_context_stats(s[1].ctx, &st), 0);
	}
	assert_int_equal(st.pkts_bad, 256);
	round_of(s, 0);
	close(fd);
	sides_part(s);
	sides_close(s);
}

/*
 * Ports that nothing comes through to: the info names others, where nobody answers.  Everything
 * takes the way of what is small.
 */
static void ports__that_do_not_answer(void **state)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr), .chunk = CHUNK, .mtu = MTU };
	uint8_t raw[2][SDR_QP_INFO_SIZE];
	struct sdr_wire_qp_info info;
	struct side s[2];
	uint32_t blocked, i;

	(void)state;
	for (blocked = 0; blocked < 4; blocked++) {
		side_open(&s[0], 0, NULL);
		side_open(&s[1], 2, NULL);
		for (i = 0; i < 2; i++) {
			s[i].qp = sdr_qp_create(s[i].ctx, &attr);
			assert_non_null(s[i].qp);
			assert_int_equal(sdr_qp_info_get(s[i].qp, raw[i]), 0);
		}
		assert_int_equal(sdr_wire_qp_info_decode(raw[1], SDR_QP_INFO_SIZE, &info), 0);
		for (i = 0; i < 2; i++)
			if (blocked >> i & 1)
				info.port[i] = 9; /* discard */
		sdr_wire_qp_info_encode(raw[1], &info);
		assert_int_equal(sdr_qp_connect(s[1].qp, raw[0]), 0);
		assert_int_equal(sdr_qp_connect(s[0].qp, raw[1]), 0);
		/* on a busy machine workers begin late */
		for (i = 0; i < 3 || (blocked < 3 && i < 300 && by_workers(s[1].ctx, false) <= LEN);
		     i++)
			round_of(s, i);
		if (blocked == 3)
			assert_int_equal(by_workers(s[1].ctx, false), 0);
		else
			assert_true(by_workers(s[1].ctx, false) > LEN);
		sides_part(s);
		sides_close(s);
	}
}

/* A child has no workers; closing what it inherited neither waits for them nor disturbs them. */
static void fork__child_closes(void **state)
{
	struct side s[2];
	int status;
	pid_t pid;

	(void)state;
	side_open(&s[0], 2, NULL);
	side_open(&s[1], 2, NULL);
	sides_join(s, 1);
	round_of(s, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(20);
		sdr_qp_destroy(s[1].qp);
		sdr_context_destroy(s[1].ctx);
		sdr_qp_destroy(s[0].qp);
		sdr_context_destroy(s[0].ctx);
		_exit(0);
	}
	round_of(s, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	round_of(s, 2);
	sides_part(s);
	sides_close(s);
}

static void attr__too_many(void **state)
{
	char why[SDR_WHY_LEN] = "";
	struct sdr_dev_attr dev = {
		.size = sizeof(dev), .workers = 17, .why = why, .why_len = sizeof(why)
	};

	(void)state;
	assert_null(sdr_context_create("soft:127.0.0.1", &dev));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(why, "workers 17"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storm__one),
		cmocka_unit_test(storm__two),
		cmocka_unit_test(storm__four_with_channels_and_faults),
		cmocka_unit_test_teardown(storm__in_memory, on_sockets),
		cmocka_unit_test_teardown(storm__both_ends, on_sockets),
		cmocka_unit_test_teardown(prepared__is_played, on_sockets),
		cmocka_unit_test(qps__come_and_go),
		cmocka_unit_test(sleeper__is_woken),
		cmocka_unit_test(strangers__cost_a_counter),
		cmocka_unit_test(ports__that_do_not_answer),
		cmocka_unit_test(fork__child_closes),
		cmocka_unit_test(attr__too_many),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
