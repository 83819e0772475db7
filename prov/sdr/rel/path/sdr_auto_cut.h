/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What losses and marks make of the window of a flow under `auto`: see sdr_auto_cut.c. */
#ifndef SDR_AUTO_CUT_H
#define SDR_AUTO_CUT_H

#include <stdint.h>

struct sdr_auto;
struct sdr_cc;

/* The losses of a round; target: the queue that it keeps, ns. */
void sdr_auto_blame(struct sdr_cc *cc, uint64_t now, uint64_t target);
/* Its marks. */
void sdr_auto_marks(struct sdr_auto *a, uint64_t now);
/* What was taken for lost has only been overtaken: so many bytes. */
void sdr_auto_late(struct sdr_auto *a, double late);

#endif /* SDR_AUTO_CUT_H */
