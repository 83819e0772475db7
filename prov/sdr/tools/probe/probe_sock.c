/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sockets, messages and signals of the drop-rate probe.
 *
 * The send buffer stays as the system has it: a packet counts against it until the interface has
 * taken it, so that the own queue pushes back instead of dropping, which would be counted as loss
 * of the path.  The receive buffer is as large as the system permits, for the opposite reason.
 *
 * Fragmentation: allowed everywhere by default (no DF bit).  With --no-fragment each packet has the
 * DF bit, and what routers say of their MTU is not listened to: a size that the path does not carry
 * is lost, and that is the answer.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe.h"

#define RCVBUF (32 << 20) /* bytes */

volatile sig_atomic_t probe_interrupted;

void probe_put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

void probe_put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

void probe_put64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

uint16_t probe_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

uint32_t probe_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

uint64_t probe_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

void probe_head_put(uint8_t *p, const struct probe_head *h)
{
	probe_put32(p, PROBE_MAGIC);
	p[4] = PROBE_VERSION;
	p[5] = h->type;
	probe_put16(p + 6, h->flow);
	probe_put64(p + 8, h->token);
	probe_put64(p + 16, h->n);
	probe_put64(p + 24, h->stamp);
}

bool probe_head_get(const uint8_t *p, size_t len, struct probe_head *h)
{
	if (len < PROBE_HEAD)
		return false;
	h->magic = probe_get32(p);
	h->version = p[4];
	h->type = p[5];
	h->flow = probe_get16(p + 6);
	h->token = probe_get64(p + 8);
	h->n = probe_get64(p + 16);
	h->stamp = probe_get64(p + 24);
	return h->magic == PROBE_MAGIC;
}

uint64_t probe_token(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		perf_die("getrandom: %s", strerror(errno));
	return v;
}

static void caught(int sig)
{
	(void)sig;
	probe_interrupted = 1;
}

void probe_catch(void)
{
	struct sigaction sa = { .sa_handler = caught, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static struct addrinfo *resolve(const char *name, uint16_t port, bool server)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM }, *res;
	char service[8];
	int ret;

	if (server)
		hints.ai_flags = AI_PASSIVE;
	if (server && !name)
		hints.ai_family = AF_INET;
	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(name, service, &hints, &res);
	if (ret)
		perf_die("%s: %s; give a name that the system resolves, or an address",
			 name ? name : "any address", gai_strerror(ret));
	return res;
}

static int sock_open(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP),
	    size = RCVBUF;

	if (fd < 0)
		perf_die("a UDP socket could not be opened: %s", strerror(errno));
	/* the first works for an administrator only; both may be cut, neither fails */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

static void sock_set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		perf_die("an option of the UDP socket could not be set: %s", strerror(errno));
}

static void sock_fragments(const struct perf_opt *opt, int fd, int family)
{
	if (family == AF_INET6)
		sock_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			 opt->probe.no_fragment ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT);
	else
		sock_set(fd, IPPROTO_IP, IP_MTU_DISCOVER,
			 opt->probe.no_fragment ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
}

int probe_sock_client(const struct perf_opt *opt, char peer_text[PERF_NAME_MAX], int *family)
{
	struct addrinfo *res = resolve(opt->host, opt->port, false), *a;
	int fd = -1, err = 0;

	for (a = res; a && fd < 0; a = a->ai_next) {
		fd = sock_open(a->ai_family);
		*family = a->ai_family;
		sock_fragments(opt, fd, a->ai_family);
		if (!connect(fd, a->ai_addr, a->ai_addrlen)) {
			if (getnameinfo(a->ai_addr, a->ai_addrlen, peer_text, PERF_NAME_MAX, NULL,
					0, NI_NUMERICHOST))
				snprintf(peer_text, PERF_NAME_MAX, "?");
			break;
		}
		err = errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(res);
	if (fd < 0)
		perf_die("no way to %s: %s; look at the route to it (ip route get)", opt->host,
			 strerror(err));
	return fd;
}

int probe_sock_more(const struct perf_opt *opt, int fd, int family)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int more = sock_open(family);

	sock_fragments(opt, more, family);
	if (getpeername(fd, (struct sockaddr *)&sa, &len) ||
	    connect(more, (struct sockaddr *)&sa, len))
		perf_die("another port to %s: %s", opt->host, strerror(errno));
	return more;
}

int probe_sock_server(const struct perf_opt *opt)
{
	struct addrinfo *res = resolve(opt->address, opt->port, true);
	int fd = sock_open(res->ai_family);

	sock_set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (res->ai_family == AF_INET6)
		sock_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	else
		sock_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
	if (bind(fd, res->ai_addr, res->ai_addrlen))
		perf_die("UDP port %u of %s: %s; choose another with --port on both sides",
			 opt->port, opt->address ? opt->address : "any address", strerror(errno));
	freeaddrinfo(res);
	return fd;
}

void probe_sock_wait(int fd, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = perf_now(), left = until > now ? until - now : 0;
	struct timespec t = { .tv_sec = (time_t)(left / PERF_SEC),
			      .tv_nsec = (long)(left % PERF_SEC) };

	ppoll(&p, 1, &t, NULL);
}
