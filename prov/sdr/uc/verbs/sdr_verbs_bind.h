/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What an engine is bound to, and its settings (sdr_verbs_bind.c).
 */
#ifndef SDR_VERBS_BIND_H
#define SDR_VERBS_BIND_H

#include "sdr_verbs.h"

struct sdr_verbs;

/*
 * The GID to be bound: of the named device or any, with the address or the first of its family.
 * Both: 0, or -errno and v->reason.
 */
int sdr_verbs_choose(struct sdr_verbs *v, const struct sdr_verbs_attr *a);
/* MTU, depths, late packets: of a port that was chosen. */
int sdr_verbs_settings(struct sdr_verbs *v, const struct sdr_verbs_attr *a);

#endif /* SDR_VERBS_BIND_H */
