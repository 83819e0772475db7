/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Passive endpoints (sdr_pep.c).
 */
#ifndef SDR_PEP_H
#define SDR_PEP_H

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#define SDR_BACKLOG	128 /* requests: default of FI_BACKLOG */
#define SDR_BACKLOG_MAX 1024

int sdr_pep_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		 void *context);

#endif /* SDR_PEP_H */
