/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of an address vector (sdr_av_table.c).
 */
#ifndef SDR_AV_TABLE_H
#define SDR_AV_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>

struct sdr_av;
struct sdr_uc_addr;

/* Room for cap (a power of two) entries.  0 or -FI_ENOMEM. */
int sdr_av_grow(struct sdr_av *av, uint32_t cap);
/* A new entry; 0 or FI error. */
int sdr_av_put(struct sdr_av *av, const struct sdr_uc_addr *addr, fi_addr_t *out);
/* 0 or -FI_EINVAL. */
int sdr_av_addr(struct sdr_av *av, fi_addr_t fi_addr, struct sdr_uc_addr *out);
/* What completions say in place of an index; FI_ADDR_NOTAVAIL: nothing. */
fi_addr_t sdr_av_user_id(struct sdr_av *av, fi_addr_t fi_addr);
/* 0 or -FI_EINVAL. */
int sdr_av_user_id_set(struct sdr_av *av, fi_addr_t fi_addr, fi_addr_t user_id);
/* FI_ADDR_NOTAVAIL when it is not in the table. */
fi_addr_t sdr_av_find(struct sdr_av *av, const struct sdr_uc_addr *addr);
/*
 * Removing in two steps: take says what it was, and it is not found any more; put_back gives the
 * index free, when all have forgotten it.  take: false: there is no such entry.
 */
bool sdr_av_take(struct sdr_av *av, fi_addr_t fi_addr, struct sdr_uc_addr *out);
void sdr_av_put_back(struct sdr_av *av, fi_addr_t fi_addr);

#endif /* SDR_AV_TABLE_H */
