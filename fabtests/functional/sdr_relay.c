/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_relay: a UDP path over the loopback that loses, swaps and doubles exactly what its options
 * say.
 *
 *   sdr_relay PORT SERVER_PORT [drop|swap|double SIZE EVERY COUNT]...
 *
 * Datagrams that come to PORT go to SERVER_PORT, and answers back to where the last one came from,
 * as they are. A rule is about the datagrams to the server whose payload has SIZE bytes: of each
 * EVERY, the first COUNT are dropped, or sent twice, or held until the next one of that size has
 * gone.  So a test knows each number of what a probe should find.  It runs until it is killed.
 *
 * It never sleeps but in poll: what poll saw may be gone when it is asked for, as an error of the
 * socket is when a send has told it first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RULES_MAX 16
#define DGRAM_MAX 65536

static struct rule {
	char what; /* d, s, t */
	unsigned long size, every, count, seen;
	size_t held; /* bytes in hold[] */
	char hold[DGRAM_MAX];
} rules[RULES_MAX];
static int nrules;

static void fail(const char *what)
{
	fprintf(stderr, "sdr_relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int sock(unsigned long bind_port, unsigned long to_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 16 << 20;

	if (fd < 0)
		fail("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	a.sin_port = htons((uint16_t)(bind_port ? bind_port : to_port));
	if (bind_port ? bind(fd, (struct sockaddr *)&a, sizeof(a))
		      : connect(fd, (struct sockaddr *)&a, sizeof(a)))
		fail(bind_port ? "bind" : "connect");
	return fd;
}

/* An answer of ICMP to an earlier datagram is not this one's failure. */
static void forward(int fd, const char *buf, size_t len)
{
	if (send(fd, buf, len, 0) < 0 && errno != ECONNREFUSED)
		fail("send");
}

static void towards(int fd, const char *buf, size_t len)
{
	struct rule *r;
	int i, act;

	for (i = 0; i < nrules && rules[i].size != len; i++)
		;
	if (i == nrules) {
		forward(fd, buf, len);
		return;
	}
	r = &rules[i];
	act = r->seen++ % r->every < r->count;
	if (act && r->what == 's' && !r->held) {
		memcpy(r->hold, buf, len);
		r->held = len;
		return;
	}
	if (!act || r->what != 'd')
		forward(fd, buf, len);
	if (act && r->what == 't')
		forward(fd, buf, len);
	if (r->held)
		forward(fd, r->hold, r->held);
	r->held = 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_storage client;
	static char buf[DGRAM_MAX];
	struct pollfd p[2];
	socklen_t len;
	ssize_t n;
	int i;

	if (argc < 3 || (argc - 3) % 4 || (argc - 3) / 4 > RULES_MAX) {
		fprintf(stderr,
			"usage: sdr_relay PORT SERVER_PORT [drop|swap|double SIZE EVERY COUNT]...\n");
		return 2;
	}
	for (i = 3; i < argc; i += 4, nrules++) {
		rules[nrules].what = strcmp(argv[i], "double") == 0 ? 't' : argv[i][0];
		rules[nrules].size = strtoul(argv[i + 1], NULL, 10);
		rules[nrules].every = strtoul(argv[i + 2], NULL, 10);
		rules[nrules].count = strtoul(argv[i + 3], NULL, 10);
		if (!rules[nrules].every)
			return 2;
	}
	p[0].fd = sock(strtoul(argv[1], NULL, 10), 0);
	p[1].fd = sock(0, strtoul(argv[2], NULL, 10));
	p[0].events = p[1].events = POLLIN;
	printf("relaying\n");
	fflush(stdout);
	memset(&client, 0, sizeof(client));
	for (;;) {
		if (poll(p, 2, -1) < 0)
			fail("poll");
		if (p[0].revents) {
			len = sizeof(client);
			n = recvfrom(p[0].fd, buf, sizeof(buf), MSG_DONTWAIT,
				     (struct sockaddr *)&client, &len);
			if (n >= 0)
				towards(p[1].fd, buf, (size_t)n);
		}
		if (p[1].revents) {
			n = recv(p[1].fd, buf, sizeof(buf), MSG_DONTWAIT);
			if (n >= 0 && sendto(p[0].fd, buf, (size_t)n, 0, (struct sockaddr *)&client,
					     sizeof(struct sockaddr_in)) < 0)
				fail("sendto");
		}
	}
}
