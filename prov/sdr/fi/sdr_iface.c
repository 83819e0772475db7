/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Interfaces, names and socket addresses.
 *
 * Which addresses this machine has, which of them the kernel would use towards a peer, and what a
 * node and a service name mean.  Read anew every time: interfaces come and go.  No state, no
 * threads; name resolution may block as getaddrinfo does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_net.h"

#include "sdr_iface.h"
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

static void sdr_iface_fill(struct sdr_iface *f, const struct ifaddrs *ifa)
{
	const uint8_t *addr, *mask = NULL;
	uint8_t net[16];
	char text[INET6_ADDRSTRLEN];
	unsigned int i, n;

	memset(f, 0, sizeof(*f));
	f->addrlen = sdr_sockaddr_len(ifa->ifa_addr);
	memcpy(&f->addr, ifa->ifa_addr, f->addrlen);
	sdr_sockaddr_port_set((struct sockaddr *)&f->addr, 0);
	f->loopback = ifa->ifa_flags & IFF_LOOPBACK;
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

/* Order in which applications should try them. */
static int sdr_iface_rank(const struct sdr_iface *f)
{
	return (f->loopback ? 4 : 0) + (f->linklocal ? 2 : 0) +
	       (f->addr.ss_family == AF_INET6 ? 1 : 0);
}

int sdr_iface_list(struct sdr_iface **v, unsigned int *n)
{
	struct ifaddrs *list, *ifa;
	struct sdr_iface *out, f;
	unsigned int count = 0, i;

	*v = NULL;
	*n = 0;
	if (getifaddrs(&list))
		return -errno;
	for (ifa = list; ifa; ifa = ifa->ifa_next)
		count++;
	out = calloc(count ? count : 1, sizeof(*out));
	if (!out) {
		freeifaddrs(list);
		return -FI_ENOMEM;
	}
	count = 0;
	for (ifa = list; ifa; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || !(ifa->ifa_flags & IFF_UP) ||
		    !sdr_sockaddr_len(ifa->ifa_addr))
			continue;
		sdr_iface_fill(&f, ifa);
		for (i = count++; i > 0 && sdr_iface_rank(&out[i - 1]) > sdr_iface_rank(&f); i--)
			out[i] = out[i - 1];
		out[i] = f;
	}
	freeifaddrs(list);
	*v = out;
	*n = count;
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
