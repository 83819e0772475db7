/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Poll sets (sdr_poll.c).
 */
#ifndef SDR_POLL_H
#define SDR_POLL_H

#include <rdma/fi_domain.h>

int sdr_poll_open(struct fid_domain *dom, struct fi_poll_attr *attr, struct fid_poll **pollset);

#endif /* SDR_POLL_H */
