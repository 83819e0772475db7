/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From an endpoint to its engine (sdr_ep_engine.c).
 */
#ifndef SDR_EP_ENGINE_H
#define SDR_EP_ENGINE_H

struct sdr_ep;

/* Opens the engine (binds the port) if that has not happened yet; 0 or FI error.  Under lock. */
int sdr_ep_engine_open(struct sdr_ep *ep);

#endif /* SDR_EP_ENGINE_H */
