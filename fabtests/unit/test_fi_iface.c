/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which interfaces are used and in which order, as data: hosts that are made up, rules and routes
 * against the order that comes out.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fi/sdr_iface.h"
#include "fi/sdr_iface_pick.h"
#include "uc/sdr_uc_net.h"

struct host_addr {
	const char *name, *ip;
	enum sdr_iface_kind kind;
};

/* As the kernel would list it: loopback first, containers before the way out. */
static const struct host_addr host[] = {
	{ "lo", "127.0.0.1", SDR_IFACE_P2P },
	{ "docker0", "172.17.0.1", SDR_IFACE_BRIDGE },
	{ "wg0", "10.9.0.1", SDR_IFACE_P2P },
	{ "ctl0", "10.0.0.2", SDR_IFACE_PLAIN },
	{ "wan0", "10.1.0.2", SDR_IFACE_PLAIN },
	{ "wan0:1", "10.2.0.2", SDR_IFACE_PLAIN },
	{ "lo", "::1", SDR_IFACE_P2P },
	{ "docker0", "fe80::17", SDR_IFACE_BRIDGE },
	{ "ctl0", "2001:db8::2", SDR_IFACE_PLAIN },
	{ "ctl0", "fe80::2", SDR_IFACE_PLAIN },
	{ "wan0", "2001:db8:1::2", SDR_IFACE_PLAIN },
};
#define HOST (sizeof(host) / sizeof(host[0]))

static void addr_of(const char *ip, struct sockaddr_storage *sa)
{
	memset(sa, 0, sizeof(*sa));
	sa->ss_family = strchr(ip, ':') ? AF_INET6 : AF_INET;
	if (sa->ss_family == AF_INET)
		assert_int_equal(inet_pton(AF_INET, ip, &((struct sockaddr_in *)sa)->sin_addr), 1);
	else
		assert_int_equal(inet_pton(AF_INET6, ip, &((struct sockaddr_in6 *)sa)->sin6_addr),
				 1);
}

static void host_make(struct sdr_iface *v)
{
	const struct sockaddr_in6 *in6;
	size_t i;

	memset(v, 0, HOST * sizeof(*v));
	for (i = 0; i < HOST; i++) {
		addr_of(host[i].ip, &v[i].addr);
		in6 = (const void *)&v[i].addr;
		snprintf(v[i].name, sizeof(v[i].name), "%s", host[i].name);
		v[i].kind = host[i].kind;
		v[i].loopback = sdr_sockaddr_loopback((struct sockaddr *)&v[i].addr);
		v[i].linklocal =
			v[i].addr.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
	}
}

/* Rules, the addresses that routing sends from, and what is allowed then, in this order. */
static void pick(const char *text, const char *from4, const char *from6, const char *want)
{
	struct sockaddr_storage from[2] = { { .ss_family = 0 }, { .ss_family = 0 } };
	char got[512] = "", why[256], ip[INET6_ADDRSTRLEN];
	struct sdr_iface v[HOST];
	struct sdr_iface_rules r;
	unsigned int n, i;

	host_make(v);
	if (from4)
		addr_of(from4, &from[0]);
	if (from6)
		addr_of(from6, &from[1]);
	if (sdr_iface_rules_parse(text, &r, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	n = sdr_iface_pick(&r, v, HOST, from, 2);
	for (i = 0; i < n; i++) {
		sdr_iface_ip_text(&v[i].addr, ip, sizeof(ip));
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "", ip);
	}
	if (strcmp(got, want) != 0)
		fail_msg("\"%s\" by %s: %s\nexpected: %s", text, from4 ? from4 : "no route", got,
			 want);
}

/* The default route's interface, plain ones, containers, tunnels, link-local, loopback. */
static void order__by_route(void **state)
{
	(void)state;
	pick("", "10.1.0.2", NULL,
	     "10.1.0.2 10.2.0.2 2001:db8:1::2 10.0.0.2 2001:db8::2 172.17.0.1 10.9.0.1 fe80::2 "
	     "fe80::17 127.0.0.1 ::1");
	/* each family has its own; they may be of two devices */
	pick("", "10.0.0.2", "2001:db8:1::2",
	     "10.0.0.2 2001:db8:1::2 10.1.0.2 10.2.0.2 2001:db8::2 172.17.0.1 10.9.0.1 fe80::2 "
	     "fe80::17 127.0.0.1 ::1");
	/* routes nowhere: as the kernel lists them, but what is last stays last */
	pick("", NULL, NULL,
	     "10.0.0.2 10.1.0.2 10.2.0.2 2001:db8::2 2001:db8:1::2 172.17.0.1 10.9.0.1 fe80::2 "
	     "fe80::17 127.0.0.1 ::1");
}

/* What carries the route is first, whatever it is. */
static void order__route_over_a_tunnel(void **state)
{
	(void)state;
	pick("!lo,!ctl0", "10.9.0.1", NULL,
	     "10.9.0.1 10.1.0.2 10.2.0.2 2001:db8:1::2 172.17.0.1 fe80::17");
	pick("docker0,wg0,lo", "172.17.0.1", NULL, "172.17.0.1 fe80::17 10.9.0.1 127.0.0.1 ::1");
	pick("", "127.0.0.1", NULL,
	     "127.0.0.1 10.0.0.2 10.1.0.2 10.2.0.2 2001:db8::2 2001:db8:1::2 172.17.0.1 10.9.0.1 "
	     "fe80::2 fe80::17 ::1");
}

static void rules__names_in_order_of_preference(void **state)
{
	(void)state;
	pick("wan0", NULL, NULL, "10.1.0.2 10.2.0.2 2001:db8:1::2");
	pick("wan0,ctl0", "10.0.0.2", NULL,
	     "10.1.0.2 10.2.0.2 2001:db8:1::2 10.0.0.2 2001:db8::2 fe80::2");
	pick("none0,lo,wan0:1", "10.0.0.2", NULL, "127.0.0.1 ::1 10.2.0.2");
	/* a name is a whole name */
	pick("wan", NULL, NULL, "");
	pick("wan01", NULL, NULL, "");
}

static void rules__networks(void **state)
{
	(void)state;
	pick("10.1.0.0/16", NULL, NULL, "10.1.0.2");
	pick("10.0.0.0/14", "10.1.0.2", NULL, "10.1.0.2 10.2.0.2 10.0.0.2");
	pick("10.0.0.0/15", NULL, NULL, "10.0.0.2 10.1.0.2");
	pick("10.2.0.2", NULL, NULL, "10.2.0.2");
	pick("2001:db8::/32,10.0.0.0/8", NULL, NULL,
	     "2001:db8::2 2001:db8:1::2 10.0.0.2 10.1.0.2 10.2.0.2 10.9.0.1");
	pick("2001:db8:1::/47", NULL, NULL, "2001:db8::2 2001:db8:1::2");
	pick("2001:db8:1::/48", NULL, NULL, "2001:db8:1::2");
	pick("0.0.0.0/0,!127.0.0.0/8", "10.0.0.2", NULL,
	     "10.0.0.2 10.1.0.2 10.2.0.2 172.17.0.1 10.9.0.1");
}

static void rules__exclude(void **state)
{
	(void)state;
	pick("!docker0,!lo,!wg0", "10.0.0.2", NULL,
	     "10.0.0.2 2001:db8::2 10.1.0.2 10.2.0.2 2001:db8:1::2 fe80::2");
	pick("wan0,!10.2.0.0/16", NULL, NULL, "10.1.0.2 2001:db8:1::2");
	/* what excludes wins, wherever it stands */
	pick("!wan0,wan0", NULL, NULL, "");
	pick("10.0.0.0/8,!::/0,!10.1.0.2", NULL, NULL, "10.0.0.2 10.2.0.2 10.9.0.1");
}

static void rules__refused(void **state)
{
	static const char *const bad[] = {
		",",	       "wan0,",	      ",wan0",	     "!",
		"!!wan0",      "wan0, ctl0",  "10.0.0.0/33", "10.0.0.0/",
		"10.0.0.0/8x", "10.0.0.0/-1", "10.0.0.0/ 8", "2001:db8::/129",
		"wan0/24",     "10/8",	      "wan*",	     "a-name-that-is-too-long"
	};
	char why[256], many[SDR_IFACE_RULES_MAX * 3 + 4];
	struct sdr_iface_rules r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = 0;
		if (sdr_iface_rules_parse(bad[i], &r, why, sizeof(why)) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		assert_non_null(strstr(why, "must be"));
	}
	assert_int_equal(sdr_iface_rules_parse("", &r, why, sizeof(why)), 0);
	assert_int_equal(r.n, 0);
	many[0] = 0;
	for (i = 0; i < SDR_IFACE_RULES_MAX; i++)
		strcat(many, i ? ",!a" : "a");
	assert_int_equal(sdr_iface_rules_parse(many, &r, why, sizeof(why)), 0);
	assert_int_equal(r.n, SDR_IFACE_RULES_MAX);
	strcat(many, ",b");
	assert_int_equal(sdr_iface_rules_parse(many, &r, why, sizeof(why)), -EINVAL);
}

/* What the message about a wrong name is made of. */
static void rules__idle_and_text(void **state)
{
	char why[256], text[SDR_IFACE_TEXT], small[16];
	struct sdr_iface v[HOST];
	struct sdr_iface_rules r;

	(void)state;
	host_make(v);
	assert_int_equal(sdr_iface_rules_parse("!none0,wan0,10.7.0.0/16", &r, why, sizeof(why)), 0);
	assert_non_null(sdr_iface_rules_idle(&r, v, HOST));
	assert_string_equal(sdr_iface_rules_idle(&r, v, HOST)->text, "10.7.0.0/16");
	assert_int_equal(sdr_iface_rules_parse("wan0,lo", &r, why, sizeof(why)), 0);
	assert_null(sdr_iface_rules_idle(&r, v, HOST));
	sdr_iface_text(v, HOST, text, sizeof(text));
	assert_string_equal(text, "lo (127.0.0.1, ::1), docker0 (172.17.0.1, fe80::17), "
				  "wg0 (10.9.0.1), ctl0 (10.0.0.2, 2001:db8::2, fe80::2), "
				  "wan0 (10.1.0.2, 2001:db8:1::2), wan0:1 (10.2.0.2)");
	sdr_iface_text(v, 0, text, sizeof(text));
	assert_string_equal(text, "none");
	sdr_iface_text(v, HOST, small, sizeof(small));
	assert_string_equal(small, "lo (127.0.0.1, ");
}

/* Where further paths of an endpoint at src begin. */
static void rails(const char *text, const char *src, unsigned int max, const char *want)
{
	struct sockaddr_storage from[2] = { { .ss_family = 0 } }, sa, out[HOST];
	char got[512] = "", why[256], ip[INET6_ADDRSTRLEN];
	struct sdr_iface v[HOST];
	struct sdr_iface_rules r;
	unsigned int n, i;

	host_make(v);
	addr_of(src, &sa);
	assert_int_equal(sdr_iface_rules_parse(text, &r, why, sizeof(why)), 0);
	n = sdr_iface_pick(&r, v, HOST, from, 2);
	n = sdr_iface_rails(&r, v, n, sdr_iface_find(v, n, (struct sockaddr *)&sa), out, max);
	for (i = 0; i < n; i++) {
		sdr_iface_ip_text(&out[i], ip, sizeof(ip));
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "", ip);
	}
	if (strcmp(got, want) != 0)
		fail_msg("\"%s\" from %s: %s\nexpected: %s", text, src, got, want);
}

static void rails__of_the_interfaces_that_are_named(void **state)
{
	(void)state;
	rails("ctl0,wan0", "10.0.0.2", HOST, "10.1.0.2");
	rails("ctl0,wan0", "10.2.0.2", HOST, "10.0.0.2");
	rails("ctl0,wan0,wg0,lo", "10.0.0.2", HOST, "10.1.0.2 10.9.0.1");
	rails("ctl0,wan0,wg0,lo", "10.0.0.2", 1, "10.1.0.2");
	rails("ctl0,wan0", "2001:db8::2", HOST, "2001:db8:1::2");
	rails("ctl0,docker0", "fe80::2", HOST, "fe80::17");
	rails("10.0.0.0/8", "10.9.0.1", HOST, "10.0.0.2 10.1.0.2");
	/* nobody asked for the others; or they are no others */
	rails("", "10.0.0.2", HOST, "");
	rails("!lo", "10.0.0.2", HOST, "");
	rails("wan0", "10.1.0.2", HOST, "");
	rails("ctl0,wan0,!10.0.0.0/15", "10.2.0.2", HOST, "");
	rails("lo,ctl0", "127.0.0.1", HOST, "");
	rails("ctl0,wan0", "192.0.2.1", HOST, "");
	rails("ctl0,wan0", "0.0.0.0", HOST, "");
}

/* The list of this machine is what it was, only in another order. */
static void list__of_this_machine(void **state)
{
	struct sdr_iface *raw, *v;
	struct sdr_iface_rules r;
	unsigned int nraw, n, allowed, i;
	char why[256];

	(void)state;
	assert_int_equal(sdr_iface_list(&raw, &nraw), 0);
	assert_int_equal(sdr_iface_rules_parse("", &r, why, sizeof(why)), 0);
	assert_int_equal(sdr_iface_list_picked(&r, &v, &n, &allowed), 0);
	assert_int_equal(n, nraw);
	assert_int_equal(allowed, n);
	for (i = 0; i < nraw; i++)
		assert_non_null(sdr_iface_find(v, n, (struct sockaddr *)&raw[i].addr));
	free(v);
	assert_int_equal(sdr_iface_rules_parse("!lo", &r, why, sizeof(why)), 0);
	assert_int_equal(sdr_iface_list_picked(&r, &v, &n, &allowed), 0);
	for (i = 0; i < n; i++)
		assert_int_equal(i >= allowed, strcmp(v[i].name, "lo") == 0);
	free(v);
	free(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order__by_route),
		cmocka_unit_test(order__route_over_a_tunnel),
		cmocka_unit_test(rules__names_in_order_of_preference),
		cmocka_unit_test(rules__networks),
		cmocka_unit_test(rules__exclude),
		cmocka_unit_test(rules__refused),
		cmocka_unit_test(rules__idle_and_text),
		cmocka_unit_test(rails__of_the_interfaces_that_are_named),
		cmocka_unit_test(list__of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
