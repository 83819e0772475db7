/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What came, reported in its order (sdr_verbs_rx.c).
 */
#ifndef SDR_VERBS_RX_H
#define SDR_VERBS_RX_H

#include "sdr_verbs_qp.h"

int sdr_verbs_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
bool sdr_verbs_arm(struct sdr_uc *uc);
bool sdr_verbs_rearm(struct sdr_uc *uc);

#endif /* SDR_VERBS_RX_H */
