/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Numbers of the messages that come in, see sdr_msn.c.
 */
#ifndef SDR_MSN_H
#define SDR_MSN_H

#include "sdr_bulk.h"

/* will never be bound, or ended before it was complete */
void sdr_msn_skip(struct sdr_conn *c, uint32_t msn);
void sdr_msn_skip_range(struct sdr_conn *c, uint32_t lo, uint32_t hi);
void sdr_msn_skip_on(struct sdr_conn *c); /* the window may have moved */
void sdr_msn_not_skipped(struct sdr_conn *c, uint32_t msn);
/* What is numbered next, by us and, as far as is known, by the peer. */
uint32_t sdr_msn_out(const struct sdr_conn *c);
uint32_t sdr_msn_in(const struct sdr_conn *c);
bool sdr_msn_complete(const struct sdr_conn *c, uint32_t msn);
/* some of msn, msn + 1, ... */
bool sdr_msn_beyond(const struct sdr_conn *c, uint32_t msn, uint32_t n);

#endif /* SDR_MSN_H */
