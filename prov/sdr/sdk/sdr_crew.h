/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the engine's receive workers report, until the context's round takes it (sdr_crew.c).
 */
#ifndef SDR_CREW_H
#define SDR_CREW_H

#include <stdint.h>

struct sdr_context;
struct sdr_crew;
struct sdr_qp;

/* For a context whose engine has workers.  0 or -ENOMEM. */
int sdr_crew_create(struct sdr_context *ctx);
/* The engine is closed. */
void sdr_crew_destroy(struct sdr_crew *crew);
/* What was reported since the last round; returns how many reports. */
int sdr_crew_collect(struct sdr_context *ctx);
/* A QP is gone from the engine: what was reported of it means nothing any more. */
void sdr_crew_forget(struct sdr_context *ctx, const struct sdr_qp *qp);

#endif /* SDR_CREW_H */
