/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives posted, completions reported in their order (sdr_verbs_rx.c).
 */
#ifndef SDR_VERBS_RX_H
#define SDR_VERBS_RX_H

#include "sdr_verbs_qp.h"

int sdr_verbs_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
bool sdr_verbs_arm(struct sdr_uc *uc);
/*
 * Posts all receives of a transport QP, or those that were used; its QP breaks if the device takes
 * none.
 */
void sdr_verbs_rx_fill(struct sdr_verbs_tp *t);
/* Strikes out held completions of a QP that goes. */
void sdr_verbs_rx_forget(struct sdr_verbs_qp *q);

#endif /* SDR_VERBS_RX_H */
