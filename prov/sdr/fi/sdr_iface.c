/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Interfaces, names and socket addresses.
 *
 * Which addresses this machine has, which of them its default routes use, and what a node and a
 * service name mean.  Order and choice are in sdr_iface_pick.c.  Read anew every time: interfaces
 * come and go.  No state, no threads; name resolution may block as getaddrinfo does.
 *
 * Bridges of containers are known by their driver, or in sysfs (which, in a network namespace, may
 * show another's devices), or by the names that container engines give to what is no bridge.  The
 * default route is asked for as any route is, with an address that lies behind nothing else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"

#include "sdr_iface.h"
#include "sdr_iface_pick.h"
#include "sdr_prov.h"

socklen_t sdr_sockaddr_len(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

/* Views of a generic address; callers have looked at the family. */
static inline const struct sockaddr_in *sdr_in(const struct sockaddr *sa)
{
	return (const void *)sa;
}

static inline const struct sockaddr_in6 *sdr_in6(const struct sockaddr *sa)
{
	return (const void *)sa;
}

uint16_t sdr_sockaddr_port(const struct sockaddr *sa)
{
	return ntohs(sa->sa_family == AF_INET ? sdr_in(sa)->sin_port : sdr_in6(sa)->sin6_port);
}

void sdr_sockaddr_port_set(struct sockaddr *sa, uint16_t port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)(void *)sa)->sin_port = htons(port);
	else if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)sa)->sin6_port = htons(port);
}

/* By the driver, else sysfs. */
static bool sdr_iface_bridge(int fd, const char *dev)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char path[sizeof("/sys/class/net//bridge") + IF_NAMESIZE];
	struct ifreq req;

	memset(&req, 0, sizeof(req));
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", dev);
	req.ifr_data = (void *)&info;
	if (!ioctl(fd, SIOCETHTOOL, &req))
		return strcmp(info.driver, "bridge") == 0;
	snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", dev);
	return access(path, F_OK) == 0;
}

static enum sdr_iface_kind sdr_iface_kind(int fd, const struct ifaddrs *ifa)
{
	static const char *const names[] = { "docker", "podman", "virbr", "veth", "cni", "lxc" };
	char dev[IF_NAMESIZE];
	unsigned int i;

	snprintf(dev, sizeof(dev), "%.*s", (int)strcspn(ifa->ifa_name, ":"), ifa->ifa_name);
	if (ifa->ifa_flags & (IFF_POINTOPOINT | IFF_LOOPBACK))
		return SDR_IFACE_P2P;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(dev, names[i], strlen(names[i])) == 0)
			return SDR_IFACE_BRIDGE;
	}
	return sdr_iface_bridge(fd, dev) ? SDR_IFACE_BRIDGE : SDR_IFACE_PLAIN;
}

static void sdr_iface_fill(struct sdr_iface *f, const struct ifaddrs *ifa, int fd)
{
	const uint8_t *addr, *mask = NULL;
	uint8_t net[16];
	char text[INET6_ADDRSTRLEN];
	unsigned int i, n;

	memset(f, 0, sizeof(*f));
	f->addrlen = sdr_sockaddr_len(ifa->ifa_addr);
	memcpy(&f->addr, ifa->ifa_addr, f->addrlen);
	sdr_sockaddr_port_set((struct sockaddr *)&f->addr, 0);
	f->loopback = sdr_sockaddr_loopback(ifa->ifa_addr);
	f->kind = sdr_iface_kind(fd, ifa);
	snprintf(f->name, sizeof(f->name), "%s", ifa->ifa_name);

	if (ifa->ifa_addr->sa_family == AF_INET) {
		n = 4;
		addr = (const uint8_t *)&sdr_in(ifa->ifa_addr)->sin_addr;
		if (ifa->ifa_netmask)
			mask = (const uint8_t *)&sdr_in(ifa->ifa_netmask)->sin_addr;
	} else {
		n = 16;
		addr = (const uint8_t *)&sdr_in6(ifa->ifa_addr)->sin6_addr;
		if (ifa->ifa_netmask)
			mask = (const uint8_t *)&sdr_in6(ifa->ifa_netmask)->sin6_addr;
		f->linklocal = IN6_IS_ADDR_LINKLOCAL(&sdr_in6(ifa->ifa_addr)->sin6_addr);
	}
	for (i = 0; i < n; i++) {
		net[i] = mask ? addr[i] & mask[i] : addr[i];
		f->prefix += mask ? (unsigned int)__builtin_popcount(mask[i]) : 8u;
	}
	inet_ntop(ifa->ifa_addr->sa_family, net, text, sizeof(text));
	snprintf(f->net, sizeof(f->net), "%s/%u", text, f->prefix);
}

int sdr_iface_list(struct sdr_iface **v, unsigned int *n)
{
	struct ifaddrs *list, *ifa;
	struct sdr_iface *out;
	unsigned int count = 0;
	int fd, ret;

	*v = NULL;
	*n = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (getifaddrs(&list)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	for (ifa = list; ifa; ifa = ifa->ifa_next)
		count++;
	out = calloc(count ? count : 1, sizeof(*out));
	if (!out) {
		freeifaddrs(list);
		close(fd);
		return -FI_ENOMEM;
	}
	count = 0;
	for (ifa = list; ifa; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || !(ifa->ifa_flags & IFF_UP) ||
		    !sdr_sockaddr_len(ifa->ifa_addr))
			continue;
		sdr_iface_fill(&out[count++], ifa, fd);
	}
	freeifaddrs(list);
	close(fd);
	*v = out;
	*n = count;
	return 0;
}

/*
 * Where the whole world is: addresses that are reserved and given to nobody (RFC 7526; the first
 * block of 2000::/3), so that no network of a site is a better match than its way out, be that one
 * default route or the two halves of a VPN.
 */
void sdr_iface_routes(struct sockaddr_storage from[SDR_IFACE_ROUTES])
{
	static const char *const world[SDR_IFACE_ROUTES] = { "192.88.99.1", "[2000::1]" };
	struct sockaddr_storage to;
	unsigned int i;

	for (i = 0; i < SDR_IFACE_ROUTES; i++) {
		if (sdr_uc_addr_parse(world[i], &to) ||
		    sdr_uc_route((const struct sockaddr *)&to, &from[i]))
			memset(&from[i], 0, sizeof(from[i]));
	}
	/* a router, but no address that the world could answer to */
	if (IN6_IS_ADDR_LINKLOCAL(&sdr_in6((const struct sockaddr *)&from[1])->sin6_addr))
		memset(&from[1], 0, sizeof(from[1]));
}

int sdr_iface_list_picked(const struct sdr_iface_rules *r, struct sdr_iface **v, unsigned int *n,
			  unsigned int *allowed)
{
	struct sockaddr_storage from[SDR_IFACE_ROUTES];
	int ret = sdr_iface_list(v, n);

	*allowed = 0;
	if (ret)
		return ret;
	sdr_iface_routes(from);
	*allowed = sdr_iface_pick(r, *v, *n, from, SDR_IFACE_ROUTES);
	return 0;
}

const struct sdr_iface *sdr_iface_find(const struct sdr_iface *v, unsigned int n,
				       const struct sockaddr *sa)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (sdr_sockaddr_same_ip((const struct sockaddr *)&v[i].addr, sa))
			return &v[i];
	}
	/* the whole of 127.0.0.0/8 belongs to the loopback device */
	if (sa->sa_family == AF_INET && ntohl(sdr_in(sa)->sin_addr.s_addr) >> 24 == 127) {
		for (i = 0; i < n; i++) {
			if (v[i].loopback && v[i].addr.ss_family == AF_INET)
				return &v[i];
		}
	}
	return NULL;
}

int sdr_resolve(const char *node, const char *service, uint64_t flags, int family,
		struct sockaddr_storage *out, int max)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = (flags & FI_SOURCE ? AI_PASSIVE : 0) |
			    (flags & FI_NUMERICHOST ? AI_NUMERICHOST : 0),
	};
	struct addrinfo *list, *ai;
	int ret, n = 0, pass;

	ret = getaddrinfo(node, service, &hints, &list);
	if (ret) {
		FI_INFO(&sdr_prov, FI_LOG_CORE, "cannot resolve %s:%s: %s\n", node ? node : "",
			service ? service : "", gai_strerror(ret));
		return -FI_ENODATA;
	}
	for (pass = 0; pass < 2; pass++) {
		for (ai = list; ai && n < max; ai = ai->ai_next) {
			if (ai->ai_family != (pass ? AF_INET6 : AF_INET))
				continue;
			memset(&out[n], 0, sizeof(out[n]));
			memcpy(&out[n++], ai->ai_addr, sdr_sockaddr_len(ai->ai_addr));
		}
	}
	freeaddrinfo(list);
	return n ? n : -FI_ENODATA;
}
