/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the two sides of sdr_perf --sdk agree: over a TCP connection, or a pair of sockets where both
 * are this process.  Infos of queue pairs travel by it, as they would by any other way.
 *
 * Words of one length go to and fro, in this machine's byte order: another order, or another
 * version of them, has another magic number and is refused.  What a word says is checked by whom it
 * concerns.  Timers: a connection that is not there after CALL_MS, a word that was begun and is not
 * whole after WORD_MS; the kernel's keep-alive finds a host that went away.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk.h"

#define MAGIC	0x53444b01u
#define CALL_MS 5000
#define WORD_MS 5000

static void text_of(const struct sockaddr *sa, socklen_t len, char *out, size_t size)
{
	char host[60];

	if (getnameinfo(sa, len, host, sizeof(host), NULL, 0, NI_NUMERICHOST))
		host[0] = 0;
	snprintf(out, size, sa->sa_family == AF_INET6 ? "[%s]" : "%s", host);
}

static void meet_init(struct sdk_meet *m, int fd)
{
	struct sockaddr_storage sa = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(sa);
	int one = 1;

	memset(m, 0, sizeof(*m));
	m->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (!getsockname(fd, (struct sockaddr *)&sa, &len))
		text_of((struct sockaddr *)&sa, len, m->local, sizeof(m->local));
	len = sizeof(sa);
	if (!getpeername(fd, (struct sockaddr *)&sa, &len))
		text_of((struct sockaddr *)&sa, len, m->peer, sizeof(m->peer));
}

static struct addrinfo *resolve(const char *name, uint16_t port, bool server, char *why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai = NULL;
	char service[8];
	int err;

	if (server)
		hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
	hints.ai_family = server && !name ? AF_INET : AF_UNSPEC;
	snprintf(service, sizeof(service), "%u", port);
	err = getaddrinfo(name, service, &hints, &ai);
	if (!err)
		return ai;
	perf_why(why, "%s: %s", name ? name : "0.0.0.0", gai_strerror(err));
	return NULL;
}

int sdk_meet_listen(const char *address, uint16_t port, char *why)
{
	struct addrinfo *ai = resolve(address, port, true, why);
	int fd, one = 1, ret;

	if (!ai)
		return -1;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (ai->ai_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	}
	ret = fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1) ? -1 : 0;
	freeaddrinfo(ai);
	if (!ret)
		return fd;
	perf_why(why, "cannot listen at TCP port %u: %s; choose another one (--port)", port,
		 strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int sdk_meet_accept(struct sdk_meet *m, int listener, char *why)
{
	int fd;

	do {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		return perf_why(why, "accept: %s", strerror(errno));
	meet_init(m, fd);
	return 0;
}

/* 0 or errno. */
static int connect_within(int fd, const struct addrinfo *ai, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
		if (errno != EINPROGRESS)
			return errno;
		if (poll(&p, 1, ms) <= 0)
			return ETIMEDOUT;
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	fcntl(fd, F_SETFL, 0);
	return err;
}

int sdk_meet_call(struct sdk_meet *m, const char *host, uint16_t port, char *why)
{
	struct addrinfo *all = resolve(host, port, false, why), *ai;
	int fd, err = 0;

	if (!all)
		return -1;
	for (ai = all; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = fd < 0 ? errno : connect_within(fd, ai, CALL_MS);
		if (!err)
			break;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(all);
	if (err)
		return perf_why(why,
				"no server at %s, TCP port %u (%s): start a server there: "
				"sdr_perf --sdk",
				host, port, strerror(err));
	meet_init(m, fd);
	return 0;
}

int sdk_meet_pair(struct sdk_meet m[2], const char *address, char *why)
{
	int fd[2], i;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return perf_why(why, "socketpair: %s", strerror(errno));
	for (i = 0; i < 2; i++) {
		memset(&m[i], 0, sizeof(m[i]));
		m[i].fd = fd[i];
		m[i].near = true;
		snprintf(m[i].local, sizeof(m[i].local), strchr(address, ':') ? "[%s]" : "%s",
			 address);
		memcpy(m[i].peer, m[i].local, sizeof(m[i].peer));
	}
	return 0;
}

int sdk_meet_say(struct sdk_meet *m, enum sdk_step step, struct sdk_word *w, char *why)
{
	size_t at = 0;
	ssize_t n;

	w->magic = MAGIC;
	w->step = step;
	while (at < sizeof(*w)) {
		n = send(m->fd, (const uint8_t *)w + at, sizeof(*w) - at, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return perf_why(why, "the other side has gone: %s", strerror(errno));
		at += (size_t)n;
	}
	return 0;
}

bool sdk_meet_came(const struct sdk_meet *m)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

int sdk_meet_hear(struct sdk_meet *m, enum sdk_step step, struct sdk_word *w, int patience,
		  char *why)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };
	size_t at = 0;
	ssize_t n;

	while (at < sizeof(*w)) {
		n = poll(&p, 1, at ? WORD_MS : patience);
		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			return perf_why(why, "the other side does not answer: is it stopped?");
		n = recv(m->fd, (uint8_t *)w + at, sizeof(*w) - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return perf_why(why, "the other side has gone%s%s", n ? ": " : "",
					n ? strerror(errno) : "");
		at += (size_t)n;
		if (at >= sizeof(w->magic) && w->magic != MAGIC)
			return perf_why(why, "the other side is no sdr_perf --sdk of this version, "
					     "or of another byte order");
	}
	if (w->step == SDK_REFUSED) {
		perf_clean(w->why, sizeof(w->why));
		return SDK_NOT;
	}
	/* a client may end where another point could come */
	if (w->step != step && !(step == SDK_POINT && w->step == SDK_BYE))
		return perf_why(why, "the other side says %u where %u belongs: another version?",
				w->step, step);
	return SDK_OK;
}

void sdk_meet_close(struct sdk_meet *m)
{
	close(m->fd);
	m->fd = -1;
}
