/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the kernel knows of an IP address: where packets to it leave from, what the device that has
 * it carries; and when two addresses are one.  Read anew each time: interfaces and routes come and
 * go.  Nothing is sent.  No state, any thread.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdr_uc_net.h"

/* Views of a generic address; callers have looked at the family. */
static inline const struct sockaddr_in *sdr_uc_in(const struct sockaddr *sa)
{
	return (const void *)sa;
}

static inline const struct sockaddr_in6 *sdr_uc_in6(const struct sockaddr *sa)
{
	return (const void *)sa;
}

bool sdr_sockaddr_any(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return sdr_uc_in(sa)->sin_addr.s_addr == htonl(INADDR_ANY);
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&sdr_uc_in6(sa)->sin6_addr);
}

bool sdr_sockaddr_same_ip(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in6 *a6 = sdr_uc_in6(a), *b6 = sdr_uc_in6(b);

	if (!a || a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return sdr_uc_in(a)->sin_addr.s_addr == sdr_uc_in(b)->sin_addr.s_addr;
	if (a->sa_family != AF_INET6 || memcmp(&a6->sin6_addr, &b6->sin6_addr, 16))
		return false;
	return !IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr) || !a6->sin6_scope_id || !b6->sin6_scope_id ||
	       a6->sin6_scope_id == b6->sin6_scope_id;
}

int sdr_uc_route(const struct sockaddr *to, struct sockaddr_storage *from)
{
	socklen_t len = to->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						  : sizeof(struct sockaddr_in);
	socklen_t got = sizeof(*from);
	struct sockaddr_storage sa;
	int fd, ret = 0;

	/* The port lies at the same place in both families; connect wants one. */
	memset(&sa, 0, sizeof(sa));
	memcpy(&sa, to, len);
	if (!((struct sockaddr_in *)(void *)&sa)->sin_port)
		((struct sockaddr_in *)(void *)&sa)->sin_port = htons(SDR_ROCE_PORT);
	fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memset(from, 0, sizeof(*from));
	if (connect(fd, (struct sockaddr *)&sa, len) ||
	    getsockname(fd, (struct sockaddr *)from, &got))
		ret = -errno;
	else
		((struct sockaddr_in *)(void *)from)->sin_port = 0;
	close(fd);
	return ret;
}

int sdr_uc_pin(int fd, sa_family_t family, unsigned int device)
{
	uint32_t index = htonl(device);

	if (family == AF_INET6)
		return setsockopt(fd, IPPROTO_IPV6, IPV6_UNICAST_IF, &index, sizeof(index)) ? -errno
											    : 0;
	return setsockopt(fd, IPPROTO_IP, IP_UNICAST_IF, &index, sizeof(index)) ? -errno : 0;
}

int sdr_uc_path_mtu(const struct sockaddr *to, const struct sockaddr *from, unsigned int device)
{
	bool v6 = to->sa_family == AF_INET6;
	socklen_t len = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	socklen_t got = sizeof(int);
	struct sockaddr_storage sa;
	int fd, ret, mtu = 0;

	fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memset(&sa, 0, sizeof(sa));
	if (device)
		(void)sdr_uc_pin(fd, to->sa_family, device);
	if (from) {
		memcpy(&sa, from, len);
		((struct sockaddr_in *)(void *)&sa)->sin_port = 0;
		if (bind(fd, (struct sockaddr *)&sa, len))
			goto err;
	}
	if (connect(fd, to, len) ||
	    getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &got))
		goto err;
	close(fd);
	return mtu > 0 ? mtu : -ENODATA;
err:
	ret = -errno;
	close(fd);
	return ret;
}

bool sdr_sockaddr_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

unsigned int sdr_uc_device_index(const struct sockaddr *sa)
{
	char dev[IF_NAMESIZE] = "";
	struct ifaddrs *list, *i;

	if (sdr_sockaddr_any(sa) || getifaddrs(&list))
		return 0;
	for (i = list; i && !dev[0]; i = i->ifa_next)
		/* behind a colon is the label of one more address */
		if (i->ifa_addr && sdr_sockaddr_same_ip(i->ifa_addr, sa))
			snprintf(dev, sizeof(dev), "%.*s", (int)strcspn(i->ifa_name, ":"),
				 i->ifa_name);
	freeifaddrs(list);
	return dev[0] ? if_nametoindex(dev) : 0;
}

int sdr_uc_device_mtu(const struct sockaddr *sa)
{
	bool any = sdr_sockaddr_any(sa), lo = sdr_sockaddr_loopback(sa);
	int exact = 0, smallest = 0, loopback = 0, fd, ret;
	struct ifaddrs *list, *i;

	fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (getifaddrs(&list)) {
		ret = -errno;
		goto out_fd;
	}
	for (i = list; i; i = i->ifa_next) {
		struct ifreq req;

		if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) ||
		    i->ifa_addr->sa_family != sa->sa_family)
			continue;
		memset(&req, 0, sizeof(req));
		snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", i->ifa_name);
		if (ioctl(fd, SIOCGIFMTU, &req) || req.ifr_mtu <= 0)
			continue;
		if (i->ifa_flags & IFF_LOOPBACK)
			loopback = req.ifr_mtu;
		else if (!smallest || req.ifr_mtu < smallest)
			smallest = req.ifr_mtu;
		if (!any && sdr_sockaddr_same_ip(i->ifa_addr, sa))
			exact = req.ifr_mtu;
	}
	freeifaddrs(list);
	/* A local address without a device of its own: all of 127/8, or one bound by force. */
	if (exact)
		ret = exact;
	else if (lo || !smallest)
		ret = loopback ? loopback : -ENODEV;
	else
		ret = smallest;
out_fd:
	close(fd);
	return ret;
}
