/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The engine's sockets.
 *
 * Source 0 is where the engine is bound: a socket for each channel, of which the first takes what
 * comes and the others are source ports.  Each further source is one socket at an address of its
 * own, or at the same address and another port, so that routers which hash ports spread paths too.
 * All of them are read, and all have the same options and buffers; what the engine says of its
 * buffers is true of the smallest.
 *
 * Routing goes by the destination, so what is sent from the address of another interface would
 * leave by the one of the first nevertheless.  A further source at another address than source 0
 * is therefore bound to the device that has it (IP_UNICAST_IF, which needs no privilege).  The
 * price: on this host it reaches addresses of that device only.
 *
 * A further source that cannot be had is left out, since a connection needs one path and no more;
 * those behind it move up.  No timers; no state of its own.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_net.h"
#include "sdr_soft_impl.h"

void sdr_soft_say(const struct sdr_soft_attr *a, const char *fmt, ...)
{
	va_list ap;

	if (!a->err || !a->err_len)
		return;
	va_start(ap, fmt);
	vsnprintf(a->err, a->err_len, fmt, ap);
	va_end(ap);
}

static uint32_t sdr_soft_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What the kernel granted of the buffers; and what to do where that is less than was asked. */
static void sdr_soft_bufs_set(struct sdr_soft *s)
{
	bool rcv, snd;
	int i;

	s->rcvbuf_got = s->sndbuf_got = UINT32_MAX;
	for (i = 0; i < s->nfd; i++) {
		s->rcvbuf_got = sdr_soft_least(s->rcvbuf_got, s->net->got(s->fd[i], SO_RCVBUF));
		s->sndbuf_got = sdr_soft_least(s->sndbuf_got, s->net->got(s->fd[i], SO_SNDBUF));
	}
	rcv = s->rcvbuf_got < s->rcvbuf;
	snd = s->sndbuf_got < s->sndbuf;
	if (rcv && snd)
		snprintf(s->note, sizeof(s->note),
			 "the kernel grants %u of %u bytes of receive buffer and %u of %u of send "
			 "buffer: sysctl -w net.core.rmem_max=%u net.core.wmem_max=%u",
			 s->rcvbuf_got, s->rcvbuf, s->sndbuf_got, s->sndbuf, s->rcvbuf, s->sndbuf);
	else if (rcv || snd)
		snprintf(s->note, sizeof(s->note),
			 "the kernel grants %u of %u bytes of %s buffer: sysctl -w net.core.%s=%u",
			 rcv ? s->rcvbuf_got : s->sndbuf_got, rcv ? s->rcvbuf : s->sndbuf,
			 rcv ? "receive" : "send", rcv ? "rmem_max" : "wmem_max",
			 rcv ? s->rcvbuf : s->sndbuf);
}

/* One more socket.  0 or a negative errno; what: why, as text. */
static int sdr_soft_sock_add(struct sdr_soft *s, const struct sdr_soft_attr *a,
			     const struct sockaddr_storage *sa, uint8_t source, char *what,
			     size_t len)
{
	const char *call;
	uint32_t window;
	int fd;

	SDR_ASSERT(s->nfd < (int)SDR_SOFT_SOCKS);
	fd = s->net->open(s, sa, a->port_lo, a->port_hi, &call);
	if (fd == -EADDRINUSE && a->port_lo && !((const struct sockaddr_in *)sa)->sin_port)
		snprintf(what, len, "no UDP port of %u-%u is free (%u tried)", a->port_lo,
			 a->port_hi, sdr_soft_range_size(a->port_lo, a->port_hi));
	else if (fd < 0)
		snprintf(what, len, "%s: %s", call, strerror(-fd));
	if (fd < 0)
		return fd;
	window = s->net->window(fd, s->mtu);
	if (!s->nfd || window < s->rx_window)
		s->rx_window = window;
	s->inlet[s->nfd].source = source;
	s->fd[s->nfd++] = fd;
	return 0;
}

static int sdr_soft_channels_open(struct sdr_soft *s, const struct sdr_soft_attr *a)
{
	struct sockaddr_storage sa = a->bind, name;
	int channels = a->channels ? a->channels : 1, i, ret;
	char what[SDR_UC_ERR_LEN];

	for (i = 0; i < channels; i++) {
		ret = sdr_soft_sock_add(s, a, &sa, 0, what, sizeof(what));
		if (ret) {
			sdr_soft_say(a, "%s", what);
			return ret;
		}
		ret = s->net->name_get(s->fd[i], &name);
		if (ret)
			return ret;
		/* It lies at the same place in both families. */
		s->port[i] = ntohs(((struct sockaddr_in *)&name)->sin_port);
		/* Further source ports matter to routers only. */
		((struct sockaddr_in *)&sa)->sin_port = 0;
	}
	s->channels = (uint8_t)channels;
	s->sources = 1;
	return 0;
}

/* The next source; what: why it cannot be had. */
static int sdr_soft_source_add(struct sdr_soft *s, const struct sdr_soft_attr *a,
			       const struct sockaddr_storage *sa, char *what, size_t len)
{
	int ret;

	if (sa->ss_family != s->family) {
		snprintf(what, len, "it is of another family than the engine's address");
		return -EAFNOSUPPORT;
	}
	ret = sdr_soft_sock_add(s, a, sa, s->sources, what, len);
	if (ret)
		return ret;
	if (s->net->pin &&
	    !sdr_sockaddr_same_ip((const struct sockaddr *)sa, (const struct sockaddr *)&a->bind))
		s->pin[s->sources] = s->net->pin(s->fd[s->nfd - 1], (const struct sockaddr *)sa);
	s->sources++;
	return 0;
}

int sdr_soft_source_open(struct sdr_soft *s, const struct sdr_soft_attr *a)
{
	char what[SDR_UC_ERR_LEN], first[SDR_UC_ERR_LEN], text[SDR_SOFT_NAME_LEN] = "?";
	int ret = sdr_soft_channels_open(s, a), failed = 0, i;
	struct sdr_uc_addr addr;

	for (i = 0; !ret && i < a->nmore; i++) {
		if (!sdr_soft_source_add(s, a, &a->more[i], what, sizeof(what)) || failed++)
			continue;
		memcpy(first, what, sizeof(first));
		if (!sdr_uc_addr_from_sockaddr(&addr, (const struct sockaddr *)&a->more[i]))
			sdr_uc_addr_format(&addr, text, sizeof(text));
	}
	if (failed)
		sdr_soft_say(a, "%d of %d further sources cannot be opened (%s: %s)", failed,
			     a->nmore, text, first);
	if (ret)
		return ret;
	sdr_soft_bufs_set(s);
	for (i = 0; s->sources > 1 && i < s->nfd; i++)
		s->net->stamp(s->fd[i]);
	return 0;
}

void sdr_soft_source_close(struct sdr_soft *s)
{
	int i;

	for (i = 0; i < s->nfd; i++)
		s->net->close(s->fd[i]);
}

/* By the set for sleeping.  -1: it does not say, events do not reach it or somebody closed it. */
static int sdr_soft_ready_epoll(const struct sdr_soft *s, uint32_t *ready)
{
	/* beside them workers' bell, and port 4791 */
	struct epoll_event e[SDR_SOFT_SOCKS + 2];
	int n = s->hushed ? -1 : epoll_wait(s->epfd, e, SDR_SOFT_SOCKS + 2, 0), i;

	for (i = 0; i < n; i++)
		*ready |= 1u << e[i].data.u32;
	return n;
}

static int sdr_soft_ready_poll(const struct sdr_soft *s, uint32_t *ready)
{
	struct pollfd p[SDR_SOFT_SOCKS];
	int n, i;

	for (i = 0; i < s->nfd; i++)
		p[i] = (struct pollfd){ .fd = s->fd[i], .events = POLLIN };
	n = poll(p, (nfds_t)s->nfd, 0);
	for (i = 0; n > 0 && i < s->nfd; i++)
		*ready |= (uint32_t)(p[i].revents != 0) << i;
	return n;
}

/* An empty socket costs 0.5 us to be read, the question some 0.2 us for all of them. */
uint32_t sdr_soft_source_ready(const struct sdr_soft *s)
{
	uint32_t all = (1u << s->nfd) - 1, ready = 0;

	_Static_assert(SDR_SOFT_SOCKS < 32, "a bit a socket, and one for all else");
	if (!s->net->shows ||
	    (sdr_soft_ready_epoll(s, &ready) < 0 && sdr_soft_ready_poll(s, &ready) < 0))
		return all;
	return ready & all;
}

void sdr_soft_source_name(const struct sdr_soft *s, uint32_t source, struct sdr_uc_addr *out)
{
	struct sockaddr_storage sa;

	memset(out, 0, sizeof(*out));
	if (!source)
		*out = s->addr;
	else if (source < s->sources &&
		 !s->net->name_get(s->fd[sdr_soft_source_sock(s, source)], &sa))
		sdr_uc_addr_from_sockaddr(out, (struct sockaddr *)&sa);
}
