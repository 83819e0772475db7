/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which port of a range a socket gets: the first free one, from a place that differs from process
 * to process and from socket to socket, so that the processes of a host that share a range, and
 * the endpoints of one of them, do not all walk over the same taken ports.  What is free is known
 * by binding only.  Port 4791 is left out: it belongs to peers that are devices
 * (sdr_soft_nic.c), and an endpoint that got it by chance would keep it from them.
 *
 * The count of sockets is the process's and only spreads them; any thread.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <unistd.h>

#include "wire/sdr_roce.h"
#include "sdr_soft_range.h"
#include "sdr_soft_sock.h"

static atomic_uint sdr_soft_range_opened;

uint32_t sdr_soft_range_size(uint16_t lo, uint16_t hi)
{
	return (uint32_t)hi - lo + 1 - (lo <= SDR_ROCE_PORT && SDR_ROCE_PORT <= hi);
}

int sdr_soft_range_open(const struct sockaddr_storage *sa, uint16_t lo, uint16_t hi,
			uint32_t rcvbuf, uint32_t sndbuf, const char **what)
{
	socklen_t len = sa->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						  : sizeof(struct sockaddr_in);
	uint32_t n = (uint32_t)hi - lo + 1, at, i;
	struct sockaddr_storage to = *sa;
	int fd, ret = -EACCES;
	uint16_t port;

	at = ((uint32_t)getpid() + atomic_fetch_add(&sdr_soft_range_opened, 1)) % n;
	for (i = 0; i < n; i++) {
		port = (uint16_t)(lo + (at + i) % n);
		if (port == SDR_ROCE_PORT)
			continue;
		/* The port lies at the same place in both families. */
		((struct sockaddr_in *)&to)->sin_port = htons(port);
		fd = sdr_soft_sock_open((struct sockaddr *)&to, len, rcvbuf, sndbuf, what);
		if (fd == -EADDRINUSE)
			ret = fd;
		else if (fd != -EACCES) /* below 1024: others of the range may do */
			return fd;
	}
	*what = "bind";
	return ret;
}
