/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_RMA on a datagram endpoint (sdr_dgram_rma.c).
 */
#ifndef SDR_DGRAM_RMA_H
#define SDR_DGRAM_RMA_H

#include <rdma/fi_rma.h>

extern struct fi_ops_rma sdr_dgram_rma_ops;

#endif /* SDR_DGRAM_RMA_H */
