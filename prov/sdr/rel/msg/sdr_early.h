/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages that came before their turn, see sdr_early.c.
 */
#ifndef SDR_EARLY_H
#define SDR_EARLY_H

#include "sdr_msg.h"

bool sdr_early_has(const struct sdr_conn *c, uint32_t mseq);
/* bytes that keeping it costs beyond itself */
uint64_t sdr_early_growth(const struct sdr_conn *c, uint32_t mseq);
/* bytes of the ring that are charged to the endpoint */
uint64_t sdr_early_charge(const struct sdr_conn *c);
int sdr_early_put(struct sdr_conn *c, struct sdr_unexp *u);
struct sdr_unexp *sdr_early_at(const struct sdr_conn *c, uint32_t mseq); /* likewise */
struct sdr_unexp *sdr_early_take(struct sdr_conn *c, uint32_t mseq);	 /* NULL: it is not there */
void sdr_early_drop(struct sdr_conn *c);

#endif /* SDR_EARLY_H */
