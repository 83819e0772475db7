/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A thread that is late to read what its host had in time, by the kernel's stamps; they are of the
 * wall's clock, which is this test's.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "test_soft_util.h"

#define MS 1000000

static int64_t moved_ns; /* by which the wall's clock has been set */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	if (syscall(SYS_clock_gettime, clock, t))
		return -1;
	if (clock != CLOCK_REALTIME)
		return 0;
	ns = (int64_t)t->tv_sec * 1000 * MS + t->tv_nsec + moved_ns;
	t->tv_sec = ns / (1000 * MS);
	t->tv_nsec = ns % (1000 * MS);
	return 0;
}

/* An address of this host that is not loopback's, as an engine's name; false: it has none. */
static bool outward(char *name, size_t len)
{
	struct ifaddrs *all, *i;
	char ip[INET_ADDRSTRLEN];
	bool found = false;

	assert_int_equal(getifaddrs(&all), 0);
	for (i = all; i && !found; i = i->ifa_next) {
		const struct sockaddr_in *in = (const void *)i->ifa_addr;

		if (!in || in->sin_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
		    i->ifa_flags & IFF_LOOPBACK)
			continue;
		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
		snprintf(name, len, "soft:%s", ip);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

/*
 * The thread is late, its host was not: events say since when they could have been read.  The
 * kernel begins to stamp some time after a socket asks for it and gives what came before the time
 * of the call (net/core/dev.c: netstamp_clear): it may be late a few times and has to stop.
 */
static void poll__says_since_when(void **state)
{
	static const uint8_t text[] = "late";
	uint64_t before, behind, now;
	uint8_t src[2000], dst[2000];
	struct pair_opt opt = { 0 };
	bool in_time = false;
	char name[32];
	struct pair p;
	int i, n, all, round;

	(void)state;
	opt.name = name;
	if (!outward(name, sizeof(name)))
		skip();
	pair_open(&p, &opt);
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, sizeof(dst), NULL), 0);
	for (round = 0; round < 40 && !in_time; round++) {
		before = p.b->ops->now(p.b);
		pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
		pair_post(&p, pair_ctl(&p.ib.addr, text, sizeof(text)));
		behind = p.b->ops->now(p.b);
		poll(NULL, 0, 50);
		for (all = 0; all < 3; all += n) {
			n = pair_wait(p.b, p.ev, 3 - all);
			now = p.b->ops->now(p.b);
			for (i = 0; i < n; i++) {
				assert_true(p.ev[i].since >= before - 1000);
				assert_true(p.ev[i].since < now);
				in_time = p.ev[i].since < behind + 25000000;
			}
		}
	}
	assert_true(in_time);
	pair_close(&p);
}

/* Whether what was read late is believed to have come before. */
static bool believed(struct pair *p)
{
	static const uint8_t text[] = "late";

	pair_post(p, pair_ctl(&p->ib.addr, text, sizeof(text)));
	poll(NULL, 0, 5);
	p->b->ops->now(p->b);
	while (!pair_wait(p->b, p->ev, PAIR_EVS))
		;
	return p->ev[0].since > 0;
}

/*
 * The wall's clock is set: what comes behind that bears stamps of the new one, which the old
 * comparison makes too old or too young, and what came before bears those of the old one.
 */
static void poll__doubts_a_clock_that_was_set(void **state)
{
	struct pair_opt opt = { 0 };
	char name[32];
	struct pair p;

	(void)state;
	opt.name = name;
	if (!outward(name, sizeof(name)))
		skip();
	pair_open(&p, &opt);
	for (int i = 0; i < 3; i++)
		believed(&p); /* while the kernel begins to stamp */
	assert_true(believed(&p));
	for (int i = 0; i < 2; i++) {
		moved_ns += (i ? 300 : -20) * (int64_t)MS;
		for (int k = 0; k < 3; k++)
			assert_false(believed(&p));
		poll(NULL, 0, 1100);
		believed(&p);
	}
	moved_ns = 0;
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll__says_since_when),
		cmocka_unit_test(poll__doubts_a_clock_that_was_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
