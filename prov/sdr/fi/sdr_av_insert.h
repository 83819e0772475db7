/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Insertion into an address vector: three calls of struct fi_ops_av (sdr_av_insert.c).
 */
#ifndef SDR_AV_INSERT_H
#define SDR_AV_INSERT_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fi_domain.h>

int sdr_av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
		  uint64_t flags, void *context);
int sdr_av_insertsvc(struct fid_av *fid, const char *node, const char *service, fi_addr_t *fi_addr,
		     uint64_t flags, void *context);
int sdr_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt, const char *service,
		     size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context);

#endif /* SDR_AV_INSERT_H */
