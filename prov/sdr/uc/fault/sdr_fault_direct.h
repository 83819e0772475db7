/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets that leave at once, or not at all: see sdr_fault_direct.c. */
#ifndef SDR_FAULT_DIRECT_H
#define SDR_FAULT_DIRECT_H

struct sdr_fault;
struct sdr_uc_tx;

/* Returns how many the inner engine took; the next one is cut to what it has not taken. */
int sdr_fault_post_now(struct sdr_fault *f, struct sdr_uc_tx *v, int n);
/* All of them are lost: a blackout. */
void sdr_fault_post_black(struct sdr_fault *f, const struct sdr_uc_tx *v, int n);

#endif /* SDR_FAULT_DIRECT_H */
