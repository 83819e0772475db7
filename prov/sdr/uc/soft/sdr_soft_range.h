/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sockets whose port is one of a range (sdr_soft_range.c).
 */
#ifndef SDR_SOFT_RANGE_H
#define SDR_SOFT_RANGE_H

#include <stdint.h>
#include <sys/socket.h>

/* Ports of lo..hi that sockets may get. */
uint32_t sdr_soft_range_size(uint16_t lo, uint16_t hi);
/*
 * As sdr_soft_sock_open, at sa's address and a free port of the range.  -EADDRINUSE: all of them
 * are taken.
 */
int sdr_soft_range_open(const struct sockaddr_storage *sa, uint16_t lo, uint16_t hi,
			uint32_t rcvbuf, uint32_t sndbuf, const char **what);

#endif /* SDR_SOFT_RANGE_H */
