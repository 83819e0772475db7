/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of peers into regions, on a datagram endpoint, as the application sees them: the calls of
 * fi_ext_sdr.h (sdr_write_ext.c).  All under the endpoint's lock.
 */
#ifndef SDR_WRITE_EXT_H
#define SDR_WRITE_EXT_H

#include <stddef.h>
#include <stdint.h>

struct fi_sdr_notify;
struct fi_sdr_rma_stats;
struct fi_sdr_view;
struct sdr_ep;

int sdr_writes_notify(struct sdr_ep *ep, const struct fi_sdr_notify *how);
int sdr_writes_list(struct sdr_ep *ep, uint64_t *ids, size_t n);
int sdr_write_view(struct sdr_ep *ep, uint64_t id, struct fi_sdr_view *view);
int sdr_write_end(struct sdr_ep *ep, uint64_t id);
int sdr_writes_stats(struct sdr_ep *ep, struct fi_sdr_rma_stats *out);

#endif /* SDR_WRITE_EXT_H */
