/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Addresses of engines on IP networks (soft, verbs), to and from what sockets and users write.
 *
 * Layout of sdr_uc_addr there: family (1 byte, 4 or 6), UDP port (2, network order), IP address (4
 * or 16), and for IPv6 the scope id (4, little-endian; 0 unless the address is link-local).  Layers
 * above compare addresses and hand them on; only fi, where users see them, looks inside.
 */
#ifndef SDR_UC_ADDR_H
#define SDR_UC_ADDR_H

#include <sys/socket.h>
#include "sdr_uc.h"

/* 0 or -EAFNOSUPPORT. */
int sdr_uc_addr_from_sockaddr(struct sdr_uc_addr *out, const struct sockaddr *sa);
/* Returns the length of the sockaddr, or -EINVAL. */
int sdr_uc_addr_to_sockaddr(const struct sdr_uc_addr *a, struct sockaddr_storage *out);
/* "ADDRESS", "ADDRESS:PORT", "[IPV6]:PORT", "" (all of IPv4); numeric.  0 or -EINVAL. */
int sdr_uc_addr_parse(const char *s, struct sockaddr_storage *out);
/* Writes "1.2.3.4:5" or "[::1]:5", truncated to len bytes with the final zero. */
void sdr_uc_addr_format(const struct sdr_uc_addr *a, char *buf, size_t len);

#endif /* SDR_UC_ADDR_H */
