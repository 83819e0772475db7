/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where endpoints are bound and how they are called: FI_SDR_IFACE, FI_SDR_BIND, FI_SDR_PORT,
 * FI_SDR_PORT_RANGE, FI_SDR_ADVERTISE against what fi_getinfo, fi_enable, fi_setname and fi_getname
 * say; and FI_SDR_PATHS against the sockets that there are then.
 */
#include <unistd.h>

#include "test_fi_util.h"

/* ---- fi_getinfo ------------------------------------------------------------------------------ */

static const char *const names[] = { "FI_SDR_IFACE",	  "FI_SDR_BIND",      "FI_SDR_PORT",
				     "FI_SDR_PORT_RANGE", "FI_SDR_ADVERTISE", "FI_SDR_PATHS" };

static int reset(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("FI_SDR_ENGINE", "soft", 1);
	return 0;
}

static struct fi_info *ask(const char *node, const char *service, uint64_t flags)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG | FI_SOURCE), *info;

	info = test_getinfo(TEST_API, node, service, flags, h);
	fi_freeinfo(h);
	return info;
}

static void src_is(const struct fi_info *info, const char *ip, uint16_t port)
{
	const struct sockaddr_in *in = info->src_addr;
	char text[INET_ADDRSTRLEN];

	assert_int_equal(in->sin_family, AF_INET);
	assert_string_equal(inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)), ip);
	assert_int_equal(ntohs(in->sin_port), port);
}

static void iface__is_a_filter(void **state)
{
	struct fi_info *info, *i;
	unsigned int all = 0, lo = 0, rest = 0;

	(void)state;
	info = ask(NULL, NULL, 0);
	for (i = info; i; i = i->next)
		all++;
	fi_freeinfo(info);
	setenv("FI_SDR_IFACE", "lo", 1);
	info = ask(NULL, NULL, 0);
	for (i = info; i; i = i->next, lo++)
		assert_string_equal(i->domain_attr->name, "lo");
	/* it is all there is now: peers are behind it */
	assert_true(info && info->caps & FI_REMOTE_COMM);
	fi_freeinfo(info);
	setenv("FI_SDR_IFACE", "!lo", 1);
	info = ask(NULL, NULL, 0);
	for (i = info; i; i = i->next, rest++)
		assert_string_not_equal(i->domain_attr->name, "lo");
	fi_freeinfo(info);
	assert_int_equal(lo + rest, all);
	/* loopback is last */
	unsetenv("FI_SDR_IFACE");
	info = ask(NULL, NULL, 0);
	for (i = info, all = 0; i; i = i->next, all++)
		assert_int_equal(strcmp(i->domain_attr->name, "lo") == 0, all >= rest);
	fi_freeinfo(info);
	setenv("FI_SDR_IFACE", "none0,!lo", 1);
	assert_null(ask(NULL, NULL, 0));
	setenv("FI_SDR_IFACE", "lo,", 1);
	assert_null(ask(NULL, NULL, 0));
}

/* Also for what the application names; "all addresses" are those that are left. */
static void iface__holds_for_named_sources(void **state)
{
	struct fi_info *info;

	(void)state;
	setenv("FI_SDR_IFACE", "!lo", 1);
	assert_null(ask("127.0.0.1", NULL, FI_SOURCE));
	assert_null(ask("127.0.0.1", "7", 0));
	setenv("FI_SDR_IFACE", "127.0.0.0/8", 1);
	info = ask("127.0.0.1", NULL, FI_SOURCE);
	assert_non_null(info);
	fi_freeinfo(info);
	info = ask(NULL, "4243", FI_SOURCE);
	assert_non_null(info);
	src_is(info, "127.0.0.1", 4243);
	assert_null(info->next);
	fi_freeinfo(info);
	/* what it leaves reaches loopback and nothing else */
	info = ask("127.0.0.7", "7", 0);
	assert_non_null(info);
	src_is(info, "127.0.0.1", 0);
	fi_freeinfo(info);
	assert_null(ask("192.88.99.1", "7", 0));
}

static void bind__where_nothing_is_named(void **state)
{
	struct fi_info *info;

	(void)state;
	setenv("FI_SDR_BIND", "127.0.0.1", 1);
	info = ask(NULL, NULL, 0);
	assert_non_null(info);
	src_is(info, "127.0.0.1", 0);
	assert_null(info->next);
	fi_freeinfo(info);
	info = ask(NULL, "4243", FI_SOURCE); /* a port is no address */
	assert_non_null(info);
	src_is(info, "127.0.0.1", 4243);
	assert_null(info->next);
	fi_freeinfo(info);
	info = ask("127.0.0.9", "7", 0);
	assert_non_null(info);
	src_is(info, "127.0.0.1", 0);
	fi_freeinfo(info);
	info = ask("127.0.0.5", NULL, FI_SOURCE); /* the application's word */
	assert_non_null(info);
	src_is(info, "127.0.0.5", 0);
	fi_freeinfo(info);
	setenv("FI_SDR_BIND", "0.0.0.0", 1);
	info = ask(NULL, NULL, 0);
	assert_non_null(info);
	src_is(info, "0.0.0.0", 0);
	fi_freeinfo(info);
	setenv("FI_SDR_BIND", "192.0.2.77", 1); /* not ours */
	assert_null(ask(NULL, NULL, 0));
	setenv("FI_SDR_BIND", "127.0.0.1", 1);
	setenv("FI_SDR_IFACE", "!lo", 1); /* nor allowed */
	assert_null(ask(NULL, NULL, 0));
}

/* ---- endpoints ------------------------------------------------------------------------------- */

#define EPS 12

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep[EPS];
};

/* An address of this host that nothing else here binds to, so that all its ports are free. */
static const char *own_address(void)
{
	static char text[32];
	unsigned int pid = (unsigned int)getpid();

	snprintf(text, sizeof(text), "127.%u.%u.%u", 128 + pid % 64, pid / 64 % 256,
		 1 + pid / 16384 % 250);
	return text;
}

static void world_open(struct world *w, const char *node, const char *service)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	memset(w, 0, sizeof(*w));
	w->info = ask(node, service, FI_SOURCE);
	assert_non_null(w->info);
	assert_ok(fi_fabric(w->info->fabric_attr, &w->fabric, NULL));
	assert_ok(fi_domain(w->fabric, w->info, &w->domain, NULL));
	assert_ok(fi_av_open(w->domain, &av, &w->av, NULL));
	assert_ok(fi_cq_open(w->domain, &cq, &w->cq, NULL));
}

static void world_ep(struct world *w, int k)
{
	assert_ok(fi_endpoint(w->domain, w->info, &w->ep[k], NULL));
	assert_ok(fi_ep_bind(w->ep[k], &w->av->fid, 0));
	assert_ok(fi_ep_bind(w->ep[k], &w->cq->fid, FI_TRANSMIT | FI_RECV));
}

static void world_ep_close(struct world *w, int k)
{
	if (w->ep[k])
		assert_ok(fi_close(&w->ep[k]->fid));
	w->ep[k] = NULL;
}

static void world_close(struct world *w)
{
	int k;

	for (k = 0; k < EPS; k++)
		world_ep_close(w, k);
	assert_ok(fi_close(&w->cq->fid));
	assert_ok(fi_close(&w->av->fid));
	assert_ok(fi_close(&w->domain->fid));
	assert_ok(fi_close(&w->fabric->fid));
	fi_freeinfo(w->info);
}

static uint16_t name_of(struct fid_ep *ep, char ip[INET_ADDRSTRLEN])
{
	struct sockaddr_in in;
	size_t len = sizeof(in);

	assert_ok(fi_getname(&ep->fid, &in, &len));
	assert_int_equal(len, sizeof(in));
	inet_ntop(AF_INET, &in.sin_addr, ip, INET_ADDRSTRLEN);
	return ntohs(in.sin_port);
}

/* Ten endpoints in ten ports, an eleventh is an error, and an application's own port wins. */
static void range__ten_and_no_more(void **state)
{
	char ip[INET_ADDRSTRLEN];
	struct world w;
	uint32_t seen = 0;
	uint16_t port;
	int k;

	(void)state;
	setenv("FI_SDR_PORT_RANGE", "20100-20109", 1);
	world_open(&w, own_address(), NULL);
	for (k = 0; k < 10; k++) {
		world_ep(&w, k);
		assert_ok(fi_enable(w.ep[k]));
		port = name_of(w.ep[k], ip);
		assert_in_range(port, 20100, 20109);
		assert_false(seen & 1u << (port - 20100));
		seen |= 1u << (port - 20100);
	}
	world_ep(&w, 10);
	assert_int_equal(fi_enable(w.ep[10]), -FI_EADDRINUSE);
	/* it can be enabled when there is room */
	world_ep_close(&w, 4);
	assert_ok(fi_enable(w.ep[10]));
	world_close(&w);
	world_open(&w, own_address(), "20300");
	world_ep(&w, 0);
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(name_of(w.ep[0], ip), 20300);
	assert_string_equal(ip, own_address());
	world_close(&w);
}

static void port__of_the_first(void **state)
{
	char ip[INET_ADDRSTRLEN];
	struct world w;

	(void)state;
	setenv("FI_SDR_PORT", "20200", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(name_of(w.ep[0], ip), 20200);
	world_ep(&w, 1);
	assert_int_equal(fi_enable(w.ep[1]), -FI_EADDRINUSE);
	world_close(&w);
	/* with a range the others take theirs there */
	setenv("FI_SDR_PORT_RANGE", "20210-20211", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	world_ep(&w, 1);
	assert_ok(fi_enable(w.ep[0]));
	assert_ok(fi_enable(w.ep[1]));
	assert_int_equal(name_of(w.ep[0], ip), 20200);
	assert_in_range(name_of(w.ep[1], ip), 20210, 20211);
	world_close(&w);
}

static void advertise__is_the_name(void **state)
{
	char ip[INET_ADDRSTRLEN], few[3];
	size_t len = sizeof(few);
	struct world w;

	(void)state;
	setenv("FI_SDR_ADVERTISE", "203.0.113.1", 1);
	setenv("FI_SDR_PORT", "20200", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(name_of(w.ep[0], ip), 20200);
	assert_string_equal(ip, "203.0.113.1");
	assert_int_equal(fi_getname(&w.ep[0]->fid, few, &len), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(struct sockaddr_in));
	world_close(&w);
	setenv("FI_SDR_ADVERTISE", "203.0.113.1:7", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	assert_int_equal(name_of(w.ep[0], ip), 7);
	world_close(&w);
	/* the name has to be one that peers of the endpoint can use */
	setenv("FI_SDR_ADVERTISE", "[2001:db8::1]:7", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	assert_int_equal(fi_enable(w.ep[0]), -FI_EINVAL);
	world_close(&w);
}

/* A byte from one endpoint to another (or itself) by name; its source is known by that name. */
static void talk(struct world *w, struct fid_ep *from, struct fid_ep *to)
{
	uint64_t until = test_now_s() + TEST_GUARD_S;
	fi_addr_t dst, src, who = FI_ADDR_NOTAVAIL;
	struct sockaddr_in name;
	struct fi_cq_tagged_entry e;
	size_t len = sizeof(name);
	char out = 'x', in = 0;
	int n = 0;

	assert_ok(fi_getname(&to->fid, &name, &len));
	assert_int_equal(fi_av_insert(w->av, &name, 1, &dst, 0, NULL), 1);
	src = dst;
	if (from != to) {
		assert_ok(fi_getname(&from->fid, &name, &len));
		assert_int_equal(fi_av_insert(w->av, &name, 1, &src, 0, NULL), 1);
	}
	assert_ok(fi_recv(to, &in, 1, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(from, &out, 1, NULL, dst, NULL));
	while (n < 2 && test_now_s() < until) {
		if (fi_cq_readfrom(w->cq, &e, 1, &who) != 1)
			continue;
		n++;
		if (e.flags & FI_RECV)
			assert_int_equal(who, src);
	}
	assert_int_equal(n, 2);
	assert_int_equal(in, 'x');
	assert_int_equal(fi_av_remove(w->av, &dst, 1, 0), 0);
	if (dst != src)
		assert_int_equal(fi_av_remove(w->av, &src, 1, 0), 0);
}

/* Names of this host lead to this host, not to a router that knows them. */
static void advertise__leads_home(void **state)
{
	char ip[INET_ADDRSTRLEN];
	struct world w;

	(void)state;
	setenv("FI_SDR_ADVERTISE", "203.0.113.1:7", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(name_of(w.ep[0], ip), 7);
	talk(&w, w.ep[0], w.ep[0]);
	world_close(&w);
	setenv("FI_SDR_ADVERTISE", "203.0.113.1", 1);
	setenv("FI_SDR_PORT_RANGE", "20100-20109", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	world_ep(&w, 1);
	assert_ok(fi_enable(w.ep[0]));
	assert_ok(fi_enable(w.ep[1]));
	assert_int_not_equal(name_of(w.ep[0], ip), name_of(w.ep[1], ip));
	assert_string_equal(ip, "203.0.113.1");
	talk(&w, w.ep[0], w.ep[1]);
	talk(&w, w.ep[1], w.ep[1]);
	world_close(&w);
}

/* fi_setname before fi_enable, and settings of one endpoint. */
static void setname__and_settings_of_one(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(20201) };
	struct fi_sdr_ep_ops_1 *ops;
	char ip[INET_ADDRSTRLEN];
	struct world w;

	(void)state;
	world_open(&w, "127.0.0.1", NULL);
	world_ep(&w, 0);
	inet_pton(AF_INET, own_address(), &in.sin_addr);
	assert_int_equal(fi_setname(&w.ep[0]->fid, &in, 5), -FI_EINVAL);
	assert_ok(fi_setname(&w.ep[0]->fid, &in, sizeof(in)));
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(name_of(w.ep[0], ip), 20201);
	assert_string_equal(ip, own_address());
	assert_int_equal(fi_setname(&w.ep[0]->fid, &in, sizeof(in)), -FI_EOPBADSTATE);

	world_ep(&w, 1);
	assert_ok(fi_open_ops(&w.ep[1]->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	assert_int_equal(ops->setting_set(w.ep[1], "port_range", "9-8"), -FI_EINVAL);
	assert_ok(ops->setting_set(w.ep[1], "advertise", "203.0.113.2:9"));
	assert_ok(ops->setting_set(w.ep[1], "iface", "!127.0.0.0/8"));
	assert_int_equal(fi_enable(w.ep[1]), -FI_EADDRNOTAVAIL);
	assert_ok(ops->setting_set(w.ep[1], "iface", ""));
	assert_ok(fi_enable(w.ep[1]));
	assert_int_equal(name_of(w.ep[1], ip), 9);
	assert_string_equal(ip, "203.0.113.2");
	world_close(&w);
}

/* An endpoint at all addresses has one name, and FI_SDR_IFACE says which. */
static void any__is_named_by_the_settings(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	char ip[INET_ADDRSTRLEN];
	struct world w;

	(void)state;
	setenv("FI_SDR_IFACE", "127.0.0.0/8", 1);
	setenv("FI_SDR_BIND", "0.0.0.0", 1);
	world_open(&w, NULL, NULL);
	src_is(w.info, "0.0.0.0", 0);
	world_ep(&w, 0);
	assert_ok(fi_enable(w.ep[0]));
	assert_true(name_of(w.ep[0], ip) > 0);
	assert_string_equal(ip, "127.0.0.1");
	world_close(&w);
	/* an application's "all addresses" is one of those that are allowed */
	unsetenv("FI_SDR_BIND");
	world_open(&w, "127.0.0.1", NULL);
	world_ep(&w, 0);
	assert_ok(fi_setname(&w.ep[0]->fid, &in, sizeof(in)));
	assert_ok(fi_enable(w.ep[0]));
	(void)name_of(w.ep[0], ip);
	assert_string_equal(ip, "127.0.0.1");
	world_close(&w);
}

/* UDP sockets of this host at an address. */
static int sockets_at(const char *ip)
{
	char line[512], want[16];
	struct in_addr in;
	int n = 0;
	FILE *f = fopen("/proc/self/net/udp", "r");

	assert_non_null(f);
	assert_int_equal(inet_pton(AF_INET, ip, &in), 1);
	snprintf(want, sizeof(want), " %08X:", in.s_addr);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, want) != NULL;
	fclose(f);
	return n;
}

/* As many sockets as paths; where there are ports for one only, an endpoint is open with that. */
static void paths__begin_at_sockets(void **state)
{
	struct world w;

	(void)state;
	setenv("FI_SDR_PATHS", "17", 1);
	assert_null(ask(own_address(), NULL, FI_SOURCE));
	setenv("FI_SDR_PATHS", "4", 1);
	setenv("FI_SDR_PORT_RANGE", "20100-20102", 1);
	assert_null(ask(own_address(), NULL, FI_SOURCE));
	setenv("FI_SDR_PORT_RANGE", "20100-20104", 1);
	world_open(&w, own_address(), NULL);
	world_ep(&w, 0);
	world_ep(&w, 1);
	assert_ok(fi_enable(w.ep[0]));
	assert_int_equal(sockets_at(own_address()), 4);
	assert_ok(fi_enable(w.ep[1]));
	assert_int_equal(sockets_at(own_address()), 5);
	talk(&w, w.ep[0], w.ep[1]);
	world_ep_close(&w, 0);
	assert_int_equal(sockets_at(own_address()), 1);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(iface__is_a_filter, reset),
		cmocka_unit_test_setup(iface__holds_for_named_sources, reset),
		cmocka_unit_test_setup(bind__where_nothing_is_named, reset),
		cmocka_unit_test_setup(range__ten_and_no_more, reset),
		cmocka_unit_test_setup(port__of_the_first, reset),
		cmocka_unit_test_setup(advertise__is_the_name, reset),
		cmocka_unit_test_setup(advertise__leads_home, reset),
		cmocka_unit_test_setup(setname__and_settings_of_one, reset),
		cmocka_unit_test_setup(any__is_named_by_the_settings, reset),
		cmocka_unit_test_setup(paths__begin_at_sockets, reset),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
