/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * poll of an engine with several sources (sdr_soft_merge.c).
 */
#ifndef SDR_SOFT_MERGE_H
#define SDR_SOFT_MERGE_H

#include "sdr_soft_rx.h"

/* As sdr_soft_rx_own. */
int sdr_soft_merge(struct sdr_soft *s, struct sdr_uc_ev *ev, int max, bool *ctl, bool *drained);

#endif /* SDR_SOFT_MERGE_H */
