/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Network interfaces, names and socket addresses (sdr_iface.c).
 */
#ifndef SDR_IFACE_H
#define SDR_IFACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* What a device is, the more useful first. */
enum sdr_iface_kind {
	SDR_IFACE_PLAIN,
	SDR_IFACE_BRIDGE, /* of containers and virtual machines */
	SDR_IFACE_P2P,	  /* point to point: a tunnel; other addresses of the loopback device */
};

struct sdr_iface {
	struct sockaddr_storage addr; /* port 0 */
	socklen_t addrlen;
	unsigned int prefix; /* bits of the network */
	bool loopback, linklocal;
	enum sdr_iface_kind kind;
	unsigned int order[6]; /* sdr_iface_pick's */
	char name[64];	       /* of the device: the libfabric domain */
	char net[64];	       /* network/prefix: the libfabric fabric */
};

struct sdr_iface_rules;

/* Addresses of all interfaces that are up, as the kernel lists them.  *v from malloc. */
int sdr_iface_list(struct sdr_iface **v, unsigned int *n);
#define SDR_IFACE_ROUTES 2u
/*
 * The addresses that routing sends from to everywhere else: of the default routes, IPv4 and IPv6;
 * family 0 where there is none.
 */
void sdr_iface_routes(struct sockaddr_storage from[SDR_IFACE_ROUTES]);
/* The list as the rules want it, by the default routes: the first *allowed of *n. */
int sdr_iface_list_picked(const struct sdr_iface_rules *r, struct sdr_iface **v, unsigned int *n,
			  unsigned int *allowed);
/* The entry whose address is sa's, NULL none. */
const struct sdr_iface *sdr_iface_find(const struct sdr_iface *v, unsigned int n,
				       const struct sockaddr *sa);
/*
 * family AF_UNSPEC, AF_INET, AF_INET6; flags FI_SOURCE and FI_NUMERICHOST; up to max results, IPv4
 * first.
 */
int sdr_resolve(const char *node, const char *service, uint64_t flags, int family,
		struct sockaddr_storage *out, int max);
socklen_t sdr_sockaddr_len(const struct sockaddr *sa); /* 0: neither IPv4 nor IPv6 */
uint16_t sdr_sockaddr_port(const struct sockaddr *sa);
void sdr_sockaddr_port_set(struct sockaddr *sa, uint16_t port);

#endif /* SDR_IFACE_H */
