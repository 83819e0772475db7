/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages meet receives that the caller has, see sdr_above.c.
 */
#ifndef SDR_ABOVE_H
#define SDR_ABOVE_H

#include "sdr_match.h"

extern const struct sdr_matcher sdr_matcher_above;

/* Before anything has come in; NULL: messages meet the receives posted here. */
void sdr_above_set(struct sdr_rel *rel, const struct sdr_rel_match *match);

#endif /* SDR_ABOVE_H */
