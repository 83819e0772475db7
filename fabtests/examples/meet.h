/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the two sides of an example meet: over a TCP connection they give each other some bytes, say
 * a QP info.  Any other way would do as well; SDR does not care how infos travel.
 */
#ifndef MEET_H
#define MEET_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK(ok, ...)                                \
	do {                                          \
		if (!(ok)) {                          \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr);          \
			exit(1);                      \
		}                                     \
	} while (0)

/* A connection with the other side: the receiver waits for the sender at this address and port. */
static inline int meet(int receiver, const char *address, const char *port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, tries, peer;

	CHECK(inet_pton(AF_INET, address, &sa.sin_addr) == 1, "%s: not an IPv4 address", address);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (receiver) {
		CHECK(!bind(fd, (struct sockaddr *)&sa, sizeof(sa)) && !listen(fd, 1),
		      "cannot listen at %s:%s", address, port);
		peer = accept(fd, NULL, NULL);
		close(fd);
		return peer;
	}
	for (tries = 0; connect(fd, (struct sockaddr *)&sa, sizeof(sa)); tries++) {
		CHECK(tries < 100, "nobody listens at %s:%s: start the receiver first", address,
		      port);
		usleep(100000);
		close(fd);
		fd = socket(AF_INET, SOCK_STREAM, 0);
	}
	return fd;
}

static inline void meet_swap(int fd, const void *mine, void *theirs, size_t len)
{
	CHECK(send(fd, mine, len, MSG_NOSIGNAL) == (ssize_t)len &&
		      recv(fd, theirs, len, MSG_WAITALL) == (ssize_t)len,
	      "the other side is gone");
}

static inline double meet_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the sender sends, so that the receiver can tell whether it is right. */
static inline uint8_t meet_byte(uint32_t message, uint64_t i)
{
	return (uint8_t)((i * 2654435761u >> 9) + message);
}

#endif /* MEET_H */
