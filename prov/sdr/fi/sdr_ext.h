/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The calls of fi_ext_sdr.h, by fi_open_ops (sdr_ext.c).
 */
#ifndef SDR_EXT_H
#define SDR_EXT_H

#include <stdint.h>

#include <rdma/fabric.h>

int sdr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);

#endif /* SDR_EXT_H */
