/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The devices behind entries of fi_getinfo: struct fid_nic (sdr_nic.c).
 */
#ifndef SDR_NIC_H
#define SDR_NIC_H

#include <stdbool.h>

#include <rdma/fabric.h>

struct sdr_uc_dev;

/* For info->nic; asked: the application named the device.  NULL: no memory. */
struct fid_nic *sdr_nic_make(const struct sdr_uc_dev *d, bool asked);
/* What sdr_nic_make was given; NULL: not one of ours. */
const struct sdr_uc_dev *sdr_nic_dev(const struct fid_nic *nic, bool *asked);

#endif /* SDR_NIC_H */
