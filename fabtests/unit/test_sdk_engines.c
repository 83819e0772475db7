/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The SDK over the engines that ship: opened by name over real sockets of this machine, alone and
 * with faults injected, and over the simulated network.  Only public calls on the soft engine, as
 * an application would.
 *
 * What is lost is sent again by the test, chunk by chunk, from the receiver's bitmap: the smallest
 * reliability scheme there is, and proof that bitmap and streaming sends suffice for one.
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
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "sdk/sdr_sdk.h"
#include "uc/sim/sdr_sim.h"

#define FAULTS "drop=0.02,dup=0.01,reorder=0.02,corrupt=0.005,seed=5"
#define LEN    (3u * 1024 * 1024 + 777)

struct side {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
};

static uint8_t *src, *dst;

static int setup(void **state)
{
	uint32_t i;

	(void)state;
	src = malloc(LEN);
	dst = malloc(LEN);
	for (i = 0; i < LEN; i++)
		src[i] = (uint8_t)(i * 2654435761u >> 13);
	return src && dst ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(src);
	free(dst);
	return 0;
}

static void sides_connect(struct side s[2], const struct sdr_qp_attr *attr)
{
	uint8_t info[2][SDR_QP_INFO_SIZE];
	int i;

	for (i = 0; i < 2; i++) {
		s[i].qp = sdr_qp_create(s[i].ctx, attr);
		assert_non_null(s[i].qp);
		assert_int_equal(sdr_qp_info_get(s[i].qp, info[i]), 0);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_qp_connect(s[i].qp, info[!i]), 0);
}

static void sides_close(struct side s[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(sdr_qp_destroy(s[i].qp), 0);
		assert_int_equal(sdr_context_destroy(s[i].ctx), 0);
	}
}

/* Workers may set others of the same byte. */
static bool bit_of(const uint8_t *bits, uint32_t i)
{
	return __atomic_load_n(&bits[i / 8], __ATOMIC_ACQUIRE) >> (i % 8) & 1;
}

static bool whole(struct sdr_rcv_handle *r, uint32_t nchunks)
{
	const uint8_t *bits;
	size_t len;
	uint32_t i;

	assert_int_equal(sdr_recv_bitmap_get(r, &bits, &len), 0);
	assert_int_equal(len, (nchunks + 7) / 8);
	for (i = 0; i < nchunks; i++)
		if (!bit_of(bits, i))
			return false;
	return true;
}

/* Time passes: in a simulated world to the next event, else a moment's sleep on the sockets. */
static void pass(struct side s[2], struct sdr_sim_world *w)
{
	uint64_t t = sdr_context_timeout(s[0].ctx), u = sdr_context_timeout(s[1].ctx);
	struct pollfd p[2];

	t = t < u ? t : u;
	if (w) {
		u = sdr_sim_world_next(w);
		if (t != UINT64_MAX && sdr_sim_world_now(w) + t < u)
			u = sdr_sim_world_now(w) + t;
		if (u != UINT64_MAX)
			sdr_sim_world_run_until(w, u);
		else
			sdr_sim_world_run_until(w, sdr_sim_world_now(w) + 1000000);
		return;
	}
	p[0] = (struct pollfd){ .fd = sdr_context_fd(s[0].ctx), .events = POLLIN };
	p[1] = (struct pollfd){ .fd = sdr_context_fd(s[1].ctx), .events = POLLIN };
	poll(p, 2, t < 1000000 ? 0 : 1);
}

static void step(struct side s[2], struct sdr_sim_world *w)
{
	int a = sdr_context_progress(s[0].ctx), b = sdr_context_progress(s[1].ctx);

	assert_true(a >= 0 && b >= 0);
	if (!a && !b)
		pass(s, w);
}

static void transfer(struct side s[2], struct sdr_sim_world *w, uint64_t len, uint32_t chunk)
{
	struct sdr_start_wr sw = { .length = len, .imm = 0xcafef00d, .flags = SDR_SEND_IMM };
	struct sdr_rcv_wr rw = { .addr = dst, .length = len };
	uint32_t nchunks = (uint32_t)((len + chunk - 1) / chunk), i, rounds = 0, idle, imm;
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *h;
	const uint8_t *bits;
	size_t n;

	memset(dst, 0, len);
	assert_int_equal(sdr_recv_post(s[1].qp, &rw, &r), 0);
	assert_int_equal(sdr_send_stream_start(s[0].qp, &sw, &h), 0);
	while (!whole(r, nchunks) || sdr_recv_imm_get(r, &imm)) {
		assert_true(++rounds < 200);
		assert_int_equal(sdr_recv_bitmap_get(r, &bits, &n), 0);
		for (i = 0; i < nchunks; i++) {
			uint64_t at = (uint64_t)i * chunk;
			struct sdr_continue_wr c = {
				.addr = src + at,
				.offset = at,
				.length = len - at < chunk ? len - at : chunk,
			};
			int ret;

			/* the last chunk brings what is left of the immediate */
			if (bit_of(bits, i) && i + 1 < nchunks)
				continue;
			while ((ret = sdr_send_stream_continue(h, &c)) == -EAGAIN)
				step(s, w);
			assert_int_equal(ret, 0);
		}
		for (idle = 0; idle < 30 && (!whole(r, nchunks) || sdr_recv_imm_get(r, &imm));
		     idle++) {
			int moved = sdr_context_progress(s[0].ctx) + sdr_context_progress(s[1].ctx);

			if (moved)
				idle = 0;
			else
				pass(s, w);
		}
	}
	assert_int_equal(imm, 0xcafef00d);
	assert_memory_equal(src, dst, len);
	assert_int_equal(sdr_send_stream_end(h), 0);
	while (sdr_send_poll(h) != 1)
		step(s, w);
	assert_int_equal(sdr_recv_complete(r), 0);
}

static void oneshots(struct side s[2], struct sdr_sim_world *w)
{
	struct sdr_snd_handle *h[20];
	struct sdr_rcv_handle *r[20];
	const uint8_t *bits;
	uint32_t i, got = 0;
	size_t n;

	memset(dst, 0, LEN);
	for (i = 0; i < 20; i++) {
		struct sdr_snd_wr sw = { .addr = src + i * 5000, .length = i * 250 };
		struct sdr_rcv_wr rw = { .addr = dst + i * 5000, .length = i * 250 };

		assert_int_equal(sdr_send_post(s[0].qp, &sw, &h[i]), 0);
		assert_int_equal(sdr_recv_post(s[1].qp, &rw, &r[i]), 0);
	}
	for (i = 0; i < 20; i++)
		while (sdr_send_poll(h[i]) != 1)
			step(s, w);
	for (i = 0; i < 200; i++)
		step(s, w);
	for (i = 0; i < 20; i++) {
		assert_int_equal(sdr_recv_bitmap_get(r[i], &bits, &n), 0);
		if (bits[0] & 1) {
			got++;
			assert_memory_equal(dst + i * 5000, src + i * 5000, i * 250);
		}
		assert_int_equal(sdr_recv_complete(r[i]), 0);
	}
	assert_true(got >= 10);
}

/* ---- soft ------------------------------------------------------------------------------------ */

static void soft_with(const char *name, const char *fault, uint8_t channels, uint8_t workers,
		      uint32_t mtu)
{
	struct sdr_dev_attr dev = { .size = sizeof(dev), .fault = fault, .workers = workers };
	struct sdr_qp_attr attr = {
		.size = sizeof(attr), .chunk = 16 * 1024, .mtu = mtu, .channels = channels
	};
	struct sdr_stats st = { .size = sizeof(st) };
	struct side s[2];
	int i;

	for (i = 0; i < 2; i++) {
		s[i].ctx = sdr_context_create(name, &dev);
		assert_non_null(s[i].ctx);
		assert_true(sdr_context_fd(s[i].ctx) >= 0);
	}
	sides_connect(s, &attr);
	for (i = 0; i < 3; i++)
		transfer(s, NULL, i ? LEN >> (4 * i) : LEN, 16 * 1024);
	transfer(s, NULL, 1, 16 * 1024);
	oneshots(s, NULL);
	assert_int_equal(sdr_context_stats(s[1].ctx, &st), 0);
	assert_true(st.pkts_rx >= LEN / mtu);
	sides_close(s);
}

static void soft__clean(void **state)
{
	(void)state;
	soft_with("soft:127.0.0.1", NULL, 1, 0, 1024);
}

static void soft__channels(void **state)
{
	(void)state;
	soft_with("soft:127.0.0.1", NULL, 4, 0, 1024);
}

/* The smallest packets that there are. */
static void soft__small_packets(void **state)
{
	(void)state;
	soft_with("soft:127.0.0.1", NULL, 2, 0, 64);
}

static void soft__faults(void **state)
{
	(void)state;
	soft_with("soft:127.0.0.1", FAULTS, 1, 0, 1024);
}

static void soft__workers(void **state)
{
	(void)state;
	soft_with("soft:127.0.0.1", NULL, 1, 2, 1024);
	soft_with("soft:127.0.0.1", FAULTS, 3, 3, 1024);
}

static void mem__all(void **state)
{
	(void)state;
	soft_with("mem", NULL, 1, 0, 1024);
	soft_with("mem", FAULTS, 2, 0, 1024);
	soft_with("mem", NULL, 1, 2, 1024);
	soft_with("mem", NULL, 1, 1, 64);
}

static void soft__bad_names(void **state)
{
	struct sdr_dev_attr dev = { .size = sizeof(dev), .mtu = 60 };

	(void)state;
	assert_null(sdr_context_create(NULL, NULL));
	assert_int_equal(errno, EINVAL);
	assert_null(sdr_context_create("bluetooth", NULL));
	assert_true(errno);
	assert_null(sdr_context_create("soft:127.0.0.1", &dev));
	dev.mtu = 0;
	dev.fault = "drop=2";
	assert_null(sdr_context_create("soft:127.0.0.1", &dev));
	dev.size = 0;
	assert_null(sdr_context_create("soft:127.0.0.1", &dev));
}

/* Each refusal names what it refuses. */
static void soft__says_why(void **state)
{
	static const struct {
		const char *name, *says;
		struct sdr_dev_attr attr;
	} ctx[] = {
		{ NULL, "expected soft", { 0 } },
		{ "softt", "softt", { 0 } },
		{ "soft:localhost", "numeric", { 0 } },
		{ "soft:127.0.0.1:99999", "99999", { 0 } },
		{ "mem:[::1]:5", "mem:0.0.0.0:PORT", { 0 } },
		{ "soft:127.0.0.1", "mtu 9000", { .mtu = 9000 } },
		{ "soft:127.0.0.1", "drop=7", { .fault = "drop=7" } },
		{ "soft:127.0.0.1", "channels 17", { .channels = 17 } },
		{ "soft:127.0.0.1", "workers 17", { .workers = 17 } },
		{ "soft:203.0.113.77", "ip address", { 0 } },
	};
	static const struct {
		const char *says;
		struct sdr_qp_attr attr;
	} qp[] = {
		{ "mtu 60", { .mtu = 60 } },
		{ "chunk 5000", { .chunk = 5000 } },
		{ "channels 99", { .channels = 99 } },
		{ "generations 3", { .generations = 3 } },
		{ "max_inflight 5000", { .max_inflight = 5000 } },
		{ "max_msg 17179869184", { .max_msg = 1ull << 34 } },
		{ "20+10+2", { .id_bits = 20, .off_bits = 10, .user_bits = 2 } },
		{ "flags 0x40", { .flags = 0x40 } },
	};
	char why[SDR_WHY_LEN], small[8];
	struct sdr_context *c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ctx) / sizeof(ctx[0]); i++) {
		struct sdr_dev_attr a = ctx[i].attr;

		a.size = sizeof(a);
		a.why = why;
		a.why_len = sizeof(why);
		assert_null(sdr_context_create(ctx[i].name, &a));
		if (!strstr(why, ctx[i].says))
			fail_msg("\"%s\" does not say \"%s\"", why, ctx[i].says);
		a.why = small;
		a.why_len = sizeof(small);
		memset(small, 'x', sizeof(small));
		assert_null(sdr_context_create(ctx[i].name, &a));
		assert_non_null(memchr(small, 0, sizeof(small)));
	}
	c = sdr_context_create("soft:127.0.0.1", NULL);
	assert_non_null(c);
	for (i = 0; i < sizeof(qp) / sizeof(qp[0]); i++) {
		struct sdr_qp_attr a = qp[i].attr;

		a.size = sizeof(a);
		a.why = why;
		a.why_len = sizeof(why);
		assert_null(sdr_qp_create(c, &a));
		assert_int_equal(errno, EINVAL);
		if (!strstr(why, qp[i].says))
			fail_msg("\"%s\" does not say \"%s\"", why, qp[i].says);
	}
	assert_int_equal(sdr_context_destroy(c), 0);
}

/* Two contexts without an address meet where routes say that they are. */
static void soft__without_an_address(void **state)
{
	struct sdr_context_info q = { .size = sizeof(q) };
	struct sdr_qp_attr attr = { .size = sizeof(attr), .chunk = 16 * 1024, .mtu = 1024 };
	uint8_t info[2][SDR_QP_INFO_SIZE];
	struct side s[2];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		s[i].ctx = sdr_context_create("soft", NULL);
		assert_non_null(s[i].ctx);
		s[i].qp = sdr_qp_create(s[i].ctx, &attr);
		assert_int_equal(sdr_qp_info_route(s[i].qp, "localhost", info[i]), -EINVAL);
		assert_int_equal(sdr_qp_info_route(s[i].qp, "0.0.0.0", info[i]), -EINVAL);
		assert_int_equal(sdr_qp_info_route(s[i].qp, "127.0.0.1:5", info[i]), 0);
		assert_int_equal(sdr_context_query(s[i].ctx, &q), 0);
		assert_string_equal(q.engine, "soft");
		assert_true(q.mtu >= 256 && q.ctl_max >= 512 && q.rx_window && !q.keyed);
		assert_non_null(strchr(q.addr, ':'));
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_qp_connect(s[i].qp, info[!i]), 0);
	transfer(s, NULL, LEN, 16 * 1024);
	sides_close(s);
}

/* Channels leave by source ports of their own. */
static void soft__channels_are_ports(void **state)
{
	struct sdr_dev_attr dev = { .size = sizeof(dev), .channels = 4 };
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .mtu = 1024,
				    .channels = 4,
				    .rate_bps = 500000000,
				    .flags = SDR_QP_NUMBERED };
	struct sdr_snd_wr w = { .addr = src, .length = LEN };
	struct sockaddr_in from, at = { .sin_family = AF_INET };
	socklen_t len = sizeof(from);
	struct sdr_context_info q = { .size = sizeof(q) };
	struct sdr_snd_handle *h;
	uint16_t port[4];
	struct side s[2];
	int fd, n = 0, i, k;
	time_t end;

	(void)state;
	for (i = 0; i < 2; i++)
		s[i].ctx = sdr_context_create("soft:127.0.0.1", &dev);
	sides_connect(s, &attr);
	/* in place of the receiver a socket that looks where packets come from */
	assert_int_equal(sdr_context_query(s[1].ctx, &q), 0);
	at.sin_port = htons((uint16_t)atoi(strrchr(q.addr, ':') + 1));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(sdr_qp_destroy(s[1].qp), 0);
	assert_int_equal(sdr_context_destroy(s[1].ctx), 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	sdr_qp_limit_set(s[0].qp, 1);
	assert_int_equal(sdr_send_post(s[0].qp, &w, &h), 0);
	for (end = time(NULL) + 20; n < 4 && time(NULL) < end;) {
		sdr_send_poll(h);
		/* all that has come: a train of each channel is more than a socket holds */
		while (n < 4 &&
		       recvfrom(fd, dst, 2000, MSG_DONTWAIT, (struct sockaddr *)&from, &len) > 0) {
			for (k = 0; k < n && port[k] != from.sin_port; k++)
				;
			if (k == n)
				port[n++] = from.sin_port;
		}
	}
	assert_int_equal(n, 4);
	while (sdr_send_poll(h) == 0)
		;
	close(fd);
	assert_int_equal(sdr_qp_destroy(s[0].qp), 0);
	assert_int_equal(sdr_context_destroy(s[0].ctx), 0);
}

/* ---- sim ------------------------------------------------------------------------------------- */

static void sim_with(bool report_late, uint8_t rkeyed, uint64_t seed)
{
	struct sdr_sim_node_attr na = { .report_late = report_late, .rkeyed = rkeyed };
	struct sdr_sim_world_attr wa = { .seed = seed, .nodes = 2 };
	struct sdr_qp_attr attr = { .size = sizeof(attr), .chunk = 65536, .rate_bps = 4000000000 };
	struct sdr_sim_world *w;
	struct side s[2];
	uint64_t rnd[2];
	int i;

	wa.link = (struct sdr_sim_link){ .rate_bps = 10000000000,
					 .delay_ns = 5000000,
					 .loss = 0.02,
					 .dup = 0.02,
					 .reorder = 0.05,
					 .reorder_ns = 300000 };
	w = sdr_sim_world_create(&wa);
	assert_non_null(w);
	for (i = 0; i < 2; i++) {
		struct sdr_uc *uc;

		assert_int_equal(sdr_sim_node_open(w, (uint32_t)i, &na, &uc), 0);
		rnd[0] = sdr_sim_world_random(w);
		rnd[1] = sdr_sim_world_random(w);
		s[i].ctx = sdr_context_create_on(uc, NULL, rnd);
		assert_non_null(s[i].ctx);
		assert_int_equal(sdr_context_fd(s[i].ctx), -1);
	}
	sides_connect(s, &attr);
	for (i = 0; i < 4; i++)
		transfer(s, w, LEN >> i, 65536);
	oneshots(s, w);
	sides_close(s);
	sdr_sim_world_destroy(w);
}

static void sim__seeds(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++)
		sim_with(seed & 1, SDR_SIM_RKEYED_NONE, seed);
}

static void sim__keyed(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++)
		sim_with(false, seed & 1 ? SDR_SIM_RKEYED_MR : SDR_SIM_RKEYED_ROOT, seed);
}

/* ---- the path -------------------------------------------------------------------------------- */

struct heard {
	uint32_t n, len, bytes;
	struct sdr_uc_addr to;
};

static void heard_ctl(void *user, const struct sdr_uc_addr *from, uint8_t type, const uint8_t *buf,
		      size_t len)
{
	struct heard *h = user;
	size_t i;

	(void)from;
	(void)type;
	h->n++;
	h->len = (uint32_t)len;
	for (i = 0; i < len; i++)
		assert_int_equal(buf[i], (uint8_t)(i * 7));
}

static void heard_path(void *user, const struct sdr_uc_addr *to, uint32_t bytes)
{
	struct heard *h = user;

	h->n++;
	h->to = *to;
	h->bytes = bytes;
}

static void say(struct sdr_context *ctx, const struct sdr_uc_addr *to, uint32_t len, bool probe)
{
	uint8_t *p = sdr_context_ctl_alloc(ctx);
	uint32_t i;

	assert_non_null(p);
	sdr_class_encode(p, SDR_CLASS_REL, 1);
	for (i = SDR_CLASS_LEN; i < len; i++)
		p[i] = (uint8_t)((i - SDR_CLASS_LEN) * 7);
	if (probe)
		sdr_context_ctl_push_probe(ctx, to, len);
	else
		sdr_context_ctl_push(ctx, to, len);
	assert_int_equal(sdr_context_flush(ctx), 0);
}

static void both_ways(struct side s[2], struct sdr_sim_world *w, const uint32_t *n, uint32_t want)
{
	uint32_t i;

	for (i = 0; i < 1000 && *n < want; i++) {
		assert_true(sdr_context_progress(s[0].ctx) >= 0);
		assert_true(sdr_context_progress(s[1].ctx) >= 0);
		pass(s, w);
	}
	assert_int_equal(*n, want);
}

/* Probes are longer than other datagrams, and what the host learns of a way comes up. */
static void path__probes_and_what_is_learned(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 3, .nodes = 2 };
	struct heard ctl = { 0 }, told = { 0 };
	struct sdr_uc_info ui;
	struct sdr_sim_world *w;
	struct sdr_uc_addr to;
	struct side s[2];
	uint32_t i;

	(void)state;
	wa.link.delay_ns = 1000;
	w = sdr_sim_world_create(&wa);
	assert_non_null(w);
	for (i = 0; i < 2; i++) {
		struct sdr_sim_node_attr na = { .ctl_max = SDR_CTL_MIN };
		uint64_t rnd[2] = { 5, i };
		struct sdr_uc *uc;

		assert_int_equal(sdr_sim_node_open(w, i, &na, &uc), 0);
		uc->ops->info(uc, &ui);
		s[i].ctx = sdr_context_create_on(uc, NULL, rnd);
		assert_non_null(s[i].ctx);
	}
	assert_true(ui.probe_max > ui.ctl_max);
	sdr_context_ctl_set(s[1].ctx, SDR_CLASS_REL, heard_ctl, &ctl);
	sdr_sim_node_addr(w, 1, &to);
	/* More of them than there is room for at a time: each in a place of its own. */
	for (i = 0; i < 200; i++) {
		say(s[0].ctx, &to, i % 3 ? ui.probe_max - i : ui.ctl_max - i, i % 3);
		both_ways(s, w, &ctl.n, i + 1);
		assert_int_equal(ctl.len + SDR_CLASS_LEN, (i % 3 ? ui.probe_max : ui.ctl_max) - i);
	}
	/* Nobody is told when nobody asked. */
	sdr_sim_node_route(w, 0, ui.ctl_over + 600);
	say(s[0].ctx, &to, 700, false);
	for (i = 0; i < 10; i++) {
		assert_true(sdr_context_progress(s[0].ctx) >= 0);
		pass(s, w);
	}
	sdr_context_path_set(s[0].ctx, heard_path, &told);
	sdr_sim_node_route(w, 0, ui.ctl_over + 500);
	say(s[0].ctx, &to, 700, false);
	both_ways(s, w, &told.n, 1);
	assert_int_equal(told.bytes, ui.ctl_over + 500);
	assert_true(sdr_uc_addr_equal(&told.to, &to));
	assert_int_equal(ctl.n, 200);
	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_context_destroy(s[i].ctx), 0);
	sdr_sim_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft__clean),
		cmocka_unit_test(soft__channels),
		cmocka_unit_test(soft__small_packets),
		cmocka_unit_test(soft__faults),
		cmocka_unit_test(soft__workers),
		cmocka_unit_test(mem__all),
		cmocka_unit_test(soft__bad_names),
		cmocka_unit_test(soft__says_why),
		cmocka_unit_test(soft__without_an_address),
		cmocka_unit_test(soft__channels_are_ports),
		cmocka_unit_test(sim__seeds),
		cmocka_unit_test(sim__keyed),
		cmocka_unit_test(path__probes_and_what_is_learned),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
