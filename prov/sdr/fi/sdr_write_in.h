/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of peers into regions, on a datagram endpoint (sdr_write_in.c).  All under the endpoint's
 * lock.
 */
#ifndef SDR_WRITE_IN_H
#define SDR_WRITE_IN_H

#include <stddef.h>
#include <stdint.h>

struct fi_sdr_notify;
struct fi_sdr_rma_stats;
struct fi_sdr_view;
struct sdr_ep;
struct sdr_uc_addr;

/* writes that are bound, or over and still to be told of, of all links */
#define SDR_WRITES_MAX 16384u
/* bytes of their bitmaps */
#define SDR_WRITES_BITS_MAX (64ull << 20)
/* numbers that a link may be ahead of what was seen of it; beyond it asks anew */
#define SDR_WRITE_JUMP_MAX 65536u

void sdr_writes_open(struct sdr_ep *ep);
void sdr_writes_close(struct sdr_ep *ep);
/* WRITE, WRITE_ALL, SENT. */
void sdr_write_input(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len);

/* The calls of fi_ext_sdr.h. */
int sdr_writes_notify(struct sdr_ep *ep, const struct fi_sdr_notify *how);
int sdr_writes_list(struct sdr_ep *ep, uint64_t *ids, size_t n);
int sdr_write_view(struct sdr_ep *ep, uint64_t id, struct fi_sdr_view *view);
int sdr_write_end(struct sdr_ep *ep, uint64_t id);
int sdr_writes_stats(struct sdr_ep *ep, struct fi_sdr_rma_stats *out);

#endif /* SDR_WRITE_IN_H */
