/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sockets of the soft engine and what their kernel can do.  Unconnected on purpose: the peer's
 * address is a parameter of each send, the IPv4 identification of what leaves is then 0 or the
 * number of the segment, and a peer that moves needs no new socket.  Fragmentation is forbidden: a
 * lost fragment would cost the whole packet, and the engine knows the size that fits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "sdr_soft_impl.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* Linux 4.18 */
#endif
#ifndef UDP_GRO
#define UDP_GRO 104 /* Linux 5.0 */
#endif

#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102 /* Linux 3.16 */
#endif

/* bytes of payload below which the buffer holds less the smaller packets are */
#define SDR_SOFT_WINDOW_PKT 1024u

static void sdr_soft_sock_buf(int fd, int force, int plain, uint32_t bytes)
{
	int v = bytes > INT32_MAX / 2 ? INT32_MAX / 2 : (int)bytes;

	/*
	 * By force only with CAP_NET_ADMIN; otherwise the kernel grants up to
	 * net.core.{r,w}mem_max.
	 */
	if (setsockopt(fd, SOL_SOCKET, force, &v, sizeof(v)))
		setsockopt(fd, SOL_SOCKET, plain, &v, sizeof(v));
}

static bool sdr_soft_sock_loops(const struct sockaddr *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int sdr_soft_sock_open(const struct sockaddr *sa, socklen_t len, uint32_t rcvbuf, uint32_t sndbuf,
		       const char **what)
{
	int one = 1, fd, ret, v;

	*what = "socket";
	fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
	if (fd < 0)
		return -errno;
	*what = "forbid fragmentation";
	if (sa->sa_family == AF_INET6) {
		v = IPV6_PMTUDISC_DO;
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) ||
		    setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v, sizeof(v)))
			goto err;
	} else {
		v = IP_PMTUDISC_DO;
		if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)))
			goto err;
	}
	/* Where the kernel does not know it, what it drops is not counted. */
	setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof(one));
	/*
	 * Nor how long it had what it hands out.  A host that talks to itself has no path to time,
	 * and pays 0.2 us a packet.
	 */
	if (!sdr_soft_sock_loops(sa))
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	sdr_soft_sock_buf(fd, SO_RCVBUFFORCE, SO_RCVBUF, rcvbuf);
	sdr_soft_sock_buf(fd, SO_SNDBUFFORCE, SO_SNDBUF, sndbuf);
	*what = "bind";
	if (bind(fd, sa, len))
		goto err;
	return fd;
err:
	ret = -errno;
	close(fd);
	return ret;
}

bool sdr_soft_sock_gro(int fd)
{
	int one = 1;

	return setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) == 0;
}

bool sdr_soft_sock_gso(int fd)
{
	int zero = 0;

	return setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &zero, sizeof(zero)) == 0;
}

bool sdr_soft_sock_ecn(int fd, int family)
{
	int one = 1;

	if (family == AF_INET6)
		return !setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &one, sizeof(one));
	return !setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one));
}

int sdr_soft_sock_tos(int fd, int family, uint8_t tos)
{
	int v = tos;

	if (family == AF_INET6)
		return setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &v, sizeof(v));
	return setsockopt(fd, IPPROTO_IP, IP_TOS, &v, sizeof(v));
}

int sdr_soft_sock_no_check(int fd, int family)
{
	int one = 1;

	if (family != AF_INET6)
		return 0;
	return setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &one, sizeof(one)) ? -errno : 0;
}

void sdr_soft_sock_stamped(int fd)
{
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
}

uint32_t sdr_soft_sock_got(int fd, int which)
{
	socklen_t len = sizeof(int);
	int v = 0;

	/* It doubles what it was asked for, for its own bookkeeping. */
	return getsockopt(fd, SOL_SOCKET, which, &v, &len) || v < 0 ? 0 : (uint32_t)v / 2;
}

/*
 * The kernel counts what a packet costs it, not what it carries.  Measured on loopback, payload of
 * 1 KiB to 8 KiB per byte granted: 0.44 to 0.49 in single packets, 0.85 to 0.97 in trains; smaller
 * packets in proportion to their size.  The worst of them is what a sender may count on.
 */
uint32_t sdr_soft_sock_window(int fd, uint32_t mtu)
{
	socklen_t len = sizeof(int);
	uint64_t w;
	int v = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, &len) || v <= 0)
		return 0;
	w = (uint64_t)v * 7 / 16;
	return (uint32_t)(mtu < SDR_SOFT_WINDOW_PKT ? w * mtu / SDR_SOFT_WINDOW_PKT : w);
}

size_t sdr_soft_cmsg_put(char *at, int level, int type, const void *v, size_t len)
{
	struct cmsghdr *cm = (void *)at;

	cm->cmsg_level = level;
	cm->cmsg_type = type;
	cm->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cm), v, len);
	return CMSG_SPACE(len);
}
