/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_getopt and fi_setopt of an endpoint (sdr_ep_opt.c).
 */
#ifndef SDR_EP_OPT_H
#define SDR_EP_OPT_H

#include <rdma/fabric.h>

int sdr_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);
int sdr_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen);

#endif /* SDR_EP_OPT_H */
