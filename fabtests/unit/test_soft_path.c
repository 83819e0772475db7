/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine on a route that becomes narrow, with a kernel that means it: in a network
 * namespace of its own, whose loopback device gets other MTUs.  Skipped where there may be none.
 */
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "uc/sdr_uc_net.h"
#include "test_soft_util.h"

#define PATH_MTU  1400 /* bytes of lo's, when it is narrow */
#define PATH_PKTS 256u

static bool private_net; /* a namespace of our own */

static void lo_set(unsigned long what, int value)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (what == SIOCSIFMTU)
		lo.ifr_mtu = value;
	else
		lo.ifr_flags = (short)value;
	assert_int_equal(ioctl(fd, what, &lo), 0);
	close(fd);
}

static int private_net_open(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 0;
	lo_set(SIOCSIFFLAGS, IFF_UP | IFF_LOOPBACK | IFF_RUNNING);
	private_net = true;
	return 0;
}

static void path__of(const char *name, uint8_t off)
{
	static uint8_t src[PATH_PKTS * SDR_MTU_DEFAULT], dst[sizeof(src)];
	static uint8_t ctl[3000];
	struct sdr_uc_tx v[3];
	struct pair p;
	int ev = 0, i, n, k;

	if (!private_net) {
		print_message("no network namespace available: not tested\n");
		skip();
	}
	lo_set(SIOCSIFMTU, 65536);
	memset(dst, 0, sizeof(dst));
	fill(src, sizeof(src), 5);
	pair_open(&p, &(struct pair_opt){
			      .name = name,
			      .mtu = SDR_MTU_DEFAULT,
			      .msg = sizeof(src),
			      .off = off,
		      });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, sizeof(dst), NULL), 0);
	assert_true(p.a->ops->path_mtu(p.a, &p.ib.addr) >= 65535);
	pair_post(&p, pair_write(&p, 1, 0, src, 0, 100 * SDR_MTU_DEFAULT));
	assert_int_equal(pair_wait(p.b, p.ev, 100), 100);
	lo_set(SIOCSIFMTU, PATH_MTU);
	assert_int_equal(p.a->ops->path_mtu(p.a, &p.ib.addr), PATH_MTU);
	v[0] = pair_ctl(&p.ib.addr, "before", 6);
	v[1] = pair_write(&p, 1, 0, src, 100, 156 * SDR_MTU_DEFAULT - 5);
	v[2] = pair_ctl(&p.ib.addr, ctl, sizeof(ctl));
	for (i = 0, k = 0; i < 3; i += n) {
		n = p.a->ops->post(p.a, v + i, 3 - i);
		ev += pair_wait(p.b, p.ev, 157 - ev);
		assert_true(++k < 1000);
	}
	ev += pair_wait(p.b, p.ev, 157 - ev);
	assert_int_equal(ev, 157);
	assert_memory_equal(dst, src, sizeof(src) - 5);
	assert_int_equal(pair_stats(p.a).tx_lost, 1);
	assert_int_equal(pair_stats(p.a).tx_toobig, 1);
	/* 1024 bytes each: four a packet. */
	assert_int_equal(pair_stats(p.a).pieces_tx, 4 * 156);
	assert_int_equal(pair_stats(p.b).pieces_rx, 4 * 156);
	assert_int_equal(p.a->ops->poll(p.a, p.ev, PAIR_EVS), 1);
	assert_int_equal(p.ev[0].kind, SDR_UC_EV_PATH);
	assert_int_equal(p.ev[0].path.bytes, PATH_MTU);
	assert_true(sdr_uc_addr_equal(p.ev[0].path.to, &p.ib.addr));
	pair_quiet(p.a);
	/* An engine that is opened now takes packets that fit. */
	pair_close(&p);
	pair_open(&p, &(struct pair_opt){ .name = name });
	assert_true(p.ia.mtu + p.ia.data_over <= PATH_MTU);
	assert_int_equal(p.ia.probe_max, p.ia.ctl_max);
	assert_true(p.ia.ctl_max + p.ia.ctl_over <= PATH_MTU);
	pair_close(&p);
}

static void path__becomes_narrow(void **state)
{
	(void)state;
	path__of("soft:127.0.0.1", 0);
}

static void path__becomes_narrow_without_trains(void **state)
{
	(void)state;
	path__of("soft:127.0.0.1", SDR_SOFT_NO_GSO | SDR_SOFT_NO_GRO);
}

static void path__becomes_narrow_over_ipv6(void **state)
{
	(void)state;
	path__of("soft:[::1]", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path__becomes_narrow),
		cmocka_unit_test(path__becomes_narrow_without_trains),
		cmocka_unit_test(path__becomes_narrow_over_ipv6),
	};

	return cmocka_run_group_tests(tests, private_net_open, NULL);
}
