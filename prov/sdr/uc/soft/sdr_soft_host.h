/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers on this host (sdr_soft_host.c).
 */
#ifndef SDR_SOFT_HOST_H
#define SDR_SOFT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* This kernel and network namespace: a number that no other has.  0: it cannot be told. */
uint64_t sdr_soft_host_id(void);
/* What a process sends to sa never leaves this host, and its network namespace. */
bool sdr_soft_host_has(const struct sockaddr *sa);

#endif /* SDR_SOFT_HOST_H */
