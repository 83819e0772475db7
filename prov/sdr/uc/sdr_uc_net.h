/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What this host's kernel knows of an IP address. */
#ifndef SDR_UC_NET_H
#define SDR_UC_NET_H

#include <sys/socket.h>
#include "sdr_uc.h"

#define SDR_UC_V4_HEAD 28u /* bytes of IP and UDP header */
#define SDR_UC_V6_HEAD 48u

/* Of a datagram to an address of this family. */
static inline uint32_t sdr_uc_head(sa_family_t family)
{
	return family == AF_INET6 ? SDR_UC_V6_HEAD : SDR_UC_V4_HEAD;
}

/* All of the family: no address of its own. */
bool sdr_sockaddr_any(const struct sockaddr *sa);
/* Of 127.0.0.0/8, or ::1. */
bool sdr_sockaddr_loopback(const struct sockaddr *sa);
/*
 * The same host address; ports do not count, and a scope only where both say one and the address is
 * link-local.  a may be NULL: false.
 */
bool sdr_sockaddr_same_ip(const struct sockaddr *a, const struct sockaddr *b);
/*
 * The address that routing sends from towards this one, port 0: found with a socket, nothing is
 * sent.  0 or negative errno.
 */
int sdr_uc_route(const struct sockaddr *to, struct sockaddr_storage *from);
/*
 * Bytes of the largest IP packet that routing sends to this address (a route's MTU, what ICMP said,
 * or else the device's), from an address (NULL: any) and by a device (its index, 0: any): found
 * with a socket, nothing is sent.  Negative errno when there is no route.
 */
int sdr_uc_path_mtu(const struct sockaddr *to, const struct sockaddr *from, unsigned int device);
/*
 * What a socket sends to one address leaves by this device, whatever routing says of others: the
 * route that it has there, or none.  0 or a negative errno.
 */
int sdr_uc_pin(int fd, sa_family_t family, unsigned int device);
/* Index of the device that has the address; 0: none, or it is all of the family. */
unsigned int sdr_uc_device_index(const struct sockaddr *sa);
/*
 * MTU in bytes of the device that carries the address (all zero: of the smallest one that is up and
 * not loopback, else loopback).  Negative errno when no device has the address.
 */
int sdr_uc_device_mtu(const struct sockaddr *sa);

#endif /* SDR_UC_NET_H */
