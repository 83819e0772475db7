/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sockets: options, buffers, what the kernel can do (sdr_soft_sock.c).
 */
#ifndef SDR_SOFT_SOCK_H
#define SDR_SOFT_SOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Socket: bound, non-blocking, with buffers.  Returns the descriptor or a negative errno. */
int sdr_soft_sock_open(const struct sockaddr *sa, socklen_t len, uint32_t rcvbuf, uint32_t sndbuf,
		       const char **what);
/* Turns the feature on or says that it is not there. */
bool sdr_soft_sock_gro(int fd);
bool sdr_soft_sock_gso(int fd);
/* What comes in is to say how it was marked.  False: the kernel cannot. */
bool sdr_soft_sock_ecn(int fd, int family);
/* The IP header's octet of traffic class and ECN of what leaves.  0, or -1 with errno. */
int sdr_soft_sock_tos(int fd, int family, uint8_t tos);
/* IPv6: takes datagrams without a check sum too, which devices send.  0 or a negative errno. */
int sdr_soft_sock_no_check(int fd, int family);
/* The kernel is to say when it got what it hands out. */
void sdr_soft_sock_stamped(int fd);
/* What the kernel granted of a buffer (SO_RCVBUF, SO_SNDBUF), in bytes as they are asked for. */
uint32_t sdr_soft_sock_got(int fd, int which);
/* Bytes of payload that the socket's receive queue holds at least, in packets of mtu bytes. */
uint32_t sdr_soft_sock_window(int fd, uint32_t mtu);

/* Ancillary data: one item at `at`.  Returns the bytes that it takes. */
size_t sdr_soft_cmsg_put(char *at, int level, int type, const void *v, size_t len);

#endif /* SDR_SOFT_SOCK_H */
