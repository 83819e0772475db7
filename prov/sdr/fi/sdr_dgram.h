/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Endpoints of type FI_EP_DGRAM (sdr_dgram.c).
 */
#ifndef SDR_DGRAM_H
#define SDR_DGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/fi_endpoint.h>

struct sdr_ep;

/* datagrams kept for receives that are not posted yet */
#define SDR_DGRAM_BACKLOG 256u

extern struct fi_ops_msg sdr_dgram_msg_ops;

int sdr_dgram_open(struct sdr_ep *ep);
void sdr_dgram_close(struct sdr_ep *ep);
ssize_t sdr_dgram_cancel(struct sdr_ep *ep, void *context);
/* Bytes of the largest datagram on a control path of ctl_max bytes. */
size_t sdr_dgram_max(uint32_t ctl_max);

#endif /* SDR_DGRAM_H */
