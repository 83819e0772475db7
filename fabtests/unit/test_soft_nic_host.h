/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Addresses for an engine and a device on one host.  Where the test may have a network namespace of
 * its own it runs there: no other program holds UDP port 4791, and IPv6 gets addresses enough.
 * Otherwise IPv4 on addresses of 127/8 chosen by process number, and no IPv6.
 */
#ifndef TEST_SOFT_NIC_HOST_H
#define TEST_SOFT_NIC_HOST_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test_soft_util.h"

#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#endif

enum host { DEV, ENG, OTHER }; /* addresses ending in 2, 3, 4 */

static bool private_net; /* a namespace of our own */

static void host_ip(bool v6, enum host h, uint8_t ip[16])
{
	unsigned int pid = (unsigned int)getpid();

	memset(ip, 0, 16);
	ip[0] = v6 ? 0xfd : 127;
	ip[1] = v6 ? 0x5d : (uint8_t)(1 + (pid >> 8) % 254);
	ip[2] = v6 ? 0 : (uint8_t)pid;
	ip[v6 ? 15 : 3] = (uint8_t)(2 + h);
}

static socklen_t host_sa(bool v6, enum host h, uint16_t port, struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *in6 = (void *)sa;
	struct sockaddr_in *in = (void *)sa;
	uint8_t ip[16];

	host_ip(v6, h, ip);
	memset(sa, 0, sizeof(*sa));
	in->sin_port = htons(port);
	if (v6) {
		in6->sin6_family = AF_INET6;
		memcpy(&in6->sin6_addr, ip, 16);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	memcpy(&in->sin_addr, ip, 4);
	return sizeof(*in);
}

/*
 * Another program is bound to port 4791 of all addresses: the kernel's rdma_rxe, or another
 * program.
 */
static bool port_held_by_all(void)
{
	unsigned int ip, port;
	char line[256];
	bool held = false;
	FILE *f = fopen("/proc/net/udp", "r");

	while (f && fgets(line, sizeof(line), f))
		held |= sscanf(line, "%*[^:]: %x:%x", &ip, &port) == 2 && port == SDR_ROCE_PORT &&
			!ip;
	if (f)
		fclose(f);
	return held;
}

static int sock_at(bool v6, enum host h, uint16_t port)
{
	struct sockaddr_storage sa;
	socklen_t len = host_sa(v6, h, port, &sa);
	int fd = socket(sa.ss_family, SOCK_DGRAM, 0), v = 1 << 22;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v));
	v = 1;
	if (v6) /* as rxe does */
		assert_int_equal(setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &v, sizeof(v)), 0);
	if (bind(fd, (struct sockaddr *)&sa, len)) {
		if (errno == EADDRINUSE && port_held_by_all()) {
			print_message(
				"UDP port 4791 is taken on all addresses (rdma_rxe?): not tested\n");
			skip();
		}
		fail_msg("bind: %s", strerror(errno));
	}
	return fd;
}

static void port_free_or_skip(void)
{
	close(sock_at(false, ENG, SDR_ROCE_PORT));
}

static int private_net_open(void **state)
{
	struct {
		struct in6_addr addr;
		uint32_t prefixlen;
		int ifindex;
	} a6 = { .prefixlen = 128 };
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING };
	int fd, h;

	(void)state;
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	close(fd);
	a6.ifindex = (int)if_nametoindex("lo");
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	private_net = fd >= 0;
	for (h = DEV; private_net && h <= OTHER; h++) {
		host_ip(true, (enum host)h, (uint8_t *)&a6.addr);
		private_net = ioctl(fd, SIOCSIFADDR, &a6) == 0;
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

#endif /* TEST_SOFT_NIC_HOST_H */
