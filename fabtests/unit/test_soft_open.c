/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opening the soft engine: names, addresses, packet sizes, ports, QP numbers, and what is refused
 * and why.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"
#include "test_soft_util.h"

static int open_err(const char *name, struct sdr_uc_open_attr a, char *err)
{
	struct sdr_uc *uc = NULL;
	int ret;

	err[0] = 0;
	a.err = err;
	a.err_len = SDR_UC_ERR_LEN;
	ret = sdr_uc_open(name, &a, &uc);
	if (!ret)
		uc->ops->close(uc);
	return ret;
}

static void open__names(void **state)
{
	static const char *const good[] = {
		"soft",
		"soft:",
		"soft:127.0.0.1",
		"soft:0.0.0.0",
		"soft:127.0.0.1:0",
		"soft:[::1]",
		"soft:[::1]:0",
		"soft:[::]",
		"soft:127.0.0.77",
	};
	static const char *const bad[] = {
		"",
		"sof",
		"softer",
		"verbsy",
		"soft:localhost",
		"soft:1.2.3",
		"soft:127.0.0.1:",
		"soft:127.0.0.1:65536",
		"soft:127.0.0.1:x",
		"soft:127.0.0.1:1:2",
		"soft:[::1",
		"soft:[::1]x",
		"soft:[::1]:",
		"soft:::1",
		"soft:[127.0.0.1]",
		"soft::4791",
	};
	char err[SDR_UC_ERR_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (open_err(good[i], (struct sdr_uc_open_attr){ 0 }, err))
			fail_msg("%s: %s", good[i], err);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (open_err(bad[i], (struct sdr_uc_open_attr){ 0 }, err) != -EINVAL)
			fail_msg("%s was not refused", bad[i]);
		assert_true(strlen(err) > 0);
	}
	assert_int_equal(open_err(NULL, (struct sdr_uc_open_attr){ 0 }, err), -EINVAL);
}

static void open__port_in_use(void **state)
{
	char name[72], text[64], err[SDR_UC_ERR_LEN];
	struct sdr_uc_addr addr;
	struct sdr_uc *uc;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &uc), 0);
	uc->ops->sockname(uc, &addr);
	sdr_uc_addr_format(&addr, text, sizeof(text));
	snprintf(name, sizeof(name), "soft:%s", text);
	assert_int_equal(open_err(name, (struct sdr_uc_open_attr){ 0 }, err), -EADDRINUSE);
	assert_non_null(strstr(err, "bind"));
	uc->ops->close(uc);
	assert_int_equal(open_err(name, (struct sdr_uc_open_attr){ 0 }, err), 0);
	assert_int_equal(open_err("soft:203.0.113.77", (struct sdr_uc_open_attr){ 0 }, err),
			 -EADDRNOTAVAIL);
}

/* An address of this host that nothing else here binds to, so that all its ports are free. */
static void own_address(char *text, size_t len)
{
	unsigned int pid = (unsigned int)getpid();

	snprintf(text, len, "soft:127.%u.%u.%u", 64 + pid % 64, pid / 64 % 256, pid / 16384 % 256);
}

static uint16_t port_of(struct sdr_uc *uc)
{
	struct sdr_uc_addr addr;

	uc->ops->sockname(uc, &addr);
	return (uint16_t)(addr.b[1] << 8 | addr.b[2]);
}

/* Every socket takes a port of the range; when none is left the text says which range it was. */
static void open__port_range(void **state)
{
	struct sdr_uc_open_attr oa = { .port_lo = 20100, .port_hi = 20105 };
	char name[64], err[SDR_UC_ERR_LEN];
	struct sdr_uc *uc[6];
	uint32_t seen = 0;
	uint16_t port;
	int i;

	(void)state;
	own_address(name, sizeof(name));
	for (i = 0; i < 6; i++) {
		assert_int_equal(sdr_uc_open(name, &oa, &uc[i]), 0);
		port = port_of(uc[i]);
		assert_in_range(port, 20100, 20105);
		assert_false(seen & 1u << (port - 20100));
		seen |= 1u << (port - 20100);
	}
	assert_int_equal(open_err(name, oa, err), -EADDRINUSE);
	assert_non_null(strstr(err, "20100-20105"));
	assert_non_null(strstr(err, "6 tried"));
	/* one that is given back is found */
	port = port_of(uc[3]);
	uc[3]->ops->close(uc[3]);
	assert_int_equal(sdr_uc_open(name, &oa, &uc[3]), 0);
	assert_int_equal(port_of(uc[3]), port);
	for (i = 0; i < 6; i++)
		uc[i]->ops->close(uc[i]);
	/* the further source ports are of the range, too */
	oa.channels = 6;
	assert_int_equal(open_err(name, oa, err), 0);
	oa.channels = 7;
	assert_int_equal(open_err(name, oa, err), -EADDRINUSE);
	snprintf(name + strlen(name), sizeof(name) - strlen(name), ":30000");
	assert_int_equal(open_err(name, oa, err), 0);
	oa.channels = 8;
	assert_int_equal(open_err(name, oa, err), -EADDRINUSE);
}

/* The port of devices is never taken by chance. */
static void open__port_range_leaves_4791(void **state)
{
	struct sdr_uc_open_attr oa = { .port_lo = 4790, .port_hi = 4792 };
	char name[64], err[SDR_UC_ERR_LEN];
	struct sdr_uc *a, *b;

	(void)state;
	own_address(name, sizeof(name));
	assert_int_equal(sdr_uc_open(name, &oa, &a), 0);
	assert_int_equal(sdr_uc_open(name, &oa, &b), 0);
	assert_int_equal(port_of(a) + port_of(b), 4790 + 4792);
	assert_int_equal(open_err(name, oa, err), -EADDRINUSE);
	assert_non_null(strstr(err, "2 tried"));
	a->ops->close(a);
	b->ops->close(b);
}

static void open__mtu(void **state)
{
	struct sdr_uc_info info;
	char err[SDR_UC_ERR_LEN];
	struct sdr_uc *uc;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &uc), 0);
	uc->ops->info(uc, &info);
	assert_string_equal(info.name, "soft");
	assert_int_equal(info.mtu, 8192);
	assert_int_equal(info.ctl_max, SDR_CTL_MAX);
	assert_int_equal(info.probe_max, SDR_PROBE_MAX);
	assert_true(info.rx_window > 0);
	assert_false(info.rkeyed);
	assert_int_equal(info.addr.len, 7);
	uc->ops->close(uc);
	assert_int_equal(open_err("soft:127.0.0.1", (struct sdr_uc_open_attr){ .mtu = 8192 }, err),
			 0);
	assert_int_equal(open_err("soft:127.0.0.1", (struct sdr_uc_open_attr){ .mtu = 256 }, err),
			 0);
	assert_int_equal(open_err("soft:127.0.0.1", (struct sdr_uc_open_attr){ .mtu = 255 }, err),
			 -EINVAL);
	assert_int_equal(open_err("soft:127.0.0.1", (struct sdr_uc_open_attr){ .mtu = 1027 }, err),
			 -EINVAL);
	assert_int_equal(open_err("soft:127.0.0.1", (struct sdr_uc_open_attr){ .mtu = 9000 }, err),
			 -EINVAL);
	assert_non_null(strstr(err, "9000"));
}

/* A packet size that is asked for bounds all that is sent; but small datagrams always go. */
static void open__mtu_bounds_everything(void **state)
{
	static const uint32_t sizes[] = { 256, 1000, 1024, 2048, 4096, 8192 };
	struct sdr_uc_info info;
	struct sdr_uc *uc;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct sdr_uc_open_attr a = { .mtu = sizes[i] };
		uint32_t packet;

		assert_int_equal(sdr_uc_open("soft:127.0.0.1", &a, &uc), 0);
		uc->ops->info(uc, &info);
		packet = info.data_over + info.mtu;
		assert_int_equal(info.mtu, sizes[i]);
		assert_true(info.ctl_max >= SDR_CTL_MIN && info.ctl_max <= SDR_CTL_MAX);
		assert_true(info.probe_max >= info.ctl_max);
		assert_true(info.ctl_over + info.ctl_max <= packet || info.ctl_max == SDR_CTL_MIN);
		assert_true(info.ctl_over + info.probe_max == packet ||
			    info.probe_max == SDR_CTL_MIN);
		uc->ops->close(uc);
	}
}

/* Whatever devices this machine has, all of their addresses obey the rule. */
static void open__mtu_of_any_device(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sdr_uc_info info;
	char err[SDR_UC_ERR_LEN];
	struct sdr_uc *uc;
	int dev;

	(void)state;
	dev = sdr_uc_device_mtu((struct sockaddr *)&in);
	assert_true(dev > 0);
	assert_int_equal(sdr_uc_open("soft", NULL, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.addr.len, 0);
	assert_true(info.mtu + SDR_DATA_OVERHEAD + 28 <= (uint32_t)dev);
	assert_true(info.mtu % 64 == 0);
	assert_true(info.mtu >= 4096 || info.mtu + 64 + SDR_DATA_OVERHEAD + 28 > (uint32_t)dev);
	assert_true(info.ctl_max + SDR_CTL_OVERHEAD + 28 <= (uint32_t)dev);
	uc->ops->close(uc);
	if (dev < 8192)
		assert_int_equal(open_err("soft", (struct sdr_uc_open_attr){ .mtu = 8192 }, err),
				 -EMSGSIZE);
}

static void open__addresses(void **state)
{
	static const char *const text[] = { "1.2.3.4:5", "[::1]:4791", "[2001:db8::1]:65535",
					    "[fe80::1%1]:7" };
	struct sockaddr_storage sa, back;
	struct sdr_uc_addr a, b;
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		assert_int_equal(sdr_uc_addr_parse(text[i], &sa), 0);
		assert_int_equal(sdr_uc_addr_from_sockaddr(&a, (struct sockaddr *)&sa), 0);
		sdr_uc_addr_format(&a, buf, sizeof(buf));
		assert_string_equal(buf, text[i]);
		assert_true(sdr_uc_addr_to_sockaddr(&a, &back) > 0);
		assert_int_equal(sdr_uc_addr_from_sockaddr(&b, (struct sockaddr *)&back), 0);
		assert_true(sdr_uc_addr_equal(&a, &b));
	}
	/* What does not tell peers apart is not compared. */
	((struct sockaddr_in6 *)&sa)->sin6_flowinfo = 77;
	assert_int_equal(sdr_uc_addr_from_sockaddr(&b, (struct sockaddr *)&sa), 0);
	assert_true(sdr_uc_addr_equal(&a, &b));
	assert_int_equal(sdr_uc_addr_parse("[2001:db8::1]", &sa), 0);
	sdr_uc_addr_from_sockaddr(&a, (struct sockaddr *)&sa);
	((struct sockaddr_in6 *)&sa)->sin6_scope_id = 3;
	sdr_uc_addr_from_sockaddr(&b, (struct sockaddr *)&sa);
	assert_true(sdr_uc_addr_equal(&a, &b));
	memset(&a, 0, sizeof(a));
	assert_int_equal(sdr_uc_addr_to_sockaddr(&a, &sa), -EINVAL);
	sa.ss_family = AF_UNIX;
	assert_int_equal(sdr_uc_addr_from_sockaddr(&a, (struct sockaddr *)&sa), -EAFNOSUPPORT);
	sdr_uc_addr_format(&a, buf, 3);
	assert_true(strlen(buf) < 3);
}

/* Ports say nothing of where it is; hosts of a network are in one place. */
static void open__addresses_of_places(void **state)
{
	static const struct {
		const char *a, *b;
		bool host, net; /* the same */
	} rows[] = {
		{ "1.2.3.4:5", "1.2.3.4:6", true, true },
		{ "1.2.3.4:5", "1.2.3.5:5", false, true },
		{ "1.2.3.4:5", "1.2.4.4:5", false, false },
		{ "[2001:db8:1::1]:5", "[2001:db8:1::1]:6", true, true },
		{ "[2001:db8:1::1]:5", "[2001:db8:1:ff::2]:5", false, true },
		{ "[2001:db8:1::1]:5", "[2001:db8:2::1]:5", false, false },
	};
	uint8_t p[2][2][SDR_UC_ADDR_WHERE], n[2][2];
	struct sockaddr_storage sa;
	struct sdr_uc_addr a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int k = 0; k < 2; k++) {
			assert_int_equal(sdr_uc_addr_parse(k ? rows[i].b : rows[i].a, &sa), 0);
			assert_int_equal(sdr_uc_addr_from_sockaddr(&a, (struct sockaddr *)&sa), 0);
			for (int net = 0; net < 2; net++)
				n[k][net] = sdr_uc_addr_where(&a, net, p[k][net]);
		}
		for (int net = 0; net < 2; net++) {
			assert_in_range(n[0][net], 4, SDR_UC_ADDR_WHERE);
			assert_int_equal(n[0][net], n[1][net]);
			assert_int_equal(memcmp(p[0][net], p[1][net], n[0][net]) == 0,
					 net ? rows[i].net : rows[i].host);
		}
	}
	memset(&a, 0, sizeof(a));
	assert_int_equal(sdr_uc_addr_where(&a, true, p[0][0]), 0);
}

static void open__channels_have_ports(void **state)
{
	struct sdr_uc_open_attr oa = { .channels = 4 };
	uint16_t port[4];
	struct sdr_uc *uc, *peer;
	struct sdr_uc_info info;
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	struct sdr_uc_qp_attr qa = { .channels = 4,
				     .generations = 1,
				     .split = SDR_IMM_SPLIT_DEFAULT,
				     .mtu = 1024,
				     .max_msg = 65536 };
	struct sockaddr_storage sa;
	struct sdr_wire_qp_info wi;
	uint8_t buf[64] = { 0 };
	struct sdr_uc_qp *q, *qs;
	socklen_t len = sizeof(sa);
	int fd, i, k;

	(void)state;
	/* A bare socket receives what four channels send. */
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	memset(&sa, 0, sizeof(sa));
	((struct sockaddr_in *)&sa)->sin_family = AF_INET;
	((struct sockaddr_in *)&sa)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(struct sockaddr_in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &uc), 0);
	assert_int_equal(uc->ops->qp_create(uc, &qa, &q), 0);
	assert_int_equal(uc->ops->qp_create(uc, &qa, &qs), 0);
	uc->ops->qp_info(qs, &wi);
	sdr_uc_addr_from_sockaddr(&info.addr, (struct sockaddr *)&sa);
	assert_int_equal(uc->ops->qp_connect(q, &wi, &info.addr), 0);
	for (i = 0; i < 4; i++) {
		struct sdr_uc_tx t = {
			.kind = SDR_UC_TX_WRITE, .channel = (uint8_t)i, .len = 64, .buf = buf
		};
		uint8_t pkt[256];

		t.w.qp = q;
		assert_int_equal(uc->ops->post(uc, &t, 1), 1);
		len = sizeof(sa);
		assert_true(recvfrom(fd, pkt, sizeof(pkt), 0, (struct sockaddr *)&sa, &len) > 0);
		port[i] = ((struct sockaddr_in *)&sa)->sin_port;
		for (k = 0; k < i; k++)
			assert_int_not_equal(port[i], port[k]);
	}
	/* And each of the four ports receives. */
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &peer), 0);
	for (i = 0; i < 4; i++) {
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = 1, .buf = buf };
		struct sdr_uc_addr to;

		((struct sockaddr_in *)&sa)->sin_port = port[i];
		sdr_uc_addr_from_sockaddr(&to, (struct sockaddr *)&sa);
		t.to = &to;
		assert_int_equal(peer->ops->post(peer, &t, 1), 1);
		assert_int_equal(pair_wait(uc, ev, 1), 1);
	}
	peer->ops->close(peer);
	uc->ops->qp_destroy(q);
	uc->ops->qp_destroy(qs);
	uc->ops->close(uc);
	close(fd);
}

static void qp__refused_attributes(void **state)
{
	static const struct sdr_uc_qp_attr ok = { .channels = 1,
						  .generations = 4,
						  .split = SDR_IMM_SPLIT_DEFAULT,
						  .mtu = 1024,
						  .max_msg = 65536 };
	struct sdr_uc_qp_attr a;
	struct sdr_uc_qp *q;
	struct sdr_uc *uc;
	uint8_t buf[8];
	int i;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &uc), 0);
	for (i = 0; i < 9; i++) {
		a = ok;
		switch (i) {
		case 0:
			a.channels = 0;
			break;
		case 1:
			a.channels = SDR_CHANNELS_MAX + 1;
			break;
		case 2:
			a.generations = 0;
			break;
		case 3:
			a.generations = SDR_GENERATIONS_MAX + 1;
			break;
		case 4:
			a.split.id_bits = 11;
			break;
		case 5:
			a.mtu = SDR_MTU_MAX + 4; /* more than the engine's */
			break;
		case 6:
			a.max_msg = 65536 + 1;
			break;
		case 7:
			a.max_msg = (1024ull << 18) + 1024;
			break;
		case 8:
			a.max_msg = 0;
			break;
		}
		assert_int_equal(uc->ops->qp_create(uc, &a, &q), -EINVAL);
	}
	a = ok;
	assert_int_equal(uc->ops->qp_create(uc, &a, &q), 0);
	assert_int_equal(uc->ops->slot_bind(q, 1024, 0, buf, 8, NULL), -EINVAL);
	assert_int_equal(uc->ops->slot_bind(q, 0, 0, buf, 65537, NULL), -EINVAL);
	assert_int_equal(uc->ops->slot_bind(q, 0, 0, NULL, 1, NULL), -EINVAL);
	assert_int_equal(uc->ops->slot_bind(q, 0, 0, NULL, 0, NULL), 0);
	uc->ops->slot_unbind(q, 0);
	uc->ops->slot_unbind(q, 1000);
	uc->ops->slot_unbind(q, 99999);
	uc->ops->qp_destroy(q);
	uc->ops->close(uc);
}

static void qp__geometry_must_agree(void **state)
{
	struct sdr_wire_qp_info w;
	struct sdr_uc_addr none = { 0 };
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	w = p.wb;
	w.mtu = 512;
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, NULL), -EPROTO);
	w = p.wb;
	w.generations = 2;
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, NULL), -EPROTO);
	w = p.wb;
	w.split = (struct sdr_imm_split){ 8, 22, 2 };
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, NULL), -EPROTO);
	w = p.wb;
	w.max_msg *= 2;
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, NULL), -EPROTO);
	w = p.wb;
	w.addr_len = 0;
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, NULL), -EDESTADDRREQ);
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, &none), -EINVAL);
	assert_int_equal(p.a->ops->qp_connect(p.qa, &w, &p.ib.addr), 0);
	pair_close(&p);
}

static void qp__peer_moves(void **state)
{
	struct sdr_uc *c;
	struct sdr_uc_info info;
	uint8_t buf[64] = { 0 };
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &c), 0);
	c->ops->info(c, &info);
	p.a->ops->qp_readdress(p.qa, &info.addr);
	pair_post(&p, pair_write(&p, 0, 0, buf, 0, 64));
	pair_quiet(p.b);
	pair_quiet(c);
	assert_int_equal(pair_stats(p.b).pkts_late, 0);
	assert_int_equal(pair_stats(c).pkts_bad, 1); /* it knows no such QP */
	p.a->ops->qp_readdress(p.qa, &p.ib.addr);
	pair_post(&p, pair_write(&p, 0, 0, buf, 0, 64));
	pair_quiet(p.b);
	assert_int_equal(pair_stats(p.b).pkts_late, 1);
	c->ops->close(c);
	pair_close(&p);
}

/* Numbers are unique, in 24 bits, and one that was freed is not the next to be given out. */
static void qp__numbers(void **state)
{
	enum { N = 300 };
	struct sdr_uc_qp_attr a = { .channels = 2,
				    .generations = 3,
				    .split = SDR_IMM_SPLIT_DEFAULT,
				    .mtu = 1024,
				    .max_msg = 65536 };
	struct sdr_uc_qp *q[N], *again;
	struct sdr_wire_qp_info w[N], x;
	struct sdr_uc *uc;
	int i, k;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", NULL, &uc), 0);
	for (i = 0; i < 2; i++) {
		a.rand[0] = 0;
		assert_int_equal(uc->ops->qp_create(uc, &a, &q[0]), 0);
		uc->ops->qp_info(q[0], &w[i]);
		uc->ops->qp_destroy(q[0]);
	}
	assert_int_not_equal(w[0].qpn, w[1].qpn);
	for (i = 0; i < N; i++) {
		a.rand[0] = (uint64_t)i * 0x9e3779b97f4a7c15u;
		a.rand[1] = (uint64_t)i;
		assert_int_equal(uc->ops->qp_create(uc, &a, &q[i]), 0);
		uc->ops->qp_info(q[i], &w[i]);
		assert_true(w[i].qpn > 1 && w[i].qpn + 6 <= SDR_QPN_MASK);
		for (k = 0; k < i; k++)
			assert_true((w[i].qpn & 0x3ffff) >= (w[k].qpn & 0x3ffff) + 6 ||
				    (w[k].qpn & 0x3ffff) >= (w[i].qpn & 0x3ffff) + 6);
	}
	uc->ops->qp_destroy(q[10]);
	a.rand[0] = 0;
	assert_int_equal(uc->ops->qp_create(uc, &a, &again), 0);
	uc->ops->qp_info(again, &x);
	assert_int_not_equal(x.qpn & 0x3ffff, w[10].qpn & 0x3ffff);
	q[10] = again;
	for (i = 0; i < N; i++)
		uc->ops->qp_destroy(q[i]);
	uc->ops->close(uc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__names),
		cmocka_unit_test(open__port_in_use),
		cmocka_unit_test(open__port_range),
		cmocka_unit_test(open__port_range_leaves_4791),
		cmocka_unit_test(open__mtu),
		cmocka_unit_test(open__mtu_bounds_everything),
		cmocka_unit_test(open__mtu_of_any_device),
		cmocka_unit_test(open__addresses),
		cmocka_unit_test(open__addresses_of_places),
		cmocka_unit_test(open__channels_have_ports),
		cmocka_unit_test(qp__refused_attributes),
		cmocka_unit_test(qp__geometry_must_agree),
		cmocka_unit_test(qp__peer_moves),
		cmocka_unit_test(qp__numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
