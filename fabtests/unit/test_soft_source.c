/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine with several sources: what they are called, what leaves from which and by which
 * way, where it arrives, and what becomes of ways and sources that there are not.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

static struct sockaddr_storage at(const char *text)
{
	struct sockaddr_storage sa;

	assert_int_equal(sdr_uc_addr_parse(text, &sa), 0);
	return sa;
}

static struct sdr_uc_addr source_of(struct sdr_uc *uc, uint32_t source)
{
	struct sdr_uc_addr addr;

	uc->ops->source(uc, source, &addr);
	return addr;
}

static const char *ip_of(const struct sdr_uc_addr *a)
{
	static char text[INET6_ADDRSTRLEN];

	assert_non_null(inet_ntop(a->b[0] == 4 ? AF_INET : AF_INET6, a->b + 3, text, sizeof(text)));
	return text;
}

#define OTHERS 3

/* a is at 127.0.0.1 with sources at .3, .1 again and .4; b at 127.0.0.1 with .2 and .2 again. */
struct bed {
	struct pair p;
	struct sockaddr_storage a[OTHERS], b[2];
	uint8_t *tx, *rx;
};

static void bed_open(struct bed *d, struct pair_opt opt)
{
	memset(d, 0, sizeof(*d));
	d->a[0] = at("127.0.0.3");
	d->a[1] = at("127.0.0.1");
	d->a[2] = at("127.0.0.4");
	d->b[0] = d->b[1] = at("127.0.0.2");
	opt.more_a = d->a;
	opt.more_b = d->b;
	opt.nmore_a = OTHERS;
	opt.nmore_b = 2;
	pair_open(&d->p, &opt);
	d->tx = malloc(d->p.msg);
	d->rx = calloc(1, d->p.msg);
	assert_non_null(d->tx);
	assert_non_null(d->rx);
	fill(d->tx, d->p.msg, 7);
}

static void bed_close(struct bed *d)
{
	free(d->tx);
	free(d->rx);
	pair_close(&d->p);
}

static int via_set(struct bed *d, uint32_t via, uint32_t source, uint32_t to)
{
	struct sdr_uc_addr addr = source_of(d->p.b, to);

	return d->p.a->ops->qp_via(d->p.qa, via, source, &addr);
}

/* At the other end: the way back of one of those. */
static int via_back(struct bed *d, uint32_t via, uint32_t source, uint32_t to)
{
	struct sdr_uc_addr addr = source_of(d->p.a, source);

	return d->p.b->ops->qp_via(d->p.qb, via, to, &addr);
}

static struct sdr_uc_tx write_by(struct bed *d, uint32_t slot, uint32_t first, uint32_t len,
				 uint8_t via)
{
	struct sdr_uc_tx t = pair_write(&d->p, slot, 0, d->tx, first, len);

	t.via = via;
	return t;
}

static void source__names(void **state)
{
	static const char *const want[] = { "127.0.0.1", "127.0.0.3", "127.0.0.1", "127.0.0.4" };
	struct sdr_uc_addr addr, one;
	struct bed d;
	uint32_t i, k;

	(void)state;
	bed_open(&d, (struct pair_opt){ .channels = 3 });
	assert_int_equal(d.p.ia.sources, 4);
	assert_int_equal(d.p.ib.sources, 3);
	for (i = 0; i < 4; i++) {
		addr = source_of(d.p.a, i);
		assert_string_equal(ip_of(&addr), want[i]);
		assert_true(addr.b[1] || addr.b[2]);
		for (k = 0; k < i; k++) {
			one = source_of(d.p.a, k);
			assert_false(sdr_uc_addr_equal(&one, &addr));
		}
	}
	d.p.a->ops->sockname(d.p.a, &one);
	addr = source_of(d.p.a, 0);
	assert_true(sdr_uc_addr_equal(&one, &addr));
	addr = source_of(d.p.a, 4);
	assert_int_equal(addr.len, 0);
	bed_close(&d);
}

static void source__control_leaves_and_arrives(void **state)
{
	struct sdr_uc_addr from, to;
	struct sdr_uc_tx t;
	struct bed d;
	uint8_t i, k;

	(void)state;
	bed_open(&d, (struct pair_opt){ .channels = 2 });
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 3; k++) {
			from = source_of(d.p.a, i);
			to = source_of(d.p.b, k);
			t = pair_ctl(&to, d.tx, 40);
			t.via = i;
			pair_post(&d.p, t);
			assert_int_equal(pair_wait(d.p.b, d.p.ev, 1), 1);
			assert_int_equal(d.p.ev[0].kind, SDR_UC_EV_CTL);
			assert_int_equal(d.p.ev[0].source, k);
			assert_true(sdr_uc_addr_equal(d.p.ev[0].c.from, &from));
			assert_memory_equal(d.p.ev[0].c.buf, d.tx, 40);
		}
	}
	assert_int_equal(pair_stats(d.p.a).tx_lost, 0);
	t = pair_ctl(&to, d.tx, 40);
	t.via = 4;
	pair_post(&d.p, t);
	assert_int_equal(pair_stats(d.p.a).tx_lost, 1);
	pair_quiet(d.p.b);
	bed_close(&d);
}

/* Runs by several ways in one post, long and short packets: all of it arrives, once. */
static void data_by_ways(const struct pair_opt *opt)
{
	static const uint8_t vias[] = { 1, 0, 2, 2, 15, 3, 3, 0, 1, 15 };
	uint32_t i, n = 0, by[SDR_PATHS_MAX] = { 0 };
	struct sdr_uc_tx t[10];
	struct bed d;

	bed_open(&d, *opt);
	assert_int_equal(via_set(&d, 1, 1, 1), 0);
	assert_int_equal(via_set(&d, 2, 2, 0), 0);
	assert_int_equal(via_set(&d, 3, 0, 2), 0);
	assert_int_equal(via_set(&d, 15, 3, 2), 0);
	/* one is not known over there: what comes by it came by none */
	assert_int_equal(via_back(&d, 4, 1, 1), 0);
	assert_int_equal(via_back(&d, 5, 2, 0), 0);
	assert_int_equal(via_back(&d, 6, 3, 2), 0);
	assert_int_equal(d.p.b->ops->slot_bind(d.p.qb, 5, 0, d.rx, d.p.msg, NULL), 0);
	for (i = 0; i < 10; i++) {
		t[i] = write_by(&d, 5, n, (i % 3 + 1) * d.p.mtu, vias[i]);
		t[i].channel = (uint8_t)(i % (opt->channels ? opt->channels : 1));
		n += i % 3 + 1;
		by[vias[i] == 15 ? 6 : vias[i] % 3 ? vias[i] + 3 : 0] += i % 3 + 1;
	}
	assert_int_equal(d.p.a->ops->post(d.p.a, t, 10), 10);
	while (d.p.a->ops->deadline(d.p.a) != UINT64_MAX)
		assert_int_equal(d.p.a->ops->poll(d.p.a, d.p.ev, PAIR_EVS), 0);
	assert_int_equal(pair_wait(d.p.b, d.p.ev, (int)n), n);
	for (i = 0; i < n; i++) {
		assert_int_equal(d.p.ev[i].kind, SDR_UC_EV_PLACED);
		by[d.p.ev[i].via]--;
	}
	for (i = 0; i < SDR_PATHS_MAX; i++)
		assert_int_equal(by[i], 0);
	assert_memory_equal(d.rx, d.tx, n * d.p.mtu);
	assert_int_equal(pair_stats(d.p.a).pkts_tx, n);
	assert_int_equal(pair_stats(d.p.a).tx_lost, 0);
	assert_int_equal(pair_stats(d.p.b).pkts_rx, n);
	assert_int_equal(pair_stats(d.p.b).pkts_bad, 0);
	pair_quiet(d.p.b);
	bed_close(&d);
}

static void source__data_by_ways(void **state)
{
	(void)state;
	data_by_ways(&(struct pair_opt){ 0 });
	data_by_ways(&(struct pair_opt){ .channels = 3 });
	data_by_ways(&(struct pair_opt){ .off = SDR_SOFT_NO_GSO | SDR_SOFT_NO_GRO });
	data_by_ways(&(struct pair_opt){ .off = SDR_SOFT_NO_BARE });
	data_by_ways(&(struct pair_opt){ .name = "mem" });
	/* held back and let go again they are not mixed either */
	data_by_ways(&(struct pair_opt){ .fault = "delay=1ms" });
	data_by_ways(&(struct pair_opt){ .fault = "drop=1e-9" });
}

/*
 * Whatever ways they take: data behind the control datagram that binds their slot finds it bound.
 */
static void order_of_ways(const struct pair_opt *opt)
{
	struct sdr_uc_addr to[3];
	struct sdr_uc_tx t[2 * 27];
	uint32_t bound = 0, placed = 0, i, id, quiet = 0;
	struct sdr_uc_ev ev[4];
	uint8_t ids[27][4] = { { 0 } };
	struct bed d;
	int n, k;

	bed_open(&d, *opt);
	for (i = 0; i < 3; i++) {
		to[i] = source_of(d.p.b, i);
		assert_int_equal(via_set(&d, i + 1, i, i), 0);
	}
	for (i = 0; i < 27; i++) {
		ids[i][0] = (uint8_t)i;
		t[2 * i] = pair_ctl(&to[i / 3 % 3], ids[i], 4);
		t[2 * i].via = (uint8_t)(i / 9);
		t[2 * i + 1] = write_by(&d, i, 0, 3 * d.p.mtu, (uint8_t)(i % 3 + 1));
	}
	assert_int_equal(d.p.a->ops->post(d.p.a, t, 2 * 27), 2 * 27);
	while (quiet < PAIR_TRIES) {
		n = d.p.b->ops->poll(d.p.b, ev, 4);
		quiet = n ? 0 : quiet + 1;
		for (k = 0; k < n; k++) {
			if (ev[k].kind == SDR_UC_EV_PLACED) {
				placed++;
				continue;
			}
			id = ev[k].c.buf[0];
			assert_int_equal(id, bound++);
			assert_int_equal(ev[k].source, id / 3 % 3);
			assert_int_equal(d.p.b->ops->slot_bind(d.p.qb, id, 0, d.rx, d.p.msg, NULL),
					 0);
		}
	}
	assert_int_equal(bound, 27);
	assert_int_equal(placed, 3 * 27);
	assert_int_equal(pair_stats(d.p.b).pkts_late, 0);
	bed_close(&d);
}

/*
 * Who is moved to another processor while it sends leaves packets in the queue of the first one,
 * which the kernel may look at later: that is reordering, and none of the engine's.
 */
static void source__order_of_ways(void **state)
{
	cpu_set_t all, one;
	bool moves = sched_getaffinity(0, sizeof(all), &all) == 0;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	moves = moves && sched_setaffinity(0, sizeof(one), &one) == 0;
	order_of_ways(&(struct pair_opt){ 0 });
	order_of_ways(&(struct pair_opt){ .channels = 2, .mtu = 4096, .msg = 65536 });
	order_of_ways(&(struct pair_opt){ .off = SDR_SOFT_NO_GSO | SDR_SOFT_NO_GRO });
	if (moves)
		assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* In pieces: all ways of a QP cut alike. */
static void source__pieces(void **state)
{
	struct bed d;
	uint8_t via;

	(void)state;
	bed_open(&d, (struct pair_opt){ .mtu = 4096 });
	d.p.a->ops->qp_path(d.p.qa, 1500);
	assert_int_equal(via_set(&d, 1, 1, 1), 0);
	assert_int_equal(via_set(&d, 2, 2, 2), 0);
	assert_int_equal(d.p.b->ops->slot_bind(d.p.qb, 5, 0, d.rx, d.p.msg, NULL), 0);
	for (via = 0; via < 3; via++)
		pair_post(&d.p, write_by(&d, 5, via * 2u, 2 * 4096, via));
	assert_int_equal(pair_wait(d.p.b, d.p.ev, 6), 6);
	assert_memory_equal(d.rx, d.tx, 6 * 4096);
	assert_true(pair_stats(d.p.a).pieces_tx >= 18);
	assert_int_equal(pair_stats(d.p.b).pkts_bad, 0);
	bed_close(&d);
}

/* One that carries less is cut for itself, others as the QP's; all of them, when that is less. */
static void source__pieces_of_one_way(void **state)
{
	static const uint32_t want[3][3] = { { 0, 0, 2 * 4 },
					     { 0, 0, 2 * 4 },
					     { 2 * 8, 2 * 8, 2 * 8 } };
	static const uint32_t size[3] = { 0, 4096, 512 };
	struct bed d;

	(void)state;
	bed_open(&d, (struct pair_opt){ .mtu = 4096 });
	assert_int_equal(via_set(&d, 1, 1, 1), 0);
	assert_int_equal(via_set(&d, 2, 2, 2), 0);
	assert_int_equal(d.p.b->ops->slot_bind(d.p.qb, 5, 0, d.rx, d.p.msg, NULL), 0);
	d.p.a->ops->via_path(d.p.qa, 2, 1024 + d.p.ia.data_over);
	d.p.a->ops->via_path(d.p.qa, 3, 700); /* never set */
	for (uint32_t i = 0; i < 3; i++) {
		if (size[i])
			d.p.a->ops->qp_path(d.p.qa, size[i] + d.p.ia.data_over);
		for (uint8_t via = 0; via < 3; via++) {
			uint64_t before = pair_stats(d.p.a).pieces_tx;

			pair_post(&d.p, write_by(&d, 5, via * 2u, 2 * 4096, via));
			assert_int_equal(pair_wait(d.p.b, d.p.ev, 2), 2);
			assert_int_equal(pair_stats(d.p.a).pieces_tx - before, want[i][via]);
		}
		assert_memory_equal(d.rx, d.tx, 6 * 4096);
	}
	assert_int_equal(pair_stats(d.p.b).pkts_bad, 0);
	bed_close(&d);
}

static void source__ways_that_are_not(void **state)
{
	struct sdr_uc_addr to, v6;
	struct sockaddr_storage sa = at("[::1]:7");
	struct sdr_uc_tx t[3];
	struct bed d;

	(void)state;
	bed_open(&d, (struct pair_opt){ 0 });
	to = source_of(d.p.b, 0);
	assert_int_equal(sdr_uc_addr_from_sockaddr(&v6, (struct sockaddr *)&sa), 0);
	assert_int_equal(d.p.a->ops->qp_via(d.p.qa, 0, 0, &to), -EINVAL);
	assert_int_equal(d.p.a->ops->qp_via(d.p.qa, SDR_PATHS_MAX, 0, &to), -EINVAL);
	assert_int_equal(d.p.a->ops->qp_via(d.p.qa, 1, 4, &to), -EINVAL);
	assert_int_equal(d.p.a->ops->qp_via(d.p.qa, 1, 1, &v6), -EAFNOSUPPORT);
	assert_int_equal(d.p.b->ops->slot_bind(d.p.qb, 5, 0, d.rx, d.p.msg, NULL), 0);
	/* none was ever set, then another one; what is around it goes */
	pair_post(&d.p, write_by(&d, 5, 0, 3 * d.p.mtu, 1));
	assert_int_equal(pair_stats(d.p.a).tx_lost, 3);
	assert_int_equal(via_set(&d, 2, 1, 1), 0);
	t[0] = write_by(&d, 5, 0, d.p.mtu, 2);
	t[1] = write_by(&d, 5, 1, 2 * d.p.mtu, 200);
	t[2] = write_by(&d, 5, 3, d.p.mtu, 0);
	assert_int_equal(d.p.a->ops->post(d.p.a, t, 3), 3);
	assert_int_equal(pair_stats(d.p.a).tx_lost, 5);
	assert_int_equal(pair_wait(d.p.b, d.p.ev, 3), 2);
	bed_close(&d);
}

static int udp_at(struct sdr_uc_addr *addr)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(0x7f000009) } };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	assert_int_equal(sdr_uc_addr_from_sockaddr(addr, (struct sockaddr *)&in), 0);
	return fd;
}

/*
 * Ways that differ in one end alone, as a plain socket sees them: the same destination from several
 * sources is no train, and each packet comes from its own.
 */
static void source__data_leaves_from_it(void **state)
{
	uint8_t buf[2048];
	struct sdr_uc_addr to, from, want;
	struct sdr_uc_tx t[8];
	struct sockaddr_in in;
	struct bed d;
	uint32_t seen[4] = { 0 }, i, k, n = 0;
	socklen_t len;
	int fd;

	(void)state;
	bed_open(&d, (struct pair_opt){ 0 });
	fd = udp_at(&to);
	for (i = 1; i < 5; i++)
		assert_int_equal(d.p.a->ops->qp_via(d.p.qa, i, i % 4, &to), 0);
	for (i = 0; i < 8; i++)
		t[i] = write_by(&d, 5, 2 * i, 2 * d.p.mtu, (uint8_t)(i % 4 + 1));
	assert_int_equal(d.p.a->ops->post(d.p.a, t, 8), 8);
	/* segments of a train come one by one, as no GRO was asked for */
	for (;; n++) {
		len = sizeof(in);
		if (recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&in, &len) < 0)
			break;
		assert_int_equal(sdr_uc_addr_from_sockaddr(&from, (struct sockaddr *)&in), 0);
		for (k = 0; k < 4; k++) {
			want = source_of(d.p.a, k);
			seen[k] += sdr_uc_addr_equal(&from, &want);
		}
	}
	assert_int_equal(n, 16);
	for (k = 0; k < 4; k++)
		assert_int_equal(seen[k], 4);
	/* set again: another one from now on */
	assert_int_equal(d.p.a->ops->qp_via(d.p.qa, 1, 3, &to), 0);
	pair_post(&d.p, write_by(&d, 5, 0, d.p.mtu, 1));
	len = sizeof(in);
	assert_true(recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&in, &len) > 0);
	assert_int_equal(sdr_uc_addr_from_sockaddr(&from, (struct sockaddr *)&in), 0);
	want = source_of(d.p.a, 3);
	assert_true(sdr_uc_addr_equal(&from, &want));
	/* the peer's own way moves, this one does not */
	d.p.a->ops->qp_readdress(d.p.qa, &want);
	pair_post(&d.p, write_by(&d, 5, 0, d.p.mtu, 1));
	assert_true(recv(fd, buf, sizeof(buf), 0) > 0);
	close(fd);
	bed_close(&d);
}

/* What cannot be had is left out and said; those behind it move up. */
static void source__one_cannot_be_opened(void **state)
{
	struct sockaddr_storage more[4] = { at("127.0.0.3"), at("203.0.113.77"), at("[::1]"),
					    at("127.0.0.4") };
	char err[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_open_attr oa = {
		.more = more, .nmore = 4, .err = err, .err_len = sizeof(err)
	};
	struct sdr_uc_addr addr;
	struct sdr_uc_info info;
	struct sdr_uc *uc;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.sources, 3);
	addr = source_of(uc, 2);
	assert_string_equal(ip_of(&addr), "127.0.0.4");
	assert_non_null(strstr(err, "2 of 4 further sources"));
	assert_non_null(strstr(err, "203.0.113.77"));
	uc->ops->close(uc);
	/* a range that is too small for all of them */
	oa.nmore = 1;
	oa.port_lo = oa.port_hi = 20777;
	more[0] = at("127.0.0.1");
	err[0] = 0;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.sources, 1);
	assert_non_null(strstr(err, "20777-20777"));
	uc->ops->close(uc);
	oa.nmore = SDR_PATHS_MAX;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), -EINVAL);
}

static void source__many(void **state)
{
	struct sockaddr_storage more[SDR_PATHS_MAX - 1];
	struct sdr_uc_open_attr oa = { .more = more,
				       .nmore = SDR_PATHS_MAX - 1,
				       .channels = SDR_CHANNELS_MAX };
	struct sdr_uc_info info;
	struct sdr_uc *uc;
	uint32_t i;

	(void)state;
	for (i = 0; i < SDR_PATHS_MAX - 1; i++)
		more[i] = at("127.0.0.1");
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.sources, SDR_PATHS_MAX);
	uc->ops->close(uc);
}

/* Bound to everything: further ports of it.  And IPv6. */
static void ports_only(const char *name, const char *more, const char *reach)
{
	struct sockaddr_storage m[2] = { at(more), at(more) }, sa;
	struct sdr_uc_addr addr, to;
	struct pair_opt opt = {
		.name = name, .more_a = m, .more_b = m, .nmore_a = 2, .nmore_b = 2
	};
	struct sdr_uc_tx t;
	struct pair p;
	uint8_t i;

	pair_open(&p, &opt);
	assert_int_equal(p.ia.sources, 3);
	for (i = 0; i < 3; i++) {
		addr = source_of(p.b, i);
		sa = at(reach);
		assert_int_equal(sdr_uc_addr_from_sockaddr(&to, (struct sockaddr *)&sa), 0);
		to.b[1] = addr.b[1];
		to.b[2] = addr.b[2];
		t = pair_ctl(&to, "sixteen letters.", 16);
		t.via = i;
		pair_post(&p, t);
		assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
		assert_int_equal(p.ev[0].source, i);
		addr = source_of(p.a, i);
		assert_memory_equal(p.ev[0].c.from->b, addr.b, 3);
	}
	pair_close(&p);
}

static void source__ports_only(void **state)
{
	(void)state;
	ports_only("soft:127.0.0.1", "127.0.0.1", "127.0.0.1");
	ports_only("soft:[::1]", "[::1]", "[::1]");
	ports_only("mem", "127.0.0.1", "127.0.0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source__names),
		cmocka_unit_test(source__control_leaves_and_arrives),
		cmocka_unit_test(source__data_by_ways),
		cmocka_unit_test(source__order_of_ways),
		cmocka_unit_test(source__pieces),
		cmocka_unit_test(source__pieces_of_one_way),
		cmocka_unit_test(source__ways_that_are_not),
		cmocka_unit_test(source__data_leaves_from_it),
		cmocka_unit_test(source__one_cannot_be_opened),
		cmocka_unit_test(source__many),
		cmocka_unit_test(source__ports_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
