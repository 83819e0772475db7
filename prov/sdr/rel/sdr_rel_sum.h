/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Sums of statistics, see sdr_rel_stats.c. */
#ifndef SDR_REL_SUM_H
#define SDR_REL_SUM_H

#include "conn/sdr_conn.h"

void sdr_conn_stats_fold(struct sdr_conn *c); /* it goes; what it did stays with its peer */

#endif /* SDR_REL_SUM_H */
