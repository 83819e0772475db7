/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Registration by dma-buf on devices that have none, see dmabuf_shim.c.
 */
#ifndef DMABUF_SHIM_H
#define DMABUF_SHIM_H

#include <stdbool.h>

/* Before the provider loads libibverbs; off: what the device says (rdma_rxe: EOPNOTSUPP). */
void dmabuf_shim(bool on);
unsigned int dmabuf_shim_made(void); /* registrations */

#endif /* DMABUF_SHIM_H */
