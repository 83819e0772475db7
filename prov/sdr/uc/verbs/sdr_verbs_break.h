/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the engine breaks, and its clock (sdr_verbs_break.c).
 */
#ifndef SDR_VERBS_BREAK_H
#define SDR_VERBS_BREAK_H

#include "sdr_verbs.h"

struct sdr_verbs;

/*
 * Breaks the engine: the first reason stays.  what: a text.  With -EIO not at once: a device
 * disables queue pairs up when its port goes down and reports the port a moment later, so the cause
 * is looked for after SDR_VERBS_FAIL_NS.
 */
void sdr_verbs_break(struct sdr_verbs *v, int err, const char *what);
void sdr_verbs_fail_check(struct sdr_verbs *v, uint64_t now);
uint64_t sdr_verbs_now(struct sdr_uc *uc);

#endif /* SDR_VERBS_BREAK_H */
